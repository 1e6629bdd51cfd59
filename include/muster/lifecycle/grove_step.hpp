// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include <muster/base/timestamp.hpp>
#include <muster/lifecycle/grove_view.hpp>
#include <muster/lifecycle/object_step.hpp>

namespace muster {
inline namespace v0_1 {
namespace lifecycle {

using grove_write = object_write;
using grove_step = object_step;

namespace detail {

/// Conditions as Kubernetes keeps them: the time of a condition is that of its last change.
class conditions {
public:
    conditions(const boost::json::object* object, std::int64_t now) : now_(time_text(now)) {
        if (const auto* list = object ? list_at(*object, "status", "conditions") : nullptr)
            list_ = *list;
    }

    void set(std::string_view type, std::string_view status, std::string_view reason) {
        for (boost::json::value& each : list_)
            if (each.is_object() && text_at(each.get_object(), "type") == type) {
                boost::json::object& known = each.get_object();
                if (text_at(known, "status") != status)
                    known["lastTransitionTime"] = now_;
                known["status"] = status;
                known["reason"] = reason;
                return;
            }
        list_.push_back(boost::json::object{
            {"type", type}, {"status", status}, {"reason", reason}, {"lastTransitionTime", now_}});
    }
    void set(std::string_view type, bool status, std::string_view reason) {
        set(type, std::string_view(status ? "True" : "False"), reason);
    }

    [[nodiscard]] std::string_view status(std::string_view type) const {
        const auto* found = find(type);
        return found ? text_at(*found, "status") : std::string_view{};
    }
    [[nodiscard]] std::string_view reason(std::string_view type) const {
        const auto* found = find(type);
        return found ? text_at(*found, "reason") : std::string_view{};
    }
    /// When it last changed.
    [[nodiscard]] std::optional<std::int64_t> since(std::string_view type) const {
        const auto* found = find(type);
        return found ? parse_timestamp(text_at(*found, "lastTransitionTime")) : std::nullopt;
    }
    [[nodiscard]] const boost::json::array& list() const noexcept { return list_; }

private:
    [[nodiscard]] const boost::json::object* find(std::string_view type) const {
        for (const boost::json::value& each : list_)
            if (each.is_object() && text_at(each.get_object(), "type") == type)
                return &each.get_object();
        return nullptr;
    }

    boost::json::array list_;
    std::string now_;
};

} // namespace detail
} // namespace lifecycle
} // namespace v0_1
} // namespace muster
