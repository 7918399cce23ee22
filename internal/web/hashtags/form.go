package hashtags

import (
	"net/http"
	"net/url"

	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/domain/hashtag/list"
	"pressroom.example/pressroom/internal/web/shell"
)

// maxForm is the maximum size of a form in bytes. It is enough for five thousand hashtags in any script, which is the
// maximum per request.
const maxForm = 2 << 20

// fieldNames maps argument names to the labels of their fields.
var fieldNames = map[string]string{
	"name": "Name", "platform": "Network", "color": "Color", "icon": "Icon", "hashtags": "Hashtags",
	"subcategory": "Subcategory", "query": "Keyword", "list_id": "List",
}

// formView is the form for a list's name and appearance.
type formView struct {
	ID          int64 // 0 for a new list
	Fields      url.Values
	Error       shell.FormError
	Suggestions []suggestion // for a new list
}

// Value returns the value of a field.
func (v formView) Value(name string) string { return v.Fields.Get(name) }

// Colors returns the offered colors.
func (v formView) Colors() []appearance { return colors }

// Icons returns the offered icons.
func (v formView) Icons() []appearance { return icons }

// Selected returns the selected color or icon. name is "color" or "icon".
func (v formView) Selected(name string) string { return selectedValue(v.Fields, name) }

// Custom returns the selected color or icon if the form does not offer it, or "".
func (v formView) Custom(name string) string {
	if name == "icon" {
		return customValue(v.Fields, name, icons)
	}
	return customValue(v.Fields, name, colors)
}

func (h *Handlers) newPage(w http.ResponseWriter, r *http.Request) {
	suggestions, err := h.suggest(r)
	if err != nil { // the form works without suggestions
		h.Log.WarnContext(r.Context(), "suggesting hashtags for a new list failed", "error", err)
	}
	h.Show(w, r, http.StatusOK, pages["form"], "New hashtag list", formView{Fields: h.SavedForm(r), Suggestions: suggestions})
}

func (h *Handlers) create(w http.ResponseWriter, r *http.Request) {
	if !h.ReadLongForm(w, r, maxForm) {
		return
	}
	args := operation.Arguments{"name": r.PostForm.Get("name")}
	for _, name := range []string{"platform", "color", "icon"} {
		if value := selectedValue(r.PostForm, name); value != "" {
			args[name] = value
		}
	}
	if tags := parseHashtags(r.PostForm.Get("hashtags")); len(tags) > 0 {
		args["hashtags"] = tags
	}
	change, err := h.changeList(r, "create_hashtag_list", args)
	if err != nil {
		h.showFormError(w, r, 0, err)
		return
	}
	l := h.Language(r)
	h.FlashText(r, l.T("The list was created.")+" "+changeText(l, change))
	shell.Redirect(w, r, pathOf(change.ID))
}

// changeList runs an operation that changes a list.
func (h *Handlers) changeList(r *http.Request, op string, args operation.Arguments) (list.HashtagListChange, error) {
	outcome, err := h.Do(r, op, args)
	if err != nil {
		return list.HashtagListChange{}, err
	}
	return shell.Result[list.HashtagListChange](outcome)
}

// showFormError shows the form again with its input and the error.
func (h *Handlers) showFormError(w http.ResponseWriter, r *http.Request, id int64, err error) {
	if formErr, ok := h.FormErrorOf(w, r, err, fieldNames); ok {
		h.Show(w, r, shell.StatusOf(err), pages["form"], "Hashtag list", formView{ID: id, Fields: r.PostForm, Error: formErr})
	}
}

func (h *Handlers) editPage(w http.ResponseWriter, req listRequest) {
	l, err := h.readList(req.Request, req.list)
	switch {
	case err != nil:
		h.switchTeam(w, req.Request, err, req.list)
	case l.ReadyMade:
		h.ShowMessage(w, req.Request, http.StatusUnprocessableEntity, "Action not completed",
			"Ready-made lists cannot be changed. Copy the list to change it.")
	default:
		fields := h.SavedForm(req.Request)
		if fields == nil {
			fields = url.Values{"name": {l.Name}, "color": {l.Color}, "icon": {l.Icon}}
		}
		h.ShowTitled(w, req.Request, http.StatusOK, pages["form"], h.T(req.Request, "Change %s", l.Name),
			formView{ID: req.list, Fields: fields})
	}
}

func (h *Handlers) change(w http.ResponseWriter, req listRequest) {
	if !h.ReadForm(w, req.Request) {
		return
	}
	selected := func(name string) *string { return new(selectedValue(req.PostForm, name)) }
	_, err := h.lists.Change(req.Context(), req.call.TeamID, req.actor(), req.list,
		list.Change{Name: selected("name"), Color: selected("color"), Icon: selected("icon")})
	if err != nil {
		h.showFormError(w, req.Request, req.list, err)
		return
	}
	h.Flash(req.Request, "The list was saved.")
	shell.Redirect(w, req.Request, pathOf(req.list))
}

// deleteView is the page that confirms deleting a list.
type deleteView struct {
	ID   int64
	Name string
	Size int64
}

func (h *Handlers) deletePage(w http.ResponseWriter, req listRequest) {
	l, err := h.readList(req.Request, req.list)
	switch {
	case err != nil:
		h.switchTeam(w, req.Request, err, req.list)
	case l.ReadyMade:
		h.ShowMessage(w, req.Request, http.StatusUnprocessableEntity, "Action not completed",
			"Ready-made lists are part of the service and cannot be deleted.")
	default:
		h.Show(w, req.Request, http.StatusOK, pages["delete"], "Delete a hashtag list", deleteView{l.ID, l.Name, l.Size})
	}
}

func (h *Handlers) delete(w http.ResponseWriter, req listRequest) {
	if err := h.lists.Delete(req.Context(), req.call.TeamID, req.actor(), req.list); err != nil {
		h.ShowError(w, req.Request, err)
		return
	}
	h.Flash(req.Request, "The hashtag list was deleted.")
	shell.Redirect(w, req.Request, "/hashtags")
}
