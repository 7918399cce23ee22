package compose

import (
	"cmp"
	"html/template"
	"net/http"
	"slices"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/domain/post"
	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/web/preview"
	"pressroom.example/pressroom/internal/web/shell"
)

// problem is something to correct in the form. Field is the id of the element that corrects it, if known.
type problem struct{ Text, Field string }

// problems are shown together above the form and each beside its field.
type problems []problem

// At returns the texts of a field's problems.
func (p problems) At(field string) []string {
	out := []string{}
	for _, one := range p {
		if one.Field == field {
			out = append(out, one.Text)
		}
	}
	return out
}

// Within reports whether a field of a network's options has a problem.
func (p problems) Within(platform string) bool {
	return slices.ContainsFunc(p, func(one problem) bool { return strings.HasPrefix(one.Field, platform+"-") })
}

// Mark returns the attributes of an input: the ids of its descriptions, and whether it is invalid. Browsers focus the
// first invalid input.
func (p problems) Mark(field string, hints ...string) template.HTMLAttr {
	return p.attributes(field, ` aria-invalid="true" autofocus`, hints)
}

// Describe returns the attribute of a group of inputs with the id of its error, if it has one.
func (p problems) Describe(field string) template.HTMLAttr { return p.attributes(field, "", nil) }

// attributes returns the attributes of an element. The templates must contain elements with the ids that it
// refers to.
func (p problems) attributes(field, invalid string, hints []string) template.HTMLAttr {
	if len(p.At(field)) == 0 {
		invalid = ""
	} else {
		hints = append(hints, "error-"+field)
	}
	if len(hints) == 0 {
		return ""
	}
	return template.HTMLAttr(` aria-describedby="` + strings.Join(hints, " ") + `"` + invalid) //nolint:gosec // only ids
}

// fields maps argument names in the errors of services to element ids in the form.
var fields = map[string]string{
	"scheduled_at": "date", "repeat": "often", "rule": "often", "count": "times", "account_ids": "accounts",
	"media_ids": "media", "first_comment": "first-comment",
}

// problemOf converts an error to a problem of the form.
func problemOf(l *locale.Language, err error) problem {
	field, _ := apierr.FromError(err).Context["argument"].(string)
	if id, ok := fields[field]; ok {
		field = id
	}
	if field == "once" {
		field = ""
	}
	return problem{errorText(l, err), field}
}

// order lists the ids of the form's fields in their order on the page. An entry that ends in "-" is a prefix of ids.
var order = []string{
	"accounts", "title", "caption", "text-", "title-", "thread", "part-", "media", "alt-", "cover-", "files",
	"first-comment", "often", "every", "until", "times", "date", "time", "second",
}

// sort sorts problems in the order of their fields in the form. Problems without a field come first.
func (p problems) sort() {
	rank := func(one problem) int {
		at := slices.IndexFunc(order, func(id string) bool {
			return one.Field == id || strings.HasSuffix(id, "-") && strings.HasPrefix(one.Field, id)
		})
		if at < 0 && one.Field != "" {
			return len(order)
		}
		return at
	}
	slices.SortStableFunc(p, func(a, b problem) int { return rank(a) - rank(b) })
}

// findErrors returns all errors that prevent the form from being saved and, depending on the button, scheduled,
// published or sent for approval.
func (p *Handlers) findErrors(r *http.Request, s formData, what string) ([]error, error) {
	actor, err := p.actor(r)
	if err != nil {
		return nil, err
	}
	held, err := p.savedPost(r, actor, s)
	switch f := apierr.FromError(err); {
	case err == nil:
	case f.IsServerError() || f.Code == apierr.NotFound:
		return nil, err
	default:
		return []error{err}, nil
	}
	accounts, err := p.accounts(r)
	if err != nil {
		return nil, err
	}
	out := s.contradictions(accounts, &held)
	c, formErr := s.composition()
	c.Options = s.Choices.of(held.Options)
	out = append(out, formErr...)
	out = append(out, c.Errors()...)
	needsAccount := what != "save" || held.Status == post.Scheduled || held.IsTemplate
	if needsAccount && len(c.Accounts) == 0 {
		out = append(out, apierr.Invalid(apierr.MissingArgument, "account_ids", "Select at least one account."))
	}
	if what == "schedule" || what == "publish" {
		rejected, err := p.rejections(r, actor, s, c, held)
		if err != nil {
			return nil, err
		}
		out = append(out, rejected...)
	}
	return append(out, p.timeErrors(s, held, actor.PersonZone, what)...), nil
}

// savedPost returns the post that the form changes. If the form copies a failed post, it returns the copy, which may
// not be saved yet. It returns a zero Record for a new post, and an error if the post cannot be changed.
func (p *Handlers) savedPost(r *http.Request, actor *access.Actor, s formData) (post.Record, error) {
	switch id := r.PathValue("id"); {
	case id != "":
		held, err := p.postOf(r, id)
		if err != nil {
			return held, err
		}
		return held, held.CheckComposable()
	case s.Again != "":
		return p.posts.Replacement(r.Context(), actor, s.Again)
	}
	return post.Record{}, nil
}

// errOnlySchedule is the error if a button other than Schedule is pressed and the form has a recurrence rule. The rule
// would be lost.
var errOnlySchedule = apierr.Invalid(apierr.NotAllowedValue, "repeat",
	"Only Schedule starts a series. Schedule the post, or choose “Does not repeat”.")

// timeErrors returns the errors of the form's time and recurrence.
func (p *Handlers) timeErrors(s formData, held post.Record, zone *time.Location, what string) []error {
	if held.IsTemplate {
		_, err := ruleFor(s, held)
		return nonNil(err)
	}
	at, timeErr := s.When.resolve(zone)
	return nonNil(p.timeError(s, held, what, at, timeErr), p.ruleError(s, held, what, at, zone))
}

// nonNil returns the errors that are not nil.
func nonNil(errs ...error) []error {
	return slices.DeleteFunc(errs, func(err error) bool { return err == nil })
}

// timeError returns the error of the form's time, or nil. at and err are the results of parsing the time.
func (p *Handlers) timeError(s formData, held post.Record, what string, at time.Time, err error) error {
	required := what == "schedule" || held.Status == post.Scheduled && what == "save"
	switch {
	case s.When.isEmpty() && what == "schedule":
		return apierr.Invalid(apierr.MissingArgument, "date", "Choose a date and time.")
	case s.When.isDayOnly() && !required:
		_, err := s.When.day()
		return err
	case err != nil:
		return err
	case !at.IsZero() && (what == "schedule" || !held.ScheduledAt.Equal(at)):
		return p.checkTimeAllowed(at)
	}
	return nil
}

// ruleError returns the error of the form's recurrence, or nil.
func (p *Handlers) ruleError(s formData, held post.Record, what string, at time.Time, zone *time.Location) error {
	switch {
	case s.Repeat.Often == "":
		return nil
	case held.Replaces != "":
		return apierr.Invalid(apierr.NotAllowedValue, "repeat", post.ErrCopyRepeats.Detail)
	case what != "schedule":
		return errOnlySchedule
	case at.IsZero():
		at = p.DB.Now() // any time suffices to validate the rule itself
	}
	_, err := seriesPreview(s, at, zone)
	return err
}

// rejections returns the problems that would make networks reject a composition, as errors.
func (p *Handlers) rejections(
	r *http.Request, actor *access.Actor, s formData, c post.Composition, held post.Record,
) ([]error, error) {
	checked, err := p.posts.CheckComposition(r.Context(), actor, c, held.Targets)
	switch {
	case apierr.Is(err, apierr.NotFound):
		return []error{err}, nil
	case err != nil:
		return nil, err
	}
	s.renumberAll(checked.Previews)
	out, seen := []error{}, map[string]bool{}
	for _, o := range checked.Previews {
		name := shell.NetworkName(o.Target.Platform)
		for _, found := range o.Problems {
			text, field := preview.ProblemText(p.Language(r), found.Message), fieldOf(found, o.Target)
			if !strings.Contains(text, name) {
				text = name + " (" + o.Target.Username + "): " + text
			}
			if found.Blocking && !isNoThreads(found) && !seen[text+field] {
				seen[text+field] = true
				out = append(out, apierr.Invalid(apierr.NotAllowedValue, field, text))
			}
		}
	}
	return append(out, nonNil(noThreadsError(p.Language(r), checked.Previews))...), nil
}

// fieldOf returns the id of the form's element that corrects a problem of an account.
func fieldOf(found post.PostProblem, t post.Target) string {
	switch code := found.Code; {
	case found.FirstComment:
		return "first-comment"
	case found.Part > 0:
		return partField(found.Part)
	case code == codeNoThreads:
		return "thread"
	case strings.HasPrefix(code, "media_"):
		return "media"
	case found.Field == "title" && t.Title != nil:
		return ownTitle(t.AccountID)
	case found.Field != "":
		return cmp.Or(optionInputs[found.Field], t.Platform+"-options")
	case code == "account_inactive":
		return "accounts"
	case t.Caption != nil:
		return ownText(t.AccountID)
	}
	return "caption"
}
