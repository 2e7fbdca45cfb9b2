// Interpreter: the CPython inside the front process: its library by dlopen, and the thread in which
// it lives.
//
// One a process at most, owned by Applications; made and ended by the front's main thread. What it
// runs is the engine's boot text (backend/engine/boot.py), which hears the supervisor itself over
// the control socket and takes records as a worker does, so that no loop ever waits for Python. No
// header of Python's is seen here: the one function that is called is declared by hand. Design §7,
// "Embedded mode".
#pragma once

#include <string>
#include <thread>
#include <vector>

#include "backend/record/direct.h"
#include "proxy/core/fd.h"

namespace portico::backend {

class Interpreter {
 public:
  /// What the supervisor says to load; record/README.md, "Embedded".
  struct Plan {
    std::string python;       ///< argv[0], by which the interpreter finds its virtual environment
    std::string library;      ///< libpython's path
    std::string boot;         ///< the text after -c
    core::Fd control;         ///< the interpreter's end of the control socket
    core::Fd engine;          ///< the engine module in memory; closed:
    std::string engine_file;  ///< its file
  };

  Interpreter() = default;
  Interpreter(const Interpreter&) = delete;
  Interpreter& operator=(const Interpreter&) = delete;
  /// Lets the interpreter end as a program of its own would: requests that run, threads and exit
  /// handlers included. The supervisor's deadline ends what takes too long.
  ~Interpreter();

  /// Loads the library and starts the thread. Returns why not; empty when it runs.
  std::string start(Plan plan);
  /// The engine's table for calls in this process; null while there is none. Once the interpreter
  /// has said that it is ready.
  const record::Direct* direct() const;

 private:
  using BytesMain = int (*)(int argc, char** argv);
  static void run(BytesMain main, std::vector<std::string> words);

  std::string engine_;  // the module's path
  core::Fd engine_fd_;  // in memory
  core::Fd control_;    // a duplicate, to end the conversation
  std::thread thread_;
};

}  // namespace portico::backend
