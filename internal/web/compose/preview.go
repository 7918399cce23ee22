package compose

import (
	"bytes"
	"context"
	"net/http"
	"net/url"
	"slices"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/plan"
	"pressroom.example/pressroom/internal/domain/account"
	"pressroom.example/pressroom/internal/domain/post"
	"pressroom.example/pressroom/internal/domain/post/calendar"
	"pressroom.example/pressroom/internal/domain/post/posttime"
	"pressroom.example/pressroom/internal/domain/post/recurrence"
	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/teamtime"
	"pressroom.example/pressroom/internal/web/preview"
	"pressroom.example/pressroom/internal/web/shell"
)

// previewView is the preview and validation of an unsaved post.
type previewView struct {
	Cards          []card
	Blocking       int                   // number of problems that would make a network reject the post
	Warnings       int                   // number of other problems
	Left           *int64                // posts left in the month; nil if the plan has no limit
	AwaitsApproval bool                  // whether the client has not approved the post yet, or has rejected it
	Forecast       *post.PreflightResult // forecast for a scheduled post that needs no approval
	IsPausedSeries bool                  // whether the post is the template of a paused series
	Next           []time.Time           // first times of a new series, or next times of a paused one
	Day            []neighbour           // other posts on the selected day
	More           bool                  // whether the day has more posts than Day lists
	Error          string                // an error in the input; empty if there is none
	Empty          bool                  // whether no account is selected
	Issues         []issue               // the problems of all cards
	Lengths        [][]partLength        // lengths of the form's parts
	NoThreads      string                // says which networks cannot publish the thread; empty if all can
	Threads        bool                  // whether a selected account's network publishes threads
	TooLong        bool                  // whether a text is too long for a network with threads, so that splitting helps
	Blank          bool                  // whether the post is new and has no content
}

// neighbour is another post on the selected day.
type neighbour struct {
	calendar.Entry

	At time.Time // in the visitor's time zone
}

// card is an approximate preview of the post for one account.
type card struct {
	post.AccountCheck

	Look  preview.Post // how the post looks on the network
	Alone bool         // whether the post is published to the other accounts despite the problems of this one
}

// check validates a form and returns its preview. accounts are the team's accounts; saved is the saved post, or nil.
func (p *Handlers) check(
	ctx context.Context, l *locale.Language, actor *access.Actor, accounts []account.SocialAccount, s formData,
	saved *post.Record,
) (previewView, error) {
	var out previewView
	var formErr error
	c, all := s.composition()
	if all = append(s.contradictions(accounts, saved), all...); len(all) > 0 {
		formErr = all[0]
	}
	at, err := p.requestedTime(s, actor.PersonZone, saved)
	if err != nil {
		formErr = err
	}
	c.At = at
	if saved == nil {
		saved = &post.Record{} // a new post
	}
	out.IsPausedSeries = saved.IsTemplate
	out.Next, err = p.next(ctx, s, *saved, at, actor.PersonZone)
	switch {
	case err != nil && apierr.FromError(err).IsServerError():
		return out, err
	case err != nil && formErr == nil:
		formErr = err
	}
	if formErr != nil {
		out.Error = shell.Detail(l, formErr)
	}
	if !out.IsPausedSeries { // each post of a series has its own day
		if err := p.addDay(ctx, actor, s, saved, &out); err != nil {
			return out, err
		}
	}
	c.Options = s.Choices.of(saved.Options)
	checked, err := p.posts.CheckComposition(ctx, actor, c, saved.Targets)
	if err != nil {
		return out, err
	}
	s.renumberAll(checked.Previews)
	names, err := account.DisplayNames(ctx, p.DB, actor.TeamID)
	if err != nil {
		return out, err
	}
	out.Lengths, out.NoThreads = p.partLengths(s, checked.Previews), noThreadsText(l, networksWithoutThreads(checked.Previews))
	p.forecast(&out, checked, saved, actor.Language)
	out.addIssues(l)
	out.addPreviews(l, names, checked.Post)
	out.Blank = !s.hasContent() && saved.ID == ""
	return out, nil
}

// addPreviews adds to each card how the post looks on the network. names maps account IDs to display names.
func (o *previewView) addPreviews(l *locale.Language, names map[int64]string, p post.Record) {
	for i := range o.Cards {
		c := &o.Cards[i]
		c.Look = preview.New(preview.Author{
			ID: c.Target.AccountID, Platform: c.Target.Platform, Username: c.Target.Username, Name: names[c.Target.AccountID],
		}, c.Content).WithThread(p.Thread).WithComment(p.FirstComment)
		c.Look.Lang = l
	}
}

// forecast adds the cards, the forecast of a scheduled post, and the numbers of problems.
func (p *Handlers) forecast(out *previewView, checked post.CompositionCheck, held *post.Record, language string) {
	if checked.Left != plan.Unlimited {
		out.Left = new(checked.Left)
	}
	out.Empty = len(checked.Previews) == 0
	out.AwaitsApproval = held.Approval == post.Waiting || held.Approval == post.Rejected
	if held.Status == post.Scheduled && !out.AwaitsApproval && !out.Empty {
		fate := p.posts.Preflight(checked.Post, language)
		out.Forecast = &fate
	}
	for _, o := range checked.Previews {
		out.Threads = out.Threads || hasThreads(o.Target.Platform)
		out.TooLong = out.TooLong || canSplit(o)
		out.Cards = append(out.Cards, card{AccountCheck: o, Alone: out.Forecast != nil && !out.Forecast.Rejected})
	}
	out.count()
}

// requestedTime returns the form's time, and an error if the time is invalid or not allowed. A post may keep its saved
// time, even if it has passed.
func (p *Handlers) requestedTime(s formData, zone *time.Location, held *post.Record) (time.Time, error) {
	if s.When.isDayOnly() {
		_, err := s.When.day()
		return time.Time{}, err
	}
	at, _, err := s.When.instant(zone)
	if err == nil && !at.IsZero() && (held == nil || !held.ScheduledAt.Equal(at)) {
		err = p.checkTimeAllowed(at)
	}
	return at, err
}

// checkTimeAllowed returns an error if a time is in the past or too far ahead.
func (p *Handlers) checkTimeAllowed(at time.Time) error {
	switch now := p.DB.Now(); {
	case !at.After(now):
		return errPastTime
	case posttime.TooFar(now, at):
		return errTooFarAhead
	}
	return nil
}

const maxNeighbours = 10 // maximum number of other posts that are shown for the selected day

// addDay adds the other posts on the selected day.
func (p *Handlers) addDay(ctx context.Context, actor *access.Actor, s formData, held *post.Record, out *previewView) error {
	day, err := time.Parse(dateOnly, s.When.Date)
	if err != nil { // no date, or an invalid date, which another error reports
		return nil //nolint:nilerr // as above
	}
	next := day.AddDate(0, 0, 1)
	bounds := []time.Time{
		teamtime.StartOfDay(day.Year(), day.Month(), day.Day(), actor.PersonZone),
		teamtime.StartOfDay(next.Year(), next.Month(), next.Day(), actor.PersonZone),
	}
	spans, err := calendar.Spans(ctx, p.DB, actor.TeamID, calendar.Filter{}, bounds, maxNeighbours+1)
	if err != nil {
		return err
	}
	for _, entry := range spans[0].Entries {
		if held == nil || entry.PostID != held.ID {
			out.Day = append(out.Day, neighbour{entry, entry.At.In(actor.PersonZone)})
		}
	}
	if out.More = spans[0].More || len(out.Day) > maxNeighbours; len(out.Day) > maxNeighbours {
		out.Day = out.Day[:maxNeighbours]
	}
	return nil
}

// errPastTime is the error for a time in the past.
var errPastTime = apierr.Invalid(apierr.InThePast, "date",
	"That time has passed. Choose a later time or publish now.")

var errTooFarAhead = apierr.Invalid(apierr.OutOfRange, "date", "That is more than ten years away. Check the year.")

// count sets Blocking and Warnings.
func (o *previewView) count() {
	for _, c := range o.Cards {
		for _, found := range c.Problems {
			if found.Blocking {
				o.Blocking++
			} else {
				o.Warnings++
			}
		}
	}
}

const maxSeriesPreview = 5

// seriesPreview returns the first times of the form's series, or nil if the form has no recurrence or no time.
func seriesPreview(s formData, at time.Time, zone *time.Location) ([]time.Time, error) {
	if s.Repeat.Often == "" || at.IsZero() {
		return nil, nil
	}
	rule, err := s.Repeat.rule(at.In(zone))
	if err != nil {
		return nil, err
	}
	times, err := recurrence.Preview(rule, at, zone, maxSeriesPreview)
	for i := range times {
		times[i] = times[i].In(zone)
	}
	return times, err
}

// next returns the first times of the series that the form would start or resume.
func (p *Handlers) next(
	ctx context.Context, s formData, held post.Record, at time.Time, zone *time.Location,
) ([]time.Time, error) {
	if held.IsTemplate {
		return p.resumeTimes(ctx, s, held, zone)
	}
	return seriesPreview(s, at, zone)
}

// resumeTimes returns the next times that a paused series would have if it were resumed with the form's rule.
func (p *Handlers) resumeTimes(ctx context.Context, s formData, held post.Record,
	zone *time.Location) ([]time.Time, error) {
	rule, err := ruleFor(s, held)
	if err != nil {
		return nil, err
	}
	held.Series.Rule = rule
	list, err := p.posts.NextOccurrences(ctx, held, maxSeriesPreview)
	if err != nil {
		return nil, err
	}
	out := make([]time.Time, len(list))
	for i, one := range list {
		out[i] = one.At.In(zone)
	}
	return out, nil
}

// preview serves a preview of the form to the page's script.
func (p *Handlers) preview(w http.ResponseWriter, r *http.Request) {
	if !p.ReadLongForm(w, r, maxForm) {
		return
	}
	out, fresh, err := p.previewOf(r, parseForm(r.PostForm))
	if err != nil {
		p.ShowError(w, r, err)
		return
	}
	var page bytes.Buffer
	for _, part := range []struct {
		name string
		body any
	}{{"preview", &out}, {"fresh", fresh}, {"twice", fresh}, {"moment", fresh}, {"zone", fresh},
		{"creators", fresh}, {"tallies", out}, {"thread offer", out}, {"no threads", out},
		{"part lengths", out}, {"split offer", out}, {"next", out}, {"voice", fresh.Wording}} {
		block, err := pages["compose"].RenderBlock(p.Language(r), part.name, part.body)
		if err != nil {
			p.ServerError(w, r, err)
			return
		}
		page.Write(block)
	}
	shell.WriteHTML(w, r, http.StatusOK, page.Bytes())
}

// previewOf returns the preview of a form, and a view with the parts of the page that the script replaces or adds.
func (p *Handlers) previewOf(r *http.Request, s formData) (previewView, view, error) {
	actor, err := p.actor(r)
	if err != nil {
		return previewView{}, view{}, err
	}
	known, err := p.libraryItems(r.Context(), actor.TeamID, s)
	if err != nil {
		return previewView{}, view{}, err
	}
	s.removeUnknown(known)
	var held *post.Record
	if id := r.PostForm.Get("post"); id != "" {
		found, err := p.postOf(r, id)
		if err != nil {
			return previewView{}, view{}, err
		}
		held = &found
	}
	accounts, err := p.accounts(r)
	if err != nil {
		return previewView{}, view{}, err
	}
	fresh := view{formData: s, Path: "/posts/new", Zone: actor.PersonZone, Post: held}
	fresh.Creators = p.creatorsOf(r, accounts, s.Accounts)
	fresh.addFresh(r, p.Language(r), accounts, known, p.DB.Now())
	if fresh.Wording, err = p.wordingOf(r, s); err != nil {
		return previewView{}, view{}, err
	}
	out, err := p.check(r.Context(), p.Language(r), actor, accounts, s, held)
	return out, fresh, err
}

// addFresh adds the parts of the form that the page may not have yet: the choice between two equal wall-clock times,
// and the overrides of newly selected accounts. The script lists these accounts in the field "fresh".
func (v *view) addFresh(
	r *http.Request, l *locale.Language, accounts []account.SocialAccount, known map[int64]network.Media, now time.Time,
) {
	v.checkTime(l, now)
	if v.Accounts = numbers(r.PostForm["fresh"]); len(v.Accounts) == 0 {
		return
	}
	if v.Post != nil {
		v.Path = "/posts/" + url.PathEscape(v.Post.ID) + "/edit"
	}
	v.choose(accounts, v.Post)
	v.arrangeMedia(known)
}

func has[T comparable](list []T, one T) bool { return slices.Contains(list, one) }
