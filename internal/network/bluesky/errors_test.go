package bluesky_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pressroom/internal/network"
	"pressroom/internal/network/bluesky"
)

// scripted answers every call alike.
func scripted(t *testing.T, status int, header map[string]string, body string) network.Grant {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for name, value := range header {
			w.Header().Set(name, value)
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(server.Close)
	return network.Grant{Server: server.URL, Account: "did:plc:aaaaaaaaaaaaaaaaaaaaaaaa", Username: "alice.test", Access: "a", Refresh: "r"}
}

// classes are what the three kinds of call make of one answer.
type classes struct{ resolve, refresh, commit network.Class }

func all(c network.Class) classes { return classes{c, c, c} }

func TestClasses(t *testing.T) {
	t.Parallel()
	unclear := classes{network.Transient, network.Transient, network.Uncertain}
	refused := classes{network.Rejected, network.AuthDead, network.Rejected}
	for _, c := range []struct {
		status int
		body   string
		want   classes
	}{
		{400, `{"error":"ExpiredToken"}`, classes{network.AuthRefresh, network.AuthDead, network.AuthRefresh}},
		{400, `{"error":"InvalidToken"}`, all(network.AuthDead)},
		{401, `{"error":"AuthMissing"}`, all(network.AuthDead)},
		{401, `{"error":"AuthenticationRequired"}`, all(network.AuthDead)},
		{401, `{"error":"AccountTakedown"}`, all(network.AuthDead)},
		{401, `{"error":"AccountDeactivated"}`, all(network.AuthDead)},
		{401, `{"error":"AuthFactorTokenRequired"}`, all(network.AuthDead)},
		{403, `{"error":"AccountNotFound"}`, all(network.AuthDead)},
		{403, `{"error":"SomethingNew"}`, all(network.AuthDead)},
		{400, `{"error":"InvalidRequest"}`, refused},
		{400, `{"error":"SomethingNew"}`, refused},
		{413, `{"error":"PayloadTooLargeError"}`, refused},
		{429, `{"error":"RateLimitExceeded"}`, all(network.Rate)},
		{400, `{"error":"RateLimitExceeded"}`, all(network.Rate)},
		{429, `<html>slow down</html>`, all(network.Rate)},
		{400, `{"error":"InvalidSwap"}`, classes{network.Uncertain, network.AuthDead, network.Uncertain}},
		{500, `{"error":"InternalServerError"}`, unclear},
		{502, `{"error":"UpstreamFailure"}`, unclear},
		{503, `nothing that can be read`, unclear},
		{500, `{"error":"ExpiredToken"}`, unclear},
		{408, `{"error":"Timeout"}`, unclear},
		{403, `<html>blocked on the way</html>`, unclear},
		{404, ``, unclear},
		{302, ``, unclear},
		{201, `{}`, unclear},
		{200, `not JSON`, unclear},
		{200, `{"uri":"at://another/record"}`, unclear},
		{200, strings.Repeat(" ", 1<<20) + "{}", unclear},
	} {
		g := scripted(t, c.status, map[string]string{"Location": "/elsewhere"}, c.body)
		d := plain(t)
		_, _, err := newNetwork().Resolve(t.Context(), g, d, network.Tried{})
		_, refreshErr := newNetwork().Refresh(t.Context(), g)
		_, commitErr := newNetwork().Commit(t.Context(), g, d, nil)
		if got := (classes{class(err), class(refreshErr), class(commitErr)}); got != c.want {
			t.Errorf("HTTP %d %.40s: %+v, want %+v", c.status, c.body, got, c.want)
		}
	}
}

// plain is a publication that needs no network to be prepared.
func plain(t *testing.T) network.Draft {
	t.Helper()
	return prepared(t, network.Grant{}, "post-1", "plain")
}

func TestWhenToComeBack(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	n := bluesky.New(bluesky.Options{App: network.App{Now: func() time.Time { return now }}})
	for _, c := range []struct {
		header map[string]string
		want   time.Time
	}{
		{map[string]string{"ratelimit-reset": "1795251630"}, time.Unix(1795251630, 0)},
		{map[string]string{"ratelimit-reset": "99999999999"}, now.Add(24 * time.Hour)},
		{map[string]string{"ratelimit-reset": "soon", "Retry-After": "7"}, now.Add(7 * time.Second)},
		{map[string]string{"Retry-After": "Sat, 21 Nov 2026 09:00:30 GMT"}, now.Add(30 * time.Second)},
		{map[string]string{"Retry-After": "-5"}, time.Time{}},
		{nil, time.Time{}},
	} {
		g := scripted(t, http.StatusTooManyRequests, c.header, `{"error":"RateLimitExceeded"}`)
		_, err := n.Commit(t.Context(), g, plain(t), nil)
		if said := wantClass(t, err, network.Rate, ""); !said.After.Equal(c.want) {
			t.Errorf("%v: not before %v, want %v", c.header, said.After, c.want)
		}
	}
}

func TestMessagesAreMadeFit(t *testing.T) {
	t.Parallel()
	g := scripted(t, http.StatusBadRequest, nil, `{"error":"Invalid<Request>","message":"`+strings.Repeat("ü", 600)+"\xff"+`"}`)
	_, err := newNetwork().Commit(t.Context(), g, plain(t), nil)
	var said *network.Error
	if !errors.As(err, &said) || said.Code != "" || utf8.RuneCountInString(said.Message) != 500 || !utf8.ValidString(said.Message) {
		t.Errorf("%+v", said)
	}
	if strings.Contains(err.Error(), "ü") {
		t.Error("the network's text is in our own")
	}
}

func TestNothingSentIsTransient(t *testing.T) {
	t.Parallel()
	const closed = "http://127.0.0.1:1" // a port that no test is given
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for name, c := range map[string]struct {
		ctx    context.Context
		server string
	}{
		"refused":   {t.Context(), closed},
		"no name":   {t.Context(), "http://nobody.invalid"},
		"cancelled": {cancelled, closed},
	} {
		g := network.Grant{Server: c.server, Account: "did:plc:a", Access: "a", Refresh: "r"}
		_, err := newNetwork().Commit(c.ctx, g, plain(t), nil)
		if class(err) != network.Transient {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := newNetwork().Refresh(c.ctx, g); class(err) != network.Transient {
			t.Errorf("%s: refresh: %v", name, err)
		}
	}
}

func TestSilenceIsUncertain(t *testing.T) {
	t.Parallel()
	heard := make(chan struct{}, 9)
	release := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		heard <- struct{}{}
		<-release
	}))
	defer server.Close()
	defer close(release)
	g := network.Grant{Server: server.URL, Account: "did:plc:a", Access: "a", Refresh: "r"}

	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-heard; cancel() }()
	_, err := newNetwork().Commit(ctx, g, plain(t), nil)
	wantClass(t, err, network.Uncertain, "")

	hasty := bluesky.New(bluesky.Options{App: network.App{HTTP: &http.Client{Timeout: 500 * time.Millisecond}}})
	_, err = hasty.Commit(t.Context(), g, plain(t), nil)
	wantClass(t, err, network.Uncertain, "")
	_, err = hasty.Refresh(t.Context(), g)
	wantClass(t, err, network.Transient, "")
	verdict, _, err := hasty.Resolve(t.Context(), g, plain(t), network.Tried{})
	wantClass(t, err, network.Transient, "")
	if verdict != network.Unknown {
		t.Errorf("verdict %v", verdict)
	}
}

// TestUnknownTransport fails without saying how far it came, which has to be taken as if it had sent.
func TestUnknownTransport(t *testing.T) {
	t.Parallel()
	n := bluesky.New(bluesky.Options{App: network.App{HTTP: &http.Client{Transport: mute{}}}})
	_, err := n.Commit(t.Context(), network.Grant{Server: "http://nobody.invalid", Account: "did:plc:a"}, plain(t), nil)
	wantClass(t, err, network.Uncertain, "")
}

type mute struct{}

func (mute) RoundTrip(*http.Request) (*http.Response, error) { return nil, errLost }
