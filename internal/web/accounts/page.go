package accounts

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/domain/account"
	"pressroom.example/pressroom/internal/domain/analytics"
	"pressroom.example/pressroom/internal/domain/job"
	"pressroom.example/pressroom/internal/domain/post/postlist"
	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/web/plot"
	"pressroom.example/pressroom/internal/web/shell"
)

// view is an account's page.
type view struct {
	analytics.AccountAnalytics
	account.Account

	Life    account.ConnectionPeriod
	Failure postlist.LatestFailure
	Why     string // explanation of the failure
	Period  period
	Sort    string // metric that the posts are sorted by; "" means newest first
	Notes   []string
	Manages bool
	Error   string // why there are no analytics

	ZoneName    string // the team's time zone, in which days are counted
	Posts       []listedPost
	First, Next string // paths of other pages of posts

	Week analytics.AccountComparison // metrics of the period and the preceding period
	Plot metricChart
	Best []analytics.TopPost
}

// listedPost is a post of the account. OwnPost is the team's post in pressroom that it was published from, if any.
type listedPost struct {
	analytics.AccountPost
	analytics.OwnPost
}

// Total returns the sum of the reported interactions, or nil if the network reports none.
func (p listedPost) Total() *int64 {
	var sum *int64
	for _, n := range []*int64{p.Counts.Likes, p.Counts.Comments, p.Counts.Shares, p.Counts.Saves} {
		addTo(&sum, n)
	}
	return sum
}

// HasReach reports whether the network reports the reach of any listed post.
func (v view) HasReach() bool {
	return slices.ContainsFunc(v.Posts, func(p listedPost) bool { return p.Counts.Reach != nil })
}

// HasViews reports whether the network reports the views of any listed post.
func (v view) HasViews() bool {
	return slices.ContainsFunc(v.Posts, func(p listedPost) bool { return p.Counts.Views != nil })
}

// HasSaves reports whether the network reports the saves of any listed post.
func (v view) HasSaves() bool {
	return slices.ContainsFunc(v.Posts, func(p listedPost) bool { return p.Counts.Saves != nil })
}

// postsPerPage is the number of posts on a page.
const postsPerPage = 20

func (h *Handlers) page(w http.ResponseWriter, r *http.Request, a account.Account) {
	v := shell.VisitorOf(r.Context())
	out := view{
		Account: a, Sort: sortingOf(r), Manages: v.Is(shell.Managers), ZoneName: v.Team.Timezone,
	}
	status := http.StatusOK
	if err := h.readView(r, &out); err != nil {
		formErr, ok := h.formError(w, r, err)
		if !ok {
			return
		}
		out.Error = formErr
	}
	h.ShowTitled(w, r, status, pages["account"], a.Username, out)
}

// readView reads the page's data. If it returns a client error, only the analytics are missing, for example because the
// plan does not include them.
func (h *Handlers) readView(r *http.Request, out *view) error {
	ctx, v := r.Context(), shell.VisitorOf(r.Context())
	zone, err := time.LoadLocation(v.Team.Timezone)
	if err != nil {
		return fmt.Errorf("loading the team's time zone: %w", err)
	}
	out.Period = h.periodOf(r, zone)
	periods, err := h.connector.Accounts.ConnectionPeriods(ctx, out.TeamID, []int64{out.ID})
	if err != nil {
		return err
	}
	out.Life = periods[out.ID]
	out.Life.Since = out.Life.Since.In(zone)
	if !out.Life.Ends.IsZero() {
		out.Life.Ends = out.Life.Ends.In(zone)
	}
	if out.Failure, err = postlist.LastFailure(ctx, h.DB, out.TeamID, out.ID); err != nil {
		return err
	}
	l := h.Language(r)
	out.Why = shell.TranslateText(l, job.Message(out.Failure.ErrorCode))
	found, err := h.readAnalytics(r, out.ID, out.Period)
	if err != nil {
		return err
	}
	out.AccountAnalytics, out.Notes = found.Data, notes.Translate(l, found.Notes)
	if err := h.compare(r, zone, out); err != nil {
		return err
	}
	return h.readPosts(r, zone, out)
}

// bestAccountPostCount is the number of an account's top posts that the page shows.
const bestAccountPostCount = 3

// compare reads the metrics of the period and the preceding period, the chart, and the top posts.
func (h *Handlers) compare(r *http.Request, zone *time.Location, out *view) error {
	ctx := r.Context()
	all, err := h.analytics.ComparePeriods(ctx, out.TeamID, out.Period.Period)
	if err != nil {
		return err
	}
	for _, a := range all {
		if a.ID == out.ID {
			out.Week = a
		}
	}
	offered := metricsOf(out.Week.Now, out.Week.Past)
	out.Plot = metricChart{newChart(out.Period.Period), chosenMetric(r, offered), nil}
	for _, name := range offered {
		out.Plot.Metrics = append(out.Plot.Metrics, metricLink{name, out.link(out.Period.args(), name, out.Sort) + "#figures"})
	}
	posts, err := h.analytics.ListPostMetrics(ctx, out.TeamID, []int64{out.ID}, out.Plot.past, out.Period.End())
	if err != nil {
		return err
	}
	out.Plot.add([]analytics.AccountComparison{out.Week}, posts)
	out.Best, err = h.analytics.TopPosts(ctx, out.TeamID, []int64{out.ID}, out.Plot.from, out.Period.End(), bestAccountPostCount)
	for i := range out.Best {
		out.Best[i].At = out.Best[i].At.In(zone)
	}
	return err
}

// MaxInteractions returns the largest number of interactions of one kind. It is the scale of the bars.
func (v view) MaxInteractions() float64 {
	var maxCount int64
	if v.Engagement != nil {
		for _, c := range interactions(*v.Engagement) {
			if c.Count != nil {
				maxCount = max(maxCount, *c.Count)
			}
		}
	}
	return float64(maxCount)
}

// MaxMedian returns the highest median engagement of a format. It is the scale of the bars.
func (v view) MaxMedian() float64 {
	maxMedian := 0.0
	for _, f := range v.Formats {
		if f.Engagement != nil {
			maxMedian = max(maxMedian, f.Engagement.Median)
		}
	}
	return maxMedian
}

// columns returns a chart of posts by weekday. The chart is empty if there are no posts.
func (v view) columns(l *locale.Language) plot.Columns {
	var out plot.Columns
	if v.Cadence == nil {
		return out
	}
	var texts []string
	for _, d := range v.Cadence.ByWeekday {
		count := float64(d.Posts)
		out.Values = append(out.Values, plot.Point{Name: shortWeekday(l, d.Weekday), Value: &count})
		texts = append(texts, labelOf(l, weekdayLabels, d.Weekday)+": "+l.Count(d.Posts))
	}
	out.Label = l.T("Posts by weekday") + ". " + strings.Join(texts, ", ")
	return out
}

// export sends the analytics of the period as CSV, one metric per row.
func (h *Handlers) export(w http.ResponseWriter, r *http.Request, a account.Account) {
	v := shell.VisitorOf(r.Context())
	zone, err := time.LoadLocation(v.Team.Timezone)
	if err != nil {
		h.ServerError(w, r, err)
		return
	}
	in := h.periodOf(r, zone)
	result, err := h.readAnalytics(r, a.ID, in)
	if err != nil {
		if apierr.Is(err, apierr.PlanLimitReached) {
			h.ShowText(w, r, shell.StatusOf(err), "No analytics", h.Detail(r, err))
			return
		}
		h.ShowError(w, r, err)
		return
	}
	out := shell.NewCSVWriter(w, a.Platform+"-"+a.Username+"-"+in.fileNamePart()+".csv", "figure", "of", "value",
		"low", "high", "posts")
	for _, row := range rows(result.Data) {
		out.WriteRow(row...)
	}
	out.Flush()
}

// rows returns the CSV rows of an analysis. Unknown metrics have no row.
func rows(a analytics.AccountAnalytics) [][]string {
	var out [][]string
	total := func(name string, t *analytics.AccountAnalyticsReach) {
		if t != nil {
			out = append(out, []string{name, "account", strconv.FormatInt(t.Value, 10), "", "", strconv.Itoa(t.Posts)})
		}
	}
	spread := func(name, dimension string, s *analytics.AccountAnalyticsEngagementPerPost) {
		if s == nil {
			return
		}
		low, high := "", ""
		if s.Interval != nil {
			low, high = fraction(s.Interval.Low), fraction(s.Interval.High)
		}
		out = append(out, []string{name, dimension, fraction(s.Median), low, high, strconv.Itoa(s.Posts)})
	}
	total("reach", a.Reach)
	total("views", a.Views)
	if e := a.Engagement; e != nil {
		for _, c := range append(interactions(*e), interaction{"clicks", e.Clicks}) {
			if c.Count != nil {
				out = append(out,
					[]string{c.Name, "account", strconv.FormatInt(*c.Count, 10), "", "", strconv.Itoa(e.Posts)})
			}
		}
		spread("interactions_of_a_post", "account", e.PerPost)
		spread("rate_by_followers", "account", e.RateByFollowers)
		spread("rate_by_views", "account", e.RateByViews)
	}
	if c := a.Cadence; c != nil {
		out = append(out,
			[]string{"posts_per_week", "account", fraction(c.PostsPerWeek), "", "", strconv.Itoa(c.Posts)},
			[]string{"longest_gap_days", "account", strconv.Itoa(c.LongestGap), "", "", ""})
		for _, d := range c.ByWeekday {
			out = append(out, []string{"posts", d.Weekday, strconv.Itoa(d.Posts), "", "", ""})
		}
	}
	for _, f := range a.Formats {
		out = append(out, []string{"posts", f.Format, strconv.Itoa(f.Posts), "", "", ""})
		spread("interactions_of_a_post", f.Format, f.Engagement)
	}
	if f := a.Followers; f != nil {
		out = append(out, []string{"followers", "account", strconv.FormatInt(f.Now, 10), "", "", ""})
		if f.Change != nil {
			out = append(out, []string{"followers_change", "account", strconv.FormatInt(*f.Change, 10), "", "", ""})
		}
	}
	return out
}

func fraction(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// interaction is a kind of interaction with its count.
type interaction struct {
	Name  string
	Count *int64
}

// interactions returns the kinds of interactions whose sum is the engagement.
func interactions(e analytics.AccountAnalyticsEngagement) []interaction {
	return []interaction{{"likes", e.Likes}, {"comments", e.Comments}, {"shares", e.Shares}, {"saves", e.Saves}}
}
