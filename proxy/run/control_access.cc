#include "proxy/run/control_access.h"

#include <algorithm>

namespace portico::run {

bool ControlAccess::to_everything() const {
  return caller_ && (*caller_ == 0 || *caller_ == users_.owner);
}

bool ControlAccess::to_site(const std::string& site) const {
  if (to_everything()) return true;
  const auto found = users_.sites.find(site);
  return caller_ && found != users_.sites.end() && found->second == *caller_ &&
         caller_ != users_.front;
}

bool ControlAccess::to_anything() const {
  return to_everything() || std::any_of(users_.sites.begin(), users_.sites.end(),
                                        [this](const auto& site) { return to_site(site.first); });
}

}  // namespace portico::run
