// A chunked body: the same in any cut and any room, and unchanged when it is coded again.
#include "proxy/http/chunked.h"

#include <cstdint>
#include <string>
#include <vector>

#include "proxy/http/hop.h"
#include "tests/fuzz/must.h"

namespace {

using namespace portico;
using fuzz::must;
using Step = http::ChunkedDecoder::Step;

struct Outcome {
  Step step = Step::more;
  core::Fault fault = core::Fault::none;
  std::string body;
  std::string rest;
  http::Headers trailers;
};

// Small limits, so that the fuzzer reaches them.
constexpr http::ReadLimits limits{512, 0, 8};

Outcome decode(std::size_t room, const std::vector<std::string_view>& parts) {
  http::ChunkedDecoder decoder(http::Sender::endpoint, limits);
  Outcome outcome;
  for (std::string_view part : parts) {
    core::Slice input = core::Slice::copy(part);
    core::Slice data;
    do {
      outcome.step = decoder.next(input, room, data);
      if (outcome.step != Step::data) continue;
      must(!data.empty() && data.size() <= room);
      outcome.body += data.view();
    } while (outcome.step == Step::data);
    must(outcome.step != Step::more || input.empty());
    if (outcome.step == Step::end) outcome.rest += input.view();
  }
  outcome.fault = decoder.error().fault;
  outcome.trailers = decoder.trailers();
  return outcome;
}

void check_coded_again(const Outcome& outcome) {
  core::Buffer out;
  if (!outcome.body.empty()) {
    http::append_chunk_head(out, outcome.body.size());
    out.append(outcome.body);
    out.append(http::chunk_end);
  }
  http::append_last_chunk(out, &outcome.trailers);
  const Outcome again = decode(4096, {out.view()});
  must(again.step == Step::end || again.fault == core::Fault::response_too_large);
  if (again.step == Step::end) must(again.body == outcome.body && again.rest.empty());
  http::Headers passed = outcome.trailers;
  http::drop_forbidden_trailers(passed);
  must(!passed.has("content-length") && !passed.has("host") && !passed.has("transfer-encoding"));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t cut = fuzz::cut_of(text);
  const Outcome whole = decode(64 * 1024, {text});
  const Outcome parts = decode(1 + cut % 7, {text.substr(0, cut), text.substr(cut)});
  must(whole.step == parts.step && whole.fault == parts.fault);
  must(whole.step == Step::fail || (whole.body == parts.body && whole.rest == parts.rest));
  if (whole.step == Step::end) check_coded_again(whole);
  return 0;
}
