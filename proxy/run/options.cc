#include "proxy/run/options.h"

#include <algorithm>
#include <array>
#include <functional>
#include <vector>

#include "conf/words.h"
#include "proxy/core/text.h"

namespace portico::run {
namespace {

using conf::quoted;

struct VerbName {
  std::string_view name;
  Verb verb;
};

constexpr std::array<VerbName, 10> verb_names{{{"run", Verb::run},
                                               {"check", Verb::check},
                                               {"serve", Verb::serve},
                                               {"status", Verb::status},
                                               {"logs", Verb::logs},
                                               {"stop", Verb::stop},
                                               {"deploy", Verb::deploy},
                                               {"exec", Verb::exec},
                                               {"version", Verb::version},
                                               {"help", Verb::help}}};
constexpr std::string_view front_name = "front";  // hidden: in no list, and nearest to nothing

// More processes or threads than this on one machine are a slip of the finger.
constexpr std::uint64_t most_workers = 1000;

enum class Takes : bool { nothing, value };

struct Flag {
  std::string_view name;
  Verb verb;
  Takes takes;
  /// Puts the value into the options; what it returns is the problem, empty when there is none.
  std::string (*apply)(Options& options, std::string_view value);
};

std::string take_number(std::string_view flag, std::string_view value, std::uint64_t least,
                        unsigned& into) {
  const auto number = core::decimal(value);
  if (!number || *number < least || *number > most_workers)
    return std::string(flag) + " takes a number from " + std::to_string(least) + " to " +
           std::to_string(most_workers) + ", not " + quoted(value);
  into = static_cast<unsigned>(*number);
  return {};
}

std::string take_text(std::string_view value, std::string& into) {
  into = value;
  return {};
}

std::string turn_on(bool& flag) {
  flag = true;
  return {};
}

// A log has no more lines than this: process::RecentLines keeps 256 KiB.
constexpr std::uint64_t most_lines = 100'000;

std::string take_lines(std::string_view value, unsigned& into) {
  const auto number = core::decimal(value);
  if (!number || *number > most_lines)
    return "-n takes a number of lines up to " + std::to_string(most_lines) + ", not " +
           quoted(value);
  into = static_cast<unsigned>(*number);
  return {};
}

constexpr std::array<Flag, 13> flags{{
    {"--effective", Verb::check, Takes::nothing,
     [](Options& options, std::string_view) { return turn_on(options.effective); }},
    {"--json", Verb::status, Takes::nothing,
     [](Options& options, std::string_view) { return turn_on(options.json); }},
    {"-f", Verb::logs, Takes::nothing,
     [](Options& options, std::string_view) { return turn_on(options.follow); }},
    {"-n", Verb::logs, Takes::value,
     [](Options& options, std::string_view value) { return take_lines(value, options.lines); }},
    {"--config", Verb::logs, Takes::value,
     [](Options& options, std::string_view value) { return take_text(value, options.file); }},
    {"--config", Verb::exec, Takes::value,
     [](Options& options, std::string_view value) { return take_text(value, options.file); }},
    {"--config", Verb::deploy, Takes::value,
     [](Options& options, std::string_view value) { return take_text(value, options.file); }},
    {"--all", Verb::deploy, Takes::nothing,
     [](Options& options, std::string_view) { return turn_on(options.all); }},
    {"--listen", Verb::serve, Takes::value,
     [](Options& options, std::string_view value) {
       options.serve.listen = value;
       return std::string();
     }},
    {"--workers", Verb::serve, Takes::value,
     [](Options& options, std::string_view value) {
       return take_number("--workers", value, 1, options.serve.workers);
     }},
    {"--threads", Verb::serve, Takes::value,
     [](Options& options, std::string_view value) {
       return take_number("--threads", value, 0, options.serve.threads);
     }},
    {"--reload", Verb::serve, Takes::nothing,
     [](Options& options, std::string_view) { return turn_on(options.serve.reload); }},
    {"--embedded", Verb::serve, Takes::nothing,
     [](Options& options, std::string_view) { return turn_on(options.serve.embedded); }},
}};

std::string_view name_of(Verb verb) {
  const auto* found = std::find_if(verb_names.begin(), verb_names.end(),
                                   [&](const VerbName& each) { return each.verb == verb; });
  return found == verb_names.end() ? front_name : found->name;
}

std::optional<Verb> verb_of(std::string_view word) {
  if (word == front_name) return Verb::front;
  for (const VerbName& each : verb_names)
    if (each.name == word) return each.verb;
  return std::nullopt;
}

std::vector<std::string_view> all_verb_names() {
  std::vector<std::string_view> names(verb_names.size());
  std::transform(verb_names.begin(), verb_names.end(), names.begin(),
                 [](const VerbName& each) { return each.name; });
  return names;
}

bool asks_for_help(std::string_view word) { return word == "--help" || word == "-h"; }

std::string did_you_mean(std::string_view word, const std::vector<std::string_view>& candidates) {
  const auto near = conf::nearest(word, candidates);
  return near.empty() ? "" : "; did you mean " + quoted(near) + "?";
}

/// Reads the words of one command line, from left to right.
class Reader {
 public:
  explicit Reader(std::span<const std::string_view> words) : words_(words) {}

  ParsedOptions read() {
    if (words_.empty()) return {options_, {}};
    read_verb(next());
    while (problem_.empty() && !words_.empty()) read_word(next());
    if (problem_.empty()) check_complete();
    if (!problem_.empty()) return {std::nullopt, problem_};
    return {options_, {}};
  }

 private:
  std::string_view next() {
    const auto word = words_.front();
    words_ = words_.subspan(1);
    return word;
  }

  void read_verb(std::string_view word) {
    if (asks_for_help(word)) return;
    if (word == "--version" || word == "-V") {
      options_.verb = Verb::version;
      return;
    }
    if (const auto verb = verb_of(word)) {
      options_.verb = *verb;
      return;
    }
    const auto names = all_verb_names();
    problem_ = "there is no command " + quoted(word) + did_you_mean(word, names) +
               "; the commands are " + conf::listed(names);
  }

  void read_word(std::string_view word) {
    if (!only_operands_ && word == "--") {
      options_.verb == Verb::exec ? take_command() : read_on_as_operands();
    } else if (!only_operands_ && asks_for_help(word)) {
      ask_for_help();
    } else if (!only_operands_ && word.size() > 1 && word.front() == '-') {
      read_flag(word);
    } else {
      read_operand(word);
    }
  }

  void read_on_as_operands() { only_operands_ = true; }

  void take_command() {
    options_.command.assign(words_.begin(), words_.end());
    words_ = {};
  }

  void ask_for_help() {
    options_.topic = options_.verb;
    options_.verb = Verb::help;
    words_ = {};
  }

  void read_flag(std::string_view word) {
    const auto equals = word.find('=');
    const auto name = word.substr(0, equals);
    const auto* flag = std::find_if(flags.begin(), flags.end(), [&](const Flag& each) {
      return each.name == name && each.verb == options_.verb;
    });
    if (flag == flags.end()) return refuse_flag(name);
    std::string_view value;
    if (flag->takes == Takes::nothing) {
      if (equals != std::string_view::npos) problem_ = std::string(name) + " takes no value";
    } else if (equals != std::string_view::npos) {
      value = word.substr(equals + 1);
    } else if (words_.empty()) {
      problem_ = std::string(name) + " needs a value";
    } else {
      value = next();
    }
    if (problem_.empty()) problem_ = flag->apply(options_, value);
  }

  void refuse_flag(std::string_view name) {
    std::vector<std::string_view> known = {"--help"};
    for (const Flag& flag : flags)
      if (flag.verb == options_.verb) known.push_back(flag.name);
    problem_ = quoted("portico " + std::string(name_of(options_.verb))) + " has no option " +
               quoted(name) + did_you_mean(name, known) + "; it takes " + conf::listed(known);
  }

  void read_operand(std::string_view word) {
    const bool takes_one = options_.verb != Verb::version && options_.verb != Verb::front;
    if (!takes_one || ++operands_ > 1) {
      problem_ = "one word too many for " +
                 quoted("portico " + std::string(name_of(options_.verb))) + ": " + quoted(word);
    } else if (options_.verb == Verb::serve) {
      options_.serve.reference = word;
    } else if (options_.verb == Verb::help) {
      read_topic(word);
    } else if (names_site(options_.verb)) {
      options_.site = word;
    } else {
      options_.file = word;
    }
  }

  static bool names_site(Verb verb) {
    return verb == Verb::logs || verb == Verb::exec || verb == Verb::deploy;
  }

  void read_topic(std::string_view word) {
    const auto verb = verb_of(word);
    if (!verb || *verb == Verb::front) {
      problem_ = "there is no help about " + quoted(word) + "; try \"portico help\"";
      return;
    }
    options_.topic = *verb;
  }

  void check_complete() {
    const conf::ServeOptions& serve = options_.serve;
    if (serve.embedded && serve.workers != conf::ServeOptions{}.workers)
      problem_ = "--workers needs processes of the application's own; leave it out, or --embedded";
    if (options_.verb == Verb::logs && options_.site.empty())
      problem_ = "\"portico logs\" needs the name of a site, such as shop.example";
    if (options_.verb == Verb::deploy && options_.site.empty() != options_.all)
      problem_ = "\"portico deploy\" needs the name of a site, such as shop.example, or --all";
    if (serve.embedded && serve.reload)
      problem_ = "--reload needs processes of the application's own; leave it out, or --embedded";
    if (serve.threads == 0 && !serve.embedded)
      problem_ = "--threads 0 is for --embedded; write a number from 1, or --embedded";
    if (options_.verb == Verb::exec && (options_.site.empty() || options_.command.empty()))
      problem_ =
          "\"portico exec\" needs the name of a site and a command: portico exec shop.example -- "
          "python manage.py migrate";
    if (options_.file.empty()) problem_ = "the name of the configuration file is empty";
  }

  std::span<const std::string_view> words_;
  Options options_;
  std::string problem_;
  int operands_ = 0;
  bool only_operands_ = false;
};

}  // namespace

ParsedOptions parse_options(std::span<const std::string_view> words) {
  return Reader(words).read();
}

}  // namespace portico::run
