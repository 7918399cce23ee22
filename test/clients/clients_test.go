// Package clients tries the clients of pressroom and the examples made with them, in front of the program as it is
// built.
package clients

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"pressroom/client"
)

var binary string

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "pressroom-clients-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	binary = filepath.Join(dir, "pressroom")
	if out, err := exec.Command("go", "build", "-o", binary, "pressroom/cmd/pressroom").CombinedOutput(); err != nil {
		panic(string(out))
	}
	return m.Run()
}

// greeting is what quickstart --json prints first.
type greeting struct {
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
func quickstart(t *testing.T) greeting {
	t.Helper()
	cmd := exec.Command(binary, "quickstart", "--data", filepath.Join(t.TempDir(), "data"), "--addr", "127.0.0.1:0", "--json")
	cmd.Stderr = t.Output()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err != nil {
		t.Fatal(err)
	}
	var g greeting
	if err := json.Unmarshal(line, &g); err != nil {
		t.Fatal(err)
	}
	return g
}

func (g greeting) client(t *testing.T, options ...client.Option) *client.Client {
	t.Helper()
	c, err := client.New(g.BaseURL, g.Keys.Full, options...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// held counts the posts with a text on the sandbox networks.
func (g greeting) held(t *testing.T, contains string) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, g.SandboxURL+"/held?contains="+url.QueryEscape(contains), nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var answer struct{ Posts []struct{ Text string } }
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		t.Fatal(err)
	}
	return len(answer.Posts)
}

// environment is that of a program which calls the service with its full key.
func (g greeting) environment(more ...string) []string {
	kept := []string{}
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "PRESSROOM_") {
			kept = append(kept, v)
		}
	}
	return append(append(kept, "PRESSROOM_URL="+g.AppURL, "PRESSROOM_KEY="+g.Keys.Full), more...)
}

// lossy sends everything, and loses the first answer to each address.
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
	return nil, errors.Join(fmt.Errorf("the answer to %s was lost", at), err, resp.Body.Close())
}
