// A request head: the same in any cut, and unchanged by parse, write, parse.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "proxy/http/h1_read.h"
#include "proxy/http/h1_write.h"
#include "proxy/http/hop.h"
#include "proxy/http/target.h"
#include "proxy/http/websocket.h"
#include "tests/fuzz/must.h"

namespace {

using namespace portico;
using fuzz::must;

struct Outcome {
  http::Progress progress = http::Progress::more;
  core::Fault fault = core::Fault::none;
  std::string rest;
  http::RequestHead head;
};

// Small limits, so that the fuzzer reaches them.
constexpr http::ReadLimits limits{2048, 512, 20};

Outcome read(const std::vector<std::string_view>& parts) {
  http::RequestReader reader(limits);
  Outcome outcome;
  for (std::string_view part : parts) {
    core::Slice input = core::Slice::copy(part);
    if (outcome.progress == http::Progress::more) {
      outcome.progress = reader.feed(input, outcome.head);
    }
    if (outcome.progress == http::Progress::head) outcome.rest += input.view();
  }
  outcome.fault = reader.error().fault;
  return outcome;
}

bool same(const http::Headers& a, const http::Headers& b) {
  if (a.size() != b.size()) return false;
  for (auto x = a.begin(), y = b.begin(); x != a.end(); ++x, ++y) {
    if (x->name != y->name || x->value != y->value) return false;
  }
  return true;
}

bool same(const http::RequestHead& a, const http::RequestHead& b) {
  return a.method == b.method && a.target == b.target && a.where.host == b.where.host &&
         a.where.port == b.where.port && a.where.raw_path == b.where.raw_path &&
         a.where.query == b.where.query && a.framing == b.framing && same(a.fields, b.fields);
}

// What would go to an endpoint is read there as it was meant here.
void check_forwarded(http::RequestHead head) {
  (void)http::websocket_upgrade(head);
  if (!http::canonicalise(head.where, {})) return;
  const auto again = http::canonical_path(
      head.where.form == http::Target::Form::asterisk ? "/" : head.where.path, {});
  must(again && (head.where.path == "*" || *again == head.where.path));
  http::drop_request_hop_fields(head.fields);
  http::drop_folding_twins(head.fields);
  std::string target = head.where.path;
  if (head.where.has_query) target.append("?").append(head.where.query);
  core::Buffer out;
  must(static_cast<bool>(http::write_request_head(out, head.method, target, head.fields,
                                                  head.framing, http::Connection::keep)));
  core::Slice input = core::Slice::copy(out.view());
  http::RequestReader reader({64 * 1024, 32 * 1024, 100});
  http::RequestHead received;
  if (!head.fields.has("host")) return;  // of HTTP/1.0; the forwarder adds one
  must(reader.feed(input, received) == http::Progress::head && input.empty());
  must(received.method == head.method && received.target == target);
  must(received.where.host == head.where.host && received.where.port == head.where.port);
  must(received.framing.kind == head.framing.kind ||
       (received.framing.length == 0 && head.framing.length == 0));
  must(received.framing.length == head.framing.length);
  must(received.keep_alive);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t cut = fuzz::cut_of(text);
  const Outcome whole = read({text});
  const Outcome parts = read({text.substr(0, cut), text.substr(cut)});
  must(whole.progress == parts.progress && whole.fault == parts.fault);
  if (whole.progress != http::Progress::head) return 0;
  must(whole.rest == parts.rest && same(whole.head, parts.head));
  check_forwarded(whole.head);
  return 0;
}
