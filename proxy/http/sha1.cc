#include "proxy/http/sha1.h"

#include <bit>
#include <cstddef>
#include <string>

namespace portico::http {
namespace {

using State = std::array<std::uint32_t, 5>;
constexpr std::size_t block_size = 64;

// Length is a multiple of the block: 0x80, zeros, and the message's bits as 64-bit big-endian.
std::string padded(std::string_view message) {
  std::string text(message);
  text += static_cast<char>(0x80);
  while (text.size() % block_size != block_size - 8) text += '\0';
  const std::uint64_t bits = std::uint64_t{message.size()} * 8;
  for (int shift = 56; shift >= 0; shift -= 8) text += static_cast<char>(bits >> shift);
  return text;
}

std::uint32_t word(std::string_view block, std::size_t index) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    value = value << 8 | static_cast<std::uint8_t>(block[index * 4 + i]);
  }
  return value;
}

// RFC 3174 §5: the function and the constant of round t.
std::uint32_t mix(std::size_t t, std::uint32_t b, std::uint32_t c, std::uint32_t d) {
  if (t < 20) return ((b & c) | (~b & d)) + 0x5A827999u;
  if (t < 40) return (b ^ c ^ d) + 0x6ED9EBA1u;
  if (t < 60) return ((b & c) | (b & d) | (c & d)) + 0x8F1BBCDCu;
  return (b ^ c ^ d) + 0xCA62C1D6u;
}

void digest_block(State& state, std::string_view block) {
  std::array<std::uint32_t, 80> words;
  for (std::size_t t = 0; t < 16; ++t) words[t] = word(block, t);
  for (std::size_t t = 16; t < 80; ++t) {
    words[t] = std::rotl(words[t - 3] ^ words[t - 8] ^ words[t - 14] ^ words[t - 16], 1);
  }
  auto [a, b, c, d, e] = state;
  for (std::size_t t = 0; t < 80; ++t) {
    const std::uint32_t next = std::rotl(a, 5) + mix(t, b, c, d) + e + words[t];
    e = d;
    d = c;
    c = std::rotl(b, 30);
    b = a;
    a = next;
  }
  const State added = {a, b, c, d, e};
  for (std::size_t i = 0; i < state.size(); ++i) state[i] += added[i];
}

}  // namespace

std::array<std::uint8_t, 20> sha1(std::string_view message) {
  State state = {0x67452301u, 0xEFCDAB89u, 0x98BADCFEu, 0x10325476u, 0xC3D2E1F0u};
  const std::string text = padded(message);
  for (std::size_t at = 0; at < text.size(); at += block_size) {
    digest_block(state, std::string_view(text).substr(at, block_size));
  }
  std::array<std::uint8_t, 20> digest;
  for (std::size_t i = 0; i < digest.size(); ++i) {
    digest[i] = static_cast<std::uint8_t>(state[i / 4] >> (24 - i % 4 * 8));
  }
  return digest;
}

}  // namespace portico::http
