#include "conf/life_keys.h"

#include <algorithm>

#include "conf/units.h"
#include "conf/words.h"

namespace portico::conf {
namespace {

constexpr unsigned most_workers = 1000;
// Of what lives no longer most is the start.
constexpr milliseconds least_lifetime = seconds(1);

void read_demand(Reader& reader, const Node& node, Application& into) {
  const Mapping workers(reader, node, workers_section);
  Demand demand;
  const Node* min = workers.find("min");
  reader.read_unsigned(min, 0, most_workers, demand.min);
  into.workers = std::max(into.workers, demand.min);
  reader.read_unsigned(workers.find("max"), 1, most_workers, into.workers);
  reader.read_duration(workers.find("idle"), demand.idle);
  if (demand.min > into.workers) {
    reader.refuse(*min,
                  "\"min\" is more than \"max\"; write at most " + std::to_string(into.workers));
  } else if (demand.min < into.workers) {
    into.demand = demand;
  }
}

void read_workers(Reader& reader, const Node* node, Application& into) {
  if (node != nullptr && node->kind == Node::Kind::mapping) return read_demand(reader, *node, into);
  reader.read_unsigned(node, 1, most_workers, into.workers);
}

void read_jitter(Reader& reader, const Node* node, Recycle& into) {
  const std::string* text =
      node == nullptr ? nullptr : reader.word(*node, "a share such as \"10%\"");
  const auto percent = text ? reader.accept(*node, parse_percent(*text)) : std::nullopt;
  if (percent) into.jitter = *percent;
}

void read_lifetime(Reader& reader, const Node* node, Recycle& into) {
  reader.read_duration(node, into.lifetime);
  if (into.lifetime == milliseconds(0) || into.lifetime >= least_lifetime) return;
  reader.refuse(*node, "a worker that lives no longer mostly starts; write at least " +
                           quoted(duration_text(least_lifetime)));
}

void read_recycle(Reader& reader, const Node& node, Recycle& into) {
  const Mapping recycle(reader, node, recycle_section);
  for (const auto& option : recycle_options)
    reader.read_amount(recycle.find(option.key), option, into);
  read_lifetime(reader, recycle.find("lifetime"), into);
  read_jitter(reader, recycle.find("jitter"), into);
}

// The kernel shares out no less (1 ms of 100); more than a thousand cores nobody has.
constexpr unsigned least_cpu = 1;
constexpr unsigned most_cpu = 100'000;

void read_cpu(Reader& reader, const Node* node, Resources& into) {
  const std::string* text =
      node == nullptr ? nullptr : reader.word(*node, "a share of one core such as \"150%\"");
  const auto percent =
      text ? reader.accept(*node, parse_percent(*text, least_cpu, most_cpu)) : std::nullopt;
  if (percent) into.cpu = *percent;
}

void read_resources(Reader& reader, const Node& node, Resources& into) {
  const Mapping resources(reader, node, resources_section);
  for (const auto& option : resource_options)
    reader.read_amount(resources.find(option.key), option, into);
  read_cpu(reader, resources.find("cpu"), into);
  into.where = reader.at(node);
}

}  // namespace

void read_life_keys(Reader& reader, const Mapping& mapping, Application& into) {
  read_workers(reader, mapping.find("workers"), into);
  if (const Node* node = mapping.find("recycle")) read_recycle(reader, *node, into.recycle);
  if (const Node* node = mapping.find("resources")) read_resources(reader, *node, into.resources);
}

}  // namespace portico::conf
