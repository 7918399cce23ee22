package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"pressroom/internal/access"
	"pressroom/internal/operation"
)

// answer is what came back, from either edge.
type answer struct {
	status int
	header http.Header
	raw    []byte
	body   map[string]any
}

// at follows a dotted path of members and list indexes.
func (a answer) at(path string) any {
	var value any = a.body
	for part := range strings.SplitSeq(path, ".") {
		switch v := value.(type) {
		case map[string]any:
			value = v[part]
		case []any:
			var i int
			if _, err := fmt.Sscan(part, &i); err != nil || i >= len(v) {
				return nil
			}
			value = v[i]
		default:
			return nil
		}
	}
	return value
}

func (a answer) text(path string) string {
	if a.at(path) == nil {
		return ""
	}
	return fmt.Sprint(a.at(path))
}

func (a answer) code() string { return a.text("code") }

// raw sends one request exactly as it is given.
func (w *world) raw(method, url string, header http.Header, body []byte) answer {
	w.t.Helper()
	req, err := http.NewRequestWithContext(w.t.Context(), method, url, bytes.NewReader(body))
	w.must(err)
	for name, values := range header {
		req.Header[name] = values
	}
	resp, err := http.DefaultClient.Do(req)
	w.must(err)
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	w.must(err)
	a := answer{status: resp.StatusCode, header: resp.Header, raw: raw}
	_ = json.Unmarshal(raw, &a.body) // an answer that is no JSON shows in the checks
	return a
}

// rest makes a call by its operation's name and arguments over REST.
func (w *world) rest(credential, tool string, args map[string]any, idem string) answer {
	w.t.Helper()
	return w.restAt(w.base, credential, tool, args, idem)
}

func (w *world) restAt(base, credential, tool string, args map[string]any, idem string) answer {
	w.t.Helper()
	op := w.Registry().Tool(tool)
	if op == nil {
		w.t.Fatalf("no operation %s", tool)
	}
	target, rest := address(op, args)
	header := http.Header{}
	if credential != "" {
		header.Set("Authorization", "Bearer "+credential)
	}
	if idem != "" {
		header.Set("Idempotency-Key", idem)
	}
	if op.Reads() {
		if len(rest) > 0 {
			target += "?" + query(rest)
		}
		return w.raw(op.Method, base+target, header, nil)
	}
	body, err := json.Marshal(rest)
	w.must(err)
	header.Set("Content-Type", "application/json")
	return w.raw(op.Method, base+target, header, body)
}

// address fills an operation's path and gives the arguments that are left.
func address(op *operation.Operation, args map[string]any) (string, map[string]any) {
	path, rest := op.Path, map[string]any{}
	for name, value := range args {
		if strings.Contains(path, "{"+name+"}") {
			path = strings.ReplaceAll(path, "{"+name+"}", url.PathEscape(fmt.Sprint(value)))
			continue
		}
		rest[name] = value
	}
	return path, rest
}

func query(args map[string]any) string {
	v := url.Values{}
	for name, value := range args {
		v.Set(name, fmt.Sprint(value))
	}
	return v.Encode()
}

// tool makes the same call as an assistant does.
func (w *world) tool(credential, tool string, args map[string]any, idem string) answer {
	w.t.Helper()
	if idem != "" {
		with := map[string]any{"idempotency_key": idem}
		for name, value := range args {
			with[name] = value
		}
		args = with
	}
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{"name": tool, "arguments": args}})
	w.must(err)
	header := http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}, "Mcp-Protocol-Version": {"2025-06-18"}}
	if credential != "" {
		header.Set("Authorization", "Bearer "+credential)
	}
	got := w.raw(http.MethodPost, w.root+"/mcp", header, body)
	if got.status != http.StatusOK {
		return got
	}
	out := answer{status: http.StatusOK, header: got.header, raw: got.raw}
	if text := got.text("result.content.0.text"); json.Unmarshal([]byte(text), &out.body) != nil {
		w.t.Fatalf("%s answered no JSON: %s", tool, got.raw)
	}
	if failed, _ := got.at("result.isError").(bool); failed {
		if status, ok := out.body["status"].(float64); ok {
			out.status = int(status)
		}
	}
	return out
}

// full makes a call with the full key over REST that has to succeed.
func (w *world) full(tool string, args map[string]any) answer {
	w.t.Helper()
	got := w.rest(w.keys[access.Full], tool, args, "")
	if got.status >= 300 {
		w.t.Fatalf("%s: %d %s", tool, got.status, got.raw)
	}
	return got
}

// draft makes a draft to the first account and gives its id.
func (w *world) draft(caption string, accounts ...int64) string {
	w.t.Helper()
	if len(accounts) == 0 {
		accounts = w.accounts[:1]
	}
	return w.full("create_post", map[string]any{"caption": caption, "account_ids": accounts}).text("data.id")
}

// finished follows a job to its end.
func (w *world) finished(job string) answer {
	w.t.Helper()
	var got answer
	w.until("job "+job+" to end", func() bool {
		got = w.full("get_job", map[string]any{"job_id": job})
		return got.at("data.finished") == true
	})
	return got
}

// publish publishes a post and gives its finished job.
func (w *world) publish(id string) answer {
	w.t.Helper()
	return w.finished(w.full("publish_post", map[string]any{"post_id": id}).text("data.job_id"))
}

func (w *world) post(id string) answer {
	w.t.Helper()
	return w.full("get_post", map[string]any{"id": id})
}

// until waits for something that the program does by itself, for half a minute at most.
func (w *world) until(what string, done func() bool) {
	w.t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(30 * time.Second)
	for !done() {
		select {
		case <-tick.C:
		case <-deadline:
			w.t.Fatalf("waited half a minute for %s", what)
		}
	}
}

// held lists the texts that the sandbox networks hold and that contain some words.
func (w *world) held(words string) []string {
	w.t.Helper()
	got := w.raw(http.MethodGet, w.box.URL+"/held?contains="+url.QueryEscape(words), nil, nil)
	texts := []string{}
	posts, _ := got.at("posts").([]any)
	for _, p := range posts {
		texts = append(texts, fmt.Sprint(p.(map[string]any)["account"]))
	}
	return texts
}

func (a answer) mustRefuse(t *testing.T, status int, code, reason string) {
	t.Helper()
	if a.status != status || a.code() != code || a.text("context.reason") != reason {
		t.Errorf("got %d %s %s, want %d %s %s: %s", a.status, a.code(), a.text("context.reason"), status, code, reason, a.raw)
	}
}
