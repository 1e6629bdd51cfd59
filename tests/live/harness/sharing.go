// SPDX-License-Identifier: Apache-2.0
package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// sharing is a notation in which pods ask for parts of GPUs, and its agent's side: a register on the
// node, and annotations of pods that say which devices they get.
type sharing struct {
	name string
	// registered gives the annotation and the allocatable amounts of a node with so many GPUs.
	registered func(gpus int) (string, string, object)
	// half gives the limits of a pod that asks for half of a GPU.
	half object
	// given is the annotation with the devices of a pod: `ID,TYPE,MEMORY,CORES:` for each.
	given string
}

func listed(gpus int, each string) string {
	made := ""
	for at := range gpus {
		made += strings.ReplaceAll(each, "#", strconv.Itoa(at))
	}
	return made
}

var sharings = []sharing{
	{"hami", func(gpus int) (string, string, object) {
		list := strings.TrimSuffix(listed(gpus, `{"id":"GPU-#","index":#,"count":10,"devmem":10000,"devcore":100,"type":"NVIDIA-A100","numa":0,"mode":"hami-core","health":true},`), ",")
		return "hami.io/node-nvidia-register", "[" + list + "]", object{"nvidia.com/gpu": strconv.Itoa(10 * gpus)}
	}, object{"nvidia.com/gpu": "1", "nvidia.com/gpumem-percentage": "50"}, "hami.io/vgpu-devices-to-allocate"},
	{"volcano", func(gpus int) (string, string, object) {
		return "volcano.sh/node-vgpu-register", listed(gpus, "GPU-#,10,10000,NVIDIA-A100,true,hami-core:"),
			object{"volcano.sh/vgpu-number": strconv.Itoa(10 * gpus), "volcano.sh/vgpu-memory": strconv.Itoa(10000 * gpus), "volcano.sh/vgpu-cores": strconv.Itoa(100 * gpus)}
	}, object{"volcano.sh/vgpu-number": "1", "volcano.sh/vgpu-memory": "5000"}, "volcano.sh/devices-to-allocate"},
}

// register is what the device plugin of a node does.
func (s *stage) register(with sharing, node string, gpus int) error {
	key, list, amounts := with.registered(gpus)
	for name, amount := range amounts {
		s.nodes[s.namespace+"-"+node][name] = milli(amount)
	}
	// The node does not list it: it is what the devices have together.
	s.nodes[s.namespace+"-"+node]["nvidia.com/gpumem-percentage"] = int64(gpus) * 100_000
	return firstOf(s.change(s.nodePath(node)+"/status", asText(object{"status": object{"allocatable": amounts, "capacity": amounts}})),
		s.change(s.nodePath(node), asText(object{"metadata": object{"annotations": object{key: list}}})))
}

func (s *stage) sharer(name, group string, limits object) error {
	return s.on.admin.expect(201, "POST", podsOf(s.namespace), asText(object{"apiVersion": "v1", "kind": "Pod",
		"metadata": object{"name": name, "labels": object{groupLabel: group}},
		"spec": object{"schedulerName": schedulerName, "nodeSelector": object{"stage": s.namespace},
			"containers": []object{{"name": "c", "image": "i", "resources": object{"limits": limits, "requests": limits}}}}}))
}

// halves counts the memory that the pods of a group were given, by GPU, and checks that each pod has
// half of one.
func (s *stage) halves(with sharing, group string) (map[string]int, error) {
	_, list := s.on.admin.get(podsOf(s.namespace))
	made := map[string]int{}
	for _, pod := range items(list, "items") {
		if text(pod, "metadata", "labels", groupLabel) != group || text(pod, "spec", "nodeName") == "" {
			continue
		}
		given := text(pod, "metadata", "annotations", with.given)
		parts := strings.Split(strings.Trim(given, ":;"), ",")
		if len(parts) != 4 || parts[2] != "5000" {
			return nil, unsafe(fmt.Sprintf("pod %s has a node, and for devices %q (expected 5000 of one GPU)", text(pod, "metadata", "name"), given))
		}
		made[parts[0]] += 5000
	}
	return made, nil
}

// fourHalves starts a gang of four pods with half a GPU each on the two GPUs of one node. A gang of
// two more waits until pods have left.
func fourHalves(with sharing) func(s *stage) error {
	return func(s *stage) error {
		steps := firstOf(s.register(with, "a", 2), s.group("g", 4, ""), s.group("h", 2, ""))
		for at := range 4 {
			steps = firstOf(steps, s.sharer(fmt.Sprint("g-", at), "g", with.half))
		}
		if err := firstOf(steps, s.runs("g", 4)); err != nil {
			return err
		}
		given, err := s.halves(with, "g")
		if err != nil {
			return err
		}
		if given["GPU-0"] != 10000 || given["GPU-1"] != 10000 {
			return unsafe(fmt.Sprintf("the GPUs are given as %v (expected 10000 of both)", given))
		}
		if err := firstOf(s.sharer("h-0", "h", with.half), s.sharer("h-1", "h", with.half), s.waits("h", 2*time.Second),
			s.on.admin.expect(200, "DELETE", podsOf(s.namespace)+"/g-0", ""), s.gone("g-0"), s.waits("h", 2*time.Second),
			s.on.admin.expect(200, "DELETE", podsOf(s.namespace)+"/g-1", ""), s.gone("g-1"), s.runs("h", 2)); err != nil {
			return err
		}
		_, err = s.halves(with, "h")
		return err
	}
}

func sharingScenarios() []scenario {
	made := []scenario{}
	for _, with := range sharings {
		made = append(made, scenario{name: "shares/" + with.name + "-four-halves", manager: true,
			tell: ofMuster("the stand-in shares no GPUs", onStage(map[string]int{"a": 8}, fourHalves(with)))})
	}
	return made
}
