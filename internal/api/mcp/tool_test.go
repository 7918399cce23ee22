package mcp_test

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pressroom.example/pressroom/internal/testkit/must"
)

const listTools = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`

// tools returns the tools as JSON by name, and the names in order.
func (e *env) tools(t *testing.T) (map[string]json.RawMessage, []string) {
	t.Helper()
	var got struct {
		Result struct{ Tools []json.RawMessage }
	}
	must.NoError(t, json.Unmarshal([]byte(e.send(t, "POST", listTools).body), &got))
	byName, names := map[string]json.RawMessage{}, []string{}
	for _, raw := range got.Result.Tools {
		var tool struct{ Name string }
		must.NoError(t, json.Unmarshal(raw, &tool))
		byName[tool.Name], names = raw, append(names, tool.Name)
	}
	return byName, names
}

func TestToolListIsStatic(t *testing.T) {
	e := newEnv(t)
	first := e.send(t, "POST", listTools).body
	if again := e.send(t, "POST", listTools).body; again != first {
		t.Error(cmp.Diff(first, again))
	}
	if other := newEnv(t).send(t, "POST", listTools).body; other != first {
		t.Errorf("another node: %s", cmp.Diff(first, other))
	}
	if _, names := e.tools(t); len(names) != len(e.registry().All()) || !slices.IsSorted(names) {
		t.Errorf("names: %v", names)
	}
}

// The golden file has one whole tool: the paid one, which has every part.
func TestDescription(t *testing.T) {
	const file = "testdata/tool.json"
	tools, _ := newEnv(t).tools(t)
	var got bytes.Buffer
	must.NoError(t, json.Indent(&got, tools["buy_note"], "", "  "))
	got.WriteByte('\n')
	if *update {
		must.NoError(t, os.WriteFile(file, got.Bytes(), 0o644))
	}
	want := must.Get(os.ReadFile(file))(t)
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("the tool (-want +got); update it with -update:\n%s", diff)
	}
}

func TestHints(t *testing.T) {
	tools, _ := newEnv(t).tools(t)
	type hints struct{ ReadOnlyHint, IdempotentHint, DestructiveHint, OpenWorldHint bool }
	for name, want := range map[string]hints{
		"get_note":    {ReadOnlyHint: true, IdempotentHint: true},
		"create_note": {},
		"change_note": {OpenWorldHint: true, IdempotentHint: true, DestructiveHint: true},
		"buy_note":    {IdempotentHint: true, OpenWorldHint: true},
	} {
		var got struct{ Annotations hints }
		must.NoError(t, json.Unmarshal(tools[name], &got))
		if got.Annotations != want {
			t.Errorf("%s: %+v, want %+v", name, got.Annotations, want)
		}
	}
}

func TestDescriptionsAndArguments(t *testing.T) {
	tools, _ := newEnv(t).tools(t)
	for name, want := range map[string]string{
		"get_note":    `"description":"About get_note. What it does. What comes next. Requires the capability read."`,
		"change_note": `What it does. Requires the capability write, and publish if the note is public."`,
		"get_nothing": `"inputSchema":{"properties":{},"type":"object","additionalProperties":false}`,
		"create_note": `"minLength":1,"maxLength":128}},"required":["text"]`,
		"list_notes":  `"properties":{"cursor":{"type":"string"},"limit":{"type":"integer","default":20,"minimum":1,"maximum":50}}`,
	} {
		if !bytes.Contains(tools[name], []byte(want)) {
			t.Errorf("%s lacks %s: %s", name, want, tools[name])
		}
	}
}
