// SPDX-License-Identifier: Apache-2.0
package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// What is measured: so many gangs of so many pods on so many nodes, ten pods to a node.
const (
	scaleNodes = 1000
	scaleSize  = 20
	// Pods in a second that are asked for where no kubelets take part.
	wantedAlone = 1000
)

// atOnce calls something for each number below the count, so many at a time, and gives what went wrong.
func atOnce(count, parallel int, each func(at int) error) error {
	numbers, wrong := make(chan int), make(chan error, count)
	var running sync.WaitGroup
	for range parallel {
		running.Add(1)
		go func() {
			defer running.Done()
			for at := range numbers {
				if err := each(at); err != nil {
					wrong <- err
				}
			}
		}()
	}
	for at := range count {
		numbers <- at
	}
	close(numbers)
	running.Wait()
	select {
	case err := <-wrong:
		return err
	default:
		return nil
	}
}

// contestant is somebody who binds the pods of gangs.
type contestant struct {
	name  string
	group func(name string) (path, body string)
	pod   string // what its pods say of their group, with %s for its name
	start func(m *meter) (*exec.Cmd, error)
	tells bool // it has metrics
}

// meter is a server of some nodes on which contestants are measured.
type meter struct {
	on    *server
	in    place
	nodes int
	stop  func()
}

func (m *meter) fill() error {
	return atOnce(m.nodes, 32, func(at int) error {
		return m.on.admin.expect(201, "POST", "/api/v1/nodes", fmt.Sprintf(
			`{"metadata":{"name":"node-%04d","labels":{"stage":"scale"}},"status":{"allocatable":{"cpu":"16","memory":"64Gi","pods":"110"},"conditions":[{"type":"Ready","status":"True"}]}}`, at))
	})
}

const scaleSpace = "scale"

// wish creates the groups and pods of a contestant.
func (m *meter) wish(who contestant, gangs int) error {
	if err := atOnce(gangs, 32, func(at int) error {
		path, body := who.group(fmt.Sprintf("g%03d", at))
		if path == "" {
			return nil
		}
		return m.on.admin.expect(201, "POST", path, body)
	}); err != nil {
		return err
	}
	return atOnce(gangs*scaleSize, 32, func(at int) error {
		group := fmt.Sprintf("g%03d", at/scaleSize)
		return m.on.admin.expect(201, "POST", podsOf(scaleSpace), fmt.Sprintf(
			`{"metadata":{"name":"%s-%02d"%s,"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"1","memory":"1Gi"}}}]}}`,
			group, at%scaleSize, strings.ReplaceAll(who.pod, "%s", group)))
	})
}

// clear deletes all pods and groups.
func (m *meter) clear(who contestant) error {
	if path, _ := who.group("any"); path != "" {
		m.on.admin.do("DELETE", path, "application/json", `{}`)
	}
	for range 20 {
		m.on.admin.do("DELETE", podsOf(scaleSpace), "application/json", `{"gracePeriodSeconds":0}`)
		if _, list := m.on.admin.get(podsOf(scaleSpace) + "?limit=1"); list["items"] != nil && len(items(list, "items")) == 0 {
			return nil
		}
	}
	return fmt.Errorf("pods do not go")
}

// seen is what a watch on the pods saw of a run.
type seen struct {
	lock                  sync.Mutex
	first, bound, running time.Time // the first bind, the last bind, the last that runs
	binds, runs           int
	was                   map[string]string // of a pod: bound or running
	made                  map[string]time.Time
	took                  []time.Duration // from the pod's being seen to its bind
}

func (m *meter) look(ctx context.Context) (*seen, error) {
	made := &seen{was: map[string]string{}, made: map[string]time.Time{}}
	code, list := m.on.admin.get(podsOf(scaleSpace) + "?limit=1")
	if code != 200 {
		return nil, fmt.Errorf("pods: %d", code)
	}
	version := text(list, "metadata", "resourceVersion")
	go func() {
		// A server ends the watches of those who are too slow for it.
		for ctx.Err() == nil {
			events := make(chan object, 1000)
			go func() {
				defer close(events)
				m.on.admin.watch(ctx, podsOf(scaleSpace)+"?watch=1&resourceVersion="+version, events)
			}()
			for event := range events {
				if text(event, "type") == "ERROR" {
					fmt.Println("FAILED: the watch of what is measured has a gap:", text(event, "object", "message"))
					return
				}
				version = text(event, "object", "metadata", "resourceVersion")
				made.take(event, time.Now())
			}
		}
	}()
	return made, nil
}

func (s *seen) take(event object, now time.Time) {
	s.lock.Lock()
	defer s.lock.Unlock()
	pod := event["object"]
	name, state := text(pod, "metadata", "name"), ""
	if text(event, "type") == "DELETED" {
		return
	}
	if text(event, "type") == "ADDED" {
		s.made[name] = now
	}
	if text(pod, "spec", "nodeName") != "" {
		state = "bound"
	}
	if text(pod, "status", "phase") == "Running" {
		state = "running"
	}
	if state != "" && s.was[name] == "" {
		if s.binds++; s.first.IsZero() {
			s.first = now
		}
		s.bound = now
		s.took = append(s.took, now.Sub(s.made[name]))
	}
	if state == "running" && s.was[name] != "running" {
		s.runs++
		s.running = now
	}
	if state != "" {
		s.was[name] = state
	}
}

func (s *seen) counts() (binds, runs int) {
	s.lock.Lock()
	defer s.lock.Unlock()
	return s.binds, s.runs
}

// figures are those of one run.
type figures struct {
	perSecond float64
	whole     time.Duration // from the start to the last
	before    time.Duration // from the start to the first bind
	memory    int           // MiB of the contestant, at most
	turns     float64       // of the time, what its turns took, in all
	decisions float64       // of the time, what its decisions took
}

// measure makes the contestant bind all pods that wait, and gives how many ran, or were bound, in a
// second between the first bind and the last.
func (m *meter) measure(who contestant, gangs int, kubelets bool) (made figures, err error) {
	if err = m.wish(who, gangs); err != nil {
		return
	}
	defer m.clear(who)
	if kubelets {
		at := startKubelets(m.on.admin)
		defer at.end()
		defer func() {
			if found := at.refusedSoFar(); len(found) > 0 && err == nil {
				err = fmt.Errorf("kubelets refused %d pods of %s", len(found), who.name)
			}
		}()
		time.Sleep(2 * time.Second)
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	found, err := m.look(ctx)
	if err != nil {
		return made, err
	}
	began := time.Now()
	program, err := who.start(m)
	if err != nil {
		return made, err
	}
	if m.stop != nil {
		defer m.stop()
	}
	pods := gangs * scaleSize
	done := eventually(400*time.Second, func() bool {
		binds, runs := found.counts()
		time.Sleep(30 * time.Millisecond)
		return binds == pods && (!kubelets || runs == pods)
	})
	found.lock.Lock()
	defer found.lock.Unlock()
	if !done {
		return made, fmt.Errorf("%s: %d of %d are bound and %d run", who.name, found.binds, pods, found.runs)
	}
	last := found.bound
	if kubelets {
		last = found.running
	}
	made.perSecond = float64(pods) / last.Sub(found.first).Seconds()
	made.whole, made.before = last.Sub(began), found.first.Sub(began)
	if program != nil {
		made.memory = peakMemory(program.Process.Pid)
	}
	if who.tells {
		for metric, into := range map[string]*float64{"muster_step_seconds_sum": &made.turns, "muster_decision_seconds_total": &made.decisions} {
			spent, known := metricOf(filepath.Join(m.on.folder, who.name+".log"), metric)
			if !known {
				return made, fmt.Errorf("%s does not tell %s", who.name, metric)
			}
			*into = spent / last.Sub(began).Seconds()
		}
	}
	return made, m.packed()
}

// packed says when a node holds more than it has.
func (m *meter) packed() error {
	_, list := m.on.admin.get(podsOf(scaleSpace))
	used := map[string]int64{}
	for _, each := range items(list, "items") {
		if held(each) {
			used[text(each, "spec", "nodeName")] += requestOf(each)["cpu"]
		}
	}
	for node, cpu := range used {
		if cpu > 16000 {
			return unsafe(fmt.Sprintf("%s holds %d milli cpu of 16000", node, cpu))
		}
	}
	return nil
}

// peakMemory gives the MiB that a process had resident at most.
func peakMemory(process int) int {
	content, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", process))
	found := regexp.MustCompile(`VmHWM:\s+(\d+) kB`).FindSubmatch(content)
	if found == nil {
		return 0
	}
	made, _ := strconv.Atoi(string(found[1]))
	return made / 1024
}

func (m *meter) startProgram(log, program string, arguments ...string) (*exec.Cmd, error) {
	into, err := os.Create(filepath.Join(m.on.folder, log))
	if err != nil {
		return nil, err
	}
	made := exec.Command(program, arguments...)
	made.Stdout, made.Stderr = into, into
	dieWithUs(made)
	if err := made.Start(); err != nil {
		return nil, err
	}
	m.stop = func() {
		made.Process.Kill()
		made.Wait()
		into.Close()
	}
	return made, nil
}

func t9kGroup(name string) (string, string) {
	return groups + scaleSpace + "/podgroups", fmt.Sprintf(
		`{"apiVersion":"scheduler.tensorstack.dev/v1beta1","kind":"PodGroup","metadata":{"name":%q},"spec":{"minMember":%d}}`, name, scaleSize)
}

const t9kPod = `,"labels":{"` + groupLabel + `":"%s"}},"spec":{"schedulerName":"` + schedulerName + `"`

var muster = contestant{name: "muster", group: t9kGroup, pod: t9kPod, tells: true, start: func(m *meter) (*exec.Cmd, error) {
	return m.startProgram("muster.log", m.in.muster, "schedule", "--kubeconfig", m.on.kubeconfig, "--scheduler-name", schedulerName, "--no-leader-elect", "--port", "0")
}}

// twin is a scheduler with Muster's client, watches and writes that knows its places beforehand.
var twin = contestant{name: "twin", group: t9kGroup, pod: t9kPod, start: func(m *meter) (*exec.Cmd, error) {
	return m.startProgram("twin.log", m.in.twin, m.on.kubeconfig)
}}

// bare binds and nothing else.
var bare = contestant{name: "bare bind loop", group: func(string) (string, string) { return "", "" }, pod: t9kPod, start: func(m *meter) (*exec.Cmd, error) {
	m.stop = func() {}
	_, list := m.on.admin.get(podsOf(scaleSpace))
	uids := map[string]string{}
	for _, each := range items(list, "items") {
		uids[text(each, "metadata", "name")] = text(each, "metadata", "uid")
	}
	go atOnce(len(uids), 32, func(at int) error {
		name := fmt.Sprintf("g%03d-%02d", at/scaleSize, at%scaleSize)
		m.on.admin.post(podsOf(scaleSpace)+"/"+name+"/binding", binding(name, uids[name], fmt.Sprintf("node-%04d", at%m.nodes)))
		return nil
	})
	return nil, nil
}}

// kubeScheduler is Kubernetes' own, with its native gangs.
var kubeScheduler = contestant{name: "kube-scheduler", group: func(name string) (string, string) {
	return "/apis/scheduling.k8s.io/v1alpha2/namespaces/" + scaleSpace + "/podgroups", fmt.Sprintf(
		`{"apiVersion":"scheduling.k8s.io/v1alpha2","kind":"PodGroup","metadata":{"name":%q},"spec":{"schedulingPolicy":{"gang":{"minCount":%d}}}}`, name, scaleSize)
}, pod: `},"spec":{"schedulingGroup":{"podGroupName":"%s"}`, start: func(m *meter) (*exec.Cmd, error) {
	config := filepath.Join(m.on.folder, "kube-scheduler.yaml")
	if err := write(config, "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nleaderElection: {leaderElect: false}\n"+
		"clientConnection: {kubeconfig: "+m.on.kubeconfig+", qps: 5000, burst: 10000}\n"); err != nil {
		return nil, err
	}
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	return m.startProgram("kube-scheduler.log", filepath.Join(m.in.binaries, "kube-scheduler"), "--config="+config,
		"--feature-gates=GenericWorkload=true,GangScheduling=true", "--cert-dir="+filepath.Join(m.on.folder, "ks"), fmt.Sprintf("--secure-port=%d", port))
}}

func median(of []float64) float64 {
	sorted := slices.Sorted(slices.Values(of))
	return sorted[len(sorted)/2]
}

func startMeter(in place, folder string, nodes int) (*meter, error) {
	on, err := startRealWith(in.binaries, folder, false)
	if err != nil {
		return nil, err
	}
	made := &meter{on: on, in: in, nodes: nodes}
	if err := on.prepare(in); err != nil {
		on.stop()
		return nil, err
	}
	on.admin.post("/api/v1/namespaces", `{"metadata":{"name":"`+scaleSpace+`"}}`)
	return made, made.fill()
}

// verdicts of the scale print the figure, its target, and whether it is met.
func figure(what string, found float64, unit string, target float64, atLeast bool) {
	says, sign := "", "at most"
	if atLeast {
		sign = "at least"
	}
	if target > 0 {
		says = fmt.Sprintf("  (target: %s %g %s)", sign, target, unit)
		if (found < target) == atLeast {
			says += "  MISSED"
		}
	}
	fmt.Printf("%-66s %10.2f %s%s\n", what, found, unit, says)
}

// scale measures gangs of 20 pods on 1,000 nodes, three times in pairs with the twin.
func scale(in place, folder string, compare bool, rounds, gangs int) int {
	m, err := startMeter(in, filepath.Join(folder, "scale"), scaleNodes)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer m.on.stop()
	load, _ := os.ReadFile("/proc/loadavg")
	fmt.Printf("%d nodes, %d gangs of %d; load at the start %s", scaleNodes, gangs, scaleSize, load)
	failed := 0
	run := func(who contestant, kubelets bool) figures {
		found, err := m.measure(who, gangs, kubelets)
		if err != nil {
			fmt.Println("FAILED:", err)
			failed = 1
		}
		fmt.Printf("  %-16s kubelets %-5v %8.0f pods/s, %6.1f s in all, first bind after %5.1f s", who.name, kubelets, found.perSecond, found.whole.Seconds(), found.before.Seconds())
		if found.memory > 0 {
			fmt.Printf(", %d MiB", found.memory)
		}
		fmt.Println()
		return found
	}
	var ratios, alone, ofLoops, turns, decisions, memory, rates, loops []float64
	for range rounds {
		other := run(twin, true)
		ours := run(muster, true)
		bound := run(muster, false)
		ratios = append(ratios, 100*ours.perSecond/max(other.perSecond, 1))
		alone, rates = append(alone, bound.perSecond), append(rates, ours.perSecond)
		for _, one := range []figures{ours, bound} {
			turns, decisions = append(turns, 100*one.turns), append(decisions, 100*one.decisions)
		}
		memory = append(memory, float64(ours.memory))
		loop := run(bare, false).perSecond
		loops, ofLoops = append(loops, loop), append(ofLoops, 100*bound.perSecond/max(loop, 1))
	}
	figure("with kubelets, first bind to last Running", median(rates), "pods/s", 0, true)
	figure("the same as a share of the twin's, median of the pairs", median(ratios), "%", 90, true)
	figure("without kubelets", median(alone), "pods/s", wantedAlone, true)
	figure("the bare bind loop", median(loops), "pods/s", 0, true)
	figure("without kubelets, as a share of that loop's, median of the pairs", median(ofLoops), "%", 0, true)
	if median(alone) < wantedAlone {
		fmt.Printf("  missed on a server that took %.0f to %.0f binds/s of that loop's, which binds 32 at a time and watches nothing\n", slices.Min(loops), slices.Max(loops))
	}
	figure("the decisions' share of the time, most of all runs", slices.Max(decisions), "%", 2, false)
	figure("the share of all of the scheduler's turns, its requests with them", median(turns), "%", 0, false)
	figure("memory at most", median(memory), "MiB", 0, false)
	if compare {
		theirs := run(kubeScheduler, false)
		figure("kube-scheduler with native gangs, without kubelets", theirs.perSecond, "pods/s", 0, true)
		figure("  and before its first bind", theirs.before.Seconds(), "s", 0, false)
	}
	for _, nodes := range []int{100, 1000} {
		if err := latency(in, filepath.Join(folder, fmt.Sprint("latency-", nodes)), nodes); err != nil {
			fmt.Println("FAILED:", err)
			failed = 1
		}
	}
	return failed
}

// latency measures how long a pod that comes alone waits for its bind, as a watch sees both.
func latency(in place, folder string, nodes int) error {
	m, err := startMeter(in, folder, nodes)
	if err != nil {
		return err
	}
	defer m.on.stop()
	if _, err := muster.start(m); err != nil {
		return err
	}
	defer m.stop()
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	found, err := m.look(ctx)
	if err != nil {
		return err
	}
	const pods = 300
	for at := range pods {
		if err := m.on.admin.expect(201, "POST", podsOf(scaleSpace), fmt.Sprintf(
			`{"metadata":{"name":"p-%03d"},"spec":{"schedulerName":%q,"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"1"}}}]}}`, at, schedulerName)); err != nil {
			return err
		}
		if !eventually(30*time.Second, func() bool { binds, _ := found.counts(); return binds > at }) {
			return fmt.Errorf("pod %d is not bound", at)
		}
	}
	found.lock.Lock()
	defer found.lock.Unlock()
	took := slices.Sorted(slices.Values(found.took))
	figure(fmt.Sprintf("from a pod's being seen to its bind's, %d nodes, p50", nodes), took[len(took)/2].Seconds()*1000, "ms", 0, false)
	figure(fmt.Sprintf("from a pod's being seen to its bind's, %d nodes, p99", nodes), took[len(took)*99/100].Seconds()*1000, "ms", 0, false)
	return nil
}
