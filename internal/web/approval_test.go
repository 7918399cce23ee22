package web_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/auth/tokencrypt"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/core/plan"
	"pressroom.example/pressroom/internal/domain/account"
	"pressroom.example/pressroom/internal/domain/job"
	"pressroom.example/pressroom/internal/domain/post"
	"pressroom.example/pressroom/internal/domain/post/approval"
	"pressroom.example/pressroom/internal/domain/team"
	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/web"
	"pressroom.example/pressroom/internal/web/shell"
)

// takesAll is a network that accepts every post.
type takesAll struct{ passwords }

func (takesAll) Check(network.Content) []network.Problem { return nil }

// approving returns the app with a post that waits for approval, and the path of the client's page.
type approving struct {
	*world

	posts     *post.Service
	approvals *approval.Service
	id, page  string
}

func (w *world) approving(t *testing.T, caption string, media ...int64) *approving {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	key, err := tokencrypt.NewKey()
	must(err)
	sealer, err := tokencrypt.New(key)
	must(err)
	accounts := account.New(w.db, sealer, nil, takesAll{})
	account, err := accounts.Connect(t.Context(), w.harbour.ID, "bluesky",
		network.Credentials{Server: "https://pds.test", Identifier: "harbour.test", Password: "app-pass"})
	must(err)
	a := &approving{world: w, posts: post.New(w.db, accounts, job.NewStore(w.db, nil, 5), w.media, nil, post.DefaultLimits, plan.Default())}
	a.approvals = approval.New(approval.Options{DB: w.db, Posts: a.posts, Sealer: sealer,
		PublicURL: "http://press.example"})
	a.id = a.do(t, "create_post", map[string]any{"caption": caption, "account_ids": []int64{account.ID}, "media_ids": media})
	link, err := a.approvals.Request(t.Context(), w.bea.ID, a.id)
	must(err)
	a.page = strings.TrimPrefix(link, "http://press.example")
	app, err := web.New(web.Options{
		Shell: shell.Options{
			PublicURL: "http://press.example", Teams: w.teams, DB: w.db, Log: logOf(t),
		},
		Library: w.media, Connector: w.connects, Approvals: a.approvals, Posts: a.posts, Media: w.media,
		OAuth: w.programs("http://press.example"), Describe: describe, TOTP: w.apps(t),
		SignIns: team.NewSignIns(w.teams),
	})
	must(err)
	server := httptest.NewServer(app)
	t.Cleanup(server.Close)
	w.url = server.URL
	return a
}

// do runs an operation with Ada's key and returns the post's ID.
func (a *approving) do(t *testing.T, tool string, args map[string]any) string {
	t.Helper()
	for _, op := range a.posts.Operations() {
		if op.Tool != tool {
			continue
		}
		raw, err := json.Marshal(args)
		if err != nil {
			t.Fatal(err)
		}
		call := operation.Call{
			Actor: &access.Actor{
				TeamID: a.harbour.ID, PersonID: a.ada.ID, Plan: "team", Zone: time.UTC,
				Capabilities: access.EffectiveCapabilities(access.Full, access.Owner),
			}, Now: a.clock.Now(),
		}
		if _, err := op.Run(t.Context(), call, raw); err != nil {
			t.Fatal(err)
		}
	}
	var id string
	if err := a.db.QueryRow(t.Context(), `SELECT id FROM posts`).Scan(&id); err != nil {
		t.Fatal(err)
	}
	return id
}

// state returns the approval state of the post and the client's comment.
func (a *approving) state(t *testing.T) string {
	t.Helper()
	var approval, name, comment string
	err := a.db.QueryRow(t.Context(),
		`SELECT p.approval, r.client_name, r.comment FROM posts p
		JOIN post_approvals r ON r.post_id = p.id AND r.round = p.approval_round`).Scan(&approval, &name, &comment)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%s by %q: %q", approval, name, comment)
}

func says(decision, round, name, comment string) url.Values {
	return url.Values{"decision": {decision}, "round": {round}, "name": {name}, "comment": {comment}}
}

// TestApproving checks approval on the page of a link, which shows the whole post.
func TestApproving(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		item := w.browser(t).in("ada@example.com").sendOK(w.batch(t).page, "harbour.png", picture(t, 1))
		other := w.browser(t).in("ada@example.com").sendOK(w.batch(t).page, "other.png", picture(t, 2))
		a := w.approving(t, "Open <b>from</b> eight.\nBe there!", item.MediaID)
		client := w.browser(t)
		shown := client.get(a.page)
		image := a.page + "/media/" + itoa(item.MediaID)
		shown.wants(t, 200, "A post from Harbour &amp; Sons",
			"Open &lt;b&gt;from&lt;/b&gt; eight.<br>Be there!",
			"harbour.test", "Shared by <bdi>Bea</bdi> · Link expires 21 December 2026",
			"The team has not set a time yet and will do so after you approve the post.",
			"Your approvals and comments are shared with the Harbour &amp; Sons team.",
			`src="`+strings.Replace(image, "/media/", "/images/", 1)+`"`, "It is waiting for you")
		if csp := shown.Header.Get("Content-Security-Policy"); !strings.Contains(csp, "default-src 'none'") || len(shown.Cookies()) > 0 {
			t.Errorf("%v", shown.Header)
		}
		small := client.get(image)
		if small.StatusCode != http.StatusOK || !strings.HasPrefix(small.Header.Get("Content-Type"), "image/") ||
			small.Header.Get("Content-Security-Policy") != "sandbox; default-src 'none'" || small.text == "" {
			t.Errorf("%d %v", small.StatusCode, small.Header)
		}
		for _, path := range []string{
			a.page + "/media/" + itoa(other.MediaID), a.page + "/media/x", a.page + "/media/-1",
			a.page[:len(a.page)-2] + "/media/" + itoa(item.MediaID), "/media/" + itoa(item.MediaID) + "/file",
		} {
			if p := client.get(path); p.StatusCode == http.StatusOK {
				t.Errorf("%s is accessible", path)
			}
		}
		client.post(a.page, says("approve", "1", "", "kept")).
			wants(t, 422, `aria-invalid="true" autofocus><p class="error" id="error" role="alert">Enter your name first`,
				"\nkept</textarea>")
		client.post(a.page, says("", "1", "Cleo", "")).wants(t, 422, "Choose whether", `value="Cleo"`)
		client.post(a.page, says("reject", "1", "Cleo", strings.Repeat("ä", 2001))).wants(t, 422, "at most 2000 characters")
		client.post(a.page, says("reject", "1", "Cleo", strings.Repeat("x", 1_000_000))).wants(t, 400)
		client.post(a.page, says("approve", "x", "Cleo", "")).wants(t, 422, "The post has changed, so your decision was not saved")
		client.do("POST", a.page, strings.NewReader(says("approve", "1", "Mallory", "").Encode()), "Content-Type",
			"application/x-www-form-urlencoded", "Sec-Fetch-Site", "cross-site").wants(t, 403, "came from another site")
		if got := a.state(t); got != `waiting by "": ""` {
			t.Error(got)
		}
		client.post(a.page, says("approve", "1", "Cleo <3", strings.Repeat("ä\r\n", 1000))).leads(t, a.page)
		client.get(a.page).
			wants(t, 200,
				"Approved by <strong><bdi>Cleo &lt;3</bdi></strong> at 13:00 on Saturday 21 November 2026 "+
					"(Europe/Berlin)", "The post will not be published until a team member schedules it.")
		client.post(a.page, says("reject", "1", "Mallory", "Not the <quay>.")).
			wants(t, 422, "The client has already decided on this version.", "Approved by",
				"Your comment was not sent.", "Not the &lt;quay&gt;.")
		if got := a.state(t); !strings.HasPrefix(got, `approved by "Cleo <3"`) {
			t.Error(got)
		}
	})
}

// Clients and the team see approvals in German if their browsers accept it.
func TestApprovingInGerman(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		a := w.approving(t, "Open from eight.")
		german := func(b *browser, path string, texts ...string) {
			t.Helper()
			p := b.do(http.MethodGet, path, nil, "Accept-Language", "de")
			p.wants(t, 200, texts...)
			if found := englishIn(p.text); len(found) > 0 {
				t.Errorf("%s shows %q in German", path, found)
			}
		}
		client := w.browser(t)
		german(client, a.page, "Ein Beitrag von Harbour", "Link gültig bis 21. Dezember 2026", "Änderungen anfordern",
			"Das Team hat noch keinen Termin festgelegt")
		client.post(a.page, says("approve", "1", "Cleo", "")).leads(t, a.page)
		german(client, a.page, "Freigegeben von", "am Samstag, 21. November 2026, um 13:00 Uhr (Europe/Berlin).")
		bea := w.browser(t).in("bea@example.com")
		for _, path := range []string{"/approvals", "/approvals?show=all", "/approvals/new", "/approvals/new?post=" + a.id} {
			german(bea, path)
		}
	})
}

// TestApprovingAnOldVersion checks that a link to an old version decides nothing and keeps the client's comment.
func TestApprovingAnOldVersion(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		a := w.approving(t, "first")
		client := w.browser(t)
		client.get(a.page).wants(t, 200, "first", `name="round" value="1"`)
		a.do(t, "update_post", map[string]any{"id": a.id, "caption": "second", "scheduled_at": "2026-12-01T10:00Z"})
		for _, p := range []page{
			client.get(a.page), client.post(a.page, says("approve", "1", "Cleo", "fine <3")),
			client.post(a.page, says("approve", "2", "Cleo", "")),
		} {
			p.wants(t, 422, "<h1>The post has changed</h1>", "Ask the team that sent it for a link to the new version.")
			for _, not := range []string{"first", "second", ">Approve</button>"} {
				if strings.Contains(p.text, not) {
					t.Errorf("the page contains %q: %s", not, p.text)
				}
			}
		}
		client.post(a.page, says("approve", "1", "Cleo", "fine <3")).wants(t, 422, "Your comment was not sent.", "fine &lt;3")
		if got := a.state(t); got != `waiting by "": ""` {
			t.Error(got)
		}
		asked := func() string {
			link, err := a.approvals.Request(t.Context(), w.bea.ID, a.id)
			if err != nil {
				t.Fatal(err)
			}
			return strings.TrimPrefix(link, "http://press.example")
		}
		second := asked()
		client.get(second).
			wants(t, 200, "second",
				"The team plans to publish it at 11:00 on Tuesday 1 December 2026 (Europe/Berlin). After you "+
					"approve it, a team member still needs to schedule it")
		client.post(second, says("reject", "2", "Cleo", "Not yet.")).leads(t, second)
		client.get(second).wants(t, 200, "Changes requested by", "It will not be published until you approve it or a new version of it.")
		if got := a.state(t); got != `rejected by "Cleo": "Not yet."` {
			t.Error(got)
		}
		for _, path := range []string{"/approval/", a.page + "/"} {
			client.get(path).wants(t, 404, "This page doesn’t exist")
		}
		for _, path := range []string{"/approval/x", a.page + "x"} {
			client.get(path).wants(t, 404, "This link is no longer active", "Ask the team that sent it for a new one.")
		}
		client.post("/approval/x", says("approve", "1", "Cleo", "")).wants(t, 404, "This link is no longer active")
		if err := a.approvals.RevokeLinks(t.Context(), w.bea.ID, a.id); err != nil {
			t.Fatal(err)
		}
		client.get(second).wants(t, 422, "The team has revoked this link.")
		third := asked()
		client.get(third).wants(t, 200, "second", ">Approve</button>")
		w.clock.Advance(30 * 24 * time.Hour)
		client.get(third).wants(t, 422, "This link has expired.")
		client.post(third, says("approve", "3", "Cleo", "kept")).wants(t, 422, "This link has expired.", "kept")
	})
}
