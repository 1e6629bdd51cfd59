// SPDX-License-Identifier: Apache-2.0
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// verdict is what became of one scenario on one server.
type verdict struct {
	state string // passed, failed, skipped
	why   string
}

// report prints one line for each scenario and counts what became of them.
type report struct {
	lock  sync.Mutex
	count map[string]int
	spent time.Duration
}

func (r *report) line(name, on string, found verdict, took time.Duration) {
	r.lock.Lock()
	defer r.lock.Unlock()
	why := ""
	if found.why != "" {
		why = ": " + found.why
	}
	fmt.Printf("%-7s %-5s %-34s %6.1f s%s\n", found.state, on, name, took.Seconds(), why)
	r.count[found.state]++
	r.spent += took
}

// work is one scenario on one server, or on both.
type work struct {
	name string
	on   string // fake, real or both
	tell func(lane *lane) verdict
}

// lane is a pair of servers on which one scenario is told after the other; lanes run at once.
type lane struct {
	fake, real *server
	in         place
	folder     string
	fresh      int
}

// serve starts the lane's servers. `who` is fake, real or both.
func (l *lane) serve(who string) error {
	l.fresh++
	if who != "real" {
		made, err := startFake(l.in.muster, fmt.Sprintf("%s/fake-%d", l.folder, l.fresh), "--no-kubelets", "--no-provisioner")
		if err != nil {
			return fmt.Errorf("the fake server does not start: %w", err)
		}
		l.fake = made
	}
	if who != "fake" && l.in.binaries != "" {
		made, err := startReal(l.in.binaries, fmt.Sprintf("%s/real-%d", l.folder, l.fresh))
		if err != nil { // Somebody else took one of its ports meanwhile.
			made, err = startReal(l.in.binaries, fmt.Sprintf("%s/real-%d-again", l.folder, l.fresh))
		}
		if err != nil {
			return fmt.Errorf("the real server does not start: %w", err)
		}
		l.real = made
	}
	return nil
}

func (l *lane) stop(who string) {
	if l.fake != nil && who != "real" {
		l.fake.stop()
		l.fake = nil
	}
	if l.real != nil && who != "fake" {
		l.real.stop()
		l.real = nil
	}
}

// No scenario may take longer, whatever its own waits are.
var longestScenario = 4 * time.Minute

// unsafe is a fault that may never be, however slow the machine: it is not told a second time.
type unsafe string

func (u unsafe) Error() string { return string(u) }

// noted is what is worth to be known of a scenario that passed.
type noted string

func (n noted) Error() string { return string(n) }

// once tells a scenario, and starts the servers anew when it does not come to its end.
func (l *lane) once(each work) verdict {
	if (l.fake == nil && each.on != "real") || (l.real == nil && each.on != "fake" && l.in.binaries != "") {
		if err := l.serve(each.on); err != nil {
			return verdict{"failed", err.Error()}
		}
	}
	told := make(chan verdict, 1)
	on := *l
	go func() { told <- each.tell(&on) }()
	select {
	case found := <-told:
		return found
	case <-time.After(longestScenario):
		l.stop(each.on)
		return verdict{"failed", fmt.Sprintf("it does not end within %v", longestScenario)}
	}
}

// tellAll tells all of it on so many lanes, until the time is over. What fails is told once more on
// fresh servers (a wait can be too short on a busy machine), unless it is something that may never be.
func tellAll(all []work, in place, folder string, lanes int, longest time.Duration, whole bool) int {
	began := time.Now()
	// Whatever hangs, this ends.
	time.AfterFunc(longest+3*longestScenario, func() {
		fmt.Println("failed: scenarios do not come to their end")
		os.Exit(1)
	})
	told := report{count: map[string]int{}}
	waiting := make(chan work, len(all))
	for _, each := range all {
		waiting <- each
	}
	close(waiting)
	var running sync.WaitGroup
	for at := range min(lanes, len(all)) {
		running.Add(1)
		go func() {
			defer running.Done()
			l := &lane{in: in, folder: filepath.Join(folder, fmt.Sprintf("lane-%d", at))}
			defer l.stop("both")
			for each := range waiting {
				if time.Since(began) > longest {
					told.line(each.name, each.on, verdict{"failed", fmt.Sprintf("not told: the time of %v for all is over", longest)}, 0)
					continue
				}
				start := time.Now()
				found := l.once(each)
				if found.state == "failed" && !strings.HasPrefix(found.why, never) && time.Since(began) < longest {
					first := found.why
					l.stop(each.on)
					if found = l.once(each); found.state == "passed" {
						found.why = "told twice; at first: " + first
					}
				}
				told.line(each.name, each.on, found, time.Since(start))
			}
		}()
	}
	running.Wait()
	if whole && in.standIn == "" {
		told.line("25/every-right-is-used", "both", everyRight(), 0)
	}
	fmt.Printf("%d passed, %d failed, %d skipped; %.0f s on %d lanes, %.0f s of scenarios\n", told.count["passed"],
		told.count["failed"], told.count["skipped"], time.Since(began).Seconds(), lanes, told.spent.Seconds())
	return min(told.count["failed"], 1)
}

// everyRight says which rights of the roles nothing made use of.
func everyRight() verdict {
	// Of the controller's, scenarios come to every rule, by some of the kinds that it is about.
	unused := slices.Concat(allRights.unused("muster-scheduler"), allRights.idle(controllerUser))
	if len(unused) > 0 {
		return verdict{"failed", "no scenario needs " + strings.Join(unused, ", ")}
	}
	return verdict{"passed", ""}
}

// What may never be begins so.
const never = "never: "

func verdictOf(err error) verdict {
	switch found := err.(type) {
	case nil:
		return verdict{"passed", ""}
	case skipped:
		return verdict{"skipped", string(found)}
	case noted:
		return verdict{"passed", string(found)}
	case unsafe:
		return verdict{"failed", never + string(found)}
	}
	return verdict{"failed", err.Error()}
}
