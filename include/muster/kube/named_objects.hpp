// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include <muster/kube/object_cache.hpp>
#include <muster/kube/time.hpp>

namespace muster::inline v0_1 {
namespace kube {

/// What is known of objects that are got by their names (`followed_kind::by_name`), by the owner
/// that needs them. Nothing tells when such an object changes, so what is known of it lasts for a
/// minute. Times are steady.
class named_objects {
public:
    void put(const object_id& owner, const object_id& object, bool exists, std::int64_t now) {
        known_[owner].insert_or_assign(object, standing{exists, now});
    }
    [[nodiscard]] bool is_known(const object_id& owner, const object_id& object) const {
        const auto at = known_.find(owner);
        return at != known_.end() && at->second.contains(object);
    }

    /// Forgets what was known of an owner's objects at `now` - a minute or before, and returns
    /// those that existed.
    [[nodiscard]] std::vector<object_id> expire(const object_id& owner, std::int64_t now) {
        std::vector<object_id> gone;
        const auto at = known_.find(owner);
        if (at == known_.end())
            return gone;
        std::erase_if(at->second, [&](const auto& each) {
            const bool is_old = now - each.second.as_of >= minute;
            if (is_old && each.second.exists)
                gone.push_back(each.first);
            return is_old;
        });
        if (at->second.empty())
            known_.erase(at);
        return gone;
    }
    /// The same, whatever its age.
    [[nodiscard]] std::vector<object_id> forget(const object_id& owner) {
        return expire(owner, never_comes);
    }

private:
    struct standing {
        bool exists = false;
        std::int64_t as_of = 0;
    };
    std::map<object_id, std::map<object_id, standing>> known_;
};

} // namespace kube
} // namespace muster::inline v0_1
