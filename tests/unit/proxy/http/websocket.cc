// The WebSocket handshake, and SHA-1 below it.
#include "proxy/http/websocket.h"

#include <catch2/catch.hpp>
#include <string>

#include "proxy/http/sha1.h"

namespace portico::http {
namespace {

std::string hex(std::string_view message) {
  std::string text;
  for (const std::uint8_t byte : sha1(message)) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

/// RFC 6455 §1.2, with one field replaced (an empty value removes it).
RequestHead handshake(std::string_view name = "", std::string_view value = "") {
  RequestHead head;
  head.method = "GET";
  head.fields.add("host", "a");
  head.fields.add("upgrade", "websocket");
  head.fields.add("connection", "keep-alive, Upgrade");
  head.fields.add("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ==");
  head.fields.add("sec-websocket-version", "13");
  if (!name.empty()) head.fields.remove(name);
  if (!value.empty()) head.fields.add(name, value);
  return head;
}

std::string asked(const RequestHead& head) {
  const auto upgrade = websocket_upgrade(head);
  return upgrade ? (*upgrade ? "yes" : "no")
                 : std::string(core::fault_info(upgrade.error().fault).name);
}

TEST_CASE("sha1: the vectors of RFC 3174 and the lengths around a block") {
  CHECK(hex("") == "da39a3ee5e6b4b0d3255bfef95601890afd80709");
  CHECK(hex("abc") == "a9993e364706816aba3e25717850c26c9cd0d89d");
  CHECK(hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
        "84983e441c3bd26ebaae4aa1f95129e5e54670f1");
  CHECK(hex(std::string(1000000, 'a')) == "34aa973cd4c4daa4f61eeb2bdbad27316534016f");
}

TEST_CASE("websocket: the accept value is that of RFC 6455 §1.3") {
  CHECK(websocket_accept("dGhlIHNhbXBsZSBub25jZQ==") == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
}

TEST_CASE("websocket: a proper handshake is one") {
  CHECK(asked(handshake()) == "yes");
  CHECK(asked(handshake("upgrade", "h2c, WebSocket")) == "yes");
}

TEST_CASE("websocket: other upgrades are no wish at all (h2c smuggling, RFC 9113 §3.1)") {
  CHECK(asked(handshake("upgrade", "h2c")) == "no");
  CHECK(asked(handshake("upgrade")) == "no");
  RequestHead old = handshake();
  old.version = Version::http10;
  CHECK(asked(old) == "no");
}

TEST_CASE("websocket: a fake handshake is refused (RFC 6455 §4.1)") {
  CHECK(asked(handshake("connection", "keep-alive")) == "upgrade_refused");
  CHECK(asked(handshake("connection")) == "upgrade_refused");
  CHECK(asked(handshake("sec-websocket-version", "12")) == "upgrade_refused");
  CHECK(asked(handshake("sec-websocket-version")) == "upgrade_refused");
  CHECK(asked(handshake("sec-websocket-key", "short==")) == "upgrade_refused");
  CHECK(asked(handshake("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZ!==")) == "upgrade_refused");
  CHECK(asked(handshake("sec-websocket-key")) == "upgrade_refused");
  RequestHead twice = handshake();
  twice.fields.add("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ==");
  CHECK(asked(twice) == "upgrade_refused");
  RequestHead post = handshake();
  post.method = "POST";
  CHECK(asked(post) == "upgrade_refused");
  RequestHead body = handshake();
  body.framing = {Framing::Kind::length, 1};
  CHECK(asked(body) == "upgrade_refused");
  body.framing = {Framing::Kind::chunked, 0};
  CHECK(asked(body) == "upgrade_refused");
}

TEST_CASE("websocket: only a 101 with the right accept value becomes a tunnel") {
  ResponseHead answer;
  answer.status = 101;
  answer.fields.add("upgrade", "WebSocket");
  answer.fields.add("connection", "Upgrade");
  answer.fields.add("sec-websocket-accept", "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
  CHECK(websocket_accepted(handshake(), answer));
  answer.status = 200;
  CHECK_FALSE(websocket_accepted(handshake(), answer));
  answer.status = 101;
  answer.fields.set("sec-websocket-accept", "s3pPLMBiTxaQ9kYGzzhZRbK+xOO=");
  CHECK_FALSE(websocket_accepted(handshake(), answer));
  answer.fields.set("sec-websocket-accept", "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
  answer.fields.set("upgrade", "h2c");
  CHECK_FALSE(websocket_accepted(handshake(), answer));
  answer.fields.set("upgrade", "websocket");
  answer.fields.remove("connection");
  CHECK_FALSE(websocket_accepted(handshake(), answer));
}

}  // namespace
}  // namespace portico::http
