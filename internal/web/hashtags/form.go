package hashtags

import (
	"net/http"
	"net/url"

	"pressroom/internal/core/operation"
	"pressroom/internal/domain/hashtag/list"
	"pressroom/internal/web/shell"
)

// maxForm is how many bytes a form may have: five thousand hashtags, as a list takes them at once, in letters of any
// script.
const maxForm = 2 << 20

// fieldNames are what fields are called on the page, by the arguments that refusals name.
var fieldNames = map[string]string{
	"name": "Name", "platform": "Network", "color": "Colour", "icon": "Icon", "hashtags": "Hashtags",
	"subcategory": "Subcategory", "query": "Keyword", "list_id": "List",
}

// formView is the form of a list's name and looks.
type formView struct {
	ID     int64 // 0 of a new one
	Fields url.Values
	Wrong  shell.Wrong
}

// Of is what stands in a field.
func (v formView) Of(name string) string { return v.Fields.Get(name) }

// Colours are those that are offered.
func (v formView) Colours() []look { return colours }

// Icons are those that are offered.
func (v formView) Icons() []look { return icons }

// Now is the colour or icon that is chosen.
func (v formView) Now(name string) string { return chosen(v.Fields, name) }

// Typed is what stands in the field beside the offered ones.
func (v formView) Typed(name string) string {
	if name == "icon" {
		return typed(v.Fields, name, icons)
	}
	return typed(v.Fields, name, colours)
}

func (p *Part) newPage(w http.ResponseWriter, r *http.Request) {
	p.Show(w, r, http.StatusOK, pages["form"], "New hashtag list", formView{Fields: p.Resumed(r)})
}

func (p *Part) create(w http.ResponseWriter, r *http.Request) {
	if !p.ReadLongForm(w, r, maxForm) {
		return
	}
	args := operation.Arguments{"name": r.PostForm.Get("name")}
	for _, name := range []string{"platform", "color", "icon"} {
		if value := chosen(r.PostForm, name); value != "" {
			args[name] = value
		}
	}
	if tags := tagsIn(r.PostForm.Get("hashtags")); len(tags) > 0 {
		args["hashtags"] = tags
	}
	made, err := p.changed(r, "create_hashtag_list", args)
	if err != nil {
		p.again(w, r, 0, err)
		return
	}
	p.Say(r, "The list is made. "+saidOf(made))
	shell.Redirect(w, r, pathOf(made.ID))
}

// changed runs an operation that changes a list.
func (p *Part) changed(r *http.Request, tool string, args operation.Arguments) (list.HashtagListChange, error) {
	outcome, err := p.Do(r, tool, args)
	if err != nil {
		return list.HashtagListChange{}, err
	}
	return shell.Read[list.HashtagListChange](outcome)
}

// again shows the form with what was typed and what is wrong with it.
func (p *Part) again(w http.ResponseWriter, r *http.Request, id int64, err error) {
	if wrong, ok := p.WrongAt(w, r, err, fieldNames); ok {
		p.Show(w, r, shell.StatusOf(err), pages["form"], "Hashtag list", formView{id, r.PostForm, wrong})
	}
}

func (p *Part) editPage(w http.ResponseWriter, a asked) {
	l, err := p.opened(a.Request, a.list)
	switch {
	case err != nil:
		p.elsewhere(w, a.Request, err, a.list)
	case l.ReadyMade:
		p.Notice(w, a.Request, http.StatusUnprocessableEntity, "Not done",
			"Ready-made lists cannot be changed. Copy it into a list of your own.")
	default:
		fields := p.Resumed(a.Request)
		if fields == nil {
			fields = url.Values{"name": {l.Name}, "color": {l.Color}, "icon": {l.Icon}}
		}
		p.Show(w, a.Request, http.StatusOK, pages["form"], "Change "+l.Name, formView{ID: a.list, Fields: fields})
	}
}

func (p *Part) change(w http.ResponseWriter, a asked) {
	if !p.ReadForm(w, a.Request) {
		return
	}
	given := func(name string) *string { return new(chosen(a.PostForm, name)) }
	_, err := p.lists.Change(a.Context(), a.call.TeamID, a.by(), a.list,
		list.Change{Name: given("name"), Color: given("color"), Icon: given("icon")})
	if err != nil {
		p.again(w, a.Request, a.list, err)
		return
	}
	p.Say(a.Request, "The list is changed.")
	shell.Redirect(w, a.Request, pathOf(a.list))
}

// deleteView is what goes with a list.
type deleteView struct {
	ID   int64
	Name string
	Size int64
}

func (p *Part) deletePage(w http.ResponseWriter, a asked) {
	l, err := p.opened(a.Request, a.list)
	switch {
	case err != nil:
		p.elsewhere(w, a.Request, err, a.list)
	case l.ReadyMade:
		p.Notice(w, a.Request, http.StatusUnprocessableEntity, "Not done",
			"Ready-made lists come with the service and stay.")
	default:
		p.Show(w, a.Request, http.StatusOK, pages["delete"], "Delete a hashtag list", deleteView{l.ID, l.Name, l.Size})
	}
}

func (p *Part) delete(w http.ResponseWriter, a asked) {
	if err := p.lists.Delete(a.Context(), a.call.TeamID, a.by(), a.list); err != nil {
		p.Refuse(w, a.Request, err)
		return
	}
	p.Say(a.Request, "The hashtag list is deleted.")
	shell.Redirect(w, a.Request, "/hashtags")
}
