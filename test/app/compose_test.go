package app

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"mime/multipart"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"pressroom/internal/core/access"
	"pressroom/internal/domain/media"
	"pressroom/internal/domain/post"
	"pressroom/internal/platform/db"
)

// stored is a post as the database has it, by its page's address.
func (c *crew) stored(t *testing.T, at string) post.Record {
	t.Helper()
	p, err := c.Posts.Load(t.Context(), c.team.ID, strings.Split(strings.TrimPrefix(at, "/posts/"), "/")[0])
	must(t, err)
	return p
}

func (c *crew) id() string { return strconv.FormatInt(c.account, 10) }

// soon is a day and a time to come, as the form takes them.
func (c *crew) soon(t *testing.T, after time.Duration) (string, string, time.Time) {
	t.Helper()
	berlin, err := time.LoadLocation("Europe/Berlin")
	must(t, err)
	at := c.now().Add(after).In(berlin).Truncate(time.Minute)
	return at.Format("2006-01-02"), at.Format("15:04"), at
}

// attach sends a form with a file, as a browser does by a button that sends files.
func (f *form) attach(name string, raw []byte) *page {
	f.p.b.t.Helper()
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	for field, values := range f.values {
		for _, v := range values {
			if field != "files" {
				must(f.p.b.t, w.WriteField(field, v))
			}
		}
	}
	if button := attribute(f.button, "name"); button != "" {
		must(f.p.b.t, w.WriteField(button, attribute(f.button, "value")))
	}
	part, err := w.CreateFormFile("files", name)
	must(f.p.b.t, err)
	_, err = part.Write(raw)
	must(f.p.b.t, err)
	must(f.p.b.t, w.Close())
	r, err := http.NewRequestWithContext(f.p.b.t.Context(), http.MethodPost, f.p.b.root+attribute(f.button, "formaction"), &body)
	must(f.p.b.t, err)
	r.Header.Set("Content-Type", w.FormDataContentType())
	resp, err := f.p.b.http.Do(r)
	must(f.p.b.t, err)
	defer resp.Body.Close()
	var got bytes.Buffer
	_, err = got.ReadFrom(resp.Body)
	must(f.p.b.t, err)
	doc, err := html.Parse(strings.NewReader(got.String()))
	must(f.p.b.t, err)
	return &page{f.p.b, resp.StatusCode, resp.Request.URL.RequestURI(), resp.Header, got.String(), doc}
}

// shade is a picture of one colour.
func shade(t *testing.T, n uint8) []byte {
	t.Helper()
	img := image.NewGray(image.Rect(0, 0, 40, 30))
	for i := range img.Pix {
		img.Pix[i] = n
	}
	img.SetGray(0, 0, color.Gray{Y: 255 - n})
	var out bytes.Buffer
	must(t, png.Encode(&out, img))
	return out.Bytes()
}

func TestPeopleDraftPosts(t *testing.T) {
	houses(t, func(t *testing.T, h *house) {
		c := h.crew(t)
		b := c.as(t, access.Editor)
		f := b.open("/posts/new").wants(200, "New post", "harbour", "Choose an account").form("Save as a draft")
		p := f.fill("caption", "Open from eight\r\non Sunday #coffee.").press()
		p.wants(422, "Choose at least one account").form("Save as a draft")
		if got := p.form("Save as a draft").values.Get("caption"); !strings.HasPrefix(got, "Open from eight") {
			t.Errorf("what was typed is lost: %q", got)
		}
		if n := c.count(t, "posts"); n != 0 {
			t.Errorf("%d posts", n)
		}
		f = p.form("Save as a draft").fill("account", c.id())
		saved := f.press().wants(200, "Saved.")
		held := c.stored(t, saved.path)
		if held.Caption != "Open from eight\non Sunday #coffee." || held.Status != post.Draft || len(held.Targets) != 1 {
			t.Errorf("%+v", held)
		}
		if again := f.press().wants(200); again.path != saved.path || c.count(t, "posts") != 1 {
			t.Errorf("sent twice: %s, %d posts", again.path, c.count(t, "posts"))
		}
		edit := b.open(saved.path+"/edit").wants(200, "Edit post")
		edit.form("Save").fill("caption", "Open from nine.").press().wants(200, "Saved.")
		if got := c.stored(t, saved.path).Caption; got != "Open from nine." {
			t.Errorf("%q", got)
		}
		// Another browser still shows the older one: nothing is lost, and it can be put in its place.
		late := edit.form("Save").fill("caption", "Open from ten.").press()
		late.wants(422, "Somebody else has changed the post", "As it is now", "Open from nine.")
		if got := c.stored(t, saved.path).Caption; got != "Open from nine." {
			t.Errorf("%q", got)
		}
		late.form("Save").press().wants(200, "Saved.")
		if got := c.stored(t, saved.path).Caption; got != "Open from ten." {
			t.Errorf("%q", got)
		}
	})
}

func TestPeopleSeeHowPostsLook(t *testing.T) {
	houses(t, func(t *testing.T, h *house) {
		c := h.crew(t)
		b := c.as(t, access.Owner)
		b.open("/posts/new?account="+c.id()+"&caption=Hello+%F0%9F%91%8B%F0%9F%8F%BD").
			wants(200, "7 of 300 characters", "14 of 3,000 bytes", "The networks would take this post as it is.")
		p := b.open("/posts/new").form("Check").fill("account", c.id()).fill("caption", strings.Repeat("é", 301)).press()
		p.wants(200, "301 of 300 characters – 1 too many", "1 problem would keep this post from going out.",
			"The text has 301 characters; Bluesky takes at most 300.")
		if n := c.count(t, "posts"); n != 0 {
			t.Errorf("looking made %d posts", n)
		}
		f := p.form("Check").fill("caption", "short")
		part := b.send(http.MethodPost, "/posts/preview", f.values).wants(200, "5 of 300 characters", "short")
		if strings.Contains(part.source, "<header") || part.header.Get("Cache-Control") != "no-store" {
			t.Errorf("the preview by itself: %s", part.source)
		}
		b.send(http.MethodPost, "/posts/preview", url.Values{"caption": {"<script>x</script>"}, "account": {c.id()}}).
			wants(200).lacks("<script>x")
		b.send(http.MethodPost, "/posts/preview", url.Values{"account": {"999999"}}).wants(404)
	})
}

func TestPeopleAddMedia(t *testing.T) {
	houses(t, func(t *testing.T, h *house) {
		c := h.crew(t)
		b := c.as(t, access.Admin)
		p := b.open("/posts/new").wants(200, "The library is empty.")
		p = p.form("Upload into the library and add").fill("caption", "kept").fill("account", c.id()).
			attach("roastery.png", shade(t, 10)).wants(200, "roastery", "What it shows")
		p = p.form("Upload into the library and add").attach("harbour.png", shade(t, 90)).wants(200, "harbour")
		p.form("Upload into the library and add").attach("notes.txt", []byte("Not a picture.")).
			wants(422, "notes.txt: The library takes", "roastery", "harbour")
		p = p.form("Move harbour up").press().wants(200)
		f := p.form("Save as a draft")
		if media := f.values["media"]; len(media) != 2 || f.values.Get("caption") != "kept" {
			t.Fatalf("%v", f.values)
		}
		harbour := f.values["media"][0]
		saved := f.fill("alt-"+harbour, "Boats at a quay.").press().wants(200, "Saved.")
		held := c.stored(t, saved.path)
		if len(held.Media) != 2 || held.Media[0].Name != "harbour" || held.Media[0].Alt != "Boats at a quay." {
			t.Errorf("%+v", held.Media)
		}
		p = b.open(saved.path+"/edit").form("Search").fill("q", "roast").press().wants(200, "roastery")
		p = p.form("Take out harbour").press().wants(200)
		if media := p.form("Save").values["media"]; len(media) != 1 {
			t.Errorf("%v", media)
		}
		p.form("Search").fill("q", "nothing like it").press().wants(200, "Nothing in the library is called so.")
		// For one account alone.
		p = p.form("Search").fill("into", c.id()).fill("q", "").press()
		p = p.form("Add harbour").press().wants(200, "Different")
		p.form("Save").fill("owntext-"+c.id(), "1").fill("text-"+c.id(), "Only here.").press().wants(200, "Saved.")
		held = c.stored(t, saved.path)
		if own := held.Targets[0]; own.Caption == nil || *own.Caption != "Only here." || len(own.Media) != 1 ||
			own.Media[0].Name != "harbour" || len(held.Media) != 1 {
			t.Errorf("%+v", held)
		}
		b.open(saved.path+"/edit").wants(200, "Only here.")
		// A description that is refused is told, and the rest is kept once.
		drafts := c.count(t, "posts")
		p = b.open("/posts/new?caption=Hi&account="+c.id()+"&media="+harbour).form("Save as a draft").
			fill("alt-"+harbour, strings.Repeat("x", 1001)).press()
		p.wants(422, "The post is saved, but not everything was done. A description takes at most 1000 characters.")
		p.form("Save").fill("alt-"+harbour, "Boats.").press().wants(200, "Saved.")
		if n := c.count(t, "posts"); n != drafts+1 {
			t.Errorf("%d posts more", n-drafts)
		}
	})
}

func TestPeopleSchedulePosts(t *testing.T) {
	houses(t, func(t *testing.T, h *house) {
		c := h.crew(t)
		b := c.as(t, access.Editor)
		compose := func() *form { return b.open("/posts/new?caption=Hello&account=" + c.id()).form("Schedule") }
		compose().press().wants(422, "Choose the day and the time")
		compose().fill("date", "2026-03-29").press().wants(422, "Choose the time of day, too.")
		compose().fill("date", "2020-03-29").fill("time", "10:00").press().wants(422, "The time is over.")
		compose().fill("date", "2031-03-30").fill("time", "02:30").press().
			wants(422, "On 30 March 2031 the clocks in Europe/Berlin go from 02:00 to 03:00")
		if n := c.count(t, "posts"); n != 0 {
			t.Errorf("%d are there", n)
		}
		day, clock, at := c.soon(t, 50*time.Hour)
		f := compose().fill("date", day).fill("time", clock)
		saved := f.press().wants(200, "It is scheduled")
		if held := c.stored(t, saved.path); held.Status != post.Scheduled || !held.ScheduledAt.Equal(at) {
			t.Errorf("%+v", held)
		}
		if again := f.press().wants(200); again.path != saved.path {
			t.Error(again.path)
		}
		day, clock, at = c.soon(t, 60*time.Hour)
		b.open(saved.path+"/edit").form("Save").fill("date", day).fill("time", clock).press().wants(200, "It goes out at its time.")
		if held := c.stored(t, saved.path); !held.ScheduledAt.Equal(at) || held.Status != post.Scheduled {
			t.Errorf("%+v", held)
		}
		b.open(saved.path+"/edit").form("Save").fill("date", "").fill("time", "").press().wants(422, "A scheduled post needs a time.")
		// The clocks of 26 October 2031 show half past two twice.
		n := c.count(t, "posts")
		for _, button := range []string{"Schedule", "Save as a draft", "Save and ask the client"} {
			f := b.open("/posts/new?date=2031-10-26&time=02:30&caption=Hello&account="+c.id()).wants(200, "Which is meant?").form(button)
			if f.values.Has("second") {
				t.Errorf("one of two times is chosen for people: %v", f.values)
			}
			f.press().wants(422, "On 26 October 2031 the clocks in Europe/Berlin show 02:30 twice.", "Which is meant?")
		}
		b.send(http.MethodPost, "/posts/preview", compose().fill("date", "2031-10-26").fill("time", "02:30").values).
			wants(200, "Which is meant?")
		asked := compose().fill("date", "2031-10-26").fill("time", "02:30").press().
			wants(422, "The first, 02:30 (UTC+02:00)", "The second, 02:30 (UTC+01:00)")
		if more := c.count(t, "posts") - n; more != 0 {
			t.Errorf("%d posts were made of times that nobody has chosen", more)
		}
		twice := asked.form("Schedule").fill("second", "0").press().wants(200, "It is scheduled")
		first := c.stored(t, twice.path)
		if want := time.Date(2031, 10, 26, 0, 30, 0, 0, time.UTC); !first.ScheduledAt.Equal(want) {
			t.Errorf("%v", first.ScheduledAt)
		}
		p := b.open(twice.path+"/edit").wants(200, "the clocks show this time twice")
		if got := p.form("Save").values.Get("second"); got != "0" {
			t.Errorf("the first time is shown as %q", got)
		}
		p.form("Save").press().wants(200, "It goes out at its time.")
		p = b.open(twice.path + "/edit")
		p.form("Save").fill("second", "1").press().wants(200)
		if held := c.stored(t, twice.path); held.ScheduledAt.Sub(first.ScheduledAt) != time.Hour {
			t.Errorf("%v, then %v", first.ScheduledAt, held.ScheduledAt)
		}
		if got := b.open(twice.path + "/edit").form("Save").values.Get("second"); got != "1" {
			t.Errorf("the second time is shown as the first")
		}
		compose().fill("caption", strings.Repeat("x", 301)).fill("date", day).fill("time", clock).press().
			wants(422, "The post is saved, but not everything was done.", "A network would not take the post: what stops it stands under")
	})
}

func TestPeopleRepeatPosts(t *testing.T) {
	houses(t, func(t *testing.T, h *house) {
		c := h.crew(t)
		b := c.as(t, access.Editor)
		f := b.open("/posts/new?caption=Hello&account=" + c.id()).form("Schedule")
		f.fill("date", "2031-03-28").fill("time", "10:00").fill("repeat", "weekly").fill("day", "FR", "MO").
			fill("every", "2").fill("ends", "count").fill("count", "4")
		checked := b.send(http.MethodPost, "/posts/preview", f.values).
			wants(200, "It would go out:", "Fri 28 Mar 2031, 10:00", "Mon 7 Apr 2031, 10:00")
		checked.lacks("Mon 31 Mar 2031")
		f.fill("every", "0").press().wants(422, "Write a whole number from 1 to 99.")
		saved := f.fill("every", "2").press().wants(200, "It recurs by its rule, next on Fri 28 Mar 2031, 10:00.")
		held := c.stored(t, saved.path)
		if !held.IsTemplate || held.Series.Rule != "FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,FR;COUNT=4" || held.Series.Timezone != "Europe/Berlin" {
			t.Errorf("%+v", held.Series)
		}
		if told := b.open(saved.path+"/edit").wants(200, "Pause the series before you change its template."); told.path != saved.path {
			t.Errorf("what cannot be changed is shown at %s", told.path)
		}
		b.send(http.MethodPost, saved.path+"/edit",
			url.Values{
				"do": {"save"}, "caption": {"anew"}, "account": {c.id()}, "seen": {strconv.FormatInt(held.UpdatedAt.UnixMicro(), 10)},
			}).wants(422, "Pause the series before you change its template.")
	})
}

func TestPeopleAskAndPublish(t *testing.T) {
	houses(t, func(t *testing.T, h *house) {
		c := h.crew(t)
		b := c.as(t, access.Editor)
		p := b.open("/posts/new?caption=Hello&account="+c.id()).form("Save and ask the client").press().
			wants(200, "For approval", "waits for the client")
		link := regexp.MustCompile(`value="http://[^/]+(/approval/[^"]+)"`).FindStringSubmatch(p.source)
		if link == nil {
			t.Fatal(p.source)
		}
		h.browser(t).open(link[1]).wants(200, "Hello")
		edit := p.follow("To the post").path + "/edit"
		day, clock, _ := c.soon(t, 50*time.Hour)
		b.open(edit).wants(200, "Waits for the client").form("Schedule").fill("date", day).fill("time", clock).press().
			wants(403, "before the client approves it", "The post is saved")

		confirm := b.open("/posts/new?caption=At+once&account="+c.id()).form("Publish now…").press().wants(200, "Publish now", "At once")
		if n := c.count(t, "posts WHERE status <> 'draft'"); n != 0 {
			t.Errorf("%d went out unconfirmed", n)
		}
		confirm.form("Publish to 1 account").press().wants(200)
		if n := c.count(t, "posts WHERE status <> 'draft'"); n != 1 {
			t.Errorf("%d went out", n)
		}
	})
}

// Whoever may not write is refused by every address and told nothing; who looks at another team is led over.
// signedOut ends every session of a crew's person, as time does.
func (c *crew) signedOut(t *testing.T, role access.Role) {
	t.Helper()
	c.change(t, `DELETE FROM sessions WHERE person_id = ?`, c.people[role].ID)
}

// Whoever is signed out while a post is being written signs in and has all of it again; nothing was saved meanwhile.
func TestNothingTypedIsLostBySigningIn(t *testing.T) {
	houses(t, func(t *testing.T, h *house) {
		c := h.crew(t)
		b := c.as(t, access.Editor)
		long := strings.Repeat("ä\n", 4000) + "end"
		f := b.open("/posts/new").form("Schedule").fill("caption", long).fill("account", c.id()).
			fill("date", "2031-05-06").fill("time", "10:15")
		c.signedOut(t, access.Editor)
		asked := f.press().wants(200, "What you wrote is not lost")
		wrong := asked.form("Sign in").fill("email", c.people[access.Editor].Email).fill("password", "wrong").press().wants(401)
		again := wrong.form("Sign in").fill("password", password).press().wants(200, "You are signed in again.", "New post")
		got := again.form("Save as a draft")
		if got.values.Get("caption") != long || got.values.Get("account") != c.id() ||
			got.values.Get("date") != "2031-05-06" || got.values.Get("time") != "10:15" {
			t.Errorf("%d characters, %v", len(got.values.Get("caption")), got.values["account"])
		}
		if n := c.count(t, "posts WHERE team_id = ?", c.team.ID); n != 0 {
			t.Errorf("%d posts", n)
		}
		saved := got.press().wants(200, "Saved.")
		b.open("/posts/new").wants(200).lacks("ä\nä")
		edit := b.open(saved.path+"/edit").form("Save").fill("caption", "Changed while away")
		c.signedOut(t, access.Editor)
		back := edit.press().wants(200, "What you wrote is not lost").form("Sign in").
			fill("email", c.people[access.Editor].Email).fill("password", password).press()
		back.wants(200, "Edit post").form("Save").press().wants(200, "Saved.")
		if got := c.stored(t, saved.path).Caption; got != "Changed while away" {
			t.Errorf("%q", got)
		}
		c.signedOut(t, access.Editor)
		b.send(http.MethodPost, saved.path+"/duplicate", url.Values{}).wants(200, "nothing was changed")
	})
}

// A post is of the team whose form it was written in, though another tab has turned to another team meanwhile; a form
// that has made a post leads to that post.
func TestFormsKeepTheirTeamAndPost(t *testing.T) {
	houses(t, func(t *testing.T, h *house) {
		c, other := h.crew(t), h.crew(t)
		must(t, h.Teams.SetMember(t.Context(), other.team.ID, c.people[access.Editor].ID, access.Viewer))
		b := c.as(t, access.Editor)
		b.send(http.MethodPost, "/team", url.Values{"team": {fmt.Sprint(c.team.ID)}}).wants(200, c.team.Name)
		f := b.open("/posts/new").form("Save as a draft").fill("caption", "For the first team").fill("account", c.id())
		b.send(http.MethodPost, "/team", url.Values{"team": {fmt.Sprint(other.team.ID)}}).wants(200, other.team.Name)
		p := f.press().wants(200, "you look at that team again now", "New post")
		if got := p.form("Save as a draft").values; got.Get("caption") != "For the first team" || got.Get("account") != c.id() {
			t.Errorf("%v", got)
		}
		again := p.form("Save as a draft")
		saved := again.press().wants(200, "Saved.")
		edit := b.open("/posts/new?sent="+again.values.Get("once")).wants(200, "This form was sent before.", "Edit post")
		if edit.path != saved.path+"/edit" {
			t.Errorf("%s, want %s", edit.path, saved.path)
		}
		change := edit.form("Save").fill("caption", "Changed")
		b.send(http.MethodPost, "/team", url.Values{"team": {fmt.Sprint(other.team.ID)}}).wants(200, other.team.Name)
		change.press().wants(200, "you look at that team again now", "Edit post").form("Save").press().wants(200, "Saved.")
		if got := c.stored(t, saved.path).Caption; got != "Changed" {
			t.Errorf("%q", got)
		}
		b.open("/posts/new?sent=20200101T000000-x").wants(200, "New post")
		upload := b.open("/posts/new").form("Upload into the library and add").fill("caption", "With a picture")
		b.send(http.MethodPost, "/team", url.Values{"team": {fmt.Sprint(other.team.ID)}}).wants(200, other.team.Name)
		p = upload.attach("quay.png", []byte("no picture, which nobody looks at")).
			wants(200, "you look at that team again now", "New post").lacks("quay.png")
		if got := p.form("Save as a draft").values; got.Get("caption") != "With a picture" || h.count(t, "media") != 0 {
			t.Errorf("%v", got)
		}
		must(t, h.Teams.SetMember(t.Context(), c.team.ID, c.people[access.Editor].ID, access.Viewer))
		upload = p.form("Upload into the library and add")
		upload.attach("quay.png", nil).wants(403)
		b.send(http.MethodPost, "/team", url.Values{"team": {fmt.Sprint(other.team.ID)}}).wants(200, other.team.Name)
		must(t, h.Teams.SetMember(t.Context(), other.team.ID, c.people[access.Editor].ID, access.Editor))
		must(t, h.Teams.RemoveMember(t.Context(), c.team.ID, c.people[access.Editor].ID))
		upload.attach("quay.png", nil).wants(200, "You are not in the team of this form any more", "New post")
	})
}

// The next free hour is one of the day in which nothing stands, or of the day after it.
func TestTheNextFreeHour(t *testing.T) {
	houses(t, func(t *testing.T, h *house) {
		c := h.crew(t)
		b := c.as(t, access.Editor)
		for _, at := range []string{"2031-05-06T07:00:00Z", "2031-05-06T08:59:00Z", "2031-05-07T09:00:00Z"} { // two hours later in Berlin
			c.draft(t, "Taken", at)
		}
		f := b.open("/posts/new?date=2031-05-06&caption=Mine").form("Take the next free hour")
		if got := f.press().wants(200).form("Save as a draft").values; got.Get("date") != "2031-05-06" ||
			got.Get("time") != "11:00" || got.Get("caption") != "Mine" {
			t.Errorf("%v", got)
		}
		for hour := 9; hour <= 16; hour++ {
			c.draft(t, "Taken", fmt.Sprintf("2031-05-06T%02d:30:00Z", hour))
		}
		if got := f.press().wants(200).form("Save as a draft").values; got.Get("date") != "2031-05-07" || got.Get("time") != "09:00" {
			t.Errorf("%v", got)
		}
		got := b.open("/posts/new?date=2020-05-06").form("Take the next free hour").press().wants(200).form("Save as a draft").values
		at, err := time.ParseInLocation("2006-01-02 15:04", got.Get("date")+" "+got.Get("time"), berlin(t))
		must(t, err)
		if wait := at.Sub(h.now()); wait < 0 || wait > 24*time.Hour {
			t.Errorf("in %s, of an empty day", wait)
		}
	})
}

// A client sees what each account shows of its own: pictures, and videos that play in parts.
func TestClientsSeeEveryAccountsMedia(t *testing.T) {
	houses(t, func(t *testing.T, h *house) {
		c := h.crew(t)
		b := c.as(t, access.Editor)
		picture := strings.TrimPrefix(c.pictureOf(t, "alone", 7), "/media/")
		film := fmt.Sprint(c.film(t))
		f := b.open("/posts/new?caption=Look&account=" + c.id() + "&media=" + film).form("Save and ask the client")
		f.fill("ownmedia-"+c.id(), "1")
		f.values.Set("media-"+c.id(), picture)
		link := f.press().wants(200, "For approval")
		at := strings.TrimPrefix(link.field("link"), h.root)
		client := h.browser(t)
		client.open(at).
			wants(200, "with these images and videos in place of the post’s:", "The team has not set a time yet.").
			holds(at+"/media/"+picture, `<video class="watch" src="`+at+"/videos/"+film)
		if shown := client.open(at + "/media/" + picture); shown.status != 200 ||
			!strings.HasPrefix(shown.header.Get("Content-Type"), "image/") {
			t.Errorf("the account's own picture: %d %v", shown.status, shown.header)
		}
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, h.root+at+"/videos/"+film, nil)
		must(t, err)
		r.Header.Set("Range", "bytes=0-3")
		part, err := client.http.Do(r)
		must(t, err)
		defer part.Body.Close()
		if part.StatusCode != http.StatusPartialContent || part.Header.Get("Content-Type") != "video/mp4" {
			t.Errorf("%d %v", part.StatusCode, part.Header)
		}
		client.open(at + "/media/" + strings.TrimPrefix(c.pictureOf(t, "of nobody", 8), "/media/")).wants(404)
	})
}

// film is a short video in the crew's library.
func (c *crew) film(tb testing.TB) int64 {
	tb.Helper()
	raw, err := os.ReadFile("../../internal/platform/mediainfo/testdata/front.mp4")
	must(tb, err)
	got, err := c.Media.Add(tb.Context(), media.Owner{TeamID: c.team.ID, PersonID: c.people[access.Owner].ID},
		media.Incoming{Name: "film.mp4", Type: "video/mp4", Size: int64(len(raw)), Body: bytes.NewReader(raw)})
	must(tb, err)
	return got.MediaID
}

// What else stands on the day is told, and accounts that were chosen just now get their place in the form by the
// script.
func TestThePreviewTellsOfTheDay(t *testing.T) {
	houses(t, func(t *testing.T, h *house) {
		c := h.crew(t)
		b := c.as(t, access.Editor)
		c.draft(t, "Already there", "2031-05-06T10:00:00Z")
		p := b.open("/posts/new?date=2031-05-06&account="+c.id()).wants(200, "Also on this day: 1 post", "12:00 Already there")
		sent := p.form("Check").values
		sent.Set("fresh", c.id())
		b.send(http.MethodPost, "/posts/preview", sent).wants(200, "Also on this day", "Text on Bluesky").
			holds(`id="fresh"`, "owntext-"+c.id())
		sent.Set("date", "2031-05-07")
		sent.Del("fresh")
		b.send(http.MethodPost, "/posts/preview", sent).wants(200).lacks("Also on this day", "owntext-")
	})
}

func TestWhoMayCompose(t *testing.T) {
	houses(t, func(t *testing.T, h *house) {
		c, other := h.crew(t), h.crew(t)
		saved := c.as(t, access.Owner).open("/posts/new?caption=Our+secret&account=" + c.id()).form("Save as a draft").press().wants(200)
		edit := saved.path + "/edit"
		missing := "/posts/0190a5b2-7c1e-7f00-8000-000000000001/edit"
		for _, role := range []access.Role{access.Viewer, access.Client} {
			b := c.as(t, role)
			b.open("/posts/new").wants(403, "Your role in this team does not allow this.")
			b.open(edit).wants(403).lacks("Our secret")
			b.send(http.MethodPost, edit, url.Values{"do": {"save"}, "caption": {"x"}}).wants(403)
			b.send(http.MethodPost, "/posts/new", url.Values{"do": {"save"}}).wants(403)
			b.send(http.MethodPost, "/posts/preview", url.Values{}).wants(403)
		}
		stranger := other.as(t, access.Owner)
		if a, b := stranger.open(edit).wants(404), stranger.open(missing).wants(404); a.text() != b.text() {
			t.Errorf("%q, but of none %q", a.text(), b.text())
		}
		stranger.send(http.MethodPost, edit, url.Values{"do": {"save"}, "caption": {"x"}}).wants(404)
		stranger.send(http.MethodPost, "/posts/preview", url.Values{"post": {strings.TrimPrefix(saved.path, "/posts/")}}).wants(404)
		stranger.open("/posts/new?account=" + c.id() + "&caption=x").wants(200).lacks(fmt.Sprintf("harbour%d.test", c.team.ID))
		for _, path := range []string{"/posts/%00/edit", "/posts/x/edit", strings.ToUpper(edit)} {
			stranger.open(path).wants(404)
		}
		out := h.browser(t)
		out.open(edit).wants(200, "Sign in").lacks("Our secret")
		out.send(http.MethodPost, "/posts/new", url.Values{"do": {"save"}}).wants(200, "Sign in")
		must(t, h.Teams.SetMember(t.Context(), c.team.ID, other.people[access.Owner].ID, access.Editor))
		stranger.open(edit).wants(200, "Our secret", "you look at that team now")
		if got := c.stored(t, saved.path).Caption; got != "Our secret" {
			t.Errorf("%q", got)
		}
	})
}

// What the page weighs does not grow with the library or the posts; a lost connection is explained.
func TestTheComposerStaysSmall(t *testing.T) {
	houses(t, func(t *testing.T, h *house) {
		c := h.crew(t)
		must(t, h.db.InTx(t.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
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
			wants(200, "account59", "account0", "The connection is lost, so nothing goes out to it.")
		if len(p.source) > 100_000 {
			t.Errorf("%d bytes", len(p.source))
		}
		all := url.Values{"caption": {"Hello"}}
		for id := range 61 {
			all.Add("account", strconv.Itoa(id+1))
		}
		p = c.as(t, access.Owner).send(http.MethodPost, "/posts/new", all).
			wants(200, "5 of 280 weighted characters", "5 of 500 characters, an emoji as its bytes")
		if raw, _ := json.Marshal(len(p.source)); len(p.source) > 250_000 {
			t.Errorf("%s bytes", raw)
		}
	})
}
