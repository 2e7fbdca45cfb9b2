#include "backend/engine/head.h"

#include "backend/engine/checked_texts.h"
#include "backend/record/text_rules.h"

namespace portico::engine {
namespace {

/// The bytes of a str as latin-1. ASCII costs nothing; others are encoded into `keeper`.
/// False with an exception when the text has characters above U+00FF, or is no str.
bool text_of(PyObject* object, const char* what, Ref& keeper, std::string_view& text) {
  if (!PyUnicode_Check(object)) {
    PyErr_Format(PyExc_TypeError, "%s must be str, not %R", what, Py_TYPE(object));
    return false;
  }
  Py_ssize_t size = 0;
  const char* bytes = PyUnicode_AsUTF8AndSize(object, &size);
  if (bytes != nullptr) {
    text = {bytes, static_cast<std::size_t>(size)};
    if (is_ascii(text)) return true;
  }
  PyErr_Clear();
  keeper = Ref::steal(PyUnicode_AsLatin1String(object));
  if (!keeper) {
    PyErr_Clear();
    PyErr_Format(PyExc_ValueError, "%s has characters beyond latin-1: %R", what, object);
    return false;
  }
  text = bytes_of(keeper.get());
  return true;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// The code of a status line, or 0.
std::uint16_t status_code(std::string_view line) {
  if (line.size() < 3 || !is_digit(line[0]) || !is_digit(line[1]) || !is_digit(line[2])) return 0;
  if (line.size() > 3 && line[3] != ' ') return 0;
  int code = (line[0] - '0') * 100 + (line[1] - '0') * 10 + (line[2] - '0');
  return code >= 200 && code <= 599 ? static_cast<std::uint16_t>(code) : std::uint16_t{0};
}

/// The phrase to send: the application's, unless there is none or it is not ASCII.
std::string_view reason_of(std::string_view line, std::uint16_t code) {
  if (line.size() == 3 || !is_ascii(line)) return record::standard_reason(code);
  line.remove_prefix(4);
  return line;
}

CheckedTexts checked_statuses;  ///< number: the code; text: the phrase
CheckedTexts checked_names;     ///< number: 1 for Content-Length

bool write_status(PyObject* status, record::FrameWriter& writer, HeadFacts& facts) {
  const CheckedTexts::Entry* known = checked_statuses.find(status);
  if (known != nullptr) {
    facts.status = known->number;
    writer.begin_head(known->number, known->text);
    return true;
  }
  Ref keeper;
  std::string_view line;
  if (!text_of(status, "status", keeper, line)) return false;
  facts.status = status_code(line);
  if (facts.status == 0 || !record::is_field_value(line)) {
    PyErr_Format(PyExc_ValueError, "status must be like '200 OK', with a code of 200 to 599: %R",
                 status);
    return false;
  }
  std::string_view reason = reason_of(line, facts.status);
  writer.begin_head(facts.status, reason);
  if (!keeper) checked_statuses.keep(status, reason, facts.status);
  return true;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

/// Content-Length is kept apart: it frames the message.
bool take_length(std::string_view value, HeadFacts& facts) {
  constexpr std::size_t most_digits = 18;  // below 2^63
  bool sound = !facts.length_known && !value.empty() && value.size() <= most_digits;
  std::uint64_t length = 0;
  for (char c : value) {
    sound = sound && is_digit(c);
    length = length * 10 + static_cast<std::uint64_t>(c - '0');
  }
  facts.length_known = true;
  facts.content_length = sound ? length : 0;
  return sound;
}

bool refuse(PyObject* pair, const char* reason) {
  PyErr_Format(PyExc_ValueError, "%s: %R", reason, pair);
  return false;
}

/// The bytes of a header's name, and whether it is Content-Length. False with an exception.
bool name_of(PyObject* pair, std::string_view& name, bool& is_length) {
  PyObject* object = PyTuple_GetItem(pair, 0);
  const CheckedTexts::Entry* known = checked_names.find(object);
  if (known != nullptr) {
    name = known->text;
    is_length = known->number == 1;
    return true;
  }
  Ref keeper;
  if (!text_of(object, "header name", keeper, name)) return false;
  if (!record::is_field_name(name)) return refuse(pair, "header name is not a token");
  if (record::is_hop_by_hop(name)) return refuse(pair, "hop-by-hop headers are the server's");
  is_length = record::equals_lower(name, "content-length");
  checked_names.keep(object, name,
                     is_length ? 1 : 0);  // a token is ASCII: the text is the str's own
  return true;
}

bool write_field(PyObject* pair, record::FrameWriter& writer, HeadFacts& facts) {
  if (!PyTuple_Check(pair) || PyTuple_Size(pair) != 2) {
    PyErr_Format(PyExc_TypeError, "a header must be a tuple of name and value: %R", pair);
    return false;
  }
  Ref keeper;
  std::string_view name;
  std::string_view value;
  bool is_length = false;
  if (!name_of(pair, name, is_length) ||
      !text_of(PyTuple_GetItem(pair, 1), "header value", keeper, value))
    return false;
  value = trimmed(value);
  if (!record::is_field_value(value)) return refuse(pair, "header value has control characters");
  if (is_length) return take_length(value, facts) || refuse(pair, "bad or repeated Content-Length");
  writer.head_field(name, value);
  return true;
}

bool is_list(PyObject* headers) {
  if (PyList_Check(headers)) return true;
  PyErr_Format(PyExc_TypeError, "headers must be a list, not %R", Py_TYPE(headers));
  return false;
}

bool write_fields(PyObject* headers, record::FrameWriter& writer, HeadFacts& facts) {
  for (Py_ssize_t i = 0; i < PyList_Size(headers); ++i) {
    Ref pair = Ref::share(PyList_GetItem(headers, i));
    if (!pair || !write_field(pair.get(), writer, facts)) return false;
  }
  return true;
}

}  // namespace

bool write_head(PyObject* status, PyObject* headers, record::FrameWriter& writer,
                HeadFacts& facts) {
  facts = {};
  return is_list(headers) && write_status(status, writer, facts) &&
         write_fields(headers, writer, facts);
}

bool write_hints(PyObject* headers, record::FrameWriter& writer) {
  HeadFacts facts;
  writer.begin_interim(103, "Early Hints");
  if (!is_list(headers) || !write_fields(headers, writer, facts)) return false;
  if (facts.length_known)
    return raise(PyExc_ValueError, "Content-Length has no place in early hints") != nullptr;
  if (writer.finish_head(0, 0)) return true;
  return raise(PyExc_ValueError, "early hints are too large") != nullptr;
}

}  // namespace portico::engine
