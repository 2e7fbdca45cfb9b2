// What may stand in a response head.
#include "backend/record/text_rules.h"

#include <catch2/catch.hpp>
#include <string>

using namespace portico::record;

TEST_CASE("text: field names are tokens (RFC 9110 5.6.2)") {
  std::string allowed = "!#$%&'*+-.^_`|~";
  for (int byte = 0; byte < 256; ++byte) {
    char c = static_cast<char>(byte);
    bool alphanumeric = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    bool token = alphanumeric || (c != '\0' && allowed.find(c) != std::string::npos);
    CHECK(is_field_name(std::string("X") + c) == token);
  }
  CHECK_FALSE(is_field_name(""));
}

TEST_CASE("text: field values have no controls but tab, and no outer blanks (RFC 9110 5.5)") {
  for (int byte = 0; byte < 256; ++byte) {
    std::string value = std::string("a") + static_cast<char>(byte) + "b";
    bool fine = byte == '\t' || (byte >= 0x20 && byte != 0x7f);
    CHECK(is_field_value(value) == fine);
  }
  CHECK(is_field_value(""));
  for (const char* bad : {" a", "a ", "\ta", "a\t", " "}) CHECK_FALSE(is_field_value(bad));
}

TEST_CASE("text: hop-by-hop fields in any case (RFC 9110 7.6.1)") {
  for (const char* name : {"Connection", "KEEP-ALIVE", "proxy-authenticate", "Proxy-Authorization",
                           "proxy-connection", "TE", "Trailer", "Transfer-Encoding", "upgrade"})
    CHECK(is_hop_by_hop(name));
  for (const char* name :
       {"", "Content-Type", "Connections", "T", "Upgrade-Insecure-Requests", "Kee"})
    CHECK_FALSE(is_hop_by_hop(name));
}

TEST_CASE("text: standard reasons") {
  CHECK(standard_reason(200) == "OK");
  CHECK(standard_reason(404) == "Not Found");
  CHECK(standard_reason(511) == "Network Authentication Required");
  CHECK(standard_reason(599) == "Unknown");
}
