package storm

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	mathrand "math/rand/v2"
	"net/http"
	"strconv"
	"time"
)

// client is an API client or an assistant that uses the keys of one team. It runs in one goroutine.
type client struct {
	*site

	team  *crew
	http  *http.Client
	dice  *mathrand.Rand
	calls context.Context // ends when clients stop waiting for responses
}

// apiKey is a key of a team.
type apiKey struct {
	id    int64
	level string
	value string
	limit int64 // daily credits; -1 means unlimited
}

// call is a call of an operation, over REST or MCP.
type call struct {
	tool         string
	method, path string         // for REST
	body         map[string]any // for REST
	more         map[string]any // arguments in the REST path
	key          *apiKey
	idem         string // Idempotency-Key; may be empty
	asTool       bool
}

// answer is a response of REST or MCP.
type answer struct {
	status  int
	after   time.Duration
	raw     []byte
	Code    string
	Context struct{ Reason, Scope, State string }
	Data    json.RawMessage
	Billing struct {
		Charged int64 `json:"credits_charged"`
	}
}

func (a answer) ok() bool { return a.status > 0 && a.status < 300 }

// outcome returns the status, error code and reason of an answer.
func (a answer) outcome() string {
	if a.ok() {
		return "done"
	}
	if a.status == 0 {
		return "no answer"
	}
	return fmt.Sprint(a.status, " ", a.Code)
}

// into decodes the data of an answer.
func (a answer) into(data any) {
	_ = json.Unmarshal(a.Data, data) // Missing fields are detected later.
}

func (a answer) job() string {
	var data struct {
		JobID string `json:"job_id"`
	}
	a.into(&data)
	return data.JobID
}

const (
	longestAnswer = 20 * time.Second
	askAgain      = 50 * time.Millisecond
	longestPause  = 2 * time.Second
)

// ask makes a call once. It returns an error if there was no response.
func (c *client) ask(ctx context.Context, k call) (answer, error) {
	ctx, cancel := context.WithTimeout(ctx, longestAnswer)
	defer cancel()
	if k.asTool {
		return c.askTool(ctx, k)
	}
	var body io.Reader
	if k.method != http.MethodGet && k.body != nil {
		raw, err := json.Marshal(k.body)
		if err != nil {
			return answer{}, err
		}
		body = bytes.NewReader(raw)
	}
	r, err := http.NewRequestWithContext(ctx, k.method, c.gate.url()+"/api/v1"+k.path, body)
	if err != nil {
		return answer{}, err
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	r.Header.Set("Authorization", "Bearer "+k.key.value)
	if k.idem != "" {
		r.Header.Set("Idempotency-Key", k.idem)
	}
	status, header, raw, err := c.send(r)
	if err != nil {
		return answer{}, err
	}
	return read(status, header, raw)
}

func (c *client) send(r *http.Request) (int, http.Header, []byte, error) {
	resp, err := c.http.Do(r)
	if err != nil {
		return 0, nil, nil, err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	return resp.StatusCode, resp.Header, raw, err
}

func read(status int, header http.Header, raw []byte) (answer, error) {
	a := answer{status: status, raw: raw}
	if seconds, err := strconv.Atoi(header.Get("Retry-After")); err == nil {
		a.after = time.Duration(seconds) * time.Second
	}
	err := json.Unmarshal(raw, &a)
	return a, err
}

// askTool makes the call over MCP.
func (c *client) askTool(ctx context.Context, k call) (answer, error) {
	args := map[string]any{}
	for _, from := range []map[string]any{k.body, k.more} {
		maps.Copy(args, from)
	}
	if k.idem != "" {
		args["idempotency_key"] = k.idem
	}
	raw, err := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{"name": k.tool, "arguments": args},
	})
	if err != nil {
		return answer{}, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.gate.url()+"/mcp", bytes.NewReader(raw))
	if err != nil {
		return answer{}, err
	}
	r.Header = http.Header{
		"Authorization": {"Bearer " + k.key.value}, "Content-Type": {"application/json"},
		"Accept": {"application/json, text/event-stream"}, "Mcp-Protocol-Version": {"2025-06-18"},
	}
	status, header, raw, err := c.send(r)
	if err != nil {
		return answer{}, err
	}
	if status != http.StatusOK {
		return read(status, header, raw)
	}
	var envelope struct {
		Result struct {
			Content []struct{ Text string }
			IsError bool
		}
	}
	if err := json.Unmarshal(raw, &envelope); err != nil || len(envelope.Result.Content) < 2 {
		return answer{}, fmt.Errorf("no response of a tool: %.300s", raw)
	}
	a, err := read(http.StatusOK, header, []byte(envelope.Result.Content[1].Text))
	if envelope.Result.IsError {
		var problem struct{ Status int }
		err = errors.Join(err, json.Unmarshal(a.raw, &problem))
		a.status = problem.Status
	}
	return a, err
}

// isTemporary reports whether an answer is temporary, so that the call must be repeated.
func (a answer) isTemporary() bool {
	return a.status == 0 || a.status == http.StatusInternalServerError || a.status == http.StatusServiceUnavailable ||
		a.status == http.StatusTooManyRequests && a.Context.Scope != "" && a.Code == "rate_limited" && a.Context.Scope != "connection" ||
		a.status == http.StatusConflict && a.Code == "idempotency_key_in_progress"
}

// do repeats a call until it gets a final answer, at most until long after the faults have ended. It makes a call
// without an Idempotency-Key only once.
func (c *client) do(k call) answer {
	var a answer
	began, tries := time.Now(), 0
	for pause := askAgain; ; pause = min(2*pause, longestPause) {
		tries++
		var err error
		if a, err = c.ask(c.calls, k); err != nil {
			a = answer{}
			c.book.fault("an answer did not arrive")
		}
		if a.status >= 500 {
			c.book.fault(fmt.Sprint("an answer ", a.status, " ", a.Code))
		}
		if !a.isTemporary() || k.idem == "" && k.method != http.MethodGet || c.calls.Err() != nil {
			break
		}
		c.rest(max(pause, min(a.after, longestPause)))
	}
	how := "REST"
	if k.asTool {
		how = "tool"
	}
	c.book.recordAnswer(how+" "+k.tool, a.outcome(), tries, time.Since(began))
	if k.idem != "" && a.isTemporary() {
		c.book.complainf("unanswered", "%s with the key %s: %s", k.tool, k.idem, a.outcome())
	}
	return a
}

// rest sleeps for d or until clients stop waiting for responses.
func (c *client) rest(d time.Duration) {
	select {
	case <-time.After(d):
	case <-c.calls.Done():
	}
}

// chance returns true with the given probability in percent.
func (c *client) chance(percent int) bool { return c.dice.IntN(100) < percent }

// newIdem returns a new Idempotency-Key.
func newIdem() string { return rand.Text() }
