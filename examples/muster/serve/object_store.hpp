// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/serve/json_values.hpp>

namespace muster {
inline namespace v0_1 {
namespace testing {
namespace api_server {

/// Namespace and name; the namespace is empty for kinds that are not in one.
using object_key = std::pair<std::string, std::string>;

/// One change that was written.
struct change {
    enum class type : std::uint8_t { added, modified, deleted };
    std::uint64_t version = 0;
    std::size_t kind = 0;
    type what = type::added;
    object_key key = {};
    shared_object before = nullptr;
    /// As it is now; of a deleted one, as it was last, with the version of the deletion.
    shared_object object = nullptr;
};

/// Objects by kind and key under one counter of versions, and the history of their changes. Old
/// history is forgotten by compact(), or when it grows beyond `most_changes`.
class object_store {
public:
    using objects = std::map<object_key, shared_object>;
    static constexpr std::size_t most_changes = 200'000;

    [[nodiscard]] std::uint64_t version() const noexcept { return version_; }
    /// Changes up to this one are forgotten.
    [[nodiscard]] std::uint64_t forgotten() const noexcept { return forgotten_; }
    [[nodiscard]] const std::deque<change>& history() const noexcept { return history_; }

    [[nodiscard]] const objects& all(std::size_t kind) const {
        static const objects none;
        return kind < kinds_.size() ? kinds_[kind] : none;
    }

    [[nodiscard]] shared_object find(std::size_t kind, const object_key& key) const {
        const objects& known = all(kind);
        const auto at = known.find(key);
        return at == known.end() ? nullptr : at->second;
    }

    /// Writes an object as it is from now on; gives it as written, with its version.
    shared_object put(std::size_t kind, const object_key& key, json::object made) {
        if (kind >= kinds_.size())
            kinds_.resize(kind + 1);
        shared_object& at = kinds_[kind][key];
        const shared_object before = at;
        at = versioned(std::move(made));
        remember({version_, kind, before ? change::type::modified : change::type::added, key,
                  before, at});
        return at;
    }

    /// Deletes an object that is there; gives its last form, which is `ended` when that is not
    /// null.
    shared_object erase(std::size_t kind, const object_key& key,
                        const json::object* ended = nullptr) {
        objects& known = kinds_[kind];
        const auto at = known.find(key);
        const shared_object before = at->second;
        known.erase(at);
        const shared_object last = versioned(ended ? *ended : *before);
        remember({version_, kind, change::type::deleted, key, before, last});
        return last;
    }

    /// The objects of a kind as they were at a version; nothing when that is forgotten.
    [[nodiscard]] std::optional<objects> as_of(std::size_t kind, std::uint64_t version) const {
        if (version < forgotten_ || version > version_)
            return std::nullopt;
        objects made = all(kind);
        for (auto each = history_.rbegin(); each != history_.rend() && each->version > version;
             ++each) {
            if (each->kind != kind)
                continue;
            if (each->before)
                made[each->key] = each->before;
            else
                made.erase(each->key);
        }
        return made;
    }

    /// The first change after a version, as an index into history().
    [[nodiscard]] std::size_t first_after(std::uint64_t version) const {
        const std::uint64_t before_first = version_ - history_.size();
        return version <= before_first ? 0 : static_cast<std::size_t>(version - before_first);
    }

    /// Forgets the history up to now.
    void compact() {
        history_.clear();
        forgotten_ = version_;
    }

private:
    shared_object versioned(json::object made) {
        ++version_;
        make_object(made, "metadata")["resourceVersion"] = std::to_string(version_);
        return std::make_shared<const json::object>(std::move(made));
    }

    void remember(change made) {
        history_.push_back(std::move(made));
        if (history_.size() > most_changes) {
            forgotten_ = history_.front().version;
            history_.pop_front();
        }
    }

    std::vector<objects> kinds_;
    std::deque<change> history_;
    std::uint64_t version_ = 0;
    std::uint64_t forgotten_ = 0;
};

} // namespace api_server
} // namespace testing
} // namespace v0_1
} // namespace muster
