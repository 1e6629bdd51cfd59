// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <muster/base/checked.hpp>
#include <muster/base/sequence.hpp>
#include <muster/devices/device_allocation.hpp>
#include <muster/devices/device_capacity.hpp>
#include <muster/devices/device_claim.hpp>
#include <muster/devices/device_features.hpp>
#include <muster/devices/device_table.hpp>

namespace muster {
inline namespace v0_1 {
namespace detail {

enum class match_verdict : std::uint8_t { unknown, matches, differs, failed };

/// What an alternative consumes of a device's capacities.
struct share_row {
    match_verdict verdict = match_verdict::unknown;
    /// By capacity, in billionths.
    sequence<int128> amounts;
};

struct alternative_row {
    const device_alternative* source = nullptr;
    const device_class* of_class = nullptr;
    std::size_t claim = 0;
    std::size_t request = 0;
    std::size_t index = 0;
    /// How many devices.
    std::int64_t count = 0;
    bool is_all = false;
    /// If `is_all`: the devices, ascending.
    sequence<std::size_t> all;
    /// By device.
    sequence<match_verdict> verdicts;
    sequence<share_row> shares;
    /// By device that the selectors match: the values of the derived attributes, in the order of
    /// the source. Empty if the source has none.
    sequence<std::vector<device_attribute>> derived;
};

struct request_row {
    const device_request* source = nullptr;
    std::size_t first_alternative = 0;
    std::size_t alternatives = 0;
};

struct claim_row {
    const device_claim* source = nullptr;
    std::size_t first_request = 0;
    std::size_t requests = 0;
};

/// Why an allocation fails.
struct allocation_error {
    device_errc code = device_errc::no_error;
    std::string text;
    std::size_t claim = 0;
    std::size_t request = 0;
};

/// The requests of the claims to allocate, and which device satisfies which of them. Selectors are
/// evaluated when they are first asked for, once for each alternative and device.
class claim_table {
public:
    claim_table(const device_table& devices, const device_classes& classes,
                const device_features& features)
        : devices_(devices), classes_(classes), features_(features) {}

    sequence<claim_row> claims;
    sequence<request_row> requests;
    sequence<alternative_row> alternatives;
    /// Set by functions that return false or `failed`.
    allocation_error error;

    /// Adds the claims. Returns false if they cannot be allocated whatever the devices.
    [[nodiscard]] bool add(const std::vector<device_claim>& sources,
                           const std::vector<device_pool>& pools) {
        for (const device_claim& claim : sources)
            if (!add(claim, pools))
                return false;
        return true;
    }

    /// Returns whether the selectors of an alternative match a device. If they do, and its derived
    /// attributes have values, `derived` has these.
    match_verdict matches(alternative_row& row, std::size_t device) {
        auto& verdict = row.verdicts[device];
        if (verdict != match_verdict::unknown)
            return verdict;
        std::vector<device_attribute> derived;
        verdict = evaluate(row, device, derived);
        if (verdict == match_verdict::matches && !derived.empty())
            row.derived[device] = std::move(derived);
        return verdict;
    }

    /// Sets the error of a pair for which matches() returned `failed`.
    void explain_match(const alternative_row& row, std::size_t device) {
        std::vector<device_attribute> derived;
        (void)evaluate(row, device, derived);
    }

    /// Returns what the alternative consumes of a device: `differs` if the device lacks a capacity
    /// or does not admit the amount.
    const share_row& share(alternative_row& row, std::size_t device) {
        auto& share = row.shares[device];
        if (share.verdict == match_verdict::unknown)
            compute_share(row, device, share);
        return share;
    }

    /// Sets the error of a pair for which share() returned `failed`.
    void explain_share(const alternative_row& row, std::size_t device) {
        share_row share;
        compute_share(row, device, share);
    }

    /// Returns true if two claims ask for the same, as far as the devices of the node show, and the
    /// order in which they get their devices does not matter. Precondition: all selectors are
    /// evaluated. False for some claims that are alike.
    [[nodiscard]] bool are_alike(std::size_t lhs, std::size_t rhs) const {
        const claim_row& left = claims[lhs];
        const claim_row& right = claims[rhs];
        if (left.requests != right.requests || !left.source->constraints.empty() ||
            !right.source->constraints.empty())
            return false;
        for (std::size_t index = 0; index < left.requests; ++index)
            if (!are_alike(requests[left.first_request + index],
                           requests[right.first_request + index]))
                return false;
        return left.requests > 0;
    }

    [[nodiscard]] std::string name_of(const alternative_row& row) const {
        const device_request& request = *requests[request_index(row)].source;
        return request.is_prioritized ? request.name + '/' + row.source->name : request.name;
    }

    [[nodiscard]] std::size_t request_index(const alternative_row& row) const noexcept {
        return claims[row.claim].first_request + row.request;
    }

    void fail(device_errc code, std::string text, const alternative_row& row) {
        error = {code, std::move(text), row.claim, row.request};
    }

private:
    [[nodiscard]] bool are_alike(const request_row& lhs, const request_row& rhs) const {
        if (lhs.alternatives != 1 || rhs.alternatives != 1)
            return false;
        const alternative_row& left = alternatives[lhs.first_alternative];
        const alternative_row& right = alternatives[rhs.first_alternative];
        return !left.is_all && !right.is_all && !left.source->admin_access &&
               !right.source->admin_access && left.count == right.count &&
               left.source->capacities == right.source->capacities &&
               left.source->tolerations == right.source->tolerations &&
               std::equal(left.verdicts.begin(), left.verdicts.end(), right.verdicts.begin());
    }

    [[nodiscard]] bool add(const device_claim& source, const std::vector<device_pool>& pools) {
        const auto claim = claims.size();
        claims.push_back({&source, requests.size(), source.requests.size()});
        std::int64_t devices = 0;
        for (std::size_t index = 0; index < source.requests.size(); ++index) {
            const device_request& request = source.requests[index];
            requests.push_back({&request, alternatives.size(), request.alternatives.size()});
            std::int64_t fewest = -1;
            for (std::size_t each = 0; each < request.alternatives.size(); ++each) {
                alternative_row row;
                row.source = &request.alternatives[each];
                row.claim = claim;
                row.request = index;
                row.index = each;
                if (!prepare(row, request, pools))
                    return false;
                if (fewest < 0 || row.count < fewest)
                    fewest = row.count;
                alternatives.push_back(std::move(row));
            }
            if (fewest > max_devices_per_claim - devices) {
                error = {device_errc::too_many_devices, request.name, claim, index};
                return false;
            }
            devices += fewest < 0 ? 0 : fewest;
        }
        for (const device_constraint& constraint : source.constraints)
            if (constraint.kind == device_constraint_kind::unknown) {
                error = {device_errc::unknown_kind, "constraint", claim, 0};
                return false;
            }
        return true;
    }

    [[nodiscard]] bool prepare(alternative_row& row, const device_request& request,
                               const std::vector<device_pool>& pools) {
        const device_alternative& source = *row.source;
        const auto refuse = [&](device_errc code, std::string text) {
            fail(code, std::move(text), row);
            return false;
        };
        if (request.is_prioritized && !features_.prioritized_list)
            return refuse(device_errc::feature_disabled, "DRAPrioritizedList");
        if (!source.capacities.empty() && !features_.consumable_capacity)
            return refuse(device_errc::feature_disabled, "DRAConsumableCapacity");
        if (!source.derived.empty() && !features_.derived_attributes)
            return refuse(device_errc::feature_disabled, "DRADerivedAttributes");
        for (const request_selector& selector : source.selectors)
            if (!selector.is_known)
                return refuse(device_errc::unknown_kind, "selector");
        if (source.admin_access && !features_.admin_access)
            return refuse(device_errc::feature_disabled, "DRAAdminAccess");
        const auto found = classes_.find(source.class_name);
        if (found == classes_.end())
            return refuse(device_errc::unknown_class, source.class_name);
        row.of_class = &found->second;
        row.verdicts.resize(devices_.devices.size(), match_verdict::unknown);
        row.shares.resize(devices_.devices.size());
        if (!source.derived.empty())
            row.derived.resize(devices_.devices.size());
        switch (source.mode) {
        case device_count_mode::exact:
            row.count = source.count;
            return true;
        case device_count_mode::all:
            return find_all(row, pools);
        case device_count_mode::unknown:
            break;
        }
        return refuse(device_errc::unknown_kind, "allocation mode");
    }

    /// Lists the devices of a request for all devices.
    [[nodiscard]] bool find_all(alternative_row& row, const std::vector<device_pool>& pools) {
        row.is_all = true;
        for (const device_pool& pool : pools)
            if (pool.state != pool_state::complete) {
                fail(device_errc::unusable_pool, pool.driver + '/' + pool.name, row);
                return false;
            }
        for (std::size_t device = 0; device < devices_.devices.size(); ++device) {
            if (matches(row, device) == match_verdict::failed)
                return false;
            if (row.verdicts[device] != match_verdict::matches)
                continue;
            if (features_.consumable_capacity) {
                const share_row& needed = share(row, device);
                if (needed.verdict == match_verdict::failed)
                    return false;
                if (needed.verdict != match_verdict::matches || !fits_empty(needed, device))
                    continue;
            }
            row.all.push_back(device);
        }
        row.count = static_cast<std::int64_t>(row.all.size());
        return true;
    }

    [[nodiscard]] bool fits_empty(const share_row& needed, std::size_t device) const noexcept {
        const device_row& row = devices_.devices[device];
        for (std::size_t index = 0; index < needed.amounts.size(); ++index)
            if (needed.amounts[index] > row.capacities[index])
                return false;
        return true;
    }

    [[nodiscard]] match_verdict evaluate(const alternative_row& row, std::size_t device,
                                         std::vector<device_attribute>& derived) {
        const muster::device& source = *devices_.devices[device].source;
        if (!features_.binding_conditions && !source.binding_conditions.empty())
            return match_verdict::differs;
        const auto& among = claims[row.claim].source->among;
        if (among && among->count(devices_.devices[device].id()) == 0)
            return match_verdict::differs;
        auto verdict = evaluate(row.of_class->selectors, row, device);
        if (verdict == match_verdict::matches)
            verdict = evaluate(row.source->selectors, row, device);
        return verdict == match_verdict::matches ? derive(row, device, derived) : verdict;
    }

    /// True if a constraint of the claim reads this attribute for the alternative.
    [[nodiscard]] bool is_constrained(const alternative_row& row, const std::string& name) const {
        const std::string& request = requests[request_index(row)].source->name;
        for (const device_constraint& each : claims[row.claim].source->constraints) {
            if (each.attribute != name)
                continue;
            bool applies = each.requests.empty();
            for (const std::string& one : each.requests)
                applies = applies || one == request || one == name_of(row);
            if (applies)
                return true;
        }
        return false;
    }

    /// Appends the values of the derived attributes of a device, `false` for those that no
    /// constraint reads: Kubernetes does not evaluate these.
    [[nodiscard]] match_verdict derive(const alternative_row& row, std::size_t device,
                                       std::vector<device_attribute>& to) {
        const muster::device& source = *devices_.devices[device].source;
        for (const derived_attribute& each : row.source->derived) {
            if (!is_constrained(row, each.name)) {
                to.push_back(false);
                continue;
            }
            derived_value found =
                each.tree && !source.unreadable.empty()
                    ? derived_value{{}, selector_outcome::failed, source.unreadable}
                    : each.of(source.attributes);
            if (!found.value) {
                fail(found.outcome == selector_outcome::failed
                         ? device_errc::selector_failed
                         : device_errc::selector_not_supported,
                     std::move(found.text), row);
                return match_verdict::failed;
            }
            to.push_back(*std::move(found.value));
        }
        return match_verdict::matches;
    }

    [[nodiscard]] match_verdict evaluate(const std::vector<request_selector>& selectors,
                                         const alternative_row& row, std::size_t device) {
        const device_row& target = devices_.devices[device];
        for (const request_selector& selector : selectors) {
            auto verdict =
                selector.parsed && !target.source->unreadable.empty()
                    ? selector_verdict{selector_outcome::failed, target.source->unreadable}
                    : selector.matches(target.source->attributes);
            switch (verdict.outcome) {
            case selector_outcome::matches:
                continue;
            case selector_outcome::differs:
                return match_verdict::differs;
            case selector_outcome::failed:
                fail(device_errc::selector_failed, std::move(verdict.text), row);
                return match_verdict::failed;
            case selector_outcome::not_supported:
                fail(device_errc::selector_not_supported, std::move(verdict.text), row);
                return match_verdict::failed;
            }
        }
        return match_verdict::matches;
    }

    void compute_share(const alternative_row& row, std::size_t device, share_row& share) {
        const muster::device& source = *devices_.devices[device].source;
        share.verdict = match_verdict::matches;
        // Another device may have the capacity, so a lack of it does not fail the allocation.
        if (!has_capacities(source, *row.source)) {
            share.verdict = match_verdict::differs;
            return;
        }
        for (const device_capacity& capacity : source.capacities) {
            const auto named = row.source->capacities.find(capacity.name);
            const auto needed =
                share_of(capacity, named == row.source->capacities.end() ? nullptr : &named->second,
                         features_.fractional_capacity);
            if (!needed) {
                fail(device_errc::bad_capacity,
                     capacity.name + ": " + std::string(message(needed.error())), row);
                share.verdict = match_verdict::failed;
                return;
            }
            share.amounts.push_back(needed->amount.billionths());
            if (!needed->admitted)
                share.verdict = match_verdict::differs;
        }
    }

    static bool has_capacities(const device& source, const device_alternative& alternative) {
        for (const auto& [name, amount] : alternative.capacities) {
            bool has = false;
            for (const device_capacity& capacity : source.capacities)
                has = has || capacity.name == name;
            if (!has)
                return false;
        }
        return true;
    }

    const device_table& devices_;
    const device_classes& classes_;
    const device_features& features_;
};

} // namespace detail
} // namespace v0_1
} // namespace muster
