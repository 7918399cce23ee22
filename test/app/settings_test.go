package app

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"pressroom.example/pressroom/internal/auth/apikey"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/domain/team"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/testkit/must"
)

// callStatus returns the status of an API call with a key.
func (h *env) callStatus(t *testing.T, key string) int {
	t.Helper()
	r := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, h.root+"/api/v1/me", nil))(t)
	r.Header.Set("Authorization", "Bearer "+key)
	resp := must.Get(http.DefaultClient.Do(r))(t)
	must.NoError(t, resp.Body.Close())
	return resp.StatusCode
}

var keyValue = regexp.MustCompile(`prk_[0-9A-Za-z]+`)

// A new key is shown once and works. The owner can change and revoke it.
func TestSettingsKeys(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		owner := c.as(t, access.Owner)
		owner.open("/settings").shows(200, c.team.Name, "API keys").follow("API keys").shows(200, "No API keys yet")
		blank := owner.open("/settings/keys/new").shows(200)
		blank.form("Create key").fill("name", "Robot").fill("daily_credits", "many").press().
			shows(422, "Enter a daily limit of 0 or more credits").lacks("prk_")
		filled := blank.form("Create key").fill("name", "Calendar robot").fill("level", "drafts").
			fill("daily_credits", "25").fill("expires", "2099-12-31")
		made := filled.press().shows(200, "Calendar robot", "25 credits", "Copy the key now")
		value := keyValue.FindString(made.source)
		if !apikey.IsWellFormed(apikey.APIKey, value) || made.header.Get("Cache-Control") != "no-store" || h.callStatus(t, value) != 200 {
			t.Fatalf("the key %q does not work, or its page may be cached (%v)", value, made.header)
		}
		filled.press().shows(422, "already created").lacks(value)
		list := owner.open("/settings/keys").
			shows(200, "Calendar robot", "Active", "Drafts", "25 credits", "Last used").lacks(value)
		key := list.follow("Calendar robot").shows(200, "1 Jan 2100, 00:00").lacks(value)
		if h.count(t, "api_keys WHERE team_id = ?", c.team.ID) != 1 {
			t.Error("the form created several keys")
		}
		key.form("Save").fill("level", "full").fill("daily_credits", "-3").press().shows(422, "0 or more")
		key.form("Save").fill("level", "read_only").fill("daily_credits", "").press().shows(200, "The key was saved")
		key.form("Save").fill("name", " ").press().shows(422, "name")
		key.form("Save").fill("name", "Planning robot").fill("level", "read_only").fill("daily_credits", "").press().
			shows(200, "The key was saved", "Planning robot")
		owner.open("/settings/keys").shows(200, "Planning robot", "Read only", "No daily limit")
		owner.open("/settings/audit").shows(200, "renamed an API key")
		owner.open("/settings/audit").
			shows(200, "created an API key with the permission “Drafts”", "Planning robot", "set an API key to the permission “Read only”")
		revoke := key.follow("Revoke this key…").shows(200, "last used")
		revoke.form("Revoke key").press().shows(200, "The key was revoked", "Revoked")
		if h.callStatus(t, value) != 401 {
			t.Error("a revoked key works")
		}
		owner.open(key.path).shows(200, "Revoked").lacks("Revoke this key")
		revoke.form("Revoke key").press().shows(422, "was revoked")
	})
}

// The page that revokes a key lists the reports whose tracking it enabled. The operator's pauses are shown.
func TestRevokeKeyListsTracking(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		k, _, err := h.Teams.AddKey(t.Context(), team.NewKey{Team: c.team.ID, Name: "Tracker", Level: access.Full})
		must.NoError(t, err)
		id := uuid.Must(uuid.NewV7()).String()
		must.NoError(t, h.db.InTx(t.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
			_, err := tx.Exec(ctx,
				`INSERT INTO reports (id, team_id, kind, platform, subject, status, tracked, frequency_days,
		next_refresh_at, tracked_key, created_at) VALUES (?, ?, 'hashtag', 'instagram', 'coffee', 'ready', 1, 3, ?, ?, 1)`,
				id, c.team.ID, db.Micros(h.now().Add(time.Hour)), k.ID)
			return err
		}))
		must.NoError(t, h.Teams.Pause(t.Context(), team.Pause{Scope: team.ForKey, Target: k.ID, Action: access.PauseSpending}))
		owner := c.as(t, access.Owner)
		page := owner.open(fmt.Sprintf("/settings/keys/%d/revoke", k.ID)).
			shows(200, "#coffee on Instagram", "every 3 days", "Tracking continues and is charged")
		must.NoError(t, h.Teams.Pause(t.Context(), team.Pause{Scope: team.ForTeam, Target: c.team.ID, Action: access.PauseSpending}))
		if !strings.Contains(page.source, "/reports/"+id) {
			t.Error("no link to the tracked report")
		}
		owner.open("/settings/keys").shows(200, "Paused", "The operator has paused spending")
		page.form("Revoke key").press().
			shows(200, "The key was revoked and no longer works. Tracking of 1 report was turned off and will not be charged again.")
		if n := h.count(t, "reports WHERE tracked = 1 OR next_refresh_at > 0"); n != 0 {
			t.Errorf("%d reports are tracked", n)
		}
	})
}

// While spending is paused, only people who may spend can stop tracking. Tracking that a revoked key enabled can be
// stopped later.
func TestStopTrackingWhilePaused(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c, other := h.crew(t), h.crew(t)
		k, _, err := h.Teams.AddKey(t.Context(), team.NewKey{Team: c.team.ID, Name: "Tracker", Level: access.Full})
		must.NoError(t, err)
		var ids []string
		for _, tag := range []string{"coffee", "tea"} {
			id := uuid.Must(uuid.NewV7()).String()
			h.change(t,
				`INSERT INTO reports (id, team_id, kind, platform, subject, status, tracked, frequency_days,
		next_refresh_at, tracked_key, available_until, created_at) VALUES (?, ?, 'hashtag', 'instagram', ?, 'ready', 1, 3, ?, ?, ?, 1)`,
				id, c.team.ID, tag, db.Micros(h.now().Add(time.Hour)), k.ID, db.Micros(h.now().Add(time.Hour)))
			ids = append(ids, id)
		}
		for _, action := range []access.PauseAction{access.PauseSpending, access.PauseEverything} {
			must.NoError(t, h.Teams.Pause(t.Context(), team.Pause{Scope: team.ForService, Action: action}))
		}
		off := url.Values{"tracking": {"off"}}
		for who, b := range map[string]*browser{
			"an editor": c.as(t, access.Editor), "a viewer": c.as(t, access.Viewer),
			"a stranger": other.as(t, access.Owner), "nobody": h.browser(t),
		} {
			b.send(http.MethodPost, "/reports/"+ids[0]+"/tracking", off)
			if n := h.count(t, "reports WHERE tracked = 1"); n != 2 {
				t.Fatalf("%s switched tracking off", who)
			}
		}
		c.as(t, access.Admin).send(http.MethodPost, "/reports/"+ids[0]+"/tracking", off).
			shows(200, "Tracking is off. Nothing more is charged.")
		owner := c.as(t, access.Owner)
		page := fmt.Sprintf("/settings/keys/%d/revoke", k.ID)
		owner.open(page).shows(200, "#tea").lacks("#coffee")
		owner.send(http.MethodPost, page, nil).shows(200, "The key was revoked and no longer works.").lacks("ended")
		if n := h.count(t, "reports WHERE tracked = 1"); n != 1 {
			t.Errorf("%d reports are tracked", n)
		}
		owner.open(page).form("Turn off tracking").press().shows(200, "Tracking of 1 report was turned off and will not be charged again.")
		if n := h.count(t, "reports WHERE tracked = 1 OR next_refresh_at > 0"); n != 0 {
			t.Errorf("%d reports are tracked", n)
		}
	})
}

// A key ends when its creator no longer owns the team.
func TestSettingsKeyOfFormerOwner(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		k, _, err := h.Teams.AddKey(t.Context(), team.NewKey{Team: c.team.ID, Name: "Tracker", Level: access.Full})
		must.NoError(t, err)
		must.NoError(t, h.Teams.SetMember(t.Context(), c.team.ID, c.people[access.Admin].ID, access.Owner))
		c.as(t, access.Admin).open(fmt.Sprintf("/settings/keys/%d", k.ID)).
			shows(200, "no longer owns the team", "Create a new one").lacks("Revoke this key")
	})
}

func (h *env) events(t *testing.T, team int64) int {
	t.Helper()
	return h.count(t, "events WHERE team_id = ?", team)
}

func TestSettingsTeam(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		_, key, err := h.Teams.AddKey(t.Context(), team.NewKey{Team: c.team.ID, Name: "k", Level: access.Full})
		must.NoError(t, err)
		owner, admin, viewer := c.as(t, access.Owner), c.as(t, access.Admin), c.as(t, access.Viewer)
		off := owner.open("/settings/access").shows(200, "On", "lose access within a second").form("API keys and assistants").
			press().shows(200, "access is off")
		if h.callStatus(t, key) != 403 {
			t.Error("a key works although API access is off")
		}
		owner.open("/settings/keys").shows(200, "API keys and assistants do not work.")
		off.form("API keys and assistants").press().shows(200, "access is on")
		if h.callStatus(t, key) != 200 {
			t.Error("a key does not work although API access is on")
		}
		page := admin.open("/settings/team").shows(200, "are still published at the same moment")
		page.shows(200, "shown in this time zone. It is ", "Scheduled posts are still published at the same moment").mustBeSmall()
		if !strings.Contains(page.source, `<option value="de-AT">`) ||
			!strings.Contains(page.source, `<option value="Asia/Tokyo">Tokyo (UTC&#43;9)</option>`) {
			t.Error("no time zones or languages are offered")
		}
		page.form("Save").fill("timezone", "Berlin").fill("name", "Kept name").press().shows(422, "Use an IANA time zone").
			lacks(`value="` + c.team.Name + `"`)
		page.form("Save").fill("name", "<b>Hafen & Co</b>").fill("timezone", "Asia/Tokyo").
			fill("content_language", "ja").fill("keep_originals", "1").press().
			shows(200, "Saved. Times are now shown in Asia/Tokyo", "<b>Hafen & Co</b>")
		viewer.open("/settings/team").shows(200, "Asia/Tokyo", "Japanese", "Originals are kept with their metadata").
			lacks("<b>Hafen", "Save")
		owner.open("/settings/plan").
			shows(200, "Agency", "Social accounts", "Unlimited", "Media library", "1.1 TB", "Free API calls today",
				"100,000", "Tracked reports", "Analytics are kept for", "2 years")
	})
}

func TestSettingsMembers(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		admin, owner := c.as(t, access.Admin), c.as(t, access.Owner)
		list := admin.open("/settings/members").shows(200, "5 people", "5 of 50 seats used", c.people[access.Viewer].Email).
			lacks("Open invitations")
		editor := list.follow("Ada editor").shows(200, "Editor").lacks("Transfer ownership…")
		editor.form("Change role").fill("role", "owner").press().shows(422, "Choose one of the roles")
		editor.form("Change role").fill("role", "viewer").press().shows(200, "The role was changed", "Viewer")
		list.follow("Ada owner").shows(200, "only when the owner transfers ownership").lacks("Change role")
		list.follow("Ada admin").shows(200, "Another owner or admin can change your role", "Edit name", "Last active").lacks("Change role")
		list.follow("Ada client").follow("Remove from team…").shows(200, "loses access to the team immediately").
			form("Remove from team").press().shows(200, "no longer a member", "4 people")

		list.form("Create invitations").fill("email", "nonsense").press().shows(422, "valid email address")
		made := list.form("Create invitations").fill("email", "Nora@harbour.example").fill("role", "viewer").press().
			shows(200, "nora@harbour.example", "shown only once").contains(`href="/settings/members" aria-current="true"`)
		link := regexp.MustCompile(`/invitation/[A-Z2-7]+`).FindString(made.source)
		h.browser(t).open(link).shows(200, c.team.Name)
		admin.open("/settings/members").shows(200, "1 open invitation", "nora@harbour.example").lacks(link).
			form("Revoke the invitation of nora@harbour.example").press().shows(200, "The invitation was revoked").lacks("Open invitations")
		h.browser(t).open(link).shows(422, "was revoked")

		wrong := list.form("Create invitations").fill("email", "a@quay.example, nonsense, "+c.people[access.Viewer].Email).press().
			shows(422, "nonsense: Enter a valid email address.", "This person is already in the team.").lacks("Open invitations")
		if got := wrong.form("Create invitations").values.Get("email"); !strings.HasPrefix(got, "a@quay.example, nonsense,") {
			t.Errorf("the input is lost: %q", got)
		}
		several := wrong.form("Create invitations").fill("email", "a@quay.example, b@quay.example").fill("role", "editor").press().
			shows(200, "2 invitations created", "a@quay.example", "b@quay.example")
		if n := len(regexp.MustCompile(`/invitation/[A-Z2-7]+`).FindAllString(several.source, -1)); n != 2 {
			t.Errorf("%d links are shown, want 2", n)
		}
		wrong.form("Create invitations").fill("email", manyAddresses(21)).press().
			shows(422, "at most 20 people")

		on := owner.open(fmt.Sprintf("/settings/members/%d", c.people[access.Admin].ID)).follow("Transfer ownership…").
			shows(200, "You become an admin of the team")
		on.form("Transfer ownership").press().shows(200, "Ownership was transferred")
		on.form("Transfer ownership").press().shows(403)
		admin.open("/settings/keys/new").shows(200)
	})
}

// manyAddresses returns a list of n email addresses.
func manyAddresses(n int) string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprintf("person%d@quay.example", i))
	}
	return strings.Join(out, ", ")
}

func TestSettingsCredits(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		owner := c.as(t, access.Owner)
		owner.open("/settings/credits").shows(200, "No transactions yet", "1,000")
		c.grant(t, 500)
		_, key, err := h.Teams.AddKey(t.Context(), team.NewKey{Team: c.team.ID, Name: "=cmd()", Level: access.Full})
		must.NoError(t, err)
		status, job := h.requestReport(t, key)
		if status != 202 {
			t.Fatalf("requesting a report: %d", status)
		}
		page := owner.open("/settings/credits").
			shows(200, "Credits granted", "The operator", "+500", "Report: reserved", "−5", "495", "Key =cmd()", "@",
				" on Instagram", "Newest first. Credits are reserved when work starts", "of 1,000 used today")
		page.follow("Report: reserved")
		if !strings.Contains(page.source, `<a href="/reports/`) {
			t.Error("the statement has no link to the report")
		}
		if !strings.Contains(page.source, "/jobs/"+job) {
			t.Error("the statement has no link to the job")
		}
		page.form("Save limit").fill("daily_credits", "2000").press().shows(422, "Enter a whole number from 0 to the limit of the plan")
		page.form("Save limit").fill("daily_credits", "7").press().shows(200, "The daily limit was saved.")
		if status, _ := h.requestReport(t, key); status != 429 {
			t.Errorf("above the owner's limit: %d", status)
		}
		sheet := c.as(t, access.Admin).open("/settings/credits/statement.csv").shows(200)
		rows, err := csv.NewReader(strings.NewReader(sheet.source)).ReadAll()
		if err != nil || len(rows) < 3 || rows[len(rows)-1][6] != "500" || !strings.Contains(sheet.source,
			"Key =cmd()") || !strings.Contains(sheet.header.Get("Content-Type"), "text/csv") {
			t.Errorf("%v (%v)", rows, err)
		}
		c.as(t, access.Editor).open("/settings/credits").shows(200, "Charged today", "Charged this month").
			lacks("Statement", ">495<", ">500<", "+500")
		month := h.now().In(mustZone(t, "Europe/Berlin")).AddDate(0, 0, -40).Format("2006-01")
		owner.open("/settings/credits?month="+month).shows(200, "No transactions in", "Next month")
		owner.open("/settings/credits?month=13").shows(422, "Enter a month such as")
		owner.open("/settings/credits?after=x").shows(422, "does not exist")
	})
}

func mustZone(t *testing.T, name string) *time.Location {
	t.Helper()
	z := must.Get(time.LoadLocation(name))(t)
	return z
}

// Long statements and activity logs are paged without gaps. The statement has a running balance.
func TestSettingsPaging(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		for n := range 120 {
			c.grant(t, int64(n+1))
		}
		owner := c.as(t, access.Owner)
		seen, page := 0, owner.open("/settings/credits").shows(200, "7,260")
		for {
			seen += strings.Count(page.source, "Credits granted")
			if !strings.Contains(page.source, `rel="next"`) {
				break
			}
			page = page.follow("Next page").shows(200)
		}
		if seen != 120 {
			t.Errorf("%d of 120 lines", seen)
		}
		page.shows(200, "+1 1") // the first grant and its balance
		seen, page = 0, owner.open("/settings/audit?kind=credits.granted").shows(200, "The operator granted 120 credits")
		for {
			seen += strings.Count(page.source, "The operator</bdi>")
			if !strings.Contains(page.source, `rel="next"`) {
				break
			}
			page = page.follow("Next page").shows(200)
		}
		if seen != 120 {
			t.Errorf("%d of 120 events", seen)
		}
		page.shows(200, "101–120 of 120 events").follow("Previous page").shows(200, "51–100 of 120 events").
			follow("Previous page").shows(200, "1–50 of 120 events").lacks("Previous page")
		owner.open("/settings/audit").shows(200, "The operator granted 120 credits", "All events").form("Filter").
			fill("kind", "team.created").press().shows(200, "created the team on the plan agency").lacks("granted 1 credits")
		owner.open("/settings/audit").form("Filter").fill("person", fmt.Sprint(c.people[access.Editor].ID)).press().
			shows(200, "No events match the filter.", "Show all events")
		owner.open("/settings/audit").form("Filter").fill("to", "2020-01-01").press().shows(200, "No events match the filter.")
		owner.open("/settings/audit").form("Filter").fill("from", "2020-01-01").press().shows(200, "The operator granted 120 credits")
		owner.open("/settings/audit?kind=no.such").shows(200, "No events match the filter.")
		owner.open("/settings/audit?before=x").shows(422)

		file := owner.open("/settings/audit?kind=credits.granted").follow("Export these events as CSV")
		rows := must.Get(csv.NewReader(strings.NewReader(file.source)).ReadAll())(t)
		if len(rows) != 121 || rows[1][1] != "The operator" || rows[1][3] != "credits.granted" {
			t.Errorf("%d rows of 120 events: %q", len(rows), rows[:2])
		}
	})
}

// requestReport requests a report with a key and returns the status and the job.
func (h *env) requestReport(t *testing.T, key string) (int, string) {
	t.Helper()
	n := h.people.Add(1)
	r := must.Get(http.NewRequestWithContext(t.Context(), http.MethodPost, h.root+"/api/v1/reports",
		strings.NewReader(fmt.Sprintf(`{"type":"profile","subject":"harbour.%d"}`, n))))(t)
	r.Header.Set("Authorization", "Bearer "+key)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Idempotency-Key", fmt.Sprint("paid ", n))
	resp := must.Get(http.DefaultClient.Do(r))(t)
	defer resp.Body.Close()
	var body struct {
		Data struct {
			Job string `json:"job_id"`
		} `json:"data"`
	}
	must.NoError(t, json.NewDecoder(resp.Body).Decode(&body))
	return resp.StatusCode, body.Data.Job
}

// The settings menu marks the current page and omits pages that the role is not permitted to open.
func TestSettingsMenu(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		owner, viewer := c.as(t, access.Owner), c.as(t, access.Viewer)
		for _, path := range []string{"/settings/team", "/settings/members", "/settings/plan", "/settings/export", "/account"} {
			owner.open(path).shows(200, "Billing and data").contains(`<a href="` + path + `" aria-current="page">`)
		}
		owner.open("/settings/keys/new").shows(200).contains(`<a href="/settings/keys" aria-current="true">`)
		if p := owner.open("/settings").shows(200, "API keys"); p.path != "/settings/team" {
			t.Errorf("/settings redirects to %s", p.path)
		}
		own := viewer.open("/settings/plan").shows(200, "Plan and limits", "Apps and assistants").lacks("API keys", "Delete team")
		own.contains(`<progress max="100" value="`)
		viewer.open("/settings/keys").shows(403, "You are a viewer in "+c.team.Name,
			"This needs permission to manage the team, which the owner and admins have.",
			"Ada owner", "Ada admin can change your role.").lacks("Billing and data")
		c.as(t, access.Editor).open("/reports/new").shows(403, "You are an editor", "permission to spend credits")
		c.as(t, access.Admin).open("/settings/keys/new").shows(403, "permission to manage owner-only settings")
		owner.open("/posts").shows(200).lacks("Billing and data")
	})
}
