package sandbox

import (
	"fmt"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// What was counted follows from the post and the moment, and never falls.
func TestCount(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	rapid.Check(t, func(t *rapid.T) {
		p := post{platform: "x", account: rapid.String().Draw(t, "account"), id: rapid.String().Draw(t, "id"), at: start}
		age := time.Duration(rapid.Int64Range(0, int64(400*24*time.Hour)).Draw(t, "age"))
		young, old := count(p, start.Add(age)), count(p, start.Add(2*age))
		if young != count(p, start.Add(age)) {
			t.Fatal("the same moment has two tallies")
		}
		if young.views > old.views || young.likes > old.likes || young.saves > old.saves || young.clicks > old.clicks {
			t.Fatalf("%+v, later %+v", young, old)
		}
		if young.reach > young.views || young.likes > young.views || young.comments < 0 || young.shares < 0 {
			t.Fatalf("%+v", young)
		}
		if first, later := followers(p.platform, p.account, start), followers(p.platform, p.account,
			start.Add(age)); first < 1 || later < first {
			t.Fatalf("%d followers, later %d", first, later)
		}
	})
}

// The end of it is log-normal, and most of it comes in the first days.
func TestCountSpreads(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	var sum, squares, early float64
	const posts = 2000
	for i := range posts {
		p := post{platform: "x", account: "1", id: strconv.Itoa(i), at: start}
		views := float64(count(p, start.Add(60*24*time.Hour)).views)
		logged := math.Log(views + 1)
		sum, squares = sum+logged, squares+logged*logged
		early += float64(count(p, start.Add(72*time.Hour)).views) / (views + 1)
	}
	middle := sum / posts
	if spread := math.Sqrt(squares/posts - middle*middle); spread < 0.75 || spread > 0.85 {
		t.Errorf("the logarithms spread by %f", spread)
	}
	if early /= posts; early < 0.88 || early > 0.93 {
		t.Errorf("of what it will ever have, a post has %f after three days", early)
	}
	if got := count(post{platform: "x", id: "1", at: start}, start); got != (tally{}) {
		t.Errorf("at once: %+v", got)
	}
}

func TestYouTubeRounds(t *testing.T) {
	t.Parallel()
	for number, want := range map[int64]int64{0: 0, 7: 7, 999: 999, 1000: 1000, 1234: 1230, 98765: 98700, 1234567: 1230000} {
		if got := youtubeRounded(number); got != want {
			t.Errorf("%d is rounded to %d", number, got)
		}
	}
}

// Whoever asks for figures wrongly, or without a right to them, is told so in the network's form.
func TestFiguresRefused(t *testing.T) {
	now := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	b := start(t, Options{Now: func() time.Time { return now }})
	onX := b.xToken(t, "mira.keller")
	onPinterest := b.pinterestToken(t, "mira.keller")
	onYouTube := b.youtubeAllowed(t, youtubeScopeRead).member("access_token")
	onTikTok := b.tiktokTokens(t, tiktokAll).member("access_token")
	onLinkedin := b.linkedinToken(t, "openid profile w_member_social").member("access_token")
	company := url.QueryEscape(linkedinOrganization("mira.keller"))
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
			"/youtube/v2/reports?ids=channel==MINE&metrics=shares&dimensions=video&filters=video==x&startDate=2026-11-20&endDate=2026-11-21", onYouTube, "", 403,
		},
		"YouTube, days turned about": {
			"GET",
			"/youtube/v2/reports?ids=channel==MINE&metrics=shares&dimensions=video&filters=video==x&startDate=2026-11-22&endDate=2026-11-21", onYouTube, "", 400,
		},
		"YouTube, no such report": {
			"GET",
			"/youtube/v2/reports?ids=channel==MINE&metrics=love&dimensions=video&filters=video==x&startDate=2026-11-20&endDate=2026-11-21", onYouTube, "", 400,
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
			"/linkedin/rest/organizationalEntityShareStatistics?q=organizationalEntity&shares=List%28urn%3Ali%3Ashare%3A1%29", onLinkedin, "", 400,
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
			"/linkedin/rest/memberCreatorPostAnalytics?q=entity&entity=(share:urn%3Ali%3Ashare%3A1)&queryType=REACTION&aggregation=TOTAL", onLinkedin, "", 403,
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

// A post of somebody else is looked up without what its author alone may know.
func TestXKeepsBack(t *testing.T) {
	now := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	b := start(t, Options{Now: func() time.Time { return now }})
	mine, other := b.xToken(t, "mira.keller"), b.xToken(t, "studio.north")
	b.json(t, http.MethodPost, "/x/2/tweets", mine, `{"text":"mine"}`)
	held := b.heldPosts(t, url.Values{"platform": {"x"}})
	if len(held) != 1 {
		t.Fatalf("held %+v", held)
	}
	look := func(token string) string {
		return string(b.json(t, http.MethodGet,
			fmt.Sprintf("/x/2/tweets?ids=%s,5&post.fields=public_metrics,non_public_metrics", held[0].ID), token, "").body)
	}
	if said := look(mine); !strings.Contains(said, "url_link_clicks") || strings.Contains(said, "errors") {
		t.Error(said)
	}
	if said := look(other); strings.Contains(said, "url_link_clicks") || !strings.Contains(said, "like_count") ||
		!strings.Contains(said, "not-authorized-for-field") {
		t.Error(said)
	}
	now = now.Add(31 * 24 * time.Hour)
	mine = b.xToken(t, "mira.keller")
	if said := look(mine); strings.Contains(said, "url_link_clicks") || !strings.Contains(said, "not-authorized-for-field") {
		t.Error(said)
	}
}
