#include "backend/engine/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "backend/engine/report.h"

namespace portico::engine {
namespace {

constexpr std::size_t most_bytes = std::size_t{32} * 1024;
constexpr std::size_t most_descriptors = 253;  // SCM_MAX_FD

int child_signals = -1;  ///< a signalfd for SIGCHLD
sigset_t mask_before;

bool append_descriptors(msghdr& message, PyObject* list) {
  for (cmsghdr* at = CMSG_FIRSTHDR(&message); at != nullptr; at = CMSG_NXTHDR(&message, at)) {
    if (at->cmsg_level != SOL_SOCKET || at->cmsg_type != SCM_RIGHTS) continue;
    std::size_t count = (at->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int descriptor = -1;
      std::memcpy(&descriptor, CMSG_DATA(at) + i * sizeof descriptor, sizeof descriptor);
      Ref number = Ref::steal(PyLong_FromLong(descriptor));
      if (!number || PyList_Append(list, number.get()) < 0) return false;
    }
  }
  return true;
}

bool open_child_signals() {
  if (child_signals >= 0) return true;
  sigset_t children;
  sigemptyset(&children);
  sigaddset(&children, SIGCHLD);
  pthread_sigmask(SIG_BLOCK, &children, &mask_before);
  child_signals = ::signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK);
  return child_signals >= 0;
}

/// The memory that holds the arguments, which the kernel shows to others; [begin, end).
struct Arguments {
  char* begin = nullptr;
  char* end = nullptr;
};

/// "pid (name) state ..." in /proc/self/stat: the fields 48 and 49, where we may see them.
Arguments find_arguments() {
  char text[2048] = {};
  int file = ::open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
  ssize_t size = file < 0 ? -1 : ::read(file, text, sizeof text - 1);
  if (file >= 0) ::close(file);
  const char* at = size > 0 ? std::strrchr(text, ')') : nullptr;
  for (int field = 2; at != nullptr && field < 48; ++field) {
    at = std::strchr(at, ' ');
    if (at != nullptr) ++at;
  }
  unsigned long begin = 0;
  unsigned long end = 0;
  if (at == nullptr || std::sscanf(at, "%lu %lu", &begin, &end) != 2 || begin >= end) return {};
  return {reinterpret_cast<char*>(begin), reinterpret_cast<char*>(end)};
}

}  // namespace

PyObject* process_receive(PyObject*, PyObject* args) {
  int descriptor = -1;
  if (!PyArg_ParseTuple(args, "i:receive", &descriptor)) return nullptr;
  static char bytes[most_bytes];
  alignas(cmsghdr) static char control[CMSG_SPACE(sizeof(int) * most_descriptors)];
  iovec part{bytes, sizeof bytes};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  PyThreadState* state = PyEval_SaveThread();
  ssize_t size = ::recvmsg(descriptor, &message, MSG_CMSG_CLOEXEC);
  PyEval_RestoreThread(state);
  Ref list = Ref::steal(PyList_New(0));
  if (!list || (size > 0 && !append_descriptors(message, list.get()))) return nullptr;
  return Py_BuildValue("y#O", bytes, size > 0 ? static_cast<Py_ssize_t>(size) : Py_ssize_t{0},
                       list.get());
}

PyObject* process_send(PyObject*, PyObject* args) {
  int descriptor = -1;
  const char* bytes = nullptr;
  Py_ssize_t size = 0;
  if (!PyArg_ParseTuple(args, "iy#:send", &descriptor, &bytes, &size)) return nullptr;
  return PyBool_FromLong(::send(descriptor, bytes, static_cast<std::size_t>(size), MSG_NOSIGNAL) ==
                         size);
}

PyObject* process_wait(PyObject*, PyObject* args) {
  int descriptor = -1;
  if (!PyArg_ParseTuple(args, "i:wait", &descriptor)) return nullptr;
  if (!open_child_signals()) return PyErr_SetFromErrno(PyExc_OSError);
  pollfd waits[2] = {{descriptor, POLLIN, 0}, {child_signals, POLLIN, 0}};
  PyThreadState* state = PyEval_SaveThread();
  int ready = ::poll(waits, 2, -1);
  PyEval_RestoreThread(state);
  signalfd_siginfo facts;
  while (ready > 0 && ::read(child_signals, &facts, sizeof facts) == sizeof facts) {
  }
  if (PyErr_CheckSignals() < 0) return nullptr;
  return PyBool_FromLong(ready > 0 && waits[0].revents != 0);
}

PyObject* process_release_signals(PyObject*, PyObject*) {
  if (child_signals >= 0) {
    ::close(child_signals);
    child_signals = -1;
    pthread_sigmask(SIG_SETMASK, &mask_before, nullptr);
  }
  Py_RETURN_NONE;
}

PyObject* process_report_to(PyObject*, PyObject* args) {
  int descriptor = -1;
  if (!PyArg_ParseTuple(args, "i:report_to", &descriptor)) return nullptr;
  report_to(descriptor);
  Py_RETURN_NONE;
}

PyObject* process_rename(PyObject*, PyObject* args) {
  const char* text = nullptr;
  if (!PyArg_ParseTuple(args, "s:rename", &text)) return nullptr;
  Arguments all = find_arguments();
  if (all.begin == nullptr) Py_RETURN_NONE;
  char* last = all.end - 1;  // the NUL at its end, which stays
  while (last > all.begin && last[-1] != '\0') --last;
  std::size_t room = static_cast<std::size_t>(all.end - 1 - last);
  std::size_t size = std::strlen(text);
  std::memset(last, 0, room);
  std::memcpy(last, text, size < room ? size : room);
  Py_RETURN_NONE;
}

PyObject* process_hide(PyObject*, PyObject*) {
  ::prctl(PR_SET_DUMPABLE, 0);
  Py_RETURN_NONE;
}

PyObject* process_die_with_parent(PyObject*, PyObject* args) {
  int parent = 0;
  if (!PyArg_ParseTuple(args, "i:die_with_parent", &parent)) return nullptr;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  return PyBool_FromLong(::getppid() == parent);
}

}  // namespace portico::engine
