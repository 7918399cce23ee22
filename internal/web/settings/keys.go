package settings

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/core/plan"
	"pressroom.example/pressroom/internal/domain/report"
	"pressroom.example/pressroom/internal/domain/team"
	"pressroom.example/pressroom/internal/domain/team/authn"
	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/teamtime"
	"pressroom.example/pressroom/internal/web/shell"
)

const keysPerPage = 50

// keyView is an API key with its times in the team's zone.
type keyView struct {
	team.ListedKey

	IsEnded bool // expired or revoked
}

func (h *Handlers) viewOf(r *http.Request, k team.ListedKey) keyView {
	z, out := zone(r), keyView{k, k.HasEnded(h.DB.Now())}
	out.CreatedAt, out.ExpiresAt, out.RevokedAt, out.UsedAt = inZone(k.CreatedAt, z), inZone(k.ExpiresAt, z),
		inZone(k.RevokedAt, z), inZone(k.UsedAt, z)
	return out
}

// keysView is the page that lists API keys.
type keysView struct {
	Keys  []keyView
	Off   bool           // the owner turned API and tool access off
	Gates authn.KeyGates // the other conditions that block the keys
	Pages *pager
	Root  string // public URL, without a trailing slash
}

// pager holds the paths of other pages. The template "pager" shows it.
type pager struct{ First, Next string }

// pagerOf returns a pager, or nil if there are no other pages.
func pagerOf(first, next string) *pager {
	if first == "" && next == "" {
		return nil
	}
	return &pager{first, next}
}

// pageOf returns a page of keys or connections and its pager. If there is a next page, lines must contain one item
// more than fits on the page.
func pageOf(lines []team.ListedKey, before int64, path string) ([]team.ListedKey, *pager) {
	first, next := "", ""
	if before > 0 {
		first = path
	}
	if len(lines) > keysPerPage {
		lines = lines[:keysPerPage]
		next = path + "?before=" + strconv.FormatInt(lines[keysPerPage-1].ID, 10)
	}
	return lines, pagerOf(first, next)
}

func (h *Handlers) keysPage(w http.ResponseWriter, r *http.Request) {
	before, _ := strconv.ParseInt(r.URL.Query().Get("before"), 10, 64)
	lines, err := h.Teams.ListKeys(r.Context(), teamID(r), before, keysPerPage+1)
	if err != nil {
		h.ShowError(w, r, err)
		return
	}
	out := keysView{Root: h.PublicURL}
	if out.Gates, err = h.Teams.KeyGates(r.Context(), teamID(r)); err != nil {
		h.ShowError(w, r, err)
		return
	}
	out.Off, out.Gates.Off = out.Gates.Off, false // the page has the switch
	lines, out.Pages = pageOf(lines, before, "/settings/keys")
	for _, k := range lines {
		out.Keys = append(out.Keys, h.viewOf(r, k))
	}
	h.Show(w, r, http.StatusOK, pages["keys"], "API keys", out)
}

// keyForm is the form for a new API key, with the entered values.
type keyForm struct {
	fieldError

	Name, Level, Limit, Expires string
	Levels                      []access.Level
	Gates                       authn.KeyGates
}

func keyFormOf(form url.Values) keyForm {
	return keyForm{
		Name: strings.TrimSpace(form.Get("name")), Level: form.Get("level"),
		Limit: strings.TrimSpace(form.Get("daily_credits")), Expires: form.Get("expires"),
	}
}

func (h *Handlers) newKeyPage(w http.ResponseWriter, r *http.Request) {
	form := keyForm{Level: string(access.ReadOnly)}
	if typed := h.SavedForm(r); typed != nil {
		form = keyFormOf(typed)
	}
	h.showKeyForm(w, r, http.StatusOK, form)
}

func (h *Handlers) showKeyForm(w http.ResponseWriter, r *http.Request, status int, f keyForm) {
	f.Levels = access.Levels()
	var err error
	if f.Gates, err = h.Teams.KeyGates(r.Context(), teamID(r)); err != nil {
		h.ShowError(w, r, err)
		return
	}
	h.Show(w, r, status, pages["keynew"], "New API key", f)
}

// createdKeyView is the only page that shows the value of an API key.
type createdKeyView struct {
	team.Key

	Value, Base string
}

// addKey creates an API key and shows its value, which is never shown again. Reloading the page does not create
// another key.
func (h *Handlers) addKey(w http.ResponseWriter, r *http.Request) {
	if !h.ReadForm(w, r) {
		return
	}
	form := keyFormOf(r.PostForm)
	key, value, err := h.makeKey(r, form)
	if err != nil {
		var ok bool
		if form.fieldError, ok = h.formError(w, r, err); ok {
			h.showKeyForm(w, r, shell.StatusOf(err), form)
		}
		return
	}
	key.ExpiresAt = inZone(key.ExpiresAt, zone(r))
	h.Show(w, r, http.StatusOK, pages["keymade"], "Your new API key", createdKeyView{key, value, h.PublicURL})
}

func (h *Handlers) makeKey(r *http.Request, form keyForm) (team.Key, string, error) {
	limit, err := parseCredits(form.Limit)
	if err != nil {
		return team.Key{}, "", err
	}
	expiresAt, err := endOfDay(form.Expires, zone(r))
	if err != nil {
		return team.Key{}, "", err
	}
	return h.admin(r).
		AddKey(r.Context(),
			team.NewKey{Name: form.Name, Level: access.Level(form.Level), Expires: expiresAt, DailyCredits: limit},
			r.PostForm.Get("once"))
}

// endOfDay returns the end of a day in the given time zone, or the zero time if day is empty.
func endOfDay(day string, zone *time.Location) (time.Time, error) {
	if day == "" {
		return time.Time{}, nil
	}
	last, err := time.Parse(time.DateOnly, day)
	if err != nil {
		return time.Time{}, apierr.Invalid(apierr.Malformed, "expires",
			"Enter the last day as a date, such as 2027-01-31. Leave it empty for a key that does not expire.")
	}
	return teamtime.StartOfDay(last.Year(), last.Month(), last.Day()+1, zone), nil
}

// keyPageView is the page of a key.
type keyPageView struct {
	fieldError
	keyView

	Levels []access.Level
	Limit  string // as entered

	NewName  string // as entered
	restored bool   // the name, level and limit were restored after the visitor signed in again
}

// keyPage shows an API key to owners and admins. If it belongs to another of the person's teams, it switches to that
// team first.
func (h *Handlers) keyPage(w http.ResponseWriter, r *http.Request) {
	_, err := h.pathKey(r)
	switch {
	case err != nil:
		h.SwitchToTeamOf(w, r, err, func(ctx context.Context, teams []int64) (int64, error) {
			id, err := shell.PathID(r, "key")
			if err != nil {
				return 0, err
			}
			return h.Teams.FindKeyTeam(ctx, id, teams)
		})
	case !shell.VisitorOf(r.Context()).Is(shell.Managers):
		h.Forbid(w, r, shell.Managers)
	default:
		typed := h.SavedForm(r)
		view := keyPageView{Limit: typed.Get("daily_credits"), restored: typed != nil}
		view.Level, view.NewName = access.Level(typed.Get("level")), typed.Get("name")
		h.showKey(w, r, http.StatusOK, view)
	}
}

// showKey shows the API key whose ID is in the path. input holds the rejected or restored input.
func (h *Handlers) showKey(w http.ResponseWriter, r *http.Request, status int, input keyPageView) {
	k, err := h.pathKey(r)
	if err != nil {
		h.ShowError(w, r, err)
		return
	}
	out := keyPageView{
		fieldError: input.fieldError, keyView: h.viewOf(r, k), Levels: access.Levels(), Limit: input.Limit, NewName: k.Name,
	}
	if out.Error == "" && !input.restored && k.DailyCredits != plan.Unlimited {
		out.Limit = strconv.FormatInt(k.DailyCredits, 10)
	}
	if input.Level != "" {
		out.Level, out.NewName = input.Level, input.NewName
	}
	h.Show(w, r, status, pages["key"], "API key", out)
}

func (h *Handlers) pathKey(r *http.Request) (team.ListedKey, error) {
	id, err := shell.PathID(r, "key")
	if err != nil {
		return team.ListedKey{}, err
	}
	return h.Teams.ListedKey(r.Context(), teamID(r), id)
}

func (h *Handlers) changeKey(w http.ResponseWriter, r *http.Request) {
	if !h.ReadForm(w, r) {
		return
	}
	level, limitText := access.Level(r.PostForm.Get("level")), strings.TrimSpace(r.PostForm.Get("daily_credits"))
	id, err := shell.PathID(r, "key")
	var limit *int64
	if err == nil {
		limit, err = parseCredits(limitText)
	}
	if err == nil {
		credits := int64(plan.Unlimited)
		if limit != nil {
			credits = *limit
		}
		err = h.admin(r).ChangeKey(r.Context(), id, level, credits)
	}
	if err == nil && r.PostForm.Has("name") {
		err = h.admin(r).RenameKey(r.Context(), id, strings.TrimSpace(r.PostForm.Get("name")))
	}
	if err != nil {
		if formErr, ok := h.formError(w, r, err); ok {
			view := keyPageView{fieldError: formErr, Limit: limitText}
			view.Level, view.NewName = level, r.PostForm.Get("name")
			h.showKey(w, r, shell.StatusOf(err), view)
		}
		return
	}
	h.finish(w, r, "The key was saved. Changes take effect within a second.", r.URL.Path)
}

// revokeView is the page that shows the consequences of revoking an API key or disconnecting an assistant.
type revokeView struct {
	keyView

	Tracked []report.TrackedReport
}

func (h *Handlers) revokePage(w http.ResponseWriter, r *http.Request) {
	k, err := h.pathKey(r)
	if err != nil {
		h.ShowError(w, r, err)
		return
	}
	out := revokeView{keyView: h.viewOf(r, k)}
	if out.Tracked, err = h.Reports.TrackedByKey(r.Context(), teamID(r), k.ID); err != nil {
		h.ShowError(w, r, err)
		return
	}
	h.Show(w, r, http.StatusOK, pages["keyrevoke"], "Revoke an API key", out)
}

func (h *Handlers) revokeKey(w http.ResponseWriter, r *http.Request) {
	h.endKeyOrConnection(w, r, revocation{h.pathKey, team.Admin.RevokeKey, "The key was revoked and no longer works.",
		"/settings/keys"})
}

// revocation describes how to end an API key or connection.
type revocation struct {
	find    func(*http.Request) (team.ListedKey, error) // returns the key or connection in the path
	end     func(team.Admin, context.Context, int64) error
	message locale.Key
	next    string // where to redirect
}

// endKeyOrConnection ends an API key or connection. For the selected reports, it turns off tracking that the key turned
// on. It ends the key first, so that the key cannot turn tracking on again. Tracking can also be turned off after the
// key has ended.
func (h *Handlers) endKeyOrConnection(w http.ResponseWriter, r *http.Request, rev revocation) {
	if !h.ReadForm(w, r) {
		return
	}
	k, err := rev.find(r)
	selected, messages := r.PostForm["tracking"], []string(nil)
	if err == nil && (k.RevokedAt.IsZero() || len(selected) == 0) {
		err, messages = rev.end(h.admin(r), r.Context(), k.ID), []string{h.T(r, rev.message)}
	}
	endedCount := 0
	if err == nil && len(selected) > 0 {
		endedCount, err = h.endTrackings(r, k.ID, selected)
	}
	if err != nil {
		h.ShowError(w, r, err)
		return
	}
	if endedCount > 0 {
		messages = append(messages, h.Language(r).N(endedCount,
			"Tracking of %d report was turned off and will not be charged again.",
			"Tracking of %d reports was turned off and will not be charged again."))
	}
	h.FlashText(r, strings.Join(messages, " "))
	shell.Redirect(w, r, rev.next)
}

// endTrackings turns off tracking of the selected reports, if a key turned it on, even while spending is paused. It
// returns the number of reports.
func (h *Handlers) endTrackings(r *http.Request, key int64, selected []string) (int, error) {
	tracked, err := h.Reports.TrackedByKey(r.Context(), teamID(r), key)
	if err != nil {
		return 0, err
	}
	actor, err := h.Teams.InApp(r.Context(), shell.VisitorOf(r.Context()).ID, teamID(r))
	if err != nil {
		return 0, err
	}
	var refs []report.Ref
	for _, t := range tracked {
		if slices.Contains(selected, t.ID) {
			refs = append(refs, report.Ref{Type: t.Kind, ID: t.ID})
		}
	}
	return h.Reports.DisableTracking(r.Context(),
		operation.Call{Actor: actor, Operation: "end_tracking", RequestID: uuid.NewString(), Now: h.DB.Now()}, refs...)
}
