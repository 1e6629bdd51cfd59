// SPDX-License-Identifier: Apache-2.0
package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// What the documents on Grove print of a gang and of KAI's group of it, in each dialect.
var printedGangs = map[string][2]string{
	"seed":     {"ml-training-podgang.yaml", "ml-training-kai-podgroup.yaml"},
	"upstream": {"upstream-podgang.yaml", "upstream-kai-podgroup.yaml"},
}

// printed gives a file of tests/data/grove, with some of its text replaced, as kubectl reads it.
func (s *stage) printed(in place, name string, replaced ...string) (object, error) {
	content, err := os.ReadFile(filepath.Join(in.source, "tests/data/grove", name))
	if err != nil {
		return nil, err
	}
	file := filepath.Join(s.on.folder, "printed.yaml")
	if err := write(file, strings.NewReplacer(replaced...).Replace(string(content))); err != nil {
		return nil, err
	}
	out, err := s.on.kubectl(in, "create", "--dry-run=client", "--validate=false", "-o", "json", "-f", file)
	made := object{}
	return made, firstOf(err, json.Unmarshal([]byte(out), &made))
}

// decided gives all of an object that whoever made it decided.
func decided(of object, spec any) string {
	made, _ := json.MarshalIndent(object{"labels": at(of, "metadata", "labels"), "annotations": at(of, "metadata", "annotations"),
		"ownerReferences": at(of, "metadata", "ownerReferences"), "spec": spec}, "", " ")
	return string(made)
}

// referring gives the spec of a gang with "a pod" in the place of each pod that is there and of the
// clique for which it stands, once.
func referring(gang object, cliques map[string]string) any {
	made := object{}
	content, _ := json.Marshal(gang["spec"])
	json.Unmarshal(content, &made)
	for _, group := range items(made, "podgroups") {
		for _, each := range items(group, "podReferences") {
			name := text(each, "name")
			if cliques[name] == text(group, "name") {
				each.(object)["name"] = "a pod"
				delete(cliques, name)
			}
		}
	}
	return made
}

// asPrinted tells that the gang of a replica, KAI's group of it and its pods are what the documents
// print of the first one's. The uid that they print for several objects is the owner's.
func (s *stage) asPrinted(in place, dialect string, replica int) error {
	gang := fmt.Sprintf("ml-training-%d", replica)
	_, set := s.on.admin.get(sets + s.namespace + "/podcliquesets/ml-training")
	path := gangsOfGrove + s.namespace + "/podgangs/" + gang
	_, owner := s.on.admin.get(path)
	replaced := []string{"ml-training-0", gang, "ml-workspace", s.namespace, "abc-123-def"}
	wanted, err := s.printed(in, printedGangs[dialect][0], append(replaced, text(set, "metadata", "uid"))...)
	if err != nil {
		return err
	}
	group, err := s.printed(in, printedGangs[dialect][1], append(replaced, text(owner, "metadata", "uid"))...)
	if err != nil {
		return err
	}
	if dialect == "upstream" {
		// There a gang has its set's annotations besides, and hands on its own; kubectl wrote one.
		inherited, _ := at(set, "metadata", "annotations").(object)
		for _, each := range []object{wanted, group} {
			maps.Copy(at(each, "metadata", "annotations").(object), inherited)
		}
	}
	stands := map[string]string{}
	for _, each := range items(wanted, "spec", "podgroups") {
		for _, one := range items(each, "podReferences") {
			stands[text(one, "name")] = text(each, "name")
		}
	}
	name, gangText, groupText := text(group, "metadata", "name"), decided(wanted, referring(wanted, stands)), decided(group, group["spec"])
	var differs error
	eventually(20*time.Second, func() bool {
		_, pods := s.on.admin.get(podsOf(s.namespace))
		cliques := map[string]string{}
		for _, each := range items(pods, "items") {
			labels, annotations := at(each, "metadata", "labels"), at(each, "metadata", "annotations")
			if text(labels, "grove.io/podgang") != gang {
				continue
			}
			clique, skips := text(labels, "grove.io/podclique"), text(annotations, "kai.scheduler/skip-podgrouper") == "true"
			cliques[text(each, "metadata", "name")] = clique
			if text(annotations, "pod-group-name") != name || text(labels, "kai.scheduler/subgroup-name") != clique || skips != (dialect == "upstream") {
				differs = fmt.Errorf("%s of %s is not in KAI's %s: %v %v", text(each, "metadata", "name"), clique, name, labels, annotations)
				return false
			}
		}
		_, found := s.on.admin.get(path)
		_, derived := s.on.admin.get(kaiGroups(s.namespace) + "/" + name)
		if one, other := decided(found, referring(found, cliques)), decided(derived, derived["spec"]); one != gangText {
			differs = fmt.Errorf("the gang %s is\n%s\n(expected\n%s)", gang, one, gangText)
		} else if other != groupText {
			differs = fmt.Errorf("KAI's group %s is\n%s\n(expected\n%s)", name, other, groupText)
		} else {
			differs = nil
		}
		return differs == nil
	})
	return differs
}

// asWorkload tells that of a gang for Kubernetes' own scheduler come, in the seed's dialect, a
// Workload with a gang of all three pods and a group that follows it, both owned by the gang.
func (s *stage) asWorkload(in place, gang object) error {
	const name, clique = "inference-service-0", "inference-service-0-servers"
	all := "/apis/scheduling.k8s.io/v1alpha2/namespaces/" + s.namespace
	wanted, err := s.printed(in, "inference-service-workload.yaml", "namespace: default", "namespace: "+s.namespace, "scheduling.k8s.io/v1alpha1", "scheduling.k8s.io/v1alpha2")
	if err != nil {
		return err
	}
	// The document prints neither labels nor the uid, and leaves the spec to Kubernetes.
	owners := items(wanted, "metadata", "ownerReferences")
	owners[0].(object)["uid"] = at(gang, "metadata", "uid")
	wanted["metadata"].(object)["labels"] = at(gang, "metadata", "labels")
	minimum := func(of any) any { return at(of, "schedulingPolicy", "gang", "minCount") }
	workload := func(of object) string {
		templates := ""
		for _, each := range items(of, "spec", "podGroupTemplates") {
			templates += fmt.Sprint(text(each, "name"), " ", minimum(each), ";")
		}
		return decided(of, templates)
	}
	group := func(of object) string {
		follows := at(of, "spec", "podGroupTemplateRef", "workload")
		return decided(of, fmt.Sprint(text(follows, "workloadName"), " ", text(follows, "podGroupTemplateName"), " ", minimum(of["spec"])))
	}
	return firstOf(s.holds(all+"/workloads", 1), s.holds(all+"/podgroups", 1),
		s.becomes(all+"/workloads/"+name, "is as printed", func(found object) bool { return workload(found) == decided(wanted, clique+" 3;") }),
		s.becomes(all+"/podgroups/"+name+"-"+clique, "follows the Workload", func(found object) bool { return group(found) == decided(wanted, name+" "+clique+" 3") }))
}

// withoutWorkload tells that in the dialect upstream nothing comes of such a gang.
func (s *stage) withoutWorkload() error {
	all := "/apis/scheduling.k8s.io/v1alpha2/namespaces/" + s.namespace
	return firstOf(s.rests(), s.holds(all+"/workloads", 0), s.holds(all+"/podgroups", 0), s.holds(kaiGroups(s.namespace), 0))
}

// handedOver tells that the pods of the gang for Kubernetes' own scheduler have lost their gates,
// name that scheduler and, if any, their group.
func (s *stage) handedOver(group string) error {
	return s.becomes(podsOf(s.namespace), "are its scheduler's", func(found object) bool {
		ready := 0
		for _, each := range items(found, "items") {
			if text(each, "spec", "schedulerName") == "default-scheduler" && len(items(each, "spec", "schedulingGates")) == 0 &&
				text(each, "spec", "schedulingGroup", "podGroupName") == group {
				ready++
			}
		}
		return ready == 3 && len(items(found, "items")) == 3
	})
}
