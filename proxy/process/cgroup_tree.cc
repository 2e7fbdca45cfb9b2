#include "proxy/process/cgroup_tree.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "proxy/core/log.h"
#include "proxy/process/cgroup_files.h"

namespace portico::process {
namespace {

constexpr std::string_view prefix = "portico-";
constexpr std::string_view own_leaf = "/supervisor";
// What processes of a supervisor that is gone may take to be gone too.
constexpr auto most_removal = std::chrono::seconds(2);

bool has(const std::vector<std::string>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

std::string why_not_divided(const std::string& base) {
  const std::string why = std::strerror(errno);
  if (errno == EBUSY)
    return "other processes share the control group " + base +
           " with Portico; start it in one of its own, such as a service of systemd with "
           "\"Delegate=yes\"";
  return "the control group " + base + " cannot be divided (" + why +
         "); start Portico as a service of systemd with \"Delegate=yes\"";
}

// Its supervisor stands in its own leaf as long as it lives.
bool is_left_behind(const std::string& directory) {
  return cgroup_count(directory + std::string(own_leaf), "cgroup.events", "populated")
             .value_or(0) == 0;
}

void remove_left_behind(const std::string& base) {
  for (const std::string& name : cgroups_below(base)) {
    const std::string directory = base + "/" + name;
    if (!name.starts_with(prefix) || !is_left_behind(directory)) continue;
    core::log(core::Level::warning,
              "removing the control group " + directory + " of a Portico that was killed");
    remove_cgroup(directory, most_removal);
  }
}

}  // namespace

CgroupTree::CgroupTree(const CgroupPlace& place)
    : place_(place),
      directory_(place.base + "/" + std::string(prefix) + std::to_string(::getpid())) {}

std::unique_ptr<CgroupTree> CgroupTree::make(const CgroupPlace& place,
                                             const std::vector<std::string>& wanted,
                                             std::string& problem) {
  problem = place.problem;
  if (!problem.empty()) return nullptr;
  std::unique_ptr<CgroupTree> tree(new CgroupTree(place));
  const std::vector<std::string> offered = cgroup_controllers(place.base);
  for (const std::string& one : wanted)
    tree->problems_[one] = has(offered, one) ? "" : missing_controller(place.base);
  const bool any = std::any_of(wanted.begin(), wanted.end(),
                               [&](const std::string& one) { return has(offered, one); });
  if (!any) return tree;
  remove_left_behind(place.base);
  if (!tree->move_in()) {
    problem = why_not_divided(place.base);
    return nullptr;
  }
  for (const std::string& one : wanted)
    if (has(offered, one)) tree->enable(one);
  return tree;
}

bool CgroupTree::move_in() {
  const std::string leaf = directory_ + std::string(own_leaf);
  return ::mkdir(directory_.c_str(), 0755) == 0 && ::mkdir(leaf.c_str(), 0755) == 0 &&
         write_cgroup_file(leaf, "cgroup.procs", "0");
}

// A controller is handed down from group to group.
void CgroupTree::enable(const std::string& controller) {
  constexpr std::string_view file = "cgroup.subtree_control";
  const bool was = has(words_of(read_cgroup_file(place_.base, file).value_or("")), controller);
  if (!was && !write_cgroup_file(place_.base, file, "+" + controller)) {
    problems_[controller] = why_not_divided(place_.base);
    return;
  }
  if (!was) enabled_.push_back(controller);
  if (!write_cgroup_file(directory_, file, "+" + controller))
    problems_[controller] = why_not_divided(directory_);
}

// Where controllers are handed down no process may be, so ours are withdrawn first; unless somebody
// else has come to use them.
bool CgroupTree::move_out() {
  if (write_cgroup_file(place_.home, "cgroup.procs", "0")) return true;
  for (const std::string& one : enabled_) {
    write_cgroup_file(directory_, "cgroup.subtree_control", "-" + one);
    write_cgroup_file(place_.base, "cgroup.subtree_control", "-" + one);
  }
  return write_cgroup_file(place_.home, "cgroup.procs", "0");
}

// Those that cannot go back stay here with their group; systemd removes it after their end.
CgroupTree::~CgroupTree() {
  struct stat facts {};
  if (::stat(directory_.c_str(), &facts) != 0) return;
  if (move_out()) remove_cgroup(directory_, most_removal);
}

core::Result<Cgroup> CgroupTree::add(std::string_view application,
                                     const conf::Resources& limits) const {
  return Cgroup::make(directory_ + "/" + cgroup_name(application), limits);
}

std::string cgroup_name(std::string_view application) {
  constexpr char digits[] = "0123456789ABCDEF";
  std::string name = "site-";
  for (const char c : application) {
    const auto byte = static_cast<std::uint8_t>(c);
    const bool is_plain = byte > ' ' && byte < 0x7f && c != '/' && c != '%' && c != '*';
    if (is_plain) {
      name += c;
    } else {
      name += {'%', digits[byte >> 4], digits[byte & 15]};
    }
  }
  return name;
}

std::string missing_controller(const std::string& directory) {
  return "the kernel offers no controller for that in " + directory +
         "; where cgroup v1 has it, boot with systemd.unified_cgroup_hierarchy=1; where systemd "
         "keeps it, write \"Delegate=yes\" under [Service] of Portico's unit";
}

}  // namespace portico::process
