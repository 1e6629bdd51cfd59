// SPDX-License-Identifier: Apache-2.0
package main

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"time"
)

// groveBackend is a scheduler that sets ask for, and what is derived for it of a replica's gangs.
type groveBackend struct {
	name      string
	scheduler string
	derived   []derivedKind
	options   []string // of the controller
}

type derivedKind struct {
	version, plural string
	of              int  // a replica with one scaled gang
	base            int  // a replica without
	stays           bool // as long as pods refer to it, whoever deletes it
}

func (k derivedKind) in(namespace string) string {
	return "/apis/" + k.version + "/namespaces/" + namespace + "/" + k.plural
}

var groveBackends = []groveBackend{
	{"kai", "kai-scheduler", []derivedKind{{"scheduling.run.ai/v2alpha2", "podgroups", 2, 1, false}}, nil},
	{"volcano", "volcano", []derivedKind{{"scheduling.volcano.sh/v1beta1", "podgroups", 2, 1, false}}, nil},
	{"koordinator", "koord-scheduler", []derivedKind{{"scheduling.sigs.k8s.io/v1alpha1", "podgroups", 3, 2, false}}, nil},
	{"workload", "default-scheduler", []derivedKind{{"scheduling.k8s.io/v1alpha2", "workloads", 2, 1, false}, {"scheduling.k8s.io/v1alpha2", "podgroups", 3, 2, true}},
		[]string{"--dialect", "seed", "--backend", "workload-1.36"}},
}

// scaledSet is a set of a clique of so many pods and of a scaling group of so many replicas.
func scaledSet(scheduler string, replicas, pods, groupReplicas int) string {
	clique := func(name string, count int) string {
		return fmt.Sprintf(`{"name":%q,"spec":{"roleName":%q,"replicas":%d,"minAvailable":1,"podSpec":{"schedulerName":%q,"containers":[{"name":"c","image":"i"}]}}}`,
			name, name, count, scheduler)
	}
	return fmt.Sprintf(`{"apiVersion":"grove.io/v1alpha1","kind":"PodCliqueSet","metadata":{"name":"s","labels":{"kai.scheduler/queue":"default-queue"}},"spec":{"replicas":%d,"template":{"cliques":[%s,%s],
 "podCliqueScalingGroups":[{"name":"g","cliqueNames":["b"],"replicas":%d,"minAvailable":1}]}}}`, replicas, clique("a", pods), clique("b", 1), groupReplicas)
}

// holds waits until a collection holds so many objects.
func (s *stage) holds(path string, count int) error {
	found := -1
	if !eventually(40*time.Second, func() bool {
		_, list := s.on.admin.get(path)
		found = len(items(list, "items"))
		return list["items"] != nil && found == count
	}) {
		return fmt.Errorf("%s holds %d objects (expected %d)", path, found, count)
	}
	return nil
}

// consistsOf waits until a set is made of so many objects of each kind, and so many pods run.
func (s *stage) consistsOf(of groveBackend, replicas, scaled, pods int) error {
	const own = "/apis/grove.io/v1alpha1/namespaces/"
	counts := []struct {
		path  string
		count int
	}{{podsOf(s.namespace), pods}, {own + s.namespace + "/podcliques", 2*replicas + scaled}, {own + s.namespace + "/podcliquescalinggroups", replicas},
		{gangsOfGrove + s.namespace + "/podgangs", replicas + scaled}}
	for _, each := range of.derived {
		counts = append(counts, struct {
			path  string
			count int
		}{each.in(s.namespace), scaled*each.of + (replicas-scaled)*each.base})
	}
	for _, each := range counts {
		if err := s.holds(each.path, each.count); err != nil {
			return err
		}
	}
	return s.runs("s-", pods)
}

// keepsDerived tells that what somebody does to derived objects is undone: one is edited, another is
// deleted, and one comes that is not to be.
func (s *stage) keepsDerived(of groveBackend) error {
	for _, each := range of.derived {
		_, list := s.on.admin.get(each.in(s.namespace))
		first, ok := items(list, "items")[0].(object)
		if !ok {
			return fmt.Errorf("there are no %s", each.plural)
		}
		const by = "app.kubernetes.io/managed-by"
		name, whose := text(first, "metadata", "name"), text(first, "metadata", "labels", by)
		path := each.in(s.namespace) + "/" + name
		copied, err := json.Marshal(object{"apiVersion": each.version, "kind": text(list, "kind")[:len(text(list, "kind"))-len("List")], "spec": first["spec"],
			"metadata": object{"name": "copied", "labels": at(first, "metadata", "labels"), "ownerReferences": at(first, "metadata", "ownerReferences")}})
		if err != nil {
			return err
		}
		if err := firstOf(s.on.admin.expect(201, "POST", each.in(s.namespace), string(copied)),
			s.becomes(each.in(s.namespace)+"/copied", "goes", func(found object) bool { return text(found, "reason") == "NotFound" }),
			s.change(path, `{"metadata":{"labels":{"`+by+`":"somebody"}}}`),
			s.becomes(path, "is "+whose+"'s again", func(found object) bool { return whose != "" && text(found, "metadata", "labels", by) == whose })); err != nil {
			return err
		}
		if each.stays {
			continue
		}
		uid := text(first, "metadata", "uid")
		if err := firstOf(s.on.admin.expect(200, "DELETE", path, ""), s.becomes(path, "is there again", func(found object) bool {
			return text(found, "metadata", "uid") != "" && text(found, "metadata", "uid") != uid
		})); err != nil {
			return err
		}
	}
	return nil
}

// groveScaled tells that all that comes of a set follows what the set says, as it is scaled out and
// in, as a whole and in its parts.
func groveScaled(of groveBackend) func(s *stage, in place, controller *exec.Cmd) error {
	return func(s *stage, in place, _ *exec.Cmd) error {
		ends := s.bindOthers(of.scheduler, s.namespace+"-a")
		defer ends()
		for _, each := range []struct{ pods, groupReplicas, scaled, all int }{{2, 2, 2, 8}, {3, 1, 0, 8}, {1, 2, 2, 6}} {
			if err := s.apply(in, scaledSet(of.scheduler, 2, each.pods, each.groupReplicas)); err != nil {
				return err
			}
			if err := s.consistsOf(of, 2, each.scaled, each.all); err != nil {
				return fmt.Errorf("with %d pods and %d replicas of the group: %w", each.pods, each.groupReplicas, err)
			}
		}
		if _, err := s.on.kubectl(in, "patch", "pcs", "s", "-n", s.namespace, "--type=merge", "-p", `{"spec":{"replicas":1}}`); err != nil {
			return err
		}
		if err := s.consistsOf(of, 1, 1, 3); err != nil {
			return err
		}
		if err := s.becomes(sets+s.namespace+"/podcliquesets/s", "says that its one replica is available", func(found object) bool {
			all, _ := at(found, "status", "replicas").(float64)
			count, _ := at(found, "status", "availableReplicas").(float64)
			return all == 1 && count == 1
		}); err != nil {
			return err
		}
		if err := s.keepsDerived(of); err != nil {
			return err
		}
		return firstOf(s.consistsOf(of, 1, 1, 3), s.rests())
	}
}

func scalingScenarios() []scenario {
	made := []scenario{}
	for _, each := range groveBackends {
		made = append(made, scenario{name: "controller/grove-scaled-" + each.name, manager: true, tell: controlled(map[string]int{"a": 16}, groveScaled(each), each.options...)})
	}
	return made
}
