// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <muster/apis/core/each_object.hpp>
#include <muster/apis/gang_definition.hpp>
#include <muster/document/diagnostic.hpp>
#include <muster/document/document.hpp>
#include <muster/gangs/gang_object.hpp>
#include <muster/gangs/pod_marks.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// Who made an object, as far as ownerReferences tell. A cluster's dump holds jobs beside the
/// groups and pods that were made of them, which must not count twice.
class gang_origins {
public:
    /// `makes(std::string_view version, std::string_view kind)` says whose objects are read as what
    /// they make. With `pods_stand` pods of the input stand for the jobs that made them.
    template<class Makes>
    gang_origins(const std::vector<document>& documents, std::string default_namespace,
                 const Makes& makes, bool pods_stand = false)
        : default_namespace_(std::move(default_namespace)) {
        diagnostics aside; // the reading proper finds the same faults
        each_object(documents, aside,
                    [&](object_reader& object, std::string_view version, std::string_view kind,
                        const object_place&) {
                        const auto& manifest = object.value()->get_object();
                        known one;
                        one.makes = makes(version, kind);
                        one.owners = owners_of(manifest);
                        one.uid = uid_of(manifest);
                        objects_.try_emplace(name_of(manifest, kind), std::move(one));
                        object.ignore_rest();
                    });
        if (!pods_stand)
            return;
        std::vector<key> pods;
        for (const auto& [name, one] : objects_)
            if (std::get<0>(name) == "Pod")
                pods.push_back(name);
        for (const key& pod : pods)
            climb(pod, [&](const key& name) {
                known& above = objects_.at(name);
                above.has_pods = true;
                above.makes = above.makes && std::get<0>(name) == "PodGang";
                return false;
            });
    }

    /// Pods of the input are its own, or those of what it made.
    [[nodiscard]] bool has_pods(const boost::json::object& manifest, std::string_view kind) const {
        const auto here = objects_.find(name_of(manifest, kind));
        return here != objects_.end() && here->second.has_pods;
    }

    /// `Kind name` of the object of the input that made this one, or made its maker; empty: none.
    [[nodiscard]] std::string maker(const boost::json::object& manifest,
                                    std::string_view kind) const {
        std::string who;
        climb(name_of(manifest, kind), [&](const key& above) {
            if (objects_.at(above).makes)
                who = std::get<0>(above) + " " + std::get<2>(above);
            return !who.empty();
        });
        return who;
    }

private:
    using key = std::tuple<std::string, std::string, std::string>; ///< kind, namespace, name

    struct known {
        std::vector<translate::object_reference> owners;
        std::string uid;
        bool makes = false;
        bool has_pods = false;
    };

    /// Calls `visit(const key&)` for the owners, theirs, and so on, until it returns true.
    template<class Visit>
    void climb(key from, const Visit& visit) const {
        std::vector<key> open{std::move(from)};
        std::set<key> seen{open.front()};
        for (std::size_t at = 0; at < open.size(); ++at) {
            const auto here = objects_.find(open[at]);
            if (here == objects_.end())
                continue;
            for (const translate::object_reference& owner : here->second.owners) {
                key next{owner.kind, std::get<1>(open[at]), owner.name};
                const auto found = objects_.find(next);
                if (found == objects_.end() || !seen.insert(next).second ||
                    (!owner.uid.empty() && !found->second.uid.empty() &&
                     owner.uid != found->second.uid))
                    continue;
                if (visit(next))
                    return;
                open.push_back(std::move(next));
            }
        }
    }

    static std::string uid_of(const boost::json::object& manifest) {
        const auto* metadata = translate::find_object(&manifest, "metadata");
        return std::string(translate::find_text(metadata, "uid").value_or(""));
    }

    key name_of(const boost::json::object& manifest, std::string_view kind) const {
        const std::string_view home = translate::metadata_namespace(manifest);
        return {std::string(kind), home.empty() ? default_namespace_ : std::string(home),
                std::string(translate::metadata_name(manifest))};
    }

    std::string default_namespace_;
    std::map<key, known> objects_;
};

} // namespace codec
} // namespace v0_1
} // namespace muster
