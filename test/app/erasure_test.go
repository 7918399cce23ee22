package app

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/server"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/must"
)

// draft creates a draft and returns its ID.
func (b *browser) draft(c *crew, caption string) string {
	b.t.Helper()
	b.open("/posts/new").form("Save draft").fill("caption", caption).fill("account", fmt.Sprint(c.account)).
		press().shows(http.StatusOK)
	var id string
	must.NoError(b.t, c.db.QueryRow(b.t.Context(), `SELECT id FROM posts WHERE team_id = ? ORDER BY id DESC LIMIT 1`, c.team.ID).Scan(&id))
	return id
}

// awaitDeletion waits until a team is deleted.
func (c *crew) awaitDeletion(t *testing.T) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); c.count(t, "team_deletions WHERE team_id = ? AND ended_at > 0", c.team.ID) == 0; {
		if time.Now().After(end) {
			t.Fatal("the deletion did not finish")
		}
		<-time.After(50 * time.Millisecond)
	}
}

// tablesKept lists the tables that may keep a deleted team's ID, and why.
var tablesKept = map[string]string{
	"events":           "the audit log, which contains only IDs",
	"ledger_transfers": "the ledger",
	"reservations":     "the ledger refers to them",
	"wallets":          "the ledger refers to them",
	"team_deletions":   "the record of the deletion",
}

// An owner exports the data and deletes the team. Only the ledger and the audit log remain, and no post is published.
// Other teams are unaffected.
func TestDeleteTeam(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c, other := h.crew(t), h.crew(t)
		c.grant(t, 100)
		b := c.as(t, access.Owner)
		id := b.draft(c, "Fresh fish at eight.")
		other.as(t, access.Owner).draft(other, "Ours stays.")
		b.createReport(c, "profile", "instagram", "@harbour_cafe")
		sessions := h.count(t, "sessions WHERE person_id = ?", c.people[access.Owner].ID)

		b.open("/settings/delete").
			shows(http.StatusOK, "1 post", "1 connected account", "1 report", "95 remaining credits",
				"as long as the law requires").lacks("style=").
			form("Delete team").fill("name", "Harbour").press().
			shows(http.StatusUnprocessableEntity, "This is not the team’s name.")
		c.archive(t, b, id)
		if n := h.count(t, "posts WHERE team_id = ?", c.team.ID); n != 1 {
			t.Fatalf("%d posts", n)
		}
		p := b.open("/settings/delete").form("Delete team").fill("name", c.team.Name).fill("account", "yes").press()
		p.shows(http.StatusOK)
		c.awaitDeletion(t)
		c.checkNothingLeft(t)
		if n := h.count(t, "posts WHERE team_id = ?", other.team.ID); n != 1 {
			t.Errorf("another team has %d posts", n)
		}
		b.open("/posts").shows(http.StatusOK, "Sign in")
		if n := h.count(t, "sessions WHERE person_id = ?", c.people[access.Owner].ID); n != 0 || sessions == 0 {
			t.Errorf("%d of %d sessions remain", n, sessions)
		}
		if n := h.count(t, "people WHERE id = ? AND name = '' AND email NOT LIKE '%@%' AND deleted_at > 0",
			c.people[access.Owner].ID); n != 1 {
			t.Error("the owner’s account remains")
		}
		report, err := h.Credits.Audit(t.Context())
		if err != nil || !report.OK() {
			t.Errorf("ledger audit: %+v (%v)", report, err)
		}
		if err := h.Teams.Reopen(t.Context(), c.team.ID); err == nil {
			t.Error("a deleted team was reopened")
		}
	})
}

// Deleting a person's only team explains the consequences, as does the next sign-in. The last operator cannot delete
// their only team.
func TestPersonWithoutTeam(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c, other := h.crew(t), h.crew(t)
		b, owner := c.as(t, access.Owner), c.people[access.Owner]
		must.Get(h.Teams.SetOperator(t.Context(), owner.Email, true))(t)
		deleting := b.open("/settings/delete").form("Delete team").fill("name", c.team.Name)
		deleting.press().
			shows(http.StatusUnprocessableEntity, "The only operator of this service has no other team",
				"add the operator to another team")
		if n := h.count(t, "team_deletions"); n != 0 {
			t.Fatal("the last operator’s only team is being deleted")
		}
		b.open("/operator").shows(http.StatusOK)
		must.Get(h.Teams.SetOperator(t.Context(), other.people[access.Editor].Email, true))(t)
		leaving := other.as(t, access.Editor)
		deleting.press().shows(http.StatusOK, "The team is being deleted", "You can close this page", "It was your only team")
		leaving.send(http.MethodPost, fmt.Sprintf("/account/teams/%d/leave", other.team.ID), url.Values{}).
			shows(http.StatusUnprocessableEntity, "The only operator of this service")
		leaving.send(http.MethodPost, "/account/delete", url.Values{"email": {other.people[access.Editor].Email}}).
			shows(http.StatusUnprocessableEntity, "You are the only operator of this service.")
		c.awaitDeletion(t)
		b.open("/settings").shows(http.StatusOK, "Sign in")
		in := h.browser(t).open("/sign-in").form("Sign in").fill("email", owner.Email)
		in.fill("password", "wrong").press().shows(http.StatusUnauthorized, "Incorrect email or password.").lacks("no team")
		in.fill("password", password).press().
			shows(http.StatusForbidden, "You no longer belong to a team", "for an invitation").lacks("is wrong")
	})
}

// archive downloads and checks the export.
func (c *crew) archive(t *testing.T, b *browser, post string) {
	t.Helper()
	b.open("/settings/export").shows(http.StatusOK, "In the file", "Not in the file", "Passwords, API keys and network tokens")
	file := b.open("/settings/export.zip").shows(http.StatusOK)
	archive := must.Get(zip.NewReader(bytes.NewReader([]byte(file.source)), int64(len(file.source))))(t)
	all := map[string]string{}
	for _, f := range archive.File {
		r := must.Get(f.Open())(t)
		raw := must.Get(io.ReadAll(r))(t)
		all[f.Name] = string(raw)
	}
	for name, holds := range map[string]string{
		"posts.jsonl": "Fresh fish at eight.", "members.jsonl": "Ada owner", "accounts.jsonl": "bluesky",
		"reports.jsonl": "harbour_cafe", "events.jsonl": "team.created", "credits.jsonl": "grant", "post_accounts.jsonl": post,
	} {
		if !strings.Contains(all[name], holds) {
			t.Errorf("%s does not contain %q: %.300s", name, holds, all[name])
		}
	}
	for name, text := range all {
		if strings.Contains(text, "Ours stays.") || strings.Contains(text, "sealed") || strings.Contains(text, "hash\"") {
			t.Errorf("%s contains a secret: %.300s", name, text)
		}
	}
}

// checkNothingLeft checks that no table has a row of the team.
func (c *crew) checkNothingLeft(t *testing.T) {
	t.Helper()
	tables := `SELECT m.name FROM sqlite_master m JOIN pragma_table_info(m.name) c WHERE m.type = 'table' AND c.name = 'team_id'`
	if c.db.Postgres() {
		tables = `SELECT table_name FROM information_schema.columns WHERE column_name = 'team_id' AND table_schema = 'public'`
	}
	rows := must.Get(c.db.Query(t.Context(), tables))(t)
	defer rows.Close()
	var names []string
	for rows.Next() {
		var name string
		must.NoError(t, rows.Scan(&name))
		names = append(names, name)
	}
	must.NoError(t, rows.Err())
	if len(names) < 20 || !slices.Contains(names, "posts") {
		t.Fatalf("tables = %v", names)
	}
	for _, name := range names {
		if n := c.count(t, name+" WHERE team_id = ?", c.team.ID); n > 0 && tablesKept[name] == "" {
			t.Errorf("%d rows remain in %s", n, name)
		}
	}
	if n := c.count(t, "teams WHERE id = ? AND name = ''", c.team.ID); n != 1 {
		t.Error("the team’s name remains")
	}
}

// An owner cannot leave the team or delete the account. Other members can do both.
func TestLeaveTeam(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c, other := h.crew(t), h.crew(t)
		owner, editor, viewer := c.as(t, access.Owner), c.as(t, access.Editor), c.as(t, access.Viewer)
		id := owner.draft(c, "A draft.")

		for _, path := range []string{"/settings/delete", "/settings/export", "/settings/export.zip"} {
			viewer.open(path).shows(http.StatusForbidden, "Your role in this team does not allow this.")
			h.browser(t).open(path).shows(http.StatusOK, "Sign in")
		}
		viewer.send(http.MethodPost, "/settings/delete", url.Values{"name": {c.team.Name}}).shows(http.StatusForbidden)
		c.as(t, access.Admin).send(http.MethodPost, "/settings/delete", url.Values{"name": {c.team.Name}}).shows(http.StatusForbidden)
		viewer.send(http.MethodPost, "/posts/"+id+"/delete", url.Values{}).shows(http.StatusForbidden)
		other.as(t, access.Owner).send(http.MethodPost, "/posts/"+id+"/delete", url.Values{}).shows(http.StatusNotFound)
		owner.send(http.MethodPost, "/posts/none/delete", url.Values{}).shows(http.StatusNotFound)

		editor.open("/posts/"+id+"/delete").shows(http.StatusOK, "Delete this post?").form("Delete post").press().
			shows(http.StatusOK, "The post was deleted.")
		if n := h.count(t, "posts WHERE id = ?", id); n != 0 {
			t.Error("the draft remains")
		}
		id = c.draft(t, "Is scheduled", "")
		c.callTool(t, "schedule_post", map[string]any{"post_id": id, "scheduled_at": c.apiTime(48 * time.Hour)})
		editor.open("/posts/"+id).follow("Delete…").form("Delete post").press().shows(http.StatusOK, "The post was deleted.")
		id = c.draft(t, "Was sent", "")
		h.change(t, `UPDATE posts SET status = 'published' WHERE id = ?`, id)
		editor.open("/posts/" + id).lacks("Delete…")
		editor.open("/posts/"+id+"/delete").shows(http.StatusConflict, "Published and failed posts can’t be deleted here.").
			lacks("Delete post")
		editor.send(http.MethodPost, "/posts/"+id+"/delete", url.Values{}).
			shows(http.StatusUnprocessableEntity, "This post was already sent to a network.")

		owner.open(fmt.Sprintf("/account/teams/%d/leave", c.team.ID)).shows(http.StatusOK, "You own this team.")
		owner.send(http.MethodPost, fmt.Sprintf("/account/teams/%d/leave", c.team.ID), url.Values{}).
			shows(http.StatusUnprocessableEntity, "You own this team.")
		owner.open("/account/delete").shows(http.StatusOK, "You own 1 team.", "4 other members can become the owner.").
			form("Members").press().shows(http.StatusOK, "Members", c.team.Name)
		owner.send(http.MethodPost, "/account/delete", url.Values{"email": {c.people[access.Owner].Email}}).
			shows(http.StatusUnprocessableEntity, "You own a team.")
		viewer.open(fmt.Sprintf("/account/teams/%d/leave", other.team.ID)).shows(http.StatusNotFound)
		viewer.open(fmt.Sprintf("/account/teams/%d/leave", c.team.ID)).shows(http.StatusOK, "This is your only team").
			form("Leave team").press().shows(http.StatusOK, "Sign in")

		gone := editor.open("/account/delete").form("Delete my account")
		gone.fill("email", "somebody@else.example").press().shows(http.StatusUnprocessableEntity, "This is not your email address.")
		gone.fill("email", c.people[access.Editor].Email).press().shows(http.StatusOK, "Your account was deleted")
		editor.open("/account").shows(http.StatusOK, "Sign in")
		for _, table := range []string{"memberships", "sessions", "passkeys", "recoveries"} {
			if n := h.count(t, table+" WHERE person_id = ?", c.people[access.Editor].ID); n != 0 {
				t.Errorf("%d rows remain in %s", n, table)
			}
		}
		owner.open("/settings/audit").shows(http.StatusOK)
	})
}

// The secrets of two Meta apps.
const (
	metaSecret  = "a secret of the app"
	pagesSecret = "a secret of the app for Pages"
)

// signedBy returns a request as Meta signs it.
func signedBy(secret, payload string) string {
	part := base64.RawURLEncoding.EncodeToString([]byte(payload))
	h := hmac.New(sha256.New, []byte(secret))
	h.Write([]byte(part))
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil)) + "." + part
}

// checkPagesDeleted sends Facebook's deletion request for a person. It checks that the person's Pages are deleted in
// every team, and no other Pages.
func (c *crew) checkPagesDeleted(t *testing.T, h *env, asks func(string) *page) {
	t.Helper()
	other := h.crew(t)
	for _, p := range []struct {
		team         int64
		page, holder string
	}{{c.team.ID, "101", "facebook:99"}, {c.team.ID, "102", "facebook:99"}, {other.team.ID, "101", "facebook:99"}, {
		other.team.ID, "103", "facebook:98",
	}} {
		h.change(t,
			`INSERT INTO social_accounts (team_id, platform, network_id, username, display_name, connection_state,
		sealed_grant, grant_holder, created_at, updated_at) VALUES (?, 'facebook', ?, 'a page', 'a page', 'connected', ?, ?, 1, 1)`,
			p.team, p.page, []byte("sealed"), p.holder)
	}
	request := signedBy(pagesSecret, `{"algorithm":"HMAC-SHA256","user_id":"99","issued_at":1767225600}`)
	first := asks(request).shows(http.StatusOK)
	const pages = "social_accounts WHERE platform = 'facebook' AND username = 'a page' AND LENGTH(sealed_grant) > 0"
	if n := h.count(t, pages); n != 1 {
		t.Errorf("%d Pages remain", n)
	}
	_, rest, _ := strings.Cut(first.source, `"url":"`)
	address, _, _ := strings.Cut(rest, `"`)
	h.browser(t).open(strings.TrimPrefix(address, h.root)).shows(http.StatusOK, "Completed. 3 accounts")
	h.change(t,
		`INSERT INTO social_accounts (team_id, platform, network_id, username, display_name, connection_state,
		sealed_grant, grant_holder, created_at, updated_at)
		VALUES (?, 'facebook', '101', 'a page', 'a page', 'connected', ?, 'facebook:99', 1, 1)`, c.team.ID, []byte("sealed"))
	if again := asks(request).shows(http.StatusOK); again.source != first.source {
		t.Errorf("a repeated request returned %s, the first %s", again.source, first.source)
	}
	if n := h.count(t, pages); n != 2 {
		t.Errorf("%d Pages remain after a repeated request", n)
	}
}

// A deletion request with a valid signature deletes the account's data and reports the status.
func TestNetworkDeletionRequest(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		t.Parallel()
		h := open(t, url, func(cfg *server.Config) {
			was := cfg.Networks.Secret
			cfg.Networks.Secret = func(name string) string {
				switch name {
				case "THREADS":
					return metaSecret
				case "FACEBOOK":
					return pagesSecret
				}
				return was(name)
			}
		})
		c := h.crew(t)
		must.NoError(t, h.db.InTx(t.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
			_, err := tx.Exec(ctx, `UPDATE social_accounts SET platform = 'threads', network_id = '4711' WHERE id = ?`, c.account)
			return err
		}))
		b := h.browser(t)
		asks := func(request string) *page {
			return b.send(http.MethodPost, "/networks/meta/deletion", map[string][]string{"signed_request": {request}})
		}
		good := `{"algorithm":"HMAC-SHA256","user_id":"4711","issued_at":1767225600}`
		for name, request := range map[string]string{
			"nothing": "", "no signature": "." + good, "another secret": signedBy("guessed", good),
			"no secret": signedBy("", good), "another payload": strings.Replace(signedBy(metaSecret, good), ".", ".e", 1),
			"another algorithm": signedBy(metaSecret, `{"algorithm":"none","user_id":"4711"}`),
			"nobody":            signedBy(metaSecret, `{"algorithm":"HMAC-SHA256"}`),
		} {
			if p := asks(request); p.status != http.StatusUnprocessableEntity {
				t.Errorf("%s: %d", name, p.status)
			}
		}
		if n := h.count(t, "social_accounts WHERE id = ? AND network_id = '4711'", c.account); n != 1 {
			t.Fatal("an unsigned request deleted the account")
		}
		for user, says := range map[string]string{`"4711"`: "Completed", `12`: "so nothing was deleted"} {
			answer := asks(signedBy(metaSecret, `{"algorithm":"HMAC-SHA256","user_id":`+user+`}`)).shows(http.StatusOK)
			_, rest, _ := strings.Cut(answer.source, `"url":"`)
			address, _, _ := strings.Cut(rest, `"`)
			b.open(strings.TrimPrefix(address, h.root)).shows(http.StatusOK, says)
		}
		if n := h.count(t,
			"social_accounts WHERE id = ? AND username = 'deleted' AND network_id <> '4711' AND "+
				"LENGTH(sealed_grant) = 0", c.account); n != 1 {
			t.Error("the account’s data remains")
		}
		b.open("/networks/deletions/guessed").shows(http.StatusNotFound)
		c.checkPagesDeleted(t, h, asks)
	})
}
