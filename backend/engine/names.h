// Every string that the engine needs again and again, made once: environ keys, constant values,
// attribute names.
//
// Filled at import (make_names) and never changed; immortal. Read by all worker threads under the
// GIL.
#pragma once

#include "backend/engine/python.h"
#include "backend/record/known_fields.h"

namespace portico::engine {

/// Borrowed references that live as long as the process.
struct Names {
  PyObject* request_method;
  PyObject* script_name;
  PyObject* path_info;
  PyObject* query_string;
  PyObject* request_uri;
  PyObject* raw_uri;
  PyObject* content_length;
  PyObject* server_name;
  PyObject* server_port;
  PyObject* server_protocol;
  PyObject* remote_addr;
  PyObject* remote_port;
  PyObject* https;
  PyObject* ssl_protocol;
  PyObject* ssl_cipher;
  PyObject* url_scheme;
  PyObject* input;
  PyObject* early_hints;
  PyObject* request_id;
  PyObject* client_disconnected;
  PyObject* deadline;
  PyObject* value_on;
  PyObject* value_http;
  PyObject* value_https;
  PyObject* http_10;
  PyObject* http_11;
  PyObject* http_20;
  PyObject* empty;
  PyObject* close;
  PyObject* read;
  PyObject* fileno;
  PyObject* tell;
  PyObject* file;
  PyObject* raw;
  PyObject* module;
  PyObject* fields[record::known_field_count +
                   1];  ///< environ key by known id; null: not given to the application
};
extern Names names;

/// False with an exception set.
bool make_names();

}  // namespace portico::engine
