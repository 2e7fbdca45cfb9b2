// From the operator's files to a Config, or to the list of everything wrong with them.
//
// read_sources() touches the disk and runs where the files may be read (the supervisor, the check
// command). load() is pure: the same texts give the same result anywhere; the supervisor loads to
// check, then hands the texts to the front, which loads again. Any thread.
// The text form is documented in portico.yaml(5).
#pragma once

#include <string>
#include <vector>

#include "conf/config.h"
#include "conf/problem.h"

namespace portico::conf {

/// One file as read. `name` is as given on the command line or found by a glob; relative paths in
/// the text are relative to its directory (made absolute by read_sources).
struct Source {
  std::string name;
  std::string directory;  ///< absolute, no slash at its end except for "/"
  std::string text;
};

/// The main file first, then the included ones in sorted order.
struct Sources {
  std::vector<Source> files;
  std::vector<Problem> problems;  ///< files that cannot be read, or are too large
};

/// What load() found out. `config` may be used only if `problems` is empty.
struct Loaded {
  Config config;
  std::vector<Problem> problems;  ///< in order of file, line and column
};

/// Reads the main file and what its `include:` names (globs, relative to the file's directory).
/// A glob that matches nothing is fine; a name without wildcards that does not exist is a problem.
Sources read_sources(const std::string& path);

/// Parses, checks and resolves inheritance. Never throws, ends for every input.
/// Includes the problems of `sources`.
Loaded load(const Sources& sources);

/// All values in force as YAML with comments; load() gives an equal Config for it.
std::string effective(const Config& config);

/// What `portico serve` runs without a file: one default site with one application.
struct ServeOptions {
  std::string reference;  ///< as after `wsgi:`
  std::string directory;  ///< absolute: the current directory
  std::string listen = ":8000";
  unsigned workers = 2;
  unsigned threads = 1;
  bool embedded = false;  ///< inside the front; `workers` means nothing then
  bool reload = false;    ///< its code whenever a source changes; an error is to be seen then
  bool pretty = false;    ///< the logs are for somebody who watches a terminal
  std::vector<std::pair<std::string, std::string>> environment;  ///< of whoever types the command
};

/// The options as the text of a file named "command line", to be given to load().
Sources serve_sources(const ServeOptions& options);

}  // namespace portico::conf
