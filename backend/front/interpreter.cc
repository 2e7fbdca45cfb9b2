#include "backend/front/interpreter.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/socket.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>
#include <vector>

namespace portico::backend {
namespace {

std::string dynamic_error() {
  const char* text = ::dlerror();
  return text != nullptr ? text : "it cannot be loaded";
}

void do_nothing(int) {}

// What a process ignores is ignored by everything it starts, and the front ignores what its
// supervisor decides. Signals with a handler are as usual again in what the application starts.
void stop_ignoring_signals() {
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2}) {
    struct sigaction action {};
    action.sa_handler = do_nothing;
    action.sa_flags = SA_RESTART;
    ::sigaction(signal, &action, nullptr);
  }
}

}  // namespace

Interpreter::~Interpreter() {
  if (!thread_.joinable()) return;
  ::shutdown(control_.get(), SHUT_RDWR);
  thread_.join();
}

// The library's symbols are for all: extension modules find the interpreter by them.
std::string Interpreter::start(Plan plan) {
  if (thread_.joinable()) return "an interpreter has been started in the front already";
  void* library = ::dlopen(plan.library.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr) return dynamic_error();
  const auto main = reinterpret_cast<BytesMain>(::dlsym(library, "Py_BytesMain"));
  if (main == nullptr) return dynamic_error();
  control_.reset(::fcntl(plan.control.get(), F_DUPFD_CLOEXEC, 0));
  if (!control_) return std::strerror(errno);
  stop_ignoring_signals();
  if (plan.engine) {
    engine_fd_.reset(::fcntl(plan.engine.get(), F_DUPFD_CLOEXEC, 0));
    engine_ = "/proc/self/fd/" + std::to_string(engine_fd_.get());
  } else {
    engine_ = plan.engine_file;
  }
  // The descriptors are the boot text's from here on.
  const std::string engine =
      plan.engine ? std::to_string(plan.engine.release()) : std::move(plan.engine_file);
  std::vector<std::string> words = {std::move(plan.python), "-c", std::move(plan.boot), engine,
                                    std::to_string(plan.control.release())};
  thread_ = std::thread(&Interpreter::run, main, std::move(words));
  ::pthread_setname_np(thread_.native_handle(), "python");
  return {};
}

// The loader knows a module that is loaded by its file, whatever the path to it is.
const record::Direct* Interpreter::direct() const {
  void* module = ::dlopen(engine_.c_str(), RTLD_NOW | RTLD_NOLOAD);
  if (module == nullptr) return nullptr;
  return static_cast<const record::Direct*>(::dlsym(module, "portico_direct"));
}

void Interpreter::run(BytesMain main, std::vector<std::string> words) {
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  main(static_cast<int>(words.size()), argv.data());
}

}  // namespace portico::backend
