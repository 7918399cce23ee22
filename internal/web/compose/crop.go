package compose

import (
	"crypto/rand"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/domain/account"
	"pressroom.example/pressroom/internal/web/library"
	"pressroom.example/pressroom/internal/web/shell"
	"pressroom.example/pressroom/internal/web/unsaved"
)

// openCrop stores the form as unsaved and opens the page that crops one of its images. argument is the image's list and
// its ID, separated by a colon.
func (p *Handlers) openCrop(w http.ResponseWriter, r *http.Request, s formData, argument string) {
	list, id, _ := strings.Cut(argument, ":")
	l, image := mediaListOf(list), number(id)
	if !slices.Contains(s.list(l), image) {
		p.show(w, r, s)
		return
	}
	accounts, err := p.accounts(r)
	if err == nil {
		err = p.storeForm(r, &s)
	}
	if err != nil {
		p.show(w, r, s, err)
		return
	}
	f := library.PostForm{Draft: s.Draft, Post: r.PathValue("id"), List: l.String(), For: s.purposes(l, accounts)}
	shell.Redirect(w, r, f.CropPath(image))
}

// storeForm stores a form as unsaved, including the files that it has uploaded.
func (p *Handlers) storeForm(r *http.Request, s *formData) error {
	if s.Draft == "" {
		s.Draft = rand.Text()
	}
	form, into := r.PostForm, s.Picker.Into
	form.Set("draft", s.Draft)
	form.Del(into.Field())
	for _, id := range s.list(into) {
		form.Add(into.Field(), strconv.FormatInt(id, 10))
	}
	for _, name := range submissionFields {
		form.Del(name)
	}
	fields := form.Encode()
	if len(fields) > unsaved.MaxSize {
		return apierr.Invalid(apierr.TooLong, "", "The post is too long. Save it before you crop its images.")
	}
	stored, err := unsaved.Store(r.Context(), p.DB, unsavedKey(r, s.Draft), r.PathValue("id"), fields)
	if err == nil && !stored {
		err = apierr.BadState("submitted", string(alreadySubmitted))
	}
	return err
}

// purposes returns the networks of the selected accounts that use a list. For a network where the post is a story, it
// returns library.Story instead.
func (s *formData) purposes(l mediaList, accounts []account.SocialAccount) []string {
	var out []string
	for _, a := range accounts {
		if !slices.Contains(s.Accounts, a.ID) || l.Account > 0 && l.Account != a.ID {
			continue
		}
		purpose := a.Platform
		if s.Choices.IsStory(a.Platform) {
			purpose = library.Story
		}
		if !slices.Contains(out, purpose) {
			out = append(out, purpose)
		}
	}
	return out
}

// ReplaceMedia implements library.Composer.
func (p *Handlers) ReplaceMedia(r *http.Request, f library.PostForm, item, replacement int64) error {
	return unsaved.Change(r.Context(), p.DB, unsavedKey(r, f.Draft), func(form url.Values) error {
		return replaceMedia(form, mediaListOf(f.List).Field(), item, replacement)
	})
}

// replaceMedia replaces an item in a field of a form. If the replacement has no alternative text in the form, it gets
// the text that was entered for the item.
func replaceMedia(form url.Values, field string, item, replacement int64) error {
	before, after := strconv.FormatInt(item, 10), strconv.FormatInt(replacement, 10)
	at := slices.Index(form[field], before)
	switch {
	case at < 0:
		return apierr.ItemNotFound()
	case slices.Contains(form[field], after):
		return apierr.BadState("already_in_post", "The post already contains the new image.")
	}
	form[field][at] = after
	if alt := "alt-" + before; form.Has(alt) && !form.Has("alt-"+after) {
		form["alt-"+after] = form[alt]
	}
	return nil
}
