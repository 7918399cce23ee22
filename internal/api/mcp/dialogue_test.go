package mcp_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pressroom.example/pressroom/internal/testkit/must"
)

var update = flag.Bool("update", false, "rewrite the golden files in testdata")

var (
	section = regexp.MustCompile(`(?m)^-- (.+) --\n`)
	anyUUID = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)
)

// A dialogue is a file of sections. A section "send, KEY" is the body of a POST with that key, or without a key for
// "none". "send, KEY, VERSION" adds the headers of a protocol version. The section "answer" after it is the response.
func TestDialogues(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no dialogues: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			want := must.Get(os.ReadFile(file))(t)
			got := newEnv(t).replay(t, string(want))
			if *update {
				must.NoError(t, os.WriteFile(file, []byte(got), 0o644))
				return
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("the dialogue differs (-want +got); update it with -update:\n%s", diff)
			}
		})
	}
}

// replay sends the messages of a dialogue and returns it with the responses.
func (e *env) replay(t *testing.T, dialogue string) string {
	t.Helper()
	heads := section.FindAllStringSubmatchIndex(dialogue, -1)
	var out strings.Builder
	for i, head := range heads {
		end := len(dialogue)
		if i+1 < len(heads) {
			end = heads[i+1][0]
		}
		if i == 0 {
			out.WriteString(dialogue[:head[0]])
		}
		key, sends := strings.CutPrefix(dialogue[head[2]:head[3]], "send, ")
		if !sends {
			continue // an earlier response
		}
		body := dialogue[head[1]:end]
		fmt.Fprintf(&out, "-- send, %s --\n%s-- answer --\n%s", key, body, e.exchange(t, key, body))
	}
	return out.String()
}

func (e *env) exchange(t *testing.T, key, body string) string {
	t.Helper()
	key, version, _ := strings.Cut(key, ", ")
	headers := []string{"Authorization", "Bearer " + key}
	if key == "none" {
		headers[1] = ""
	}
	got := e.send(t, "POST", strings.TrimSpace(body), append(headers, versionHeaders(t, version, body)...)...)
	out := fmt.Sprintf("HTTP %d %s\n", got.status, got.header.Get("Content-Type"))
	switch {
	case got.body == "":
	case strings.HasPrefix(got.header.Get("Content-Type"), "text/"):
		out += strings.TrimSpace(got.body) + "\n"
	default:
		var indented bytes.Buffer
		if err := json.Indent(&indented, []byte(got.body), "", "  "); err != nil {
			t.Fatalf("%v in %s", err, got.body)
		}
		out += indented.String() + "\n"
	}
	return anyUUID.ReplaceAllString(out, "00000000-0000-0000-0000-000000000000")
}

// versionHeaders returns the headers that a protocol version requires with a message.
func versionHeaders(t *testing.T, version, body string) []string {
	t.Helper()
	if version == "" {
		return nil
	}
	headers := []string{"Mcp-Protocol-Version", version}
	var m struct {
		Method string
		Params struct{ Name, URI string }
	}
	must.NoError(t, json.Unmarshal([]byte(body), &m))
	if version >= "2026-07-28" {
		headers = append(headers, "Mcp-Method", m.Method)
		if name := m.Params.Name + m.Params.URI; name != "" {
			headers = append(headers, "Mcp-Name", name)
		}
	}
	return headers
}
