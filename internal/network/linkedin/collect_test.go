package linkedin_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/network/linkedin"
	"pressroom.example/pressroom/internal/network/networktest"
	"pressroom.example/pressroom/internal/testkit/must"
)

// A post that is missing in LinkedIn's statistics has no metrics.
func TestCollectWithoutStatistics(t *testing.T) {
	t.Parallel()
	f := networktest.New(t, adapter, 0)
	g := f.Grant()
	f.Publish(g, f.MustPrepare(g, "a moment ago"))
	posts := f.Collect(g, networktest.Start, 10).Posts
	if len(posts) != 1 || posts[0].Views != nil || posts[0].Likes != nil ||
		f.Transport.Count("shares=List(urn%3Ali%3Ashare%3A") != 1 {
		t.Errorf("%+v", posts)
	}
}

// The scopes determine whether members' posts and metrics are returned.
func TestCollectMembers(t *testing.T) {
	t.Parallel()
	const none = "NONE"
	for name, c := range map[string]struct {
		scopes   string
		rejected string // metric
		class    network.ErrorClass
		metrics  bool
		calls    int // for metrics
	}{
		"default":     {"", none, network.AppNotApproved, false, 0},
		"metrics":     {"r_member_postAnalytics", none, network.AppNotApproved, false, 0},
		"posts":       {"r_member_social", none, "", false, 0},
		"both":        {"r_member_social r_member_postAnalytics", none, "", true, 20 * 6},
		"unsupported": {"r_member_social r_member_postAnalytics", "POST_SAVE", "", true, 20*5 + 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := networktest.New(t, withOptions(func(*linkedin.Options) {}), 0)
			f.Scopes(append([]string{"openid", "profile", "w_member_social"}, strings.Fields(c.scopes)...)...)
			g := f.Grant()
			for i := range 22 {
				f.Post(g, fmt.Sprintf("number %d", i))
			}
			f.Clock.Advance(day)
			rejecting := networktest.Interceptor{
				RoundTripper: f.Transport, Part: "queryType=" + c.rejected, Status: http.StatusBadRequest,
				Body: `{"status":400,"code":"ILLEGAL_ARGUMENT"}`,
			}
			calls := 0
			collected, err := f.CollectThrough(transport(func(r *http.Request) (*http.Response, error) {
				if strings.Contains(r.URL.String(), memberCall) {
					calls++
				}
				return rejecting.RoundTrip(r)
			}), g, networktest.Start, 100)
			if networktest.Class(err) != c.class || c.class == "" && len(collected.Posts) != 22 || calls != c.calls ||
				collected.Followers != nil || collected.Picture == "" {
				t.Fatalf("%d calls, %+v, %v", calls, collected, err)
			}
			for i, p := range collected.Posts {
				known := c.metrics && i < 20
				if (p.Views != nil) != known || (p.Reach != nil) != known || (p.Likes != nil) != known ||
					(p.Saves != nil) != (known && c.rejected == none) {
					t.Errorf("%d: %+v", i, p)
				}
			}
		})
	}
}

// transport is a function that implements http.RoundTripper.
type transport func(*http.Request) (*http.Response, error)

func (answer transport) RoundTrip(r *http.Request) (*http.Response, error) { return answer(r) }

// Posts that were published by other means may have unknown formats.
func TestCollectFormats(t *testing.T) {
	t.Parallel()
	const at = 1795253400000 // 21 November 2026, 09:30 UTC
	elements := []string{}
	for id, more := range []string{
		`"content":{"article":{"source":"https://example.org"}}`, `"content":{"media":{"id":"urn:li:document:1"}}`,
		`"content":{"poll":{"question":"?"}}`, `"lifecycleState":"DRAFT"`, `"content":{"carousel":{"cards":[]}}`,
		`"content":{"media":{"id":"urn:li:video:1"}}`,
	} {
		elements = append(elements,
			fmt.Sprintf(`{"id":"urn:li:ugcPost:%d","commentary":"a \\(b\\)","createdAt":%d,%s}`, id, at-id, more))
	}
	s := networktest.NewStub(t, adapter, network.App{}, networktest.StubResponse{
		Body: `{"elements":[` + strings.Join(elements, ",") + `,{"id":"urn:li:ugcPost:5","ugcPost":"urn:li:ugcPost:5",` +
			`"totalShareStatistics":{"likeCount":-1,"commentCount":2}}]}`,
	})
	collected := must.Get(s.Network.(*linkedin.Network).Collect(t.Context(), s.Grant, networktest.Start.Add(-time.Hour), 10))(t)
	var formats []string
	for _, p := range collected.Posts {
		formats = append(formats, p.Format)
	}
	want := []string{network.FormatLink, "", "", network.FormatCarousel, network.FormatVideo}
	if !slices.Equal(want, formats) {
		t.Errorf("formats %q", formats)
	}
	if !collected.Truncated { // because of the draft
		t.Error("the list is not marked as truncated")
	}
	if last := collected.Posts[len(collected.Posts)-1]; last.Likes != nil || *last.Comments != 2 ||
		last.Text != "a (b)" || collected.Followers != nil {
		t.Errorf("%+v", collected)
	}
}

// Collect reports NoPicture only for a member without a picture, not for a picture that cannot be read or for a
// company.
func TestCollectWithoutPicture(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		kind   string
		answer networktest.StubResponse
		none   bool
	}{
		"none":      {"member", networktest.StubResponse{Body: `{"sub":"a"}`}, true},
		"a picture": {"member", networktest.StubResponse{Body: `{"picture":"https://cdn.test/1"}`}, false},
		"a failure": {"member", networktest.StubResponse{Status: 500}, false},
		"a company": {"organization", networktest.StubResponse{Body: `{"elements":[]}`}, false},
	} {
		s := networktest.NewStub(t, adapter, network.App{}, c.answer)
		s.Grant.Kind, s.Grant.Scopes = c.kind, []string{"openid"}
		got, _ := s.Network.(network.Collector).Collect(t.Context(), s.Grant, networktest.Start, 10) // the list is incomplete
		if got.NoPicture != c.none {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
