// SPDX-License-Identifier: Apache-2.0
package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// object is a JSON object as it came.
type object = map[string]any

// client speaks to an API server without any library of Kubernetes: nothing here is shared with
// what is tested.
type client struct {
	url   string
	token string
	http  *http.Client
}

func newClient(url, token string, authority []byte) *client {
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(authority)
	return &client{url, token, &http.Client{Transport: &http.Transport{
		TLSClientConfig:     &tls.Config{RootCAs: pool},
		MaxIdleConnsPerHost: 64,
	}}}
}

// as gives the same server seen by another user.
func (c *client) as(token string) *client {
	return &client{c.url, token, c.http}
}

func (c *client) request(ctx context.Context, method, path, contentType, body string) (*http.Response, error) {
	made, err := http.NewRequestWithContext(ctx, method, c.url+path, bytes.NewReader([]byte(body)))
	if err != nil {
		return nil, err
	}
	made.Header.Set("Authorization", "Bearer "+c.token)
	if contentType != "" {
		made.Header.Set("Content-Type", contentType)
	}
	made.Header.Set("Accept", "application/json")
	return c.http.Do(made)
}

// do gives the code and the object; code 0 says that nothing came back.
func (c *client) do(method, path, contentType, body string) (int, object) {
	return c.doAccepting("application/json", method, path, contentType, body)
}

func (c *client) doAccepting(accept, method, path, contentType, body string) (int, object) {
	ctx, stop := context.WithTimeout(context.Background(), 30*time.Second)
	defer stop()
	made, err := http.NewRequestWithContext(ctx, method, c.url+path, bytes.NewReader([]byte(body)))
	if err != nil {
		return 0, object{"message": err.Error()}
	}
	made.Header.Set("Authorization", "Bearer "+c.token)
	made.Header.Set("Accept", accept)
	if contentType != "" {
		made.Header.Set("Content-Type", contentType)
	}
	answer, err := c.http.Do(made)
	if err != nil {
		return 0, object{"message": err.Error()}
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return 0, object{"message": err.Error()}
	}
	found := object{}
	if json.Unmarshal(text, &found) != nil {
		found["text"] = string(text)
	}
	return answer.StatusCode, found
}

func (c *client) get(path string) (int, object) { return c.do("GET", path, "", "") }
func (c *client) post(path, body string) (int, object) {
	return c.do("POST", path, "application/json", body)
}
func (c *client) merge(path, body string) (int, object) {
	return c.do("PATCH", path, "application/merge-patch+json", body)
}

// watch sends every event until the context ends or the stream does.
func (c *client) watch(ctx context.Context, path string, events chan<- object) error {
	answer, err := c.request(ctx, "GET", path, "", "")
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("watch %s: %d", path, answer.StatusCode)
	}
	lines := bufio.NewScanner(answer.Body)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		event := object{}
		if err := json.Unmarshal(lines.Bytes(), &event); err != nil {
			return err
		}
		select {
		case events <- event:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return lines.Err()
}

// at follows a path of fields; nil when there is nothing.
func at(from any, path ...string) any {
	for _, name := range path {
		fields, ok := from.(object)
		if !ok {
			return nil
		}
		from = fields[name]
	}
	return from
}

func text(from any, path ...string) string {
	found, _ := at(from, path...).(string)
	return found
}

func items(from any, path ...string) []any {
	found, _ := at(from, path...).([]any)
	return found
}

// eventually waits until something holds; false when it does not within the time.
func eventually(longest time.Duration, holds func() bool) bool {
	for end := time.Now().Add(longest); ; time.Sleep(20 * time.Millisecond) {
		if holds() {
			return true
		}
		if time.Now().After(end) {
			return false
		}
	}
}

func podsOf(namespace string) string { return "/api/v1/namespaces/" + namespace + "/pods" }

func quoted(value string) string { return fmt.Sprintf("%q", value) }

func join(parts ...string) string { return strings.Join(parts, ",") }
