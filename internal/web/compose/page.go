package compose

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"pressroom/internal/apierr"
	"pressroom/internal/core/access"
	"pressroom/internal/core/operation"
	"pressroom/internal/core/plan"
	"pressroom/internal/domain/account"
	"pressroom/internal/domain/media"
	"pressroom/internal/domain/post"
	"pressroom/internal/network"
	"pressroom/internal/teamtime"
	"pressroom/internal/web/shell"
)

// view is the page on which a post is written.
type view struct {
	sheet

	Path    string // where its form is sent
	Post    *post.Record
	Zone    *time.Location
	Groups  []group
	Chosen  []chosen // the accounts that it is to go to
	Shown   []item   // the media of the post
	Shelf   shelf
	Preview outlook
	Twice   bool // the clocks show the time two times
	First   time.Time
	Later   time.Time
	Begins  time.Time // of a series that stands: its first time, in its zone
	ByDate  string    // on which days of months it can recur
	ByDay   string
	Wrong   string       // why nothing was done
	Field   string       // which field that is about
	Theirs  *post.Record // what somebody else has made of it
	Paused  string       // why nothing can be scheduled or published at present; empty where it can
}

// group is a network with its accounts.
type group struct {
	Platform string
	Accounts []offered
}

// chosen is an account that the post is to go to, with what it shows of its own.
type chosen struct {
	offered
	own

	Items []item
}

// item is an image or a video of the post, in its place.
type item struct {
	network.Media

	Account int64 // whose own it is, 0 for the post's
	Place   int
	Last    bool
	Alt     string
	Cover   string
	First   bool // the first time that it stands in the form, where its fields are
}

// shelf is what the picker shows of the library.
type shelf struct {
	Items []media.MediaItem
	Next  string // cursor
	Wrong string
}

// newPage is an empty form. What stands in the address is in it already: a day, a text, accounts and media.
func (p *Part) newPage(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	if id := p.madeBy(r, q.Get("sent")); id != "" {
		p.Say(r, "This form was sent before. This is the post that it made.")
		shell.Redirect(w, r, "/posts/"+id+"/edit")
		return
	}
	if p.resumed(w, r) {
		return
	}
	s := read(map[string][]string{
		"account": q["account"], "media": q["media"], "caption": q["caption"], "date": q["date"], "time": q["time"],
	})
	s.Repeat.Every = "1"
	p.show(w, r, s, nil)
}

// resumed shows a form that was sent by somebody whose session had ended, or who had turned to another team.
func (p *Part) resumed(w http.ResponseWriter, r *http.Request) bool {
	form := p.Resumed(r)
	if form == nil {
		return false
	}
	s := read(form)
	s.Unsaved = true
	p.show(w, r, s, nil)
	return true
}

func (p *Part) editPage(w http.ResponseWriter, r *http.Request) {
	if p.resumed(w, r) {
		return
	}
	v := shell.VisitorOf(r.Context())
	held, err := p.held(r, r.PathValue("id"))
	if err != nil {
		p.Refuse(w, r, err)
		return
	}
	if err := held.CheckComposable(); err != nil {
		p.Say(r, apierr.Of(err).Detail)
		shell.Redirect(w, r, "/posts/"+held.ID)
		return
	}
	zone, err := time.LoadLocation(v.Team.Timezone)
	if err != nil {
		p.Broken(w, r, err)
		return
	}
	p.show(w, r, sheetOf(held, zone), nil)
}

// show shows a form as it stands, with why nothing was done where that is so.
func (p *Part) show(w http.ResponseWriter, r *http.Request, s sheet, why error) {
	p.showAt(w, r, s, r.PathValue("id"), "", why)
}

// showAt shows the form of a post, of a new one where id is empty. done is what was done before the rest was refused.
func (p *Part) showAt(w http.ResponseWriter, r *http.Request, s sheet, id, done string, why error) {
	out, err := p.viewOf(r, s, id)
	if err != nil {
		p.Refuse(w, r, err)
		return
	}
	status := http.StatusOK
	if why != nil {
		f := apierr.Of(why)
		if f.Context["argument"] == nil && (f.IsServerError() || f.Code == apierr.NotFound) {
			p.Refuse(w, r, why)
			return
		}
		out.Wrong, status = done+sentence(f), shell.StatusOf(why)
		out.Field, _ = f.Context["argument"].(string)
		if field, ok := fields[out.Field]; ok {
			out.Field = field
		}
		if f.Context["state"] == "changed" {
			out.Theirs, out.Seen = out.Post, out.Post.UpdatedAt.UnixMicro()
		}
	}
	title := "New post"
	if id != "" {
		title = "Edit post"
	}
	p.Show(w, r, status, pages["compose"], title, out)
}

// fields are the form's names of what services refuse by names of their own.
var fields = map[string]string{"scheduled_at": "date", "rule": "repeat"}

// sentence is a refusal in the form's words.
func sentence(f *apierr.Error) string {
	if f.Code == apierr.PreflightBlocked {
		return "A network would not take the post: what stops it stands under “How it looks”."
	}
	if f.Code == apierr.NotFound {
		return "An account or a file of this post is not there any more. It is taken out below; look at the post and " +
			"save it again."
	}
	return f.Detail
}

// viewOf is everything that the page shows. What the team does not have any more is left out of it.
func (p *Part) viewOf(r *http.Request, s sheet, id string) (view, error) {
	ctx := r.Context()
	actor, err := p.actor(r)
	if err != nil {
		return view{}, err
	}
	out := view{sheet: s, Path: "/posts/new", Zone: actor.Zone}
	if id != "" {
		held, err := p.held(r, id)
		if err != nil {
			return view{}, err
		}
		out.Post, out.Path = &held, "/posts/"+id+"/edit"
	}
	if err := (operation.Call{Actor: actor}).Require(access.Publish); apierr.Is(err, apierr.ConnectionSuspended) {
		out.Paused = apierr.Of(err).Detail
	}
	accounts, err := p.accounts(r)
	if err != nil {
		return view{}, err
	}
	out.choose(accounts, out.Post)
	if out.Post != nil && out.Post.IsTemplate {
		zone, err := zoneOf(*out.Post)
		if err != nil {
			return view{}, err
		}
		out.Begins = out.Post.ScheduledAt.In(zone)
	}
	known, err := p.known(ctx, actor.TeamID, out.sheet)
	if err != nil {
		return view{}, err
	}
	out.lay(known)
	if out.Shelf, err = p.shelf(r, &out.sheet); err != nil {
		return view{}, err
	}
	out.tellTime()
	out.Preview, err = p.look(ctx, actor, out.sheet, out.Post)
	return out, err
}

// mostAccounts is how many accounts the page lists; a post has at most a hundred.
const mostAccounts = 500

// accounts are all that the team has connected.
func (p *Part) accounts(r *http.Request) ([]account.SocialAccount, error) {
	out := []account.SocialAccount{}
	args := operation.Arguments{"active_only": false, "limit": int64(50)}
	for len(out) < mostAccounts {
		page, got, err := shell.Ask[account.SocialAccountList](p.Frame, r, "list_social_accounts", args)
		if err != nil {
			return nil, err
		}
		out = append(out, page.SocialAccounts...)
		if got.Page == nil || !got.Page.HasMore {
			break
		}
		args["cursor"] = got.Page.Cursor
	}
	return out, nil
}

// offered is an account that a form offers.
type offered struct {
	account.SocialAccount

	Left bool // it was disconnected; the post has it still
}

// offer are the connected accounts by network and name, with those that a post has still although they were
// disconnected.
func offer(accounts []account.SocialAccount, held *post.Record) []offered {
	out := make([]offered, 0, len(accounts))
	for _, a := range accounts {
		out = append(out, offered{SocialAccount: a})
	}
	if held != nil {
		for _, t := range held.Targets {
			if !slices.ContainsFunc(accounts, func(a account.SocialAccount) bool { return a.ID == t.AccountID }) {
				out = append(out,
					offered{
						account.SocialAccount{
							ID: t.AccountID, Platform: t.Platform, Username: t.Username, Active: t.Active,
						}, !t.Active,
					})
			}
		}
	}
	slices.SortFunc(out, func(a, b offered) int {
		return strings.Compare(shell.NetworkName(a.Platform)+"\x00"+strings.ToLower(a.Username),
			shell.NetworkName(b.Platform)+"\x00"+strings.ToLower(b.Username))
	})
	return out
}

// choose groups the accounts, with those that a post has already, and leaves out of the form what is none of them.
func (v *view) choose(accounts []account.SocialAccount, held *post.Record) {
	kept := []int64{}
	for _, a := range offer(accounts, held) {
		if n := len(v.Groups); n == 0 || v.Groups[n-1].Platform != a.Platform {
			v.Groups = append(v.Groups, group{Platform: a.Platform})
		}
		g := &v.Groups[len(v.Groups)-1]
		g.Accounts = append(g.Accounts, a)
		if slices.Contains(v.Accounts, a.ID) {
			kept = append(kept, a.ID)
			v.Chosen = append(v.Chosen, chosen{offered: a, own: v.Own[a.ID]})
		}
	}
	slices.Sort(kept)
	v.Accounts = kept
}

// known describes every library item that stands in the form and that the team has.
func (p *Part) known(ctx context.Context, team int64, s sheet) (map[int64]network.Media, error) {
	ids := slices.Clone(s.Media)
	for _, o := range s.Own {
		ids = append(ids, o.Media...)
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	out := map[int64]network.Media{}
	found, err := p.library.Of(ctx, p.DB, team, ids)
	if apierr.Is(err, apierr.NotFound) { // one of them is gone: each by itself
		found = nil
		for _, id := range ids {
			one, err := p.library.Of(ctx, p.DB, team, []int64{id})
			if err != nil && !apierr.Is(err, apierr.NotFound) {
				return nil, err
			}
			found = append(found, one...)
		}
	} else if err != nil {
		return nil, err
	}
	for _, m := range found {
		out[m.ID] = m
	}
	return out, nil
}

// lay puts the media in their places, and leaves out what the team does not have.
func (v *view) lay(known map[int64]network.Media) {
	seen := map[int64]bool{}
	v.Shown, v.Media = v.items(0, v.Media, known, seen)
	for i := range v.Chosen {
		c := &v.Chosen[i]
		c.Items, c.Media = v.items(c.ID, c.Media, known, seen)
		v.Own[c.ID] = c.own
	}
}

func (v *view) items(account int64, ids []int64, known map[int64]network.Media, seen map[int64]bool) ([]item, []int64) {
	out, kept := []item{}, []int64{}
	for _, id := range ids {
		m, ok := known[id]
		if !ok {
			continue
		}
		i := item{Media: m, Account: account, Place: len(out), Alt: m.Alt, Cover: v.Covers[id], First: !seen[id]}
		if alt, ok := v.Alts[id]; ok {
			i.Alt = alt
		}
		seen[id] = true
		out, kept = append(out, i), append(kept, id)
	}
	if len(out) > 0 {
		out[len(out)-1].Last = true
	}
	return out, kept
}

const shelfSize = 12

// shelf is the page of the library that the picker shows. A cursor that belongs to another search begins it anew.
func (p *Part) shelf(r *http.Request, s *sheet) (shelf, error) {
	args := operation.Arguments{"limit": int64(shelfSize)}
	if q := strings.TrimSpace(s.Picker.Query); q != "" {
		args["query"] = q
	}
	if s.Picker.Cursor != "" {
		args["cursor"] = s.Picker.Cursor
	}
	list, got, err := shell.Ask[media.MediaList](p.Frame, r, "list_media", args)
	if err != nil && args["cursor"] != nil && apierr.Is(err, apierr.ValidationFailed) {
		delete(args, "cursor")
		s.Picker.Cursor = ""
		list, got, err = shell.Ask[media.MediaList](p.Frame, r, "list_media", args)
	}
	if apierr.Is(err, apierr.ValidationFailed) {
		return shelf{Wrong: apierr.Of(err).Detail}, nil
	}
	if err != nil {
		return shelf{}, err
	}
	out := shelf{Items: list.Media}
	if got.Page != nil && got.Page.HasMore {
		out.Next = got.Page.Cursor
	}
	return out, nil
}

// tellTime says what is to be said of the time that stands in the form.
func (v *view) tellTime() {
	at, twice, err := v.When.instant(v.Zone)
	if err != nil || at.IsZero() {
		return
	}
	local := at.In(v.Zone)
	v.ByDate, v.ByDay = inMonthWords(local)
	if twice {
		second, _ := other(local)
		v.Twice, v.First, v.Later = true, local, second
		if second.Before(local) {
			v.First, v.Later = second, local
		}
	}
}

// outlook is what is known of a post that is not kept yet.
type outlook struct {
	Cards    []card
	Blocking int
	Warnings int
	Left     string
	Waits    bool           // for the client's approval
	Fate     *post.Forecast // of a scheduled post that does not wait: what becomes of it at its time
	Stands   bool           // it is what a series that stands is made from
	Next     []time.Time
	Day      []neighbour // what else stands on the chosen day
	More     bool        // and there is more of it
	Wrong    string      // what of the form cannot be read
	Empty    bool
}

// neighbour is another post on the day that a form has chosen.
type neighbour struct {
	post.Slot

	At time.Time // in the team's zone
}

// card is how one account shows the post, about.
type card struct {
	post.AccountCheck

	Title  string // of networks that take one out of the text's first line
	Shown  string // what stands before the fold
	Folded string // and behind it
	Before bool   // the media stand above the text
	Form   string // how several media are laid out
	Alone  bool   // what stops it here stops no other account
}

// look weighs a form.
func (p *Part) look(ctx context.Context, actor *access.Actor, s sheet, held *post.Record) (outlook, error) {
	var out outlook
	c, wrong := s.piece()
	at, err := p.when(s, actor.Zone, held)
	if err != nil {
		wrong = err
	}
	c.At = at
	if held == nil {
		held = &post.Record{} // a new one
	}
	out.Stands = held.IsTemplate
	out.Next, err = p.next(ctx, s, *held, at, actor.Zone)
	switch {
	case err != nil && apierr.Of(err).IsServerError():
		return out, err
	case err != nil && wrong == nil:
		wrong = err
	}
	if wrong != nil {
		out.Wrong = apierr.Of(wrong).Detail
	}
	if !out.Stands { // what is made from it has days of its own
		if err := p.beside(ctx, actor, s, held, &out); err != nil {
			return out, err
		}
	}
	weighed, err := p.posts.CheckComposition(ctx, actor, c, held.Targets)
	if err != nil {
		return out, err
	}
	p.forecast(&out, weighed, held, actor.Language)
	return out, nil
}

// forecast says what becomes of a weighed piece, account by account.
func (p *Part) forecast(out *outlook, weighed post.CompositionCheck, held *post.Record, language string) {
	if weighed.Left != plan.Unlimited {
		out.Left = shell.Plural(weighed.Left, "post", "posts")
	}
	out.Empty = len(weighed.Outlooks) == 0
	out.Waits = held.Approval == post.Waiting || held.Approval == post.Rejected
	if held.Status == post.Scheduled && !out.Waits && !out.Empty {
		fate := p.posts.Predict(weighed.Post, language)
		out.Fate = &fate
	}
	for _, o := range weighed.Outlooks {
		c := cardOf(o)
		c.Alone = out.Fate != nil && !out.Fate.Refused
		out.Cards = append(out.Cards, c)
	}
	out.count()
}

// when returns the time that a form has chosen, also with the error that refuses it. A post may keep the time that it
// has.
func (p *Part) when(s sheet, zone *time.Location, held *post.Record) (time.Time, error) {
	at, _, err := s.When.instant(zone)
	if err == nil && !at.IsZero() && (held == nil || !held.ScheduledAt.Equal(at)) {
		err = p.mayCome(at)
	}
	return at, err
}

// mayCome refuses a time that is over or too far ahead.
func (p *Part) mayCome(at time.Time) error {
	switch now := p.DB.Now(); {
	case !at.After(now):
		return errOver
	case post.TooFar(now, at):
		return errFar
	}
	return nil
}

const neighbours = 10 // posts of a day that the form shows

// beside adds what else stands on the day that the form has chosen.
func (p *Part) beside(ctx context.Context, actor *access.Actor, s sheet, held *post.Record, out *outlook) error {
	day, err := time.Parse(dateOnly, s.When.Date)
	if err != nil { // none, or one that is told of elsewhere
		return nil //nolint:nilerr // as above
	}
	next := day.AddDate(0, 0, 1)
	bounds := []time.Time{
		teamtime.StartOfDay(day.Year(), day.Month(), day.Day(), actor.Zone),
		teamtime.StartOfDay(next.Year(), next.Month(), next.Day(), actor.Zone),
	}
	spans, err := p.posts.Calendar(ctx, actor.TeamID, 0, bounds, neighbours+1)
	if err != nil {
		return err
	}
	for _, slot := range spans[0].Slots {
		if held == nil || slot.PostID != held.ID {
			out.Day = append(out.Day, neighbour{slot, slot.At.In(actor.Zone)})
		}
	}
	if out.More = spans[0].More || len(out.Day) > neighbours; len(out.Day) > neighbours {
		out.Day = out.Day[:neighbours]
	}
	return nil
}

// errOver is told of a time that nothing can go out at any more.
var errOver = apierr.Invalid(apierr.InThePast, "date",
	"The time is over. Choose one that is to come, or publish the post now.")

var errFar = apierr.Invalid(apierr.OutOfRange, "date", "That is more than ten years ahead. Check the year.")

// count sums up what the networks say.
func (o *outlook) count() {
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

const foreseenMost = 5

// foreseen are the first times of the series that a form asks for; none where it asks for none.
func foreseen(s sheet, at time.Time, zone *time.Location) ([]time.Time, error) {
	if s.Repeat.Often == "" || at.IsZero() {
		return nil, nil
	}
	rule, err := s.Repeat.rule(at.In(zone))
	if err != nil {
		return nil, err
	}
	times, err := post.PreviewSeries(rule, at, zone, foreseenMost)
	for i := range times {
		times[i] = times[i].In(zone)
	}
	return times, err
}

// next are the first times of a series, whether it is to begin or to go on.
func (p *Part) next(
	ctx context.Context, s sheet, held post.Record, at time.Time, zone *time.Location,
) ([]time.Time, error) {
	if held.IsTemplate {
		return p.goingOn(ctx, s, held, zone)
	}
	return foreseen(s, at, zone)
}

// goingOn are the next times of a series that stands, if it went on now by the rule of the form.
func (p *Part) goingOn(ctx context.Context, s sheet, held post.Record, zone *time.Location) ([]time.Time, error) {
	rule, err := ruleFor(s, held)
	if err != nil {
		return nil, err
	}
	held.Series.Rule = rule
	list, err := p.posts.NextOccurrences(ctx, held, foreseenMost)
	if err != nil {
		return nil, err
	}
	out := make([]time.Time, len(list))
	for i, one := range list {
		out[i] = one.At.In(zone)
	}
	return out, nil
}

// preview answers the script with how the form would look, and what the networks say of it.
func (p *Part) preview(w http.ResponseWriter, r *http.Request) {
	if !p.ReadLongForm(w, r, maxForm) {
		return
	}
	s := read(r.PostForm)
	out, err := p.previewOf(r, s)
	if err != nil {
		p.Refuse(w, r, err)
		return
	}
	fresh, err := p.freshly(r, s)
	if err != nil {
		p.Refuse(w, r, err)
		return
	}
	var page bytes.Buffer
	for _, part := range []struct {
		name string
		body any
	}{{"preview", out}, {"fresh", fresh}, {"twice", fresh}} {
		if err := pages["compose"]().ExecuteTemplate(&page, part.name, part.body); err != nil {
			p.Broken(w, r, err)
			return
		}
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write(page.Bytes()) // the client may be gone
}

// freshly is what the form has no place for yet: the accounts that the script names as chosen just now, with what they
// show of their own, and the question which of two times is meant.
func (p *Part) freshly(r *http.Request, s sheet) (view, error) {
	s.Accounts = numbers(r.PostForm["fresh"])
	actor, err := p.actor(r)
	if err != nil {
		return view{}, err
	}
	out := view{sheet: s, Path: "/posts/new", Zone: actor.Zone}
	out.tellTime()
	if len(s.Accounts) == 0 {
		return out, nil
	}
	var held *post.Record
	if id := r.PostForm.Get("post"); id != "" {
		found, err := p.held(r, id)
		if err != nil {
			return out, err
		}
		held, out.Path = &found, "/posts/"+url.PathEscape(id)+"/edit"
	}
	accounts, err := p.accounts(r)
	if err == nil {
		out.choose(accounts, held)
	}
	return out, err
}

func (p *Part) previewOf(r *http.Request, s sheet) (outlook, error) {
	actor, err := p.actor(r)
	if err != nil {
		return outlook{}, err
	}
	known, err := p.known(r.Context(), actor.TeamID, s)
	if err != nil {
		return outlook{}, err
	}
	s.keepKnown(known)
	var held *post.Record
	if id := r.PostForm.Get("post"); id != "" {
		found, err := p.held(r, id)
		if err != nil {
			return outlook{}, err
		}
		held = &found
	}
	return p.look(r.Context(), actor, s, held)
}

// kept reads an operation's answer, which of a repeat is as it was written down.
func kept[T any](data any) (T, error) {
	if same, ok := data.(T); ok {
		return same, nil
	}
	var out T
	raw, ok := data.(json.RawMessage)
	if !ok {
		return out, fmt.Errorf("an operation answered with %T", data)
	}
	if err := json.Unmarshal(raw, &out); err != nil {
		return out, fmt.Errorf("reading a kept answer: %w", err)
	}
	return out, nil
}

func has[T comparable](list []T, one T) bool { return slices.Contains(list, one) }
