// Package clients tests the clients of pressroom and their examples with the built program.
package clients

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"pressroom.example/pressroom/client"
	"pressroom.example/pressroom/internal/testkit/fixture"
	"pressroom.example/pressroom/internal/testkit/must"
	"pressroom.example/pressroom/internal/testkit/program"
)

func binary(tb testing.TB) string {
	tb.Helper()
	return program.Build(tb, program.Pressroom, "")
}

// installation is the first output of quickstart --json.
type installation struct {
	BaseURL    string `json:"base_url"`
	AppURL     string `json:"app_url"`
	SandboxURL string `json:"sandbox_url"`
	Keys       struct {
		ReadOnly string `json:"read_only"`
		Drafts   string
		Full     string
	}
}

// quickstart runs the program until the test ends.
func quickstart(t *testing.T) installation {
	t.Helper()
	var g installation
	program.Quickstart(t, &g, nil, "--data", filepath.Join(t.TempDir(), "data"), "--addr", "127.0.0.1:0")
	return g
}

func (g installation) client(t *testing.T, options ...client.Option) *client.Client {
	t.Helper()
	c := must.Get(client.New(g.BaseURL, g.Keys.Full, options...))(t)
	return c
}

// countPosts counts the posts with a text on the sandbox networks.
func (g installation) countPosts(t *testing.T, contains string) int {
	t.Helper()
	return len(fixture.Posts(t, g.SandboxURL, "", contains))
}

// environment returns the environment of a program that calls the API with the full key.
func (g installation) environment(more ...string) []string {
	kept := []string{}
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "PRESSROOM_") {
			kept = append(kept, v)
		}
	}
	return append(append(kept, "PRESSROOM_URL="+g.AppURL, "PRESSROOM_KEY="+g.Keys.Full), more...)
}

// lossy is a transport that loses the first response of each path.
type lossy struct {
	mu   sync.Mutex
	lost map[string]bool
}

func (l *lossy) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	at := r.Method + " " + r.URL.Path
	if l.lost[at] {
		return resp, nil
	}
	l.lost[at] = true
	_, err = io.Copy(io.Discard, resp.Body)
	return nil, errors.Join(fmt.Errorf("the response to %s was lost", at), err, resp.Body.Close())
}
