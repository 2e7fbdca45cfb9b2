#include "conf/names.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "conf/address.h"
#include "conf/words.h"

namespace portico::conf {
namespace {

using Text = Outcome<std::string>;

bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return is_lower(c) || (c >= 'A' && c <= 'Z'); }
bool is_beyond_ascii(char c) { return static_cast<std::uint8_t>(c) >= 0x80; }
bool is_one_of(char c, std::string_view set) { return set.find(c) != std::string_view::npos; }

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

bool any_beyond_ascii(std::string_view text) {
  return std::any_of(text.begin(), text.end(), is_beyond_ascii);
}

bool is_port(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_digit);
}

Text bracketed_host(std::string_view text) {
  const std::size_t end = text.find(']');
  const std::string ip6 = end == text.npos ? "" : canonical_ip6(text.substr(1, end - 1));
  if (ip6.empty() || end + 1 != text.size()) {
    return refused<std::string>(quoted(text) +
                                " is not a host; write an IPv6 address as \"[2001:db8::1]\"");
  }
  return found("[" + ip6 + "]");
}

Text refused_host(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon != text.npos && is_port(text.substr(colon + 1))) {
    return refused<std::string>(quoted(text) + " has a port, which belongs to \"listen\"; write " +
                                quoted(text.substr(0, colon)));
  }
  if (any_beyond_ascii(text)) {
    return refused<std::string>(quoted(text) +
                                " is not ASCII; write the name in punycode (\"xn--...\")");
  }
  if (is_one_of('*', text)) {
    return refused<std::string>(quoted(text) +
                                " is not a wildcard; write \"*.\" before a name, such as "
                                "\"*.shop.example\", or \"default\" for every other host");
  }
  return refused<std::string>(quoted(text) +
                              " is not a host; write letters, digits and hyphens with dots "
                              "between, such as \"shop.example\"");
}

std::optional<std::uint8_t> hex_pair(std::string_view text) {
  constexpr std::string_view digits = "0123456789abcdef";
  if (text.size() < 2) return std::nullopt;
  const std::string pair = lower(text.substr(0, 2));
  const std::size_t high = digits.find(pair[0]);
  const std::size_t low = digits.find(pair[1]);
  if (high == digits.npos || low == digits.npos) return std::nullopt;
  return static_cast<std::uint8_t>(high * 16 + low);
}

void append_percent(std::string& out, std::uint8_t byte) {
  constexpr char digits[] = "0123456789ABCDEF";
  out += '%';
  out += digits[byte >> 4];
  out += digits[byte & 15];
}

bool is_unreserved(char c) { return is_letter(c) || is_digit(c) || is_one_of(c, "-._~"); }
bool is_path_byte(char c) { return is_unreserved(c) || is_one_of(c, "!$&'()*+,;=:@/"); }

/// Brings escapes to their one form; what is wrong, or "".
std::string normalize_escapes(std::string_view text, std::string& out) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (is_beyond_ascii(c)) {
      append_percent(out, static_cast<std::uint8_t>(c));
    } else if (c != '%') {
      if (!is_path_byte(c)) return "a character that no path holds; escape it as %XX";
      out += c;
    } else {
      const auto byte = hex_pair(text.substr(i + 1));
      if (!byte) return "a bare \"%\"; write \"%25\"";
      const char plain = static_cast<char>(*byte);
      if (plain == '/' || plain == '\\' || plain == '\0') {
        return "an escaped slash, backslash or NUL; leave it out";
      }
      if (is_unreserved(plain)) {
        out += plain;
      } else {
        append_percent(out, *byte);
      }
      i += 2;
    }
  }
  return {};
}

bool has_dot_segment(std::string_view path) {
  const std::string closed = std::string(path) + "/";
  return closed.find("/./") != std::string::npos || closed.find("/../") != std::string::npos;
}

bool is_identifier(std::string_view text) {
  const auto first = [](char c) { return is_letter(c) || c == '_' || is_beyond_ascii(c); };
  return !text.empty() && first(text.front()) &&
         std::all_of(text.begin(), text.end(), [&](char c) { return first(c) || is_digit(c); });
}

bool is_dotted(std::string_view text) {
  for (;;) {
    const std::size_t dot = text.find('.');
    if (!is_identifier(text.substr(0, dot))) return false;
    if (dot == text.npos) return true;
    text.remove_prefix(dot + 1);
  }
}

bool is_module_or_file(std::string_view text) {
  const bool clean = std::none_of(text.begin(), text.end(),
                                  [](char c) { return static_cast<std::uint8_t>(c) < 0x20; });
  const bool is_file = (text.size() > 3 && text.ends_with(".py")) ||
                       (text.find('/') != text.npos && text.ends_with(".wsgi"));
  return is_dotted(text) || (clean && is_file);
}

bool is_callable(std::string_view text) {
  if (text.ends_with("()")) text.remove_suffix(2);
  return is_dotted(text);
}

}  // namespace

Text parse_host(std::string_view text) {
  if (text.starts_with("[")) return bracketed_host(text);
  std::string_view name = text;
  if (name.ends_with('.')) name.remove_suffix(1);
  if (is_ip4(name)) return found(std::string(name));
  const std::string_view fixed = name.starts_with("*.") ? name.substr(2) : name;
  if (!is_host_name(fixed)) return refused_host(text);
  return found(lower(name));
}

Text parse_route_path(std::string_view text) {
  const auto refuse = [&](std::string_view why) {
    return refused<std::string>("the path " + quoted(text) + " " + std::string(why));
  };
  if (!text.starts_with("/"))
    return refuse("does not start with \"/\"; write " + quoted("/" + std::string(text)));
  if (text.find_first_of("?#") != text.npos) {
    return refuse("has a query or fragment; write the part before it");
  }
  std::string path;
  const std::string wrong = normalize_escapes(text, path);
  if (!wrong.empty()) return refuse("has " + wrong);
  if (path.find("//") != path.npos) return refuse("has an empty segment; write single slashes");
  if (has_dot_segment(path)) return refuse("has a segment \".\" or \"..\"; write where it leads");
  return found(std::move(path));
}

Text parse_pool_name(std::string_view text) {
  const auto fits = [](char c) { return is_letter(c) || is_digit(c) || is_one_of(c, "-_."); };
  if (text.empty() || !is_letter(text.front()) || !std::all_of(text.begin(), text.end(), fits)) {
    return refused<std::string>(quoted(text) +
                                " is not a pool's name; write a letter, then letters, digits, "
                                "\"-\", \"_\" or \".\"");
  }
  return found(std::string(text));
}

Text parse_reference(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  const bool whole = is_module_or_file(text.substr(0, colon)) &&
                     (colon == text.npos || is_callable(text.substr(colon + 1)));
  if (!whole) {
    return refused<std::string>(quoted(text) +
                                " is not a WSGI application; write \"module\", "
                                "\"module:callable\", \"module:factory()\" or \"file.py\"");
  }
  return found(std::string(text));
}

Text parse_module(std::string_view text) {
  constexpr std::size_t longest = 200;
  if (text.size() > longest || !is_dotted(text)) {
    return refused<std::string>(quoted(text) +
                                " is not a module; write its name as after \"import\", such as "
                                "\"django.template\"");
  }
  return found(std::string(text));
}

Text parse_user(std::string_view text) {
  const auto fits = [](char c) { return is_lower(c) || is_digit(c) || is_one_of(c, "-_"); };
  const bool starts = !text.empty() && (is_lower(text.front()) || text.front() == '_');
  if (!starts || text.size() > 32 || !std::all_of(text.begin(), text.end(), fits)) {
    return refused<std::string>(quoted(text) +
                                " is not a user's name; write one such as \"portico\"");
  }
  return found(std::string(text));
}

Text parse_variable(std::string_view text) {
  const auto fits = [](char c) { return is_letter(c) || is_digit(c) || c == '_'; };
  if (text.empty() || is_digit(text.front()) || !std::all_of(text.begin(), text.end(), fits)) {
    return refused<std::string>(quoted(text) +
                                " is not a variable's name; write letters, digits and \"_\"");
  }
  return found(std::string(text));
}

}  // namespace portico::conf
