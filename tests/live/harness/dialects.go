// SPDX-License-Identifier: Apache-2.0
package main

import (
	"fmt"
	"strings"
	"time"
)

// dialectGang is a gang of three in one API's own words.
type dialectGang struct {
	dialect  string
	path     string // of the group
	group    string
	metadata string // of its pods
	spec     string // of its pods
	status   string // what the group's status comes to hold
}

// dialectGangs are gangs called by their dialect, in a namespace.
func dialectGangs(namespace string) []dialectGang {
	group := func(version, name, more, spec string) string {
		return fmt.Sprintf(`{"apiVersion":%q,"kind":"PodGroup","metadata":{"name":%q%s},"spec":%s}`, version, name, more, spec)
	}
	in := "/namespaces/" + namespace + "/podgroups"
	return []dialectGang{
		{"scheduler-plugins", "/apis/scheduling.x-k8s.io/v1alpha1" + in,
			group("scheduling.x-k8s.io/v1alpha1", "scheduler-plugins", "", `{"minMember":3}`),
			`,"labels":{"scheduling.x-k8s.io/pod-group":"scheduler-plugins"}`, "", `phase:Running`},
		{"volcano", "/apis/scheduling.volcano.sh/v1beta1" + in,
			group("scheduling.volcano.sh/v1beta1", "volcano", "", `{"minMember":3,"queue":"v-`+namespace+`"}`),
			`,"annotations":{"scheduling.k8s.io/group-name":"volcano"}`, "", `type:Scheduled`},
		{"kai", "/apis/scheduling.run.ai/v2alpha2" + in,
			group("scheduling.run.ai/v2alpha2", "kai", "", `{"queue":"k-`+namespace+`","subGroups":[{"name":"all","minMember":3}]}`),
			`,"annotations":{"pod-group-name":"kai"},"labels":{"kai.scheduler/subgroup-name":"all"}`, "", `type:Scheduled`},
		{"koordinator", "/apis/scheduling.sigs.k8s.io/v1alpha1" + in,
			group("scheduling.sigs.k8s.io/v1alpha1", "koordinator", "", `{"minMember":3}`),
			`,"labels":{"pod-group.scheduling.sigs.k8s.io":"koordinator"}`, "", `phase:Running`},
		{"workload", "/apis/scheduling.k8s.io/v1alpha2" + in,
			group("scheduling.k8s.io/v1alpha2", "workload", "", `{"schedulingPolicy":{"gang":{"minCount":3}}}`),
			"", `,"schedulingGroup":{"podGroupName":"workload"}`, `type:PodGroupScheduled`},
	}
}

// bindsRole binds a ClusterRole of examples/deploy to the scheduler until the scenario ends.
func (s *stage) bindsRole(role string) {
	const bindings = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings"
	s.ended = append(s.ended, func() { s.on.admin.do("DELETE", bindings+"/user-"+role, "", "") })
	s.on.admin.post(bindings,
		`{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRoleBinding","metadata":{"name":"user-`+role+`"},`+
			`"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"`+role+`"},`+
			`"subjects":[{"apiGroup":"rbac.authorization.k8s.io","kind":"User","name":"muster-scheduler"}]}`)
}

// readsDialects lets the scheduler read groups of other dialects than T9k's until the scenario ends.
func (s *stage) readsDialects() { s.bindsRole("muster-scheduler-dialects") }

// dialectScenarios show that each API's groups start whole and say so in their own form, by the
// roles of examples/deploy alone.
func dialectScenarios() []scenario {
	return []scenario{{name: "schedule/dialects", tell: func(on *server, in place, namespace string) error {
		if in.standIn != "" {
			return skipped("the stand-in speaks T9k's dialect alone")
		}
		for path, queue := range map[string]string{
			"/apis/scheduling.volcano.sh/v1beta1/queues": `{"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"Queue","metadata":{"name":"v-` + namespace + `"},"spec":{"weight":1}}`,
			"/apis/scheduling.run.ai/v2/queues": `{"apiVersion":"scheduling.run.ai/v2","kind":"Queue","metadata":{"name":"k-` + namespace + `"},` +
				`"spec":{"resources":{"cpu":{"quota":-1,"limit":-1},"memory":{"quota":-1,"limit":-1},"gpu":{"quota":-1,"limit":-1}}}}`,
		} {
			if err := on.admin.expect(201, "POST", path, queue); err != nil {
				return err
			}
		}
		return onStage(map[string]int{"a": 8, "b": 7}, func(s *stage) error {
			s.readsDialects()
			gangs := dialectGangs(namespace)
			s.program.Process.Kill()
			s.program.Wait()
			var chosen []string
			for _, each := range gangs {
				chosen = append(chosen, "--dialect", each.dialect)
			}
			if err := s.startScheduler(in, chosen...); err != nil {
				return err
			}
			for _, each := range gangs {
				if err := on.admin.expect(201, "POST", each.path, each.group); err != nil {
					return err
				}
				for at := range 3 {
					if at == 2 {
						if err := s.waits(each.dialect, time.Second); err != nil {
							return err
						}
					}
					if err := on.admin.expect(201, "POST", podsOf(namespace), fmt.Sprintf(
						`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"%s-%d"%s},"spec":{"schedulerName":%q,"nodeSelector":{"stage":%q}%s,`+
							`"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"1"}}}]}}`,
						each.dialect, at, each.metadata, schedulerName, namespace, each.spec)); err != nil {
						return err
					}
				}
			}
			for _, each := range gangs {
				if err := s.runs(each.dialect, 3); err != nil {
					return err
				}
				status := ""
				if !eventually(20*time.Second, func() bool {
					_, found := on.admin.get(each.path + "/" + each.dialect)
					status = fmt.Sprint(at(found, "status"))
					return strings.Contains(status, each.status)
				}) {
					return fmt.Errorf("the status of %s is %s (expected %s)", each.dialect, status, each.status)
				}
			}
			return nil
		})(on, in, namespace)
	}}}
}
