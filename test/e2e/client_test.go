package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/testkit/must"
)

// answer is a response of REST or MCP.
type answer struct {
	status int
	header http.Header
	raw    []byte
	body   map[string]any
}

func newAnswer(resp *http.Response, raw []byte) answer {
	a := answer{status: resp.StatusCode, header: resp.Header, raw: raw}
	_ = json.Unmarshal(raw, &a.body) // checks fail if the body is not JSON
	return a
}

// at returns the nested value at a dotted path of members and indexes.
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

// number returns the integer at a path, or -1.
func (a answer) number(path string) int64 {
	if n, ok := a.at(path).(float64); ok {
		return int64(n)
	}
	return -1
}

func (a answer) list(path string) []any {
	items, _ := a.at(path).([]any)
	return items
}

func (a answer) code() string { return a.text("code") }

// client has a timeout so that a hanging call does not block the test run.
var client = &http.Client{
	Timeout:   time.Minute,
	Transport: &http.Transport{MaxIdleConnsPerHost: 256, DisableCompression: true},
}

// raw sends a request and checks the rules that apply to every response.
func (w *env) raw(method, url string, header http.Header, body []byte) answer {
	w.t.Helper()
	got := must.Get(w.try(method, url, header, body))(w.t)
	return got
}

// try is like raw, but returns an error, so that it can be called in other goroutines.
func (w *env) try(method, url string, header http.Header, body []byte) (answer, error) {
	req, err := http.NewRequestWithContext(w.t.Context(), method, url, bytes.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	maps.Copy(req.Header, header)
	return w.send(req)
}

func (w *env) send(req *http.Request) (answer, error) {
	resp, err := client.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		return answer{}, err
	}
	a := newAnswer(resp, raw)
	w.checkRules(req, a)
	return a, nil
}

// rest calls an operation over REST.
func (w *env) rest(credential, tool string, args map[string]any, idem string) answer {
	w.t.Helper()
	return w.restAt(w.base, credential, tool, args, idem)
}

func (w *env) restAt(base, credential, tool string, args map[string]any, idem string) answer {
	w.t.Helper()
	got := must.Get(w.tryRest(base, credential, tool, args, idem))(w.t)
	return got
}

func (w *env) tryRest(base, credential, tool string, args map[string]any, idem string) (answer, error) {
	op := w.Registry().Tool(tool)
	if op == nil {
		return answer{}, fmt.Errorf("no operation %s", tool)
	}
	target, rest := address(op, args)
	header := bearer(credential)
	if idem != "" {
		header["Idempotency-Key"] = []string{idem}
	}
	if op.Reads() {
		if len(rest) > 0 {
			target += "?" + query(rest)
		}
		return w.try(op.Method, base+target, header, nil)
	}
	if w.proxied && !op.TakesBody() && len(rest) == 0 { // the proxy rejects {}, which the API accepts
		return w.try(op.Method, base+target, header, nil)
	}
	body, err := json.Marshal(rest)
	if err != nil {
		return answer{}, err
	}
	header.Set("Content-Type", "application/json")
	return w.try(op.Method, base+target, header, body)
}

func bearer(credential string) http.Header {
	if credential == "" {
		return http.Header{}
	}
	return http.Header{"Authorization": {"Bearer " + credential}}
}

// address returns an operation's path with its arguments filled in, and the remaining arguments.
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
		text := fmt.Sprint(value)
		if list, ok := value.([]any); ok { // spec, Endpoints: a list in a query string is comma-separated
			text = strings.Join(strings.Fields(strings.Trim(fmt.Sprint(list), "[]")), ",")
		}
		v.Set(name, text)
	}
	return v.Encode()
}

// tool calls an operation as an MCP tool.
func (w *env) tool(credential, tool string, args map[string]any, idem string) answer {
	w.t.Helper()
	if idem != "" {
		args = mergeArgs(args, map[string]any{"idempotency_key": idem})
	}
	body := must.Get(json.Marshal(args))(w.t)
	return w.toolVerbatim(credential, tool, string(body))
}

// toolVerbatim calls a tool with raw arguments, which may be invalid JSON.
func (w *env) toolVerbatim(credential, tool, arguments string) answer {
	w.t.Helper()
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, tool, arguments)
	header := bearer(credential)
	header["Content-Type"] = []string{"application/json"}
	header["Accept"] = []string{"application/json, text/event-stream"}
	header["Mcp-Protocol-Version"] = []string{"2025-06-18"}
	return w.toolAnswer(tool, w.raw(http.MethodPost, w.root+"/mcp", header, []byte(body)))
}

// toolAnswer extracts the answer from a tool result. A success contains the answer as an object and as text blocks:
// a sentence, the answer without untrusted texts, and the untrusted texts. A rejection contains a sentence and the
// problem document as text.
func (w *env) toolAnswer(tool string, got answer) answer {
	w.t.Helper()
	if got.status != http.StatusOK {
		return got
	}
	blocks, _ := got.at("result.content").([]any)
	if len(blocks) < 2 || len(blocks) > 3 {
		w.t.Fatalf("%s: the result has no text blocks: %s", tool, got.raw)
	}
	out := answer{header: got.header, raw: []byte(got.text("result.content.1.text"))}
	if json.Unmarshal(out.raw, &out.body) != nil {
		w.t.Fatalf("%s: the result is not JSON: %s", tool, got.raw)
	}
	if failed, _ := got.at("result.isError").(bool); failed {
		out.status = int(out.number("status"))
		return out
	}
	w.mustHaveInBlocks(tool, got, len(blocks) == 3)
	out.status = w.Registry().Tool(tool).Success
	structured := must.Get(json.Marshal(got.at("result.structuredContent")))(w.t)
	out.raw, out.body = structured, nil
	must.NoError(w.t, json.Unmarshal(structured, &out.body))
	w.mustSetPlantedApart(out, func(what string, got any) {
		w.t.Helper()
		w.t.Errorf("%s: %s: %v\n%s", tool, what, got, out.raw)
	})
	return out
}

// mustHaveInBlocks checks that the text blocks equal the object, and that only the last block has untrusted texts.
func (w *env) mustHaveInBlocks(tool string, got answer, quotes bool) {
	w.t.Helper()
	structured, _ := got.at("result.structuredContent").(map[string]any)
	if _, has := structured["untrusted_content"]; has != quotes {
		w.t.Errorf("%s: untrusted texts: %v, block for them: %v", tool, has, quotes)
		return
	}
	together := map[string]any{}
	must.NoError(w.t, json.Unmarshal([]byte(got.text("result.content.1.text")), &together))
	if quotes {
		_, apart, _ := strings.Cut(got.text("result.content.2.text"), "\n")
		must.NoError(w.t, json.Unmarshal([]byte(apart), &together))
		theirs, _ := structured["untrusted_content"].([]any)
		for i := range theirs {
			text := got.text(fmt.Sprintf("result.structuredContent.untrusted_content.%d.text", i))
			if said := got.text("result.content.0.text"); len(text) > 3 && strings.Contains(said, text) {
				w.t.Errorf("%s: the sentence contains an untrusted text: %s", tool, said)
			}
		}
	}
	if diff := cmp.Diff(structured, together); diff != "" {
		w.t.Errorf("%s: structuredContent differs from the text (-structured +text):\n%s", tool, diff)
	}
}

// full calls an operation over REST with the full key. The call must succeed.
func (w *env) full(tool string, args map[string]any) answer {
	w.t.Helper()
	got := w.rest(w.keys[access.Full], tool, args, "")
	if got.status >= 300 {
		w.t.Fatalf("%s: %d %s", tool, got.status, got.raw)
	}
	return got
}

// draft creates a draft and returns its ID. The default account is the first.
func (w *env) draft(caption string, accounts ...int64) string {
	w.t.Helper()
	if len(accounts) == 0 {
		accounts = w.accounts[:1]
	}
	return w.full("create_post", map[string]any{"caption": caption, "account_ids": accounts}).text("data.id")
}

// schedulePost creates a post that is scheduled for the given time from now.
func (w *env) schedulePost(caption string, in time.Duration) string {
	w.t.Helper()
	id := w.draft(caption)
	w.full("schedule_post", map[string]any{"post_id": id, "scheduled_at": ahead(in)})
	return id
}

// publishPost creates a post, publishes it and waits for the job.
func (w *env) publishPost(caption string, accounts ...int64) string {
	w.t.Helper()
	id := w.draft(caption, accounts...)
	w.publish(id)
	return id
}

// awaitJob waits until a job has ended.
func (w *env) awaitJob(job string) answer {
	w.t.Helper()
	var got answer
	w.until("job "+job+" to end", func() bool {
		got = w.full("get_job", map[string]any{"job_id": job})
		return got.at("data.finished") == true
	})
	return got
}

// publish publishes a post and returns the finished job.
func (w *env) publish(id string) answer {
	w.t.Helper()
	return w.awaitJob(w.full("publish_post", map[string]any{"post_id": id}).text("data.job_id"))
}

func (w *env) post(id string) answer {
	w.t.Helper()
	return w.full("get_post", map[string]any{"id": id})
}

// until waits until done returns true, for at most two minutes.
func (w *env) until(what string, done func() bool) {
	w.t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(2 * time.Minute)
	for !done() {
		select {
		case <-tick.C:
		case <-deadline:
			w.t.Fatalf("waited two minutes for %s", what)
		}
	}
}

// accountsWith returns the account of each sandbox post that contains the words.
func (w *env) accountsWith(words string) []string {
	w.t.Helper()
	resp := must.Get(client.Get(w.box.URL + "/held?contains=" + url.QueryEscape(words)))(w.t)
	defer resp.Body.Close()
	var got struct{ Posts []struct{ Account string } }
	must.NoError(w.t, json.NewDecoder(resp.Body).Decode(&got))
	accounts := []string{}
	for _, p := range got.Posts {
		accounts = append(accounts, p.Account)
	}
	return accounts
}

// testStart is the start of the tests. Future times are relative to it, so that two environments send equal times.
var testStart = time.Now().UTC().Truncate(time.Minute)

// ahead returns a future time in the format of the API.
func ahead(d time.Duration) string { return testStart.Add(d).Format(time.RFC3339) }

func (a answer) mustReject(t *testing.T, status int, code, reason string) {
	t.Helper()
	recordReason(code, reason)
	if a.status != status || a.code() != code || a.text("context.reason") != reason {
		t.Errorf("got %d %s %s, want %d %s %s: %s", a.status, a.code(), a.text("context.reason"), status, code, reason, a.raw)
	}
}

func (a answer) mustBe(t *testing.T, status int) {
	t.Helper()
	if a.status != status {
		t.Errorf("got %d, want %d: %s", a.status, status, a.raw)
	}
}

// mustHave checks the values at the given paths.
func (a answer) mustHave(t *testing.T, want map[string]any) {
	t.Helper()
	for path, value := range want {
		if got := a.at(path); plain(got) != plain(value) {
			t.Errorf("%s = %s, want %s: %s", path, plain(got), plain(value), a.raw)
		}
	}
}

// plain formats a value. It writes numbers without exponents.
func plain(value any) string {
	if n, ok := value.(float64); ok {
		return strconv.FormatFloat(n, 'f', -1, 64)
	}
	return fmt.Sprint(value)
}

func number(n int64) string { return fmt.Sprint(n) }

// mergeArgs returns args with the values of more added or replaced.
func mergeArgs(args, more map[string]any) map[string]any {
	out := map[string]any{}
	maps.Copy(out, args)
	maps.Copy(out, more)
	return out
}
