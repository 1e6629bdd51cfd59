#!/usr/bin/env bash
# `muster explain` says what would start a group, and `muster whatif` confirms every word of it.
set -euo pipefail
. "$(dirname "$0")/cli.sh"

golden lab.explain 3 explain -f lab.yaml
golden lab.explain.json 3 explain -f lab.yaml -o json
golden lab_tune.explain.yaml 3 explain tune -f lab.yaml -o yaml
golden lab_few_tries.explain 3 explain train -f lab.yaml --tries 20
golden lab_no_tries.explain 3 explain train -f lab.yaml --tries 0
run 1 explain -f lab.yaml --tries -1

# confirm FILE: every line of options below a group starts it.
confirm() {
    local group='' line confirmed=0 next=no
    while IFS= read -r line; do
        case $line in
            NAME*) next=yes ;;
            "    --"*)
                # shellcheck disable=SC2086
                "$muster" whatif -f "$1" $line --no-headers >"$work/out" 2>/dev/null || true
                grep -qE "^${group%/*} +${group#*/} .* (Starts|Runs) " "$work/out" ||
                    fail "$1: $group does not start by $line"
                confirmed=$((confirmed + 1))
                ;;
            *)
                [[ $next = no ]] || group=${line%% *}
                [[ $group = */* ]] || group=default/$group
                next=no
                ;;
        esac
    done < <("$muster" explain -f "$1" 2>/dev/null)
    ((confirmed >= $2)) || fail "$1: only $confirmed changes are told"
}
confirm lab.yaml 12
confirm everything.yaml 17
# A ceiling is told by the queue that it is of, and that for what nobody may evict from the other.
golden firm_queues.explain 3 explain -f firm_queues.yaml
confirm firm_queues.yaml 2
# Of several domains the one is dropped that is in the way.
golden subgroup_domains.explain 3 explain -f subgroup_domains.yaml
confirm subgroup_domains.yaml 5
run 1 whatif -f subgroup_domains.yaml --set group.split.roles.lea.topology=
run 3 whatif -f subgroup_domains.yaml --set group.split.topology=
grep -q 'No group is better or worse off' "$work/out" || fail "the workers' rack still binds"
# The reason names the claim and the number of nodes that can use it; the change names the claim to bind.
golden volumes.explain 3 explain -f volumes.yaml
golden volumes.explain.json 3 explain tune -f volumes.yaml -o json
confirm volumes.yaml 4
run 1 whatif -f volumes.yaml --bind-claim nobody
# The reason gives the room in each zone if the shared claim is unbound, as it does if the claim is bound.
golden shared_claims.explain 3 explain -f shared_claims.yaml
golden shared_claims.explain.json 3 explain train -f shared_claims.yaml -o json
confirm shared_claims.yaml 5
# Storage of a zone does not come with a copy of a node: fewer claims to bind, or nodes in the zone, help.
golden zonal_storage.explain 3 explain -f zonal_storage.yaml
golden zonal_storage.explain.json 3 explain far -f zonal_storage.yaml -o json
confirm zonal_storage.yaml 10
# With the taint tolerated, the storage pool is too small: a change that whatif refutes is not named.
golden tainted_storage.explain 3 explain -f tainted_storage.yaml
# So it is if several nodes reach the storage.
sed '0,/name: b1/s//name: b0/; 0,/hostname: b1/s//hostname: b0/' zonal_storage.yaml >"$work/b0.yaml"
sed '0,/^---$/d; /^---$/,$d' "$work/b0.yaml" >"$work/two_nodes.yaml"
echo --- >>"$work/two_nodes.yaml"
cat zonal_storage.yaml >>"$work/two_nodes.yaml"
run 3 explain -f "$work/two_nodes.yaml"
confirm "$work/two_nodes.yaml" 7
# The reason names the zone and the region of a volume, and where a claim that is not bound can be provisioned.
golden claim_places.explain 3 explain -f claim_places.yaml
# If free volumes match, the reason names the chosen volume and the number of matching volumes.
run 3 explain -f shared_volume.yaml
grep -qF 'claim shared (free volume pv-a, one of 2) is in zone za: 1 of 2 nodes' "$work/out" ||
    fail "the choice of a volume is not told: $(head -n 1 "$work/out")"
# Reasons name what stops a group: the minima that do not fit together, the disk and the pod that has it, the
# field of the pod, the scheduler that serves a share. No change binds a claim that is made with its pod.
golden reason_words.explain 3 explain -f reason_words.yaml
! grep -q -- --bind-claim "$work/out" || fail "a claim that does not exist yet is to be bound"
sed '/kind: Node,/d' reason_words.yaml >"$work/no_nodes.yaml"
golden no_nodes.explain 3 explain together -f "$work/no_nodes.yaml"
# --bind-claim is not proposed for a claim that must be replaced first.
golden unusable_claims.explain 3 explain -f unusable_claims.yaml
confirm unusable_claims.yaml 1
# Reasons give the limits of drivers and the free bytes of pools; above every node's limit it is `never`.
golden attach_limits.explain 3 explain -f attach_limits.yaml
confirm attach_limits.yaml 6
# A volume that no pod uses counts while it is attached, and a volume that pods share may count twice.
# A pod that is removed leaves no attachment behind.
golden shared_attachments.explain 3 explain -f shared_attachments.yaml
confirm shared_attachments.yaml 3
# The reason counts attachments that are kept for shared volumes. The core counts too few on copies of a node, and
# nodes that differ only in a limit of attachments are tried apart.
golden kept_attachments.explain 3 explain -f kept_attachments.yaml
confirm kept_attachments.yaml 2
# A copy of a node has a host name of its own and none of the bound local volumes of the original.
golden host_labels.explain 3 explain -f host_labels.yaml
run 3 whatif -f host_labels.yaml --add-nodes 1xa1
grep -q 'No group is better or worse off' "$work/out" || fail "a local volume is reached from the copy"
# Reasons name the nodes of allocated ResourceClaims, and the ResourceClaims that do not exist yet.
golden allocated_claims.explain 3 explain -f allocated_claims.yaml
golden allocated_claims.explain.json 3 explain tuned -f allocated_claims.yaml -o json
# Members that wait beyond the minimum have reasons of their own, whether or not their group is named.
golden beyond_minimum.explain 3 explain train -f beyond_minimum.yaml
golden beyond_minimum.explain 3 explain -f beyond_minimum.yaml
golden beyond_minimum.explain.json 3 explain train -f beyond_minimum.yaml -o json
# ResourceClaims that are not ready are named, without options: none allocates them.
golden resource_claims.explain 3 explain -f resource_claims.yaml
golden resource_claims.explain.json 3 explain train -f resource_claims.yaml -o json
# Claims from templates start with their devices, and a pod for which too few are left says of which.
golden device_claims.plan 3 plan -f device_claims.yaml -o pods
golden device_claims.explain 3 explain tune -f device_claims.yaml
confirm device_claims.yaml 1
# A claim that several pods or a PodGroup share is allocated once, on one node with room for all of them.
golden shared_device_claims.plan 3 plan -f shared_device_claims.yaml -o json
golden shared_device_claims.explain 3 explain trio -f shared_device_claims.yaml
golden shared_gpus.plan 3 plan -f shared_gpus.yaml -o json
golden shared_gpus.explain 3 explain tune -f shared_gpus.yaml
# The sums of the nodes suffice for a gang, but only one zone does: its kubelets would reject a pod.
golden numa.plan 3 plan -f numa.yaml -o pods
golden numa.explain 3 explain -f numa.yaml
same numa.stderr "$work/err"
confirm numa.yaml 2
# Only a DeviceClass that serves the missing resource lets a pod wait for devices, and the reason says so.
golden no_devices.explain 3 explain -f no_devices.yaml
# A claim in use is named with the pod that uses it, and the headline says what kube-scheduler says.
golden busy_claim.explain 3 explain -f busy_claim.yaml
confirm busy_claim.yaml 1
# A minimum that one ReadWriteOncePod claim does not admit is never met, and the least reduction is proposed.
golden lone_claim.explain 3 explain -f lone_claim.yaml
confirm lone_claim.yaml 1
# A gang waits as long as a member whose storage may come could start it.
golden storage_may_come.explain 3 explain -f storage_may_come.yaml
confirm storage_may_come.yaml 3
# A free volume that another gang got is named with the claim and the gang.
golden taken_volume.explain 3 explain -f taken_volume.yaml
# A free volume of a node that is not there names the node, and such a node is proposed.
golden volume_of_absent_node.explain 3 explain -f volume_of_absent_node.yaml
confirm volume_of_absent_node.yaml 2
# A claim that does not exist hides no other reason.
golden unready_volume.explain 3 explain -f unready_volume.yaml
# The reason says why no node reaches a storage pool: no CSIStorageCapacity, or no topology of the driver.
golden missing_pools.explain 3 explain -f missing_pools.yaml
# A pool with room that makes no volume of that size says so.
golden largest_volume.explain 3 explain -f largest_volume.yaml
# In a complete listing a missing claim does not exist; in a partial input claims count as usable.
golden no_claims.explain 3 explain -f no_claims.json
run 0 plan -f no_claims.yaml
grep -qF "1 volume of a pod counts as usable on every node: the input holds no PersistentVolumeClaims" \
    "$work/err" || fail "without claims: $(cat "$work/err")"
# A copy of a node that cannot be read is not proposed, and not made: what it has is not known.
golden unread_node.explain 3 explain -f unread_node.yaml
confirm unread_node.yaml 2
complains unread_node_copy.stderr 1 whatif -f unread_node.yaml --add-nodes 1xn1
# The label, taint, host port or cordoned node that keeps pods off nodes is named.
golden node_filters.explain 3 explain -f node_filters.yaml
# A label that nodes lack for a topology spread is named.
golden spread_label.explain 3 explain -f spread_label.yaml
# Gated members exist: the reason names the gates, and the group is pending.
golden gated.explain 3 explain -f gated.yaml
golden gated.pods 3 plan -f gated.yaml -o pods
golden gated.table 3 plan -f gated.yaml
# A node counts once for each message of the headline, whatever number of its resources are short.
run 3 explain -f two_classes.yaml
grep -qF "0/3 nodes are available: 1 Insufficient cpu, 2 node(s) didn't find available persistent volumes" \
    "$work/out" || fail "the headline says: $(head -n 1 "$work/out")"
# The number of needed members does not count those that run.
golden more_needed.explain 3 explain -f more_needed.yaml --tries 0
golden more_needed.json 3 explain -f more_needed.yaml --tries 0 -o json
# Who fits only now that another starts is nominated, and comes once that one stands.
golden nominated.explain 3 explain evener -f nominated.yaml

# No change of the cluster makes a malformed request ready, and none is suggested.
cat >"$work/share.yaml" <<'END'
apiVersion: v1
kind: Node
metadata: {name: n1}
status: {allocatable: {cpu: "8", pods: "110", koordinator.sh/gpu-core: "200", koordinator.sh/gpu-memory-ratio: "200"}}
---
apiVersion: scheduling.koordinator.sh/v1alpha1
kind: Device
metadata: {name: n1}
spec:
  devices:
  - {type: gpu, id: GPU-0, minor: 0, health: true, resources: {koordinator.sh/gpu-core: "100", koordinator.sh/gpu-memory: 80Gi, koordinator.sh/gpu-memory-ratio: "100"}}
  - {type: gpu, id: GPU-1, minor: 1, health: true, resources: {koordinator.sh/gpu-core: "100", koordinator.sh/gpu-memory: 80Gi, koordinator.sh/gpu-memory-ratio: "100"}}
---
apiVersion: v1
kind: Pod
metadata: {name: g-0}
spec: {containers: [{name: c, resources: {limits: {koordinator.sh/gpu-core: "150", koordinator.sh/gpu-memory-ratio: "150"}}}]}
END
run 3 explain -f "$work/share.yaml"
grep -q 'not a multiple of 100' "$work/out" || fail "the share is not named: $(cat "$work/out")"
grep -q '^No change of one kind would start it.' "$work/out" || fail "changes: $(cat "$work/out")"
! grep -q '^- ' "$work/out" || fail "a change without a name is suggested: $(cat "$work/out")"
finish
