package posts

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/domain/post"
	"pressroom.example/pressroom/internal/domain/post/postlist"
	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/web/shell"
)

// PostDeleter deletes drafts and scheduled posts.
type PostDeleter interface {
	DeletePost(ctx context.Context, person, team int64, post string) error
}

// bulkResult is the result for one of the selected posts.
type bulkResult struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Said    string `json:"said"`
	Done    bool   `json:"done"`
	Deleted bool   `json:"deleted"`
}

// bulkKey is the session key for the results that the list shows next.
const bulkKey = "bulk results"

// bulkAction performs an action on one post and returns its description in the visitor's language.
type bulkAction func(*http.Request, post.Record) (string, error)

// bulk applies an action to each selected post, with the same checks as on the post's page. It then shows the list with
// the result for each post.
func (p *Handlers) bulk(w http.ResponseWriter, r *http.Request) {
	if !p.ReadForm(w, r) {
		return
	}
	to := backTo(r.PostForm)
	ids, err := p.selectedIDs(r, r.PostForm)
	if err != nil {
		p.ServerError(w, r, err)
		return
	}
	if r.PostForm.Get("action") == "approval" && len(ids) > 0 {
		shell.Redirect(w, r, "/approvals/new?"+url.Values{"post": ids}.Encode())
		return
	}
	do, err := p.bulkAction(r)
	if err == nil && len(ids) == 0 {
		err = errNoneSelected()
	}
	if err != nil {
		if formErr, ok := p.FormErrorOf(w, r, err, nil); ok {
			p.FlashText(r, formErr.Text)
			shell.Redirect(w, r, to)
		}
		return
	}
	if action := r.PostForm.Get("action"); (action == "delete" || action == "publish") && r.PostForm.Get("sure") == "" {
		p.confirmBulk(w, r, action, ids, to)
		return
	}
	kept, err := json.Marshal(p.doAll(r, ids, do))
	if err != nil {
		p.ServerError(w, r, err)
		return
	}
	p.Put(r.Context(), bulkKey, kept)
	shell.Redirect(w, r, to)
}

// doAll applies an action to each post and returns the results. After an internal error, it does not try the remaining
// posts.
func (p *Handlers) doAll(r *http.Request, ids []string, do bulkAction) []bulkResult {
	team, anyFailed := shell.VisitorOf(r.Context()).Team.ID, false
	out := make([]bulkResult, len(ids))
	for i, id := range ids {
		out[i] = bulkResult{ID: id, Name: p.T(r, "A post"), Said: p.T(r, "Not tried.")}
		if anyFailed {
			continue
		}
		found, err := p.posts.Load(r.Context(), team, id)
		if err == nil {
			out[i].Name = truncate(60, p.nameOf(r, found))
			out[i].Said, err = do(r, found)
		}
		apiErr := apierr.FromError(err)
		switch {
		case err == nil:
			out[i].Done, out[i].Deleted = true, out[i].Said == p.T(r, deletedText)
		case apiErr.IsServerError():
			anyFailed, out[i].Said = true, p.T(r, "An internal error occurred. Check the post, then try again.")
			p.Log.ErrorContext(r.Context(), "bulk action failed", "post", id, "error", err)
		case apiErr.Code == apierr.NotFound:
			out[i].Said, out[i].Deleted = p.T(r, "It no longer exists."), true
		default:
			out[i].Said = p.Detail(r, err)
		}
	}
	return out
}

func (p *Handlers) nameOf(r *http.Request, one post.Record) string {
	if one.Excerpt == "" {
		return p.T(r, "A post without text")
	}
	return one.Excerpt
}

// maxBulk is the maximum number of posts that an action can change at once.
const maxBulk = 200

// selectedIDs returns the IDs of the selected posts or, if the form selects everything, of all posts that match the
// list's filters. It returns at most maxBulk IDs.
func (p *Handlers) selectedIDs(r *http.Request, form url.Values) ([]string, error) {
	if form.Get("everything") != "" && form.Get("sure") == "" {
		return p.allIDs(r, form)
	}
	ids := slices.DeleteFunc(slices.Clone(form["post"]), func(id string) bool { return !idPattern.MatchString(id) })
	slices.Sort(ids)
	ids = slices.Compact(ids)
	return ids[:min(len(ids), maxBulk)], nil
}

// allIDs returns the IDs of at most maxBulk posts that match the list's filters.
func (p *Handlers) allIDs(r *http.Request, form url.Values) ([]string, error) {
	back, err := url.ParseQuery(form.Get("back"))
	if err != nil {
		return nil, nil //nolint:nilerr // such a page has no posts
	}
	v := shell.VisitorOf(r.Context())
	f, err := filtersOf(back).filter(v.Zone)
	if err != nil {
		return nil, nil //nolint:nilerr // as above
	}
	return postlist.ListIDs(r.Context(), p.DB, v.Team.ID, f, maxBulk)
}

const deletedText locale.Key = "Deleted."

// bulkAction returns the action that the form selects.
func (p *Handlers) bulkAction(r *http.Request) (bulkAction, error) {
	switch r.PostForm.Get("action") {
	case "reschedule":
		return p.rescheduleAction(r)
	case "unschedule":
		return p.unscheduleOne, nil
	case "delete":
		return p.deleteOne, nil
	case "publish":
		return p.publishOne, nil
	case "duplicate":
		return p.duplicateOne, nil
	case "approval": // bulk handles it unless no post is selected
		return nil, nil //nolint:nilnil // bulk returns an error because no post is selected
	}
	return nil, apierr.Invalid(apierr.NotAllowedValue, "action", "Choose what to do with the selected posts.")
}

// maxMove is the maximum number of days by which posts can be moved.
const maxMove = 3650

// rescheduleAction returns the action that moves posts by a number of days, or to a day, a time of day or both.
func (p *Handlers) rescheduleAction(r *http.Request) (bulkAction, error) {
	zone := shell.VisitorOf(r.Context()).Zone
	by, to, clock := "", r.PostForm.Get("day"), r.PostForm.Get("time")
	if r.PostForm.Get("how") == "shift" {
		by, to, clock = strings.TrimSpace(r.PostForm.Get("days")), "", ""
	}
	switch {
	case by+to+clock == "":
		return nil, apierr.Invalid(apierr.MissingArgument, "days", "Enter a date, a time or a number of days.")
	case by+to == "":
		return p.moveAction(zone, clock, func(date time.Time) time.Time { return date }), nil
	}
	if to != "" {
		day, err := parseDay("day", "new", to)
		if err != nil {
			return nil, err
		}
		return p.moveAction(zone, clock, func(time.Time) time.Time { return day }), nil
	}
	days, err := strconv.Atoi(by)
	if err != nil || days == 0 || days < -maxMove || days > maxMove {
		return nil, apierr.Invalid(apierr.OutOfRange, "days", "Enter by how many days to move the posts, such as 7 or -1.")
	}
	return p.moveAction(zone, clock, func(date time.Time) time.Time {
		if date.IsZero() {
			return date
		}
		return date.AddDate(0, 0, days)
	}), nil
}

// moveAction returns the action that moves posts. newDate maps the current date of a post to the new one. Dates are
// midnight UTC, and the zero time means no date. The time of day becomes toClock, or stays the same if toClock is
// empty. The action fails if clocks skip that time on the new day.
func (p *Handlers) moveAction(zone *time.Location, toClock string, newDate func(time.Time) time.Time) bulkAction {
	return func(r *http.Request, before post.Record) (string, error) {
		if before.IsTemplate {
			return "", apierr.BadState("recurring_template", "The template of a series cannot be moved. Edit the series.")
		}
		if err := before.CheckComposable(); err != nil {
			return "", err
		}
		version, err := before.UpdatedAt, error(nil)
		if r.PostForm.Get("everything") == "" {
			version, err = parseVersion(r, "seen-"+before.ID)
		}
		if err != nil {
			return "", err
		}
		call, err := p.NewCall(r, "move_post")
		if err != nil {
			return "", err
		}
		c := post.Composition{OnlyTime: true}
		date, clock := before.PlannedDay, ""
		if at := before.ScheduledAt.In(zone); !before.ScheduledAt.IsZero() {
			date, clock = at.Format(time.DateOnly), at.Format(time.TimeOnly)
		}
		from, _ := time.Parse(time.DateOnly, date) // the zero time if the post has no date
		day := newDate(from)
		if day.IsZero() {
			return "", apierr.BadState("no_time", "It has no date, so it cannot be moved.")
		}
		c.At, c.Day, err = destination(url.Values{"date": {day.Format(time.DateOnly)}, "time": {cmp.Or(toClock, clock)}}, zone)
		if err != nil {
			return "", err
		}
		after, err := p.posts.Compose(r.Context(), call.Actor, before.ID, version, c)
		switch {
		case err != nil && apierr.FromError(err).Context["state"] == "changed":
			return "", apierr.BadState("changed", "It has changed since the list was loaded. Check it and try again.")
		case err != nil:
			return "", err
		}
		l := p.Language(r)
		return l.T("Moved to %s.", formatPlannedTime(l, after, zone)) + approvalNote(l, before, after), nil
	}
}

// unscheduleOne makes a scheduled post a draft. If it belongs to a series, the series continues. A template is paused.
func (p *Handlers) unscheduleOne(r *http.Request, one post.Record) (string, error) {
	if one.Status != post.Scheduled {
		return "", apierr.BadState(string(one.Status), "It is not scheduled.")
	}
	if !one.OccursAt.IsZero() {
		if err := p.require(r, "skip_post", access.Write); err != nil {
			return "", err
		}
		_, err := p.posts.Skip(r.Context(), shell.VisitorOf(r.Context()).ID, one.ID)
		return p.T(r, "Skipped. It is now a draft, and the series continues."), err
	}
	_, err := p.Do(withKey(r, one.ID), "cancel_post", operation.Arguments{"post_id": one.ID})
	if one.IsTemplate {
		return p.T(r, "The series is paused."), err
	}
	return p.T(r, "Unscheduled. It is now a draft."), err
}

// withKey returns a copy of the request with its own idempotency key, so that one form can run several operations.
func withKey(r *http.Request, key string) *http.Request {
	next := r.Clone(r.Context())
	next.PostForm = url.Values{"once": {r.PostForm.Get("once") + "-" + key}}
	next.Form = next.PostForm
	return next
}

func (p *Handlers) deleteOne(r *http.Request, one post.Record) (string, error) {
	call, err := p.NewCall(r, "delete_draft")
	if err == nil {
		err = call.Require(access.Write)
	}
	if err != nil {
		return "", err
	}
	return p.T(r, deletedText), p.drafts.DeletePost(r.Context(), call.PersonID, call.TeamID, one.ID)
}

// isDeletable reports whether a post can be deleted: whether it is a draft, or scheduled and not part of a series.
func isDeletable(p post.Record) bool {
	return !p.IsTemplate && (p.Status == post.Draft || p.Status == post.Scheduled && p.OccursAt.IsZero())
}

// popResults returns the results of the last bulk action and deletes them from the session.
func (p *Handlers) popResults(r *http.Request) []bulkResult {
	var out []bulkResult
	if kept := p.Pop(r.Context(), bulkKey); len(kept) > 0 && json.Unmarshal(kept, &out) != nil {
		return nil
	}
	return out
}
