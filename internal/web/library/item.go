package library

import (
	"net/http"
	"slices"

	"pressroom/internal/apierr"
	"pressroom/internal/domain/media"
	"pressroom/internal/domain/post"
	"pressroom/internal/teamtime"
	"pressroom/internal/web/shell"
)

// view is one item.
type view struct {
	media.Look

	Uses    []media.Use
	Folders []media.MediaFolder
	Writes  bool
	Wrong   shell.Wrong
	Typed   string // the name as it was typed
}

// At is when it was added.
func (v view) At() *teamtime.Moment { return &v.CreatedAt }

// More tells whether there are more posts with the item than are shown.
func (v view) More() bool { return len(v.Uses) >= media.MostUses }

// In tells whether the item is in a folder.
func (v view) In(folder int64) bool { return v.Folder != nil && v.Folder.ID == folder }

// Moving are the posts that keep the item from being deleted for now.
func (v view) Moving() []media.Use { return v.those(media.UsedNow) }

// Ahead are those that a person takes it out of, or keeps.
func (v view) Ahead() []media.Use { return v.those(media.UsedAhead) }

// Drafts are those that lose it.
func (v view) Drafts() []media.Use { return v.those(media.UsedInDraft) }

// Sent are those whose record tells of it from then on.
func (v view) Sent() []media.Use { return v.those(media.UsedBefore) }

func (v view) those(kind media.UseKind) []media.Use {
	var out []media.Use
	for _, u := range v.Uses {
		if u.Kind == kind {
			out = append(out, u)
		}
	}
	return out
}

func (p *Part) page(w http.ResponseWriter, r *http.Request) {
	p.of(func(w http.ResponseWriter, a asked) {
		a.PostForm = p.Resumed(r)
		p.show(w, a, http.StatusOK, "item", shell.Wrong{})
	})(w, r)
}

func (p *Part) show(w http.ResponseWriter, a asked, status int, page string, wrong shell.Wrong) {
	v, err := p.look(a)
	if err != nil {
		p.elsewhere(w, a.Request, err, a.id)
		return
	}
	v.Wrong, v.Typed = wrong, v.Name
	if a.PostForm.Has("alt") {
		v.AltText = a.PostForm.Get("alt")
	}
	if a.PostForm.Has("name") {
		v.Typed = a.PostForm.Get("name")
	}
	p.Show(w, a.Request, status, pages[page], v.Name, v)
}

func (p *Part) look(a asked) (view, error) {
	v := view{Writes: shell.VisitorOf(a.Context()).Is(shell.Writers)}
	var err error
	if v.Look, err = p.media.Look(a.Context(), a.call, a.id); err != nil {
		return v, err
	}
	if v.Uses, err = p.media.Uses(a.Context(), a.call, a.id); err != nil {
		return v, err
	}
	v.Folders, err = p.folders(a.Request)
	return v, err
}

// done tells what was done with an item and shows it, or what kept it from being done.
func (p *Part) done(w http.ResponseWriter, a asked, err error, said string) {
	if err != nil {
		if wrong, ok := p.WrongAt(w, a.Request, err, fieldNames); ok {
			p.show(w, a, shell.StatusOf(err), "item", wrong)
		}
		return
	}
	p.Say(a.Request, said)
	shell.Redirect(w, a.Request, pathOf(a.id))
}

func (p *Part) rename(w http.ResponseWriter, a asked) {
	if p.ReadForm(w, a.Request) {
		p.done(w, a, p.media.Rename(a.Context(), a.call, a.id, a.PostForm.Get("name")), "The file has another name.")
	}
}

func (p *Part) move(w http.ResponseWriter, a asked) {
	if p.ReadForm(w, a.Request) {
		p.done(w, a, p.media.Move(a.Context(), a.call, a.id, numberOf(a.PostForm.Get("folder"))), "The file is moved.")
	}
}

func (p *Part) deletePage(w http.ResponseWriter, a asked) {
	p.show(w, a, http.StatusOK, "delete", shell.Wrong{})
}

// delete deletes the item, after taking it out of posts that are to go out where that is chosen.
func (p *Part) delete(w http.ResponseWriter, a asked) {
	if !p.ReadForm(w, a.Request) {
		return
	}
	out, err := takenOut{}, error(nil)
	choice := a.PostForm.Get("posts")
	if choice == "take_out" {
		out, err = p.takeOut(a)
	}
	if err == nil {
		err = p.media.Delete(a.Context(), a.call, a.id)
	}
	switch {
	case err != nil && choice == "" && apierr.Of(err).Context["state"] == "in_use":
		p.show(w, a, shell.StatusOf(err), "delete",
			shell.Wrong{Text: "Choose below what becomes of the posts.", Field: "posts"})
	case err != nil:
		if wrong, ok := p.WrongAt(w, a.Request, err, fieldNames); ok {
			p.show(w, a, shell.StatusOf(err), "delete", wrong)
		}
	case len(out.Waiting) > 0:
		p.Show(w, a.Request, http.StatusOK, pages["taken"], "The file is deleted", out)
	default:
		p.Say(a.Request, out.said())
		shell.Redirect(w, a.Request, "/media")
	}
}

// takenOut is what became of the posts that an item was taken out of.
type takenOut struct {
	post.RemovedMedia

	// Shown are those that wait for their clients, as many of them as were told of before.
	Shown []media.Use
}

// More tells whether more posts wait for their clients than are shown.
func (t takenOut) More() bool { return len(t.Waiting) > len(t.Shown) }

func (t takenOut) said() string {
	if t.Posts == 0 {
		return "The file is deleted."
	}
	return "The file is deleted. It was taken out of " + shell.Plural(t.Posts, "post", "posts") + "."
}

// takeOut takes the item out of all posts that have not been sent, unless one that is being sent keeps it anyway.
func (p *Part) takeOut(a asked) (takenOut, error) {
	used, err := p.media.Uses(a.Context(), a.call, a.id)
	if err != nil || len(used) > 0 && used[0].Kind == media.UsedNow {
		return takenOut{}, err // the deletion says why
	}
	taken, err := p.posts.RemoveMedia(a.Context(), a.call, a.id)
	out := takenOut{RemovedMedia: taken}
	for _, u := range used {
		if slices.Contains(taken.Waiting, u.PostID) {
			u.Status = string(post.Draft) // what was scheduled has become one
			out.Shown = append(out.Shown, u)
		}
	}
	return out, err
}
