// SPDX-License-Identifier: Apache-2.0
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// written is one write that a server carried out or refused, as its own log has it.
type written struct {
	verb, resource, namespace, name, user string
	code                                  int
	body, answer                          any
	started, ended                        time.Time
}

func timeOf(from any, name string) time.Time {
	made, _ := time.Parse(time.RFC3339Nano, text(from, name))
	return made
}

// writes reads the server's own log: the audit log of a real one, the journal of the embedded one.
func (s *server) writes() ([]written, error) {
	s.reading.Lock()
	defer s.reading.Unlock()
	made := s.log
	if s.name == "fake" {
		code, answer := s.admin.get(fmt.Sprintf("/muster/journal?since=%d", len(made)))
		if code != 200 {
			return nil, fmt.Errorf("journal: %d", code)
		}
		for _, each := range items(answer, "entries") {
			code, _ := at(each, "code").(float64)
			body := object{}
			json.Unmarshal([]byte(text(each, "body")), &body)
			made = append(made, written{text(each, "verb"), text(each, "resource"), text(each, "namespace"),
				text(each, "name"), text(each, "user"), int(code), body, at(each, "answered"),
				timeOf(each, "time"), timeOf(each, "time")})
		}
		s.log = made
		return made, nil
	}
	log, err := os.Open(filepath.Join(s.folder, "audit.log"))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	if _, err := log.Seek(s.read, io.SeekStart); err != nil {
		return nil, err
	}
	lines := bufio.NewReaderSize(log, 1<<20)
	for {
		line, err := lines.ReadBytes('\n')
		if err == io.EOF {
			s.log = made
			return made, nil // A line that is not whole yet is read next time.
		}
		if err != nil {
			return nil, err
		}
		s.read += int64(len(line))
		event := object{}
		if json.Unmarshal(line, &event) != nil || text(event, "stage") != "ResponseComplete" {
			continue
		}
		resource := text(event, "objectRef", "resource")
		if group := text(event, "objectRef", "apiGroup"); group != "" {
			resource += "." + group
		}
		if sub := text(event, "objectRef", "subresource"); sub != "" {
			resource += "/" + sub
		}
		code, _ := at(event, "responseStatus", "code").(float64)
		name := text(event, "objectRef", "name")
		if name == "" {
			name = text(event, "responseObject", "metadata", "name")
		}
		made = append(made, written{text(event, "verb"), resource, text(event, "objectRef", "namespace"), name,
			text(event, "user", "username"), int(code), at(event, "requestObject"), at(event, "responseObject"),
			timeOf(event, "requestReceivedTimestamp"), timeOf(event, "stageTimestamp")})
	}
}

// judge follows the writes of one namespace from the first to the last and gives what must never be:
// a node that holds more than it has, a pod bound twice, a foreign pod touched.
// Pods of the schedulers that are named are not foreign, nor are those of T9k's.
func judge(all []written, nodes map[string]amounts, namespace string, ours []string, schedulers ...string) []string {
	faults := []string{}
	type known struct {
		takes     amounts
		scheduler string
		node      string
		seen      bool // its kubelet said so first
		gone      bool // though the answer to its bind may be on its way still
	}
	pods := map[string]*known{}
	used := map[string]amounts{}
	// The log has its entries as their answers were sent: a pod that began to go before a bind ended may
	// have made room for it, though it stands behind it.
	type excess struct {
		node, resource, says string
		over                 int64
		bound                time.Time
	}
	beyond := []*excess{}
	leave := func(name string, began time.Time) {
		if pod := pods[name]; pod != nil && pod.node != "" {
			for resource, amount := range pod.takes {
				used[pod.node][resource] -= amount
				for _, each := range beyond {
					if each.node == pod.node && each.resource == resource && !began.After(each.bound) {
						each.over -= amount
					}
				}
			}
			pod.node = ""
		}
	}
	for _, each := range all {
		if each.namespace == namespace && each.code == 403 && slices.Contains(ours, each.user) {
			faults = append(faults, fmt.Sprintf("%s may not %s %s %s", each.user, each.verb, each.resource, each.name))
		}
		if each.namespace != namespace || each.code < 200 || each.code >= 300 {
			continue
		}
		kind, _, _ := strings.Cut(each.resource, "/")
		if kind != "pods" {
			continue
		}
		if pod := pods[each.name]; pod != nil && slices.Contains(ours, each.user) &&
			!strings.HasPrefix(pod.scheduler, "t9k-scheduler") && !slices.Contains(schedulers, pod.scheduler) && each.verb != "create" {
			faults = append(faults, fmt.Sprintf("%s touched %s of %s by %s %s", each.user, each.name, pod.scheduler, each.verb, each.resource))
		}
		if pod := pods[each.name]; pod != nil && pod.node == "" && each.resource == "pods/status" {
			pod.takes = requestOf(each.answer)
		}
		if pod := pods[each.name]; pod != nil && pod.node != "" && each.resource == "pods/status" {
			// Which resources a claim serves may stand in a write whose sender was killed: the log has it after the
			// bind, or only what the next writer of the status got for an answer.
			now := requestOf(each.answer)
			for resource, amount := range pod.takes {
				if _, takes := now[resource]; takes {
					continue
				}
				used[pod.node][resource] -= amount
				for _, each := range beyond {
					if each.node == pod.node && each.resource == resource {
						each.over -= amount
					}
				}
				delete(pod.takes, resource)
			}
		}
		switch {
		case each.resource == "pods" && each.verb == "create":
			name := text(each.answer, "metadata", "name")
			leave(name, each.started)
			pods[name] = &known{takes: requestOf(each.answer), scheduler: text(each.answer, "spec", "schedulerName")}
		case each.resource == "pods/binding" && each.verb == "create",
			each.resource == "pods/status" && pods[each.name] != nil && pods[each.name].node == "" && text(each.answer, "status", "phase") == "Running":
			pod, node := pods[each.name], text(each.body, "target", "name")
			if each.resource == "pods/status" { // The log does not say that the bind was carried out: its sender was killed.
				node = text(each.answer, "spec", "nodeName")
			}
			if pod == nil || pod.gone {
				continue
			}
			if pod.seen && pod.node == node && each.resource == "pods/binding" {
				pod.seen = false
				continue
			}
			pod.seen = each.resource == "pods/status"
			if pod.node != "" {
				faults = append(faults, each.name+" was bound twice")
			}
			pod.node = node
			if used[node] == nil {
				used[node] = amounts{}
			}
			for resource, amount := range pod.takes {
				used[node][resource] += amount
				if has := nodes[node][resource]; used[node][resource] > has {
					beyond = append(beyond, &excess{node, resource, fmt.Sprintf("%s holds %d milli of %s and has %d", node, used[node][resource], resource, has),
						used[node][resource] - has, each.ended})
				}
			}
		case each.verb == "delete" && each.resource == "pods":
			if grace, _ := at(each.answer, "metadata", "deletionGracePeriodSeconds").(float64); grace == 0 {
				leave(each.name, each.started)
				if pod := pods[each.name]; pod != nil {
					pod.gone = true
				}
			}
		case each.resource == "pods/status":
			if phase := text(each.answer, "status", "phase"); phase == "Succeeded" || phase == "Failed" {
				leave(each.name, each.started)
			}
		}
	}
	for _, each := range beyond {
		if each.over > 0 {
			faults = append(faults, each.says)
		}
	}
	return faults
}
