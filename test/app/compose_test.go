package app

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"mime/multipart"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/domain/post"
	"pressroom.example/pressroom/internal/testkit/must"
)

// storedPost returns the stored post whose page has the given path.
func (c *crew) storedPost(t *testing.T, at string) post.Record {
	t.Helper()
	p := must.Get(c.Posts.Load(t.Context(), c.team.ID, strings.Split(strings.TrimPrefix(at, "/posts/"), "/")[0]))(t)
	return p
}

func (c *crew) id() string { return strconv.FormatInt(c.account, 10) }

// formTime returns a future time, and its date and time of day in the format of the form.
func (c *crew) formTime(t *testing.T, after time.Duration) (string, string, time.Time) {
	t.Helper()
	berlin := must.Get(time.LoadLocation("Europe/Berlin"))(t)
	at := c.now().Add(after).In(berlin).Truncate(time.Minute)
	return at.Format("2006-01-02"), at.Format("15:04"), at
}

// attach chooses a file and submits the form.
func (f *form) attach(name string, raw []byte) *page {
	f.p.b.t.Helper()
	return f.attachAll(map[string][]byte{name: raw})
}

// attachAll chooses files and submits the form.
func (f *form) attachAll(chosen map[string][]byte) *page {
	f.p.b.t.Helper()
	if button := attribute(f.button, "name"); button != "" {
		f.values.Set(button, attribute(f.button, "value"))
	}
	to := attribute(f.button, "formaction")
	if to == "" {
		to = attribute(f.node, "action")
	}
	return f.sendFiles(to, chosen)
}

// sendFiles sends a multipart form as browsers do: a file field without a file sends an empty file.
func (f *form) sendFiles(to string, chosen map[string][]byte) *page {
	f.p.b.t.Helper()
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	for field, values := range f.values {
		for _, v := range values {
			if field != "files" {
				must.NoError(f.p.b.t, w.WriteField(field, v))
			}
		}
	}
	for name, raw := range chosen {
		part := must.Get(w.CreateFormFile("files", name))(f.p.b.t)
		must.Get(part.Write(raw))(f.p.b.t)
	}
	must.NoError(f.p.b.t, w.Close())
	r := must.Get(http.NewRequestWithContext(f.p.b.t.Context(), http.MethodPost, f.p.b.root+to, &body))(f.p.b.t)
	r.Header.Set("Content-Type", w.FormDataContentType())
	resp := must.Get(f.p.b.http.Do(r))(f.p.b.t)
	defer resp.Body.Close()
	var got bytes.Buffer
	must.Get(got.ReadFrom(resp.Body))(f.p.b.t)
	doc := must.Get(html.Parse(strings.NewReader(got.String())))(f.p.b.t)
	return &page{f.p.b, resp.StatusCode, resp.Request.URL.RequestURI(), resp.Header, got.String(), doc}
}

// colorPNG returns a picture of one color.
func colorPNG(t *testing.T, n uint8) []byte {
	t.Helper()
	img := image.NewGray(image.Rect(0, 0, 40, 30))
	for i := range img.Pix {
		img.Pix[i] = n
	}
	img.SetGray(0, 0, color.Gray{Y: 255 - n})
	var out bytes.Buffer
	must.NoError(t, png.Encode(&out, img))
	return out.Bytes()
}

func TestDraftPost(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.as(t, access.Editor)
		f := b.open("/posts/new").shows(200, "New post", "harbour", "Select an account").form("Schedule")
		p := f.fill("caption", "Open from eight\r\non Sunday #coffee.").press()
		p.shows(422, "Select at least one account", "Choose a date and time.")
		if got := p.form("Save draft").values.Get("caption"); !strings.HasPrefix(got, "Open from eight") {
			t.Errorf("what was typed is lost: %q", got)
		}
		if n := c.count(t, "posts"); n != 0 {
			t.Errorf("%d posts", n)
		}
		f = p.form("Save draft").fill("account", c.id())
		saved := f.press().shows(200, "Saved.")
		held := c.storedPost(t, saved.path)
		if held.Caption != "Open from eight\non Sunday #coffee." || held.Status != post.Draft || len(held.Targets) != 1 {
			t.Errorf("%+v", held)
		}
		if again := f.press().shows(200); again.path != saved.path || c.count(t, "posts") != 1 {
			t.Errorf("sent twice: %s, %d posts", again.path, c.count(t, "posts"))
		}
		edit := b.open(saved.path+"/edit").shows(200, "Edit post")
		edit.form("Save").fill("caption", "Open from nine.").press().shows(200, "Saved.")
		if got := c.storedPost(t, saved.path).Caption; got != "Open from nine." {
			t.Errorf("%q", got)
		}
		// A browser that shows an older version can overwrite the current version.
		late := edit.form("Save").fill("caption", "Open from ten.").press()
		late.shows(422, "Compare the saved version with yours, then save to replace it.", "Saved version", "Open from nine.")
		if got := c.storedPost(t, saved.path).Caption; got != "Open from nine." {
			t.Errorf("%q", got)
		}
		late.form("Save").press().shows(200, "Saved.")
		if got := c.storedPost(t, saved.path).Caption; got != "Open from ten." {
			t.Errorf("%q", got)
		}
	})
}

func TestPreview(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.as(t, access.Owner)
		b.open("/posts/new?account="+c.id()+"&caption=Hello+%F0%9F%91%8B%F0%9F%8F%BD").
			shows(200, "7 of 300 characters", "14 of 3,000 bytes", "Ready to publish.")
		p := b.open("/posts/new").form("Check").fill("account", c.id()).fill("caption", strings.Repeat("é", 301)).press()
		p.shows(200, "301 of 300 characters – 1 over", "1 problem to fix before publishing.",
			"Too long for Bluesky: 301/300 characters. Shorten the text.")
		if n := strings.Count(p.source, "Too long for Bluesky"); n != 1 {
			t.Errorf("the problem is shown %d times, want once, at its preview", n)
		}
		p.contains(`<section class="look" id="look-` + c.id() + `"`)
		if n := c.count(t, "posts"); n != 0 {
			t.Errorf("the preview created %d posts", n)
		}
		f := p.form("Check").fill("caption", "short")
		part := b.send(http.MethodPost, "/posts/preview", f.values).shows(200, "5 of 300 characters", "short")
		if strings.Contains(part.source, "<header") || part.header.Get("Cache-Control") != "no-store" {
			t.Errorf("the preview alone: %s", part.source)
		}
		b.send(http.MethodPost, "/posts/preview", url.Values{"caption": {"<script>x</script>"}, "account": {c.id()}}).
			shows(200).lacks("<script>x")
		b.send(http.MethodPost, "/posts/preview", url.Values{"account": {"999999"}}).shows(404)
		past := b.open("/posts/new").form("Check").fill("account", c.id()).fill("caption", "Hello").
			fill("date", "2020-03-29").fill("time", "10:00")
		b.send(http.MethodPost, "/posts/preview", past.values).
			shows(200, "Not ready to publish.", "That time has passed.").lacks("Ready to publish.")
	})
}

func TestAddMediaToPost(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.as(t, access.Admin)
		p := b.open("/posts/new").shows(200, "The library is empty.")
		p = p.form("Upload").fill("caption", "kept").fill("account", c.id()).
			attach("roastery.png", colorPNG(t, 10)).shows(200, "roastery", "Alt text")
		p = p.form("Upload").attach("harbour.png", colorPNG(t, 90)).shows(200, "harbour")
		p.form("Upload").attach("notes.txt", []byte("Not a picture.")).
			shows(422, "notes.txt: The library accepts JPEG", "roastery", "harbour")
		p = p.form("Move harbour up").press().shows(200)
		f := p.form("Save draft")
		if media := f.values["media"]; len(media) != 2 || f.values.Get("caption") != "kept" {
			t.Fatalf("%v", f.values)
		}
		harbour := f.values["media"][0]
		saved := f.fill("alt-"+harbour, "Boats at a quay.").press().shows(200, "Saved.")
		held := c.storedPost(t, saved.path)
		if len(held.Media) != 2 || held.Media[0].Name != "harbour" || held.Media[0].Alt != "Boats at a quay." {
			t.Errorf("%+v", held.Media)
		}
		p = b.open(saved.path+"/edit").form("Search").fill("q", "roast").press().shows(200, "roastery")
		p = p.form("Remove harbour").press().shows(200)
		if media := p.form("Save").values["media"]; len(media) != 1 {
			t.Errorf("%v", media)
		}
		p.form("Search").fill("q", "nothing like it").press().shows(200, "No files match your filters.")
		// Media for one account only.
		p = p.form("Search").fill("into", c.id()).fill("q", "").press()
		p = p.form("Add selected").fill("picked", harbour).press().shows(200, "Customized")
		p.form("Save").fill("text-"+c.id(), "Only here.").press().shows(200, "Saved.")
		held = c.storedPost(t, saved.path)
		if own := held.Targets[0]; own.Caption == nil || *own.Caption != "Only here." || len(own.Media) != 1 ||
			own.Media[0].Name != "harbour" || len(held.Media) != 1 {
			t.Errorf("%+v", held)
		}
		b.open(saved.path+"/edit").shows(200, "Only here.")
		// An invalid alt text shows an error. The other input is saved once.
		drafts := c.count(t, "posts")
		p = b.open("/posts/new?caption=Hi&account="+c.id()+"&media="+harbour).form("Save draft").
			fill("alt-"+harbour, strings.Repeat("x", 1001)).press()
		p.shows(422, "The post was saved, but the next step failed. Alt text can have at most 1000 characters.")
		p.form("Save").fill("alt-"+harbour, "Boats.").press().shows(200, "Saved.")
		if n := c.count(t, "posts"); n != drafts+1 {
			t.Errorf("%d additional posts", n-drafts)
		}
	})
}

func TestSchedulePost(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.as(t, access.Editor)
		compose := func() *form { return b.open("/posts/new?caption=Hello&account=" + c.id()).form("Schedule") }
		compose().press().shows(422, "Choose a date and time")
		compose().fill("date", "2026-03-29").press().shows(422, "Choose the time as well.")
		compose().fill("date", "2020-03-29").fill("time", "10:00").press().shows(422, "That time has passed.")
		compose().fill("date", "2031-03-30").fill("time", "02:30").press().
			shows(422, "On 30 March 2031, clocks in Europe/Berlin go from 02:00 to 03:00")
		if n := c.count(t, "posts"); n != 0 {
			t.Errorf("%d posts", n)
		}
		day, clock, at := c.formTime(t, 50*time.Hour)
		f := compose().fill("date", day).fill("time", clock)
		saved := f.press().shows(200, "Create another")
		if held := c.storedPost(t, saved.path); held.Status != post.Scheduled || !held.ScheduledAt.Equal(at) {
			t.Errorf("%+v", held)
		}
		if again := f.press().shows(200); again.path != saved.path {
			t.Error(again.path)
		}
		day, clock, at = c.formTime(t, 60*time.Hour)
		b.open(saved.path+"/edit").form("Save").fill("date", day).fill("time", clock).press().shows(200,
			"It will be published at its scheduled time.")
		if held := c.storedPost(t, saved.path); !held.ScheduledAt.Equal(at) || held.Status != post.Scheduled {
			t.Errorf("%+v", held)
		}
		b.open(saved.path+"/edit").form("Save").fill("date", "").fill("time", "").press().shows(422, "A scheduled post needs a time.")
		// On 26 October 2031, 02:30 occurs twice.
		n := c.count(t, "posts")
		for _, button := range []string{"Schedule", "Save draft", "Send for approval…"} {
			f := b.open("/posts/new?date=2031-10-26&time=02:30&caption=Hello&account="+c.id()).
				shows(200, "Which one do you mean?").form(button)
			if f.values.Has("second") {
				t.Errorf("an ambiguous time was resolved without asking: %v", f.values)
			}
			f.press().shows(422, "On 26 October 2031 in Europe/Berlin, 02:30 occurs twice because clocks go back.",
				"Choose which one you mean.")
		}
		b.send(http.MethodPost, "/posts/preview", compose().fill("date", "2031-10-26").fill("time", "02:30").values).
			shows(200, "Which one do you mean?")
		asked := compose().fill("date", "2031-10-26").fill("time", "02:30").press().
			shows(422, "The first, 02:30 (UTC+02:00)", "The second, 02:30 (UTC+01:00)")
		if more := c.count(t, "posts") - n; more != 0 {
			t.Errorf("%d posts were created at an ambiguous time", more)
		}
		twice := asked.form("Schedule").fill("second", "0").press().shows(200, "Create another")
		first := c.storedPost(t, twice.path)
		if want := time.Date(2031, 10, 26, 0, 30, 0, 0, time.UTC); !first.ScheduledAt.Equal(want) {
			t.Errorf("%v", first.ScheduledAt)
		}
		p := b.open(twice.path+"/edit").shows(200, "clocks show this time twice")
		if got := p.form("Save").values.Get("second"); got != "0" {
			t.Errorf("the earlier time is shown as %q", got)
		}
		p.form("Save").press().shows(200, "It will be published at its scheduled time.")
		p = b.open(twice.path + "/edit")
		p.form("Save").fill("second", "1").press().shows(200)
		if held := c.storedPost(t, twice.path); held.ScheduledAt.Sub(first.ScheduledAt) != time.Hour {
			t.Errorf("%v, then %v", first.ScheduledAt, held.ScheduledAt)
		}
		if got := b.open(twice.path + "/edit").form("Save").values.Get("second"); got != "1" {
			t.Errorf("the later time is shown as the earlier")
		}
		compose().fill("caption", strings.Repeat("x", 301)).fill("date", day).fill("time", clock).press().
			shows(422, "The post wasn’t scheduled.", "Too long for Bluesky: 301/300 characters.")
	})
}

func TestRepeatPost(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.as(t, access.Editor)
		f := b.open("/posts/new?caption=Hello&account=" + c.id()).form("Schedule")
		f.fill("date", "2031-03-28").fill("time", "10:00").fill("repeat", "weekly").fill("day", "FR", "MO").
			fill("every", "2").fill("ends", "count").fill("count", "4")
		checked := b.send(http.MethodPost, "/posts/preview", f.values).
			shows(200, "Next:", "28 Mar · 7, 11, 21 Apr", "Fri 28 Mar 2031, 10:00")
		checked.lacks("31 Mar")
		f.fill("every", "0").press().shows(422, "Enter a whole number from 1 to 99.")
		saved := f.fill("every", "2").press().shows(200, "The post repeats on schedule. Next post: Fri 28 Mar 2031, 10:00.")
		held := c.storedPost(t, saved.path)
		if !held.IsTemplate || held.Series.Rule != "FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,FR;COUNT=4" || held.Series.Timezone != "Europe/Berlin" {
			t.Errorf("%+v", held.Series)
		}
		if told := b.open(saved.path+"/edit").shows(200, "Pause the series before you change its template."); told.path != saved.path {
			t.Errorf("the uneditable post is shown at %s", told.path)
		}
		b.send(http.MethodPost, saved.path+"/edit",
			url.Values{
				"do": {"save"}, "caption": {"anew"}, "account": {c.id()}, "seen": {strconv.FormatInt(held.UpdatedAt.UnixMicro(), 10)},
			}).shows(422, "Pause the series before you change its template.")
	})
}

func TestComposeApprovalAndPublish(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.as(t, access.Editor)
		p := b.open("/posts/new?caption=Hello&account="+c.id()).form("Send for approval…").press().
			shows(200, "Send for approval", "Hello").form("Create link").press().shows(200, "Waiting for approval")
		link := regexp.MustCompile(`value="http://[^/]+(/approval/[^"]+)"`).FindStringSubmatch(p.source)
		if link == nil {
			t.Fatal(p.source)
		}
		h.browser(t).open(link[1]).shows(200, "Hello")
		edit := p.path + "/edit"
		day, clock, _ := c.formTime(t, 50*time.Hour)
		b.open(edit).shows(200, "Waiting for approval").form("Schedule").fill("date", day).fill("time", clock).press().
			shows(403, "before the client approves it", "The post was saved")

		confirm := b.open("/posts/new?caption=At+once&account="+c.id()).form("Publish now…").press().shows(200, "Publish now", "At once")
		if n := c.count(t, "posts WHERE status <> 'draft'"); n != 0 {
			t.Errorf("%d posts were published without confirmation", n)
		}
		confirm.form("Publish to 1 account").press().shows(200)
		if n := c.count(t, "posts WHERE status <> 'draft'"); n != 1 {
			t.Errorf("%d posts were published", n)
		}
	})
}
