#include "proxy/run/control_commands.h"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <iostream>
#include <string>

#include "conf/load.h"
#include "conf/words.h"
#include "proxy/run/commands.h"
#include "proxy/run/control_client.h"
#include "proxy/run/control_path.h"
#include "proxy/run/deploy_body.h"
#include "proxy/run/text_table.h"

namespace portico::run {
namespace {

int complain(const std::string& what, int status) {
  std::cerr << "portico: " << what << '\n';
  return status;
}

/// Where FILE has its socket. A file that cannot be read, or has mistakes by now, must not hide
/// what runs: then it is looked for in the usual place.
std::string path_of(const Options& options) {
  const conf::Loaded loaded = conf::load(conf::read_sources(options.file));
  if (loaded.problems.empty()) return control_path_to_ask(loaded.config);
  std::string usual = control_path_to_ask(conf::Config());
  std::cerr << conf::text(loaded.problems.front()) << "\nportico: looking at the usual place, "
            << usual << '\n';
  return usual;
}

// Somebody else's connections leave no room for this one.
constexpr int status_too_many = 503;

int status_of(const ControlClient& client) {
  return client.failure() == ControlClient::Failure::refused ? exit_not_running : exit_unknown;
}

/// Asks the Portico of options.file. Whoever uses it checks good() first, else returns failed().
class Question {
 public:
  Question(const Options& options, std::string_view method, std::string_view target)
      : path_(path_of(options)), client_(path_) {
    if (path_.empty() || client_.failure() != ControlClient::Failure::none) return;
    good_ = client_.ask(method, target) && client_.status() < 300;
  }

  bool good() const { return good_; }
  ControlClient& client() { return client_; }

  int failed() {
    if (path_.empty())
      return complain("the file has \"control\" off, so that nobody can be asked", exit_unknown);
    if (client_.failure() != ControlClient::Failure::none)
      return complain(client_.problem(), status_of(client_));
    std::string text = client_.read_all();
    if (text.ends_with('\n')) text.pop_back();
    return complain(text, client_.status() == status_too_many ? exit_unknown : exit_failed);
  }

 private:
  std::string path_;
  ControlClient client_;
  bool good_ = false;
};

std::string percent_encoded(std::string_view text) {
  static constexpr char hex[] = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '.' || c == '-' || c == '_';
    const auto byte = static_cast<unsigned char>(c);
    if (plain) {
      out.push_back(c);
    } else {
      out.append("%").push_back(hex[byte >> 4]);
      out.push_back(hex[byte & 15]);
    }
  }
  return out;
}

bool print(std::string_view text) { return static_cast<bool>(std::cout << text << std::flush); }

// The answer came before the end: that is what the kernel tells of the process.
void wait_for_end(pid_t pid) {
  const core::Fd process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!process) return;
  pollfd end{process.get(), POLLIN, 0};
  while (::poll(&end, 1, -1) < 0 && errno == EINTR) {
  }
}

}  // namespace

int show_status(const Options& options) {
  std::string target = "/v1/status";
  if (!options.json) target += wants_colours() ? "?format=text&colours=yes" : "?format=text";
  Question question(options, "GET", target);
  if (!question.good()) return question.failed();
  print(question.client().read_all());
  return question.client().field("portico-state") == "well" ? exit_good : exit_failed;
}

int show_logs(const Options& options) {
  Question question(options, "GET",
                    "/v1/sites/" + percent_encoded(options.site) + "/log?lines=" +
                        std::to_string(options.lines) + (options.follow ? "&follow=yes" : ""));
  if (!question.good()) return question.failed();
  while (const auto text = question.client().read())
    if (!print(*text)) return exit_failed;
  return exit_good;
}

// What it came to is the last line, which is not shown.
int deploy_code(const Options& options) {
  const std::string target =
      options.all ? "/v1/deploy" : "/v1/sites/" + percent_encoded(options.site) + "/deploy";
  Question question(options, "POST", target);
  if (!question.good()) return question.failed();
  std::string line;
  std::string last;
  while (const auto text = question.client().read()) {
    line += *text;
    for (auto end = line.find('\n'); end != line.npos; end = line.find('\n')) {
      last = line.substr(0, end + 1);
      line.erase(0, end + 1);
      if (last != deploy_done && last != deploy_failed && !print(last)) return exit_failed;
    }
  }
  return last == deploy_done ? exit_good : exit_failed;
}

int stop_running(const Options& options) {
  Question question(options, "POST", "/v1/stop");
  if (!question.good()) return question.failed();
  wait_for_end(question.client().peer());
  return exit_good;
}

}  // namespace portico::run
