#include "conf/problem.h"

namespace portico::conf {

std::string text(const Problem& problem) {
  std::string out = problem.where.file;
  if (problem.where.line > 0) {
    out += ":" + std::to_string(problem.where.line) + ":" + std::to_string(problem.where.column);
  }
  out += problem.severity == Severity::warning ? ": warning: " : ": ";
  return out + problem.what;
}

}  // namespace portico::conf
