package tiktok_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pressroom/internal/network"
	"pressroom/internal/network/networktest"
	"pressroom/internal/network/tiktok"
)

const (
	video  = `{"tiktok":true,"text":"x","media":[{"id":1,"kind":"video"}],"privacy":"PUBLIC_TO_EVERYONE","made":"2026-11-21T09:30:00Z","upload":{"id":"v_pub_file~1","url":"%s/upload/?secret=s","type":"video/mp4","size":100,"chunk":100,"parts":1}}`
	photos = `{"tiktok":true,"text":"x","media":[{"id":1,"kind":"image"}],"privacy":"PUBLIC_TO_EVERYONE","made":"2026-11-21T09:30:00Z","until":"2026-11-21T13:30:00Z","links":["https://files.test/1"]}`
)

func well(data string) string { return `{"data":` + data + `,"error":{"code":"ok"}}` }

// published is of a video that has this id for the public.
func published(id string) string {
	return well(`{"status":"PUBLISH_COMPLETE","publicaly_available_post_id":[` + id + `]}`) //nolint:misspell // so it is called
}

func refused(code string) string {
	return `{"data":{},"error":{"code":"` + code + `","message":"said"}}`
}

// scripted is a network that says one thing wherever a path ends so.
func scripted(t *testing.T, answers map[string]string) network.Grant {
	t.Helper()
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for end, answer := range answers {
			if strings.HasSuffix(r.URL.Path, end) {
				_, _ = w.Write([]byte(answer))
			}
		}
	}))
	t.Cleanup(front.Close)
	return network.Grant{Server: front.URL, Access: "token", Username: "harbour.coffee", Scopes: []string{"video.publish", "video.list"}}
}

func at(now time.Time) *tiktok.Network {
	return tiktok.New(tiktok.Options{App: network.App{Now: func() time.Time { return now }, Settled: network.Span(10 * time.Minute)}})
}

// What is answered about a video; the verdict and the class follow from it.
func TestResolveVideo(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status  string
		later   time.Duration
		verdict network.Verdict
		class   network.Class
		id      string
	}{
		"public":                 {published(`7512345678901234567`), 0, network.Stands, "", "7512345678901234567"},
		"public, as a text":      {published(`"75"`), 0, network.Stands, "", "75"},
		"in review":              {well(`{"status":"PUBLISH_COMPLETE"}`), 0, network.Stands, "", "publish:v_pub_file~1"},
		"an id that is none":     {published(`-1.5`), 0, network.Stands, "", "publish:v_pub_file~1"},
		"lacks bytes":            {well(`{"status":"PROCESSING_UPLOAD","uploaded_bytes":99}`), 0, network.Absent, "", ""},
		"lacks bytes, too late":  {well(`{"status":"PROCESSING_UPLOAD","uploaded_bytes":99}`), 2 * time.Hour, network.Absent, network.Transient, ""},
		"has all":                {well(`{"status":"PROCESSING_UPLOAD","uploaded_bytes":100}`), 0, network.Unknown, network.Processing, ""},
		"does not say":           {well(`{"status":"PROCESSING_UPLOAD"}`), 2 * time.Hour, network.Unknown, network.Processing, ""},
		"downloads":              {well(`{"status":"PROCESSING_DOWNLOAD"}`), 0, network.Unknown, network.Processing, ""},
		"a bad file":             {well(`{"status":"FAILED","fail_reason":"frame_rate_check_failed"}`), 0, network.Absent, network.RejectedMedia, ""},
		"spam":                   {well(`{"status":"FAILED","fail_reason":"spam_risk_text"}`), 0, network.Absent, network.Rejected, ""},
		"cancelled":              {well(`{"status":"FAILED","fail_reason":"publish_cancelled"}`), 0, network.Absent, network.Rejected, ""},
		"disconnected":           {well(`{"status":"FAILED","fail_reason":"auth_removed"}`), 0, network.Absent, network.AuthDead, ""},
		"a failure of its own":   {well(`{"status":"FAILED","fail_reason":"internal"}`), 0, network.Absent, network.Transient, ""},
		"too many":               {well(`{"status":"FAILED","fail_reason":"spam_risk_too_many_posts"}`), 0, network.Absent, network.Quota, ""},
		"a failure that is new":  {well(`{"status":"FAILED","fail_reason":"weather"}`), 0, network.Absent, network.Rejected, ""},
		"a state that is new":    {well(`{"status":"RESTING"}`), 0, network.Unknown, network.Transient, ""},
		"only an inbox":          {well(`{"status":"SEND_TO_USER_INBOX"}`), 0, network.Unknown, network.Transient, ""},
		"throttled":              {refused("rate_limit_exceeded"), 0, network.Unknown, network.Rate, ""},
		"a token that is old":    {refused("access_token_invalid"), 0, network.Unknown, network.AuthRefresh, ""},
		"nothing that makes any": {`<html>`, 0, network.Unknown, network.Transient, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := scripted(t, map[string]string{"/status/fetch/": c.status})
			verdict, receipt, err := at(start.Add(c.later)).Resolve(t.Context(), g, network.Draft(fmt.Sprintf(video, g.Server)), network.Tried{})
			if verdict != c.verdict || networktest.Class(err) != c.class || receipt.ID != c.id {
				t.Errorf("verdict %v, receipt %+v, %v", verdict, receipt, err)
			}
		})
	}
}

// What is listed of photos whose answer was lost. That nothing is listed proves nothing before a settled time.
func TestResolvePhotos(t *testing.T) {
	t.Parallel()
	one := func(id string, after time.Duration, rest string) string {
		return fmt.Sprintf(`{"id":%q,"create_time":%d,%s}`, id, start.Add(after).Unix(), rest)
	}
	list := func(videos ...string) string { return well(`{"videos":[` + strings.Join(videos, ",") + `]}`) }
	const x = `"video_description":" x\n","share_url":"javascript:x"`
	for name, c := range map[string]struct {
		list    string
		later   time.Duration
		verdict network.Verdict
		class   network.Class
		id      string
	}{
		"listed":                {list(one("75", time.Minute, x)), 0, network.Stands, "", "75"},
		"listed by its title":   {list(one("75", time.Minute, `"title":"x"`)), 0, network.Stands, "", "75"},
		"its clock is behind":   {list(one("75", -time.Minute, x)), 0, network.Stands, "", "75"},
		"an older one of these": {list(one("75", time.Second, x), one("74", -time.Second, x)), 0, network.Stands, "", "75"},
		"twins":                 {list(one("75", 2*time.Second, x), one("74", time.Second, x)), 0, network.Unknown, network.Uncertain, ""},
		"none at first":         {list(), 119 * time.Second, network.Unknown, network.Processing, ""},
		"none for a while":      {list(), 2 * time.Minute, network.Unknown, network.Uncertain, ""},
		"none in the end":       {list(), 10 * time.Minute, network.Absent, "", ""},
		"others": {list(one("75", 0, `"title":"y"`), one("76", 0, x+`,"duration":7`), one("../me", 0, x), one("77", -time.Hour, x)),
			10 * time.Minute, network.Absent, "", ""},
		"throttled":    {refused("rate_limit_exceeded"), time.Hour, network.Unknown, network.Rate, ""},
		"not allowed":  {refused("scope_not_authorized"), time.Hour, network.Unknown, network.AuthDead, ""},
		"other things": {well(`[]`), time.Hour, network.Unknown, network.Transient, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := scripted(t, map[string]string{"/video/list/": c.list})
			verdict, receipt, err := at(start.Add(c.later)).Resolve(t.Context(), g, network.Draft(photos), network.Tried{First: start, Last: start})
			if verdict != c.verdict || networktest.Class(err) != c.class || receipt.ID != c.id || strings.HasPrefix(receipt.Permalink, "javascript") {
				t.Errorf("verdict %v, receipt %+v, %v", verdict, receipt, err)
			}
		})
	}
}

// Where photos cannot be looked for, or the operator has set no time, nothing ever counts as not posted.
func TestPhotosStayUnknown(t *testing.T) {
	t.Parallel()
	g := scripted(t, map[string]string{"/video/list/": well(`{"videos":[]}`)})
	deaf := g
	deaf.Scopes = []string{"video.publish"}
	for name, c := range map[string]struct {
		network *tiktok.Network
		grant   network.Grant
		draft   string
	}{
		"without the scope": {at(start.Add(time.Hour)), deaf, photos},
		"not for everybody": {at(start.Add(time.Hour)), g, strings.Replace(photos, "PUBLIC_TO_EVERYONE", "SELF_ONLY", 1)},
		"by default":        {tiktok.New(tiktok.Options{}), g, photos},
	} {
		verdict, _, err := c.network.Resolve(t.Context(), c.grant, network.Draft(c.draft), network.Tried{First: start, Last: start})
		if verdict != network.Unknown || networktest.Class(err) != network.Uncertain {
			t.Errorf("%s: verdict %v, %v", name, verdict, err)
		}
	}
}

// What the network says of an account's settings decides what is asked for, or that nothing is.
func TestCreator(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		creator, privacy string
		class            network.Class
	}{
		"for everybody":     {`{"privacy_level_options":["SELF_ONLY","PUBLIC_TO_EVERYONE"],"max_video_post_duration_sec":60}`, "PUBLIC_TO_EVERYONE", ""},
		"a private account": {`{"privacy_level_options":["SELF_ONLY","FOLLOWER_OF_CREATOR"]}`, "FOLLOWER_OF_CREATOR", ""},
		"for oneself":       {`{"privacy_level_options":["SELF_ONLY"]}`, "SELF_ONLY", ""},
		"too long":          {`{"privacy_level_options":["SELF_ONLY"],"max_video_post_duration_sec":59}`, "", network.RejectedMedia},
		"for nobody":        {`{"privacy_level_options":["NEW"]}`, "", network.Transient},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLibrary(t)
			g := scripted(t, map[string]string{
				"/creator_info/query/": well(c.creator), "/video/init/": well(`{"publish_id":"v","upload_url":"https://up.test/?token=t"}`),
			})
			n := at(start)
			d, err := n.Plan(network.Intent{Seed: "s", Content: network.Content{Media: []network.Media{l.mp4(small)}}})
			if err == nil {
				d, _, err = n.Prepare(t.Context(), g, d, l)
			}
			var kept struct{ Privacy string }
			_ = json.Unmarshal(d, &kept)
			if networktest.Class(err) != c.class || c.class == "" && kept.Privacy != c.privacy {
				t.Errorf("%s, %v", d, err)
			}
		})
	}
}

// An upload that fails each time is begun anew a few times, and then given up for its reason.
func TestPrepareGivesUp(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status string
		class  network.Class
		code   string
		calls  int
	}{
		"a failure of its own": {well(`{"status":"FAILED","fail_reason":"internal"}`), network.Transient, "internal", 4},
		"an id that is gone":   {refused("invalid_params"), network.Rejected, "invalid_params", 4},
		"a part is refused":    {well(`{"status":"PROCESSING_UPLOAD","uploaded_bytes":0}`), network.Rejected, "", 4},
		"a bad file":           {well(`{"status":"FAILED","fail_reason":"file_format_check_failed"}`), network.RejectedMedia, "", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLibrary(t)
			upload := httptest.NewServer(http.NotFoundHandler())
			t.Cleanup(upload.Close)
			g := scripted(t, map[string]string{
				"/creator_info/query/": well(`{"privacy_level_options":["SELF_ONLY"]}`), "/status/fetch/": c.status,
				"/video/init/": well(`{"publish_id":"v","upload_url":"` + upload.URL + `"}`),
			})
			n := tiktok.New(tiktok.Options{ChunkBytes: 5000})
			d, err := n.Plan(network.Intent{Seed: "s", Content: network.Content{Media: []network.Media{l.mp4(small)}}})
			asked := 0
			for wait := time.Duration(1); err == nil && wait > 0 && asked < 20; asked++ {
				d, wait, err = n.Prepare(t.Context(), g, d, l)
			}
			if networktest.WantClass(t, err, c.class, c.code); asked != 2*c.calls {
				t.Errorf("asked %d times", asked)
			}
		})
	}
}

// The network counts the last part as one that has the rest.
func TestParts(t *testing.T) {
	t.Parallel()
	for size, want := range map[int][2]int64{ // parts, and how long each is
		4_999_999: {1, 4_999_999}, 9_999_999: {1, 9_999_999}, 10_000_000: {2, 5_000_000}, 14_999_999: {2, 5_000_000},
	} {
		w, l := newWorld(t, 0), newLibrary(t)
		g := w.connect("harbour.coffee")
		film := l.mp4(size)
		d := w.prepared(g, l, "", film)
		var kept struct{ Upload struct{ Parts, Chunk int64 } }
		if err := json.Unmarshal(d, &kept); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, [2]int64{kept.Upload.Parts, kept.Upload.Chunk}); diff != "" {
			t.Errorf("%d bytes:\n%s", size, diff)
		}
		if _, err := w.network().Commit(t.Context(), g, d, l); err != nil {
			t.Errorf("%d bytes: %v", size, err)
		}
		w.wantHeld(1)
	}
}

// A redirect would carry the token to wherever it leads.
func TestRedirectsAreNotFollowed(t *testing.T) {
	t.Parallel()
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("it was followed") }))
	t.Cleanup(elsewhere.Close)
	g := said(t, http.StatusTemporaryRedirect, http.Header{"Location": {elsewhere.URL}}, "")
	_, err := at(start).Commit(t.Context(), g, network.Draft(photos), newLibrary(t))
	networktest.WantClass(t, err, network.Uncertain, "")
}

// A network that never answers is not waited for without end.
func TestDeadline(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	front := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	t.Cleanup(front.Close)
	t.Cleanup(func() { close(release) })
	n := tiktok.New(tiktok.Options{App: network.App{HTTP: &http.Client{Timeout: 50 * time.Millisecond}}})
	_, err := n.Commit(t.Context(), network.Grant{Server: front.URL, Access: "token"}, network.Draft(photos), newLibrary(t))
	networktest.WantClass(t, err, network.Uncertain, "")
}

// A look tells what was there when it was asked for, however late its answer is read.
func TestALookIsAsOldAsItsQuestion(t *testing.T) {
	t.Parallel()
	g := scripted(t, map[string]string{"/video/list/": well(`{"videos":[]}`)})
	networktest.StandsStill(t, func(app network.App, tried network.Tried) (network.Verdict, network.Receipt, error) {
		return tiktok.New(tiktok.Options{App: app}).Resolve(t.Context(), g, network.Draft(photos), tried)
	})
}

// A video whose address takes no more is uploaded anew only once no part can be under way any more.
func TestUploadsEndBeforeTheNextBegins(t *testing.T) {
	t.Parallel()
	g := scripted(t, map[string]string{"/status/fetch/": well(`{"status":"PROCESSING_UPLOAD","uploaded_bytes":99}`)})
	now := start.Add(2 * time.Hour)
	for ago, want := range map[time.Duration]network.Verdict{30 * time.Second: network.Unknown, 2 * time.Minute: network.Absent} {
		verdict, _, err := at(now).Resolve(t.Context(), g, network.Draft(fmt.Sprintf(video, g.Server)), network.Tried{First: start, Last: now.Add(-ago)})
		if verdict != want || err == nil {
			t.Errorf("%v after the last call: verdict %v, %v", ago, verdict, err)
		}
	}
}
