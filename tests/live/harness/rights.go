// SPDX-License-Identifier: Apache-2.0
package main

import (
	"fmt"
	"slices"
	"strings"
	"sync"
)

// rights are what the roles of examples/deploy allow, and what the programs under test made use of
// in all scenarios together.
type rights struct {
	lock  sync.Mutex
	given map[string][]any           // the rules of a role
	used  map[string]map[string]bool // "verb group/resource" by user
}

var allRights = rights{given: map[string][]any{}, used: map[string]map[string]bool{}}

// rightOf gives what a request needs to be allowed: its verb, and its resource with the group.
func rightOf(verb, path string) string {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	group := ""
	switch {
	case parts[0] == "api" && len(parts) > 2:
		parts = parts[2:]
	case parts[0] == "apis" && len(parts) > 3:
		group, parts = parts[1], parts[3:]
	default:
		return ""
	}
	if parts[0] == "namespaces" && len(parts) > 2 {
		parts = parts[2:]
	}
	resource := parts[0]
	if len(parts) > 2 {
		resource += "/" + parts[2]
	}
	named := len(parts) > 1
	switch verb {
	case "GET":
		if verb = "list"; named {
			verb = "get"
		}
	default:
		verb = map[string]string{"WATCH": "watch", "POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}[verb]
	}
	return verb + " " + group + "/" + resource
}

func (r *rights) use(user, verb, path string) {
	right := rightOf(verb, path)
	r.lock.Lock()
	defer r.lock.Unlock()
	if r.used[user] == nil {
		r.used[user] = map[string]bool{}
	}
	r.used[user][right] = true
}

// learn reads the roles from a server that they were given to.
func (r *rights) learn(from *client) {
	const api = "/apis/rbac.authorization.k8s.io/v1/"
	r.lock.Lock()
	defer r.lock.Unlock()
	for _, user := range []string{"muster-scheduler", "muster-controller"} {
		if len(r.given[user]) > 0 {
			continue
		}
		for _, path := range []string{"clusterroles/" + user, "clusterroles/" + user + "-dialects", "clusterroles/" + user + "-gates", "clusterroles/" + user + "-grove", "clusterroles/" + user + "-devices", "clusterroles/" + user + "-kai-sharers", "clusterroles/" + user + "-kai-reservations",
			"namespaces/muster-system/roles/" + user} {
			if code, role := from.get(api + path); code == 200 {
				r.given[user] = append(r.given[user], items(role, "rules")...)
			}
		}
	}
}

// What no scenario comes to, and why it is needed: to read one object goes with reading all.
var sparedRights = map[string]bool{
	"patch /events": true, // an event that is said again is counted, minutes later
	// Server-side apply is a patch; the server asks for this right beside it if the object is new.
	"create /configmaps": true,
	// No path of its own: the server asks for it beside the status of a claim.
	"patch resource.k8s.io/resourceclaims/binding": true,
}

// idle gives the verbs of a role's rules that its program used on nothing that the rule is about.
func (r *rights) idle(user string) []string {
	r.lock.Lock()
	defer r.lock.Unlock()
	made := []string{}
	for _, rule := range r.given[user] {
		for _, verb := range items(rule, "verbs") {
			used := verb == "get" // To read one object goes with reading all.
			for _, group := range items(rule, "apiGroups") {
				for _, resource := range items(rule, "resources") {
					right := fmt.Sprintf("%v %v/%v", verb, group, resource)
					used = used || r.used[user][right] || sparedRights[right]
				}
			}
			if !used {
				made = append(made, fmt.Sprintf("%v %v", verb, items(rule, "resources")))
			}
		}
	}
	slices.Sort(made)
	return slices.Compact(made)
}

// unused gives what a role allows and its program never did.
func (r *rights) unused(user string) []string {
	r.lock.Lock()
	defer r.lock.Unlock()
	made := []string{}
	for _, rule := range r.given[user] {
		for _, group := range items(rule, "apiGroups") {
			for _, resource := range items(rule, "resources") {
				for _, verb := range items(rule, "verbs") {
					if right := fmt.Sprintf("%v %v/%v", verb, group, resource); !r.used[user][right] && verb != "get" && !sparedRights[right] {
						made = append(made, right)
					}
				}
			}
		}
	}
	slices.Sort(made)
	return slices.Compact(made)
}
