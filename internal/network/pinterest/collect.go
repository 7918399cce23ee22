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

	"pressroom.example/pressroom/internal/network"
)

const (
	maxBoardPages    = 20                  // maximum pages read from a board
	reportBatchSize  = 100                 // pins per report
	maxReportAge     = 89 * 24 * time.Hour // maximum age of a pin in a report, which covers 90 days
	maxSingleReports = 50                  // maximum pins for which a separate report is requested
	// Error code for a pin without reports. The HTTP status may be the same as for an invalid token.
	codeNoReports     = "7"
	metricSaves       = "SAVE"
	metricImpressions = "IMPRESSION"
	metricPinClicks   = "PIN_CLICK"
	metricLinkClicks  = "OUTBOUND_CLICK"
	metricComments    = "TOTAL_COMMENTS"
	metricLikes       = "TOTAL_REACTIONS"
)

// reportMetrics are the metrics requested in a report.
var reportMetrics = []string{
	metricImpressions, metricPinClicks, metricLinkClicks, metricSaves, metricComments, metricLikes,
}

var _ network.Collector = (*Network)(nil)

// Collect returns the board's pins with their lifetime metrics. Metrics that the list lacks are read from reports.
// Reports cover 90 days, so these metrics are unknown for older pins. The followers are the followers of the account,
// not of the board. Source: https://developers.pinterest.com/docs/api/v5/boards-list_pins.
func (n *Network) Collect(ctx context.Context, g network.Grant, since time.Time, limit int) (network.Collection, error) {
	board, err := boardID(g)
	if err != nil {
		return network.Collection{}, err
	}
	followers, picture, err := n.readProfile(ctx, g)
	if err != nil && !network.IsWithheld(err) {
		return network.Collection{}, err
	}
	posts, truncated, err := n.listPosts(ctx, g, board, since, true)
	if network.IsWithheld(err) {
		posts, truncated, err = n.listPosts(ctx, g, board, since, false)
	}
	collected := network.Collection{
		Followers: followers, Picture: picture, Posts: network.Newest(posts, since, limit), Truncated: truncated,
	}
	if err != nil {
		return collected, network.DowngradeForbidden(err)
	}
	if err := n.addReports(ctx, g, collected.Posts); err != nil && !isReportRejected(err) {
		return collected, err
	}
	return collected, nil
}

// readProfile returns the follower count and the URL of the picture.
func (n *Network) readProfile(ctx context.Context, g network.Grant) (*int64, string, error) {
	var me struct {
		Followers *int64 `json:"follower_count"`
		Picture   string `json:"profile_image"`
	}
	err := n.do(ctx, n.newCall(g, http.MethodGet, "user_account"), &me)
	return network.NonNegative(me.Followers), network.WebURL(me.Picture), err
}

// countedPin is a listed pin with its metrics.
type countedPin struct {
	pin

	Title   string `json:"title"`
	Mine    *bool  `json:"is_owner"` // a group board has pins of several accounts
	Metrics struct {
		Lifetime struct {
			Impressions *int64 `json:"impression"`
			PinClicks   *int64 `json:"pin_click"`
			Outbound    *int64 `json:"outbound_click"` // outbound_click and save are not documented
			LinkClicks  *int64 `json:"clickthrough"`
			Saves       *int64 `json:"save"`
			Likes       *int64 `json:"reaction"`
			Comments    *int64 `json:"comment"`
		} `json:"lifetime_metrics"`
	} `json:"pin_metrics"`
}

// listPosts returns the account's pins on the board since a time. The order of pins is not documented, so listPosts
// stops at an older pin only if the page is sorted newest first. It returns true if it did not read all pins.
func (n *Network) listPosts(
	ctx context.Context, g network.Grant, board string, since time.Time, withMetrics bool,
) ([]network.CollectedPost, bool, error) {
	var posts []network.CollectedPost
	bookmark := ""
	for range maxBoardPages {
		var page struct {
			Items    []countedPin `json:"items"`
			Bookmark string       `json:"bookmark"`
		}
		c := n.newCall(g, http.MethodGet, "boards/"+board+"/pins")
		c.Query = pageQuery(pinsPerPage, bookmark)
		if withMetrics {
			c.Query.Set("pin_metrics", "true")
		}
		if err := n.do(ctx, c, &page); err != nil {
			return posts, true, err
		}
		var pins []pin
		for _, p := range page.Items {
			pins = append(pins, p.pin)
			if isID(p.ID) && !p.createdAt().IsZero() && (p.Mine == nil || *p.Mine) {
				posts = append(posts, p.collectedPost(n))
			}
		}
		isPast := newestFirst(pins) && pins[len(pins)-1].createdAt().Before(since)
		if isPast || page.Bookmark == "" || page.Bookmark == bookmark {
			return posts, false, nil
		}
		bookmark = page.Bookmark
	}
	return posts, true, nil
}

func (c countedPin) collectedPost(n *Network) network.CollectedPost {
	lifetime := c.Metrics.Lifetime
	return network.CollectedPost{
		ID: c.ID, URL: n.receipt(c.ID).Permalink, Text: cmp.Or(strings.TrimSpace(c.Description), c.Title),
		Format: c.format(), PostedAt: c.createdAt(),
		Views: network.NonNegative(lifetime.Impressions), Likes: network.NonNegative(lifetime.Likes),
		Comments: network.NonNegative(lifetime.Comments), Saves: network.NonNegative(lifetime.Saves),
		Clicks: network.Sum(lifetime.PinClicks, firstKnown(lifetime.Outbound, lifetime.LinkClicks)),
	}
}

func (p pin) format() string {
	return map[string]string{
		"image": network.FormatImage, "video": network.FormatVideo, "multiple_images": network.FormatCarousel,
		"multiple_videos": network.FormatCarousel, "multiple_mixed": network.FormatCarousel,
	}[p.Media.Type]
}

// addReports sets missing metrics of pins that are not too old for a report. If the app may not request reports on
// several pins, addReports requests separate reports on the newest pins.
func (n *Network) addReports(ctx context.Context, g network.Grant, posts []network.CollectedPost) error {
	var incomplete []*network.CollectedPost
	for i := range posts {
		p := &posts[i]
		if n.opts.Now().Sub(p.PostedAt) < maxReportAge && (p.Views == nil || p.Saves == nil || p.Clicks == nil) {
			incomplete = append(incomplete, p)
		}
	}
	for batch := range slices.Chunk(incomplete, reportBatchSize) {
		supported, err := n.reportBatch(ctx, g, batch)
		if isReportRejected(err) || err == nil && len(supported) == 0 {
			return n.reportEach(ctx, g, incomplete[:min(len(incomplete), maxSingleReports)])
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// isReportRejected reports whether err means that a report is never available.
func isReportRejected(err error) bool {
	netErr, ok := errors.AsType[*network.Error](err)
	return network.IsWithheld(err) || ok && netErr.Code == codeNoReports
}

// report is a report on a pin. The entry "all" has the metrics of all apps.
type report map[string]struct {
	Summary  map[string]float64 `json:"summary_metrics"`
	Lifetime map[string]float64 `json:"lifetime_metrics"`
}

// reportBatch sets missing metrics of several pins from one report. It returns the names of the supported metrics.
func (n *Network) reportBatch(ctx context.Context, g network.Grant, posts []*network.CollectedPost) ([]string, error) {
	ids := make([]string, len(posts))
	for i, p := range posts {
		ids[i] = p.ID
	}
	return network.SupportedMetrics(reportMetrics, func(metrics []string) error {
		c := n.newCall(g, http.MethodGet, "pins/analytics")
		c.Query = n.reportQuery(posts, metrics)
		c.Query["pin_ids"] = ids
		var reports map[string]report
		if err := n.do(ctx, c, &reports); err != nil {
			return err
		}
		for _, p := range posts {
			reports[p.ID].complete(p)
		}
		return nil
	})
}

func (n *Network) reportEach(ctx context.Context, g network.Grant, posts []*network.CollectedPost) error {
	metrics := reportMetrics
	for _, p := range posts {
		supported, err := network.SupportedMetrics(metrics, func(metrics []string) error {
			c := n.newCall(g, http.MethodGet, "pins/"+p.ID+"/analytics")
			c.Query = n.reportQuery([]*network.CollectedPost{p}, metrics)
			var pinReport report
			if err := n.do(ctx, c, &pinReport); err != nil {
				return err
			}
			pinReport.complete(p)
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
func (n *Network) reportQuery(posts []*network.CollectedPost, metrics []string) url.Values {
	now := n.opts.Now().UTC()
	oldest := now
	for _, p := range posts {
		if p.PostedAt.Before(oldest) {
			oldest = p.PostedAt
		}
	}
	return url.Values{
		"start_date": {oldest.Format(time.DateOnly)}, "end_date": {now.Format(time.DateOnly)},
		"metric_types": {strings.Join(metrics, ",")},
	}
}

// complete sets the metrics that are still unknown.
func (r report) complete(p *network.CollectedPost) {
	for _, entry := range r {
		metric := func(name string) *int64 {
			value, known := entry.Lifetime[name]
			if !known {
				value, known = entry.Summary[name]
			}
			if !known || value < 0 || value >= math.MaxInt64 {
				return nil
			}
			return new(int64(value))
		}
		p.Views, p.Saves = firstKnown(p.Views, metric(metricImpressions)), firstKnown(p.Saves, metric(metricSaves))
		p.Likes, p.Comments = firstKnown(p.Likes, metric(metricLikes)), firstKnown(p.Comments, metric(metricComments))
		p.Clicks = firstKnown(p.Clicks, network.Sum(metric(metricPinClicks), metric(metricLinkClicks)))
	}
}

// firstKnown returns first unless it is nil, else second.
func firstKnown(first, second *int64) *int64 {
	if first != nil {
		return first
	}
	return second
}
