// SPDX-License-Identifier: Apache-2.0
package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	classesPath    = "/apis/storage.k8s.io/v1/storageclasses"
	csiNodesPath   = "/apis/storage.k8s.io/v1/csinodes"
	attachedPath   = "/apis/storage.k8s.io/v1/volumeattachments"
	driversPath    = "/apis/storage.k8s.io/v1/csidrivers"
	volumesPath    = "/api/v1/persistentvolumes"
	selectedNode   = "volume.kubernetes.io/selected-node"
	hostLabel      = "kubernetes.io/hostname"
	zoneLabel      = "topology.kubernetes.io/zone"
	regionLabel    = "topology.kubernetes.io/region"
	oldZoneLabel   = "failure-domain.beta.kubernetes.io/zone"
	oldRegionLabel = "failure-domain.beta.kubernetes.io/region"
	bindComplete   = "pv.kubernetes.io/bind-completed"
)

func claimsOf(namespace string) string {
	return "/api/v1/namespaces/" + namespace + "/persistentvolumeclaims"
}

func poolsOf(namespace string) string {
	return "/apis/storage.k8s.io/v1/namespaces/" + namespace + "/csistoragecapacities"
}

// storing is the storage of a stage: a provisioner that checks all claims ten times a second.
type storing struct {
	s        *stage
	lock     sync.Mutex
	refused  map[string]bool // claims that are not provisioned, by name
	refusals int             // number of refusals
	driver   string
	stop     chan bool
	done     sync.WaitGroup
}

// stored runs a story with a provisioner. Nodes have labels with their name and their zone (the part
// of the name after a dash).
func stored(cpus map[string]int, story func(s *stage, st *storing) error, flaws ...*flaw) func(on *server, in place, namespace string) error {
	return ofMuster("the stand-in knows no volumes", onStage(map[string]int{}, func(s *stage) error {
		made := &storing{s: s, refused: map[string]bool{}, driver: s.namespace + ".example.com", stop: make(chan bool)}
		made.done.Add(1)
		go func() {
			defer made.done.Done()
			for {
				made.step()
				select {
				case <-time.After(100 * time.Millisecond):
				case <-made.stop:
					return
				}
			}
		}()
		s.ended = append(s.ended, func() {
			close(made.stop)
			made.done.Wait()
			made.sweep()
		})
		for name, cpu := range cpus {
			if err := made.addNode(name, cpu); err != nil {
				return err
			}
		}
		if err := story(s, made); err != nil {
			return err
		}
		return made.boundFirst()
	}, flaws...))
}

// sweep deletes cluster-scoped objects, and the claims.
func (st *storing) sweep() {
	admin := st.s.on.admin
	admin.do("DELETE", claimsOf(st.s.namespace), "application/json", `{"gracePeriodSeconds":0}`)
	for _, path := range []string{volumesPath, classesPath, csiNodesPath, attachedPath, driversPath, deviceClassesPath, slicesPath} {
		_, list := admin.get(path)
		for _, each := range items(list, "items") {
			if name := text(each, "metadata", "name"); strings.HasPrefix(name, st.s.namespace) || strings.HasPrefix(text(each, "spec", "storageClassName"), st.s.namespace) {
				admin.do("DELETE", path+"/"+name, "", "")
			}
		}
	}
}

// addNode adds a node with labels of its name and its zone.
func (st *storing) addNode(name string, cpu int) error {
	full := st.s.namespace + "-" + name
	_, zone, _ := strings.Cut(name, "-")
	labels := object{hostLabel: full}
	if zone != "" {
		labels[zoneLabel] = zone
	}
	return st.s.addLabelledNode(name, cpu, labels)
}

// addLimited adds a node on which a driver attaches so many volumes.
func (st *storing) addLimited(name, driver string, count int) error {
	return firstOf(st.s.on.admin.expect(201, "POST", csiNodesPath, asText(object{"metadata": object{"name": st.s.namespace + "-" + name}, "spec": object{"drivers": []object{
		{"name": driver, "nodeID": name, "topologyKeys": []string{hostLabel}, "allocatable": object{"count": count}}}}})), st.addNode(name, 8))
}

func asText(value any) string {
	made, _ := json.Marshal(value)
	return string(made)
}

func (st *storing) refuse(claims ...string) {
	st.lock.Lock()
	defer st.lock.Unlock()
	st.refused = map[string]bool{}
	for _, each := range claims {
		st.refused[each] = true
	}
}

func (st *storing) saidNo() int {
	st.lock.Lock()
	defer st.lock.Unlock()
	return st.refusals
}

// ---- what the provisioner does ------------------------------------------------------------------

func (st *storing) step() {
	admin := st.s.on.admin
	_, claims := admin.get(claimsOf(st.s.namespace))
	for _, each := range items(claims, "items") {
		st.provision(each)
	}
}

// provision creates a volume for the selected node, or removes the node's selection.
func (st *storing) provision(claim any) {
	name, node := text(claim, "metadata", "name"), text(claim, "metadata", "annotations", selectedNode)
	if node == "" || text(claim, "spec", "volumeName") != "" || text(claim, "metadata", "deletionTimestamp") != "" ||
		!strings.HasPrefix(text(claim, "spec", "storageClassName"), st.s.namespace+"-made") {
		return
	}
	st.lock.Lock()
	refused := st.refused[name]
	if refused {
		st.refusals++
	}
	st.lock.Unlock()
	if refused {
		st.s.on.admin.merge(claimsOf(st.s.namespace)+"/"+name, asText(object{"metadata": object{
			"resourceVersion": text(claim, "metadata", "resourceVersion"), "annotations": object{selectedNode: nil}}}))
		return
	}
	uid := text(claim, "metadata", "uid")
	st.s.on.admin.post(volumesPath, asText(object{"metadata": object{"name": "pvc-" + uid, "annotations": object{"pv.kubernetes.io/provisioned-by": st.driver}},
		"spec": object{"capacity": object{"storage": at(claim, "spec", "resources", "requests", "storage")}, "accessModes": at(claim, "spec", "accessModes"),
			"storageClassName": text(claim, "spec", "storageClassName"), "persistentVolumeReclaimPolicy": "Retain", "volumeMode": "Filesystem",
			"csi":          object{"driver": st.driver, "volumeHandle": "handle-" + uid},
			"claimRef":     object{"apiVersion": "v1", "kind": "PersistentVolumeClaim", "namespace": st.s.namespace, "name": name, "uid": uid},
			"nodeAffinity": near(hostLabel, node)}}))
}

// near is the required node affinity of a volume.
func near(label string, values ...string) object {
	return object{"required": object{"nodeSelectorTerms": []object{{"matchExpressions": []object{{"key": label, "operator": "In", "values": values}}}}}}
}

// ---- what scenarios make --------------------------------------------------------------------------

// class creates a storage class: volumes of "made" are provisioned, those of other classes are not.
func (st *storing) class(name, mode string, more object) error {
	made := object{"metadata": object{"name": st.s.namespace + "-" + name}, "provisioner": "kubernetes.io/no-provisioner", "volumeBindingMode": mode, "reclaimPolicy": "Retain"}
	if strings.HasPrefix(name, "made") {
		made["provisioner"] = st.driver
	}
	for key, value := range more {
		made[key] = value
	}
	return st.s.on.admin.expect(201, "POST", classesPath, asText(made))
}

func (st *storing) claimSpec(class, size string, more object) object {
	made := object{"storageClassName": st.s.namespace + "-" + class, "accessModes": []string{"ReadWriteOnce"}, "resources": object{"requests": object{"storage": size}}}
	for key, value := range more {
		made[key] = value
	}
	return made
}

func (st *storing) claim(name, class string, more object) error {
	return st.s.on.admin.expect(201, "POST", claimsOf(st.s.namespace), asText(object{"metadata": object{"name": name}, "spec": st.claimSpec(class, "1Gi", more)}))
}

// claims creates a claim for each member of a gang, with the name of the member.
func (st *storing) claims(group string, count int, class string) error {
	for at := range count {
		if err := st.claim(fmt.Sprintf("%s-%d", group, at), class, nil); err != nil {
			return err
		}
	}
	return nil
}

// volume creates a local volume of a class on a node.
func (st *storing) volume(name, class, node string, more object) error {
	spec := object{"capacity": object{"storage": "1Gi"}, "accessModes": []string{"ReadWriteOnce"}, "storageClassName": st.s.namespace + "-" + class,
		"persistentVolumeReclaimPolicy": "Retain", "volumeMode": "Filesystem", "local": object{"path": "/mnt/" + name}, "nodeAffinity": near(hostLabel, st.s.namespace+"-"+node)}
	for key, value := range more {
		if spec[key] = value; value == nil {
			delete(spec, key)
		}
	}
	return firstOf(st.s.on.admin.expect(201, "POST", volumesPath, asText(object{"metadata": object{"name": st.s.namespace + "-" + name}, "spec": spec})),
		st.s.becomes(volumesPath+"/"+st.s.namespace+"-"+name, "is there", func(found object) bool { return text(found, "metadata", "name") != "" }))
}

// zonal creates a volume of a driver that is reserved for a claim, with the given labels.
func (st *storing) zonal(name, class string, labels object, more object) error {
	spec := object{"capacity": object{"storage": "1Gi"}, "accessModes": []string{"ReadWriteOnce"}, "storageClassName": st.s.namespace + "-" + class,
		"persistentVolumeReclaimPolicy": "Retain", "volumeMode": "Filesystem", "csi": object{"driver": st.driver, "volumeHandle": name},
		"claimRef": object{"namespace": st.s.namespace, "name": name}}
	for key, value := range more {
		spec[key] = value
	}
	return st.s.on.admin.expect(201, "POST", volumesPath, asText(object{"metadata": object{"name": st.s.namespace + "-" + name, "labels": labels}, "spec": spec}))
}

// bound waits until a claim is bound.
func (st *storing) bound(name string) error {
	return st.s.becomes(claimsOf(st.s.namespace)+"/"+name, "is bound", func(found object) bool {
		return text(found, "status", "phase") == "Bound" && text(found, "metadata", "annotations", bindComplete) != ""
	})
}

// user creates a pod of a group (or of none) that uses claims.
func (st *storing) user(name, group string, claims ...string) error {
	volumes := []object{}
	for at, each := range claims {
		volumes = append(volumes, object{"name": fmt.Sprintf("v%d", at), "persistentVolumeClaim": object{"claimName": each}})
	}
	return st.pod(name, group, volumes)
}

func (st *storing) pod(name, group string, volumes []object) error {
	labels := object{}
	if group != "" {
		labels[groupLabel] = group
	}
	return st.s.on.admin.expect(201, "POST", podsOf(st.s.namespace), asText(object{"apiVersion": "v1", "kind": "Pod", "metadata": object{"name": name, "labels": labels},
		"spec": object{"schedulerName": schedulerName, "nodeSelector": object{"stage": st.s.namespace}, "volumes": volumes,
			"containers": []object{{"name": "c", "image": "i", "resources": object{"requests": object{"cpu": "1"}}}}}}))
}

// users creates the members of a gang, each with the claim of its name.
func (st *storing) users(group string, count int) error {
	if err := st.s.group(group, count, ""); err != nil {
		return err
	}
	for at := range count {
		name := fmt.Sprintf("%s-%d", group, at)
		if err := st.user(name, group, name); err != nil {
			return err
		}
	}
	return nil
}

// ---- what must hold -------------------------------------------------------------------------------

// claimsIn returns the names of the claims that a pod uses.
func claimsIn(pod any) []string {
	made := []string{}
	for _, each := range items(pod, "spec", "volumes") {
		if name := text(each, "persistentVolumeClaim", "claimName"); name != "" {
			made = append(made, name)
		}
		if at(each, "ephemeral") != nil {
			made = append(made, text(pod, "metadata", "name")+"-"+text(each, "name"))
		}
	}
	return made
}

// boundFirst reports a pod that was bound before all claims of its gang.
func (st *storing) boundFirst() error {
	all, err := st.s.on.writes()
	if err != nil {
		return err
	}
	needs, group, since, begun := map[string][]string{}, map[string]string{}, map[string]time.Time{}, map[string]bool{}
	for _, each := range all {
		if each.namespace == st.s.namespace && each.resource == "pods" && each.verb == "create" && each.code == 201 {
			name := text(each.answer, "metadata", "name")
			group[name] = text(each.answer, "metadata", "labels", groupLabel)
			if group[name] == "" {
				group[name] = name
			}
			needs[group[name]] = append(needs[group[name]], claimsIn(each.answer)...)
		}
		if kind, _, _ := strings.Cut(each.resource, "/"); each.namespace == st.s.namespace && kind == "persistentvolumeclaims" &&
			text(each.answer, "metadata", "annotations", bindComplete) != "" && since[each.name].IsZero() {
			since[each.name] = each.started
		}
	}
	for _, each := range all {
		of := group[each.name]
		if each.namespace != st.s.namespace || each.resource != "pods/binding" || begun[of] {
			continue
		}
		begun[of] = true
		for _, claim := range needs[of] {
			if when := since[claim]; when.IsZero() || when.After(each.started) {
				return unsafe(fmt.Sprintf("%s was bound before claim %s", each.name, claim))
			}
		}
	}
	return nil
}

// reached reports a running pod whose node cannot use its volume, and a volume that two claims use.
func (st *storing) reached() error {
	_, pods := st.s.on.admin.get(podsOf(st.s.namespace))
	owner := map[string]string{}
	for _, pod := range items(pods, "items") {
		node := text(pod, "spec", "nodeName")
		if node == "" {
			continue
		}
		_, facts := st.s.on.admin.get("/api/v1/nodes/" + node)
		for _, name := range claimsIn(pod) {
			_, claim := st.s.on.admin.get(claimsOf(st.s.namespace) + "/" + name)
			volume := text(claim, "spec", "volumeName")
			if other := owner[volume]; volume == "" || (other != "" && other != name) {
				return unsafe(fmt.Sprintf("claim %s has volume %q, which claim %q has too", name, volume, other))
			}
			owner[volume] = name
			_, found := st.s.on.admin.get(volumesPath + "/" + volume)
			for _, term := range items(found, "spec", "nodeAffinity", "required", "nodeSelectorTerms") {
				for _, one := range items(term, "matchExpressions") {
					if !slices.Contains(items(one, "values"), any(text(facts, "metadata", "labels", text(one, "key")))) {
						return unsafe(fmt.Sprintf("pod %s is on %s, which does not reach volume %s", text(pod, "metadata", "name"), node, volume))
					}
				}
			}
		}
	}
	return nil
}

// whole waits until a gang runs, each member on a node that can use its volumes.
func (st *storing) whole(group string, count int) error {
	return firstOf(st.s.runs(group, count), st.reached())
}

// waitsFor checks that no member of the group is bound for a while, and that the group's reason
// contains all of the words.
func (st *storing) waitsFor(group string, why ...string) error {
	return firstOf(st.s.becomes(groups+st.s.namespace+"/podgroups/"+group, fmt.Sprintf("says %q", why), func(found object) bool {
		said := fmt.Sprint(at(found, "status", "conditions"))
		return !slices.ContainsFunc(why, func(each string) bool { return !strings.Contains(said, each) })
	}), st.s.waits(group, 2*time.Second))
}
