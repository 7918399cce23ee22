package compose

import (
	"bytes"
	_ "embed"
	"net/http"
	"strings"
	"sync"

	"pressroom/internal/web/shell"
)

// emojiList has a category per heading and an emoji per line, with its name and, after a comma, more words to find it by.
//
//go:embed emoji.txt
var emojiList string

type (
	emojiCategory struct {
		Name  string
		Emoji []emoji
	}
	emoji struct{ Text, Name, Words string }
)

// emojiCategories returns the emoji that the picker offers.
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

// emoji answers the script with the emoji picker. It is the same for everybody.
func (p *Handlers) emoji(w http.ResponseWriter, r *http.Request) {
	var page bytes.Buffer
	if err := pages["compose"](p.Language(r)).ExecuteTemplate(&page, "emoji", emojiCategories()); err != nil {
		p.ServerError(w, r, err)
		return
	}
	w.Header().Set("Cache-Control", "private, max-age=3600")
	shell.WriteHTML(w, r, http.StatusOK, page.Bytes())
}
