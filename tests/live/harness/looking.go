// SPDX-License-Identifier: Apache-2.0
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// looksBy runs a command of the program under test that ends by itself, as the user of a role, and
// gives what it prints and its exit code.
func (s *stage) looksBy(user, command string, more ...string) (string, int, error) {
	config := filepath.Join(s.on.folder, "looking-"+user+".kubeconfig")
	if err := write(config, kubeconfigText(s.proxy.url, s.on.trust.text, user)); err != nil {
		return "", 0, err
	}
	out, err := exec.Command(s.in.muster, append([]string{command, "--kubeconfig", config}, more...)...).Output()
	var ended *exec.ExitError
	if errors.As(err, &ended) {
		if code := ended.ExitCode(); code == 3 {
			return string(out), code, nil
		}
		return "", 0, fmt.Errorf("muster %s: %w: %s", command, err, ended.Stderr)
	}
	return string(out), 0, err
}

// writesBy counts all that a user wrote anywhere, leases too, carried out or not.
func (s *stage) writesBy(user string) (int, error) {
	all, err := s.on.writes()
	made := 0
	for _, each := range all {
		if each.user == user {
			made++
		}
	}
	return made, err
}

// writesNothing says when a user writes anything while something is told.
func (s *stage) writesNothing(user string, told func() error) error {
	before, err := s.writesBy(user)
	if err != nil {
		return err
	}
	if err := told(); err != nil {
		return err
	}
	after, err := s.writesBy(user)
	if err == nil && after != before {
		err = unsafe(fmt.Sprintf("%s only looked, and wrote %d times", user, after-before))
	}
	return err
}

// silenced ends the scheduler that the stage began with.
func (s *stage) silenced() error {
	s.program.Process.Kill()
	s.program.Wait()
	s.silent = true
	// Of what it sent last the server may still be telling its log.
	return s.calm()
}

// boundWhere gives the node of every pod of the stage that has one.
func (s *stage) boundWhere() map[string]string {
	made := map[string]string{}
	_, list := s.on.admin.get(podsOf(s.namespace))
	for _, each := range items(list, "items") {
		if node := text(each, "spec", "nodeName"); node != "" {
			made[text(each, "metadata", "name")] = node
		}
	}
	return made
}

// plannedIn gives the placements that `muster plan` makes of a file, those of one namespace.
func plannedIn(muster, file, namespace string) (map[string]string, error) {
	out, err := exec.Command(muster, "plan", "-f", file, "-o", "json").Output()
	var ended *exec.ExitError
	if err != nil && (!errors.As(err, &ended) || ended.ExitCode() != 3) {
		return nil, fmt.Errorf("muster plan: %w", err)
	}
	plan := object{}
	if err := json.Unmarshal(out, &plan); err != nil {
		return nil, err
	}
	made := map[string]string{}
	for _, group := range items(plan, "groups") {
		if text(group, "namespace") != namespace {
			continue
		}
		for _, one := range items(group, "placements") {
			made[text(one, "pod")] = text(one, "node")
		}
	}
	return made, nil
}

// startsIn gives what a dry run would start, of one namespace.
func startsIn(out, namespace string) map[string]string {
	made := map[string]string{}
	for _, line := range strings.Split(out, "\n") {
		words := strings.Split(line, "\t")
		if space, pod, _ := strings.Cut(words[min(2, len(words)-1)], "/"); len(words) == 4 && words[0] == "start" && space == namespace {
			made[pod] = words[3]
		}
	}
	return made
}

func sameWhere(what string, found, wanted map[string]string) error {
	if maps.Equal(found, wanted) {
		return nil
	}
	line := func(of map[string]string) string {
		made := []string{}
		for pod, node := range of {
			made = append(made, pod+" on "+node)
		}
		slices.Sort(made)
		return strings.Join(made, ", ")
	}
	return fmt.Errorf("%s: %s (expected %s)", what, line(found), line(wanted))
}

// lookingScenarios are those of commands that look at a cluster and write nothing into it.
func lookingScenarios() []scenario {
	made := []scenario{}
	add := func(name string, tell func(on *server, in place, namespace string) error) {
		made = append(made, scenario{name: name, tell: ofMuster("the stand-in only schedules", tell)})
	}
	add("look/snapshot-plans-what-schedule-binds", onStage(map[string]int{"a": 3, "b": 2, "c": 4}, func(s *stage) error {
		s.alone() // What earlier scenarios left waiting would be planned too.
		// What nobody asks for bears on which node is the best fit, in a file and live.
		if err := firstOf(s.change(s.nodePath("b")+"/status", `{"status":{"allocatable":{"example.com/gpu":"4"}}}`),
			s.silenced(), s.group("g", 4, ""), s.members("g", 4, "1"), s.group("h", 2, ""), s.members("h", 2, "2"),
			s.group("waits", 3, ""), s.members("waits", 3, "3"), s.member("single", "", "1", schedulerName),
			s.member("foreign", "", "1", "somebody-else")); err != nil {
			return err
		}
		var planned map[string]string
		file := filepath.Join(s.on.folder, s.namespace+".json")
		if err := s.writesNothing("muster-scheduler", func() error {
			unread := &flaw{verb: "GET", suffix: "/podgroups", times: 1, what: "refuse", code: 401}
			s.befall(unread)
			if _, _, err := s.looksBy("muster-scheduler", "snapshot", "-o", file); err == nil {
				return errors.New("a snapshot ends well without the groups, of which 401 told it nothing")
			}
			if _, _, err := s.looksBy("muster-scheduler", "snapshot", "--scheduler-name", schedulerName, "-o", file); err != nil {
				return err
			}
			found, err := plannedIn(s.in.muster, file, s.namespace)
			if err != nil {
				return err
			}
			planned = found
			out, code, err := s.looksBy("muster-scheduler", "schedule", "--scheduler-name", schedulerName, "--dry-run")
			if err != nil {
				return err
			}
			if code != 3 {
				return fmt.Errorf("a dry run of what waits in part ends with %d (expected 3)", code)
			}
			return sameWhere("a dry run starts", startsIn(out, s.namespace), planned)
		}); err != nil {
			return err
		}
		if len(planned) != 7 {
			return fmt.Errorf("of the snapshot %d pods are planned (expected 7)", len(planned))
		}
		return firstOf(s.startScheduler(s.in), s.runs("", 7), sameWhere("schedule binds", s.boundWhere(), planned))
	}))
	add("look/shadow", onStage(map[string]int{"a": 2, "b": 2}, func(s *stage) error {
		s.refusals = true // Whoever binds here counts nobody's requests.
		if err := firstOf(s.silenced(), s.group("g", 2, ""), s.members("g", 2, "1"), s.member("large", "", "3", schedulerName)); err != nil {
			return err
		}
		return s.writesNothing("muster-scheduler", func() error {
			type told struct {
				out string
				err error
			}
			ended := make(chan told, 1)
			go func() {
				out, _, err := s.looksBy("muster-scheduler", "shadow", "--scheduler-name", schedulerName, "--for", "8")
				ended <- told{out, err}
			}()
			s.wait(4 * time.Second)
			ends := s.bindOthers(schedulerName, s.namespace+"-b")
			defer ends()
			found := <-ended
			if found.err != nil {
				return found.err
			}
			early := "start\t" + s.namespace + "/large\t" + s.namespace + "-b\tMuster: waits, it does not fit the nodes that are free\n"
			if !strings.Contains(found.out, early) {
				return fmt.Errorf("shadow says %q, and not %q", found.out, early)
			}
			if !strings.Contains(found.out, "pods bound: ") {
				return fmt.Errorf("shadow does not sum up: %q", found.out)
			}
			return nil
		})
	}))
	add("look/controller-dry-run", func(on *server, in place, namespace string) error {
		return onStage(map[string]int{"a": 4}, func(s *stage) error {
			if err := s.genericJob(in); err != nil {
				return err
			}
			return s.writesNothing(controllerUser, func() error {
				out, code, err := s.looksBy(controllerUser, "controller", "--namespace", s.namespace, "--dry-run")
				if err != nil {
					return err
				}
				for _, wanted := range []string{`"kind":"PodGroup"`, `"kind":"Pod"`} {
					if code != 3 || !strings.Contains(out, wanted) {
						return fmt.Errorf("a dry run ends with %d and prints %q (expected 3 and %s)", code, out, wanted)
					}
				}
				return nil
			})
		})(on, in, namespace)
	})
	return made
}
