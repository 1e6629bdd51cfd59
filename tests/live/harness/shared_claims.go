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
