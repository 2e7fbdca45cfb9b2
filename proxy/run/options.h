// Options: what the command line asks for.
//
// Pure: words in, a value or one sentence out; main's thread. The texts that --help prints are in
// help.h; portico(8) is the manual.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "conf/load.h"

namespace portico::run {

enum class Verb : std::uint8_t {
  run,      ///< the front door of a file
  check,    ///< what is wrong with a file, and what is missing on this machine
  serve,    ///< one application, no file
  status,   ///< how everything is
  logs,     ///< what a site's processes wrote
  stop,     ///< the end of a running Portico
  deploy,   ///< new code of a site, or of all
  exec,     ///< a command in a site's surroundings
  version,  ///< one line
  help,     ///< of all, or of a verb
  front,    ///< not for people: what the supervisor starts (see front.h)
};

struct Options {
  Verb verb = Verb::help;
  std::string file = "/etc/portico/portico.yaml";  ///< of all but serve
  bool effective = false;                          ///< check: print all values in force
  conf::ServeOptions serve;                        ///< serve; `directory` is left to the caller
  bool json = false;                               ///< status: for programs
  std::string site;                                ///< logs, deploy; exec: with a route
  bool all = false;                                ///< deploy: every site
  std::vector<std::string> command;                ///< exec
  unsigned lines = 20;                             ///< logs: how many of those there are
  bool follow = false;                             ///< logs: and those to come
  Verb topic = Verb::help;                         ///< help: of which verb
};

/// Either `options` is set, or `problem` says what is wrong and what to write instead.
struct ParsedOptions {
  std::optional<Options> options;
  std::string problem;
};

/// words  the arguments without the program's name
ParsedOptions parse_options(std::span<const std::string_view> words);

}  // namespace portico::run
