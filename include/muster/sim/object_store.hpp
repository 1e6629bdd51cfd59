// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/object.hpp>

#include <muster/apis/core/objects.hpp>
#include <muster/base/assert.hpp>
#include <muster/base/timestamp.hpp>
#include <muster/document/json_text.hpp>
#include <muster/document/transition_id.hpp>
#include <muster/gangs/pod_marks.hpp>
#include <muster/lifecycle/cascade.hpp>

namespace muster {
inline namespace v0_1 {
namespace sim {

[[nodiscard]] inline codec::object_key key_of(const boost::json::object& object) {
    return {std::string(translate::metadata_namespace(object)),
            std::string(translate::metadata_name(object))};
}

/// Objects as an API server keeps them, with what it fills in, and what it collects when an owner
/// is gone. Two of one kind and name there are not.
class object_store {
public:
    /// A new object, as it is stored from now on.
    const boost::json::object& create(boost::json::object object, std::int64_t now) {
        boost::json::object& metadata = translate::child_at(object, "metadata");
        const codec::object_key key = key_of(object);
        const std::string kind(translate::string_at(object, "kind"));
        if (!metadata.contains("uid"))
            metadata["uid"] = lifecycle::transition_id(key.name_space, kind + " " + key.name,
                                                       std::to_string(++created_));
        metadata["generation"] = 1;
        if (!metadata.contains("creationTimestamp"))
            metadata["creationTimestamp"] = time_text(now);
        const auto [at, fresh] = objects_.emplace(place{kind, key}, std::move(object));
        MUSTER_ASSERT(fresh, "names are looked at before something is created");
        return at->second;
    }

    [[nodiscard]] boost::json::object* find(std::string_view kind, const codec::object_key& key) {
        const auto at = objects_.find(place{std::string(kind), key});
        return at == objects_.end() ? nullptr : &at->second;
    }

    /// All but its status is what it is here.
    void replace(boost::json::object object) {
        boost::json::object& known = *find(translate::string_at(object, "kind"), key_of(object));
        if (auto* const status = known.if_contains("status"))
            object["status"] = std::move(*status);
        known = std::move(object);
    }

    /// Takes away an object and all that nobody owns any more then, by kind and name.
    [[nodiscard]] std::vector<boost::json::object> remove(std::string_view kind,
                                                          const codec::object_key& key) {
        std::vector<boost::json::object> gone;
        const auto at = objects_.find(place{std::string(kind), key});
        if (at == objects_.end())
            return gone;
        gone.push_back(std::move(at->second));
        objects_.erase(at);
        std::vector<place> places;
        for (const auto& [where, object] : objects_)
            places.push_back(where);
        for (const std::size_t orphan : lifecycle::orphans_of(all())) {
            const auto lost = objects_.find(places[orphan]);
            gone.push_back(std::move(lost->second));
            objects_.erase(lost);
        }
        return gone;
    }

    /// By kind and name.
    [[nodiscard]] std::vector<const boost::json::object*> all() const {
        std::vector<const boost::json::object*> made;
        for (const auto& [where, object] : objects_)
            made.push_back(&object);
        return made;
    }

private:
    using place = std::pair<std::string, codec::object_key>;
    std::map<place, boost::json::object> objects_;
    std::int64_t created_ = 0;
};

} // namespace sim
} // namespace v0_1
} // namespace muster
