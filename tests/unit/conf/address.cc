#include "conf/address.h"

#include <catch2/catch.hpp>

using namespace portico::conf;

TEST_CASE("listen: every form, in its canonical text") {
  const auto [text, canonical] = GENERATE(table<std::string, std::string>({
      {":8080", ":8080"},
      {":0", ":0"},
      {"127.0.0.1:80", "127.0.0.1:80"},
      {"[::1]:443", "[::1]:443"},
      {"[2001:DB8:0:0::1]:443", "[2001:db8::1]:443"},
      {"[::]:1", "[::]:1"},
      {"unix:/run/portico/front.sock", "unix:/run/portico/front.sock"},
  }));
  CAPTURE(text);
  const auto address = parse_listen(text);
  REQUIRE(address);
  CHECK(address.value->text() == canonical);
  CHECK(parse_listen(canonical).value == address.value);
}

TEST_CASE("listen: names, missing and impossible ports are refused") {
  const std::string text =
      GENERATE("", "8080", "127.0.0.1", "::1", "[::1]", ":65536", ":-1", ":http", ":",
               "localhost:80", "1.2.3:80", "1.2.3.4.5:80", "[::1:80", "[fe80::1%eth0]:80",
               "unix:", "unix:/", "unix:run/x", "*:80", "http://1.2.3.4:80", "1.2.3.4:80/");
  CAPTURE(text);
  CHECK_FALSE(parse_listen(text));
}

TEST_CASE("listen: a Unix path of 108 bytes has no room in the socket's address (unix(7))") {
  CHECK(parse_listen("unix:/" + std::string(106, 'x')));
  CHECK_FALSE(parse_listen("unix:/" + std::string(107, 'x')));
}

TEST_CASE("endpoint: addresses, names and Unix sockets") {
  const auto [text, canonical] = GENERATE(table<std::string, std::string>({
      {"10.0.0.5:8000", "10.0.0.5:8000"},
      {"App.Internal:8000", "app.internal:8000"},
      {"localhost:1", "localhost:1"},
      {"[::1]:65535", "[::1]:65535"},
      {"unix:/run/app.sock", "unix:/run/app.sock"},
  }));
  CAPTURE(text);
  const auto address = parse_endpoint(text);
  REQUIRE(address);
  CHECK(address.value->text() == canonical);
}

TEST_CASE("endpoint: what cannot be connected to is refused") {
  const std::string text =
      GENERATE("", "api", ":8000", "api:0", "api:65536", "a b:1", "-a:1", "a-:1", "a..b:1", ".a:1",
               "a_b:1", "1.2.3.400:1", "http://a:1", "a:1:2", "[::1]", "::1", "[]:1");
  CAPTURE(text);
  CHECK_FALSE(parse_endpoint(text));
}

TEST_CASE("endpoint: a forgotten port is named") {
  CHECK(parse_endpoint("::1").problem == "\"::1\" has no port; write \"[::1]:PORT\"");
  CHECK(parse_endpoint(":80").problem == "\":80\" has no host; write \"127.0.0.1:80\"");
}

TEST_CASE("host name: labels of 63 and names of 253 bytes at most (RFC 1035 2.3.4)") {
  const std::string label(63, 'a');
  CHECK(is_host_name(label + ".example"));
  CHECK_FALSE(is_host_name("a" + label + ".example"));
  const std::string name = label + "." + label + "." + label + "." + std::string(61, 'b');
  CHECK(is_host_name(name));
  CHECK_FALSE(is_host_name(name + "b"));
  CHECK_FALSE(is_host_name("1.2"));
  CHECK_FALSE(is_host_name("a."));
}

TEST_CASE("network: prefixes, single addresses and the Unix socket") {
  CHECK(parse_network("10.0.0.0/8").value->text() == "10.0.0.0/8");
  CHECK(parse_network("10.1.2.3").value->text() == "10.1.2.3/32");
  CHECK(parse_network("0.0.0.0/0").value->prefix == 0);
  CHECK(parse_network("2001:DB8::/32").value->text() == "2001:db8::/32");
  CHECK(parse_network("::1").value->text() == "::1/128");
  CHECK(parse_network("unix").value->family == Network::Family::unix_socket);
}

TEST_CASE("network: bits behind the prefix are a mistake, and the message mends it") {
  CHECK(parse_network("10.0.0.1/8").problem ==
        "\"10.0.0.1/8\" has bits set behind its prefix; write \"10.0.0.0/8\"");
  CHECK(parse_network("2001:db8::1/63").problem ==
        "\"2001:db8::1/63\" has bits set behind its prefix; write \"2001:db8::/63\"");
  CHECK(parse_network("10.0.0.128/25"));
  CHECK_FALSE(parse_network("10.0.0.64/25"));
}

TEST_CASE("network: anything else is refused") {
  const std::string text = GENERATE("", "10", "10.0.0.0/33", "::/129", "10.0.0.0/", "10.0.0.0/x",
                                    "/8", "a.example", "10.0.0.0/-1", "unix/1");
  CAPTURE(text);
  CHECK_FALSE(parse_network(text));
}
