// SPDX-License-Identifier: Apache-2.0
package main

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// inPod makes of a command one that finds a folder where pods have that of their service account,
// in a view of the file system that nobody else has.
func inPod(folder string, arguments ...string) *exec.Cmd {
	made := exec.Command("/bin/sh", append([]string{"-c", `set -e
run=$(readlink -f /var/run)
mount -t tmpfs muster-live "$run"
mkdir -p /var/run/secrets/kubernetes.io/serviceaccount
mount --bind "$0" /var/run/secrets/kubernetes.io/serviceaccount
exec "$@"`, folder}, arguments...)...)
	dieWithUs(made)
	made.SysProcAttr.Cloneflags = syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS
	made.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}
	made.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}
	return made
}

// mounted is what a kubelet mounts into pods: a token and the authority, replaced both at once.
type mounted struct {
	folder string
	times  int
}

func (m *mounted) holds(token string, authority []byte) error {
	m.times++
	version := fmt.Sprintf("..%d", m.times)
	next := filepath.Join(m.folder, version)
	made := firstOf(os.MkdirAll(next, 0o700), write(filepath.Join(next, "token"), token), write(filepath.Join(next, "ca.crt"), string(authority)),
		write(filepath.Join(next, "namespace"), "muster-system"), os.Symlink(version, filepath.Join(m.folder, "..next")),
		os.Rename(filepath.Join(m.folder, "..next"), filepath.Join(m.folder, "..data")))
	for _, name := range []string{"token", "ca.crt", "namespace"} {
		if m.times == 1 {
			made = firstOf(made, os.Symlink(filepath.Join("..data", name), filepath.Join(m.folder, name)))
		}
	}
	return made
}

// ownTokens gives two tokens of the scheduler, as its server makes them.
func (s *stage) ownTokens() ([]string, error) {
	if s.on.name == "fake" {
		return []string{"muster-scheduler", "muster-scheduler-next"}, nil
	}
	made := []string{}
	for range 2 {
		code, answer := s.on.admin.post("/api/v1/namespaces/muster-system/serviceaccounts/muster-scheduler/token",
			`{"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest","spec":{"expirationSeconds":600}}`)
		if code != 201 {
			return nil, fmt.Errorf("TokenRequest: %d %s", code, text(answer, "message"))
		}
		made = append(made, text(answer, "status", "token"))
	}
	if made[0] == made[1] {
		return nil, fmt.Errorf("the server made the same token twice")
	}
	return made, nil
}

// asPod tells that the scheduler does its work with nothing but what pods are given, while its token
// is replaced.
func asPod(s *stage) error {
	files := &mounted{folder: filepath.Join(s.on.folder, "pod-"+s.namespace)}
	tokens, err := s.ownTokens()
	if err != nil {
		return err
	}
	if err := firstOf(os.RemoveAll(files.folder), files.holds(tokens[0], s.on.trust.text), s.silenced()); err != nil {
		return err
	}
	if out, err := inPod(files.folder, "test", "-s", "/var/run/secrets/kubernetes.io/serviceaccount/token").CombinedOutput(); err != nil {
		return skipped(fmt.Sprintf("no mounts of one's own are permitted here (%v %s)", err, strings.TrimSpace(string(out))))
	}
	s.on.admin.do("DELETE", "/apis/coordination.k8s.io/v1/namespaces/muster-system/leases/muster-scheduler", "", "")
	at, err := url.Parse(s.proxy.url)
	if err != nil {
		return err
	}
	program := inPod(files.folder, s.in.muster, "schedule", "--scheduler-name", schedulerName, "--lease-duration", "2", "--port", "0")
	program.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=/nowhere", "KUBERNETES_SERVICE_HOST=" + at.Hostname(), "KUBERNETES_SERVICE_PORT=" + at.Port()}
	if err := s.begin(program); err != nil {
		return err
	}
	if err := firstOf(s.group("g", 4, ""), s.members("g", 4, "1"), s.says("g", "False"), s.waits("g", time.Second), s.addNode("b", 2), s.runs("g", 4), s.says("g", "True")); err != nil {
		return err
	}
	old := &flaw{what: "refuse", code: 401, when: func(r *http.Request) bool { return r.Header.Get("Authorization") == "Bearer "+tokens[0] }}
	s.befall(old)
	s.proxy.drop()
	return firstOf(s.wait(2*time.Second), files.holds(tokens[1], s.on.trust.text), s.group("h", 2, ""), s.members("h", 2, "1"),
		s.waits("h", time.Second), s.addNode("c", 2), s.runsWithin("h", 2, 90*time.Second), s.says("h", "True"), s.met(old))
}

func podScenarios() []scenario {
	return []scenario{{name: "20/in-cluster", tell: ofMuster("the stand-in reads a kubeconfig", onStage(map[string]int{"a": 2}, asPod))}}
}
