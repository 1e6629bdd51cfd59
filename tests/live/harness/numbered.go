// SPDX-License-Identifier: Apache-2.0
package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"time"
)

// befall plans what befalls the next requests.
func (s *stage) befall(flaws ...*flaw) { s.proxy.plan(flaws...) }

// atBind does something when the n-th bind comes by: before it reaches the server, or behind it.
func (s *stage) atBind(which int, what string, do func(body string)) *flaw {
	made := &flaw{verb: "POST", suffix: "/binding", skip: which - 1, times: 1, what: what, do: do}
	s.befall(made)
	return made
}

func (s *stage) met(planned *flaw) error {
	if s.proxy.used(planned) == 0 {
		return fmt.Errorf("no request was befallen by what was planned")
	}
	return nil
}

func (s *stage) kill(pod string) {
	s.on.admin.do("DELETE", podsOf(s.namespace)+"/"+pod, "application/json", `{"gracePeriodSeconds":0}`)
}

// alone deletes all pods that other scenarios left on the server.
func (s *stage) alone() {
	_, left := s.on.admin.get("/api/v1/pods")
	for _, each := range items(left, "items") {
		s.on.admin.do("DELETE", podsOf(text(each, "metadata", "namespace"))+"/"+text(each, "metadata", "name"), "application/json", `{"gracePeriodSeconds":0}`)
	}
}

func (s *stage) change(path, body string) error { return s.on.admin.expect(200, "PATCH", path, body) }

func (s *stage) changeGroup(name string, min int) error {
	return s.change(groups+s.namespace+"/podgroups/"+name, fmt.Sprintf(`{"spec":{"minMember":%d}}`, min))
}

func (s *stage) nodePath(name string) string { return "/api/v1/nodes/" + s.namespace + "-" + name }

// keeps does what a controller and the collector of pods do: makes members anew that failed or are
// gone, and deletes those whose node is no more. Until told to end.
func (s *stage) keeps(group string, count int, cpu string) {
	told, ended := make(chan bool), make(chan bool)
	s.ended = append(s.ended, func() { close(told); <-ended })
	go func() {
		defer close(ended)
		for next := 100; ; {
			select {
			case <-told:
				return
			case <-time.After(200 * time.Millisecond):
			}
			_, nodes := s.on.admin.get("/api/v1/nodes")
			code, list := s.on.admin.get(podsOf(s.namespace))
			if code != 200 {
				continue
			}
			there := 0
			for _, each := range items(list, "items") {
				name, node := text(each, "metadata", "name"), text(each, "spec", "nodeName")
				gone := node != "" && !slices.ContainsFunc(items(nodes, "items"), func(one any) bool { return text(one, "metadata", "name") == node })
				if gone || text(each, "status", "phase") == "Failed" {
					s.kill(name)
				} else if strings.HasPrefix(name, group+"-") && text(each, "metadata", "deletionTimestamp") == "" {
					there++
				}
			}
			for ; there < count; there++ {
				s.member(fmt.Sprintf("%s-%d", group, next), group, cpu, schedulerName)
				next++
			}
		}
	}()
}

// ofMuster says that the stand-in cannot show it.
func ofMuster(why string, tell func(on *server, in place, namespace string) error) func(on *server, in place, namespace string) error {
	return func(on *server, in place, namespace string) error {
		if in.standIn != "" {
			return skipped(why)
		}
		return tell(on, in, namespace)
	}
}

// everyBind tells gangs of four of which the first, second, third and fourth bind is befallen.
func everyBind(what flaw) func(on *server, in place, namespace string) error {
	return onStage(map[string]int{"a": 8, "b": 8}, func(s *stage) error {
		for k := 1; k <= 4; k++ {
			planned := what
			planned.verb, planned.suffix, planned.skip, planned.times = "POST", "/binding", k-1, 1
			s.befall(&planned)
			name := fmt.Sprintf("k%d", k)
			if err := firstOf(s.group(name, 4, ""), s.members(name, 4, "1"), s.runs(name, 4), s.met(&planned)); err != nil {
				return fmt.Errorf("bind %d: %w", k, err)
			}
		}
		return nil
	})
}

// nodeLost tells that a node is lost while a gang is bound to it, and the gang is whole at the end.
func nodeLost(which int, what, how string) func(on *server, in place, namespace string) error {
	return onStage(map[string]int{"a": 4, "b": 4}, func(s *stage) error {
		planned := s.atBind(which, what, func(body string) {
			bound := object{}
			json.Unmarshal([]byte(body), &bound)
			path := "/api/v1/nodes/" + text(bound, "target", "name")
			switch how {
			case "deleted":
				s.on.admin.do("DELETE", path, "", "")
			case "cordoned":
				s.on.admin.merge(path, `{"spec":{"unschedulable":true}}`)
			case "tainted":
				s.on.admin.merge(path, `{"spec":{"taints":[{"key":"k","effect":"NoSchedule"}]}}`)
			}
		})
		if err := firstOf(s.group("g", 4, ""), s.members("g", 4, "1")); err != nil {
			return err
		}
		if how == "deleted" {
			s.keeps("g", 4, "1")
		}
		return firstOf(s.runs("g", 4), s.met(planned))
	})
}

func numberedScenarios() []scenario {
	made := []scenario{}
	add := func(name string, tell func(on *server, in place, namespace string) error) {
		made = append(made, scenario{name: name, tell: tell})
	}
	for _, each := range []struct {
		name string
		what flaw
	}{
		{"500", flaw{what: "refuse", code: 500}}, {"409", flaw{what: "refuse", code: 409}}, {"403", flaw{what: "refuse", code: 403}},
		{"applied-without-answer", flaw{what: "lose"}}, {"never-arrives", flaw{what: "reset"}},
		{"answer-swallowed", flaw{what: "swallow"}}, {"carried-out-late", flaw{what: "delay", span: 3 * time.Second}},
	} {
		add("03/every-bind-"+each.name, everyBind(each.what))
	}
	for _, how := range []string{"deleted", "cordoned", "tainted"} {
		add("07/node-"+how+"-before-first-bind", nodeLost(1, "before", how))
		add("07/node-"+how+"-after-first-bind", nodeLost(1, "behind", how))
	}
	add("07/node-comes-back", onStage(map[string]int{"a": 4}, func(s *stage) error {
		if err := firstOf(s.group("g", 3, ""), s.members("g", 3, "1"), s.runs("g", 3)); err != nil {
			return err
		}
		// What runs on it goes on running, and counts when it is there again.
		return firstOf(s.on.admin.expect(200, "DELETE", s.nodePath("a"), ""), s.group("h", 2, ""), s.members("h", 2, "1"),
			s.waits("h", time.Second), s.addNode("a", 4), s.waits("h", 3*time.Second), s.addNode("b", 1), s.runs("h", 2))
	}))
	for _, each := range []struct {
		name  string
		which int
		what  string
	}{{"08/member-deleted-while-assumed", 1, "before"}, {"08/member-deleted-after-two-binds", 2, "behind"}} {
		add(each.name, onStage(map[string]int{"a": 2, "b": 2}, func(s *stage) error {
			planned := s.atBind(each.which, each.what, func(string) { s.kill("g-3") })
			if err := firstOf(s.group("g", 4, ""), s.members("g", 4, "1")); err != nil {
				return err
			}
			s.keeps("g", 4, "1")
			return firstOf(s.runs("g", 4), s.met(planned))
		}))
	}
	add("09/failed-member-replaced", onStage(map[string]int{"a": 3}, func(s *stage) error {
		return firstOf(s.group("g", 3, ""), s.members("g", 3, "1"), s.runs("g", 3), s.ends("g-1", 1),
			s.member("g-9", "g", "1", schedulerName), s.runs("g", 3))
	}))
	add("09/succeeded-member-replaced", onStage(map[string]int{"a": 3}, func(s *stage) error {
		return firstOf(s.group("g", 3, ""), s.members("g", 3, "1"), s.runs("g", 3), s.ends("g-1", 0),
			s.member("g-9", "g", "1", schedulerName), s.runs("g", 3))
	}))
	add("09/succeeded-members-count", onStage(map[string]int{"a": 3}, func(s *stage) error {
		// A lost member comes back, though one that is done has left.
		return firstOf(s.group("g", 3, ""), s.members("g", 3, "1"), s.runs("g", 3), s.ends("g-0", 0),
			s.on.admin.expect(200, "DELETE", podsOf(s.namespace)+"/g-1", ""), s.gone("g-1"),
			s.member("g-9", "g", "1", schedulerName), s.runs("g", 2))
	}))
	add("10/raised-while-pending", onStage(map[string]int{"a": 1}, func(s *stage) error {
		return firstOf(s.group("g", 2, ""), s.members("g", 2, "1"), s.waits("g", time.Second), s.changeGroup("g", 3), s.addNode("b", 4),
			s.waits("g", 3*time.Second), s.member("g-2", "g", "1", schedulerName), s.runs("g", 3))
	}))
	add("10/raised-while-running", onStage(map[string]int{"a": 4}, func(s *stage) error {
		return firstOf(s.group("g", 2, ""), s.members("g", 2, "1"), s.runs("g", 2), s.changeGroup("g", 4),
			s.member("g-2", "g", "1", schedulerName), s.waits("g-2", 2*time.Second), s.member("g-3", "g", "1", schedulerName), s.runs("g", 4))
	}))
	add("10/lowered-while-partially-running", onStage(map[string]int{"a": 4}, func(s *stage) error {
		return firstOf(s.group("g", 4, ""), s.members("g", 4, "1"), s.runs("g", 4), s.ends("g-0", 1), s.ends("g-1", 1), s.changeGroup("g", 3),
			s.member("g-9", "g", "1", schedulerName), s.runs("g", 3))
	}))
	add("11/pod-made-again", onStage(map[string]int{"a": 2, "b": 2}, func(s *stage) error {
		planned := s.atBind(1, "before", func(string) {
			s.kill("g-3")
			s.member("g-3", "g", "1", schedulerName)
		})
		return firstOf(s.group("g", 4, ""), s.members("g", 4, "1"), s.runs("g", 4), s.met(planned))
	}))
	add("11/group-of-running-pods-made-again", ofMuster("the stand-in knows groups by name alone", onStage(map[string]int{"a": 4}, func(s *stage) error {
		// Pods of the old group do not count for the new one.
		return firstOf(s.group("g", 2, ""), s.members("g", 2, "1"), s.runs("g", 2), s.wait(1100*time.Millisecond),
			s.on.admin.expect(200, "DELETE", groups+s.namespace+"/podgroups/g", ""), s.group("g", 3, ""),
			s.member("g-7", "g", "1", schedulerName), s.waits("g-7", 2*time.Second),
			s.changeGroup("g", 1), s.runs("g-7", 1))
	})))
	add("14/closed-queue", ofMuster("the stand-in knows no closed queues", onStage(map[string]int{"a": 4}, func(s *stage) error {
		queue := s.namespace + "-shut"
		return firstOf(s.queue(queue, `"closed":true`), s.group("g", 2, `,"queue":"`+queue+`"`), s.members("g", 2, "1"), s.waits("g", 3*time.Second),
			s.change(groups+"t9k-system/queues/"+queue, `{"spec":{"closed":false}}`), s.runs("g", 2))
	})))
	add("15/quota-lowered-below-usage", ofMuster("the stand-in knows no quotas", onStage(map[string]int{"a": 8}, func(s *stage) error {
		queue := s.namespace + "-q"
		quota := func(cpu string) string { return `"quota":{"requests":{"cpu":"` + cpu + `"}}` }
		if err := firstOf(s.queue(queue, quota("4")), s.group("g", 3, `,"queue":"`+queue+`"`), s.members("g", 3, "1"), s.runs("g", 3),
			s.change(groups+"t9k-system/queues/"+queue, `{"spec":{`+quota("2")+`}}`), s.restarted(), s.group("h", 1, `,"queue":"`+queue+`"`),
			s.members("h", 1, "1"), s.waits("h", 4*time.Second)); err != nil {
			return err
		}
		if s.count("g", "Running") != 3 {
			return unsafe("what ran was evicted for a quota that was lowered")
		}
		return firstOf(s.change(groups+"t9k-system/queues/"+queue, `{"spec":{`+quota("4")+`}}`), s.runs("h", 1))
	})))
	add("schedule/max-duration", ofMuster("the stand-in knows no queues", onStage(map[string]int{"a": 4}, func(s *stage) error {
		queue := s.namespace + "-short"
		return firstOf(s.queue(queue, `"maxDuration":"6s"`), s.group("g", 2, `,"queue":"`+queue+`"`), s.members("g", 2, "1"), s.runs("g", 2),
			s.group("h", 2, ""), s.members("h", 2, "1"), s.runs("h", 2), s.gone("g-0"), s.gone("g-1"), s.runs("h", 2))
	})))
	add("schedule/pods-say-why-they-wait", ofMuster("the stand-in says nothing", onStage(map[string]int{"a": 3}, func(s *stage) error {
		if err := firstOf(s.group("g", 4, ""), s.members("g", 4, "1"), s.member("single", "", "5", schedulerName)); err != nil {
			return err
		}
		says := func(name, wanted string) error { return s.podSays(name, "Unschedulable", wanted) }
		if err := firstOf(says("g-0", "nodes are available: "), says("g-3", "Insufficient cpu"), says("single", "Insufficient cpu"),
			s.becomes(groups+s.namespace+"/podgroups/g", "says so", func(found object) bool {
				return strings.Contains(fmt.Sprint(at(found, "status", "conditions")), "Insufficient cpu")
			})); err != nil {
			return err
		}
		if !eventually(20*time.Second, func() bool {
			out, err := s.on.kubectl(s.in, "describe", "pod", "g-0", "-n", s.namespace)
			return err == nil && strings.Contains(out, "FailedScheduling") && strings.Contains(out, "Insufficient cpu")
		}) {
			return fmt.Errorf("kubectl describe pod does not say why it waits")
		}
		odd := func(name, labels, more, wanted string) error {
			if err := s.on.admin.expect(201, "POST", podsOf(s.namespace), fmt.Sprintf(
				`{"metadata":{"name":%q,"labels":{%s}},"spec":{"schedulerName":%q,"containers":[{"name":"c","image":"i"}]%s}}`, name, labels, schedulerName, more)); err != nil {
				return err
			}
			return s.becomes(podsOf(s.namespace)+"/"+name, "says "+wanted, func(found object) bool {
				return strings.Contains(fmt.Sprint(at(found, "status", "conditions")), wanted)
			})
		}
		const ack = "pod-group.scheduling.sigs.k8s.io/"
		return firstOf(odd("claims", "", `,"volumes":[{"name":"v","persistentVolumeClaim":{"claimName":"v"}}]`, "pod claims: claim v does not exist"),
			odd("malformed", `"`+ack+`name":"odd","`+ack+`min-available":"three"`, "", `"three" is not a minimum (expected a whole number`),
			s.addNode("b", 6), s.runs("g", 4), s.runs("single", 1))
	})))
	add("schedule/surplus-says-why-it-waits", ofMuster("the stand-in says nothing", onStage(map[string]int{"a": 3}, func(s *stage) error {
		if err := firstOf(s.group("g", 2, ""), s.members("g", 4, "1"), s.runs("g", 3)); err != nil {
			return err
		}
		waits := ""
		for at := range 4 {
			_, pod := s.on.admin.get(fmt.Sprintf("%s/g-%d", podsOf(s.namespace), at))
			if text(pod, "spec", "nodeName") == "" {
				waits = fmt.Sprintf("g-%d", at)
			}
		}
		if err := firstOf(s.podSays(waits, "Unschedulable", waits+" waits beyond the minimum: ")); err != nil {
			return err
		}
		if !eventually(20*time.Second, func() bool {
			out, err := s.on.kubectl(s.in, "describe", "pod", waits, "-n", s.namespace)
			return err == nil && strings.Contains(out, "FailedScheduling") && strings.Contains(out, "beyond the minimum")
		}) {
			return fmt.Errorf("kubectl describe pod does not say why %s waits", waits)
		}
		return firstOf(s.addNode("b", 1), s.runs("g", 4))
	})))
	add("schedule/more-kinds-than-there-is-room-for", ofMuster("the stand-in counts cpu alone", onStage(map[string]int{"a": 4}, func(s *stage) error {
		kinds := func(from, to int) string {
			made := `"cpu":"1"`
			for at := from; at < to; at++ {
				made += fmt.Sprintf(`,"example.com/k%d":"1"`, at)
				s.nodes[s.namespace+"-a"][fmt.Sprintf("example.com/k%d", at)] = 1000
			}
			return made
		}
		pod := func(name, requests string) error {
			return s.on.admin.expect(201, "POST", podsOf(s.namespace), fmt.Sprintf(
				`{"metadata":{"name":%q},"spec":{"schedulerName":%q,"nodeSelector":{"stage":%q},"containers":[{"name":"c","image":"i","resources":{"requests":{%s},"limits":{%s}}}]}}`,
				name, schedulerName, s.namespace, requests, requests))
		}
		if err := firstOf(s.change(s.nodePath("a")+"/status", `{"status":{"allocatable":{`+strings.Replace(kinds(0, 40), `"1"`, `"4"`, 1)+`}}}`),
			pod("first", kinds(0, 20)), s.runs("first", 1), pod("second", kinds(20, 40)),
			s.becomes(podsOf(s.namespace)+"/second", "says that there are too many kinds", func(found object) bool {
				return strings.Contains(fmt.Sprint(at(found, "status", "conditions")), "more than 32 kinds of resources")
			}), s.waits("second", time.Second)); err != nil {
			return err
		}
		// Nobody asks for the first ones any more.
		return firstOf(s.on.admin.expect(200, "DELETE", podsOf(s.namespace)+"/first", ""), s.runs("second", 1))
	})))
	add("schedule/preempts-a-queue", ofMuster("the stand-in evicts nobody", onStage(map[string]int{"a": 4}, func(s *stage) error {
		low, high := s.namespace+"-low", s.namespace+"-high"
		s.program.Process.Kill()
		s.program.Wait()
		if err := firstOf(s.startScheduler(s.in, "--preempt", "queues"), s.queue(low, `"priority":1,"preemptible":true`), s.queue(high, `"priority":9`),
			s.group("g", 3, `,"queue":"`+low+`"`), s.members("g", 3, "1"), s.runs("g", 3), s.group("h", 4, `,"queue":"`+high+`"`), s.members("h", 4, "1"),
			s.runs("h", 4)); err != nil {
			return err
		}
		if left := s.count("g", "Running"); left != 0 {
			return fmt.Errorf("%d of the three that made room still run", left)
		}
		return nil
	})))
	add("22/odd-capacities", onStage(map[string]int{"a": 4}, func(s *stage) error {
		if err := firstOf(s.addNode("b", 4), s.change(s.nodePath("b")+"/status", `{"status":{"allocatable":{"cpu":"9Ei","memory":"9Ei","ephemeral-storage":"1e30","example.com/x":"0","example.com/y":"2000E"}}}`)); err != nil {
			return err
		}
		s.nodes[s.namespace+"-b"]["cpu"], s.nodes[s.namespace+"-b"]["memory"] = 1<<62, 1<<62
		// What it has counts as the most that a node has, and only there is room for who wants 8. (A real server prints 2000E as 2.)
		return firstOf(s.member("big", "", "8", schedulerName), s.runs("big", 1), s.group("g", 4, ""), s.members("g", 4, "1"), s.runs("g", 4),
			s.addNode("c", 1), s.member("tiny", "", "0.1m", schedulerName), s.runs("tiny", 1))
	}))
	add("22/odd-requests-are-refused-or-wait", onStage(map[string]int{"a": 16}, func(s *stage) error {
		for which, cpu := range []string{"1e30", "2000E", "9Ei", "12E", "-1", "1e", "1e-30", "", " 1"} {
			s.member(fmt.Sprintf("odd-%d", which), "", cpu, schedulerName) // Some the server refuses.
		}
		if err := firstOf(s.group("g", 2, ""), s.members("g", 2, "1"), s.runs("g", 2)); err != nil {
			return err
		}
		_, list := s.on.admin.get(podsOf(s.namespace))
		for _, each := range items(list, "items") {
			asked := at(items(each, "spec", "containers")[0], "resources", "requests", "cpu")
			if huge := milli(asked) > 16000; huge && text(each, "spec", "nodeName") != "" {
				return unsafe(fmt.Sprintf("a pod that asks for %v runs", asked))
			}
		}
		return nil
	}))
	add("22/odd-quotas", ofMuster("the stand-in knows no quotas", onStage(map[string]int{"a": 8}, func(s *stage) error {
		queue := s.namespace + "-q"
		path := groups + "t9k-system/queues/" + queue
		if err := firstOf(s.queue(queue, `"quota":{"requests":{"cpu":"0.1m"}}`), s.group("g", 2, `,"queue":"`+queue+`"`), s.members("g", 2, "1"),
			s.waits("g", 2*time.Second)); err != nil {
			return err
		}
		for _, odd := range []string{`"abc"`, `"-1"`, `"1e"`, `""`, `-3`, `"1e-2147483647"`, `"1e4294967297"`} {
			// A server that takes it for a quota does not make it one.
			s.on.admin.merge(path, `{"spec":{"quota":{"requests":{"cpu":`+odd+`}}}}`)
			if err := s.waits("g", 500*time.Millisecond); err != nil {
				return fmt.Errorf("with a quota of %s: %w", odd, err)
			}
		}
		return firstOf(s.change(path, `{"spec":{"quota":{"requests":{"cpu":"1e30"}}}}`), s.runs("g", 2))
	})))
	add("26/large-annotation", onStage(map[string]int{"a": 4}, func(s *stage) error {
		return firstOf(s.on.admin.expect(201, "POST", podsOf(s.namespace), fmt.Sprintf(
			`{"metadata":{"name":"large","annotations":{"x/y":%q}},"spec":{"schedulerName":%q,"nodeSelector":{"stage":%q},"containers":[{"name":"c","image":"i"}]}}`,
			strings.Repeat("x", 100_000), schedulerName, s.namespace)), s.runs("large", 1), s.group("g", 2, ""), s.members("g", 2, "1"), s.runs("g", 2))
	}))
	add("26/500-containers", onStage(map[string]int{"a": 4}, func(s *stage) error {
		containers := make([]string, 500)
		for at := range containers {
			containers[at] = fmt.Sprintf(`{"name":"c%d","image":"i","resources":{"requests":{"cpu":"5m"}}}`, at)
		}
		return firstOf(s.on.admin.expect(201, "POST", podsOf(s.namespace), fmt.Sprintf(
			`{"metadata":{"name":"many"},"spec":{"schedulerName":%q,"nodeSelector":{"stage":%q},"containers":[%s]}}`,
			schedulerName, s.namespace, strings.Join(containers, ","))), s.runs("many", 1),
			// 2.5 of the 4 are taken.
			s.group("g", 2, ""), s.members("g", 2, "1"), s.waits("g", 2*time.Second), s.addNode("b", 1), s.runs("g", 2))
	}))
	add("26/largest-minimum", ofMuster("the stand-in knows no groups by labels", onStage(map[string]int{"a": 4}, func(s *stage) error {
		huge := func(name, min string) error {
			return s.on.admin.expect(201, "POST", podsOf(s.namespace), fmt.Sprintf(
				`{"metadata":{"name":%q,"labels":{"pod-group.scheduling.sigs.k8s.io/name":"huge","pod-group.scheduling.sigs.k8s.io/min-available":%q}},`+
					`"spec":{"schedulerName":%q,"nodeSelector":{"stage":%q},"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"1"}}}]}}`,
				name, min, schedulerName, s.namespace))
		}
		code, _ := s.on.admin.post(groups+s.namespace+"/podgroups", `{"apiVersion":"scheduler.tensorstack.dev/v1beta1","kind":"PodGroup","metadata":{"name":"h"},"spec":{"minMember":2147483647}}`)
		if code != 422 {
			return fmt.Errorf("a minimum of 2147483647 is answered with %d", code)
		}
		return firstOf(huge("huge-0", "2147483647"), huge("huge-1", "2147483647"), s.group("g", 2, ""), s.members("g", 2, "1"), s.runs("g", 2),
			s.waits("huge", 2*time.Second))
	})))
	add("23/foreign-pod-takes-the-place", onStage(map[string]int{"a": 4}, func(s *stage) error {
		s.refusals = true
		planned := s.atBind(1, "before", func(string) {
			s.member("foreign", "", "1", "somebody-else")
			_, pod := s.on.admin.get(podsOf(s.namespace) + "/foreign")
			s.on.admin.post(podsOf(s.namespace)+"/foreign/binding", binding("foreign", text(pod, "metadata", "uid"), s.namespace+"-a"))
		})
		if err := firstOf(s.group("g", 4, ""), s.members("g", 4, "1")); err != nil {
			return err
		}
		s.keeps("g", 4, "1")
		if err := firstOf(s.wait(3*time.Second), s.met(planned), s.addNode("b", 1), s.runs("g", 4)); err != nil {
			return err
		}
		// One too many was on its way; no second one was sent there.
		if len(s.kubelets.refusedSoFar()) > 1 {
			return unsafe(fmt.Sprintf("kubelets refused %v", s.kubelets.refusedSoFar()))
		}
		return nil
	}))
	add("23/foreign-scheduler-binds-ours", onStage(map[string]int{"a": 4, "b": 4}, func(s *stage) error {
		planned := s.atBind(1, "before", func(string) {
			_, pod := s.on.admin.get(podsOf(s.namespace) + "/g-3")
			s.on.admin.post(podsOf(s.namespace)+"/g-3/binding", binding("g-3", text(pod, "metadata", "uid"), s.namespace+"-b"))
		})
		return firstOf(s.group("g", 4, ""), s.members("g", 4, "1"), s.runs("g", 4), s.met(planned))
	}))
	return made
}

// absentScenarios name what cannot be shown here, and where it is.
func absentScenarios() []scenario {
	why := "nobody here may set a clock; the tests of kube/lease.hpp and of the driver do, in virtual time"
	return []scenario{{name: "19/clock-jumps", realOnly: why, fakeOnly: why}}
}

func (s *stage) wait(span time.Duration) error {
	time.Sleep(span)
	return nil
}

// queue makes a queue that lets the stage's namespace in.
func (s *stage) queue(name, more string) error {
	return s.on.admin.expect(201, "POST", groups+"t9k-system/queues", `{"apiVersion":"scheduler.tensorstack.dev/v1beta1","kind":"Queue","metadata":{"name":"`+
		name+`"},"spec":{"namespaceSelector":{"matchLabels":{"kubernetes.io/metadata.name":"`+s.namespace+`"}},`+more+`}}`)
}

// ourWrites gives what the scheduler wrote in the stage's namespace, leases aside.
func (s *stage) ourWrites() ([]written, error) {
	all, err := s.on.writes()
	return slices.DeleteFunc(slices.Clone(all), func(each written) bool {
		return each.namespace != s.namespace || each.user != "muster-scheduler" || strings.HasPrefix(each.resource, "leases.")
	}), err
}

// restarted ends the scheduler and starts another.
func (s *stage) restarted() error {
	s.program.Process.Signal(syscall.SIGKILL)
	s.program.Wait()
	return s.startScheduler(s.in)
}
