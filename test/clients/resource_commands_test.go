package clients

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pressroom.example/pressroom/client"
	"pressroom.example/pressroom/internal/apicli"
	"pressroom.example/pressroom/internal/testkit/must"
)

// A resource and a verb select the same operation as the operation's name, also without the word call.
func TestResourceCommands(t *testing.T) {
	t.Parallel()
	g := quickstart(t)
	run := func(args ...string) called {
		out, err := g.run(t, t.TempDir(), nil, binary(t), args...)
		if err != nil {
			return called{1, "", out}
		}
		return called{0, out, ""}
	}
	seen := map[string]bool{}
	for _, r := range apicli.Resources() {
		for _, v := range r.Verbs {
			if name := r.Name + " " + v.Name; seen[name] {
				t.Errorf("two operations have the name %s", name)
			} else if seen[name] = true; !strings.HasPrefix(run(r.Name, v.Name, "--help").out, name+" ("+v.Operation.Name+"): ") {
				t.Errorf("%s --help is not the help of %s", name, v.Operation.Name)
			}
		}
	}
	if len(seen) != len(client.Operations())+1 {
		t.Errorf("%d commands", len(seen))
	}
	id := strings.TrimSpace(run("posts", "create", "--caption", "A new\x1b[31m menu", "--account-ids", "1", "--field", "data.id").out)
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"posts", "get", id, "--jq", ".data.accounts[].state, .data.media"}, "pending\n[]\n"},
		{[]string{"posts", "list", "--status", "draft", "--jq", ".data.posts[] | select(.id == \"" + id + "\") | .status"}, "draft\n"},
		{[]string{"posts", "get", id, "--output", "yaml"}, "data:\n  id: " + id + "\n  status: draft\n"},
		{[]string{"posts", "get", id, "-o", "table"}, "CAPTION     A new [31m menu\n"},
		{[]string{"social-accounts", "list", "-o", "table"}, "ID  PLATFORM "},
		{[]string{"social-accounts", "list", "-otable"}, "ID  PLATFORM "},
		{[]string{"me", "get", "-o", "table"}, "PERSON NAME       Ada Okafor\nTEAM ID           1\n"},
		{[]string{"posts", "--help"}, "  cancel         cancel_post             Cancel a scheduled post\n"},
		{[]string{"call", "posts", "-h"}, "To show the arguments of a verb, run: pressroom posts VERB --help\n"},
		{[]string{"posts", "get", "--help"}, "Usage: pressroom posts get ID [--ARGUMENT VALUE...]\n\nArguments:\n  ID or --id TEXT"},
	} {
		if got := run(tt.args...); !strings.Contains(got.out, tt.want) {
			t.Errorf("%v prints %q (%s), want %q", tt.args, got.out, got.err, tt.want)
		}
	}
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"posts", "lst"}, `posts has no verb "lst"; did you mean list? The verbs are archive, `},
		{[]string{"posts", "delete"}, `posts has no verb "delete". The verbs are archive, `},
		{[]string{"posts", "get"}, "get_post requires ID\n"},
		{[]string{"posts", "list", "--limit", "abc"}, "list_posts: --limit is not an integer; for usage, "},
		{[]string{"posts", "list", "--limit"}, "list_posts: this flag needs a value: --limit; "},
		{[]string{"posts", "list", "--all=abc"}, "list_posts: --all has an invalid value; "},
		{[]string{"posts"}, "posts requires a verb: archive, cancel, "},
		{[]string{"call", "create_pots"}, "did you mean create_post?"},
		{[]string{"posts", "list", "-o", "xml"}, "--output must be one of: json, yaml, table"},
		{[]string{"posts", "list", "--jq", ".data["}, "--jq: "},
	} {
		if got := run(tt.args...); got.status == 0 || !strings.Contains(got.err, tt.want) {
			t.Errorf("%v prints %q, want %q", tt.args, got.err, tt.want)
		}
	}
}

// A table has its columns in the order of the members, and every cell under its heading. IDs are never truncated.
func TestTables(t *testing.T) {
	t.Parallel()
	id := "social_post:01a21d43-a62b-7a12-bbd8-1dcc7e0d58fe"
	long := strings.Repeat("long ", 20)
	for _, tt := range []struct{ command, answer, want string }{
		{
			"posts list", `{"data":{"posts":[{"id":"1","status":"draft","excerpt":"` + long + `"},` +
				`{"id":"2","status":"published","published_at":{"team":"2026-11-27T12:00:59.378085+01:00","utc":"11:00"},` +
				`"excerpt":"B","accounts":[{"id":1}]},` +
				`{"id":"` + id + `","status":"draft","excerpt":"C","archived":true}]},"meta":{"request_id":"r"}}`,
			"ID" + strings.Repeat(" ", 48) + "STATUS     PUBLISHED AT             EXCERPT" + strings.Repeat(" ", 43) + "ARCHIVED\n" +
				"1" + strings.Repeat(" ", 49) + "draft                               " + long[:47] + "…\n" +
				"2" + strings.Repeat(" ", 49) + "published  2026-11-27 12:00 +01:00  B\n" +
				id + "  draft                               C" + strings.Repeat(" ", 49) + "true\n",
		},
		{
			"jobs get " + id, `{"data":{"job_id":"` + id + `","progress":{"done":1,"total":2},"error":{"code":"rejected_content"},` +
				`"network_message":{"untrusted":"u1"},"result":{"accounts":[{"id":1}],"post_id":"p","inner":{"x":1}}},` +
				`"meta":{"request_id":"r"}}`,
			"JOB ID          " + id + "\nPROGRESS DONE   1\nPROGRESS TOTAL  2\nERROR CODE      rejected_content\nRESULT POST ID  p\n",
		},
	} {
		service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, tt.answer)
		}))
		t.Cleanup(service.Close)
		var out, failed bytes.Buffer
		status := apicli.Run(t.Context(), apicli.Terminal{
			Env: func(name string) string {
				return map[string]string{"PRESSROOM_KEY": "prk_none", "PRESSROOM_URL": service.URL}[name]
			}, Out: &out, Err: &failed,
		}, append(strings.Fields(tt.command), "-o", "table"))
		if status != 0 || out.String() != tt.want {
			t.Errorf("status %d, prints\n%s%s, want\n%s", status, out.String(), failed.String(), tt.want)
		}
	}
}

// The script for bash completes commands, resources, verbs, flags and values.
func TestCompletion(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must.NoError(t, os.Symlink(binary(t), filepath.Join(dir, "pressroom")))
	for line, want := range map[string]string{
		"pos": "posts", "posts ret": "retry", "posts list --stat": "--status", "posts list --status proc": "processing",
		"call create_po": "create_post", "call create_post --capt": "--caption", "admin peo": "people",
		"posts list -o ta": "table", "serve --database": "--database",
		"serve --log-level wa": "warn", "completion z": "zsh", "posts list --timeo": "--timeout", "media upload --fold": "--folder-id",
		"posts list --status = proc": "processing", "posts list --status=proc": "--status=processing", "serve --log-level = w": "warn",
		"posts list --output =": "json\nyaml\ntable",
		"media upload pict":     "", "posts list --wai": "", "posts list --idem": "",
	} {
		script := `source <(pressroom completion bash); read -ra COMP_WORDS <<<"pressroom ` + line + `"
			COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _pressroom; printf '%s\n' "${COMPREPLY[@]}"`
		cmd := exec.CommandContext(t.Context(), "bash", "-c", script)
		cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"))
		if out, err := cmd.CombinedOutput(); err != nil || strings.TrimSpace(string(out)) != want {
			t.Errorf("%s completes to %q (%v), want %q", line, out, err, want)
		}
	}
}

// Every operation has a command whose help has every argument.
func TestEveryOperationHasCommand(t *testing.T) {
	t.Parallel()
	g := installation{}
	g.Keys.Full = "prk_none"
	all := g.call(t).out
	for _, o := range client.Operations() {
		if !strings.Contains(all, "  "+o.Name+" ") {
			t.Errorf("%s is not listed", o.Name)
		}
		help := g.call(t, o.Name, "--help")
		for _, a := range o.Arguments {
			if !strings.Contains(help.out, "--"+strings.ReplaceAll(a.Name, "_", "-")+" ") {
				t.Errorf("the help of %s does not mention %s", o.Name, a.Name)
			}
		}
		if help.status != 0 {
			t.Errorf("%s --help exits with %d", o.Name, help.status)
		}
	}
}
