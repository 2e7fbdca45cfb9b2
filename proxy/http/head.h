// The heads of a request and of a response, as values: what the parsers make and the writers take.
//
// Owned by an exchange (or by whoever is making one); one thread. Names are lower-case in what was
// received. Views stay valid as long as the Headers they stand in: it keeps the bytes.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/core/bytes.h"
#include "proxy/core/recycled.h"
#include "proxy/http/name_bits.h"

namespace portico::http {

struct Field {
  std::string_view name;
  std::string_view value;
  bool fit = false;  ///< for a head, as it is known: a writer need not look at it again
};

/// Fields in their order, with the bytes that they are views of.
class Headers {
  // Room for as many is taken at once: most heads have fewer.
  static constexpr std::size_t usual = 16;

 public:
  using Fields = std::vector<Field, core::RecyclingAllocator<Field, usual>>;
  using const_iterator = Fields::const_iterator;

  const_iterator begin() const { return fields_.begin(); }
  const_iterator end() const { return fields_.end(); }
  std::size_t size() const { return fields_.size(); }
  bool empty() const { return fields_.empty(); }
  void clear();

  /// False: there is no field of any of these names.
  bool may_have(NameBits names) const { return (names_ & names) != 0; }
  /// The first field of this (lower-case) name, else null.
  const std::string_view* find(std::string_view name) const {
    return may_have(name_bit(name)) ? search(name) : nullptr;
  }
  std::size_t count(std::string_view name) const;
  bool has(std::string_view name) const { return find(name) != nullptr; }

  /// Adds views of bytes that are kept (see keep) or that outlive every use.
  void add(std::string_view name, std::string_view value) { push({name, value}); }
  /// For parsers, and for what is made here: the name is a token, the value printable and trimmed.
  void add_fit(std::string_view name, std::string_view value) { push({name, value, true}); }
  /// Adds copies.
  void add_copy(std::string_view name, std::string_view value);
  /// Makes `value` (a view, as for add) the only value of this name.
  void set(std::string_view name, std::string_view value);
  void remove(std::string_view name);  ///< every field of this name
  template <typename Predicate>
  void remove_if(Predicate&& predicate) {
    std::erase_if(fields_, predicate);
  }
  /// Keeps bytes that fields are views of.
  void keep(core::Slice bytes);

 private:
  const std::string_view* search(std::string_view name) const;
  void push(const Field& field) {
    if (fields_.empty()) fields_.reserve(usual);
    names_ |= name_bit(field.name);
    fields_.push_back(field);
  }

  Fields fields_;
  NameBits names_ = 0;                  // of all that were added since clear()
  std::array<core::Slice, 3> kept_;     // what arrived, and what a router adds
  std::vector<core::Slice> also_kept_;  // the rest
};

enum class Version : std::uint8_t { http10, http11, http2 };
std::string_view name(Version version);  ///< "HTTP/1.0", "HTTP/1.1", "HTTP/2.0"

/// How a body is delimited (RFC 9112 §6.3).
struct Framing {
  enum class Kind : std::uint8_t { none, length, chunked, until_close };
  Kind kind = Kind::none;
  std::uint64_t length = 0;  ///< of Kind::length; bytes

  bool operator==(const Framing&) const = default;
};

/// Where the request goes, once and for all in canonical form (security: one form for routing,
/// rules and forwarding). Made from target and Host by http/target.
struct Target {
  enum class Form : std::uint8_t { origin, absolute, asterisk };
  Form form = Form::origin;
  std::string_view scheme;    ///< "http" or "https" of an absolute target, else empty
  std::string host;           ///< lower-case, no trailing dot, no port; "[v6]" with its brackets
  std::uint16_t port = 0;     ///< as the client wrote it; 0 where it wrote none
  std::string path;           ///< canonical: unreserved decoded, dots resolved, slashes merged; "*"
  std::string_view raw_path;  ///< as it came, without query; `path` is made of it (http/target)
  std::string_view query;     ///< as it came, without "?"; the bytes belong to the head
  bool has_query = false;
};

struct RequestHead {
  std::string_view method;  ///< as sent, case kept
  std::string_view target;  ///< as sent (RAW_URI)
  Version version = Version::http11;
  Headers fields;
  Target where;
  Framing framing;
  bool wants_continue = false;  ///< Expect: 100-continue, from a client that may be answered so
  bool keep_alive = true;       ///< what the client wants of the connection
};

struct ResponseHead {
  int status = 200;
  std::string reason;  ///< empty: the standard phrase
  Headers fields;      ///< without any that frames the body or speaks of the connection
  /// The body's length where it is known. For a HEAD or 304, the length that the fields shall tell.
  std::optional<std::uint64_t> length;
};

/// The standard phrase of a status (IANA registry of 2025), or "Unknown".
std::string_view reason_phrase(int status);

/// Whether responses of this status to this method have no body at all (RFC 9112 §6.3 (1)).
bool bodiless(std::string_view method, int status);

/// RFC 9110 §9.2.2: GET, HEAD, OPTIONS, TRACE, PUT, DELETE.
bool idempotent(std::string_view method);

/// Whether the IANA registry of methods names this one (RFC 9110, PATCH, the WebDAV family ...).
bool standard_method(std::string_view method);

}  // namespace portico::http
