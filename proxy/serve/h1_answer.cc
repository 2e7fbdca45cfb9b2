#include "proxy/serve/h1_answer.h"

#include <utility>
#include <variant>

#include "proxy/http/chunked.h"

namespace portico::serve {

using core::Fault;
using core::Flow;
using core::Piece;
using http::Framing;
using http::Pull;

namespace {

// The most of a body of unknown length that is looked at before its head goes out: a page that is
// complete by then gets a Content-Length.
constexpr std::size_t look_bytes = core::block_bytes;

}  // namespace

void H1Answer::set(http::ResponseHead head, std::unique_ptr<http::BodySource> body) {
  head_ = std::move(head);
  body_ = std::move(body);
  early_.clear();
  early_bytes_ = 0;
  ended_early_ = false;
  state_ = State::framing;
}

Flow H1Answer::decide(const http::RequestHead& request, core::Active& reader) {
  if (http::bodiless(request.method, head_.status)) {
    body_.reset();
    framing_ = {};
  } else if (body_ == nullptr) {
    framing_ = {Framing::Kind::length, head_.length.value_or(0)};
  } else if (head_.length) {
    framing_ = {Framing::Kind::length, *head_.length};
  } else {
    if (gather(reader) == Flow::fail) return Flow::fail;
    frame_unknown(request.version);
  }
  state_ = State::ready;
  return Flow::data;
}

Flow H1Answer::gather(core::Active& reader) {
  while (early_bytes_ < look_bytes) {
    Pull pulled = body_->pull(look_bytes, reader);
    if (pulled.flow == Flow::wait) return Flow::wait;
    if (pulled.flow == Flow::fail) return cut(pulled.error);
    if (pulled.flow == Flow::end) {
      ended_early_ = pulled.trailers == nullptr || !trailers_allowed_;
      return Flow::end;
    }
    early_bytes_ += core::length(pulled.piece);
    early_.push_back(std::move(pulled.piece));
  }
  return Flow::data;
}

void H1Answer::frame_unknown(http::Version version) {
  if (ended_early_) {
    framing_ = {Framing::Kind::length, early_bytes_};
  } else if (version == http::Version::http11) {
    framing_ = {Framing::Kind::chunked, 0};
  } else {
    framing_ = {Framing::Kind::until_close, 0};
  }
}

Flow H1Answer::send_head(net::Transport& out, http::Connection connection, http::Version version) {
  if (framing_.kind == Framing::Kind::length) head_.length = framing_.length;
  core::Buffer& buffer = core::Buffer::shared();
  const auto written = http::write_response_head(buffer, head_, framing_, connection, version);
  if (!written) return cut(written.error());
  out.send(buffer.take());
  state_ = State::sending;
  head_out_ = true;
  for (Piece& piece : early_) queue(out, std::move(piece));
  early_.clear();
  if (body_ == nullptr || ended_early_) return end(out, nullptr);
  return Flow::data;
}

Flow H1Answer::send_more(net::Transport& out, std::size_t room, core::Active& reader) {
  Pull pulled = body_->pull(room, reader);
  switch (pulled.flow) {
    case Flow::wait:
      return Flow::wait;
    case Flow::fail:
      return cut(pulled.error);
    case Flow::end:
      return end(out, pulled.trailers);
    case Flow::data:
      break;
  }
  if (!fits(pulled.piece))
    return cut({Fault::bad_response, 0, "sending more than the told length"});
  queue(out, std::move(pulled.piece));
  return Flow::data;
}

// What goes beyond the told length is not sent: it would stand where the next answer begins.
bool H1Answer::fits(const Piece& piece) const {
  if (framing_.kind != Framing::Kind::length) return true;
  return body_bytes_ + core::length(piece) <= framing_.length;
}

void H1Answer::queue(net::Transport& out, Piece&& piece) {
  const std::uint64_t size = core::length(piece);
  if (size == 0) return;
  body_bytes_ += size;
  if (framing_.kind == Framing::Kind::chunked) return queue_chunk(out, std::move(piece));
  out.send(std::move(piece));
}

void H1Answer::queue_chunk(net::Transport& out, Piece&& piece) {
  core::Buffer& syntax = core::Buffer::shared();
  http::append_chunk_head(syntax, core::length(piece));
  out.send(syntax.take());
  out.send(std::move(piece));
  out.send(core::Slice::literal(http::chunk_end));
}

Flow H1Answer::end(net::Transport& out, const http::Headers* trailers) {
  if (framing_.kind == Framing::Kind::length && body_bytes_ < framing_.length)
    return cut({Fault::response_cut, 0, "sending less than the told length"});
  if (framing_.kind == Framing::Kind::chunked) {
    core::Buffer& last = core::Buffer::shared();
    http::append_last_chunk(last, trailers_allowed_ ? trailers : nullptr);
    out.send(last.take());
  }
  state_ = State::complete;
  return Flow::end;
}

Flow H1Answer::cut(core::Error error) {
  error_ = error;
  state_ = State::cut;
  return Flow::fail;
}

}  // namespace portico::serve
