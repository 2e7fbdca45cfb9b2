#include "proxy/route/log_files.h"

#include <utility>

namespace portico::route {

std::shared_ptr<core::LogFile> LogFiles::file(const std::string& path) {
  if (path == "off") return nullptr;
  const std::lock_guard lock(mutex_);
  auto& known = files_[path];
  if (auto open = known.lock()) return open;
  auto node = adopted_.extract(path);
  auto made = node.empty() ? std::make_shared<core::LogFile>(path)
                           : std::make_shared<core::LogFile>(path, std::move(node.mapped()));
  known = made;
  return made;
}

void LogFiles::adopt(const std::string& path, core::Fd fd) {
  const std::lock_guard lock(mutex_);
  const auto known = files_.find(path);
  const auto open = known == files_.end() ? nullptr : known->second.lock();
  if (open != nullptr) {
    open->replace(std::move(fd));
  } else {
    adopted_.insert_or_assign(path, std::move(fd));
  }
}

void LogFiles::reopen() {
  const std::lock_guard lock(mutex_);
  std::erase_if(files_, [](const auto& entry) { return entry.second.expired(); });
  for (const auto& [path, file] : files_) {
    if (const auto open = file.lock()) open->reopen();
  }
}

}  // namespace portico::route
