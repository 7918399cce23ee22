package server

import (
	"context"
	"fmt"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/domain/post/approval"
)

// demoPost is a post of the demo team. It is scheduled the given number of days after the first start, at the given
// hour in the team's time zone. A post with 0 days is a draft without a time.
type demoPost struct {
	days, hour    int
	platforms     []string
	picture       string // file name in demoMedia; empty for none
	caption       string
	needsApproval bool // whether the post remains a draft that waits for approval; one link contains all such drafts
}

// demoPosts are created in this order, so the last post is at the top of the list of drafts.
var demoPosts = []demoPost{
	{1, 9, []string{"bluesky", "threads", "x"}, "latte",
		"A week of practice, and nobody here draws anything but leaves. Which one would you drink? #coffee", false},
	{1, 18, []string{"facebook", "instagram"}, "market",
		"The winter market opens tonight. You’ll find us next to the big tree, with hot cups and cold hands. #coffeetime", false},
	{2, 12, []string{"linkedin"}, "roaster",
		"Fourteen minutes for the new batch, two less than last year. What we changed, and what we kept. #roastery", false},
	{3, 20, []string{"bluesky"}, "",
		"How we roast: fifteen minutes, one person, no shortcuts. https://harbour.example/roasting", false},
	{4, 8, []string{"instagram", "threads"}, "pour",
		"Slow pour, quick question: paper or metal? #coffee", false},
	{5, 11, []string{"instagram"}, "iced",
		"Cold brew in winter? Hear us out. #coldbrew", true},
	{5, 17, []string{"pinterest", "facebook"}, "cups",
		"Sixty new cups, thrown two streets away. In the shop from tomorrow.", true},
	{6, 10, []string{"facebook", "bluesky"}, "shop",
		"The lights stay on until eight from now on. Come by after work.", false},
	{8, 9, []string{"instagram", "threads"}, "barista",
		"Abeba has made nine thousand flat whites this year. Ask her about the one that got away. #coffee", false},
	{9, 17, []string{"linkedin", "x"}, "",
		"We are looking for somebody who likes mornings, spreadsheets and espresso, in that order.", false},
	{11, 8, []string{"bluesky", "threads"}, "latte",
		"Latte art for beginners on Saturday. Six places, and nobody leaves without a heart. #latteart", false},
	{12, 12, []string{"facebook", "instagram"}, "beans",
		"The winter blend in its new bag. Same beans, less plastic. #coffeeshop", false},
	{14, 18, []string{"instagram"}, "quay",
		"Blue hour on the quay, coffee to go. #harbour", false},
	{15, 9, []string{"bluesky", "x"}, "",
		"What do you read while you wait for your coffee?", false},
	{17, 11, []string{"pinterest"}, "pour",
		"Pour-over at home: 18 grams, 300 milliliters, three minutes.", false},
	{19, 16, []string{"facebook", "threads"}, "market",
		"Last weekend of the winter market. Thank you for every cold hand we could warm.", false},
	{22, 10, []string{"facebook", "instagram", "bluesky"}, "shop",
		"Our hours over the holidays: closed on the 24th and 25th, open from eight on all other days.", false},
	{0, 0, []string{"bluesky"}, "beans",
		"Our winter blend is back: chocolate, orange peel and a little smoke. #coffee", false},
	{0, 0, []string{"bluesky"}, "",
		"Open from eight on Sunday. Come by after your run!", false},
}

// addSamplePosts creates the posts in demoPosts through the pipeline.
func (q *Quickstart) addSamplePosts(ctx context.Context, team int64, pictures map[string]int64) error {
	zone, err := time.LoadLocation(demoTimezone)
	if err != nil {
		return fmt.Errorf("loading the demo team's time zone: %w", err)
	}
	var approvalPosts []string
	for _, p := range demoPosts {
		id, err := q.addSamplePost(ctx, team, p, pictures, zone)
		if err != nil {
			return err
		}
		if p.needsApproval {
			approvalPosts = append(approvalPosts, id)
		}
	}
	sent, err := q.Approvals.RequestPosts(ctx, q.owner, approval.NewRequest{Posts: approvalPosts, Schedule: true})
	if err != nil {
		return err
	}
	return q.Approvals.Comment(ctx, strings.TrimPrefix(sent.Link, q.cfg.PublicURL+approval.Path), approval.Comment{
		Post: approvalPosts[0], Name: "Mia Lindqvist", Text: "Lovely! Could we mention that it is decaf?",
	})
}

func (q *Quickstart) addSamplePost(ctx context.Context, team int64, p demoPost, pictures map[string]int64,
	zone *time.Location) (string, error) {
	id, err := q.createSamplePost(ctx, team, p, pictures)
	if err != nil || p.days == 0 {
		return id, err
	}
	at := demoTime(q.db.Now(), p.days, p.hour, zone).Format(time.RFC3339)
	if p.needsApproval {
		_, err = q.call(ctx, "update_post", operation.Arguments{"id": id, "scheduled_at": at})
	} else {
		_, err = q.call(ctx, "schedule_post", operation.Arguments{"post_id": id, "scheduled_at": at})
	}
	return id, err
}

// createSamplePost creates a draft and returns its ID.
func (q *Quickstart) createSamplePost(ctx context.Context, team int64, p demoPost,
	pictures map[string]int64) (string, error) {
	accounts := []any{}
	for _, platform := range p.platforms {
		id, found := q.Accounts.FindFirst(ctx, team, platform)
		if !found {
			return "", fmt.Errorf("the demo team has no account on %s", platform)
		}
		accounts = append(accounts, id)
	}
	args := operation.Arguments{"caption": p.caption, "account_ids": accounts}
	if p.picture != "" {
		args["media_ids"] = []any{pictures[p.picture]}
	}
	out, err := q.call(ctx, "create_post", args)
	return strings.TrimPrefix(out.Location, "/posts/"), err
}

// demoTime returns the time that is the given number of days after now, at the given hour in a time zone.
func demoTime(now time.Time, days, hour int, zone *time.Location) time.Time {
	year, month, day := now.In(zone).Date()
	return time.Date(year, month, day+days, hour, 0, 0, 0, zone)
}
