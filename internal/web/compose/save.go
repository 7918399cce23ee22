package compose

import (
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"pressroom/internal/apierr"
	"pressroom/internal/core/access"
	"pressroom/internal/core/operation"
	"pressroom/internal/core/pipeline"
	"pressroom/internal/domain/media"
	"pressroom/internal/domain/post"
	"pressroom/internal/web/shell"
)

// maxForm is how many bytes the form may have: many accounts with long texts of their own.
const maxForm = 2 << 20

// sent does what the pressed button says.
func (p *Part) sent(w http.ResponseWriter, r *http.Request) {
	if hasFiles(r) {
		p.upload(w, r)
		return
	}
	if !p.ReadLongForm(w, r, maxForm) {
		return
	}
	s := read(r.PostForm)
	s.Unsaved = true
	what, rest, _ := strings.Cut(r.PostForm.Get("do"), ":")
	switch what {
	case "save", "schedule", "publish", "approval":
		p.save(w, r, s, what)
		return
	case "search":
		s.Picker.Cursor, s.Picker.Open = "", true
	case "page":
		s.Picker.Cursor, s.Picker.Open = rest, true
	case "add":
		s.Picker.Open = true
		s.add(number(rest))
	case "free":
		if err := p.takeFree(r, &s); err != nil {
			p.show(w, r, s, err)
			return
		}
	case "up", "down", "remove":
		account, place, _ := strings.Cut(rest, ":")
		s.arrange(what, account, place)
	}
	p.show(w, r, s, nil)
}

// upload puts files into the library and, behind the others, into the post.
func (p *Part) upload(w http.ResponseWriter, r *http.Request) {
	body := shell.ArrivingIn(w, r)
	r.Body = body
	actor, leave, err := p.admit(r)
	if err != nil {
		body.Refuse(w, r, func() { p.Refuse(w, r, err) })
		return
	}
	defer leave()
	refused := operation.Call{Actor: actor}.Require(access.Write)
	form, arrived, why := p.parts(r, actor, refused == nil)
	switch {
	case why != nil && form == nil:
		body.Refuse(w, r, func() { p.Refuse(w, r, why) })
		return
	case shell.Astray(r, form):
		p.TurnBack(w, r, form, r.URL.Path)
		return
	case refused != nil:
		p.Refuse(w, r, refused)
		return
	}
	r.PostForm = form
	s := read(form)
	s.Unsaved, s.Picker.Open = true, true
	for _, id := range arrived {
		s.add(id)
	}
	if why == nil && len(arrived) == 0 {
		why = apierr.Invalid(apierr.MissingArgument, "files", "Choose a file first.")
	}
	p.show(w, r, s, why)
}

// admit refuses a form with files before it is read: if the person has too many under way, or if its length shows that
// the files cannot be taken. It returns who sends the form, and what ends the count of it.
func (p *Part) admit(r *http.Request) (*access.Actor, func(), error) {
	leave, err := p.EnterUploads(r)
	if err != nil {
		return nil, nil, err
	}
	actor, err := p.actor(r)
	if err == nil {
		err = p.library.CheckForm(r.Context(), actor.TeamID, r.ContentLength)
	}
	if err != nil {
		leave()
		return nil, nil, err
	}
	return actor, leave, nil
}

var errForm = apierr.Invalid(apierr.Malformed, "", "This form cannot be read.")

// parts reads a form with files: its fields, the items that the files are now, and why a file was refused. Without
// fields the form could not be read. Files of whoever may not add any, and those for another team's library, are left
// out.
func (p *Part) parts(r *http.Request, actor *access.Actor, may bool) (url.Values, []int64, error) {
	reader, err := r.MultipartReader()
	if err != nil {
		return nil, nil, errForm.Wrap(err)
	}
	f := filesForm{fields: url.Values{}, left: maxForm}
	for {
		part, err := reader.NextPart()
		switch {
		case errors.Is(err, io.EOF):
			return f.fields, f.arrived, f.refusal
		case err != nil:
			return nil, nil, errForm.Wrap(err)
		case part.FileName() == "":
			err = f.add(part)
		case may && !shell.Astray(r, f.fields):
			err = p.take(r, actor, part, &f)
		}
		if err != nil {
			return nil, nil, err
		}
	}
}

// filesForm is what has been read of a form with files.
type filesForm struct {
	fields  url.Values
	left    int64 // bytes that more fields may have
	files   int
	arrived []int64 // the items of the library that the files are now
	refusal error   // of the last file that was refused
}

// add reads a field.
func (f *filesForm) add(part *multipart.Part) error {
	text, err := io.ReadAll(io.LimitReader(part, f.left+1))
	if f.left -= int64(len(text)); err != nil || f.left < 0 {
		return errForm
	}
	if part.FormName() != "files" {
		f.fields.Add(part.FormName(), string(text))
	}
	return nil
}

// take puts a file of a form into the library. A refusal is noted in the form; the error is what ends the form.
func (p *Part) take(r *http.Request, actor *access.Actor, part *multipart.Part, f *filesForm) error {
	if f.files++; f.files > media.MaxFormFiles {
		f.refusal = apierr.Invalid(apierr.TooLong, "files", media.TooManyFormFiles)
		return nil
	}
	id, err := p.arrive(r, actor, part)
	switch {
	case err == nil:
		f.arrived = append(f.arrived, id)
	case apierr.Of(err).Code == apierr.Internal:
		return err
	default:
		f.refusal = err
	}
	return nil
}

// arrive puts a file into the library, in a place among uploads. A refusal names the file.
func (p *Part) arrive(r *http.Request, actor *access.Actor, part *multipart.Part) (int64, error) {
	leave, err := p.EnterUpload(r)
	var got media.Arrived
	if err == nil {
		defer leave()
		got, err = p.library.Add(r.Context(), media.Owner{TeamID: actor.TeamID, PersonID: actor.PersonID},
			media.Incoming{Name: part.FileName(), Type: part.Header.Get("Content-Type"), Size: -1, Body: part})
	}
	if f := apierr.Of(err); err != nil && f.Code != apierr.Internal {
		err = apierr.New(f.Code, part.FileName()+": "+f.Detail).With("argument", "files")
	}
	return got.MediaID, err
}

// save keeps what stands in the form, then does the rest of what the button says. What was typed stays in the form
// whatever is refused.
func (p *Part) save(w http.ResponseWriter, r *http.Request, s sheet, what string) {
	err := p.ready(r, s, what)
	if err != nil {
		p.show(w, r, s, err)
		return
	}
	id, at, err := p.keep(r, s, what == "schedule" && s.Repeat.Often == "")
	if id != "" && r.PathValue("id") == "" {
		p.made(r, id)
	}
	switch {
	case err != nil && id != "":
		p.unfinished(w, r, s, id, err)
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
		p.ask(w, r, s, id)
		return
	}
	said := p.saved(r, id)
	if what == "schedule" {
		if said, err = p.schedule(r, s, id, at); err != nil {
			p.unfinished(w, r, s, id, err)
			return
		}
	}
	if post.FarAhead(p.DB.Now(), at) {
		said += " Its time is more than a year ahead, in " + at.Format("2006") + ": check the year."
	}
	p.Say(r, said+p.unsent(r, id))
	shell.Redirect(w, r, "/posts/"+id)
}

// unsent says that a change has ended the client's links to a post; empty for a post of which that is not so.
func (p *Part) unsent(r *http.Request, id string) string {
	rounds, err := p.posts.Rounds(r.Context(), shell.VisitorOf(r.Context()).Team.ID, id)
	if err != nil || len(rounds) == 0 {
		return "" // the post's page says so too
	}
	if latest := rounds[0]; latest.Number == 1 || latest.Decision != post.Waiting || latest.Sent || latest.Revoked {
		return ""
	}
	return " The client’s earlier links no longer work. Send the new version to the client."
}

// saved says what becomes of a post that is kept and nothing more.
func (p *Part) saved(r *http.Request, id string) string {
	held, err := p.held(r, id)
	switch {
	case err == nil && held.IsTemplate:
		return "Saved. The series stands still: nothing of it goes out before somebody lets it go on."
	case err == nil && held.Status == post.Scheduled:
		return "Saved. It goes out at its time."
	}
	return "Saved. Nothing goes out before somebody schedules or publishes it."
}

const (
	madeKept = "made by forms"
	mostMade = 20 // forms whose posts are remembered
)

// made remembers which post a form has made, so that whoever comes back to the form is led to that post.
func (p *Part) made(r *http.Request, id string) {
	lines := strings.Fields(string(p.Take(r.Context(), madeKept)))
	lines = append(lines, r.PostForm.Get("once")+"="+id)
	p.Keep(r.Context(), madeKept, []byte(strings.Join(lines[max(0, len(lines)-mostMade):], " ")))
}

// madeBy is the post that a form has made; empty where it has made none.
func (p *Part) madeBy(r *http.Request, once string) string {
	kept := p.Take(r.Context(), madeKept)
	p.Keep(r.Context(), madeKept, kept)
	for line := range strings.FieldsSeq(string(kept)) {
		if form, id, _ := strings.Cut(line, "="); form == once {
			return id
		}
	}
	return ""
}

// ready refuses to begin what cannot be done by the form alone.
func (p *Part) ready(r *http.Request, s sheet, what string) error {
	if what != "schedule" {
		return nil
	}
	actor, err := p.actor(r)
	if err != nil {
		return err
	}
	at, err := s.When.meant(actor.Zone)
	if err != nil {
		return err
	}
	if id := r.PathValue("id"); id != "" {
		held, err := p.held(r, id)
		if err != nil {
			return err
		}
		if held.IsTemplate {
			return nil // keep reads its rule
		}
	}
	if at.IsZero() {
		return apierr.Invalid(apierr.MissingArgument, "date", "Choose the day and the time at which it is to go out.")
	}
	_, err = foreseen(s, at, actor.Zone)
	return err
}

// unfinished shows the form of a post that is kept, where what was to follow is refused.
func (p *Part) unfinished(w http.ResponseWriter, r *http.Request, s sheet, id string, err error) {
	held, looked := p.held(r, id)
	if looked != nil {
		p.Refuse(w, r, looked)
		return
	}
	s.Seen = held.UpdatedAt.UnixMicro()
	p.showAt(w, r, s, id, "The post is saved, but not everything was done."+p.unsent(r, id)+" ", err)
}

// keep makes the post, or changes it, and gives its id and its time. The id is there also where only a part was kept.
// Scheduling tells that the post is scheduled for its time next.
func (p *Part) keep(r *http.Request, s sheet, scheduling bool) (string, time.Time, error) {
	actor, err := p.actor(r)
	if err != nil {
		return "", time.Time{}, err
	}
	c, err := s.piece()
	if err != nil {
		return "", time.Time{}, err
	}
	c.Scheduling = scheduling
	if c.At, err = s.When.meant(actor.Zone); err != nil {
		return "", c.At, err
	}
	if err := c.Validate(); err != nil {
		return "", c.At, err
	}
	id, seen := r.PathValue("id"), time.UnixMicro(s.Seen)
	if id == "" {
		made, replayed, err := p.create(r, c)
		if err != nil || replayed {
			return made.ID, c.At, err
		}
		id, seen = made.ID, made.UpdatedAt
	} else if c.Rule, err = p.ruled(r, s, id); err != nil {
		return "", c.At, err
	}
	if _, err = p.posts.Compose(r.Context(), actor, id, seen, c); err != nil {
		if r.PathValue("id") != "" {
			id = ""
		}
		return id, c.At, err
	}
	return id, c.At, p.describe(r, actor, s)
}

// ruled is the rule that a form gives a series that stands; empty where the post is none's template, or is changed by
// nobody.
func (p *Part) ruled(r *http.Request, s sheet, id string) (string, error) {
	held, err := p.held(r, id)
	if err != nil || !held.IsTemplate || held.CheckComposable() != nil {
		return "", err
	}
	return ruleFor(s, held)
}

// create drafts a new post; replayed tells that this very form has done so before, and what followed.
func (p *Part) create(r *http.Request, c post.Composition) (post.Record, bool, error) {
	if !c.At.IsZero() {
		if err := p.mayCome(c.At); err != nil {
			return post.Record{}, false, err
		}
	}
	got, err := p.Do(r, "create_post",
		operation.Arguments{"caption": c.Caption, "account_ids": list(c.Accounts), "media_ids": list(c.Media)})
	if err != nil {
		return post.Record{}, false, err
	}
	full, err := kept[post.Post](got.Data)
	if err != nil {
		return post.Record{}, false, err
	}
	made, err := p.held(r, full.ID)
	return made, got.Replayed && !made.UpdatedAt.Equal(made.CreatedAt), err
}

func list(ids []int64) []any {
	out := make([]any, len(ids))
	for i, id := range ids {
		out[i] = id
	}
	return out
}

// describe keeps what the form says that images show, where it is another text than the library's.
func (p *Part) describe(r *http.Request, actor *access.Actor, s sheet) error {
	known, err := p.known(r.Context(), actor.TeamID, s)
	if err != nil {
		return err
	}
	for id, alt := range s.Alts {
		if m, ok := known[id]; ok && strings.TrimSpace(alt) != m.Alt {
			if err := p.library.Describe(r.Context(), actor.PersonID, id, alt); err != nil {
				return err
			}
		}
	}
	return nil
}

// then runs a further operation of the same sending of a form, known by a key of its own.
func (p *Part) then(r *http.Request, step, tool string, args operation.Arguments) (pipeline.Outcome, error) {
	next := r.Clone(r.Context())
	next.PostForm = url.Values{"once": {r.PostForm.Get("once") + "-" + step}}
	next.Form = next.PostForm
	return p.Do(next, tool, args)
}

// schedule lets a post go out at its time, or by its rule, and says what happens.
func (p *Part) schedule(r *http.Request, s sheet, id string, at time.Time) (string, error) {
	held, err := p.held(r, id)
	if err != nil {
		return "", err
	}
	if s.Repeat.Often == "" && !held.IsTemplate {
		if held.Status == post.Scheduled { // by the first sending of this form
			return "It is scheduled.", nil
		}
		_, err := p.then(r, "schedule", "schedule_post",
			operation.Arguments{"post_id": id, "scheduled_at": at.UTC().Format(time.RFC3339)})
		return "It is scheduled, and goes out by itself.", err
	}
	actor, err := p.actor(r)
	if err != nil {
		return "", err
	}
	var rule string
	if held.IsTemplate {
		rule, err = ruleFor(s, held)
	} else {
		rule, err = s.Repeat.rule(at.In(actor.Zone))
	}
	if err != nil {
		return "", err
	}
	if err := (operation.Call{Actor: actor}).Require(access.Publish); err != nil {
		return "", err
	}
	if held.IsTemplate && held.Status == post.Scheduled {
		return "It recurs.", nil
	}
	return p.recur(r, held, rule, actor.Zone)
}

// recur lets a series begin or go on, and says when it goes out next and what becomes of the drafts that it takes up.
func (p *Part) recur(r *http.Request, held post.Record, rule string, zone *time.Location) (string, error) {
	said, taken := "It recurs by its rule", ""
	if held.IsTemplate {
		held.Series.Rule = rule
		list, err := p.posts.NextOccurrences(r.Context(), held, mostStanding)
		if err != nil {
			return "", err
		}
		said, taken = "The series goes on", post.ResumeSummary(list)
	}
	made, err := p.posts.Repeat(r.Context(), shell.VisitorOf(r.Context()).ID, held.ID, rule)
	if next := made.Series.NextAt; !next.IsZero() {
		said += ", next on " + next.In(zone).Format("Mon 2 Jan 2006, 15:04")
	}
	return strings.TrimSpace(said + ". Each time is a post of its own, made ahead. " + taken), err
}

// mostStanding is how far it is looked for drafts that a series takes up again. Pausing makes one, seldom more.
const mostStanding = 50

// asked is the page that tells the client's link.
type asked struct {
	ID, Link string
	Blocked  bool // a network would not take the post
}

// ask sends a post to the client for approval.
func (p *Part) ask(w http.ResponseWriter, r *http.Request, s sheet, id string) {
	actor, err := p.actor(r)
	if err == nil {
		err = operation.Call{Actor: actor}.Require(access.Write)
	}
	var link string
	if err == nil {
		link, err = p.approvals.RequestApproval(r.Context(), actor.PersonID, id)
	}
	if err != nil {
		p.unfinished(w, r, s, id, err)
		return
	}
	// If this fails, the link is shown all the same. The post's page tells of the problems too.
	found, _, _ := shell.Ask[post.Validation](p.Frame, r, "validate_post", operation.Arguments{"post_id": id})
	blocked := slices.ContainsFunc(found.Problems, func(one post.PostProblem) bool { return one.Blocking })
	p.Show(w, r, http.StatusOK, pages["asked"], "For approval", asked{id, link, blocked})
}
