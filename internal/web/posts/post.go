package posts

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"pressroom/internal/apierr"
	"pressroom/internal/core/access"
	"pressroom/internal/core/operation"
	"pressroom/internal/domain/delivery"
	"pressroom/internal/domain/post"
	"pressroom/internal/network"
	"pressroom/internal/web/shell"
)

// view is a post's page.
type view struct {
	post.Post

	Head       string // the start of its text
	Stored     post.Record
	Shown      []network.Media
	Deleted    []deleted // files that the library does not have any more
	Accounts   []accountView
	States     []post.Status // as lists tell it too
	Done       int           // accounts with a result
	Sent       int           // and those that have it
	Every      int           // seconds until the page looks again by itself; 0 for never
	Stamp      string
	Notes      []string
	Problems   []problem
	Blocked    bool
	Fate       *post.Forecast // of a scheduled post that nobody has to approve first: what becomes of it at its time
	Rounds     []round
	Unsent     bool // the post waits for the client, and no link to this version was made
	Revoked    bool // the post waits for the client, and the links to this version were revoked
	Linked     bool // a link to this version was made and not revoked; it may have expired
	Rule       string
	Running    bool // the series goes on
	Upcoming   []occurrence
	Standing   []standing // of a series that stands, when it would go on
	Taken      string     // and what becomes of its drafts then
	Unlinked   bool       // an account has lost its connection
	Wished     *time.Time // of a draft: a time that is to come
	Retryable  []accountView
	Wrong      string
	Link       string // for the client
	Zone       string
	MayPublish bool // nothing of its state keeps it from being published
	MayAsk     bool
	Client     bool   // whoever looks is a client of the team
	Doubtful   bool   // a network may have it and cannot say
	Decides    bool   // and is asked what to do with the post
	Said       string // what the client wrote and is asked to mend
	Editable   bool
	Changeable bool // in the form; also what a series that stands is made from
	Pause      pause
}

// pause says why nothing may be changed or published at present; empty where it may, or the role does not let the
// person.
type pause struct{ Changes, Publishing string }

func pauseOf(call operation.Call) pause {
	why := func(needs access.Capability) string {
		if err := call.Require(needs); apierr.Is(err, apierr.ConnectionSuspended) {
			return apierr.Of(err).Detail
		}
		return ""
	}
	return pause{why(access.Write), why(access.Publish)}
}

// Any is the reason that says most.
func (p pause) Any() string { return cmp.Or(p.Changes, p.Publishing) }

type (
	problem struct {
		post.PostProblem

		Account string
		Alone   bool // it keeps a scheduled post from this account, and the others get it
	}
	round struct {
		post.Round

		OpenedAt, Decided time.Time // in the team's zone
	}
	deleted struct {
		Name, Type, By string
		Size           int64
		At             time.Time
	}
	occurrence struct {
		post.Slot

		At time.Time // in the team's zone
	}
)

// idForm is the form of posts' ids.
var idForm = regexp.MustCompile(`^[A-Za-z0-9-]{1,64}$`)

// idIn is the post's id in the address: not_found for what is none.
func idIn(r *http.Request) (string, error) {
	if id := r.PathValue("id"); idForm.MatchString(id) {
		return id, nil
	}
	return "", apierr.Missing()
}

// stored reads the post in the address as it is kept.
func (p *Part) stored(r *http.Request) (post.Record, error) {
	id, err := idIn(r)
	if err != nil {
		return post.Record{}, err
	}
	return p.posts.Load(r.Context(), shell.VisitorOf(r.Context()).Team.ID, id)
}

func (p *Part) page(w http.ResponseWriter, r *http.Request) {
	p.show(w, r, http.StatusOK, "")
}

// show answers with a post's page, with what was wrong with what the person asked for.
func (p *Part) show(w http.ResponseWriter, r *http.Request, status int, wrong string) {
	v, err := p.whole(r)
	if err != nil {
		p.Elsewhere(w, r, err, p.home(r))
		return
	}
	v.Said = r.PostForm.Get("comment")
	if v.Wrong = wrong; wrong == "" {
		v.Link = string(p.Take(r.Context(), linkKept+v.ID))
	}
	p.Show(w, r, status, pages["post"], "Post: "+cut(50, v.Head), v)
}

// home finds the team of the post in the address.
func (p *Part) home(r *http.Request) func(context.Context, []int64) (int64, error) {
	return func(ctx context.Context, teams []int64) (int64, error) {
		id, err := idIn(r)
		if err != nil {
			return 0, err
		}
		return p.posts.FindTeam(ctx, id, teams)
	}
}

// live answers with the part of the page that changes by itself.
func (p *Part) live(w http.ResponseWriter, r *http.Request) {
	v, err := p.whole(r)
	if err != nil {
		p.Refuse(w, r, err)
		return
	}
	p.piece(w, r, "post", v)
}

// piece answers with the block "live" of a page.
func (p *Part) piece(w http.ResponseWriter, r *http.Request, page string, body any) {
	var out bytes.Buffer
	if err := pages[page]().ExecuteTemplate(&out, "live", body); err != nil {
		p.Broken(w, r, fmt.Errorf("making a part of a page: %w", err))
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write(out.Bytes()) // the client may be gone
}

// moving reads what changes by itself.
func (p *Part) moving(r *http.Request) (view, error) {
	id, err := idIn(r)
	if err != nil {
		return view{}, err
	}
	full, outcome, err := shell.Ask[post.Post](p.Frame, r, "get_post", operation.Arguments{"id": id})
	if err != nil {
		return view{}, err
	}
	zone := outcome.Call.Zone
	open := full.Status == post.Draft || full.Status == post.Scheduled
	v := view{
		Post: full, Client: outcome.Call.Role == access.Client, Pause: pauseOf(outcome.Call),
		Editable: open && (full.Recurrence == nil || !full.Recurrence.Template), Notes: outcome.Notes,
		Zone: zone.String(), Head: cut(70, strings.Join(strings.Fields(full.Caption), " ")),
	}
	if v.Head == "" {
		v.Head = "A post without text"
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
	if v.Status == post.Scheduled && !v.Stored.IsTemplate && v.Approval != post.Waiting && v.Approval != post.Rejected {
		fate := p.posts.Predict(v.Stored, outcome.Call.Language)
		v.Fate = &fate
	}
	v.Accounts = p.accounts(full, v.Stored, outcome.Untrusted, coming, lines, zone)
	v.count(p.DB.Now())
	return v, nil
}

// count sums the accounts up, and says when to look again.
func (v *view) count(now time.Time) {
	stamp := []string{string(v.Status), string(v.Approval)}
	for i := range v.Accounts {
		a := &v.Accounts[i]
		switch a.State {
		case post.TargetPublished:
			v.Sent++
			v.Done++
		case post.TargetFailed, post.TargetUnconfirmed:
			v.Done++
			v.Doubtful = v.Doubtful || a.State == post.TargetUnconfirmed
			stamp = append(stamp, fmt.Sprint(a.ID, a.State, a.MayRetry))
		case post.TargetPending, post.TargetSending:
		}
		if every := a.every(); every > 0 && (v.Every == 0 || every < v.Every) {
			v.Every = every
		}
		if a.MayRetry {
			v.Retryable = append(v.Retryable, *a)
		}
	}
	v.States = post.ListDetails{Unconfirmed: v.Doubtful}.States(v.Status)
	switch wait := v.Stored.ScheduledAt.Sub(now); {
	case v.Status == post.Processing:
		v.Every = soon
	case v.Status == post.Scheduled && !v.Stored.IsTemplate && wait < waited:
		v.Every = shortly
	}
	v.Stamp = strings.Join(stamp, " ")
}

// How often a page looks again by itself, in seconds.
const (
	soon    = 2
	shortly = 10
	rarely  = 30
)

// waited is how long before its time a scheduled post is waited for.
const waited = 10 * time.Minute

// whole reads all of the page.
func (p *Part) whole(r *http.Request) (view, error) {
	v, err := p.moving(r)
	if err != nil {
		return v, err
	}
	zone, err := p.zone(r)
	if err != nil {
		return v, err
	}
	v.allow(p.DB.Now(), zone)
	if err := p.lost(r.Context(), &v, zone); err != nil {
		return v, err
	}
	if err := p.client(r.Context(), &v, zone); err != nil {
		return v, err
	}
	if v.Recurrence != nil {
		v.Rule = ruleWords(v.Recurrence.Rule)
		if err := p.upcoming(r.Context(), &v, zone); err != nil {
			return v, err
		}
	}
	if v.Stored.IsTemplate && !v.Running {
		if err := p.stands(r, &v, zone); err != nil {
			return v, err
		}
	}
	if v.Editable || v.Changeable {
		err = p.validate(r, &v)
	}
	return v, err
}

// allow tells what the post's state lets people do.
func (v *view) allow(now time.Time, zone *time.Location) {
	stored := v.Stored
	held := stored.Approval == post.Waiting || stored.Approval == post.Rejected
	v.Shown = stored.Media
	v.MayAsk = v.Editable && stored.Approval != post.Approved ||
		stored.Approval == post.Waiting && stored.PassedUnapproved()
	v.MayPublish = v.Editable && !held
	open := stored.Status == post.Draft || stored.Status == post.Scheduled
	v.Decides = v.Client && (open || stored.PassedUnapproved()) && stored.Approval == post.Waiting
	v.Running = stored.IsTemplate && stored.Status == post.Scheduled && !stored.Series.Paused
	v.Changeable = stored.CheckComposable() == nil
	v.wish(now, zone)
}

// wish notes the time that a draft can be scheduled for as it is.
func (v *view) wish(now time.Time, zone *time.Location) {
	if stored := v.Stored; stored.Status == post.Draft && stored.ScheduledAt.After(now) && v.MayPublish {
		at := stored.ScheduledAt.In(zone)
		v.Wished = &at
	}
}

// lost adds which files of the post are gone, and that one was taken out of it.
func (p *Part) lost(ctx context.Context, v *view, zone *time.Location) error {
	var gone []network.Media
	for _, m := range slices.Concat(append([][]network.Media{v.Stored.Media}, owned(v.Stored.Targets)...)...) {
		if m.Gone && !slices.ContainsFunc(gone, func(other network.Media) bool { return other.ID == m.ID }) {
			gone = append(gone, m)
		}
	}
	var ids []int64
	for _, m := range gone {
		ids = append(ids, m.ID)
	}
	told, err := p.media.Deletions(ctx, v.Stored.TeamID, ids)
	if err != nil {
		return err
	}
	for _, m := range gone {
		one := told[m.ID]
		v.Deleted = append(v.Deleted, deleted{m.Name, m.Type, one.By, m.Size, one.At.In(zone)})
	}
	taken, err := p.posts.LastChangeRemovedMedia(ctx, v.Stored)
	if taken {
		v.Notes = append(v.Notes,
			"A file that it showed was deleted, and taken out of it. Look at the post before it goes out.")
	}
	return err
}

// owned is what accounts show of their own.
func owned(targets []post.Target) [][]network.Media {
	out := make([][]network.Media, len(targets))
	for i, t := range targets {
		out[i] = t.Media
	}
	return out
}

// client adds what the client was shown and said.
func (p *Part) client(ctx context.Context, v *view, zone *time.Location) error {
	rounds, err := p.posts.Rounds(ctx, v.Stored.TeamID, v.Stored.ID)
	for _, one := range rounds {
		v.Rounds = append(v.Rounds, round{one, one.OpenedAt.In(zone), one.Decided.In(zone)})
	}
	if len(rounds) > 0 {
		waits, latest := v.Stored.Approval == post.Waiting, rounds[0]
		v.Linked, v.Revoked, v.Unsent = latest.Sent, waits && latest.Revoked, waits && !latest.Sent && !latest.Revoked
	}
	return err
}

const upcomingShown = 6

// upcoming adds when the series occurs next.
func (p *Part) upcoming(ctx context.Context, v *view, zone *time.Location) error {
	slots, err := p.posts.Occurrences(ctx, v.Stored.TeamID, v.Stored.SeriesID, upcomingShown)
	for _, slot := range slots {
		v.Upcoming = append(v.Upcoming, occurrence{slot, slot.At.In(zone)})
	}
	return err
}

// validate adds what the networks would not take.
func (p *Part) validate(r *http.Request, v *view) error {
	found, _, err := shell.Ask[post.Validation](p.Frame, r, "validate_post", operation.Arguments{"post_id": v.ID})
	if err != nil {
		return err
	}
	names := map[int64]string{}
	for _, a := range v.Accounts {
		names[a.ID] = shell.NetworkName(a.Platform) + ", " + a.Username
	}
	for _, one := range found.Problems {
		v.Problems = append(v.Problems,
			problem{one, names[one.AccountID], v.Fate != nil && !v.Fate.Refused && one.Blocking})
		v.Blocked = v.Blocked || one.Blocking
		v.Unlinked = v.Unlinked || one.Code == "account_inactive"
	}
	return nil
}

// accountView is an account of a post with its story.
type accountView struct {
	post.PostAccount

	PostID  string
	Said    string          // what the network said: a stranger's text
	Own     []network.Media // in place of the post's
	HasOwn  bool
	Next    *next
	Lines   []line
	Earlier int // lines before these
	Why     string
	Later   *time.Time // from when it may be sent again
	LaterIn string     // the same, where it is near
	Absent  string     // who looked at the network and did not find it, where that is how it stands
	Gone    bool       // the connection is lost, which Why tells what to do about
	// MayRetry is true of one that may be sent again now.
	MayRetry bool
}

type (
	next struct {
		Text  string
		At    *time.Time
		In    string // in place of At, where that is near
		Until *time.Time
		Step  delivery.Step
	}
	line struct {
		At                         time.Time
		What, Result, By, Code, To string
	}
)

// every is how often the page looks again because of this account.
func (a *accountView) every() int {
	switch {
	case a.Next == nil:
		return 0
	case a.Next.Step == delivery.StepLookUp:
		return rarely
	}
	return soon
}

const (
	fewAccounts = 10 // of a post, whose attempts its page shows itself
	fewLines    = 5  // of each
)

func (p *Part) accounts(
	full post.Post, stored post.Record, said []operation.Untrusted, coming []delivery.Next,
	lines []delivery.AttemptLine, zone *time.Location,
) []accountView {
	out := make([]accountView, len(full.Accounts))
	for i, a := range full.Accounts {
		one := &out[i]
		*one = accountView{
			PostAccount: a, PostID: full.ID, Said: textOf(said, a.NetworkMessage),
			HasOwn: stored.Targets[i].Media != nil, Own: stored.Targets[i].Media,
		}
		one.Next = nextOf(coming, a.ID, p.DB.Now(), zone)
		if a.State == post.TargetFailed {
			p.mayRetry(one, stored, stored.Targets[i], zone)
		}
		var last delivery.AttemptLine
		for _, l := range lines {
			if l.AccountID == a.ID {
				one.Lines = append(one.Lines, lineOf(l, zone))
				last = l
			}
		}
		one.decided(last)
		most := fewLines
		if len(out) > fewAccounts {
			most = 0
		}
		one.Earlier = max(0, len(one.Lines)-most)
		one.Lines = one.Lines[one.Earlier:]
	}
	return out
}

// decided has an account that a person did not find at the network say so, in place of what its code would.
func (a *accountView) decided(last delivery.AttemptLine) {
	if a.State == post.TargetFailed && a.ErrorCode == "network_error" && last.Call == "decide" {
		a.Absent, a.Explanation = cmp.Or(last.By, "Whoever runs the service"), ""
	}
}

func (p *Part) mayRetry(one *accountView, stored post.Record, t post.Target, zone *time.Location) {
	reason, at := p.posts.RetryState(t)
	one.Why, one.MayRetry = skipWords[reason], reason == "" && stored.Status != post.Processing
	if why := heldWords[stored.Approval]; reason == "" && why != "" {
		one.Why, one.MayRetry = why, false
	}
	if !at.IsZero() {
		one.LaterIn = near(p.DB.Now(), at)
		at = at.In(zone)
		one.Later = &at
	}
	if reason == "account_gone" {
		one.Gone = true
		if one.ErrorCode == "account_needs_reauth" {
			one.Explanation = "" // it says what Why says
		}
	} else if one.ErrorCode == "account_needs_reauth" {
		one.Explanation = "The connection to the account was lost then. It is connected again."
	}
}

func nextOf(coming []delivery.Next, account int64, now time.Time, zone *time.Location) *next {
	for _, n := range coming {
		if n.AccountID != account {
			continue
		}
		out := &next{Text: stepWords[n.Step][0], Step: n.Step}
		if !n.At.IsZero() {
			at := n.At.In(zone)
			out.Text, out.At = stepWords[n.Step][1], &at
			if out.In = near(now, at); out.In != "" {
				out.Text, out.At = strings.TrimSuffix(out.Text, " at"), nil
			}
		}
		if !n.Until.IsZero() {
			until := n.Until.In(zone)
			out.Until = &until
		}
		return out
	}
	return nil
}

// longestQuote is how much is shown of what a network said, in characters.
const longestQuote = 400

func lineOf(l delivery.AttemptLine, zone *time.Location) line {
	out := line{
		At: l.At.In(zone), What: wordFor(callWords, l.Call), Result: wordFor(resultWords, l.Result),
		Code: cut(longestQuote, l.NetworkCode), To: cut(longestQuote, l.NetworkText),
	}
	switch {
	case l.Call == "decide" && l.By == "":
		out.By = "the operator"
	case l.Call == "decide":
		out.By = l.By
	}
	return out
}

// textOf is the stranger's text that a pointer points at.
func textOf(all []operation.Untrusted, at *operation.Pointer) string {
	if at == nil {
		return ""
	}
	for _, u := range all {
		if u.ID == at.Untrusted {
			return cut(longestQuote, u.Text)
		}
	}
	return ""
}
