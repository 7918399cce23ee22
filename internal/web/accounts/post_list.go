package accounts

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/domain/analytics"
)

// link returns the path of the page for a period, with a metric in the chart and a sort order of the posts. q holds
// the period.
func (v view) link(q url.Values, metric, sorting string) string {
	if metric != "" && metric != "followers" {
		q.Set("show", metric)
	}
	if sorting != "" {
		q.Set("sort", sorting)
	}
	return fmt.Sprintf("/accounts/%d?%s", v.ID, q.Encode())
}

// PeriodLink returns the path of the page for another period.
func (v view) PeriodLink(days int) string {
	return v.link(url.Values{"days": {strconv.Itoa(days)}}, v.Plot.Metric, v.Sort)
}

// Network returns "", because the page is about a single account.
func (v view) Network() string { return "" }

// SortLink returns the path of the page with the posts sorted by a metric, or by time if metric is "".
func (v view) SortLink(metric string) string {
	return v.link(v.Period.args(), v.Plot.Metric, metric) + "#posts"
}

// ExportLink returns the path of the CSV file with the page's metrics.
func (v view) ExportLink() string {
	return fmt.Sprintf("/accounts/%d/figures.csv?%s", v.ID, v.Period.args().Encode())
}

// readPosts reads one page of the period's posts.
func (h *Handlers) readPosts(r *http.Request, zone *time.Location, out *view) error {
	position := r.URL.Query().Get("posts")
	posts, next, err := h.postsAt(r, out, position)
	if err != nil {
		return err
	}
	path := out.link(out.Period.args(), out.Plot.Metric, out.Sort)
	if position != "" {
		out.First = path + "#posts"
	}
	if len(posts) > postsPerPage {
		posts = posts[:postsPerPage]
		out.Next = path + "&posts=" + url.QueryEscape(next(posts[postsPerPage-1])) + "#posts"
	}
	ids := make([]string, len(posts))
	for i := range posts {
		ids[i] = posts[i].ID
	}
	ownPosts, err := h.analytics.OwnPosts(r.Context(), out.TeamID, out.ID, ids)
	if err != nil {
		return err
	}
	for _, listed := range posts {
		listed.At = listed.At.In(zone)
		out.Posts = append(out.Posts, listedPost{listed, ownPosts[listed.ID]})
	}
	return nil
}

// postsAt returns the posts after a position, up to one more than fits on a page. The function that it returns takes
// the last post of the page and returns the position of the next page.
func (h *Handlers) postsAt(r *http.Request, out *view, position string,
) ([]analytics.AccountPost, func(analytics.AccountPost) string, error) {
	if out.Sort != "" {
		offset, _ := strconv.Atoi(position)
		offset = min(max(offset, 0), maxOffset)
		found, err := h.analytics.PostsByMetric(r.Context(), out.TeamID, out.ID, out.Period.Period, out.Sort, offset, postsPerPage+1)
		return found, func(analytics.AccountPost) string { return strconv.Itoa(offset + postsPerPage) }, err
	}
	after, ok := parsePosition(position)
	if !ok {
		after = analytics.PostPosition{At: out.Period.End()}
	}
	found, err := h.analytics.Posts(r.Context(), out.TeamID, out.ID, out.Period.Start(), after, postsPerPage+1)
	return found, func(last analytics.AccountPost) string {
		return strconv.FormatInt(last.At.UnixMicro(), 10) + " " + last.ID
	}, err
}

// maxOffset is the maximum offset in a list that is sorted by a metric.
const maxOffset = 10_000

// sortingOf returns the metric that the request sorts posts by, or "".
func sortingOf(r *http.Request) string {
	if metric := r.URL.Query().Get("sort"); slices.Contains(analytics.SortMetrics, metric) {
		return metric
	}
	return ""
}

// parsePosition parses a position in the list of posts. It also reports whether the text has the format that readPosts
// uses in links.
func parsePosition(text string) (analytics.PostPosition, bool) {
	at, id, found := strings.Cut(text, " ")
	micros, err := strconv.ParseInt(at, 10, 64)
	if !found || err != nil {
		return analytics.PostPosition{}, false
	}
	return analytics.PostPosition{At: time.UnixMicro(micros), ID: id}, true
}

// readAnalytics returns the analytics of an account in a period.
func (h *Handlers) readAnalytics(r *http.Request, account int64,
	in period) (operation.Response[analytics.AccountAnalytics], error) {
	call, err := h.NewCall(r, "get_account_analytics")
	if err == nil {
		err = call.Require(access.Read)
	}
	if err != nil {
		return operation.Response[analytics.AccountAnalytics]{}, err
	}
	return h.analytics.Analyze(r.Context(), call, account, in.Period)
}
