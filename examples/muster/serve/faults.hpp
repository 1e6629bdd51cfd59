// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/testing/random.hpp>

namespace muster {
inline namespace v0_1 {
namespace testing {
namespace api_server {

/// Something that goes wrong with one request.
struct fault {
    enum class effect : std::uint8_t {
        delay,          ///< The request is taken up `milliseconds` later.
        lose_answer,    ///< The request is carried out, and its connection reset before an answer.
        refuse,         ///< `code`, with `retry_after` seconds if not 0; nothing is carried out.
        reset,          ///< The connection is reset; nothing is carried out.
        truncate,       ///< The request is carried out, and half of the answer's body sent.
        half_line,      ///< A watch is reset in the midst of its event number `events` + 1.
        end_watch,      ///< A watch ends well-behaved after `events` events.
        hold_watch,     ///< A watch says nothing for `milliseconds`.
        gone,           ///< 410 as an answer.
        gone_in_stream, ///< 410 as the first event of a watch.
        compact,        ///< The server forgets its history first, and goes on.
    };
    effect what = effect::reset;
    int code = 500;
    int retry_after = 0;
    std::int64_t milliseconds = 0;
    std::size_t events = 0;
};

/// Which requests a fault befalls. Empty words mean any.
struct fault_rule {
    /// get, list, watch, create, update, patch, delete, deletecollection
    std::string verb = {};
    /// With group and subresource: `pods/binding`, `leases.coordination.k8s.io`.
    std::string resource = {};
    std::string name = {};
    /// So many of them pass before.
    std::size_t skip = 0;
    /// So many are befallen; 0: all that follow.
    std::size_t times = 1;
    /// In a hundred, by the seed.
    std::int64_t percent = 100;
    fault befalls = {};
};

/// The plan of what goes wrong. The same rules, seed and requests make the same faults.
class faults {
public:
    explicit faults(std::uint64_t seed = 1) : chance_(seed) {}

    void plan(fault_rule rule) { rules_.push_back({std::move(rule), 0, 0}); }
    void clear() { rules_.clear(); }
    /// How many requests were befallen so far.
    [[nodiscard]] std::size_t met() const noexcept { return met_; }

    /// What befalls this request. The first rule that has one decides; every rule that the request
    /// matches has seen it.
    [[nodiscard]] std::optional<fault> meet(std::string_view verb, std::string_view resource,
                                            std::string_view name) {
        std::optional<fault> made;
        const auto matches = [](const std::string& wanted, std::string_view found) {
            return wanted.empty() || wanted == found;
        };
        for (planned& each : rules_) {
            const fault_rule& rule = each.rule;
            if (!matches(rule.verb, verb) || !matches(rule.resource, resource) ||
                !matches(rule.name, name))
                continue;
            if (each.seen++ < rule.skip || (rule.times > 0 && each.used >= rule.times) || made)
                continue;
            if (rule.percent < 100 && !chance_.percent(rule.percent))
                continue;
            ++each.used;
            made = rule.befalls;
        }
        met_ += made ? 1U : 0U;
        return made;
    }

private:
    struct planned {
        fault_rule rule;
        std::size_t seen = 0;
        std::size_t used = 0;
    };

    std::vector<planned> rules_;
    random chance_;
    std::size_t met_ = 0;
};

} // namespace api_server
} // namespace testing
} // namespace v0_1
} // namespace muster
