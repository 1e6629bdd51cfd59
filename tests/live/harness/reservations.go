// SPDX-License-Identifier: Apache-2.0
package main

import (
	"fmt"
	"net/http"
	"strings"
	"time"
)

const (
	reservations  = "kai-resource-reservation"
	gpuGroupLabel = "runai-gpu-group"
	gpuOfGroup    = "run.ai/reserve_for_gpu_index"
)

// reserving tells a story with fractions of KAI: its nodes have GPUs, and the agent in a reservation
// pod says which GPU the kubelet gave to the pod.
func reserving(gpus map[string]int, story func(s *stage) error, flaws ...*flaw) func(on *server, in place, namespace string) error {
	return ofMuster("the stand-in shares no GPUs", onStage(map[string]int{"a": 8}, func(s *stage) error {
		s.options = []string{"--kai-reservation-image", "registry.example.com/resource-reservation:v0.17"}
		s.on.admin.post("/api/v1/namespaces", `{"metadata":{"name":"`+reservations+`"}}`)
		if err := firstOf(s.allowed(s.namespace, "muster-scheduler-kai-sharers"), s.allowed(reservations, "muster-scheduler-kai-reservations")); err != nil {
			return err
		}
		for node, count := range gpus {
			s.nodes[s.namespace+"-"+node]["nvidia.com/gpu"] = int64(count) * 1000
			amounts := object{"nvidia.com/gpu": fmt.Sprint(count)}
			if err := firstOf(s.change(s.nodePath(node)+"/status", asText(object{"status": object{"allocatable": amounts, "capacity": amounts}})),
				s.change(s.nodePath(node), `{"metadata":{"labels":{"nvidia.com/gpu.memory":"10000"}}}`)); err != nil {
				return err
			}
		}
		s.agents()
		return firstOf(s.restarted(), story(s))
	}, flaws...))
}

// allowed binds a role to the scheduler in a namespace.
func (s *stage) allowed(namespace, role string) error {
	code, answer := s.on.admin.do("POST", "/apis/rbac.authorization.k8s.io/v1/namespaces/"+namespace+"/rolebindings", "application/json",
		asText(object{"metadata": object{"name": role}, "roleRef": object{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
			"subjects": []object{{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "muster-scheduler"}}}))
	if code != 201 && code != 409 {
		return fmt.Errorf("role %s in %s: %d %s", role, namespace, code, text(answer, "message"))
	}
	return nil
}

// reserved gives the reservation pods on the stage's nodes.
func (s *stage) reserved() []any {
	_, list := s.on.admin.get(podsOf(reservations))
	made := []any{}
	for _, each := range items(list, "items") {
		if strings.HasPrefix(text(each, "spec", "nodeName"), s.namespace+"-") {
			made = append(made, each)
		}
	}
	return made
}

// agents does the part of the agents in reservation pods until the stage ends: each writes a GPU that
// no other pod of its node has.
func (s *stage) agents() {
	told, ended := make(chan bool), make(chan bool)
	s.ended = append(s.ended, func() {
		close(told)
		<-ended
		for _, each := range s.reserved() {
			s.on.admin.do("DELETE", podsOf(reservations)+"/"+text(each, "metadata", "name"), "application/json", `{"gracePeriodSeconds":0}`)
		}
	})
	go func() {
		defer close(ended)
		for {
			select {
			case <-told:
				return
			case <-time.After(50 * time.Millisecond):
			}
			all, used := s.reserved(), map[string]bool{}
			for _, each := range all {
				used[text(each, "spec", "nodeName")+" "+text(each, "metadata", "annotations", gpuOfGroup)] = true
			}
			for _, each := range all {
				if text(each, "metadata", "annotations", gpuOfGroup) != "" || text(each, "status", "phase") != "Running" {
					continue
				}
				gpu := 0
				for used[fmt.Sprintf("%s GPU-%d", text(each, "spec", "nodeName"), gpu)] {
					gpu++
				}
				name := fmt.Sprint("GPU-", gpu)
				used[text(each, "spec", "nodeName")+" "+name] = true
				s.on.admin.merge(podsOf(reservations)+"/"+text(each, "metadata", "name"), asText(object{"metadata": object{"annotations": object{gpuOfGroup: name}}}))
			}
		}
	}()
}

// fraction makes a pod of a group that asks for half a GPU, as KAI's admission webhook leaves it.
func (s *stage) fraction(name, group string) error {
	maps := name + "-shared-gpu"
	key := func(key string) object {
		return object{"name": key, "valueFrom": object{"configMapKeyRef": object{"name": maps + "-0", "key": key}}}
	}
	return s.on.admin.expect(201, "POST", podsOf(s.namespace), asText(object{"apiVersion": "v1", "kind": "Pod",
		"metadata": object{"name": name, "labels": object{groupLabel: group}, "annotations": object{"gpu-fraction": "0.5", "runai/shared-gpu-configmap": maps}},
		"spec": object{"schedulerName": schedulerName, "nodeSelector": object{"stage": s.namespace},
			"containers": []object{{"name": "c", "image": "i", "env": []object{key("NVIDIA_VISIBLE_DEVICES"), key("RUNAI_NUM_OF_GPUS"), key("GPU_PORTION")},
				"envFrom": []object{{"configMapRef": object{"name": maps + "-0-evar", "optional": false}}}}}}}))
}

func (s *stage) fractions(group string, count int) error {
	for at := range count {
		if err := s.fraction(fmt.Sprint(group, "-", at), group); err != nil {
			return err
		}
	}
	return nil
}

// pairs checks that the pods of a group share GPUs in twos: each pod has the label of a group whose
// reservation pod is there, and ConfigMaps that name the GPU of that pod.
func (s *stage) pairs(group string, gpus int) error {
	gpuOf, sharers := map[string]string{}, map[string]int{}
	for _, each := range s.reserved() {
		gpuOf[text(each, "metadata", "labels", gpuGroupLabel)] = text(each, "metadata", "annotations", gpuOfGroup)
		if text(each, "metadata", "labels", "app") != reservations || text(each, "spec", "serviceAccountName") != reservations {
			return unsafe(fmt.Sprintf("reservation pod %s is not as KAI's", text(each, "metadata", "name")))
		}
	}
	_, list := s.on.admin.get(podsOf(s.namespace))
	for _, pod := range items(list, "items") {
		if text(pod, "metadata", "labels", groupLabel) != group {
			continue
		}
		name, of := text(pod, "metadata", "name"), text(pod, "metadata", "labels", gpuGroupLabel)
		gpu := gpuOf[of]
		if gpu == "" || text(pod, "metadata", "annotations", "received-resource-type") != "Fraction" {
			return unsafe(fmt.Sprintf("pod %s has labels %v and annotations %v; these groups have GPUs: %v", name, at(pod, "metadata", "labels"), at(pod, "metadata", "annotations"), gpuOf))
		}
		sharers[gpu]++
		for map_, portion := range map[string]string{"-0": "0.50", "-0-evar": ""} {
			_, found := s.on.admin.get("/api/v1/namespaces/" + s.namespace + "/configmaps/" + name + "-shared-gpu" + map_)
			owners := items(found, "metadata", "ownerReferences")
			if text(found, "data", "NVIDIA_VISIBLE_DEVICES") != gpu || text(found, "data", "GPU_PORTION") != portion ||
				len(owners) != 1 || text(owners[0], "uid") != text(pod, "metadata", "uid") {
				return unsafe(fmt.Sprintf("ConfigMap %s-shared-gpu%s of a pod on %s is %v", name, map_, gpu, found))
			}
		}
	}
	if len(gpuOf) != gpus || len(sharers) != gpus {
		return unsafe(fmt.Sprintf("GPUs by group: %v, and pods by GPU: %v (expected %d of both)", gpuOf, sharers, gpus))
	}
	for gpu, count := range sharers {
		if count != 2 {
			return unsafe(fmt.Sprintf("%d pods share %s (expected 2)", count, gpu))
		}
	}
	return nil
}

// unreserved waits until the stage's nodes have so many reservation pods.
func (s *stage) unreserved(left int) error {
	if !eventually(30*time.Second, func() bool { return len(s.reserved()) == left }) {
		return fmt.Errorf("%d reservation pods are left (expected %d)", len(s.reserved()), left)
	}
	return nil
}

func (s *stage) deleted(group string, from, count int) error {
	for at := range count {
		name := fmt.Sprint(group, "-", from+at)
		if err := firstOf(s.on.admin.expect(200, "DELETE", podsOf(s.namespace)+"/"+name, ""), s.gone(name)); err != nil {
			return err
		}
	}
	return nil
}

// fourFractions starts a gang of four pods with half a GPU each on the two GPUs of one node. A pod that
// asks for a whole GPU waits until both sharers of one have left.
func fourFractions(s *stage) error {
	whole := object{"nvidia.com/gpu": "1"}
	if err := firstOf(s.group("g", 4, ""), s.fractions("g", 4), s.runs("g", 4), s.pairs("g", 2)); err != nil {
		return err
	}
	if err := firstOf(s.group("h", 1, ""), s.sharer("h-0", "h", whole), s.waits("h", 2*time.Second)); err != nil {
		return err
	}
	_, list := s.on.admin.get(podsOf(s.namespace))
	of := ""
	for _, pod := range items(list, "items") {
		if text(pod, "metadata", "name") == "g-0" {
			of = text(pod, "metadata", "labels", gpuGroupLabel)
		}
	}
	for _, pod := range items(list, "items") {
		if name := text(pod, "metadata", "name"); of != "" && text(pod, "metadata", "labels", gpuGroupLabel) == of {
			if err := firstOf(s.on.admin.expect(200, "DELETE", podsOf(s.namespace)+"/"+name, ""), s.gone(name)); err != nil {
				return err
			}
		}
	}
	if err := firstOf(s.unreserved(1), s.runs("h", 1)); err != nil {
		return err
	}
	s.on.admin.do("DELETE", podsOf(s.namespace), "application/json", `{"gracePeriodSeconds":0}`)
	return s.unreserved(0)
}

// killedAtReservation kills the scheduler at one of its writes that start a gang of four pods with half
// a GPU each: two reservation pods, eight ConfigMaps and four binds. The next scheduler starts the gang,
// or (left) the gang is gone by then; nothing is left over.
func killedAtReservation(which int, applied, left bool) func(on *server, in place, namespace string) error {
	return func(on *server, in place, namespace string) error {
		at := &flaw{skip: which - 1, times: 1, what: "stop", when: func(r *http.Request) bool {
			return r.Method != "GET" && (strings.HasSuffix(r.URL.Path, "/"+reservations+"/pods") || strings.Contains(r.URL.Path, "/configmaps/") || strings.HasSuffix(r.URL.Path, "/binding"))
		}}
		if applied {
			at.what = "crash"
		}
		return reserving(map[string]int{"a": 2}, func(s *stage) error {
			first, killed := s.program, make(chan bool, 1)
			at.do = func(string) {
				first.Process.Kill()
				killed <- true
			}
			if err := firstOf(s.group("g", 4, ""), s.fractions("g", 4)); err != nil {
				return err
			}
			select {
			case <-killed:
			case <-time.After(30 * time.Second):
				return fmt.Errorf("there was no write number %d", which)
			}
			first.Wait()
			if left {
				if err := s.deleted("g", 0, 4); err != nil {
					return err
				}
				return firstOf(s.startScheduler(in), s.unreserved(0))
			}
			if err := firstOf(s.wait(500*time.Millisecond), s.startScheduler(in), s.runs("g", 4), s.pairs("g", 2), s.deleted("g", 0, 4), s.unreserved(0)); err != nil {
				return err
			}
			s.note = func() string { return fmt.Sprintf("partial for %.2f s", s.partial.Seconds()) }
			return s.partialAtMost(10 * time.Second)
		}, at)(on, in, namespace)
	}
}

func reservationScenarios() []scenario {
	made := []scenario{{name: "shares/kai-four-halves", manager: true, tell: reserving(map[string]int{"a": 2}, fourFractions)},
		{name: "shares/kai-killed-and-left", manager: true, tell: killedAtReservation(11, false, true)}}
	// 1, 2: the reservation pods. 4: a ConfigMap. 11, 13: the first bind, and the third one.
	for _, which := range []int{1, 2, 4, 11, 13} {
		made = append(made, scenario{name: fmt.Sprintf("shares/kai-killed-at-write-%d", which), manager: true, tell: killedAtReservation(which, false, false)},
			scenario{name: fmt.Sprintf("shares/kai-killed-at-write-%d-applied", which), manager: true, tell: killedAtReservation(which, true, false)})
	}
	return made
}
