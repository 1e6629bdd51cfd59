// SPDX-License-Identifier: Apache-2.0
package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

// flaw is what befalls requests on their way to a server.
type flaw struct {
	verb   string // GET, POST, ..., WATCH; empty: any
	suffix string // of the path
	skip   int    // so many pass before
	times  int    // so many are befallen; 0: all that follow
	// lose: carried out, and the connection ends. swallow: carried out, and nothing comes. delay: carried
	// out after a span, whoever still waits. reset: not carried out. refuse: code. truncate: half an answer.
	// half-line, end, hold, gone: of watches, after that many events. before, behind: something is done
	// before it is passed on, or before its answer is. rewrite: of what is answered. count: nothing.
	what   string
	code   int
	after  string // Retry-After
	events int
	span   time.Duration
	do     func(body string) // of stop and crash, without an answer, and of before and behind
	change func(line string) string
	when   func(r *http.Request) bool
	seen   int
	used   int
}

// proxy stands between the program under test and a server, and makes what goes wrong in networks
// go wrong there. It ends the program's TLS, so that it can cut in the midst of a line.
type proxy struct {
	lock   sync.Mutex
	flaws  []*flaw
	to     *client
	url    string
	server *http.Server
	open   map[net.Conn]bool
	shown  *tls.Certificate // instead of the first
	asked  map[string]bool  // verb and path of all that ever came
}

func startProxy(on *server, trust *authority) (*proxy, error) {
	if err := trust.issue(on.folder, "proxy"); err != nil {
		return nil, err
	}
	return startProxyWith(on, &tls.Config{}, "proxy")
}

// startProxyWith shows NAME.crt of the server's folder.
func startProxyWith(on *server, config *tls.Config, name string) (*proxy, error) {
	certificate, err := tls.LoadX509KeyPair(filepath.Join(on.folder, name+".crt"), filepath.Join(on.folder, name+".key"))
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	made := &proxy{to: on.admin, url: fmt.Sprintf("https://127.0.0.1:%d", listener.Addr().(*net.TCPAddr).Port)}
	made.open, made.asked, made.shown = map[net.Conn]bool{}, map[string]bool{}, &certificate
	config.GetCertificate = func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
		made.lock.Lock()
		defer made.lock.Unlock()
		return made.shown, nil
	}
	made.server = &http.Server{Handler: made, TLSConfig: config, TLSNextProto: map[string]func(*http.Server, *tls.Conn, http.Handler){},
		ErrorLog: log.New(io.Discard, "", 0),
		ConnState: func(connection net.Conn, state http.ConnState) {
			made.lock.Lock()
			defer made.lock.Unlock()
			if state == http.StateClosed || state == http.StateHijacked {
				delete(made.open, connection)
			} else {
				made.open[connection] = true
			}
		}}
	go made.server.ServeTLS(listener, "", "")
	return made, nil
}

// drop resets every connection that is open.
func (p *proxy) drop() {
	p.lock.Lock()
	defer p.lock.Unlock()
	for connection := range p.open {
		connection.Close()
	}
}

func (p *proxy) plan(flaws ...*flaw) {
	p.lock.Lock()
	defer p.lock.Unlock()
	p.flaws = flaws
}

// befallen says how many requests the flaws have met.
func (p *proxy) befallen() int {
	p.lock.Lock()
	defer p.lock.Unlock()
	made := 0
	for _, each := range p.flaws {
		made += each.used
	}
	return made
}

// used gives how many requests a flaw has met.
func (p *proxy) used(of *flaw) int {
	p.lock.Lock()
	defer p.lock.Unlock()
	return of.used
}

func (p *proxy) meet(verb, path string, r *http.Request) *flaw {
	p.lock.Lock()
	defer p.lock.Unlock()
	p.asked[verb+" "+path] = true
	user, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	allRights.use(strings.TrimSuffix(user, "-next"), verb, path)
	for _, each := range p.flaws {
		if (each.verb != "" && each.verb != verb) || !strings.HasSuffix(path, each.suffix) || (each.when != nil && !each.when(r)) {
			continue
		}
		each.seen++
		if each.seen <= each.skip || (each.times > 0 && each.used >= each.times) {
			continue
		}
		each.used++
		return each
	}
	return nil
}

func reset(w http.ResponseWriter) {
	connection, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		return
	}
	if secure, ok := connection.(*tls.Conn); ok {
		if plain, ok := secure.NetConn().(*net.TCPConn); ok {
			plain.SetLinger(0)
			plain.Close()
		}
	}
	connection.Close()
}

func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	verb := r.Method
	watching := r.URL.Query().Get("watch") == "true" || r.URL.Query().Get("watch") == "1"
	if watching {
		verb = "WATCH"
	}
	found := p.meet(verb, r.URL.Path, r)
	content, err := io.ReadAll(r.Body)
	if err != nil {
		reset(w)
		return
	}
	if found == nil {
		found = &flaw{events: 1 << 30}
	}
	switch found.what {
	case "reset":
		reset(w)
		return
	case "stop":
		found.do(string(content))
		reset(w)
		return
	case "before":
		found.do(string(content))
	case "refuse":
		if found.after != "" {
			w.Header().Set("Retry-After", found.after)
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(found.code)
		fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"a planned fault","code":%d}`, found.code)
		return
	case "delay":
		time.Sleep(found.span)
	}
	until := r.Context()
	if found.what == "delay" {
		until = context.WithoutCancel(until)
	}
	passed, err := http.NewRequestWithContext(until, r.Method, p.to.url+r.URL.RequestURI(), bytes.NewReader(content))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	passed.Header = r.Header.Clone()
	passed.Header.Del("Accept-Encoding")
	answer, err := p.to.http.Transport.RoundTrip(passed)
	if err != nil {
		reset(w)
		return
	}
	defer answer.Body.Close()
	if found.what == "lose" || found.what == "crash" {
		io.Copy(io.Discard, answer.Body)
		if found.do != nil {
			found.do(string(content))
		}
		reset(w)
		return
	}
	if found.what == "swallow" {
		io.Copy(io.Discard, answer.Body)
		select {
		case <-r.Context().Done():
		case <-time.After(30 * time.Second):
		}
		reset(w)
		return
	}
	for name, values := range answer.Header {
		w.Header()[name] = values
	}
	if watching && answer.StatusCode == http.StatusOK {
		p.stream(w, answer, found)
		return
	}
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		reset(w)
		return
	}
	if found.what == "behind" {
		found.do(string(content))
	}
	if found.what == "rewrite" {
		body = []byte(found.change(string(body)))
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(answer.StatusCode)
	if found.what == "truncate" {
		w.Write(body[:len(body)/2])
		w.(http.Flusher).Flush()
		reset(w)
		return
	}
	w.Write(body)
}

// stream passes on a watch line by line, up to what befalls it.
func (p *proxy) stream(w http.ResponseWriter, answer *http.Response, found *flaw) {
	w.WriteHeader(http.StatusOK)
	flush := w.(http.Flusher)
	flush.Flush()
	if found.what == "hold" {
		time.Sleep(found.span)
		found = &flaw{}
	}
	lines := bufio.NewReaderSize(answer.Body, 1<<20)
	for told := 0; ; told++ {
		if told == found.events && found.what == "gone" {
			fmt.Fprintln(w, `{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"too old resource version","reason":"Expired","code":410}}`)
			return
		}
		if told == found.events && found.what == "end" {
			return
		}
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		if told == found.events && found.what == "half-line" {
			w.Write(line[:len(line)/2])
			flush.Flush()
			reset(w)
			return
		}
		if found.what == "rewrite" {
			line = []byte(found.change(string(line)))
		}
		if _, err := w.Write(line); err != nil {
			return
		}
		flush.Flush()
	}
}
