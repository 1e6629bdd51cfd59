// SPDX-License-Identifier: Apache-2.0
package main

import (
	"fmt"
	"net/http"
	"strings"
	"time"
)

// storageWrites matches the scheduler's writes that start a gang with volumes.
func storageWrites(r *http.Request) bool {
	return strings.Contains(r.URL.Path, "/persistentvolumeclaims/") || strings.Contains(r.URL.Path, "/persistentvolumes/") || strings.HasSuffix(r.URL.Path, "/binding")
}

// killedAtProvisioning kills the scheduler at one of the eight writes that start a gang of four whose
// claims wait for their first consumer: four selected nodes and four binds.
func killedAtProvisioning(which int, applied bool) func(on *server, in place, namespace string) error {
	return killedAtWrite(which, applied, map[string]int{"a": 1, "b": 1, "c": 1, "d": 1}, 4, 4, func(st *storing) error {
		return st.claims("g", 4, "made")
	})
}

// killedAtVolume kills the scheduler at one of the four writes that start a gang of two with existing
// volumes: two volumes reserved for their claims and two binds.
func killedAtVolume(which int, applied bool) func(on *server, in place, namespace string) error {
	return killedAtWrite(which, applied, map[string]int{"a": 1, "b": 1}, 2, 0, func(st *storing) error {
		return firstOf(st.volume("v0", "local", "a", nil), st.volume("v1", "local", "b", nil), st.claims("g", 2, "local"))
	})
}

// killedAtWrite kills the scheduler at one of its writes for a gang with claims, before the write
// reaches the server or (applied) after it, and expects that the next scheduler starts the gang with
// one volume per claim.
func killedAtWrite(which int, applied bool, cpus map[string]int, size, provisioned int, claims func(st *storing) error) func(on *server, in place, namespace string) error {
	return func(on *server, in place, namespace string) error {
		at := &flaw{skip: which - 1, times: 1, what: "stop", when: func(r *http.Request) bool { return r.Method != "GET" && storageWrites(r) }}
		if applied {
			at.what = "crash"
		}
		return stored(cpus, func(s *stage, st *storing) error {
			first, killed := s.program, make(chan bool, 1)
			at.do = func(string) {
				first.Process.Kill()
				killed <- true
			}
			if err := firstOf(st.class("made", delayed, nil), st.class("local", delayed, nil), claims(st), st.users("g", size)); err != nil {
				return err
			}
			select {
			case <-killed:
			case <-time.After(30 * time.Second):
				return fmt.Errorf("there was no write number %d", which)
			}
			first.Wait()
			// Leave time for the effects of the scheduler's last writes.
			if err := firstOf(s.wait(500*time.Millisecond), s.startScheduler(in), st.whole("g", size)); err != nil {
				return err
			}
			if made := st.made(); made != provisioned {
				return fmt.Errorf("%d volumes were made for %d claims", made, provisioned)
			}
			s.note = func() string { return fmt.Sprintf("partial for %.2f s", s.partial.Seconds()) }
			return s.partialAtMost(10 * time.Second)
		}, at)(on, in, namespace)
	}
}

// volumeCrashScenarios kill the scheduler at each write for a gang with claims, before and after the
// server applies the write.
func volumeCrashScenarios() []scenario {
	made := []scenario{}
	for _, applied := range []bool{false, true} {
		when := ""
		if applied {
			when = "-applied"
		}
		for which := 1; which <= 8; which++ {
			made = append(made, scenario{name: fmt.Sprintf("storage/killed-at-write-%d%s", which, when), manager: true, tell: killedAtProvisioning(which, applied)})
		}
		for which := 1; which <= 4; which++ {
			made = append(made, scenario{name: fmt.Sprintf("storage/killed-at-volume-write-%d%s", which, when), manager: true, tell: killedAtVolume(which, applied)})
		}
	}
	return made
}
