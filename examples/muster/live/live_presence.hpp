// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <muster/kube/health.hpp>

#include "../plan/report.hpp"
#include "live_connect.hpp"
#include "live_forks.hpp"

namespace cli {

/// Numbers of listed objects, by a plural noun such as "nodes".
using listed_counts = std::vector<std::pair<std::string, std::size_t>>;

/// How a scheduler or controller that runs for long shows itself: its status page, what it says
/// when it begins to lead, when all is listed and when something goes wrong, and its end.
class live_presence {
public:
    /// Nothing, with the reason said, when the page cannot be opened.
    [[nodiscard]] static std::optional<live_presence> open(const leading_request& asked);

    muster::kube::progress progress;

    /// Says what is new about it.
    void tell_lead(bool leads);
    void tell_synced(bool synced, const std::function<listed_counts()>& counts);
    void tell_troubles(std::vector<std::string> found) { wrong_.say_new(std::move(found)); }

    /// Returns why a group waits, by NAMESPACE/NAME, or nullopt if there is no such group.
    using explainer = std::function<std::optional<std::string>(const std::string& group)>;

    /// Answers requests to the status page. Serves /debug/explain only with an explainer, and only
    /// to clients on loopback, because its text names objects of all namespaces and each answer
    /// costs a search. The explainer is called in a forked copy of the process.
    void serve(std::int64_t now, const std::function<std::string()>& metrics,
               const explainer& explain = {});

    /// What ends the wait for the cluster's answers, besides these.
    [[nodiscard]] const std::vector<int>& handles() const noexcept { return handles_; }
    [[nodiscard]] std::int64_t longest_wait() const noexcept;

    /// The exit code once `of` has ended as it was told to, or was given its time for that.
    template<class Client>
    [[nodiscard]] std::optional<int> ended(Client& of, std::int64_t now) {
        if (told_to_stop() && !gives_up_) {
            gives_up_ = now + 15 * muster::kube::second;
            of.stop();
            log_info("stops");
        }
        if (gives_up_ && (of.stopped() || now >= *gives_up_))
            return of.stopped() ? fine : usage;
        return std::nullopt;
    }

private:
    live_presence() = default;

    std::optional<muster::kube::status_page> page_;
    forked_answers forked_;
    std::vector<int> handles_;
    complaints wrong_;
    std::optional<std::int64_t> gives_up_;
    bool led_ = false;
    bool was_synced_ = false;
};

} // namespace cli
