// A response head: the same in any cut, and unchanged by parse, write, parse.
#include <cstdint>
#include <string>
#include <vector>

#include "proxy/http/h1_read.h"
#include "proxy/http/h1_write.h"
#include "proxy/http/hop.h"
#include "tests/fuzz/must.h"

namespace {

using namespace portico;
using fuzz::must;

struct Outcome {
  http::Progress progress = http::Progress::more;
  core::Fault fault = core::Fault::none;
  std::string rest;
  http::ReceivedHead received;
};

// Small limits, so that the fuzzer reaches them.
constexpr http::ReadLimits limits{2048, 512, 20};

// HEAD for texts of odd size, so that both ways of framing are reached.
std::string_view method_for(std::string_view text) { return text.size() % 2 != 0 ? "HEAD" : "GET"; }

Outcome read(std::string_view method, const std::vector<std::string_view>& parts) {
  http::ResponseReader reader(limits);
  Outcome outcome;
  for (std::string_view part : parts) {
    core::Slice input = core::Slice::copy(part);
    if (outcome.progress == http::Progress::more) {
      outcome.progress = reader.feed(input, method, outcome.received);
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

bool same(const http::ReceivedHead& a, const http::ReceivedHead& b) {
  return a.head.status == b.head.status && a.head.reason == b.head.reason &&
         a.head.length == b.head.length && a.version == b.version && a.framing == b.framing &&
         a.keep_alive == b.keep_alive && same(a.head.fields, b.head.fields);
}

// What would go to a client is read there as it was meant here.
void check_relayed(std::string_view method, http::ReceivedHead received) {
  http::drop_response_hop_fields(received.head.fields);
  const bool open = received.framing.kind != http::Framing::Kind::until_close;
  core::Buffer out;
  must(static_cast<bool>(http::write_response_head(
      out, received.head, received.framing, open ? http::Connection::keep : http::Connection::close,
      http::Version::http11)));
  core::Slice input = core::Slice::copy(out.view());
  http::ResponseReader reader({64 * 1024, 0, 100});
  http::ReceivedHead again;
  must(reader.feed(input, method, again) == http::Progress::head && input.empty());
  must(again.framing == received.framing && again.keep_alive == open);
  http::drop_response_hop_fields(again.head.fields);
  must(same(again.head.fields, received.head.fields));
  must(again.head.status == received.head.status && again.head.reason == received.head.reason);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::string_view method = method_for(text);
  const std::size_t cut = fuzz::cut_of(text);
  const Outcome whole = read(method, {text});
  const Outcome parts = read(method, {text.substr(0, cut), text.substr(cut)});
  must(whole.progress == parts.progress && whole.fault == parts.fault);
  if (whole.progress != http::Progress::head) return 0;
  must(whole.rest == parts.rest && same(whole.received, parts.received));
  check_relayed(method, whole.received);
  return 0;
}
