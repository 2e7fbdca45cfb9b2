// PrefixedTransport: a transport of which some bytes have been read already; they are read again
// first, such as what an endpoint sends right behind its 101.
//
// Owned by a tunnel; one thread.
#pragma once

#include <memory>
#include <utility>

#include "proxy/net/transport.h"

namespace portico::client {

class PrefixedTransport final : public net::Transport {
 public:
  PrefixedTransport(core::Slice first, std::unique_ptr<net::Transport> rest)
      : first_(std::move(first)), rest_(std::move(rest)) {}

  void attach(core::Active* owner) override {
    rest_->attach(owner);
    if (owner != nullptr && !first_.empty()) owner->wake();
  }
  net::Arrival read(std::size_t room, net::Splice splice) override {
    if (first_.empty()) return rest_->read(room, splice);
    return {core::Flow::data, first_.take_front(room), {}};
  }
  void send(core::Piece&& piece) override { rest_->send(std::move(piece)); }
  core::Flow flush() override { return rest_->flush(); }
  std::uint64_t unsent() const override { return rest_->unsent(); }
  std::uint64_t sent() const override { return rest_->sent(); }
  std::uint64_t acknowledged() const override { return rest_->acknowledged(); }
  const core::Error& send_error() const override { return rest_->send_error(); }
  void finish_sending() override { rest_->finish_sending(); }
  void reset_on_close() override { rest_->reset_on_close(); }
  bool broken() const override { return rest_->broken(); }

 private:
  core::Slice first_;
  std::unique_ptr<net::Transport> rest_;
};

}  // namespace portico::client
