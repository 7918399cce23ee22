package program

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/testkit/must"
)

// within is the time until a command's change takes effect in a running server.
const within = time.Second

// Each command that blocks a key causes the expected error code. The opposite command unblocks the key.
func TestGatesByCommand(t *testing.T) {
	t.Parallel()
	o, key := newOperator(t, "team")
	o.serve()
	const all = "200 [read write publish spend]"
	for _, c := range []struct{ closes, opens, answer string }{
		{"api off", "api on", "403 rest_disabled"},
		{"teams access off --team 1", "teams access on --team 1", "403 mcp_disabled_for_team"},
		{"teams plan --team 1 --plan free", "teams plan --team 1 --plan creator", "403 plan_lapsed"},
		{"pause --service", "resume --service", "403 connection_suspended"},
		{"pause --team 1", "resume --team 1", "403 connection_suspended"},
		{"pause --key 1", "resume --key 1", "403 connection_suspended"},
		{"pause --service --only spend", "resume --service --only spend", "200 [read write publish]"},
		{"pause --service --only publish", "resume --service --only publish", "200 [read write spend]"},
		{"pause --team 1 --only spend", "resume --team 1 --only spend", "200 [read write publish]"},
		{"pause --team 1 --only publish", "resume --team 1 --only publish", "200 [read write spend]"},
		{"pause --key 1 --only spend", "resume --key 1 --only spend", "200 [read write publish]"},
		{"pause --key 1 --only publish", "resume --key 1 --only publish", "200 [read write spend]"},
		{"teams close --team 1", "teams reopen --team 1", "403 team_closed"},
		{"people suspend --person 1", "people unsuspend --person 1", "403 account_not_approved"},
	} {
		ask := func() string { return o.getMember(key, "/me", "capabilities") }
		o.mustRun(strings.Fields(c.closes)...)
		o.awaitValue(c.closes, c.answer, ask)
		o.mustRun(strings.Fields(c.opens)...)
		o.awaitValue(c.opens, all, ask)
	}
	o.mustRun("teams", "member", "--team", "1", "--person", "2", "--role", "owner")
	o.awaitValue("another owner", "403 ownership_lost", func() string { return o.getMember(key, "/me", "") })
	o.mustRun("teams", "member", "--team", "1", "--person", "1", "--role", "none")
	o.awaitValue("the former owner leaves", "403 membership_lost", func() string { return o.getMember(key, "/me", "") })
	o.mustRun("keys", "revoke", "--key", "1")
	o.awaitValue("revoked after all", "401 unauthorized", func() string { return o.getMember(key, "/me", "") })
}

// A temporary plan expires by itself. The API shows the effect of other commands on teams.
func TestTeamsByCommand(t *testing.T) {
	t.Parallel()
	o, key := newOperator(t, "agency")
	o.serve()
	o.mustRun("teams", "timezone", "--team", "1", "--timezone", "Asia/Tokyo")
	o.awaitValue("the time zone", "200 Asia/Tokyo", func() string { return o.getMember(key, "/me", "timezone") })
	for _, c := range [][2]string{{"--credits=7", "7"}, {"--credits=0", "0"}, {"--credits=-1", "-1"}, {"", "1000"}} {
		o.mustRun(strings.Fields("teams daily-credits --team 1 " + c[0])...)
		o.awaitValue("daily credits "+c[0], "200 "+c[1], func() string { return o.getMember(key, "/credits", "daily_limits.team") })
	}
	asked := time.Now()
	o.mustRun("teams", "plan", "--team", "1", "--plan", "creator", "--lasts", "4s")
	done := time.Now()
	o.awaitValue("the plan", "200 creator", func() string { return o.getMember(key, "/limits", "plan.id") })
	o.until("the plan to lapse", func() bool { return o.getMember(key, "/limits", "") == "403 plan_lapsed" })
	o.checkEnd("the plan", asked, done, 4*time.Second)
	o.mustRun("teams", "plan", "--team", "1", "--plan", "team")
	o.awaitValue("a plan again", "200 team", func() string { return o.getMember(key, "/limits", "plan.id") })
	o.mustRun("teams", "member", "--team", "1", "--person", "2", "--role", "editor")
	o.mustRun("teams", "member", "--team", "1", "--person", "2", "--role", "none")
	if members, _ := o.mustRun("teams", "members", "--team", "1").([]any); len(members) != 1 {
		t.Errorf("members: %v", members)
	}
	listed := o.mustRun("teams", "list")
	if value(listed, "plan") != "team" || value(listed, "timezone") != "Asia/Tokyo" {
		t.Errorf("teams: %v", listed)
	}
}

// The API shows the effect of commands on keys.
func TestKeysByCommand(t *testing.T) {
	t.Parallel()
	o, _ := newOperator(t, "team")
	o.serve()
	key := o.key("--level", "drafts", "--daily-credits", "5", "--name", "a script")
	o.awaitValue("a key", "200 a script", func() string { return o.getMember(key, "/me", "key.name") })
	o.awaitValue("its daily credits", "200 5", func() string { return o.getMember(key, "/credits", "daily_limits.key") })
	for _, c := range []struct{ command, path, member, answer string }{
		{"keys limit --key 2 --daily-credits 0", "/credits", "daily_limits.key", "200 0"},
		{"keys limit --key 2 --daily-credits=-1", "/credits", "daily_limits.key", "200 -1"},
		{"keys level --key 2 --level read_only", "/me", "capabilities", "200 [read]"},
		{"keys level --key 2 --level full", "/me", "key.level", "200 full"},
		{"keys expire --key 2 --in 1ms", "/me", "", "401 unauthorized"},
		{"keys expire --key 2", "/me", "", "200"},
		{"keys expire --key 2 --in 720h", "/me", "", "200"},
		{"keys revoke --key 2", "/me", "", "401 unauthorized"},
	} {
		o.mustRun(strings.Fields(c.command)...)
		o.awaitValue(c.command, c.answer, func() string { return o.getMember(key, c.path, c.member) })
	}
	asked := time.Now()
	short := o.key("--expires", "1s")
	done := time.Now()
	o.until("the key to end", func() bool { return o.getMember(short, "/me", "") == "401 unauthorized" })
	o.checkEnd("the key", asked, done, time.Second)
	for _, args := range []string{
		"keys level --key 2 --level full", "keys limit --key 2 --daily-credits 1", "keys expire --key 2",
		"keys revoke --key 2", "pause --key 2",
	} {
		o.mustFail(" key", strings.Fields(args)...)
	}
}

// Credits are booked once for each reference, and the audit finds no violations.
func TestCreditsCommand(t *testing.T) {
	t.Parallel()
	o, key := newOperator(t, "team")
	o.serve()
	balance := func() string { return o.getMember(key, "/credits", "balance") }
	if got := value(o.mustRun("credits", "grant", "--team", "1", "--credits", "1000", "--reference", "invoice-1", "--note",
		"spring"), "balance"); got != "1000" {
		t.Errorf("balance after the grant = %s", got)
	}
	o.awaitValue("a grant", "200 1000", balance)
	again := o.mustRun("credits", "grant", "--team", "1", "--credits", "1000", "--reference", "invoice-1")
	if got := value(again, "repeated"); got != "true" {
		t.Errorf("same reference: repeated = %s", got)
	}
	o.mustFail("reference", "credits", "grant", "--team", "1", "--credits", "999", "--reference", "invoice-1")
	o.mustRun("credits", "withdraw", "--team", "1", "--credits", "1", "--reference", "mistake-1")
	o.awaitValue("a withdrawal", "200 999", balance)
	o.mustFail("available", "credits", "withdraw", "--team", "1", "--credits", "1000", "--reference", "mistake-2")
	statement, _ := o.mustRun("credits", "statement", "--team", "1").([]any)
	if len(statement) != 2 || value(statement, "kind") != "grant" || value(statement, "note") != "spring" ||
		value(statement[0], "balance") != "999" {
		t.Errorf("statement: %v", statement)
	}
	if short, _ := o.mustRun("credits", "statement", "--team", "1", "--limit", "1").([]any); len(short) != 1 ||
		value(short, "change") != "-1" {
		t.Errorf("statement with limit 1: %v", short)
	}
	if got := value(o.mustRun("audit"), "complaints_total"); got != "0" {
		t.Errorf("the audit has %s complaints", got)
	}
	o.awaitValue("nothing else", "200 999", balance)
}

// Pauses are listed with their reasons. Pausing again changes only the reason.
func TestListPauses(t *testing.T) {
	t.Parallel()
	o, _ := newOperator(t, "team")
	if none, _ := o.mustRun("pauses").([]any); none == nil || len(none) != 0 {
		t.Errorf("pauses before the first pause = %v", none)
	}
	o.mustRun("api", "off")
	o.mustRun("pause", "--team", "1", "--only", "spend", "--reason", "a dispute")
	o.mustRun("pause", "--team", "1", "--only", "spend", "--reason", "a long dispute")
	listed, _ := o.mustRun("pauses").([]any)
	if len(listed) != 2 || value(listed[:1], "action") != "api" || value(listed, "reason") != "a long dispute" ||
		value(listed, "target") != "1" {
		t.Errorf("pauses: %v", listed)
	}
	o.mustRun("api", "on")
	o.mustRun("resume", "--team", "1", "--only", "spend")
	if left, _ := o.mustRun("pauses").([]any); len(left) != 0 {
		t.Errorf("remaining pauses: %v", left)
	}
}

// Invalid commands fail with an explanation and change nothing.
func TestInvalidCommands(t *testing.T) {
	t.Parallel()
	o, _ := newOperator(t, "team")
	before := o.mustRun("teams", "list")
	for _, c := range [][2]string{
		{"team not found", "teams close --team 99"},
		{"team not found", "teams reopen --team 99"},
		{"team not found", "teams access off --team 99"},
		{"team not found", "teams plan --team 99 --plan team"},
		{"team not found", "teams timezone --team 99 --timezone UTC"},
		{"team not found", "teams daily-credits --team 99 --credits 1"},
		{"team not found", "teams member --team 99 --person 2 --role editor"},
		{"team not found", "keys add --team 99"},
		{"team or key not found", "pause --team 99"},
		{"does not exist", "credits grant --team 99 --credits 5 --reference a"},
		{"does not exist", "credits statement --team 99"},
		{"not found", "teams member --team 1 --person 99 --role editor"},
		{"not found", "teams member --team 1 --person 99 --role owner"},
		{"not a member", "teams member --team 1 --person 2 --role none"},
		{"owner", "teams member --team 1 --person 1 --role none"},
		{"owner", "teams member --team 1 --person 1 --role admin"},
		{"person not found", "people suspend --person 99"},
		{"no such key", "keys level --key 99 --level full"},
		{"no such key", "keys revoke --key 99"},
		{"team or key not found", "pause --key 99"},
		{"not paused", "resume --service"},
		{"not paused", "resume --team 1"},
		{"not paused", "resume --key 1 --only spend"},
		{"already on", "api on"},
		{"must be positive", "keys add --team 1 --expires=-1h"},
		{"must be positive", "keys expire --key 1 --in 0s"},
		{"must be positive", "teams plan --team 1 --plan team --lasts=-5h"},
		{"team not found", "keys list --team 99"},
		{"10^12", "keys limit --key 1 --daily-credits 9999999999999"},
		{"one line", "pause --service --reason a\x01b"},
		{"one line", "keys add --team 1 --name a\x01b"},
		{"no database", "api off --database sqlite:/nowhere/pressroom.db"},
		{"team not found", "teams members --team 99"},
		{"one of", "pause --team 1 --key 1"},
		{"one of", "pause"},
		{"one of", "resume --only spend"},
		{"only", "pause --service --only api"},
		{"agency", "teams plan --team 1 --plan golden"},
		{"Europe/Berlin", "teams timezone --team 1 --timezone Mars/Olympus"},
		{"-1", "teams daily-credits --team 1 --credits=-2"},
		{"-1", "keys limit --key 1 --daily-credits=-2"},
		{"-1", "keys add --team 1 --daily-credits=-2"},
		{"whole number", "credits grant --team 1 --credits 0 --reference a"},
		{"whole number", "credits grant --team 1 --credits=-5 --reference a"},
		{"reference", "credits grant --team 1 --credits 5"},
		{"1000", "credits statement --team 1 --limit 0"},
		{"1000", "credits statement --team 1 --limit 1001"},
		{"available", "credits withdraw --team 1 --credits 5 --reference a"},
		{"level", "keys add --team 1 --level boss"},
		{"role", "teams member --team 1 --person 2 --role boss"},
		{"on,off", "api maybe"},
	} {
		word := strings.ReplaceAll(c[0], "on,off", `"on","off"`)
		o.mustFail(word, strings.Fields(c[1])...)
	}
	if after := o.mustRun("teams", "list"); fmt.Sprint(after) != fmt.Sprint(before) {
		t.Errorf("teams: %v, before %v", after, before)
	}
	if paused, _ := o.mustRun("pauses").([]any); len(paused) != 0 {
		t.Errorf("pauses: %v", paused)
	}
}

// The current plans can be printed, edited and loaded. serve and admin reject an invalid file with an explanation.
func TestPlansCommand(t *testing.T) {
	t.Parallel()
	o, _ := newOperator(t, "team")
	raw, _, err := o.run("plans")
	must.NoError(t, err)
	var shipped map[string]any
	must.NoError(t, json.Unmarshal([]byte(raw), &shipped))
	for name, want := range map[string]string{
		"lapsed_plan": "free",
		"prices": "map[hashtag_refresh:5 hashtag_report:10 hashtag_search:3 profile_media_download:2 " +
			"profile_refresh:2 profile_report:5]",
		"limits": "map[hashtag_days:7 jobs_in_flight:5 max_image_bytes:5.24288e+07 max_video_bytes:4.294967296e+09 " +
			"networks:map[burst:10 per_minute:20] open_upload_batches:5 open_upload_links:100 " +
			"refresh_minutes:10 requests:map[burst:30 per_minute:120] upload_minutes:60 writes:map[burst:20 per_minute:60]]",
	} {
		if got := fmt.Sprint(shipped[name]); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	file := filepath.Join(t.TempDir(), "plans.json")
	write := func(text string) {
		t.Helper()
		must.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	}
	write(raw)
	if again, _, err := o.run("plans", "--plans", file); err != nil || again != raw {
		t.Errorf("the printed plans cannot be loaded unchanged: %v\n%s", err, again)
	}
	if old, _, err := o.run("terms", "--terms", file); err != nil || old != raw {
		t.Errorf("the earlier names do not work: %v\n%s", err, old)
	}
	write(strings.ReplaceAll(raw, `"Team"`, `"Crew"`))
	if changed, _, err := o.run("plans", "--plans", file); err != nil || !strings.Contains(changed, "Crew") {
		t.Errorf("a changed plan: %v\n%s", err, changed)
	}
	for text, word := range map[string]string{
		`{`:                       "plans",
		`[]`:                      "plans",
		`{"plan": []}`:            "plan",
		`{"plans": []}`:           "lapsed_plan",
		`{"lapsed_plan": "none"}`: "lapsed_plan",
		`{"plans": [{"id": "Big One", "name": "x"}], "lapsed_plan": "x"}`:                     "plan 1",
		`{"plans": [{"id": "a", "name": "A", "seats": -2}], "lapsed_plan": "a"}`:              "plan a",
		`{"plans": [{"id": "a", "name": "A"}, {"id": "a", "name": "B"}], "lapsed_plan": "a"}`: "plan 2",
		`{"plans": [{"id": "a", "name": "A", "seets": 2}], "lapsed_plan": "a"}`:               "seets",
		`{"prices": {"profile_report": 11}}`:                                                  "10",
		`{"prices": {"hashtag_search": -1}}`:                                                  "prices",
		`{"prices": {"hashtag_search": 1.5}}`:                                                 "hashtag_search",
		`{"limits": {"requests": {"per_minute": 0, "burst": 1}}}`:                             "per_minute",
		`{"limits": {"jobs_in_flight": 0}}`:                                                   "jobs_in_flight",
	} {
		write(text)
		o.mustFail(word, "plans", "--plans", file)
		o.mustFail(word, "teams", "list", "--plans", file)
	}
	if out := fails(t, append(o.env, "PRESSROOM_PLANS="+file), "serve", "--addr", "127.0.0.1:0"); !strings.Contains(out, "plans") {
		t.Errorf("serve with invalid plans: %s", out)
	}
	o.mustFail("no/such", "plans", "--plans", "/no/such/file")
}

// Every response has the shipped rate limits. The limits of quickstart are fifty times as high.
func TestShippedRates(t *testing.T) {
	t.Parallel()
	o, key := newOperator(t, "team")
	o.serve()
	p := start(t, nil, "quickstart", "--data", filepath.Join(t.TempDir(), "data"), "--addr", "127.0.0.1:0", "--json")
	var g greeting
	must.NoError(t, json.Unmarshal([]byte(p.line()), &g))
	for _, c := range [][3]string{
		{o.base, key, `"credential";q=30;w=15, "connection";q=20;w=20, "provider";q=10;w=30`},
		{g.BaseURL, g.Keys["full"], `"credential";q=1500;w=15, "connection";q=1000;w=20, "provider";q=500;w=30`},
	} {
		req := must.Get(http.NewRequestWithContext(t.Context(), http.MethodPost, c[0]+"/posts/nowhere/publish", nil))(t)
		req.Header.Set("Authorization", "Bearer "+c[1])
		resp := must.Get(http.DefaultClient.Do(req))(t)
		resp.Body.Close()
		if policy := resp.Header.Get("RateLimit-Policy"); resp.StatusCode != http.StatusNotFound || policy != c[2] {
			t.Errorf("%d, RateLimit-Policy: %s, want %s", resp.StatusCode, policy, c[2])
		}
	}
	if status := p.end(); status != 0 {
		t.Errorf("quickstart ended with %d: %s", status, p.log)
	}
}

// The team of quickstart has the largest plan and a thousand credits, even after a restart.
func TestQuickstartCredits(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	for range 2 {
		p := start(t, nil, "quickstart", "--data", data, "--addr", "127.0.0.1:0", "--json")
		var g greeting
		must.NoError(t, json.Unmarshal([]byte(p.line()), &g))
		o := &operator{t: t, base: g.BaseURL}
		if got := o.getMember(g.Keys["full"], "/credits", "balance"); got != "200 1000" {
			t.Errorf("credits: %s", got)
		}
		if got := o.getMember(g.Keys["drafts"], "/limits", "plan.id"); got != "200 agency" {
			t.Errorf("plan: %s", got)
		}
		if status := p.end(); status != 0 {
			t.Errorf("ended with %d: %s", status, p.log)
		}
	}
}
