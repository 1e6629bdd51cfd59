// SPDX-License-Identifier: Apache-2.0
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

// transcript is what a server answered to a sequence of requests, with everything renamed that no
// two servers have in common.
type transcript struct {
	on    *client
	lines []string
	names map[string]string
}

var timeText = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$`)
var uidText = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)
var versionText = regexp.MustCompile(`(resource version: )\d+( \(\d+\))?`)

// renamed makes uids, versions and times the same wherever they come from.
func (t *transcript) renamed(value any, field string) any {
	switch found := value.(type) {
	case object:
		made := object{}
		for name, inner := range found {
			switch {
			case name == "managedFields" || name == "storageVersionHash":
			case name == "description" && field == "columnDefinitions":
			case name == "verbs":
				made[name] = sorted(items(found, name))
			case name == "resourceVersion" || name == "continue" || name == "remainingItemCount":
				made[name] = "<" + name + ">"
			default:
				made[name] = t.renamed(inner, name)
			}
		}
		return made
	case []any:
		made := []any{}
		for _, inner := range found {
			made = append(made, t.renamed(inner, field))
		}
		return made
	case string:
		if timeText.MatchString(found) {
			return "<time>"
		}
		found = uidText.ReplaceAllStringFunc(found, func(uid string) string {
			if t.names[uid] == "" {
				t.names[uid] = fmt.Sprintf("<uid %d>", len(t.names)+1)
			}
			return t.names[uid]
		})
		// The change of a pod that is refused is shown in Go's notation.
		found, _, _ = strings.Cut(found, "\n@@")
		return versionText.ReplaceAllString(found, "${1}<version>")
	}
	return value
}

func sorted(words []any) []string {
	made := []string{}
	for _, each := range words {
		made = append(made, fmt.Sprint(each))
	}
	slices.Sort(made)
	return made
}

func (t *transcript) say(format string, values ...any) {
	t.lines = append(t.lines, fmt.Sprintf(format, values...))
}

// ask writes down method, path, code and the whole answer.
func (t *transcript) ask(method, path, contentType, body string) (int, object) {
	return t.askAs("application/json", method, path, contentType, body)
}

func (t *transcript) askAs(accept, method, path, contentType, body string) (int, object) {
	code, answer := t.on.doAccepting(accept, method, path, contentType, body)
	text, _ := json.Marshal(t.renamed(answer, ""))
	t.say("%s %s %d %s", method, path, code, text)
	return code, answer
}

func (t *transcript) get(path string) object { _, made := t.ask("GET", path, "", ""); return made }
func (t *transcript) post(path, body string) object {
	_, made := t.ask("POST", path, "application/json", body)
	return made
}
func (t *transcript) put(path, body string) object {
	_, made := t.ask("PUT", path, "application/json", body)
	return made
}
func (t *transcript) merge(path, body string) object {
	_, made := t.ask("PATCH", path, "application/merge-patch+json", body)
	return made
}
func (t *transcript) strategic(path, body string) object {
	_, made := t.ask("PATCH", path, "application/strategic-merge-patch+json", body)
	return made
}
func (t *transcript) remove(path, body string) object {
	_, made := t.ask("DELETE", path, "application/json", body)
	return made
}

// gone waits until there is no such object, and says whether it went.
func (t *transcript) gone(path string) {
	t.say("gone %s: %v", path, eventually(20*time.Second, func() bool {
		code, _ := t.on.get(path)
		return code == 404
	}))
}

// told writes down the events of a watch that come within a moment, by type and name.
func (t *transcript) told(path string) {
	ctx, stop := context.WithTimeout(context.Background(), 700*time.Millisecond)
	defer stop()
	events := make(chan object, 1000)
	t.on.watch(ctx, path, events)
	made := []string{}
	for {
		select {
		case event := <-events:
			if text(event, "type") != "BOOKMARK" {
				made = append(made, text(event, "type")+" "+text(event, "object", "metadata", "name"))
			}
		default:
			t.say("watch %s: %s", path, strings.Join(made, ", "))
			return
		}
	}
}

// truth is a sequence of requests to which both servers must give the same answers.
type truth struct {
	name string
	// manager says that it needs a kube-controller-manager.
	manager bool
	tell    func(t *transcript, namespace string)
}

func podText(name, more string) string {
	return `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"` + name + `"` + more + `}`
}

const oneContainer = `"containers":[{"name":"c","image":"i:1","resources":{"requests":{"cpu":"1"}}}]`

func pod(name, metadata, spec string) string {
	return podText(name, metadata) + `,"spec":{` + oneContainer + spec + `}}`
}

func binding(name, uid, node string) string {
	metadata := `"name":"` + name + `"`
	if uid != "" {
		metadata += `,"uid":"` + uid + `"`
	}
	return `{"apiVersion":"v1","kind":"Binding","metadata":{` + metadata + `},"target":{"kind":"Node","name":"` + node + `"}}`
}

func configMap(name, more string) string {
	return `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"` + name + `"` + more + `}}`
}

var truths = []truth{
	{name: "objects", tell: func(t *transcript, ns string) {
		maps := "/api/v1/namespaces/" + ns + "/configmaps"
		t.post(maps, configMap("a", ""))
		t.post(maps, configMap("a", ""))
		t.get(maps + "/b")
		t.post(maps, configMap("No Name", ""))
		t.post(maps, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{}}`)
		t.post(maps, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x","namespace":"other"}}`)
		t.post("/api/v1/namespaces/nowhere/configmaps", configMap("a", ""))
		t.post(maps, configMap("b", `,"resourceVersion":"7"`))
		t.get("/api/v1/namespaces/" + ns + "/flowers")
		t.remove(maps+"/a", `{"preconditions":{"uid":"x"}}`)
		t.remove(maps+"/a", "")
		t.remove(maps+"/a", "")
	}},
	{name: "applies", tell: func(t *transcript, ns string) {
		apply := func(path, more, body string) {
			t.ask("PATCH", path+"?fieldManager="+more, "application/apply-patch+yaml", body)
		}
		maps := "/api/v1/namespaces/" + ns + "/configmaps"
		data := func(text string) string {
			return strings.TrimSuffix(configMap("a", ""), "}") + `,"data":{` + text + `}}`
		}
		apply(maps+"/a", "one", data(`"x":"1","y":"1"`))
		apply(maps+"/a", "one", data(`"x":"1","y":"1"`))
		apply(maps+"/a", "two", data(`"x":"2"`))
		apply(maps+"/a", "two", data(`"x":"2","y":"2"`))
		apply(maps+"/a", "two", data(`"y":"1","z":"1"`))
		apply(maps+"/a", "two&force=true", data(`"x":"2","y":"1","z":"1"`))
		apply(maps+"/a", "one", data(`"x":"1"`))
		apply(maps+"/a", "one", data(`"w":"1"`))
		apply(maps+"/a", "", data(`"w":"1"`))
		apply(maps+"/b", "one", configMap("a", ""))
		apply(maps+"/a", "one", configMap("a", `,"managedFields":[{"manager":"x"}]`))
		apply(maps+"/c", "one&dryRun=All", configMap("c", ""))
		t.get(maps + "/c")
		t.get(maps + "/a")
		pods := podsOf(ns)
		container := func(name, image string) string { return `{"name":"` + name + `","image":"` + image + `"}` }
		spec := func(containers string) string {
			return podText("p", "") + `,"spec":{"containers":[` + containers + `]}}`
		}
		apply(pods+"/p", "one", spec(container("c", "i:1")+","+container("d", "i:1")))
		apply(pods+"/p", "two", spec(container("c", "i:2")))
		apply(pods+"/p", "two&force=true", spec(container("c", "i:2")))
		apply(pods+"/p/status", "one", podText("p", "")+`,"status":{"message":"m"}}`)
		apply(pods+"/q/status", "one", podText("q", "")+`,"status":{"message":"m"}}`)
		t.get(pods + "/p")
	}},
	{name: "writes-and-versions", tell: func(t *transcript, ns string) {
		maps := "/api/v1/namespaces/" + ns + "/configmaps"
		made := t.post(maps, configMap("a", ""))
		first, _ := json.Marshal(made)
		t.merge(maps+"/a", `{"data":{"x":"1"}}`)
		t.merge(maps+"/a", `{"data":{"x":"1"}}`)
		t.put(maps+"/a", string(first))
		t.put(maps+"/a", configMap("a", `,"labels":{"l":"1"}`))
		t.put(maps+"/a", configMap("b", ""))
		t.put(maps+"/a", configMap("a", `,"uid":"11111111-1111-4111-8111-111111111111"`))
		t.put(maps+"/z", configMap("z", ""))
		t.merge(maps+"/a", `{"metadata":{"resourceVersion":"1"}}`)
		t.merge(maps+"/a", `{"metadata":{"uid":"11111111-1111-4111-8111-111111111111"}}`)
		t.merge(maps+"/z", `{}`)
		t.ask("PATCH", maps+"/a", "application/json-patch+json", `[{"op":"add","path":"/data","value":{"y":"2"}}]`)
		t.strategic(maps+"/a", `{"metadata":{"finalizers":["a.b/c"]}}`)
		t.strategic(maps+"/a", `{"metadata":{"$deleteFromPrimitiveList/finalizers":["a.b/c"]}}`)
		t.ask("PATCH", maps+"/a", "text/plain", `{}`)
		t.ask("PATCH", maps+"/a?dryRun=All", "application/merge-patch+json", `{"data":{"z":"1"}}`)
		t.get(maps + "/a")
	}},
	{name: "pods", tell: func(t *transcript, ns string) {
		pods := podsOf(ns)
		t.post(pods, pod("plain", "", ""))
		t.post(pods, pod("gated", "", `,"schedulingGates":[{"name":"a/b"}],"schedulerName":"muster"`))
		t.post(pods, podText("limits", "")+`,"spec":{"containers":[{"name":"c","image":"i","resources":{"limits":{"cpu":"1","memory":"1Gi"}}}]}}`)
		t.post(pods, podText("unlimited", "")+`,"spec":{"containers":[{"name":"c","image":"i","resources":{"requests":{"nvidia.com/gpu":"1"}}}]}}`)
		t.post(pods, podText("limited", "")+`,"spec":{"containers":[{"name":"c","image":"i","resources":{"limits":{"nvidia.com/gpu":"1"}}}]}}`)
		t.post(pods, podText("empty", "")+`,"spec":{}}`)
		t.post(pods, podText("unnamed", "")+`,"spec":{"containers":[{"image":"i"}]}}`)
		t.merge(pods+"/plain", `{"spec":{"schedulerName":"other"}}`)
		t.merge(pods+"/gated", `{"spec":{"schedulingGates":[{"name":"a/b"},{"name":"c/d"}]}}`)
		t.merge(pods+"/gated", `{"spec":{"schedulingGates":[]}}`)
		t.merge(pods+"/plain", `{"status":{"phase":"Running"}}`)
		t.strategic(pods+"/plain/status", `{"status":{"conditions":[{"type":"PodScheduled","status":"False","reason":"Unschedulable","message":"m"}]}}`)
		t.strategic(pods+"/plain", `{"spec":{"containers":[{"name":"c","image":"i:2"}]}}`)
		t.post(pods, pod("classed", "", `,"priorityClassName":"no-such-class"`))
		t.post("/apis/scheduling.k8s.io/v1/priorityclasses", `{"metadata":{"name":"`+ns+`"},"value":7}`)
		// Admission hears of a class a moment after it is there.
		eventually(10*time.Second, func() bool {
			code, _ := t.on.post(pods+"?dryRun=All", pod("probe", "", `,"priorityClassName":"`+ns+`"`))
			return code == 201
		})
		t.post(pods, pod("classed", "", `,"priorityClassName":"`+ns+`"`))
		t.remove("/apis/scheduling.k8s.io/v1/priorityclasses/"+ns, "")
	}},
	{name: "binding", tell: func(t *transcript, ns string) {
		pods := podsOf(ns)
		uid := text(t.post(pods, pod("a", "", "")), "metadata", "uid")
		t.post(pods, pod("gated", "", `,"schedulingGates":[{"name":"a/b"}]`))
		t.post(pods+"/a/binding", binding("a", "11111111-1111-4111-8111-111111111111", "n"))
		t.post(pods+"/gated/binding", binding("gated", "", "n"))
		t.post(pods+"/nobody/binding", binding("nobody", "", "n"))
		t.post(pods+"/a/binding", binding("a", "", ""))
		t.post(pods+"/a/binding", binding("a", uid, "no-such-node"))
		t.post(pods+"/a/binding", binding("a", uid, "other"))
		t.get(pods + "/a")
		t.post(pods, pod("b", `,"labels":{"l":"old","m":"kept"}`, ""))
		t.post(pods+"/b/binding", strings.Replace(binding("b", "", "n"), `"name":"b"`, `"name":"b","labels":{"l":"new","k":"v"},"annotations":{"x":"y"}`, 1))
		t.get(pods + "/b")
		t.remove(pods+"/a", "")
		t.remove(pods+"/a", `{"gracePeriodSeconds":0}`)
		t.get(pods + "/a")
	}},
	{name: "deletion", tell: func(t *transcript, ns string) {
		pods := podsOf(ns)
		for _, name := range []string{"bound", "free", "held"} {
			more := ""
			if name == "held" {
				more = `,"finalizers":["a.b/c"]`
			}
			t.post(pods, pod(name, more, ""))
		}
		t.post(pods+"/bound/binding", binding("bound", "", "no-such-node-2"))
		t.remove(pods+"/bound", `{"gracePeriodSeconds":7}`)
		t.remove(pods+"/bound", `{"gracePeriodSeconds":9}`)
		t.post(pods+"/bound/binding", binding("bound", "", "n"))
		t.remove(pods+"/bound", `{"gracePeriodSeconds":0}`)
		t.gone(pods + "/bound")
		t.remove(pods+"/free", "")
		t.remove(pods+"/held", "")
		t.get(pods + "/held")
		t.merge(pods+"/held", `{"metadata":{"finalizers":null}}`)
		t.gone(pods + "/held")
		t.post(pods, pod("evicted", "", ""))
		t.post(pods+"/evicted/eviction", `{"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"evicted"}}`)
		t.gone(pods + "/evicted")
		t.post(pods+"/evicted/eviction", `{"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"evicted"}}`)
	}},
	{name: "lists-and-selectors", tell: func(t *transcript, ns string) {
		pods := podsOf(ns)
		t.post(pods, pod("a", `,"labels":{"app":"x","tier":"1"}`, ""))
		t.post(pods, pod("b", `,"labels":{"app":"y"}`, `,"schedulerName":"muster"`))
		t.post(pods, pod("c", "", ""))
		t.post(pods+"/c/binding", binding("c", "", "no-such-node-3"))
		named := func(query string) {
			code, found := t.on.get(pods + query)
			made := []string{}
			for _, each := range items(found, "items") {
				made = append(made, text(each, "metadata", "name"))
			}
			query, _, _ = strings.Cut(query, "&continue=")
			t.say("list %s: %d %s %v %s", query, code, text(found, "reason"), made, text(found, "kind"))
		}
		for _, query := range []string{"", "?labelSelector=app%3Dx", "?labelSelector=app", "?labelSelector=%21app",
			"?labelSelector=app+in+(x,y),tier", "?labelSelector=app+notin+(x)", "?labelSelector=app%21%3Dx",
			"?fieldSelector=spec.nodeName%3D", "?fieldSelector=spec.nodeName%21%3D",
			"?fieldSelector=spec.schedulerName%3Dmuster", "?fieldSelector=metadata.name%3Da,status.phase%3DPending",
			"?labelSelector=a+b", "?limit=2"} {
			named(query)
		}
		_, first := t.on.get(pods + "?limit=2")
		named("?limit=2&continue=" + text(first, "metadata", "continue"))
		t.askAs("application/json;as=Table;v=v1;g=meta.k8s.io", "GET", "/api/v1/namespaces/"+ns+"/configmaps?labelSelector=x", "", "")
	}},
	{name: "watches", tell: func(t *transcript, ns string) {
		maps := "/api/v1/namespaces/" + ns + "/configmaps"
		t.post(maps, configMap("a", ""))
		_, list := t.on.get(maps)
		from := text(list, "metadata", "resourceVersion")
		t.merge(maps+"/a", `{"metadata":{"labels":{"on":"1"}}}`)
		t.merge(maps+"/a", `{"metadata":{"labels":{"on":null}}}`)
		t.post(maps, configMap("b", ""))
		t.remove(maps+"/a", "")
		watch := maps + "?watch=1&timeoutSeconds=1&resourceVersion="
		for _, path := range []string{watch + from, watch + from + "&labelSelector=on", watch + "0&labelSelector=none"} {
			start := len(t.lines)
			t.told(path)
			t.lines[start] = strings.Replace(t.lines[start], from, "<version>", 1)
		}
	}},
	{name: "pod-groups", manager: true, tell: func(t *transcript, ns string) {
		pods, groups := podsOf(ns), "/apis/scheduling.k8s.io/v1alpha2/namespaces/"+ns+"/podgroups"
		t.post(groups, `{"metadata":{"name":"g"},"spec":{"schedulingPolicy":{"gang":{"minCount":2}}}}`)
		t.post(pods, pod("a", "", `,"schedulingGroup":{"podGroupName":"g"}`))
		t.post(pods, pod("b", "", `,"schedulingGroup":{"podGroupName":"g"}`))
		t.remove(groups+"/g", "")
		t.merge(pods+"/a/status", `{"status":{"phase":"Succeeded"}}`)
		t.get(groups + "/g")
		t.remove(pods+"/b", "")
		t.gone(groups + "/g")
	}},
	{name: "owners", manager: true, tell: func(t *transcript, ns string) {
		maps := "/api/v1/namespaces/" + ns + "/configmaps"
		owner := func(made object, more string) string {
			return `,"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"` +
				text(made, "metadata", "name") + `","uid":"` + text(made, "metadata", "uid") + `"` + more + `}]`
		}
		root := t.post(maps, configMap("root", ""))
		child := t.post(maps, configMap("child", owner(root, "")))
		t.post(maps, configMap("grandchild", owner(child, "")))
		t.remove(maps+"/root", `{"propagationPolicy":"Background"}`)
		t.gone(maps + "/grandchild")
		t.gone(maps + "/child")
		root = t.post(maps, configMap("root", ""))
		t.post(maps, configMap("child", owner(root, `,"blockOwnerDeletion":true`)))
		t.remove(maps+"/root", `{"propagationPolicy":"Foreground"}`)
		t.gone(maps + "/root")
		t.gone(maps + "/child")
		root = t.post(maps, configMap("root", ""))
		t.post(maps, configMap("child", owner(root, "")))
		t.remove(maps+"/root", `{"propagationPolicy":"Orphan"}`)
		t.gone(maps + "/root")
		t.get(maps + "/child")
	}},
	{name: "namespaces", manager: true, tell: func(t *transcript, ns string) {
		other := ns + "-2"
		t.post("/api/v1/namespaces", `{"metadata":{"name":"`+other+`"}}`)
		maps := "/api/v1/namespaces/" + other + "/configmaps"
		t.on.post(maps, configMap("a", `,"finalizers":["a.b/c"]`))
		t.on.do("DELETE", "/api/v1/namespaces/"+other, "", "")
		t.say("late: %v", eventually(5*time.Second, func() bool {
			code, answer := t.on.post(maps, configMap("late", ""))
			return code == 403 && text(answer, "reason") == "Forbidden"
		}))
		t.on.merge(maps+"/a", `{"metadata":{"finalizers":null}}`)
		t.gone("/api/v1/namespaces/" + other)
	}},
	{name: "leases", tell: func(t *transcript, ns string) {
		leases := "/apis/coordination.k8s.io/v1/namespaces/" + ns + "/leases"
		made := t.post(leases, `{"metadata":{"name":"l"},"spec":{"holderIdentity":"a","leaseDurationSeconds":15,"renewTime":"2026-01-01T00:00:00.000000Z"}}`)
		held, _ := json.Marshal(made)
		t.put(leases+"/l", strings.Replace(string(held), `"a"`, `"b"`, 1))
		t.put(leases+"/l", strings.Replace(string(held), `"a"`, `"c"`, 1))
		t.put(leases+"/l", `{"metadata":{"name":"l"},"spec":{"holderIdentity":"d"}}`)
	}},
	{name: "events", tell: func(t *transcript, ns string) {
		events := "/api/v1/namespaces/" + ns + "/events"
		t.post(events, `{"metadata":{"name":"e.1"},"involvedObject":{"kind":"Pod","namespace":"`+ns+`","name":"p"},"reason":"R","message":"m","type":"Normal","count":1,"firstTimestamp":"2026-01-01T00:00:00Z","lastTimestamp":"2026-01-01T00:00:00Z","source":{"component":"muster"}}`)
		t.strategic(events+"/e.1", `{"count":2}`)
		t.merge(events+"/none", `{"count":2}`)
	}},
	{name: "custom-kinds", tell: func(t *transcript, ns string) {
		group := ns + ".example.dev"
		t.on.post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"gangs.`+group+`"},"spec":{
			"group":"`+group+`","scope":"Namespaced","names":{"kind":"Gang","plural":"gangs"},"versions":[{"name":"v1","served":true,"storage":true,"subresources":{"status":{}},
			"additionalPrinterColumns":[{"name":"Min","type":"integer","jsonPath":".spec.minMember"},{"name":"Ready","type":"string","jsonPath":".status.conditions[?(@.type==\"Ready\")].status"}],
			"schema":{"openAPIV3Schema":{"type":"object","required":["spec"],"properties":{"spec":{"type":"object","required":["queue"],"properties":{
			"minMember":{"type":"integer","minimum":0,"default":1},"queue":{"type":"string"},"mode":{"type":"string","enum":["A","B"]},
			"roles":{"type":"array","items":{"type":"object","properties":{"name":{"type":"string"},"count":{"type":"integer","default":2}}}}}},
			"status":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}}}]}}`)
		gangs := "/apis/" + group + "/v1/namespaces/" + ns + "/gangs"
		t.say("served: %v", eventually(20*time.Second, func() bool {
			code, _ := t.on.get(gangs)
			return code == 200
		}))
		gang := func(name, spec string) string {
			return `{"apiVersion":"` + group + `/v1","kind":"Gang","metadata":{"name":"` + name + `"},"spec":` + spec + `,"status":{"x":1}}`
		}
		t.post(gangs, gang("a", `{"queue":"q","roles":[{"name":"r"}],"odd":1}`))
		t.post(gangs, gang("b", `{"queue":7}`))
		t.post(gangs, gang("b", `{"queue":"q","minMember":-1}`))
		t.post(gangs, gang("b", `{"queue":"q","minMember":"1"}`))
		t.post(gangs, gang("b", `{"queue":"q","mode":"C"}`))
		t.post(gangs, gang("b", `{}`))
		t.ask("POST", gangs+"?fieldValidation=Strict", "application/json", gang("b", `{"queue":"q","odd":1}`))
		t.merge(gangs+"/a", `{"metadata":{"labels":{"x":"y"}}}`)
		t.merge(gangs+"/a", `{"spec":{"minMember":3}}`)
		t.merge(gangs+"/a/status", `{"status":{"conditions":[{"type":"Ready","status":"True"}]},"spec":{"minMember":9}}`)
		t.merge(gangs+"/a", `{"status":{"x":2}}`)
		t.strategic(gangs+"/a", `{}`)
		t.put(gangs+"/a", gang("a", `{"queue":"q"}`))
		code, table := t.on.doAccepting("application/json;as=Table;v=v1;g=meta.k8s.io", "GET", gangs, "", "")
		for _, row := range items(table, "rows") {
			t.say("table: %d %v", code, items(row, "cells"))
		}
		t.get("/apis/" + group + "/v1")
		t.remove(gangs+"/a", "")
		t.on.do("DELETE", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/gangs."+group, "", "")
	}},
	{name: "nodes", tell: func(t *transcript, ns string) {
		nodes := "/api/v1/nodes"
		t.post(nodes, `{"metadata":{"name":"`+ns+`","labels":{"zone":"a"}},"status":{"allocatable":{"cpu":"4","memory":"8Gi","pods":"110"},"conditions":[{"type":"Ready","status":"True"}]}}`)
		t.strategic(nodes+"/"+ns, `{"spec":{"unschedulable":true,"taints":[{"key":"k","effect":"NoSchedule"}]}}`)
		t.strategic(nodes+"/"+ns, `{"spec":{"unschedulable":null,"taints":null}}`)
		t.merge(nodes+"/"+ns, `{"status":{"allocatable":{"cpu":"9"}}}`)
		t.merge(nodes+"/"+ns+"/status", `{"status":{"allocatable":{"cpu":"8"}}}`)
		t.strategic(nodes+"/"+ns+"/status", `{"status":{"conditions":[{"type":"Ready","status":"False"},{"type":"Other","status":"True"}]}}`)
		t.remove(nodes+"/"+ns, "")
	}},
	{name: "budgets", tell: func(t *transcript, ns string) {
		pods, budgets := podsOf(ns), "/apis/policy/v1/namespaces/"+ns+"/poddisruptionbudgets"
		t.post(pods, pod("p", `,"labels":{"app":"x"}`, ""))
		t.post(pods+"/p/binding", binding("p", "", "no-such-node-4"))
		t.strategic(pods+"/p/status", `{"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True","lastTransitionTime":"2026-01-01T00:00:00Z"}]}}`)
		t.on.post(budgets, `{"metadata":{"name":"keep"},"spec":{"minAvailable":1,"selector":{"matchLabels":{"app":"x"}}}}`)
		// No controller does it here.
		t.on.merge(budgets+"/keep/status", `{"status":{"observedGeneration":1,"disruptionsAllowed":0,"currentHealthy":1,"desiredHealthy":1,"expectedPods":1}}`)
		evict := func(name string) {
			t.post(pods+"/"+name+"/eviction", `{"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"`+name+`"}}`)
		}
		evict("p")
		evict("nobody")
		t.on.do("DELETE", budgets+"/keep", "", "")
		evict("p")
		t.get(pods + "/p")
		t.remove(pods+"/p", `{"gracePeriodSeconds":0}`)
	}},
	{name: "tables", tell: func(t *transcript, ns string) {
		pods := podsOf(ns)
		t.on.post(pods, pod("a", "", ""))
		t.on.post(pods, pod("b", "", `,"schedulingGates":[{"name":"a/b"}]`))
		code, table := t.on.doAccepting("application/json;as=Table;v=v1;g=meta.k8s.io", "GET", pods, "", "")
		for _, column := range items(table, "columnDefinitions") {
			t.say("column %s %s %v", text(column, "name"), text(column, "type"), at(column, "priority"))
		}
		for _, row := range items(table, "rows") {
			cells := items(row, "cells")
			cells[4] = "<age>"
			t.say("row: %d %v", code, cells)
		}
	}},
}
