package pinterest

import (
	"cmp"
	"context"
	"errors"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"pressroom/internal/network"
)

const (
	mostPages    = 20                  // pages of a board
	mostReported = 100                 // pins per report
	reportedFor  = 89 * 24 * time.Hour // oldest pin of a report, which covers 90 days
	mostAlone    = 50                  // pins with a report of their own
	// error code of a pin without reports; its status may be that of an invalid token
	notYours      = "7"
	saved         = "SAVE"
	impressions   = "IMPRESSION"
	pinClicks     = "PIN_CLICK"
	linkClicks    = "OUTBOUND_CLICK"
	totalComments = "TOTAL_COMMENTS"
	totalLikes    = "TOTAL_REACTIONS"
)

// reportMetrics are the figures that a report is requested for.
var reported = []string{impressions, pinClicks, linkClicks, saved, totalComments, totalLikes}

var _ network.Collector = (*Network)(nil)

// Collect returns the board's pins with their lifetime figures, as far as the list has them. Others are read from
// reports, which cover 90 days; figures of older pins remain unknown. The followers are the account's. Source:
// https://developers.pinterest.com/docs/api/v5/boards-list_pins.
func (n *Network) Collect(ctx context.Context, g network.Grant, since time.Time, limit int) (network.Collected, error) {
	on, err := board(g)
	if err != nil {
		return network.Collected{}, err
	}
	followers, err := n.followers(ctx, g)
	if err != nil && !network.Withheld(err) {
		return network.Collected{}, err
	}
	posts, cut, err := n.own(ctx, g, on, since, true)
	if network.Withheld(err) {
		posts, cut, err = n.own(ctx, g, on, since, false)
	}
	collected := network.Collected{Followers: followers, Posts: network.Newest(posts, since, limit), Cut: cut}
	if err != nil {
		return collected, network.Closed(err)
	}
	if err := n.report(ctx, g, collected.Posts); err != nil && !unreported(err) {
		return collected, err
	}
	return collected, nil
}

func (n *Network) followers(ctx context.Context, g network.Grant) (*int64, error) {
	var me struct {
		Followers *int64 `json:"follower_count"`
	}
	err := n.do(ctx, n.on(g, http.MethodGet, "user_account"), &me)
	return network.Told(me.Followers), err
}

// countedPin is a listed pin with its figures.
type counted struct {
	pin

	Title   string `json:"title"`
	Mine    *bool  `json:"is_owner"` // a group board has pins of several accounts
	Metrics struct {
		Lifetime struct {
			Impressions *int64 `json:"impression"`
			PinClicks   *int64 `json:"pin_click"`
			Outbound    *int64 `json:"outbound_click"` // this and save are not documented
			LinkClicks  *int64 `json:"clickthrough"`
			Saves       *int64 `json:"save"`
			Likes       *int64 `json:"reaction"`
			Comments    *int64 `json:"comment"`
		} `json:"lifetime_metrics"`
	} `json:"pin_metrics"`
}

// listFigures returns the account's pins on the board since a time. It stops at an older pin only on a page sorted
// newest first, as the order is not documented. It reports true if there are more pins than were read.
func (n *Network) own(
	ctx context.Context, g network.Grant, on string, since time.Time, metrics bool,
) ([]network.Figures, bool, error) {
	var posts []network.Figures
	bookmark := ""
	for range mostPages {
		var page struct {
			Items    []counted `json:"items"`
			Bookmark string    `json:"bookmark"`
		}
		c := n.on(g, http.MethodGet, "boards/"+on+"/pins")
		c.Query = paged(pinPage, bookmark)
		if metrics {
			c.Query.Set("pin_metrics", "true")
		}
		if err := n.do(ctx, c, &page); err != nil {
			return posts, true, err
		}
		var pins []pin
		for _, p := range page.Items {
			pins = append(pins, p.pin)
			if isID(p.ID) && !p.at().IsZero() && (p.Mine == nil || *p.Mine) {
				posts = append(posts, p.figures(n))
			}
		}
		past := newestFirst(pins) && pins[len(pins)-1].at().Before(since)
		if past || page.Bookmark == "" || page.Bookmark == bookmark {
			return posts, false, nil
		}
		bookmark = page.Bookmark
	}
	return posts, true, nil
}

func (c counted) figures(n *Network) network.Figures {
	lifetime := c.Metrics.Lifetime
	return network.Figures{
		ID: c.ID, URL: n.receipt(c.ID).Permalink, Text: cmp.Or(strings.TrimSpace(c.Description), c.Title),
		Format: c.format(), PostedAt: c.at(),
		Views: network.Told(lifetime.Impressions), Likes: network.Told(lifetime.Likes),
		Comments: network.Told(lifetime.Comments), Saves: network.Told(lifetime.Saves),
		Clicks: network.Sum(lifetime.PinClicks, known(lifetime.Outbound, lifetime.LinkClicks)),
	}
}

func (p pin) format() string {
	return map[string]string{
		"image": network.FormatImage, "video": network.FormatVideo, "multiple_images": network.FormatCarousel,
		"multiple_videos": network.FormatCarousel, "multiple_mixed": network.FormatCarousel,
	}[p.Media.Type]
}

// addReports completes the figures of pins that are not too old for a report. An app without access to reports on
// several pins gets reports on the newest pins one by one.
func (n *Network) report(ctx context.Context, g network.Grant, posts []network.Figures) error {
	var lacking []*network.Figures
	for i := range posts {
		p := &posts[i]
		if n.opts.Now().Sub(p.PostedAt) < reportedFor && (p.Views == nil || p.Saves == nil || p.Clicks == nil) {
			lacking = append(lacking, p)
		}
	}
	for batch := range slices.Chunk(lacking, mostReported) {
		supported, err := n.reportOn(ctx, g, batch)
		if unreported(err) || err == nil && len(supported) == 0 {
			return n.reportAlone(ctx, g, lacking[:min(len(lacking), mostAlone)])
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// isReportRefused reports whether the network refuses a report permanently.
func unreported(err error) bool {
	failed, ok := errors.AsType[*network.Error](err)
	return network.Withheld(err) || ok && failed.Code == notYours
}

// report has an entry "all" with the figures of a pin in all apps.
type report map[string]struct {
	Summary  map[string]float64 `json:"summary_metrics"`
	Lifetime map[string]float64 `json:"lifetime_metrics"`
}

// reportBatch completes the figures of several pins. It returns the metrics that the network supports.
func (n *Network) reportOn(ctx context.Context, g network.Grant, posts []*network.Figures) ([]string, error) {
	ids := make([]string, len(posts))
	for i, p := range posts {
		ids[i] = p.ID
	}
	return network.Offered(reported, func(metrics []string) error {
		c := n.on(g, http.MethodGet, "pins/analytics")
		c.Query = n.reportQuery(posts, metrics)
		c.Query["pin_ids"] = ids
		var answer map[string]report
		if err := n.do(ctx, c, &answer); err != nil {
			return err
		}
		for _, p := range posts {
			answer[p.ID].complete(p)
		}
		return nil
	})
}

func (n *Network) reportAlone(ctx context.Context, g network.Grant, posts []*network.Figures) error {
	metrics := reported
	for _, p := range posts {
		supported, err := network.Offered(metrics, func(metrics []string) error {
			c := n.on(g, http.MethodGet, "pins/"+p.ID+"/analytics")
			c.Query = n.reportQuery([]*network.Figures{p}, metrics)
			var answer report
			if err := n.do(ctx, c, &answer); err != nil {
				return err
			}
			answer.complete(p)
			return nil
		})
		if err != nil {
			return err
		}
		if metrics = supported; len(metrics) == 0 {
			return nil
		}
	}
	return nil
}

// reportQuery returns the query for metrics since the creation of the oldest pin.
func (n *Network) reportQuery(posts []*network.Figures, metrics []string) url.Values {
	now := n.opts.Now().UTC()
	first := now
	for _, p := range posts {
		if p.PostedAt.Before(first) {
			first = p.PostedAt
		}
	}
	return url.Values{
		"start_date": {first.Format(time.DateOnly)}, "end_date": {now.Format(time.DateOnly)},
		"metric_types": {strings.Join(metrics, ",")},
	}
}

// complete sets the figures that are not known yet.
func (r report) complete(p *network.Figures) {
	for _, all := range r {
		metric := func(name string) *int64 {
			value, known := all.Lifetime[name]
			if !known {
				value, known = all.Summary[name]
			}
			if !known || value < 0 || value >= math.MaxInt64 {
				return nil
			}
			return new(int64(value))
		}
		p.Views, p.Saves = known(p.Views, metric(impressions)), known(p.Saves, metric(saved))
		p.Likes, p.Comments = known(p.Likes, metric(totalLikes)), known(p.Comments, metric(totalComments))
		p.Clicks = known(p.Clicks, network.Sum(metric(pinClicks), metric(linkClicks)))
	}
}

// firstKnown returns the first figure that is not nil.
func known(first, second *int64) *int64 {
	if first != nil {
		return first
	}
	return second
}
