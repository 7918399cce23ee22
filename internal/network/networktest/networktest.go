// Package networktest is what the tests of the networks' adapters share: a sandbox with a clock of its own, what a person
// does at its pages, what it holds, and answers in place of its own.
package networktest

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"pressroom/internal/network"
	"pressroom/internal/sandbox"
	"pressroom/internal/testkit"
)

// Sandbox opens a sandbox that works on media for a while, by a clock, and gives its address.
func Sandbox(t *testing.T, clock *testkit.Clock, ready time.Duration) string {
	t.Helper()
	server, err := sandbox.Open(t.TempDir(), sandbox.Options{Now: clock.Now, Ready: ready})
	if err != nil {
		t.Fatal(err)
	}
	front := httptest.NewServer(server.Handler())
	t.Cleanup(func() {
		front.Close()
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	return front.URL
}

// Consent answers the consent page at an address as a person who has decided for an account: where the browser is sent
// then.
func Consent(t *testing.T, page, account, decision string) *url.URL {
	t.Helper()
	response := get(t, page+"&account="+account+"&decision="+decision)
	defer response.Body.Close()
	back, err := response.Location()
	if err != nil || response.StatusCode != http.StatusSeeOther {
		t.Fatalf("the consent: HTTP %d, %v", response.StatusCode, err)
	}
	return back
}

// get asks for an address and follows no redirect.
func get(t *testing.T, address string) *http.Response {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	return response
}

// Post is one that a sandbox holds.
type Post struct {
	ID      string   `json:"id"`
	Account string   `json:"account"`
	Text    string   `json:"text"`
	Media   []string `json:"media"`
}

// Held is what the sandbox at an address holds of a platform.
func Held(t *testing.T, address, platform string) []Post {
	t.Helper()
	response := get(t, address+"/held?platform="+platform)
	defer response.Body.Close()
	var answer struct {
		Posts []Post `json:"posts"`
	}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		t.Fatal(err)
	}
	return answer.Posts
}

// WantClass checks an error's class, and its code unless that is empty.
func WantClass(t *testing.T, err error, class network.Class, code string) *network.Error {
	t.Helper()
	said, ok := errors.AsType[*network.Error](err)
	if !ok {
		t.Fatalf("error %v, want a network.Error of class %s", err, class)
	}
	if said.Class != class || code != "" && said.Code != code {
		t.Fatalf("class %s, code %q (%v, %q), want %s, %q", said.Class, said.Code, err, said.Message, class, code)
	}
	return said
}

// Class is err's class, "" where it has none.
func Class(err error) network.Class {
	if said, ok := errors.AsType[*network.Error](err); ok {
		return said.Class
	}
	return ""
}

// Prepare calls a network's Prepare as often as it asks for, moving the clock.
func Prepare(t *testing.T, clock *testkit.Clock, n network.Network, g network.Grant, d network.Draft, files network.Files) (network.Draft, error) {
	t.Helper()
	for range 50 {
		next, wait, err := n.Prepare(t.Context(), g, d, files)
		if err != nil || wait == 0 {
			return next, err
		}
		d = next
		clock.Advance(wait)
	}
	t.Fatal("never ready")
	return nil, nil
}

// Answering answers the calls that have a part itself, and lets the others through.
type Answering struct {
	http.RoundTripper

	Part   string // of the address
	Status int
	Header map[string]string
	Body   string
}

// RoundTrip answers one call.
func (a Answering) RoundTrip(r *http.Request) (*http.Response, error) {
	if !strings.Contains(r.URL.String(), a.Part) {
		return a.RoundTripper.RoundTrip(r) //nolint:wrapcheck // it is another's answer
	}
	response := &http.Response{StatusCode: a.Status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(a.Body)), Request: r}
	for name, value := range a.Header {
		response.Header.Set(name, value)
	}
	return response, nil
}

// passing lets time pass with each answer.
type passing struct{ clock *testkit.Clock }

func (p passing) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := http.DefaultTransport.RoundTrip(r)
	p.clock.Advance(time.Hour)
	return response, err //nolint:wrapcheck // it is another's answer
}

// StandsStill has a network look for a post soon after it was sent, and the process stand still in the midst of the look until the post
// would count as none: what the look misses proves nothing all the same.
func StandsStill(t *testing.T, resolve func(network.App, network.Tried) (network.Verdict, network.Receipt, error)) {
	t.Helper()
	clock := testkit.NewClock(time.Date(2026, 11, 21, 9, 30, 0, 0, time.UTC))
	tried := network.Tried{First: clock.Now(), Last: clock.Now()}
	clock.Advance(30 * time.Second)
	app := network.App{Now: clock.Now, Settled: network.Span(time.Minute), HTTP: &http.Client{Transport: passing{clock}}}
	if verdict, _, err := resolve(app, tried); verdict != network.Unknown || Class(err) != network.Processing {
		t.Errorf("verdict %v, %v", verdict, err)
	}
}
