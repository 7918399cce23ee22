package app

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/domain/media"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/testkit/must"
)

// signOut ends every session of a member.
func (c *crew) signOut(t *testing.T, role access.Role) {
	t.Helper()
	c.change(t, `DELETE FROM sessions WHERE person_id = ?`, c.people[role].ID)
}

// If the session ends while a person writes a post, signing in again restores the text without saving it.
func TestSignInKeepsInput(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.as(t, access.Editor)
		long := strings.Repeat("ä\n", 4000) + "end"
		f := b.open("/posts/new").form("Schedule").fill("caption", long).fill("account", c.id()).
			fill("date", "2031-05-06").fill("time", "10:15")
		c.signOut(t, access.Editor)
		asked := f.press().shows(200, "Your input will be restored")
		wrong := asked.form("Sign in").fill("email", c.people[access.Editor].Email).fill("password", "wrong").press().shows(401)
		again := wrong.form("Sign in").fill("password", password).press().shows(200, "You are signed in again.", "New post")
		got := again.form("Save draft")
		if got.values.Get("caption") != long || got.values.Get("account") != c.id() ||
			got.values.Get("date") != "2031-05-06" || got.values.Get("time") != "10:15" {
			t.Errorf("%d characters, %v", len(got.values.Get("caption")), got.values["account"])
		}
		if n := c.count(t, "posts WHERE team_id = ?", c.team.ID); n != 0 {
			t.Errorf("%d posts", n)
		}
		saved := got.press().shows(200, "Saved.")
		b.open("/posts/new").shows(200).lacks("ä\nä")
		edit := b.open(saved.path+"/edit").form("Save").fill("caption", "Changed while away")
		c.signOut(t, access.Editor)
		back := edit.press().shows(200, "Your input will be restored").form("Sign in").
			fill("email", c.people[access.Editor].Email).fill("password", password).press()
		back.shows(200, "Edit post").form("Save").press().shows(200, "Saved.")
		if got := c.storedPost(t, saved.path).Caption; got != "Changed while away" {
			t.Errorf("%q", got)
		}
		c.signOut(t, access.Editor)
		b.send(http.MethodPost, saved.path+"/duplicate", url.Values{}).shows(200, "nothing was changed")
	})
}

// A post belongs to the team of its form, even if another tab has switched teams. Submitting a form again opens the
// post that the form created.
func TestFormOfOtherTeamOrPost(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c, other := h.crew(t), h.crew(t)
		must.NoError(t, h.Teams.SetMember(t.Context(), other.team.ID, c.people[access.Editor].ID, access.Viewer))
		b := c.as(t, access.Editor)
		b.send(http.MethodPost, "/team", url.Values{"team": {fmt.Sprint(c.team.ID)}}).shows(200, c.team.Name)
		f := b.open("/posts/new").form("Save draft").fill("caption", "For the first team").fill("account", c.id())
		b.send(http.MethodPost, "/team", url.Values{"team": {fmt.Sprint(other.team.ID)}}).shows(200, other.team.Name)
		p := f.press().shows(200, "so that team is selected again", "New post")
		if got := p.form("Save draft").values; got.Get("caption") != "For the first team" || got.Get("account") != c.id() {
			t.Errorf("%v", got)
		}
		again := p.form("Save draft")
		saved := again.press().shows(200, "Saved.")
		edit := b.open("/posts/new?sent="+again.values.Get("once")).shows(200, "This form was already submitted.", "Edit post")
		if edit.path != saved.path+"/edit" {
			t.Errorf("%s, want %s", edit.path, saved.path)
		}
		change := edit.form("Save").fill("caption", "Changed")
		b.send(http.MethodPost, "/team", url.Values{"team": {fmt.Sprint(other.team.ID)}}).shows(200, other.team.Name)
		change.press().shows(200, "so that team is selected again", "Edit post").form("Save").press().shows(200, "Saved.")
		if got := c.storedPost(t, saved.path).Caption; got != "Changed" {
			t.Errorf("%q", got)
		}
		b.open("/posts/new?sent=20200101T000000-x").shows(200, "New post")
		upload := b.open("/posts/new").form("Upload").fill("caption", "With a picture")
		b.send(http.MethodPost, "/team", url.Values{"team": {fmt.Sprint(other.team.ID)}}).shows(200, other.team.Name)
		p = upload.attach("quay.png", []byte("no picture, which nobody looks at")).
			shows(200, "so that team is selected again", "Not uploaded: quay.png. Choose these files again.", "New post")
		if got := p.form("Save draft").values; got.Get("caption") != "With a picture" || h.count(t, "media") != 0 {
			t.Errorf("%v", got)
		}
		must.NoError(t, h.Teams.SetMember(t.Context(), c.team.ID, c.people[access.Editor].ID, access.Viewer))
		upload = p.form("Upload")
		upload.attach("quay.png", nil).shows(403)
		b.send(http.MethodPost, "/team", url.Values{"team": {fmt.Sprint(other.team.ID)}}).shows(200, other.team.Name)
		must.NoError(t, h.Teams.SetMember(t.Context(), other.team.ID, c.people[access.Editor].ID, access.Editor))
		must.NoError(t, h.Teams.RemoveMember(t.Context(), c.team.ID, c.people[access.Editor].ID))
		upload.attach("quay.png", nil).shows(200, "You no longer belong to the team of this form", "New post")
	})
}

// The next free slot is an hour without posts on the same or the following day.
func TestNextFreeSlot(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.as(t, access.Editor)
		for _, at := range []string{"2031-05-06T07:00:00Z", "2031-05-06T08:59:00Z", "2031-05-07T09:00:00Z"} { // two hours ahead in Berlin
			c.draft(t, "Taken", at)
		}
		f := b.open("/posts/new?date=2031-05-06&caption=Mine").form("Next available slot")
		if got := f.press().shows(200).form("Save draft").values; got.Get("date") != "2031-05-06" ||
			got.Get("time") != "11:00" || got.Get("caption") != "Mine" {
			t.Errorf("%v", got)
		}
		for hour := 9; hour <= 16; hour++ {
			c.draft(t, "Taken", fmt.Sprintf("2031-05-06T%02d:30:00Z", hour))
		}
		if got := f.press().shows(200).form("Save draft").values; got.Get("date") != "2031-05-07" || got.Get("time") != "09:00" {
			t.Errorf("%v", got)
		}
		got := b.open("/posts/new?date=2020-05-06").form("Next available slot").press().shows(200).form("Save draft").values
		at := must.Get(time.ParseInLocation("2006-01-02 15:04", got.Get("date")+" "+got.Get("time"), berlin(t)))(t)
		if wait := at.Sub(h.now()); wait < 0 || wait > 24*time.Hour {
			t.Errorf("next free slot in %s, want one on an empty day", wait)
		}
	})
}

// A client sees the media of each account. Videos support range requests.
func TestApprovalShowsAccountMedia(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.as(t, access.Editor)
		picture := strings.TrimPrefix(c.addImage(t, "alone", 7), "/media/")
		film := fmt.Sprint(c.addVideo(t))
		f := b.open("/posts/new?caption=Look&account=" + c.id() + "&media=" + picture).form("Send for approval…")
		f.values.Set("media-"+c.id(), film)
		link := f.press().shows(200, "Send for approval").form("Create link").press().shows(200, "Client link")
		at := strings.TrimPrefix(link.field("link"), h.root)
		client := h.browser(t)
		client.open(at).
			shows(200, "The team has not set a time yet and will do so after you approve the post.").
			contains(`<video src="` + at + "/videos/" + film).lacks("/images/" + picture)
		if shown := client.open(at + "/media/" + picture); shown.status != 200 ||
			!strings.HasPrefix(shown.header.Get("Content-Type"), "image/") {
			t.Errorf("image: %d %v", shown.status, shown.header)
		}
		r := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, h.root+at+"/videos/"+film, nil))(t)
		r.Header.Set("Range", "bytes=0-3")
		part := must.Get(client.http.Do(r))(t)
		defer part.Body.Close()
		if part.StatusCode != http.StatusPartialContent || part.Header.Get("Content-Type") != "video/mp4" {
			t.Errorf("%d %v", part.StatusCode, part.Header)
		}
		client.open(at + "/media/" + strings.TrimPrefix(c.addImage(t, "of nobody", 8), "/media/")).shows(404)
	})
}

// addVideo adds a short video to the team's library and returns its ID.
func (c *crew) addVideo(tb testing.TB) int64 {
	tb.Helper()
	raw := must.Get(os.ReadFile("../../internal/platform/mediainfo/testdata/front.mp4"))(tb)
	got := must.Get(c.Media.Add(tb.Context(), media.Owner{TeamID: c.team.ID, PersonID: c.people[access.Owner].ID},
		media.Incoming{Name: "film.mp4", Type: "video/mp4", Size: int64(len(raw)), Body: bytes.NewReader(raw)}))(tb)
	return got.MediaID
}

// The preview lists the other posts of the day and shows newly selected accounts.
func TestPreviewDay(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.as(t, access.Editor)
		c.draft(t, "Already there", "2031-05-06T10:00:00Z")
		p := b.open("/posts/new?date=2031-05-06&account="+c.id()).shows(200, "Also on this day: 1 post", "12:00 Already there")
		sent := p.form("Check").values
		sent.Set("fresh", c.id())
		b.send(http.MethodPost, "/posts/preview", sent).shows(200, "Also on this day", "Text for Bluesky").
			contains(`id="fresh"`, "notext-"+c.id())
		sent.Set("date", "2031-05-07")
		sent.Del("fresh")
		b.send(http.MethodPost, "/posts/preview", sent).shows(200).lacks("Also on this day", "owntext-")
	})
}

func TestComposePermissions(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c, other := h.crew(t), h.crew(t)
		saved := c.as(t, access.Owner).open("/posts/new?caption=Our+secret&account=" + c.id()).form("Save draft").press().shows(200)
		edit := saved.path + "/edit"
		missing := "/posts/0190a5b2-7c1e-7f00-8000-000000000001/edit"
		for _, role := range []access.Role{access.Viewer, access.Client} {
			b := c.as(t, role)
			b.open("/posts/new").shows(403, "Your role in this team does not allow this.")
			b.open(edit).shows(403).lacks("Our secret")
			b.send(http.MethodPost, edit, url.Values{"do": {"save"}, "caption": {"x"}}).shows(403)
			b.send(http.MethodPost, "/posts/new", url.Values{"do": {"save"}}).shows(403)
			b.send(http.MethodPost, "/posts/preview", url.Values{}).shows(403)
		}
		stranger := other.as(t, access.Owner)
		if a, b := stranger.open(edit).shows(404), stranger.open(missing).shows(404); a.text() != b.text() {
			t.Errorf("%q for another team's post, %q for an unknown post", a.text(), b.text())
		}
		stranger.send(http.MethodPost, edit, url.Values{"do": {"save"}, "caption": {"x"}}).shows(404)
		stranger.send(http.MethodPost, "/posts/preview", url.Values{"post": {strings.TrimPrefix(saved.path, "/posts/")}}).shows(404)
		stranger.open("/posts/new?account=" + c.id() + "&caption=x").shows(200).lacks(fmt.Sprintf("harbour%d.test", c.team.ID))
		for _, path := range []string{"/posts/%00/edit", "/posts/x/edit", strings.ToUpper(edit)} {
			stranger.open(path).shows(404)
		}
		out := h.browser(t)
		out.open(edit).shows(200, "Sign in").lacks("Our secret")
		out.send(http.MethodPost, "/posts/new", url.Values{"do": {"save"}}).shows(200, "Sign in")
		must.NoError(t, h.Teams.SetMember(t.Context(), c.team.ID, other.people[access.Owner].ID, access.Editor))
		stranger.open(edit).shows(200, "Our secret", "You switched to the team")
		if got := c.storedPost(t, saved.path).Caption; got != "Our secret" {
			t.Errorf("%q", got)
		}
	})
}

// The page size does not grow with the number of files or posts. A note explains a disconnected account.
func TestComposerSize(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		must.NoError(t, h.db.InTx(t.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
			for i := range 60 {
				state := []string{"connected", "lost"}[i%2]
				if _, err := tx.Exec(ctx,
					`INSERT INTO social_accounts (team_id, platform, network_id, username, display_name,
		connection_state, sealed_grant, created_at, updated_at) VALUES (?, ?, ?, ?, '', ?, '', 1, 1)`,
					c.team.ID, []string{"x", "threads", "instagram"}[i%3], fmt.Sprint("n", i), fmt.Sprint("account", i),
					state); err != nil {
					return err
				}
			}
			return nil
		}))
		p := c.as(t, access.Owner).open("/posts/new").
			shows(200, "account59", "account0", " is lost: nothing is published to it.")
		if len(p.source) > 100_000 {
			t.Errorf("%d bytes", len(p.source))
		}
		all := url.Values{"caption": {"Hello"}}
		for id := range 61 {
			all.Add("account", strconv.Itoa(id+1))
		}
		p = c.as(t, access.Owner).send(http.MethodPost, "/posts/new", all).
			shows(200, "5 of 280 weighted characters", "5 of 500 characters (emoji count in bytes)")
		if raw, _ := json.Marshal(len(p.source)); len(p.source) > 250_000 {
			t.Errorf("%s bytes", raw)
		}
	})
}

// The composer, the post's page and the publish page show a preview for each network, with the account's display name
// and text.
func TestNetworkPreviews(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		c.change(t, `UPDATE social_accounts SET display_name = 'Harbour <Coffee>' WHERE id = ?`, c.account)
		b := c.as(t, access.Editor)
		id := c.draft(t, "Shared #coffee", "")
		account := fmt.Sprint(c.account)
		b.open("/posts/"+id+"/edit").form("Save").fill("text-"+account, "Own #tea").press().shows(200, "Saved.")
		look := fmt.Sprintf(`<b><bdi>Harbour &lt;Coffee&gt;</bdi></b> <span class="grey">@<bdi>harbour%d.test</bdi>`, c.team.ID)
		for _, path := range []string{"/posts/" + id + "/edit", "/posts/" + id, "/posts/" + id + "/publish"} {
			b.open(path).shows(200).contains(`<article class="pv pv-bluesky`, look, `Own <span class="lifted">#tea</span>`).
				lacks(`<span class="lifted">#coffee</span>`)
		}
		part := b.send(http.MethodPost, "/posts/preview", url.Values{"account": {account}, "caption": {"Typed #now"}})
		part.shows(200).contains(look, `Typed <span class="lifted">#now</span>`)
	})
}
