package linkedin_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/network/linkedin"
	"pressroom.example/pressroom/internal/network/networktest"
	"pressroom.example/pressroom/internal/testkit/must"
)

// Nothing is uploaded if the parts do not cover the file or a URL is invalid.
func TestInvalidUploadInstructions(t *testing.T) {
	t.Parallel()
	video := func(parts string) string {
		return `{"value":{"video":"urn:li:video:1","uploadInstructions":[` + parts + `]}}`
	}
	l := networktest.NewLibrary(t)
	film, drawn := withMinSize(l.Video(28)), l.Image("png", 9, 9)
	for body, m := range map[string]network.Media{
		`{}`:                                   film,
		video(``):                              film,
		video(`{"firstByte":0,"lastByte":26}`): film,
		video(`{"firstByte":0,"lastByte":28}`): film,
		video(`{"firstByte":1,"lastByte":27}`): film,
		video(`{"firstByte":0,"lastByte":9},{"firstByte":9,"lastByte":27}`):              film,
		video(`{"firstByte":0,"lastByte":-1},{"firstByte":0,"lastByte":27}`):             film,
		`{"value":{"image":"../me","uploadUrl":"http://127.0.0.1:1/"}}`:                  drawn,
		`{"value":{"image":"urn:li:image:1","uploadUrl":"ftp://127.0.0.1/"}}`:            drawn,
		`{"value":{"image":"urn:li:video:1","uploadUrl":"http://127.0.0.1:1/"}}`:         drawn,
		`{"value":{"image":"urn:li:image:1","uploadUrl":"http://127.0.0.1:1/rejected"}}`: drawn,
	} {
		s := networktest.NewStub(t, adapter, network.App{}, networktest.StubResponse{Body: body})
		d, err := s.Network.Plan(network.Submission{Seed: "s", Content: network.Content{Media: []network.Media{m}}})
		must.NoError(t, err)
		_, _, err = s.Network.Prepare(t.Context(), s.Grant, d, l)
		if got := networktest.Class(err); got != network.Transient && got != network.Rejected {
			t.Errorf("%s: %v", body, err)
		}
	}
}

// A token is not sent unencrypted, even if the upload URL is http.
func TestUploadsEncrypted(t *testing.T) {
	t.Parallel()
	elsewhere := networktest.Serve(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the token was sent") }))
	front := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"value":{"image":"urn:li:image:1","uploadUrl":"` + elsewhere + `"}}`))
	}))
	t.Cleanup(front.Close)
	l := networktest.NewLibrary(t)
	n := linkedin.New(linkedin.Options{App: network.App{HTTP: front.Client()}})
	d, err := n.Plan(network.Submission{Seed: "s", Content: network.Content{Media: []network.Media{l.Image("png", 9, 9)}}})
	must.NoError(t, err)
	_, _, err = n.Prepare(t.Context(), network.Grant{Server: front.URL, AccessToken: "token"}, d, l)
	networktest.WantClass(t, err, network.Transient, "")
}

// If a post differs from the draft only in its URL, LinkedIn may have shortened the URL, and a person has to check.
func TestResolveShortenedURL(t *testing.T) {
	t.Parallel()
	draft := strings.Replace(ready, `"x"`, `"read (https://example.org/article), now"`, 1)
	for commentary, want := range map[string]network.Verdict{
		`read \(https://example.org/article\), now`: network.Published,
		`read \(https://lnkd.in/abc\), now`:         network.Unknown,
		`read \(https://lnkd.in/abc\), later`:       network.Absent,
		`@read \(https://lnkd.in/abc\), now`:        network.Unknown, // an @ may be missing or added
	} {
		app := network.App{Now: func() time.Time { return networktest.Start.Add(time.Hour) }}
		s := networktest.NewStub(t, adapter, app, networktest.StubResponse{
			Body: fmt.Sprintf(`{"elements":[{"id":"urn:li:share:1","commentary":%q,"createdAt":%d}]}`, commentary,
				networktest.Start.UnixMilli()),
		})
		verdict, _, err := s.Network.Resolve(t.Context(), s.Grant, network.Draft(draft),
			network.CommitHistory{First: networktest.Start, Last: networktest.Start})
		if verdict != want || (verdict == network.Unknown) != (networktest.Class(err) == network.OutcomeUnknown) {
			t.Errorf("%s: verdict %v, %v", commentary, verdict, err)
		}
	}
}

func TestPublishAsMember(t *testing.T) {
	t.Parallel()
	f := networktest.New(t, members, 10*time.Second)
	g := f.Grant()
	r := f.Publish(g, f.MustPrepare(g, "as a member"))
	f.WantShown("as a member", nil)
	f.WantPermalink(g, r)
	if !strings.HasPrefix(g.Account, "urn:li:person:") {
		t.Errorf("grant %+v", g)
	}
}

// Members may not read the state of media, so Prepare waits once.
func TestMediaOfMembers(t *testing.T) {
	t.Parallel()
	f := networktest.New(t, members, 10*time.Second)
	g := f.Grant()
	d, wait, err := f.Network().Prepare(t.Context(), g, f.Plan("", images("png", "png")(f.Library)...), f.Library)
	if err != nil || wait != 30*time.Second {
		t.Fatalf("wait %v, %v", wait, err)
	}
	f.Clock.Advance(wait)
	d, wait, err = f.Network().Prepare(t.Context(), g, d, f.Library)
	if err != nil || wait != 0 || f.Transport.Count("GET /linkedin/rest/images") != 1 {
		t.Fatalf("wait %v, %v", wait, err)
	}
	f.Publish(g, d)
	f.WantPosts(1)
}

// If a member's posts cannot be listed, a person decides. With the scope to list them, Resolve finds the post.
func TestLostResponseOfMembers(t *testing.T) {
	t.Parallel()
	for _, readable := range []bool{false, true} {
		f := networktest.New(t, withOptions(func(*linkedin.Options) {}), 0)
		if readable {
			f.Scopes("openid", "profile", "w_member_social", "r_member_social")
		}
		g := f.Grant()
		d, tried := f.MustPrepare(g, "[sandbox:lost-answer]"), f.RecentHistory()
		_, err := f.Commit(g, d)
		networktest.WantClass(t, err, network.OutcomeUnknown, "")
		f.Clock.Advance(time.Hour)
		verdict, _, err := f.Network().Resolve(t.Context(), g, d, tried)
		if readable && (verdict != network.Published || err != nil) {
			t.Errorf("verdict %v, %v", verdict, err)
		}
		if !readable && (verdict != network.Unknown || networktest.Class(err) != network.OutcomeUnknown ||
			f.Transport.Count("/rest/posts") != 1) {
			t.Errorf("verdict %v, %v", verdict, err)
		}
		f.WantPosts(1)
	}
}

// Any text is published unchanged.
func TestAnyText(t *testing.T) {
	t.Parallel()
	f := networktest.New(t, adapter, 0)
	g := f.Grant()
	rapid.Check(t, func(t *rapid.T) {
		text := "x" + rapid.OneOf(rapid.String(),
			rapid.StringMatching(`([#\\|{}@\[\]()<>*_~ ax1é]|https://a/|hashtag){0,30}`)).Draw(t, "text")
		f.Clock.Advance(25 * time.Hour) // LinkedIn accepts the same text again after a day
		if f.Clock.Now().After(g.Expires.Add(-2 * day)) {
			g = f.Grant()
		}
		receipt := must.Get(f.Commit(g, f.MustPrepare(g, text)))(t)
		if held := f.Posts(); held[len(held)-1].ID != receipt.ID || held[len(held)-1].Text != text {
			t.Fatalf("%q became %q", text, held[len(held)-1].Text)
		}
	})
}

// Each part of a video has its own URL.
func TestVideoParts(t *testing.T) {
	t.Parallel()
	f := networktest.New(t, adapter, 0)
	f.MustPrepare(f.Grant(), "", film(9<<20)(f.Library)...)
	urls := map[string]bool{}
	for _, r := range f.Transport.Requests("PUT ") {
		urls[r.Line()] = true
	}
	if len(urls) != 3 || f.Transport.Count("PUT ") != 3 || f.Transport.Count("action=finalizeUpload") != 1 {
		t.Errorf("sent to %v", urls)
	}
}

// A text of maximum length fits although escaping makes it longer.
func TestLongestText(t *testing.T) {
	t.Parallel()
	f := networktest.New(t, adapter, 0)
	text := strings.Repeat("_", 3000)
	f.Post(f.Grant(), text)
	f.WantShown(text, nil)
}

func TestOldVersion(t *testing.T) {
	t.Parallel()
	f := networktest.New(t, withOptions(func(opts *linkedin.Options) {
		opts.Version, opts.Organizations = "202506", false
	}), 0)
	_, err := f.Commit(f.Grant(), network.Draft(ready))
	networktest.WantClass(t, err, network.AppNotApproved, "NONEXISTENT_VERSION")
}
