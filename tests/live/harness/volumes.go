// SPDX-License-Identifier: Apache-2.0
package main

import (
	"fmt"
	"strings"
	"time"
)

const (
	delayed   = "WaitForFirstConsumer"
	immediate = "Immediate"
)

// made counts the volumes that were provisioned.
func (st *storing) made() int {
	_, list := st.s.on.admin.get(volumesPath)
	count := 0
	for _, each := range items(list, "items") {
		if text(each, "metadata", "annotations", "pv.kubernetes.io/provisioned-by") == st.driver {
			count++
		}
	}
	return count
}

// refusedClaim has a provisioner refuse one claim of a gang. No pod is bound until that volume is
// provisioned too, and the volumes provisioned before are used.
func refusedClaim(s *stage, st *storing) error {
	st.refuse("g-1")
	if err := firstOf(st.class("made", delayed, nil), st.claims("g", 3, "made"), st.users("g", 3), st.bound("g-0"), st.bound("g-2")); err != nil {
		return err
	}
	if !eventually(20*time.Second, func() bool { return st.saidNo() >= 2 }) {
		return fmt.Errorf("the claim was refused %d times (expected to be asked again)", st.saidNo())
	}
	if err := firstOf(st.waitsFor("g", "g-1"), s.waits("g", 5*time.Second)); err != nil {
		return err
	}
	if asked := st.saidNo(); asked > 20 {
		return fmt.Errorf("the provisioner was asked %d times for what it refuses", asked)
	}
	st.refuse()
	if err := firstOf(s.runsWithin("g", 3, 90*time.Second), st.reached()); err != nil {
		return err
	}
	if made := st.made(); made != 3 {
		return fmt.Errorf("%d volumes were made for 3 claims", made)
	}
	return nil
}

// oneSetOfVolumes has two gangs of three compete for four volumes.
func oneSetOfVolumes(s *stage, st *storing) error {
	if err := st.class("local", delayed, nil); err != nil {
		return err
	}
	for at, node := range []string{"a", "a", "b", "b"} {
		if err := st.volume(fmt.Sprintf("v%d", at), "local", node, nil); err != nil {
			return err
		}
	}
	if err := firstOf(st.claims("r", 3, "local"), st.claims("q", 3, "local"), st.users("r", 3), st.users("q", 3)); err != nil {
		return err
	}
	if !eventually(30*time.Second, func() bool { return s.count("r", "Running") == 3 || s.count("q", "Running") == 3 }) {
		return fmt.Errorf("%d of r and %d of q run (expected 3 of one)", s.count("r", "Running"), s.count("q", "Running"))
	}
	winner, loser := "r", "q"
	if s.count("q", "Running") == 3 {
		winner, loser = "q", "r"
	}
	// One volume is left, and the other gang needs three.
	return firstOf(st.waitsFor(loser, loser+"-0"), st.whole(winner, 3), st.volume("v4", "local", "a", nil), s.waits(loser, time.Second),
		st.volume("v5", "local", "b", nil), st.whole(loser, 3))
}

// slowVolumes tells of volumes that nothing makes: the gang gives up after --volume-timeout, and says so.
func slowVolumes(s *stage, st *storing) error {
	s.options = []string{"--volume-timeout", "2"}
	if err := firstOf(s.restarted(), st.class("slow", delayed, object{"provisioner": st.driver}), st.claims("g", 2, "slow"), st.users("g", 2),
		st.waitsFor("g", "were not bound within 2 s")); err != nil {
		return err
	}
	s.options = nil
	for _, name := range []string{"g-0", "g-1"} {
		if err := st.zonal(name, "slow", nil, nil); err != nil {
			return err
		}
	}
	return firstOf(s.restarted(), st.whole("g", 2))
}

// inZone starts a gang with volumes whose label restricts them to zone west, or to several zones of
// which it is one.
func inZone(label, zones string) func(s *stage, st *storing) error {
	return func(s *stage, st *storing) error {
		labels := object{label: zones}
		if err := firstOf(st.class("nfs", immediate, nil), st.zonal("g-0", "nfs", labels, nil), st.zonal("g-1", "nfs", labels, nil),
			st.claims("g", 2, "nfs"), st.bound("g-0"), st.bound("g-1"), st.users("g", 2), st.waitsFor("g", "1 node(s) had volume node affinity conflict", "claim g-0"), st.addNode("c-west", 1), s.runs("g", 2)); err != nil {
			return err
		}
		return s.onlyOn("-west")
	}
}

// inRegion starts a gang with volumes whose label restricts them to region west, or to several regions
// of which it is one. A node with a zone and without a region has no volume of a region.
func inRegion(label, regions string) func(s *stage, st *storing) error {
	return func(s *stage, st *storing) error {
		region := func(node, name string) error {
			return s.change(s.nodePath(node), asText(object{"metadata": object{"labels": object{regionLabel: name}}}))
		}
		labels := object{label: regions}
		if err := firstOf(region("a-east", "east"), region("b-west", "west"), st.class("nfs", immediate, nil), st.zonal("g-0", "nfs", labels, nil),
			st.zonal("g-1", "nfs", labels, nil), st.claims("g", 2, "nfs"), st.bound("g-0"), st.bound("g-1"), st.users("g", 2),
			st.waitsFor("g", "1 node(s) had volume node affinity conflict", "claim g-0"), st.addNode("c-west", 1), s.waits("g", 2*time.Second),
			region("c-west", "west"), s.runs("g", 2)); err != nil {
			return err
		}
		return s.onlyOn("-west")
	}
}

// selectedFor waits until a claim has a selected node, and returns the node.
func (st *storing) selectedFor(claim string) (string, error) {
	node := ""
	err := st.s.becomes(claimsOf(st.s.namespace)+"/"+claim, "has a selected node", func(found object) bool {
		node = text(found, "metadata", "annotations", selectedNode)
		return node != ""
	})
	return node, err
}

// setSelected changes the selected node of a claim as a provisioner does; nil removes it.
func (st *storing) setSelected(claim string, node any) error {
	return st.s.change(claimsOf(st.s.namespace)+"/"+claim, asText(object{"metadata": object{"annotations": object{selectedNode: node}}}))
}

// selections counts the scheduler's writes that selected a node for a claim.
func (st *storing) selections(claim, node string) (int, error) {
	all, err := st.s.ourWrites()
	count := 0
	for _, each := range all {
		if each.resource == "persistentvolumeclaims" && each.name == claim && text(each.body, "metadata", "annotations", selectedNode) == node {
			count++
		}
	}
	return count, err
}

// changedSelection has a provisioner move the selection of one claim to the other of two nodes. The
// gang starts with volumes on the nodes that are selected then.
func changedSelection(s *stage, st *storing) error {
	if err := firstOf(st.class("slow", delayed, object{"provisioner": st.driver}), st.claims("g", 2, "slow"), st.users("g", 2)); err != nil {
		return err
	}
	first, err := st.selectedFor("g-0")
	if err != nil {
		return err
	}
	other := s.namespace + "-a"
	if first == other {
		other = s.namespace + "-b"
	}
	if err := firstOf(st.setSelected("g-0", other), st.waitsFor("g", "claim g-0 is provisioned for node "+other)); err != nil {
		return err
	}
	for _, claim := range []string{"g-0", "g-1"} {
		node, err := st.selectedFor(claim)
		if err != nil {
			return err
		}
		if claim == "g-0" && node != other {
			return unsafe(fmt.Sprintf("claim g-0 has selected node %s (expected the provisioner's, %s)", node, other))
		}
		if err := st.zonal(claim, "slow", nil, object{"nodeAffinity": near(hostLabel, node)}); err != nil {
			return err
		}
	}
	return st.whole("g", 2)
}

// deletedNode deletes the node for which a volume is being provisioned. The gang waits at once, and
// another node is selected after the provisioner removed the selection. The deleted node is not
// selected again.
func deletedNode(s *stage, st *storing) error {
	if err := firstOf(st.class("slow", delayed, object{"provisioner": st.driver}), st.claims("g", 1, "slow"), st.users("g", 1)); err != nil {
		return err
	}
	if _, err := st.selectedFor("g-0"); err != nil {
		return err
	}
	gone := s.namespace + "-a"
	if err := firstOf(s.on.admin.expect(200, "DELETE", s.nodePath("a"), ""), st.waitsFor("g", "node "+gone+" does not exist any longer"),
		st.addNode("b", 1), st.waitsFor("g", "g-0"), st.setSelected("g-0", nil),
		s.becomes(claimsOf(s.namespace)+"/g-0", "is provisioned for b", func(found object) bool {
			return text(found, "metadata", "annotations", selectedNode) == s.namespace+"-b"
		}),
		st.zonal("g-0", "slow", nil, object{"nodeAffinity": near(hostLabel, s.namespace+"-b")}), st.whole("g", 1)); err != nil {
		return err
	}
	count, err := st.selections("g-0", gone)
	if err == nil && count != 1 {
		return unsafe(fmt.Sprintf("node %s was selected %d times (expected once, before it was deleted)", gone, count))
	}
	return err
}

// preemptedUser has a pod of a preferred queue evict the user of a ReadWriteOncePod claim.
func preemptedUser(s *stage, st *storing) error {
	alone := object{"accessModes": []string{"ReadWriteOncePod"}}
	low, high := s.namespace+"-low", s.namespace+"-high"
	s.options = []string{"--preempt", "queues"}
	return firstOf(s.restarted(), s.queue(low, `"priority":1,"preemptible":true`), s.queue(high, `"priority":9`),
		st.class("made", delayed, nil), st.claim("c", "made", alone), s.group("g", 1, `,"queue":"`+low+`"`), st.user("g-0", "g", "c"), st.whole("g", 1),
		s.group("h", 1, `,"queue":"`+high+`"`), st.user("h-0", "h", "c"), st.whole("h", 1), s.gone("g-0"))
}

// onlyOn reports a pod that is bound to a node whose name does not end like this.
func (s *stage) onlyOn(ending string) error {
	for pod, node := range s.boundWhere() {
		if !strings.HasSuffix(node, ending) {
			return unsafe(fmt.Sprintf("pod %s is on %s, and its volume can be used on nodes *%s only", pod, node, ending))
		}
	}
	return nil
}

// pool publishes the storage that a class has on a node.
func (st *storing) pool(node string, more object) error {
	made := object{"metadata": object{"name": "pool-" + node}, "storageClassName": st.s.namespace + "-made",
		"nodeTopology": object{"matchLabels": object{hostLabel: st.s.namespace + "-" + node}}}
	for key, value := range more {
		made[key] = value
	}
	return st.s.on.admin.expect(201, "POST", poolsOf(st.s.namespace), asText(made))
}

// publishesPools says that the driver publishes the storage that it has.
func (st *storing) publishesPools() error {
	return st.s.on.admin.expect(201, "POST", driversPath, asText(object{"metadata": object{"name": st.driver}, "spec": object{"storageCapacity": true}}))
}

// attach says that a volume of the driver is attached to a node.
func (st *storing) attach(volume, node string) error {
	return st.s.on.admin.expect(201, "POST", attachedPath, asText(object{"metadata": object{"name": st.s.namespace + "-" + volume},
		"spec": object{"attacher": st.driver, "nodeName": st.s.namespace + "-" + node, "source": object{"persistentVolumeName": st.s.namespace + "-" + volume}}}))
}

// volumeScenarios show every row of the table of rules for volumes.
func volumeScenarios() []scenario {
	made := []scenario{}
	add := func(name string, cpus map[string]int, tell func(s *stage, st *storing) error) {
		made = append(made, scenario{name: "storage/" + name, manager: true, tell: stored(cpus, tell)})
	}
	two := map[string]int{"a": 2, "b": 2}
	add("wait-for-first-consumer", two, func(s *stage, st *storing) error {
		return firstOf(st.class("made", delayed, nil), st.claims("g", 4, "made"), st.users("g", 4), st.whole("g", 4), s.says("g", "True"))
	})
	add("static", two, func(s *stage, st *storing) error {
		return firstOf(st.class("local", delayed, nil), st.volume("v0", "local", "a", nil), st.volume("v1", "local", "b", nil), st.volume("v2", "local", "b", nil),
			st.claims("g", 3, "local"), st.users("g", 3), st.whole("g", 3))
	})
	add("static-and-provisioned", two, func(s *stage, st *storing) error {
		return firstOf(st.class("made", delayed, nil), st.class("local", delayed, nil), st.volume("v0", "local", "a", nil), st.volume("v1", "local", "b", nil),
			st.claims("made", 2, "made"), st.claims("local", 2, "local"), s.group("g", 2, ""),
			st.user("g-0", "g", "made-0", "local-0"), st.user("g-1", "g", "made-1", "local-1"), st.whole("g", 2))
	})
	add("joint-matching", map[string]int{"a": 1, "b": 1}, func(s *stage, st *storing) error {
		// The smaller volume is the only one that b can use, so the member on a must get the other one.
		both := object{"nodeAffinity": near(hostLabel, s.namespace+"-a", s.namespace+"-b")}
		return firstOf(st.class("local", delayed, nil), st.volume("near", "local", "a", both), st.volume("far", "local", "a", object{"capacity": object{"storage": "2Gi"}}),
			st.claims("g", 2, "local"), st.users("g", 2), st.whole("g", 2))
	})
	add("refused-claim", two, refusedClaim)
	add("volume-timeout", two, slowVolumes)
	add("two-gangs-one-set", map[string]int{"a": 4, "b": 4}, oneSetOfVolumes)
	// Bound claims.
	add("bound-zone", map[string]int{"a-east": 4, "b-west": 1}, func(s *stage, st *storing) error {
		kept := object{"nodeAffinity": near(zoneLabel, "west")}
		return firstOf(st.class("nfs", immediate, nil), st.zonal("g-0", "nfs", nil, kept), st.zonal("g-1", "nfs", nil, kept),
			st.claims("g", 2, "nfs"), st.bound("g-0"), st.bound("g-1"), st.users("g", 2), st.waitsFor("g", "1 node(s) had volume node affinity conflict", "claim g-0"), st.addNode("c-west", 1), st.whole("g", 2))
	})
	add("zone-label", map[string]int{"a-east": 4, "b-west": 1}, inZone(zoneLabel, "west"))
	add("beta-zone-label", map[string]int{"a-east": 4, "b-west": 1}, inZone(oldZoneLabel, "west"))
	add("several-zones-in-a-label", map[string]int{"a-east": 4, "b-west": 1}, inZone(zoneLabel, "north__west"))
	add("region-label", map[string]int{"a-east": 4, "b-west": 1}, inRegion(regionLabel, "west"))
	add("beta-region-label", map[string]int{"a-east": 4, "b-west": 1}, inRegion(oldRegionLabel, "north__west"))
	// Claims that cannot be used now.
	add("missing-claim-then-created", two, func(s *stage, st *storing) error {
		return firstOf(st.class("made", delayed, nil), st.claim("g-0", "made", nil), st.users("g", 2), st.waitsFor("g", "g-1"),
			s.podSays("g-0", "VolumeNotReady", "g-1"), st.claim("g-1", "made", nil), s.runsWithin("g", 2, 10*time.Second), st.reached())
	})
	add("lost-claim", two, func(s *stage, st *storing) error {
		return firstOf(st.class("nfs", immediate, nil), st.zonal("g-0", "nfs", nil, nil), st.claim("g-0", "nfs", nil), st.bound("g-0"),
			s.change(volumesPath+"/"+s.namespace+"-g-0", `{"metadata":{"finalizers":null}}`), // else it stays as long as its claim
			s.on.admin.expect(200, "DELETE", volumesPath+"/"+s.namespace+"-g-0", ""),
			s.becomes(claimsOf(s.namespace)+"/g-0", "is lost", func(found object) bool { return text(found, "status", "phase") == "Lost" }),
			st.users("g", 1), st.waitsFor("g", "g-0"),
			s.on.admin.expect(200, "DELETE", claimsOf(s.namespace)+"/g-0", ""), st.zonal("g-0", "nfs", nil, nil), st.claim("g-0", "nfs", nil), st.whole("g", 1))
	})
	add("claim-being-deleted", two, func(s *stage, st *storing) error {
		held := asText(object{"metadata": object{"name": "g-0", "finalizers": []string{"example.com/hold"}}, "spec": st.claimSpec("made", "1Gi", nil)})
		return firstOf(st.class("made", delayed, nil), s.on.admin.expect(201, "POST", claimsOf(s.namespace), held),
			s.on.admin.expect(200, "DELETE", claimsOf(s.namespace)+"/g-0", ""), st.users("g", 1), st.waitsFor("g", "g-0"),
			s.change(claimsOf(s.namespace)+"/g-0", `{"metadata":{"finalizers":null}}`), s.waits("g", time.Second), st.claim("g-0", "made", nil), st.whole("g", 1))
	})
	add("immediate-unbound-waits", two, func(s *stage, st *storing) error {
		return firstOf(st.class("nfs", immediate, nil), st.claims("g", 2, "nfs"), st.users("g", 2), st.waitsFor("g", "g-0"),
			st.zonal("g-0", "nfs", nil, nil), st.bound("g-0"), s.waits("g", 2*time.Second), st.zonal("g-1", "nfs", nil, nil), st.whole("g", 2))
	})
	// Claims that wait for their first consumer.
	add("selected-node", two, func(s *stage, st *storing) error {
		// Another program selected a node, and the provisioner ignores it.
		other := asText(object{"metadata": object{"name": "g-0", "annotations": object{selectedNode: s.namespace + "-late"}}, "spec": st.claimSpec("slow", "1Gi", nil)})
		return firstOf(st.class("slow", delayed, object{"provisioner": st.driver}), s.on.admin.expect(201, "POST", claimsOf(s.namespace), other),
			st.users("g", 1), st.waitsFor("g", "2 node(s) didn't find available persistent volumes to bind"), st.addNode("late", 1),
			st.zonal("late", "slow", nil, object{"nodeAffinity": near(hostLabel, s.namespace+"-late"), "claimRef": object{"namespace": s.namespace, "name": "g-0"}}), st.whole("g", 1))
	})
	add("selected-node-changed", two, changedSelection)
	add("selected-node-deleted", map[string]int{"a": 1}, deletedNode)
	add("volume-matches", map[string]int{"a": 8}, func(s *stage, st *storing) error {
		// Each volume differs from the claim in one property.
		if err := firstOf(st.class("local", delayed, nil), st.class("other", delayed, nil),
			st.volume("small", "local", "a", object{"capacity": object{"storage": "1Mi"}}), st.volume("class", "other", "a", nil),
			st.volume("block", "local", "a", object{"volumeMode": "Block"}), st.volume("access", "local", "a", object{"accessModes": []string{"ReadOnlyMany"}}),
			st.volume("taken", "local", "a", object{"claimRef": object{"namespace": s.namespace, "name": "somebody"}}), st.volume("labels", "local", "a", nil)); err != nil {
			return err
		}
		selective := object{"selector": object{"matchLabels": object{"disk": "fast"}}}
		return firstOf(st.claim("g-0", "local", selective), st.users("g", 1), st.waitsFor("g", "g-0"),
			s.change(volumesPath+"/"+s.namespace+"-labels", `{"metadata":{"labels":{"disk":"fast"}}}`), st.whole("g", 1))
	})
	add("smallest-volume", map[string]int{"a": 8}, func(s *stage, st *storing) error {
		if err := firstOf(st.class("local", delayed, nil), st.volume("a-large", "local", "a", object{"capacity": object{"storage": "4Gi"}}),
			st.volume("b-small", "local", "a", object{"capacity": object{"storage": "2Gi"}}), st.claims("g", 1, "local"), st.users("g", 1), st.whole("g", 1)); err != nil {
			return err
		}
		_, claim := s.on.admin.get(claimsOf(s.namespace) + "/g-0")
		if found := text(claim, "spec", "volumeName"); found != s.namespace+"-b-small" {
			return fmt.Errorf("the claim has %s (expected the smallest volume)", found)
		}
		return nil
	})
	add("reserved-volume-wins", map[string]int{"a": 8, "b": 8}, func(s *stage, st *storing) error {
		// A smaller volume would match, and one is reserved for the claim.
		kept := object{"capacity": object{"storage": "4Gi"}, "claimRef": object{"namespace": s.namespace, "name": "g-0"}}
		return firstOf(st.class("local", delayed, nil), st.volume("small", "local", "a", nil), st.volume("kept", "local", "b", kept),
			st.claims("g", 1, "local"), st.users("g", 1), st.whole("g", 1), s.onlyOn("-b"))
	})
	add("allowed-topologies", map[string]int{"a-east": 4, "b-west": 1}, func(s *stage, st *storing) error {
		west := object{"allowedTopologies": []object{{"matchLabelExpressions": []object{{"key": zoneLabel, "values": []string{"west"}}}}}}
		return firstOf(st.class("made", delayed, west), st.claims("g", 2, "made"), st.users("g", 2), st.waitsFor("g", "1 node(s) didn't find available persistent volumes to bind"), st.addNode("c-west", 1), st.whole("g", 2))
	})
	add("free-or-new-by-node", map[string]int{"a-east": 1, "b-west": 1}, func(s *stage, st *storing) error {
		// Volumes are made in the east only; the member in the west gets a volume that exists.
		east := object{"allowedTopologies": []object{{"matchLabelExpressions": []object{{"key": zoneLabel, "values": []string{"east"}}}}}}
		return firstOf(st.class("made", delayed, east), st.claims("g", 2, "made"), st.users("g", 2), st.waitsFor("g", "didn't find available persistent volumes to bind"),
			st.volume("free", "made", "b-west", nil), st.whole("g", 2))
	})
	add("claims-on-one-pool-add-up", map[string]int{"a": 8}, func(s *stage, st *storing) error {
		return firstOf(st.class("made", delayed, nil), st.publishesPools(), st.pool("a", object{"capacity": "2500Mi"}),
			st.claims("g", 3, "made"), st.users("g", 3), st.waitsFor("g", "storage of class "+s.namespace+"-made for claims g-0, g-1, g-2"),
			s.change(poolsOf(s.namespace)+"/pool-a", `{"capacity":"3Gi"}`), st.whole("g", 3))
	})
	add("maximum-volume-size", map[string]int{"a": 8, "b": 8}, func(s *stage, st *storing) error {
		// The pool of a has most storage, and provisions no volume as large as a claim.
		return firstOf(st.class("made", delayed, nil), st.publishesPools(), st.pool("a", object{"capacity": "100Gi", "maximumVolumeSize": "1023Mi"}),
			st.claims("g", 2, "made"), st.users("g", 2), st.waitsFor("g", "g-0"), st.pool("b", object{"capacity": "3Gi", "maximumVolumeSize": "1Gi"}),
			st.whole("g", 2), s.onlyOn("-b"))
	})
	add("volume-attributes-class", map[string]int{"a": 8}, func(s *stage, st *storing) error {
		of := func(class any) object {
			return object{"local": nil, "csi": object{"driver": st.driver, "volumeHandle": fmt.Sprint(s.namespace, class)}, "volumeAttributesClassName": class}
		}
		if err := firstOf(st.class("local", delayed, nil), st.volume("plain", "local", "a", of(nil)), st.volume("silver", "local", "a", of("silver")),
			st.claim("g-0", "local", object{"volumeAttributesClassName": "gold"}), st.users("g", 1), st.waitsFor("g", "g-0"),
			st.volume("gold", "local", "a", of("gold")), st.whole("g", 1)); err != nil {
			return err
		}
		_, claim := s.on.admin.get(claimsOf(s.namespace) + "/g-0")
		if found := text(claim, "spec", "volumeName"); found != s.namespace+"-gold" {
			return fmt.Errorf("the claim has %s (expected the volume of its attributes class)", found)
		}
		return nil
	})
	// Volumes that several pods use, and too many of them.
	add("read-write-once-pod", two, func(s *stage, st *storing) error {
		alone := object{"accessModes": []string{"ReadWriteOncePod"}}
		return firstOf(st.class("made", delayed, nil), st.claim("c", "made", alone), s.group("g", 1, ""), st.user("g-0", "g", "c"), st.whole("g", 1),
			s.group("h", 1, ""), st.user("h-0", "h", "c"), st.waitsFor("h", "c"), s.on.admin.expect(200, "DELETE", podsOf(s.namespace)+"/g-0", ""), st.whole("h", 1))
	})
	add("read-write-once-pod-in-a-gang", two, func(s *stage, st *storing) error {
		alone := object{"accessModes": []string{"ReadWriteOncePod"}}
		return firstOf(st.class("made", delayed, nil), st.claim("c", "made", alone), s.group("g", 2, ""), st.user("g-0", "g", "c"), st.user("g-1", "g", "c"),
			st.waitsFor("g", "the minimum of the gang requires several pods that use claim c at a time"), s.answers("g", "Never"))
	})
	add("read-write-once-pod-preempted", two, preemptedUser)
	add("shared-claim", two, func(s *stage, st *storing) error {
		return firstOf(st.class("made", delayed, nil), st.claim("c", "made", nil), s.group("g", 2, ""), st.user("g-0", "g", "c"), st.user("g-1", "g", "c"), s.runs("g", 2))
	})
	add("shared-claim-counts-once", map[string]int{}, func(s *stage, st *storing) error {
		return firstOf(st.addLimited("a", st.driver, 1), st.class("made", delayed, nil), st.claim("c", "made", nil), s.group("g", 2, ""),
			st.user("g-0", "g", "c"), st.user("g-1", "g", "c"), s.runs("g", 2))
	})
	add("shared-claims-fill-a-limit", map[string]int{}, func(s *stage, st *storing) error {
		// Three shared volumes are more than half of what the node attaches.
		if err := firstOf(st.addLimited("a", st.driver, 4), st.class("made", delayed, nil), st.claims("c", 3, "made"), s.group("g", 4, "")); err != nil {
			return err
		}
		for at := range 4 {
			if err := st.user(fmt.Sprintf("g-%d", at), "g", "c-0", "c-1", "c-2"); err != nil {
				return err
			}
		}
		return s.runs("g", 4)
	})
	add("csinode-limit", map[string]int{}, func(s *stage, st *storing) error {
		return firstOf(st.addLimited("a", st.driver, 2), st.class("made", delayed, nil), st.claims("g", 3, "made"), st.users("g", 3), st.waitsFor("g", "exceed max volume count"),
			st.addLimited("b", st.driver, 1), st.whole("g", 3))
	})
	add("volume-attachment", map[string]int{}, func(s *stage, st *storing) error {
		// A volume is attached that no pod uses, and takes one of two attachments.
		return firstOf(st.addLimited("a", st.driver, 2), st.attach("old", "a"), st.class("made", delayed, nil), st.claims("g", 2, "made"), st.users("g", 2),
			st.waitsFor("g", "exceed max volume count"), s.on.admin.expect(200, "DELETE", attachedPath+"/"+s.namespace+"-old", ""), st.whole("g", 2))
	})
	add("inline-csi", map[string]int{}, func(s *stage, st *storing) error {
		volumes := []object{{"name": "secrets", "csi": object{"driver": st.driver}}}
		return firstOf(st.addLimited("a", st.driver, 1), s.group("g", 2, ""), st.pod("g-0", "g", volumes), st.pod("g-1", "g", volumes),
			st.waitsFor("g", "exceed max volume count"), st.addLimited("b", st.driver, 1), s.runs("g", 2))
	})
	add("migrated-disk", map[string]int{}, func(s *stage, st *storing) error {
		// Disks of one in-tree plugin, in a pod and in a volume, count against the driver that serves them now.
		const driver = "ebs.csi.aws.com"
		disk := func(name string) object { return object{"volumeID": s.namespace + name} }
		volume := object{"local": nil, "nodeAffinity": nil, "awsElasticBlockStore": disk("-bound"), "claimRef": object{"namespace": s.namespace, "name": "c"}}
		return firstOf(st.addLimited("a", driver, 1), st.class("disks", immediate, nil), st.volume("v", "disks", "", volume), st.claim("c", "disks", nil), st.bound("c"),
			s.group("g", 2, ""), st.user("g-0", "g", "c"), st.pod("g-1", "g", []object{{"name": "disk", "awsElasticBlockStore": disk("-inline")}}),
			st.waitsFor("g", "exceed max volume count"), st.addLimited("b", driver, 1), st.whole("g", 2))
	})
	add("driver-that-must-be-there", two, func(s *stage, st *storing) error {
		needed := object{"metadata": object{"name": st.driver}, "spec": object{"preventPodSchedulingIfMissing": true}}
		return firstOf(s.on.admin.expect(201, "POST", driversPath, asText(needed)), st.class("nfs", immediate, nil), st.zonal("g-0", "nfs", nil, nil),
			st.claim("g-0", "nfs", nil), st.bound("g-0"), st.users("g", 1), st.waitsFor("g", "2 node(s)"), st.addLimited("c", st.driver, 8), st.whole("g", 1))
	})
	add("ephemeral", two, func(s *stage, st *storing) error {
		volumes := []object{{"name": "scratch", "ephemeral": object{"volumeClaimTemplate": object{"spec": st.claimSpec("made", "1Gi", nil)}}}}
		return firstOf(st.class("made", delayed, nil), s.group("g", 2, ""), st.pod("g-0", "g", volumes), st.pod("g-1", "g", volumes), st.whole("g", 2))
	})
	add("ephemeral-of-somebody-else", two, func(s *stage, st *storing) error {
		volumes := []object{{"name": "scratch", "ephemeral": object{"volumeClaimTemplate": object{"spec": st.claimSpec("made", "1Gi", nil)}}}}
		return firstOf(st.class("made", delayed, nil), st.claim("g-0-scratch", "made", nil), s.group("g", 1, ""), st.pod("g-0", "g", volumes),
			st.waitsFor("g", "g-0-scratch"), s.on.admin.expect(200, "DELETE", claimsOf(s.namespace)+"/g-0-scratch", ""), st.whole("g", 1))
	})
	return made
}
