// SPDX-License-Identifier: Apache-2.0
package main

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

const (
	claimFinalizer = "resource.kubernetes.io/delete-protection"
	readyDevice    = "example.com/Attached"
	failedDevice   = "example.com/Broken"
)

func claimTemplatesOf(namespace string) string {
	return "/apis/resource.k8s.io/v1/namespaces/" + namespace + "/resourceclaimtemplates"
}

// allocating runs a story with devices: the harness plays the driver and, on the embedded server, the
// controller of ResourceClaims. At the end every bound pod must have its devices to itself.
func allocating(cpus map[string]int, story func(s *stage, st *storing) error, flaws ...*flaw) func(on *server, in place, namespace string) error {
	return stored(cpus, func(s *stage, st *storing) error {
		if s.on.name == "fake" {
			stop, done := make(chan bool), make(chan bool)
			go func() {
				defer close(done)
				for {
					st.controlClaims()
					select {
					case <-time.After(100 * time.Millisecond):
					case <-stop:
						return
					}
				}
			}()
			s.ended = append(s.ended, func() {
				close(stop)
				<-done
			})
		}
		if err := st.deviceClass(); err != nil {
			return err
		}
		return firstOf(story(s, st), st.exclusive(), st.allocatedFirst())
	}, flaws...)
}

// ---- what scenarios make --------------------------------------------------------------------------

// deviceClass creates the class of all devices of the stage's driver.
func (st *storing) deviceClass() error {
	code, answer := st.s.on.admin.post(deviceClassesPath, asText(object{"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": object{"name": st.s.namespace + "-gpu"},
		"spec": object{"selectors": []object{{"cel": object{"expression": fmt.Sprintf("device.driver == '%s'", st.driver)}}}}}))
	if code == 404 {
		return skipped("the server serves no DeviceClass of resource.k8s.io/v1")
	}
	if code != 201 {
		return fmt.Errorf("DeviceClass: %d %s", code, text(answer, "message"))
	}
	return nil
}

// publish publishes the devices of a node, as one slice of a pool of so many.
func (st *storing) publish(node, slice string, count int, more object) error {
	full := st.s.namespace + "-" + node
	spec := object{"driver": st.driver, "nodeName": full, "pool": object{"name": full, "generation": 1, "resourceSliceCount": count}}
	for key, value := range more {
		spec[key] = value
	}
	return st.s.on.admin.expect(201, "POST", slicesPath, asText(object{"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": object{"name": full + slice}, "spec": spec}))
}

// devices publishes so many whole devices of a node.
func (st *storing) devices(node string, count int, more object) error {
	made := []object{}
	for at := range count {
		one := object{"name": fmt.Sprintf("d%d", at)}
		for key, value := range more {
			one[key] = value
		}
		made = append(made, one)
	}
	return st.publish(node, "", 1, object{"devices": made})
}

func (st *storing) oneDevice() object {
	return object{"name": "gpu", "exactly": object{"deviceClassName": st.s.namespace + "-gpu"}}
}

// claimants creates a gang whose pods get a claim each, made from a template with these requests.
func (st *storing) claimants(group string, count int, requests ...object) error {
	if len(requests) == 0 {
		requests = []object{st.oneDevice()}
	}
	if err := firstOf(st.s.on.admin.expect(201, "POST", claimTemplatesOf(st.s.namespace), asText(object{"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate",
		"metadata": object{"name": group}, "spec": object{"spec": object{"devices": object{"requests": requests}}}})), st.s.group(group, count, "")); err != nil {
		return err
	}
	for at := range count {
		if err := st.devicePod(fmt.Sprintf("%s-%d", group, at), group, object{"requests": object{"cpu": "1"}, "claims": []object{{"name": "gpu"}}},
			object{"resourceClaims": []object{{"name": "gpu", "resourceClaimTemplateName": group}}}); err != nil {
			return err
		}
	}
	return nil
}

// ---- what the controller of claims does -----------------------------------------------------------

func (st *storing) controlClaims() {
	admin, claims := st.s.on.admin, resourceClaimsOf(st.s.namespace)
	_, pods := admin.get(podsOf(st.s.namespace))
	alive := map[string]bool{}
	for _, pod := range items(pods, "items") {
		name, uid := text(pod, "metadata", "name"), text(pod, "metadata", "uid")
		if phase := text(pod, "status", "phase"); phase != "Succeeded" && phase != "Failed" {
			alive[uid] = true
		}
		for _, entry := range items(pod, "spec", "resourceClaims") {
			from := text(entry, "resourceClaimTemplateName")
			if from == "" || len(items(pod, "status", "resourceClaimStatuses")) > 0 || text(pod, "metadata", "deletionTimestamp") != "" {
				continue
			}
			_, template := admin.get(claimTemplatesOf(st.s.namespace) + "/" + from)
			made := name + "-" + text(entry, "name")
			admin.post(claims, asText(object{"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim",
				"metadata": object{"name": made, "annotations": object{"resource.kubernetes.io/pod-claim-name": text(entry, "name")},
					"ownerReferences": []object{{"apiVersion": "v1", "kind": "Pod", "name": name, "uid": uid, "controller": true, "blockOwnerDeletion": true}}},
				"spec": at(template, "spec", "spec")}))
			admin.merge(podsOf(st.s.namespace)+"/"+name+"/status", asText(object{"status": object{"resourceClaimStatuses": []object{{"name": text(entry, "name"), "resourceClaimName": made}}}}))
		}
	}
	_, list := admin.get(claims)
	for _, claim := range items(list, "items") {
		path, consumers := claims+"/"+text(claim, "metadata", "name"), items(claim, "status", "reservedFor")
		if len(consumers) == 0 || slices.ContainsFunc(consumers, func(each any) bool { return alive[text(each, "uid")] || text(each, "resource") == "podgroups" }) {
			continue
		}
		admin.merge(path+"/status", asText(object{"status": object{"allocation": nil, "reservedFor": nil, "devices": nil}}))
		admin.merge(path, asText(object{"metadata": object{"finalizers": nil}}))
	}
}

// ---- what must hold -------------------------------------------------------------------------------

// claimsOfPod returns the ResourceClaims of a pod.
func (st *storing) claimsOfPod(pod any) []any {
	names := []string{}
	for _, each := range items(pod, "spec", "resourceClaims") {
		if name := text(each, "resourceClaimName"); name != "" {
			names = append(names, name)
		}
	}
	for _, each := range items(pod, "status", "resourceClaimStatuses") {
		names = append(names, text(each, "resourceClaimName"))
	}
	if name := text(pod, "status", "extendedResourceClaimStatus", "resourceClaimName"); name != "" {
		names = append(names, name)
	}
	made := []any{}
	for _, each := range names {
		if code, claim := st.s.on.admin.get(resourceClaimsOf(st.s.namespace) + "/" + each); code == 200 {
			made = append(made, claim)
		}
	}
	return made
}

// groupClaims returns the ResourceClaims of a group's pods.
func (st *storing) groupClaims(group string) []any {
	made := []any{}
	_, pods := st.s.on.admin.get(podsOf(st.s.namespace))
	for _, pod := range items(pods, "items") {
		if text(pod, "metadata", "labels", groupLabel) == group {
			made = append(made, st.claimsOfPod(pod)...)
		}
	}
	return made
}

// allocatedOf counts the allocated claims of a group.
func (st *storing) allocatedOf(group string) int {
	return len(slices.DeleteFunc(st.groupClaims(group), func(claim any) bool { return at(claim, "status", "allocation") == nil }))
}

// becomesAllocated waits until so many claims of a group are allocated.
func (st *storing) becomesAllocated(group string, count int) error {
	if !eventually(30*time.Second, func() bool { return st.allocatedOf(group) == count }) {
		return fmt.Errorf("%d claims of %s are allocated (expected %d)", st.allocatedOf(group), group, count)
	}
	return nil
}

// released waits until no claim of a group is allocated or has the finalizer.
func (st *storing) released(group string) error {
	if !eventually(40*time.Second, func() bool {
		return !slices.ContainsFunc(st.groupClaims(group), func(claim any) bool {
			return at(claim, "status", "allocation") != nil || len(items(claim, "metadata", "finalizers")) > 0 || len(items(claim, "status", "reservedFor")) > 0
		})
	}) {
		return fmt.Errorf("claims of %s are still held: %s", group, asText(st.groupClaims(group)))
	}
	return nil
}

// exclusive reports a bound pod whose claim is not allocated on its node and reserved for it, and a
// device that two claims have.
func (st *storing) exclusive() error {
	_, pods := st.s.on.admin.get(podsOf(st.s.namespace))
	owner := map[string]string{}
	for _, pod := range items(pods, "items") {
		name, node, uid := text(pod, "metadata", "name"), text(pod, "spec", "nodeName"), text(pod, "metadata", "uid")
		if node == "" {
			continue
		}
		for _, claim := range st.claimsOfPod(pod) {
			reserved := slices.ContainsFunc(items(claim, "status", "reservedFor"), func(each any) bool {
				return text(each, "uid") == uid || (text(each, "resource") == "podgroups" && text(each, "name") == text(pod, "spec", "schedulingGroup", "podGroupName"))
			})
			if at(claim, "status", "allocation") == nil || !reserved || !slices.Contains(items(claim, "metadata", "finalizers"), any(claimFinalizer)) {
				return unsafe(fmt.Sprintf("pod %s is bound, and its claim is not its own: %s", name, asText(claim)))
			}
			terms := items(claim, "status", "allocation", "nodeSelector", "nodeSelectorTerms")
			if len(terms) != 1 || !strings.Contains(asText(terms[0]), `"`+node+`"`) {
				return unsafe(fmt.Sprintf("pod %s is on %s, and its claim is allocated for %s", name, node, asText(terms)))
			}
			for _, each := range items(claim, "status", "allocation", "devices", "results") {
				id := text(each, "pool") + "/" + text(each, "device")
				if other := owner[id]; other != "" && other != text(claim, "metadata", "name") {
					return unsafe(fmt.Sprintf("claims %s and %s both have device %s", other, text(claim, "metadata", "name"), id))
				}
				owner[id] = text(claim, "metadata", "name")
			}
		}
	}
	return nil
}

// allocations returns the scheduler's writes that allocated claims, and those that released them.
func (st *storing) allocations() (made, dropped []written, err error) {
	all, err := st.s.ourWrites()
	for _, each := range all {
		if each.resource != "resourceclaims.resource.k8s.io/status" || each.code != 200 {
			continue
		}
		fields, _ := at(each.body, "status").(object)
		if value, named := fields["allocation"]; named && value != nil {
			made = append(made, each)
		} else if named {
			dropped = append(dropped, each)
		}
	}
	return made, dropped, err
}

// allocatedBy says whether a claim was allocated by then, as the claim has it. The log does not have a
// write as carried out if its sender was killed meanwhile.
func (st *storing) allocatedBy(name string, then time.Time) bool {
	_, claim := st.s.on.admin.get(resourceClaimsOf(st.s.namespace) + "/" + name)
	since, err := time.Parse(time.RFC3339, text(claim, "status", "allocation", "allocationTimestamp"))
	return err == nil && !since.After(then)
}

// allocatedFirst reports a pod of a group that was bound before all claims of its group's pods were
// allocated.
func (st *storing) allocatedFirst() error {
	log, err := st.s.on.writes()
	if err != nil {
		return err
	}
	all := slices.Clone(log)
	// The log has its entries as their answers were sent; who watches may have acted before that.
	slices.SortStableFunc(all, func(a, b written) int { return a.started.Compare(b.started) })
	group, needs, owner := map[string]string{}, map[string]int{}, map[string]string{}
	held, begun := map[string]map[string]bool{}, map[string]bool{}
	for _, each := range all {
		if each.namespace != st.s.namespace || each.code < 200 || each.code > 299 {
			continue
		}
		switch {
		case each.resource == "pods" && each.verb == "create":
			name := text(each.answer, "metadata", "name")
			group[name] = text(each.answer, "metadata", "labels", groupLabel)
			needs[group[name]] += len(items(each.answer, "spec", "resourceClaims"))
		case each.resource == "resourceclaims.resource.k8s.io" && each.verb == "create":
			for _, one := range items(each.answer, "metadata", "ownerReferences") {
				owner[text(each.answer, "metadata", "name")] = text(one, "name")
			}
		case each.resource == "resourceclaims.resource.k8s.io/status":
			of := group[owner[each.name]]
			if held[of] == nil {
				held[of] = map[string]bool{}
			}
			held[of][each.name] = at(each.answer, "status", "allocation") != nil
		case each.resource == "pods/binding" && !begun[group[each.name]]:
			of := group[each.name]
			begun[of] = true
			count := 0
			for claim, pod := range owner {
				if group[pod] == of && (held[of][claim] || st.allocatedBy(claim, each.started)) {
					count++
				}
			}
			if len(owner) > 0 && count < needs[of] {
				return unsafe(fmt.Sprintf("%s was bound when %d of %d claims of its gang were allocated", each.name, count, needs[of]))
			}
		}
	}
	return nil
}

// ---- scenarios ------------------------------------------------------------------------------------

// tooFewDevices has a gang of four find three devices. Nothing is written for it until a fourth one
// is published.
func tooFewDevices(s *stage, st *storing) error {
	if err := firstOf(st.devices("a", 2, nil), st.devices("b", 1, nil), st.claimants("g", 4), st.waitsFor("g", "device")); err != nil {
		return err
	}
	writes, err := s.ourWrites()
	if err != nil {
		return err
	}
	for _, each := range writes {
		if strings.HasPrefix(each.resource, "resourceclaims") {
			return unsafe(fmt.Sprintf("%s %s was written for a gang that does not fit: %s", each.resource, each.name, asText(each.body)))
		}
	}
	return firstOf(st.addNode("c", 2), st.devices("c", 1, nil), s.runs("g", 4))
}

// sayOf has the driver set a condition of an allocated device of a claim.
func (st *storing) sayOf(claim any, condition string) error {
	states := []object{}
	for _, each := range items(claim, "status", "allocation", "devices", "results") {
		states = append(states, object{"driver": text(each, "driver"), "pool": text(each, "pool"), "device": text(each, "device"),
			"conditions": []object{{"type": condition, "status": "True", "reason": "Said", "message": "the driver says so", "lastTransitionTime": "2026-01-01T00:00:00Z"}}})
	}
	return st.s.change(resourceClaimsOf(st.s.namespace)+"/"+text(claim, "metadata", "name")+"/status", asText(object{"status": object{"devices": states}}))
}

var attached = object{"bindingConditions": []string{readyDevice}, "bindingFailureConditions": []string{failedDevice}}

// bindingConditions has a driver attach devices after they are allocated. No pod is bound until the
// last one is attached.
func bindingConditions(s *stage, st *storing) error {
	if err := firstOf(st.devices("a", 1, attached), st.devices("b", 1, attached), st.claimants("g", 2), st.becomesAllocated("g", 2), s.waits("g", time.Second)); err != nil {
		return err
	}
	claims := st.groupClaims("g")
	if results := items(claims[0], "status", "allocation", "devices", "results"); len(items(results[0], "bindingConditions")) == 0 {
		return skipped("the server knows no binding conditions")
	}
	return firstOf(st.sayOf(claims[0], readyDevice), s.waits("g", 2*time.Second), st.sayOf(claims[1], readyDevice), s.runs("g", 2))
}

// brokenDevice has a driver fail to attach a device. The allocations of the gang are dropped, and made
// again.
func brokenDevice(s *stage, st *storing) error {
	if err := firstOf(st.devices("a", 1, attached), st.devices("b", 1, attached), st.claimants("g", 2), st.becomesAllocated("g", 2)); err != nil {
		return err
	}
	claims := st.groupClaims("g")
	if results := items(claims[0], "status", "allocation", "devices", "results"); len(items(results[0], "bindingConditions")) == 0 {
		return skipped("the server knows no binding conditions")
	}
	if err := firstOf(st.sayOf(claims[0], readyDevice), st.sayOf(claims[1], failedDevice)); err != nil {
		return err
	}
	if !eventually(20*time.Second, func() bool { _, dropped, _ := st.allocations(); return len(dropped) >= 2 }) {
		return fmt.Errorf("the allocations were not dropped")
	}
	if err := firstOf(st.becomesAllocated("g", 2), s.waits("g", time.Second)); err != nil {
		return err
	}
	for _, each := range st.groupClaims("g") {
		if err := st.sayOf(each, readyDevice); err != nil {
			return err
		}
	}
	return s.runs("g", 2)
}

func claimStatus(r *http.Request) bool {
	return r.Method == "PATCH" && strings.Contains(r.URL.Path, "/resourceclaims/") && strings.HasSuffix(r.URL.Path, "/status")
}

// conflictingClaim has somebody change each claim just before it is allocated.
func conflictingClaim(on *server, in place, namespace string) error {
	conflict := &flaw{what: "before", times: 2, when: claimStatus}
	return allocating(map[string]int{"a": 2}, func(s *stage, st *storing) error {
		conflict.do = func(string) {
			for _, claim := range st.groupClaims("g") {
				s.on.admin.merge(resourceClaimsOf(s.namespace)+"/"+text(claim, "metadata", "name"), asText(object{"metadata": object{"labels": object{"changed": fmt.Sprint(time.Now().UnixNano())}}}))
			}
		}
		if err := firstOf(st.devices("a", 2, nil), st.claimants("g", 2), s.runs("g", 2)); err != nil {
			return err
		}
		writes, err := s.ourWrites()
		if err == nil && !slices.ContainsFunc(writes, func(each written) bool {
			return each.resource == "resourceclaims.resource.k8s.io/status" && each.code == 409
		}) {
			err = fmt.Errorf("no write of a claim met a conflict")
		}
		return err
	}, conflict)(on, in, namespace)
}

// refusedAllocation has the server refuse one of four allocations. The others are dropped, and no pod
// is bound until it lets that one pass.
func refusedAllocation(on *server, in place, namespace string) error {
	refuse := &flaw{what: "refuse", code: 422, when: func(r *http.Request) bool { return claimStatus(r) && strings.Contains(r.URL.Path, "g-3-") }}
	return allocating(map[string]int{"a": 2, "b": 2}, func(s *stage, st *storing) error {
		if err := firstOf(st.devices("a", 2, nil), st.devices("b", 2, nil), st.claimants("g", 4), st.waitsFor("g", "cannot be allocated")); err != nil {
			return err
		}
		_, dropped, err := st.allocations()
		if err != nil {
			return err
		}
		if len(dropped) < 3 {
			return fmt.Errorf("%d allocations were dropped (expected those of 3 pods)", len(dropped))
		}
		s.befall()
		return s.runs("g", 4)
	}, refuse)(on, in, namespace)
}

// halvesOfADevice has two pods ask for a whole device or else for half of one, where there is one
// device: whoever gives the first pod the first device that it asks for has none left for the second.
func halvesOfADevice(s *stage, st *storing) error {
	counters := func(memory string) []object {
		return []object{{"counterSet": "d0", "counters": object{"memory": object{"value": memory}}}}
	}
	part := func(name, kind, memory string) object {
		return object{"name": name, "attributes": object{"kind": object{"string": kind}}, "consumesCounters": counters(memory)}
	}
	ask := func(kind string) object {
		return object{"name": kind, "deviceClassName": s.namespace + "-gpu", "selectors": []object{{"cel": object{"expression": fmt.Sprintf("device.attributes['%s'].kind == '%s'", st.driver, kind)}}}}
	}
	return firstOf(st.publish("a", "-counters", 2, object{"sharedCounters": []object{{"name": "d0", "counters": object{"memory": object{"value": "80Gi"}}}}}),
		st.publish("a", "-devices", 2, object{"devices": []object{part("whole", "whole", "80Gi"), part("half-0", "half", "40Gi"), part("half-1", "half", "40Gi")}}),
		st.claimants("g", 2, object{"name": "gpu", "firstAvailable": []object{ask("whole"), ask("half")}}), s.runs("g", 2))
}

// claimWrites matches the scheduler's writes that start a gang with claims.
func claimWrites(r *http.Request) bool {
	return r.Method != "GET" && (strings.Contains(r.URL.Path, "/resourceclaims/") || strings.HasSuffix(r.URL.Path, "/binding"))
}

// killedAtClaim kills the scheduler at one of the six writes that start a gang of two with claims: two
// finalizers, two allocations and two binds.
func killedAtClaim(which int, applied bool) func(on *server, in place, namespace string) error {
	return func(on *server, in place, namespace string) error {
		at := &flaw{skip: which - 1, times: 1, what: "stop", when: claimWrites}
		if applied {
			at.what = "crash"
		}
		return allocating(map[string]int{"a": 1, "b": 1}, func(s *stage, st *storing) error {
			killed := s.killedBy(at)
			if err := firstOf(st.devices("a", 1, nil), st.devices("b", 1, nil), st.claimants("g", 2), killed()); err != nil {
				return err
			}
			// Leave time for the effects of the scheduler's last writes.
			if err := firstOf(s.wait(500*time.Millisecond), s.startScheduler(in), s.runs("g", 2)); err != nil {
				return err
			}
			s.note = func() string { return fmt.Sprintf("partial for %.2f s", s.partial.Seconds()) }
			return s.partialAtMost(10 * time.Second)
		}, at)(on, in, namespace)
	}
}

// killedBy kills the scheduler when a flaw is met, and returns a function that waits for this.
func (s *stage) killedBy(at *flaw) func() error {
	first, killed := s.program, make(chan bool, 1)
	at.do = func(string) {
		first.Process.Kill()
		killed <- true
	}
	return func() error {
		select {
		case <-killed:
			first.Wait()
			return nil
		case <-time.After(30 * time.Second):
			return fmt.Errorf("there was no write number %d", at.skip+1)
		}
	}
}

// leftAllocation kills the scheduler between its two allocations for a gang, and takes away the device
// of the other member. The next scheduler releases the claim, and the gang starts when there are two
// devices again.
func leftAllocation(on *server, in place, namespace string) error {
	at := &flaw{skip: 1, times: 1, what: "stop", when: claimStatus}
	return allocating(map[string]int{"a": 1, "b": 1}, func(s *stage, st *storing) error {
		killed := s.killedBy(at)
		if err := firstOf(st.devices("a", 1, nil), st.devices("b", 1, nil), st.claimants("g", 2), killed(), s.wait(500*time.Millisecond)); err != nil {
			return err
		}
		free := "a"
		for _, each := range st.groupClaims("g") {
			if results := items(each, "status", "allocation", "devices", "results"); len(results) > 0 && text(results[0], "pool") == s.namespace+"-a" {
				free = "b"
			}
		}
		if left := st.allocatedOf("g"); left != 1 {
			return fmt.Errorf("%d claims are allocated (expected 1)", left)
		}
		return firstOf(s.on.admin.expect(200, "DELETE", slicesPath+"/"+s.namespace+"-"+free, ""), s.startScheduler(in), st.released("g"),
			st.devices(free, 1, nil), s.runs("g", 2))
	}, at)(on, in, namespace)
}

// nextUser has the devices of a gang that ends go to the next one.
func nextUser(s *stage, st *storing) error {
	if err := firstOf(st.devices("a", 2, nil), st.claimants("g", 2), s.runs("g", 2), st.claimants("h", 2), st.waitsFor("h", "device")); err != nil {
		return err
	}
	for _, name := range []string{"g-0", "g-1"} {
		if err := s.on.admin.expect(200, "DELETE", podsOf(s.namespace)+"/"+name, ""); err != nil {
			return err
		}
	}
	return s.runs("h", 2)
}

// ---- extended resources ---------------------------------------------------------------------------

// extendedName is the extended resource that the devices of a stage's second class serve.
func (st *storing) extendedName() string { return "example.com/" + st.s.namespace }

// extendedClass creates a DeviceClass that serves an extended resource.
func (st *storing) extendedClass() error {
	code, answer := st.s.on.admin.post(deviceClassesPath, asText(object{"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": object{"name": st.s.namespace + "-extended"},
		"spec": object{"extendedResourceName": st.extendedName(), "selectors": []object{{"cel": object{"expression": fmt.Sprintf("device.driver == '%s'", st.driver)}}}}}))
	if code == 201 && text(answer, "spec", "extendedResourceName") == "" {
		return skipped("the server knows no extendedResourceName")
	}
	if code != 201 {
		return fmt.Errorf("DeviceClass: %d %s", code, text(answer, "message"))
	}
	return nil
}

// requesters creates a gang whose pods request one of the extended resource each.
func (st *storing) requesters(group string, count int) error {
	if err := st.s.group(group, count, ""); err != nil {
		return err
	}
	requests := object{"cpu": "1", st.extendedName(): "1"}
	for at := range count {
		if err := st.devicePod(fmt.Sprintf("%s-%d", group, at), group, object{"requests": requests, "limits": requests}, nil); err != nil {
			return err
		}
	}
	return nil
}

// named reports a running pod whose status does not name an allocated claim of its own.
func (st *storing) named(group string) error {
	_, pods := st.s.on.admin.get(podsOf(st.s.namespace))
	for _, pod := range items(pods, "items") {
		if text(pod, "metadata", "labels", groupLabel) != group {
			continue
		}
		claim := st.extendedClaim(pod)
		if claim == nil {
			return unsafe(fmt.Sprintf("pod %s runs, and its status names no claim: %s", text(pod, "metadata", "name"), asText(at(pod, "status", "extendedResourceClaimStatus"))))
		}
		owners := items(claim, "metadata", "ownerReferences")
		if len(owners) != 1 || text(owners[0], "uid") != text(pod, "metadata", "uid") || text(claim, "metadata", "annotations", "resource.kubernetes.io/extended-resource-claim") != "true" {
			return unsafe(fmt.Sprintf("the claim of pod %s is not its own: %s", text(pod, "metadata", "name"), asText(claim)))
		}
	}
	return nil
}

// extendedClaim returns the claim that the status of a pod names for its extended resources.
func (st *storing) extendedClaim(pod any) any {
	name := text(pod, "status", "extendedResourceClaimStatus", "resourceClaimName")
	if name == "" {
		return nil
	}
	if code, claim := st.s.on.admin.get(resourceClaimsOf(st.s.namespace) + "/" + name); code == 200 {
		return claim
	}
	return nil
}

// claimCount counts the ResourceClaims in the namespace.
func (st *storing) claimCount() int {
	_, list := st.s.on.admin.get(resourceClaimsOf(st.s.namespace))
	return len(items(list, "items"))
}

// extendedGang starts a gang whose extended resource is served by devices, and by a node that lists it.
// Another gang for which nothing is left waits, and nothing is written for it.
func extendedGang(s *stage, st *storing) error {
	return firstOf(st.extendedClass(), st.devices("a", 2, nil), st.devices("b", 1, nil), st.requesters("g", 3), s.runs("g", 3), st.named("g"),
		st.requesters("h", 2), st.waitsFor("h", st.extendedName()), func() error {
			if count := st.claimCount(); count != 3 {
				return unsafe(fmt.Sprintf("there are %d claims (expected those of 3 pods)", count))
			}
			return nil
		}(), st.listed("c", 2), s.runs("h", 2), s.onlyOnOf("h", "-c"))
}

// listed adds a node that lists so many of the extended resource.
func (st *storing) listed(name string, count int) error {
	if err := st.addNode(name, 8); err != nil {
		return err
	}
	st.s.nodes[st.s.namespace+"-"+name][st.extendedName()] = int64(count) * 1000
	return st.s.change(st.s.nodePath(name)+"/status", asText(object{"status": object{"allocatable": object{st.extendedName(): fmt.Sprint(count)}}}))
}

// onlyOnOf reports a pod of a group that is bound to a node whose name does not end like this.
func (s *stage) onlyOnOf(group, ending string) error {
	for pod, node := range s.boundWhere() {
		if strings.HasPrefix(pod, group) && !strings.HasSuffix(node, ending) {
			return unsafe(fmt.Sprintf("pod %s is on %s (expected *%s)", pod, node, ending))
		}
	}
	return nil
}

// refusedExtended has the server refuse one of two allocations for extended resources. Both claims are
// deleted, and the gang starts when the server lets it.
func refusedExtended(on *server, in place, namespace string) error {
	refuse := &flaw{what: "refuse", code: 422, when: func(r *http.Request) bool { return claimStatus(r) && strings.Contains(r.URL.Path, "g-1-") }}
	return allocating(map[string]int{"a": 1, "b": 1}, func(s *stage, st *storing) error {
		if err := firstOf(st.extendedClass(), st.devices("a", 1, nil), st.devices("b", 1, nil), st.requesters("g", 2), st.waitsFor("g", "cannot be allocated")); err != nil {
			return err
		}
		writes, err := s.ourWrites()
		if err != nil {
			return err
		}
		deleted := slices.DeleteFunc(writes, func(each written) bool {
			return each.resource != "resourceclaims.resource.k8s.io" || each.verb != "delete" || each.code != 200
		})
		if len(deleted) < 2 {
			return fmt.Errorf("%d claims were deleted (expected 2 for each attempt)", len(deleted))
		}
		s.befall()
		return firstOf(s.runsWithin("g", 2, 90*time.Second), st.named("g"))
	}, refuse)(on, in, namespace)
}

// extendedWrites matches the scheduler's writes that start a gang with extended resources.
func extendedWrites(r *http.Request) bool {
	return claimWrites(r) || (r.Method == "POST" && strings.HasSuffix(r.URL.Path, "/resourceclaims")) || (r.Method == "PATCH" && strings.Contains(r.URL.Path, "/pods/") && strings.HasSuffix(r.URL.Path, "/status"))
}

// killedAtExtended kills the scheduler at one of the eight writes that start a gang of two with
// extended resources: two claims, two allocations, two statuses of pods and two binds.
func killedAtExtended(which int, applied bool) func(on *server, in place, namespace string) error {
	return func(on *server, in place, namespace string) error {
		at := &flaw{skip: which - 1, times: 1, what: "stop", when: extendedWrites}
		if applied {
			at.what = "crash"
		}
		return allocating(map[string]int{"a": 1, "b": 1}, func(s *stage, st *storing) error {
			killed := s.killedBy(at)
			if err := firstOf(st.extendedClass(), st.devices("a", 1, nil), st.devices("b", 1, nil), st.requesters("g", 2), killed(),
				s.wait(500*time.Millisecond), s.startScheduler(in), s.runs("g", 2), st.named("g")); err != nil {
				return err
			}
			if count := st.claimCount(); count != 2 {
				return unsafe(fmt.Sprintf("there are %d claims for 2 pods", count))
			}
			return s.partialAtMost(10 * time.Second)
		}, at)(on, in, namespace)
	}
}

// allocationScenarios show how claims are allocated.
func allocationScenarios() []scenario {
	two := map[string]int{"a": 2, "b": 2}
	made := []scenario{}
	add := func(name string, tell func(on *server, in place, namespace string) error) {
		made = append(made, scenario{name: "devices/" + name, manager: true, tell: tell})
	}
	add("gang-of-template-claims", allocating(two, func(s *stage, st *storing) error {
		return firstOf(st.devices("a", 2, nil), st.devices("b", 2, nil), st.claimants("g", 4), s.runs("g", 4))
	}))
	add("too-few-devices", allocating(two, tooFewDevices))
	add("next-user", allocating(two, nextUser))
	add("binding-conditions", allocating(map[string]int{"a": 1, "b": 1}, bindingConditions))
	add("broken-device", allocating(map[string]int{"a": 1, "b": 1}, brokenDevice))
	add("conflict", conflictingClaim)
	add("refused-allocation", refusedAllocation)
	add("halves-of-a-device", allocating(two, halvesOfADevice))
	add("left-allocation", leftAllocation)
	add("shared-claim", allocating(map[string]int{"a": 3, "b": 3}, allocatedOnce))
	add("shared-claim-without-room", allocating(two, sharersWithoutRoom))
	add("claim-of-a-pod-group", groupClaim)
	add("extended-resource", allocating(two, extendedGang))
	add("refused-extended-resource", refusedExtended)
	for _, applied := range []bool{false, true} {
		when := ""
		if applied {
			when = "-applied"
		}
		for which := 1; which <= 6; which++ {
			add(fmt.Sprintf("killed-at-write-%d%s", which, when), killedAtClaim(which, applied))
		}
		for which := 1; which <= 8; which++ {
			add(fmt.Sprintf("killed-at-extended-write-%d%s", which, when), killedAtExtended(which, applied))
		}
	}
	return made
}
