package compose

import (
	"net/http"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/web/shell"
)

// copyPage shows a form with the content of a failed post for the accounts that failed. It doesn't create a
// post, so that the failed post can be retried until the form is saved.
func (p *Handlers) copyPage(w http.ResponseWriter, r *http.Request, id string) {
	from, err := p.postOf(r, id)
	if err != nil {
		p.ShowError(w, r, err)
		return
	}
	actor, err := p.actor(r)
	if err != nil {
		p.ShowError(w, r, err)
		return
	}
	draft, err := p.posts.Replacement(r.Context(), actor, from.ID)
	switch {
	case err != nil && apierr.FromError(err).IsServerError():
		p.ShowError(w, r, err)
	case err != nil:
		p.FlashText(r, p.Detail(r, err))
		shell.Redirect(w, r, "/posts/"+from.ID)
	case draft.ID != "":
		shell.Redirect(w, r, "/posts/"+draft.ID+"/edit")
	default:
		s := formDataOf(draft, shell.VisitorOf(r.Context()).Zone)
		s.Again, s.Seen = from.ID, 0
		p.show(w, r, s)
	}
}

// startCopy creates the copy of a failed post if the form was opened to make one. From then on, the form changes this
// copy.
func (p *Handlers) startCopy(r *http.Request, s *formData) error {
	if s.Again == "" || r.PathValue("id") != "" {
		return nil
	}
	actor, err := p.actor(r)
	if err != nil {
		return err
	}
	draft, created, err := p.posts.Replace(r.Context(), actor, s.Again)
	switch {
	case err != nil:
		return err
	case !created && p.createdPost(r, r.PostForm.Get("once")) != draft.ID:
		return apierr.BadState("replaced", "Someone else has created an edited copy of this post in the meantime. Your "+
			"version is not saved. Copy your text, then open the post and its copy.")
	}
	p.recordCreated(r, draft.ID)
	r.SetPathValue("id", draft.ID)
	s.Again, s.Seen = "", draft.UpdatedAt.UnixMicro()
	return nil
}
