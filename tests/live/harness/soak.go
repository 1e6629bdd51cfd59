// SPDX-License-Identifier: Apache-2.0
package main

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"time"
)

// residentNow gives the MiB that a process has resident.
func residentNow(process int) float64 {
	content, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", process))
	found := regexp.MustCompile(`VmRSS:\s+(\d+) kB`).FindSubmatch(content)
	if found == nil {
		return 0
	}
	made, _ := strconv.ParseFloat(string(found[1]), 64)
	return made / 1024
}

// A soak is no shorter: its scheduler is killed once at least.
const shortestSoak = time.Minute

// comparedSoFar gives how often the scheduler that runs held what it knows against a fresh listing,
// and an error when that proved a mistake or when it does not say.
func (s *stage) comparedSoFar() (float64, error) {
	wrong, known := s.metric("muster_cache_mismatch_total")
	times, counted := s.metric("muster_cache_comparisons_total")
	if !known || !counted {
		return 0, fmt.Errorf("the scheduler does not say what its comparisons proved")
	}
	if wrong != 0 {
		return 0, unsafe(fmt.Sprintf("comparisons proved %v mistakes", wrong))
	}
	return times, nil
}

// soak lets gangs come and go for so long, on nodes that hold fewer than want to run, while the
// scheduler is killed every half minute. At the end all have run, none was bound in part for long,
// no node ever held too much, what was known never differed from what a fresh listing says, and the
// last process was as large as the first at the same age.
func soak(span time.Duration) scenario {
	cpus := map[string]int{}
	for at := range 20 {
		cpus[fmt.Sprintf("n%02d", at)] = 4
	}
	return scenario{name: "long/soak", tell: onStage(cpus, func(s *stage) error {
		// Within half a minute what is known is held against several fresh listings.
		s.options = []string{"--compare-every", "4"}
		if err := s.restarted(); err != nil {
			return err
		}
		sizes, compared := []float64{}, 0.0
		ended := time.Now().Add(span)
		killed, made := time.Now(), 0
		for time.Now().Before(ended) {
			name, size := fmt.Sprintf("g%05d", made), 2+made*7%11
			if err := s.group(name, size, ""); err != nil {
				return err
			}
			for at := range size {
				if err := s.on.admin.expect(201, "POST", podsOf(s.namespace), fmt.Sprintf(
					`{"metadata":{"name":"%s-%d","labels":{%q:%q},"annotations":{"muster.dev/run-seconds":"%d"}},"spec":{"schedulerName":%q,"nodeSelector":{"stage":%q},"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"1"}}}]}}`,
					name, at, groupLabel, name, 5+made%9, schedulerName, s.namespace)); err != nil {
					return err
				}
			}
			made++
			time.Sleep(time.Second)
			if made%10 == 0 {
				s.sweep()
			}
			if time.Since(killed) > 30*time.Second {
				found, err := s.comparedSoFar()
				if err != nil {
					return err
				}
				size := residentNow(s.program.Process.Pid)
				if found == 0 || size == 0 {
					return fmt.Errorf("in half a minute it compared %v times, and holds %v MiB", found, size)
				}
				compared += found
				sizes = append(sizes, size)
				killed = time.Now()
				if err := s.restarted(); err != nil {
					return err
				}
			}
		}
		if !eventually(3*time.Minute, func() bool {
			s.sweep()
			_, list := s.on.admin.get(podsOf(s.namespace))
			time.Sleep(time.Second)
			return list["items"] != nil && len(items(list, "items")) == 0
		}) {
			return fmt.Errorf("some of %d gangs never ran", made)
		}
		last, err := s.comparedSoFar()
		if err != nil {
			return err
		}
		compared += last
		if len(sizes) == 0 {
			return fmt.Errorf("within %v it was never killed", span)
		}
		s.note = func() string {
			return fmt.Sprintf("%d gangs, killed %d times, compared %.0f times, partial for %.2f s at most, %.1f MiB before the first kill and %.1f before the last",
				made, len(sizes), compared, s.partial.Seconds(), sizes[0], sizes[len(sizes)-1])
		}
		if len(sizes) > 2 && sizes[len(sizes)-1] > 1.2*sizes[1]+5 {
			return fmt.Errorf("it grows: %.1f MiB", sizes)
		}
		return nil
	})}
}

// sweep deletes the pods that have ended, as whoever made them would.
func (s *stage) sweep() {
	_, list := s.on.admin.get(podsOf(s.namespace))
	for _, each := range items(list, "items") {
		if text(each, "status", "phase") == "Succeeded" {
			s.kill(text(each, "metadata", "name"))
		}
	}
}
