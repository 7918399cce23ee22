package sandbox

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/sandbox/linkedin"
)

// Invalid and unauthorized requests for metrics fail with the errors of the network.
func TestMetricsErrors(t *testing.T) {
	now := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	b := start(t, Options{Now: func() time.Time { return now }})
	xToken := b.xToken(t, "mira.keller")
	pinterestToken := b.pinterestToken(t, "mira.keller")
	youtubeToken := b.youtubeTokens(t, scopeYouTube+".readonly").member("access_token")
	tiktokToken := b.tiktokTokens(t, tiktokAll).member("access_token")
	linkedinToken := b.linkedinToken(t, "openid profile w_member_social").member("access_token")
	company := url.QueryEscape(linkedin.OrganizationURN("mira.keller"))
	const week = "start_date=2026-11-14&end_date=2026-11-21"
	for name, c := range map[string]struct {
		method, path, token, body string
		status                    int
	}{
		"X without a token":           {"GET", "/x/2/tweets?ids=1", "", "", 401},
		"X without ids":               {"GET", "/x/2/tweets", xToken, "", 400},
		"X with too many ids":         {"GET", "/x/2/tweets?ids=1" + strings.Repeat(",1", 100), xToken, "", 400},
		"X, invalid pagination token": {"GET", "/x/2/users/1/tweets?pagination_token=x", xToken, "", 400},
		"Pinterest without a token":   {"GET", "/pinterest/v5/pins/1/analytics?metric_types=SAVE&" + week, "", "", 401},
		"Pinterest, unknown pin":      {"GET", "/pinterest/v5/pins/1/analytics?metric_types=SAVE&" + week, pinterestToken, "", 404},
		"Pinterest, unknown metric":   {"GET", "/pinterest/v5/pins/1/analytics?metric_types=LOVE&" + week, pinterestToken, "", 400},
		"Pinterest, start date too early": {
			"GET", "/pinterest/v5/pins/1/analytics?metric_types=SAVE&start_date=2026-08-22&end_date=2026-11-20", pinterestToken, "", 400,
		},
		"Pinterest without pins": {"GET", "/pinterest/v5/pins/analytics?metric_types=SAVE&" + week, pinterestToken, "", 400},
		"Pinterest, too many pins": {
			"GET", "/pinterest/v5/pins/analytics?metric_types=SAVE&" + week + strings.Repeat("&pin_ids=1", 101), pinterestToken, "", 400,
		},
		"YouTube without the scope": {
			"GET",
			"/youtube/v2/reports?ids=channel==MINE&metrics=shares&dimensions=video&filters=video==x&" +
				"startDate=2026-11-20&endDate=2026-11-21", youtubeToken, "", 403,
		},
		"YouTube, dates in the wrong order": {
			"GET",
			"/youtube/v2/reports?ids=channel==MINE&metrics=shares&dimensions=video&filters=video==x&" +
				"startDate=2026-11-22&endDate=2026-11-21", youtubeToken, "", 400,
		},
		"YouTube, unknown metric": {
			"GET",
			"/youtube/v2/reports?ids=channel==MINE&metrics=love&dimensions=video&filters=video==x&" +
				"startDate=2026-11-20&endDate=2026-11-21", youtubeToken, "", 400,
		},
		"TikTok without the scope": {"GET", "/tiktok/v2/user/info/?fields=follower_count", tiktokToken, "", 401},
		"TikTok, unknown field":    {"POST", "/tiktok/v2/video/list/?fields=id,love_count", tiktokToken, `{"max_count":20}`, 400},
		"LinkedIn without the scope": {
			"GET", "/linkedin/rest/networkSizes/" + company + "?edgeType=COMPANY_FOLLOWED_BY_MEMBER", linkedinToken, "", 403,
		},
		"LinkedIn, unknown edge type": {
			"GET", "/linkedin/rest/networkSizes/" + company + "?edgeType=CompanyFollowedByMember", linkedinToken, "", 400,
		},
		"LinkedIn without a finder": {"GET", "/linkedin/rest/organizationalEntityShareStatistics", linkedinToken, "", 400},
		"LinkedIn, escaped list": {
			"GET",
			"/linkedin/rest/organizationalEntityShareStatistics?q=organizationalEntity&" +
				"shares=List%28urn%3Ali%3Ashare%3A1%29", linkedinToken, "", 400,
		},
		"LinkedIn, URNs that are not escaped": {
			"GET",
			"/linkedin/rest/organizationalEntityShareStatistics?q=organizationalEntity&shares=List(urn:li:share:1)", linkedinToken, "", 400,
		},
		"LinkedIn, statistics without the scope": {
			"GET",
			"/linkedin/rest/organizationalEntityShareStatistics?q=organizationalEntity&organizationalEntity=" + company,
			linkedinToken, "", 403,
		},
		"LinkedIn, member analytics without the scope": {
			"GET",
			"/linkedin/rest/memberCreatorPostAnalytics?q=entity&entity=(share:urn%3Ali%3Ashare%3A1)&" +
				"queryType=REACTION&aggregation=TOTAL", linkedinToken, "", 403,
		},
		"LinkedIn, member analytics without a share": {
			"GET", "/linkedin/rest/memberCreatorPostAnalytics?q=entity&entity=urn&queryType=REACTION&aggregation=TOTAL",
			linkedinToken, "", 400,
		},
	} {
		var a answer
		if strings.HasPrefix(c.path, "/linkedin") {
			a = b.linkedin(t, c.method, strings.TrimPrefix(c.path, "/linkedin/"), c.token, c.body)
		} else {
			a = b.json(t, c.method, c.path, c.token, c.body)
		}
		if a.status != c.status || !strings.Contains(string(a.body), "{") {
			t.Errorf("%s: HTTP %d: %s", name, a.status, a.body)
		}
	}
}

// The lookup omits private fields of other accounts' posts and of old posts.
func TestXPrivateFields(t *testing.T) {
	now := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	b := start(t, Options{Now: func() time.Time { return now }})
	mine, other := b.xToken(t, "mira.keller"), b.xToken(t, "studio.north")
	b.json(t, http.MethodPost, "/x/2/tweets", mine, `{"text":"mine"}`)
	posts := b.listPosts(t, url.Values{"platform": {"x"}})
	if len(posts) != 1 {
		t.Fatalf("stored posts: %+v", posts)
	}
	lookup := func(token string) string {
		return string(b.json(t, http.MethodGet,
			fmt.Sprintf("/x/2/tweets?ids=%s,5&post.fields=public_metrics,non_public_metrics", posts[0].ID), token, "").body)
	}
	if result := lookup(mine); !strings.Contains(result, "url_link_clicks") || strings.Contains(result, "errors") {
		t.Error(result)
	}
	if result := lookup(other); strings.Contains(result, "url_link_clicks") || !strings.Contains(result, "like_count") ||
		!strings.Contains(result, "not-authorized-for-field") {
		t.Error(result)
	}
	now = now.Add(31 * 24 * time.Hour)
	mine = b.xToken(t, "mira.keller")
	if result := lookup(mine); strings.Contains(result, "url_link_clicks") || !strings.Contains(result, "not-authorized-for-field") {
		t.Error(result)
	}
}
