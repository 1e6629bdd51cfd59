// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <support/api_journal.hpp>

namespace muster {
inline namespace v0_1 {
namespace testing {

/// What to hold a journal to.
struct journal_rules {
    /// Maximum delay with which schedulers learn of other writes, in nanoseconds. A conflict within
    /// this time is a race and no fault.
    std::int64_t slack = 0;
    /// How long after its last renewal a leader may still start writes.
    std::int64_t renewal = 0;
};

/// Reads the journal of an API server and reports violations. It does not use drivers, states or
/// decisions, only the journal's entries: client, write, object and time.
///
/// - No bind exceeds the room of its node, counting all pods on it, or the quota of its queue.
/// - No client binds a pod of another scheduler, or binds a pod twice.
/// - No order is sent without the lease.
/// - No status says that minima were reached if they were not.
/// - Measures how long gangs that never reached their minima were below them.
class journal_checker {
public:
    struct partial_time {
        std::string gang;
        std::int64_t from = 0;
        std::int64_t to = 0;
    };

    explicit journal_checker(journal_rules rules = {}) : rules_(rules) {}

    void read(const std::vector<adapter::api_entry>& journal) {
        for (; read_ < journal.size(); ++read_)
            take(journal[read_]);
    }
    /// Everything that must not be; empty when all is well.
    [[nodiscard]] const std::vector<std::string>& mistakes() const noexcept { return mistakes_; }
    /// Number of conflicts within `slack`, which no client could have avoided.
    [[nodiscard]] std::size_t races() const noexcept { return races_; }
    /// Pods that nodes refused.
    [[nodiscard]] std::size_t refused_by_nodes() const noexcept { return refused_; }

    /// When gangs stood below minima that they had never reached, up to `now`.
    [[nodiscard]] std::vector<partial_time> partial_times(std::int64_t now) const {
        std::vector<partial_time> all = partial_;
        for (const auto& [key, of] : gangs_)
            if (of.partial_since >= 0)
                all.push_back({key, of.partial_since, now});
        return all;
    }
    /// The longest of them, as far as it lies after `from`.
    [[nodiscard]] std::int64_t longest_partial(std::int64_t from, std::int64_t now) const {
        std::int64_t longest = 0;
        for (const partial_time& each : partial_times(now))
            longest = std::max(longest, each.to - std::max(from, each.from));
        return longest;
    }
    /// Members of the gang that have a node, or have succeeded.
    [[nodiscard]] std::size_t bound(const std::string& key) const {
        return static_cast<std::size_t>(std::ranges::count_if(pods_, [&](const auto& each) {
            return each.second.gang == key && counts(each.second);
        }));
    }

private:
    struct pod {
        std::string uid;
        std::string gang;
        std::string node;
        std::vector<std::int64_t> request;
        std::size_t role = 0;
        bool ours = true;
        bool leaving = false;
        bool ended = false;
        bool failed = false;
        std::int64_t bound_at = 0;
    };
    struct gang {
        std::string uid;
        gang_tree tree;
        std::string queue;
        bool present = false;
        bool reached = false;
        std::int64_t created = 0;
        std::int64_t changed = 0;
        std::int64_t partial_since = -1;
    };
    struct holder {
        std::vector<std::int64_t> amounts;
        bool present = false;
        /// The last time at which another client changed the amounts or the pods there.
        std::int64_t changed = -1;
    };

    [[nodiscard]] static bool counts(const pod& of) noexcept {
        return !of.node.empty() && !of.leaving && !of.failed;
    }

    void blame(const adapter::api_entry& entry, const std::string& what) {
        mistakes_.push_back("at " + std::to_string(entry.time / 1'000'000) + " ms " + entry.by +
                            " " + entry.key + ": " + what);
    }

    void take(const adapter::api_entry& entry) {
        using adapter::api_action;
        if (!entry.by.empty() && entry.what != api_action::renewed)
            check_lease(entry);
        switch (entry.what) {
        case api_action::created:
            pods_[entry.key] = {entry.uid,  entry.gang, "",    entry.amounts, entry.role,
                                entry.ours, false,      false, false,         0};
            break;
        case api_action::bound:
            take_bind(entry);
            break;
        case api_action::evicted:
        case api_action::terminating:
            pods_.at(entry.key).leaving = true;
            break;
        case api_action::removed:
            pods_.erase(entry.key);
            break;
        case api_action::failed:
            pods_.at(entry.key).failed = pods_.at(entry.key).ended = true;
            break;
        case api_action::succeeded:
            pods_.at(entry.key).ended = true;
            break;
        case api_action::refused_by_node:
            ++refused_;
            break;
        case api_action::gang:
            take_gang(entry);
            break;
        case api_action::gang_gone:
            gangs_[entry.key].present = false;
            break;
        case api_action::node:
        case api_action::node_gone:
            nodes_[entry.key] = {entry.amounts, entry.what == api_action::node, entry.time};
            break;
        case api_action::queue:
            queues_[entry.key] = {entry.amounts, true, entry.time};
            break;
        case api_action::renewed:
            renewals_.emplace_back(entry.time, entry.by);
            break;
        case api_action::status:
            if (entry.status.reached && !gangs_[entry.key].reached &&
                gangs_[entry.key].changed < entry.sent - rules_.slack)
                blame(entry, "a status claims minima that were never reached");
            break;
        case api_action::prepared:
        case api_action::ungated:
        case api_action::running:
        case api_action::event:
            break;
        }
        for (auto& [key, of] : gangs_)
            look(key, of, entry.time);
    }

    void take_gang(const adapter::api_entry& entry) {
        gang& of = gangs_[entry.key];
        if (!of.present || of.uid != entry.uid) {
            of = {};
            of.created = entry.time;
        }
        of.uid = entry.uid;
        of.tree = entry.tree;
        of.changed = entry.time;
        of.queue = entry.queue;
        of.present = true;
    }

    void take_bind(const adapter::api_entry& entry) {
        pod& of = pods_.at(entry.key);
        if (!of.node.empty())
            blame(entry, "bound twice");
        of.node = entry.node;
        of.bound_at = entry.time;
        holder& node = nodes_[entry.node];
        if (entry.by.empty()) {
            node.changed = entry.time;
            return;
        }
        if (!of.ours)
            blame(entry, "not theirs to bind");
        if (of.uid != entry.uid)
            blame(entry, "another pod of that name was meant");
        const auto gang_of = gangs_.find(of.gang);
        check(entry, node, "its node", [&](const pod& each) { return each.node == of.node; });
        if (gang_of != gangs_.end() && !gang_of->second.queue.empty())
            check(entry, queues_[gang_of->second.queue], "its queue", [&](const pod& each) {
                const auto other = gangs_.find(each.gang);
                return !each.node.empty() && other != gangs_.end() &&
                       other->second.queue == gang_of->second.queue;
            });
    }

    template<class Stands>
    void check(const adapter::api_entry& entry, const holder& what, const std::string& name,
               const Stands& stands) {
        std::vector<std::int64_t> used(what.amounts.size(), 0);
        for (const auto& each : pods_)
            if (!each.second.ended && stands(each.second))
                for (std::size_t column = 0; column < used.size(); ++column)
                    used[column] += each.second.request[column];
        bool over = !what.present && name == "its node";
        for (std::size_t column = 0; column < used.size(); ++column)
            over = over || (what.amounts[column] >= 0 && used[column] > what.amounts[column] &&
                            pods_.at(entry.key).request[column] > 0);
        if (!over)
            return;
        if (what.changed >= entry.sent - rules_.slack)
            ++races_;
        else
            blame(entry, "bound beyond what " + name + " has");
    }

    void check_lease(const adapter::api_entry& entry) {
        if (renewals_.empty())
            return;
        const std::string who = entry.by.substr(0, entry.by.find('#'));
        const auto last = std::find_if(renewals_.rbegin(), renewals_.rend(),
                                       [&](const auto& each) { return each.first <= entry.sent; });
        if (last == renewals_.rend() || last->second != who ||
            entry.sent >= last->first + rules_.renewal)
            blame(entry, "an order was sent without the lease");
    }

    [[nodiscard]] static bool met(const gang_tree& tree, std::vector<std::int64_t> counted) {
        std::vector<std::int64_t> children(tree.size(), 0);
        for (std::size_t at = tree.size(); at-- > 0;) {
            const auto all = static_cast<std::int64_t>(tree[at].children);
            const bool enough = children[at] >= tree[at].min_subgroups.value_or(all) &&
                                counted[at] >= tree[at].min_member;
            if (at == 0)
                return enough;
            if (enough) {
                ++children[tree[at].parent];
                counted[tree[at].parent] += counted[at];
            }
        }
        return true;
    }

    void look(const std::string& key, gang& of, std::int64_t now) {
        std::vector<std::int64_t> counted(of.tree.size(), 0);
        bool any = false;
        for (const auto& each : pods_)
            if (each.second.gang == key && counts(each.second) &&
                each.second.bound_at >= of.created && each.second.role < counted.size()) {
                ++counted[each.second.role];
                any = true;
            }
        const bool is_met = any && met(of.tree, counted);
        of.reached = of.reached || is_met;
        const bool partial = of.present && any && !is_met && !of.reached;
        if (partial && of.partial_since < 0)
            of.partial_since = now;
        if (!partial && of.partial_since >= 0) {
            partial_.push_back({key, of.partial_since, now});
            of.partial_since = -1;
        }
    }

    journal_rules rules_;
    std::size_t read_ = 0;
    std::map<std::string, pod> pods_;
    std::map<std::string, gang> gangs_;
    std::map<std::string, holder> nodes_;
    std::map<std::string, holder> queues_;
    std::vector<std::pair<std::int64_t, std::string>> renewals_;
    std::vector<std::string> mistakes_;
    std::vector<partial_time> partial_;
    std::size_t races_ = 0;
    std::size_t refused_ = 0;
};

} // namespace testing
} // namespace v0_1
} // namespace muster
