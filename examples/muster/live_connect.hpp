// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include <muster/kube/transport.hpp>

#include "live.hpp"

namespace cli {

/// The way to the cluster that is asked for; says on stderr why there is none.
[[nodiscard]] std::unique_ptr<muster::kube::transport> connect(const live_request& asked);

/// One line on stderr.
void say(const std::string& line);

/// True once SIGINT or SIGTERM has come; the first call begins to listen for them.
[[nodiscard]] bool told_to_stop();

} // namespace cli
