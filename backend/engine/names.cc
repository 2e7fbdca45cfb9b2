#include "backend/engine/names.h"

#include "backend/record/buffer.h"

namespace portico::engine {

Names names;

namespace {

struct Entry {
  PyObject* Names::*place;
  const char* text;
};

constexpr Entry entries[] = {
    {&Names::request_method, "REQUEST_METHOD"},
    {&Names::script_name, "SCRIPT_NAME"},
    {&Names::path_info, "PATH_INFO"},
    {&Names::query_string, "QUERY_STRING"},
    {&Names::request_uri, "REQUEST_URI"},
    {&Names::raw_uri, "RAW_URI"},
    {&Names::content_length, "CONTENT_LENGTH"},
    {&Names::server_name, "SERVER_NAME"},
    {&Names::server_port, "SERVER_PORT"},
    {&Names::server_protocol, "SERVER_PROTOCOL"},
    {&Names::remote_addr, "REMOTE_ADDR"},
    {&Names::remote_port, "REMOTE_PORT"},
    {&Names::https, "HTTPS"},
    {&Names::ssl_protocol, "SSL_PROTOCOL"},
    {&Names::ssl_cipher, "SSL_CIPHER"},
    {&Names::url_scheme, "wsgi.url_scheme"},
    {&Names::input, "wsgi.input"},
    {&Names::early_hints, "wsgi.early_hints"},
    {&Names::request_id, "portico.request_id"},
    {&Names::client_disconnected, "portico.client_disconnected"},
    {&Names::deadline, "portico.deadline"},
    {&Names::value_on, "on"},
    {&Names::value_http, "http"},
    {&Names::value_https, "https"},
    {&Names::http_10, "HTTP/1.0"},
    {&Names::http_11, "HTTP/1.1"},
    {&Names::http_20, "HTTP/2.0"},
    {&Names::empty, ""},
    {&Names::close, "close"},
    {&Names::read, "read"},
    {&Names::fileno, "fileno"},
    {&Names::tell, "tell"},
    {&Names::file, "file"},
    {&Names::raw, "raw"},
    {&Names::module, "__module__"},
};

/// The environ key of a known field: content-type has none of the HTTP_ prefix, and two never reach
/// applications.
PyObject* field_key(std::uint16_t id) {
  if (id == record::field_content_type) return PyUnicode_InternFromString("CONTENT_TYPE");
  char key[64] = "HTTP_";
  char* at = key + 5;
  for (char c : record::known_field_name(id)) {
    *at++ = c == '-' ? '_' : static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  }
  *at = '\0';
  return PyUnicode_InternFromString(key);
}

bool is_withheld(std::uint16_t id) {
  return id == record::field_content_length || id == record::field_proxy;
}

}  // namespace

bool make_names() {
  for (const Entry& entry : entries) {
    names.*entry.place = PyUnicode_InternFromString(entry.text);
    if (names.*entry.place == nullptr) return false;
  }
  for (std::uint16_t id = 1; id <= record::known_field_count; ++id) {
    if (is_withheld(id)) continue;
    names.fields[id] = field_key(id);
    if (names.fields[id] == nullptr) return false;
  }
  return true;
}

}  // namespace portico::engine
