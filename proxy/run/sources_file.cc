#include "proxy/run/sources_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <string>
#include <string_view>

#include "proxy/core/text.h"

namespace portico::run {
namespace {

using core::Error;
using core::Fault;
using core::Result;

constexpr unsigned all_seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL;

// Each text is its length in decimal, a colon, its bytes; three texts are a source.
void append_text(std::string& out, std::string_view text) {
  out.append(std::to_string(text.size())).append(":").append(text);
}

std::optional<std::string> take_text(std::string_view& rest) {
  const auto colon = rest.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const auto length = core::decimal(rest.substr(0, colon));
  rest.remove_prefix(colon + 1);
  if (!length || *length > rest.size()) return std::nullopt;
  std::string text(rest.substr(0, *length));
  rest.remove_prefix(*length);
  return text;
}

bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

Result<std::string> read_all(int fd) {
  struct stat about {};
  if (::fstat(fd, &about) != 0) return Error{Fault::internal, errno, "reading the configuration"};
  std::string text(static_cast<std::size_t>(about.st_size), '\0');
  const ssize_t got = ::pread(fd, text.data(), text.size(), 0);
  if (got != about.st_size) return Error{Fault::internal, errno, "reading the configuration"};
  return text;
}

}  // namespace

Result<core::Fd> seal_sources(const conf::Sources& sources) {
  std::string text;
  for (const conf::Source& source : sources.files) {
    append_text(text, source.name);
    append_text(text, source.directory);
    append_text(text, source.text);
  }
  core::Fd file(::memfd_create("portico-configuration", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file || !write_all(file.get(), text) || ::fcntl(file.get(), F_ADD_SEALS, all_seals) != 0)
    return Error{Fault::internal, errno, "putting the configuration into a memory file"};
  return file;
}

Result<conf::Sources> unseal_sources(int fd) {
  const auto text = read_all(fd);
  if (!text) return text.error();
  conf::Sources sources;
  for (std::string_view rest = *text; !rest.empty();) {
    auto name = take_text(rest);
    auto directory = take_text(rest);
    auto body = take_text(rest);
    if (!name || !directory || !body) return Error{Fault::internal, 0, "reading the configuration"};
    sources.files.push_back({std::move(*name), std::move(*directory), std::move(*body)});
  }
  return sources;
}

}  // namespace portico::run
