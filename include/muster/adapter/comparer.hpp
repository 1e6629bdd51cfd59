// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <muster/adapter/cluster_view.hpp>
#include <muster/adapter/sightings.hpp>

namespace muster {
inline namespace v0_1 {
namespace adapter {

/// In what a view and a listing differ about one object.
enum class difference : std::uint8_t {
    /// The listing has it, the view does not.
    missed,
    /// The view has it, the listing does not.
    left_over,
    /// They have another uid, or another node, for it.
    other,
};

/// Of the kind, the one key that is set says which object it is.
template<class Traits>
struct mismatch {
    object_kind kind{};
    difference what{};
    typename Traits::node_key node{};
    typename Traits::pod_key pod{};
    typename Traits::gang_key gang{};

    [[nodiscard]] friend bool operator==(const mismatch&, const mismatch&) = default;
};

/// What the view has otherwise than a fresh listing: nodes by key, pods by uid and node, gangs by
/// uid. What the core refused is no mismatch. What is on its way shows too: a mismatch is a mistake
/// only when it is there again some time later. O(objects · log objects).
template<class Traits>
[[nodiscard]] std::vector<mismatch<Traits>> compare(const cluster_view<Traits>& view,
                                                    const listing<Traits>& all) {
    std::vector<mismatch<Traits>> found;
    const auto& known = view.known();
    const auto note = [&](object_kind kind, difference what) -> mismatch<Traits>& {
        found.push_back({kind, what, {}, {}, {}});
        return found.back();
    };

    std::set<typename Traits::node_key, key_less<Traits>> nodes(all.nodes.begin(), all.nodes.end());
    for (const auto& key : nodes) {
        const auto at = known.find_node(key);
        const bool there = at && known[at->index].present;
        if (!view.nodes().contains(key) || (!there && !view.refused().nodes.contains(key)))
            note(object_kind::node, difference::missed).node = key;
    }
    for (const auto& each : view.nodes())
        if (!nodes.contains(each.first))
            note(object_kind::node, difference::left_over).node = each.first;

    std::set<typename Traits::pod_key, key_less<Traits>> pods;
    for (const auto& listed : all.pods) {
        pods.insert(listed.key);
        // The view holds a pod of another scheduler without a node only while it is nominated.
        if (!listed.ours && !listed.on)
            continue;
        const auto* const facts = view.find_pod(listed.key);
        const auto in_state = known.find_pod(listed.key);
        if (facts == nullptr || (!in_state && !view.refused().pods.contains(listed.key))) {
            note(object_kind::pod, difference::missed).pod = listed.key;
            continue;
        }
        bool same = facts->uid == listed.uid && facts->on == listed.on;
        if (same && in_state && listed.on && !listed.ended) {
            const auto& record = known[in_state->index];
            same = record.node && known.key(*record.node) == *listed.on && record.charged();
        }
        if (!same)
            note(object_kind::pod, difference::other).pod = listed.key;
    }
    for (const auto& each : view.pods())
        if (!pods.contains(each.first))
            note(object_kind::pod, difference::left_over).pod = each.first;

    std::map<typename Traits::gang_key, object_uid, key_less<Traits>> gangs(all.gangs.begin(),
                                                                            all.gangs.end());
    for (const auto& [key, uid] : gangs) {
        const auto* const facts = view.find_gang(key);
        if (facts == nullptr)
            note(object_kind::gang, difference::missed).gang = key;
        else if (facts->uid != uid)
            note(object_kind::gang, difference::other).gang = key;
    }
    for (const auto& [key, facts] : view.gangs())
        if (!facts.uid.empty() && !gangs.contains(key))
            note(object_kind::gang, difference::left_over).gang = key;
    return found;
}

/// Compares again and again, and believes in a mismatch when two listings in a row show it.
template<class Traits>
class comparer {
public:
    /// Gives the mistakes that this listing proves.
    std::vector<mismatch<Traits>> take(const cluster_view<Traits>& view,
                                       const listing<Traits>& all) {
        std::vector<mismatch<Traits>> now = compare(view, all);
        std::vector<mismatch<Traits>> proven;
        for (const mismatch<Traits>& each : now)
            if (std::ranges::find(suspects_, each) != suspects_.end())
                proven.push_back(each);
        suspects_ = std::move(now);
        ++compared_;
        mistakes_ += proven.size();
        if (!proven.empty())
            suspects_.clear();
        return proven;
    }
    /// There is something to look at once more, and soon.
    [[nodiscard]] bool in_doubt() const noexcept { return !suspects_.empty(); }
    /// Listings compared, and mistakes found in all of them.
    [[nodiscard]] std::size_t compared() const noexcept { return compared_; }
    [[nodiscard]] std::size_t mistakes() const noexcept { return mistakes_; }

private:
    std::vector<mismatch<Traits>> suspects_;
    std::size_t compared_ = 0;
    std::size_t mistakes_ = 0;
};

} // namespace adapter
} // namespace v0_1
} // namespace muster
