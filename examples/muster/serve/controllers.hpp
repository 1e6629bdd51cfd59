// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/serve/json_values.hpp>
#include <muster/serve/pod_group_objects.hpp>
#include <muster/serve/registry.hpp>

namespace muster {
inline namespace v0_1 {
namespace testing {
namespace api_server {

/// What kube-controller-manager does for the server: the garbage collector by ownerReferences, the
/// end of namespaces, and that of PodGroups, which wait for their pods. Acts when the caller says
/// so, so that a test can look in between.
class controllers {
public:
    explicit controllers(registry& on) : in_(&on) {}

    /// One round; what it changed may give the next one something to do. True when it changed
    /// anything. O(objects) when something was deleted or ended since the last one, else O(1).
    bool step() {
        if (!std::exchange(in_->owners_changed, false))
            return false;
        const std::uint64_t before = in_->objects.version();
        empty_namespaces();
        release_groups();
        collect();
        if (in_->objects.version() != before)
            in_->owners_changed = true;
        return in_->objects.version() != before;
    }

    void settle() {
        while (step()) {
        }
    }

private:
    struct entry {
        std::size_t kind;
        object_key key;
        shared_object object;
    };

    [[nodiscard]] static bool has_finalizer(const json::object& object, std::string_view name) {
        const json::array* const all = array_at(object, {"metadata", "finalizers"});
        return all && std::ranges::find(*all, json::value(name)) != all->end();
    }

    [[nodiscard]] static bool is_leaving(const json::object& object) {
        return value_at(object, {"metadata", "deletionTimestamp"}) != nullptr;
    }

    [[nodiscard]] static const json::array* owners_of(const json::object& object) {
        const json::array* const owners = array_at(object, {"metadata", "ownerReferences"});
        return owners && !owners->empty() ? owners : nullptr;
    }

    void empty_namespaces() {
        const std::size_t namespaces = in_->kinds.at("", "v1", "namespaces");
        std::vector<std::string> leaving;
        for (const auto& [key, object] : in_->objects.all(namespaces))
            if (is_leaving(*object))
                leaving.push_back(key.second);
        for (const std::string& each : leaving) {
            bool left = false;
            for (std::size_t kind = 0; kind < in_->kinds.size(); ++kind) {
                if (!in_->kinds[kind].namespaced || !in_->kinds.is_served(kind))
                    continue;
                for (const object_key& key : keys_in(kind, each)) {
                    static_cast<void>(in_->remove(kind, key, {}));
                    left = left || in_->objects.find(kind, key) != nullptr;
                }
            }
            if (!left)
                in_->erase(namespaces, {"", each});
        }
    }

    void release_groups() {
        const std::size_t groups = in_->kinds.at("scheduling.k8s.io", "v1alpha2", "podgroups");
        std::vector<entry> leaving;
        for (const auto& [key, object] : in_->objects.all(groups))
            if (is_leaving(*object) && has_finalizer(*object, pod_group_protection))
                leaving.push_back({groups, key, object});
        if (leaving.empty())
            return;
        std::set<object_key> active;
        for (const auto& [key, object] : in_->objects.all(in_->kinds.at("", "v1", "pods")))
            if (const std::string_view group = pod_group_of(*object);
                !group.empty() && !has_ended(*object))
                active.emplace(key.first, group);
        for (const entry& each : leaving)
            if (!active.contains(each.key))
                drop_finalizer(each, pod_group_protection);
    }

    [[nodiscard]] std::vector<object_key> keys_in(std::size_t kind,
                                                  const std::string& in_namespace) const {
        std::vector<object_key> made;
        const auto& all = in_->objects.all(kind);
        for (auto at = all.lower_bound({in_namespace, ""});
             at != all.end() && at->first.first == in_namespace; ++at)
            made.push_back(at->first);
        return made;
    }

    void collect() {
        std::set<std::string, std::less<>> alive = in_->restored_owners;
        std::set<std::string, std::less<>> leaving; // and take their dependents first
        std::set<std::string, std::less<>> orphaning;
        std::vector<entry> owned;
        std::vector<entry> waiting;
        for (std::size_t kind = 0; kind < in_->kinds.size(); ++kind)
            for (const auto& [key, object] : in_->objects.all(kind)) {
                const std::string uid(text_at(*object, {"metadata", "uid"}));
                alive.insert(uid);
                if (is_leaving(*object) && has_finalizer(*object, "foregroundDeletion")) {
                    leaving.insert(uid);
                    waiting.push_back({kind, key, object});
                }
                if (is_leaving(*object) && has_finalizer(*object, "orphan")) {
                    orphaning.insert(uid);
                    waiting.push_back({kind, key, object});
                }
                if (owners_of(*object))
                    owned.push_back({kind, key, object});
            }
        std::set<std::string, std::less<>> blocked;
        for (const entry& each : owned)
            judge(each, alive, leaving, orphaning, blocked);
        for (const entry& each : waiting) {
            const std::string_view uid = text_at(*each.object, {"metadata", "uid"});
            if (orphaning.contains(uid))
                drop_finalizer(each, "orphan");
            else if (!blocked.contains(uid))
                drop_finalizer(each, "foregroundDeletion");
        }
    }

    using uids = std::set<std::string, std::less<>>;

    void judge(const entry& each, const uids& alive, const uids& leaving, const uids& orphaning,
               uids& blocked) {
        bool owner_stays = false;
        bool orphaned = false;
        json::array kept;
        for (const json::value& owner : *owners_of(*each.object)) {
            const std::string_view uid =
                owner.is_object() ? text_at(owner.get_object(), {"uid"}) : std::string_view{};
            if (orphaning.contains(uid)) {
                orphaned = true;
                continue;
            }
            if (leaving.contains(uid) && true_at(owner.get_object(), {"blockOwnerDeletion"}))
                blocked.insert(std::string(uid));
            if (!alive.contains(uid) || leaving.contains(uid))
                continue;
            owner_stays = true;
            kept.push_back(owner);
        }
        // Owners that are gone are forgotten beside one that stays.
        if ((owner_stays || orphaned) && kept.size() != owners_of(*each.object)->size()) {
            json::object made = *each.object;
            json::object& metadata = make_object(made, "metadata");
            if (kept.empty())
                metadata.erase("ownerReferences");
            else
                metadata["ownerReferences"] = std::move(kept);
            static_cast<void>(in_->update(each.kind, each.key, std::move(made), {}));
            return;
        }
        if (owner_stays || is_leaving(*each.object))
            return;
        delete_options how;
        // What an owner waits for is in turn to wait for what it owns.
        const bool foreground =
            std::ranges::any_of(*owners_of(*each.object), [&](const json::value& owner) {
                return owner.is_object() && leaving.contains(text_at(owner.get_object(), {"uid"}));
            });
        how.propagation = foreground ? "Foreground" : "Background";
        how.uid = text_at(*each.object, {"metadata", "uid"});
        static_cast<void>(in_->remove(each.kind, each.key, how));
    }

    void drop_finalizer(const entry& from, std::string_view name) {
        const shared_object found = in_->objects.find(from.kind, from.key);
        if (!found)
            return;
        json::object made = *found;
        json::value& all = make_object(made, "metadata")["finalizers"];
        if (!all.is_array())
            return;
        json::array kept;
        for (const json::value& each : all.get_array())
            if (each != json::value(name))
                kept.push_back(each);
        all = std::move(kept);
        static_cast<void>(in_->update(from.kind, from.key, std::move(made), {}));
    }

    registry* in_;
};

} // namespace api_server
} // namespace testing
} // namespace v0_1
} // namespace muster
