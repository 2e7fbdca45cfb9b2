#include "backend/host/interpreter_probe.h"

#include <unistd.h>

#include <csignal>
#include <utility>

#include "backend/record/control.h"
#include "conf/check.h"
#include "proxy/process/environment.h"
#include "proxy/process/spawn.h"

namespace portico::backend {
namespace {

using record::ControlMessage;

// An interpreter starts in some 30 ms; on a cold disk in seconds.
constexpr core::Duration longest_wait = std::chrono::seconds(15);
constexpr std::string_view mark = "portico-library ";

// Library, standard library and extensions must come from one installation, so it looks only where
// the interpreter says that its own library is. A statically linked one may have one beside it.
constexpr const char* program = R"py(
import os, sys, sysconfig
from urllib.parse import quote
var = sysconfig.get_config_var
short = 'libpython%d.%d' % sys.version_info[:2] + getattr(sys, 'abiflags', '')
names = [var('INSTSONAME'), var('LDLIBRARY'), short + '.so.1.0', short + '.so']
folders = [var('LIBDIR'), os.path.join(var('LIBDIR') or '', var('MULTIARCH') or ''), var('LIBPL')]
paths = [os.path.join(f, n) for f in folders if f for n in names if n and '.so' in n]
found = [path for path in paths if os.path.isfile(path)]
print('portico-library major=%d minor=%d package=%d free=%d name=%s folder=%s path=%s' % (
    sys.version_info[0], sys.version_info[1], sys.base_prefix == '/usr', bool(var('Py_GIL_DISABLED')),
    quote(short), quote(str(var('LIBDIR'))), quote(found[0] if found else '')))
)py";

std::string text_of(const ControlMessage& message, std::string_view key) {
  return std::string(message.text(key).value_or(""));
}

// What an operator can do about an interpreter that has no library of its own.
std::string remedy(const ControlMessage& message) {
  const std::string name = text_of(message, "name");
  if (message.number("package") == 1u) return "install the package " + name;
  return "use a Python that was built with --enable-shared";
}

std::string why_not(const ControlMessage& message, const std::string& python) {
  const std::uint64_t minor = message.number("minor").value_or(0);
  if (message.number("major") != 3u || minor < 8)
    return python + " is older than Python 3.8; name a newer one after \"python\"";
  if (message.number("free") == 1u)
    return python +
           " is a free-threaded build, for which there is no engine yet; name another "
           "after \"python\"";
  if (!text_of(message, "path").empty()) return {};
  return python + " cannot be embedded, since its shared library " + text_of(message, "name") +
         ".so is not in " + text_of(message, "folder") + "; " + remedy(message) +
         ", or leave \"embedded\" out";
}

}  // namespace

InterpreterProbe::Finding finding_of(std::string_view answer, const std::string& python) {
  const auto message = record::parse_control(answer);
  if (!message)
    return {{},
            python +
                " did not say where its library is; see that it runs, or leave "
                "\"embedded\" out"};
  std::string problem = why_not(*message, python);
  if (!problem.empty()) return {{}, std::move(problem)};
  return {text_of(*message, "path"), {}};
}

InterpreterProbe::InterpreterProbe(core::Active& owner, const conf::Application& application,
                                   const process::Identity* identity)
    : Active(owner.loop()),
      owner_(owner),
      application_(application),
      python_(conf::resolve_python(application)),
      deadline_(*this) {
  start(identity);
}

void InterpreterProbe::give_up() {
  if (pid_ != 0) ::kill(pid_, SIGKILL);
}

void InterpreterProbe::start(const process::Identity* identity) {
  auto output = process::Output::pipe();
  if (!output) return conclude({{}, core::describe(output.error())});
  process::Command command;
  command.path = python_;
  command.arguments = {python_, "-c", program};
  command.environment = process::application_environment(application_.environment, identity);
  command.fds = {{output->childs.get(), STDOUT_FILENO}};
  if (identity != nullptr) command.identity = *identity;
  const auto child = process::spawn(command);
  if (!child) return conclude({{}, python_ + ": " + core::describe(child.error())});
  pid_ = *child;
  output_ = std::make_unique<process::Output>(*this, std::move(output->ours),
                                              [this](std::string_view line) { take_line(line); });
  deadline_.set_after(longest_wait);
}

// A sitecustomize may print as well: only our line counts.
void InterpreterProbe::take_line(std::string_view line) {
  if (line.starts_with(mark)) answer_ = line;
}

void InterpreterProbe::advance() {
  if (finding_) return;
  if (output_->ended()) return conclude(finding_of(answer_, python_));
  if (!deadline_.due()) return;
  give_up();
  conclude({{}, python_ + " did not answer in time when it was asked for its library"});
}

void InterpreterProbe::conclude(Finding finding) {
  deadline_.clear();
  finding_ = std::move(finding);
  owner_.wake();
}

}  // namespace portico::backend
