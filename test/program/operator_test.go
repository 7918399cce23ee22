package program

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/testkit/must"
)

// operator is the person who runs pressroom in a test. It runs admin commands on one database and, after serve, sends
// requests to a server.
type operator struct {
	t    *testing.T
	env  []string
	base string // base URL of the API
}

// newOperator creates a database with two people, Ada and Ben. Ada owns team 1 on the given plan. It also returns
// the secret of API key 1, which has full access.
func newOperator(t *testing.T, plan string) (*operator, string) {
	t.Helper()
	dir := t.TempDir()
	o := &operator{t: t, env: []string{"PRESSROOM_DATABASE=sqlite:" + filepath.Join(dir, "pressroom.db"), "PRESSROOM_METRICS_ADDR="}}
	o.mustRun("people", "add", "--name", "Ada Okafor", "--email", "ada@example.com")
	o.mustRun("people", "add", "--name", "Ben Adeyemi", "--email", "ben@example.com")
	o.mustRun("teams", "add", "--name", "Harbour Coffee", "--owner", "1", "--plan", plan)
	return o, o.key("--level", "full")
}

// serve starts the program, waits until it answers, and returns it.
func (o *operator) serve() *process {
	o.t.Helper()
	addr := "127.0.0.1:" + freePort(o.t)
	p := start(o.t, o.env, "serve", "--addr", addr)
	o.base = "http://" + addr + "/api/v1"
	o.until("the program to answer", func() bool {
		req := must.Get(http.NewRequestWithContext(o.t.Context(), http.MethodGet, "http://"+addr+"/readyz", nil))(o.t)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return false
		}
		resp.Body.Close()
		return resp.StatusCode == http.StatusOK
	})
	o.t.Cleanup(func() {
		if status := p.end(); status != 0 {
			o.t.Errorf("the program ended with %d: %s", status, p.log)
		}
	})
	return p
}

func (o *operator) until(what string, done func() bool) {
	o.t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(30 * time.Second)
	for !done() {
		select {
		case <-tick.C:
		case <-deadline:
			o.t.Fatalf("waited half a minute for %s", what)
		}
	}
}

// run runs a command of pressroom admin.
func (o *operator) run(args ...string) (string, string, error) {
	program := binary(o.t) // builds it on first use, which the time limit does not include
	ctx, cancel := context.WithTimeout(o.t.Context(), 30*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, append([]string{"admin", "--json"}, args...)...)
	var out, log bytes.Buffer
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = append(os.Environ(), o.env...), o.t.TempDir(), &out, &log
	err := cmd.Run()
	return out.String(), log.String(), err
}

// mustRun runs a command that must succeed and returns its JSON output.
func (o *operator) mustRun(args ...string) any {
	o.t.Helper()
	out, log, err := o.run(args...)
	if err != nil {
		o.t.Fatalf("admin %v: %v\n%s", args, err, log)
	}
	var printed any
	if err := json.Unmarshal([]byte(out), &printed); err != nil {
		o.t.Fatalf("admin %v printed no JSON: %s", args, out)
	}
	return printed
}

// mustFail runs a command that must fail with a message that contains word, and without printing JSON.
func (o *operator) mustFail(word string, args ...string) {
	o.t.Helper()
	out, log, err := o.run(args...)
	if err == nil || !strings.Contains(log, word) || json.Valid([]byte(out)) {
		o.t.Errorf("admin %v: %v, want a failure with %q\n%s%s", args, err, word, out, log)
	}
	if strings.Contains(log, "SQL") || strings.Contains(log, "panic") {
		o.t.Errorf("admin %v prints internal details: %s", args, log)
	}
}

// key creates a key of team 1.
func (o *operator) key(args ...string) string {
	o.t.Helper()
	return value(o.mustRun(append([]string{"keys", "add", "--team", "1"}, args...)...), "key")
}

// value returns a member of the output, or of the last record if the output is a list.
func value(printed any, name string) string {
	if list, ok := printed.([]any); ok {
		printed = list[len(list)-1]
	}
	record, _ := printed.(map[string]any)
	return fmt.Sprint(record[name])
}

// getMember makes a GET request and returns the status together with the error code or a member of data.
func (o *operator) getMember(key, path, member string) string {
	o.t.Helper()
	status, body := get(o.t, o.base+path, key)
	if status != http.StatusOK {
		return fmt.Sprint(status, " ", body["code"])
	}
	at := body["data"]
	for part := range strings.SplitSeq(member, ".") {
		if member != "" {
			at = at.(map[string]any)[part]
		}
	}
	if member == "" {
		return "200"
	}
	return fmt.Sprint("200 ", at)
}

// awaitValue waits at most a second until ask returns the expected result.
func (o *operator) awaitValue(what, want string, ask func() string) {
	o.t.Helper()
	changed := time.Now()
	o.until(what, func() bool {
		asked := time.Now()
		got := ask()
		if got != want && asked.Sub(changed) > within {
			o.t.Fatalf("%s: %v later: %s, want %s", what, asked.Sub(changed), got, want)
		}
		return got == want
	})
}

// checkEnd checks the duration of an effect that has just ended: at least lasts after began, when the command
// started, and at most lasts+within after done, when the command returned.
func (o *operator) checkEnd(what string, began, done time.Time, lasts time.Duration) {
	o.t.Helper()
	now := time.Now()
	if now.Before(began.Add(lasts)) {
		o.t.Errorf("%s ended %v too early", what, began.Add(lasts).Sub(now))
	}
	if late := now.Sub(done.Add(lasts)); late > within {
		o.t.Errorf("%s ended %v too late", what, late)
	}
}
