package mcp_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/auth/apikey"
	"pressroom.example/pressroom/internal/testkit/must"
)

// result is the JSON of a tool's result.
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

// call calls a tool with JSON arguments; empty ones are omitted.
func (e *env) call(t *testing.T, level, tool, arguments string) (result, string) {
	t.Helper()
	if arguments != "" {
		arguments = `,"arguments":` + arguments
	}
	got := e.send(t, "POST",
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

// problemCode returns the code, reason and argument of an error.
func problemCode(t *testing.T, got result) string {
	t.Helper()
	var doc struct {
		Code    string
		Context struct{ Reason, Argument string }
	}
	must.NoError(t, json.Unmarshal([]byte(got.Content[1].Text), &doc))
	if !got.IsError || got.Structured != nil {
		t.Errorf("an error with isError %v and structuredContent %s", got.IsError, got.Structured)
	}
	return strings.TrimRight(doc.Code+" "+doc.Context.Reason+" "+doc.Context.Argument, " ")
}

func TestSuccess(t *testing.T) {
	e := newEnv(t)
	for name, c := range map[string]struct{ tool, arguments, want string }{
		"arguments absent":    {"list_notes", ``, `"notes":["Limit 20."]`},
		"arguments null":      {"list_notes", `null`, `"page":{"has_more":true`},
		"no arguments needed": {"get_nothing", `{}`, `"data":{}`},
		"in the path":         {"get_note", `{"id":"n1"}`, `"remark":{"untrusted":"u1"}`},
		"a write":             {"create_note", `{"text":"a"}`, `"id":"n2"`},
		"with a key":          {"buy_note", `{"text":"b","idempotency_key":"k"}`, `"id":"n2"`},
	} {
		got, _ := e.call(t, "full", c.tool, c.arguments)
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

func TestErrors(t *testing.T) {
	e := newEnv(t)
	for name, c := range map[string]struct{ level, tool, arguments, want string }{
		"item not found":             {"full", "get_note", `{"id":"n9"}`, "not_found"},
		"level":                      {"read_only", "create_note", `{"text":1}`, "write_not_allowed"},
		"level before form":          {"drafts", "buy_note", `[]`, "spend_not_allowed"},
		"missing":                    {"full", "create_note", ``, "validation_failed missing_argument text"},
		"unknown":                    {"full", "list_notes", `{"zq":1}`, "validation_failed unknown_argument zq"},
		"string instead of a number": {"full", "list_notes", `{"limit":"3"}`, "validation_failed not_an_integer limit"},
		"out of range":               {"full", "list_notes", `{"limit":51}`, "validation_failed out_of_range limit"},
		"twice":                      {"full", "create_note", `{"text":"a","text":"b"}`, "validation_failed argument_given_twice"},
		"not an object":              {"full", "create_note", `"a"`, "validation_failed body_not_a_json_object"},
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
		"invalid format":  {"full", "change_note", `{"id":"N 1"}`, "validation_failed malformed id"},
	} {
		got, body := e.call(t, c.level, c.tool, c.arguments)
		if problem := problemCode(t, got); problem != c.want {
			t.Errorf("%s: %s, want %s", name, problem, c.want)
		}
		if strings.Contains(body, "hidden") {
			t.Errorf("%s: %s", name, body)
		}
	}
	for _, want := range []string{"the hidden text of an error", "the hidden text of a panic", "breakDown"} {
		if !strings.Contains(e.log.String(), want) {
			t.Errorf("the log lacks %q", want)
		}
	}
}

func TestSecretsAreNotRepeated(t *testing.T) {
	e := newEnv(t)
	key := apikey.New(apikey.APIKey)
	for arguments, argument := range map[string]string{
		`{"text":"my key is ` + key + `"}`:             " text",
		`{"text":"a","idempotency_key":"` + key + `"}`: "",
		`{"text":"a","` + key + `":1}`:                 "",
	} {
		got, body := e.call(t, "full", "create_note", arguments)
		if problem := problemCode(t, got); problem != "validation_failed secret_in_argument"+argument {
			t.Errorf("%s: %s", arguments, problem)
		}
		if strings.Contains(body, key) {
			t.Errorf("repeated: %s", body)
		}
	}
	for _, message := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"` + key + `"}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + key + `"}}`, key,
	} {
		if got := e.send(t, "POST", message); strings.Contains(got.body, key) {
			t.Errorf("repeated: %s", got.body)
		}
	}
	if strings.Contains(e.log.String(), key) {
		t.Error("the key is in the log")
	}
}

func TestRepeatedCalls(t *testing.T) {
	e := newEnv(t)
	first, _ := e.call(t, "full", "buy_note", `{"text":"once","idempotency_key":"k1"}`)
	again, _ := e.call(t, "full", "buy_note", `{"text":"once","idempotency_key":"k1"}`)
	if first.IsError || again.IsError {
		t.Errorf("refused: %+v, %+v", first, again)
	}
	other, _ := e.call(t, "full", "buy_note", `{"text":"once","idempotency_key":"k2"}`)
	if problemCode(t, other) != "rate_limited" || !strings.Contains(other.Content[1].Text, `"retry_after_seconds":2`) ||
		!strings.Contains(other.Content[0].Text, "Wait 2 seconds") {
		t.Errorf("with another key: %+v", other)
	}
}

func TestLogAndMetrics(t *testing.T) {
	e := newEnv(t)
	e.call(t, "full", "create_note", `{"text":"not for the log","idempotency_key":"nor this"}`)
	e.call(t, "read_only", "create_note", `{"text":"a"}`)
	answer := e.send(t, "POST", ping, "Authorization", "")
	var lines []map[string]any
	for line := range strings.Lines(e.log.String()) {
		var fields map[string]any
		must.NoError(t, json.Unmarshal([]byte(line), &fields))
		lines = append(lines, fields)
	}
	if len(lines) != 3 {
		t.Fatalf("%d lines: %s", len(lines), e.log)
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
	if log := e.log.String(); strings.Contains(log, "for the log") || strings.Contains(log, "nor this") {
		t.Errorf("arguments in the log: %s", log)
	}
	for _, want := range []string{"create_note", "create_note!", "none!"} {
		if got := <-e.observed; got != want {
			t.Errorf("observed %s, want %s", got, want)
		}
	}
}
