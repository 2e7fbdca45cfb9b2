#include "backend/host/workers.h"

#include <string.h>
#include <sys/wait.h>

#include <algorithm>

namespace portico::backend {

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
  worker.since = now;
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

bool Workers::any_ready(std::uint64_t generation) const {
  return std::any_of(table_.begin(), table_.end(), [generation](const auto& entry) {
    return entry.second.generation == generation && entry.second.state == Worker::State::ready;
  });
}

std::string describe_exit(int wait_status) {
  if (WIFSIGNALED(wait_status)) {
    const int signal = WTERMSIG(wait_status);
    const char* name = sigdescr_np(signal);
    return "killed by signal " + std::to_string(signal) +
           (name != nullptr ? " (" + std::string(name) + ")" : "");
  }
  const int status = WEXITSTATUS(wait_status);
  return status == 0 ? "exited" : "exit status " + std::to_string(status);
}

}  // namespace portico::backend
