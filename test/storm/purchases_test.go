package storm

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"
)

// spend makes paid calls and follows some of their jobs.
func (c *client) spend(ctx context.Context) {
	var reports []string
	for ctx.Err() == nil {
		switch dice := c.dice.IntN(100); {
		case dice < 40:
			c.search()
		case dice < 65:
			if id := c.report(); id != "" {
				reports = append(reports, id)
			}
		case dice < 75 && len(reports) > 0:
			c.buy("refresh_report", http.MethodPost, "/reports/profile/"+reports[c.dice.IntN(len(reports))]+"/refresh", nil, "")
		case dice < 80 && len(reports) > 0:
			c.buy("set_report_tracking", http.MethodPut,
				"/reports/profile/"+reports[c.dice.IntN(len(reports))]+"/tracking", map[string]any{"enabled": c.chance(50)}, "")
		default:
			c.buy("download_profile_media", http.MethodPost, "/profile-media-downloads",
				map[string]any{
					"platform": "instagram", "type": "posts", "username": c.name(), "limit": 2, "save_to_library": c.chance(30),
				}, "")
		}
		c.rest(time.Duration(c.dice.IntN(200)) * time.Millisecond)
	}
}

// search searches for one of a few words, so that some searches repeat.
func (c *client) search() {
	word := fmt.Sprintf("coffee%d", c.dice.IntN(400))
	if c.chance(10) {
		word = "missing" + word
	}
	c.buy("search_hashtags", http.MethodPost, "/hashtags/search", map[string]any{"query": word}, "search "+word)
}

// name returns a random profile name.
func (c *client) name() string {
	startEvents := []string{"", "", "", "", "", "missing.", "private.", "empty.", "slow."}
	return fmt.Sprintf("%scafe.%d", startEvents[c.dice.IntN(len(startEvents))], c.dice.IntN(300))
}

// report creates a report and returns its ID when it is ready.
func (c *client) report() string {
	name := c.name()
	a := c.buy("create_report", http.MethodPost, "/reports", map[string]any{"type": "profile", "subject": name}, "report "+name)
	if !a.ok() || c.chance(60) {
		return ""
	}
	for range 10 {
		var job struct {
			Finished bool
			Result   struct {
				Report struct{ ID, Status string }
			}
		}
		id := a.job()
		c.do(call{
			tool: "get_job", method: http.MethodGet, path: "/jobs/" + id, more: map[string]any{"job_id": id}, key: c.team.keys[0],
		}).into(&job)
		if job.Finished && job.Result.Report.Status == "ready" {
			return job.Result.Report.ID
		}
		if job.Finished {
			return ""
		}
		c.rest(200 * time.Millisecond)
	}
	return ""
}

// rejections are error codes that a paid call may get.
var rejections = []string{
	"insufficient_credits", "daily_credit_limit_reached", "daily_call_limit_reached", "provider_unavailable",
	"rate_limited", "validation_failed", "plan_limit_reached",
}

// startEvents maps paid tools that start a job to the events of their start.
var startEvents = map[string]string{"search_hashtags": "hashtag.search", "download_profile_media": "media.download"}

// buy repeats a paid call until it gets a response, and records it if it was accepted.
func (c *client) buy(tool, method, path string, body map[string]any, subject string) answer {
	k := call{tool: tool, method: method, path: path, body: body, key: c.key("full"), idem: newIdem()}
	if body == nil || method == http.MethodPost && path != "/reports" {
		k.asTool = false
	}
	if tool == "search_hashtags" || tool == "create_report" || tool == "download_profile_media" {
		k.asTool = c.chance(40)
	}
	a := c.do(k)
	switch {
	case a.ok():
		c.book.change(func() {
			c.book.paid = append(c.book.paid, &paid{c.team, k.key, k.idem, tool, subject, a.Billing.Charged, a.job()})
		})
		if kind := startEvents[tool]; kind != "" && a.Billing.Charged > 0 {
			c.book.write(kind, a.job())
		}
	case a.isTemporary():
	case !slices.Contains(rejections, a.Code) || a.Code == "validation_failed" && a.Context.Reason != "wrong_state":
		c.book.complainf("refused", "%s: %s", tool, a.raw)
	case a.Code == "insufficient_credits" && c.team.granted > 1000, a.Code == "daily_credit_limit_reached" && c.team.limit < 0:
		c.book.complainf("refused", "%s of a team with enough credits: %s", tool, a.raw)
	}
	return a
}
