// SPDX-License-Identifier: Apache-2.0
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// place is where a scenario finds things.
type place struct {
	source   string // the tree
	binaries string // etcd, kube-apiserver, kubectl
	muster   string
	twin     string // for figures: binds to places that it knows beforehand
	standIn  string // who schedules in the place of muster: nobody, gangs or none
}

// scenario is a story that must end as told. It gives what went wrong, or nothing.
type scenario struct {
	name string
	// realOnly says why the embedded server cannot show it; empty: both servers.
	realOnly string
	// fakeOnly says why the real server cannot show it.
	fakeOnly string
	// manager says that it needs a kube-controller-manager: of what is deleted, something else goes too.
	manager bool
	tell    func(on *server, in place, namespace string) error
}

func write(path, content string) error { return os.WriteFile(path, []byte(content), 0o600) }

// kubectl runs the real program and gives all that it prints.
func (s *server) kubectl(in place, arguments ...string) (string, error) {
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	made := exec.CommandContext(ctx, filepath.Join(in.binaries, "kubectl"),
		append([]string{"--kubeconfig", s.kubeconfig, "--cache-dir", filepath.Join(s.folder, "kubectl")}, arguments...)...)
	out, err := made.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("kubectl %s: %w: %s", strings.Join(arguments, " "), err, strings.TrimSpace(string(out)))
	}
	return string(out), err
}

func (s *server) allKubectl(in place, commands ...[]string) error {
	for _, each := range commands {
		if _, err := s.kubectl(in, each...); err != nil {
			return err
		}
	}
	return nil
}

// expect gives an error unless the request is answered with that code.
func (c *client) expect(code int, method, path, body string) error {
	kind := "application/json"
	if method == "PATCH" {
		kind = "application/merge-patch+json"
	}
	found, answer := c.do(method, path, kind, body)
	if found != code {
		return fmt.Errorf("%s %s: %d instead of %d: %s", method, path, found, code, text(answer, "message"))
	}
	return nil
}

// skipped is the reason for which a scenario cannot be shown here.
type skipped string

func (s skipped) Error() string { return string(s) }

func firstOf(errors ...error) error {
	for _, each := range errors {
		if each != nil {
			return each
		}
	}
	return nil
}

// table gives the words of each line of a table of kubectl's, without the column of ages.
func table(text string) [][]string {
	made := [][]string{}
	for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
		words := strings.Fields(line)
		if len(words) > 0 {
			made = append(made, words[:len(words)-1])
		}
	}
	return made
}

const batch = "/apis/batch.tensorstack.dev/v1beta1/namespaces/"
const groups = "/apis/scheduler.tensorstack.dev/v1beta1/namespaces/"
const sets = "/apis/grove.io/v1alpha1/namespaces/"

func definitions(in place) string { return filepath.Join(in.source, "examples/deploy/crds") }

// prepare deploys what examples/deploy has, lets the programs' own users do what their roles say and
// nothing else, and makes the kinds of other schedulers known. Once for each server.
func (s *server) prepare(in place) error {
	if s.prepared {
		return nil
	}
	if err := s.allKubectl(in, []string{"apply", "-f", definitions(in), "-f", filepath.Join(in.source, "tests/live/crds")},
		[]string{"wait", "--for=condition=Established", "--timeout=30s", "crd", "--all"},
		[]string{"apply", "-k", filepath.Join(in.source, "examples/kustomize/t9k")}); err != nil {
		return err
	}
	s.admin.post("/api/v1/namespaces", `{"metadata":{"name":"t9k-system"}}`)
	s.admin.post(groups+"t9k-system/queues", `{"apiVersion":"scheduler.tensorstack.dev/v1beta1","kind":"Queue","metadata":{"name":"default"},"spec":{"namespaceSelector":{"matchExpressions":[{"key":"kubernetes.io/metadata.name","operator":"Exists"}]}}}`)
	role := func(kind, name, user string) string {
		return `{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"` + kind + `Binding","metadata":{"name":"user-` + name + `"},` +
			`"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"` + kind + `","name":"` + name + `"},` +
			`"subjects":[{"apiGroup":"rbac.authorization.k8s.io","kind":"User","name":"` + user + `"}]}`
	}
	const clusterwide = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings"
	for _, each := range []string{"muster-scheduler", "muster-controller"} {
		s.admin.post(clusterwide, role("ClusterRole", each, each))
		s.admin.post("/apis/rbac.authorization.k8s.io/v1/namespaces/muster-system/rolebindings", role("Role", each, each))
	}
	s.admin.post(clusterwide, role("ClusterRole", "muster-scheduler-devices", "muster-scheduler"))
	allRights.learn(s.admin)
	s.prepared = true
	return nil
}

const torchJob = `{"apiVersion":"batch.tensorstack.dev/v1beta1","kind":"PyTorchTrainingJob","metadata":{"name":"j"},"spec":{
 "scheduler":{"t9kScheduler":{"queue":"default"}},"elastic":{"enabled":true,"minReplicas":1,"maxReplicas":4,"expectedReplicas":2},
 "runMode":{"pause":{"enabled":false,"resumeSpecs":[{"type":"worker","command":["a"],"args":["b"]}]}},
 "replicaSpecs":[{"type":"worker","template":{"spec":{"containers":[{"name":"pytorch","image":"i"}]}}}]}}`

const cliqueSet = `{"apiVersion":"grove.io/v1alpha1","kind":"PodCliqueSet","metadata":{"name":"s"},"spec":{"replicas":2,"template":{
 "cliqueStartupType":"CliqueStartupTypeInOrder","cliques":[
 {"name":"a","spec":{"roleName":"a","replicas":2,"minAvailable":1,"podSpec":{"containers":[{"name":"c","image":"i"}]}}},
 {"name":"b","spec":{"roleName":"b","replicas":2,"minAvailable":1,"podSpec":{"containers":[{"name":"c","image":"i"}]}}}]}}}`

var scenarios = []scenario{
	{name: "deploy/apply", tell: func(on *server, in place, ns string) error {
		deploy := filepath.Join(in.source, "examples/deploy")
		everything := []string{"apply", "-f", filepath.Join(deploy, "crds"), "-f", deploy}
		if _, err := on.kubectl(in, everything...); err != nil {
			return err
		}
		again, err := on.kubectl(in, everything...)
		if err != nil {
			return err
		}
		for _, line := range strings.Split(strings.TrimSpace(again), "\n") {
			// kubectl replaces a budget's selector every time, whatever it was.
			if !strings.HasSuffix(line, " unchanged") && !strings.HasPrefix(line, "poddisruptionbudget") {
				return fmt.Errorf("applied again: %s", line)
			}
		}
		return nil
	}},
	{name: "deploy/seed-manifests", tell: func(on *server, in place, ns string) error {
		for _, space := range []string{"ml-workspace", "dev-wangdi", "t9k-system"} {
			on.admin.post("/api/v1/namespaces", `{"metadata":{"name":"`+space+`"}}`)
		}
		for _, each := range []string{"t9k/genericjob-basic.yaml", "t9k/genericjob-tf-config.yaml", "t9k/genericjob-service.yaml",
			"t9k/genericjob-environment.yaml", "t9k/genericjob-resources.yaml", "t9k/genericjob-pause.whole.yaml",
			"t9k/genericjob-debug.whole.yaml", "t9k/genericjob-shared-memory.whole.yaml", "t9k/podgroup-job.whole.yaml",
			"t9k/podgroup-elastic.whole.yaml", "grove/ml-training.yaml", "grove/upstream-ml-training.yaml",
			"grove/ml-training-podgang.yaml", "grove/upstream-podgang.yaml", "grove/inference-service.yaml"} {
			// Strict: a field that the definitions do not know is an error.
			if _, err := on.kubectl(in, "apply", "--dry-run=server", "--validate=strict", "-f", filepath.Join(in.source, "tests/data", each)); err != nil {
				return err
			}
		}
		return nil
	}},
	{name: "deploy/defaults-and-columns", tell: func(on *server, in place, ns string) error {
		group := groups + ns + "/podgroups"
		if err := firstOf(
			on.admin.expect(201, "POST", group, `{"apiVersion":"scheduler.tensorstack.dev/v1beta1","kind":"PodGroup","metadata":{"name":"g"},"spec":{"minMember":3}}`),
			on.admin.expect(422, "POST", group, `{"apiVersion":"scheduler.tensorstack.dev/v1beta1","kind":"PodGroup","metadata":{"name":"h"},"spec":{"priority":101}}`),
			on.admin.expect(200, "PATCH", group+"/g/status", `{"status":{"conditions":[{"type":"GroupScheduled","status":"True"}]}}`),
			on.admin.expect(201, "POST", sets+ns+"/podcliquesets", cliqueSet),
			on.admin.expect(200, "PATCH", sets+ns+"/podcliquesets/s/status", `{"status":{"ready":"0/2"}}`)); err != nil {
			return err
		}
		for kind, wanted := range map[string]string{
			"podgroups.scheduler.tensorstack.dev": "[[NAME QUEUE PRIORITY MIN SCHEDULED] [g default 0 3 True]]",
			"pcs":                                 "[[NAME REPLICAS READY] [s 2 0/2]]",
		} {
			out, err := on.kubectl(in, "get", "-n", ns, kind)
			if err != nil {
				return err
			}
			if found := fmt.Sprint(table(out)); found != wanted {
				return fmt.Errorf("kubectl get %s prints %s (expected %s)", kind, found, wanted)
			}
		}
		return nil
	}},
	{name: "deploy/immutable-fields", realOnly: "the embedded server knows no CEL", tell: func(on *server, in place, ns string) error {
		jobs, cliques := batch+ns+"/pytorchtrainingjobs", sets+ns+"/podcliquesets"
		change := func(code int, path, body string) error { return on.admin.expect(code, "PATCH", path, body) }
		return firstOf(on.admin.expect(201, "POST", jobs, torchJob), on.admin.expect(201, "POST", cliques, cliqueSet),
			change(200, jobs+"/j", `{"spec":{"elastic":{"expectedReplicas":3}}}`),
			change(200, jobs+"/j", `{"spec":{"runMode":{"pause":{"enabled":true}}}}`),
			change(422, jobs+"/j", `{"spec":{"elastic":{"minReplicas":2}}}`),
			change(422, jobs+"/j", `{"spec":{"elastic":{"maxReplicas":9}}}`),
			change(422, jobs+"/j", `{"spec":{"elastic":{"minReplicas":null}}}`),
			change(422, jobs+"/j", `{"spec":{"elastic":null}}`),
			change(422, jobs+"/j", `{"spec":{"runMode":{"pause":{"resumeSpecs":[{"type":"worker","command":["c"]}]}}}}`),
			change(422, jobs+"/j", `{"spec":{"runMode":null}}`),
			change(200, cliques+"/s", `{"spec":{"replicas":3}}`),
			change(422, cliques+"/s", `{"spec":{"template":{"cliqueStartupType":"CliqueStartupTypeExplicit"}}}`),
			change(422, cliques+"/s", `{"spec":{"template":{"cliques":[{"name":"a","spec":{"roleName":"a","replicas":2,"minAvailable":1,"podSpec":{}}}]}}}`),
			change(422, cliques+"/s", strings.Replace(cliqueSet, `"roleName":"b"`, `"roleName":"c"`, 1)),
			change(422, cliques+"/s", strings.Replace(cliqueSet, `"minAvailable":1`, `"minAvailable":2`, 1)))
	}},
	{name: "deploy/pods-keep-their-group", realOnly: "the embedded server knows no admission policies", tell: func(on *server, in place, ns string) error {
		pods := podsOf(ns)
		label := func(value string) string {
			return `{"metadata":{"labels":{"scheduler.tensorstack.dev/group-name":` + value + `}}}`
		}
		note := func(value string) string { return `{"metadata":{"annotations":{"pod-group-name":` + value + `}}}` }
		if err := firstOf(
			on.admin.expect(201, "POST", pods, pod("p", `,"labels":{"scheduler.tensorstack.dev/group-name":"g"}`, "")),
			on.admin.expect(201, "POST", pods, pod("loose", "", ""))); err != nil {
			return err
		}
		// A policy is obeyed a moment after it is there.
		if !eventually(20*time.Second, func() bool {
			code, _ := on.admin.merge(pods+"/p?dryRun=All", label(`"other"`))
			return code == 422
		}) {
			return fmt.Errorf("a pod may change its group")
		}
		change := func(code int, name, body string) error { return on.admin.expect(code, "PATCH", pods+"/"+name, body) }
		return firstOf(change(422, "p", label("null")), change(422, "loose", label(`"g"`)),
			change(200, "p", `{"metadata":{"labels":{"x":"y"}}}`), change(200, "p", note(`"g"`)),
			change(422, "p", note(`"h"`)), change(422, "p", note("null")),
			change(422, "p/status", label(`"other"`)), change(200, "p/status", `{"status":{"message":"m"}}`))
	}},
	{name: "deploy/only-pods-of-groups-are-judged", realOnly: "the embedded server knows no admission policies", tell: func(on *server, in place, ns string) error {
		// A twin of the policy whose evaluation always fails, in this namespace alone.
		const api = "/apis/admissionregistration.k8s.io/v1/"
		_, twin := on.admin.get(api + "validatingadmissionpolicies/muster-pod-group")
		spec, _ := twin["spec"].(object)
		if spec == nil {
			return fmt.Errorf("there is no policy muster-pod-group")
		}
		spec["validations"] = []any{object{"expression": `int(object.metadata.name) == 0`}}
		name := "broken-" + ns
		text, err := json.Marshal(object{"apiVersion": twin["apiVersion"], "kind": twin["kind"], "metadata": object{"name": name}, "spec": spec})
		if err != nil {
			return err
		}
		defer on.admin.do("DELETE", api+"validatingadmissionpolicies/"+name, "", "")
		defer on.admin.do("DELETE", api+"validatingadmissionpolicybindings/"+name, "", "")
		pods := podsOf(ns)
		if err := firstOf(on.admin.expect(201, "POST", api+"validatingadmissionpolicies", string(text)),
			on.admin.expect(201, "POST", api+"validatingadmissionpolicybindings", `{"apiVersion":"admissionregistration.k8s.io/v1","kind":"ValidatingAdmissionPolicyBinding","metadata":{"name":"`+name+
				`"},"spec":{"policyName":"`+name+`","validationActions":["Deny"],"matchResources":{"namespaceSelector":{"matchLabels":{"kubernetes.io/metadata.name":"`+ns+`"}}}}}`),
			on.admin.expect(201, "POST", pods, pod("p", `,"labels":{"scheduler.tensorstack.dev/group-name":"g"}`, "")),
			on.admin.expect(201, "POST", pods, pod("k", `,"annotations":{"pod-group-name":"g"}`, "")),
			on.admin.expect(201, "POST", pods, pod("loose", `,"labels":{"app":"web"}`, "")),
			on.admin.expect(201, "POST", pods, pod("bare", "", ""))); err != nil {
			return err
		}
		const message = `{"status":{"message":"m"}}`
		if !eventually(20*time.Second, func() bool {
			code, _ := on.admin.merge(pods+"/p/status?dryRun=All", message)
			return code == 422
		}) {
			return fmt.Errorf("the broken policy never refuses the pod of a group")
		}
		change := func(code int, name, body string) error { return on.admin.expect(code, "PATCH", pods+"/"+name, body) }
		return firstOf(change(422, "k/status", message), change(200, "loose/status", message), change(200, "bare/status", message),
			change(200, "loose", `{"metadata":{"labels":{"x":"y"}}}`), change(200, "bare", `{"metadata":{"annotations":{"x":"y"}}}`),
			change(422, "loose", `{"metadata":{"labels":{"scheduler.tensorstack.dev/queue":"q"}}}`),
			change(422, "p", `{"metadata":{"labels":null}}`))
	}},
	{name: "deploy/roles", realOnly: "the embedded server lets everybody in do anything", tell: func(on *server, in place, ns string) error {
		may := func(who, verb, group, resource, sub, in, name string) (bool, error) {
			body := `{"apiVersion":"authorization.k8s.io/v1","kind":"SubjectAccessReview","spec":{"user":"system:serviceaccount:muster-system:` + who +
				`","groups":["system:serviceaccounts","system:authenticated"],"resourceAttributes":{"verb":"` + verb + `","group":"` + group +
				`","resource":"` + resource + `","subresource":"` + sub + `","namespace":"` + in + `","name":"` + name + `"}}}`
			code, answer := on.admin.post("/apis/authorization.k8s.io/v1/subjectaccessreviews", body)
			if code != 201 {
				return false, fmt.Errorf("SubjectAccessReview: %d %s", code, text(answer, "message"))
			}
			allowed, _ := at(answer, "status", "allowed").(bool)
			return allowed, nil
		}
		const t9k = "scheduler.tensorstack.dev"
		for _, each := range []struct {
			who, verb, group, resource, sub, in, name string
			allowed                                   bool
		}{
			{"muster-scheduler", "create", "", "pods", "binding", ns, "", true},
			{"muster-scheduler", "create", "", "pods", "eviction", ns, "", true},
			{"muster-scheduler", "patch", "", "pods", "", ns, "", false},
			{"muster-scheduler", "update", "", "pods", "", ns, "", false},
			{"muster-scheduler", "patch", "", "pods", "status", ns, "", true},
			{"muster-scheduler", "update", "", "pods", "status", ns, "", false},
			{"muster-scheduler", "patch", t9k, "podgroups", "status", ns, "", true},
			{"muster-scheduler", "watch", "", "nodes", "", "", "", true},
			{"muster-scheduler", "get", "coordination.k8s.io", "leases", "", "muster-system", "muster-scheduler", true},
			{"muster-scheduler", "update", "coordination.k8s.io", "leases", "", "muster-system", "muster-controller", false},
			{"muster-scheduler", "update", "coordination.k8s.io", "leases", "", ns, "muster-scheduler", false},
			{"muster-scheduler", "create", "", "pods", "", ns, "", false},
			{"muster-scheduler", "delete", "", "pods", "", ns, "", false},
			{"muster-scheduler", "get", "", "secrets", "", ns, "", false},
			{"muster-scheduler", "patch", t9k, "podgroups", "", ns, "", false},
			{"muster-scheduler", "update", "", "nodes", "", "", "", false},
			{"muster-controller", "create", "", "pods", "", ns, "", true},
			{"muster-controller", "delete", "", "pods", "", ns, "", true},
			{"muster-controller", "create", t9k, "podgroups", "", ns, "", true},
			{"muster-controller", "patch", "batch.tensorstack.dev", "genericjobs", "status", ns, "", true},
			{"muster-controller", "create", "", "pods", "binding", ns, "", false},
			{"muster-controller", "create", "batch.tensorstack.dev", "genericjobs", "", ns, "", false},
			{"muster-controller", "get", "", "secrets", "", ns, "", false},
			{"muster-controller", "patch", t9k, "podgroups", "status", ns, "", false},
			{"muster-controller", "delete", t9k, "podgroups", "", ns, "", false},
			{"muster-controller", "watch", t9k, "queues", "", "", "", true},
			{"muster-controller", "patch", "batch.tensorstack.dev", "genericjobs", "", ns, "", true},
			{"muster-controller", "patch", "batch.tensorstack.dev", "beamjobs", "", ns, "", false},
			{"muster-controller", "delete", "batch", "jobs", "", ns, "", false},
		} {
			allowed, err := may(each.who, each.verb, each.group, each.resource, each.sub, each.in, each.name)
			if err != nil {
				return err
			}
			if allowed != each.allowed {
				return fmt.Errorf("%+v: allowed is %v", each, allowed)
			}
		}
		return nil
	}},
	{name: "translate/accepted", tell: func(on *server, in place, ns string) error {
		for _, space := range []string{"ml-workspace", "dev-wangdi"} {
			on.admin.post("/api/v1/namespaces", `{"metadata":{"name":"`+space+`"}}`)
		}
		on.admin.post("/apis/scheduling.k8s.io/v1/priorityclasses", `{"metadata":{"name":"high-priority"},"value":1000}`)
		for _, input := range []string{"t9k/genericjob-scheduler.whole.yaml", "t9k/podgroup-job.whole.yaml",
			"t9k/podgroup-elastic.whole.yaml", "ack/tf-smoke-gpu.yaml", "grove/upstream-ml-training.yaml"} {
			content, err := os.ReadFile(filepath.Join(in.source, "tests/data", input))
			if err != nil {
				return err
			}
			// The complete example of Grove asks for GPUs without limits, which no server takes in pods.
			source, file := filepath.Join(on.folder, "source.yaml"), filepath.Join(on.folder, "translated.yaml")
			if err := write(source, strings.ReplaceAll(string(content), "requests:\n                nvidia.com/gpu", "limits:\n                nvidia.com/gpu")); err != nil {
				return err
			}
			for _, target := range []string{"ack-1.31", "grove", "kai-0.15", "koordinator", "pods", "scheduler-plugins", "t9k", "volcano", "workload-1.36"} {
				out, err := exec.Command(in.muster, "translate", "-f", source, "--to", target).Output()
				if err != nil || len(out) == 0 {
					return fmt.Errorf("%s is not translated to %s: %v", input, target, err)
				}
				if err := write(file, string(out)); err != nil {
					return err
				}
				arguments := []string{"apply", "--validate=strict", "-f", file}
				// A group is refused before its Workload is there, so that one is made in earnest.
				earnest := strings.HasPrefix(target, "workload")
				if !earnest {
					arguments = append(arguments, "--dry-run=server")
				} else if !strings.Contains(string(out), "scheduling.k8s.io/v1alpha2") {
					return fmt.Errorf("%s to %s: nothing of Kubernetes' own gangs is there", input, target)
				}
				if _, err := on.kubectl(in, arguments...); err != nil {
					return fmt.Errorf("%s to %s: %w", input, target, err)
				}
				if earnest {
					on.kubectl(in, "delete", "--now", "--wait=false", "--ignore-not-found", "-f", file)
				}
			}
		}
		return nil
	}},
	{name: "kubectl/five-minutes", tell: func(on *server, in place, ns string) error {
		file := filepath.Join(on.folder, "pod.json")
		if err := write(file, pod("p", `,"namespace":"`+ns+`","labels":{"app":"x"}`, "")); err != nil {
			return err
		}
		if err := on.allKubectl(in, []string{"apply", "-f", file}, []string{"label", "-n", ns, "pod", "p", "tier=1"},
			[]string{"annotate", "-n", ns, "pod", "p", "note=1"}, []string{"get", "-n", ns, "pod", "p", "-o", "yaml"},
			[]string{"api-resources"}, []string{"get", "all", "-n", ns}, []string{"get", "events", "-n", ns}); err != nil {
			return err
		}
		for _, each := range []struct {
			arguments []string
			wanted    string
		}{
			{[]string{"get", "pods", "-n", ns}, `(?m)^p +0/1 +Pending +0 +\d+s$`},
			{[]string{"get", "pods", "-n", ns, "-o", "wide"}, `(?m)^p +0/1 +Pending +0 +\d+s +<none> +<none> +<none> +<none>$`},
			{[]string{"get", "pods", "-n", ns, "-l", "tier=1", "-o", "name"}, `^pod/p\n$`},
			{[]string{"get", "pods", "-n", ns, "-l", "tier=2"}, `^No resources found`},
			{[]string{"get", "pods", "-n", ns, "--field-selector", "spec.nodeName="}, `(?m)^p `},
			{[]string{"get", "pods", "-n", ns, "-w", "--request-timeout=1s"}, `(?m)^p +0/1`},
			{[]string{"describe", "-n", ns, "pod", "p"}, `(?s)^Name: +p\n.*Labels: +app=x\n.*Status: +Pending\n.*Events: +<none>`},
			{[]string{"apply", "-f", file}, `pod/p unchanged`},
			{[]string{"delete", "-n", ns, "pod", "p"}, `pod "p" deleted`},
			{[]string{"delete", "-f", file, "--ignore-not-found"}, `^$`},
		} {
			out, err := on.kubectl(in, each.arguments...)
			watching := strings.Contains(strings.Join(each.arguments, " "), "-w ")
			if err != nil && !watching {
				return err
			}
			if !regexp.MustCompile(each.wanted).MatchString(out) {
				return fmt.Errorf("kubectl %s prints %q (expected %s)", strings.Join(each.arguments, " "), out, each.wanted)
			}
		}
		return nil
	}},
}
