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
	twin := flag.String("twin", "", "with -scale: the program that binds without deciding")
	binaries := flag.String("binaries", "", "folder with etcd, kube-apiserver, kube-controller-manager, kubectl; empty: no real server")
	list := flag.Bool("list", false, "name the scenarios and end")
	scaled := flag.Bool("scale", false, "only measure: 500 gangs of 20 pods on 1,000 nodes, latency, memory")
	compared := flag.Bool("compare", false, "with -scale: kube-scheduler too")
	long := flag.Duration("long", 0, "only let gangs come and go for so long, and kill the scheduler every 30 s")
	rounds := flag.Int("rounds", 3, "with -scale: how many pairs of runs")
	gangs := flag.Int("gangs", 500, "with -scale: how many, of 20 pods")
	lanes := flag.Int("lanes", 4, "how many pairs of servers scenarios are told on at once")
	longest := flag.Duration("limit", 15*time.Minute, "what is not told by then has failed")
	keep := flag.String("folder", "", "where servers keep their files and logs")
	serve := flag.Bool("serve", false, "only start the real server, and keep it until interrupted")
	standIn := flag.String("stand-in", "", "schedule by the stand-in: `gangs` passes all scenarios, none fails half of them")
	flag.Parse()
	if *list {
		names := []string{"25/every-right-is-used"}
		for _, each := range truths {
			names = append(names, "truth/"+each.name)
		}
		for _, each := range slices.Concat(scenarios, liveScenarios()) {
			names = append(names, each.name)
		}
		slices.Sort(names)
		fmt.Println(strings.Join(names, "\n"))
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
	}
	end := func(code int) {
		if *keep == "" {
			os.RemoveAll(folder)
		}
		os.Exit(code)
	}
	if *serve {
		end(serveReal(*binaries, folder))
	}
	in := place{*source, *binaries, *muster, *twin, *standIn}
	if *scaled || *compared {
		end(scale(in, folder, *compared, *rounds, *gangs))
	}
	if *long != 0 && *long < shortestSoak {
		fmt.Fprintf(os.Stderr, "--long takes %v at least: the scheduler is killed every half minute\n", shortestSoak)
		end(2)
	}
	if *long != 0 {
		longestScenario = *long + 5*time.Minute
		both := []work{}
		for _, each := range []work{{name: "long/soak", on: "fake"}, {name: "long/soak", on: "real"}} {
			each.tell = func(l *lane) verdict {
				return soak(*long).on(map[string]*server{"fake": l.fake, "real": l.real}[each.on], "", in)
			}
			both = append(both, each)
		}
		end(tellAll(both, in, folder, 2, *long*3, false))
	}
	end(tellAll(works(in, wanted), in, folder, *lanes, *longest, flag.NArg() == 0))
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

// works gives all that is to be told, on each server that can show it.
func works(in place, wanted func(string) bool) []work {
	made := []work{}
	for _, each := range truths {
		if name := "truth/" + each.name; wanted(name) {
			made = append(made, work{name, "both", func(on *lane) verdict {
				if on.real == nil {
					return verdict{"skipped", "there is no real server to compare with"}
				}
				if each.manager && !on.real.manager {
					return verdict{"skipped", noManager}
				}
				return sameTruth(on, each)
			}})
		}
	}
	schedules := in.standIn != "" || hasCommand(in.muster, "schedule")
	lives := len(scenarios)
	for at, each := range slices.Concat(scenarios, liveScenarios()) {
		if !wanted(each.name) {
			continue
		}
		if at >= lives && !schedules {
			each.realOnly, each.fakeOnly = "this muster has no command schedule", "this muster has no command schedule"
		}
		made = append(made, work{each.name, "fake", func(on *lane) verdict { return each.on(on.fake, each.realOnly, in) }},
			work{each.name, "real", func(on *lane) verdict { return each.on(on.real, each.fakeOnly, in) }})
	}
	return made
}

const noManager = "there is no kube-controller-manager"

func sameTruth(on *lane, of truth) verdict {
	tell := func(on *server) []string {
		made := &transcript{on: on.admin, names: map[string]string{}}
		of.tell(made, namespaceFor(on, of.name))
		return made.lines
	}
	if differ := differences(tell(on.fake), tell(on.real)); differ != "" {
		return verdict{"failed", "the servers do not answer alike\n" + differ}
	}
	return verdict{"passed", ""}
}

// on tells the scenario on a server, unless something says why not.
func (s scenario) on(on *server, why string, in place) verdict {
	if on == nil || in.binaries == "" {
		why = "there is no real server, and no kubectl"
	} else if _, missing := os.Stat(filepath.Join(in.binaries, "kubectl")); missing != nil {
		why = "there is no kubectl"
	} else if why == "" && s.manager && !on.manager {
		why = noManager
	}
	if why != "" {
		return verdict{"skipped", why}
	}
	if err := on.prepare(in); err != nil {
		return verdict{"failed", err.Error()}
	}
	return verdictOf(s.tell(on, in, namespaceFor(on, strings.ReplaceAll(s.name, "/", "-"))))
}
