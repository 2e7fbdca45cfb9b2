// The plain options of config.h by key: which member, which range, what to tell the operator.
//
// One table serves the loader and `portico check --effective`, so that neither can forget one.
// Constants; any thread.
#pragma once

#include <array>
#include <limits>
#include <string_view>

#include "conf/config.h"

namespace portico::conf {

template <class Owner>
struct DurationOption {
  std::string_view key;
  milliseconds Owner::*member;
  std::string_view meaning;
};

enum class Unit : std::uint8_t { bytes, number };

template <class Owner>
struct AmountOption {
  std::string_view key;
  std::uint64_t Owner::*member;
  Unit unit;
  std::uint64_t least;
  std::uint64_t most;
  std::string_view meaning;
};

inline constexpr std::array<DurationOption<Timeouts>, 8> timeout_options{{
    {"header", &Timeouts::header, "a request head, from its first byte to its last"},
    {"idle", &Timeouts::idle, "a kept connection that carries nothing"},
    {"connect", &Timeouts::connect, "reaching an endpoint"},
    {"response", &Timeouts::response, "the answer's head, then each silence: 504"},
    {"queue", &Timeouts::queue, "waiting for an endpoint or a worker: 503"},
    {"start", &Timeouts::start, "an application's import, and a worker until it is ready"},
    {"body", &Timeouts::body, "the window in which a request body must move: 408"},
    {"send", &Timeouts::send, "the window in which a client must read"},
}};

inline constexpr std::uint64_t any_amount = std::numeric_limits<std::uint64_t>::max();

// A head of more than 256 KiB or 1000 fields is an attack; under 1 KiB or 10, browsers fail.
inline constexpr std::array<AmountOption<Limits>, 7> limit_options{{
    {"header_bytes", &Limits::header_bytes, Unit::bytes, kib, 256 * kib, "a request head: 431"},
    {"target_bytes", &Limits::target_bytes, Unit::bytes, 256, 128 * kib, "its target: 414"},
    {"header_fields", &Limits::header_fields, Unit::number, 10, 1000, "fields in a head: 431"},
    {"body", &Limits::body, Unit::bytes, 0, any_amount, "a request body: 413"},
    {"queue", &Limits::queue, Unit::number, 0, 1'000'000, "requests that wait: 503"},
    {"response_buffer", &Limits::response_buffer, Unit::bytes, 64 * kib, any_amount,
     "a worker's answer taken ahead of a slow client"},
    {"client_rate", &Limits::client_rate, Unit::bytes, 0, gib,
     "a second, in timeouts.body and timeouts.send"},
}};

inline constexpr std::array<AmountOption<Connections>, 2> connection_options{{
    {"connections", &Connections::total, Unit::number, 0, 10'000'000,
     "of clients; 0: from the limit of open files"},
    {"connections_per_client", &Connections::per_client, Unit::number, 1, 10'000'000,
     "from one address"},
}};

inline constexpr std::array<AmountOption<Spool>, 3> spool_options{{
    {"quota", &Spool::quota, Unit::bytes, 0, any_amount, "of files at a time: 507"},
    {"memory", &Spool::memory, Unit::bytes, mib, any_amount, "of bodies in memory, all together"},
    {"threshold", &Spool::threshold, Unit::bytes, 0, 64 * mib, "of one body before it is a file"},
}};

// Less than a mebibyte no worker has.
inline constexpr std::array<AmountOption<Recycle>, 2> recycle_options{{
    {"requests", &Recycle::requests, Unit::number, 1, 1'000'000'000'000, "answered by a worker"},
    {"memory", &Recycle::memory, Unit::bytes, mib, any_amount, "of a worker's own"},
}};

// Below 16 MiB no interpreter starts; ten are a zygote and a worker, each twice during a deploy,
// with a few threads of theirs.
inline constexpr std::array<AmountOption<Resources>, 2> resource_options{{
    {"memory", &Resources::memory, Unit::bytes, 16 * mib, any_amount, "of all its processes"},
    {"processes", &Resources::processes, Unit::number, 10, 4'000'000, "in number, with threads"},
}};

template <class Value>
struct Choice {
  std::string_view word;
  Value value;
};

inline constexpr std::array<Choice<Policy>, 2> policies{
    {{"round_robin", Policy::round_robin}, {"least_requests", Policy::least_requests}}};

inline constexpr std::array<Choice<Handover>, 2> handovers{
    {{"complete", Handover::complete}, {"stream", Handover::stream}}};

inline constexpr std::array<Choice<Preload>, 3> preloads{
    {{"true", Preload::if_safe}, {"false", Preload::never}, {"always", Preload::always}}};

inline constexpr std::array<Choice<LogFormat>, 5> log_formats{{{"combined", LogFormat::combined},
                                                               {"common", LogFormat::common},
                                                               {"json", LogFormat::json},
                                                               {"brief", LogFormat::brief},
                                                               {"pretty", LogFormat::pretty}}};

inline constexpr std::array<Choice<LogLevel>, 4> log_levels{{{"error", LogLevel::error},
                                                             {"warning", LogLevel::warning},
                                                             {"info", LogLevel::info},
                                                             {"debug", LogLevel::debug}}};

}  // namespace portico::conf
