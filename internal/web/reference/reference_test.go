package reference_test

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"pressroom.example/pressroom/internal/api/problem"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/web/reference"
	"pressroom.example/pressroom/internal/web/shell"
)

// serve returns a server with the reference of the API.
func serve(t *testing.T) (string, string) {
	t.Helper()
	described, err := os.ReadFile("../../../api/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	d := testkit.Open(t, testkit.SQLite(t), nil)
	f, err := shell.New(shell.Options{PublicURL: "https://press.example", DB: d, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	// The document as the program serves it.
	text := strings.Replace(string(described), `"url": "/api/v1"`, `"url": "https://press.example/api/v1"`, 1)
	part := reference.New(f, func() ([]byte, error) { return []byte(text), nil })
	mux := http.NewServeMux()
	f.Mount(mux, part.Routes()...)
	server := httptest.NewServer(shell.SecurityHeaders(f.WithVisitor(mux)))
	t.Cleanup(server.Close)
	return server.URL, text
}

// get returns a page with its ids and links.
func get(t *testing.T, address string) (string, map[string]int, []string) {
	t.Helper()
	resp, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d (%v)", address, resp.StatusCode, err)
	}
	doc, err := html.Parse(strings.NewReader(string(raw)))
	if err != nil {
		t.Fatal(err)
	}
	ids, links := map[string]int{}, []string{}
	for n := range doc.Descendants() {
		for _, a := range n.Attr {
			switch a.Key {
			case "id":
				ids[a.Val]++
			case "href":
				links = append(links, a.Val)
			}
		}
	}
	return string(raw), ids, links
}

// TestPages reads every page: each operation is on one page, within its size, and no internal link is broken.
func TestPages(t *testing.T) {
	t.Parallel()
	root, described := serve(t)
	pages := map[string]map[string]int{}
	links := map[string][]string{}
	todo := []string{"/docs"}
	for len(todo) > 0 {
		at := todo[0]
		todo = todo[1:]
		if pages[at] != nil || !strings.HasPrefix(at, "/docs") || at == "/docs/app" ||
			strings.HasPrefix(at, "/docs/guides") {
			continue
		}
		var text string
		text, pages[at], links[at] = get(t, root+at)
		t.Logf("%s has %d bytes", at, len(text))
		if len(text) > 100_000 {
			t.Errorf("%s has %d bytes", at, len(text))
		}
		for _, link := range links[at] {
			page, _, _ := strings.Cut(link, "#")
			todo = append(todo, page)
		}
	}
	for at, links := range links {
		for _, link := range links {
			page, anchor, named := strings.Cut(link, "#")
			if page == "" {
				page = at
			}
			if named && pages[page] != nil && pages[page][anchor] != 1 {
				t.Errorf("%s links to %s, which exists %d times", at, link, pages[page][anchor])
			}
		}
	}
	tools := regexp.MustCompile(`"x-tool": "([a-z_]+)"`).FindAllStringSubmatch(described, -1)
	if len(tools) < 30 {
		t.Fatalf("%d operations are described", len(tools))
	}
	for _, tool := range tools {
		found := 0
		for _, ids := range pages {
			found += ids[tool[1]]
		}
		if found != 1 {
			t.Errorf("%s is described %d times", tool[1], found)
		}
	}
}

func TestChapter(t *testing.T) {
	t.Parallel()
	root, _ := serve(t)
	for at, texts := range map[string][]string{
		"/docs/api/posts": {
			"POST</b> /posts", `<a href="/docs/api/posts" aria-current="page">Posts</a>`, `<a href="#create_post">`,
			`<details class="fold op"><summary><h2>Create a draft</h2>`, "Required capability</dt><dd>write</dd>",
			"publish if the post is scheduled",
			"at most 10000 characters",
			"&#39;https://press.example/api/v1/posts&#39;", "Bearer $PRESSROOM_KEY",
			"/docs/errors#awaiting_client_approval", `<a href="#common-errors">`, `id="common-errors"`, "Optional.",
			`<a href="/docs/api/posts#validate_post">Validate a post</a>`,
			"<code>wrong_state</code>: The post was already submitted and cannot be recalled.", `<a href="/docs/answers#Moment">Moment</a>`,
		},
		"/docs/api/reports": {
			"0 to 10 credits.", "Required.", "every frequency_days while tracking is on", "/docs/errors#spend_not_allowed",
		},
		"/docs/api/account": {"Free", "Not accepted", "The key’s person"},
		"/docs/assistants":  {"https://press.example/mcp"},
		"/docs/start":       {"https://press.example/api/v1/me"},
		"/docs/answers":     {"credits_charged", `id="Problem"`},
		"/docs/errors": {
			`id="idempotency_key_reused"`, `>422</td>`, "The team’s owner", `<a href="/docs/errors" aria-current="page">`,
		},
		"/docs": {`<h3 id="rate-limits">Rate limits</h3>`, "<li><code>RateLimit-Policy</code>", "/docs#how-it-works"},
	} {
		page, _, _ := get(t, root+at)
		for _, text := range texts {
			if !strings.Contains(page, text) {
				t.Errorf("%s lacks %s", at, text)
			}
		}
		if strings.Contains(page, "prk_") || strings.Contains(page, " style=") {
			t.Errorf("%s contains a key or a style", at)
		}
	}
	posts, _, _ := get(t, root+"/docs/api/posts")
	if strings.Contains(posts, "the user asks") {
		t.Error("a text for assistants is shown to people")
	}
	account, _, _ := get(t, root+"/docs/api/account")
	if strings.Contains(account, "#publish_not_allowed") {
		t.Error("a read lists an error of publishing")
	}
}

// TestSearch finds operations by all words of the query.
func TestSearch(t *testing.T) {
	t.Parallel()
	root, _ := serve(t)
	found, _, _ := get(t, root+"/docs?q=Schedule+POST")
	if !strings.Contains(found, `#schedule_post">`) || strings.Contains(found, `#list_reports">`) {
		t.Error("the search does not list the operations with the words only")
	}
	codes, _, _ := get(t, root+"/docs/errors?q=rate+LIMITED")
	if !strings.Contains(codes, `id="rate_limited"`) || strings.Contains(codes, `id="unauthorized"`) {
		t.Error("the search does not list the codes with the words only")
	}
	if none, _, _ := get(t, root+"/docs/errors?q=nosuchthing"); !strings.Contains(none, "No code matches “nosuchthing”.") {
		t.Error("an empty result of codes is not shown")
	}
	if none, _, _ := get(t, root+"/docs?q=nosuchthing"); !strings.Contains(none, "No operation matches “nosuchthing”.") {
		t.Error("an empty result is not shown")
	}
}

// TestCommands runs every command in a shell whose curl prints its arguments.
func TestCommands(t *testing.T) {
	t.Parallel()
	root, _ := serve(t)
	page, _, _ := get(t, root+"/docs/api/hashtags")
	commands := regexp.MustCompile(`(?s)<pre id="[a-z_]+-command"[^>]*>(.*?)</pre>`).FindAllStringSubmatch(page, -1)
	if len(commands) < 5 {
		t.Fatalf("%d commands", len(commands))
	}
	for _, c := range commands {
		run := exec.CommandContext(t.Context(), "sh", "-c", `curl() { printf '%s\n' "$@"; }; `+html.UnescapeString(c[1]))
		run.Env = []string{"PRESSROOM_KEY=the-key"}
		out, err := run.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "Authorization: Bearer the-key\n") ||
			!strings.Contains(string(out), "https://press.example/api/v1/hashtag") {
			t.Errorf("%s\n%s (%v)", c[1], out, err)
		}
	}
}

func TestUnreadable(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		``, `{}`, `[]`,
		`{"servers":[{"url":"/"}],"tags":[{"name":"A"}],"paths":{"/a":{"get":{"tags":["A"],"responses":{}}}}}`,
		`{"servers":[{"url":"/"}],"paths":[]}`,
	} {
		if err := reference.Write([]byte(text)); err == nil {
			t.Errorf("%q is accepted as a description", text)
		}
	}
}

func TestRemedies(t *testing.T) {
	t.Parallel()
	for _, e := range problem.Entries() {
		if !reference.HasRemedy(e.Code) {
			t.Errorf("the error reference does not say what to do about %s", e.Code)
		}
	}
}
