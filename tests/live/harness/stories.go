// SPDX-License-Identifier: Apache-2.0
package main

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// addGPUs adds a node with so many GPUs.
func (s *stage) addGPUs(name string, gpus int) error {
	if err := s.addNode(name, 256); err != nil {
		return err
	}
	full := s.namespace + "-" + name
	s.nodes[full]["nvidia.com/gpu"], s.nodes[full]["memory"] = int64(gpus)*1000, 1<<40*1000
	return s.on.admin.expect(200, "PATCH", "/api/v1/nodes/"+full+"/status", fmt.Sprintf(`{"status":{"allocatable":{"memory":"1Ti","nvidia.com/gpu":"%d"}}}`, gpus))
}

const smoke = "tf-smoke-gpu-"

// smokeTable is the table of the five pods of ACK's page, of which so many workers run.
func smokeTable(ps string, workers int) string {
	line := func(name, phase string) string {
		ready := map[string]string{"Running": "1/1", "Pending": "0/1"}[phase]
		return fmt.Sprintf("%s%s %s %s 0 1s\n", smoke, name, ready, phase)
	}
	made := "NAME READY STATUS RESTARTS AGE\n" + line("ps-0", ps)
	for at := range 4 {
		phase := "Pending"
		if at < workers {
			phase = "Running"
		}
		made += line(fmt.Sprintf("worker-%d", at), phase)
	}
	return made
}

// ackTables tells the three tables of ACK's page: four GPUs, and pods as `muster translate` makes
// them of the page's TFJob, without the labels of the gang and with them.
func ackTables(s *stage, in place) error {
	out, err := exec.Command(in.muster, "translate", "-f", filepath.Join(in.source, "tests/data/ack/tf-smoke-gpu.yaml"), "--to", "pods").Output()
	if err != nil {
		return fmt.Errorf("translate: %w", err)
	}
	pods := strings.ReplaceAll(string(out), "namespace: default", "namespace: "+s.namespace)
	loose := regexp.MustCompile(`(?m)^ *pod-group\.scheduling\.sigs\.k8s\.io/.*\n`).ReplaceAllString(pods, "")
	s.alone() // Its pods name no scheduler, nor do some that others left.
	s.program.Process.Kill()
	s.others = []string{"default-scheduler"}
	if err := firstOf(s.startScheduler(in, "--scheduler-name", "default-scheduler"), s.apply(in, loose),
		s.shows(in, smokeTable("Running", 2), "pods")); err != nil {
		return err
	}
	if _, err := s.on.kubectl(in, "delete", "-n", s.namespace, "pods", "--all", "--now"); err != nil {
		return err
	}
	if err := firstOf(s.apply(in, pods), s.waits(smoke, 3*time.Second), s.shows(in, smokeTable("Pending", 0), "pods")); err != nil {
		return err
	}
	return firstOf(s.addGPUs("b", 4), s.shows(in, smokeTable("Running", 4), "pods"))
}

const gangsOfGrove = "/apis/scheduler.grove.io/v1alpha1/namespaces/"

func kaiGroups(namespace string) string {
	return "/apis/scheduling.run.ai/v2alpha2/namespaces/" + namespace + "/podgroups"
}

// groveExample tells the six steps of Grove's complete example. Muster schedules in KAI's place;
// Kubernetes' own scheduler is not there.
func groveExample(dialect string) func(s *stage, in place, controller *exec.Cmd) error {
	file, gate := "tests/data/grove/upstream-ml-training.yaml", "grove.io/podgang-pending-creation"
	if dialect == "seed" {
		file, gate = "tests/data/grove/ml-training.yaml", "grove.io/podgang"
	}
	return func(s *stage, in place, controller *exec.Cmd) error {
		s.on.admin.post("/apis/scheduling.k8s.io/v1/priorityclasses", `{"metadata":{"name":"high-priority"},"value":1000}`)
		// 1 and 2: the set, and the gangs that come of it. Servers take no GPUs without limits.
		if err := firstOf(s.addGPUs("gpu", 40),
			s.applyFile(in, file, "ml-workspace", s.namespace, "requests:", "limits:"),
			s.becomes(sets+s.namespace+"/podcliquesets/ml-training", "has a status", func(found object) bool { return at(found, "status", "replicas") != nil }),
			s.shows(in, "NAME AGE\nml-training-0 1s\nml-training-1 1s", "podgangs")); err != nil {
			return err
		}
		if dialect == "seed" {
			if err := s.shows(in, "NAME REPLICAS READY AGE\nml-training 2 0/2 1s", "pcs"); err != nil {
				return err
			}
		}
		// 3: KAI's groups, derived from them and owned by them.
		groups := kaiGroups(s.namespace)
		if err := firstOf(s.holds(groups, 2), s.asPrinted(in, dialect, 0), s.asPrinted(in, dialect, 1)); err != nil {
			return err
		}
		// 4: pods, which wait. In the seed's dialect the scheduler takes their gates. There is no queue:
		// KAI's default queue admits everybody then.
		if !eventually(20*time.Second, func() bool { return s.count("ml-training-", "Pending") == 10 }) {
			return fmt.Errorf("%d pods wait", s.count("ml-training-", "Pending"))
		}
		if dialect == "seed" {
			out, err := s.on.kubectl(in, "get", "pods", "-n", s.namespace, "-o", "jsonpath={.items[*].spec.schedulingGates}")
			if wanted := strings.TrimSpace(strings.Repeat(`[{"name":"`+gate+`"}] `, 10)); err != nil || out != wanted {
				return fmt.Errorf("gates are %s (%v)", out, err)
			}
		}
		if err := s.waits("ml-training-", time.Second); err != nil {
			return err
		}
		s.readsDialects()
		if dialect == "seed" {
			s.bindsRole("muster-scheduler-gates")
		}
		s.others = []string{"kai-scheduler"}
		s.program.Process.Kill()
		s.program.Wait()
		if err := firstOf(s.startScheduler(in, "--dialect", "kai", "--scheduler-name", "kai-scheduler"),
			s.runs("ml-training-0-", 5), s.runs("ml-training-1-", 5),
			s.becomes(gangsOfGrove+s.namespace+"/podgangs/ml-training-0", "runs", func(found object) bool { return text(found, "status", "phase") == "Running" })); err != nil {
			return err
		}
		_, list := s.on.admin.get(groups)
		for _, each := range items(list, "items") {
			if err := s.becomes(groups+"/"+text(each, "metadata", "name"), "says that it is scheduled", func(found object) bool {
				for _, one := range items(found, "status", "schedulingConditions") {
					if text(one, "type") == "Scheduled" && text(one, "status") == "True" {
						return true
					}
				}
				return false
			}); err != nil {
				return err
			}
		}
		// Scheduler and controller both write there, and come to rest.
		if err := s.rests(); err != nil {
			return err
		}
		// 5: scaled, and deleted with all that came of it.
		if _, err := s.on.kubectl(in, "patch", "pcs", "ml-training", "-n", s.namespace, "--type=merge", "-p", `{"spec":{"replicas":3}}`); err != nil {
			return err
		}
		if err := s.shows(in, "NAME AGE\nml-training-0 1s\nml-training-1 1s\nml-training-2 1s", "podgangs"); err != nil {
			return err
		}
		if err := firstOf(s.holds(groups, 3), s.runs("ml-training-2-", 5)); err != nil {
			return err
		}
		for at := range 3 {
			if err := s.asPrinted(in, dialect, at); err != nil {
				return err
			}
		}
		if _, err := s.on.kubectl(in, "delete", "pcs", "ml-training", "-n", s.namespace); err != nil {
			return err
		}
		if err := firstOf(s.empty(gangsOfGrove+s.namespace+"/podgangs"), s.empty(groups), s.empty(podsOf(s.namespace))); err != nil {
			return err
		}
		return defaultBackend(s, in, dialect)
	}
}

// defaultBackend tells the sixth step: a set for Kubernetes' own scheduler.
func defaultBackend(s *stage, in place, dialect string) error {
	label, wanted, group := "grove.io/scheduler-name", "default-scheduler", ""
	replaced := []string{"namespace: default", "namespace: " + s.namespace}
	if dialect == "seed" {
		label, wanted, group = "grove.io/scheduler-backend", "default", "inference-service-0-inference-service-0-servers"
	} else {
		replaced = append(replaced, "        replicas: 3", "        roleName: server\n        replicas: 3")
	}
	path := gangsOfGrove + s.namespace + "/podgangs/inference-service-0"
	if err := firstOf(s.applyFile(in, "tests/data/grove/inference-service.yaml", replaced...),
		s.becomes(path, "is there", func(found object) bool { return text(found, "metadata", "name") != "" }), s.handedOver(group)); err != nil {
		return err
	}
	_, gang := s.on.admin.get(path)
	if value := text(gang, "metadata", "labels", label); value != wanted {
		return fmt.Errorf("its label is %s (expected %s)", value, wanted)
	}
	if dialect == "seed" {
		return s.asWorkload(in, gang)
	}
	return s.withoutWorkload()
}

// stories are the samples of the pages, by kubectl.
var storyScenarios = []scenario{
	{name: "stories/chorus", tell: withKubectl(map[string]int{"a": 2}, func(s *stage, in place) error {
		return firstOf(s.apply(in, `{"apiVersion":"scheduler.tensorstack.dev/v1beta1","kind":"PodGroup","metadata":{"name":"chorus"},"spec":{"minMember":3,"priority":50,"queue":"default"}}`),
			s.members("chorus", 3, "1"), s.waits("chorus", 2*time.Second),
			s.shows(in, "NAME QUEUE PRIORITY MIN SCHEDULED AGE\nchorus default 50 3 False 1s", "podgroups.scheduler.tensorstack.dev"),
			s.addNode("b", 1), s.runs("chorus", 3),
			s.shows(in, "NAME QUEUE PRIORITY MIN SCHEDULED AGE\nchorus default 50 3 True 1s", "podgroups.scheduler.tensorstack.dev"))
	})},
	{name: "stories/dance", tell: withKubectl(map[string]int{"a": 1}, func(s *stage, in place) error {
		return firstOf(s.applyFile(in, "examples/data/dance-podgroup.yaml"), s.applyFile(in, "examples/data/dance-pods.yaml", "\n--\n", "\n---\n"),
			s.waits("test", 2*time.Second), s.addNode("b", 1), s.runs("test", 2),
			s.shows(in, "NAME READY STATUS RESTARTS AGE\ntest1 1/1 Running 0 1s\ntest2 1/1 Running 0 1s", "pods"))
	})},
	{name: "stories/role-test", tell: withKubectl(map[string]int{"a": 1}, func(s *stage, in place) error {
		return firstOf(s.applyFile(in, "examples/data/role-test-podgroup.yaml"),
			s.applyFile(in, "examples/data/role-test-pods-one-missing.yaml", "\n--\n", "\n---\n"), s.waits("", 2*time.Second),
			s.applyFile(in, "examples/data/role-test-pods.yaml", "\n--\n", "\n---\n"),
			s.shows(in, "NAME READY STATUS RESTARTS AGE\nmaster 1/1 Running 0 1s\nworker 1/1 Running 0 1s\nworker1 1/1 Running 0 1s", "pods"))
	})},
	{name: "stories/ack-tables", tell: withKubectl(map[string]int{}, func(s *stage, in place) error {
		return firstOf(s.addGPUs("a", 4), ackTables(s, in))
	})},
	{name: "stories/grove-complete-example", manager: true, tell: controlled(map[string]int{}, groveExample("seed"), "--dialect", "seed", "--backend", "workload-1.36")},
	{name: "stories/grove-upstream", manager: true, tell: controlled(map[string]int{}, groveExample("upstream"), "--backend", "workload-1.36")},
}

// withKubectl tells a story with the scheduler alone.
func withKubectl(cpus map[string]int, story func(s *stage, in place) error) func(on *server, in place, namespace string) error {
	return func(on *server, in place, namespace string) error {
		if in.standIn != "" {
			return skipped("the stand-in writes no status")
		}
		return onStage(cpus, func(s *stage) error { return story(s, in) })(on, in, namespace)
	}
}
