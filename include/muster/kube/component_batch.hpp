// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <muster/apis/core/objects.hpp>
#include <muster/document/diagnostic.hpp>
#include <muster/document/document.hpp>
#include <muster/input/gang_links.hpp>
#include <muster/input/linked_gangs.hpp>
#include <muster/kube/gang_records.hpp>
#include <muster/kube/live_links.hpp>

namespace muster {
inline namespace v0_1 {
namespace kube {

/// Moves the pods and groups of one component to manifests, for codec's readers, and declares there
/// the gangs that they define. The destructor moves them back.
class component_batch {
public:
    using group_list = std::vector<std::pair<live_object, group_record*>>;

    /// Replaces the pods, groups and gangs of `lent`. The arguments must outlive the object.
    component_batch(const live_links::component& of, std::map<live_object, group_record>& groups,
                    std::map<codec::object_key, pod_record>& pods, codec::manifests& lent)
        : lent_(&lent) {
        lent.pods.clear();
        lent.pod_groups.clear();
        lent.gangs.clear();
        bool foreign = false;
        for (const live_object& object : of.members) {
            if (!object.is_pod()) {
                group_record& record = groups.at(object);
                groups_.emplace_back(object, &record);
                foreign |= record.document.has_value();
                continue;
            }
            pod_record& record = pods.at(object.key);
            (record.ours ? pods_ : others_).push_back(&record);
            foreign |= record.ours && record.marks.has_value();
        }
        for (pod_record* const each : pods_) {
            each->object.unsupported = each->unsupported;
            lent.pods.push_back(std::move(each->object));
        }
        for (const auto& [object, record] : groups_)
            if (!record->document) {
                lent_groups_.push_back(record);
                lent.pod_groups.push_back(std::move(record->object));
            }
        if (foreign)
            declare_gangs();
        if (of.too_large)
            for (codec::declared_gang& each : lent.gangs) {
                each.fault = gang_fault::malformed;
                each.fault_detail = "its gang group is linked with more than " +
                                    std::to_string(codec::most_linked_gangs) +
                                    " gangs (expected at most so many)";
            }
    }
    component_batch(const component_batch&) = delete;
    component_batch& operator=(const component_batch&) = delete;
    ~component_batch() {
        while (returned_ < pods_.size())
            static_cast<void>(return_next());
        for (std::size_t at = 0; at < lent_groups_.size(); ++at)
            lent_groups_[at]->object = std::move(lent_->pod_groups[at]);
    }

    /// The pods that this scheduler places, in the order of the moved pods.
    [[nodiscard]] const std::vector<pod_record*>& pods() const noexcept { return pods_; }
    /// The pods of other schedulers, which are not moved.
    [[nodiscard]] const std::vector<pod_record*>& others() const noexcept { return others_; }
    [[nodiscard]] const group_list& groups() const noexcept { return groups_; }

    /// Moves back the first pod that was not moved back yet, and returns its record.
    [[nodiscard]] pod_record& return_next() {
        pod_record& record = *pods_[returned_];
        record.object = std::move(lent_->pods[returned_]);
        ++returned_;
        return record;
    }

private:
    /// Declares the gangs of other APIs than T9k's. If anything about them cannot be read, the
    /// component is one malformed gang.
    void declare_gangs() {
        std::vector<codec::document> documents;
        std::vector<std::optional<codec::document>*> homes;
        const auto lend = [&](std::optional<codec::document>& from) {
            documents.push_back(std::move(*from));
            homes.push_back(&from);
        };
        const group_record* first = nullptr;
        for (const auto& [object, record] : groups_)
            if (record->document) {
                first = first ? first : record;
                if (!record->is_broken)
                    lend(record->document);
            }
        for (pod_record* const each : pods_)
            if (each->marks)
                lend(each->marks);
        codec::diagnostics found(1);
        codec::declare_gangs(documents, *lent_, found);
        if (!found.ok()) {
            codec::declared_gang all;
            const codec::pod_object* const pod =
                lent_->pods.empty() ? nullptr : &lent_->pods.front();
            all.metadata.key = first ? first->who.key
                               : pod ? pod->metadata.key
                                     : codec::object_key{};
            if (first)
                all.metadata.uid = first->who.uid;
            all.origin = first
                             ? codec::origin_of(codec::group_api(first->of.version, first->of.kind))
                             : codec::group_origin::job;
            all.kind = "PodGroup";
            all.tree = gang_tree(1);
            all.fault = gang_fault::malformed;
            for (const codec::diagnostic& each : found.findings())
                if (each.level == codec::severity::error)
                    all.fault_detail = each.message;
            for (std::size_t at = 0; at < pods_.size(); ++at)
                if (pods_[at]->marks)
                    all.members.emplace(lent_->pods[at].metadata.key, vertex_index{0});
            lent_->gangs.clear();
            lent_->gangs.push_back(std::move(all));
        }
        // The gang of a group object that exists but cannot be read is malformed, not missing.
        for (codec::declared_gang& gang : lent_->gangs)
            for (const auto& [object, record] : groups_)
                if (record->is_broken && gang.fault == gang_fault::missing &&
                    record->who.key == gang.metadata.key) {
                    gang.fault = gang_fault::malformed;
                    gang.fault_detail.clear();
                }
        for (std::size_t at = 0; at < homes.size(); ++at)
            homes[at]->emplace(std::move(documents[at]));
    }

    codec::manifests* lent_;
    std::vector<pod_record*> pods_;
    std::vector<pod_record*> others_;
    group_list groups_;
    std::vector<group_record*> lent_groups_;
    /// The number of pods that were moved back.
    std::size_t returned_ = 0;
};

} // namespace kube
} // namespace v0_1
} // namespace muster
