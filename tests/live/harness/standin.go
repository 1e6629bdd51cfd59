// SPDX-License-Identifier: Apache-2.0
package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"
)

// A scheduler that knows just enough to pass the scenarios, by lists alone; and without gangs, just
// enough to fail them. It shows that they can be passed and failed, whatever becomes of Muster.
type standIn struct {
	on    *client
	gangs bool
}

func runStandIn(kubeconfig string, gangs bool) int {
	config, err := os.ReadFile(kubeconfig)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	field := func(name string) string {
		match := regexp.MustCompile(name + `: "?([^"\s},]+)`).FindStringSubmatch(string(config))
		if match == nil {
			return ""
		}
		return match[1]
	}
	authority, _ := base64.StdEncoding.DecodeString(field("certificate-authority-data"))
	made := standIn{newClient(field("server"), field("token"), authority), gangs}
	for {
		made.cycle()
		time.Sleep(100 * time.Millisecond)
	}
}

func (s *standIn) cycle() {
	_, nodeList := s.on.get("/api/v1/nodes")
	_, podList := s.on.get("/api/v1/pods")
	free, labels := map[string]amounts{}, map[string]object{}
	for _, node := range items(nodeList, "items") {
		name := text(node, "metadata", "name")
		if cordoned, _ := at(node, "spec", "unschedulable").(bool); cordoned {
			continue
		}
		free[name] = allocatableOf(node)
		labels[name], _ = at(node, "metadata", "labels").(object)
	}
	waiting := map[string][]any{}
	alive := map[string]int{}
	for _, pod := range items(podList, "items") {
		group := text(pod, "metadata", "labels", "scheduler.tensorstack.dev/group-name")
		key := text(pod, "metadata", "namespace") + "/" + group
		if group == "" {
			key += text(pod, "metadata", "name")
		}
		if text(pod, "metadata", "deletionTimestamp") == "" && text(pod, "status", "phase") != "Failed" && len(items(pod, "spec", "schedulingGates")) == 0 {
			alive[key]++
		}
		if node := text(pod, "spec", "nodeName"); node != "" {
			if held(pod) && free[node] != nil {
				for name, amount := range requestOf(pod) {
					free[node][name] -= amount
				}
			}
		} else if text(pod, "spec", "schedulerName") == schedulerName && len(items(pod, "spec", "schedulingGates")) == 0 {
			waiting[key] = append(waiting[key], pod)
		}
	}
	keys := []string{}
	for key := range waiting {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for _, key := range keys {
		s.start(key, waiting[key], alive[key], free, labels)
	}
}

func (s *standIn) start(key string, pods []any, alive int, free map[string]amounts, labels map[string]object) {
	namespace, name, _ := strings.Cut(key, "/")
	grouped := text(pods[0], "metadata", "labels", "scheduler.tensorstack.dev/group-name") != ""
	needed := len(pods)
	if s.gangs && grouped {
		code, group := s.on.get(groups + namespace + "/podgroups/" + name)
		min, _ := at(group, "spec", "minMember").(float64)
		if code != 200 || alive < int(min) || !s.admitted(namespace, text(group, "spec", "queue")) {
			return
		}
		needed = max(0, int(min)-(alive-len(pods)))
	}
	chosen := map[int]string{}
	for which, pod := range pods {
		takes := requestOf(pod)
		selector, _ := at(pod, "spec", "nodeSelector").(object)
		for node := range free {
			fits := true
			for resource, amount := range takes {
				fits = fits && free[node][resource] >= amount
			}
			for label, value := range selector {
				fits = fits && labels[node][label] == value
			}
			if fits {
				chosen[which] = node
				for resource, amount := range takes {
					free[node][resource] -= amount
				}
				break
			}
		}
	}
	if s.gangs && len(chosen) < needed {
		for which, node := range chosen {
			for resource, amount := range requestOf(pods[which]) {
				free[node][resource] += amount
			}
		}
		return
	}
	for which, node := range chosen {
		pod := pods[which]
		s.on.post(podsOf(namespace)+"/"+text(pod, "metadata", "name")+"/binding",
			binding(text(pod, "metadata", "name"), text(pod, "metadata", "uid"), node))
	}
	if s.gangs && grouped {
		body, _ := json.Marshal(object{"status": object{"conditions": []object{{"type": "GroupScheduled", "status": "True"}}}})
		s.on.merge(groups+namespace+"/podgroups/"+name+"/status", string(body))
	}
}

func (s *standIn) admitted(namespace, queue string) bool {
	code, found := s.on.get(groups + "t9k-system/queues/" + queue)
	selector := at(found, "spec", "namespaceSelector")
	if code != 200 || selector == nil {
		return false
	}
	_, space := s.on.get("/api/v1/namespaces/" + namespace)
	wanted, _ := at(selector, "matchLabels").(object)
	for label, value := range wanted {
		if at(space, "metadata", "labels", label) != value {
			return false
		}
	}
	return true
}
