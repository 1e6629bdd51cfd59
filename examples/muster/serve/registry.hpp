// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/base/timestamp.hpp>
#include <muster/serve/answer.hpp>
#include <muster/serve/definitions.hpp>
#include <muster/serve/invalid.hpp>
#include <muster/serve/json_values.hpp>
#include <muster/serve/kinds.hpp>
#include <muster/serve/metadata_checks.hpp>
#include <muster/serve/object_checks.hpp>
#include <muster/serve/object_store.hpp>
#include <muster/serve/pod_group_objects.hpp>
#include <muster/serve/pod_objects.hpp>
#include <muster/serve/pod_priority.hpp>
#include <muster/serve/schema.hpp>
#include <muster/serve/storage_objects.hpp>
#include <muster/serve/tidy.hpp>
#include <muster/testing/random.hpp>

namespace muster {
inline namespace v0_1 {
namespace testing {
namespace api_server {

/// How a write is meant.
struct write_options {
    bool dry_run = false;
    /// Unknown fields are an error, not dropped.
    bool strict = false;
    /// Only the status is written.
    bool status = false;
    /// It comes from a patch, whose preconditions are only what the patch names.
    bool patched = false;
    /// The write is an apply patch. No other write changes metadata.managedFields.
    bool applied = false;
    /// The new object comes from another server: see restore().
    bool restored = false;
};

/// What a deletion asks for.
struct delete_options {
    std::optional<std::int64_t> grace = {};
    std::string uid = {};
    std::string version = {};
    std::string propagation = {};
    bool dry_run = false;
};

/// The rules by which objects are made, changed and deleted. Time is what the caller says, and uids
/// follow from the seed.
class registry {
public:
    explicit registry(std::uint64_t seed, std::int64_t time) : now(time), uids_(seed) {
        for (const std::string_view name :
             {"default", "kube-node-lease", "kube-public", "kube-system"})
            static_cast<void>(create(kinds.at("", "v1", "namespaces"), "",
                                     json::object{{"apiVersion", "v1"},
                                                  {"kind", "Namespace"},
                                                  {"metadata", json::object{{"name", name}}}},
                                     {}));
    }

    kind_table kinds;
    object_store objects;
    /// Nanoseconds since 1970.
    std::int64_t now;
    /// Something was deleted, so that owners may be gone, or a pod of a group has ended.
    bool owners_changed = false;
    /// If false, objects are stored unchecked except for their names and the schemas of custom
    /// kinds (default: true).
    bool checks_objects = true;
    /// Uids of the owners of restored objects. Such an owner need not exist, and counts as alive
    /// until it is deleted on this server.
    std::set<std::string, std::less<>> restored_owners;

    [[nodiscard]] std::string time_now() const {
        constexpr std::int64_t second = 1'000'000'000;
        return time_text(now / second * second);
    }

    [[nodiscard]] answer missing(std::size_t kind, std::string_view name) const {
        return not_found(kinds[kind].plural, kinds[kind].group, name);
    }

    [[nodiscard]] answer create(std::size_t kind, const std::string& in_namespace,
                                json::object made, const write_options& how) {
        const kind_info& of = kinds[kind];
        if (auto refusal = check_type(of, made))
            return *refusal;
        if (checks_objects)
            if (auto refusal = check_fields(of, made, nullptr, how.strict))
                return *refusal;
        json::object& metadata = make_object(made, "metadata");
        std::string name(text_at(metadata, {"name"}));
        const std::string prefix(text_at(metadata, {"generateName"}));
        if (name.empty() && !prefix.empty()) {
            name = prefix + suffix();
            metadata["name"] = name;
        }
        if (of.namespaced) {
            if (const auto asked = text_at(metadata, {"namespace"});
                !asked.empty() && asked != in_namespace)
                return bad_request("the namespace of the provided object does not match the "
                                   "namespace sent on the request");
            metadata["namespace"] = in_namespace;
            const auto home = objects.find(kinds.at("", "v1", "namespaces"), {"", in_namespace});
            if (!home)
                return not_found("namespaces", "", in_namespace);
            if (text_at(*home, {"status", "phase"}) == "Terminating")
                return refused(403, "Forbidden",
                               resource_text(of.plural, of.group) + " \"" + name +
                                   "\" is forbidden: unable to create new content in namespace " +
                                   in_namespace + " because it is being terminated",
                               details_of(name, of.group, of.plural));
        } else {
            metadata.erase("namespace");
        }
        if (!text_at(metadata, {"resourceVersion"}).empty())
            return refused(500, "", "resourceVersion should not be set on objects to be created");
        std::vector<field_cause> wrong;
        check_name(of, name, prefix, wrong);
        if (checks_objects)
            check_object(of, made, wrong);
        if (!how.restored || text_at(metadata, {"uid"}).empty())
            metadata["uid"] = new_uid();
        if (!how.restored || !parse_timestamp(text_at(metadata, {"creationTimestamp"})))
            metadata["creationTimestamp"] = time_now();
        for (const std::string_view each :
             {"deletionTimestamp", "deletionGracePeriodSeconds", "selfLink", "generation"})
            metadata.erase(each);
        if (!how.applied)
            metadata.erase("managedFields");
        if (of.counts_generations)
            metadata["generation"] = 1;
        if (auto refusal = prepare_new(kind, made, how, wrong))
            return *refusal;
        tidy(of, made);
        const object_key key{of.namespaced ? in_namespace : "", name};
        if (!wrong.empty())
            return invalid(of, name, wrong);
        if (objects.find(kind, key))
            return refused(409, "AlreadyExists",
                           resource_text(of.plural, of.group) + " \"" + name + "\" already exists",
                           details_of(name, of.group, of.plural));
        answer done;
        done.code = 201;
        if (how.restored)
            keep_owners(made);
        done.body = how.dry_run ? made : *objects.put(kind, key, std::move(made));
        if (!how.dry_run)
            after_write(kind, key);
        return done;
    }

    /// Puts `made` in the place of what is there. `precondition`: the uid that it must have.
    [[nodiscard]] answer update(std::size_t kind, const object_key& key, json::object made,
                                const write_options& how) {
        const kind_info& of = kinds[kind];
        if (auto refusal = check_type(of, made))
            return *refusal;
        const shared_object before = objects.find(kind, key);
        if (!before)
            return missing(kind, key.second);
        if (checks_objects)
            if (auto refusal = check_fields(of, made, before.get(), how.strict))
                return *refusal;
        json::object& metadata = make_object(made, "metadata");
        const json::object& old_metadata = *object_at(*before, {"metadata"});
        if (text_at(metadata, {"name"}) != key.second)
            return bad_request("the name of the object (" +
                               std::string(text_at(metadata, {"name"})) +
                               ") does not match the name on the URL (" + key.second + ")");
        const auto uid = text_at(metadata, {"uid"});
        const auto own_uid = text_at(old_metadata, {"uid"});
        if (!uid.empty() && uid != own_uid && !how.patched)
            return other_uid(of, of.plural + "/" + key.first + "/" + key.second, key.second, uid,
                             own_uid);
        if (!uid.empty() && uid != own_uid) {
            const field_cause fixed{
                "FieldValueInvalid",
                "Invalid value: \"" + std::string(uid) + "\": field is immutable", "metadata.uid"};
            return invalid(of, key.second, {fixed, fixed});
        }
        if (const auto version = text_at(metadata, {"resourceVersion"});
            !version.empty() && version != text_at(old_metadata, {"resourceVersion"}))
            return modified(of, key.second);
        if (version_needed(of) && text_at(metadata, {"resourceVersion"}).empty())
            return invalid(
                of, key.second,
                {{"FieldValueInvalid", "Invalid value: 0: must be specified for an update",
                  "metadata.resourceVersion"}},
                of.plural);
        for (const std::string_view each :
             {"uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds",
              "generation", "resourceVersion", "namespace", "managedFields"}) {
            if (how.applied && each == "managedFields")
                continue;
            if (const json::value* const old = old_metadata.if_contains(each))
                metadata[each] = *old;
            else
                metadata.erase(each);
        }
        if (how.status) {
            json::object kept = *before;
            if (const json::value* const owners = metadata.if_contains("managedFields"))
                make_object(kept, "metadata")["managedFields"] = *owners;
            if (const json::value* const status = made.if_contains("status"))
                kept["status"] = *status;
            else
                kept.erase("status");
            made = std::move(kept);
        } else if (of.has_status) {
            if (const json::value* const status = before->if_contains("status"))
                made["status"] = *status;
            else
                made.erase("status");
        }
        tidy(of, made);
        std::vector<field_cause> wrong;
        if (auto refusal = check_custom(of, made, how.strict, wrong))
            return *refusal;
        const bool checks_change = checks_objects && !how.status;
        if (checks_change)
            check_change(of, *before, made, wrong);
        if (!wrong.empty())
            return invalid(of, key.second, wrong);
        if (checks_change && is_claim(of) && grows(*before, made) && !may_grow(made))
            return refuse_growth(of, key.second);
        if (of.counts_generations && differs(*before, made))
            make_object(made, "metadata")["generation"] =
                integer_at(old_metadata, {"generation"}).value_or(0) + 1;
        answer done;
        if (made == *before || how.dry_run) {
            done.body = std::move(made);
            return done;
        }
        const json::array* const finalizers = array_at(made, {"metadata", "finalizers"});
        const bool leaves = object_at(made, {"metadata"})->contains("deletionTimestamp") &&
                            (!finalizers || finalizers->empty()) &&
                            integer_at(made, {"metadata", "deletionGracePeriodSeconds"}) == 0;
        // Its group may wait for that.
        if (of.plural == "pods" && has_ended(made) && !pod_group_of(made).empty())
            owners_changed = true;
        done.body = *objects.put(kind, key, std::move(made));
        if (leaves)
            erase(kind, key);
        else
            after_write(kind, key);
        return done;
    }

    [[nodiscard]] answer remove(std::size_t kind, const object_key& key,
                                const delete_options& how) {
        const kind_info& of = kinds[kind];
        const shared_object found = objects.find(kind, key);
        if (!found)
            return missing(kind, key.second);
        const json::object& metadata = *object_at(*found, {"metadata"});
        const auto changed_since = [&](const char* what, const std::string& wanted,
                                       std::string_view found_there, const char* how_come) {
            return conflict(of.kind, of.group, key.second,
                            "the " + std::string(what) + " in the precondition (" + wanted +
                                ") does not match the " + what + " in record (" +
                                std::string(found_there) + "). The object might have been " +
                                how_come);
        };
        if (const auto uid = text_at(metadata, {"uid"}); !how.uid.empty() && how.uid != uid)
            return changed_since("UID", how.uid, uid, "deleted and then recreated");
        if (const auto version = text_at(metadata, {"resourceVersion"});
            !how.version.empty() && how.version != version)
            return changed_since("ResourceVersion", how.version, version, "modified");
        const std::int64_t grace = grace_of(of, *found, how);
        json::object made = *found;
        json::object& changed = make_object(made, "metadata");
        json::array finalizers;
        if (const json::array* const known = array_at(made, {"metadata", "finalizers"}))
            finalizers = *known;
        const bool was_leaving = changed.contains("deletionTimestamp");
        if (!was_leaving)
            add_propagation(how.propagation, finalizers);
        if (of.plural == "namespaces" && of.group.empty())
            return remove_namespace(kind, key, std::move(made), how);
        const bool held = grace > 0 || !finalizers.empty();
        if (held && was_leaving) {
            const auto left = integer_at(changed, {"deletionGracePeriodSeconds"}).value_or(0);
            if (grace >= left)
                return shown(*found);
        }
        if (held) {
            constexpr std::int64_t second = 1'000'000'000;
            begin_deletion(of, changed, time_text((now / second + grace) * second), grace);
            if (!finalizers.empty())
                changed["finalizers"] = std::move(finalizers);
            if (how.dry_run)
                return shown(made);
            owners_changed = true;
            return shown(*objects.put(kind, key, std::move(made)));
        }
        json::object details = details_of(key.second, of.group, of.plural);
        details["uid"] = text_at(metadata, {"uid"});
        if (how.dry_run)
            return of.returns_deleted ? shown(*found) : succeeded(200, std::move(details));
        // Of a pod its last form says that it was deleted with no grace left.
        json::object ended = *found;
        if (is_pod(of))
            begin_deletion(of, make_object(ended, "metadata"), time_now(), 0);
        const shared_object last = erase(kind, key, is_pod(of) ? &ended : nullptr);
        return of.returns_deleted ? shown(*last) : succeeded(200, std::move(details));
    }

    /// Takes an object away, whatever holds it. `ended`: its last form; as it is when null.
    shared_object erase(std::size_t kind, const object_key& key,
                        const json::object* ended = nullptr) {
        owners_changed = true;
        const shared_object last = objects.erase(kind, key, ended);
        restored_owners.erase(std::string(text_at(*last, {"metadata", "uid"})));
        if (kinds[kind].plural == "customresourcedefinitions")
            withdraw(*last);
        return last;
    }

    [[nodiscard]] static answer shown(const json::object& body) {
        answer made;
        made.body = body;
        return made;
    }

private:
    [[nodiscard]] std::string suffix() {
        constexpr std::string_view letters = "bcdfghjklmnpqrstvwxz2456789";
        std::string made;
        for (int at = 0; at < 5; ++at)
            made += letters[uids_.below(letters.size())];
        return made;
    }

    [[nodiscard]] std::string new_uid() {
        constexpr std::string_view digits = "0123456789abcdef";
        std::string made = "xxxxxxxx-xxxx-4xxx-8xxx-xxxxxxxxxxxx";
        for (char& each : made)
            if (each == 'x')
                each = digits[uids_.below(16)];
        return made;
    }

    /// An object without apiVersion and kind is taken for what the path says.
    [[nodiscard]] std::optional<answer> check_type(const kind_info& of, json::object& made) const {
        const std::string_view version = text_at(made, {"apiVersion"});
        const std::string_view kind = text_at(made, {"kind"});
        if (!version.empty() && version != of.api_version())
            return bad_request("the API version in the data (" + std::string(version) +
                               ") does not match the expected API version (" + of.api_version() +
                               ")");
        if (!kind.empty() && kind != of.kind)
            return cannot_decode(of, "no kind \"" + std::string(kind) +
                                         "\" is registered for version \"" + of.api_version() +
                                         "\"");
        made["apiVersion"] = of.api_version();
        made["kind"] = of.kind;
        return std::nullopt;
    }

    [[nodiscard]] bool may_grow(const json::object& claim) const {
        const shared_object storage_class =
            objects.find(kinds.at("storage.k8s.io", "v1", "storageclasses"),
                         {"", std::string(class_name_of(claim))});
        return storage_class && true_at(*storage_class, {"allowVolumeExpansion"});
    }

    [[nodiscard]] static bool version_needed(const kind_info& of) {
        return of.custom || of.plural == "leases";
    }

    [[nodiscard]] static bool differs(const json::object& before, const json::object& after) {
        json::object one = before;
        json::object other = after;
        for (json::object* each : {&one, &other}) {
            each->erase("metadata");
            each->erase("status");
        }
        return one != other;
    }

    [[nodiscard]] std::optional<answer> prepare_new(std::size_t kind, json::object& made,
                                                    const write_options& how,
                                                    std::vector<field_cause>& wrong) {
        const kind_info& of = kinds[kind];
        // Nodes are made with their status, as kubelets and tests do.
        const bool keeps_status = of.plural == "nodes" || of.plural == "namespaces" ||
                                  (how.restored && keeps_restored_status(of, made));
        if (of.has_status && !keeps_status)
            made.erase("status");
        if (auto refusal = check_custom(of, made, how.strict, wrong))
            return refusal;
        if (is_pod(of)) {
            if (auto refusal =
                    set_priority(objects, kinds.at("scheduling.k8s.io", "v1", "priorityclasses"),
                                 made, how.restored))
                return refusal;
            default_pod(made, time_now());
        }
        if (is_pod_group(of))
            default_pod_group(made);
        protect_storage(of, made);
        if (of.plural == "namespaces") {
            detail::set_default(make_object(make_object(made, "metadata"), "labels"),
                                "kubernetes.io/metadata.name",
                                json::value(text_at(made, {"metadata", "name"})));
            make_object(made, "spec")["finalizers"] = json::array{"kubernetes"};
            make_object(made, "status")["phase"] = "Active";
        }
        if (of.plural == "customresourcedefinitions")
            establish(made, time_now());
        return std::nullopt;
    }

    void keep_owners(const json::object& of) {
        if (const json::array* const owners = array_at(of, {"metadata", "ownerReferences"}))
            for (const json::value& each : *owners)
                if (each.is_object())
                    restored_owners.emplace(text_at(each.get_object(), {"uid"}));
    }

    void after_write(std::size_t kind, const object_key& key) {
        if (kinds[kind].plural != "customresourcedefinitions")
            return;
        if (const shared_object made = objects.find(kind, key))
            for (kind_info& each : defined_kinds(*made))
                static_cast<void>(kinds.serve(std::move(each)));
    }

    void withdraw(const json::object& definition) {
        for (const kind_info& each : defined_kinds(definition))
            if (const auto at = kinds.find(each.group, each.version, each.plural)) {
                const object_store::objects all = objects.all(*at);
                for (const auto& [key, object] : all)
                    objects.erase(*at, key);
                kinds.withdraw(*at);
            }
    }

    static void begin_deletion(const kind_info& of, json::object& metadata, std::string when,
                               std::int64_t grace) {
        const bool was_leaving = metadata.contains("deletionTimestamp");
        if (!was_leaving && of.counts_generations)
            metadata["generation"] = integer_at(metadata, {"generation"}).value_or(0) + 1;
        metadata["deletionTimestamp"] = std::move(when);
        metadata["deletionGracePeriodSeconds"] = grace;
    }

    [[nodiscard]] static std::int64_t grace_of(const kind_info& of, const json::object& found,
                                               const delete_options& how) {
        if (of.plural != "pods" || !of.group.empty() || !is_held(found))
            return 0;
        const std::int64_t own =
            integer_at(found, {"spec", "terminationGracePeriodSeconds"}).value_or(30);
        return std::max<std::int64_t>(0, how.grace.value_or(own));
    }

    static void add_propagation(const std::string& propagation, json::array& finalizers) {
        const std::string_view added = propagation == "Foreground" ? "foregroundDeletion"
                                       : propagation == "Orphan"   ? "orphan"
                                                                   : "";
        if (!added.empty() && std::ranges::find(finalizers, json::value(added)) == finalizers.end())
            finalizers.push_back(json::value(added));
    }

    [[nodiscard]] answer remove_namespace(std::size_t kind, const object_key& key,
                                          json::object made, const delete_options& how) {
        json::object& metadata = make_object(made, "metadata");
        if (!metadata.contains("deletionTimestamp"))
            metadata["deletionTimestamp"] = time_now();
        make_object(made, "status")["phase"] = "Terminating";
        if (how.dry_run)
            return shown(made);
        owners_changed = true;
        return shown(*objects.put(kind, key, std::move(made)));
    }

    random uids_;
};

} // namespace api_server
} // namespace testing
} // namespace v0_1
} // namespace muster
