// SPDX-License-Identifier: Apache-2.0
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"sync"
	"time"
)

// amounts are thousandths by the name of the resource.
type amounts map[string]int64

var binarySuffixes = []string{"Ki", "Mi", "Gi", "Ti", "Pi", "Ei"}

// milli reads a quantity in thousandths, rounded away from zero; what is none counts nothing.
func milli(value any) int64 {
	text := fmt.Sprint(value)
	if number, ok := value.(float64); ok {
		return int64(number * 1000)
	}
	factor := big.NewRat(1000, 1)
	for at, suffix := range binarySuffixes {
		if rest, found := strings.CutSuffix(text, suffix); found {
			text = rest
			factor.Mul(factor, new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), uint(10*(at+1)))))
		}
	}
	for suffix, exponent := range map[string]int64{"n": -9, "u": -6, "m": -3, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18} {
		if rest, found := strings.CutSuffix(text, suffix); found {
			text = rest
			power := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(max(exponent, -exponent)), nil))
			if exponent < 0 {
				power.Inv(power)
			}
			factor.Mul(factor, power)
		}
	}
	number, ok := new(big.Rat).SetString(text)
	if !ok {
		return 0
	}
	number.Mul(number, factor)
	whole, rest := new(big.Int).QuoRem(number.Num(), number.Denom(), new(big.Int))
	if rest.Sign() > 0 {
		whole.Add(whole, big.NewInt(1))
	}
	if !whole.IsInt64() {
		return 1<<63 - 1
	}
	return whole.Int64()
}

// requestOf is what a pod takes of its node: its containers together, or its largest init container.
func requestOf(pod any) amounts {
	made := amounts{"pods": 1000}
	add := func(container any) {
		fields, _ := at(container, "resources", "requests").(object)
		for name, value := range fields {
			made[name] += milli(value)
		}
	}
	for _, each := range items(pod, "spec", "containers") {
		add(each)
	}
	for _, each := range items(pod, "spec", "initContainers") {
		if text(each, "restartPolicy") == "Always" {
			add(each)
		}
	}
	for _, each := range items(pod, "spec", "initContainers") {
		fields, _ := at(each, "resources", "requests").(object)
		for name, value := range fields {
			made[name] = max(made[name], milli(value))
		}
	}
	// What a claim serves is none of the node's own.
	for _, each := range items(pod, "status", "extendedResourceClaimStatus", "requestMappings") {
		delete(made, text(each, "resourceName"))
	}
	return made
}

func allocatableOf(node any) amounts {
	made := amounts{}
	fields, _ := at(node, "status", "allocatable").(object)
	for name, value := range fields {
		made[name] = milli(value)
	}
	return made
}

// held says whether a pod takes its share of its node.
func held(pod any) bool {
	phase := text(pod, "status", "phase")
	return text(pod, "spec", "nodeName") != "" && phase != "Succeeded" && phase != "Failed"
}

// kubelets run the pods of all nodes of a server, seen from outside: they admit what fits by their
// own count, refuse what does not, end pods as their annotations say, and confirm deletions.
type kubelets struct {
	on      *client
	lock    sync.Mutex
	nodes   map[string]amounts
	used    map[string]amounts
	tenants map[string]tenant // by uid
	early   map[string]any    // pods, by uid, whose nodes nobody has seen yet
	work    chan func()
	refused []string
	runs    map[string]int // of a name and its owner, where annotations list attempts
	stop    context.CancelFunc
	done    sync.WaitGroup
}

type tenant struct {
	node  string
	takes amounts
}

func startKubelets(on *client) *kubelets {
	ctx, stop := context.WithCancel(context.Background())
	made := &kubelets{on: on, nodes: map[string]amounts{}, used: map[string]amounts{},
		tenants: map[string]tenant{}, early: map[string]any{}, runs: map[string]int{}, work: make(chan func(), 100000), stop: stop}
	for range 16 {
		made.done.Add(1)
		go func() {
			defer made.done.Done()
			for {
				select {
				case each := <-made.work:
					each()
				case <-ctx.Done():
					return
				}
			}
		}()
	}
	for _, path := range []string{"/api/v1/nodes", "/api/v1/pods"} {
		made.done.Add(1)
		go func() {
			defer made.done.Done()
			for ctx.Err() == nil {
				made.follow(ctx, path)
				select {
				case <-time.After(100 * time.Millisecond):
				case <-ctx.Done():
				}
			}
		}()
	}
	return made
}

func (k *kubelets) end() {
	k.stop()
	k.done.Wait()
}

func (k *kubelets) refusedSoFar() []string {
	k.lock.Lock()
	defer k.lock.Unlock()
	return append([]string{}, k.refused...)
}

func (k *kubelets) follow(ctx context.Context, path string) {
	_, list := k.on.get(path)
	for _, each := range items(list, "items") {
		k.see("ADDED", path, each)
	}
	events := make(chan object)
	go func() {
		defer close(events)
		k.on.watch(ctx, path+"?watch=1&resourceVersion="+text(list, "metadata", "resourceVersion"), events)
	}()
	for event := range events {
		if text(event, "type") == "ERROR" {
			return
		}
		k.see(text(event, "type"), path, event["object"])
	}
}

func (k *kubelets) see(what, path string, found any) {
	k.lock.Lock()
	defer k.lock.Unlock()
	if path == "/api/v1/nodes" {
		k.nodes[text(found, "metadata", "name")] = allocatableOf(found)
		if what == "DELETED" {
			delete(k.nodes, text(found, "metadata", "name"))
			return
		}
		for _, pod := range k.early {
			if text(pod, "spec", "nodeName") == text(found, "metadata", "name") {
				k.seePod("ADDED", pod)
			}
		}
		return
	}
	k.seePod(what, found)
}

func (k *kubelets) seePod(what string, found any) {
	uid, node := text(found, "metadata", "uid"), text(found, "spec", "nodeName")
	delete(k.early, uid)
	known, runs := k.tenants[uid]
	if runs && (what == "DELETED" || !held(found)) {
		delete(k.tenants, uid)
		for name, amount := range known.takes {
			k.used[known.node][name] -= amount
		}
	}
	if what == "DELETED" || node == "" {
		return
	}
	at := podsOf(text(found, "metadata", "namespace")) + "/" + text(found, "metadata", "name")
	if text(found, "metadata", "deletionTimestamp") != "" {
		k.work <- func() {
			k.on.do("DELETE", at, "application/json", `{"gracePeriodSeconds":0,"preconditions":{"uid":"`+uid+`"}}`)
		}
		return
	}
	if runs || !held(found) {
		return
	}
	takes, allocatable := requestOf(found), k.nodes[node]
	if allocatable == nil {
		k.early[uid] = found
		return
	}
	if k.used[node] == nil {
		k.used[node] = amounts{}
	}
	for name, amount := range takes {
		// Of extended resources, the kubelet judges those that its node lists.
		if _, lists := allocatable[name]; !lists && strings.Contains(name, "/") {
			continue
		}
		if k.used[node][name]+amount > allocatable[name] && amount > 0 {
			k.refused = append(k.refused, at+": OutOf"+name)
			k.report(at, object{"phase": "Failed", "reason": "OutOf" + name})
			return
		}
	}
	for name, amount := range takes {
		k.used[node][name] += amount
	}
	k.tenants[uid] = tenant{node, takes}
	now := time.Now().UTC().Format(time.RFC3339)
	k.report(at, object{"phase": "Running", "startTime": now,
		"conditions":        []object{{"type": "Ready", "status": "True", "lastTransitionTime": now}},
		"containerStatuses": containerStates(found, object{"running": object{"startedAt": now}}, true)})
	seconds, codes := text(found, "metadata", "annotations", "muster.dev/run-seconds"), text(found, "metadata", "annotations", "muster.dev/exit-code")
	attempt := 0
	if strings.Contains(seconds+codes, ",") {
		name := at
		for _, each := range items(found, "metadata", "ownerReferences") {
			name += " of " + text(each, "uid")
		}
		attempt = k.runs[name]
		k.runs[name]++
	}
	lasts, err := strconv.Atoi(entry(seconds, attempt))
	if err != nil {
		return
	}
	code, _ := strconv.Atoi(entry(codes, attempt))
	time.AfterFunc(time.Duration(lasts)*time.Second, func() {
		phase := "Succeeded"
		if code != 0 {
			phase = "Failed"
		}
		k.report(at, object{"phase": phase,
			"containerStatuses": containerStates(found, object{"terminated": object{"exitCode": code}}, false)})
	})
}

// entry gives what a list says of an attempt; its last entry is that of all to come.
func entry(list string, attempt int) string {
	all := strings.Split(list, ",")
	return strings.TrimSpace(all[min(attempt, len(all)-1)])
}

func containerStates(pod any, state object, ready bool) []object {
	made := []object{}
	for _, each := range items(pod, "spec", "containers") {
		made = append(made, object{"name": text(each, "name"), "image": text(each, "image"), "imageID": "",
			"restartCount": 0, "ready": ready, "started": ready, "state": state})
	}
	return made
}

func (k *kubelets) report(path string, status object) {
	body, _ := json.Marshal(object{"status": status})
	k.work <- func() {
		k.on.do("PATCH", path+"/status", "application/strategic-merge-patch+json", string(body))
	}
}
