// SPDX-License-Identifier: Apache-2.0

// The live tests: the same scenarios against the embedded API server and against a real one.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// verdict is what became of one scenario on one server.
type verdict struct {
	state string // passed, failed, skipped
	why   string
}

// report prints one line for each scenario and counts what failed.
type report struct{ failed int }

func (r *report) line(name, on string, found verdict, took time.Duration) {
	why := ""
	if found.why != "" {
		why = ": " + found.why
	}
	fmt.Printf("%-7s %-5s %-24s %6.1f s%s\n", found.state, on, name, took.Seconds(), why)
	if found.state == "failed" {
		r.failed++
	}
}

func differences(fake, real []string) string {
	made := []string{}
	for at := 0; at < max(len(fake), len(real)); at++ {
		one, other := "nothing", "nothing"
		if at < len(fake) {
			one = fake[at]
		}
		if at < len(real) {
			other = real[at]
		}
		if one != other {
			made = append(made, "  fake "+one+"\n  real "+other)
		}
	}
	return strings.Join(made, "\n")
}

func namespaceFor(on *server, name string) string {
	made := "t-" + name
	on.admin.post("/api/v1/namespaces", `{"metadata":{"name":"`+made+`"}}`)
	return made
}

func main() {
	// schedule --kubeconfig FILE ...: as the program under test is called.
	if len(os.Args) > 3 && os.Args[1] == "schedule" {
		os.Exit(runStandIn(os.Args[3], os.Getenv("STAND_IN") == "gangs"))
	}
	source := flag.String("source", ".", "the tree")
	muster := flag.String("muster", "", "the program under test")
	binaries := flag.String("binaries", "", "folder with etcd, kube-apiserver, kube-controller-manager, kubectl; empty: no real server")
	list := flag.Bool("list", false, "name the scenarios and end")
	keep := flag.String("folder", "", "where servers keep their files and logs")
	serve := flag.Bool("serve", false, "only start the real server, and keep it until interrupted")
	standIn := flag.String("stand-in", "", "schedule by the stand-in: `gangs` passes all scenarios, none fails half of them")
	flag.Parse()
	if *list {
		for _, each := range truths {
			fmt.Println("truth/" + each.name)
		}
		for _, each := range slices.Concat(scenarios, liveScenarios()) {
			fmt.Println(each.name)
		}
		return
	}
	wanted := func(name string) bool {
		return flag.NArg() == 0 || slices.ContainsFunc(flag.Args(), func(each string) bool {
			return each == name || strings.HasPrefix(name, each+"/")
		})
	}
	folder := *keep
	if folder == "" {
		made, err := os.MkdirTemp("", "muster-live-")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		folder = made
		defer os.RemoveAll(made)
	}
	if *serve {
		os.Exit(serveReal(*binaries, folder))
	}
	os.Exit(run(place{*source, *binaries, *muster, *standIn}, folder, wanted))
}

// serveReal lets somebody look around in a real server.
func serveReal(binaries, folder string) int {
	real, err := startReal(binaries, filepath.Join(folder, "real"))
	if err != nil {
		fmt.Fprintln(os.Stderr, "the real server does not start:", err)
		return 1
	}
	defer real.stop()
	fmt.Printf("  export KUBECONFIG=%s\n  %s get --raw /readyz\n", real.kubeconfig, filepath.Join(binaries, "kubectl"))
	told := make(chan os.Signal, 1)
	signal.Notify(told, os.Interrupt, syscall.SIGTERM)
	<-told
	return 0
}

func run(in place, folder string, wanted func(string) bool) int {
	fake, err := startFake(in.muster, filepath.Join(folder, "fake"), "--no-kubelets")
	if err != nil {
		fmt.Fprintln(os.Stderr, "the fake server does not start:", err)
		return 1
	}
	defer fake.stop()
	var real *server
	if in.binaries != "" {
		began := time.Now()
		if real, err = startReal(in.binaries, filepath.Join(folder, "real")); err != nil {
			fmt.Fprintln(os.Stderr, "the real server does not start:", err)
			return 1
		}
		defer real.stop()
		fmt.Printf("the real server is ready after %.1f s\n", time.Since(began).Seconds())
	}
	var told report
	for _, each := range truths {
		name := "truth/" + each.name
		if !wanted(name) {
			continue
		}
		began := time.Now()
		tell := func(on *server) []string {
			made := &transcript{on: on.admin, names: map[string]string{}}
			each.tell(made, namespaceFor(on, each.name))
			return made.lines
		}
		if real == nil {
			told.line(name, "both", verdict{"skipped", "there is no real server to compare with"}, 0)
			continue
		}
		found := verdict{"passed", ""}
		if differ := differences(tell(fake), tell(real)); differ != "" {
			found = verdict{"failed", "the servers do not answer alike\n" + differ}
		}
		told.line(name, "both", found, time.Since(began))
	}
	for _, each := range scenarios {
		if wanted(each.name) {
			tell(&told, each, fake, real, in)
		}
	}
	schedules := in.standIn != "" || hasCommand(in.muster, "schedule")
	for _, each := range liveScenarios() {
		if !wanted(each.name) {
			continue
		}
		if !schedules {
			each.realOnly, each.fakeOnly = "this muster has no command schedule", "this muster has no command schedule"
		}
		tell(&told, each, fake, real, in)
	}
	if told.failed > 0 {
		return 1
	}
	return 0
}

// tell runs a scenario on each server that can show it.
func tell(told *report, each scenario, fake, real *server, in place) {
	for _, on := range []*server{fake, real} {
		name, why := "fake", each.realOnly
		if on == real {
			name, why = "real", each.fakeOnly
		}
		if real == nil && (on == nil || in.binaries == "") {
			why = "there is no real server, and no kubectl"
		}
		if why != "" {
			told.line(each.name, name, verdict{"skipped", why}, 0)
			continue
		}
		began := time.Now()
		found := verdict{"passed", ""}
		if err := each.tell(on, in, namespaceFor(on, strings.ReplaceAll(each.name, "/", "-"))); err != nil {
			found = verdict{"failed", err.Error()}
			if why, ok := err.(skipped); ok {
				found = verdict{"skipped", string(why)}
			}
		}
		told.line(each.name, name, found, time.Since(began))
	}
}
