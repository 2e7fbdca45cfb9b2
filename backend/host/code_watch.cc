#include "backend/host/code_watch.h"

#include <sys/stat.h>

#include <filesystem>
#include <functional>
#include <string_view>
#include <system_error>
#include <utility>

namespace portico::backend {
namespace {

namespace fs = std::filesystem;

constexpr auto time_between_looks = std::chrono::milliseconds(500);
// A tree with more sources than this is not one application's.
constexpr std::size_t most_sources = 20'000;

// Different where the file is another, or has been written or touched.
std::uint64_t stamp_of(const std::string& path) {
  struct stat facts {};
  if (::stat(path.c_str(), &facts) != 0) return 0;
  const auto time = static_cast<std::uint64_t>(facts.st_mtim.tv_sec) * 1'000'000'000 +
                    static_cast<std::uint64_t>(facts.st_mtim.tv_nsec);
  return time * 31 + static_cast<std::uint64_t>(facts.st_ino);
}

// What others have installed, and what the interpreter writes itself.
bool is_left_out(const fs::path& folder) {
  std::error_code error;
  const std::string name = folder.filename();
  return name.starts_with('.') || name == "__pycache__" || name == "node_modules" ||
         name == "site-packages" || fs::exists(folder / "pyvenv.cfg", error);
}

// Of all Python sources; their order in the directories does not count.
std::uint64_t stamp_of_sources(const std::string& directory) {
  std::uint64_t stamp = 0;
  std::size_t count = 0;
  std::error_code error;
  fs::recursive_directory_iterator at(directory, fs::directory_options::skip_permission_denied,
                                      error);
  for (; !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
    if (at->is_directory(error) && is_left_out(at->path())) at.disable_recursion_pending();
    if (at->path().extension() != ".py") continue;
    if (++count > most_sources) break;
    stamp += std::hash<std::string>()(at->path()) ^ stamp_of(at->path());
  }
  return stamp;
}

}  // namespace

CodeWatch::CodeWatch(core::Active& owner, const conf::Application& application)
    : application_(application), timer_(owner) {
  if (application_.touch.empty() && !application_.reload) return;
  look();
  timer_.set_after(time_between_looks);
}

// A file that is not there has not been touched.
void CodeWatch::look() {
  const std::uint64_t touched = application_.touch.empty() ? 0 : stamp_of(application_.touch);
  if (touched != 0) touched_ = touched;
  if (application_.reload) sources_ = stamp_of_sources(application_.directory);
}

bool CodeWatch::has_changed() {
  if (!timer_.due()) return false;
  timer_.set_after(time_between_looks);
  const auto before = std::pair(touched_, sources_);
  look();
  return before != std::pair(touched_, sources_);
}

}  // namespace portico::backend
