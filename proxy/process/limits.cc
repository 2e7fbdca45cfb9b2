#include "proxy/process/limits.h"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>

namespace portico::process {
namespace {

// The leak check of the address sanitizer attaches to its own process at the end.
#ifdef __SANITIZE_ADDRESS__
constexpr long is_attachable = 1;
#else
constexpr long is_attachable = 0;
#endif

}  // namespace

std::uint64_t raise_open_files() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 1024;  // POSIX's customary soft limit
  const rlim_t before = limit.rlim_cur;
  limit.rlim_cur = limit.rlim_max;
  return ::setrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : before;
}

void forbid_dumps() {
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
  ::prctl(PR_SET_DUMPABLE, is_attachable, 0L, 0L, 0L);
}

void forbid_new_privileges() { ::prctl(PR_SET_NO_NEW_PRIVS, 1L, 0L, 0L, 0L); }

bool die_with(pid_t parent, int signal) {
  ::prctl(PR_SET_PDEATHSIG, static_cast<long>(signal), 0L, 0L, 0L);
  return ::getppid() == parent;  // it may have died before the call
}

void adopt_orphans() { ::prctl(PR_SET_CHILD_SUBREAPER, 1L, 0L, 0L, 0L); }

void ignore_signal(int signal) {
  struct sigaction action {};
  action.sa_handler = SIG_IGN;
  ::sigaction(signal, &action, nullptr);
}

}  // namespace portico::process
