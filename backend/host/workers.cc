#include "backend/host/workers.h"

#include <algorithm>

namespace portico::backend {

std::uint16_t worker_of(const record::ControlMessage& heard) {
  return static_cast<std::uint16_t>(heard.number("worker").value_or(0));
}

std::uint16_t Workers::next_number() {
  do {
    last_ = last_ == UINT16_MAX ? std::uint16_t{1} : static_cast<std::uint16_t>(last_ + 1);
  } while (table_.count(last_) != 0);
  return last_;
}

Worker& Workers::add(std::uint16_t number, std::uint64_t generation, core::Time now,
                     std::unique_ptr<net::Channel> control) {
  Worker& worker = table_[number];
  worker.number = number;
  worker.generation = generation;
  worker.since = worker.born = now;
  worker.control = std::move(control);
  return worker;
}

Worker* Workers::find(std::uint16_t number) {
  const auto found = table_.find(number);
  return found == table_.end() ? nullptr : &found->second;
}

Worker* Workers::find_pid(pid_t pid) {
  for (auto& [number, worker] : table_) {
    if (worker.pid == pid) return &worker;
  }
  return nullptr;
}

unsigned Workers::serving(std::uint64_t generation) const {
  return static_cast<unsigned>(
      std::count_if(table_.begin(), table_.end(), [generation](const auto& entry) {
        return entry.second.generation == generation &&
               entry.second.state != Worker::State::leaving;
      }));
}

unsigned Workers::ready(std::uint64_t generation) const {
  return static_cast<unsigned>(
      std::count_if(table_.begin(), table_.end(), [generation](const auto& entry) {
        return entry.second.generation == generation && entry.second.state == Worker::State::ready;
      }));
}

std::vector<std::uint16_t> Workers::forked_by(pid_t zygote) const {
  std::vector<std::uint16_t> numbers;
  for (const auto& [number, worker] : table_) {
    if (worker.zygote == zygote) numbers.push_back(number);
  }
  return numbers;
}

void Workers::orphan(pid_t zygote) {
  for (auto& [number, worker] : table_) {
    if (worker.zygote == zygote) worker.zygote = 0;
  }
}

bool Workers::any(std::uint64_t generation) const {
  return std::any_of(table_.begin(), table_.end(), [generation](const auto& entry) {
    return entry.second.generation == generation;
  });
}

}  // namespace portico::backend
