package reports

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/domain/report/subscription"
	"pressroom.example/pressroom/internal/domain/team"
	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/web/plot"
	"pressroom.example/pressroom/internal/web/shell"
)

// mailView is the part of the share page about report emails.
type mailView struct {
	subscription.Subscription

	Possible bool // a mail server is configured
	Manages  bool // the visitor may add email addresses
	Members  []team.Member
	ZoneName string
	Email    string // rejected email address
}

// WeekDay returns the day of the week to preselect.
func (m mailView) WeekDay() int { return m.dayOf(subscription.Weekly) }

// MonthDay returns the day of the month to preselect.
func (m mailView) MonthDay() int { return m.dayOf(subscription.Monthly) }

func (m mailView) dayOf(period string) int {
	if m.Period == period {
		return m.Day
	}
	return 1
}

// MonthDays returns the days that every month has.
func (mailView) MonthDays() []int { return intRange(1, 28) }

// Hours returns the hours of a day.
func (mailView) Hours() []int { return intRange(0, 23) }

func intRange(from, to int) []int {
	var out []int
	for n := from; n <= to; n++ {
		out = append(out, n)
	}
	return out
}

// readMails reads the part of the share page about report emails.
func (h *Handlers) readMails(r *http.Request, id string, zone *time.Location) (mailView, error) {
	v := shell.VisitorOf(r.Context())
	out := mailView{Possible: h.subscriptions.Mails(), Manages: v.Is(shell.Managers), ZoneName: v.Team.Timezone}
	var err error
	if out.Subscription, err = h.subscriptions.Get(r.Context(), v.Team.ID, id); err != nil {
		return out, err
	}
	if out.On {
		out.NextAt = out.NextAt.In(zone)
	}
	isRecipient := map[int64]bool{}
	for i := range out.Recipients {
		recipient := &out.Recipients[i]
		isRecipient[recipient.PersonID] = true
		if !recipient.SentAt.IsZero() {
			recipient.SentAt = recipient.SentAt.In(zone)
		}
	}
	members, err := h.Teams.Members(r.Context(), v.Team.ID)
	for _, m := range members {
		if !isRecipient[m.PersonID] {
			out.Members = append(out.Members, m)
		}
	}
	return out, err
}

// changeMails handles a form about report emails. It calls fn, and shows the share page with message or with the
// error.
func (h *Handlers) changeMails(
	w http.ResponseWriter, r *http.Request, kind, id string, message locale.Key, fn func(operation.Call) error,
) {
	if !h.ReadForm(w, r) {
		return
	}
	call, err := h.NewCall(r, "mail_report")
	if err == nil {
		err = fn(call)
	}
	if err != nil {
		if formErr, ok := h.formError(w, r, err); ok {
			h.showShare(w, r, shell.StatusOf(err), kind, id, shareView{At: "mails", Error: formErr})
		}
		return
	}
	h.Flash(r, message)
	shell.Redirect(w, r, "/reports/"+id+"/share#mails")
}

func (h *Handlers) saveSchedule(w http.ResponseWriter, r *http.Request, kind, id string) {
	h.changeMails(w, r, kind, id, "The schedule was saved.", func(call operation.Call) error {
		schedule := subscription.Schedule{Period: r.PostForm.Get("period")}
		day := r.PostForm.Get("weekday")
		if schedule.Period == subscription.Monthly {
			day = r.PostForm.Get("monthday")
		}
		schedule.Day, _ = strconv.Atoi(day) // 0 if invalid, which is not a day
		var err error
		if schedule.Hour, err = strconv.Atoi(r.PostForm.Get("hour")); err != nil {
			schedule.Hour = -1
		}
		return h.subscriptions.Save(r.Context(), call, id, schedule)
	})
}

func (h *Handlers) stopMails(w http.ResponseWriter, r *http.Request, kind, id string) {
	h.changeMails(w, r, kind, id, "The report is no longer emailed.", func(call operation.Call) error {
		return h.subscriptions.Stop(r.Context(), call, id)
	})
}

func (h *Handlers) addMember(w http.ResponseWriter, r *http.Request, kind, id string) {
	h.changeMails(w, r, kind, id, "The recipient was added.", func(call operation.Call) error {
		person, _ := strconv.ParseInt(r.PostForm.Get("person"), 10, 64) // 0 if invalid, which is not a member
		return h.subscriptions.AddMember(r.Context(), call, id, person)
	})
}

func (h *Handlers) addAddress(w http.ResponseWriter, r *http.Request, kind, id string) {
	h.changeMails(w, r, kind, id, "The recipient was added.", func(call operation.Call) error {
		return h.subscriptions.AddAddress(r.Context(), call, id, r.PostForm.Get("email"))
	})
}

func (h *Handlers) removeRecipient(w http.ResponseWriter, r *http.Request, kind, id string) {
	h.changeMails(w, r, kind, id, "The recipient was removed.", func(call operation.Call) error {
		recipient, err := shell.PathID(r, "recipient")
		if err != nil {
			return err
		}
		return h.subscriptions.Remove(r.Context(), call, id, recipient)
	})
}

// unsubscribePage asks a recipient to confirm unsubscribing, because email scanners follow links.
func (h *Handlers) unsubscribePage(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-Robots-Tag", "noindex, nofollow, noarchive")
	subscriber, err := h.subscriptions.Subscriber(r.Context(), r.PathValue("token"))
	if apierr.Is(err, apierr.NotFound) {
		h.ShowMessage(w, r, http.StatusNotFound, "Not subscribed", "This address does not receive emails about this report.")
		return
	}
	if err != nil {
		h.ShowError(w, r, err)
		return
	}
	h.Show(w, r, http.StatusOK, pages["unsubscribe"], "Unsubscribe", subscriber)
}

// unsubscribe stops the report emails to a recipient. Email clients may send the request directly (RFC 8058).
func (h *Handlers) unsubscribe(w http.ResponseWriter, r *http.Request) {
	if err := h.subscriptions.Unsubscribe(r.Context(), r.PathValue("token")); err != nil {
		h.ShowError(w, r, err)
		return
	}
	shell.Redirect(w, r, r.URL.EscapedPath())
}

// Summarize returns the summary of a team's report for an email in a language. It returns a not_found error if the
// report has no metrics.
func (h *Handlers) Summarize(
	ctx context.Context, l *locale.Language, teamID int64, id string,
) (subscription.Summary, error) {
	owner, err := h.reports.FindOwner(ctx, id)
	if err != nil {
		return subscription.Summary{}, err
	}
	t, err := h.Teams.Team(ctx, teamID)
	if err != nil {
		return subscription.Summary{}, err
	}
	out := view{Quoted: quotes{}, Shared: true, l: l}
	if out.zone, err = time.LoadLocation(t.Timezone); err != nil {
		return subscription.Summary{}, fmt.Errorf("loading the team's time zone: %w", err)
	}
	if _, err := h.readMetrics(ctx, teamID, id, h.teamReader(ctx, teamID, owner.Kind, id, out.zone), "", &out); err != nil {
		return subscription.Summary{}, err
	}
	if out.MeasuredAt == nil {
		return subscription.Summary{}, apierr.ItemNotFound()
	}
	return out.summary(), nil
}

// summary returns the key metrics and findings for an email.
func (v view) summary() subscription.Summary {
	s := v.ReportSummary
	out := subscription.Summary{
		Subject: subject(s.Kind, s.Subject), Network: shell.NetworkName(s.Platform),
		Measured: s.MeasuredAt.UTC,
	}
	if at, err := time.Parse(time.RFC3339Nano, s.MeasuredAt.Team); err == nil {
		out.Measured = v.l.Format(at, locale.Date)
	}
	add := func(name locale.Key, value string) {
		if value != "–" {
			out.Lines = append(out.Lines, subscription.Line{Name: v.l.T(name), Value: value})
		}
	}
	if s.Profile != nil {
		add("Followers", v.l.Count(s.Profile.Followers))
		if change := v.FollowerChange(); change != nil {
			add("Change since the first measurement", withSign(v.l, *change))
		}
	}
	if s.Hashtag != nil && s.Hashtag.Posts != nil {
		add("Total posts", number(v.l, s.Hashtag.Posts.Count))
	}
	if e := s.Engagement; e != nil {
		if e.RateByFollowers != nil {
			add("Engagement per follower", rate(v.l, e.RateByFollowers.Median))
		}
		add("Posts per week", number(v.l, e.PostsPerWeek))
	}
	if s.Score != nil {
		add("Score (out of 100)", number(v.l, s.Score.Value))
	}
	v.Kind = s.Kind
	for _, f := range v.Brief() {
		out.Findings = append(out.Findings, f.Text)
	}
	return out
}

func withSign(l *locale.Language, n int64) string {
	if n > 0 {
		return "+" + plot.FormatNumber(l, float64(n))
	}
	return plot.FormatNumber(l, float64(n))
}
