package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/testkit/must"
)

func TestClientReadsAnswers(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/made" {
			w.WriteHeader(http.StatusCreated)
		}
		_, _ = w.Write([]byte("hello " + r.URL.Path))
	}))
	t.Cleanup(server.Close)
	c := must.Get(dial(strings.TrimPrefix(server.URL, "http://")))(t)
	t.Cleanup(c.close)
	for _, want := range []struct {
		path   string
		status int
	}{{"/a", 200}, {"/made", 201}, {"/b", 200}} {
		status, body, err := c.do([]byte("GET "+want.path+" HTTP/1.1\r\nHost: x\r\n\r\n"), true)
		if err != nil || status != want.status || string(body) != "hello "+want.path {
			t.Errorf("%s: %d %q %v", want.path, status, body, err)
		}
	}
}
