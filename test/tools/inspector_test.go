package tools

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/testkit/require"
)

// eras are the protocol versions that the inspector supports: the previous and the current one.
var eras = []string{"legacy", "modern"}

// inspector runs the MCP Inspector against a running program.
type inspector struct {
	t   *testing.T
	run greeting
	era string
	ids map[string]string // IDs of created items by name
}

// try runs the inspector once. It returns the result, or the error output if the inspector failed.
func (i *inspector) try(args ...string) (map[string]any, string) {
	i.t.Helper()
	all := append([]string{"node_modules/" + inspectorProgram, "--cli", i.run.MCPURL, "--transport", "http", "--quiet", "--format",
		"json", "--protocol-era", i.era,
		"--header", "Authorization: Bearer " + i.run.Keys.Full}, args...)
	cmd := exec.CommandContext(i.t.Context(), "node", all...)
	cmd.Env = append(os.Environ(), "HOME="+i.t.TempDir()) // The inspector stores its state there.
	cmd.WaitDelay = time.Second
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Sprintf("%v: %s %s", err, out, stderr.String())
	}
	var printed struct{ Result map[string]any }
	if err := json.Unmarshal(out, &printed); err != nil {
		return nil, fmt.Sprintf("%v in %s", err, out)
	}
	return printed.Result, ""
}

func (i *inspector) must(args ...string) map[string]any {
	i.t.Helper()
	got, failure := i.try(args...)
	if failure != "" {
		i.t.Fatalf("%s, %v: %s", i.era, args, failure)
	}
	return got
}

// at returns a nested value by members and indexes.
func at(value any, path ...any) any {
	for _, step := range path {
		switch s := step.(type) {
		case string:
			members, _ := value.(map[string]any)
			value = members[s]
		case int:
			list, _ := value.([]any)
			if s >= len(list) {
				return nil
			}
			value = list[s]
		}
	}
	return value
}

// step is a tool call. Arguments may contain the names of earlier results in braces.
type step struct {
	tool string
	args map[string]string
	keep map[string][]any // results to store: names and paths in data
	code string           // expected error code; empty if the call must succeed
}

// steps call every tool, using the results of earlier steps.
var steps = []step{
	{tool: "get_identity"}, {tool: "get_credits"}, {tool: "get_limits"},
	{tool: "list_social_accounts", args: map[string]string{"platform": "bluesky"}, keep: map[string][]any{
		"account": {"social_accounts", 0, "id"},
	}},
	{tool: "get_account_analytics", args: map[string]string{"account_id": "{account}", "period_days": "30"}},
	{tool: "get_connect_link", args: map[string]string{"platform": "bluesky"}},
	{tool: "list_reports", keep: map[string][]any{"kind": {"reports", 0, "kind"}, "report": {"reports", 0, "id"}}},
	{tool: "get_report", args: map[string]string{"type": "{kind}", "id": "{report}"}},
	{tool: "list_brand_voices", keep: map[string][]any{"voice": {"brand_voices", 0, "id"}}},
	{tool: "get_brand_voice", args: map[string]string{"id": "{voice}"}},
	{tool: "list_media", args: map[string]string{"limit": "1"}},
	{tool: "create_uploads"},
	// no public file is available
	{tool: "import_media", args: map[string]string{"url": "https://127.0.0.1/a.png"}, code: "validation_failed"},
	{tool: "list_hashtag_lists"},
	{tool: "create_hashtag_list", args: map[string]string{"name": "Inspected"}, keep: map[string][]any{"list": {"id"}}},
	{tool: "add_hashtags", args: map[string]string{"list_id": "{list}", "hashtags": `["coffee","latte"]`}},
	{tool: "get_hashtag_list", args: map[string]string{"list_id": "{list}"}},
	{tool: "search_hashtags", args: map[string]string{
		"query": "espresso {era}", "idempotency_key": "search-{era}",
	}, keep: map[string][]any{"search": {"job_id"}}},
	{tool: "get_job", args: map[string]string{"job_id": "{search}", "wait_seconds": "25"}},
	{tool: "create_report", args: map[string]string{
		"type": "profile", "platform": "instagram", "subject": "inspected_{era}", "idempotency_key": "report-{era}",
	}, keep: map[string][]any{"making": {"job_id"}}},
	{tool: "get_job", args: map[string]string{"job_id": "{making}", "wait_seconds": "25"}, keep: map[string][]any{
		"made": {"result", "report", "id"},
	}},
	{tool: "refresh_report", args: map[string]string{"type": "profile", "id": "{report}", "idempotency_key": "refresh-{era}"}},
	{tool: "set_report_tracking", args: map[string]string{
		"type": "profile", "id": "{made}", "enabled": "true", "idempotency_key": "track-{era}",
	}},
	{tool: "download_profile_media", args: map[string]string{
		"platform": "instagram", "type": "avatar", "username": "inspected_{era}", "save_to_library": "false",
		"idempotency_key": "download-{era}",
	}},
	{tool: "list_posts", args: map[string]string{"limit": "2"}},
	{tool: "create_post", args: map[string]string{
		"caption": "Inspected [sandbox:reject]", "account_ids": "[{account}]",
	}, keep: map[string][]any{"post": {"id"}}},
	{tool: "validate_post", args: map[string]string{"post_id": "{post}"}},
	{tool: "update_post", args: map[string]string{"id": "{post}", "caption": "Inspected again [sandbox:reject]"}},
	{tool: "schedule_post", args: map[string]string{"post_id": "{post}", "scheduled_at": "{tomorrow}"}},
	{tool: "cancel_post", args: map[string]string{"post_id": "{post}"}},
	{tool: "publish_post", args: map[string]string{"post_id": "{post}"}, keep: map[string][]any{"sending": {"job_id"}}},
	{tool: "get_job", args: map[string]string{"job_id": "{sending}", "wait_seconds": "25"}},
	{tool: "archive_post", args: map[string]string{"post_id": "{post}"}},
	{tool: "archive_post", args: map[string]string{"post_id": "{post}", "archived": "false"}},
	{tool: "retry_post", args: map[string]string{"post_id": "{post}"}},
	{tool: "get_post", args: map[string]string{"id": "{post}"}},
}

func (i *inspector) fillIn(text string) string {
	for name, value := range i.ids {
		text = strings.ReplaceAll(text, "{"+name+"}", value)
	}
	return text
}

func (i *inspector) runStep(s step) {
	i.t.Helper()
	args := []string{"--method", "tools/call", "--tool-name", s.tool}
	if len(s.args) > 0 {
		args = append(args, "--tool-arg")
		for _, name := range slices.Sorted(maps.Keys(s.args)) {
			args = append(args, name+"="+i.fillIn(s.args[name]))
		}
	}
	if s.code != "" {
		if _, failure := i.try(args...); !strings.Contains(failure, "Error "+s.code) {
			i.t.Errorf("%s, %s: %s, want the error %s", i.era, s.tool, failure, s.code)
		}
		return
	}
	data := at(i.must(args...), "structuredContent", "data")
	if data == nil {
		i.t.Fatalf("%s, %s: no data", i.era, s.tool)
	}
	for name, path := range s.keep {
		switch value := at(data, path...).(type) {
		case string:
			i.ids[name] = value
		case float64:
			i.ids[name] = fmt.Sprintf("%.0f", value)
		default:
			i.t.Fatalf("%s, %s: no value at %v of %v", i.era, s.tool, path, data)
		}
	}
}

func TestInspector(t *testing.T) {
	t.Parallel()
	require.NodePackage(t, ".", inspectorProgram)
	for _, era := range eras {
		t.Run(era, func(t *testing.T) {
			t.Parallel()
			i := &inspector{
				t: t, run: quickstart(t), era: era,
				ids: map[string]string{"era": era, "tomorrow": time.Now().Add(24 * time.Hour).UTC().Format(time.RFC3339)},
			}
			i.callTools()
			i.readResources()
			i.getPrompts()
			if _, failure := i.try("--method", "tools/call", "--tool-name", "get_post", "--tool-arg",
				"id=01890a5d-ac96-774b-bcce-b302099a8057"); !strings.Contains(failure, "tool_is_error") {
				t.Errorf("error of an unknown post: %s", failure)
			}
		})
	}
}

// callTools calls every listed tool. With --strict, the inspector also checks the tools' schemas.
func (i *inspector) callTools() {
	i.t.Helper()
	listed, called := map[string]bool{}, map[string]bool{}
	tools, _ := i.must("--method", "tools/list", "--strict")["tools"].([]any)
	for _, tool := range tools {
		listed[fmt.Sprint(at(tool, "name"))] = true
	}
	for _, s := range steps {
		i.runStep(s)
		called[s.tool] = true
	}
	if !maps.Equal(listed, called) {
		i.t.Errorf("%s: listed %v, called %v", i.era, slices.Sorted(maps.Keys(listed)), slices.Sorted(maps.Keys(called)))
	}
}

// readResources reads one listed resource of each kind.
func (i *inspector) readResources() {
	i.t.Helper()
	templates, _ := i.must("--method", "resources/templates/list")["resourceTemplates"].([]any)
	if len(templates) != 3 {
		i.t.Errorf("%s: templates %v", i.era, templates)
	}
	listed, _ := i.must("--method", "resources/list")["resources"].([]any)
	read := map[string]bool{}
	for _, r := range listed {
		uri := fmt.Sprint(at(r, "uri"))
		kind, _, _ := strings.Cut(strings.TrimPrefix(uri, "pressroom://"), "/")
		if read[kind] {
			continue
		}
		read[kind] = true
		text, _ := at(i.must("--method", "resources/read", "--uri", uri), "contents", 0, "text").(string)
		if !strings.HasPrefix(text, `{"data":`) {
			i.t.Errorf("%s, %s: %s", i.era, uri, text)
		}
	}
	if len(read) != len(templates) {
		i.t.Errorf("%s: kinds of resources %v, templates %v", i.era, read, templates)
	}
}

// promptArgs has the values of prompt arguments that require a format.
var promptArgs = map[string]string{"report_type": "profile", "week_start": "2027-06-14", "posts": "4", "period_days": "90"}

// getPrompts gets every listed prompt with all its arguments.
func (i *inspector) getPrompts() {
	i.t.Helper()
	listed, _ := i.must("--method", "prompts/list")["prompts"].([]any)
	if len(listed) < 5 {
		i.t.Errorf("%s: prompts %v", i.era, listed)
	}
	for _, p := range listed {
		args := []string{"--method", "prompts/get", "--prompt-name", fmt.Sprint(at(p, "name")), "--prompt-args"}
		accepted, _ := at(p, "arguments").([]any)
		for _, a := range accepted {
			name := fmt.Sprint(at(a, "name"))
			args = append(args, name+"="+cmp.Or(promptArgs[name], "given"))
		}
		if text, _ := at(i.must(args...), "messages", 0, "content", "text").(string); !strings.Contains(text, "given") {
			i.t.Errorf("%s, %v: %s", i.era, args, text)
		}
	}
}
