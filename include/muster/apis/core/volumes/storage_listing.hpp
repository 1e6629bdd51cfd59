// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <string_view>

#include <boost/json/object.hpp>
#include <boost/json/string.hpp>
#include <boost/json/value.hpp>

#include <muster/apis/core/objects.hpp>
#include <muster/apis/core/spread_owners.hpp>
#include <muster/apis/core/volumes/storage_objects.hpp>
#include <muster/document/document.hpp>
#include <muster/document/object_metadata.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// Annotation on the metadata of a List: the kinds of which the List holds all objects of a
/// cluster, as `apiVersion/Kind` separated by commas. `muster snapshot` writes it.
inline constexpr std::string_view listed_kinds_key = "muster.dev/listed-kinds";

namespace detail {

[[nodiscard]] inline const boost::json::value* member_of(const boost::json::value* of,
                                                         std::string_view key) {
    const boost::json::object* const object = of ? of->if_object() : nullptr;
    return object ? object->if_contains(key) : nullptr;
}

[[nodiscard]] inline std::string_view text_of(const boost::json::value* of) {
    const boost::json::string* const text = of ? of->if_string() : nullptr;
    return text ? std::string_view(*text) : std::string_view{};
}

/// Calls `note(apiVersion, kind)` for each kind that a document declares to list completely: by the
/// annotation, or as a list of one kind (such as PersistentVolumeClaimList) that is not continued
/// elsewhere.
template<class Note>
void for_each_listed_kind(const document& of, const Note& note) {
    const boost::json::value* const root = &of.root();
    const boost::json::value* const metadata = member_of(root, "metadata");
    const std::string_view kind = text_of(member_of(root, "kind"));
    if (!kind.ends_with("List") || !member_of(root, "items") ||
        !text_of(member_of(metadata, "continue")).empty())
        return;
    if (kind != "List")
        note(text_of(member_of(root, "apiVersion")), kind.substr(0, kind.size() - 4));
    std::string_view rest =
        text_of(member_of(member_of(metadata, "annotations"), listed_kinds_key));
    while (!rest.empty()) {
        const std::string_view entry = rest.substr(0, rest.find(','));
        rest.remove_prefix(std::min(rest.size(), entry.size() + 1));
        if (const std::size_t slash = entry.rfind('/'); slash != std::string_view::npos)
            note(entry.substr(0, slash), entry.substr(slash + 1));
    }
}

} // namespace detail

/// Finds which storage kinds an input lists completely (`storage_objects::lists_claims` and so on),
/// and whether it lists all kinds of `manifests::spread_owners`.
/// A kind is listed completely if a List declares it. Otherwise, if a List of several kinds holds
/// objects of any storage kind, the input lists all storage kinds completely, except those of which
/// the input holds no object although one must exist: claims, if a placed pod uses a claim or a
/// volume is bound to one; volumes, if a placed pod uses a bound claim.
class storage_listing {
public:
    /// Reads what the document declares. O(1) for documents that are not lists.
    void note_document(const document& of) {
        detail::for_each_listed_kind(of, [&](std::string_view version, std::string_view kind) {
            claims_ |= version == "v1" && kind == "PersistentVolumeClaim";
            volumes_ |= version == "v1" && kind == "PersistentVolume";
            classes_ |= version == "storage.k8s.io/v1" && kind == "StorageClass";
            if (detail::selects_for_spread(version, kind))
                spread_kinds_.emplace(kind);
        });
    }

    /// True if a List declares that it holds all objects of this kind, whose selectors default
    /// spread constraints use.
    [[nodiscard]] bool lists_spread_kind(std::string_view version, std::string_view kind) const {
        return detail::selects_for_spread(version, kind) && spread_kinds_.contains(kind);
    }

    /// Notes one object. Precondition: the objects of one document are noted in succession.
    void note_object(const object_place& where, std::string_view kind, bool is_storage) {
        if (where.items.empty())
            return;
        if (list_ != where.source) {
            list_ = where.source;
            kind_ = kind;
            several_ = false;
            storage_ = false;
        }
        several_ |= kind != kind_;
        storage_ |= is_storage;
        all_ |= several_ && storage_;
    }

    /// Sets the result. O(storage objects + volumes of pods).
    void settle(manifests& made) const {
        storage_objects& to = made.storage;
        to.lists_claims = claims_ || (all_ && !lacks_claims(made));
        to.lists_volumes = volumes_ || (all_ && !lacks_volumes(made));
        to.lists_classes = classes_ || all_;
        made.lists_spread_owners = spread_kinds_.size() == detail::spread_kinds.size();
    }

private:
    /// Calls `test` for each claim that a placed pod uses, until it returns true.
    template<class Test>
    static bool any_claim_in_use(const manifests& made, const Test& test) {
        return std::ranges::any_of(made.pods, [&](const pod_object& pod) {
            return !pod.node.empty() && pod.phase != pod_phase::succeeded &&
                   pod.phase != pod_phase::failed &&
                   std::ranges::any_of(pod.volumes, [&](const pod_volume& volume) {
                       return !volume.claim.empty() &&
                              test(object_key{pod.metadata.key.name_space, volume.claim});
                   });
        });
    }

    static bool lacks_claims(const manifests& made) {
        const auto is_bound = [](const volume_object& each) { return each.bound; };
        return made.storage.claims.empty() &&
               (std::ranges::any_of(made.storage.volumes, is_bound) ||
                any_claim_in_use(made, [](const object_key&) { return true; }));
    }

    static bool lacks_volumes(const manifests& made) {
        if (!made.storage.volumes.empty())
            return false;
        std::set<object_key> bound;
        for (const claim_object& each : made.storage.claims)
            if (each.bound)
                bound.insert(each.metadata.key);
        return !bound.empty() &&
               any_claim_in_use(made, [&](const object_key& key) { return bound.contains(key); });
    }

    bool claims_ = false;
    bool volumes_ = false;
    bool classes_ = false;
    std::set<std::string, std::less<>> spread_kinds_;
    bool all_ = false;
    /// State of the current list: its document, the kind of its first object, and whether the list
    /// has objects of other kinds, and of storage kinds.
    const document* list_ = nullptr;
    std::string_view kind_;
    bool several_ = false;
    bool storage_ = false;
};

} // namespace codec
} // namespace v0_1
} // namespace muster
