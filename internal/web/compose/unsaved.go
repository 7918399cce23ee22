package compose

import (
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/web/shell"
	"pressroom.example/pressroom/internal/web/unsaved"
)

const excerptLength = 80 // maximum length of unsavedForm.Excerpt, in characters

// alreadySubmitted is the text for a form that cannot be autosaved because it was already saved.
const alreadySubmitted locale.Key = "This form was already submitted, perhaps in another tab. Copy your text, then open the post again."

// unsavedForm is a form that a person has left without saving.
type unsavedForm struct {
	ID, Excerpt string
	KeptAt      time.Time // in the visitor's time zone
	Path        string    // the page that restores it
	Again       string    // ID of the failed post that the form copies; empty for other forms
}

// draftID matches the IDs that forms get when they are shown.
var draftID = regexp.MustCompile(`^[A-Z2-7]{26}$`)

// submissionFields are the fields that belong to a single submission and are not stored.
var submissionFields = []string{"do", "once", "files", "fresh", shell.TeamField}

// keepUnsaved stores the visitor's unsaved form. It does not change the post. If a new post has neither content nor
// options, keepUnsaved deletes its stored form and responds with status 205.
func (p *Handlers) keepUnsaved(w http.ResponseWriter, r *http.Request) {
	if !p.ReadLongForm(w, r, maxForm) {
		return
	}
	form, s := r.PostForm, parseForm(r.PostForm)
	if id := form.Get("post"); id != "" {
		if _, err := p.postOf(r, id); err != nil {
			p.ShowError(w, r, err)
			return
		}
	}
	for _, name := range submissionFields {
		form.Del(name)
	}
	fields := form.Encode()
	switch {
	case s.Draft == "":
		p.ShowError(w, r, apierr.Invalid(apierr.Malformed, "draft", "Reload the page and try again."))
		return
	case len(fields) > unsaved.MaxSize:
		p.ShowError(w, r, apierr.Invalid(apierr.TooLong, "", "The post is too long to autosave."))
		return
	}
	if form.Get("post") == "" && !s.hasContent() && s.Choices.IsZero() {
		if err := unsaved.Discard(r.Context(), p.DB, unsavedKey(r, s.Draft)); err != nil {
			p.ShowError(w, r, err)
			return
		}
		w.WriteHeader(http.StatusResetContent)
		return
	}
	stored, err := unsaved.Store(r.Context(), p.DB, unsavedKey(r, s.Draft), form.Get("post"), fields)
	switch {
	case err != nil:
		p.ShowError(w, r, err)
	case !stored:
		p.ShowMessage(w, r, http.StatusConflict, "Not saved", alreadySubmitted)
	default:
		w.WriteHeader(http.StatusNoContent)
	}
}

// unsavedKey returns the key of the visitor's form with the given ID.
func unsavedKey(r *http.Request, id string) unsaved.Key {
	v := shell.VisitorOf(r.Context())
	return unsaved.Key{PersonID: v.ID, TeamID: v.Team.ID, ID: id}
}

// endUnsaved records that a form was saved.
func (p *Handlers) endUnsaved(r *http.Request, s formData) {
	if s.Draft == "" {
		return
	}
	if err := unsaved.End(r.Context(), p.DB, unsavedKey(r, s.Draft)); err != nil { // the form is offered again
		p.Log.ErrorContext(r.Context(), "recording a saved form failed", "error", err)
	}
}

// unsavedOfPost selects a person's unsaved forms of a post in a team. If the post ID is empty, it selects the forms of
// new posts, and the forms of posts that were deleted or published in the meantime.
const unsavedOfPost = `person_id = ? AND team_id = ? AND fields <> '' AND (post_id = ? OR (? = '' AND NOT EXISTS
	(SELECT 1 FROM posts p WHERE p.id = unsaved_forms.post_id AND p.team_id = unsaved_forms.team_id
	AND (p.status IN ('draft', 'scheduled') OR p.is_template = 1))))`

// unsavedForms returns the visitor's unsaved forms of a post, or of new posts if id is empty, the latest first.
func (p *Handlers) unsavedForms(r *http.Request, id string, zone *time.Location) ([]unsavedForm, error) {
	v, path := shell.VisitorOf(r.Context()), "/posts/new"
	if id != "" {
		path = "/posts/" + id + "/edit"
	}
	out, err := db.All(r.Context(), p.DB, func(rows *sql.Rows, f *unsavedForm) error {
		var fields string
		var kept int64
		if err := rows.Scan(&f.ID, &fields, &kept); err != nil {
			return err
		}
		form, err := url.ParseQuery(fields)
		if err != nil {
			return fmt.Errorf("reading an unsaved form: %w", err)
		}
		text := strings.Join(strings.Fields(textOf(form, "caption")), " ")
		if f.Excerpt = network.Clip(text, excerptLength); f.Excerpt != text {
			f.Excerpt += "…"
		}
		f.KeptAt, f.Path, f.Again = db.Time(kept).In(zone), path, form.Get("again")
		return nil
	}, `SELECT id, fields, kept_at FROM unsaved_forms WHERE `+unsavedOfPost+` ORDER BY kept_at DESC, id LIMIT ?`,
		v.ID, v.Team.ID, id, id, unsaved.MaxForms)
	if err != nil {
		return nil, fmt.Errorf("reading unsaved forms: %w", err)
	}
	return out, nil
}

// restoreUnsaved shows the unsaved form that the query names. It reports false if the query does not name a form.
func (p *Handlers) restoreUnsaved(w http.ResponseWriter, r *http.Request) bool {
	id, v := r.URL.Query().Get("unsaved"), shell.VisitorOf(r.Context())
	if id == "" {
		return false
	}
	var fields string
	post := r.PathValue("id")
	err := p.DB.QueryRow(r.Context(), `SELECT fields FROM unsaved_forms WHERE `+unsavedOfPost+` AND id = ?`,
		v.ID, v.Team.ID, post, post, id).Scan(&fields)
	if errors.Is(err, sql.ErrNoRows) {
		p.Flash(r, "These changes were saved or discarded in the meantime.")
		shell.Redirect(w, r, r.URL.Path)
		return true
	}
	form, broken := url.ParseQuery(fields)
	if err = errors.Join(err, broken); err != nil {
		p.ServerError(w, r, fmt.Errorf("restoring an unsaved form: %w", err))
		return true
	}
	s := parseForm(form)
	s.Unsaved = true
	p.show(w, r, s)
	return true
}

// discardUnsaved deletes an unsaved form and shows the page without it.
func (p *Handlers) discardUnsaved(w http.ResponseWriter, r *http.Request) {
	if !p.ReadForm(w, r) {
		return
	}
	if err := unsaved.Discard(r.Context(), p.DB, unsavedKey(r, r.PostForm.Get("unsaved"))); err != nil {
		p.ShowError(w, r, err)
		return
	}
	p.Flash(r, "Discarded.")
	if id := r.PostForm.Get("of"); id != "" {
		shell.Redirect(w, r, "/posts/"+url.PathEscape(id)+"/edit")
		return
	}
	shell.Redirect(w, r, "/posts/new")
}
