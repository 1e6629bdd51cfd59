// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/base/checked.hpp>
#include <muster/devices/numa_zones.hpp>

namespace muster {
inline namespace v0_1 {

enum class numa_outcome : std::uint8_t {
    /// The kubelet admits all pods, in whatever order they arrive.
    admitted,
    /// In some order of arrival the kubelet rejects a pod.
    rejected,
    /// The step budget ended before the answer was known.
    undecided,
};

struct numa_verdict {
    numa_outcome outcome = numa_outcome::admitted;
    /// See admit_to_zones().
    std::int64_t steps = 0;
};

/// Maximum number of zones of a node, and with the policy `restricted`, which searches sets of
/// zones.
inline constexpr std::size_t max_numa_zones = 64;
inline constexpr std::size_t max_restricted_zones = 16;

namespace detail {

/// Admits pods one after the other, as the kubelet does. See admit_to_zones().
class numa_admission {
public:
    /// A set of zones, by position.
    using zone_set = std::uint64_t;
    /// The free amounts, by resource and then by zone.
    using free_amounts = std::vector<std::int64_t>;

    struct amount {
        std::size_t resource = 0;
        std::int64_t value = 0;

        [[nodiscard]] friend bool operator==(const amount&, const amount&) = default;
    };
    /// Amounts that are aligned together: those of a container, or of a pod.
    struct request {
        std::vector<amount> amounts;
        /// The number of zones that they must come from; 0 if no set of zones is preferred.
        std::size_t zones = 1;

        [[nodiscard]] friend bool operator==(const request&, const request&) = default;
    };
    /// The requests of a pod that decide about its admission. Pods that the node cannot tell apart
    /// are equal.
    struct pod_requests {
        /// One after the other.
        std::vector<request> steps;
        /// With an ordinary init container: the amounts of the whole pod.
        std::optional<request> together;

        [[nodiscard]] friend bool operator==(const pod_requests&, const pod_requests&) = default;
    };

    /// Considers the resources that the pods request and that some zone lists. The zones must
    /// outlive this object.
    numa_admission(const numa_zones& of, std::span<const numa_demand* const> pods,
                   std::int64_t max_steps)
        : of_(&of), zones_(of.zones.size()), max_steps_(max_steps) {
        std::set<std::string_view> asked;
        for (const numa_demand* const pod : pods)
            for (const auto& each : pod->together)
                asked.insert(each.first);
        // Memory across zones depends on all kinds of memory.
        const bool all_memory = of.policy == numa_policy::restricted &&
                                std::any_of(asked.begin(), asked.end(), is_numa_memory);
        std::set<std::string_view> listed;
        for (const numa_zone& zone : of.zones)
            for (const auto& each : zone.supplies)
                if (asked.contains(each.first) || (all_memory && is_numa_memory(each.first)))
                    listed.insert(each.first);
        resources_.assign(listed.begin(), listed.end());
        for (const std::string_view resource : resources_)
            for (const numa_zone& zone : of.zones) {
                const auto found = zone.supplies.find(resource);
                supplies_.push_back(found == zone.supplies.end() ? numa_supply{} : found->second);
            }
    }

    [[nodiscard]] free_amounts free() const {
        free_amounts made;
        for (const numa_supply& each : supplies_)
            made.push_back(each.available);
        return made;
    }
    [[nodiscard]] std::int64_t steps() const noexcept { return steps_; }
    [[nodiscard]] bool is_over() const noexcept { return steps_ > max_steps_; }
    /// Counts the handling of a state of this many numbers as steps.
    void charge(std::size_t numbers) noexcept { steps_ += static_cast<std::int64_t>(numbers / 8); }

    /// Returns what the pod requests of the listed resources. It has no steps if that is nothing.
    [[nodiscard]] pod_requests requests_of(const numa_demand& pod) {
        pod_requests made;
        const auto add = [&](const numa_amounts& amounts) {
            if (request asked = request_of(amounts); !asked.amounts.empty())
                made.steps.push_back(std::move(asked));
        };
        if (of_->scope == numa_scope::pod)
            add(pod.together);
        else
            for (const numa_amounts& each : pod.containers)
                add(each);
        if (of_->scope == numa_scope::container && pod.has_init && !made.steps.empty())
            made.together = request_of(pod.together);
        return made;
    }

    /// True if the zones have so much that the pods are admitted in every order, whichever zones
    /// each of them gets: when any of them arrives, all others cannot have filled every zone. False
    /// if this is unknown. If it is true for pods, it is for fewer of them. O(requests × resources
    /// × zones · log zones).
    [[nodiscard]] bool has_plenty(std::span<const pod_requests> kinds,
                                  std::span<const std::int64_t> counts) const {
        std::vector<std::int64_t> sums(resources_.size());
        bool is_tied = false;
        for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
            const pod_requests& pod = kinds[kind];
            is_tied = is_tied || pod.together;
            const auto add = [&](const request& asked) {
                for (const amount& each : asked.amounts)
                    sums[each.resource] = saturating_add(
                        sums[each.resource], saturating_multiply(each.value, counts[kind]));
            };
            if (pod.together)
                add(*pod.together);
            for (const request& each : pod.steps) {
                if (each.zones != 1)
                    return false;
                if (!pod.together)
                    add(each);
            }
        }
        constexpr auto most = std::numeric_limits<std::int64_t>::max();
        if (std::find(sums.begin(), sums.end(), most) != sums.end())
            return false;
        // All containers of a pod with an init container must choose one zone: the first.
        if (is_tied) {
            for (std::size_t resource = 0; resource < resources_.size(); ++resource)
                if (sums[resource] > 0 && supply(resource, 0).available < sums[resource])
                    return false;
            return true;
        }
        return std::all_of(kinds.begin(), kinds.end(), [&](const pod_requests& pod) {
            return std::all_of(pod.steps.begin(), pod.steps.end(),
                               [&](const request& each) { return always_fits(each, sums); });
        });
    }

    /// Returns the free amounts after the pod is admitted; nullopt if the kubelet rejects it, or if
    /// the step budget ends.
    [[nodiscard]] std::optional<free_amounts> admit(const pod_requests& pod, free_amounts free) {
        if (pod.together)
            return align_to_same(pod, free) ? std::optional(std::move(free)) : std::nullopt;
        for (const request& each : pod.steps) {
            const std::optional<zone_set> chosen = choose(each, free);
            if (!chosen)
                return std::nullopt;
            take(each, free, *chosen);
        }
        return free;
    }

private:
    /// Returns the amounts of resources that some zone lists: others are not aligned.
    [[nodiscard]] request request_of(const numa_amounts& amounts) {
        request made;
        for (const auto& [resource, value] : amounts)
            if (const auto at = std::lower_bound(resources_.begin(), resources_.end(), resource);
                at != resources_.end() && *at == resource && value > 0)
                made.amounts.push_back({static_cast<std::size_t>(at - resources_.begin()), value});
        if (of_->policy == numa_policy::restricted)
            made.zones = common_minimum(made.amounts);
        return made;
    }

    /// True if the other pods cannot fill so many zones that none has room for this request. A
    /// resource fills a zone if less than the request is left of it there. All pods together
    /// request `sums`.
    [[nodiscard]] bool always_fits(const request& asked,
                                   const std::vector<std::int64_t>& sums) const {
        std::vector<std::size_t> fitting;
        for (std::size_t zone = 0; zone < zones_; ++zone)
            if (std::all_of(asked.amounts.begin(), asked.amounts.end(), [&](const amount& each) {
                    return supply(each.resource, zone).available >= each.value;
                }))
                fitting.push_back(zone);
        std::vector<char> can_fill(zones_);
        std::size_t filled = 0;
        for (const amount& each : asked.amounts) {
            std::int64_t others = sums[each.resource] - each.value;
            std::vector<std::int64_t> costs;
            for (const std::size_t zone : fitting) {
                // More than `spare` fills the zone.
                const std::int64_t spare = supply(each.resource, zone).available - each.value;
                if (spare < others) {
                    can_fill[zone] = 1;
                    costs.push_back(spare + 1);
                }
            }
            std::sort(costs.begin(), costs.end());
            for (const std::int64_t cost : costs)
                if (cost <= others) {
                    others -= cost;
                    ++filled;
                }
        }
        return filled < fitting.size() ||
               std::any_of(fitting.begin(), fitting.end(),
                           [&](std::size_t zone) { return can_fill[zone] == 0; });
    }

    /// A container that follows an ordinary init container reuses the amounts of that one in the
    /// zones that both have. It is sufficient that all containers choose the same zones, and that
    /// these have enough for all of them.
    [[nodiscard]] bool align_to_same(const pod_requests& pod, free_amounts& free) {
        std::optional<zone_set> common;
        for (const request& each : pod.steps) {
            const std::optional<zone_set> chosen = choose(each, free);
            if (!chosen || (common && common != chosen))
                return false;
            common = chosen;
        }
        if (!common || !fits(*pod.together, free, *common))
            return false;
        take(*pod.together, free, *common);
        return true;
    }

    /// Returns the zones that the kubelet chooses: of the fewest zones, the set with the smallest
    /// bit mask; nullopt if the kubelet rejects.
    [[nodiscard]] std::optional<zone_set> choose(const request& asked, const free_amounts& free) {
        if (asked.zones == 0)
            return std::nullopt;
        return first_set(asked.zones, [&](zone_set zones) { return fits(asked, free, zones); });
    }

    /// Returns the first set of `count` zones that meets the condition.
    template<class Condition>
    [[nodiscard]] std::optional<zone_set> first_set(std::size_t count, const Condition& meets) {
        if (count == 1) {
            for (std::size_t zone = 0; zone < zones_ && ++steps_ <= max_steps_; ++zone)
                if (meets(zone_set{1} << zone))
                    return zone_set{1} << zone;
            return std::nullopt;
        }
        const zone_set end = zone_set{1} << zones_;
        for (zone_set zones = 1; zones < end && ++steps_ <= max_steps_; ++zones)
            if (static_cast<std::size_t>(std::popcount(zones)) == count && meets(zones))
                return zones;
        return std::nullopt;
    }

    /// Returns the number of zones that every resource needs at least on this machine; 0 if the
    /// numbers differ, as then no set of zones is preferred for all resources.
    [[nodiscard]] std::size_t common_minimum(const std::vector<amount>& asked) {
        std::size_t common = 0;
        const auto agrees = [&](std::size_t count) {
            const bool same = common == 0 || common == count;
            common = count;
            return same;
        };
        std::vector<amount> memory;
        for (const amount& each : asked) {
            if (is_numa_memory(resources_[each.resource]))
                memory.push_back(each);
            else if (!agrees(minimum_of(each)))
                return 0;
        }
        return memory.empty() || agrees(minimum_of(memory)) ? common : 0;
    }
    /// By capacity, so that zones with much of it count first.
    [[nodiscard]] std::size_t minimum_of(const amount& asked) const {
        std::vector<std::int64_t> capacities;
        for (std::size_t zone = 0; zone < zones_; ++zone)
            capacities.push_back(supply(asked.resource, zone).capacity);
        std::sort(capacities.begin(), capacities.end(), std::greater<>());
        std::int64_t sum = 0;
        for (std::size_t count = 0; count < zones_; ++count) {
            sum = saturating_add(sum, capacities[count]);
            if (sum >= asked.value)
                return count + 1;
        }
        return zones_;
    }
    /// Of the Memory Manager: by what is allocatable of all kinds of memory in the same zones.
    [[nodiscard]] std::size_t minimum_of(const std::vector<amount>& memory) {
        const auto holds = [&](zone_set zones) {
            return std::all_of(memory.begin(), memory.end(), [&](const amount& each) {
                std::int64_t sum = 0;
                for (std::size_t zone = 0; zone < zones_; ++zone)
                    if (has(zones, zone))
                        sum = saturating_add(sum, supply(each.resource, zone).allocatable);
                return sum >= each.value;
            });
        };
        for (std::size_t count = 1; count < zones_; ++count)
            if (first_set(count, holds))
                return count;
        return zones_;
    }

    [[nodiscard]] bool fits(const request& asked, const free_amounts& free, zone_set zones) const {
        for (const amount& each : asked.amounts) {
            std::int64_t sum = 0;
            for (std::size_t zone = 0; zone < zones_; ++zone)
                if (has(zones, zone))
                    sum = saturating_add(sum, free[each.resource * zones_ + zone]);
            if (sum < each.value)
                return false;
        }
        return std::has_single_bit(zones) || !takes_memory(asked) ||
               is_memory_untouched(free, zones);
    }
    /// Memory is allocated across zones only if none of it is allocated there.
    [[nodiscard]] bool is_memory_untouched(const free_amounts& free, zone_set zones) const {
        for (std::size_t resource = 0; resource < resources_.size(); ++resource)
            for (std::size_t zone = 0; zone < zones_; ++zone)
                if (is_numa_memory(resources_[resource]) && has(zones, zone) &&
                    free[resource * zones_ + zone] < supply(resource, zone).allocatable)
                    return false;
        return true;
    }

    /// It is unknown how the kubelet divides an amount among several zones, so each of them counts
    /// as giving all of it, and gives no more memory.
    void take(const request& asked, free_amounts& free, zone_set zones) const {
        for (const amount& each : asked.amounts)
            for (std::size_t zone = 0; zone < zones_; ++zone) {
                std::int64_t& left = free[each.resource * zones_ + zone];
                if (has(zones, zone))
                    left -= std::min(left, each.value);
            }
        if (zones == 0 || std::has_single_bit(zones) || !takes_memory(asked))
            return;
        for (std::size_t resource = 0; resource < resources_.size(); ++resource)
            for (std::size_t zone = 0; zone < zones_; ++zone)
                if (is_numa_memory(resources_[resource]) && has(zones, zone))
                    free[resource * zones_ + zone] = 0;
    }
    [[nodiscard]] bool takes_memory(const request& asked) const {
        return std::any_of(asked.amounts.begin(), asked.amounts.end(), [&](const amount& each) {
            return is_numa_memory(resources_[each.resource]);
        });
    }

    [[nodiscard]] static bool has(zone_set zones, std::size_t zone) noexcept {
        return ((zones >> zone) & 1U) != 0;
    }
    [[nodiscard]] const numa_supply& supply(std::size_t resource, std::size_t zone) const {
        return supplies_[resource * zones_ + zone];
    }

    const numa_zones* of_;
    std::size_t zones_;
    std::vector<std::string_view> resources_;
    std::vector<numa_supply> supplies_;
    std::int64_t max_steps_;
    std::int64_t steps_ = 0;
};

} // namespace detail

/// Predicts whether the kubelet of a node admits all these pods, in whatever order they arrive; the
/// same demand may occur several times. The kubelet does not look ahead: every container, or every
/// pod with the scope `pod`, gets the first zones that have room, which can leave no zone for a
/// later pod. So it is not enough that some division of the zones fits. If a set of pods is
/// admitted, every subset of it is.
///
/// The prediction follows the kubelet of Kubernetes without policy options
/// (pkg/kubelet/cm/topologymanager, cpumanager, devicemanager, memorymanager), from the available
/// amounts of the zones:
/// - `single_numa_node`: all amounts of one container or pod come from one zone: the zone with the
///   lowest number that has enough.
/// - `restricted`: all amounts come from the same set of zones. A resource needs the smallest
///   number of zones whose capacity is enough (for memory and huge pages together: whose
///   allocatable amounts are). The set has exactly this number of zones. If two resources need
///   different numbers, every such node rejects the pod. The set with the smallest bit mask is
///   chosen.
/// - A resource that no zone of the node lists is not aligned, for example a resource of a device
///   plugin that reports no NUMA nodes.
///
/// Not predicted exactly; in doubt the answer is `rejected`:
/// - How amounts from several zones are divided: each of the zones counts as giving all of it, so
///   none of it is left there.
/// - Memory comes from several zones only if no memory of these is in use, and then they give no
///   more memory. (The kubelet also accepts zones of which the same set is in use.)
/// - With the scope `container`, a pod with ordinary init containers is admitted only if all its
///   containers choose the same zones.
///
/// Not predicted, so that the kubelet can still reject:
/// - Pods of other schedulers that arrive earlier, and pods that end earlier: with more room than
///   is counted here, the kubelet may choose another zone.
/// - How much really stays in zones that gave amounts together (`restricted`, three or more zones):
///   the kubelet can choose one of them for a later pod, where another zone is counted here.
/// - Memory in use across zones (`restricted`): single zones of these count as usable.
/// - Policy options by which the kubelet chooses other zones (`prefer-closest-numa-nodes` with
///   `restricted`, the alpha allocation strategies) or rejects for other reasons
///   (`full-pcpus-only`: SMTAlignmentError), and `align-by-socket`.
/// - Devices that are attached to several NUMA nodes.
///
/// Each set of zones that is tried is one step, and every eight numbers of a state of the zones are
/// one. Where the zones have plenty for all pods, no step is needed. If pods are admitted within
/// the steps, every subset of them is. Precondition: at most max_numa_zones zones, and
/// max_restricted_zones if the policy is `restricted`. O(steps × resources × zones), and memory for
/// up to `max_steps` states, which are the requested amounts of each zone.
[[nodiscard]] inline numa_verdict admit_to_zones(const numa_zones& zones,
                                                 std::span<const numa_demand* const> pods,
                                                 std::int64_t max_steps) {
    // Most pods refer to few demands.
    std::vector<const numa_demand*> demands;
    std::vector<std::int64_t> users;
    for (const numa_demand* const pod : pods) {
        if (zones.closed && !pod->empty())
            return {numa_outcome::rejected, 0};
        const auto known = std::find(demands.begin(), demands.end(), pod);
        if (known == demands.end()) {
            demands.push_back(pod);
            users.push_back(1);
        } else {
            ++users[static_cast<std::size_t>(known - demands.begin())];
        }
    }
    detail::numa_admission on(zones, demands, max_steps);
    std::vector<detail::numa_admission::pod_requests> kinds;
    std::vector<std::int64_t> counts;
    for (std::size_t at = 0; at < demands.size(); ++at) {
        auto asked = on.requests_of(*demands[at]);
        if (asked.steps.empty())
            continue;
        const auto known = std::find(kinds.begin(), kinds.end(), asked);
        if (known == kinds.end()) {
            kinds.push_back(std::move(asked));
            counts.push_back(users[at]);
        } else {
            counts[static_cast<std::size_t>(known - kinds.begin())] += users[at];
        }
    }
    if (on.is_over())
        return {numa_outcome::undecided, on.steps()};
    if (on.has_plenty(kinds, counts))
        return {numa_outcome::admitted, on.steps()};
    // The pods to come by kind, and then what is free. What is free decides all that follows.
    std::vector<std::int64_t> first = counts;
    const auto free = on.free();
    first.insert(first.end(), free.begin(), free.end());
    std::set<std::vector<std::int64_t>> seen{first};
    std::vector<std::vector<std::int64_t>> open{std::move(first)};
    const auto kinds_end = static_cast<std::ptrdiff_t>(kinds.size());
    while (!open.empty()) {
        const std::vector<std::int64_t> state = std::move(open.back());
        open.pop_back();
        for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
            if (state[kind] == 0)
                continue;
            on.charge(state.size());
            const auto left = on.admit(kinds[kind], {state.begin() + kinds_end, state.end()});
            if (on.is_over())
                return {numa_outcome::undecided, on.steps()};
            if (!left)
                return {numa_outcome::rejected, on.steps()};
            std::vector<std::int64_t> next(state.begin(), state.begin() + kinds_end);
            --next[kind];
            next.insert(next.end(), left->begin(), left->end());
            if (seen.insert(next).second)
                open.push_back(std::move(next));
        }
    }
    return {numa_outcome::admitted, on.steps()};
}

} // namespace v0_1
} // namespace muster
