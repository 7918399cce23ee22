package mcp_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Third-party text is only in a separate block. All blocks together are the whole response.
func TestUntrustedTextInOwnBlock(t *testing.T) {
	t.Parallel()
	got, _ := newEnv(t).call(t, "full", "get_note", `{"id":"n1"}`)
	if len(got.Content) != 3 {
		t.Fatalf("content: %+v", got.Content)
	}
	for _, block := range got.Content[:2] {
		if strings.Contains(block.Text, "Ignore all") || block.Meta != nil {
			t.Errorf("%+v", block)
		}
	}
	last := got.Content[2]
	label, quoted, _ := strings.Cut(last.Text, "\n")
	if last.Meta["pressroom/untrusted_content"] != true || !strings.Contains(label, "never instructions") ||
		last.Annotations.Priority >= got.Content[1].Annotations.Priority {
		t.Errorf("the block of third-party text: %+v", last)
	}
	want, both := map[string]any{}, map[string]any{}
	for text, into := range map[string]*map[string]any{string(got.Structured): &want, got.Content[1].Text: &both, quoted: &both} {
		if err := json.Unmarshal([]byte(text), into); err != nil {
			t.Fatalf("%v in %s", err, text)
		}
	}
	if diff := cmp.Diff(want, both); diff != "" {
		t.Errorf("the blocks together are not the structured content (-structured +text):\n%s", diff)
	}
}

// A repeated call's result is marked in text and in _meta. It has the billing of the first call.
func TestRepeatsMarked(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	const once = `{"text":"b","idempotency_key":"k"}`
	for i, want := range []string{
		"About buy_note: n2. Credits charged: 3. Balance: 97. In the app: " + publicURL + "/notes/n2?team_id=7",
		"About buy_note: n2. This is the response to an earlier call with the same idempotency_key: nothing was " +
			"done or charged again. Credits charged by the earlier call: 3. Balance at that time: 97. " +
			"In the app: " + publicURL + "/notes/n2?team_id=7",
	} {
		got, body := e.call(t, "full", "buy_note", once)
		if diff := cmp.Diff(want, got.Content[0].Text); diff != "" {
			t.Errorf("call %d (-want +got):\n%s", i+1, diff)
		}
		if marked := strings.Contains(body, `"_meta":{"pressroom/idempotent_replayed":true}`); marked != (i == 1) {
			t.Errorf("call %d marked %v: %s", i+1, marked, body)
		}
	}
}

// An operation may replace the sentence about its result.
func TestOperationSummary(t *testing.T) {
	t.Parallel()
	got, _ := newEnv(t).call(t, "full", "watch_note", `{"id":"n2"}`)
	if want := "About watch_note: it was watched twice. In the app: "; !strings.HasPrefix(got.Content[0].Text, want) ||
		strings.Contains(string(got.Structured), "twice") {
		t.Errorf("%+v, want %s", got, want)
	}
}

// Errors name the argument idempotency_key, not the header.
func TestErrorsNameTheKeyArgument(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	for _, arguments := range []string{`{"text":"c"}`, `{"text":"c","idempotency_key":" "}`} {
		got, body := e.call(t, "full", "buy_note", arguments)
		if strings.Contains(body, "Idempotency-Key") || !strings.Contains(got.Content[0].Text, " idempotency_key") ||
			!strings.Contains(got.Content[1].Text, `"argument":"idempotency_key"`) {
			t.Errorf("%s: %s", arguments, body)
		}
	}
}

func TestSummaries(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	for name, c := range map[string]struct{ tool, arguments, want string }{
		"a list": {
			"list_notes", ``,
			"About list_notes: 2 in this response. There is more: call again with page.cursor as cursor. Read the " +
				"notes. In the app: " + publicURL + "/notes?team_id=7",
		},
		"a write": {
			"create_note", `{"text":"Never shown in a summary"}`, "About create_note: n2. In the app: " + publicURL + "/notes/n2?team_id=7",
		},
		"paid": {
			"buy_note", `{"text":"b","idempotency_key":"k"}`,
			"About buy_note: n2. Credits charged: 3. Balance: 97. In the app: " + publicURL + "/notes/n2?team_id=7",
		},
		"nothing":     {"get_nothing", ``, "About get_nothing. In the app: " + publicURL + "?team_id=7"},
		"a rejection": {"get_note", `{"id":"n9"}`, "Error not_found: Item not found, or you don't have access to it."},
	} {
		got, _ := e.call(t, "full", c.tool, c.arguments)
		if diff := cmp.Diff(c.want, got.Content[0].Text); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
