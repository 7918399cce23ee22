package app

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/domain/account"
	"pressroom.example/pressroom/internal/testkit/must"
)

func (c *crew) handle() string { return fmt.Sprintf("harbour%d.test", c.team.ID) }

// The accounts page shows each account's state. An account can be disconnected, after a page with the consequences, and
// connected again.
func TestAccounts(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.as(t, access.Owner)
		b.open("/accounts").
			shows(http.StatusOK, c.handle(), "Nothing scheduled", "No posts yet",
				"Your plan allows any number of accounts.", "TikTok for Business")
		page := b.open("/accounts").follow("Disconnect " + c.handle())
		page.shows(http.StatusOK, "No scheduled posts use it.", "Published posts stay on the network").
			follow("Cancel").shows(http.StatusOK, "Performance")
		page.form("Disconnect").press().
			shows(http.StatusOK,
				"The Bluesky account "+c.handle()+" was disconnected. Bluesky was notified that the permission was revoked.",
				"No account is connected yet.")
		b.open(fmt.Sprint("/accounts/", c.account)).shows(http.StatusNotFound)
		page.form("Disconnect").press().shows(http.StatusNotFound)

		sign := b.open("/accounts").form("Bluesky Profiles").press()
		sign.shows(http.StatusOK, "Connect Bluesky", "App password").form("Connect").
			fill("server", h.box.URL+"/bluesky").fill("identifier", c.handle()).fill("password", "open-sesame-1234").press().
			shows(http.StatusOK, "You can publish to it").lacks("renewed")
		b.open(fmt.Sprint("/accounts/", c.account)).shows(http.StatusOK, "Connected")
	})
}

// If a network has two ways to sign in, its page lists the accounts that each way is for.
func TestConnectWays(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.as(t, access.Owner)
		b.open("/accounts").form("Instagram Professional accounts").press().
			shows(http.StatusOK, "Connect an Instagram account so that", "need no Facebook Page", "belong to a Facebook Page",
				"You sign in there and choose").lacks("You sign in to Instagram")
		b.open("/accounts").form("TikTok Personal and creator accounts").press().
			shows(http.StatusOK, "Connect a TikTok account", "You sign in to TikTok").
			lacks("Facebook Page")
		b.open("/accounts").follow("Help").shows(http.StatusOK, "How to do the most common tasks.")
	})
}

// Connecting an account again says that it is already connected and links to its page or to the accounts page.
func TestConnectAgain(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.as(t, access.Owner)
		done := b.open("/accounts").form("Bluesky Profiles").press().form("Connect").
			fill("server", h.box.URL+"/bluesky").fill("identifier", c.handle()).fill("password", "open-sesame-1234").press().
			shows(http.StatusOK, "Connection renewed", "was already connected. Its connection is renewed")
		done.follow("Account analytics").shows(http.StatusOK, c.handle(), "Performance")
		done.follow("Accounts").shows(http.StatusOK, c.handle())
		if n := c.count(t, "social_accounts WHERE team_id = ?", c.team.ID); n != 1 {
			t.Errorf("%d accounts, want 1", n)
		}
	})
}

// A disconnected account is marked and can be connected again.
func TestDisconnectedAccount(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		must.NoError(t, h.Accounts.MarkLost(t.Context(), c.account, account.AnyGrant))
		path := fmt.Sprint("/accounts/", c.account)
		c.as(t, access.Viewer).open(path).
			shows(http.StatusOK, "The connection is lost: the permission was revoked on the network or has expired.",
				"An owner or admin of the team can reconnect it.").lacks("Reconnect</button>")
		b := c.as(t, access.Admin)
		b.open("/accounts").shows(http.StatusOK, "Connection lost", "The permission was revoked on the network")
		again := b.open(path).form("Reconnect").press().
			shows(http.StatusOK, "will be reconnected. Use the same account.").lacks("A program or assistant", "requested this")
		again.form("Connect").fill("server", h.box.URL+"/bluesky").fill("identifier", c.handle()).
			fill("password", "open-sesame-1234").press().shows(http.StatusOK, "was already connected. Its connection is renewed.")
		b.open(path).shows(http.StatusOK, "Connected").lacks("The connection is lost")
	})
}

// The page of a YouTube account whose connection was rejected says that Google ends connections of test projects.
func TestConnectionOfTestProject(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		const hint = "Google ends connections after seven days"
		page := func(id string) *page { return c.as(t, access.Admin).open("/accounts/" + id).shows(http.StatusOK) }
		youTube := c.addAccountOf(t, "youtube")
		page(youTube).lacks(hint)
		for _, id := range []string{youTube, c.id()} {
			must.NoError(t, h.Accounts.MarkLost(t.Context(), must.Get(strconv.ParseInt(id, 10, 64))(t), account.AnyGrant))
		}
		page(youTube).shows(http.StatusOK, "The connection is lost", hint)
		page(c.id()).shows(http.StatusOK, "The connection is lost").lacks(hint)
	})
}

// Disconnecting an account either unschedules its posts or lets them fail, depending on the person's choice.
func TestDisconnectWithScheduledPosts(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		for _, choice := range []string{"take_out", "leave"} {
			c := h.crew(t)
			b := c.as(t, access.Owner)
			c.schedulePosts(t, 2)
			b.open("/accounts").shows(http.StatusOK, "Next post").lacks("Nothing scheduled")
			page := b.open(fmt.Sprintf("/accounts/%d/disconnect", c.account)).shows(http.StatusOK, "2 scheduled posts use it.")
			done := page.form("Disconnect").fill("posts", choice).press().shows(http.StatusOK, "was disconnected.")
			if choice == "take_out" {
				done.shows(http.StatusOK, "It was removed from 2 scheduled posts.")
				if n := c.count(t, "posts WHERE team_id = ? AND status = 'draft'", c.team.ID); n != 2 {
					t.Errorf("%d drafts, want 2", n)
				}
				continue
			}
			h.advance(2 * time.Hour)
			for end := time.Now().
				Add(20 * time.Second); c.count(t,
				"post_targets t JOIN posts p ON p.id = t.post_id WHERE p.team_id = ? AND t.error_code = "+
					"'account_needs_reauth'", c.team.ID) < 2; <-time.After(20 * time.Millisecond) {
				if time.Now().After(end) {
					t.Fatal("the posts did not fail")
				}
			}
		}
	})
}

// schedulePosts schedules n posts on the team's account for an hour from now.
func (c *crew) schedulePosts(t *testing.T, n int) {
	t.Helper()
	for i := range n {
		id := fmt.Sprintf("019d3889-2b10-7c1e-8a3f-%06d%06d", c.team.ID, i)
		at := c.now().Add(time.Hour).UnixMicro()
		for _, statement := range []struct {
			text string
			args []any
		}{
			{`INSERT INTO posts (id, team_id, person_id, key_id, status, caption, excerpt, scheduled_at, slot_at,
		created_at, updated_at) VALUES (?, ?, ?, 0, 'scheduled', 'Fresh', 'Fresh', ?, ?, ?, ?)`,
				[]any{id, c.team.ID, c.people[access.Owner].ID, at, at, at, at}},
			{`INSERT INTO post_targets (post_id, account_id, position) VALUES (?, ?, 0)`, []any{id, c.account}},
		} {
			c.change(t, statement.text, statement.args...)
		}
	}
}

// An account's page shows the network's metrics for each period and exports them.
func TestAccountMetrics(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.as(t, access.Viewer)
		path := fmt.Sprint("/accounts/", c.account)
		now := h.now().UnixMicro()
		zone := must.Get(time.LoadLocation(c.team.Timezone))(t)
		year, month, date := h.now().In(zone).Date()
		today := time.Date(year, month, date, 0, 0, 0, 0, zone) // any time of the team's day includes its first instant
		c.change(t, `INSERT INTO account_collections (account_id, due_at, collected_at, known_from) VALUES (?, ?, ?, ?)
			ON CONFLICT (account_id) DO UPDATE
		SET due_at = excluded.due_at, collected_at = excluded.collected_at, known_from = excluded.known_from, epoch =
		account_collections.epoch + 1`,
			c.account, now+int64(time.Hour/time.Microsecond), now, now-int64(400*24*time.Hour/time.Microsecond))
		for day := range 9 {
			at := today.AddDate(0, 0, -day).UnixMicro()
			c.change(t,
				`INSERT INTO account_posts (account_id, network_id, posted_at, format, excerpt, url, likes, comments,
		collected_at) VALUES (?, ?, ?, 'image', ?, 'https://example.test/p', ?, 2, ?)`,
				c.account, fmt.Sprint("p", day), at, fmt.Sprint("<b>Fresh</b> ", day), 10+day, now)
		}
		for day := range 12 {
			c.change(t, `INSERT INTO account_days (account_id, day, followers, measured_at) VALUES (?, ?, ?, ?)
				ON CONFLICT (account_id, day) DO UPDATE SET followers = excluded.followers`, c.account,
				today.AddDate(0, 0, -day).Format(time.DateOnly), 300-day, today.AddDate(0, 0, -day).UnixMicro())
		}
		p := b.open(path).
			shows(http.StatusOK, "Engagement", "Best post", "<b>Fresh</b> 8", "Posting days", "Followers", "Formats", "Export",
				"Mon", "About these metrics")
		p.lacks("<b>Fresh")
		if !strings.Contains(p.source, `<svg class="plot wide"`) {
			t.Error("no follower chart")
		}
		b.open(path+"?days=7").
			shows(http.StatusOK, "Based on 7 posts.", "+7 in this period", "+250% 7 per week", "+169% previously 39").
			lacks("Fresh&lt;/b&gt; 8")
		file := b.open(path+"/figures.csv?days=7").
			shows(http.StatusOK, "figure,of,value,low,high,posts", "likes,account,91,,,7", "posts,image,7")
		if !strings.Contains(file.header.Get("Content-Disposition"), "7-days.csv") {
			t.Error(file.header)
		}
		b.open("/accounts").shows(http.StatusOK, "Last post").lacks("No posts yet")
		weeks := b.open("/analytics?days=7").shows(http.StatusOK, c.handle()+" on Bluesky 300 +7 7 105 +169%", "+250% previously 2",
			"+169% previously 39", "Followers gained", "Compared with the previous 7 days", "Best posts", "<b>Fresh</b> 6")
		weeks.contains(`<svg class="spark"`, fmt.Sprintf(`<img src="/accounts/%d/picture"`, c.account))
		weeks.contains(`aria-label="Followers gained. The table`, `class="line past"`)
		weeks.lacks("By network")
		weeks.follow("Engagement").shows(http.StatusOK, "Engagement by publish date")
		weeks.follow("Export").shows(http.StatusOK, c.handle()+",bluesky,300,7,7,,105,2,,39")
		b.open("/analytics?network=instagram").shows(http.StatusOK, c.handle()+" on Bluesky")
		weeks.follow("30 days").
			shows(http.StatusOK, "The last 30 days", c.handle()+" on Bluesky 300 +11 9 144", "No earlier data").
			lacks("previously 0")
		b.open("/analytics?days=365&show=engagement").shows(http.StatusOK, "Engagement by week published")
		b.open("/analytics?days=3").shows(http.StatusOK, "The last 30 days")
		weeks.follow(c.handle()+" on Bluesky").shows(http.StatusOK, "Best post", "+7 in this period")
		b.open("/").shows(http.StatusOK, "Accounts this week", "105 interactions, 39 the week before", "300 followers +7 in seven days")
		must.NoError(t, h.Teams.SetPlan(t.Context(), c.team.ID, "free", time.Time{}))
		b.open(path).shows(http.StatusOK)
	})
}

// The role decides who may view and change accounts.
func TestAccountPermissions(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c, other := h.crew(t), h.crew(t)
		path := fmt.Sprint("/accounts/", c.account)
		for _, role := range []access.Role{access.Editor, access.Viewer, access.Client} {
			b := c.as(t, role)
			b.open("/accounts").shows(http.StatusOK, c.handle()).lacks("Connect an account", "Disconnect "+c.handle())
			b.open(path).shows(http.StatusOK, c.handle()).lacks(path + "/disconnect")
			b.open(path + "/disconnect").shows(http.StatusForbidden)
			for _, address := range []string{"/accounts/connect", path + "/connect", path + "/disconnect"} {
				b.send(http.MethodPost, address, map[string][]string{"platform": {"bluesky"}}).shows(http.StatusForbidden)
			}
		}
		stranger := other.as(t, access.Owner)
		for _, address := range []string{path, path + "/disconnect", path + "/figures.csv", "/accounts/0", "/accounts/x"} {
			stranger.open(address).shows(http.StatusNotFound).lacks(c.handle())
			if out := h.browser(t).open(address); !strings.HasPrefix(out.path, "/sign-in") {
				t.Errorf("signed out, %s redirects to %s", address, out.path)
			}
		}
		for _, address := range []string{path + "/connect", path + "/disconnect"} {
			stranger.send(http.MethodPost, address, map[string][]string{"posts": {"take_out"}}).shows(http.StatusNotFound)
		}
		if g, err := h.Accounts.Grant(t.Context(), c.account); err != nil || g.Lost {
			t.Errorf("a member of another team disconnected the account: %+v (%v)", g.Lost, err)
		}
		must.NoError(t, h.Teams.SetMember(t.Context(), c.team.ID, other.people[access.Owner].ID, access.Viewer))
		stranger.open(path).shows(http.StatusOK, c.handle(), c.team.Name)
		if a, err := h.Accounts.ByID(t.Context(), h.db, c.team.ID, []int64{c.account}); err != nil ||
			a[c.account].Connection != account.Connected {
			t.Errorf("%+v (%v)", a, err)
		}
	})
}

// Accounts show their picture or initials. Other teams cannot load the picture.
func TestAccountPicture(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c, other := h.crew(t), h.crew(t)
		b, path := c.as(t, access.Viewer), fmt.Sprintf("/accounts/%d/picture", c.account)
		b.open("/accounts").shows(http.StatusOK).contains(`<img src="` + path + `"`)
		for h.count(t, "account_pictures WHERE account_id = ?", c.account) == 0 { // the first collection downloads the picture
			b.open("/accounts").shows(http.StatusOK)
		}
		c.change(t, `DELETE FROM account_pictures WHERE account_id = ?`, c.account)
		initials := b.open(path)
		if got := initials.header.Get("Content-Type"); initials.status != http.StatusOK || got != "image/svg+xml" {
			t.Errorf("%d %s", initials.status, got)
		}
		initials.contains("H", "</text></svg>")
		c.change(t, `INSERT INTO account_pictures (account_id, source, type, image, fetched_at) VALUES (?, ?, 'image/jpeg', ?, 1)`,
			c.account, []byte("s"), []byte("a picture"))
		got := b.open(path)
		if got.status != http.StatusOK || got.source != "a picture" || got.header.Get("Content-Type") != "image/jpeg" ||
			!strings.HasPrefix(got.header.Get("Cache-Control"), "private") || got.header.Get("ETag") == initials.header.Get("ETag") ||
			!strings.HasPrefix(got.header.Get("Content-Security-Policy"), "sandbox") {
			t.Errorf("%d %q %v", got.status, got.source, got.header)
		}
		other.as(t, access.Owner).open(path).shows(http.StatusNotFound)
		b.open("/accounts/999999/picture").shows(http.StatusNotFound)
	})
}
