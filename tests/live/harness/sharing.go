// SPDX-License-Identifier: Apache-2.0
package main

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// sharing is a notation in which pods ask for parts of GPUs, and its agent's side: a register on the
// node, and annotations of pods that say which devices they get.
type sharing struct {
	name string
	// registered gives the annotation of a node with so many GPUs (empty: none), and its allocatable
	// amounts.
	registered func(gpus int) (string, string, object)
	// half has the limits of a pod that asks for half of a GPU.
	half object
	// given returns the GPU of which a pod was given half, by its annotations; empty: not half of one.
	given func(pod any) string
}

// inList reads an annotation that lists `ID,TYPE,MEMORY,CORES:` for each device.
func inList(key string) func(pod any) string {
	return func(pod any) string {
		parts := strings.Split(strings.Trim(text(pod, "metadata", "annotations", key), ":;"), ",")
		if len(parts) != 4 || parts[2] != "5000" {
			return ""
		}
		return parts[0]
	}
}

// inDocument reads Koordinator's annotation.
func inDocument(pod any) string {
	var given struct {
		GPU []struct {
			Minor     int
			Resources map[string]string
		}
	}
	if json.Unmarshal([]byte(text(pod, "metadata", "annotations", "scheduling.koordinator.sh/device-allocated")), &given) != nil ||
		len(given.GPU) != 1 || given.GPU[0].Resources["koordinator.sh/gpu-core"] != "50" || given.GPU[0].Resources["koordinator.sh/gpu-memory-ratio"] != "50" {
		return ""
	}
	return fmt.Sprint("GPU-", given.GPU[0].Minor)
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
	}, object{"nvidia.com/gpu": "1", "nvidia.com/gpumem-percentage": "50"}, inList("hami.io/vgpu-devices-to-allocate")},
	{"volcano", func(gpus int) (string, string, object) {
		return "volcano.sh/node-vgpu-register", listed(gpus, "GPU-#,10,10000,NVIDIA-A100,true,hami-core:"),
			object{"volcano.sh/vgpu-number": strconv.Itoa(10 * gpus), "volcano.sh/vgpu-memory": strconv.Itoa(10000 * gpus), "volcano.sh/vgpu-cores": strconv.Itoa(100 * gpus)}
	}, object{"volcano.sh/vgpu-number": "1", "volcano.sh/vgpu-memory": "5000"}, inList("volcano.sh/devices-to-allocate")},
	{"koordinator", func(gpus int) (string, string, object) {
		return "", "", object{"koordinator.sh/gpu-core": strconv.Itoa(100 * gpus), "koordinator.sh/gpu-memory-ratio": strconv.Itoa(100 * gpus)}
	}, object{"koordinator.sh/gpu-core": "50", "koordinator.sh/gpu-memory-ratio": "50"}, inDocument},
}

// register is what the device plugin of a node does.
func (s *stage) register(with sharing, node string, gpus int) error {
	key, list, amounts := with.registered(gpus)
	for name, amount := range amounts {
		s.nodes[s.namespace+"-"+node][name] = milli(amount)
	}
	// The node does not list it: it is what the devices have together.
	s.nodes[s.namespace+"-"+node]["nvidia.com/gpumem-percentage"] = int64(gpus) * 100_000
	listed := s.change(s.nodePath(node)+"/status", asText(object{"status": object{"allocatable": amounts, "capacity": amounts}}))
	if key != "" {
		return firstOf(listed, s.change(s.nodePath(node), asText(object{"metadata": object{"annotations": object{key: list}}})))
	}
	return firstOf(listed, s.koordinatorDevice(s.namespace+"-"+node, gpus))
}

// koordinatorDevice lists the GPUs of a node as Koordinator's agent does.
func (s *stage) koordinatorDevice(node string, gpus int) error {
	devices := []object{}
	for at := range gpus {
		devices = append(devices, object{"type": "gpu", "id": fmt.Sprint("GPU-", at), "minor": at, "health": true,
			"resources": object{"koordinator.sh/gpu-core": "100", "koordinator.sh/gpu-memory": "10000Mi", "koordinator.sh/gpu-memory-ratio": "100"}})
	}
	const path = "/apis/scheduling.koordinator.sh/v1alpha1/devices"
	s.ended = append(s.ended, func() { s.on.admin.do("DELETE", path+"/"+node, "application/json", "") })
	return s.on.admin.expect(201, "POST", path, asText(object{"apiVersion": "scheduling.koordinator.sh/v1alpha1", "kind": "Device",
		"metadata": object{"name": node}, "spec": object{"devices": devices}}))
}

func (s *stage) sharer(name, group string, limits object) error {
	return s.on.admin.expect(201, "POST", podsOf(s.namespace), asText(object{"apiVersion": "v1", "kind": "Pod",
		"metadata": object{"name": name, "labels": object{groupLabel: group}},
		"spec": object{"schedulerName": schedulerName, "nodeSelector": object{"stage": s.namespace},
			"containers": []object{{"name": "c", "image": "i", "resources": object{"limits": limits, "requests": limits}}}}}))
}

// halves counts the pods of a group by the GPU that they were given, and checks that each pod has
// half of one.
func (s *stage) halves(with sharing, group string) (map[string]int, error) {
	_, list := s.on.admin.get(podsOf(s.namespace))
	made := map[string]int{}
	for _, pod := range items(list, "items") {
		if text(pod, "metadata", "labels", groupLabel) != group || text(pod, "spec", "nodeName") == "" {
			continue
		}
		gpu := with.given(pod)
		if gpu == "" {
			return nil, unsafe(fmt.Sprintf("pod %s has a node, and annotations %v (expected half of one GPU)", text(pod, "metadata", "name"), at(pod, "metadata", "annotations")))
		}
		made[gpu]++
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
		if given["GPU-0"] != 2 || given["GPU-1"] != 2 {
			return unsafe(fmt.Sprintf("so many pods got each GPU: %v (expected 2 of both)", given))
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
