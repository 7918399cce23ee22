package posts

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/domain/account"
	"pressroom.example/pressroom/internal/domain/analytics"
	"pressroom.example/pressroom/internal/domain/post"
	"pressroom.example/pressroom/internal/domain/post/approval"
	"pressroom.example/pressroom/internal/domain/post/calendar"
	"pressroom.example/pressroom/internal/domain/post/postlist"
	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/web/shell"
)

// view holds the data of a post's page.
type view struct {
	post.Post

	Head             string // beginning of the text
	Stored           post.Record
	Shown            []network.Media // the post's media
	Deleted          []deleted       // deleted files of the post
	Accounts         []accountView
	States           []post.Status // states to show, as in lists
	Done             int           // number of accounts with an outcome
	Sent             int           // number of accounts that published the post
	Every            int           // seconds until the page refreshes; 0 for never
	Stamp            string        // changes when the part of the page that does not refresh is out of date
	Notes            []string
	Problems         []problem
	Blocked          bool                  // whether a network would reject the post
	Forecast         *post.PreflightResult // forecast for a scheduled post that needs no approval
	Rounds           []round
	Unsent           bool                   // whether it waits for approval, but no link to this version was created
	Revoked          bool                   // whether it waits for approval, but the links to this version were revoked
	HasLink          bool                   // whether a link to this version was created; it may have expired
	Thread           []approval.ThreadEntry // comments, oldest first
	NotScheduled     string                 // why approval did not schedule the post
	Remark           string                 // comment that the client entered, after an error
	Rule             string                 // recurrence rule in words
	Running          bool                   // whether it is the template of a running series
	Upcoming         []occurrence           // next occurrences of the series
	ResumeTimes      []resumeTime           // next times of a paused series if it were resumed
	RescheduleNote   string                 // note about the drafts that resuming would reschedule
	HasLostAccount   bool                   // whether an account's connection was lost
	PlannedTime      *time.Time             // planned time for which a draft can be scheduled; nil if there is none
	Retryable        []accountView          // failed accounts that can be retried
	Error            string
	Link             string // link for the client, if the post waits for approval or was rejected; may be empty
	Zone             string // name of the visitor's time zone
	zone             *time.Location
	lang             *locale.Language
	JustScheduled    bool           // whether the visitor has just scheduled it
	NotRetried       bool           // whether the visitor's last retry skipped all accounts
	MayPublish       bool           // whether its state allows publishing
	MayAsk           bool           // whether its state allows asking the client for approval
	Client           bool           // whether the visitor is a client of the team
	HasUnconfirmed   bool           // whether the outcome on an account is unknown
	MustDecide       bool           // whether the visitor is a client who must decide on the post
	MayUndoRejection bool           // whether the visitor is a client, requested changes, and can still approve the post
	Said             string         // comment on a decision that the client entered, after an error
	Editable         bool           // whether it is a draft or scheduled, and not a template
	History          []historyEntry // latest first
	Schedulings      []postlist.Scheduling
	ReviewEvents     []postlist.ReviewEvent  // when it was sent to the client or changed; empty for a post without approval
	RelatedPosts     []postlist.FamilyMember // edited copies for failed accounts, or the original
	MayCreateCopy    bool                    // whether an edited copy can be created for failed accounts
	MayArchive       bool                    // whether its state allows archiving
	Changeable       bool                    // like Editable, but also true for the template of a paused series
	Names            map[int64]string        // display names by account ID
	Pause            pause
	Totals           analytics.PostSums // sums of the metrics of all accounts
	Measured         []accountView      // accounts with metrics
	Usual            analytics.PostSums // sums of the usual metrics of other posts on the measured accounts
	Publishes        bool               // whether the visitor may publish
	Writes           bool               // whether the visitor may change posts
	TooEarly         bool               // whether the post is too new for comparing its metrics
	Now              time.Time          // current time, for omitting the year in dates
	Once             string             // value of the field "once" in the forms of the accounts
}

// pause explains why changes or publishing are paused. A text is empty if the action is not paused, or if the visitor's
// role does not allow it anyway.
type pause struct{ Changes, Publishing string }

func (p *Handlers) pauseOf(r *http.Request, call operation.Call) pause {
	why := func(needs access.Capability) string {
		if err := call.Require(needs); apierr.Is(err, apierr.ConnectionSuspended) {
			return p.Detail(r, err)
		}
		return ""
	}
	return pause{why(access.Write), why(access.Publish)}
}

// Any returns why changes are paused or, if they are not, why publishing is paused. It returns "" if neither is paused.
func (p pause) Any() string { return cmp.Or(p.Changes, p.Publishing) }

type (
	problem struct {
		post.PostProblem

		Account string
		Alone   bool // whether it prevents publishing to this account only
	}
	round struct {
		approval.Round

		OpenedAt, Decided time.Time // in the visitor's time zone
	}
	deleted struct {
		Name, Type, By string
		Size           int64
		At             time.Time
	}
	occurrence struct {
		calendar.Entry

		At time.Time // in the visitor's time zone
	}
)

// idPattern matches strings that can be the ID of a post.
var idPattern = regexp.MustCompile(`^[A-Za-z0-9-]{1,64}$`)

// idIn returns the post ID in the path, or a not_found error.
func idIn(r *http.Request) (string, error) {
	if id := r.PathValue("id"); idPattern.MatchString(id) {
		return id, nil
	}
	return "", apierr.ItemNotFound()
}

// postOf returns the post in the path if it belongs to the selected team.
func (p *Handlers) postOf(r *http.Request) (post.Record, error) {
	id, err := idIn(r)
	if err != nil {
		return post.Record{}, err
	}
	return p.posts.Load(r.Context(), shell.VisitorOf(r.Context()).Team.ID, id)
}

func (p *Handlers) page(w http.ResponseWriter, r *http.Request) {
	p.show(w, r, http.StatusOK, "")
}

// show writes the page of the post in the path with the given status and, if formErr is not empty, with this error
// text.
func (p *Handlers) show(w http.ResponseWriter, r *http.Request, status int, formErr string) {
	v, err := p.fullView(r)
	if err == nil {
		err = p.addMetrics(r.Context(), &v)
	}
	if err != nil {
		p.SwitchToTeamOf(w, r, err, p.findTeamOf(r))
		return
	}
	v.Said, v.Remark = r.PostForm.Get("comment"), r.PostForm.Get("remark")
	v.Error = formErr
	v.JustScheduled = string(p.Pop(r.Context(), JustScheduled)) == v.ID && v.Status == post.Scheduled
	v.NotRetried = string(p.Pop(r.Context(), notRetried)) == v.ID
	p.ShowTitled(w, r, status, pages["post"], p.T(r, "Post: %s", truncate(50, v.Head)), &v)
}

// findTeamOf returns a function for SwitchToTeamOf that finds the team of the post in the path.
func (p *Handlers) findTeamOf(r *http.Request) func(context.Context, []int64) (int64, error) {
	return func(ctx context.Context, teams []int64) (int64, error) {
		id, err := idIn(r)
		if err != nil {
			return 0, err
		}
		return p.posts.FindTeam(ctx, id, teams)
	}
}

// live serves the part of the page that refreshes.
func (p *Handlers) live(w http.ResponseWriter, r *http.Request) {
	v, err := p.fullView(r)
	if err != nil {
		p.ShowError(w, r, err)
		return
	}
	p.ShowPart(w, r, pages["post"], "live", &v)
}

// liveView returns the data for the part of the page that refreshes.
func (p *Handlers) liveView(r *http.Request) (view, error) {
	id, err := idIn(r)
	if err != nil {
		return view{}, err
	}
	apiPost, outcome, err := shell.Run[post.Post](p.Shell, r, "get_post", operation.Arguments{"id": id})
	if err != nil {
		return view{}, err
	}
	zone := shell.VisitorOf(r.Context()).Zone
	open := apiPost.Status == post.Draft || apiPost.Status == post.Scheduled
	v := view{
		Post: apiPost, Client: outcome.Call.Role == access.Client, Pause: p.pauseOf(r, outcome.Call),
		Editable:  open && (apiPost.Recurrence == nil || !apiPost.Recurrence.Template),
		Notes:     shell.TranslateNotes(p.Language(r), outcome.Notes),
		Publishes: shell.VisitorOf(r.Context()).Is(shell.Publishers),
		Writes:    shell.VisitorOf(r.Context()).Is(shell.Writers),
		Now:       p.DB.Now(), Once: p.Once(), Zone: zone.String(), zone: zone,
		lang: p.Language(r), Head: truncate(70, strings.Join(strings.Fields(apiPost.Caption), " ")),
	}
	if v.Head == "" {
		v.Head = v.lang.T("Post without text")
	}
	team := outcome.Call.TeamID
	if v.Stored, err = p.posts.Load(r.Context(), team, id); err != nil {
		return v, err
	}
	coming, err := p.delivery.NextSteps(r.Context(), team, id)
	if err != nil {
		return v, err
	}
	lines, err := p.delivery.Attempts(r.Context(), team, id)
	if err != nil {
		return v, err
	}
	p.addForecast(&v, outcome.Call.Language)
	held, err := p.replacedAccounts(r.Context(), v.Stored)
	if err != nil {
		return v, err
	}
	v.Accounts = p.accounts(v.lang, apiPost, v.Stored, outcome.Untrusted, coming, lines, held, zone)
	v.count(p.DB.Now())
	v.setRetryActions()
	return v, nil
}

// addForecast adds the expected outcome of a scheduled post, unless the client's approval is missing.
func (p *Handlers) addForecast(v *view, language string) {
	if v.Status == post.Scheduled && !v.Stored.IsTemplate && v.Approval != post.Waiting && v.Approval != post.Rejected {
		fate := p.posts.Preflight(v.Stored, language)
		v.Forecast = &fate
	}
}

// replacedAccounts returns the accounts that edited copies of the post have taken over. The map values are the IDs of
// the copies.
func (p *Handlers) replacedAccounts(ctx context.Context, stored post.Record) (map[int64]string, error) {
	if stored.Status == post.Draft || stored.Status == post.Scheduled || stored.Status == post.Published {
		return nil, nil //nolint:nilnil // no account has failed
	}
	return p.posts.HeldByOthers(ctx, p.DB, stored)
}

// count counts the accounts by state, and sets States, Stamp, Retryable and the refresh interval.
func (v *view) count(now time.Time) {
	stamp := []string{string(v.Status), string(v.Approval)}
	if v.Forecast != nil { // shown outside of the part that refreshes
		stamp = append(stamp, fmt.Sprint(v.Forecast.Rejected, len(v.Forecast.Connected), len(v.Forecast.Disconnected)))
	}
	if v.Editable { // its content may change
		stamp = append(stamp, strconv.FormatInt(v.Stored.UpdatedAt.UnixMicro(), 10))
	}
	for i := range v.Accounts {
		a := &v.Accounts[i]
		v.countAccount(a)
		stamp = append(stamp, a.stamp()...)
		if every := a.refreshInterval(); every > 0 && (v.Every == 0 || every < v.Every) {
			v.Every = every
		}
		if a.MayRetry && a.State == post.TargetFailed {
			v.Retryable = append(v.Retryable, *a)
		}
	}
	v.States = postlist.Details{Unconfirmed: v.HasUnconfirmed}.States(v.Status)
	switch wait := v.Stored.ScheduledAt.Sub(now); {
	case v.Status == post.Processing:
		v.Every = fastRefresh
	case v.Status == post.Scheduled && !v.Stored.IsTemplate && wait < refreshAhead:
		v.Every = mediumRefresh
	}
	v.Stamp = strings.Join(stamp, " ")
}

func (v *view) countAccount(a *accountView) {
	switch a.State {
	case post.TargetPublished:
		v.Sent++
		v.Done++
	case post.TargetFailed, post.TargetUnconfirmed:
		v.Done++
		v.HasUnconfirmed = v.HasUnconfirmed || a.State == post.TargetUnconfirmed
	case post.TargetPending, post.TargetSending:
	}
}

// Refresh intervals in seconds.
const (
	fastRefresh   = 2
	mediumRefresh = 10
	slowRefresh   = 30
)

// refreshAhead is how long before a post's scheduled time its page starts to refresh.
const refreshAhead = 10 * time.Minute

// schedulings returns when a post was scheduled and unscheduled. It returns nil for a template, because its series is
// paused and resumed instead.
func (p *Handlers) schedulings(ctx context.Context, r post.Record) ([]postlist.Scheduling, error) {
	if r.IsTemplate {
		return nil, nil
	}
	return postlist.Schedulings(ctx, p.DB, r.TeamID, r.ID)
}

// fullView returns the data for the whole page, except for metrics.
func (p *Handlers) fullView(r *http.Request) (view, error) {
	v, err := p.liveView(r)
	if err != nil {
		return v, err
	}
	zone := shell.VisitorOf(r.Context()).Zone
	v.setAllowedActions(p.DB.Now(), zone)
	if v.Names, err = account.DisplayNames(r.Context(), p.DB, v.Stored.TeamID); err != nil {
		return v, err
	}
	if err := p.addDeleted(r.Context(), &v, zone); err != nil {
		return v, err
	}
	if v.RelatedPosts, err = postlist.Family(r.Context(), p.DB, v.Stored); err != nil {
		return v, err
	}
	if err := p.addApproval(r.Context(), &v, zone); err != nil {
		return v, err
	}
	if v.Schedulings, err = p.schedulings(r.Context(), v.Stored); err != nil {
		return v, err
	}
	v.History = v.historyIn(zone)
	if v.Recurrence != nil {
		v.Rule = ruleWords(v.lang, v.Recurrence.Rule)
		if err := p.addUpcoming(r.Context(), &v, zone); err != nil {
			return v, err
		}
	}
	if v.Stored.IsTemplate && !v.Running {
		if err := p.addResume(r, &v, zone); err != nil {
			return v, err
		}
	}
	if v.Editable || v.Changeable {
		err = p.validate(r, &v)
	}
	return v, err
}

// setAllowedActions sets the actions that the post's state allows.
func (v *view) setAllowedActions(now time.Time, zone *time.Location) {
	stored := v.Stored
	held := stored.Approval == post.Waiting || stored.Approval == post.Rejected
	v.Shown = stored.Media
	v.MayAsk = v.Editable && stored.Approval != post.Approved ||
		stored.Approval == post.Waiting && stored.MissedApproval()
	v.MayPublish = v.Editable && !held
	open := stored.Status == post.Draft || stored.Status == post.Scheduled
	v.MustDecide = v.Client && (open || stored.MissedApproval()) && stored.Approval == post.Waiting
	v.MayUndoRejection = v.Client && approval.CanApproveAfterRejection(stored)
	v.Running = stored.IsTemplate && stored.Status == post.Scheduled && !stored.Series.Paused
	v.Changeable = stored.CheckComposable() == nil
	v.setPlannedTime(now, zone)
}

// setRetryActions sets the actions that are possible after a failure.
func (v *view) setRetryActions() {
	stored := v.Stored
	failed := (stored.Status == post.Failed || stored.Status == post.PartiallyPublished) && stored.ArchivedAt.IsZero()
	v.MayArchive = failed && !v.HasUnconfirmed
	held := stored.Approval == post.Waiting || stored.Approval == post.Rejected
	v.MayCreateCopy = failed && !held && slices.ContainsFunc(v.Accounts, func(a accountView) bool {
		return a.State == post.TargetFailed && a.Holder == "" && a.PublishedAt == nil
	})
}

// setPlannedTime sets PlannedTime if the post is a draft that can be published and its planned time is in the future.
func (v *view) setPlannedTime(now time.Time, zone *time.Location) {
	if stored := v.Stored; stored.Status == post.Draft && stored.ScheduledAt.After(now) && v.MayPublish {
		at := stored.ScheduledAt.In(zone)
		v.PlannedTime = &at
	}
}
