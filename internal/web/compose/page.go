package compose

import (
	"context"
	"crypto/rand"
	"net/http"
	"slices"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/domain/post"
	"pressroom.example/pressroom/internal/domain/post/postlist"
	"pressroom.example/pressroom/internal/domain/post/teamoptions"
	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/web/shell"
)

// view contains the data of the editor's page.
type view struct {
	formData

	Path       string         // URL path to which the form is sent
	Post       *post.Record   // the saved post; nil for a new post
	Zone       *time.Location // the visitor's time zone
	Groups     []group
	Chosen     []selectedAccount // selected accounts
	Unselected []selectedAccount // unselected accounts with overrides, which the form keeps
	Shown      []item            // the media of the post
	Shelf      mediaPicker       // page of the media library
	Preview    previewView
	Twice      bool // whether the time occurs twice, as First and Later, because clocks go back
	First      time.Time
	Later      time.Time
	Moment     string    // the chosen time or day in words; empty if there is none
	Begins     time.Time // first time of a paused series, in the series' time zone
	ByDate     string    // label of monthly recurrence on the same date
	ByDay      string    // label of monthly recurrence on the same weekday
	Errors     problems
	Done       string        // text before the list of problems that says what was done and what failed
	Theirs     *post.Record  // newer version that someone else saved; nil if there is none
	Paused     string        // why scheduling and publishing are paused; empty if they are not
	Offers     []unsavedForm // unsaved forms that can be restored
	Wording    voiceCheck    // result of checking the texts against a brand voice
	Creators   []creator     // settings of the selected TikTok accounts
	Times      suggestions   // suggested times; empty for a paused series
	// the team's default TikTok options; nil if there are none
	TeamTikTok *network.TikTokOptions
	// the options of a YouTube video that apply if the form sets none
	YouTubeDefaults network.YouTubeOptions
	Playlists       bool // whether videos can be added to YouTube playlists
}

// group is a network with its accounts.
type group struct {
	Platform string
	Accounts []accountOption
}

// selectedAccount is an account with its overrides.
type selectedAccount struct {
	accountOption
	ownContent

	Items []item
}

// newPage shows the form of a new post. The query may set the time, the text, the accounts and the media.
func (p *Handlers) newPage(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	if id := p.createdPost(r, q.Get("sent")); id != "" {
		p.Flash(r, "This form was already submitted. This is the post that it created.")
		shell.Redirect(w, r, "/posts/"+id+"/edit")
		return
	}
	if p.restore(w, r) || p.restoreUnsaved(w, r) {
		return
	}
	if q.Has("again") {
		p.copyPage(w, r, q.Get("again"))
		return
	}
	s := parseForm(map[string][]string{
		"account": q["account"], "media": q["media"], "caption": q["caption"], "date": q["date"], "time": q["time"],
	})
	s.Repeat.Every = "1"
	if !q.Has("account") {
		v := shell.VisitorOf(r.Context())
		last, err := postlist.LastAccounts(r.Context(), p.DB, v.Team.ID, v.ID)
		if err != nil {
			p.ServerError(w, r, err)
			return
		}
		s.Accounts, s.Remembered = last, len(last) > 0
	}
	p.show(w, r, s)
}

// restore shows the form that the session has saved for this page, and reports whether there is one. The session
// saves a form if, for example, the visitor signs out or switches to another team before sending it.
func (p *Handlers) restore(w http.ResponseWriter, r *http.Request) bool {
	form := p.SavedForm(r)
	if form == nil {
		return false
	}
	s := parseForm(form)
	s.Unsaved = true
	p.show(w, r, s)
	return true
}

func (p *Handlers) editPage(w http.ResponseWriter, r *http.Request) {
	if p.restore(w, r) {
		return
	}
	v := shell.VisitorOf(r.Context())
	held, err := p.postOf(r, r.PathValue("id"))
	if err != nil {
		p.ShowError(w, r, err)
		return
	}
	if err := held.CheckComposable(); err != nil {
		p.FlashText(r, p.Detail(r, err))
		shell.Redirect(w, r, "/posts/"+held.ID)
		return
	}
	if !p.restoreUnsaved(w, r) {
		p.show(w, r, formDataOf(held, v.Zone))
	}
}

// show shows the form of the post in the path, or of a new post. It lists the errors in why.
func (p *Handlers) show(w http.ResponseWriter, r *http.Request, s formData, why ...error) {
	p.showAt(w, r, s, r.PathValue("id"), "", why...)
}

// showAt shows the form of the post with the given ID, or of a new post if id is empty. It lists the errors in why
// after done, a text that says what was done and what failed.
func (p *Handlers) showAt(w http.ResponseWriter, r *http.Request, s formData, id, done string, why ...error) {
	out, err := p.viewOf(r, s, id)
	if err != nil {
		p.ShowError(w, r, err)
		return
	}
	status := http.StatusOK
	for _, one := range why {
		f := apierr.FromError(one)
		if f.Context["argument"] == nil && (f.IsServerError() || f.Code == apierr.NotFound) {
			p.ShowError(w, r, one)
			return
		}
		out.Errors = append(out.Errors, problemOf(p.Language(r), one))
		if f.Context["state"] == "changed" {
			out.Theirs, out.Seen = out.Post, out.Post.UpdatedAt.UnixMicro()
		}
	}
	out.Errors.sort()
	if len(why) > 0 {
		out.Done, status = done, shell.StatusOf(why[0])
		shell.SetRetryAfter(w, why[0])
	}
	title := locale.Key("New post")
	switch {
	case id != "":
		title = "Edit post"
	case s.Again != "":
		title = "Edit and try again"
	}
	p.Show(w, r, status, pages["compose"], title, &out)
}

// errorText returns the text that the form shows for an error.
func errorText(l *locale.Language, err error) string {
	f := apierr.FromError(err)
	if f.Code == apierr.PreflightBlocked {
		return l.T("A network would reject the post. See the reasons in the preview.")
	}
	if f.Code == apierr.NotFound {
		return l.T("An account or a file of this post no longer exists and was removed below. Review the post and save " +
			"it again.")
	}
	if f.Context["state"] == "changed" {
		return l.T("Someone else has changed this post. Nothing is saved yet. Compare the saved version with yours, then " +
			"save to replace it.")
	}
	return shell.Detail(l, err)
}

// viewOf returns the page for a form. It omits accounts and media that the team no longer has.
func (p *Handlers) viewOf(r *http.Request, s formData, id string) (view, error) {
	ctx := r.Context()
	actor, err := p.actor(r)
	if err != nil {
		return view{}, err
	}
	out := view{formData: s, Path: "/posts/new", Zone: shell.VisitorOf(r.Context()).Zone}
	if err := p.addSavedPost(r, &out, actor, id); err != nil {
		return view{}, err
	}
	accounts, err := p.accounts(r)
	if err != nil {
		return view{}, err
	}
	out.choose(accounts, out.Post)
	out.Creators = p.creatorsOf(r, accounts, out.Accounts)
	defaults, err := teamoptions.Read(ctx, p.DB, actor.TeamID)
	if err != nil {
		return view{}, err
	}
	out.TeamTikTok = defaults.TikTok
	out.Playlists = p.creators.AddsToPlaylists(youTube)
	if y := p.creators.DefaultOptions(youTube).YouTube; y != nil {
		out.YouTubeDefaults = *y
	}
	if out.Post != nil && out.Post.IsTemplate {
		zone, err := zoneOf(*out.Post)
		if err != nil {
			return view{}, err
		}
		out.Begins = out.Post.ScheduledAt.In(zone)
	}
	known, err := p.libraryItems(ctx, actor.TeamID, out.formData)
	if err != nil {
		return view{}, err
	}
	out.arrangeMedia(known)
	if out.Shelf, err = p.pickerPage(r, &out.formData); err != nil {
		return view{}, err
	}
	if out.Wording, err = p.wordingOf(r, out.formData); err != nil {
		return view{}, err
	}
	if out.Begins.IsZero() {
		if out.Times, err = p.suggest(r, &out.formData, accounts); err != nil {
			return view{}, err
		}
		out.Times.Path = out.Path
	}
	l := p.Language(r)
	out.checkTime(l, p.DB.Now())
	out.Preview, err = p.check(ctx, l, actor, accounts, out.formData, out.Post)
	return out, err
}

// addSavedPost sets the saved post and the visitor's unsaved forms of it. If publishing is paused, it also sets the
// reason.
func (p *Handlers) addSavedPost(r *http.Request, out *view, actor *access.Actor, id string) error {
	var err error
	if out.Draft == "" {
		out.Draft = rand.Text()
	}
	if r.Method == http.MethodGet && !out.Unsaved {
		if out.Offers, err = p.unsavedForms(r, id, out.Zone); err != nil {
			return err
		}
		if out.Again != "" {
			out.Offers = slices.DeleteFunc(out.Offers, func(f unsavedForm) bool { return f.Again != out.Again })
		}
	}
	if id != "" {
		held, err := p.postOf(r, id)
		if err != nil {
			return err
		}
		out.Post, out.Path = &held, "/posts/"+id+"/edit"
	}
	if err := (operation.Call{Actor: actor}).Require(access.Publish); apierr.Is(err, apierr.ConnectionSuspended) {
		out.Paused = p.Detail(r, err)
	}
	return nil
}

// libraryItems returns the form's media items by ID, except those that the team does not have.
func (p *Handlers) libraryItems(ctx context.Context, team int64, s formData) (map[int64]network.Media, error) {
	ids := slices.Clone(s.Media)
	for _, o := range s.Own {
		ids = append(ids, o.Media...)
	}
	for _, one := range s.Parts {
		ids = append(ids, one.Media...)
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	out := map[int64]network.Media{}
	found, err := p.library.ForPost(ctx, p.DB, team, ids)
	if apierr.Is(err, apierr.NotFound) { // some item was deleted, so look up each item separately
		found = nil
		for _, id := range ids {
			one, err := p.library.ForPost(ctx, p.DB, team, []int64{id})
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

// withoutYear is the maximum distance from now of times that are shown without a year.
const withoutYear = 300 * 24 * time.Hour

// checkTime sets the fields that describe the form's time.
func (v *view) checkTime(l *locale.Language, now time.Time) {
	format := func(at time.Time, short, long locale.Layout) string {
		if at.Sub(now).Abs() > withoutYear {
			return l.Format(at, long)
		}
		return l.Format(at, short)
	}
	if day, err := v.When.day(); err == nil && day != "" {
		at, _ := time.Parse(dateOnly, day) // valid, because v.When.day has checked it
		v.Moment = format(at, locale.ShortDate, locale.Date)
	}
	at, twice, err := v.When.instant(v.Zone)
	if err != nil || at.IsZero() {
		return
	}
	local := at.In(v.Zone)
	v.Moment = format(local, locale.ShortTime, locale.DateTime)
	v.ByDate, v.ByDay = monthLabels(l, local)
	if twice {
		second, _ := otherInstant(local)
		v.Twice, v.First, v.Later = true, local, second
		if second.Before(local) {
			v.First, v.Later = second, local
		}
	}
}
