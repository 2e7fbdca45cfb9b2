// Every key of the configuration, section by section: what is known, and what later versions bring.
//
// Flat tables for the reader; config.h says what each option means. Constants; any thread.
#pragma once

#include <array>
#include <string_view>

namespace portico::conf {

/// The keys of one kind of mapping. Words are separated by single spaces.
struct Section {
  std::string_view place;  ///< for messages: "at the top", "in a site"
  std::string_view known;
  std::string_view later;     ///< refused as "not available in this version"
  std::string_view top_only;  ///< known in the same section at the top of the main file only
};

inline constexpr Section top_section{
    "at the top",
    "include listen front_threads user shared_imports sites pools timeouts limits log "
    "trusted_proxies spool state_directory run_directory control",
    "acme cache metrics tls", ""};

/// The keys of the main file that concern the whole server stand there only.
inline constexpr Section included_section{
    "in an included file", "sites pools", "",
    "include listen front_threads user shared_imports timeouts limits log trusted_proxies spool "
    "state_directory run_directory control"};

inline constexpr Section site_section{
    "in a site",
    "aliases wsgi to directory python user workers threads recycle resources embedded preload "
    "shared_imports environment environment_file health touch reload "
    "before_deploy warm processes request routes timeouts limits log merge_slashes "
    "unsafe_encoded_slashes "
    "unsafe_unknown_methods",
    "command django files hold redirect "
    "respond tls",
    ""};

inline constexpr Section route_section{
    "in a route",
    "wsgi to directory python user workers threads recycle resources embedded preload "
    "shared_imports environment environment_file health touch reload "
    "before_deploy warm processes request "
    "timeouts limits",
    "command django files hold redirect "
    "respond",
    ""};

inline constexpr Section pool_section{"in a pool", "endpoints policy health connections",
                                      "affinity outlier retry tls", ""};

inline constexpr Section endpoint_section{"in an endpoint", "address weight", "backup tls", ""};

inline constexpr Section health_section{"in \"health\"",
                                        "path host interval timeout rise fall status", "", ""};

inline constexpr Section workers_section{"in \"workers\"", "min max idle", "", ""};
inline constexpr Section resources_section{"in \"resources\"", "memory cpu processes", "", ""};
inline constexpr Section recycle_section{"in \"recycle\"", "requests jitter memory lifetime", "",
                                         ""};

// Timeouts, limits and logs stand at the top and again in sites and routes, less what concerns the
// whole server.
inline constexpr Section top_timeouts_section{
    "in \"timeouts\"", "header idle connect response queue start body send shutdown", "", ""};
inline constexpr Section timeouts_section{
    "in \"timeouts\"", "header idle connect response queue start body send", "", "shutdown"};

inline constexpr Section top_limits_section{
    "in \"limits\"",
    "header_bytes target_bytes header_fields body queue response_buffer client_rate connections "
    "connections_per_client",
    "", ""};
inline constexpr Section limits_section{
    "in \"limits\"",
    "header_bytes target_bytes header_fields body queue response_buffer client_rate", "",
    "connections connections_per_client"};

inline constexpr Section top_log_section{"in \"log\"", "access format level", "", ""};
inline constexpr Section log_section{"in \"log\"", "access format", "", "level"};

inline constexpr Section spool_section{"in \"spool\"", "directory quota memory threshold", "", ""};

/// Each kind of mapping once, in its fullest form.
inline constexpr std::array all_sections{
    &top_section,       &site_section,         &route_section,      &pool_section,
    &endpoint_section,  &health_section,       &workers_section,    &recycle_section,
    &resources_section, &top_timeouts_section, &top_limits_section, &top_log_section,
    &spool_section};

}  // namespace portico::conf
