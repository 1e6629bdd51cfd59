// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/serve/answer.hpp>
#include <muster/serve/controllers.hpp>
#include <muster/serve/discovery.hpp>
#include <muster/serve/journal.hpp>
#include <muster/serve/json_values.hpp>
#include <muster/serve/patch_object.hpp>
#include <muster/serve/pod_actions.hpp>
#include <muster/serve/registry.hpp>
#include <muster/serve/request_body.hpp>
#include <muster/serve/tables.hpp>
#include <muster/serve/target.hpp>

namespace muster {
inline namespace v0_1 {
namespace testing {
namespace api_server {

/// A Kubernetes API server without HTTP: handles requests one at a time, answers them from memory,
/// and sends changes to watches. Nothing happens by itself: set_time() sets the time, and
/// controllers run in settle(). Not supported: authorization, admission policies, CEL, conversion
/// between versions of a custom kind.
class api_store {
public:
    /// `now`: nanoseconds since 1970.
    explicit api_store(std::uint64_t seed = 1, std::int64_t now = 0)
        : registry_(seed, now), controllers_(registry_) {}
    api_store(const api_store&) = delete;
    api_store& operator=(const api_store&) = delete;

    /// Nanoseconds since 1970.
    void set_time(std::int64_t now) { registry_.now = now; }
    [[nodiscard]] std::int64_t time() const noexcept { return registry_.now; }
    [[nodiscard]] const kind_table& kinds() const noexcept { return registry_.kinds; }
    [[nodiscard]] const object_store& objects() const noexcept { return registry_.objects; }
    [[nodiscard]] const std::vector<journal_entry>& journal() const noexcept { return journal_; }
    /// Lets the garbage collector and the namespace controller finish.
    void settle() { controllers_.settle(); }
    /// Serves a kind from now on.
    void serve(kind_info kind) { static_cast<void>(registry_.kinds.serve(std::move(kind))); }
    /// Stores objects without the checks of a Kubernetes API server: a client has to withstand what
    /// other servers store.
    void store_unchecked() { registry_.checks_objects = false; }
    /// Forgets history, so that older watches and lists get 410.
    void compact() { registry_.objects.compact(); }

    /// Answers a request; a write is done when this returns.
    [[nodiscard]] answer handle(const request& asked) {
        const auto at = find_target(registry_.kinds, asked.path);
        if (!at) {
            if (auto found = discover(registry_.kinds, asked.path); found && asked.method == "GET")
                return *std::move(found);
            return refused_as_such(404, "NotFound",
                                   "the server could not find the requested resource");
        }
        const bool reads = asked.method == "GET" || asked.method == "HEAD";
        answer made = reads ? read(*at, asked) : write(*at, asked);
        if (!reads)
            journal_.push_back({registry_.now, verb_of(*at, asked), resource_name(*at),
                                at->in_namespace, at->name, asked.user, made.code, body_text(asked),
                                made.body});
        if (!reads && made.code < 300 && made.body.contains("metadata") &&
            text_at(made.body, {"kind"}) != "Status")
            made.body = shown_as(*at, std::move(made.body), look_of(asked),
                                 asked.asked("includeObject") == "Object");
        return made;
    }

    [[nodiscard]] request_name name_of(const request& asked) const {
        const auto at = find_target(registry_.kinds, asked.path);
        if (!at)
            return {asked.method == "GET" ? "get" : "create"};
        return {verb_of(*at, asked), resource_name(*at), at->in_namespace, at->name};
    }

    /// The next events of a watch, each a line of JSON; at most `most` of them. O(changes since).
    [[nodiscard]] std::vector<std::string> events(watch& of, std::size_t most = 1000) {
        std::vector<std::string> made;
        if (of.expired) {
            of.expired = false;
            made.push_back(event_line(
                "ERROR", refused(410, "Expired",
                                 "too old resource version: " + std::to_string(of.seen) + " (" +
                                     std::to_string(registry_.objects.forgotten() + 1) + ")")
                             .body));
            return made;
        }
        const object_store& store = registry_.objects;
        if (std::exchange(of.initial, false)) {
            for (const auto& [key, object] : store.all(of.kind))
                if (in_scope(of, key) && of.which.accepts(*object))
                    made.push_back(object_line("ADDED", of, *object));
            of.seen = store.version();
        }
        if (std::exchange(of.initial_end, false))
            made.push_back(bookmark(of, true));
        if (of.seen < store.forgotten()) {
            of.expired = true;
            return made;
        }
        for (std::size_t at = store.first_after(of.seen);
             at < store.history().size() && made.size() < most; ++at) {
            const change& each = store.history()[at];
            of.seen = each.version;
            if (each.kind == of.kind && in_scope(of, each.key))
                tell(of, each, made);
        }
        return made;
    }

    /// Says how far the watch has come.
    [[nodiscard]] std::string bookmark(const watch& of, bool initial_end = false) const {
        const kind_info& kind = registry_.kinds[of.kind];
        json::object metadata{{"resourceVersion", std::to_string(of.seen)}};
        if (initial_end)
            metadata["annotations"] = json::object{{"k8s.io/initial-events-end", "true"}};
        json::object object{{"kind", kind.kind},
                            {"apiVersion", kind.api_version()},
                            {"metadata", std::move(metadata)}};
        if (kind.plural == "pods") {
            object["spec"] = json::object{{"containers", nullptr}};
            object["status"] = json::object{};
        }
        return event_line("BOOKMARK", std::move(object));
    }

    [[nodiscard]] bool behind(const watch& of) const {
        return of.initial || of.initial_end || of.expired || of.seen < registry_.objects.version();
    }

private:
    [[nodiscard]] static look look_of(const request& asked) {
        // The first that we can do of what is accepted.
        if (const auto at = asked.accept.find("as="); at != std::string::npos) {
            const std::string_view rest = std::string_view(asked.accept).substr(at + 3);
            if (rest.starts_with("Table"))
                return look::table;
            if (rest.starts_with("PartialObjectMetadata"))
                return look::metadata;
        }
        return look::whole;
    }

    [[nodiscard]] static std::string verb_of(const target& at, const request& asked) {
        if (asked.method == "GET" || asked.method == "HEAD")
            return !at.name.empty() ? "get" : asked.asked_true("watch") ? "watch" : "list";
        if (asked.method == "POST")
            return "create";
        if (asked.method == "PUT")
            return "update";
        if (asked.method == "PATCH")
            return "patch";
        return at.name.empty() ? "deletecollection" : "delete";
    }

    [[nodiscard]] std::string resource_name(const target& at) const {
        const kind_info& of = registry_.kinds[at.kind];
        return resource_text(of.plural, of.group) + (at.sub.empty() ? "" : "/" + at.sub);
    }

    [[nodiscard]] json::object shown_as(const target& at, json::object object, look how,
                                        bool whole_rows) const {
        const kind_info& of = registry_.kinds[at.kind];
        if (how == look::metadata)
            return metadata_alone(object);
        if (how == look::table) {
            json::object metadata{
                {"resourceVersion", text_at(object, {"metadata", "resourceVersion"})}};
            return make_table(table_columns(of), {table_row(of, object, registry_.now, whole_rows)},
                              std::move(metadata));
        }
        return object;
    }

    [[nodiscard]] answer read(const target& at, const request& asked) {
        if (at.name.empty())
            return asked.asked_true("watch") ? open(at, asked) : list(at, asked);
        const object_key key{at.in_namespace, at.name};
        const shared_object found = registry_.objects.find(at.kind, key);
        if (!found)
            return registry_.missing(at.kind, at.name);
        return registry::shown(
            shown_as(at, *found, look_of(asked), asked.asked("includeObject") == "Object"));
    }

    [[nodiscard]] static std::optional<std::uint64_t> number(std::string_view text) {
        std::uint64_t made = 0;
        const auto read = std::from_chars(text.data(), text.data() + text.size(), made);
        if (text.empty() || read.ec != std::errc{} || read.ptr != text.data() + text.size())
            return std::nullopt;
        return made;
    }

    [[nodiscard]] static std::optional<answer> read_selectors(const request& asked,
                                                              selectors& into) {
        auto labels = parse_selector(asked.asked("labelSelector"));
        auto fields = parse_selector(asked.asked("fieldSelector"));
        if (!labels || !fields)
            return bad_request("unable to parse requirement of a selector");
        into = {*std::move(labels), *std::move(fields)};
        return std::nullopt;
    }

    [[nodiscard]] answer list(const target& at, const request& asked) {
        selectors which;
        if (auto wrong = read_selectors(asked, which))
            return *wrong;
        const object_store& store = registry_.objects;
        std::uint64_t version = store.version();
        std::optional<object_key> after;
        if (const std::string token(asked.asked("continue")); !token.empty()) {
            const auto parts = split_token(token);
            const auto asked_version = parts.empty() ? std::nullopt : number(parts[0]);
            if (!asked_version || parts.size() != 3)
                return bad_request("continue key is not valid");
            version = *asked_version;
            after = object_key{parts[1], parts[2]};
        } else if (const auto least = number(asked.asked("resourceVersion")); least) {
            if (*least > version)
                return refused(504, "Timeout",
                               "Timeout: Too large resource version: " + std::to_string(*least) +
                                   ", current: " + std::to_string(version));
            if (asked.asked("resourceVersionMatch") == "Exact")
                version = *least;
        }
        const auto all = store.as_of(at.kind, version);
        if (!all)
            return refused(410, "Expired",
                           "The provided continue parameter is too old to display a consistent "
                           "list result. You can start a new list without the continue parameter.");
        const std::uint64_t limit = number(asked.asked("limit")).value_or(0);
        const look how = look_of(asked);
        const kind_info& of = registry_.kinds[at.kind];
        json::array items;
        json::object metadata{{"resourceVersion", std::to_string(version)}};
        auto each = after ? all->upper_bound(*after) : all->begin();
        object_key last;
        std::int64_t left = 0;
        for (; each != all->end(); ++each) {
            if (!at.in_namespace.empty() && each->first.first != at.in_namespace)
                continue;
            if (!which.accepts(*each->second))
                continue;
            if (limit > 0 && items.size() >= limit) {
                ++left;
                continue;
            }
            last = each->first;
            const bool whole_rows = asked.asked("includeObject") == "Object";
            items.push_back(how == look::table
                                ? table_row(of, *each->second, registry_.now, whole_rows)
                            : how == look::metadata ? metadata_alone(*each->second)
                                                    : *each->second);
        }
        if (left > 0) {
            metadata["continue"] = std::to_string(version) + "/" + last.first + "/" + last.second;
            if (which.empty())
                metadata["remainingItemCount"] = left;
        }
        answer made;
        if (how == look::table)
            made.body = make_table(table_columns(of), std::move(items), std::move(metadata));
        else
            made.body = {
                {"kind", how == look::metadata ? "PartialObjectMetadataList" : of.kind + "List"},
                {"apiVersion", how == look::metadata ? "meta.k8s.io/v1" : of.api_version()},
                {"metadata", std::move(metadata)},
                {"items", std::move(items)}};
        return made;
    }

    [[nodiscard]] static std::vector<std::string> split_token(std::string_view token) {
        std::vector<std::string> made(1);
        for (const char c : token)
            if (c == '/')
                made.emplace_back();
            else
                made.back() += c;
        return made;
    }

    [[nodiscard]] answer open(const target& at, const request& asked) {
        watch made;
        if (auto wrong = read_selectors(asked, made.which))
            return *wrong;
        made.kind = at.kind;
        made.in_namespace = at.in_namespace;
        made.shown = look_of(asked);
        made.rows_with_objects = asked.asked("includeObject") == "Object";
        made.bookmarks = asked.asked_true("allowWatchBookmarks");
        made.seconds = static_cast<std::int64_t>(
            std::min<std::uint64_t>(number(asked.asked("timeoutSeconds")).value_or(0), 1U << 30U));
        const object_store& store = registry_.objects;
        const std::string_view from = asked.asked("resourceVersion");
        const auto version = number(from);
        if (!from.empty() && !version)
            return bad_request("resourceVersion: Invalid value: \"" + std::string(from) + "\"");
        const bool sends_initial = asked.asked_true("sendInitialEvents");
        if (version.value_or(0) == 0 || sends_initial) {
            made.initial = true;
            made.initial_end = sends_initial && made.bookmarks;
        } else {
            made.seen = *version;
            made.expired = *version < store.forgotten();
        }
        answer opened;
        opened.opens = std::move(made);
        return opened;
    }

    [[nodiscard]] static bool in_scope(const watch& of, const object_key& key) {
        return of.in_namespace.empty() || of.in_namespace == key.first;
    }

    void tell(watch& of, const change& each, std::vector<std::string>& to) const {
        const bool was = each.before && of.which.accepts(*each.before);
        const bool is = each.what != change::type::deleted && of.which.accepts(*each.object);
        if (!was && !is)
            return;
        if (is) {
            to.push_back(object_line(was ? "MODIFIED" : "ADDED", of, *each.object));
            return;
        }
        // What no longer belongs here is shown as it was, with the version of the change.
        json::object last = each.what == change::type::deleted ? *each.object : *each.before;
        make_object(last, "metadata")["resourceVersion"] = std::to_string(each.version);
        to.push_back(object_line("DELETED", of, last));
    }

    [[nodiscard]] std::string object_line(std::string_view type, watch& of,
                                          const json::object& object) const {
        if (of.shown == look::whole)
            return R"({"type":")" + std::string(type) + R"(","object":)" + json::serialize(object) +
                   "}\n";
        if (of.shown == look::metadata)
            return event_line(type, metadata_alone(object));
        const kind_info& kind = registry_.kinds[of.kind];
        json::array columns;
        if (!std::exchange(of.headed, true))
            columns = table_columns(kind);
        json::object metadata{
            {"resourceVersion", text_at(object, {"metadata", "resourceVersion"})}};
        return event_line(type,
                          make_table(std::move(columns),
                                     {table_row(kind, object, registry_.now, of.rows_with_objects)},
                                     std::move(metadata)));
    }

    [[nodiscard]] static std::string event_line(std::string_view type, json::object object) {
        return json::serialize(json::object{{"type", type}, {"object", std::move(object)}}) + "\n";
    }

    [[nodiscard]] answer write(const target& at, const request& asked) {
        write_options how;
        how.dry_run = asked.asked("dryRun") == "All";
        how.strict = asked.asked("fieldValidation") == "Strict";
        how.status = at.sub == "status";
        how.restored = asked.restores;
        const object_key key{at.in_namespace, at.name};
        if (asked.method == "DELETE")
            return remove(at, asked, how.dry_run);
        if (asked.method == "PATCH")
            return patch_object(registry_, at, asked, how);
        std::optional<json::value> body;
        if (auto refusal = read_body(asked, body))
            return *std::move(refusal);
        if (!body || !body->is_object())
            return bad_request("the object provided is unrecognized (must be of type " +
                               registry_.kinds[at.kind].kind + "): couldn't get version/kind");
        json::object& object = body->get_object();
        if (asked.method == "PUT" && !at.name.empty())
            return registry_.update(at.kind, key, std::move(object), how);
        if (asked.method != "POST" || (!at.name.empty() && at.sub.empty()))
            return refused(405, "MethodNotAllowed",
                           "the server does not allow this method on the requested resource");
        if (at.sub == "binding")
            return bind_pod(registry_, key, object, how.dry_run);
        if (at.sub == "eviction") {
            delete_options options;
            if (const json::object* const asked_for = object_at(object, {"deleteOptions"}))
                options = read_options(*asked_for, {});
            options.dry_run = options.dry_run || how.dry_run;
            return evict_pod(registry_, key, options);
        }
        return registry_.create(at.kind, at.in_namespace, std::move(object), how);
    }

    [[nodiscard]] static delete_options read_options(const json::object& from,
                                                     const request& asked) {
        delete_options made;
        made.grace = integer_at(from, {"gracePeriodSeconds"});
        if (const auto seconds = number(asked.asked("gracePeriodSeconds")); seconds)
            made.grace = static_cast<std::int64_t>(*seconds);
        made.uid = text_at(from, {"preconditions", "uid"});
        made.version = text_at(from, {"preconditions", "resourceVersion"});
        made.propagation = text_at(from, {"propagationPolicy"});
        if (const auto policy = asked.asked("propagationPolicy"); !policy.empty())
            made.propagation = policy;
        if (true_at(from, {"orphanDependents"}))
            made.propagation = "Orphan";
        made.dry_run = array_at(from, {"dryRun"}) && !array_at(from, {"dryRun"})->empty();
        return made;
    }

    [[nodiscard]] answer remove(const target& at, const request& asked, bool dry_run) {
        delete_options how;
        if (!asked.body.empty()) {
            std::optional<json::value> body;
            if (auto refusal = read_body(asked, body))
                return *std::move(refusal);
            if (!body || !body->is_object())
                return bad_request("the DeleteOptions cannot be read");
            how = read_options(body->get_object(), asked);
        } else {
            how = read_options({}, asked);
        }
        how.dry_run = how.dry_run || dry_run;
        if (!at.name.empty())
            return registry_.remove(at.kind, {at.in_namespace, at.name}, how);
        answer all = list(at, asked);
        if (all.code != 200)
            return all;
        selectors which;
        if (auto wrong = read_selectors(asked, which))
            return *wrong;
        const object_store::objects known = registry_.objects.all(at.kind);
        for (const auto& [key, object] : known)
            if ((at.in_namespace.empty() || key.first == at.in_namespace) && which.accepts(*object))
                static_cast<void>(registry_.remove(at.kind, key, how));
        return all;
    }

    registry registry_;
    controllers controllers_;
    std::vector<journal_entry> journal_;
};

} // namespace api_server
} // namespace testing
} // namespace v0_1
} // namespace muster
