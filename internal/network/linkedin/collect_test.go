package linkedin_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pressroom/internal/network"
	"pressroom/internal/network/linkedin"
	"pressroom/internal/network/networktest"
)

const (
	listCall     = "/rest/posts?"
	sizeCall     = "/rest/networkSizes/"
	statsCall    = "/rest/organizationalEntityShareStatistics?"
	memberCall   = "/rest/memberCreatorPostAnalytics?"
	accessDenied = `{"status":403,"code":"ACCESS_DENIED","message":"Not enough permissions to access this resource"}`
)

// through is the network, reached through a transport.
func (w *world) through(transport http.RoundTripper) *linkedin.Network {
	opts := w.opts
	opts.HTTP = &http.Client{Transport: transport}
	return linkedin.New(opts)
}

// publish publishes, and moves the clock on.
func (w *world) publish(g network.Grant, l *library, text string, media ...network.Media) network.Receipt {
	w.t.Helper()
	d, err := w.prepare(g, w.plan(text, media...), l)
	if err != nil {
		w.t.Fatal(err)
	}
	receipt, err := w.network().Commit(w.t.Context(), g, d, l)
	if err != nil {
		w.t.Fatal(err)
	}
	w.clock.Advance(time.Minute)
	return receipt
}

// collect collects what has to be told.
func (w *world) collect(g network.Grant, since time.Time, most int) network.Collected {
	w.t.Helper()
	collected, err := w.network().Collect(w.t.Context(), g, since, most)
	if err != nil {
		w.t.Fatal(err)
	}
	return collected
}

func TestCollect(t *testing.T) {
	t.Parallel()
	w, l := newWorld(t, 0), newLibrary()
	g := w.connectOrganization("harbour.coffee")
	shown := []struct {
		text, format string
		media        []network.Media
	}{
		{"only words (& a #tag)", network.FormatText, nil},
		{"one", network.FormatImage, []network.Media{l.image(t, "png", 9, 9)}},
		{"two", network.FormatCarousel, []network.Media{l.image(t, "png", 9, 9), l.image(t, "gif", 9, 9)}},
		{"a film", network.FormatVideo, []network.Media{l.mp4(80_000)}},
	}
	var want []network.Figures
	for _, s := range shown {
		at := w.clock.Now()
		receipt := w.publish(g, l, s.text, s.media...)
		want = append(want, network.Figures{ID: receipt.ID, URL: receipt.Permalink, Text: s.text, Format: s.format, PostedAt: at})
	}
	slices.Reverse(want)
	w.clock.Advance(72 * time.Hour)
	first := w.collect(g, start, 100)
	if first.Followers == nil || *first.Followers <= 0 {
		t.Errorf("followers: %v", first.Followers)
	}
	bare := slices.Clone(first.Posts)
	for i, p := range bare {
		if p.Saves != nil || p.Reach == nil || p.Views == nil || p.Likes == nil || p.Comments == nil || p.Shares == nil || p.Clicks == nil || *p.Reach > *p.Views {
			t.Errorf("figures of %q: %+v", p.Text, p)
		}
		bare[i] = network.Figures{ID: p.ID, URL: p.URL, Text: p.Text, Format: p.Format, PostedAt: p.PostedAt}
	}
	if diff := cmp.Diff(want, bare); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(first, w.collect(g, start, 100)); diff != "" {
		t.Errorf("at the same moment: %s", diff)
	}
}

func TestCollectPages(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	g := w.connectOrganization("harbour.coffee")
	var ids []string
	for i := range 53 {
		ids = append(ids, w.publish(g, nil, fmt.Sprintf("number %d", i)).ID)
	}
	slices.Reverse(ids)
	w.clock.Advance(24 * time.Hour)
	for name, c := range map[string]struct {
		since time.Time
		most  int
		want  []string
	}{
		"all":            {start.Add(-time.Hour), 500, ids},
		"ever":           {time.Time{}, 500, ids},
		"at most 51":     {start, 51, ids[:51]},
		"at most 2":      {start, 2, ids[:2]},
		"none":           {start, 0, nil},
		"since a moment": {start.Add(50 * time.Minute), 500, ids[:3]},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, p := range w.collect(g, c.since, c.most).Posts {
				if got = append(got, p.ID); p.Views == nil {
					t.Errorf("%s has no figures", p.ID)
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A post that LinkedIn leaves out of its statistics has none: none are made up.
func TestCollectUncounted(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	g := w.connectOrganization("harbour.coffee")
	d, err := w.prepare(g, w.plan("a moment ago"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.network().Commit(t.Context(), g, d, nil); err != nil {
		t.Fatal(err)
	}
	posts := w.collect(g, start, 10).Posts
	if len(posts) != 1 || posts[0].Views != nil || posts[0].Likes != nil || w.wire.count("shares=List(urn%3Ali%3Ashare%3A") != 1 {
		t.Errorf("%+v", posts)
	}
}

// A member's posts are told as far as LinkedIn allowed it.
func TestCollectMembers(t *testing.T) {
	t.Parallel()
	const none = "NONE"
	for name, c := range map[string]struct {
		scopes  string
		refused string // of the figures
		class   network.Class
		figures bool
		calls   int // for figures
	}{
		"as usual":    {"", none, network.Unapproved, false, 0},
		"figures":     {"r_member_postAnalytics", none, network.Unapproved, false, 0},
		"posts":       {"r_member_social", none, "", false, 0},
		"both":        {"r_member_social r_member_postAnalytics", none, "", true, 20 * 6},
		"no such one": {"r_member_social r_member_postAnalytics", "POST_SAVE", "", true, 20*5 + 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 0)
			g := w.member(c.scopes)
			refusing := networktest.Answering{RoundTripper: w.wire, Part: "queryType=" + c.refused, Status: http.StatusBadRequest, Body: `{"status":400,"code":"ILLEGAL_ARGUMENT"}`}
			calls := 0
			collected, err := w.through(transport(func(r *http.Request) (*http.Response, error) {
				if strings.Contains(r.URL.String(), memberCall) {
					calls++
				}
				return refusing.RoundTrip(r)
			})).Collect(t.Context(), g, start, 100)
			if networktest.Class(err) != c.class || c.class == "" && len(collected.Posts) != 22 || calls != c.calls || collected.Followers != nil {
				t.Fatalf("%d calls, %+v, %v", calls, collected, err)
			}
			for i, p := range collected.Posts {
				told := c.figures && i < 20
				if (p.Views != nil) != told || (p.Reach != nil) != told || (p.Likes != nil) != told || (p.Saves != nil) != (told && c.refused == none) {
					t.Errorf("%d: %+v", i, p)
				}
			}
		})
	}
}

// member connects a member with further scopes, and publishes 22 posts.
func (w *world) member(scopes string) network.Grant {
	w.t.Helper()
	w.opts.Scopes = append([]string{"openid", "profile", "w_member_social"}, strings.Fields(scopes)...)
	g := w.connect("harbour.coffee")
	for i := range 22 {
		w.publish(g, nil, fmt.Sprintf("number %d", i))
	}
	w.clock.Advance(24 * time.Hour)
	return g
}

// transport is a function that answers requests.
type transport func(*http.Request) (*http.Response, error)

func (answer transport) RoundTrip(r *http.Request) (*http.Response, error) { return answer(r) }

func TestCollectFails(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	g := w.connectOrganization("harbour.coffee")
	w.publish(g, nil, "words")
	now := w.clock.Now()
	midnight := time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		answer networktest.Answering
		class  network.Class
		after  time.Time
		posts  int // that were told before
	}{
		"too often, the list":       {networktest.Answering{Part: listCall, Status: 429, Body: `{"status":429}`}, network.Rate, midnight, 0},
		"too often, the statistics": {networktest.Answering{Part: statsCall, Status: 429, Header: map[string]string{"Retry-After": "7"}}, network.Rate, now.Add(7 * time.Second), 1},
		"too often, the followers":  {networktest.Answering{Part: sizeCall, Status: 429, Body: `{"status":429}`}, network.Rate, midnight, 1},
		"a dead token":              {networktest.Answering{Part: listCall, Status: 401, Body: `{"status":401}`}, network.AuthRefresh, time.Time{}, 0},
		"posts may not be read":     {networktest.Answering{Part: listCall, Status: 403, Body: accessDenied}, network.Unapproved, time.Time{}, 0},
		"a version that is no more": {networktest.Answering{Part: "/rest/", Status: 426, Body: `{"status":426,"code":"NONEXISTENT_VERSION"}`}, network.Unapproved, time.Time{}, 0},
		"a failure":                 {networktest.Answering{Part: statsCall, Status: 503}, network.Transient, time.Time{}, 1},
		"nonsense":                  {networktest.Answering{Part: listCall, Status: 200, Body: "["}, network.Transient, time.Time{}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.answer.RoundTripper = http.DefaultTransport
			collected, err := w.through(c.answer).Collect(t.Context(), g, start, 10)
			if said := networktest.WantClass(t, err, c.class, ""); !said.After.Equal(c.after) || len(collected.Posts) != c.posts {
				t.Errorf("not before %v, %+v", said.After, collected)
			}
		})
	}
}

// Without a refresh token, a token that is over needs a person.
func TestCollectWithDeadToken(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	g := w.connectOrganization("harbour.coffee")
	w.clock.Advance(61 * 24 * time.Hour)
	_, err := w.network().Collect(t.Context(), g, start, 10)
	networktest.WantClass(t, err, network.AuthRefresh, "EXPIRED_ACCESS_TOKEN")
	g.Refresh = ""
	_, err = w.network().Collect(t.Context(), g, start, 10)
	networktest.WantClass(t, err, network.AuthDead, "EXPIRED_ACCESS_TOKEN")
}

// What is withheld is absent; everything else is there.
func TestCollectWithheld(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	g := w.connectOrganization("harbour.coffee")
	w.publish(g, nil, "words")
	w.clock.Advance(time.Hour)
	for name, c := range map[string]struct {
		answer           networktest.Answering
		followers, views bool
	}{
		"followers":     {networktest.Answering{Part: sizeCall, Status: 403, Body: accessDenied}, false, true},
		"an edge type":  {networktest.Answering{Part: sizeCall, Status: 400, Body: `{"status":400,"code":"ILLEGAL_ARGUMENT"}`}, false, true},
		"statistics":    {networktest.Answering{Part: statsCall, Status: 403, Body: accessDenied}, true, false},
		"unknown posts": {networktest.Answering{Part: statsCall, Status: 200, Body: `{"elements":[{"share":"urn:li:share:1","totalShareStatistics":{"likeCount":1}}]}`}, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.answer.RoundTripper = http.DefaultTransport
			collected, err := w.through(c.answer).Collect(t.Context(), g, start, 10)
			if err != nil || len(collected.Posts) != 1 || (collected.Followers != nil) != c.followers || (collected.Posts[0].Views != nil) != c.views {
				t.Errorf("%+v, %v", collected, err)
			}
		})
	}
}

// What LinkedIn may list of an organisation that was not published by us.
func TestCollectForms(t *testing.T) {
	t.Parallel()
	const at = 1795253400000 // 21 November 2026, 09:30 UTC
	elements := []string{}
	for id, more := range []string{
		`"content":{"article":{"source":"https://example.org"}}`, `"content":{"media":{"id":"urn:li:document:1"}}`,
		`"content":{"poll":{"question":"?"}}`, `"lifecycleState":"DRAFT"`, `"content":{"carousel":{"cards":[]}}`, `"content":{"media":{"id":"urn:li:video:1"}}`,
	} {
		elements = append(elements, fmt.Sprintf(`{"id":"urn:li:ugcPost:%d","commentary":"a \\(b\\)","createdAt":%d,%s}`, id, at-id, more))
	}
	w := said(t, http.StatusOK, nil, `{"elements":[`+strings.Join(elements, ",")+`,{"id":"urn:li:ugcPost:5","ugcPost":"urn:li:ugcPost:5","totalShareStatistics":{"likeCount":-1,"commentCount":2}}]}`)
	collected, err := linkedin.New(linkedin.Options{}).Collect(t.Context(), network.Grant{Server: w.url, Kind: "organization", Account: "urn:li:organization:1"}, start.Add(-time.Hour), 10)
	if err != nil {
		t.Fatal(err)
	}
	var formats []string
	for _, p := range collected.Posts {
		formats = append(formats, p.Format)
	}
	if want := []string{network.FormatLink, "", "", network.FormatCarousel, network.FormatVideo}; !slices.Equal(want, formats) {
		t.Errorf("formats %q", formats)
	}
	if !collected.Cut { // of the draft
		t.Error("the list is taken for whole although something was left out")
	}
	if last := collected.Posts[len(collected.Posts)-1]; last.Likes != nil || *last.Comments != 2 || last.Text != "a (b)" || collected.Followers != nil {
		t.Errorf("%+v", collected)
	}
}
