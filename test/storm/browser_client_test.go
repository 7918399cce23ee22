package storm

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
)

// pages are the pages that clients visit.
var pages = []string{
	"/", "/posts", "/calendar", "/media", "/reports", "/accounts", "/hashtags", "/voices", "/notices", "/settings",
	"/settings/keys", "/settings/audit", "/settings/credits",
}

var (
	keyValue = regexp.MustCompile(`prk_[0-9A-Za-z]+`)
	onceMade = regexp.MustCompile(`name="once" value="([^"]+)"`)
)

// page requests a page or submits a form. Status 0 means that there was no response.
func (c *client) page(method, path string, form url.Values) (int, string) {
	var body io.Reader
	if form != nil {
		body = strings.NewReader(form.Encode())
	}
	r, err := http.NewRequestWithContext(c.calls, method, c.gate.url()+path, body)
	if err != nil {
		return 0, ""
	}
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	began := time.Now()
	status, _, raw, err := c.send(r)
	if err != nil {
		c.book.fault("an answer did not arrive")
		return 0, ""
	}
	what := "page"
	if form != nil {
		what = "form"
	}
	c.book.recordAnswer(what, fmt.Sprint(status), 1, time.Since(began))
	return status, string(raw)
}

// signIn signs in the team's owner. It retries until it succeeds.
func (c *client) signIn(ctx context.Context) {
	for ctx.Err() == nil {
		_, said := c.page(http.MethodPost, "/sign-in", url.Values{"email": {c.team.owner.Email}, "password": {password}})
		if strings.Contains(said, "Sign out") {
			return
		}
		c.rest(time.Second)
	}
}

// browse visits pages and creates and revokes keys.
func (c *client) browse(ctx context.Context) {
	c.signIn(ctx)
	for ctx.Err() == nil {
		status, said := c.page(http.MethodGet, pages[c.dice.IntN(len(pages))], nil)
		if status == http.StatusOK && !strings.Contains(said, "Sign out") {
			c.signIn(ctx) // The write that stored the session was lost.
		}
		if status >= 400 && status < 500 {
			c.book.complainf("refused", "a page returned status %d: %.300s", status, said)
		}
		if c.chance(15) {
			c.makeKey(ctx)
		}
		c.rest(time.Duration(c.dice.IntN(200)) * time.Millisecond)
	}
}

// makeKey creates a key with the form, which it submits until it gets a response. It revokes the key with a
// probability of one half.
func (c *client) makeKey(ctx context.Context) {
	_, blank := c.page(http.MethodGet, "/settings/keys/new", nil)
	once := onceMade.FindStringSubmatch(blank)
	if once == nil {
		return
	}
	k := &madeKey{team: c.team}
	c.book.change(func() {
		k.name = fmt.Sprintf("storm key %05d", len(c.book.keys)+1)
		c.book.keys = append(c.book.keys, k)
	})
	form := url.Values{"once": {once[1]}, "name": {k.name}, "level": {"read_only"}}
	for c.calls.Err() == nil {
		status, made := c.page(http.MethodPost, "/settings/keys", form)
		if status == http.StatusOK {
			if value := keyValue.FindString(made); value != "" {
				c.book.change(func() { k.value = value })
				break
			}
			c.signIn(ctx)
			continue
		}
		if status == http.StatusUnprocessableEntity { // The key was created, but the response was lost.
			break
		}
		c.rest(askAgain)
	}
	if c.chance(50) {
		c.revoke(k)
	}
}

// revoke revokes a key on its page.
func (c *client) revoke(k *madeKey) {
	var id int64
	err := c.db.QueryRow(c.calls, `SELECT id FROM api_keys WHERE team_id = ? AND name = ?`, k.team.ID, k.name).Scan(&id)
	if err != nil {
		return // The database is down, or the key was never created. The verification detects this.
	}
	for c.calls.Err() == nil {
		status, said := c.page(http.MethodPost, fmt.Sprintf("/settings/keys/%d/revoke", id), url.Values{})
		switch {
		case status == http.StatusOK && strings.Contains(said, "The key was revoked"), status == http.StatusUnprocessableEntity:
			c.book.change(func() { k.revoked = true })
			return
		case status == http.StatusOK:
			c.signIn(c.calls)
		}
		c.rest(askAgain)
	}
}

// uncounted lists the reads that do not use free calls.
var uncounted = []string{"get_identity", "get_credits", "get_limits"}

// readRandomly reads with keys and makes forbidden calls.
func (c *client) readRandomly(ctx context.Context) {
	reads := []call{
		{tool: "get_identity", path: "/me"}, {tool: "list_posts", path: "/posts"},
		{tool: "get_credits", path: "/credits"}, {tool: "get_limits", path: "/limits"},
		{tool: "list_media", path: "/media"}, {tool: "list_reports", path: "/reports"},
		{tool: "list_social_accounts", path: "/social-accounts"}, {tool: "list_hashtag_lists", path: "/hashtag-lists"},
	}
	for ctx.Err() == nil {
		k := reads[c.dice.IntN(len(reads))]
		k.method, k.key, k.asTool = http.MethodGet, c.key("read_only"), c.chance(30)
		switch a := c.do(k); {
		case a.ok() && !slices.Contains(uncounted, k.tool):
			c.book.change(func() { c.book.free[c.team]++ })
		case a.ok() || a.isTemporary() || a.Code == "daily_call_limit_reached" && c.team.freeCalls > 0:
		default:
			c.book.complainf("refused", "%s: %s", k.tool, a.raw)
		}
		if c.chance(10) {
			a := c.do(call{
				tool: "create_post", method: http.MethodPost, path: "/posts",
				body: map[string]any{"caption": "storm: nobody may write this", "account_ids": []int64{1}},
				key:  c.key("read_only"), idem: newIdem(),
			})
			if a.Code != "write_not_allowed" && !a.isTemporary() {
				c.book.complainf("allowed", "a read-only key wrote: %s", a.raw)
			}
		}
		if c.chance(20) && c.team.person != "" {
			c.list()
		}
		c.rest(time.Duration(c.dice.IntN(100)) * time.Millisecond)
	}
}

// list creates a hashtag list.
func (c *client) list() {
	l := &madeList{team: c.team, once: c.chance(80)}
	c.book.change(func() {
		l.name = fmt.Sprintf("storm list %05d", len(c.book.lists)+1)
		c.book.lists = append(c.book.lists, l)
	})
	k := call{
		tool: "create_hashtag_list", method: http.MethodPost, path: "/hashtag-lists",
		body: map[string]any{"name": l.name, "hashtags": []string{"coffee", "harbour"}}, key: c.key("drafts"), asTool: c.chance(40),
	}
	if l.once {
		k.idem = newIdem()
	}
	a := c.do(k)
	c.book.change(func() { l.isConfirmed = a.ok() })
	if !a.ok() && !a.isTemporary() {
		c.book.complainf("refused", "a hashtag list: %s", a.raw)
	}
}

// reconnectAll reconnects disconnected accounts, as people do after a notification.
func (c *client) reconnectAll(ctx context.Context) {
	for ctx.Err() == nil {
		c.reconnect()
		c.rest(500 * time.Millisecond)
	}
}

// reconnect reports whether all disconnected accounts were reconnected.
func (c *client) reconnect() bool {
	whole := true
	for platform, id := range c.team.accounts {
		var state string
		if err := c.db.QueryRow(c.calls, `SELECT connection_state FROM social_accounts WHERE id = ?`, id).
			Scan(&state); err != nil || state != "lost" {
			whole = whole && err == nil
			continue
		}
		again, err := c.connect(c.team, platform, id)
		if err == nil && again != id {
			c.book.complainf("wrong", "account %d of %s was reconnected as %d", id, platform, again)
		}
		if err != nil {
			whole = false
			continue
		}
		c.book.fault("an account was reconnected")
	}
	return whole
}
