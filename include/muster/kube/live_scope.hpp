// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <muster/apis/core/objects.hpp>
#include <muster/apis/core/reading_rules.hpp>
#include <muster/input/membership.hpp>
#include <muster/kube/live_spread.hpp>

namespace muster {
inline namespace v0_1 {
namespace kube {

/// What bears on every group of a live cluster: namespaces, priority classes, Topologies, and how
/// old the pods of queues get. With it come the pods and the object of the group at hand, which are
/// lent to codec's finder of groups.
class live_scope {
public:
    explicit live_scope(codec::reading_rules rules) : spread(std::move(rules)), lookup_(lent) {}
    live_scope(const live_scope&) = delete;
    live_scope& operator=(const live_scope&) = delete;

    /// The pods, groups and gangs in it are lent; the rest is its own.
    codec::manifests lent;
    live_spread spread;

    void take(codec::namespace_object object) {
        const std::string name = object.metadata.key.name;
        const auto [at, fresh] = namespaces_.try_emplace(name);
        is_old_ |= fresh || at->second.metadata.labels != object.metadata.labels;
        at->second = std::move(object);
    }
    void lose_namespace(const std::string& name) { is_old_ |= namespaces_.erase(name) > 0; }

    void take(codec::priority_class_object object) {
        const std::string name = object.metadata.key.name;
        classes_.insert_or_assign(name, std::move(object));
        is_old_ = true;
    }
    void lose_class(const std::string& name) { is_old_ |= classes_.erase(name) > 0; }

    void take(codec::topology_object object) {
        const std::string name = object.metadata.key.name;
        topologies_.insert_or_assign(name, std::move(object));
        is_old_ = true;
    }
    void lose_topology(const std::string& name) { is_old_ |= topologies_.erase(name) > 0; }

    /// How old pods of a queue get at most.
    void set_age(const std::string& queue, std::optional<std::int64_t> age) {
        const auto at = own_ages_.find(queue);
        if (at == own_ages_.end() ? !age : age == at->second)
            return;
        if (age)
            own_ages_.insert_or_assign(queue, *age);
        else
            own_ages_.erase(at);
        ages_ = {own_ages_.begin(), own_ages_.end()};
        is_old_ = true;
    }

    /// True when something changed that bears on every group.
    [[nodiscard]] bool renew() {
        if (!std::exchange(is_old_, false))
            return false;
        lent.namespaces.clear();
        for (const auto& [name, object] : namespaces_)
            lent.namespaces.push_back(object);
        lent.priority_classes.clear();
        for (const auto& [name, object] : classes_)
            lent.priority_classes.push_back(object);
        lent.topologies.clear();
        for (const auto& [name, object] : topologies_)
            lent.topologies.push_back(object);
        lookup_ = codec::object_lookup(lent);
        return true;
    }

    [[nodiscard]] const codec::object_lookup& lookup() const noexcept { return lookup_; }
    [[nodiscard]] const std::map<std::string_view, std::int64_t>& ages() const noexcept {
        return ages_;
    }

private:
    std::map<std::string, codec::namespace_object> namespaces_;
    std::map<std::string, codec::priority_class_object> classes_;
    std::map<std::string, codec::topology_object> topologies_;
    std::map<std::string, std::int64_t> own_ages_;
    std::map<std::string_view, std::int64_t> ages_;
    codec::object_lookup lookup_;
    bool is_old_ = false;
};

} // namespace kube
} // namespace v0_1
} // namespace muster
