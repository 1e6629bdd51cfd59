// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <CLI/CLI.hpp>

#include "../live/live.hpp"
#include "../live/log_line.hpp"

namespace cli {

void add_log_format(CLI::App& to, log_format& format);

/// Adds the options that say which cluster to connect to, and how.
void add_live(CLI::App& to, live_request& asked);

void add_queue_namespace(CLI::App& to, live_request& asked);

/// Adds the options of commands that decide about a live cluster, with those of add_live().
void add_scheduling(CLI::App& to, live_request& asked);

/// Adds an option for a time in whole seconds, at most a day.
void add_seconds(CLI::App& to, const char* name, std::int64_t& seconds, const char* help);

/// Adds the options of commands that write to a cluster while they hold a Lease.
void add_leading(CLI::App& to, leading_request& asked);

} // namespace cli
