// SPDX-License-Identifier: Apache-2.0
package main

import (
	"bufio"
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
	// lose: carried out, no answer. reset: not carried out. refuse: code. truncate: half an answer.
	// half-line, end, hold, gone: of watches, after that many events.
	what   string
	code   int
	after  string // Retry-After
	events int
	span   time.Duration
	do     func() // called, and no answer given: before the request is passed on (stop), or after (crash)
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
}

func startProxy(on *server, trust *authority) (*proxy, error) {
	if err := trust.issue(on.folder, "proxy"); err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	made := &proxy{to: on.admin, url: fmt.Sprintf("https://127.0.0.1:%d", listener.Addr().(*net.TCPAddr).Port)}
	made.open = map[net.Conn]bool{}
	made.server = &http.Server{Handler: made, TLSNextProto: map[string]func(*http.Server, *tls.Conn, http.Handler){},
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
	go made.server.ServeTLS(listener, filepath.Join(on.folder, "proxy.crt"), filepath.Join(on.folder, "proxy.key"))
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

func (p *proxy) meet(verb, path string) *flaw {
	p.lock.Lock()
	defer p.lock.Unlock()
	for _, each := range p.flaws {
		if (each.verb != "" && each.verb != verb) || !strings.HasSuffix(path, each.suffix) {
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
	found := p.meet(verb, r.URL.Path)
	if found == nil {
		found = &flaw{events: 1 << 30}
	}
	switch found.what {
	case "reset":
		reset(w)
		return
	case "stop":
		found.do()
		reset(w)
		return
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
	passed, err := http.NewRequestWithContext(r.Context(), r.Method, p.to.url+r.URL.RequestURI(), r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	passed.Header = r.Header.Clone()
	passed.Header.Del("Accept-Encoding")
	passed.ContentLength = r.ContentLength
	answer, err := p.to.http.Transport.RoundTrip(passed)
	if err != nil {
		reset(w)
		return
	}
	defer answer.Body.Close()
	if found.what == "lose" || found.what == "crash" {
		io.Copy(io.Discard, answer.Body)
		if found.do != nil {
			found.do()
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
		if _, err := w.Write(line); err != nil {
			return
		}
		flush.Flush()
	}
}
