package accounts

import (
	"fmt"
	"html/template"
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
	Text    string // beginning of the best post's text
	Sizes   []analytics.FollowerCount
	Manages bool
	Wrong   string // why there are no analytics

	ZoneName    string // the team's time zone, in which days are counted
	Posts       []analytics.AccountPost
	First, Next string // pages of posts
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
	if found.BestPost != nil {
		out.Text = textOf(found.BestPost.Text, outcome.Untrusted)
	}
	if out.Sizes, err = p.sizes(r, zone, *out); err != nil {
		return err
	}
	return p.readPosts(r, zone, out)
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
	for i := range found {
		found[i].At = found[i].At.In(zone)
	}
	out.Posts = found
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

// sizes returns the daily numbers of followers, in the team's time zone.
func (p *Handlers) sizes(r *http.Request, zone *time.Location, out view) ([]analytics.FollowerCount, error) {
	sizes, err := p.insight.FollowerHistory(r.Context(), out.TeamID, out.ID, p.DB.Now().In(zone).
		AddDate(0, 0, -out.Days))
	for i := range sizes {
		sizes[i].At = sizes[i].At.In(zone)
	}
	return sizes, err
}

// textOf returns the untrusted text at a pointer, or "".
func textOf(p *operation.Pointer, texts []operation.Untrusted) string {
	if p != nil {
		for _, u := range texts {
			if u.ID == p.Untrusted {
				return u.Text
			}
		}
	}
	return ""
}

// line returns a chart of followers, or nothing for fewer than two days.
func (v view) line(l *locale.Language) template.HTML {
	if len(v.Sizes) < 2 {
		return ""
	}
	line := plot.Line{Label: l.T("Followers by day. The table below has the numbers."), Spread: true}
	for _, s := range v.Sizes {
		count := float64(s.Followers)
		line.Points = append(line.Points,
			plot.Point{Name: l.Format(s.At, locale.ShortDay), At: float64(s.At.Unix()), Value: &count})
	}
	return line.Draw(l)
}

// MaxPosts returns the maximum of posts on any weekday, which scales the bars.
func (v view) MaxPosts() float64 {
	most := 0
	if v.Cadence != nil {
		for _, d := range v.Cadence.ByWeekday {
			most = max(most, d.Posts)
		}
	}
	return float64(most)
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
