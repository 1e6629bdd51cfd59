// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <muster/apis/core/objects.hpp>
#include <muster/kube/arrived.hpp>
#include <muster/kube/http.hpp>

namespace muster {
inline namespace v0_1 {
namespace kube {

/// A kind of objects that a controller follows.
struct followed_kind {
    enum class role : std::uint8_t {
        owner,  ///< it is looked at, each by itself
        owned,  ///< seen by its owner, and by owners whose name is a prefix of its name
        shared, ///< seen by all owners, in any namespace
    };
    std::string api_version;
    std::string kind;
    std::string plural;
    role as = role::owned;
    std::string query{}; ///< selectors of what is followed, escaped
    /// Part of every server.
    bool built_in = false;
    /// Where it may not be read, there is none of it.
    bool may_be_denied = false;
    /// The kind of owners that alone need it: it is not asked for while they are not served, or may
    /// not be read.
    std::string needed_by{};
    /// Neither listed nor watched. An object is fetched by name before a write would create it.
    bool by_name = false;

    /// Of the collection; in all namespaces when none is given.
    [[nodiscard]] std::string path(std::string_view name_space) const {
        std::string made = api_version.find('/') == std::string::npos ? "/api/" : "/apis/";
        made += api_version;
        if (!name_space.empty())
            made.append("/namespaces/").append(escape(name_space));
        return made.append("/").append(plural);
    }
};

/// Which object of which kind.
struct object_id {
    std::size_t kind = 0; ///< position in the list of kinds
    codec::object_key key;

    [[nodiscard]] friend bool operator==(const object_id&, const object_id&) = default;
    [[nodiscard]] friend bool operator<(const object_id& lhs, const object_id& rhs) {
        return std::tie(lhs.kind, lhs.key.name_space, lhs.key.name) <
               std::tie(rhs.kind, rhs.key.name_space, rhs.key.name);
    }
};

/// The objects that a controller watches, as they were sent, and the owners to reconcile when one
/// of them changes: its owner, its owner's owner, and objects whose name is a prefix of its name
/// (up to a dash). Thus deleted and foreign objects with the expected names are noticed too.
class object_cache {
public:
    struct entry {
        std::string uid;
        std::string version;
        std::vector<std::string> owners; ///< uids
        boost::json::object object;
    };

    explicit object_cache(std::vector<followed_kind> kinds)
        : kinds_(std::move(kinds)), objects_(kinds_.size()) {}

    [[nodiscard]] const std::vector<followed_kind>& kinds() const noexcept { return kinds_; }
    [[nodiscard]] std::size_t size() const noexcept { return by_uid_.size(); }

    void take(std::size_t kind, const arrived& sent) {
        const listed_object& who = sent.who();
        lose(kind, who, false);
        if (!sent.faults().empty())
            unread_.insert_or_assign({kind, who.key}, sent.faults().front());
        entry made{who.uid, who.version, {}, sent.value().get_object()};
        made.object["apiVersion"] = kinds_[kind].api_version;
        made.object["kind"] = kinds_[kind].kind;
        boost::json::object& metadata = made.object["metadata"].get_object();
        metadata.erase("managedFields");
        if (const auto* owners = metadata.if_contains("ownerReferences"); owners != nullptr)
            if (const auto* list = owners->if_array(); list != nullptr)
                for (const boost::json::value& each : *list)
                    if (each.is_object())
                        made.owners.push_back(detail::string_in(each.get_object(), "uid"));
        const object_id id{kind, who.key};
        by_uid_[made.uid] = id;
        for (const std::string& owner : made.owners)
            children_[owner].insert(id);
        objects_[kind].insert_or_assign(position(who.key), std::move(made));
        touch(id);
    }

    void lose(std::size_t kind, const listed_object& who) { lose(kind, who, true); }

    /// nullptr when there is none.
    [[nodiscard]] const entry* find(const object_id& of) const {
        const auto& all = objects_[of.kind];
        const auto at = all.find(position(of.key));
        return at == all.end() ? nullptr : &at->second;
    }

    /// The kind's position, or that of none (the number of kinds). Versions matter.
    [[nodiscard]] std::size_t kind_of(std::string_view api_version, std::string_view kind) const {
        return static_cast<std::size_t>(
            std::ranges::find_if(kinds_,
                                 [&](const followed_kind& each) {
                                     return each.api_version == api_version && each.kind == kind;
                                 }) -
            kinds_.begin());
    }

    /// What an owner sees: what it owns and what that owns in turn, what stands under names that
    /// begin with its own, and what is shared; by kind, namespace and name.
    [[nodiscard]] std::vector<const boost::json::object*> around(const object_id& owner) const {
        std::vector<const boost::json::object*> made;
        for (const object_id& each : ids_around(owner))
            made.push_back(&find(each)->object);
        return made;
    }

    /// Returns `object: why` if the owner, or an object around it in its namespace, could not be
    /// read in full; else empty.
    [[nodiscard]] std::string unread_around(const object_id& owner) const {
        if (unread_.empty())
            return {};
        std::set<object_id> all = ids_around(owner);
        all.insert(owner);
        for (const object_id& each : all)
            if (const auto at = unread_.find(each);
                at != unread_.end() && each.key.name_space == owner.key.name_space)
                return kinds_[each.kind].kind + " " + each.key.name + ": " + at->second;
        return {};
    }

    /// All owners, by kind, namespace and name.
    template<class Visit>
    void for_each_owner(const Visit& visit) const {
        for (std::size_t kind = 0; kind < kinds_.size(); ++kind)
            if (kinds_[kind].as == followed_kind::role::owner)
                for (const auto& [at, each] : objects_[kind])
                    visit(object_id{kind, {at.first, at.second}});
    }

    /// Owners that something happened to since they were last taken, those that are gone too.
    [[nodiscard]] std::set<object_id> take_touched() { return std::exchange(touched_, {}); }

private:
    using place = std::pair<std::string, std::string>; ///< namespace and name

    static place position(const codec::object_key& key) { return {key.name_space, key.name}; }
    static bool begins_with(std::string_view name, std::string_view with) {
        return name.starts_with(with) && (name.size() == with.size() || name[with.size()] == '-');
    }

    [[nodiscard]] std::set<object_id> ids_around(const object_id& owner) const {
        std::set<object_id> found;
        if (const entry* const own = find(owner))
            add_children(own->uid, found);
        for (std::size_t kind = 0; kind < kinds_.size(); ++kind) {
            const auto& all = objects_[kind];
            if (kinds_[kind].as == followed_kind::role::shared)
                for (const auto& [at, each] : all)
                    found.insert({kind, {at.first, at.second}});
            if (kinds_[kind].as != followed_kind::role::owned)
                continue;
            for (auto at = all.lower_bound(position(owner.key));
                 at != all.end() && at->first.first == owner.key.name_space &&
                 at->first.second.starts_with(owner.key.name);
                 ++at)
                if (begins_with(at->first.second, owner.key.name))
                    found.insert({kind, {at->first.first, at->first.second}});
        }
        return found;
    }

    void lose(std::size_t kind, const listed_object& who, bool for_good) {
        const auto at = objects_[kind].find(position(who.key));
        if (at == objects_[kind].end())
            return;
        const object_id id{kind, who.key};
        // An owner that the object had before the change is reconciled as well.
        touch(id);
        unread_.erase(id);
        for (const std::string& owner : at->second.owners)
            if (const auto list = children_.find(owner); list != children_.end()) {
                list->second.erase(id);
                if (list->second.empty())
                    children_.erase(list);
            }
        by_uid_.erase(at->second.uid);
        if (for_good)
            objects_[kind].erase(at);
    }

    void add_children(const std::string& uid, std::set<object_id>& to) const {
        const auto list = children_.find(uid);
        if (list == children_.end())
            return;
        for (const object_id& each : list->second)
            if (to.insert(each).second)
                add_children(find(each)->uid, to);
    }

    void touch(const object_id& id) {
        switch (kinds_[id.kind].as) {
        case followed_kind::role::owner:
            touched_.insert(id);
            return;
        case followed_kind::role::shared:
            for_each_owner([&](const object_id& each) { touched_.insert(each); });
            return;
        case followed_kind::role::owned:
            break;
        }
        touch_owners(id, 0);
        for (std::size_t kind = 0; kind < kinds_.size(); ++kind) {
            if (kinds_[kind].as != followed_kind::role::owner)
                continue;
            const std::string& name = id.key.name;
            for (std::size_t end = 1; end <= name.size(); ++end)
                if (end == name.size() || name[end] == '-')
                    if (object_id owner{kind, {id.key.name_space, name.substr(0, end)}};
                        find(owner))
                        touched_.insert(std::move(owner));
        }
    }

    void touch_owners(const object_id& id, int depth) {
        constexpr int deepest = 8;
        const entry* const of = find(id);
        if (!of || depth > deepest)
            return;
        for (const std::string& uid : of->owners)
            if (const auto owner = by_uid_.find(uid); owner != by_uid_.end()) {
                if (kinds_[owner->second.kind].as == followed_kind::role::owner)
                    touched_.insert(owner->second);
                else
                    touch_owners(owner->second, depth + 1);
            }
    }

    std::vector<followed_kind> kinds_;
    std::vector<std::map<place, entry>> objects_;
    std::map<std::string, object_id> by_uid_;
    std::map<std::string, std::set<object_id>> children_; ///< by the uid of the owner
    std::map<object_id, std::string> unread_; ///< why an object could not be read in full
    std::set<object_id> touched_;
};

} // namespace kube
} // namespace v0_1
} // namespace muster
