// SPDX-License-Identifier: Apache-2.0
package main

import (
	"fmt"
	"slices"
)

const (
	deviceClassesPath = "/apis/resource.k8s.io/v1/deviceclasses"
	slicesPath        = "/apis/resource.k8s.io/v1/resourceslices"
)

func resourceClaimsOf(namespace string) string {
	return "/apis/resource.k8s.io/v1/namespaces/" + namespace + "/resourceclaims"
}

// deviceClaim creates ResourceClaim gpus, which requests one device.
func (st *storing) deviceClaim() error {
	return st.s.on.admin.expect(201, "POST", resourceClaimsOf(st.s.namespace), asText(object{"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": object{"name": "gpus"},
		"spec": object{"devices": object{"requests": []object{{"name": "gpu", "exactly": object{"deviceClassName": "gpu.example.com"}}}}}}))
}

// allocate allocates ResourceClaim gpus on a node, and reserves it for the given consumers.
func (st *storing) allocate(node string, consumers ...object) error {
	results := []object{{"request": "gpu", "driver": "gpu.example.com", "pool": "p", "device": "d"}}
	selector := object{"nodeSelectorTerms": []object{{"matchFields": []object{{"key": "metadata.name", "operator": "In", "values": []string{st.s.namespace + "-" + node}}}}}}
	status := object{"allocation": object{"devices": object{"results": results}, "nodeSelector": selector}}
	if len(consumers) > 0 {
		status["reservedFor"] = consumers
	}
	return st.s.change(resourceClaimsOf(st.s.namespace)+"/gpus/status", asText(object{"status": status}))
}

// devicePod creates a pod of a group that requests these resources, and more in its spec.
func (st *storing) devicePod(name, group string, resources, more object) error {
	spec := object{"schedulerName": schedulerName, "nodeSelector": object{"stage": st.s.namespace},
		"containers": []object{{"name": "c", "image": "i", "resources": resources}}}
	for key, value := range more {
		spec[key] = value
	}
	return st.s.on.admin.expect(201, "POST", podsOf(st.s.namespace), asText(object{"apiVersion": "v1", "kind": "Pod",
		"metadata": object{"name": name, "labels": object{groupLabel: group}}, "spec": spec}))
}

// deviceUser creates a pod that uses ResourceClaim gpus.
func (st *storing) deviceUser(name, group string) error {
	return st.devicePod(name, group, object{"requests": object{"cpu": "1"}, "claims": []object{{"name": "gpus"}}},
		object{"resourceClaims": []object{{"name": "gpus", "resourceClaimName": "gpus"}}})
}

// allocatedClaim starts a pod with a ResourceClaim that is allocated to devices of one node and
// reserved for the pod.
func allocatedClaim(s *stage, st *storing) error {
	if err := firstOf(st.deviceClaim(), s.group("g", 1, ""), st.deviceUser("g-0", "g"), st.waitsFor("g", "gpus")); err != nil {
		return err
	}
	_, made := s.on.admin.get(podsOf(s.namespace) + "/g-0")
	return firstOf(st.allocate("b", object{"resource": "pods", "name": "g-0", "uid": text(made, "metadata", "uid")}), s.runs("g", 1), s.onlyOn("-b"))
}

// reservedBeforeBound starts a pod with a ResourceClaim that is allocated and not reserved. The
// scheduler reserves the claim for the pod before it binds the pod.
func reservedBeforeBound(s *stage, st *storing) error {
	if err := firstOf(st.deviceClaim(), st.allocate("b"), s.group("g", 1, ""), st.deviceUser("g-0", "g"), s.runs("g", 1), s.onlyOn("-b")); err != nil {
		return err
	}
	writes, err := s.ourWrites()
	if err != nil {
		return err
	}
	_, pod := s.on.admin.get(podsOf(s.namespace) + "/g-0")
	uid := text(pod, "metadata", "uid")
	reserved := slices.IndexFunc(writes, func(each written) bool {
		return each.resource == "resourceclaims.resource.k8s.io/status" && each.code == 200 &&
			slices.ContainsFunc(items(each.answer, "status", "reservedFor"), func(consumer any) bool { return text(consumer, "uid") == uid })
	})
	bound := slices.IndexFunc(writes, func(each written) bool { return each.resource == "pods/binding" && each.name == "g-0" })
	if reserved < 0 || bound < 0 {
		return unsafe(fmt.Sprintf("pod g-0 runs with write %d that reserves its claim and write %d that binds it (-1: none)", reserved, bound))
	}
	if writes[reserved].ended.After(writes[bound].started) {
		return unsafe("pod g-0 was bound before its claim was reserved")
	}
	return nil
}

func deviceScenarios() []scenario {
	two := map[string]int{"a": 2, "b": 2}
	return []scenario{
		{name: "storage/allocated-resource-claim", manager: true, tell: stored(two, allocatedClaim)},
		{name: "storage/reserved-before-bound", manager: true, tell: stored(two, reservedBeforeBound)},
	}
}
