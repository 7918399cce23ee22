package library

import (
	"net/http"

	"pressroom/internal/media"
	"pressroom/internal/moment"
	"pressroom/internal/web/frame"
)

// view is one item.
type view struct {
	media.Look

	Uses    []media.Use
	Folders []media.Folder
	Writes  bool
	Wrong   frame.Wrong
	Typed   string // the name as it was typed
}

// At is when it was added.
func (v view) At() *moment.Moment { return &v.CreatedAt }

// More tells whether there are more posts with the item than are shown.
func (v view) More() bool { return len(v.Uses) >= media.MostUses }

// In tells whether the item is in a folder.
func (v view) In(folder int64) bool { return v.Folder != nil && v.Folder.ID == folder }

// Keeps are the posts that keep the item from being deleted.
func (v view) Keeps() []media.Use { return v.those(false) }

// Drafts are those that lose it.
func (v view) Drafts() []media.Use { return v.those(true) }

func (v view) those(drafts bool) []media.Use {
	var out []media.Use
	for _, u := range v.Uses {
		if u.Draft == drafts {
			out = append(out, u)
		}
	}
	return out
}

func (p *Part) page(w http.ResponseWriter, r *http.Request) {
	p.of(func(w http.ResponseWriter, a asked) { p.show(w, a, http.StatusOK, "item", frame.Wrong{}) })(w, r)
}

func (p *Part) show(w http.ResponseWriter, a asked, status int, page string, wrong frame.Wrong) {
	v, err := p.look(a)
	if err != nil {
		p.elsewhere(w, a.Request, err, a.id)
		return
	}
	v.Wrong, v.Typed = wrong, v.Name
	if a.PostForm.Has("name") {
		v.Typed = a.PostForm.Get("name")
	}
	p.Show(w, a.Request, status, pages[page], v.Name, v)
}

func (p *Part) look(a asked) (view, error) {
	v := view{Writes: frame.VisitorOf(a.Context()).Is(frame.Writers)}
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
			p.show(w, a, frame.StatusOf(err), "item", wrong)
		}
		return
	}
	p.Say(a.Request, said)
	frame.Redirect(w, a.Request, pathOf(a.id))
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
	p.show(w, a, http.StatusOK, "delete", frame.Wrong{})
}

func (p *Part) delete(w http.ResponseWriter, a asked) {
	if err := p.media.Delete(a.Context(), a.call, a.id); err != nil {
		if wrong, ok := p.WrongAt(w, a.Request, err, fieldNames); ok {
			p.show(w, a, frame.StatusOf(err), "delete", wrong)
		}
		return
	}
	p.Say(a.Request, "The file is deleted.")
	frame.Redirect(w, a.Request, "/media")
}
