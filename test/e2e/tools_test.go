package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/testkit/must"

	"github.com/google/go-cmp/cmp"
)

// hints are a tool's annotations. Clients use them to decide whether to ask the person before a call.
type hints struct{ ReadOnly, Destructive, Idempotent, OpenWorld bool }

// writeHints has the hints of tools that write. All other tools are read-only and idempotent.
var writeHints = map[string]hints{
	"create_report":          {Idempotent: true, OpenWorld: true}, // with the same key
	"refresh_report":         {Idempotent: true, OpenWorld: true},
	"set_report_tracking":    {Idempotent: true, OpenWorld: true},
	"search_hashtags":        {Idempotent: true, OpenWorld: true},
	"download_profile_media": {Idempotent: true, OpenWorld: true},
	"create_post":            {},
	"update_post":            {Destructive: true, Idempotent: true, OpenWorld: true}, // a scheduled post is published with the change
	"cancel_post":            {Idempotent: true},
	"schedule_post":          {Idempotent: true, OpenWorld: true},
	"publish_post":           {Destructive: true, Idempotent: true, OpenWorld: true},
	"retry_post":             {Destructive: true, OpenWorld: true},
	"archive_post":           {Idempotent: true},
	"import_media":           {OpenWorld: true},
	"create_uploads":         {Destructive: true},
	"create_hashtag_list":    {},
	"add_hashtags":           {Idempotent: true},
}

func TestHints(t *testing.T) {
	t.Parallel()
	withEnv(t, options{}, func(t *testing.T, w *env) {
		tools, _ := w.message(full(w), "tools/list", "{}").at("result.tools").([]any)
		if len(tools) != len(w.Registry().All()) {
			t.Fatalf("%d tools, %d operations", len(tools), len(w.Registry().All()))
		}
		for _, tool := range tools {
			said, _ := tool.(map[string]any)
			name := fmt.Sprint(said["name"])
			marks, _ := said["annotations"].(map[string]any)
			got := hints{
				marks["readOnlyHint"] == true, marks["destructiveHint"] == true, marks["idempotentHint"] == true,
				marks["openWorldHint"] == true,
			}
			want, writes := writeHints[name]
			if !writes {
				want = hints{ReadOnly: true, Idempotent: true}
			}
			if writes == w.Registry().Tool(name).Reads() {
				t.Errorf("%s: is a write: %v, ReadOnly: %v", name, writes, !writes)
			}
			if got != want {
				t.Errorf("%s: %+v, want %+v", name, got, want)
			}
		}
	})
}

// Repeating a tool marked as idempotent changes nothing. Repeating any other tool has an effect.
func TestIdempotentHints(t *testing.T) {
	t.Parallel()
	withEnv(t, options{accounts: 1}, func(t *testing.T, w *env) {
		draft, scheduled, cancelled, sent := w.draft("repeated"), w.schedulePost("repeated", 48*time.Hour),
			w.schedulePost("repeated", 72*time.Hour), w.draft("repeated")
		list := w.full("create_hashtag_list", map[string]any{"name": "Repeated"}).number("data.id")
		for tool, args := range map[string]map[string]any{
			"create_post":         toFirst(nil)(w),
			"create_hashtag_list": {"name": "Repeated too"},
			"create_uploads":      {},
			"update_post":         {"id": draft, "caption": "changed"},
			"schedule_post":       {"post_id": scheduled, "scheduled_at": ahead(50 * time.Hour)},
			"cancel_post":         {"post_id": cancelled},
			"publish_post":        {"post_id": sent},
			"add_hashtags":        {"list_id": list, "hashtags": []string{"harbour", "coffee"}},
		} {
			w.tool(full(w), tool, args, "")
			before := w.footprint()
			w.tool(full(w), tool, args, "")
			if changed := w.footprint().changesSince(before); (changed == rows{}) != writeHints[tool].Idempotent {
				t.Errorf("%s: a repeat changed %+v, hints %+v", tool, changed, writeHints[tool])
			}
		}
	})
}

// notToolNames lists words in the contract that look like tool names.
var notToolNames = map[string]bool{"list_full": true, "retry_after_seconds": true}

// Every tool that is named in a description, the instructions or a prompt exists.
func TestToolsNameExistingTools(t *testing.T) {
	t.Parallel()
	withEnv(t, options{}, func(t *testing.T, w *env) {
		var texts []string
		verbs := map[string]bool{}
		for _, op := range w.Registry().All() {
			texts = append(texts, op.FullDescription())
			verb, _, _ := strings.Cut(op.Tool, "_")
			verbs[verb] = true
			if len(op.FullDescription()) < 80 || !op.Reads() && op.Next == "" {
				t.Errorf("the description of %s does not name the next tool: %s", op.Tool, op.FullDescription())
			}
		}
		texts = append(texts,
			w.message(full(w), "initialize",
				`{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}`).text("result.instructions"))
		for _, p := range w.list("prompts/list", "prompts") {
			args := map[string]string{}
			for _, a := range p["arguments"].([]any) {
				args[fmt.Sprint(a.(map[string]any)["name"])] = "7"
			}
			params := must.Get(json.Marshal(map[string]any{"name": p["name"], "arguments": args}))(t)
			texts = append(texts, w.message(full(w), "prompts/get", string(params)).text("result.messages.0.content.text"))
		}
		for _, text := range texts {
			for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return r != '_' && (r < 'a' || r > 'z') }) {
				verb, _, named := strings.Cut(word, "_")
				if named && verbs[verb] && !notToolNames[word] && w.Registry().Tool(word) == nil {
					t.Errorf("unknown tool %s: %s", word, text)
				}
			}
		}
	})
}

// list returns the result of an MCP list method.
func (w *env) list(method, member string) []map[string]any {
	w.t.Helper()
	var out []map[string]any
	items, _ := w.message(full(w), method, "{}").at("result." + member).([]any)
	for _, it := range items {
		out = append(out, it.(map[string]any))
	}
	return out
}

// resource returns a resource.
func (w *env) resource(credential, uri string) answer {
	w.t.Helper()
	return w.message(credential, "resources/read", fmt.Sprintf(`{"uri":%q}`, uri))
}

// A resource equals the REST answer, for the same key.
func TestResources(t *testing.T) {
	t.Parallel()
	withEnv(t, options{accounts: 1}, func(t *testing.T, w *env) {
		id := w.draft("as a resource")
		want := w.rest(readOnly(w), "get_post", map[string]any{"id": id}, "")
		got := w.resource(readOnly(w), "pressroom://posts/"+id)
		var read map[string]any
		must.NoError(t, json.Unmarshal([]byte(got.text("result.contents.0.text")), &read))
		if diff := cmp.Diff(want.at("data"), read["data"]); diff != "" {
			t.Errorf("answers differ (-REST +resource):\n%s", diff)
		}
		listed := w.list("resources/list", "resources")
		if len(listed) == 0 || len(listed) > 30 || listed[0]["uri"] != "pressroom://posts/"+id ||
			listed[0]["title"] != "as a resource, draft" {
			t.Errorf("listed: %v", listed)
		}
		if templates := w.list("resources/templates/list", "resourceTemplates"); len(templates) != 3 {
			t.Errorf("templates: %v", templates)
		}
		for _, uri := range []string{"pressroom://posts/" + w.stranger().
			note("post"), "pressroom://posts/" + noSuchID, "pressroom://reports/profile/" + noSuchID,
			"pressroom://brand-voices/999999999"} {
			if got := w.resource(full(w), uri); got.number("error.code") != -32002 || got.text("error.data.code") != "not_found" {
				t.Errorf("%s: %s", uri, got.raw)
			}
		}
	})
}

// Resources and completions use as many free calls as their operations.
func TestResourceCounting(t *testing.T) {
	t.Parallel()
	withEnv(t, options{accounts: 1, plan: smallPlan}, func(t *testing.T, w *env) {
		id := w.draft("counted")
		for _, c := range []struct {
			method, params string
			costs          int64
		}{
			{"resources/read", `{"uri":"pressroom://posts/` + id + `"}`, 1},
			{"resources/read", `{"uri":"pressroom://posts/` + noSuchID + `"}`, 0},
			{"resources/read", `{"uri":"no such"}`, 0},
			{"resources/list", `{}`, 3}, // posts, reports and voices
			{"resources/templates/list", `{}`, 0},
			{"prompts/list", `{}`, 0},
			{"prompts/get", `{"name":"write_post","arguments":{"topic":"x"}}`, 0},
			{"completion/complete", `{"ref":{"type":"ref/prompt","name":"write_post"},"argument":{"name":"account_id","value":""}}`, 1},
			{"completion/complete", `{"ref":{"type":"ref/prompt","name":"explain_report"},` +
				`"argument":{"name":"report_type","value":""}}`, 0},
		} {
			before := w.left()
			got := w.message(full(w), c.method, c.params)
			if spent := before - w.left(); spent != c.costs {
				t.Errorf("%s %s used %d free calls, want %d: %s", c.method, c.params, spent, c.costs, got.raw)
			}
		}
	})
}

// Every prompt argument that is an ID has completions.
func TestCompletions(t *testing.T) {
	t.Parallel()
	withEnv(t, options{accounts: 2}, func(t *testing.T, w *env) {
		post := w.draft("Nougat for the harbour")
		w.draft("Something else")
		list := fmt.Sprint(w.full("create_hashtag_list", map[string]any{"name": "Nougat"}).number("data.id"))
		for _, c := range []struct{ prompt, argument, typed, want string }{
			{"write_post", "account_id", "", fmt.Sprintf("[%d %d]", w.accounts[1], w.accounts[0])},
			{"write_post", "account_id", fmt.Sprint(w.accounts[0]), fmt.Sprintf("[%d]", w.accounts[0])},
			{"find_hashtags", "list_id", "nougat", "[" + list + "]"},
			{"explain_failed_post", "post_id", "NOUGAT", "[" + post + "]"},
			{"explain_failed_post", "post_id", "no such words", "[]"},
			{"explain_report", "report_type", "h", "[hashtag]"},
			{"explain_report", "report_id", "", "[]"},
			{"write_post", "voice_id", "", "[]"},
			{"write_post", "topic", "a", "[]"},
		} {
			got := w.message(readOnly(w), "completion/complete",
				fmt.Sprintf(`{"ref":{"type":"ref/prompt","name":%q},"argument":{"name":%q,"value":%q}}`, c.prompt, c.argument, c.typed))
			if values := fmt.Sprint(got.at("result.completion.values")); values != c.want {
				t.Errorf("%s of %s, %q: %s, want %s (%s)", c.argument, c.prompt, c.typed, values, c.want, got.raw)
			}
		}
	})
}

// Gates of a key also block resources and completions.
func TestResourceGates(t *testing.T) {
	t.Parallel()
	withEnv(t, options{accounts: 1}, func(t *testing.T, w *env) {
		id := w.draft("behind a gate")
		for _, g := range gates() {
			if g.code == "mcp_disabled_for_team" {
				must.NoError(t, g.closes(w))
			}
		}
		for method, params := range map[string]string{
			"resources/read": `{"uri":"pressroom://posts/` + id + `"}`, "resources/list": `{}`,
			"completion/complete": `{"ref":{"type":"ref/prompt","name":"write_post"},"argument":{"name":"account_id","value":""}}`,
		} {
			if got := w.message(full(w), method, params); got.text("error.data.code") != "mcp_disabled_for_team" ||
				got.number("error.code") != -32000 {
				t.Errorf("%s: %s", method, got.raw)
			}
		}
	})
}

// A call that waits for a job reports progress and returns when the job ends.
func TestWaitForJob(t *testing.T) {
	t.Parallel()
	withEnv(t, options{accounts: 1}, func(t *testing.T, w *env) {
		job := w.full("publish_post", map[string]any{"post_id": w.draft("waited for " + gatedMarker)}).text("data.job_id")
		ended := w.full("publish_post", map[string]any{"post_id": w.draft("done at once")}).text("data.job_id")
		w.awaitJob(ended)

		began := time.Now()
		w.rest(full(w), "get_job", map[string]any{"job_id": ended, "wait_seconds": 25}, "").
			mustHave(t, map[string]any{"data.finished": true})
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("waiting for a finished job took %v", took)
		}
		for _, call := range []edgeCall{w.rest, w.tool} {
			call(full(w), "get_job", map[string]any{"job_id": job, "wait_seconds": 1}, "").
				mustHave(t, map[string]any{"data.finished": false})
			call(full(w), "get_job", map[string]any{"job_id": job, "wait_seconds": 26}, "").
				mustReject(t, http.StatusUnprocessableEntity, "validation_failed", "out_of_range")
			call(full(w), "get_job", map[string]any{"job_id": "social_post:" + noSuchID, "wait_seconds": 25}, "").
				mustReject(t, http.StatusNotFound, "not_found", "")
		}
		byREST := make(chan answer, 1)
		go func() {
			byREST <- w.rest(full(w), "get_job", map[string]any{"job_id": job, "wait_seconds": 25}, "")
		}()
		told := w.waitWithProgress(full(w), job, w.open)
		if !strings.Contains(told, `"progressToken":"p","message":"The job is `) || !strings.Contains(told, `"finished":true`) {
			t.Errorf("unexpected messages: %s", told)
		}
		(<-byREST).mustHave(t, map[string]any{"data.finished": true})
	})
}

// A caller whose key or connection is revoked during the wait gets no more data of the job.
func TestRevokedDuringWait(t *testing.T) {
	t.Parallel()
	withEnv(t, options{accounts: 1}, func(t *testing.T, w *env) {
		job := w.full("publish_post", map[string]any{"post_id": w.draft("waited for " + gatedMarker)}).text("data.job_id")
		id, value := w.newKey(w.team, access.Full, time.Time{})
		c := w.connectAssistant(access.Admin, access.Read)
		byREST := make(chan answer, 1)
		go func() {
			byREST <- w.rest(value, "get_job", map[string]any{"job_id": job, "wait_seconds": 25}, "")
		}()
		told := w.waitWithProgress(c.token, job, func() {
			must.NoError(t, w.Teams.RevokeKey(t.Context(), id))
			must.NoError(t, w.Teams.RevokeKey(t.Context(), c.id))
			w.mustApplySoon(func() bool {
				return w.tool(c.token, "get_identity", map[string]any{},
					"").status == http.StatusUnauthorized && w.rest(value, "get_identity", nil, "").status == http.StatusUnauthorized
			})
			w.open()
		})
		if strings.Contains(told, `"finished":true`) || strings.Count(told, `"progressToken"`) != 1 ||
			!strings.Contains(told, `unauthorized`) {
			t.Errorf("a revoked connection received: %s", told)
		}
		(<-byREST).mustReject(t, http.StatusUnauthorized, "unauthorized", "")
	})
}

// waitWithProgress waits for a job with progress notifications and returns all messages. It calls then after the first
// message, so that the job can continue.
func (w *env) waitWithProgress(credential, job string, then func()) string {
	w.t.Helper()
	body := fmt.Sprintf(
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_job","arguments":{"job_id":%q,`+
			`"wait_seconds":25},"_meta":{"progressToken":"p"}}}`, job)
	r := must.Get(http.NewRequestWithContext(w.t.Context(), http.MethodPost, w.root+"/mcp", strings.NewReader(body)))(w.t)
	r.Header = bearer(credential)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	resp := must.Get(client.Do(r))(w.t)
	defer resp.Body.Close()
	stream := bufio.NewReader(resp.Body)
	first := must.Get(stream.ReadString('\n'))(w.t)
	then()
	rest := must.Get(io.ReadAll(stream))(w.t)
	return first + string(rest)
}

// After a wait, the pages of the result are read without waiting.
func TestPagesAfterWait(t *testing.T) {
	t.Parallel()
	withEnv(t, options{}, func(t *testing.T, w *env) {
		w.grant(100)
		job := w.rest(full(w), "search_hashtags", searchArgs(nil)(w), "k").text("data.job_id")
		for _, call := range []edgeCall{w.rest, w.tool} {
			first := call(full(w), "get_job", map[string]any{"job_id": job, "limit": 1, "wait_seconds": 25}, "")
			first.mustHave(t, map[string]any{"data.finished": true, "page.has_more": true})
			second := call(full(w), "get_job", map[string]any{"job_id": job, "limit": 1, "cursor": first.text("page.cursor")}, "")
			second.mustHave(t, map[string]any{"data.finished": true})
			if a, b := first.text("data.result.hashtags.0.hashtag"), second.text("data.result.hashtags.0.hashtag"); a == "" || a == b {
				t.Errorf("the first page has %q, the second %q", a, b)
			}
		}
	})
}
