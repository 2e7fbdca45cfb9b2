#include "backend/record/text_rules.h"

#include <array>
#include <cstddef>
#include <utility>

namespace portico::record {
namespace {

constexpr std::array<bool, 256> make_token_table() {
  std::array<bool, 256> table{};
  for (char c = '0'; c <= '9'; ++c) table[static_cast<unsigned char>(c)] = true;
  for (char c = 'a'; c <= 'z'; ++c) table[static_cast<unsigned char>(c)] = true;
  for (char c = 'A'; c <= 'Z'; ++c) table[static_cast<unsigned char>(c)] = true;
  for (char c : std::string_view("!#$%&'*+-.^_`|~")) table[static_cast<unsigned char>(c)] = true;
  return table;
}

constexpr std::array<bool, 256> token_table = make_token_table();

constexpr std::array<bool, 256> make_text_table() {
  std::array<bool, 256> table{};
  for (std::size_t c = 0x20; c < 256; ++c) table[c] = c != 0x7f;
  table['\t'] = true;
  return table;
}

constexpr std::array<bool, 256> text_table = make_text_table();

bool is_blank(char c) { return c == ' ' || c == '\t'; }

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; }

bool all_in(const std::array<bool, 256>& table, std::string_view text) {
  for (char c : text) {
    if (!table[static_cast<unsigned char>(c)]) return false;
  }
  return true;
}

constexpr std::array<std::pair<int, std::string_view>, 62> reasons = {{
    {100, "Continue"},
    {101, "Switching Protocols"},
    {102, "Processing"},
    {103, "Early Hints"},
    {200, "OK"},
    {201, "Created"},
    {202, "Accepted"},
    {203, "Non-Authoritative Information"},
    {204, "No Content"},
    {205, "Reset Content"},
    {206, "Partial Content"},
    {207, "Multi-Status"},
    {208, "Already Reported"},
    {226, "IM Used"},
    {300, "Multiple Choices"},
    {301, "Moved Permanently"},
    {302, "Found"},
    {303, "See Other"},
    {304, "Not Modified"},
    {305, "Use Proxy"},
    {307, "Temporary Redirect"},
    {308, "Permanent Redirect"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {402, "Payment Required"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {406, "Not Acceptable"},
    {407, "Proxy Authentication Required"},
    {408, "Request Timeout"},
    {409, "Conflict"},
    {410, "Gone"},
    {411, "Length Required"},
    {412, "Precondition Failed"},
    {413, "Content Too Large"},
    {414, "URI Too Long"},
    {415, "Unsupported Media Type"},
    {416, "Range Not Satisfiable"},
    {417, "Expectation Failed"},
    {418, "I'm a Teapot"},
    {421, "Misdirected Request"},
    {422, "Unprocessable Content"},
    {423, "Locked"},
    {424, "Failed Dependency"},
    {425, "Too Early"},
    {426, "Upgrade Required"},
    {428, "Precondition Required"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {451, "Unavailable For Legal Reasons"},
    {500, "Internal Server Error"},
    {501, "Not Implemented"},
    {502, "Bad Gateway"},
    {503, "Service Unavailable"},
    {504, "Gateway Timeout"},
    {505, "HTTP Version Not Supported"},
    {506, "Variant Also Negotiates"},
    {507, "Insufficient Storage"},
    {508, "Loop Detected"},
    {510, "Not Extended"},
    {511, "Network Authentication Required"},
}};

}  // namespace

bool is_field_name(std::string_view name) { return !name.empty() && all_in(token_table, name); }

bool is_field_value(std::string_view value) {
  if (value.empty()) return true;
  return !is_blank(value.front()) && !is_blank(value.back()) && all_in(text_table, value);
}

bool is_reason(std::string_view reason) { return is_field_value(reason); }

bool equals_lower(std::string_view text, std::string_view lower_text) {
  if (text.size() != lower_text.size()) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (lower(text[i]) != lower_text[i]) return false;
  }
  return true;
}

bool is_hop_by_hop(std::string_view name) {
  if (name.empty()) return false;
  switch (lower(name[0])) {
    case 'c':
      return equals_lower(name, "connection");
    case 'k':
      return equals_lower(name, "keep-alive");
    case 'p':
      return equals_lower(name, "proxy-authenticate") ||
             equals_lower(name, "proxy-authorization") || equals_lower(name, "proxy-connection");
    case 't':
      return equals_lower(name, "te") || equals_lower(name, "trailer") ||
             equals_lower(name, "trailers") || equals_lower(name, "transfer-encoding");
    case 'u':
      return equals_lower(name, "upgrade");
    default:
      return false;
  }
}

std::string_view standard_reason(int status) {
  for (const auto& [code, phrase] : reasons) {
    if (code == status) return phrase;
  }
  return "Unknown";
}

}  // namespace portico::record
