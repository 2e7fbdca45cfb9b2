#include "backend/host/site_service.h"

#include "backend/host/launch.h"

namespace portico::backend {

process::ServiceReport SiteService::begin_report() const {
  process::ServiceReport report;
  report.name = application_.name;
  report.site = application_.site;
  report.state = state_;
  if (state_ == State::failed) report.reason = reason_;
  report.user = identity_of(application_, options_->identity);
  report.troubles = log_.troubles().list();
  return report;
}

}  // namespace portico::backend
