// Makes the environ dict of a request from its record (PEP 3333, RFC 3875).
//
// One maker a worker thread, used under the GIL. Speed comes from copying dicts: a base with the
// constants, and templates that hold all fields of requests seen twice, so that a browser's next
// request is one copy and a few items. The dict is the application's to keep and change: it is
// always a copy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "backend/engine/python.h"
#include "backend/record/buffer.h"
#include "backend/record/record.h"

namespace portico::engine {

/// What an environ has besides constants and what the record says. Borrowed.
struct CallFacts {
  PyObject* input;                ///< wsgi.input
  PyObject* early_hints;          ///< wsgi.early_hints
  PyObject* client_disconnected;  ///< portico.client_disconnected
  std::uint64_t deadline_ns;      ///< portico.deadline, of CLOCK_MONOTONIC; 0: None
};

class EnvironMaker {
 public:
  /// Takes the dict of constants (wsgi.errors, wsgi.version, the deployer's pairs ...) and
  /// completes it to the base. False with an exception set.
  bool open(PyObject* constants);

  /// The environ: new reference, or null with an exception.
  PyObject* make(const record::Record& record, const CallFacts& facts);

 private:
  /// All of a request that tends to stay the same from one to the next: server, script name,
  /// fields.
  struct Template {
    std::uint64_t hash = 0;
    Ref environ;  ///< null until the same request was seen a second time
    record::Buffer key;
  };
  static constexpr std::size_t template_count = 64;
  static constexpr std::size_t longest_key = 4096;

  PyObject* with_stable_part(const record::Record& record);
  PyObject* with_stable_part_by_hash(const record::Record& record);
  bool add_stable_part(PyObject* environ, const record::Record& record);
  bool add_fields(PyObject* environ, const record::Record& record);
  bool add_field(PyObject* environ, const record::RecordField& field, PyObject* key, bool repeated);
  PyObject* unknown_key(std::string_view name);
  bool add_fresh_part(PyObject* environ, const record::Record& record);
  static bool add_call_facts(PyObject* environ, const CallFacts& facts);
  void write_key(const record::Record& record);

  Ref base_;
  Template templates_[template_count];
  Template* last_ = nullptr;  ///< the one used for the request before
  record::Buffer key_;        ///< of the request at hand
  record::Buffer spelt_;      ///< an unknown field's environ key, being spelt
};

}  // namespace portico::engine
