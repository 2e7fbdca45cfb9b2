#include "backend/engine/environ.h"

#include <cstring>

#include "backend/engine/names.h"
#include "backend/engine/text_cache.h"
#include "backend/record/known_fields.h"

namespace portico::engine {
namespace {

using record::Record;
using record::RecordField;

/// Sets an item to a new reference, which it consumes; false (with an exception) also when that is
/// null.
bool set_new(PyObject* environ, PyObject* key, PyObject* value) {
  if (value == nullptr) return false;
  int failed = PyDict_SetItem(environ, key, value);
  Py_DECREF(value);
  return failed == 0;
}

bool set_shared(PyObject* environ, PyObject* key, PyObject* value) {
  return PyDict_SetItem(environ, key, value) == 0;
}

bool set_text(PyObject* environ, PyObject* key, std::string_view text) {
  return set_new(environ, key, text_cache.text(text));
}

/// A decimal number as str; not by the cache, for such values rarely come again.
PyObject* decimal(std::uint64_t number) {
  char digits[20];
  char* at = digits + sizeof digits;
  do {
    *--at = static_cast<char>('0' + number % 10);
    number /= 10;
  } while (number != 0);
  return latin1({at, static_cast<std::size_t>(digits + sizeof digits - at)});
}

/// As time.monotonic() has it; None for 0.
PyObject* seconds(std::uint64_t nanoseconds) {
  if (nanoseconds != 0) return PyFloat_FromDouble(static_cast<double>(nanoseconds) / 1e9);
  Py_INCREF(Py_None);
  return Py_None;
}

PyObject* protocol(int http_version) {
  switch (http_version) {
    case 10:
      return names.http_10;
    case 20:
      return names.http_20;
    default:
      return names.http_11;
  }
}

bool has_underscore(std::string_view name) {
  return std::memchr(name.data(), '_', name.size()) != nullptr;
}

/// Which known fields a request has had so far.
class SeenFields {
 public:
  /// Notes the field; true when it was there before.
  bool note(std::uint16_t id) {
    std::uint64_t bit = std::uint64_t{1} << id % 64;
    bool before = (bits_[id / 64] & bit) != 0;
    bits_[id / 64] |= bit;
    return before;
  }

 private:
  std::uint64_t bits_[record::known_field_count / 64 + 1] = {};
};

}  // namespace

bool EnvironMaker::open(PyObject* constants) {
  base_ = Ref::steal(PyDict_Copy(constants));
  if (!base_) return false;
  PyObject* places[] = {
      names.request_method,  names.script_name, names.path_info,   names.query_string,
      names.request_uri,     names.raw_uri,     names.server_name, names.server_port,
      names.server_protocol, names.remote_addr, names.remote_port, names.url_scheme,
      names.input,           names.early_hints, names.request_id,  names.client_disconnected,
      names.deadline};
  for (PyObject* key : places) {
    if (!set_shared(base_.get(), key, names.empty)) return false;
  }
  return true;
}

PyObject* EnvironMaker::make(const Record& record, const CallFacts& facts) {
  PyObject* environ = with_stable_part(record);
  if (environ == nullptr) return nullptr;
  if (add_fresh_part(environ, record) && add_call_facts(environ, facts)) return environ;
  Py_DECREF(environ);
  return nullptr;
}

PyObject* EnvironMaker::with_stable_part(const Record& record) {
  write_key(record);
  bool as_before = last_ != nullptr && last_->environ && last_->key.view() == key_.view();
  return as_before ? PyDict_Copy(last_->environ.get()) : with_stable_part_by_hash(record);
}

PyObject* EnvironMaker::with_stable_part_by_hash(const Record& record) {
  std::uint64_t hash = quick_hash(key_.view());
  Template& known = templates_[hash % template_count];
  bool again = known.hash == hash;
  last_ = &known;
  if (again && known.environ && known.key.view() == key_.view())
    return PyDict_Copy(known.environ.get());
  Ref environ = Ref::steal(PyDict_Copy(base_.get()));
  if (!environ || !add_stable_part(environ.get(), record)) return nullptr;
  known.hash = hash;
  known.environ = {};
  if (again && key_.size() <= longest_key) {
    known.environ = Ref::steal(PyDict_Copy(environ.get()));
    if (!known.environ) return nullptr;
    known.key.clear();
    known.key.append(key_.view());
  }
  return environ.release();
}

/// All that add_stable_part looks at, as one string of bytes: equal keys make equal dicts.
void EnvironMaker::write_key(const Record& record) {
  const std::string_view texts[] = {record.method,       record.server_name, record.script_name,
                                    record.tls_protocol, record.tls_cipher,  record.raw_fields};
  key_.clear();
  key_.append_value(record.server_port);
  key_.append_value(record.http_version);
  key_.append_value(record.https);
  for (std::string_view text : texts) key_.append_value(static_cast<std::uint32_t>(text.size()));
  for (std::string_view text : texts) key_.append(text);
}

bool EnvironMaker::add_stable_part(PyObject* environ, const Record& record) {
  bool added =
      set_text(environ, names.request_method, record.method) &&
      set_text(environ, names.server_name, record.server_name) &&
      set_new(environ, names.server_port, decimal(record.server_port)) &&
      set_shared(environ, names.server_protocol, protocol(record.http_version)) &&
      set_text(environ, names.script_name, record.script_name) &&
      set_shared(environ, names.url_scheme, record.https ? names.value_https : names.value_http) &&
      add_fields(environ, record);
  if (!added || !record.https) return added;
  if (!set_shared(environ, names.https, names.value_on)) return false;
  if (record.tls_protocol.empty()) return true;
  return set_text(environ, names.ssl_protocol, record.tls_protocol) &&
         set_text(environ, names.ssl_cipher, record.tls_cipher);
}

/// Fields become HTTP_NAME. Two spellings that would fall together are kept apart by dropping the
/// one with `_` (CVE-2015-0219); `Proxy` is dropped because HTTP_PROXY configures HTTP clients
/// ("httpoxy").
bool EnvironMaker::add_fields(PyObject* environ, const Record& record) {
  record::FieldCursor cursor(record);
  RecordField field;
  SeenFields seen;
  while (cursor.next(field)) {
    if (field.known_id != 0) {
      PyObject* key = names.fields[field.known_id];
      if (key == nullptr) continue;
      if (!add_field(environ, field, key, seen.note(field.known_id))) return false;
      continue;
    }
    if (has_underscore(field.name)) continue;
    Ref key = Ref::steal(unknown_key(field.name));
    if (!key) return false;
    bool repeated = PyDict_GetItem(environ, key.get()) != nullptr;
    if (!add_field(environ, field, key.get(), repeated)) return false;
  }
  return true;
}

bool EnvironMaker::add_field(PyObject* environ, const RecordField& field, PyObject* key,
                             bool repeated) {
  if (!repeated) return set_text(environ, key, field.value);
  PyObject* before = PyDict_GetItem(environ, key);
  Ref value = Ref::steal(text_cache.text(field.value));
  if (before == nullptr || !value) return false;
  const char* joint = field.known_id == record::field_cookie ? "; " : ", ";
  return set_new(environ, key, PyUnicode_FromFormat("%U%s%U", before, joint, value.get()));
}

PyObject* EnvironMaker::unknown_key(std::string_view name) {
  spelt_.clear();
  spelt_.append("HTTP_");
  char* at = spelt_.extend(name.size());
  for (char c : name) {
    *at++ = c == '-' ? '_' : static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  }
  return text_cache.text(spelt_.view());
}

bool EnvironMaker::add_fresh_part(PyObject* environ, const Record& record) {
  Ref target = Ref::steal(text_cache.text(record.target));
  if (!target) return false;
  bool added = set_text(environ, names.path_info, record.path_info) &&
               (record.query.empty() || set_text(environ, names.query_string, record.query)) &&
               set_shared(environ, names.request_uri, target.get()) &&
               set_shared(environ, names.raw_uri, target.get()) &&
               set_text(environ, names.remote_addr, record.client_address) &&
               set_new(environ, names.remote_port, decimal(record.client_port)) &&
               set_new(environ, names.request_id, latin1(record.request_id));
  if (!added || !record.has_length) return added;
  return set_new(environ, names.content_length, decimal(record.content_length));
}

bool EnvironMaker::add_call_facts(PyObject* environ, const CallFacts& facts) {
  return set_shared(environ, names.input, facts.input) &&
         set_shared(environ, names.early_hints, facts.early_hints) &&
         set_shared(environ, names.client_disconnected, facts.client_disconnected) &&
         set_new(environ, names.deadline, seconds(facts.deadline_ns));
}

}  // namespace portico::engine
