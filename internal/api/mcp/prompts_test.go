package mcp_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/auth/apikey"
	"pressroom.example/pressroom/internal/testkit/must"
)

type promptInfo struct {
	Name, Title, Description string
	Arguments                []struct {
		Name, Description string
		Required          bool
	}
}

func (e *env) prompts(t *testing.T) []promptInfo {
	t.Helper()
	result, rejected := e.rpc(t, "read_only", "prompts/list", `{}`)
	var got struct{ Prompts []promptInfo }
	if err := json.Unmarshal(result, &got); err != nil || rejected != "" || len(got.Prompts) == 0 {
		t.Fatalf("%s %s (%v)", result, rejected, err)
	}
	return got.Prompts
}

func (e *env) prompt(t *testing.T, name string, arguments map[string]string) (string, string) {
	t.Helper()
	params := must.Get(json.Marshal(map[string]any{"name": name, "arguments": arguments}))(t)
	result, rejected := e.rpc(t, "read_only", "prompts/get", string(params))
	var got struct {
		Messages []struct {
			Role    string
			Content struct{ Text string }
		}
	}
	if rejected == "" && (json.Unmarshal(result, &got) != nil || len(got.Messages) != 1 || got.Messages[0].Role != "user") {
		t.Fatalf("%s: %s", name, result)
	}
	if rejected != "" {
		return "", rejected
	}
	return got.Messages[0].Content.Text, ""
}

func TestPromptsContainTheirArguments(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	for _, p := range e.prompts(t) {
		least, all := map[string]string{}, map[string]string{}
		for i, a := range p.Arguments {
			all[a.Name] = fmt.Sprintf("value-%d", i)
			if fitting := map[string]string{
				"week_start": "2026-03-30", "posts": "7", "period_days": "365", "report_type": "hashtag",
			}[a.Name]; fitting != "" {
				all[a.Name] = fitting
			}
			if a.Required {
				least[a.Name] = all[a.Name]
			}
		}
		for _, given := range []map[string]string{least, all} {
			text, rejected := e.prompt(t, p.Name, given)
			if rejected != "" || strings.Contains(text, "<no value>") || strings.Contains(text, "{{") {
				t.Errorf("%s with %v: %s %s", p.Name, given, rejected, text)
			}
			for name, value := range given {
				if !strings.Contains(text, value) {
					t.Errorf("%s lacks its %s: %s", p.Name, name, text)
				}
			}
		}
	}
}

func TestPromptsRejectInvalidArguments(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	for name, given := range map[string]map[string]string{
		"missing": {}, "empty": {"topic": " "}, "too long": {"topic": strings.Repeat("é", 2001)},
		"a secret":         {"topic": "see " + apikey.New(apikey.APIKey)},
		"another argument": {"topic": "x", "no_such": "y"},
	} {
		if text, rejected := e.prompt(t, "write_post", given); rejected != "-32602" {
			t.Errorf("%s: %q %s", name, rejected, text)
		}
	}
	for _, c := range []struct{ prompt, argument, value string }{
		{"plan_week", "posts", "abc"}, {"plan_week", "posts", "-4"}, {"plan_week", "posts", "51"}, {"plan_week", "week_start", "next week"},
		{"plan_week", "week_start", "2026-02-30"}, {"review_account", "period_days", "900"},
		{"review_account", "period_days", "7.5"}, {"explain_report", "report_type", "weekly"},
	} {
		given := map[string]string{c.argument: c.value}
		maps.Copy(given,
			map[string]map[string]string{"review_account": {"account_id": "1"}, "explain_report": {"report_id": "r"}}[c.prompt])
		params := must.Get(json.Marshal(map[string]any{"name": c.prompt, "arguments": given}))(t)
		got := e.send(t, "POST", `{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":`+string(params)+`}`,
			"Authorization", "Bearer read_only")
		if !strings.Contains(got.body, "-32602") || !strings.Contains(got.body, "The argument "+c.argument+" ") ||
			strings.Contains(got.body, c.value) {
			t.Errorf("%s with %s %q: %s", c.prompt, c.argument, c.value, got.body)
		}
	}
	if _, rejected := e.prompt(t, "write_post", map[string]string{"topic": strings.Repeat("é", 2000)}); rejected != "" {
		t.Errorf("the longest argument: %s", rejected)
	}
}
