package approvals

import (
	"net/http"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/domain/post"
	"pressroom.example/pressroom/internal/domain/post/approval"
	"pressroom.example/pressroom/internal/domain/post/postlist"
	"pressroom.example/pressroom/internal/web/shell"
)

// askView is the page on which posts are sent to a client.
type askView struct {
	Posts       []listed // posts that can be sent
	Others      []listed // posts that cannot be sent
	Timed       int      // number of drafts with a time, which can be scheduled on approval
	Mails       bool
	MaySchedule bool
	Schedule    bool
	Email       string
	Wrong       shell.FormError
}

// listed is a post in a list.
type listed struct {
	postlist.Details
	post.Record

	At  time.Time // in the team's zone; zero for none
	Why string    // why the post cannot be sent
}

// askPage shows which of the selected posts can be sent to a client, and the options of the link.
func (p *Handlers) askPage(w http.ResponseWriter, r *http.Request) {
	p.showAsk(w, r, http.StatusOK, r.URL.Query()["post"], askView{Schedule: true})
}

func (p *Handlers) showAsk(w http.ResponseWriter, r *http.Request, status int, ids []string, v askView) {
	v.Mails, v.MaySchedule = p.approvals.Mails(), shell.VisitorOf(r.Context()).Is(shell.Publishers)
	zone, err := p.zone(r)
	if err == nil {
		err = p.addPosts(r, &v, ids, zone)
	}
	if err != nil {
		p.ShowError(w, r, err)
		return
	}
	p.Show(w, r, status, pages["ask"], "Ask for approval", v)
}

// addPosts adds the team's posts with the given IDs.
func (p *Handlers) addPosts(r *http.Request, v *askView, ids []string, zone *time.Location) error {
	team := shell.VisitorOf(r.Context()).Team.ID
	ids = ids[:min(len(ids), approval.MaxPosts)]
	details, err := postlist.ListDetails(r.Context(), p.DB, team, ids)
	if err != nil {
		return err
	}
	for _, id := range ids {
		found, err := p.posts.Load(r.Context(), team, id)
		if apierr.Is(err, apierr.NotFound) {
			continue
		}
		if err != nil {
			return err
		}
		one := listed{Details: details[id], Record: found}
		if !found.ScheduledAt.IsZero() {
			one.At = found.ScheduledAt.In(zone)
		}
		if why := approval.CheckRequest(found); why != nil {
			one.Why = p.Detail(r, why)
			v.Others = append(v.Others, one)
			continue
		}
		v.Posts = append(v.Posts, one)
		if found.Status == post.Draft && found.ScheduledAt.After(p.DB.Now()) {
			v.Timed++
		}
	}
	return nil
}

// ask creates a link to the posts and shows it.
func (p *Handlers) ask(w http.ResponseWriter, r *http.Request) {
	if !p.ReadForm(w, r) {
		return
	}
	ids := r.PostForm["post"]
	wanted := approval.NewRequest{Posts: ids, Schedule: r.PostForm.Get("schedule") != "", Email: r.PostForm.Get("email")}
	err := p.require(r, "ask_approval")
	var sent approval.SentRequest
	if err == nil {
		sent, err = p.approvals.RequestPosts(r.Context(), shell.VisitorOf(r.Context()).ID, wanted)
	}
	if err != nil {
		if wrong, ok := p.FormErrorOf(w, r, err, nil); ok {
			p.showAsk(w, r, shell.StatusOf(err), ids, askView{Schedule: wanted.Schedule, Email: wanted.Email, Wrong: wrong})
		}
		return
	}
	p.flashSent(r, sent, wanted.Email)
	shell.Redirect(w, r, "/approvals/"+sent.ID)
}

// flashSent shows on the next page whether the link was created and mailed.
func (p *Handlers) flashSent(r *http.Request, sent approval.SentRequest, email string) {
	switch {
	case sent.Mail != nil:
		p.Log.WarnContext(r.Context(), "mailing an approval link failed", "request", sent.ID, "error", sent.Mail)
		p.Flash(r, "The link works, but it could not be mailed. Send it to the client yourself, or try again.")
	case email != "":
		p.Flash(r, "The link was mailed to %s.", email)
	default:
		p.Flash(r, "Send the link below to the client.")
	}
}

// require returns an error if the visitor is not permitted to write now.
func (p *Handlers) require(r *http.Request, what string) error {
	call, err := p.Call(r, what)
	if err != nil {
		return err
	}
	return call.Require(access.Write)
}
