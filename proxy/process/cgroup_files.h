// The files of a control group (cgroup v2): small texts that are read and written whole.
//
// For cgroup, cgroup_place and cgroup_tree; the supervisor's thread. These alone know the names of
// such files; elsewhere than on Linux there are none, and every function says so by its result.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/core/loop.h"

namespace portico::process {

/// Nothing: it cannot be read, and errno says why.
std::optional<std::string> read_cgroup_file(const std::string& directory, std::string_view name);

/// False: the kernel refuses, and errno says why.
bool write_cgroup_file(const std::string& directory, std::string_view name, std::string_view text);

/// Of a file that holds one number. Nothing: there is none ("max" too is none).
std::optional<std::uint64_t> cgroup_number(const std::string& directory, std::string_view name);

/// Of a line "key number" in a file of such lines.
std::optional<std::uint64_t> cgroup_count(const std::string& directory, std::string_view name,
                                          std::string_view key);

/// The words of a text, between spaces and ends of line.
std::vector<std::string> words_of(std::string_view text);

/// The groups below this one, by name.
std::vector<std::string> cgroups_below(const std::string& directory);

/// Ends whatever still runs in it and below, and takes it all away. Waits for that as long as the
/// kernel needs, but not longer than `most`. False: it is still there.
bool remove_cgroup(const std::string& directory, core::Duration most);

}  // namespace portico::process
