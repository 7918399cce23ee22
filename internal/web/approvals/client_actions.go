package approvals

import (
	"net/http"
	"strconv"
	"strings"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/domain/post"
	"pressroom.example/pressroom/internal/domain/post/approval"
	"pressroom.example/pressroom/internal/web/shell"
)

// submitAction performs the action of the button that the client pressed. It requires only the link, not a session.
// Comments that the client entered for other posts stay on the page.
func (h *Handlers) submitAction(w http.ResponseWriter, r *http.Request) {
	if !h.ReadLongForm(w, r, maxClientForm) {
		return
	}
	token := r.PathValue("token")
	page, err := h.approvals.Show(r.Context(), token)
	action, postID, _ := strings.Cut(r.PostForm.Get("decision"), " ")
	suffix := ""
	if postID != "" {
		suffix = "-" + postID
	}
	if err != nil {
		h.rejectLink(w, r, err, r.PostForm.Get("comment"+suffix))
		return
	}
	if action == approveAll {
		postID, suffix, err = h.approveAll(r, page)
	} else {
		err = h.performAction(r, action, postID, suffix)
	}
	h.finishAction(w, r, err, postID, suffix)
}

// approveAll approves the posts in the form that wait for a decision. If a post cannot be approved, it stops and
// returns the post's ID, the suffix of its fields and the error.
func (h *Handlers) approveAll(r *http.Request, page approval.Page) (string, string, error) {
	for _, proposal := range page.Proposals {
		suffix := ""
		if len(page.Proposals) > 1 {
			suffix = "-" + proposal.ID
		}
		if proposal.Hidden != "" || proposal.Approval != post.Waiting || !r.PostForm.Has("round"+suffix) {
			continue
		}
		if err := h.performAction(r, approve, proposal.ID, suffix); err != nil {
			return proposal.ID, suffix, err
		}
	}
	return "", "", nil
}

// performAction performs an action on a post. suffix is the suffix of the post's fields.
func (h *Handlers) performAction(r *http.Request, action, postID, suffix string) error {
	token, name, text := r.PathValue("token"), r.PostForm.Get("name"), r.PostForm.Get("comment"+suffix)
	var err error
	switch action {
	case approve, reject:
		round, _ := strconv.ParseInt(r.PostForm.Get("round"+suffix), 10, 64) // an invalid number matches no version
		err = h.approvals.Decide(r.Context(), token, approval.Decision{
			Post: postID, Round: round, Approve: action == approve, Name: name, Comment: text,
		})
	case comment:
		err = h.approvals.Comment(r.Context(), token, approval.Comment{Post: postID, Name: name, Text: text})
	default:
		err = apierr.Invalid(apierr.MissingArgument, "decision", "Choose whether you approve the post.")
	}
	if err == nil {
		r.PostForm.Del("comment" + suffix) // it was sent
	}
	return err
}

// finishAction shows the page again if there is an error or an unsent comment. Otherwise it redirects to the post.
func (h *Handlers) finishAction(w http.ResponseWriter, r *http.Request, err error, postID, suffix string) {
	f := &apierr.Error{}
	if err != nil {
		f = apierr.FromError(err)
	} else {
		h.rememberSigner(w, r)
	}
	v, viewErr := h.newClientView(r)
	switch {
	case viewErr != nil:
		h.rejectLink(w, r, viewErr, r.PostForm.Get("comment"+suffix))
		return
	case err != nil && f.IsServerError():
		h.rejectLink(w, r, err, "")
		return
	case err == nil && !v.hasUnsentComment():
		target := r.URL.EscapedPath()
		if suffix != "" && r.PostForm.Get("decision") != approveAll {
			target += "#post" + suffix
		}
		shell.Redirect(w, r, target)
		return
	}
	status := http.StatusOK
	if err != nil {
		status = shell.StatusOf(err)
		shell.SetRetryAfter(w, err)
		text := h.Detail(r, err)
		if f.Context["argument"] == "name" && strings.TrimSpace(v.Name) == "" {
			text = h.T(r, "Enter your name first, so that %s knows who decided.", v.TeamName)
		}
		v.setError(f, text, postID)
	}
	h.showPage(w, r, status, v)
}

// hasUnsentComment reports whether a comment was entered but not sent.
func (v *clientView) hasUnsentComment() bool {
	for _, c := range v.Cards {
		if strings.TrimSpace(c.Comment) != "" {
			return true
		}
	}
	return false
}
