package voices

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/domain/voice"
	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/web/settings"
	"pressroom.example/pressroom/internal/web/shell"
)

// maxForm is the maximum size of a form in bytes. The longest voice fits, even though a percent-encoded character
// takes up to 12 bytes.
const maxForm = 1 << 20

// fieldNames maps argument names to the labels of their fields.
var fieldNames = map[string]string{
	"name": "Name", "business_description": "About the business", "tone": "Tone", "audiences": "Audiences",
	"audiences.name":        "Audience name",
	"audiences.description": "Audience description", "use.words": "Words to use", "use.phrases": "Phrases to use",
	"avoid.words": "Words to avoid", "avoid.phrases": "Phrases to avoid",
	"custom_instructions": "Additional instructions", "content_language": "Language", "point_of_view": "Point of view",
	"emoji_policy": "Emoji",
	"text":         "Text", "link": "Link", "post_id": "Post",
}

// formView is the form of a brand voice.
type formView struct {
	ID          int64 // 0 for a new voice
	Name        string
	Fields      url.Values
	People      []audience // the voice's audiences, followed by empty ones
	Error       shell.FormError
	Past        int  // number of published posts that were used to fill in empty fields
	NoPastPosts bool // the team has no published posts to start from

	PageRead bool // empty fields were filled in from a web page
}

// audience is an audience in the form.
type audience struct {
	Number            int
	Name, Description string
}

// spareAudiences is the number of empty audiences that the form adds.
const spareAudiences = 2

func newFormView(id int64, fields url.Values, formErr shell.FormError) formView {
	v := formView{ID: id, Name: fields.Get("name"), Fields: fields, Error: formErr}
	descriptions := fields["audience_description"]
	for i, name := range fields["audience_name"] {
		if a := (audience{Name: name}); i < len(descriptions) {
			a.Description = descriptions[i]
			if a.Name+a.Description != "" {
				v.People = append(v.People, a)
			}
		}
	}
	for range min(spareAudiences, max(0, voice.MaxAudiences-len(v.People))) {
		v.People = append(v.People, audience{})
	}
	for i := range v.People {
		v.People[i].Number = i + 1
	}
	return v
}

// Value returns the value of a field.
func (v formView) Value(name string) string { return v.Fields.Get(name) }

// formValues converts a draft to form values.
func formValues(d voice.Draft) url.Values {
	lines := func(list []string) []string { return []string{strings.Join(list, "\n")} }
	out := url.Values{
		"name": {d.Name}, "business_description": {d.BusinessDescription}, "tone": {d.Tone},
		"point_of_view": {string(d.PointOfView)}, "emoji_policy": {string(d.EmojiPolicy)},
		"use.words": lines(d.Use.Words), "use.phrases": lines(d.Use.Phrases), "avoid.words": lines(d.Avoid.Words),
		"avoid.phrases":       lines(d.Avoid.Phrases),
		"custom_instructions": {d.CustomInstructions}, "content_language": {d.ContentLanguage},
	}
	for _, a := range d.Audiences {
		out.Add("audience_name", a.Name)
		out.Add("audience_description", a.Description)
	}
	return out
}

// parseDraft converts form values to a draft.
func parseDraft(fields url.Values) voice.Draft {
	list := func(name string) []string {
		return strings.Split(strings.ReplaceAll(fields.Get(name), "\r\n", "\n"), "\n")
	}
	d := voice.Draft{Name: fields.Get("name"), Guide: voice.Guide{
		BusinessDescription: fields.Get("business_description"), Tone: fields.Get("tone"),
		PointOfView:        voice.PointOfView(fields.Get("point_of_view")),
		EmojiPolicy:        voice.EmojiPolicy(fields.Get("emoji_policy")),
		Use:                voice.BrandVoiceUse{Words: list("use.words"), Phrases: list("use.phrases")},
		Avoid:              voice.BrandVoiceUse{Words: list("avoid.words"), Phrases: list("avoid.phrases")},
		CustomInstructions: fields.Get("custom_instructions"), ContentLanguage: fields.Get("content_language"),
	}}
	names, descriptions := fields["audience_name"], fields["audience_description"]
	for i := range min(len(names), len(descriptions)) {
		a := voice.BrandVoiceAudience{Name: names[i], Description: descriptions[i]}
		if strings.TrimSpace(a.Name+a.Description) != "" {
			d.Audiences = append(d.Audiences, a)
		}
	}
	return d
}

func (h *Handlers) newPage(w http.ResponseWriter, r *http.Request) {
	h.Show(w, r, http.StatusOK, pages["form"], "New brand voice", newFormView(0, h.SavedForm(r), shell.FormError{}))
}

func (h *Handlers) create(w http.ResponseWriter, r *http.Request) {
	if !h.ReadLongForm(w, r, maxForm) {
		return
	}
	call, err := h.NewCall(r, "brand_voices")
	if err != nil {
		h.ShowError(w, r, err)
		return
	}
	start := r.PostForm.Get("start")
	if start == enterButton && r.PostForm.Get("website") != "" && r.PostForm.Get("page_read") == "" {
		start = "website"
	}
	switch start {
	case "posts":
		h.startFromPosts(w, r, call)
		return
	case "website":
		h.startFromWebsite(w, r, call)
		return
	}
	created, err := h.voices.Create(r.Context(), call, parseDraft(r.PostForm))
	if err != nil {
		h.showFormError(w, r, 0, err)
		return
	}
	h.Flash(r, "The brand voice was created. This is how writers see it.")
	if r.PostForm.Get("past_posts") != "" {
		if _, err := h.voices.AddPastPosts(r.Context(), call, created.ID); err != nil {
			h.Log.ErrorContext(r.Context(), "adding past posts to a new brand voice failed", "voice", created.ID, "error", err)
			h.Flash(r, "The brand voice was created, but the past posts were not added. Add them under Material → Team posts.")
		}
	}
	if r.PostForm.Get("add_page") != "" {
		if err := h.addPage(r.Context(), call, created.ID, r.PostForm.Get("website")); err != nil {
			h.Flash(r, "The brand voice was created, but the web page was not added. Add its text under Material.")
		}
	}
	shell.Redirect(w, r, pathOf(created.ID))
}

// enterButton is the value of the button that browsers press when a person presses Enter in a field. If a website was
// entered and has not been read yet, the button reads it.
const enterButton = "enter"

// addPage adds the text of a web page to the material of a voice. It fetches the page again instead of taking the
// text from the form, where it could have been changed.
func (h *Handlers) addPage(ctx context.Context, call operation.Call, id int64, address string) error {
	page, err := h.voices.ReadWebsite(ctx, call, address)
	if err == nil {
		_, err = h.voices.AddMaterial(ctx, call, id, voice.NewMaterial{Text: page.Text})
	}
	if err != nil && apierr.FromError(err).IsServerError() {
		h.Log.ErrorContext(ctx, "adding a web page to a brand voice failed", "voice", id, "error", err)
	}
	return err
}

// fillEmpty fills in the empty fields of a form with default values.
func fillEmpty(form, defaults url.Values) {
	for name, values := range defaults {
		if strings.TrimSpace(form.Get(name)) == "" {
			form[name] = values
		}
	}
}

// startFromWebsite shows the form of a new voice again, with empty fields filled in from a web page.
func (h *Handlers) startFromWebsite(w http.ResponseWriter, r *http.Request, call operation.Call) {
	page, err := h.voices.ReadWebsite(r.Context(), call, r.PostForm.Get("website"))
	if err != nil {
		if formErr, ok := h.FormErrorOf(w, r, err, fieldNames); ok {
			h.Show(w, r, shell.StatusOf(err), pages["form"], "New brand voice", newFormView(0, r.PostForm, formErr))
		}
		return
	}
	fillEmpty(r.PostForm, url.Values{"name": {page.Name}, "business_description": {page.Description}})
	r.PostForm.Set("page_read", "1")
	r.PostForm.Set("add_page", "1")
	v := newFormView(0, r.PostForm, shell.FormError{})
	v.PageRead = true
	h.Show(w, r, http.StatusOK, pages["form"], "New brand voice", v)
}

// startFromPosts shows the form of a new voice again, with empty fields filled in from past posts.
func (h *Handlers) startFromPosts(w http.ResponseWriter, r *http.Request, call operation.Call) {
	guide, posts, err := h.voices.Suggest(r.Context(), call)
	if err != nil {
		h.ShowError(w, r, err)
		return
	}
	fillEmpty(r.PostForm, formValues(voice.Draft{Guide: guide}))
	if posts > 0 {
		r.PostForm.Set("posts_read", "1")
		r.PostForm.Set("past_posts", "1")
	}
	v := newFormView(0, r.PostForm, shell.FormError{})
	v.Past, v.NoPastPosts = posts, posts == 0
	h.Show(w, r, http.StatusOK, pages["form"], "New brand voice", v)
}

// showFormError shows the form again with its input and the error.
func (h *Handlers) showFormError(w http.ResponseWriter, r *http.Request, id int64, err error) {
	if formErr, ok := h.FormErrorOf(w, r, err, fieldNames); ok {
		h.Show(w, r, shell.StatusOf(err), pages["form"], "Brand voice", newFormView(id, r.PostForm, formErr))
	}
}

func (h *Handlers) editPage(w http.ResponseWriter, req voiceRequest) {
	d, err := h.voices.Draft(req.Context(), req.call, req.voiceID)
	if err != nil {
		h.switchTeam(w, req.Request, err, req.voiceID)
		return
	}
	fields := h.SavedForm(req.Request)
	if fields == nil {
		fields = formValues(d)
	}
	h.ShowTitled(w, req.Request, http.StatusOK, pages["form"], h.T(req.Request, "Edit %s", d.Name),
		newFormView(req.voiceID, fields, shell.FormError{}))
}

func (h *Handlers) update(w http.ResponseWriter, req voiceRequest) {
	if !h.ReadLongForm(w, req.Request, maxForm) {
		return
	}
	if _, err := h.voices.Update(req.Context(), req.call, req.voiceID, parseDraft(req.PostForm)); err != nil {
		h.showFormError(w, req.Request, req.voiceID, err)
		return
	}
	h.Flash(req.Request, "The brand voice was saved.")
	shell.Redirect(w, req.Request, pathOf(req.voiceID))
}

// choice is one option of a field.
type choice struct {
	Value string
	Text  locale.Key
}

// Options in the form. The first option of each list means that nothing is specified.
var (
	pointsOfView = []choice{
		{"", "Not specified"}, {string(voice.FirstSingular), "I – one person speaks"},
		{string(voice.FirstPlural), "We – the business speaks as “we”"},
		{string(voice.Second), "You – addresses the reader"}, {string(voice.Third), "The business by name"},
	}
	emoji = []choice{
		{"", "Not specified"}, {string(voice.NoEmoji), "None|emoji"}, {string(voice.FewEmoji), "A few"},
		{string(voice.EmojiAtWill), "Any number"},
	}
)

// MaxAudiences returns the maximum number of audiences of a voice.
func (formView) MaxAudiences() int { return voice.MaxAudiences }

// Languages returns the languages that the form offers.
func (formView) Languages() []settings.ContentLanguage { return settings.ContentLanguages() }

// Views returns the options for the point of view.
func (formView) Views() []choice { return slices.Clone(pointsOfView) }

// Emoji returns the options for emoji.
func (formView) Emoji() []choice { return slices.Clone(emoji) }
