#include "backend/engine/shared_socket.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstddef>
#include <cstdio>
#include <cstring>

namespace portico::engine {
namespace {

/// An address with its length, as the kernel gives it.
struct Name {
  sockaddr_storage address{};
  socklen_t length = sizeof address;
};

// A Unix address is its path, "@" and a name, or nothing at all (a pair).
constexpr std::size_t longest_text = sizeof(sockaddr_un) + 16;

int option(int fd, int which) {
  int value = 0;
  socklen_t length = sizeof value;
  return ::getsockopt(fd, SOL_SOCKET, which, &value, &length) == 0 ? value : 0;
}

void write_inet(char* text, int family, const void* host, in_port_t port) {
  char digits[INET6_ADDRSTRLEN] = "?";
  ::inet_ntop(family, host, digits, sizeof digits);
  std::snprintf(text, longest_text, family == AF_INET ? "%s:%u" : "[%s]:%u", digits,
                static_cast<unsigned>(ntohs(port)));
}

void write_unix(char* text, const sockaddr_un& address, socklen_t length) {
  constexpr std::size_t before = offsetof(sockaddr_un, sun_path);
  const std::size_t size = length > before ? length - before : 0;
  if (size == 0) {
    std::snprintf(text, longest_text, "a socket without a name");
    return;
  }
  std::memcpy(text, address.sun_path, size);
  text[size] = '\0';
  if (text[0] == '\0') text[0] = '@';
}

void write_address(char* text, const Name& name) {
  const auto* any = &name.address;
  const auto* four = reinterpret_cast<const sockaddr_in*>(any);
  const auto* six = reinterpret_cast<const sockaddr_in6*>(any);
  if (any->ss_family == AF_INET) {
    write_inet(text, AF_INET, &four->sin_addr, four->sin_port);
  } else if (any->ss_family == AF_INET6) {
    write_inet(text, AF_INET6, &six->sin6_addr, six->sin6_port);
  } else if (any->ss_family == AF_UNIX) {
    write_unix(text, *reinterpret_cast<const sockaddr_un*>(any), name.length);
  } else {
    std::snprintf(text, longest_text, "an address of family %d", any->ss_family);
  }
}

}  // namespace

PyObject* describe_shared(PyObject*, PyObject* args) {
  int fd = -1;
  if (!PyArg_ParseTuple(args, "i:describe_shared", &fd)) return nullptr;
  const int type = option(fd, SO_TYPE);
  if (type != SOCK_STREAM && type != SOCK_SEQPACKET) Py_RETURN_NONE;
  const bool listens = option(fd, SO_ACCEPTCONN) != 0;
  Name name;
  auto* address = reinterpret_cast<sockaddr*>(&name.address);
  if ((listens ? ::getsockname(fd, address, &name.length)
               : ::getpeername(fd, address, &name.length)) != 0)
    Py_RETURN_NONE;
  char where[longest_text];
  write_address(where, name);
  char text[longest_text + 64];
  std::snprintf(text, sizeof text, "descriptor %d, which %s %s", fd,
                listens ? "listens on" : "is connected to", where);
  return PyUnicode_DecodeFSDefault(text);
}

}  // namespace portico::engine
