// Reading the operator's files: the part of conf/load.h that touches the disk.
#include <fcntl.h>
#include <glob.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "conf/load.h"
#include "conf/names.h"
#include "conf/quote.h"
#include "conf/text_check.h"
#include "conf/words.h"
#include "conf/yaml.h"

namespace portico::conf {
namespace {

class File {
 public:
  explicit File(const std::string& name)
      : fd_(open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
  ~File() {
    if (fd_ >= 0) close(fd_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  bool is_open() const { return fd_ >= 0; }
  bool is_regular() const {
    struct stat status {};
    return fstat(fd_, &status) == 0 && S_ISREG(status.st_mode);
  }
  /// At most one byte more than load() takes; false on a read error.
  bool read_into(std::string& text) const {
    std::array<char, 16384> block;
    while (text.size() <= longest_text) {
      const ssize_t got = read(fd_, block.data(), block.size());
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return got == 0;
      text.append(block.data(), static_cast<std::size_t>(got));
    }
    return true;
  }

 private:
  int fd_;
};

std::string directory_of(const std::string& name) {
  const std::size_t slash = name.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : name.substr(0, slash);
}

std::string absolute(const std::string& directory) {
  const std::unique_ptr<char, decltype(&free)> path(realpath(directory.c_str(), nullptr), &free);
  return path ? std::string(path.get()) : directory;
}

/// Adds the file, or the reason why it cannot be read, told at `asked`.
void add_file(const std::string& name, const Position& asked, Sources& sources) {
  const auto refuse = [&](const std::string& why) {
    sources.problems.push_back({asked, "cannot read " + quoted(name) + ": " + why});
  };
  const File file(name);
  if (!file.is_open()) return refuse(std::string(std::strerror(errno)) + "; write a readable file");
  if (!file.is_regular()) return refuse("it is no regular file; write one that is");
  Source source{name, absolute(directory_of(name)), {}};
  if (!file.read_into(source.text)) return refuse(std::strerror(errno));
  sources.files.push_back(std::move(source));
}

bool has_wildcard(const std::string& pattern) {
  return pattern.find_first_of("*?[") != std::string::npos;
}

std::vector<std::string> matches(const std::string& pattern) {
  if (!has_wildcard(pattern)) return {pattern};
  std::vector<std::string> names;
  glob_t found{};
  if (glob(pattern.c_str(), 0, nullptr, &found) == 0) {
    names.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  }
  globfree(&found);
  std::sort(names.begin(), names.end());
  return names;
}

/// The scalars of `include:`; what is wrong with them load() tells.
std::vector<const Node*> patterns(const Node& root) {
  std::vector<const Node*> out;
  for (const Entry& entry : root.entries) {
    if (entry.key.text != "include") continue;
    if (entry.value.kind == Node::Kind::scalar) out.push_back(&entry.value);
    for (const Node& item : entry.value.items) {
      if (item.kind == Node::Kind::scalar) out.push_back(&item);
    }
  }
  return out;
}

void add_included(const Node& pattern, Sources& sources) {
  const std::string main = sources.files.front().name;
  const bool is_absolute = pattern.text.starts_with('/');
  const std::string directory = main.find('/') == std::string::npos ? "" : directory_of(main) + "/";
  const Position asked{main, pattern.mark.line, pattern.mark.column};
  for (const std::string& name : matches(is_absolute ? pattern.text : directory + pattern.text)) {
    const bool known = std::any_of(sources.files.begin(), sources.files.end(),
                                   [&](const Source& source) { return source.name == name; });
    if (!known) add_file(name, asked, sources);
  }
}

}  // namespace

Sources read_sources(const std::string& path) {
  Sources sources;
  add_file(path, {path, 0, 0}, sources);
  if (sources.files.empty()) return sources;
  const Yaml main = parse_yaml(sources.files.front().text);
  for (const Node* pattern : patterns(main.root)) {
    if (!pattern->text.empty()) add_included(*pattern, sources);
  }
  return sources;
}

namespace {

std::string where_it_runs(const ServeOptions& options) {
  return options.embedded ? "embedded: true" : "workers: " + std::to_string(options.workers);
}

/// What a configuration can hold: proper names, and values in UTF-8 without control characters.
std::string inline_environment(const ServeOptions& options) {
  std::string out;
  for (const auto& [name, value] : options.environment) {
    if (!parse_variable(name) || check_text(value) || value.find('\n') != std::string::npos)
      continue;
    out += (out.empty() ? "" : ", ") + yaml_quote(name) + ": " + yaml_quote(value);
  }
  return out;
}

}  // namespace

Sources serve_sources(const ServeOptions& options) {
  const std::string text = "listen: [" + yaml_quote(options.listen) + "]\ncontrol: \"off\"\n" +
                           (options.threads == 0 ? "front_threads: 1\n" : "") +
                           "sites:\n  default:\n    wsgi: " + yaml_quote(options.reference) +
                           "\n    directory: " + yaml_quote(options.directory) + "\n    " +
                           where_it_runs(options) +
                           "\n    threads: " + std::to_string(options.threads) +
                           "\n    environment: {" + inline_environment(options) + "}\n" +
                           (options.reload ? "    reload: true\n    warm: []\n" : "") +
                           (options.pretty ? "log: {format: pretty}\n" : "");
  return {{{"command line", options.directory, text}}, {}};
}

}  // namespace portico::conf
