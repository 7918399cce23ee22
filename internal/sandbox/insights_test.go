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

// Invalid and unauthorized requests for figures are refused in the network's form.
func TestFiguresRefused(t *testing.T) {
	now := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	b := start(t, Options{Now: func() time.Time { return now }})
	onX := b.xToken(t, "mira.keller")
	onPinterest := b.pinterestToken(t, "mira.keller")
	onYouTube := b.youtubeAllowed(t, scopeYouTube+".readonly").member("access_token")
	onTikTok := b.tiktokTokens(t, tiktokAll).member("access_token")
	onLinkedin := b.linkedinToken(t, "openid profile w_member_social").member("access_token")
	company := url.QueryEscape(linkedin.OrganizationURN("mira.keller"))
	const week = "start_date=2026-11-14&end_date=2026-11-21"
	for name, c := range map[string]struct {
		method, path, token, body string
		status                    int
	}{
		"X without a token":         {"GET", "/x/2/tweets?ids=1", "", "", 401},
		"X without ids":             {"GET", "/x/2/tweets", onX, "", 400},
		"X with too many ids":       {"GET", "/x/2/tweets?ids=1" + strings.Repeat(",1", 100), onX, "", 400},
		"X with a bad page":         {"GET", "/x/2/users/1/tweets?pagination_token=x", onX, "", 400},
		"Pinterest without a token": {"GET", "/pinterest/v5/pins/1/analytics?metric_types=SAVE&" + week, "", "", 401},
		"Pinterest, no such pin":    {"GET", "/pinterest/v5/pins/1/analytics?metric_types=SAVE&" + week, onPinterest, "", 404},
		"Pinterest, no such figure": {"GET", "/pinterest/v5/pins/1/analytics?metric_types=LOVE&" + week, onPinterest, "", 400},
		"Pinterest, long ago": {
			"GET", "/pinterest/v5/pins/1/analytics?metric_types=SAVE&start_date=2026-08-22&end_date=2026-11-20", onPinterest, "", 400,
		},
		"Pinterest without pins": {"GET", "/pinterest/v5/pins/analytics?metric_types=SAVE&" + week, onPinterest, "", 400},
		"Pinterest, too many": {
			"GET", "/pinterest/v5/pins/analytics?metric_types=SAVE&" + week + strings.Repeat("&pin_ids=1", 101), onPinterest, "", 400,
		},
		"YouTube without the scope": {
			"GET",
			"/youtube/v2/reports?ids=channel==MINE&metrics=shares&dimensions=video&filters=video==x&" +
				"startDate=2026-11-20&endDate=2026-11-21", onYouTube, "", 403,
		},
		"YouTube, days turned about": {
			"GET",
			"/youtube/v2/reports?ids=channel==MINE&metrics=shares&dimensions=video&filters=video==x&" +
				"startDate=2026-11-22&endDate=2026-11-21", onYouTube, "", 400,
		},
		"YouTube, no such report": {
			"GET",
			"/youtube/v2/reports?ids=channel==MINE&metrics=love&dimensions=video&filters=video==x&" +
				"startDate=2026-11-20&endDate=2026-11-21", onYouTube, "", 400,
		},
		"TikTok without the scope": {"GET", "/tiktok/v2/user/info/?fields=follower_count", onTikTok, "", 401},
		"TikTok, no such field":    {"POST", "/tiktok/v2/video/list/?fields=id,love_count", onTikTok, `{"max_count":20}`, 400},
		"LinkedIn without the scope": {
			"GET", "/linkedin/rest/networkSizes/" + company + "?edgeType=COMPANY_FOLLOWED_BY_MEMBER", onLinkedin, "", 403,
		},
		"LinkedIn, another edge": {
			"GET", "/linkedin/rest/networkSizes/" + company + "?edgeType=CompanyFollowedByMember", onLinkedin, "", 400,
		},
		"LinkedIn, no finder": {"GET", "/linkedin/rest/organizationalEntityShareStatistics", onLinkedin, "", 400},
		"LinkedIn, a list in escapes": {
			"GET",
			"/linkedin/rest/organizationalEntityShareStatistics?q=organizationalEntity&" +
				"shares=List%28urn%3Ali%3Ashare%3A1%29", onLinkedin, "", 400,
		},
		"LinkedIn, bare URNs": {
			"GET",
			"/linkedin/rest/organizationalEntityShareStatistics?q=organizationalEntity&shares=List(urn:li:share:1)", onLinkedin, "", 400,
		},
		"LinkedIn, another's figures": {
			"GET",
			"/linkedin/rest/organizationalEntityShareStatistics?q=organizationalEntity&organizationalEntity=" + company,
			onLinkedin, "", 403,
		},
		"LinkedIn, a member's figures": {
			"GET",
			"/linkedin/rest/memberCreatorPostAnalytics?q=entity&entity=(share:urn%3Ali%3Ashare%3A1)&" +
				"queryType=REACTION&aggregation=TOTAL", onLinkedin, "", 403,
		},
		"LinkedIn, figures of no share": {
			"GET", "/linkedin/rest/memberCreatorPostAnalytics?q=entity&entity=urn&queryType=REACTION&aggregation=TOTAL",
			onLinkedin, "", 400,
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

// Another account's post is returned without its private fields.
func TestXPrivateFields(t *testing.T) {
	now := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	b := start(t, Options{Now: func() time.Time { return now }})
	mine, other := b.xToken(t, "mira.keller"), b.xToken(t, "studio.north")
	b.json(t, http.MethodPost, "/x/2/tweets", mine, `{"text":"mine"}`)
	posts := b.listPosts(t, url.Values{"platform": {"x"}})
	if len(posts) != 1 {
		t.Fatalf("held %+v", posts)
	}
	look := func(token string) string {
		return string(b.json(t, http.MethodGet,
			fmt.Sprintf("/x/2/tweets?ids=%s,5&post.fields=public_metrics,non_public_metrics", posts[0].ID), token, "").body)
	}
	if result := look(mine); !strings.Contains(result, "url_link_clicks") || strings.Contains(result, "errors") {
		t.Error(result)
	}
	if result := look(other); strings.Contains(result, "url_link_clicks") || !strings.Contains(result, "like_count") ||
		!strings.Contains(result, "not-authorized-for-field") {
		t.Error(result)
	}
	now = now.Add(31 * 24 * time.Hour)
	mine = b.xToken(t, "mira.keller")
	if result := look(mine); strings.Contains(result, "url_link_clicks") || !strings.Contains(result, "not-authorized-for-field") {
		t.Error(result)
	}
}
