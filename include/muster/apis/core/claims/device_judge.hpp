// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <boost/container_hash/hash.hpp>

#include <muster/apis/shares/share_demand.hpp>
#include <muster/apis/shares/shared_gpu_view.hpp>
#include <muster/devices/device_allocator.hpp>
#include <muster/devices/numa_admission.hpp>
#include <muster/devices/numa_zones.hpp>
#include <muster/vocabulary/device_rule.hpp>
#include <muster/vocabulary/gpu_reader.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// The object of a state's device_rule: decides which demands the devices of a node can satisfy
/// together. A demand is the claims of a pod without an allocation, or the devices that a pod
/// holds, or the shares of GPUs that it requests or holds, or what it requests that the kubelet
/// aligns to NUMA zones. Equal demands, and nodes with equal devices, have equal numbers for the
/// lifetime of the judge. A claim that several pods share is allocated once on a node, for any
/// number of demands with it.
///
/// Answers are cached, without a limit (see size()). An allocation that needs more than `max_steps`
/// counts as impossible, so the room of a node can be underestimated.
class device_judge {
public:
    static constexpr std::int64_t max_steps = 100'000;

    /// The devices of a node, in an order that is the same for all nodes of a kind.
    struct node_view {
        /// Copies of the slices, as the node sees them.
        std::vector<device_slice> slices;
        /// By slice; `slice` is not read.
        std::vector<slice_view> views;
        std::vector<device_id> devices;
        /// Positions in `devices` of those that are used by something else than a pod with a
        /// demand.
        std::vector<std::size_t> used;
        /// By position in `devices`: what is consumed of devices that several claims share, except
        /// by pods with demands.
        std::map<std::size_t, std::map<std::string, quantity>> consumed;
    };

    /// Claims that several pods share, by name. Each name stands for one claim.
    using shared_claims = std::map<std::string, device_claim>;

    explicit device_judge(device_classes classes) : classes_(std::move(classes)) {}

    /// Returns the number of a pod's claims: those of its own, and those that it shares. `text`
    /// must be equal only for equal claims, and shared claims with one name must be equal. O(text ×
    /// log demands).
    [[nodiscard]] device_demand asking(const std::string& text, std::vector<device_claim> claims,
                                       shared_claims shared = {}) {
        const auto [at, is_new] = asking_.try_emplace(text, device_demand{});
        if (is_new)
            at->second = add({std::move(claims), std::move(shared), {}, {}, {}});
        return at->second;
    }
    /// Returns the number of a demand that holds these devices of its node, by position in
    /// `node_view::devices`.
    [[nodiscard]] device_demand holding(const std::vector<std::size_t>& positions) {
        const auto [at, is_new] = holding_.try_emplace(positions, device_demand{});
        if (is_new)
            at->second = add({{}, {}, positions, {}, {}});
        return at->second;
    }
    /// Returns the number of the demand `claims` with a demand for shared GPUs added. `text` must
    /// be equal only for equal `shares`.
    [[nodiscard]] device_demand with_shares(device_demand claims, const std::string& text,
                                            share_demand shares) {
        const auto [at, is_new] = with_shares_.try_emplace({claims, text}, device_demand{});
        if (is_new) {
            demand_record made = claims == device_demand::none ? demand_record{} : record(claims);
            made.shares = std::move(shares);
            at->second = add(std::move(made));
        }
        return at->second;
    }
    /// Returns the number of a node's devices with shared GPUs added. `text` must be equal only for
    /// shared GPUs that are equal for all demands. shares_of() returns the GPUs of the first node
    /// with this number, so ids can be those of another node.
    [[nodiscard]] device_stock with_shares(device_stock devices, const std::string& text,
                                           share_stock shares) {
        const auto [at, is_new] = stocks_with_shares_.try_emplace({devices, text}, device_stock{});
        if (is_new) {
            stocks_.push_back(std::make_unique<stock_record>(
                devices == device_stock::none ? node_view{} : on(devices).of));
            stocks_.back()->shares = std::move(shares);
            at->second = device_stock{static_cast<std::uint32_t>(stocks_.size())};
        }
        return at->second;
    }
    /// Returns the number of the demand `before` with requests added that the kubelet aligns to
    /// NUMA zones. `text` must be equal only for equal `aligned`. O(text × log demands).
    [[nodiscard]] device_demand with_zones(device_demand before, const std::string& text,
                                           numa_demand aligned) {
        const auto [at, is_new] = with_zones_.try_emplace({before, text}, device_demand{});
        if (is_new) {
            demand_record made = before == device_demand::none ? demand_record{} : record(before);
            made.aligned = std::move(aligned);
            at->second = add(std::move(made));
        }
        return at->second;
    }
    /// Returns the number of the devices `before` of a node with NUMA zones added. `text` must be
    /// equal only for zones that give equal answers for all demands. O(text × log stocks).
    [[nodiscard]] device_stock with_zones(device_stock before, const std::string& text,
                                          numa_zones zones) {
        const auto [at, is_new] = stocks_with_zones_.try_emplace({before, text}, device_stock{});
        if (is_new) {
            const bool is_first = before == device_stock::none;
            stocks_.push_back(
                std::make_unique<stock_record>(is_first ? node_view{} : on(before).of));
            if (!is_first)
                stocks_.back()->shares = on(before).shares;
            stocks_.back()->zones = std::move(zones);
            at->second = device_stock{static_cast<std::uint32_t>(stocks_.size())};
        }
        return at->second;
    }
    /// Returns what a demand aligns to NUMA zones, or the zones of a node; nullptr if there are
    /// none. Precondition of demands: the number is not `none`. O(1).
    [[nodiscard]] const numa_demand* aligned_of(device_demand of) const {
        const numa_demand& aligned = record(of).aligned;
        return aligned.empty() ? nullptr : &aligned;
    }
    [[nodiscard]] const numa_zones* zones_of(device_stock of) const {
        return of == device_stock::none || !on(of).zones ? nullptr : &*on(of).zones;
    }
    /// True if the demand is for room in NUMA zones and for nothing else. Precondition: the number
    /// is not `none`. O(1).
    [[nodiscard]] bool only_aligns(device_demand of) const {
        const demand_record& asked = record(of);
        return aligned_of(of) && asked.claims.empty() && asked.shared.empty() &&
               asked.positions.empty() && asked.shares.empty();
    }
    /// Returns the claims of a demand, its own and those that it shares. Precondition: the number
    /// is not `none`. O(claims).
    [[nodiscard]] std::vector<const device_claim*> claims_of(device_demand of) const {
        std::vector<const device_claim*> found;
        for (const device_claim& each : record(of).claims)
            found.push_back(&each);
        for (const auto& [name, each] : record(of).shared)
            found.push_back(&each);
        return found;
    }
    /// Returns the shared GPUs of a node, or the demand for shared GPUs of a pod. Nothing is shared
    /// or demanded if the number is `none`. O(1).
    [[nodiscard]] const share_stock& shares_of(device_stock of) const {
        return of == device_stock::none ? no_stock_ : on(of).shares;
    }
    [[nodiscard]] const share_demand& shares_of(device_demand of) const {
        return of == device_demand::none ? no_demand_ : record(of).shares;
    }
    /// Returns the number of a node's devices. `kind` must be equal only for nodes of which the
    /// devices, and their use by pods without demands, are equal for all demands. `view()` returns
    /// the devices; it is called for the first node of a kind.
    template<class View>
    [[nodiscard]] device_stock stock(const std::string& kind, const View& view) {
        const auto [at, is_new] = stocks_by_kind_.try_emplace(kind, device_stock{});
        if (is_new) {
            stocks_.push_back(std::make_unique<stock_record>(view()));
            at->second = device_stock{static_cast<std::uint32_t>(stocks_.size())};
        }
        return at->second;
    }

    /// See device_rule. An answer that is not cached takes O(log most) allocations, each of up to
    /// `max_steps` steps for claims, for shares and for NUMA zones.
    [[nodiscard]] std::int64_t room(device_stock has, std::span<const device_demand> held,
                                    device_demand more, std::int64_t most,
                                    device_state& state) const {
        if (more == device_demand::none)
            return 0;
        // A node without zones aligns nothing.
        if (has == device_stock::none)
            return only_aligns(more) ? most : 0;
        if (state == device_state::unknown)
            state = number_of(has, held);
        answer& known = answer_for(state, more);
        if (most <= known.fitting)
            return most;
        // Doubles the number of pods until they do not fit, then bisects.
        while (known.fitting < most && known.too_many - known.fitting > 1) {
            const std::int64_t next =
                known.too_many == unknown
                    ? std::min(most, std::max<std::int64_t>(1, known.fitting * 2))
                    : known.fitting + (std::min(known.too_many, most + 1) - known.fitting) / 2;
            (can_serve(has, held, more, next) ? known.fitting : known.too_many) = next;
        }
        return std::min(known.fitting, most);
    }

    [[nodiscard]] std::int64_t room(device_stock has, std::span<const device_demand> held,
                                    device_demand more, std::int64_t most) const {
        device_state state = device_state::unknown;
        return room(has, held, more, most, state);
    }

    /// See gpu_reader. O(GPUs + demands) plus one allocate_on() of up to `max_steps` steps.
    [[nodiscard]] std::size_t gpus_left(device_stock has, std::span<const device_demand> held,
                                        std::span<std::int32_t> milli) const {
        if (!is_known(has) || !on(has).shares.system)
            return 0;
        const share_stock& of = on(has).shares;
        std::vector<const share_demand*> pods;
        for (const device_demand one : held)
            if (is_known(one))
                pods.push_back(&record(one).shares);
        const std::vector<std::int64_t> left = gpu_milli_left(of, pods, max_steps);
        const std::size_t count = std::min(left.size(), milli.size());
        for (std::size_t at = 0; at < count; ++at)
            milli[at] = static_cast<std::int32_t>(left[at]);
        return count;
    }
    /// See gpu_reader. O(requests × GPUs); if `has` is `none`, for each kind of node.
    [[nodiscard]] gpu_part part(device_stock has, device_demand more) const {
        if (!is_known(has) || !is_known(more))
            return {};
        return gpu_part_of(on(has).shares, record(more).shares);
    }

    /// Number of demands, of devices of nodes, and of cached answers.
    [[nodiscard]] std::size_t size() const noexcept {
        return answers_ + stocks_.size() + demands_.size();
    }

private:
    /// False for `none` and for numbers of a later judge: a score can be older than the state.
    [[nodiscard]] bool is_known(device_stock of) const noexcept {
        return of != device_stock::none && static_cast<std::size_t>(of) <= stocks_.size();
    }
    [[nodiscard]] bool is_known(device_demand of) const noexcept {
        return of != device_demand::none && static_cast<std::size_t>(of) <= demands_.size();
    }

    static constexpr std::int64_t unknown = std::numeric_limits<std::int64_t>::max();

    struct demand_record {
        std::vector<device_claim> claims;
        shared_claims shared;
        std::vector<std::size_t> positions;
        share_demand shares;
        numa_demand aligned;
    };
    struct stock_record {
        explicit stock_record(node_view from) : of(std::move(from)) {
            for (std::size_t at = 0; at < of.views.size(); ++at)
                of.views[at].slice = &of.slices[at];
            pools = gather_pools(of.views, {});
            for (const std::size_t at : of.used)
                usage.whole.insert(of.devices[at]);
            for (const auto& [at, amounts] : of.consumed)
                usage.shared.emplace(of.devices[at], amounts);
        }
        stock_record(stock_record&&) = delete;
        stock_record& operator=(stock_record&&) = delete;
        ~stock_record() = default;

        node_view of;
        std::vector<device_pool> pools;
        device_usage usage;
        share_stock shares;
        /// Absent: the kubelet of the node rejects no pod that it cannot align.
        std::optional<numa_zones> zones;
    };
    struct answer {
        device_demand more = device_demand::none;
        std::int64_t fitting = 0;
        std::int64_t too_many = unknown;
    };
    /// The devices of a node, and the demands held there.
    struct state_key {
        device_stock has = device_stock::none;
        std::vector<device_demand> held;

        [[nodiscard]] bool is(device_stock stock,
                              std::span<const device_demand> demands) const noexcept {
            return has == stock &&
                   std::equal(held.begin(), held.end(), demands.begin(), demands.end());
        }
    };

    struct state_record {
        state_key key;
        /// Sorted by `more`.
        std::vector<answer> answers;
    };

    [[nodiscard]] device_state number_of(device_stock has,
                                         std::span<const device_demand> held) const {
        auto hash = static_cast<std::size_t>(has);
        for (const device_demand one : held)
            boost::hash_combine(hash, static_cast<std::uint32_t>(one));
        const auto [first, last] = states_.equal_range(hash);
        for (auto at = first; at != last; ++at)
            if (by_state_[static_cast<std::size_t>(at->second) - 1].key.is(has, held))
                return at->second;
        by_state_.push_back({{has, {held.begin(), held.end()}}, {}});
        const device_state made{static_cast<std::uint32_t>(by_state_.size())};
        states_.emplace(hash, made);
        return made;
    }
    /// Returns the cached answer, or adds one. O(log answers); O(answers of the state) if added.
    [[nodiscard]] answer& answer_for(device_state state, device_demand more) const {
        std::vector<answer>& all = by_state_[static_cast<std::size_t>(state) - 1].answers;
        const auto at =
            std::lower_bound(all.begin(), all.end(), more,
                             [](const answer& each, device_demand of) { return each.more < of; });
        if (at != all.end() && at->more == more)
            return *at;
        ++answers_;
        return *all.insert(at, answer{more, 0, unknown});
    }

    device_demand add(demand_record made) {
        demands_.push_back(std::move(made));
        return device_demand{static_cast<std::uint32_t>(demands_.size())};
    }
    [[nodiscard]] const demand_record& record(device_demand of) const {
        return demands_[static_cast<std::size_t>(of) - 1];
    }

    [[nodiscard]] const stock_record& on(device_stock of) const {
        return *stocks_[static_cast<std::size_t>(of) - 1];
    }

    [[nodiscard]] bool can_serve(device_stock has, std::span<const device_demand> held,
                                 device_demand more, std::int64_t count) const {
        return has_zones(on(has), held, more, count) && has_devices(on(has), held, more, count) &&
               has_shares(on(has), held, more, count);
    }

    [[nodiscard]] bool has_zones(const stock_record& has, std::span<const device_demand> held,
                                 device_demand more, std::int64_t count) const {
        // A pod that needs no zone is admitted, whatever is predicted for the pods on the node.
        if (!has.zones || !aligns(*has.zones, record(more).aligned))
            return true;
        std::vector<const numa_demand*> pods;
        for (const device_demand one : held)
            pods.push_back(&record(one).aligned);
        pods.insert(pods.end(), static_cast<std::size_t>(count), &record(more).aligned);
        return admit_to_zones(*has.zones, pods, max_steps).outcome == numa_outcome::admitted;
    }

    [[nodiscard]] bool has_shares(const stock_record& has, std::span<const device_demand> held,
                                  device_demand more, std::int64_t count) const {
        if (record(more).shares.empty())
            return true;
        std::vector<const share_demand*> pods;
        for (const device_demand one : held)
            pods.push_back(&record(one).shares);
        pods.insert(pods.end(), static_cast<std::size_t>(count), &record(more).shares);
        const auto is_suited = [&](const share_demand* each) { return suits(has.shares, *each); };
        if (!std::all_of(pods.begin(), pods.end(), is_suited))
            return false;
        return allocate_on(has.shares, pods, max_steps).outcome == share_outcome::allocated;
    }

    [[nodiscard]] bool has_devices(const stock_record& has, std::span<const device_demand> held,
                                   device_demand more, std::int64_t count) const {
        // What the devices lack for others is nothing that this demand needs.
        if (const demand_record& of = record(more);
            of.claims.empty() && of.shared.empty() && of.positions.empty())
            return true;
        device_usage usage = has.usage;
        std::vector<device_claim> claims;
        std::set<std::string_view> shared;
        bool is_free = true;
        const auto put = [&](device_demand one) {
            const demand_record& of = record(one);
            claims.insert(claims.end(), of.claims.begin(), of.claims.end());
            for (const auto& [name, claim] : of.shared)
                if (shared.insert(name).second)
                    claims.push_back(claim);
            for (const std::size_t at : of.positions)
                is_free = is_free && at < has.of.devices.size() &&
                          usage.whole.insert(has.of.devices[at]).second;
        };
        for (const device_demand one : held)
            put(one);
        for (std::int64_t each = 0; each < count; ++each)
            put(more);
        if (!is_free || claims.empty())
            return is_free;
        return allocate_devices(has.pools, usage, classes_, claims, {}, max_steps).outcome ==
               device_outcome::allocated;
    }

    device_classes classes_;
    share_stock no_stock_;
    share_demand no_demand_;
    std::vector<demand_record> demands_;
    std::map<std::string, device_demand> asking_;
    std::map<std::vector<std::size_t>, device_demand> holding_;
    std::vector<std::unique_ptr<stock_record>> stocks_;
    std::map<std::string, device_stock> stocks_by_kind_;
    std::map<std::pair<device_demand, std::string>, device_demand> with_shares_;
    std::map<std::pair<device_stock, std::string>, device_stock> stocks_with_shares_;
    std::map<std::pair<device_demand, std::string>, device_demand> with_zones_;
    std::map<std::pair<device_stock, std::string>, device_stock> stocks_with_zones_;
    /// The numbers of the states, by the hash of their key.
    mutable std::unordered_multimap<std::size_t, device_state> states_;
    /// The states, by their number minus 1.
    mutable std::vector<state_record> by_state_;
    mutable std::size_t answers_ = 0;
};

} // namespace codec
} // namespace v0_1
} // namespace muster
