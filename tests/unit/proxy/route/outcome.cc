#include "proxy/route/outcome.h"

#include <catch2/catch.hpp>

#include "proxy/route/counters.h"

namespace portico::route {
namespace {

using core::Fault;

serve::Trace ended(int status, Fault fault = Fault::none) {
  serve::Trace trace;
  trace.status = status;
  trace.error.fault = fault;
  return trace;
}

}  // namespace

TEST_CASE("outcome: whose door a failure lies at") {
  CHECK(outcome(ended(200)) == Outcome::ok);
  CHECK(outcome(ended(404)) == Outcome::ok);
  CHECK(outcome(ended(500)) == Outcome::app_error);
  CHECK(outcome(ended(400, Fault::bad_field)) == Outcome::client_error);
  CHECK(outcome(ended(502, Fault::endpoint_reset)) == Outcome::app_error);
  CHECK(outcome(ended(503, Fault::queue_full)) == Outcome::shed);
  CHECK(outcome(ended(500, Fault::internal)) == Outcome::edge_error);
}

TEST_CASE("outcome: a client that left is nobody's 5xx (complaint 39)") {
  CHECK(outcome(ended(0, Fault::client_gone)) == Outcome::client_gone);
  CHECK(outcome(ended(200, Fault::send_timeout)) == Outcome::client_gone);
}

TEST_CASE("outcome: every fault has one, and each a name of its own") {
  for (std::size_t i = 0; i < fault_count; ++i) {
    const auto fault = static_cast<Fault>(i);
    const bool well = outcome(ended(200, fault)) == Outcome::ok;
    CHECK(well == (fault == Fault::none));
  }
  CHECK(name(Outcome::ok) == "ok");
  CHECK(name(Outcome::client_gone) == "client-gone");
  CHECK(name(Outcome::edge_error) == "edge-error");
}

TEST_CASE("layer: edge, queue, worker, app or upstream (complaint 13)") {
  serve::Trace to_endpoint;
  to_endpoint.upstream = "127.0.0.1:9001";
  serve::Trace to_worker;
  to_worker.upstream = "worker 3";
  CHECK(layer(Fault::bad_host, to_endpoint) == "edge");
  CHECK(layer(Fault::spool_full, to_worker) == "edge");
  CHECK(layer(Fault::queue_timeout, to_worker) == "queue");
  CHECK(layer(Fault::worker_died, to_worker) == "worker");
  CHECK(layer(Fault::site_unavailable, serve::Trace()) == "worker");
  CHECK(layer(Fault::application_error, to_worker) == "app");
  CHECK(layer(Fault::response_timeout, to_worker) == "app");
  CHECK(layer(Fault::response_timeout, to_endpoint) == "upstream");
  CHECK(layer(Fault::connection_refused, serve::Trace()) == "upstream");
}

TEST_CASE("counters: by class of status, cause and outcome, for each site") {
  Counters counters;
  SiteCounts& shop = counters.of("shop.example");
  serve::Trace trace = ended(200);
  trace.request_bytes = 3;
  trace.response_bytes = 7;
  shop.add(trace);
  shop.add(ended(502, Fault::endpoint_closed));
  shop.add(ended(0, Fault::client_gone));
  CHECK(&counters.of("shop.example") == &shop);
  counters.of("");
  int sites = 0;
  counters.for_each([&](const std::string&, const SiteCounts&) { ++sites; });
  CHECK(sites == 2);
  CHECK(shop.by_class[2] == 1);
  CHECK(shop.by_class[5] == 1);
  CHECK(shop.by_class[0] == 1);
  CHECK(shop.by_fault[static_cast<std::size_t>(Fault::endpoint_closed)] == 1);
  CHECK(shop.by_outcome[static_cast<std::size_t>(Outcome::client_gone)] == 1);
  CHECK(shop.request_bytes == 3);
  CHECK(shop.response_bytes == 7);
}

}  // namespace portico::route
