// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>

namespace muster {
inline namespace v0_1 {
namespace translate {

/// The keys by which gang APIs tie pods to gangs, and speak of gangs in metadata.
namespace keys {
inline constexpr std::string_view t9k_group = "scheduler.tensorstack.dev/group-name";
inline constexpr std::string_view t9k_role = "scheduler.tensorstack.dev/role";
inline constexpr std::string_view t9k_queue = "scheduler.tensorstack.dev/queue";

inline constexpr std::string_view plugins_group = "scheduling.x-k8s.io/pod-group";
inline constexpr std::string_view sigs_group = "pod-group.scheduling.sigs.k8s.io";
inline constexpr std::string_view sigs_name = "pod-group.scheduling.sigs.k8s.io/name";
inline constexpr std::string_view sigs_minimum = "pod-group.scheduling.sigs.k8s.io/min-available";
inline constexpr std::string_view sigs_groups = "pod-group.scheduling.sigs.k8s.io/groups";
inline constexpr std::string_view sigs_matching = "pod-group.scheduling.sigs.k8s.io/match-policy";
inline constexpr std::string_view koord_name = "gang.scheduling.koordinator.sh/name";
inline constexpr std::string_view koord_minimum = "gang.scheduling.koordinator.sh/min-available";
inline constexpr std::string_view koord_groups = "gang.scheduling.koordinator.sh/groups";
inline constexpr std::string_view koord_matching = "gang.scheduling.koordinator.sh/match-policy";
inline constexpr std::string_view koord_queue = "quota.scheduling.koordinator.sh/name";
inline constexpr std::string_view koord_mode = "gang.scheduling.koordinator.sh/mode";
inline constexpr std::string_view koord_wait = "gang.scheduling.koordinator.sh/waiting-time";
inline constexpr std::string_view koord_total = "gang.scheduling.koordinator.sh/total-number";
inline constexpr std::string_view koord_timeout = "gang.scheduling.koordinator.sh/timeout";
inline constexpr std::string_view koord_topology =
    "gang.scheduling.koordinator.sh/network-topology-spec";

inline constexpr std::string_view volcano_group = "scheduling.k8s.io/group-name";
inline constexpr std::string_view volcano_own_group = "scheduling.volcano.sh/group-name";
inline constexpr std::string_view volcano_task = "volcano.sh/task-spec";
inline constexpr std::string_view volcano_preemptible = "volcano.sh/preemptable";
inline constexpr std::string_view volcano_queue = "scheduling.volcano.sh/queue-name";
inline constexpr std::string_view volcano_minimum = "scheduling.volcano.sh/group-min-member";

inline constexpr std::string_view kai_group = "pod-group-name";
inline constexpr std::string_view kai_subgroup = "kai.scheduler/subgroup-name";
inline constexpr std::string_view kai_queue = "kai.scheduler/queue";
inline constexpr std::string_view kai_skip = "kai.scheduler/skip-podgrouper";
inline constexpr std::string_view kai_owner = "kai.scheduler/top-owner-metadata";
inline constexpr std::string_view kai_topology = "kai.scheduler/topology";
inline constexpr std::string_view kai_preemptibility = "kai.scheduler/preemptibility";
inline constexpr std::string_view kai_topology_required =
    "kai.scheduler/topology-required-placement";
inline constexpr std::string_view kai_topology_preferred =
    "kai.scheduler/topology-preferred-placement";
inline constexpr std::string_view kai_batch_minimum = "kai.scheduler/batch-min-member";
inline constexpr std::string_view kai_preemption_delay = "kai.scheduler/preemption-delay";
inline constexpr std::string_view kai_staleness = "kai.scheduler/staleness-grace-period";

/// Annotations of a template by which Kueue places the pods made of it.
inline constexpr std::string_view kueue_required = "kueue.x-k8s.io/podset-required-topology";
inline constexpr std::string_view kueue_preferred = "kueue.x-k8s.io/podset-preferred-topology";
inline constexpr std::string_view kueue_slice_required =
    "kueue.x-k8s.io/podset-slice-required-topology";
inline constexpr std::string_view kueue_slice_size = "kueue.x-k8s.io/podset-slice-size";
inline constexpr std::string_view kueue_podset_group = "kueue.x-k8s.io/podset-group-name";

/// The marks of Kueue's plain pod groups. The group's name is a label, or an annotation where
/// Kueue's gate WorkloadIdentifierAnnotations is on.
inline constexpr std::string_view kueue_group = "kueue.x-k8s.io/pod-group-name";
inline constexpr std::string_view kueue_total = "kueue.x-k8s.io/pod-group-total-count";
inline constexpr std::string_view kueue_fast = "kueue.x-k8s.io/pod-group-fast-admission";
inline constexpr std::string_view kueue_serving = "kueue.x-k8s.io/pod-group-serving";
inline constexpr std::string_view kueue_retriable = "kueue.x-k8s.io/retriable-in-group";

/// Annotations by which a pod asks for a part of a GPU.
inline constexpr std::array<std::string_view, 2> kai_device_shares{"gpu-fraction", "gpu-memory"};

inline constexpr std::string_view grove_gang = "grove.io/podgang";
inline constexpr std::string_view grove_clique = "grove.io/podclique";
inline constexpr std::string_view grove_base_gang = "grove.io/base-podgang";
inline constexpr std::string_view grove_scheduler = "grove.io/scheduler-name";
inline constexpr std::string_view grove_backend = "grove.io/scheduler-backend";
inline constexpr std::string_view grove_topology = "grove.io/topology-name";
inline constexpr std::string_view grove_volcano_queue = "scheduling.grove.io/volcano-queue";
inline constexpr std::string_view grove_gate = "grove.io/podgang";
inline constexpr std::string_view grove_upstream_gate = "grove.io/podgang-pending-creation";
} // namespace keys

/// The names by which pods usually ask for the scheduler of a gang API.
namespace schedulers {
inline constexpr std::string_view t9k = "t9k-scheduler";
inline constexpr std::string_view volcano = "volcano";
inline constexpr std::string_view kai = "kai-scheduler";
inline constexpr std::string_view koordinator = "koord-scheduler";
inline constexpr std::string_view plugins = "scheduler-plugins-scheduler";
inline constexpr std::array of_gangs{t9k, volcano, kai, koordinator, plugins};
/// With what came before them, and what is no scheduler of gangs.
inline constexpr std::array usual{t9k,
                                  volcano,
                                  kai,
                                  koordinator,
                                  plugins,
                                  std::string_view("kube-batch"),
                                  std::string_view("default-scheduler"),
                                  std::string_view("kueue")};
} // namespace schedulers

} // namespace translate
} // namespace v0_1
} // namespace muster
