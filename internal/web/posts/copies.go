package posts

import (
	"net/http"
	"strings"

	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/domain/post"
	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/web/shell"
)

// duplicate creates a draft that copies the post.
func (p *Handlers) duplicate(w http.ResponseWriter, r *http.Request) {
	if !p.ReadForm(w, r) {
		return
	}
	draft, missing, err := p.copyOf(r)
	if err != nil {
		p.finish(w, r, err, "")
		return
	}
	message := p.T(r, "This is the copy: a draft with the same text, media and accounts.")
	if len(missing) > 0 {
		message = p.Language(r).N(len(missing), "This is the copy: a draft with the same text and media. It is not for %[2]s, "+
			"because %[1]d account is no longer connected.", "This is the copy: a draft with the same text and media. "+
			"It is not for %[2]s, because %[1]d accounts are no longer connected.", places(missing))
	}
	p.FlashText(r, message)
	shell.Redirect(w, r, "/posts/"+draft.ID)
}

// places formats accounts for use in a sentence.
func places(targets []post.Target) string {
	out := make([]string, len(targets))
	for i, t := range targets {
		out[i] = shell.NetworkName(t.Platform) + " (" + t.Username + ")"
	}
	return strings.Join(out, ", ")
}

// copyOf creates the duplicate. It also returns the accounts that were left out because they are disconnected.
func (p *Handlers) copyOf(r *http.Request) (post.Record, []post.Target, error) {
	id, err := idIn(r)
	if err != nil {
		return post.Record{}, nil, err
	}
	call, err := p.NewCall(r, "create_post")
	if err != nil {
		return post.Record{}, nil, err
	}
	once := r.PostForm.Get("once")
	if once != "" {
		once += "." + id // the list's form has the same value for all posts
	}
	return p.posts.Duplicate(r.Context(), call.Actor, once, id)
}

// editAgain opens the composer with a copy of the post for the accounts that failed. The copy is created when it is
// saved for the first time.
func (p *Handlers) editAgain(w http.ResponseWriter, r *http.Request) {
	if !p.ReadForm(w, r) {
		return
	}
	draft, err := p.replacement(r)
	if err != nil {
		p.finish(w, r, err, "")
		return
	}
	p.Flash(r, "This is a copy for %s only. It is not published to the other accounts again.", places(draft.Targets))
	if draft.ID == "" {
		shell.Redirect(w, r, "/posts/new?again="+r.PathValue("id"))
		return
	}
	shell.Redirect(w, r, "/posts/"+draft.ID+"/edit")
}

func (p *Handlers) replacement(r *http.Request) (post.Record, error) {
	id, err := idIn(r)
	if err != nil {
		return post.Record{}, err
	}
	call, err := p.NewCall(r, "create_post")
	if err != nil {
		return post.Record{}, err
	}
	return p.posts.Replacement(r.Context(), call.Actor, id)
}

// archive archives or restores a failed post.
func (p *Handlers) archive(w http.ResponseWriter, r *http.Request) {
	if !p.ReadForm(w, r) {
		return
	}
	id, err := idIn(r)
	archived := r.PostForm.Get("archived") != "no"
	if err == nil {
		_, err = p.Do(r, "archive_post", operation.Arguments{"post_id": id, "archived": archived})
	}
	said := locale.Key("Restored.")
	if archived {
		said = "Post archived. You’ll find it in the list of all posts."
	}
	p.finish(w, r, err, p.T(r, said))
}
