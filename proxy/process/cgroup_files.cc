#include "proxy/process/cgroup_files.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <sstream>

#include "proxy/core/fd.h"

namespace portico::process {
namespace {

using Clock = std::chrono::steady_clock;

// The longest are cgroup.procs and memory.stat; of what is asked for here none is a page long.
constexpr std::size_t page = 4096;

std::optional<std::uint64_t> number_of(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end == text.data()) return std::nullopt;
  return value;
}

// A change of the file makes it urgent to read (cgroups(7), "populated").
void wait_for_change(int events, Clock::time_point until) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
  pollfd waiting{events, POLLPRI, 0};
  ::poll(&waiting, 1, static_cast<int>(left.count()));
}

// Killed processes take a moment to be gone.
void wait_until_empty(const std::string& directory, Clock::time_point until) {
  const core::Fd events(::open((directory + "/cgroup.events").c_str(), O_RDONLY | O_CLOEXEC));
  while (events && Clock::now() < until) {
    std::array<char, page> text;
    const ssize_t got = ::pread(events.get(), text.data(), text.size(), 0);
    if (got <= 0) return;
    const std::string_view read(text.data(), static_cast<std::size_t>(got));
    if (read.find("populated 1") == std::string_view::npos) return;
    wait_for_change(events.get(), until);
  }
}

bool remove_all(const std::string& directory) {
  for (const std::string& name : cgroups_below(directory)) remove_all(directory + "/" + name);
  return ::rmdir(directory.c_str()) == 0 || errno == ENOENT;
}

}  // namespace

std::optional<std::string> read_cgroup_file(const std::string& directory, std::string_view name) {
  const std::string path = directory + "/" + std::string(name);
  const core::Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return std::nullopt;
  std::array<char, page> text;
  const ssize_t got = ::read(file.get(), text.data(), text.size());
  if (got < 0) return std::nullopt;
  return std::string(text.data(), static_cast<std::size_t>(got));
}

// As a shell's redirection opens it.
bool write_cgroup_file(const std::string& directory, std::string_view name, std::string_view text) {
  const std::string path = directory + "/" + std::string(name);
  const core::Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  return file && ::write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

std::optional<std::uint64_t> cgroup_number(const std::string& directory, std::string_view name) {
  const auto text = read_cgroup_file(directory, name);
  return text ? number_of(*text) : std::nullopt;
}

std::optional<std::uint64_t> cgroup_count(const std::string& directory, std::string_view name,
                                          std::string_view key) {
  const std::vector<std::string> words =
      words_of(read_cgroup_file(directory, name).value_or(std::string()));
  for (std::size_t i = 0; i + 1 < words.size(); i += 2)
    if (words[i] == key) return number_of(words[i + 1]);
  return std::nullopt;
}

std::vector<std::string> words_of(std::string_view text) {
  std::istringstream in{std::string(text)};
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

std::vector<std::string> cgroups_below(const std::string& directory) {
  std::vector<std::string> names;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(directory, none))
    if (entry.is_directory(none)) names.push_back(entry.path().filename());
  return names;
}

bool remove_cgroup(const std::string& directory, core::Duration most) {
  if (remove_all(directory)) return true;
  write_cgroup_file(directory, "cgroup.kill", "1");
  wait_until_empty(directory, Clock::now() + most);
  return remove_all(directory);
}

}  // namespace portico::process
