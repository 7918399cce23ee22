package compose

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/core/pipeline"
	"pressroom.example/pressroom/internal/domain/post"
	"pressroom.example/pressroom/internal/domain/post/posttime"
	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/web/posts"
	"pressroom.example/pressroom/internal/web/shell"
)

// maxForm is the maximum size of the form in bytes. It is large enough for many accounts with long texts.
const maxForm = 2 << 20

// submit reads the form and handles the pressed button. A form with files takes a slot only after it is read.
func (p *Handlers) submit(w http.ResponseWriter, r *http.Request) {
	if !shell.SendsFiles(r) {
		if p.ReadLongForm(w, r, maxForm) {
			p.handleButton(w, r, parseForm(r.PostForm), nil)
		}
		return
	}
	if s, rejected, ok := p.receive(w, r); ok {
		p.WithSlot(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			p.handleButton(w, r, s, rejected)
		}), p.rejectAfterFiles).ServeHTTP(w, r)
	}
}

// rejectAfterFiles responds if the node has no free slot for a form whose files are already in the library.
func (p *Handlers) rejectAfterFiles(w http.ResponseWriter, r *http.Request, err error) {
	shell.SetRetryAfter(w, err)
	p.ShowMessage(w, r, http.StatusServiceUnavailable, "Not saved", "The service is overloaded. Your files are in the "+
		"library, but the post is not saved. Go back and send the form again.")
}

// handleButton performs the action of the pressed button. If files were rejected, it only shows the form with the
// errors. Every button accepts files, because browsers without JavaScript send files with each submission.
func (p *Handlers) handleButton(w http.ResponseWriter, r *http.Request, s formData, rejected []error) {
	s.Unsaved = true
	if len(rejected) > 0 {
		p.show(w, r, s, rejected...)
		return
	}
	what, rest, _ := strings.Cut(r.PostForm.Get("do"), ":")
	switch what {
	case "save", "schedule", "publish", "approval":
		if (what == "publish" || what == "approval") && asksFirst(r) {
			p.confirm(w, r, s, what)
			return
		}
		p.save(w, r, s, what)
	case "crop":
		p.openCrop(w, r, s, rest)
	default:
		if err := p.edit(r, &s, what, rest); err != nil {
			p.show(w, r, s, err)
			return
		}
		p.show(w, r, s)
	}
}

// edit performs the action of a button that changes the form without saving it. argument is the part of the button's
// value after the colon.
func (p *Handlers) edit(r *http.Request, s *formData, button, argument string) error {
	switch button {
	case "search":
		s.Picker.Cursor, s.Picker.Open = "", true
	case "page":
		s.Picker.Cursor, s.Picker.Open = argument, true
	case "add":
		s.addPicked()
	case "free":
		return p.useNextFreeSlot(r, s)
	case "at":
		return p.useTime(r, s, argument)
	case "part":
		s.changeParts(argument)
	case "split":
		return p.splitTexts(r, s)
	case "up", "down", "remove":
		list, place, _ := strings.Cut(argument, ":")
		s.arrange(button, list, place)
	}
	return nil
}

// save saves the form and then performs the action of the button. On an error, the input stays in the form.
func (p *Handlers) save(w http.ResponseWriter, r *http.Request, s formData, what string) {
	found, err := p.findErrors(r, s, what)
	if err != nil {
		p.ShowError(w, r, err)
		return
	}
	if len(found) > 0 {
		p.showAt(w, r, s, r.PathValue("id"), p.T(r, failedActionTexts[what]), found...)
		return
	}
	id, at, err := p.write(r, &s, what == "schedule" && s.Repeat.Often == "")
	if id != "" {
		p.recordSave(r, s, id)
	}
	switch {
	case err != nil && id != "":
		p.showUnfinished(w, r, s, id, err)
		return
	case err != nil:
		p.show(w, r, s, err)
		return
	}
	switch what {
	case "publish":
		shell.Redirect(w, r, "/posts/"+id+"/publish")
		return
	case "approval":
		shell.Redirect(w, r, "/approvals/new?post="+id)
		return
	}
	message := p.savedText(r, id)
	if what == "schedule" {
		if message, err = p.schedule(r, s, id, at); err != nil {
			p.showUnfinished(w, r, s, id, err)
			return
		}
	}
	if posttime.FarAhead(p.DB.Now(), at) {
		message += " " + p.T(r, "Its time is more than a year ahead, in %s: check the year.", at.Format("2006"))
	}
	if message = strings.TrimSpace(message + p.revokedLinkNote(r, id)); message != "" {
		p.FlashText(r, message)
	}
	shell.Redirect(w, r, "/posts/"+id)
}

// recordSave deletes the unsaved copy of a saved form. If the form created a post, recordSave records
// which one.
func (p *Handlers) recordSave(r *http.Request, s formData, id string) {
	p.endUnsaved(r, s)
	if r.PathValue("id") == "" {
		p.recordCreated(r, id)
	}
}

// revokedLinkNote returns a note if a change has invalidated the client's links to a post.
func (p *Handlers) revokedLinkNote(r *http.Request, id string) string {
	rounds, err := p.approvals.Rounds(r.Context(), shell.VisitorOf(r.Context()).Team.ID, id)
	if err != nil || len(rounds) == 0 {
		return "" // the post's page shows it too
	}
	if latest := rounds[0]; latest.Number == 1 || latest.Decision != post.Waiting || latest.HasLink || latest.Revoked {
		return ""
	}
	return " " + p.T(r, "The client’s earlier links no longer work. Send the new version to the client.")
}

// savedText returns the confirmation for a post that was only saved.
func (p *Handlers) savedText(r *http.Request, id string) string {
	held, err := p.postOf(r, id)
	switch {
	case err == nil && held.IsTemplate:
		return p.T(r, "Saved. The series is paused: nothing is published until someone resumes it.")
	case err == nil && held.Status == post.Scheduled:
		return p.T(r, "Saved. It will be published at its scheduled time.")
	}
	return p.T(r, "Saved. It will not be published until someone schedules or publishes it.")
}

const (
	createdKey = "made by forms"
	maxCreated = 20 // recorded forms per session
)

// recordCreated records which post a form created, so that a person who returns to the form is redirected to the post.
func (p *Handlers) recordCreated(r *http.Request, id string) {
	lines := strings.Fields(string(p.Pop(r.Context(), createdKey)))
	lines = append(lines, r.PostForm.Get("once")+"="+id)
	p.Put(r.Context(), createdKey, []byte(strings.Join(lines[max(0, len(lines)-maxCreated):], " ")))
}

// createdPost returns the ID of the post that a form created, or "".
func (p *Handlers) createdPost(r *http.Request, once string) string {
	kept := p.Pop(r.Context(), createdKey)
	p.Put(r.Context(), createdKey, kept)
	for line := range strings.FieldsSeq(string(kept)) {
		if form, id, _ := strings.Cut(line, "="); form == once {
			return id
		}
	}
	return ""
}

// failedActionTexts maps each button to the text that precedes the problems if the button's action failed.
var failedActionTexts = map[string]locale.Key{
	"save": "Not saved.", "schedule": "The post wasn’t scheduled.", "publish": "Not saved and not published.",
	"approval": "Not saved and not sent for approval.",
}

// showUnfinished shows the form of a post that was saved, but whose next step failed with err.
func (p *Handlers) showUnfinished(w http.ResponseWriter, r *http.Request, s formData, id string, err error) {
	held, loadErr := p.postOf(r, id)
	if loadErr != nil {
		p.ShowError(w, r, loadErr)
		return
	}
	s.Seen, s.Draft = held.UpdatedAt.UnixMicro(), ""
	p.showAt(w, r, s, id, p.T(r, "The post was saved, but the next step failed.")+p.revokedLinkNote(r, id), err)
}

// write creates or changes the post and returns its ID and time. It also returns the ID if it saves the post but fails
// to save alternative texts. scheduling is set if the caller schedules the post next.
func (p *Handlers) write(r *http.Request, s *formData, scheduling bool) (string, time.Time, error) {
	if err := p.startCopy(r, s); err != nil {
		return "", time.Time{}, err
	}
	actor, err := p.actor(r)
	if err != nil {
		return "", time.Time{}, err
	}
	c, _ := s.composition() // findErrors has checked it
	c.Scheduling = scheduling
	var held post.Record
	if id := r.PathValue("id"); id != "" {
		if held, err = p.postOf(r, id); err != nil {
			return "", time.Time{}, err
		}
	}
	c.Options = s.Choices.of(held.Options)
	if c.Day, err = s.When.day(); err != nil {
		return "", time.Time{}, err
	}
	if c.Day == "" {
		if c.At, err = s.When.resolve(actor.PersonZone); err != nil {
			return "", c.At, err
		}
	}
	id, seen := r.PathValue("id"), time.UnixMicro(s.Seen)
	if id == "" {
		made, err := p.create(r, c)
		if err != nil {
			return "", c.At, err
		}
		return made.ID, c.At, p.saveAltTexts(r, actor, *s)
	}
	if c.Rule, err = p.newRule(r, *s, id); err != nil {
		return "", c.At, err
	}
	if _, err = p.posts.Compose(r.Context(), actor, id, seen, c); err != nil {
		return "", c.At, err
	}
	return id, c.At, p.saveAltTexts(r, actor, *s)
}

// newRule returns the form's rule for a paused series, or "" if the post is not a template or its rule cannot be
// changed.
func (p *Handlers) newRule(r *http.Request, s formData, id string) (string, error) {
	held, err := p.postOf(r, id)
	if err != nil || !held.IsTemplate || held.CheckComposable() != nil {
		return "", err
	}
	return ruleFor(s, held)
}

// create drafts a new post. A form that is submitted twice creates only one post.
func (p *Handlers) create(r *http.Request, c post.Composition) (post.Record, error) {
	call, err := p.NewCall(r, "create_post")
	if err != nil {
		return post.Record{}, err
	}
	made, _, err := p.posts.CreateDraft(r.Context(), call.Actor, r.PostForm.Get("once"), c)
	return made, err
}

// saveAltTexts saves the form's alternative texts that differ from the texts in the library.
func (p *Handlers) saveAltTexts(r *http.Request, actor *access.Actor, s formData) error {
	known, err := p.libraryItems(r.Context(), actor.TeamID, s)
	if err != nil {
		return err
	}
	for id, alt := range s.Alts {
		if m, ok := known[id]; ok && strings.TrimSpace(alt) != m.Alt {
			err := p.library.Describe(r.Context(), actor.PersonID, id, alt)
			if f := apierr.FromError(err); err != nil && f.Context["argument"] == "alt" {
				named := apierr.New(f.Code, f.Detail).With("argument", "alt-"+strconv.FormatInt(id, 10))
				named.Format, named.Args = f.Format, f.Args
				err = named
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// runStep runs another operation for the same submission, with an idempotency key of its own.
func (p *Handlers) runStep(r *http.Request, step, tool string, args operation.Arguments) (pipeline.Outcome, error) {
	next := r.Clone(r.Context())
	next.PostForm = url.Values{"once": {r.PostForm.Get("once") + "-" + step}}
	next.Form = next.PostForm
	return p.Do(next, tool, args)
}

// schedule schedules a post at its time or by its rule and returns the confirmation.
func (p *Handlers) schedule(r *http.Request, s formData, id string, at time.Time) (string, error) {
	held, err := p.postOf(r, id)
	if err != nil {
		return "", err
	}
	if s.Repeat.Often == "" && !held.IsTemplate {
		if held.Status == post.Scheduled { // by the first submission of this form
			return "", nil
		}
		_, err := p.runStep(r, "schedule", "schedule_post",
			operation.Arguments{"post_id": id, "scheduled_at": at.UTC().Format(time.RFC3339)})
		if err == nil {
			p.Put(r.Context(), posts.JustScheduled, []byte(id))
		}
		return "", err
	}
	actor, err := p.actor(r)
	if err != nil {
		return "", err
	}
	var rule string
	if held.IsTemplate {
		rule, err = ruleFor(s, held)
	} else {
		rule, err = s.Repeat.rule(at.In(actor.PersonZone))
	}
	if err != nil {
		return "", err
	}
	if err := (operation.Call{Actor: actor}).Require(access.Publish); err != nil {
		return "", err
	}
	if held.IsTemplate && held.Status == post.Scheduled {
		return p.T(r, "The post repeats."), nil
	}
	return p.startSeries(r, held, rule, actor.PersonZone)
}

// startSeries starts or resumes a series. It returns a confirmation that contains the next time and the drafts that the
// series reschedules.
func (p *Handlers) startSeries(r *http.Request, held post.Record, rule string, zone *time.Location) (string, error) {
	l, taken := p.Language(r), ""
	message, next := locale.Key("The post repeats on schedule."),
		locale.Key("The post repeats on schedule. Next post: %s.")
	if held.IsTemplate {
		held.Series.Rule = rule
		list, err := p.posts.NextOccurrences(r.Context(), held, maxReschedulable)
		if err != nil {
			return "", err
		}
		message, next, taken = "The series was resumed.", "The series was resumed, next on %s.", post.ResumeSummary(l, list)
	}
	made, err := p.posts.Repeat(r.Context(), shell.VisitorOf(r.Context()).ID, held.ID, rule, zone)
	text := l.T(message)
	if at := made.Series.NextAt; !at.IsZero() {
		text = l.T(next, l.Format(at.In(zone), locale.DateTime))
	}
	return strings.TrimSpace(text + " " + l.T("Each occurrence is a separate post, created in advance.") + " " + taken), err
}

// maxReschedulable limits how many occurrences are searched for drafts that the series reschedules. Pausing usually
// leaves one draft.
const maxReschedulable = 50
