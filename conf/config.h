// What the operator wrote, as values: every option with its default, unit and meaning.
//
// The one place of truth for options. Made by conf/load (inheritance is resolved there, so that a
// Route carries complete Timeouts and Limits and nobody looks upwards), read by every process,
// changed by nobody: whoever uses it holds the one it started with (house rule 9).
// The text form is documented in portico.yaml(5) and conf/portico.yaml.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "conf/problem.h"

namespace portico::conf {

using std::chrono::milliseconds;
using std::chrono::seconds;

inline constexpr std::uint64_t kib = 1024;
inline constexpr std::uint64_t mib = 1024 * kib;
inline constexpr std::uint64_t gib = 1024 * mib;

/// An address as written, taken apart; nothing is resolved here.
struct Address {
  std::string host;        ///< IPv4, IPv6 without brackets, or a DNS name; empty: all (listeners)
  std::uint16_t port = 0;  ///< 0 only for listeners: the kernel picks one
  std::string path;        ///< of a Unix socket; when set, host and port mean nothing

  bool is_unix() const { return !path.empty(); }
  /// "host:port", "[v6]:port", ":port" or "unix:/path": what load() reads back to the same value.
  std::string text() const;

  friend bool operator==(const Address&, const Address&) = default;
};

/// A set of peers: an IP network, or all that come over a Unix socket (written "unix").
struct Network {
  enum class Family : std::uint8_t { ip4, ip6, unix_socket };

  Family family = Family::ip4;
  std::array<std::uint8_t, 16> bytes{};  ///< network byte order; IPv4 in the first four
  unsigned prefix = 0;                   ///< leading bits that count; the rest of bytes is zero

  std::string text() const;

  friend bool operator==(const Network&, const Network&) = default;
};

/// A socket that accepts clients. ":port" (host empty) is IPv4 and IPv6 alike.
struct Listener {
  Address address;
  Position where;

  friend bool operator==(const Listener&, const Listener&) = default;
};

/// How long each thing may take. Set at the top, per site and per route; the nearest wins.
/// header and idle pass before a route is known: there Config::timeouts rules for the first
/// request of a connection, the latest route's for those that follow.
struct Timeouts {
  /// From a request head's first byte to its last, and for a new connection's first byte: absolute,
  /// not per read (Slowloris). As HAProxy's recommended `timeout http-request`.
  milliseconds header = seconds(10);
  /// Of a kept connection that carries nothing: the client's, and the longest for an endpoint's.
  milliseconds idle = seconds(60);
  /// To reach an endpoint, names included. Three SYNs fit (0, 1 and 3 s).
  milliseconds connect = seconds(5);
  /// Endpoint: from the whole request sent to the answer's head. Application: from the claim by a
  /// worker to the head; afterwards the longest silence between two frames. 504 before the head,
  /// an abort after it. Not counted while we hold the answer back, nor while the application waits
  /// for the client of a streamed request.
  milliseconds response = seconds(60);
  /// In the queue of a pool or application. 503. Not counted while workers start.
  milliseconds queue = seconds(60);
  /// Of an application: the import, and a worker from its fork until it is ready. What takes longer
  /// hangs: its stacks are logged, it is killed and tried again. Longer than any honest import.
  milliseconds start = seconds(120);
  /// The window in which a request body must bring Limits::client_rate; 408.
  milliseconds body = seconds(30);
  /// The window in which a client must take Limits::client_rate of an answer; counted by what its
  /// kernel acknowledged. Long, since a slow reader's window opens in steps of up to 64 KiB.
  milliseconds send = seconds(120);

  friend bool operator==(const Timeouts&, const Timeouts&) = default;
};

/// How much of each thing is allowed. Set at the top, per site and per route; the nearest wins.
/// The head is read before a route is known: it is read within widest_limits(), and the route's own
/// values are applied once the route is found.
struct Limits {
  std::uint64_t header_bytes = 32 * kib;  ///< of a head, start line included; 431
  std::uint64_t target_bytes = 8 * kib;  ///< of a request's target (RFC 9112 §3 asks for 8000); 414
  std::uint64_t header_fields = 100;     ///< in number, in a head or in trailers; 431
  std::uint64_t body = 32 * mib;         ///< bytes of a request body; 413
  std::uint64_t queue = 4096;            ///< requests waiting for one pool or application; 503
  /// Bytes of one application's answer taken ahead of a slow client, memory and file together;
  /// then the worker waits.
  std::uint64_t response_buffer = 64 * mib;
  /// Bytes a second that a client must send of a body (averaged over Timeouts::body) or take of an
  /// answer (over Timeouts::send) as long as there is something to move. Far under a 1 KB/s modem.
  std::uint64_t client_rate = 64;

  friend bool operator==(const Limits&, const Limits&) = default;
};

/// Client connections of the whole front.
struct Connections {
  std::uint64_t total = 0;  ///< 0: derived from the limit of open files
  /// From one address. 16384 idle ones cost about 24 MB, and it is above what one honest load
  /// tester or CDN address opens. Peers over Unix sockets and trusted proxies are not counted.
  std::uint64_t per_client = 16384;

  friend bool operator==(const Connections&, const Connections&) = default;
};

/// json carries site, route, endpoint or worker, the times and the cause of failure; brief is for
/// somebody who watches, pretty is brief in colours.
enum class LogFormat : std::uint8_t { combined, common, json, brief, pretty };
enum class LogLevel : std::uint8_t { error, warning, info, debug };

/// Where a site's requests are written down. Each Site has a complete one.
struct Log {
  std::string access = "-";  ///< absolute path, "-" for standard output, "off"
  LogFormat format = LogFormat::combined;
  LogLevel level = LogLevel::info;  ///< of messages on standard error; set at the top only
  Position where;                   ///< of `access`

  friend bool operator==(const Log&, const Log&) = default;
};

/// How something that answers HTTP is asked whether it is well.
struct Health {
  std::string path;  ///< asked by GET; empty: a TCP (or Unix) connect is enough (pools only)
  std::string host;  ///< the Host field; empty: the site's name (applications), the address (pools)
  milliseconds interval = seconds(5);
  milliseconds timeout = seconds(2);
  unsigned rise = 2;            ///< successes in a row until it counts as up; at least 1
  unsigned fall = 3;            ///< failures in a row until it counts as down; at least 1
  unsigned status_first = 200;  ///< the least status that counts as well
  unsigned status_last = 399;   ///< the greatest; both written as `status: 200` or "200-399"

  friend bool operator==(const Health&, const Health&) = default;
};

struct Endpoint {
  Address address;
  unsigned weight = 1;  ///< 1 to 1000
  Position where;

  friend bool operator==(const Endpoint&, const Endpoint&) = default;
};

enum class Policy : std::uint8_t { round_robin, least_requests };

/// Endpoints that serve the same thing.
struct Pool {
  std::string name;  ///< as written; of an inline `to:` "shop.example/legacy/" (has a slash)
  std::vector<Endpoint> endpoints;  ///< at least one
  Policy policy = Policy::round_robin;
  /// Probed by a connect unless written otherwise; none after `health: "off"`. Fall and interval
  /// also rule the passive marking.
  std::optional<Health> health = Health{};
  std::uint64_t connections = 0;  ///< requests at a time per endpoint; more wait. 0: no cap
  std::uint64_t queue = 4096;     ///< Limits::queue of the top (named) or of the route (inline)
  Position where;

  friend bool operator==(const Pool&, const Pool&) = default;
};

/// A process that a site has beside its workers and that serves no requests.
struct Companion {
  std::string name;                  ///< letters, digits, "-", "_" and "."
  std::vector<std::string> command;  ///< at least one word; "python" is the site's own
  Position where;                    ///< of its name

  friend bool operator==(const Companion&, const Companion&) = default;
};

/// When a worker that is well makes room for a new one: applications whose memory grows. 0: never
/// for that reason.
struct Recycle {
  std::uint64_t requests = 0;  ///< answered by it
  std::uint64_t memory = 0;    ///< bytes of its own: what its end would give back
  milliseconds lifetime{0};    ///< since it began
  /// Percent by which `requests` and `lifetime` are stretched at most, drawn for each worker, so
  /// that those which began together do not go together.
  unsigned jitter = 10;

  friend bool operator==(const Recycle&, const Recycle&) = default;
};

/// What all processes of an application together may use of the machine: its zygotes, workers,
/// companions and hooks, with all that they start. In force where the system delegates a control
/// group to us. 0: as much as there is.
struct Resources {
  std::uint64_t memory = 0;     ///< bytes, with the page cache of its files; nothing is swapped out
  std::uint64_t processes = 0;  ///< in number; each thread counts
  std::uint64_t cpu = 0;        ///< percent of one core's time
  Position where;

  bool any() const { return memory != 0 || processes != 0 || cpu != 0; }

  friend bool operator==(const Resources&, const Resources&) = default;
};

/// Workers that come and go with what there is to do: never more than Application::workers.
struct Demand {
  unsigned min = 1;                              ///< 0: the first request starts the application
  milliseconds idle = std::chrono::minutes(10);  ///< how long one is not needed until it goes

  friend bool operator==(const Demand&, const Demand&) = default;
};

/// Who imports an application.
/// never    each worker by itself
/// if_safe  the zygote, from which workers are forked; where the import leaves what a fork would
///          break (threads, connections), each worker
/// always   the zygote, whatever the import leaves
enum class Preload : std::uint8_t { never, if_safe, always };

/// A WSGI callable with its workers.
struct Application {
  std::string name;       ///< "shop.example", or "shop.example/blog/" of a route; unique
  std::string site;       ///< Site::name
  std::string reference;  ///< "module", "module:callable", "module:factory()", "file.py[:callable]"
  std::string directory;  ///< absolute; the working directory, first on sys.path
  std::string python;     ///< a venv's or interpreter's path, or "python3.12"; resolve_python()
  std::string script_name;  ///< the route's path without its last slash; "" for a whole site
  unsigned workers = 2;     ///< processes; two, so that one slow request does not stop the site
  std::optional<Demand> demand;  ///< none: there are always so many
  Recycle recycle;
  Resources resources;
  unsigned threads = 1;  ///< Python threads in each; 0: embedded, called by the front's loop
  /// Runs inside the front process, in `threads` threads of it: no workers, no user of its own, and
  /// a crash is the front's. One application at most.
  bool embedded = false;
  Preload preload = Preload::if_safe;
  /// Modules that the zygote finds imported: it is forked from a base, which has imported them for
  /// all applications with the same list, interpreter, user and variables that concern an
  /// interpreter. Empty: the zygote starts by itself. From the top unless written.
  std::vector<std::string> shared_imports;
  std::string user;  ///< whom zygote and workers become; empty: Config::user; only as root
  std::vector<std::pair<std::string, std::string>> environment;  ///< in order of writing
  std::string touch;    ///< absolute; when this file's time of change moves, the code is deployed
  bool reload = false;  ///< development: so it is when a Python source under `directory` changes
  /// Run one after the other once new code is imported, before it serves; each at least one word.
  std::vector<std::vector<std::string>> before_deploy;
  /// Asked of new code by GET before it takes over; paths as the application sees them. An answer
  /// below 500 is good.
  std::vector<std::string> warm = {"/"};
  /// `processes`: begun when the application has come up, and anew at each deploy; what ends is
  /// started again.
  std::vector<Companion> companions;
  /// Absolute; lines NAME=value, read with the supervisor's rights at each start. What stands in
  /// `environment` comes first.
  std::string environment_file;
  std::optional<Health> health;  ///< asked of the application itself; path is set
  Timeouts timeouts;
  Limits limits;
  Position where;                   ///< of the handler
  Position directory_where;         ///< of `directory`, or of the handler where none is written
  Position python_where;            ///< likewise of `python`
  Position user_where;              ///< likewise of `user`
  Position environment_file_where;  ///< likewise of `environment_file`
  Position before_deploy_where;     ///< of `before_deploy`, where one is written

  friend bool operator==(const Application&, const Application&) = default;
};

struct ToPool {
  std::string pool;  ///< Pool::name

  friend bool operator==(const ToPool&, const ToPool&) = default;
};

struct ToApplication {
  std::string application;  ///< Application::name

  friend bool operator==(const ToApplication&, const ToApplication&) = default;
};

/// What answers. Later versions add files, redirect, respond and command.
using Handler = std::variant<ToPool, ToApplication>;

/// When a request is handed to a worker. Set per site and per route; the nearest wins.
enum class Handover : std::uint8_t {
  complete,  ///< with its whole body, so that no worker waits for a client
  stream,    ///< as soon as its head is there: the application reads while the client sends
};

/// A path prefix, matched on whole segments, and what answers there.
struct Route {
  std::string path;  ///< starts with "/"; canonical (no dots, no doubled slash, no query)
  Handler handler;   ///< its own, else that of the route "/"
  Timeouts timeouts;
  Limits limits;
  Handover request = Handover::complete;  ///< stream: of applications with threads of their own
  Position where;

  friend bool operator==(const Route&, const Route&) = default;
};

/// One website. Its own handler is the route "/"; without one, other paths are 404.
struct Site {
  std::string name;                ///< the first host, or "default"
  std::vector<std::string> hosts;  ///< lower-case, no last dot, no port; "*.x" is a wildcard
  bool is_default = false;         ///< takes every Host that no other site has
  std::vector<Route> routes;       ///< in order of writing, "/" first where there is one
  Log log;
  bool merge_slashes = true;  ///< "//" in a path means "/", for routing and for what is passed on
  bool unsafe_encoded_slashes = false;  ///< lets %2F and %5C through undecoded; else 400
  bool unsafe_unknown_methods = false;  ///< passes methods that no standard knows; else 501
  Position where;

  friend bool operator==(const Site&, const Site&) = default;
};

/// Where bodies go that are too large for memory: unlinked files.
struct Spool {
  std::string directory = "/var/tmp";  ///< /var/tmp is on a disk and writable for all
  std::uint64_t quota = gib;           ///< bytes in files at a time; then 507 (request bodies)
  std::uint64_t memory = 64 * mib;     ///< bytes of buffered bodies in memory, the whole front
  std::uint64_t threshold = 64 * kib;  ///< bytes of one body in memory; the rest goes to a file
  Position where;                      ///< of `directory`

  friend bool operator==(const Spool&, const Spool&) = default;
};

/// The whole.
struct Config {
  std::vector<Listener> listeners;  ///< default: ":8080"
  unsigned front_threads = 0;       ///< 0: the number of cores
  /// Whom the front becomes when started as root, and the workers of applications without a `user`
  /// of their own. Empty: "portico" where that user exists, else "nobody".
  std::string user;
  std::vector<std::string> shared_imports;  ///< of applications that have none of their own
  std::vector<Site> sites;
  std::vector<Pool> pools;                      ///< named first, then inline ones
  std::vector<Application> applications;        ///< in order of sites and routes
  Log log;                                      ///< of requests that reach no site
  Timeouts timeouts;                            ///< before a route is known
  Limits limits;                                ///< likewise; see widest_limits()
  milliseconds shutdown_timeout = seconds(30);  ///< TERM to the end of what still runs
  Connections connections;
  std::vector<Network> trusted_proxies;  ///< whose forwarding fields are believed
  Spool spool;
  std::string state_directory = "/var/lib/portico";  ///< the last good configuration
  std::string run_directory = "/run/portico";        ///< sockets; the engine without memfd
  /// The socket that `portico status` and its like speak to: an absolute path, or "off". Empty: the
  /// usual place, see proxy/run/control_path.h.
  std::string control;
  Position where;       ///< of the main file
  Position user_where;  ///< of `user`

  friend bool operator==(const Config&, const Config&) = default;
};

/// The largest header_bytes, target_bytes and header_fields of any route and of the top, in an
/// otherwise equal copy of config.limits: what a head is read within before its route is known.
Limits widest_limits(const Config& config);

/// Finds by name; null when there is none. The pointers live as long as `config`.
const Pool* find_pool(const Config& config, const std::string& name);
const Application* find_application(const Config& config, const std::string& name);

}  // namespace portico::conf
