// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <muster/kube/lease.hpp>
#include <muster/kube/transport.hpp>

#include "live.hpp"
#include "log.hpp"

namespace cli {

/// Connects to the requested cluster. On failure logs the reason and returns nullptr.
[[nodiscard]] std::unique_ptr<muster::kube::transport> connect(const live_request& asked);

/// Logs faults as warnings: each fault once, and again if it was gone in between.
class complaints {
public:
    void say_new(std::vector<std::string> found);

private:
    std::vector<std::string> said_;
};

/// That the first listing takes too long.
void say_not_listed();

/// Returns an identity for this process that no other process and no earlier start has.
[[nodiscard]] std::string own_identity();

/// How it is to be elected; nothing when it leads without asking.
[[nodiscard]] std::optional<muster::kube::lease_options>
election_of(const leading_request& asked, const std::string& identity, std::uint64_t seed);

/// True once SIGINT or SIGTERM has come; the first call begins to listen for them.
[[nodiscard]] bool told_to_stop();

} // namespace cli
