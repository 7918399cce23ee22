package mcp_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pressroom/internal/secret"
)

type listedPrompt struct {
	Name, Title, Description string
	Arguments                []struct {
		Name, Description string
		Required          bool
	}
}

func (w *world) prompts(t *testing.T) []listedPrompt {
	t.Helper()
	result, refused := w.rpc(t, "read_only", "prompts/list", `{}`)
	var got struct{ Prompts []listedPrompt }
	if err := json.Unmarshal(result, &got); err != nil || refused != "" || len(got.Prompts) == 0 {
		t.Fatalf("%s %s (%v)", result, refused, err)
	}
	return got.Prompts
}

func (w *world) prompt(t *testing.T, name string, arguments map[string]string) (string, string) {
	t.Helper()
	params, err := json.Marshal(map[string]any{"name": name, "arguments": arguments})
	if err != nil {
		t.Fatal(err)
	}
	result, refused := w.rpc(t, "read_only", "prompts/get", string(params))
	var got struct {
		Messages []struct {
			Role    string
			Content struct{ Text string }
		}
	}
	if refused == "" && (json.Unmarshal(result, &got) != nil || len(got.Messages) != 1 || got.Messages[0].Role != "user") {
		t.Fatalf("%s: %s", name, result)
	}
	if refused != "" {
		return "", refused
	}
	return got.Messages[0].Content.Text, ""
}

func TestPromptsSayWhatTheyWereGiven(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, p := range w.prompts(t) {
		least, all := map[string]string{}, map[string]string{}
		for i, a := range p.Arguments {
			all[a.Name] = fmt.Sprintf("value-%d", i)
			if a.Required {
				least[a.Name] = all[a.Name]
			}
		}
		for _, given := range []map[string]string{least, all} {
			text, refused := w.prompt(t, p.Name, given)
			if refused != "" || strings.Contains(text, "<no value>") || strings.Contains(text, "{{") {
				t.Errorf("%s with %v: %s %s", p.Name, given, refused, text)
			}
			for name, value := range given {
				if !strings.Contains(text, value) {
					t.Errorf("%s does not say its %s: %s", p.Name, name, text)
				}
			}
		}
	}
}

func TestPromptsRefuseWhatDoesNotFit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for name, given := range map[string]map[string]string{
		"missing": {}, "empty": {"topic": " "}, "too long": {"topic": strings.Repeat("é", 2001)}, "a secret": {"topic": "see " + secret.New(secret.APIKey)},
		"another argument": {"topic": "x", "no_such": "y"},
	} {
		if text, refused := w.prompt(t, "write_post", given); refused != "-32602" {
			t.Errorf("%s: %q %s", name, refused, text)
		}
	}
	if _, refused := w.prompt(t, "write_post", map[string]string{"topic": strings.Repeat("é", 2000)}); refused != "" {
		t.Errorf("as long as may be: %s", refused)
	}
}
