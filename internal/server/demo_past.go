package server

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/platform/db"
)

// demoHistory is the age of the demo team's oldest data.
const demoHistory = 28 * 24 * time.Hour

const (
	deliverTimeout      = 15 * time.Second
	deliverPollInterval = 5 * time.Millisecond
)

// demoClock is the clock of the program and its sandbox networks. While the demo team's past data is created, it shows
// an earlier time.
type demoClock struct {
	now    func() time.Time
	offset atomic.Int64 // nanoseconds by which the clock is behind the real time
}

// Now returns the time that the clock shows.
func (c *demoClock) Now() time.Time { return c.now().Add(-time.Duration(c.offset.Load())) }

func (c *demoClock) moveBack(d time.Duration) { c.offset.Store(int64(d)) }
func (c *demoClock) returnToNow()             { c.offset.Store(0) }

// advanceTo moves the clock forward to a time in the past. It never moves the clock back.
func (c *demoClock) advanceTo(t time.Time) {
	if t.After(c.Now()) {
		c.offset.Store(max(0, int64(c.now().Sub(t))))
	}
}

// demoPublished lists posts that the demo team has published, oldest first. Their days are negative: they are before
// the first start.
var demoPublished = []demoPost{
	{-27, 9, []string{"bluesky", "threads", "instagram"}, "quay",
		"You can find us on the quay and, starting today, right here. #coffee", false},
	{-25, 12, []string{"linkedin", "x"}, "roaster",
		"Our new roaster uses a third less gas. The first numbers, and what they do not say. #roastery", false},
	{-24, 18, []string{"instagram", "facebook"}, "latte",
		"Practice makes leaves. #latteart", false},
	{-21, 8, []string{"bluesky", "threads"}, "",
		"The espresso of the week comes from Huila: cherry, cocoa, a long finish.", false},
	{-20, 17, []string{"instagram", "pinterest"}, "iced",
		"The last iced latte of the season. We said that last week, too. #icedcoffee", false},
	{-18, 9, []string{"facebook", "instagram"}, "shop",
		"New lights in the window. Come and see them after five. #coffeeshop", false},
	{-15, 12, []string{"bluesky", "x", "linkedin"}, "",
		"We pay farmers 40 percent above the market price. Here is the list, farm by farm: https://harbour.example/prices", false},
	{-14, 18, []string{"instagram", "threads"}, "barista",
		"Abeba took second place at the city's barista championship. Free filter coffee for everybody today. #barista", false},
	{-12, 10, []string{"facebook", "pinterest"}, "cups",
		"Which color would you take home? We order tomorrow.", false},
	{-10, 8, []string{"instagram", "bluesky", "threads"}, "pour",
		"Bloom for 30 seconds, then pour in circles. The rest is patience. #pourover", false},
	{-7, 12, []string{"linkedin"}, "",
		"Two years ago we were three people. Today we are eleven, and we still cup every batch together.", false},
	{-6, 18, []string{"instagram", "facebook"}, "market",
		"The stalls are going up. See you at the winter market! #wintermarket", false},
	{-4, 9, []string{"bluesky", "threads", "x"}, "beans",
		"The first bags of the winter blend are packed. #coffee", false},
	{-2, 17, []string{"instagram", "threads"}, "quay",
		"Four in the afternoon in November. Good thing we have lamps and espresso. #harbour", false},
	{-1, 11, []string{"facebook", "linkedin"}, "shop",
		"We are open until eight from next week. Thank you for asking so often.", false},
}

// addPastPosts publishes the posts in demoPublished through the pipeline, each at its own time, and collects metrics in
// between.
func (q *Quickstart) addPastPosts(ctx context.Context, team int64, pictures map[string]int64) error {
	zone, err := time.LoadLocation(demoTimezone)
	if err != nil {
		return fmt.Errorf("loading the demo team's time zone: %w", err)
	}
	for _, p := range demoPublished {
		q.clock.advanceTo(demoTime(q.clock.now(), p.days, p.hour, zone))
		if err := q.Analytics.CollectDue(ctx); err != nil {
			return fmt.Errorf("collecting the demo team's metrics: %w", err)
		}
		id, err := q.createSamplePost(ctx, team, p, pictures)
		if err != nil {
			return err
		}
		if _, err := q.call(ctx, "publish_post", operation.Arguments{"post_id": id}); err != nil {
			return err
		}
		if err := q.deliver(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

// deliver processes a post's deliveries until all of them have ended. It advances the clock instead of waiting for the
// networks.
func (q *Quickstart) deliver(ctx context.Context, post string) error {
	ctx, cancel := context.WithTimeout(ctx, deliverTimeout)
	defer cancel()
	tick := time.NewTicker(deliverPollInterval)
	defer tick.Stop()
	for {
		var id string
		var notBefore int64
		err := q.db.QueryRow(ctx, `SELECT id, not_before FROM deliveries WHERE post_id = ? AND ended_at = 0
			ORDER BY not_before LIMIT 1`, post).Scan(&id, &notBefore)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading the deliveries of a sample post: %w", err)
		}
		q.clock.advanceTo(db.Time(notBefore))
		if err := q.Delivery.Deliver(ctx, id); err != nil {
			return fmt.Errorf("delivering a sample post: %w", err)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("delivering a sample post: %w", ctx.Err())
		case <-tick.C:
		}
	}
}
