// SPDX-License-Identifier: Apache-2.0
package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

const controllerUser = "muster-controller"

// startProgram starts a command of the program under test as its own user, behind the proxy.
func (s *stage) startProgram(in place, command, user string, more ...string) (*exec.Cmd, error) {
	config := filepath.Join(s.on.folder, user+".kubeconfig")
	if err := write(config, kubeconfigText(s.proxy.url, s.on.trust.text, user)); err != nil {
		return nil, err
	}
	program := exec.Command(in.muster, append([]string{command, "--kubeconfig", config, "--lease-duration", "2", "--port", "0"}, more...)...)
	log, err := os.Create(filepath.Join(s.on.folder, fmt.Sprintf("%s-%s-%d.log", command, s.namespace, len(s.ended))))
	if err != nil {
		return nil, err
	}
	program.Stdout, program.Stderr = log, log
	dieWithUs(program)
	if err := program.Start(); err != nil {
		return nil, err
	}
	s.programs = append(s.programs, program)
	s.ended = append(s.ended, func() {
		program.Process.Kill()
		program.Wait()
		log.Close()
		s.on.admin.do("DELETE", "/apis/coordination.k8s.io/v1/namespaces/muster-system/leases/muster-controller", "", "")
	})
	return program, nil
}

// mayRunGrove gives the role of Grove's sets to the controller, or takes it, and waits until the
// server knows: until then it refuses, or allows, what it should not.
func (s *server) mayRunGrove(allowed bool) error {
	const role = controllerUser + "-grove"
	const bindings = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings"
	if allowed {
		s.admin.post(bindings, `{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRoleBinding","metadata":{"name":"user-`+role+`"},`+
			`"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"`+role+`"},`+
			`"subjects":[{"apiGroup":"rbac.authorization.k8s.io","kind":"User","name":"`+controllerUser+`"}]}`)
	} else {
		s.admin.do("DELETE", bindings+"/user-"+role, "", "")
	}
	if !eventually(10*time.Second, func() bool {
		code, answer := s.admin.post("/apis/authorization.k8s.io/v1/subjectaccessreviews", `{"apiVersion":"authorization.k8s.io/v1","kind":"SubjectAccessReview",`+
			`"spec":{"user":"`+controllerUser+`","resourceAttributes":{"verb":"list","group":"grove.io","resource":"podcliquesets"}}}`)
		found, _ := at(answer, "status", "allowed").(bool)
		return code == 404 || code == 201 && found == allowed // 404: a server that lets everybody do all.
	}) {
		return fmt.Errorf("whether the controller may list Grove's sets never becomes %v", allowed)
	}
	return nil
}

// controlled tells a story with the controller under test running beside the scheduler, each with
// its own roles alone.
func controlled(cpus map[string]int, story func(s *stage, in place, controller *exec.Cmd) error, options ...string) func(on *server, in place, namespace string) error {
	return controlledBy(true, cpus, story, options...)
}

// controlledBy does so with the controller's role for Grove's sets, or without.
func controlledBy(grove bool, cpus map[string]int, story func(s *stage, in place, controller *exec.Cmd) error, options ...string) func(on *server, in place, namespace string) error {
	return func(on *server, in place, namespace string) error {
		if in.standIn != "" || !hasCommand(in.muster, "controller") {
			return skipped("this muster has no command controller")
		}
		if err := on.mayRunGrove(grove); err != nil {
			return err
		}
		return onStage(cpus, func(s *stage) error {
			controller, err := s.startProgram(in, "controller", controllerUser, append([]string{"-v", "--namespace", namespace}, options...)...)
			if err != nil {
				return err
			}
			if err := story(s, in, controller); err != nil {
				return err
			}
			all, err := on.writes()
			if err != nil {
				return err
			}
			for _, each := range all {
				if each.user == controllerUser && each.namespace == namespace && (each.code == 403 || each.code == 422 || each.code == 400) {
					return fmt.Errorf("%s %s %s/%s of the controller is answered with %d: %s", each.verb, each.resource, each.namespace, each.name,
						each.code, text(each.answer, "message"))
				}
			}
			return nil
		})(on, in, namespace)
	}
}

// apply gives kubectl the objects, in the stage's namespace.
func (s *stage) apply(in place, objects string) error {
	file := filepath.Join(s.on.folder, "apply.yaml")
	if err := write(file, objects); err != nil {
		return err
	}
	_, err := s.on.kubectl(in, "apply", "-n", s.namespace, "-f", file)
	return err
}

// applyFile does so with a file of the tree, with some of its text replaced.
func (s *stage) applyFile(in place, name string, replaced ...string) error {
	content, err := os.ReadFile(filepath.Join(in.source, name))
	if err != nil {
		return err
	}
	return s.apply(in, strings.NewReplacer(replaced...).Replace(string(content)))
}

// becomes waits until an object says what is told by `holds`.
func (s *stage) becomes(path, what string, holds func(found object) bool) error {
	var found object
	if !eventually(40*time.Second, func() bool { _, found = s.on.admin.get(path); return holds(found) }) {
		return fmt.Errorf("%s never %s: %v", path, what, at(found, "status"))
	}
	return nil
}

func (s *stage) phase(kind, name, phase string) error {
	return s.becomes(batch+s.namespace+"/"+kind+"/"+name, "is "+phase,
		func(found object) bool { return text(found, "status", "phase") == phase })
}

// ends makes a running pod end as its program would.
func (s *stage) ends(name string, code int) error {
	phase := "Succeeded"
	if code != 0 {
		phase = "Failed"
	}
	_, pod := s.on.admin.get(podsOf(s.namespace) + "/" + name)
	container := ""
	if all := items(pod, "spec", "containers"); len(all) > 0 {
		container = text(all[0], "name")
	}
	return s.on.admin.expect(200, "PATCH", podsOf(s.namespace)+"/"+name+"/status", fmt.Sprintf(
		`{"status":{"phase":%q,"containerStatuses":[{"name":%q,"image":"i","imageID":"","ready":false,"restartCount":0,"state":{"terminated":{"exitCode":%d}}}]}}`,
		phase, container, code))
}

// empty waits until a collection holds nothing.
func (s *stage) empty(path string) error {
	return s.becomes(path, "is empty", func(found object) bool { return found["items"] != nil && len(items(found, "items")) == 0 })
}

// created counts the objects of a resource that were made in the stage's namespace.
func (s *stage) created(resource, user string) (int, error) {
	all, err := s.on.writes()
	made := 0
	for _, each := range all {
		if each.namespace == s.namespace && each.verb == "create" && each.resource == resource && each.code == 201 && each.user == user {
			made++
		}
	}
	return made, err
}

// shows waits until `kubectl get` prints a table, whatever its ages.
func (s *stage) shows(in place, wanted string, arguments ...string) error {
	words := fmt.Sprint(table(wanted))
	found := ""
	if !eventually(40*time.Second, func() bool {
		out, err := s.on.kubectl(in, append([]string{"get", "-n", s.namespace}, arguments...)...)
		found = out
		return err == nil && fmt.Sprint(table(out)) == words
	}) {
		return fmt.Errorf("kubectl get %s prints\n%s(expected\n%s)", strings.Join(arguments, " "), found, wanted)
	}
	return nil
}

const scheduled = "spec:\n  scheduler:\n    t9kScheduler: {queue: default, priority: 50}\n"

// The first sample of the page on GenericJobs, for T9k's scheduler.
func (s *stage) genericJob(in place) error {
	return s.applyFile(in, "tests/data/t9k/genericjob-basic.yaml", "spec:\n  successRules", scheduled+"  successRules",
		"              name: sleep", "              name: sleep\n              resources: {requests: {cpu: 1}}")
}

func conditionsOf(found object) string {
	made := []string{}
	for _, each := range items(found, "status", "conditions") {
		made = append(made, text(each, "type")+"="+text(each, "status"))
	}
	return strings.Join(made, " ")
}

func torch(name, policy string, replicas int) string {
	worker := `"template":{"spec":{"containers":[{"name":"pytorch","image":"i","resources":{"requests":{"cpu":"1"}}}]}}`
	return fmt.Sprintf(`{"apiVersion":"batch.tensorstack.dev/v1beta1","kind":"PyTorchTrainingJob","metadata":{"name":%q},"spec":{%s"scheduler":{"t9kScheduler":{"queue":"default"}},
 "replicaSpecs":[{"type":"master","replicas":1,%s},{"type":"worker","replicas":%d,%s}]}}`, name, policy, worker, replicas-1, worker)
}

var controllerScenarios = []scenario{
	{name: "stories/t9k-genericjob", tell: controlled(map[string]int{"a": 4}, func(s *stage, in place, _ *exec.Cmd) error {
		if err := firstOf(s.genericJob(in), s.runs("generic-example-worker-", 4), s.phase("genericjobs", "generic-example", "Running"),
			s.ends("generic-example-worker-0", 1), s.phase("genericjobs", "generic-example", "Failed")); err != nil {
			return err
		}
		_, job := s.on.admin.get(batch + s.namespace + "/genericjobs/generic-example")
		if found, wanted := conditionsOf(job), "Initialized=True Running=False ReplicaFailure=True Completed=False Failed=True"; found != wanted {
			return fmt.Errorf("its conditions are %s (expected %s)", found, wanted)
		}
		conditions := items(job, "status", "conditions")
		if found, wanted := text(conditions[4], "message"), `The job is failed with rule: { "worker": [0] }`; found != wanted {
			return fmt.Errorf("it says %s (expected %s)", found, wanted)
		}
		if failed, _ := at(job, "status", "aggregate", "failed").(float64); failed != 1 {
			return fmt.Errorf("aggregate: %v", at(job, "status", "aggregate"))
		}
		return nil
	})},
	{name: "controller/job-succeeds", tell: controlled(map[string]int{"a": 4}, func(s *stage, in place, _ *exec.Cmd) error {
		return firstOf(s.genericJob(in), s.runs("generic-example-worker-", 4), s.ends("generic-example-worker-0", 0),
			s.phase("genericjobs", "generic-example", "Succeeded"))
	})},
	{name: "controller/without-grove", tell: controlledBy(false, map[string]int{"a": 4}, func(s *stage, in place, controller *exec.Cmd) error {
		if err := firstOf(s.apply(in, cliqueSetOf("koord-scheduler")), s.genericJob(in), s.runs("generic-example-worker-", 4),
			s.ends("generic-example-worker-0", 0), s.phase("genericjobs", "generic-example", "Succeeded")); err != nil || s.on.name == "fake" {
			return err // The other lets everybody do all.
		}
		said, err := os.ReadFile(controller.Stderr.(*os.File).Name())
		if err != nil {
			return err
		}
		if strings.Count(string(said), "/podcliquesets: ") != 1 || strings.Count(string(said), "HTTP 403") != 1 {
			return fmt.Errorf("the controller does not complain once, that it may not read sets, but says\n%s", said)
		}
		return nil
	})},
	{name: "controller/job-restarts", tell: controlled(map[string]int{"a": 4}, func(s *stage, in place, _ *exec.Cmd) error {
		// Every replica fails once, and then succeeds.
		if err := firstOf(s.applyFile(in, "tests/data/t9k/genericjob-basic.yaml", "spec:\n  successRules", scheduled+"  successRules",
			"      template:\n        spec:", "      restartPolicy: {policy: OnFailure, limit: 1}\n      template:\n        metadata: {annotations: {muster.dev/run-seconds: \"2, 1\", muster.dev/exit-code: \"3, 0\"}}\n        spec:",
			"              name: sleep", "              name: sleep\n              resources: {requests: {cpu: 1}}"),
			s.phase("genericjobs", "generic-example", "Succeeded")); err != nil {
			return err
		}
		_, job := s.on.admin.get(batch + s.namespace + "/genericjobs/generic-example")
		if first := items(items(job, "status", "tasks")[0], "status")[0]; fmt.Sprint(at(first, "restartCount")) != "1" {
			return fmt.Errorf("the replica was started again %v times (expected 1)", at(first, "restartCount"))
		}
		return nil
	})},
	{name: "controller/job-waits-for-room", tell: controlled(map[string]int{"a": 3}, func(s *stage, in place, _ *exec.Cmd) error {
		return firstOf(s.genericJob(in), s.phase("genericjobs", "generic-example", "Pending"), s.waits("generic-example-worker-", 3*time.Second),
			s.addNode("b", 1), s.runs("generic-example-worker-", 4), s.phase("genericjobs", "generic-example", "Running"))
	})},
	{name: "controller/pytorch-job", tell: controlled(map[string]int{"a": 4}, func(s *stage, in place, _ *exec.Cmd) error {
		if err := firstOf(s.apply(in, torch("torch", `"runPolicy":{"backoffLimit":1,"cleanUpPolicy":"All"},`, 3)), s.runs("torch-", 3),
			s.phase("pytorchtrainingjobs", "torch", "Running"), s.ends("torch-worker-1", 1)); err != nil {
			return err
		}
		// It is started again, and counted.
		job := batch + s.namespace + "/pytorchtrainingjobs/torch"
		return firstOf(s.becomes(job, "counts a restart", func(found object) bool {
			count, _ := at(found, "status", "backoffCount").(float64)
			return count == 1
		}), s.runs("torch-", 3), s.ends("torch-master-0", 0), s.phase("pytorchtrainingjobs", "torch", "Succeeded"), s.empty(podsOf(s.namespace)))
	})},
	{name: "controller/mpi-job", tell: controlled(map[string]int{"a": 4}, func(s *stage, in place, _ *exec.Cmd) error {
		return firstOf(s.apply(in, `{"apiVersion":"batch.tensorstack.dev/v1beta1","kind":"MPIJob","metadata":{"name":"mpi"},"spec":{"scheduler":{"t9kScheduler":{"queue":"default"}},
 "worker":{"replicas":2,"cmd":["run"],"template":{"spec":{"containers":[{"name":"worker","image":"i"}]}}}}}`),
			s.runs("mpi-", 3), s.phase("mpijobs", "mpi", "Running"),
			s.becomes("/api/v1/namespaces/"+s.namespace+"/configmaps/mpi-hosts", "names its hosts",
				func(found object) bool { return strings.Contains(text(found, "data", "hostfile"), "mpi-worker-1") }),
			s.ends("mpi-launcher", 0), s.phase("mpijobs", "mpi", "Succeeded"))
	})},
	{name: "controller/deletion-cascades", manager: true, tell: controlled(map[string]int{"a": 4}, func(s *stage, in place, _ *exec.Cmd) error {
		if err := firstOf(s.genericJob(in), s.runs("generic-example-worker-", 4)); err != nil {
			return err
		}
		if _, err := s.on.kubectl(in, "delete", "-n", s.namespace, "genericjob", "generic-example"); err != nil {
			return err
		}
		return firstOf(s.empty(podsOf(s.namespace)), s.empty(groups+s.namespace+"/podgroups"))
	})},
	{name: "controller/max-duration", tell: controlled(map[string]int{"a": 4}, func(s *stage, in place, _ *exec.Cmd) error {
		queue := s.namespace + "-short"
		return firstOf(s.queue(queue, `"maxDuration":"8s"`),
			s.applyFile(in, "tests/data/t9k/genericjob-basic.yaml", "spec:\n  successRules", strings.Replace(scheduled, "default", queue, 1)+"  successRules"),
			s.runs("generic-example-worker-", 4), s.phase("genericjobs", "generic-example", "Paused"), s.empty(podsOf(s.namespace)))
	})},
	{name: "controller/max-duration-of-queues-elsewhere", tell: controlled(map[string]int{"a": 4}, func(s *stage, in place, _ *exec.Cmd) error {
		queue := s.namespace + "-short"
		s.on.admin.do("POST", "/api/v1/namespaces", "application/json", `{"metadata":{"name":"elsewhere"}}`)
		s.ended = append(s.ended, func() { s.on.admin.do("DELETE", groups+"elsewhere/queues/"+queue, "", "") })
		// The scheduler has no such queue: its pods get too old while they wait.
		return firstOf(s.on.admin.expect(201, "POST", groups+"elsewhere/queues", `{"apiVersion":"scheduler.tensorstack.dev/v1beta1","kind":"Queue","metadata":{"name":"`+queue+`"},"spec":{"maxDuration":"3s"}}`),
			s.applyFile(in, "tests/data/t9k/genericjob-basic.yaml", "spec:\n  successRules", strings.Replace(scheduled, "default", queue, 1)+"  successRules"),
			s.phase("genericjobs", "generic-example", "Paused"), s.empty(podsOf(s.namespace)))
	}, "--queue-namespace", "elsewhere")},
	{name: "controller/killed", tell: controlled(map[string]int{"a": 8}, func(s *stage, in place, controller *exec.Cmd) error {
		if err := firstOf(s.genericJob(in), s.becomes(podsOf(s.namespace), "holds a pod", func(found object) bool { return len(items(found, "items")) > 0 })); err != nil {
			return err
		}
		controller.Process.Kill()
		controller.Wait()
		if err := s.apply(in, torch("torch", "", 2)); err != nil {
			return err
		}
		if _, err := s.startProgram(in, "controller", controllerUser, "-v", "--namespace", s.namespace); err != nil {
			return err
		}
		if err := firstOf(s.runs("generic-example-worker-", 4), s.runs("torch-", 2), s.phase("genericjobs", "generic-example", "Running"),
			s.phase("pytorchtrainingjobs", "torch", "Running")); err != nil {
			return err
		}
		// Of a request whose sender was killed the log does not say that it was carried out.
		if made, err := s.created("pods", controllerUser); err != nil || made < 5 || made > 6 {
			return fmt.Errorf("%d pods were made instead of 6 (%v)", made, err)
		}
		return nil
	})},
	{name: "controller/idle-writes-nothing", tell: controlled(map[string]int{"a": 8}, func(s *stage, in place, _ *exec.Cmd) error {
		if err := firstOf(s.genericJob(in), s.apply(in, torch("torch", "", 2)), s.apply(in, cliqueSetOf("default-scheduler")),
			s.runs("generic-example-worker-", 4), s.phase("pytorchtrainingjobs", "torch", "Running")); err != nil {
			return err
		}
		return s.rests()
	})},
	{name: "controller/every-kind", tell: controlled(map[string]int{"a": 32}, func(s *stage, in place, _ *exec.Cmd) error {
		template := "template: {spec: {containers: [{name: main, image: i}]}}"
		manifest := ""
		for _, each := range everyKind {
			manifest += "---\n{apiVersion: batch.tensorstack.dev/v1beta1, kind: " + each.kind + ", metadata: {name: " + each.name +
				"}, spec: {scheduler: {t9kScheduler: {queue: default}}, " + strings.ReplaceAll(each.spec, "TEMPLATE", template) + "}}\n"
		}
		if err := s.apply(in, manifest); err != nil {
			return err
		}
		for _, each := range everyKind {
			if err := s.phase(strings.ToLower(each.kind)+"s", each.name, "Running"); err != nil {
				return err
			}
		}
		if err := s.rests(); err != nil {
			return err
		}
		for _, each := range everyKind {
			master := each.master
			_, list := s.on.admin.get(podsOf(s.namespace))
			for _, pod := range items(list, "items") {
				if strings.HasPrefix(text(pod, "metadata", "name"), each.master) {
					master = text(pod, "metadata", "name")
				}
			}
			if err := firstOf(s.ends(master, 0), s.phase(strings.ToLower(each.kind)+"s", each.name, "Succeeded")); err != nil {
				return err
			}
		}
		return s.rests()
	})},
	{name: "controller/grove-set", manager: true, tell: controlled(map[string]int{"a": 8}, func(s *stage, in place, _ *exec.Cmd) error {
		if err := s.apply(in, cliqueSetOf("koord-scheduler")); err != nil {
			return err
		}
		ends := s.bindOthers("koord-scheduler", s.namespace+"-a")
		defer ends()
		if err := firstOf(s.runs("s-0-", 4), s.shows(in, "NAME AGE\ns-0 1s", "podgangs"),
			s.becomes(sets+s.namespace+"/podcliquesets/s", "is available", func(found object) bool {
				count, _ := at(found, "status", "availableReplicas").(float64)
				return count == 1
			})); err != nil {
			return err
		}
		if _, err := s.on.kubectl(in, "delete", "-n", s.namespace, "pcs", "s"); err != nil {
			return err
		}
		return firstOf(s.empty(podsOf(s.namespace)), s.empty("/apis/scheduler.grove.io/v1alpha1/namespaces/"+s.namespace+"/podgangs"))
	})},
}

// controllerFaults tells that a job comes to run whatever befalls requests, and no pod is made twice.
func controllerFaults() []scenario {
	made := []scenario{}
	for _, each := range []struct {
		name string
		flaw flaw
	}{
		{"create-answer-lost", flaw{verb: "POST", suffix: "/pods", skip: 1, times: 2, what: "lose"}},
		{"create-500", flaw{verb: "POST", suffix: "/pods", times: 2, what: "refuse", code: 500}},
		{"create-429", flaw{verb: "POST", suffix: "/podgroups", times: 1, what: "refuse", code: 429, after: "1"}},
		{"job-status-409", flaw{verb: "PATCH", suffix: "/generic-example/status", times: 2, what: "refuse", code: 409}},
		{"job-watch-gone", flaw{verb: "WATCH", suffix: "/genericjobs", times: 1, what: "gone"}},
		{"pod-watch-half-line", flaw{verb: "WATCH", suffix: "/pods", times: 2, what: "half-line", events: 1}},
	} {
		made = append(made, scenario{name: "controller/" + each.name, tell: controlled(map[string]int{"a": 4}, func(s *stage, in place, _ *exec.Cmd) error {
			planned := each.flaw
			s.proxy.plan(&planned)
			if strings.HasPrefix(planned.verb, "WATCH") {
				s.proxy.drop()
			}
			if err := firstOf(s.genericJob(in), s.runs("generic-example-worker-", 4), s.phase("genericjobs", "generic-example", "Running")); err != nil {
				return err
			}
			if s.proxy.befallen() == 0 {
				return fmt.Errorf("no request was befallen by what was planned")
			}
			if made, err := s.created("pods", controllerUser); err != nil || made != 4 {
				return fmt.Errorf("%d pods were made instead of 4 (%v)", made, err)
			}
			return nil
		})})
	}
	return made
}

// everyKind is one job of each kind, and the pod whose end is its own (or how its name begins).
var everyKind = []struct{ kind, name, spec, master string }{
	{"GenericJob", "generic", "successRules: [{worker: [1]}], service: {ports: [{name: p, port: 80}]}, replicaSpecs: [{type: worker, replicas: 2, TEMPLATE}]", "generic-worker-1"},
	{"TensorFlowTrainingJob", "tf", "replicaSpecs: [{type: chief, replicas: 1, TEMPLATE}, {type: worker, replicas: 1, TEMPLATE}]", "tf-chief-0"},
	{"PyTorchTrainingJob", "torch", "replicaSpecs: [{type: worker, replicas: 2, TEMPLATE}]", "torch-worker-0"},
	{"XGBoostTrainingJob", "xgb", "replicaSpecs: [{type: master, replicas: 1, TEMPLATE}, {type: worker, replicas: 1, TEMPLATE}]", "xgb-master-0"},
	{"MPIJob", "mpi", "replicaSpecs: [{type: launcher, replicas: 1, TEMPLATE}, {type: worker, replicas: 2, TEMPLATE}]", "mpi-launcher"},
	{"ColossalAIJob", "colossal", "launcher: {image: i}, worker: {replicas: 2, TEMPLATE}", "colossal-launcher"},
	{"DeepSpeedJob", "deepspeed", "worker: {replicas: 2, TEMPLATE}", "deepspeed-worker-0"},
	{"BeamJob", "beam", "flinkClusterTemplate: {spec: {image: {name: flink}, jobManager: {}, taskManager: {replicas: 1}}}, jobTemplate: {spec: {TEMPLATE}}", "beam-batchjob-"},
}

// rests says that nothing is written in the stage's namespace any more.
func (s *stage) rests() error {
	time.Sleep(4 * time.Second)
	before, err := s.on.writes()
	if err != nil {
		return err
	}
	time.Sleep(5 * time.Second)
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
}

// cliqueSetOf is a set of two cliques, of two pods each, for a scheduler.
func cliqueSetOf(scheduler string) string {
	spec := `"replicas":2,"minAvailable":1,"podSpec":{"schedulerName":"` + scheduler + `","containers":[{"name":"c","image":"i"}]}`
	return `{"apiVersion":"grove.io/v1alpha1","kind":"PodCliqueSet","metadata":{"name":"s"},"spec":{"replicas":1,"template":{"cliques":[
 {"name":"a","spec":{"roleName":"a",` + spec + `}},{"name":"b","spec":{"roleName":"b",` + spec + `}}]}}}`
}

// bindOthers stands in for another scheduler: binds its pods that have no gates, until told to end.
func (s *stage) bindOthers(scheduler, node string) func() {
	told, ended := make(chan bool), make(chan bool)
	go func() {
		defer close(ended)
		for {
			select {
			case <-told:
				return
			case <-time.After(100 * time.Millisecond):
			}
			_, list := s.on.admin.get(podsOf(s.namespace))
			for _, each := range items(list, "items") {
				if text(each, "spec", "schedulerName") == scheduler && text(each, "spec", "nodeName") == "" &&
					len(items(each, "spec", "schedulingGates")) == 0 {
					name := text(each, "metadata", "name")
					s.on.admin.post(podsOf(s.namespace)+"/"+name+"/binding", binding(name, text(each, "metadata", "uid"), node))
				}
			}
		}
	}()
	return func() { close(told); <-ended }
}
