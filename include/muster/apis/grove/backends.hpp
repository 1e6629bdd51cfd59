// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <muster/apis/gang_facts.hpp>
#include <muster/apis/grove/backend_concept.hpp>
#include <muster/apis/kai/writer.hpp>
#include <muster/apis/koordinator/writer.hpp>
#include <muster/apis/volcano/writer.hpp>
#include <muster/apis/workload/writer.hpp>
#include <muster/gangs/gang_object.hpp>
#include <muster/gangs/target.hpp>
#include <muster/gangs/write_options.hpp>
#include <muster/gangs/write_with.hpp>

namespace muster {
inline namespace v0_1 {
namespace translate {

namespace detail {

template<class Writer>
[[nodiscard]] written write_derived(const Writer& writer, const gang_bundle& bundle,
                                    grove_dialect dialect) {
    write_options options;
    options.dialect = dialect;
    return write_with(writer, bundle, options);
}

} // namespace detail

/// KAI: a PodGroup with a subgroup for each podgroup. In the dialect `seed` the scheduler opens the
/// gates of the pods that it places, and says on the PodGroup that it was scheduled.
struct kai_backend {
    kai_version version = kai_version::v0_15;

    [[nodiscard]] static constexpr std::string_view name() { return "kai"; }
    [[nodiscard]] static constexpr std::string_view scheduler() { return schedulers::kai; }
    [[nodiscard]] static constexpr bool opens_gates(grove_dialect dialect) {
        return dialect == grove_dialect::upstream;
    }
    /// KAI's own grouping is to leave what belongs to the PodGang alone.
    static void mark(gang_object& gang, grove_dialect dialect) {
        if (dialect == grove_dialect::upstream)
            gang.annotations[keys::kai_skip] = "true";
    }
    [[nodiscard]] written write(const gang_bundle& bundle, grove_dialect dialect) const {
        return detail::write_derived(kai_writer{version}, bundle, dialect);
    }
    /// Of a PodGroup, as it is to be while its gang is scheduled since then, or not.
    [[nodiscard]] static boost::json::object status(grove_dialect dialect, bool scheduled,
                                                    std::string_view since) {
        if (dialect != grove_dialect::seed)
            return {};
        return {{"schedulingConditions",
                 boost::json::array{boost::json::object{{"type", "Scheduled"},
                                                        {"status", scheduled ? "True" : "False"},
                                                        {"lastTransitionTime", since}}}}};
    }
};

/// Volcano: a PodGroup with a subgroup policy for each podgroup.
struct volcano_backend {
    [[nodiscard]] static constexpr std::string_view name() { return "volcano"; }
    [[nodiscard]] static constexpr std::string_view scheduler() { return schedulers::volcano; }
    [[nodiscard]] static constexpr bool opens_gates(grove_dialect) { return true; }
    [[nodiscard]] static written write(const gang_bundle& bundle, grove_dialect dialect) {
        return detail::write_derived(volcano_writer{}, bundle, dialect);
    }
};

/// Koordinator: a PodGroup for each podgroup, all in one gang group.
struct koordinator_backend {
    [[nodiscard]] static constexpr std::string_view name() { return "koordinator"; }
    [[nodiscard]] static constexpr std::string_view scheduler() { return schedulers::koordinator; }
    [[nodiscard]] static constexpr bool opens_gates(grove_dialect) { return true; }
    [[nodiscard]] static written write(const gang_bundle& bundle, grove_dialect dialect) {
        return detail::write_derived(koordinator_writer{}, bundle, dialect);
    }
};

/// Kubernetes' own scheduler. In the dialect `seed` a gang becomes a Workload, and since 1.36 a
/// PodGroup for each podgroup besides; in `upstream` pods are only handed to the scheduler.
struct default_backend {
    workload_version version = workload_version::v1_35;

    [[nodiscard]] static constexpr std::string_view name() { return "default"; }
    [[nodiscard]] static constexpr std::string_view scheduler() { return "default-scheduler"; }
    [[nodiscard]] static constexpr bool opens_gates(grove_dialect) { return true; }
    [[nodiscard]] written write(const gang_bundle& bundle, grove_dialect dialect) const {
        if (dialect == grove_dialect::seed)
            return detail::write_derived(workload_writer{version}, bundle, dialect);
        written made;
        for (const gang_pod& pod : bundle.pods) {
            made.objects.push_back(pod.document);
            child_at(made.objects.back(), "spec")["schedulerName"] = scheduler();
        }
        return made;
    }
};

static_assert(grove_backend<kai_backend>);
static_assert(grove_backend<volcano_backend>);
static_assert(grove_backend<koordinator_backend>);
static_assert(grove_backend<default_backend>);

/// The backends that a dialect knows: Volcano's came later than the walk-through.
[[nodiscard]] inline auto seed_backends() {
    return std::tuple(kai_backend{}, default_backend{}, koordinator_backend{});
}
[[nodiscard]] inline auto upstream_backends() {
    return std::tuple(kai_backend{}, default_backend{}, koordinator_backend{}, volcano_backend{});
}

/// Calls `use(backend)` with the first of `backends` whose scheduler it is; an empty name is that
/// of `default-scheduler`. False when there is none. One's own backends go into the tuple as well.
template<class Use, grove_backend... Backends>
bool with_backend(const std::tuple<Backends...>& backends, std::string_view scheduler,
                  const Use& use) {
    const std::string_view wanted = scheduler.empty() ? "default-scheduler" : scheduler;
    return std::apply(
        [&](const Backends&... each) {
            const auto fits = [&](const auto& one) {
                if (std::string_view(one.scheduler()) != wanted)
                    return false;
                use(one);
                return true;
            };
            return (fits(each) || ...);
        },
        backends);
}

} // namespace translate
} // namespace v0_1
} // namespace muster
