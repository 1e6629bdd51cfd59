// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <muster/codec/diagnostic.hpp>
#include <muster/codec/document.hpp>
#include <muster/codec/each_object.hpp>
#include <muster/codec/gang_definition.hpp>
#include <muster/translate/gang_object.hpp>
#include <muster/translate/pod_marks.hpp>

namespace muster::inline v0_1 {
namespace codec {

/// Who made an object, as far as ownerReferences tell. A cluster's dump holds jobs beside the
/// groups and pods that were made of them, which must not count twice.
class gang_origins {
public:
    /// `makes(std::string_view version, std::string_view kind)` says whose objects are read as what
    /// they make.
    template<class Makes>
    gang_origins(const std::vector<document>& documents, std::string default_namespace,
                 const Makes& makes)
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
    }

    /// `Kind name` of the object of the input that made this one, or made its maker; empty: none.
    [[nodiscard]] std::string maker(const boost::json::object& manifest,
                                    std::string_view kind) const {
        std::vector<key> open{name_of(manifest, kind)};
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
                if (found->second.makes)
                    return owner.kind + " " + owner.name;
                open.push_back(std::move(next));
            }
        }
        return {};
    }

private:
    using key = std::tuple<std::string, std::string, std::string>; ///< kind, namespace, name

    struct known {
        std::vector<translate::object_reference> owners;
        std::string uid;
        bool makes = false;
    };

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
} // namespace muster::inline v0_1
