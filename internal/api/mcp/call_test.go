package mcp_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pressroom/internal/auth/apikey"
)

// result is a tool's result as it stands on the wire.
type result struct {
	IsError    bool            `json:"isError"`
	Structured json.RawMessage `json:"structuredContent"`
	Content    []struct {
		Type        string         `json:"type"`
		Text        string         `json:"text"`
		Meta        map[string]any `json:"_meta"`
		Annotations struct {
			Audience []string
			Priority float64
		} `json:"annotations"`
	} `json:"content"`
}

// call calls a tool with raw arguments; empty arguments are left out.
func (w *world) call(t *testing.T, level, tool, arguments string) (result, string) {
	t.Helper()
	if arguments != "" {
		arguments = `,"arguments":` + arguments
	}
	got := w.send(t, "POST",
		fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q%s}}`, tool, arguments),
		"Authorization", "Bearer "+level)
	var out struct{ Result *result }
	if err := json.Unmarshal([]byte(got.body), &out); err != nil || out.Result == nil || got.status != 200 {
		t.Fatalf("%s: HTTP %d %s (%v)", tool, got.status, got.body, err)
	}
	if n := len(out.Result.Content); n < 2 || n > 3 || out.Result.Content[0].Type != "text" || out.Result.Content[1].Type != "text" {
		t.Fatalf("%s: content %s", tool, got.body)
	}
	return *out.Result, got.body
}

// problemOf is the code, reason and argument of a refusal.
func problemOf(t *testing.T, got result) string {
	t.Helper()
	var doc struct {
		Code    string
		Context struct{ Reason, Argument string }
	}
	if err := json.Unmarshal([]byte(got.Content[1].Text), &doc); err != nil {
		t.Fatal(err)
	}
	if !got.IsError || got.Structured != nil {
		t.Errorf("a refusal with isError %v and structuredContent %s", got.IsError, got.Structured)
	}
	return strings.TrimRight(doc.Code+" "+doc.Context.Reason+" "+doc.Context.Argument, " ")
}

func TestSuccess(t *testing.T) {
	w := newWorld(t)
	for name, c := range map[string]struct{ tool, arguments, want string }{
		"arguments absent": {"list_notes", ``, `"notes":["Limit 20."]`},
		"arguments null":   {"list_notes", `null`, `"page":{"has_more":true`},
		"none needed":      {"get_nothing", `{}`, `"data":{}`},
		"in the path":      {"get_note", `{"id":"n1"}`, `"remark":{"untrusted":"u1"}`},
		"a write":          {"create_note", `{"text":"a"}`, `"id":"n2"`},
		"with a key":       {"buy_note", `{"text":"b","idempotency_key":"k"}`, `"id":"n2"`},
	} {
		got, _ := w.call(t, "full", c.tool, c.arguments)
		if got.IsError || !strings.Contains(string(got.Structured), c.want) {
			t.Errorf("%s: %+v, want %s", name, got, c.want)
		}
		if len(got.Content) == 2 && got.Content[1].Text != string(got.Structured) {
			t.Errorf("%s: text %s, structured %s", name, got.Content[1].Text, got.Structured)
		}
		if want := `"app_url":"` + publicURL; !strings.Contains(string(got.Structured), want) {
			t.Errorf("%s: no %s", name, want)
		}
	}
}

func TestRefusals(t *testing.T) {
	w := newWorld(t)
	for name, c := range map[string]struct{ level, tool, arguments, want string }{
		"not there":           {"full", "get_note", `{"id":"n9"}`, "not_found"},
		"level":               {"read_only", "create_note", `{"text":1}`, "write_not_allowed"},
		"level before form":   {"drafts", "buy_note", `[]`, "spend_not_allowed"},
		"missing":             {"full", "create_note", ``, "validation_failed missing_argument text"},
		"unknown":             {"full", "list_notes", `{"zq":1}`, "validation_failed unknown_argument zq"},
		"a text for a number": {"full", "list_notes", `{"limit":"3"}`, "validation_failed not_an_integer limit"},
		"out of range":        {"full", "list_notes", `{"limit":51}`, "validation_failed out_of_range limit"},
		"twice":               {"full", "create_note", `{"text":"a","text":"b"}`, "validation_failed argument_given_twice"},
		"no object":           {"full", "create_note", `"a"`, "validation_failed body_not_a_json_object"},
		"nested deep": {
			"full", "create_note", `{"text":` + strings.Repeat("[", 900) + strings.Repeat("]", 900) + `}`, "validation_failed malformed",
		},
		"key missing": {"full", "buy_note", `{"text":"c"}`, "validation_failed idempotency_key_required idempotency_key"},
		"key empty": {
			"full", "buy_note", `{"text":"c","idempotency_key":" "}`, "validation_failed idempotency_key_empty idempotency_key",
		},
		"key too long": {
			"full", "create_note", `{"text":"c","idempotency_key":"` + strings.Repeat("k", 129) + `"}`,
			"validation_failed idempotency_key_too_long idempotency_key",
		},
		"key a number": {"full", "buy_note", `{"text":"c","idempotency_key":1}`, "validation_failed malformed idempotency_key"},
		"key null": {
			"full", "create_note", `{"text":"c","idempotency_key":null}`, "validation_failed malformed idempotency_key",
		},
		"key a list": {
			"full", "create_note", `{"text":"c","idempotency_key":["k"]}`, "validation_failed not_a_single_value idempotency_key",
		},
		"key of a read": {
			"full", "list_notes", `{"idempotency_key":"k"}`, "validation_failed idempotency_key_not_accepted idempotency_key",
		},
		"key of a read, a list": {
			"full", "list_notes", `{"idempotency_key":[]}`, "validation_failed idempotency_key_not_accepted idempotency_key",
		},
		"an error inside": {"full", "break_note", `{"text":"error"}`, "internal_error"},
		"a panic inside":  {"full", "break_note", `{"text":"panic"}`, "internal_error"},
		"not in its form": {"full", "change_note", `{"id":"N 1"}`, "validation_failed malformed id"},
	} {
		got, body := w.call(t, c.level, c.tool, c.arguments)
		if said := problemOf(t, got); said != c.want {
			t.Errorf("%s: %s, want %s", name, said, c.want)
		}
		if strings.Contains(body, "hidden") {
			t.Errorf("%s: %s", name, body)
		}
	}
	for _, want := range []string{"the hidden text of an error", "the hidden text of a panic", "breakDown"} {
		if !strings.Contains(w.log.String(), want) {
			t.Errorf("the log does not tell %q", want)
		}
	}
}

func TestSecretsAreNotRepeated(t *testing.T) {
	w := newWorld(t)
	key := apikey.New(apikey.APIKey)
	for arguments, blamed := range map[string]string{
		`{"text":"my key is ` + key + `"}`: " text", `{"text":"a","idempotency_key":"` + key + `"}`: "", `{"text":"a","` + key + `":1}`: "",
	} {
		got, body := w.call(t, "full", "create_note", arguments)
		if said := problemOf(t, got); said != "validation_failed secret_in_argument"+blamed {
			t.Errorf("%s: %s", arguments, said)
		}
		if strings.Contains(body, key) {
			t.Errorf("repeated: %s", body)
		}
	}
	for _, message := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"` + key + `"}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + key + `"}}`, key,
	} {
		if got := w.send(t, "POST", message); strings.Contains(got.body, key) {
			t.Errorf("repeated: %s", got.body)
		}
	}
	if strings.Contains(w.log.String(), key) {
		t.Error("the key is in the log")
	}
}

func TestARepeatIsOneCall(t *testing.T) {
	w := newWorld(t)
	first, _ := w.call(t, "full", "buy_note", `{"text":"once","idempotency_key":"k1"}`)
	again, _ := w.call(t, "full", "buy_note", `{"text":"once","idempotency_key":"k1"}`)
	if first.IsError || again.IsError {
		t.Errorf("refused: %+v, %+v", first, again)
	}
	other, _ := w.call(t, "full", "buy_note", `{"text":"once","idempotency_key":"k2"}`)
	if said := problemOf(t, other); said != "rate_limited" || !strings.Contains(other.Content[1].Text,
		`"retry_after_seconds":2`) || !strings.Contains(other.Content[0].Text, "Wait 2 seconds") {
		t.Errorf("with another key: %+v", other)
	}
}

func TestLogAndObservation(t *testing.T) {
	w := newWorld(t)
	w.call(t, "full", "create_note", `{"text":"not for the log","idempotency_key":"nor this"}`)
	w.call(t, "read_only", "create_note", `{"text":"a"}`)
	answer := w.send(t, "POST", ping, "Authorization", "")
	var lines []map[string]any
	for line := range strings.Lines(w.log.String()) {
		var fields map[string]any
		if err := json.Unmarshal([]byte(line), &fields); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, fields)
	}
	if len(lines) != 3 {
		t.Fatalf("%d lines: %s", len(lines), w.log)
	}
	for i, want := range []map[string]any{
		{"rpc": "tools/call", "operation": "create_note", "status": 201.0, "team": 7.0, "key": 3.0, "refused": nil},
		{"rpc": "tools/call", "operation": "create_note", "status": 403.0, "refused": "write_not_allowed"},
		{"rpc": "none", "operation": "none", "status": 401.0, "refused": "unauthorized", "request_id": answer.header.Get("X-Request-Id")},
	} {
		for name, value := range want {
			if lines[i][name] != value {
				t.Errorf("line %d: %s is %v, want %v", i, name, lines[i][name], value)
			}
		}
	}
	if said := w.log.String(); strings.Contains(said, "for the log") || strings.Contains(said, "nor this") {
		t.Errorf("arguments in the log: %s", said)
	}
	for _, want := range []string{"create_note", "create_note!", "none!"} {
		if got := <-w.observed; got != want {
			t.Errorf("observed %s, want %s", got, want)
		}
	}
}
