package mcp_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/testkit/must"
)

// The list has the tools that the key may call and that the URL selects. A call to another tool fails.
func TestToolSelection(t *testing.T) {
	e := newEnv(t)
	address := e.url
	var all []string
	for _, op := range e.registry().All() {
		all = append(all, op.Tool)
	}
	slices.Sort(all)
	reads := slices.DeleteFunc(slices.Clone(all), func(name string) bool {
		return !e.registry().Tool(name).Reads()
	})
	allowed := slices.DeleteFunc(slices.Clone(reads), func(name string) bool {
		return e.registry().Tool(name).Needs != access.Read
	})
	for _, tt := range []struct {
		level, query string
		want         []string
	}{
		{"full", "", all},
		{"full", "?other=1", all},
		{"full", "?read_only=1", reads},
		{"full", "?read_only=0&toolsets=", all},
		{"read_only", "", allowed},
	} {
		e.url = address + tt.query
		var got struct {
			Result struct{ Tools []struct{ Name string } }
		}
		must.NoError(t, json.Unmarshal([]byte(e.send(t, "POST", listTools, "Authorization", "Bearer "+tt.level).body), &got))
		var names []string
		for _, tool := range got.Result.Tools {
			names = append(names, tool.Name)
		}
		if !slices.Equal(names, tt.want) {
			t.Errorf("%s %s: %v, want %v", tt.level, tt.query, names, tt.want)
		}
	}
	e.url = address + "?read_only=1"
	const create = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"create_note","arguments":{"text":"x"}}}`
	if got := e.send(t, "POST", create); !strings.Contains(got.body, "Unknown tool") {
		t.Errorf("a tool that is not selected: %s", got.body)
	}
	for _, query := range []string{"?toolsets=posts,unknown", "?read_only=yes"} {
		e.url = address + query
		if got := e.send(t, "POST", listTools); got.status != 422 || !strings.Contains(got.body, "not_allowed_value") ||
			strings.Contains(got.body, "unknown,") {
			t.Errorf("%s: %d %s", query, got.status, got.body)
		}
	}
}

// The names of toolsets can be used in a URL, and every toolset has operations.
func TestToolsets(t *testing.T) {
	var names []string
	for _, g := range operation.Groups() {
		names = append(names, g.Toolset)
	}
	if want := []string{"account", "reports", "social_accounts", "posts", "media", "brand_voices", "hashtags"}; !slices.Equal(names, want) {
		t.Errorf("toolsets %v, want %v", names, want)
	}
}
