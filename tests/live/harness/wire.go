// SPDX-License-Identifier: Apache-2.0
package main

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"
)

// gang makes a gang of so many and waits until it runs.
func (s *stage) gang(name string, count int) error {
	return firstOf(s.group(name, count, ""), s.members(name, count, "1"), s.runs(name, count))
}

// leases has the scheduler started again with a lease of so many seconds.
func (s *stage) leases(seconds int) error {
	s.lease = seconds
	s.program.Process.Kill()
	s.program.Wait()
	s.on.admin.do("DELETE", "/apis/coordination.k8s.io/v1/namespaces/muster-system/leases/muster-scheduler", "", "")
	return s.startScheduler(s.in)
}

// counts what passes, and does nothing to it.
func counted(verb, suffix string) *flaw { return &flaw{verb: verb, suffix: suffix, what: "count"} }

var (
	specOpens   = regexp.MustCompile(`"spec":\{(.)`)
	statusOpens = regexp.MustCompile(`"status":\{(.)`)
)

// withStrangers adds an unknown field to each object that the expression opens.
func withStrangers(opens *regexp.Regexp, line string) string {
	return opens.ReplaceAllStringFunc(line, func(found string) string {
		name := found[:strings.Index(found, "{")+1]
		made := name + `"fieldOfTheFuture":{"x":[1,null,{"y":"z"}]}`
		if next := found[len(found)-1:]; next != "}" {
			return made + "," + next
		}
		return made + "}"
	})
}

// strange adds unknown fields to all objects of an answer, except the spec of pods, where an unknown
// field makes the pod wait.
func strange(line string) string {
	if strings.Contains(line, `"kind":"Pod"`) || strings.Contains(line, `"kind":"PodList"`) {
		return withStrangers(statusOpens, line)
	}
	return withStrangers(specOpens, line)
}

func strangeSpecs(line string) string { return withStrangers(specOpens, line) }

func wireScenarios() []scenario {
	made := []scenario{}
	add := func(name string, tell func(on *server, in place, namespace string) error) {
		made = append(made, scenario{name: name, tell: ofMuster("the stand-in watches nothing, and trusts whom it is told to", tell)})
	}
	add("16/bookmarks-alone", onStage(map[string]int{"a": 4}, func(s *stage) error {
		if err := s.gang("g", 2); err != nil {
			return err
		}
		// A watch on which nothing but bookmarks comes is no reason to list again.
		lists := counted("GET", "/podgroups")
		s.befall(lists)
		if err := s.wait(70 * time.Second); err != nil {
			return err
		}
		if found := s.proxy.used(lists); found > 1 {
			return fmt.Errorf("%d lists in 70 s in which nothing happened", found)
		}
		return s.gang("h", 2)
	}))
	add("16/ends-for-ever", onStage(map[string]int{"a": 4}, func(s *stage) error {
		ends := &flaw{verb: "WATCH", suffix: "/pods", what: "end"}
		s.befall(ends)
		s.proxy.drop()
		if err := s.wait(8 * time.Second); err != nil {
			return err
		}
		if found := s.proxy.used(ends); found < 2 || found > 60 {
			return fmt.Errorf("%d watches were begun in 8 s (expected 2 to 60)", found)
		}
		s.befall()
		return s.gang("g", 4)
	}))
	add("16/large-object", onStage(map[string]int{"a": 4}, func(s *stage) error {
		value := strings.Repeat("x", 1_400_000)
		return firstOf(s.on.admin.expect(201, "POST", podsOf(s.namespace), fmt.Sprintf(
			`{"metadata":{"name":"large"},"spec":{"schedulerName":%q,"nodeSelector":{"stage":%q},"containers":[{"name":"c","image":"i","env":[{"name":"X","value":%q}]}]}}`,
			schedulerName, s.namespace, value)), s.runs("large", 1), s.gang("g", 2), s.restarted(), s.gang("h", 2))
	}))
	add("16/unknown-fields", onStage(map[string]int{"a": 4}, func(s *stage) error {
		s.befall(&flaw{verb: "WATCH", what: "rewrite", change: strange}, &flaw{verb: "GET", suffix: "s", what: "rewrite", change: strange})
		s.proxy.drop()
		return firstOf(s.gang("g", 2), s.restarted(), s.gang("h", 2))
	}))
	add("16/unknown-pod-fields", onStage(map[string]int{"a": 4}, func(s *stage) error {
		s.befall(&flaw{verb: "WATCH", suffix: "/pods", what: "rewrite", change: strangeSpecs}, &flaw{verb: "GET", suffix: "/pods", what: "rewrite", change: strangeSpecs})
		s.proxy.drop()
		if err := firstOf(s.group("g", 2, ""), s.members("g", 2, "1"),
			s.becomes(podsOf(s.namespace)+"/g-0", "says which field may bear on its place", func(found object) bool {
				return strings.Contains(fmt.Sprint(at(found, "status", "conditions")), "spec.fieldOfTheFuture")
			}), s.waits("g", time.Second)); err != nil {
			return err
		}
		s.befall()
		s.proxy.drop()
		return firstOf(s.restarted(), s.runs("g", 2))
	}))
	add("16/unknown-event", onStage(map[string]int{"a": 4}, func(s *stage) error {
		odd := &flaw{verb: "WATCH", suffix: "/pods", times: 2, what: "rewrite", change: func(line string) string {
			return `{"type":"RENAMED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"x","namespace":"x","resourceVersion":"1"}}}` + "\n" + line
		}}
		s.befall(odd)
		s.proxy.drop()
		return firstOf(s.gang("g", 2), s.met(odd))
	}))
	add("16/malformed-quantities", onStage(map[string]int{"a": 4}, func(s *stage) error {
		odd := func(line string) string { return strings.ReplaceAll(line, `"cpu":"3"`, `"cpu":"3kk"`) }
		s.befall(&flaw{verb: "WATCH", suffix: "/pods", what: "rewrite", change: odd}, &flaw{verb: "GET", suffix: "/pods", what: "rewrite", change: odd})
		s.proxy.drop()
		if err := firstOf(s.member("odd", "", "3", schedulerName), s.gang("g", 2),
			s.becomes(podsOf(s.namespace)+"/odd", "says what cannot be read of it", func(found object) bool {
				return strings.Contains(fmt.Sprint(at(found, "status", "conditions")), "3kk")
			}), s.waits("odd", time.Second), s.restarted(), s.gang("h", 2), s.waits("odd", time.Second)); err != nil {
			return err
		}
		// Its request can be read, and fits when others have left.
		s.befall()
		s.proxy.drop()
		return firstOf(s.on.admin.expect(200, "DELETE", podsOf(s.namespace)+"/g-0", ""), s.on.admin.expect(200, "DELETE", podsOf(s.namespace)+"/g-1", ""),
			s.on.admin.expect(200, "DELETE", podsOf(s.namespace)+"/h-0", ""), s.on.admin.expect(200, "DELETE", podsOf(s.namespace)+"/h-1", ""), s.restarted(), s.runs("odd", 1))
	}))
	made = append(made, scenario{name: "16/object-nested-too-deep", realOnly: "the embedded server takes no such object", tell: ofMuster("the stand-in trusts whom it is told to", onStage(map[string]int{"a": 4}, func(s *stage) error {
		// Any tenant can make one: it keeps no other gang from starting, neither in a watch nor in a list.
		deep := strings.Repeat(`{"x":`, 100) + "1" + strings.Repeat("}", 100)
		if err := firstOf(s.group("deep", 1, `,"topologyPolicy":`+deep), s.members("deep", 1, "1"), s.gang("g", 2), s.waits("deep", time.Second),
			s.restarted(), s.gang("h", 1), s.waits("deep", time.Second)); err != nil {
			return err
		}
		return firstOf(s.change(groups+s.namespace+"/podgroups/deep", `{"spec":{"topologyPolicy":null}}`), s.runs("deep", 1))
	}))})
	add("17/storm-of-429", onStage(map[string]int{"a": 4}, func(s *stage) error {
		storm := &flaw{verb: "POST", suffix: "/binding", times: 12, what: "refuse", code: 429, after: "1"}
		s.befall(storm)
		began := time.Now()
		if err := firstOf(s.gang("g", 4), s.met(storm)); err != nil {
			return err
		}
		// Twelve refusals of four pods, a second apart as they ask for.
		if took := time.Since(began); took < 2*time.Second {
			return fmt.Errorf("12 binds were refused for a second, and all were done after %v", took)
		}
		return nil
	}))
	add("17/storm-of-429-for-all", onStage(map[string]int{"a": 4}, func(s *stage) error {
		storm := &flaw{what: "refuse", code: 429, after: "1", when: func(r *http.Request) bool { return !strings.Contains(r.URL.Path, "/leases") }}
		s.befall(storm)
		if err := firstOf(s.group("g", 4, ""), s.members("g", 4, "1"), s.wait(6*time.Second)); err != nil {
			return err
		}
		if found := s.proxy.used(storm); found > 150 {
			return fmt.Errorf("%d requests in 6 s, though each was to wait a second", found)
		}
		s.befall()
		return s.runs("g", 4)
	}))
	add("18/server-away-for-a-minute", onStage(map[string]int{"a": 4, "b": 4}, func(s *stage) error {
		if err := s.gang("g", 2); err != nil {
			return err
		}
		s.befall(&flaw{what: "reset"})
		s.proxy.drop()
		// What it knows becomes wrong meanwhile.
		if err := firstOf(s.on.admin.expect(200, "DELETE", s.nodePath("a"), ""), s.change(s.nodePath("b"), `{"spec":{"unschedulable":true}}`),
			s.group("h", 4, ""), s.members("h", 4, "1"), s.waits("h", 60*time.Second), s.addNode("c", 4)); err != nil {
			return err
		}
		s.befall()
		return s.runs("h", 4)
	}))
	add("18/server-frozen", onStage(map[string]int{"a": 8}, func(s *stage) error {
		if err := firstOf(s.gang("g", 2), s.group("h", 4, ""), s.members("h", 3, "1")); err != nil {
			return err
		}
		s.frozen = true
		s.on.process.Process.Signal(syscall.SIGSTOP)
		time.Sleep(10 * time.Second)
		s.on.process.Process.Signal(syscall.SIGCONT)
		return firstOf(s.member("h-3", "h", "1", schedulerName), s.runs("h", 4))
	}))
	add("19/two-instances-one-writer", onStage(map[string]int{"a": 8}, func(s *stage) error {
		// Long enough that nobody is late to renew it on a busy machine.
		if err := firstOf(s.leases(15), s.gang("g", 2)); err != nil {
			return err
		}
		other, err := startProxy(s.on, s.on.trust)
		if err != nil {
			return err
		}
		s.ended = append(s.ended, func() { other.server.Close() })
		writes := []*flaw{{verb: "POST", suffix: "", what: "count"}, {verb: "PATCH", what: "count"}}
		other.plan(writes...)
		first := s.proxy
		s.proxy = other
		if err := s.startScheduler(s.in); err != nil {
			return err
		}
		s.proxy = first
		if err := firstOf(s.gang("h", 4), s.wait(2*time.Second)); err != nil {
			return err
		}
		if found := other.befallen(); found != 0 {
			return unsafe(fmt.Sprintf("%d writes of one who does not lead", found))
		}
		return nil
	}))
	add("19/told-to-stop", onStage(map[string]int{"a": 2, "b": 2}, func(s *stage) error {
		// What is under way ends, and the lease is given up: nobody needs to wait for its end.
		if err := s.leases(30); err != nil {
			return err
		}
		program, ended := s.program, make(chan error, 1)
		planned := s.atBind(2, "before", func(string) { program.Process.Signal(syscall.SIGTERM) })
		if err := firstOf(s.group("g", 4, ""), s.members("g", 4, "1")); err != nil {
			return err
		}
		go func() { ended <- program.Wait() }()
		select {
		case err := <-ended:
			if err != nil {
				return fmt.Errorf("it ends with %v", err)
			}
		case <-time.After(20 * time.Second):
			return fmt.Errorf("it does not end within 20 s")
		}
		_, lease := s.on.admin.get("/apis/coordination.k8s.io/v1/namespaces/muster-system/leases/muster-scheduler")
		if holder := text(lease, "spec", "holderIdentity"); holder != "" {
			return fmt.Errorf("%s holds the lease after its end", holder)
		}
		return firstOf(s.met(planned), s.startScheduler(s.in), s.runsWithin("g", 4, 15*time.Second))
	}))
	add("19/stopped-for-long", onStage(map[string]int{"a": 8}, func(s *stage) error {
		if err := firstOf(s.leases(6), s.gang("g", 2)); err != nil {
			return err
		}
		leader, first := s.program, s.proxy
		other, err := startProxy(s.on, s.on.trust)
		if err != nil {
			return err
		}
		s.ended = append(s.ended, func() { other.server.Close() })
		s.proxy = other
		if err := firstOf(s.startScheduler(s.in), s.wait(time.Second)); err != nil {
			return err
		}
		leader.Process.Signal(syscall.SIGSTOP)
		if err := firstOf(s.wait(20*time.Second), s.gang("h", 2)); err != nil {
			return err
		}
		writes := []*flaw{{verb: "POST", what: "count"}, {verb: "PATCH", what: "count"}}
		first.plan(writes...)
		leader.Process.Signal(syscall.SIGCONT)
		if err := firstOf(s.gang("i", 4), s.wait(3*time.Second)); err != nil {
			return err
		}
		if found := first.befallen(); found != 0 {
			return unsafe(fmt.Sprintf("%d writes of one who led before it was stopped", found))
		}
		return nil
	}))
	add("20/401-once", onStage(map[string]int{"a": 4}, func(s *stage) error {
		once := &flaw{times: 2, what: "refuse", code: 401}
		s.befall(once)
		s.proxy.drop()
		return firstOf(s.gang("g", 4), s.met(once))
	}))
	add("20/401-for-a-while", onStage(map[string]int{"a": 4}, func(s *stage) error {
		refused := &flaw{what: "refuse", code: 401}
		s.befall(refused)
		s.proxy.drop()
		if err := firstOf(s.group("g", 4, ""), s.members("g", 4, "1"), s.waits("g", 6*time.Second)); err != nil {
			return err
		}
		if found := s.proxy.used(refused); found < 2 || found > 150 {
			return fmt.Errorf("%d requests in 6 s, though none was taken (expected 2 to 150)", found)
		}
		if said, err := os.ReadFile(s.log); err != nil || !strings.Contains(string(said), "401") {
			return fmt.Errorf("it does not say that it is turned away: %q", said)
		}
		s.befall()
		return s.runs("g", 4)
	}))
	add("20/token-rotated", onFiles(func(s *stage, files string) error {
		if err := s.gang("g", 2); err != nil {
			return err
		}
		old := &flaw{what: "refuse", code: 401, when: func(r *http.Request) bool { return r.Header.Get("Authorization") == "Bearer muster-scheduler" }}
		s.befall(old)
		s.proxy.drop()
		if err := firstOf(s.wait(2*time.Second), write(filepath.Join(files, "token"), "muster-scheduler-next\n"), s.group("h", 2, ""), s.members("h", 2, "1")); err != nil {
			return err
		}
		return firstOf(s.runsWithin("h", 2, 90*time.Second), s.met(old))
	}))
	add("20/authority-rotated", onFiles(func(s *stage, files string) error {
		if err := s.gang("g", 2); err != nil {
			return err
		}
		trust, err := newAuthority()
		if err != nil {
			return err
		}
		if err := firstOf(trust.issue(s.on.folder, "rotated"), write(filepath.Join(files, "ca.crt"), string(trust.text))); err != nil {
			return err
		}
		shown, err := tls.LoadX509KeyPair(filepath.Join(s.on.folder, "rotated.crt"), filepath.Join(s.on.folder, "rotated.key"))
		if err != nil {
			return err
		}
		s.proxy.lock.Lock()
		s.proxy.shown = &shown
		s.proxy.lock.Unlock()
		s.proxy.drop()
		return firstOf(s.group("h", 2, ""), s.members("h", 2, "1"), s.runsWithin("h", 2, 90*time.Second))
	}))
	made = append(made, scenario{name: "25/service-account", realOnly: "the embedded server has no service accounts",
		tell: ofMuster("the stand-in has no lease", asServiceAccount)})
	for _, each := range []struct{ name, says string }{
		{"wrong-authority", "certificate"}, {"wrong-name", "certificate|name|host"}, {"expired", "expired|certificate"},
		{"tls-1.1", "(?i)tls|ssl|version|protocol"}, {"truncated", ""},
	} {
		add("21/"+each.name, func(on *server, in place, namespace string) error { return refusesServer(on, in, each.name, each.says) })
	}
	return made
}

// asServiceAccount tells that the scheduler does its work as the account that examples/deploy makes
// for it, with a token as pods get them.
func asServiceAccount(on *server, in place, namespace string) error {
	return onFiles(func(s *stage, files string) error {
		const account = "system:serviceaccount:muster-system:muster-scheduler"
		code, answer := s.on.admin.post("/api/v1/namespaces/muster-system/serviceaccounts/muster-scheduler/token",
			`{"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest","spec":{"expirationSeconds":600}}`)
		if code != 201 {
			return fmt.Errorf("TokenRequest: %d %s", code, text(answer, "message"))
		}
		s.silenced()
		s.on.admin.do("DELETE", "/apis/coordination.k8s.io/v1/namespaces/muster-system/leases/muster-scheduler", "", "")
		if err := firstOf(write(filepath.Join(files, "token"), text(answer, "status", "token")), s.startSchedulerWith(s.in, filesConfig(s.proxy.url, files)),
			s.gang("g", 4), s.says("g", "True")); err != nil {
			return err
		}
		all, err := s.on.writes()
		bound := 0
		for _, each := range all {
			if each.user == account && each.code >= 400 {
				return unsafe(fmt.Sprintf("%s %s %s is answered with %d", each.verb, each.resource, each.name, each.code))
			}
			if each.user == account && each.resource == "pods/binding" && each.namespace == s.namespace {
				bound++
			}
		}
		if err == nil && bound != 4 {
			err = fmt.Errorf("%d pods were bound by the account (expected 4)", bound)
		}
		return err
	})(on, in, namespace)
}

// filesConfig is a kubeconfig whose token and authority are in files.
func filesConfig(url, files string) string {
	return fmt.Sprintf("apiVersion: v1\nkind: Config\ncurrent-context: c\nclusters:\n- name: c\n  cluster: {server: %q, certificate-authority: %q}\n"+
		"users:\n- name: u\n  user: {tokenFile: %q}\ncontexts:\n- name: c\n  context: {cluster: c, user: u}\n",
		url, filepath.Join(files, "ca.crt"), filepath.Join(files, "token"))
}

// onFiles tells a story of a scheduler whose token and authority are in files.
func onFiles(story func(s *stage, files string) error) func(on *server, in place, namespace string) error {
	return onStage(map[string]int{"a": 8}, func(s *stage) error {
		files := filepath.Join(s.on.folder, "files-"+s.namespace)
		if err := firstOf(os.MkdirAll(files, 0o700), write(filepath.Join(files, "token"), "muster-scheduler\n"),
			write(filepath.Join(files, "ca.crt"), string(s.on.trust.text))); err != nil {
			return err
		}
		s.program.Process.Kill()
		s.program.Wait()
		if err := s.startSchedulerWith(s.in, filesConfig(s.proxy.url, files)); err != nil {
			return err
		}
		return story(s, files)
	})
}

// issueOdd writes NAME.crt, of somebody else or out of date.
func (a *authority) issueOdd(folder, name string, host string, until time.Time) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	wish := &x509.Certificate{SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-24 * time.Hour), NotAfter: until, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	if host == "" {
		wish.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1)}
	} else {
		wish.DNSNames = []string{host}
	}
	raw, err := x509.CreateCertificate(rand.Reader, wish, a.certificate, &key.PublicKey, a.key)
	if err != nil {
		return err
	}
	return a.save(folder, name, raw, key)
}

// refusesServer tells that the program says no to a server that it must not trust, or that answers
// by halves: it ends with an error, and has sent nothing to whom it does not trust.
func refusesServer(on *server, in place, how, says string) error {
	trust, config := on.trust.text, &tls.Config{}
	name, err := "odd-"+how, error(nil)
	switch how {
	case "wrong-name":
		err = on.trust.issueOdd(on.folder, name, "elsewhere.example", time.Now().Add(time.Hour))
	case "expired":
		err = on.trust.issueOdd(on.folder, name, "", time.Now().Add(-time.Hour))
	default:
		err = on.trust.issue(on.folder, name)
	}
	if how == "wrong-authority" {
		other, failed := newAuthority()
		if failed != nil {
			return failed
		}
		trust = other.text
	}
	if how == "tls-1.1" {
		config.MinVersion, config.MaxVersion = tls.VersionTLS10, tls.VersionTLS11
	}
	if err != nil {
		return err
	}
	proxy, err := startProxyWith(on, config, name)
	if err != nil {
		return err
	}
	defer proxy.server.Close()
	if how == "truncated" {
		proxy.plan(&flaw{verb: "GET", suffix: "/pods", what: "truncate"})
		on.admin.post("/api/v1/namespaces/default/pods", podText("odd", ""))
	}
	access := filepath.Join(on.folder, name+".kubeconfig")
	if err := write(access, kubeconfigText(proxy.url, trust, "admin")); err != nil {
		return err
	}
	ctx, stop := context.WithTimeout(context.Background(), 30*time.Second)
	defer stop()
	program := exec.CommandContext(ctx, in.muster, "snapshot", "--kubeconfig", access, "--timeout", "3")
	var said, made bytes.Buffer
	program.Stdout, program.Stderr = &made, &said
	err = program.Run()
	if ctx.Err() != nil {
		return fmt.Errorf("it does not end within 30 s")
	}
	if program.ProcessState == nil || !program.ProcessState.Exited() {
		return unsafe(fmt.Sprintf("it crashed: %v", err))
	}
	if program.ProcessState.ExitCode() == 0 || made.Len() > 0 {
		return unsafe(fmt.Sprintf("it made a snapshot of %d bytes", made.Len()))
	}
	if found := len(proxy.asked); how != "truncated" && found != 0 {
		return unsafe(fmt.Sprintf("%d requests were sent to a server that is not to be trusted", found))
	}
	if says == "" {
		says = "."
	}
	if !regexp.MustCompile(says).MatchString(said.String()) {
		return fmt.Errorf("it says %q", said.String())
	}
	return nil
}
