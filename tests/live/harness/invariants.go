// SPDX-License-Identifier: Apache-2.0
package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

const groupLabel = "scheduler.tensorstack.dev/group-name"

// standing is what the log of writes says of a gang.
type standing struct {
	min     int
	queue   string
	holds   map[string]bool // its pods that are bound and neither failed nor gone
	whole   bool            // it once had its minimum
	since   time.Time       // it is partial, and never was whole
	longest time.Duration
}

// gangsOf follows the gangs of T9k's groups through the log: what they hold, for how long one was
// bound in part before it ever was whole, and what their queues allow.
type gangsOf struct {
	namespace string
	gangs     map[string]*standing
	group     map[string]string // of a pod
	takes     map[string]amounts
	limits    map[string]amounts // of queues
	faults    []quotaFault
}

// quotaFault is a queue that used more than it may, when a bind ended.
type quotaFault struct {
	queue, says string
	bound       time.Time
}

func (g *gangsOf) gang(name string) *standing {
	if g.gangs[name] == nil {
		g.gangs[name] = &standing{min: 1 << 30, holds: map[string]bool{}}
	}
	return g.gangs[name]
}

func (g *gangsOf) weigh(name string, now time.Time) {
	found := g.gangs[name]
	if found == nil {
		return
	}
	found.whole = found.whole || len(found.holds) >= found.min
	partial := !found.whole && len(found.holds) > 0
	if !found.since.IsZero() && !partial {
		found.longest = max(found.longest, now.Sub(found.since))
		found.since = time.Time{}
	} else if partial && found.since.IsZero() {
		found.since = now
	}
}

// meet takes note of a pod.
func (g *gangsOf) meet(pod any) {
	name := text(pod, "metadata", "name")
	g.group[name] = text(pod, "metadata", "labels", groupLabel)
	g.takes[name] = requestOf(pod)
}

func (g *gangsOf) take(each written) {
	if each.code < 200 || each.code >= 300 {
		return
	}
	kind, sub, _ := strings.Cut(each.resource, "/")
	if kind == "queues.scheduler.tensorstack.dev" && sub == "" && each.verb != "delete" {
		limits := amounts{}
		fields, _ := at(each.answer, "spec", "quota", "requests").(object)
		for name, value := range fields {
			limits[name] = milli(value)
		}
		g.limits[text(each.answer, "metadata", "name")] = limits
		return
	}
	if each.namespace != g.namespace {
		return
	}
	switch {
	case kind == "podgroups.scheduler.tensorstack.dev" && sub == "":
		if each.verb == "delete" {
			delete(g.gangs, each.name)
			return
		}
		min, _ := at(each.answer, "spec", "minMember").(float64)
		found := g.gang(text(each.answer, "metadata", "name"))
		found.min, found.queue = int(min), text(each.answer, "spec", "queue")
		g.weigh(text(each.answer, "metadata", "name"), each.ended)
	case each.resource == "pods" && each.verb == "create":
		g.meet(each.answer)
	// Of a write whose sender was killed the log may not say that it was carried out; the kubelet does.
	case each.resource == "pods/binding" && each.verb == "create",
		each.resource == "pods/status" && text(each.answer, "status", "phase") == "Running" && !g.gang(g.group[each.name]).holds[each.name]:
		if _, known := g.takes[each.name]; !known && each.resource == "pods/status" {
			g.meet(each.answer)
		}
		name := g.group[each.name]
		if name == "" {
			return
		}
		g.gang(name).holds[each.name] = true
		g.weigh(name, each.ended)
		g.quota(name, each)
	case each.resource == "pods" && strings.HasPrefix(each.verb, "delete"),
		each.resource == "pods/status" && text(each.answer, "status", "phase") == "Failed":
		if grace, _ := at(each.answer, "metadata", "deletionGracePeriodSeconds").(float64); each.resource == "pods" && grace != 0 {
			return
		}
		for _, found := range g.gangs {
			if each.name == "" {
				clear(found.holds)
			}
			if found.holds[each.name] {
				// It may have gone before the bind that stands before it in the log.
				g.faults = slices.DeleteFunc(g.faults, func(one quotaFault) bool { return one.queue == found.queue && !each.started.After(one.bound) })
			}
			delete(found.holds, each.name)
		}
		g.weigh(g.group[each.name], each.ended)
		if each.resource == "pods" {
			delete(g.group, each.name) // The answer to its bind may be on its way still.
		}
	}
}

// quota says when a bind brought a queue beyond what it allows.
func (g *gangsOf) quota(name string, bind written) {
	queue := g.gang(name).queue
	for resource, limit := range g.limits[queue] {
		used := int64(0)
		for _, found := range g.gangs {
			if found.queue != queue {
				continue
			}
			for pod := range found.holds {
				used += g.takes[pod][resource]
			}
		}
		if used > limit {
			g.faults = append(g.faults, quotaFault{queue, fmt.Sprintf("with %s, %s uses %d milli of %s and may use %d", bind.name, queue, used, resource, limit), bind.ended})
		}
	}
}

// follow gives the gangs of a namespace as a log has them.
func follow(all []written, namespace string) *gangsOf {
	made := &gangsOf{namespace: namespace, gangs: map[string]*standing{}, group: map[string]string{}, takes: map[string]amounts{}, limits: map[string]amounts{}}
	for _, each := range all {
		made.take(each)
	}
	return made
}

// partialFor gives for how long a gang was bound in part before it ever was whole, and which gangs
// still are.
func (g *gangsOf) partialFor() (longest time.Duration, still []string) {
	for name, found := range g.gangs {
		longest = max(longest, found.longest)
		if !found.since.IsZero() {
			still = append(still, fmt.Sprintf("%s holds %d of %d", name, len(found.holds), found.min))
		}
	}
	slices.Sort(still)
	return
}

// leading says which writes were started after the last renewal of the lease had run out: what is
// renewed lasts for two thirds of the lease, and a request may be a while on its way.
func leading(all []written, user, namespace string, deadline time.Duration) []string {
	faults := []string{}
	var renewed time.Time
	for _, each := range all {
		if each.user != user || each.started.IsZero() {
			continue
		}
		if strings.HasPrefix(each.resource, "leases.") {
			if each.code >= 200 && each.code < 300 {
				renewed = each.ended
			}
			continue
		}
		if late := each.started.Sub(renewed); each.namespace == namespace && late > deadline {
			faults = append(faults, fmt.Sprintf("%s %s %s was started %v after the lease was renewed", each.verb, each.resource, each.name, late))
		}
	}
	return faults
}

var statusAt = regexp.MustCompile(`status at (http://\S+)/metrics`)

// metric reads one of the metrics of the scheduler that runs; false when it does not say.
func (s *stage) metric(name string) (float64, bool) { return metricOf(s.log, name) }

func metricOf(path, name string) (float64, bool) {
	line := regexp.MustCompile(`(?m)^` + name + ` (\S+)$`).FindStringSubmatch(pageOf(path, "/metrics"))
	if line == nil {
		return 0, false
	}
	value, err := strconv.ParseFloat(line[1], 64)
	return value, err == nil
}

// pageOf returns a page of the scheduler with this log; empty if there is none.
func pageOf(log, path string) string {
	content, err := os.ReadFile(log)
	// Whoever starts over says it again.
	said := statusAt.FindAllSubmatch(content, -1)
	if err != nil || len(said) == 0 {
		return ""
	}
	caller := http.Client{Timeout: 5 * time.Second}
	answer, err := caller.Get(string(said[len(said)-1][1]) + path)
	if err != nil {
		return ""
	}
	defer answer.Body.Close()
	page, _ := io.ReadAll(answer.Body)
	return string(page)
}

// answers waits until the scheduler's own table has a group in a state: Running, Waiting, Never.
func (s *stage) answers(group, state string) error {
	page := ""
	if !eventually(10*time.Second, func() bool {
		page = pageOf(s.log, "/debug/explain?group="+s.namespace+"/"+group)
		return slices.ContainsFunc(strings.Split(page, "\n"), func(line string) bool {
			words := strings.Fields(line)
			return len(words) > 0 && words[0] == s.namespace+"/"+group && slices.Contains(words, state)
		})
	}) {
		return fmt.Errorf("group %s is not %s (expected it in the table of /debug/explain): %s", group, state, page)
	}
	return nil
}

// calm waits until the scheduler has written nothing for a while, and says so when it never is.
func (s *stage) calm() error {
	last := -1
	since := time.Now()
	var latest written
	if !eventually(12*time.Second, func() bool {
		found, err := s.ourWrites()
		if err != nil {
			return false
		}
		if len(found) != last {
			last, since = len(found), time.Now()
			if last > 0 {
				latest = found[last-1]
			}
		}
		return time.Since(since) > 1200*time.Millisecond
	}) {
		return fmt.Errorf("writes go on for 12 s, the last of them %s %s %s", latest.verb, latest.resource, latest.name)
	}
	return nil
}

// coherent says whether the scheduler follows just the pods that there are, and has proved no mistake.
func (s *stage) coherent() error {
	if wrong, known := s.metric("muster_cache_mismatch_total"); known && wrong != 0 {
		return unsafe(fmt.Sprintf("comparisons proved %v mistakes", wrong))
	}
	var follows float64
	there, known := 0, false
	if !eventually(10*time.Second, func() bool {
		code, list := s.on.admin.get("/api/v1/pods")
		there = len(items(list, "items"))
		follows, known = s.metric("muster_pods")
		return code == 200 && (s.silent || known && int(follows) == there)
	}) {
		if !known {
			return errors.New("the scheduler does not say how many pods it follows")
		}
		return fmt.Errorf("the scheduler follows %v pods of %d", follows, there)
	}
	return nil
}

// waitsSaid says which gangs wait without saying why: every group with pods that are not bound has a
// reason on it.
func (s *stage) waitsSaid() error {
	var silent []string
	if !eventually(10*time.Second, func() bool {
		silent = nil
		_, pods := s.on.admin.get(podsOf(s.namespace))
		waiting := map[string]bool{}
		for _, each := range items(pods, "items") {
			if text(each, "spec", "nodeName") == "" && text(each, "spec", "schedulerName") == schedulerName && text(each, "status", "phase") == "Pending" {
				waiting[text(each, "metadata", "labels", groupLabel)] = true
			}
		}
		_, list := s.on.admin.get(groups + s.namespace + "/podgroups")
		for _, each := range items(list, "items") {
			name, says := text(each, "metadata", "name"), false
			for _, one := range items(each, "status", "conditions") {
				says = says || (text(one, "type") == "GroupScheduled" && text(one, "reason") != "")
			}
			if waiting[name] && !says {
				silent = append(silent, name)
			}
		}
		return len(silent) == 0
	}) {
		return fmt.Errorf("%v wait, and do not say why", silent)
	}
	return nil
}
