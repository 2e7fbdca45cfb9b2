// Feeds a message to a reader in any cut and says in one text what came of it, so that outcomes can
// be compared: "head GET / ..." with every field, "more", or "fail <fault>".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "proxy/http/h1_read.h"

namespace portico::http::testing {

inline std::string fault_name(core::Fault fault) {
  return std::string(core::fault_info(fault).name);
}

inline std::string text_of(const Framing& framing) {
  switch (framing.kind) {
    case Framing::Kind::none:
      return "none";
    case Framing::Kind::length:
      return "length " + std::to_string(framing.length);
    case Framing::Kind::chunked:
      return "chunked";
    case Framing::Kind::until_close:
      return "until_close";
  }
  return {};
}

inline std::string text_of(const Headers& fields) {
  std::string text;
  for (const Field& field : fields) {
    text.append("\n").append(field.name).append("=").append(field.value);
  }
  return text;
}

inline std::string text_of(const RequestHead& head) {
  std::string text = "head ";
  text.append(head.method).append(" ").append(head.target).append(" ").append(name(head.version));
  text.append(" host=").append(head.where.host).append(":").append(std::to_string(head.where.port));
  text.append(" raw=").append(head.where.raw_path).append(" query=").append(head.where.query);
  text.append(" ").append(text_of(head.framing));
  text.append(head.keep_alive ? " keep" : " close").append(head.wants_continue ? " continue" : "");
  return text + text_of(head.fields);
}

inline std::string text_of(const ReceivedHead& received) {
  std::string text = "head " + std::string(name(received.version)) + " ";
  text.append(std::to_string(received.head.status)).append(" ").append(received.head.reason);
  text.append(" ").append(text_of(received.framing));
  text.append(received.keep_alive ? " keep" : " close");
  if (received.head.length) text.append(" told=").append(std::to_string(*received.head.length));
  return text + text_of(received.head.fields);
}

/// A message in parts, one slice each; parts of no bytes are left out.
using Parts = std::vector<std::string_view>;

inline std::string read_request(const Parts& parts, const ReadLimits& limits = {}) {
  RequestReader reader(limits);
  RequestHead head;
  std::string outcome = "more";
  for (std::string_view part : parts) {
    core::Slice input = core::Slice::copy(part);
    if (outcome != "more") {
      outcome.append(part);  // what follows the head is as it came
      continue;
    }
    switch (reader.feed(input, head)) {
      case Progress::more:
        break;
      case Progress::fail:
        return "fail " + fault_name(reader.error().fault);
      case Progress::head:
        outcome = text_of(head) + "\nrest=" + std::string(input.view());
    }
  }
  return outcome;
}

inline std::string read_response(std::string_view method, const Parts& parts,
                                 const ReadLimits& limits = {}) {
  ResponseReader reader(limits);
  ReceivedHead received;
  std::string outcome = "more";
  for (std::string_view part : parts) {
    core::Slice input = core::Slice::copy(part);
    if (outcome != "more") {
      outcome.append(part);
      continue;
    }
    switch (reader.feed(input, method, received)) {
      case Progress::more:
        break;
      case Progress::fail:
        return "fail " + fault_name(reader.error().fault);
      case Progress::head:
        outcome = text_of(received) + "\nrest=" + std::string(input.view());
    }
  }
  return outcome;
}

inline Parts byte_by_byte(std::string_view message) {
  Parts parts;
  for (std::size_t i = 0; i < message.size(); ++i) parts.push_back(message.substr(i, 1));
  return parts;
}

/// The first cut whose outcome is not that of the whole message; empty when all agree.
template <typename Read>
std::string disagreement(std::string_view message, Read&& read) {
  const std::string whole = read(Parts{message});
  for (std::size_t cut = 1; cut < message.size(); ++cut) {
    const std::string parted = read(Parts{message.substr(0, cut), message.substr(cut)});
    if (parted != whole) return "cut at " + std::to_string(cut) + ": " + parted + "\n!= " + whole;
  }
  const std::string bytes = read(byte_by_byte(message));
  return bytes == whole ? "" : "byte by byte: " + bytes + "\n!= " + whole;
}

}  // namespace portico::http::testing
