// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include <muster/kube/object_cache.hpp>
#include <muster/kube/time.hpp>

namespace muster {
inline namespace v0_1 {
namespace kube {

/// Remembers, per owner, whether objects that are fetched by name (`followed_kind::by_name`) exist.
/// These objects are not watched, so an entry expires after one minute. Times: steady clock, in
/// nanoseconds.
class named_objects {
public:
    void put(const object_id& owner, const object_id& object, bool exists, std::int64_t now) {
        known_[owner].insert_or_assign(object, standing{exists, now});
    }
    [[nodiscard]] bool is_known(const object_id& owner, const object_id& object) const {
        const auto at = known_.find(owner);
        return at != known_.end() && at->second.contains(object);
    }

    /// Drops the owner's entries that are at least one minute old. Returns the dropped objects that
    /// existed.
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
    /// Drops all entries of the owner. Returns the objects that existed.
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
} // namespace v0_1
} // namespace muster
