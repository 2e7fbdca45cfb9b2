#include "proxy/serve/client_input.h"

namespace portico::serve {
core::Flow ClientInput::fill(std::size_t room) {
  if (!kept_.empty()) return core::Flow::data;
  if (failed()) return core::Flow::fail;
  if (ended_) return core::Flow::end;
  net::Arrival arrival = transport_.read(room);
  if (arrival.flow == core::Flow::data) kept_ = std::get<core::Slice>(std::move(arrival.piece));
  if (arrival.flow == core::Flow::fail)
    error_ = {core::Fault::client_gone, arrival.error.os, "reading from the client"};
  ended_ = arrival.flow == core::Flow::end || arrival.flow == core::Flow::fail;
  return arrival.flow;
}

}  // namespace portico::serve
