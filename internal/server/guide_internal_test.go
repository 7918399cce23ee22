package server

import (
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/testkit/must"
)

// build returns the network that settings configure, and the names of the secrets that its constructor requested.
func build(platform, settings string) (network.Network, []string, error) {
	var asked []string
	rules, _ := network.DefaultRules(platform)
	b := &networkBuilder{
		app: network.App{Rules: &rules}, settings: json.RawMessage(settings),
		secret: func(name string) string {
			asked = append(asked, name)
			return "secret"
		},
	}
	n := constructors[platform](b)
	return n, asked, b.err
}

var (
	setting = regexp.MustCompile("`((?:bluesky|facebook|instagram|linkedin|pinterest|threads|tiktok|x|youtube|rules)(?:\\.[a-z_]+)+)`")
	snippet = regexp.MustCompile("`(\\{\"[^`]*\\}|\"[a-z_]+\": [^`]*)`")
	secret  = regexp.MustCompile(`PRESSROOM_([A-Z_]+)_CLIENT_SECRET`)
	scopes  = []string{"youtube.upload", "youtube.readonly", "youtube.force"} // look like settings
)

// accepts reports whether a network has a setting of any type.
func accepts(platform, path string) bool {
	return slices.ContainsFunc([]string{`"1"`, `5`, `true`, `{}`}, func(value string) bool {
		parts := strings.Split(path, ".")
		slices.Reverse(parts)
		for _, part := range parts {
			value = `{"` + part + `":` + value + `}`
		}
		_, _, err := build(platform, value)
		return err == nil
	})
}

// The settings and secrets in each network's guide exist.
func TestSettingsInGuides(t *testing.T) {
	t.Parallel()
	guides := must.Get(filepath.Glob("../../docs/networks/*.md"))(t)
	if len(guides) != len(constructors) {
		t.Errorf("%d guides of %d networks", len(guides), len(constructors))
	}
	for _, file := range guides {
		platform := strings.TrimSuffix(filepath.Base(file), ".md")
		guide := string(must.Get(os.ReadFile(file))(t))
		for _, m := range setting.FindAllStringSubmatch(guide, -1) {
			path := strings.TrimPrefix(m[1], platform+".")
			if !slices.Contains(scopes, m[1]) && !accepts(platform, path) {
				t.Errorf("%s: the setting %s does not exist", file, m[1])
			}
		}
		for _, m := range snippet.FindAllStringSubmatch(guide, -1) {
			checkSnippet(t, platform, m[1])
		}
		_, names, err := build(platform, `{}`)
		if err != nil {
			t.Errorf("%s: %v", platform, err)
		}
		for _, m := range secret.FindAllStringSubmatch(guide, -1) {
			if !slices.Contains(names, m[1]) {
				t.Errorf("%s: the secret %s does not exist, only %v", file, m[0], names)
			}
		}
		for _, name := range names {
			if !strings.Contains(guide, "PRESSROOM_"+name+"_CLIENT_SECRET") {
				t.Errorf("%s does not name the secret %s", file, name)
			}
		}
	}
}

// Each row of a guide's table of errors has a source with a date.
func TestErrorSourcesInGuides(t *testing.T) {
	t.Parallel()
	year := regexp.MustCompile(`\b20[12][0-9]\b`)
	for _, file := range must.Get(filepath.Glob("../../docs/networks/*.md"))(t) {
		_, table, _ := strings.Cut(string(must.Get(os.ReadFile(file))(t)), "## Errors and fixes")
		rows := 0
		for line := range strings.Lines(table) {
			cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
			if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| error ") {
				continue
			}
			rows++
			if len(cells) != 4 || !year.MatchString(cells[3]) {
				t.Errorf("%s: no source with a date: %s", filepath.Base(file), line)
			}
		}
		if rows < 5 {
			t.Errorf("%s has %d rows of errors", file, rows)
		}
	}
}

// checkSnippet checks that a guide's JSON is a setting of the network, or an option of a post.
func checkSnippet(t *testing.T, platform, text string) {
	t.Helper()
	if !strings.HasPrefix(text, "{") {
		text = "{" + text + "}"
	}
	var whole map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &whole); err != nil {
		t.Errorf("%s: %s: %v", platform, text, err)
		return
	}
	if inner, ok := whole[platform]; ok {
		text = string(inner)
	}
	_, _, err := build(platform, text)
	if err != nil {
		_, option := whole["mode"]
		_, privacy := whole["privacy_status"]
		if !option && !privacy {
			t.Errorf("%s: %s: %v", platform, text, err)
		}
	}
}

// The table of apps in docs/networks.md lists existing settings and secrets, and the scopes that the sign-in
// requests.
func TestAppsInGuide(t *testing.T) {
	t.Parallel()
	guide := string(must.Get(os.ReadFile("../../docs/networks.md"))(t))
	_, table, found := strings.Cut(guide, "| network | in the file | secret | scopes |\n")
	if !found {
		t.Fatal("docs/networks.md has no table of apps")
	}
	table, _, _ = strings.Cut(table, "\n\n")
	quoted := regexp.MustCompile("`([^`]+)`")
	var last []string
	for _, row := range strings.Split(table, "\n")[1:] {
		cells := strings.Split(row, "|")
		path := quoted.FindStringSubmatch(cells[2])[1]
		platform, path, _ := strings.Cut(path, ".")
		want := []string{}
		if strings.Contains(cells[4], "the same") {
			want = append(want, last...)
		}
		for _, m := range quoted.FindAllStringSubmatch(strings.Split(cells[4], ";")[0], -1) {
			want = append(want, m[1])
		}
		last = want
		checkApp(t, platform, path, cells[2], secret.FindStringSubmatch(cells[3])[1], want)
	}
}

func checkApp(t *testing.T, platform, path, cell, secretName string, want []string) {
	t.Helper()
	settings, kind := `{"client_id": "1"`, ""
	if name, _, nested := strings.Cut(path, "."); nested {
		settings, kind = `{"`+name+`": {"client_id": "1"}`, name
	} else if platform == "instagram" {
		kind = "instagram"
	}
	if strings.Contains(cell, "organizations") {
		settings += `, "organizations": true`
	}
	n, names, err := build(platform, settings+"}")
	if err != nil || !slices.Contains(names, secretName) {
		t.Errorf("%s %s: secret %s of %v, %v", platform, path, secretName, names, err)
		return
	}
	sign, ok := n.(network.Authorizer)
	if !ok {
		t.Errorf("%s has no sign-in", platform)
		return
	}
	request := network.Authorization{Kind: kind, State: "s", Redirect: "https://a.test", Verifier: "v"}
	address := must.Get(url.Parse(sign.Authorize(request)))(t)
	got := strings.FieldsFunc(address.Query().Get("scope"), func(r rune) bool { return r == ' ' || r == ',' })
	for i := range got {
		got[i] = strings.TrimPrefix(got[i], "https://www.googleapis.com/auth/")
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("%s %s: the sign-in requests %v, the guide has %v", platform, path, got, want)
	}
}

// Messages that a guide quotes exist in the program.
func TestMessagesInGuides(t *testing.T) {
	t.Parallel()
	var texts strings.Builder
	for _, pattern := range []string{"../locale/de/*.json", "../network/*/*.go", "../network/*.go"} {
		for _, file := range must.Get(filepath.Glob(pattern))(t) {
			if !strings.HasSuffix(file, "_test.go") {
				texts.Write(must.Get(os.ReadFile(file))(t))
			}
		}
	}
	quoted := regexp.MustCompile(`(?m)^\| "([^"|]+)"[^|]* \|`)
	found := 0
	for _, file := range must.Get(filepath.Glob("../../docs/networks/*.md"))(t) {
		for _, row := range quoted.FindAllStringSubmatch(string(must.Get(os.ReadFile(file))(t)), -1) {
			found++
			for part := range strings.SplitSeq(row[1], " … ") {
				if !strings.Contains(texts.String(), part) {
					t.Errorf("%s: no message has %q", file, part)
				}
			}
		}
	}
	if found < 7 {
		t.Errorf("the guides quote %d messages", found)
	}
}
