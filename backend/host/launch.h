// Launch: as whom and with what a zygote is started, or why it cannot be.
//
// Made by an ApplicationService before each start, in the supervisor's thread and with its rights:
// users and secrets are looked up anew each time. Nothing of Portico's own environment goes along
// but where programs are, the language and the time zone.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "conf/config.h"
#include "proxy/process/identity.h"

namespace portico::backend {

struct Launch {
  std::optional<process::Identity> identity;  ///< whom it becomes; none: it stays as we are
  std::vector<std::string> environment;       ///< "NAME=value"
  int group = -1;                             ///< as process::Command has it
};

/// cause: as the front is told (record/README.md); reason: a sentence for the log.
struct Refusal {
  std::string_view cause;
  std::string reason;
};

/// Whom it becomes, as far as that is known: without root, and where there is no such user, nobody.
/// usual  whom applications become that name no user
std::optional<process::Identity> identity_of(const conf::Application& application,
                                             const std::optional<process::Identity>& usual);

/// group  the entrance of its control group; -1: it has none
std::variant<Launch, Refusal> prepare_launch(const conf::Application& application,
                                             const std::optional<process::Identity>& usual,
                                             int group = -1);

}  // namespace portico::backend
