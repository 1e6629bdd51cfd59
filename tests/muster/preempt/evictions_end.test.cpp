// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <muster/cycle/cycle.hpp>
#include <muster/testing/random.hpp>
#include <support/environment.hpp>

#include "../builders.hpp"

namespace preempt_evictions_end_test {

using namespace builders;
using namespace muster;

enum class built_in : std::uint8_t {
    t9k,
    t9k_inside,
    priority,
    above_deserved,
    what_is_due,
    between_leaves,
    kueue_preemption,
};

/// One of the built-in rules, so that they share what is compiled.
struct some_rule {
    static constexpr bool none = false;
    static constexpr bool timeless = true;
    built_in which = built_in::t9k;

    std::optional<victim_terms> operator()(const gang_view& by, const gang_view& of,
                                           std::int64_t now) const noexcept {
        switch (which) {
        case built_in::t9k:
            return t9k_preemption{}(by, of, now);
        case built_in::t9k_inside:
            return t9k_preemption{true}(by, of, now);
        case built_in::priority:
            return priority_preemption{true}(by, of, now);
        case built_in::above_deserved:
            return reclaim_above_deserved{}(by, of, now);
        case built_in::what_is_due:
            return kai_reclaim<false>{}(by, of, now);
        case built_in::kueue_preemption:
            return kueue_preemption{}(by, of, now);
        case built_in::between_leaves:
            break;
        }
        return volcano_reclaim{}(by, of, now);
    }
    friend bool operator==(some_rule, some_rule) = default;
};

namespace {

struct preempting : policy<> {
    some_rule victims{};
};
struct by_what_is_due : policy<best_fit, priority_then_age, fair_share_first> {
    kai_reclaim<true> victims{};
};

/// A few queues and gangs on one or two nodes, whose pods come back as soon as they are evicted.
class restless {
public:
    restless(std::uint64_t seed, bool two_kinds, bool below_one) {
        testing::random chance(seed);
        const auto from = [&](std::int64_t least, std::int64_t most) {
            return chance.between(least, most);
        };
        const auto amounts = [&](std::int64_t least, std::int64_t most) {
            resources<cluster::width> made;
            made[kind_id{0}] = from(least, most);
            made[kind_id{1}] = two_kinds ? from(least, most) : 0;
            return made;
        };
        const std::int64_t nodes = from(1, 2);
        for (std::int64_t at = 0; at < nodes; ++at) {
            cluster::node_type spec;
            spec.allocatable = amounts(3, 8);
            ok(known_.upsert_node("n" + std::to_string(at), spec));
        }
        for (std::int64_t at = 0; at < 3; ++at) {
            cluster::queue_type spec;
            for (std::size_t kind = 0; kind < (two_kinds ? 2U : 1U); ++kind)
                spec.deserved.set(kind_id{kind}, from(0, 5));
            spec.weight = from(1, 3);
            spec.priority = from(0, 1);
            // All that a queue may say, for those who ask it, to which it must stand below another.
            spec.within_queue = preemption_scope::lower_or_newer_equal;
            spec.within_cohort = preemption_scope::any;
            spec.borrow_within_cohort = at;
            ok(known_.upsert_queue("q" + std::to_string(at), spec,
                                   below_one ? std::optional<std::string>("all") : std::nullopt));
        }
        if (below_one)
            ok(known_.upsert_queue("all", cluster::queue_type{}));
        const std::int64_t gangs = from(3, 5);
        for (std::int64_t at = 0; at < gangs; ++at) {
            member made;
            made.request = amounts(two_kinds ? 0 : 1, 3);
            made.request[kind_id{0}] = std::max<std::int64_t>(1, made.request[kind_id{0}]);
            made.count = from(1, 3);
            const std::string name = "g" + std::to_string(at);
            auto spec = gang_of(from(1, made.count), "q" + std::to_string(from(0, 2)));
            spec.priority = from(0, 2);
            spec.created = at;
            ok(known_.upsert_gang(name, spec));
            members_.emplace(name, made);
        }
    }

    /// One gang comes every second round; how many were evicted since `from`.
    template<class Policy>
    std::size_t evictions(const Policy& how, std::int64_t rounds, std::int64_t from) {
        std::size_t late = 0;
        for (std::int64_t now = 0; now < rounds; ++now) {
            auto next = members_.begin();
            std::advance(next, std::min<std::ptrdiff_t>(now / 2, std::ssize(members_) - 1));
            if (now % 2 == 0)
                come(next->first, next->second);
            for (int half = 0; half < 2; ++half) {
                const std::size_t gone = round(how, now);
                late += now >= from ? gone : 0;
            }
        }
        return late;
    }

private:
    struct member {
        resources<cluster::width> request;
        std::int64_t count = 0;
    };

    [[nodiscard]] static cluster::pod_type pod(const member& of, pod_phase phase) {
        cluster::pod_type made;
        made.request = of.request;
        made.phase = phase;
        return made;
    }

    void come(const std::string& gang, const member& of) {
        for (std::int64_t at = 0; at < of.count; ++at)
            if (const std::string key = gang + "-" + std::to_string(at); !known_.find_pod(key))
                ok(known_.upsert_pod(key, gang, pod(of, pod_phase::pending)));
    }

    template<class Policy>
    std::size_t round(const Policy& how, std::int64_t now) {
        std::vector<std::string> gone;
        std::map<std::string, std::string> bound;
        for (const decision& made : cycle(known_, now, how).decisions) {
            for (const pod_index each : made.evictions)
                gone.push_back(known_.key(each));
            for (const auto& [each, node] : made.placements)
                if (!made.nominated)
                    bound.emplace(known_.key(each), known_.key(node));
        }
        for (const auto& [key, node] : bound) {
            auto running = pod(members_.at(key.substr(0, 2)), pod_phase::running);
            running.started = now;
            ok(known_.upsert_pod(key, key.substr(0, 2), running, node));
        }
        for (const std::string& key : gone) {
            ok(known_.remove_pod(key));
            ok(known_.upsert_pod(key, key.substr(0, 2),
                                 pod(members_.at(key.substr(0, 2)), pod_phase::pending)));
        }
        return gone.size();
    }

    cluster known_;
    std::map<std::string, member> members_;
};

constexpr std::int64_t rounds = 60;
constexpr std::int64_t settled = 40;

template<class Policy>
std::size_t worlds_that_go_on(const Policy& how, bool below_one = false) {
    std::size_t found = 0;
    for (std::uint64_t seed = 0; seed < testing::part_of(300); ++seed)
        for (const bool two_kinds : {false, true})
            found +=
                restless(seed, two_kinds, below_one).evictions(how, rounds, settled) > 0 ? 1U : 0U;
    return found;
}

} // namespace

TEST_CASE("evictions come to an end though who is evicted comes back at once") {
    preempting how;
    for (const built_in rule :
         {built_in::t9k, built_in::t9k_inside, built_in::priority, built_in::above_deserved,
          built_in::what_is_due, built_in::between_leaves}) {
        CAPTURE(rule);
        how.victims = {rule};
        CHECK(worlds_that_go_on(how) == 0);
    }
    CHECK(worlds_that_go_on(by_what_is_due{}) == 0);
    how.victims = {built_in::kueue_preemption};
    CHECK(worlds_that_go_on(how, true) == 0);
}

} // namespace preempt_evictions_end_test
