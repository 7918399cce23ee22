package posts

import (
	"net/http"
	"strconv"
	"strings"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/domain/post"
	"pressroom.example/pressroom/internal/domain/post/approval"
	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/web/shell"
)

// finish redirects to the post's page, which then shows message. If err is not nil, it shows the page with the error
// instead. message is already translated.
func (p *Handlers) finish(w http.ResponseWriter, r *http.Request, err error, message string) {
	if err != nil {
		if formErr, ok := p.FormErrorOf(w, r, err, nil); ok {
			if apierr.Is(err, apierr.PreflightBlocked) {
				formErr.Text = p.T(r, "The post cannot be published. See the reasons below.")
			}
			p.show(w, r, shell.StatusOf(err), formErr.Text)
		}
		return
	}
	if message != "" {
		p.FlashText(r, message)
	}
	shell.Redirect(w, r, "/posts/"+r.PathValue("id"))
}

// run runs an operation on the post in the path and confirms it with message.
func (p *Handlers) run(w http.ResponseWriter, r *http.Request, tool string, message locale.Key) {
	if !p.ReadForm(w, r) {
		return
	}
	id, err := idIn(r)
	if err == nil {
		_, err = p.Do(r, tool, operation.Arguments{"post_id": id})
	}
	p.finish(w, r, err, p.T(r, message))
}

// publishPage asks for confirmation before publishing a post.
func (p *Handlers) publishPage(w http.ResponseWriter, r *http.Request) {
	v, err := p.fullView(r)
	if err != nil {
		p.SwitchToTeamOf(w, r, err, p.findTeamOf(r))
		return
	}
	if !v.MayPublish {
		shell.Redirect(w, r, "/posts/"+v.ID)
		return
	}
	p.Show(w, r, http.StatusOK, pages["publish"], "Publish now", &v)
}

func (p *Handlers) publish(w http.ResponseWriter, r *http.Request) {
	p.run(w, r, "publish_post", "Publishing has started.")
}

// JustScheduled is the session key for the ID of a post that was just scheduled. The post's page then says what to do
// next.
const JustScheduled = "just scheduled"

// schedule schedules a draft for its planned time.
func (p *Handlers) schedule(w http.ResponseWriter, r *http.Request) {
	if !p.ReadForm(w, r) {
		return
	}
	id, err := idIn(r)
	if err == nil {
		_, err = p.Do(r, "schedule_post", operation.Arguments{"post_id": id, "scheduled_at": r.PostForm.Get("at")})
	}
	if err == nil {
		p.Put(r.Context(), JustScheduled, []byte(id))
		shell.Redirect(w, r, "/posts/"+id)
		return
	}
	p.finish(w, r, err, "")
}

// notRetried is the session key for the ID of a post whose retry skipped all accounts. The post's page then says why.
const notRetried = "not retried"

// retry retries the selected failed accounts of the post.
func (p *Handlers) retry(w http.ResponseWriter, r *http.Request) {
	if !p.ReadForm(w, r) {
		return
	}
	said, err := p.retryPost(r)
	p.finish(w, r, err, said)
}

func (p *Handlers) retryPost(r *http.Request) (string, error) {
	id, err := idIn(r)
	if err != nil {
		return "", err
	}
	accountIDs := []any{}
	for text := range strings.SplitSeq(strings.Join(r.PostForm["account"], ","), ",") {
		if text == "" {
			continue
		}
		account, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return "", apierr.ItemNotFound()
		}
		accountIDs = append(accountIDs, account)
	}
	if len(accountIDs) == 0 {
		return "", apierr.Invalid(apierr.MissingArgument, "account_ids", "Select at least one account.")
	}
	retried, _, err := shell.Run[post.PublicationRetry](p.Shell, r, "retry_post",
		operation.Arguments{"post_id": id, "account_ids": accountIDs})
	if err != nil {
		return "", err
	}
	retriedCount := len(accountIDs) - len(retried.Skipped)
	if retriedCount == 0 {
		p.Put(r.Context(), notRetried, []byte(id))
		return "", nil
	}
	return p.Language(r).N(retriedCount, "Retrying %d account.", "Retrying %d accounts."), nil
}

// parsePostForm reads a form for the post in the path and returns the post's ID. If the form is invalid or the selected
// team has no such post, it writes the error response and returns false.
func (p *Handlers) parsePostForm(w http.ResponseWriter, r *http.Request) (string, bool) {
	if !p.ReadForm(w, r) {
		return "", false
	}
	id, err := idIn(r)
	if err == nil {
		_, err = p.posts.FindTeam(r.Context(), id, []int64{shell.VisitorOf(r.Context()).Team.ID})
	}
	if err != nil {
		p.ShowError(w, r, err)
	}
	return id, err == nil
}

// revokeLinks revokes the client's links to the post.
func (p *Handlers) revokeLinks(w http.ResponseWriter, r *http.Request) {
	id, ok := p.parsePostForm(w, r)
	if !ok {
		return
	}
	err := p.require(r, "revoke_links", access.Write)
	if err == nil {
		err = p.approvals.RevokeLinks(r.Context(), shell.VisitorOf(r.Context()).ID, id)
	}
	p.finish(w, r, err, p.T(r, "The links were revoked and no longer show the post."))
}

// maxDecision is the maximum size of a decision form in bytes. A character of the comment can have 4 bytes, each
// encoded as %XX.
const maxDecision = 3*4*approval.MaxComment + shell.MaxForm

// decideAsClient records the decision of a signed-in client on a post.
func (p *Handlers) decideAsClient(w http.ResponseWriter, r *http.Request) {
	if !p.ReadLongForm(w, r, maxDecision) {
		return
	}
	decision := approval.Decision{Approve: r.PostForm.Get("decision") == "approve", Comment: r.PostForm.Get("comment")}
	decision.Round, _ = strconv.ParseInt(r.PostForm.Get("round"), 10, 64) // an invalid number matches no version
	id, err := idIn(r)
	if err != nil {
		p.ShowError(w, r, err)
		return
	}
	call, err := p.NewCall(r, "decide_approval")
	if err == nil {
		err = p.approvals.DecideAs(r.Context(), call, id, decision)
	}
	message := locale.Key("Approved. The team has been notified.")
	if !decision.Approve {
		message = "Changes requested. The team has been notified and sees your comment."
	}
	p.finish(w, r, err, p.T(r, message))
}

// commentAsClient adds a comment of a signed-in client to a post.
func (p *Handlers) commentAsClient(w http.ResponseWriter, r *http.Request) {
	if !p.ReadLongForm(w, r, maxDecision) {
		return
	}
	id, err := idIn(r)
	if err != nil {
		p.ShowError(w, r, err)
		return
	}
	call, err := p.NewCall(r, "comment_on_post")
	if err == nil {
		err = p.approvals.CommentAs(r.Context(), call, id, r.PostForm.Get("remark"))
	}
	p.finish(w, r, err, p.T(r, "The team has been notified of your comment."))
}

// require returns an error if the visitor may not use a capability now. It is for actions that are not API operations.
func (p *Handlers) require(r *http.Request, op string, needs access.Capability) error {
	call, err := p.NewCall(r, op)
	if err != nil {
		return err
	}
	return call.Require(needs)
}

// reschedule changes the time of the post to the time in the form, and shows the post.
func (p *Handlers) reschedule(w http.ResponseWriter, r *http.Request) {
	if !p.ReadForm(w, r) {
		return
	}
	var err error
	if r.PostForm.Get("date") == "" || r.PostForm.Get("time") == "" {
		err = apierr.Invalid(apierr.MissingArgument, "date", "Enter a date and a time.")
	}
	var done moveResult
	if err == nil {
		done, err = p.doMove(r)
	}
	p.finish(w, r, err, done.Text)
}
