package posts

import (
	"net/http"
	"time"

	"pressroom/internal/apierr"
	"pressroom/internal/core/access"
	"pressroom/internal/core/operation"
	"pressroom/internal/domain/post"
	"pressroom/internal/web/shell"
)

// standing is a time at which a series that stands would occur next.
type standing struct {
	post.NextOccurrence

	At time.Time // in the team's zone
}

// mostStanding is how far it is looked for drafts that a series takes up again. Pausing makes one, seldom more.
const mostStanding = 50

// stands adds what becomes of a series that stands once it goes on.
func (p *Part) stands(r *http.Request, v *view, zone *time.Location) error {
	list, err := p.posts.NextOccurrences(r.Context(), v.Stored, mostStanding)
	if err != nil {
		return err
	}
	v.Taken = post.ResumeSummary(list)
	for _, one := range list[:min(len(list), upcomingShown)] {
		v.Standing = append(v.Standing, standing{one, one.At.In(zone)})
	}
	return nil
}

// cancel unschedules a post. With the template or an occurrence of a series the series is paused.
func (p *Part) cancel(w http.ResponseWriter, r *http.Request) {
	if !p.ReadForm(w, r) {
		return
	}
	said := ""
	held, err := p.stored(r)
	if err == nil {
		var full post.Post
		full, _, err = shell.Ask[post.Post](p.Frame, r, "cancel_post", operation.Arguments{"post_id": held.ID})
		said = "Unscheduled: it is a draft now." + p.wasSet(r, held)
		if err == nil && full.Recurrence != nil && full.Recurrence.Paused {
			said = "The series is paused: nothing of it goes out before somebody lets it go on. Its scheduled posts " +
				"are drafts until then."
		}
	}
	p.done(w, r, err, said)
}

// wasSet says for when a post was scheduled that is not any more.
func (p *Part) wasSet(r *http.Request, held post.Record) string {
	zone, err := p.zone(r)
	if err != nil || held.Status != post.Scheduled || held.ScheduledAt.IsZero() {
		return ""
	}
	return " It was set for " + held.ScheduledAt.In(zone).Format("Mon 2 Jan 2006, 15:04") + "."
}

// skip cancels one post of a series, which goes on.
func (p *Part) skip(w http.ResponseWriter, r *http.Request) {
	if !p.ReadForm(w, r) {
		return
	}
	said := ""
	held, err := p.stored(r)
	if err == nil {
		err = p.allowed(r, "skip_occurrence", access.Write)
	}
	if err == nil {
		_, err = p.posts.Skip(r.Context(), shell.VisitorOf(r.Context()).ID, held.ID)
		said = "Skipped: this post is a draft now, and the series goes on with the next one." + p.wasSet(r, held)
	}
	p.done(w, r, err, said)
}

// resume lets a series go on by its rule, and says what became of the drafts that it has taken up.
func (p *Part) resume(w http.ResponseWriter, r *http.Request) {
	said := "The series goes on."
	p.series(w, r, &said, func(person int64, stored post.Record) error {
		if !stored.IsTemplate {
			return apierr.BadState("not_recurring", "No series is made from this post.")
		}
		list, err := p.posts.NextOccurrences(r.Context(), stored, mostStanding)
		if err != nil {
			return err
		}
		if taken := post.ResumeSummary(list); taken != "" {
			said += " " + taken
		}
		_, err = p.posts.Repeat(r.Context(), person, stored.ID, stored.Series.Rule)
		return err
	})
}

// endPage says what the end of a series touches.
func (p *Part) endPage(w http.ResponseWriter, r *http.Request) {
	v, err := p.whole(r)
	if err != nil {
		p.Elsewhere(w, r, err, p.home(r))
		return
	}
	if !v.Stored.IsTemplate {
		shell.Redirect(w, r, "/posts/"+v.ID)
		return
	}
	p.Show(w, r, http.StatusOK, pages["end"], "End the series", v)
}

func (p *Part) end(w http.ResponseWriter, r *http.Request) {
	said := "The series has ended. What was scheduled of it are drafts now."
	p.series(w, r, &said, func(person int64, stored post.Record) error {
		_, err := p.posts.StopRepeating(r.Context(), person, stored.ID)
		return err
	})
}

func (p *Part) series(w http.ResponseWriter, r *http.Request, said *string, do func(int64, post.Record) error) {
	if !p.ReadForm(w, r) {
		return
	}
	stored, err := p.stored(r)
	if err == nil {
		err = p.allowed(r, "change_series", access.Publish)
	}
	if err == nil {
		err = do(shell.VisitorOf(r.Context()).ID, stored)
	}
	p.done(w, r, err, *said)
}
