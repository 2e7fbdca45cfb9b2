#include "conf/load.h"

#include <algorithm>
#include <map>
#include <memory>
#include <tuple>

#include "conf/keys.h"
#include "conf/pools.h"
#include "conf/reader.h"
#include "conf/settings.h"
#include "conf/sites.h"
#include "conf/words.h"
#include "conf/yaml.h"

namespace portico::conf {
namespace {

/// One file, read as YAML and checked for keys at its top. Stays where it is: the mapping points
/// into the tree.
struct File {
  File(const Source& source, const Section& section, std::vector<Problem>& problems)
      : yaml(parse_yaml(source.text)), reader(source, problems), top(reader, yaml.root, section) {
    for (const YamlProblem& problem : yaml.problems) {
      problems.push_back({{source.name, problem.mark.line, problem.mark.column}, problem.what});
    }
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  Yaml yaml;
  Reader reader;
  Mapping top;
};

using Files = std::vector<std::unique_ptr<File>>;

Files parse_files(const Sources& sources, std::vector<Problem>& problems) {
  Files files;
  for (const Source& source : sources.files) {
    const Section& section = files.empty() ? top_section : included_section;
    files.push_back(std::make_unique<File>(source, section, problems));
  }
  return files;
}

void read_pools(const Files& files, Config& config) {
  std::map<std::string, Position> names;
  for (const auto& file : files) {
    const Node* pools = file->top.find("pools");
    if (pools == nullptr) continue;
    for (const Entry& entry :
         file->reader.named(*pools, "names and pools: {api: {endpoints: []}}")) {
      auto pool = read_pool(file->reader, entry, config.limits);
      if (!pool) continue;
      const auto [first, is_new] = names.emplace(pool->name, pool->where);
      if (is_new) {
        config.pools.push_back(std::move(*pool));
      } else {
        file->reader.refuse(entry.key, "the pool " + quoted(pool->name) + " stands in " +
                                           first->second.file + " already; write it once");
      }
    }
  }
}

void read_sites(const Files& files, Config& config) {
  SiteReader sites(config);
  for (const auto& file : files) {
    const Node* node = file->top.find("sites");
    if (node == nullptr) continue;
    for (const Entry& entry : file->reader.named(*node, "hosts and sites: {shop.example: {}}")) {
      sites.read(file->reader, entry);
    }
  }
}

/// By file in the order read, then line, then column; what has the same place stays in order.
void sort_by_place(const Sources& sources, std::vector<Problem>& problems) {
  std::map<std::string, std::size_t> order;
  for (const Source& source : sources.files) order.emplace(source.name, order.size());
  const auto rank = [&](const Problem& problem) {
    const auto file = order.find(problem.where.file);
    return std::tuple(file == order.end() ? order.size() : file->second, problem.where.line,
                      problem.where.column);
  };
  std::stable_sort(problems.begin(), problems.end(),
                   [&](const Problem& a, const Problem& b) { return rank(a) < rank(b); });
}

}  // namespace

Loaded load(const Sources& sources) {
  Loaded out;
  out.problems = sources.problems;
  const Files files = parse_files(sources, out.problems);
  if (!files.empty()) {
    out.config.where.file = sources.files.front().name;
    read_server(files.front()->reader, files.front()->top, out.config);
    read_pools(files, out.config);
    read_sites(files, out.config);
  }
  sort_by_place(sources, out.problems);
  return out;
}

}  // namespace portico::conf
