// SPDX-License-Identifier: Apache-2.0
package main

import (
	"fmt"
	"slices"
	"time"
)

// sharedClaim creates ResourceClaim gpus, which requests one device of the stage's driver.
func (st *storing) sharedClaim() error {
	return st.s.on.admin.expect(201, "POST", resourceClaimsOf(st.s.namespace), asText(object{"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": object{"name": "gpus"},
		"spec": object{"devices": object{"requests": []object{st.oneDevice()}}}}))
}

// consumersOf returns the names that ResourceClaim gpus is reserved for, in the order of names.
func (st *storing) consumersOf() []string {
	_, claim := st.s.on.admin.get(resourceClaimsOf(st.s.namespace) + "/gpus")
	names := []string{}
	for _, each := range items(claim, "status", "reservedFor") {
		names = append(names, text(each, "name"))
	}
	slices.Sort(names)
	return names
}

// allocatedOnce starts a gang of two pods that share a claim. It is allocated once, in one write that
// reserves it for both, and both run on its node. A gang that comes later shares it too.
func allocatedOnce(s *stage, st *storing) error {
	if err := firstOf(st.devices("a", 1, nil), st.devices("b", 1, nil), st.sharedClaim(), s.group("g", 2, ""), st.deviceUser("g-0", "g"), st.deviceUser("g-1", "g"), s.runs("g", 2)); err != nil {
		return err
	}
	if got := st.consumersOf(); !slices.Equal(got, []string{"g-0", "g-1"}) {
		return unsafe(fmt.Sprintf("the claim is reserved for %v (expected g-0 and g-1)", got))
	}
	made, _, err := st.allocations()
	if err != nil {
		return err
	}
	if len(made) != 1 || len(items(made[0].body, "status", "reservedFor")) != 2 {
		return unsafe(fmt.Sprintf("%d writes allocate the claim (expected one, for two pods)", len(made)))
	}
	if err := firstOf(s.group("h", 1, ""), st.deviceUser("h-0", "h"), s.runs("h", 1)); err != nil {
		return err
	}
	if got := st.consumersOf(); !slices.Equal(got, []string{"g-0", "g-1", "h-0"}) {
		return unsafe(fmt.Sprintf("the claim is reserved for %v (expected g-0, g-1 and h-0)", got))
	}
	return nil
}

// sharersWithoutRoom has three pods share a claim, and two nodes with a device and room for two pods
// each. Nothing is written until a node has room for all three.
func sharersWithoutRoom(s *stage, st *storing) error {
	if err := firstOf(st.devices("a", 1, nil), st.devices("b", 1, nil), st.sharedClaim(), s.group("g", 3, ""), st.deviceUser("g-0", "g"), st.deviceUser("g-1", "g"), st.deviceUser("g-2", "g"), s.waits("g", 2*time.Second)); err != nil {
		return err
	}
	if made, _, err := st.allocations(); err != nil || len(made) > 0 {
		return firstOf(err, unsafe("the claim of a gang that does not fit was allocated"))
	}
	return firstOf(st.addNode("c", 3), st.devices("c", 1, nil), s.runs("g", 3), s.onlyOn("-c"))
}

// groupClaim starts two pods of a PodGroup of Kubernetes that use its claim. The claim is reserved for
// the PodGroup, and for no pod.
func groupClaim(on *server, in place, namespace string) error {
	if in.standIn != "" {
		return skipped("the stand-in speaks T9k's dialect alone")
	}
	return allocating(map[string]int{"a": 2, "b": 2}, func(s *stage, st *storing) error {
		s.readsDialects()
		s.program.Process.Kill()
		s.program.Wait()
		if err := firstOf(s.startScheduler(in, "--dialect", "workload"), st.devices("a", 1, nil), st.devices("b", 1, nil), st.sharedClaim()); err != nil {
			return err
		}
		groups, entries := "/apis/scheduling.k8s.io/v1alpha2/namespaces/"+namespace+"/podgroups", []object{{"name": "gpus", "resourceClaimName": "gpus"}}
		if err := on.admin.expect(201, "POST", groups, asText(object{"apiVersion": "scheduling.k8s.io/v1alpha2", "kind": "PodGroup", "metadata": object{"name": "g"},
			"spec": object{"schedulingPolicy": object{"gang": object{"minCount": 2}}, "resourceClaims": entries}})); err != nil {
			return err
		}
		if _, made := on.admin.get(groups + "/g"); len(items(made, "spec", "resourceClaims")) == 0 {
			return skipped("the server's PodGroups have no claims")
		}
		for _, name := range []string{"g-0", "g-1"} {
			container := object{"name": "c", "image": "i", "resources": object{"requests": object{"cpu": "1"}, "claims": []object{{"name": "gpus"}}}}
			if err := on.admin.expect(201, "POST", podsOf(namespace), asText(object{"apiVersion": "v1", "kind": "Pod", "metadata": object{"name": name},
				"spec": object{"schedulerName": schedulerName, "nodeSelector": object{"stage": namespace}, "containers": []object{container},
					"resourceClaims": entries, "schedulingGroup": object{"podGroupName": "g"}}})); err != nil {
				return err
			}
		}
		if err := s.runs("g", 2); err != nil {
			_, pod := on.admin.get(podsOf(namespace) + "/g-0")
			return fmt.Errorf("%w: %s", err, asText(at(pod, "status", "conditions")))
		}
		_, claim := on.admin.get(resourceClaimsOf(namespace) + "/gpus")
		if users := items(claim, "status", "reservedFor"); len(users) != 1 || text(users[0], "resource") != "podgroups" || text(users[0], "name") != "g" {
			return unsafe(fmt.Sprintf("the claim is reserved for %s (expected PodGroup g)", asText(users)))
		}
		return nil
	})(on, in, namespace)
}
