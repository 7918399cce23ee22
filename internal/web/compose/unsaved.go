package compose

import (
	"context"
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
)

const (
	unsavedLife   = 30 * 24 * time.Hour // an unsaved form is deleted after this time
	unsavedForms  = 20                  // of a person; older ones are deleted
	maxUnsaved    = 512 << 10           // size of a form in bytes
	excerptLength = 80                  // of an offered form's text, in characters
)

// alreadySubmitted is the text for a form that cannot be kept.
const alreadySubmitted locale.Key = "This form was already submitted, perhaps in another tab. Copy your text, then open the post again."

// unsavedForm is a form that a person has left without saving.
type unsavedForm struct {
	ID, Excerpt string
	KeptAt      time.Time // in the team's time zone
	Path        string    // the page that restores it
	Again       string    // ID of the failed post that the form copies; empty for other forms
}

// draftID matches the ids that forms get when they are shown.
var draftID = regexp.MustCompile(`^[A-Z2-7]{26}$`)

// submissionFields are the fields that belong to one submission.
var submissionFields = []string{"do", "once", "files", "fresh", shell.TeamField}

// keepUnsaved stores the visitor's unsaved form. It changes no post. A form of a new post without text and media is not
// stored, which status 205 says.
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
	case len(fields) > maxUnsaved:
		p.ShowError(w, r, apierr.Invalid(apierr.TooLong, "", "The post is too long to autosave."))
		return
	}
	if form.Get("post") == "" && !s.hasContent() && s.Choices.IsZero() {
		if err := p.deleteUnsaved(r, s.Draft); err != nil {
			p.ShowError(w, r, err)
			return
		}
		w.WriteHeader(http.StatusResetContent)
		return
	}
	stored, err := p.storeUnsaved(r, s.Draft, form.Get("post"), fields)
	switch {
	case err != nil:
		p.ShowError(w, r, err)
	case !stored:
		p.ShowMessage(w, r, http.StatusConflict, "Not saved", alreadySubmitted)
	default:
		w.WriteHeader(http.StatusNoContent)
	}
}

// storeUnsaved stores the fields of a form. It reports false if the form was saved in the meantime.
func (p *Handlers) storeUnsaved(r *http.Request, id, post, fields string) (bool, error) {
	v, stored := shell.VisitorOf(r.Context()), false
	err := p.DB.InTx(r.Context(), "compose.keep_unsaved", func(ctx context.Context, tx *db.Tx) error {
		n, err := tx.Exec(ctx,
			`INSERT INTO unsaved_forms (person_id, id, team_id, post_id, fields, kept_at) VALUES (?, ?, ?, ?, ?, ?)
		ON CONFLICT (person_id, id) DO UPDATE SET team_id = excluded.team_id, post_id = excluded.post_id,
		fields = excluded.fields, kept_at = excluded.kept_at WHERE unsaved_forms.fields <> ''`,
			v.ID, id, v.Team.ID, post, fields, db.Micros(tx.Now()))
		if err != nil {
			return fmt.Errorf("storing an unsaved form: %w", err)
		}
		stored = n > 0
		// Saved forms do not count. SweepUnsaved deletes them.
		if _, err := tx.Exec(ctx, `DELETE FROM unsaved_forms WHERE person_id = ? AND fields <> '' AND id NOT IN
		(SELECT id FROM unsaved_forms WHERE person_id = ? AND fields <> '' ORDER BY kept_at DESC, id LIMIT ?)`,
			v.ID, v.ID, unsavedForms); err != nil {
			return fmt.Errorf("deleting old unsaved forms: %w", err)
		}
		return nil
	})
	return stored, err
}

// deleteUnsaved deletes an unsaved form of the visitor.
func (p *Handlers) deleteUnsaved(r *http.Request, id string) error {
	return p.DB.InTx(r.Context(), "compose.discard_unsaved", func(ctx context.Context, tx *db.Tx) error {
		if _, err := tx.Exec(ctx, `DELETE FROM unsaved_forms WHERE person_id = ? AND id = ? AND fields <> ''`,
			shell.VisitorOf(ctx).ID, id); err != nil {
			return fmt.Errorf("discarding an unsaved form: %w", err)
		}
		return nil
	})
}

// endUnsaved records that a form was saved, so that a late request does not store it again.
func (p *Handlers) endUnsaved(r *http.Request, s formData) {
	if s.Draft == "" {
		return
	}
	v := shell.VisitorOf(r.Context())
	err := p.DB.InTx(r.Context(), "compose.end_unsaved", func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.Exec(ctx, `INSERT INTO unsaved_forms (person_id, id, team_id, fields, kept_at) VALUES (?, ?, ?, '', ?)
		ON CONFLICT (person_id, id) DO UPDATE SET fields = '', kept_at = excluded.kept_at`,
			v.ID, s.Draft, v.Team.ID, db.Micros(tx.Now()))
		return err
	})
	if err != nil { // the form is only offered once more
		p.Log.ErrorContext(r.Context(), "recording that a form was saved failed", "error", err)
	}
}

// unsavedOfPost selects a person's unsaved forms of a post in a team. With an empty ID it selects the forms of new
// posts, which include the forms of posts that were deleted or published in the meantime.
const unsavedOfPost = `person_id = ? AND team_id = ? AND fields <> '' AND (post_id = ? OR (? = '' AND NOT EXISTS
	(SELECT 1 FROM posts p WHERE p.id = unsaved_forms.post_id AND p.team_id = unsaved_forms.team_id
	AND (p.status IN ('draft', 'scheduled') OR p.is_template = 1))))`

// unsaved returns the visitor's unsaved forms of a post, or of new posts if id is empty, the latest first.
func (p *Handlers) unsaved(r *http.Request, id string, zone *time.Location) ([]unsavedForm, error) {
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
		v.ID, v.Team.ID, id, id, unsavedForms)
	if err != nil {
		return nil, fmt.Errorf("reading unsaved forms: %w", err)
	}
	return out, nil
}

// restoreUnsaved shows the unsaved form that the query names. It reports false if the query names none.
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
	if err := p.deleteUnsaved(r, r.PostForm.Get("unsaved")); err != nil {
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

// SweepUnsaved deletes up to a thousand old unsaved forms and returns their number.
func SweepUnsaved(ctx context.Context, d *db.DB) (int64, error) {
	var n int64
	err := d.InTx(ctx, "compose.sweep_unsaved", func(ctx context.Context, tx *db.Tx) error {
		var err error
		n, err = tx.Exec(ctx, `DELETE FROM unsaved_forms WHERE (person_id, id) IN
		(SELECT person_id, id FROM unsaved_forms WHERE kept_at <= ? ORDER BY kept_at LIMIT 1000)`,
			db.Micros(tx.Now().Add(-unsavedLife)))
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("sweeping unsaved forms: %w", err)
	}
	return n, nil
}
