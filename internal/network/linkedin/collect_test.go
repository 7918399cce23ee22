package linkedin_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"pressroom/internal/network"
	"pressroom/internal/network/linkedin"
	"pressroom/internal/network/networktest"
)

// A post that LinkedIn leaves out of its statistics has none: none are made up.
func TestCollectUncounted(t *testing.T) {
	t.Parallel()
	f := networktest.New(t, adapter, 0)
	g := f.Grant()
	f.Publish(g, f.MustPrepare(g, "a moment ago"))
	posts := f.Collect(g, networktest.Start, 10).Posts
	if len(posts) != 1 || posts[0].Views != nil || posts[0].Likes != nil || f.Wire.Count("shares=List(urn%3Ali%3Ashare%3A") != 1 {
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
			f := networktest.New(t, changed(func(*linkedin.Options) {}), 0)
			f.Scopes(append([]string{"openid", "profile", "w_member_social"}, strings.Fields(c.scopes)...)...)
			g := f.Grant()
			for i := range 22 {
				f.Post(g, fmt.Sprintf("number %d", i))
			}
			f.Clock.Advance(day)
			refusing := networktest.Interceptor{
				RoundTripper: f.Wire, Part: "queryType=" + c.refused, Status: http.StatusBadRequest,
				Body: `{"status":400,"code":"ILLEGAL_ARGUMENT"}`,
			}
			calls := 0
			collected, err := f.CollectThrough(transport(func(r *http.Request) (*http.Response, error) {
				if strings.Contains(r.URL.String(), memberCall) {
					calls++
				}
				return refusing.RoundTrip(r)
			}), g, networktest.Start, 100)
			if networktest.Class(err) != c.class || c.class == "" && len(collected.Posts) != 22 || calls != c.calls ||
				collected.Followers != nil {
				t.Fatalf("%d calls, %+v, %v", calls, collected, err)
			}
			for i, p := range collected.Posts {
				told := c.figures && i < 20
				if (p.Views != nil) != told || (p.Reach != nil) != told || (p.Likes != nil) != told ||
					(p.Saves != nil) != (told && c.refused == none) {
					t.Errorf("%d: %+v", i, p)
				}
			}
		})
	}
}

// transport is a function that answers requests.
type transport func(*http.Request) (*http.Response, error)

func (answer transport) RoundTrip(r *http.Request) (*http.Response, error) { return answer(r) }

// What LinkedIn may list of an organisation that was not published by us.
func TestCollectForms(t *testing.T) {
	t.Parallel()
	const at = 1795253400000 // 21 November 2026, 09:30 UTC
	elements := []string{}
	for id, more := range []string{
		`"content":{"article":{"source":"https://example.org"}}`, `"content":{"media":{"id":"urn:li:document:1"}}`,
		`"content":{"poll":{"question":"?"}}`, `"lifecycleState":"DRAFT"`, `"content":{"carousel":{"cards":[]}}`,
		`"content":{"media":{"id":"urn:li:video:1"}}`,
	} {
		elements = append(elements, fmt.Sprintf(`{"id":"urn:li:ugcPost:%d","commentary":"a \\(b\\)","createdAt":%d,%s}`, id, at-id, more))
	}
	s := networktest.NewStub(t, adapter, network.App{},
		networktest.Answer{
			Body: `{"elements":[` + strings.Join(elements,
				",") + `,{"id":"urn:li:ugcPost:5","ugcPost":"urn:li:ugcPost:5","totalShareStatistics":{"likeCount":-1,"commentCount":2}}]}`,
		})
	collected, err := s.Network.(*linkedin.Network).Collect(t.Context(), s.Grant, networktest.Start.Add(-time.Hour), 10)
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
	if last := collected.Posts[len(collected.Posts)-1]; last.Likes != nil || *last.Comments != 2 ||
		last.Text != "a (b)" || collected.Followers != nil {
		t.Errorf("%+v", collected)
	}
}
