// A directory for one test, gone with it.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace portico::conf::testing {

class Scratch {
 public:
  Scratch() {
    std::string name = std::filesystem::temp_directory_path() / "portico-conf-XXXXXX";
    if (mkdtemp(name.data()) == nullptr) std::abort();
    root_ = std::filesystem::canonical(name);
  }
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(root_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  std::string path(const std::string& name) const { return root_.string() + "/" + name; }
  std::string relative(const std::string& name) const {
    return std::filesystem::path(name).lexically_relative(root_);
  }
  void directory(const std::string& name) { std::filesystem::create_directories(root_ / name); }
  void write(const std::string& name, const std::string& text) {
    std::filesystem::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name) << text;
  }
  void mode(const std::string& name, unsigned bits) {
    std::filesystem::permissions(root_ / name, std::filesystem::perms(bits));
  }

 private:
  std::filesystem::path root_;
};

}  // namespace portico::conf::testing
