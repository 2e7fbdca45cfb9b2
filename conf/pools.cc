#include "conf/pools.h"

#include <algorithm>

#include "conf/address.h"
#include "conf/names.h"
#include "conf/settings.h"
#include "conf/words.h"

namespace portico::conf {
namespace {

constexpr std::string_view wanted_endpoint = "an address such as \"127.0.0.1:8000\"";

std::optional<Address> read_address(Reader& reader, const Node& node) {
  const std::string* text = reader.word(node, wanted_endpoint);
  return text ? reader.accept(node, parse_endpoint(*text)) : std::nullopt;
}

std::optional<Endpoint> read_weighted(Reader& reader, const Node& node) {
  const Mapping mapping(reader, node, endpoint_section);
  Endpoint endpoint;
  endpoint.where = reader.at(node);
  reader.read_unsigned(mapping.find("weight"), 1, 1000, endpoint.weight);
  const Node* written = mapping.find("address");
  if (written == nullptr) {
    if (!mapping.has_unknown()) {
      reader.refuse(node, "an endpoint without an address; write {address: \"127.0.0.1:8000\"}");
    }
    return std::nullopt;
  }
  const auto address = read_address(reader, *written);
  if (!address) return std::nullopt;
  endpoint.address = *address;
  return endpoint;
}

std::optional<Endpoint> read_endpoint(Reader& reader, const Node& node) {
  if (node.kind == Node::Kind::mapping) return read_weighted(reader, node);
  const auto address = read_address(reader, node);
  if (!address) return std::nullopt;
  return Endpoint{*address, 1, reader.at(node)};
}

void read_pool_health(Reader& reader, const Node& node, Pool& pool) {
  if (node.kind == Node::Kind::scalar && node.text == "off") {
    pool.health.reset();
  } else {
    read_health(reader, node, *pool.health);
  }
}

void read_pool_endpoints(Reader& reader, const Entry& entry, const Mapping& mapping, Pool& pool) {
  if (const Node* node = mapping.find("endpoints")) {
    pool.endpoints = read_endpoints(reader, *node);
  } else if (!mapping.has_unknown()) {
    reader.refuse(entry.key, "the pool " + quoted(entry.key.text) +
                                 " has no endpoints; write endpoints: [\"127.0.0.1:8000\"]");
  }
}

constexpr AmountOption<Pool> connections_option{
    "connections", &Pool::connections, Unit::number, 0, 1'000'000, "at a time for each endpoint"};

}  // namespace

std::vector<Endpoint> read_endpoints(Reader& reader, const Node& node) {
  std::vector<Endpoint> out;
  for (const Node* item : reader.list(node, wanted_endpoint)) {
    auto endpoint = read_endpoint(reader, *item);
    if (!endpoint) continue;
    const bool known = std::any_of(out.begin(), out.end(), [&](const Endpoint& other) {
      return other.address == endpoint->address;
    });
    if (known) {
      reader.refuse(*item, quoted(endpoint->address.text()) +
                               " is in this pool already; write it once, with a weight");
    } else {
      out.push_back(std::move(*endpoint));
    }
  }
  return out;
}

std::optional<Pool> read_pool(Reader& reader, const Entry& entry, const Limits& defaults) {
  const auto name = reader.accept(entry.key, parse_pool_name(entry.key.text));
  const Mapping mapping(reader, entry.value, pool_section);
  Pool pool;
  pool.name = name.value_or("");
  pool.where = reader.at(entry.key);
  pool.queue = defaults.queue;
  read_pool_endpoints(reader, entry, mapping, pool);
  reader.read_choice(mapping.find("policy"), policies, pool.policy);
  if (const Node* node = mapping.find("health")) read_pool_health(reader, *node, pool);
  reader.read_amount(mapping.find("connections"), connections_option, pool);
  if (!name) return std::nullopt;
  return pool;
}

}  // namespace portico::conf
