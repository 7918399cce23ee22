package compose

import (
	"bytes"
	_ "embed"
	"net/http"
	"strings"
	"sync"

	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/web/shell"
)

// emojiList lists the emoji, one per line, with the name and, after a comma, more search words. A line "# name" begins
// a category.
//
//go:embed emoji.txt
var emojiList string

// emojiGerman has the German names and search words of the emoji, in the same format but without categories.
//
//go:embed emoji.de.txt
var emojiGerman string

type (
	emojiCategory struct {
		Name  string
		Emoji []emoji
	}
	emoji struct{ Text, Name, Words string }
)

// categoryNames has the labels of the emoji categories.
var categoryNames = map[string]locale.Key{
	"Smileys": "Smileys", "Hearts and feelings": "Hearts and feelings", "Hands and people": "Hands and people",
	"Animals and nature": "Animals and nature", "Food and drink": "Food and drink", "Activities": "Activities",
	"Travel and places": "Travel and places", "Objects": "Objects", "Symbols": "Symbols",
}

// emojiCategories returns the emoji of the picker, with English names.
var emojiCategories = sync.OnceValue(func() []emojiCategory {
	var out []emojiCategory
	for line := range strings.Lines(emojiList) {
		text, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		if text == "#" {
			out = append(out, emojiCategory{Name: name})
			continue
		}
		name, words, _ := strings.Cut(name, ", ")
		in := &out[len(out)-1]
		in.Emoji = append(in.Emoji, emoji{text, name, words})
	}
	return out
})

// germanEmoji maps each emoji to its German name and search words, separated by commas.
var germanEmoji = sync.OnceValue(func() map[string]string {
	out := map[string]string{}
	for line := range strings.Lines(emojiGerman) {
		text, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		out[text] = name
	}
	return out
})

// emojiIn returns the emoji of the picker, with names in a language. The English search words work in every language.
func emojiIn(l *locale.Language) []emojiCategory {
	all := emojiCategories()
	if l != locale.German {
		return all
	}
	out := make([]emojiCategory, len(all))
	for i, c := range all {
		out[i].Name = c.Name
		for _, e := range c.Emoji {
			name, words, _ := strings.Cut(germanEmoji()[e.Text], ", ")
			out[i].Emoji = append(out[i].Emoji, emoji{e.Text, name, strings.Join([]string{words, e.Name, e.Words}, " ")})
		}
	}
	return out
}

// emoji serves the emoji picker to the page's script. It depends only on the language, so browsers may cache it.
func (p *Handlers) emoji(w http.ResponseWriter, r *http.Request) {
	var page bytes.Buffer
	l := p.Language(r)
	if err := pages["compose"](l).ExecuteTemplate(&page, "emoji", emojiIn(l)); err != nil {
		p.ServerError(w, r, err)
		return
	}
	w.Header().Set("Cache-Control", "private, max-age=3600")
	shell.WriteHTML(w, r, http.StatusOK, page.Bytes())
}
