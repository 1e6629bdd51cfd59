// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

#include <muster/apis/core/volumes/storage_listing.hpp>
#include <muster/kube/dialect.hpp>
#include <muster/kube/reflector.hpp>

#include "../plan/report.hpp"
#include "live_connect.hpp"
#include "waits_for_others.hpp"

namespace cli {

namespace {

namespace json = boost::json;
namespace kube = muster::kube;

/// Leaves out what no decision looks at: bookkeeping, and of containers all that may be secret.
void prune(json::object& object) {
    if (json::value* const metadata = object.if_contains("metadata"); metadata->is_object()) {
        json::object& of = metadata->get_object();
        of.erase("managedFields");
        if (json::value* const notes = of.if_contains("annotations"); notes && notes->is_object())
            notes->get_object().erase("kubectl.kubernetes.io/last-applied-configuration");
    }
    json::value* const spec = object.if_contains("spec");
    if (!spec || !spec->is_object())
        return;
    for (const char* list : {"containers", "initContainers", "ephemeralContainers"}) {
        json::value* const containers = spec->get_object().if_contains(list);
        if (!containers || !containers->is_array())
            continue;
        for (json::value& each : containers->get_array()) {
            if (!each.is_object())
                continue;
            json::object kept;
            for (const char* key : {"name", "image", "resources", "ports", "restartPolicy"})
                if (const json::value* const value = each.get_object().if_contains(key))
                    kept[key] = *value;
            each = std::move(kept);
        }
    }
}

/// Leaves out all of the object's spec but its selector, and its status: templates of pods may hold
/// secrets.
void keep_selector(json::object& object) {
    json::object kept;
    if (const json::value* const spec = object.if_contains("spec"); spec && spec->is_object())
        if (const json::value* const selector = spec->get_object().if_contains("selector"))
            kept["selector"] = *selector;
    object["spec"] = std::move(kept);
    object.erase("status");
}

struct gatherer {
    const kube::collection* of;
    std::map<muster::codec::object_key, std::string>* into;
    const std::vector<std::string>* scheduler_names;

    void upsert(const kube::arrived& object) {
        if (of->holds == kube::content::pod &&
            waits_for_others(object.value().get_object(), *scheduler_names))
            return gone(object.who());
        for (const std::string& fault : object.faults())
            log_warning(std::string(of->kind) + " " + object.who().key.name_space + "/" +
                        object.who().key.name +
                        ": written without a part that cannot be read: " + fault);
        json::object made{{"apiVersion", of->version}, {"kind", of->kind}};
        for (const auto& member : object.value().get_object())
            made[member.key()] = member.value();
        if (of->holds == kube::content::spread_owner)
            keep_selector(made);
        prune(made);
        (*into)[object.who().key] = json::serialize(made);
    }
    void gone(const kube::listed_object& who) { into->erase(who.key); }
};

enum class listing : std::uint8_t {
    complete,
    denied, ///< the server allows no look at an optional kind
    failed,
};

listing list(kube::transport& by, const kube::collection& of, std::int64_t until,
             const std::vector<std::string>& scheduler_names,
             std::map<muster::codec::object_key, std::string>& into) {
    kube::reflector_options how;
    how.path = of.path();
    how.may_be_absent = of.may_be_absent;
    kube::reflector from(how);
    gatherer sink{&of, &into, &scheduler_names};
    complaints wrong;
    while (from.lists() == 0) {
        const std::int64_t now = kube::read_clock().steady;
        if (now >= until || told_to_stop())
            break;
        if (auto wanted = from.next(now); wanted.start)
            by.start(std::move(*wanted.start));
        const std::int64_t wake = std::min(from.wakes(), until);
        for (const kube::arrival& each : by.poll(std::max<std::int64_t>(wake - now, 0))) {
            from.done(each.answer, kube::read_clock().steady, sink);
            if (!from.trouble().empty())
                wrong.say_new({from.trouble()});
            if (each.answer.status == 403)
                return of.may_be_absent ? listing::denied : listing::failed;
            if (each.answer.status == 401)
                return listing::failed;
        }
    }
    if (from.lists() > 0)
        return listing::complete;
    if (from.trouble().empty())
        log_error(how.path + ": no answer");
    say_not_listed();
    return listing::failed;
}

} // namespace

int snapshot(const snapshot_request& asked) {
    process_log() = {asked.format, "snapshot"};
    const auto by = connect(asked);
    if (!by)
        return usage;
    const std::int64_t until = kube::read_clock().steady + asked.patience * kube::second;
    std::string items;
    std::string listed;
    // A server may serve one kind in several API versions, each with all of its objects.
    std::set<std::pair<std::string_view, muster::codec::object_key>> stored;
    for (const kube::collection& each : kube::snapshot_collections()) {
        std::map<muster::codec::object_key, std::string> objects;
        const listing found = list(*by, each, until, asked.scheduler_names, objects);
        if (found == listing::failed)
            return usage;
        if (found == listing::complete)
            listed += (listed.empty() ? "" : ",") + std::string(each.version) + "/" +
                      std::string(each.kind);
        if (each.holds == kube::content::storage)
            std::erase_if(objects, [&](const auto& one) {
                return !stored.emplace(each.kind, one.first).second;
            });
        for (const auto& [key, object] : objects)
            items += (items.empty() ? "\n" : ",\n") + object;
        if (!objects.empty())
            log_info(std::to_string(objects.size()) + " " + std::string(each.plural) + "." +
                         std::string(each.version),
                     {{"count", std::to_string(objects.size())}, {"kind", std::string(each.kind)}});
    }
    // Distinguishes a listed kind without objects from a kind that was left out.
    const std::string text = R"({"apiVersion":"v1","kind":"List","metadata":{"annotations":{")" +
                             std::string(muster::codec::listed_kinds_key) + R"(":")" + listed +
                             R"("}},"items":[)" + items + "\n]}\n";
    if (asked.output.empty() || asked.output == "-") {
        std::fwrite(text.data(), 1, text.size(), stdout);
        return std::fflush(stdout) == 0 ? fine : usage;
    }
    std::ofstream out(asked.output, std::ios::binary);
    out << text;
    out.close();
    if (!out) {
        log_error(asked.output + ": cannot be written");
        return usage;
    }
    return fine;
}

} // namespace cli
