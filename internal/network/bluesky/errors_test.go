package bluesky_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"unicode/utf8"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/network/bluesky"
	"pressroom.example/pressroom/internal/network/networktest"
)

// serve starts a server that gives the same response to every call, and returns a grant for the server.
func serve(t *testing.T, status int, header map[string]string, body string) network.Grant {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for name, value := range header {
			w.Header().Set(name, value)
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(server.Close)
	return network.Grant{Server: server.URL, Account: "did:plc:aaaaaaaaaaaaaaaaaaaaaaaa", Username: "alice.test",
		AccessToken: "a", RefreshToken: "r"}
}

// plainDraft returns a draft that was prepared without a request.
func plainDraft(t *testing.T) network.Draft {
	t.Helper()
	return prepare(t, network.Grant{}, "post-1", "plain")
}

func TestMessagesTruncated(t *testing.T) {
	t.Parallel()
	g := serve(t, http.StatusBadRequest, nil, `{"error":"Invalid<Request>","message":"`+strings.Repeat("ü", 600)+"\xff"+`"}`)
	_, err := newNetwork().Commit(t.Context(), g, plainDraft(t), nil)
	var rejection *network.Error
	if !errors.As(err, &rejection) || rejection.Code != "" || utf8.RuneCountInString(rejection.Message) != 500 ||
		!utf8.ValidString(rejection.Message) {
		t.Errorf("%+v", rejection)
	}
	if strings.Contains(err.Error(), "ü") {
		t.Error("the error quotes the network's text")
	}
}

func TestCancelledWhileWaiting(t *testing.T) {
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
	g := network.Grant{Server: server.URL, Account: "did:plc:a", AccessToken: "a", RefreshToken: "r"}

	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-heard; cancel() }()
	_, err := newNetwork().Commit(ctx, g, plainDraft(t), nil)
	networktest.WantClass(t, err, network.OutcomeUnknown, "")
}

// The error is of class OutcomeUnknown with a transport that does not report whether it sent the request.
func TestTransportWithoutTrace(t *testing.T) {
	t.Parallel()
	n := bluesky.New(bluesky.Options{App: network.App{HTTP: &http.Client{Transport: brokenTransport{}}}})
	_, err := n.Commit(t.Context(), network.Grant{Server: "http://nobody.invalid", Account: "did:plc:a"}, plainDraft(t), nil)
	networktest.WantClass(t, err, network.OutcomeUnknown, "")
}

type brokenTransport struct{}

func (brokenTransport) RoundTrip(*http.Request) (*http.Response, error) { return nil, errLost }
