package accounts

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"pressroom.example/pressroom/internal/domain/analytics"
	"pressroom.example/pressroom/internal/web/plot"
	"pressroom.example/pressroom/internal/web/shell"
)

// bestPostCount is the number of top posts that the page shows.
const bestPostCount = 4

// overviewView is the page with the metrics of the accounts in a period and in the preceding period of equal length.
type overviewView struct {
	Accounts []analytics.AccountComparison // accounts of the selected network
	Networks []string                      // networks of all accounts
	Network  string                        // "" means all
	ZoneName string
	Manages  bool
	Period   period
	Plot     metricChart

	Followers, Change *int64    // sums over the accounts with known values; nil if no value is known
	Since             time.Time // first day with known followers if in the period, as midnight UTC; otherwise zero
	Now, Past         analytics.PeriodMetrics
	Best              []analytics.TopPost
	Times             analytics.PostingTimes
	TimesPeriod       period // the days of Times
	Writer            bool
}

// overview shows the metrics of all accounts.
func (h *Handlers) overview(w http.ResponseWriter, r *http.Request) {
	out, err := h.readOverview(r)
	if err != nil {
		h.ShowError(w, r, err)
		return
	}
	h.Show(w, r, http.StatusOK, pages["overview"], "Analytics", out)
}

// readOverview reads the metrics of the requested network's accounts in the requested period.
func (h *Handlers) readOverview(r *http.Request) (overviewView, error) {
	ctx, v := r.Context(), shell.VisitorOf(r.Context())
	out := overviewView{
		ZoneName: v.Team.Timezone, Manages: v.Is(shell.Managers), Writer: v.Is(shell.Writers),
	}
	zone, err := time.LoadLocation(v.Team.Timezone)
	if err != nil {
		return out, fmt.Errorf("loading the team's time zone: %w", err)
	}
	out.Period = h.periodOf(r, zone)
	all, err := h.analytics.ComparePeriods(ctx, v.Team.ID, out.Period.Period)
	if err != nil {
		return out, err
	}
	chooseAccounts(&out, all, r.URL.Query().Get("network"))
	out.Plot = metricChart{newChart(out.Period.Period), chosenMetric(r, out.metrics()), nil}
	for _, name := range out.metrics() {
		out.Plot.Metrics = append(out.Plot.Metrics, metricLink{name, out.link(out.Period.args(), out.Network, name) + "#figures"})
	}
	ids := make([]int64, len(out.Accounts))
	for i, a := range out.Accounts {
		ids[i] = a.ID
	}
	if err := h.comparePosts(ctx, v.Team.ID, ids, &out); err != nil {
		return out, err
	}
	if out.Best, err = h.analytics.TopPosts(ctx, v.Team.ID, ids, out.Plot.from, out.Period.End(), bestPostCount); err != nil {
		return out, err
	}
	for i := range out.Best {
		out.Best[i].At = out.Best[i].At.In(zone)
	}
	return out, nil
}

// comparePosts reads the posts of the accounts once, and adds them to the chart and to the best times.
func (h *Handlers) comparePosts(ctx context.Context, team int64, accounts []int64, out *overviewView) error {
	out.TimesPeriod = out.Period.atLeast(minTimesDays)
	past, from := out.Plot.past, out.TimesPeriod.Start()
	first := past
	if from.Before(first) {
		first = from
	}
	posts, err := h.analytics.ListPostMetrics(ctx, team, accounts, first, out.Period.End())
	out.Plot.add(out.Accounts, postsSince(posts, past))
	out.Times = analytics.ComparePostingTimes(postsSince(posts, from), h.DB.Now().In(from.Location()))
	return err
}

// postsSince returns the posts that are not older than from. The posts must be sorted, newest first.
func postsSince(posts []analytics.PostMetrics, from time.Time) []analytics.PostMetrics {
	older := slices.IndexFunc(posts, func(p analytics.PostMetrics) bool { return p.At.Before(from) })
	if older < 0 {
		return posts
	}
	return posts[:older]
}

// chooseAccounts sets the accounts of a network and the sums of their metrics. If there is no account of the network,
// it includes all accounts.
func chooseAccounts(v *overviewView, accounts []analytics.AccountComparison, network string) {
	for _, a := range accounts {
		if !slices.Contains(v.Networks, a.Platform) {
			v.Networks = append(v.Networks, a.Platform)
		}
	}
	slices.SortFunc(v.Networks, func(a, b string) int { return cmp.Compare(shell.NetworkName(a), shell.NetworkName(b)) })
	if slices.Contains(v.Networks, network) {
		v.Network = network
	}
	for _, a := range accounts {
		if v.Network != "" && a.Platform != v.Network {
			continue
		}
		v.Accounts = append(v.Accounts, a)
		addTo(&v.Followers, a.Followers)
		addTo(&v.Change, a.Change)
		addMetrics(&v.Now, a.Now)
		addMetrics(&v.Past, a.Past)
	}
	v.Since = firstCounted(v.Accounts)
}

// firstCounted returns the first day for which the followers of any account are known. It returns the zero time if the
// followers of an account are known for the whole period, or if no account's followers are known.
func firstCounted(accounts []analytics.AccountComparison) time.Time {
	var first time.Time
	for _, a := range accounts {
		switch {
		case a.Change == nil:
		case a.Since.IsZero():
			return time.Time{}
		case first.IsZero() || a.Since.Before(first):
			first = a.Since
		}
	}
	return first
}

// metrics returns the metrics that the chart can show.
func (v overviewView) metrics() []string { return metricsOf(v.Now, v.Past) }

// metricsOf returns the metrics that a chart of two periods can show.
func metricsOf(current, previous analytics.PeriodMetrics) []string {
	out := []string{"followers", "engagement"}
	if current.Views != nil || previous.Views != nil {
		out = append(out, "views")
	}
	return out
}

// chosenMetric returns the requested metric, or the first one.
func chosenMetric(r *http.Request, offered []string) string {
	if name := r.URL.Query().Get("show"); slices.Contains(offered, name) {
		return name
	}
	return offered[0]
}

// link returns the path of the page with other settings. An empty network means all.
func (v overviewView) link(q url.Values, network, metric string) string {
	if network != "" {
		q.Set("network", network)
	}
	if metric != v.metrics()[0] {
		q.Set("show", metric)
	}
	return "/analytics?" + q.Encode()
}

// PeriodLink returns the path of the page for another period.
func (v overviewView) PeriodLink(days int) string {
	return v.link(url.Values{"days": {strconv.Itoa(days)}}, v.Network, v.Plot.Metric)
}

// NetworkLink returns the path of the page for another network.
func (v overviewView) NetworkLink(network string) string {
	return v.link(v.Period.args(), network, v.Plot.Metric)
}

// HasPast reports whether there are posts or metrics of the preceding period.
func (v overviewView) HasPast() bool {
	return v.Past.Posts > 0 || v.Past.Views != nil || v.Past.Engagement != nil
}

// Sort returns "", because the page has no list of posts to sort. A template that both pages use needs this method.
func (v overviewView) Sort() string { return "" }

// ExportLink returns the path of the CSV file with the page's metrics.
func (v overviewView) ExportLink() string {
	return "/analytics/figures.csv" + v.link(v.Period.args(), v.Network, v.metrics()[0])[len("/analytics"):]
}

// part is a network's or account's value of the chart's metric.
type part struct {
	Platform string
	Name     string // username of the account; "" for a network
	ID       int64  // ID of the account; 0 for a network
	Value    int64
	Share    float64 // relative to the largest part
}

// Parts returns the chart's metric by network, or by account if only one network is shown. The largest comes first. If
// there are fewer than two parts, it returns nil.
func (v overviewView) Parts() []part {
	var out []part
	for _, a := range v.Accounts {
		value := map[string]*int64{"followers": a.Followers, "engagement": a.Now.Engagement, "views": a.Now.Views}[v.Plot.Metric]
		if value == nil {
			continue
		}
		i := slices.IndexFunc(out, func(p part) bool { return p.Platform == a.Platform })
		switch {
		case len(v.Networks) == 1 || v.Network != "":
			out = append(out, part{Platform: a.Platform, Name: a.Username, ID: a.ID, Value: *value})
		case i >= 0:
			out[i].Value += *value
		default:
			out = append(out, part{Platform: a.Platform, Value: *value})
		}
	}
	if len(out) < 2 {
		return nil
	}
	slices.SortStableFunc(out, func(a, b part) int { return cmp.Compare(b.Value, a.Value) })
	out = out[:min(len(out), maxParts)]
	for i := range out {
		out[i].Share = float64(out[i].Value) / float64(max(1, out[0].Value))
	}
	return out
}

// maxParts is the maximum number of networks or accounts that are compared.
const maxParts = 9

// bar returns the part as a bar.
func (p part) bar() plot.Share { return plot.Share{Fraction: p.Share} }

// exportOverview sends the accounts' metrics in the period as CSV, one account per row.
func (h *Handlers) exportOverview(w http.ResponseWriter, r *http.Request) {
	v, err := h.readOverview(r)
	if err != nil {
		h.ShowError(w, r, err)
		return
	}
	out := shell.NewCSVWriter(w, "analytics-"+v.Period.fileNamePart()+".csv", "account", "platform", "followers",
		"followers_change", "posts", "views", "engagement", "posts_before", "views_before", "engagement_before")
	cell := func(n *int64) string {
		if n == nil {
			return ""
		}
		return strconv.FormatInt(*n, 10)
	}
	for _, a := range v.Accounts {
		out.WriteRow(a.Username, a.Platform, cell(a.Followers), cell(a.Change), cell(&a.Now.Posts), cell(a.Now.Views),
			cell(a.Now.Engagement), cell(&a.Past.Posts), cell(a.Past.Views), cell(a.Past.Engagement))
	}
	out.Flush()
}

func addMetrics(sum *analytics.PeriodMetrics, m analytics.PeriodMetrics) {
	sum.Posts += m.Posts
	addTo(&sum.Views, m.Views)
	addTo(&sum.Engagement, m.Engagement)
}

// addTo adds n to a sum, unless n is nil. A nil sum means that no value is known.
func addTo(sum **int64, n *int64) {
	if n == nil {
		return
	}
	if *sum == nil {
		*sum = new(int64)
	}
	**sum += *n
}
