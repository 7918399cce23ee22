package accounts

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/core/pipeline"
	"pressroom.example/pressroom/internal/domain/account"
	"pressroom.example/pressroom/internal/domain/analytics"
	"pressroom.example/pressroom/internal/domain/job"
	"pressroom.example/pressroom/internal/domain/post"
	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/web/plot"
	"pressroom.example/pressroom/internal/web/shell"
)

// periods are the offered periods in days.
var periods = []int{7, 30, 90, 365}

// view is an account's page.
type view struct {
	analytics.AccountAnalytics
	account.Account

	Life    account.ConnectionPeriod
	Failure post.Failure
	Why     string // explanation of the failure
	Days    int
	Periods []int
	Notes   []string
	Manages bool
	Wrong   string // why there are no analytics

	ZoneName    string // the team's time zone, in which days are counted
	Posts       []listedPost
	First, Next string // pages of posts

	Week analytics.AccountWeeks // the period and the one before
	Plot plotted
	Best []analytics.TopPost
}

// listedPost is a post of the account, with the team's own post that was published as it.
type listedPost struct {
	analytics.AccountPost
	analytics.OwnPost
}

// HasReach reports whether the network reports the reach of any listed post.
func (v view) HasReach() bool {
	return slices.ContainsFunc(v.Posts, func(p listedPost) bool { return p.Counts.Reach != nil })
}

// HasViews reports whether the network reports the views of any listed post.
func (v view) HasViews() bool {
	return slices.ContainsFunc(v.Posts, func(p listedPost) bool { return p.Counts.Views != nil })
}

// HasSaves reports whether the network reports how often any listed post was saved.
func (v view) HasSaves() bool {
	return slices.ContainsFunc(v.Posts, func(p listedPost) bool { return p.Counts.Saves != nil })
}

// postsPerPage is how many posts the page shows.
const postsPerPage = 20

// periodOf returns the requested period.
func periodOf(r *http.Request) int {
	if days, err := strconv.Atoi(r.URL.Query().Get("period")); err == nil && slices.Contains(periods, days) {
		return days
	}
	return 30
}

func (p *Handlers) page(w http.ResponseWriter, r *http.Request, a account.Account) {
	v := shell.VisitorOf(r.Context())
	out := view{
		Account: a, Days: periodOf(r), Periods: periods, Manages: v.Is(shell.Managers), ZoneName: v.Team.Timezone,
	}
	status := http.StatusOK
	if err := p.read(r, &out); err != nil {
		wrong, ok := p.formError(w, r, err)
		if !ok {
			return
		}
		out.Wrong = wrong
	}
	p.ShowTitled(w, r, status, pages["account"], a.Username, out)
}

// read reads the page's data. The error concerns only the analytics, which the plan may not include.
func (p *Handlers) read(r *http.Request, out *view) error {
	ctx, v := r.Context(), shell.VisitorOf(r.Context())
	zone, err := time.LoadLocation(v.Team.Timezone)
	if err != nil {
		return fmt.Errorf("loading the team's time zone: %w", err)
	}
	lives, err := p.connector.Accounts.ConnectionPeriods(ctx, out.TeamID, []int64{out.ID})
	if err != nil {
		return err
	}
	out.Life = lives[out.ID]
	out.Life.Since = out.Life.Since.In(zone)
	if !out.Life.Ends.IsZero() {
		out.Life.Ends = out.Life.Ends.In(zone)
	}
	if out.Failure, err = p.posts.LastFailure(ctx, out.TeamID, out.ID); err != nil {
		return err
	}
	l := p.Language(r)
	out.Why = shell.Text(l, job.Message(out.Failure.ErrorCode))
	found, outcome, err := p.figures(r, out.ID, out.Days)
	if err != nil {
		return err
	}
	out.AccountAnalytics, out.Notes = found, notes.In(l, outcome.Notes)
	if err := p.compare(r, zone, out); err != nil {
		return err
	}
	return p.readPosts(r, zone, out)
}

// bestOfAccount is how many of an account's best posts are shown.
const bestOfAccount = 3

// compare reads the period and the one before, with the chart and the best posts.
func (p *Handlers) compare(r *http.Request, zone *time.Location, out *view) error {
	ctx, now := r.Context(), p.DB.Now()
	all, err := p.insight.ComparePeriods(ctx, out.TeamID, zone, out.Days)
	if err != nil {
		return err
	}
	for _, a := range all {
		if a.ID == out.ID {
			out.Week = a
		}
	}
	offered := metricsOf(out.Week.Now, out.Week.Past)
	out.Plot = plotted{newChart(now, zone, out.Days), chosenMetric(r, offered), nil}
	for _, name := range offered {
		path := fmt.Sprintf("/accounts/%d?period=%d&show=%s#figures", out.ID, out.Days, name)
		out.Plot.Metrics = append(out.Plot.Metrics, metricLink{name, path})
	}
	figures, err := p.insight.ListPostMetrics(ctx, out.TeamID, []int64{out.ID}, out.Plot.past, now.Add(time.Second))
	if err != nil {
		return err
	}
	out.Plot.add([]analytics.AccountWeeks{out.Week}, figures)
	out.Best, err = p.insight.TopPosts(ctx, out.TeamID, []int64{out.ID}, out.Plot.from, bestOfAccount)
	for i := range out.Best {
		out.Best[i].At = out.Best[i].At.In(zone)
	}
	return err
}

// readPosts reads the requested page of the period's posts.
func (p *Handlers) readPosts(r *http.Request, zone *time.Location, out *view) error {
	now := p.DB.Now()
	behind, given := placeIn(r.URL.Query().Get("posts"))
	if !given {
		behind = analytics.PostPosition{At: now.Add(time.Microsecond)}
	}
	found, err := p.insight.Posts(r.Context(), out.TeamID, out.ID, analytics.PeriodStart(now, zone, out.Days), behind,
		postsPerPage+1)
	if err != nil {
		return err
	}
	here := fmt.Sprintf("/accounts/%d?period=%d", out.ID, out.Days)
	if given {
		out.First = here + "#posts"
	}
	if len(found) > postsPerPage {
		found = found[:postsPerPage]
		last := found[postsPerPage-1]
		out.Next = here + "&posts=" + url.QueryEscape(strconv.FormatInt(last.At.UnixMicro(), 10)+" "+last.ID) + "#posts"
	}
	ids := make([]string, len(found))
	for i := range found {
		ids[i] = found[i].ID
	}
	own, err := p.insight.OwnPosts(r.Context(), out.TeamID, out.ID, ids)
	if err != nil {
		return err
	}
	for _, one := range found {
		one.At = one.At.In(zone)
		out.Posts = append(out.Posts, listedPost{one, own[one.ID]})
	}
	return nil
}

// placeIn parses a position in the list of posts, as in the page's own links.
func placeIn(text string) (analytics.PostPosition, bool) {
	at, id, found := strings.Cut(text, " ")
	micros, err := strconv.ParseInt(at, 10, 64)
	if !found || err != nil {
		return analytics.PostPosition{}, false
	}
	return analytics.PostPosition{At: time.UnixMicro(micros), ID: id}, true
}

// figures returns the analytics of an account.
func (p *Handlers) figures(r *http.Request, account int64,
	days int) (analytics.AccountAnalytics, pipeline.Outcome, error) {
	return shell.Run[analytics.AccountAnalytics](p.Frame, r, "get_account_analytics",
		operation.Arguments{"account_id": account, "period_days": int64(days)})
}

// MostCounted returns the largest sum of a kind of interaction, which scales the bars.
func (v view) MostCounted() float64 {
	var most int64
	if v.Engagement != nil {
		for _, c := range engagementCounts(*v.Engagement) {
			if c.Count != nil {
				most = max(most, *c.Count)
			}
		}
	}
	return float64(most)
}

// columns returns a chart of posts by weekday, or nothing without posts.
func (v view) columns(l *locale.Language) plot.Columns {
	var out plot.Columns
	if v.Cadence == nil {
		return out
	}
	var texts []string
	for _, d := range v.Cadence.ByWeekday {
		count := float64(d.Posts)
		out.Values = append(out.Values, plot.Point{Name: shortWeekday(l, d.Weekday), Value: &count})
		texts = append(texts, known(l, weekdays, d.Weekday)+": "+l.Count(d.Posts))
	}
	out.Label = l.T("Posts by weekday") + ". " + strings.Join(texts, ", ")
	return out
}

// export sends the analytics of the period as CSV, one metric per line.
func (p *Handlers) export(w http.ResponseWriter, r *http.Request, a account.Account) {
	days := periodOf(r)
	found, _, err := p.figures(r, a.ID, days)
	if err != nil {
		if apierr.Is(err, apierr.PlanLimitReached) {
			p.ShowText(w, r, shell.StatusOf(err), "No analytics", p.Detail(r, err))
			return
		}
		p.ShowError(w, r, err)
		return
	}
	out := shell.NewSheet(w, a.Platform+"-"+a.Username+"-"+strconv.Itoa(days)+"-days.csv", "figure", "of", "value",
		"low", "high", "posts")
	for _, row := range rows(found) {
		out.Row(row...)
	}
	out.Flush()
}

// rows returns all metrics of an analysis. Unknown metrics have no row.
func rows(a analytics.AccountAnalytics) [][]string {
	var out [][]string
	total := func(name string, t *analytics.AccountAnalyticsReach) {
		if t != nil {
			out = append(out, []string{name, "account", strconv.FormatInt(t.Value, 10), "", "", strconv.Itoa(t.Posts)})
		}
	}
	spread := func(name, of string, s *analytics.AccountAnalyticsEngagementPerPost) {
		if s == nil {
			return
		}
		low, high := "", ""
		if s.Interval != nil {
			low, high = fraction(s.Interval.Low), fraction(s.Interval.High)
		}
		out = append(out, []string{name, of, fraction(s.Median), low, high, strconv.Itoa(s.Posts)})
	}
	total("reach", a.Reach)
	total("views", a.Views)
	if e := a.Engagement; e != nil {
		for _, c := range engagementCounts(*e) {
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

// counting is a kind of interaction with its count.
type counting struct {
	Name  string
	Count *int64
}

func engagementCounts(e analytics.AccountAnalyticsEngagement) []counting {
	return []counting{
		{"likes", e.Likes}, {"comments", e.Comments}, {"shares", e.Shares}, {"saves", e.Saves}, {"clicks", e.Clicks},
	}
}
