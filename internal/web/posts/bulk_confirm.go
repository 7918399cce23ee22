package posts

import (
	"net/http"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/domain/post"
	"pressroom.example/pressroom/internal/domain/post/postlist"
	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/web/shell"
)

// confirmation is the page that asks a person to confirm deleting or publishing posts.
type confirmation struct {
	Action string // "delete" or "publish"
	Posts  []confirmedPost
	Others int    // number of selected posts to which the action does not apply
	Back   string // query of the list
	To     string // path of the list
}

// confirmedPost is a post to which the action applies.
type confirmedPost struct {
	postlist.Details

	ID, Name string
	Status   post.Status
}

// confirmable lists the actions that need a confirmation. applies reports whether the action applies to a post, title
// is the title of the page, and none is the message if the action does not apply to any of the posts.
var confirmable = map[string]struct {
	applies     func(post.Record) bool
	title, none locale.Key
}{
	"delete": {isDeletable, "Delete posts",
		"None of the selected posts can be deleted. Skip posts of a series, and delete published posts on the networks."},
	"publish": {isPublishable, "Publish posts", "None of the selected posts can be published now."},
}

// confirmBulk shows the posts to which an action applies, and asks for confirmation.
func (p *Handlers) confirmBulk(w http.ResponseWriter, r *http.Request, action string, ids []string, to string) {
	v := confirmation{Action: action, Back: r.PostForm.Get("back"), To: to}
	rules, team := confirmable[action], shell.VisitorOf(r.Context()).Team.ID
	details, err := postlist.ListDetails(r.Context(), p.DB, team, ids)
	if err != nil {
		p.ServerError(w, r, err)
		return
	}
	for _, id := range ids {
		stored, err := p.posts.Load(r.Context(), team, id)
		switch {
		case apierr.Is(err, apierr.NotFound):
		case err != nil:
			p.ServerError(w, r, err)
			return
		case rules.applies(stored):
			v.Posts = append(v.Posts, confirmedPost{details[id], id, truncate(120, p.nameOf(r, stored)), stored.Status})
		default:
			v.Others++
		}
	}
	if len(v.Posts) == 0 {
		p.Flash(r, rules.none)
		shell.Redirect(w, r, to)
		return
	}
	p.Show(w, r, http.StatusOK, pages["bulkconfirm"], rules.title, v)
}

// isPublishable reports whether a post can be published now: whether it is a draft or scheduled, and is not missing an
// approval.
func isPublishable(p post.Record) bool {
	return !p.IsTemplate && (p.Status == post.Draft || p.Status == post.Scheduled) &&
		p.Approval != post.Waiting && p.Approval != post.Rejected
}

// publishOne publishes a post now.
func (p *Handlers) publishOne(r *http.Request, one post.Record) (string, error) {
	_, err := p.Do(withKey(r, one.ID), "publish_post", operation.Arguments{"post_id": one.ID})
	return p.T(r, "Publishing has started."), err
}

// duplicateOne creates a draft that copies a post.
func (p *Handlers) duplicateOne(r *http.Request, one post.Record) (string, error) {
	call, err := p.NewCall(r, "create_post")
	if err != nil {
		return "", err
	}
	_, _, err = p.posts.Duplicate(r.Context(), call.Actor, r.PostForm.Get("once")+"."+one.ID, one.ID)
	return p.T(r, "Duplicated. The copy is a draft."), err
}
