package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"pressroom.example/pressroom/internal/domain/hashtag/stats"
	"pressroom.example/pressroom/internal/domain/provider"
)

// yearCall is a request that is measured on each instance.
type yearCall struct {
	name string
	make func(ctx context.Context, d *instance) (func() error, error)
}

// yearCalls returns requests for the lists, searches and reports of the large team, for the most important ones of an
// average team, for hashtag searches, and for the pages of the app and of operators.
func (b *bench) yearCalls(database string) []yearCall {
	var out []yearCall
	add := func(kind string, names []string, header string, value func(d *instance) string) {
		for _, name := range names {
			out = append(out, yearCall{database + "/years/" + kind + name, func(ctx context.Context, d *instance) (func() error, error) {
				return d.httpRequest(ctx, name, header, value(d))
			}})
		}
	}
	add("large/", largeReads, "Authorization", func(d *instance) string { return "Bearer " + d.largeTeam.Key })
	add("usual/", usualReads, "Authorization", func(d *instance) string { return "Bearer " + d.usualTeam.Key })
	for _, word := range searches {
		out = append(out, yearCall{database + "/years/search/" + word, func(ctx context.Context, d *instance) (func() error, error) {
			return d.hashtagSearch(ctx, word)
		}})
	}
	add("app", appPages, "Cookie", func(d *instance) string { return d.ownerCookie })
	return out
}

// The requests. Names in braces are placeholders for the large team's IDs, the time of its middle post, and a cursor.
var (
	largeReads = []string{
		"me", "credits", "limits", "posts?limit=20", "posts?limit=50", "posts?status=draft", "posts?status=scheduled",
		"posts?status=failed", "posts?status=published",
		"posts?account_id=1", "posts?account_id=1&status=failed", "posts?from={middle}", "posts?to={middle}",
		"posts?limit=20&to={middle}&cursor={cursor}", "posts/{post}", "posts/{draft}/validation",
		"media", "media?kind=video", "media?folder_id=1", "media?query=harbour", "media?query=nothing-is-called-so",
		"media?query=image{media}.jpg", "reports", "reports?query=profile0", "reports?query=nothing-so",
		"reports?tracked_only=true", "reports?status=error", "reports/profile/{report}", "social-accounts",
		"social-accounts/1/analytics?period_days=7", "hashtag-lists", "hashtag-lists?scope=own", "hashtag-lists/{list}",
		"brand-voices", "brand-voices/1", "jobs/{job}",
	}
	usualReads = []string{
		"posts?limit=20", "posts?status=failed", "posts?from={middle}", "media", "media?query=nothing-is-called-so",
		"reports", "social-accounts", "hashtag-lists",
	}
	appPages = []string{
		"/", "/posts", "/posts?status=failed", "/calendar", "/posts/{post}", "/media", "/reports", "/reports/{report}",
		"/accounts", "/accounts/1", "/hashtags", "/voices", "/notices", "/settings", "/settings/credits",
		"/settings/audit", "/settings/audit?kind=post.published", "/settings/keys", "/operator", "/operator/teams",
		"/operator/people", "/operator/queue", "/operator/networks", "/operator/posts", "/operator/ledger", "/operator/events",
	}
)

// searches lists search words that occur in many, few or no hashtags.
var searches = []string{"coffee", "roastcoffee", "1999", "quartz"}

var placeholders = regexp.MustCompile(`\{(\w+)\}`)

// expand replaces the placeholders of a path.
func (d *instance) expand(ctx context.Context, path string) (string, error) {
	var expandErr error
	out := placeholders.ReplaceAllStringFunc(path, func(in string) string {
		text, err := d.placeholder(ctx, in[1:len(in)-1])
		expandErr = errors.Join(expandErr, err)
		return text
	})
	if !strings.HasPrefix(out, "/") {
		out = "/api/v1/" + out
	}
	return out, expandErr
}

// idPaths maps a placeholder to the list whose first ID replaces it.
var idPaths = map[string]string{
	"post": "posts?limit=1&status=published", "draft": "posts?limit=1&status=draft", "report": "reports?limit=1",
	"list": "hashtag-lists?scope=own&limit=1", "media": "media?limit=1",
}

var (
	firstID    = regexp.MustCompile(`"id":"?([^",]+)`)
	nextCursor = regexp.MustCompile(`"cursor":"([^"]+)"`)
)

// placeholder returns the value of a placeholder.
func (d *instance) placeholder(ctx context.Context, name string) (string, error) {
	switch name {
	case "middle":
		return d.middle, nil
	case "cursor":
		return d.match(ctx, "posts?limit=20&to="+d.middle, nextCursor)
	case "job":
		id, err := d.match(ctx, idPaths["post"], firstID)
		return "social_post:" + id, err
	}
	return d.match(ctx, idPaths[name], firstID)
}

// match requests a path with the large team's key, and returns the first submatch of a pattern in the response.
func (d *instance) match(ctx context.Context, path string, pattern *regexp.Regexp) (string, error) {
	c, err := dial(d.p.addr)
	if err != nil {
		return "", err
	}
	defer c.close()
	status, body, err := c.do(get(d.p, "/api/v1/"+path), true)
	if err != nil {
		return "", errors.Join(ctx.Err(), err)
	}
	submatch := pattern.FindSubmatch(body)
	if status != http.StatusOK || submatch == nil {
		return "", fmt.Errorf("%s: status %d without %s", path, status, pattern)
	}
	return string(submatch[1]), nil
}

// httpRequest returns a function that requests a path over an open connection.
func (d *instance) httpRequest(ctx context.Context, path, header, value string) (func() error, error) {
	path, err := d.expand(ctx, path)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+d.p.addr+path, nil)
	if err != nil {
		return nil, fmt.Errorf("requesting %s: %w", path, err)
	}
	req.Header.Set(header, value)
	return func() error {
		res, err := d.client.Do(req)
		if err != nil {
			return fmt.Errorf("requesting %s: %w", path, err)
		}
		_, err = io.Copy(io.Discard, res.Body)
		if err = errors.Join(err, res.Body.Close()); err != nil {
			return fmt.Errorf("reading %s: %w", path, err)
		}
		if res.StatusCode != http.StatusOK {
			return fmt.Errorf("%s: status %d", path, res.StatusCode)
		}
		return nil
	}, nil
}

// hashtagSearch returns a function that searches hashtags as a search job does after its provider has responded.
func (d *instance) hashtagSearch(ctx context.Context, word string) (func() error, error) {
	return func() error {
		_, err := d.hashtags.Find(ctx, provider.Instagram, word, stats.MaxMatches)
		return err
	}, nil
}

// needsMoreData reports whether 1% of the data is not enough to fill the response, such as a month or a page of teams.
// In that case, the comparison uses 10% of the data.
func (c yearCall) needsMoreData() bool {
	return slices.ContainsFunc([]string{
		"/calendar", "app/accounts/1", "reports?status=error", "/operator/teams", "/operator/people",
	}, func(end string) bool {
		return strings.HasSuffix(c.name, end)
	})
}

// maxMilliseconds returns the maximum time of a request in milliseconds if the request necessarily reads more when
// there is more data: a search in the large team's file or report names, or a hashtag search. It returns 0 for other
// requests.
func (c yearCall) maxMilliseconds() float64 {
	for part, most := range map[string]float64{"media?query=": 50, "reports?query=": 5, "/search/": 5} {
		if strings.Contains(c.name, part) {
			return most
		}
	}
	return 0
}
