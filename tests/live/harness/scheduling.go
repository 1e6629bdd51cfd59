// SPDX-License-Identifier: Apache-2.0
package main

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// stage is a cluster with nodes, kubelets and the program under test, for one scenario.
type stage struct {
	on        *server
	in        place
	namespace string
	nodes     map[string]amounts
	kubelets  *kubelets
	proxy     *proxy
	program   *exec.Cmd
	programs  []*exec.Cmd // all that were started
	silent    bool        // the scenario ended the scheduler, and started no other
	refusals  bool        // kubelets may refuse pods here
	log       string      // of the program
	frozen    bool        // the server was, and received late what was written early
	partial   time.Duration
	lease     int           // in seconds; 2, unless it says more
	note      func() string // of what was measured
	others    []string      // schedulers besides T9k's whose pods are its own
	options   []string      // of the program, whenever it is started from now on
	ended     []func()
}

const schedulerName = "t9k-scheduler"

// hasCommand says whether the program under test knows a command.
func hasCommand(muster, command string) bool {
	return exec.Command(muster, command, "--help").Run() == nil
}

// onStage tells a story with the program under test running; nodes have cpus and a name each.
func onStage(cpus map[string]int, story func(s *stage) error, flaws ...*flaw) func(on *server, in place, namespace string) error {
	return func(on *server, in place, namespace string) (err error) {
		s := &stage{on: on, in: in, namespace: namespace, nodes: map[string]amounts{}}
		defer func() {
			for at := len(s.ended) - 1; at >= 0; at-- {
				s.ended[at]()
			}
		}()
		for name, cpu := range cpus {
			if err := s.addNode(name, cpu); err != nil {
				return err
			}
		}
		s.kubelets = startKubelets(on.admin)
		s.ended = append(s.ended, s.kubelets.end)
		s.ended = append(s.ended, func() {
			on.admin.do("DELETE", podsOf(namespace), "application/json", `{"gracePeriodSeconds":0}`)
		})
		if s.proxy, err = startProxy(on, on.trust); err != nil {
			return err
		}
		s.ended = append(s.ended, func() { s.proxy.server.Close() })
		s.proxy.plan(flaws...)
		if err := s.startScheduler(in); err != nil {
			return err
		}
		if err := story(s); err != nil {
			return err
		}
		s.proxy.plan()
		if err := s.fallen(); err != nil {
			return err
		}
		if in.standIn == "" {
			if err := firstOf(s.calm(), s.coherent(), s.waitsSaid()); err != nil {
				return err
			}
		}
		if err := s.judged(); err != nil || s.note == nil {
			return err
		}
		return noted(s.note())
	}
}

func (s *stage) addNode(name string, cpu int) error { return s.addLabelledNode(name, cpu, object{}) }

// addLabelledNode adds a node that has these labels from its first version on. Labels that came in a
// second write would let the scheduler see a node without them.
func (s *stage) addLabelledNode(name string, cpu int, labels object) error {
	full := s.namespace + "-" + name
	all := object{"stage": s.namespace}
	maps.Copy(all, labels)
	s.nodes[full] = amounts{"cpu": int64(cpu) * 1000, "memory": 64 << 30 * 1000, "pods": 110_000}
	s.ended = append(s.ended, func() { s.on.admin.do("DELETE", "/api/v1/nodes/"+full, "", "") })
	return s.on.admin.expect(201, "POST", "/api/v1/nodes", asText(object{"metadata": object{"name": full, "labels": all},
		"status": object{"allocatable": object{"cpu": strconv.Itoa(cpu), "memory": "64Gi", "pods": "110"},
			"conditions": []object{{"type": "Ready", "status": "True"}}}}))
}

// startScheduler starts the program under test as its own user, behind the proxy.
func (s *stage) startScheduler(in place, more ...string) error {
	return s.startSchedulerWith(in, kubeconfigText(s.proxy.url, s.on.trust.text, "muster-scheduler"), more...)
}

func (s *stage) startSchedulerWith(in place, access string, more ...string) error {
	config := filepath.Join(s.on.folder, fmt.Sprintf("scheduler-%d.kubeconfig", len(s.ended)))
	if err := write(config, access); err != nil {
		return err
	}
	arguments := append([]string{"schedule", "--kubeconfig", config, "--scheduler-name", schedulerName,
		"--lease-duration", strconv.Itoa(max(s.lease, 2)), "--port", "0"}, slices.Concat(s.options, more)...)
	program := exec.Command(in.muster, arguments...)
	if in.standIn != "" {
		program = exec.Command(os.Args[0], arguments...)
		program.Env = append(os.Environ(), "STAND_IN="+in.standIn)
	}
	dieWithUs(program)
	return s.begin(program)
}

// begin starts a scheduler, which ends with the stage.
func (s *stage) begin(program *exec.Cmd) error {
	log, err := os.Create(filepath.Join(s.on.folder, fmt.Sprintf("schedule-%s-%d.log", s.namespace, len(s.ended))))
	if err != nil {
		return err
	}
	program.Stdout, program.Stderr = log, log
	if err := program.Start(); err != nil {
		return err
	}
	s.program, s.log, s.silent = program, log.Name(), false
	s.programs = append(s.programs, program)
	s.ended = append(s.ended, func() {
		program.Process.Kill()
		program.Wait()
		log.Close()
		// Whoever comes next need not wait until it is over.
		s.on.admin.do("DELETE", "/apis/coordination.k8s.io/v1/namespaces/muster-system/leases/muster-scheduler", "", "")
	})
	return nil
}

// fallen names a program that ended by itself: whom a scenario ends it kills, or waits for.
func (s *stage) fallen() error {
	for _, each := range s.programs {
		var how syscall.WaitStatus
		if each.ProcessState != nil {
			continue
		}
		if found, err := syscall.Wait4(each.Process.Pid, &how, syscall.WNOHANG, nil); err != nil || found == 0 {
			continue
		}
		if !how.Signaled() || how.Signal() != syscall.SIGKILL {
			return unsafe(fmt.Sprintf("muster %s ended by itself: exit %d, signal %d", each.Args[1], how.ExitStatus(), how.Signal()))
		}
	}
	return nil
}

func (s *stage) group(name string, min int, more string) error {
	return s.on.admin.expect(201, "POST", groups+s.namespace+"/podgroups", fmt.Sprintf(
		`{"apiVersion":"scheduler.tensorstack.dev/v1beta1","kind":"PodGroup","metadata":{"name":%q},"spec":{"minMember":%d%s}}`, name, min, more))
}

// member makes a pod of a group (or of none) that only fits on the stage's own nodes.
func (s *stage) member(name, group, cpu, scheduler string) error {
	labels := ""
	if group != "" {
		labels = fmt.Sprintf(`,"labels":{"scheduler.tensorstack.dev/group-name":%q}`, group)
	}
	return s.on.admin.expect(201, "POST", podsOf(s.namespace), fmt.Sprintf(
		`{"apiVersion":"v1","kind":"Pod","metadata":{"name":%q%s},"spec":{"schedulerName":%q,"nodeSelector":{"stage":%q},"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":%q}}}]}}`,
		name, labels, scheduler, s.namespace, cpu))
}

func (s *stage) members(group string, count int, cpu string) error {
	for at := range count {
		if err := s.member(fmt.Sprintf("%s-%d", group, at), group, cpu, schedulerName); err != nil {
			return err
		}
	}
	return nil
}

// count gives how many pods whose names begin so are in a phase; phase "bound" means on a node.
func (s *stage) count(prefix, phase string) int {
	_, list := s.on.admin.get(podsOf(s.namespace))
	made := 0
	for _, each := range items(list, "items") {
		if strings.HasPrefix(text(each, "metadata", "name"), prefix) &&
			(text(each, "status", "phase") == phase || (phase == "bound" && text(each, "spec", "nodeName") != "")) {
			made++
		}
	}
	return made
}

func (s *stage) runs(prefix string, count int) error {
	return s.runsWithin(prefix, count, 40*time.Second)
}

func (s *stage) runsWithin(prefix string, count int, longest time.Duration) error {
	if !eventually(longest, func() bool { return s.count(prefix, "Running") == count }) {
		return fmt.Errorf("of %s* %d run after %v (expected %d)", prefix, s.count(prefix, "Running"), longest, count)
	}
	return nil
}

// says waits until a group's condition GroupScheduled has that status.
func (s *stage) says(name, status string) error {
	if s.in.standIn != "" && status != "True" {
		return nil
	}
	return s.becomes(groups+s.namespace+"/podgroups/"+name, "has GroupScheduled="+status, func(found object) bool {
		for _, each := range items(found, "status", "conditions") {
			if text(each, "type") == "GroupScheduled" && text(each, "status") == status {
				return true
			}
		}
		return false
	})
}

// podSays waits until a pod's condition PodScheduled is False, with that reason and those words.
func (s *stage) podSays(name, reason, wanted string) error {
	return s.becomes(podsOf(s.namespace)+"/"+name, "says "+reason+": "+wanted, func(found object) bool {
		for _, each := range items(found, "status", "conditions") {
			if text(each, "type") == "PodScheduled" {
				return text(each, "status") == "False" && text(each, "reason") == reason && strings.Contains(text(each, "message"), wanted)
			}
		}
		return false
	})
}

// waits says that none of them is bound for a while.
func (s *stage) waits(prefix string, for_ time.Duration) error {
	if eventually(for_, func() bool { return s.count(prefix, "bound") > 0 }) {
		return fmt.Errorf("%d of %s* are bound, and none should be", s.count(prefix, "bound"), prefix)
	}
	return nil
}

func (s *stage) judged() error {
	if refused := s.kubelets.refusedSoFar(); len(refused) > 0 && !s.refusals {
		return unsafe(fmt.Sprintf("kubelets refused %v", refused))
	}
	all, err := s.on.writes()
	if err != nil {
		return err
	}
	faults := judge(all, s.nodes, s.namespace, []string{"muster-scheduler"}, s.others...)
	if s.refusals {
		// Somebody else bound pods to a node at the same moment: the kubelet keeps it whole.
		faults = slices.DeleteFunc(faults, func(each string) bool { return strings.Contains(each, " holds ") })
	}
	gangs := follow(all, s.namespace)
	for _, each := range gangs.faults {
		faults = append(faults, each.says)
	}
	longest, still := gangs.partialFor()
	for _, each := range still {
		faults = append(faults, "at the end "+each)
	}
	s.partial = longest
	if !s.frozen && s.in.standIn == "" {
		// Two thirds of a lease, and what a busy machine takes to send and receive.
		deadline := time.Duration(max(s.lease, 2))*time.Second*2/3 + 2*time.Second
		faults = append(faults, leading(all, "muster-scheduler", s.namespace, deadline)...)
	}
	if len(faults) > 0 {
		return unsafe(strings.Join(faults, "; "))
	}
	if longest > 20*time.Second {
		return fmt.Errorf("a gang was bound in part for %v", longest)
	}
	return nil
}

var schedulingScenarios = []scenario{
	{name: "01/gang-fits", tell: onStage(map[string]int{"a": 2, "b": 2}, func(s *stage) error {
		return firstOf(s.group("g", 4, ""), s.members("g", 4, "1"), s.runs("g", 4))
	})},
	{name: "02/one-short", tell: onStage(map[string]int{"a": 3}, func(s *stage) error {
		return firstOf(s.group("g", 4, ""), s.members("g", 4, "1"), s.waits("g", 3*time.Second),
			s.addNode("late", 1), s.runs("g", 4))
	})},
	{name: "02/one-missing", tell: onStage(map[string]int{"a": 8}, func(s *stage) error {
		return firstOf(s.group("g", 4, ""), s.members("g", 3, "1"), s.waits("g", 3*time.Second),
			s.member("g-3", "g", "1", schedulerName), s.runs("g", 4))
	})},
	{name: "05/two-gangs-one-place", tell: onStage(map[string]int{"a": 2, "b": 2}, func(s *stage) error {
		if err := firstOf(s.group("r", 3, ""), s.group("s", 3, ""), s.members("r", 3, "1"), s.members("s", 3, "1")); err != nil {
			return err
		}
		eventually(20*time.Second, func() bool { return s.count("r", "Running")+s.count("s", "Running") >= 3 })
		time.Sleep(2 * time.Second)
		if r, q := s.count("r", "bound"), s.count("s", "bound"); (r != 3 || q != 0) && (r != 0 || q != 3) {
			return fmt.Errorf("%d of r and %d of s are bound (expected 3 of one alone)", r, q)
		}
		return nil
	})},
	{name: "06/gang-and-single-pod", tell: onStage(map[string]int{"a": 2}, func(s *stage) error {
		if err := firstOf(s.group("g", 2, ""), s.members("g", 2, "1"), s.member("single", "", "1", schedulerName)); err != nil {
			return err
		}
		eventually(20*time.Second, func() bool { return s.count("", "Running") >= 1 })
		time.Sleep(2 * time.Second)
		if g, single := s.count("g", "bound"), s.count("single", "bound"); (g != 2 || single != 0) && (g != 0 || single != 1) {
			return fmt.Errorf("%d of the gang and %d single are bound", g, single)
		}
		return nil
	})},
	{name: "12/pods-before-group", tell: onStage(map[string]int{"a": 4}, func(s *stage) error {
		return firstOf(s.members("g", 2, "1"), s.waits("g", 2*time.Second), s.group("g", 2, ""), s.runs("g", 2))
	})},
	{name: "25/foreign-pods", tell: onStage(map[string]int{"a": 4}, func(s *stage) error {
		return firstOf(s.group("g", 2, ""), s.member("foreign", "", "1", "somebody-else"), s.members("g", 2, "1"),
			s.runs("g", 2), s.waits("foreign", 2*time.Second))
	})},
	{name: "13/group-of-another-namespace", tell: onStage(map[string]int{"a": 4}, func(s *stage) error {
		other := s.namespace + "-other"
		s.on.admin.post("/api/v1/namespaces", `{"metadata":{"name":"`+other+`"}}`)
		return firstOf(
			s.on.admin.expect(201, "POST", groups+other+"/podgroups", `{"apiVersion":"scheduler.tensorstack.dev/v1beta1","kind":"PodGroup","metadata":{"name":"g"},"spec":{"minMember":1}}`),
			s.member("lost", "g", "1", schedulerName), s.waits("lost", 3*time.Second))
	})},
	{name: "14/foreign-queue", tell: onStage(map[string]int{"a": 4}, func(s *stage) error {
		queue := s.namespace + "-closed-to-us"
		return firstOf(
			s.on.admin.expect(201, "POST", groups+"t9k-system/queues", `{"apiVersion":"scheduler.tensorstack.dev/v1beta1","kind":"Queue","metadata":{"name":"`+queue+`"},"spec":{"namespaceSelector":{"matchLabels":{"team":"others"}}}}`),
			s.group("g", 2, `,"queue":"`+queue+`"`), s.members("g", 2, "1"), s.waits("g", 3*time.Second))
	})},
	{name: "08/member-deleted", tell: onStage(map[string]int{"a": 3}, func(s *stage) error {
		return firstOf(s.group("g", 3, ""), s.members("g", 3, "1"), s.runs("g", 3),
			s.on.admin.expect(200, "DELETE", podsOf(s.namespace)+"/g-1", ""),
			s.gone("g-1"), s.member("g-9", "g", "1", schedulerName), s.runs("g", 3))
	})},
	{name: "24/status-is-written", tell: onStage(map[string]int{"a": 2}, func(s *stage) error {
		return firstOf(s.group("g", 2, ""), s.members("g", 2, "1"), s.runs("g", 2), s.says("g", "True"))
	})},
	{name: "10/lowered-while-pending", tell: onStage(map[string]int{"a": 4}, func(s *stage) error {
		return firstOf(s.group("g", 4, ""), s.members("g", 3, "1"), s.waits("g", 2*time.Second),
			s.on.admin.expect(200, "PATCH", groups+s.namespace+"/podgroups/g", `{"spec":{"minMember":3}}`), s.runs("g", 3))
	})},
	{name: "11/group-made-again", tell: onStage(map[string]int{"a": 4}, func(s *stage) error {
		return firstOf(s.group("g", 4, ""), s.members("g", 2, "1"), s.waits("g", 2*time.Second),
			s.on.admin.expect(200, "DELETE", groups+s.namespace+"/podgroups/g", ""), s.group("g", 2, ""), s.runs("g", 2))
	})},
	{name: "14/missing-queue", tell: onStage(map[string]int{"a": 4}, func(s *stage) error {
		return firstOf(s.group("g", 2, `,"queue":"nowhere"`), s.members("g", 2, "1"), s.waits("g", 3*time.Second))
	})},
	{name: "15/quota-raised", tell: ofMuster("the stand-in knows no quotas", onStage(map[string]int{"a": 4}, func(s *stage) error {
		queue := s.namespace + "-small"
		return firstOf(
			s.on.admin.expect(201, "POST", groups+"t9k-system/queues", `{"apiVersion":"scheduler.tensorstack.dev/v1beta1","kind":"Queue","metadata":{"name":"`+queue+`"},"spec":{"quota":{"requests":{"cpu":"2"}},"namespaceSelector":{"matchLabels":{"kubernetes.io/metadata.name":"`+s.namespace+`"}}}}`),
			s.group("g", 3, `,"queue":"`+queue+`"`), s.members("g", 3, "1"), s.waits("g", 3*time.Second),
			s.on.admin.expect(200, "PATCH", groups+"t9k-system/queues/"+queue, `{"spec":{"quota":{"requests":{"cpu":"3"}}}}`), s.runs("g", 3))
	}))},
	{name: "07/cordoned-node", tell: onStage(map[string]int{"a": 4}, func(s *stage) error {
		cordon := func(value string) error {
			return s.on.admin.expect(200, "PATCH", "/api/v1/nodes/"+s.namespace+"-a", `{"spec":{"unschedulable":`+value+`}}`)
		}
		return firstOf(cordon("true"), s.group("g", 2, ""), s.members("g", 2, "1"), s.waits("g", 3*time.Second), cordon("null"), s.runs("g", 2))
	})},
	{name: "12/gated-member", tell: onStage(map[string]int{"a": 4}, func(s *stage) error {
		gated := fmt.Sprintf(`{"metadata":{"name":"g-9","labels":{"scheduler.tensorstack.dev/group-name":"g"}},"spec":{"schedulerName":%q,"schedulingGates":[{"name":"a/b"}],"nodeSelector":{"stage":%q},"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"1"}}}]}}`, schedulerName, s.namespace)
		return firstOf(s.group("g", 3, ""), s.members("g", 2, "1"), s.on.admin.expect(201, "POST", podsOf(s.namespace), gated),
			s.waits("g", 3*time.Second),
			s.on.admin.expect(200, "PATCH", podsOf(s.namespace)+"/g-9", `{"spec":{"schedulingGates":[]}}`), s.runs("g", 3))
	})},
	{name: "22/odd-requests", tell: onStage(map[string]int{"a": 4}, func(s *stage) error {
		return firstOf(s.member("huge", "", "1e30", schedulerName), s.member("tiny", "", "0.1m", schedulerName), s.runs("tiny", 1),
			s.group("g", 2, ""), s.members("g", 2, "1"), s.runs("g", 2), s.waits("huge", time.Second))
	})},
	{name: "18/server-away", tell: onStage(map[string]int{"a": 4}, func(s *stage) error {
		s.proxy.plan(&flaw{what: "reset"})
		s.proxy.drop()
		if err := firstOf(s.group("g", 2, ""), s.members("g", 2, "1"), s.waits("g", 5*time.Second)); err != nil {
			return err
		}
		s.proxy.plan()
		return s.runs("g", 2)
	})},
	{name: "19/stopped-leader", tell: func(on *server, in place, namespace string) error {
		if in.standIn != "" {
			return skipped("the stand-in has no lease")
		}
		return onStage(map[string]int{"a": 4}, func(s *stage) error {
			leader := s.program
			time.Sleep(time.Second)
			if err := s.startScheduler(in); err != nil {
				return err
			}
			time.Sleep(time.Second)
			leader.Process.Signal(syscall.SIGSTOP)
			if err := firstOf(s.group("g", 4, ""), s.members("g", 4, "1"), s.runs("g", 4)); err != nil {
				return err
			}
			leader.Process.Signal(syscall.SIGCONT)
			time.Sleep(4 * time.Second)
			all, err := s.on.writes()
			if err != nil {
				return err
			}
			for _, each := range all {
				if each.namespace == s.namespace && each.resource == "pods/binding" && each.code != 201 {
					return fmt.Errorf("two leaders: a bind of %s was answered with %d", each.name, each.code)
				}
			}
			return nil
		})(on, in, namespace)
	}},
	{name: "27/idle-writes-nothing", tell: onStage(map[string]int{"a": 2}, func(s *stage) error {
		if err := firstOf(s.group("g", 2, ""), s.members("g", 2, "1"), s.runs("g", 2)); err != nil {
			return err
		}
		time.Sleep(5 * time.Second)
		before, err := s.on.writes()
		if err != nil {
			return err
		}
		time.Sleep(10 * time.Second)
		after, err := s.on.writes()
		if err != nil {
			return err
		}
		for _, each := range after[len(before):] {
			if each.namespace == s.namespace && !strings.HasPrefix(each.resource, "leases.") {
				return fmt.Errorf("at rest, %s %s %s/%s was written", each.verb, each.resource, each.namespace, each.name)
			}
		}
		return nil
	})},
}

// despite tells that a gang is bound whole whatever befalls the requests, and that something did.
func despite(flaws ...*flaw) func(on *server, in place, namespace string) error {
	return onStage(map[string]int{"a": 2, "b": 2}, func(s *stage) error {
		if err := firstOf(s.group("g", 4, ""), s.members("g", 4, "1"), s.runs("g", 4)); err != nil {
			return err
		}
		if !eventually(10*time.Second, func() bool { return s.proxy.befallen() > 0 }) {
			return fmt.Errorf("no request was befallen by what was planned")
		}
		// What is gone or too large is not written again, that of others is.
		if flaws[0].code == 404 || flaws[0].code == 413 {
			return firstOf(s.addNode("c", 1), s.group("h", 1, ""), s.members("h", 1, "1"), s.runs("h", 1), s.says("h", "True"))
		}
		if flaws[0].verb == "PATCH" {
			return s.says("g", "True")
		}
		return nil
	}, flaws...)
}

func faultScenarios() []scenario {
	made := []scenario{}
	for _, each := range []struct {
		name string
		flaw flaw
	}{
		{"03/answer-lost", flaw{verb: "POST", suffix: "/binding", skip: 1, times: 1, what: "lose"}},
		{"03/never-arrives", flaw{verb: "POST", suffix: "/binding", skip: 2, times: 1, what: "reset"}},
		{"03/503", flaw{verb: "POST", suffix: "/binding", times: 2, what: "refuse", code: 503}},
		{"03/500", flaw{verb: "POST", suffix: "/binding", skip: 3, times: 1, what: "refuse", code: 500}},
		{"03/429", flaw{verb: "POST", suffix: "/binding", times: 3, what: "refuse", code: 429, after: "1"}},
		{"03/403-once", flaw{verb: "POST", suffix: "/binding", skip: 1, times: 1, what: "refuse", code: 403}},
		{"03/answer-truncated", flaw{verb: "POST", suffix: "/binding", times: 1, what: "truncate"}},
		{"16/watch-half-line", flaw{verb: "WATCH", suffix: "/pods", times: 2, what: "half-line", events: 1}},
		{"16/watch-ends-at-once", flaw{verb: "WATCH", suffix: "/pods", times: 3, what: "end"}},
		{"16/watch-gone-in-stream", flaw{verb: "WATCH", suffix: "/pods", times: 1, what: "gone"}},
		{"16/watch-gone-at-once", flaw{verb: "WATCH", suffix: "/pods", times: 1, what: "refuse", code: 410}},
		{"16/watch-held-back", flaw{verb: "WATCH", suffix: "/podgroups", times: 1, what: "hold", span: 3 * time.Second}},
		{"16/list-500", flaw{verb: "GET", suffix: "/nodes", times: 2, what: "refuse", code: 500}},
		{"16/list-truncated", flaw{verb: "GET", suffix: "/pods", times: 1, what: "truncate"}},
		{"24/status-409", flaw{verb: "PATCH", suffix: "/status", times: 2, what: "refuse", code: 409}},
		{"24/status-404", flaw{verb: "PATCH", suffix: "/status", times: 2, what: "refuse", code: 404}},
		{"24/status-413", flaw{verb: "PATCH", suffix: "/status", times: 2, what: "refuse", code: 413}},
		{"24/status-answer-lost", flaw{verb: "PATCH", suffix: "/status", times: 2, what: "lose"}},
		{"24/events-refused", flaw{verb: "POST", suffix: "/events", what: "refuse", code: 500}},
	} {
		made = append(made, scenario{name: each.name, tell: func(on *server, in place, namespace string) error {
			if in.standIn != "" && each.flaw.verb == "WATCH" {
				return skipped("the stand-in watches nothing")
			}
			if in.standIn != "" && each.flaw.verb == "PATCH" {
				return skipped("the stand-in writes its status once")
			}
			planned := each.flaw
			return despite(&planned)(on, in, namespace)
		}})
	}
	return made
}

// crashed tells that the program is killed at its n-th bind of a gang of four, carried out or not,
// and that the gang is whole after it was restarted, or after another instance took over.
func crashed(bind int, applied, other bool) func(on *server, in place, namespace string) error {
	return func(on *server, in place, namespace string) error {
		if in.standIn != "" {
			return skipped("the stand-in has no lease")
		}
		at := &flaw{verb: "POST", suffix: "/binding", skip: bind - 1, times: 1, what: "stop"}
		if applied {
			at.what = "crash"
		}
		return onStage(map[string]int{"a": 2, "b": 2}, func(s *stage) error {
			// Whoever started first leads.
			first := s.program
			time.Sleep(time.Second)
			if other {
				if err := s.startScheduler(in); err != nil {
					return err
				}
			}
			killed := make(chan bool, 1)
			at.do = func(string) {
				first.Process.Kill()
				killed <- true
			}
			if err := firstOf(s.group("g", 4, ""), s.members("g", 4, "1")); err != nil {
				return err
			}
			select {
			case <-killed:
			case <-time.After(20 * time.Second):
				return fmt.Errorf("there was no bind number %d", bind)
			}
			// In virtual time it is partial for 2 s at most, and as long as the lease where another takes over.
			longest := 5 * 2 * time.Second
			if other {
				longest = 5 * (2 + 2) * time.Second
			} else if err := s.startScheduler(in); err != nil {
				return err
			}
			if err := s.runs("g", 4); err != nil {
				return err
			}
			s.note = func() string { return fmt.Sprintf("partial for %.2f s", s.partial.Seconds()) }
			return s.partialAtMost(longest)
		}, at)(on, in, namespace)
	}
}

// incomplete tells of a gang of which two pods are bound when the scheduler dies, and of the rest
// nobody can be: what stands is evicted, and not before its time.
func incomplete(on *server, in place, namespace string) error {
	at := &flaw{verb: "POST", suffix: "/binding", skip: 1, times: 1, what: "crash"}
	others := &flaw{verb: "POST", suffix: "/binding", skip: 1, what: "reset"}
	return ofMuster("the stand-in evicts nobody", onStage(map[string]int{"a": 2, "b": 2}, func(s *stage) error {
		first, killed := s.program, make(chan bool, 1)
		at.do = func(string) {
			first.Process.Kill()
			killed <- true
		}
		if err := firstOf(s.group("g", 4, ""), s.members("g", 4, "1")); err != nil {
			return err
		}
		select {
		case <-killed:
		case <-time.After(20 * time.Second):
			return fmt.Errorf("there was no second bind")
		}
		if err := firstOf(s.change(s.nodePath("a"), `{"spec":{"unschedulable":true}}`), s.change(s.nodePath("b"), `{"spec":{"unschedulable":true}}`)); err != nil {
			return err
		}
		if bound := s.count("g", "bound"); bound < 1 || bound > 3 {
			return fmt.Errorf("%d members are bound (expected some of 4)", bound)
		}
		began := time.Now()
		if err := s.startScheduler(in, "--heal-after", "5"); err != nil {
			return err
		}
		if !eventually(40*time.Second, func() bool { return s.count("g", "bound") == 0 }) {
			return fmt.Errorf("%d members are still bound", s.count("g", "bound"))
		}
		if waited := time.Since(began); waited < 5*time.Second {
			return unsafe(fmt.Sprintf("evicted after %v (expected 5 s at least)", waited))
		}
		s.note = func() string { return fmt.Sprintf("partial for %.2f s", s.partial.Seconds()) }
		return nil
	}, at, others))(on, in, namespace)
}

// partialAtMost says when a gang was bound in part for longer, before it was whole.
func (s *stage) partialAtMost(longest time.Duration) error {
	all, err := s.on.writes()
	if err != nil {
		return err
	}
	if found, _ := follow(all, s.namespace).partialFor(); found > longest {
		return fmt.Errorf("a gang was bound in part for %v", found)
	}
	return nil
}

func crashScenarios() []scenario {
	made := []scenario{{name: "04/evicted-when-it-cannot-be-completed", tell: incomplete}}
	for bind := 1; bind <= 4; bind++ {
		for _, applied := range []bool{false, true} {
			for _, other := range []bool{false, true} {
				name := fmt.Sprintf("04/killed-at-bind-%d", bind)
				if applied {
					name += "-applied"
				}
				if other {
					name += "-takeover"
				}
				made = append(made, scenario{name: name, tell: crashed(bind, applied, other)})
			}
		}
	}
	return made
}

func liveScenarios() []scenario {
	return slices.Concat(schedulingScenarios, lookingScenarios(), numberedScenarios(), absentScenarios(), wireScenarios(), podScenarios(), dialectScenarios(), faultScenarios(), crashScenarios(), controllerScenarios, controllerFaults(), scalingScenarios(), volumeScenarios(), volumeCrashScenarios(), deviceScenarios(), allocationScenarios(), sharingScenarios(), reservationScenarios(), storyScenarios)
}

// gone waits until a pod is no more.
func (s *stage) gone(name string) error {
	if !eventually(20*time.Second, func() bool {
		code, _ := s.on.admin.get(podsOf(s.namespace) + "/" + name)
		return code == 404
	}) {
		return fmt.Errorf("%s does not go", name)
	}
	return nil
}
