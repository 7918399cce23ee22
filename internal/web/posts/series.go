package posts

import (
	"net/http"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/domain/post"
	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/web/shell"
)

// resumeTime is a time at which a paused series would publish a post if it were resumed.
type resumeTime struct {
	post.NextOccurrence

	At time.Time // in the visitor's time zone
}

// maxReschedulable is the maximum number of occurrences that addResume and resume check for drafts that a resumed
// series would reschedule. Pausing a series usually leaves one such draft.
const maxReschedulable = 50

// addResume adds the effects of resuming a paused series.
func (p *Handlers) addResume(r *http.Request, v *view, zone *time.Location) error {
	list, err := p.posts.NextOccurrences(r.Context(), v.Stored, maxReschedulable)
	if err != nil {
		return err
	}
	v.RescheduleNote = post.ResumeSummary(v.lang, list)
	for _, one := range list[:min(len(list), upcomingShown)] {
		v.ResumeTimes = append(v.ResumeTimes, resumeTime{one, one.At.In(zone)})
	}
	return nil
}

// cancel unschedules a post. Unscheduling a template or a post of a series pauses the series.
func (p *Handlers) cancel(w http.ResponseWriter, r *http.Request) {
	if !p.ReadForm(w, r) {
		return
	}
	message := ""
	stored, err := p.postOf(r)
	if err == nil {
		var full post.Post
		full, _, err = shell.Run[post.Post](p.Shell, r, "cancel_post", operation.Arguments{"post_id": stored.ID})
		message = p.T(r, "Unscheduled. The post is now a draft.") + p.formerTimeNote(r, stored)
		if err == nil && full.Recurrence != nil && full.Recurrence.Paused {
			message = p.T(r, "The series was paused: nothing is published until someone resumes it. "+
				"Its scheduled posts are now drafts.")
		}
	}
	p.finish(w, r, err, message)
}

// formerTimeNote returns a note with the former time of an unscheduled post, or "" if it was not scheduled.
func (p *Handlers) formerTimeNote(r *http.Request, stored post.Record) string {
	if stored.Status != post.Scheduled || stored.ScheduledAt.IsZero() {
		return ""
	}
	at := stored.ScheduledAt.In(shell.VisitorOf(r.Context()).Zone)
	return " " + p.T(r, "It was scheduled for %s.", p.Language(r).Format(at, locale.DateTime))
}

// skip makes one scheduled post of a series a draft. The series continues.
func (p *Handlers) skip(w http.ResponseWriter, r *http.Request) {
	if !p.ReadForm(w, r) {
		return
	}
	message := ""
	stored, err := p.postOf(r)
	if err == nil {
		err = p.require(r, "skip_occurrence", access.Write)
	}
	if err == nil {
		_, err = p.posts.Skip(r.Context(), shell.VisitorOf(r.Context()).ID, stored.ID)
		message = p.T(r, "Skipped. This post is now a draft, and the series continues with the next one.") +
			p.formerTimeNote(r, stored)
	}
	p.finish(w, r, err, message)
}

// resume resumes a series. Its confirmation names the drafts that the series reschedules.
func (p *Handlers) resume(w http.ResponseWriter, r *http.Request) {
	message := p.T(r, "The series was resumed.")
	p.series(w, r, &message, func(person int64, stored post.Record) error {
		if !stored.IsTemplate {
			return apierr.BadState("not_recurring", "This post does not repeat.")
		}
		list, err := p.posts.NextOccurrences(r.Context(), stored, maxReschedulable)
		if err != nil {
			return err
		}
		if taken := post.ResumeSummary(p.Language(r), list); taken != "" {
			message += " " + taken
		}
		_, err = p.posts.Repeat(r.Context(), person, stored.ID, stored.Series.Rule, nil)
		return err
	})
}

// endPage asks for confirmation before ending a series, and shows the consequences.
func (p *Handlers) endPage(w http.ResponseWriter, r *http.Request) {
	v, err := p.fullView(r)
	if err != nil {
		p.SwitchToTeamOf(w, r, err, p.findTeamOf(r))
		return
	}
	if !v.Stored.IsTemplate {
		shell.Redirect(w, r, "/posts/"+v.ID)
		return
	}
	p.Show(w, r, http.StatusOK, pages["end"], "End the series", &v)
}

func (p *Handlers) end(w http.ResponseWriter, r *http.Request) {
	said := p.T(r, "The series has ended. Its scheduled posts are now drafts.")
	p.series(w, r, &said, func(person int64, stored post.Record) error {
		_, err := p.posts.StopRepeating(r.Context(), person, stored.ID)
		return err
	})
}

func (p *Handlers) series(w http.ResponseWriter, r *http.Request, message *string, do func(int64, post.Record) error) {
	if !p.ReadForm(w, r) {
		return
	}
	stored, err := p.postOf(r)
	if err == nil {
		err = p.require(r, "change_series", access.Publish)
	}
	if err == nil {
		err = do(shell.VisitorOf(r.Context()).ID, stored)
	}
	p.finish(w, r, err, *message)
}
