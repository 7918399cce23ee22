// Package emoji contains the emoji for the composer's picker, with their names in each language.
package emoji

import (
	_ "embed"
	"strings"
	"sync"

	"pressroom.example/pressroom/internal/locale"
)

// englishList lists the emoji, one per line. Each line contains the emoji, its name and, after a comma, more search
// words. A line "# name" begins a category.
//
//go:embed emoji.txt
var englishList string

// germanList lists the German names and search words of the emoji, in the same format but without categories.
//
//go:embed emoji.de.txt
var germanList string

// Category is a category of emoji.
type Category struct {
	Name  string
	Emoji []Emoji
}

// Emoji is an emoji with its name and further search words.
type Emoji struct{ Text, Name, Words string }

// CategoryNames maps the emoji categories to their labels.
var CategoryNames = map[string]locale.Key{
	"Smileys": "Smileys", "Hearts and feelings": "Hearts and feelings", "Hands and people": "Hands and people",
	"Animals and nature": "Animals and nature", "Food and drink": "Food and drink", "Activities": "Activities",
	"Travel and places": "Travel and places", "Objects": "Objects", "Symbols": "Symbols",
}

// categories returns the picker's emoji with English names.
var categories = sync.OnceValue(func() []Category {
	var out []Category
	for line := range strings.Lines(englishList) {
		text, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		if text == "#" {
			out = append(out, Category{Name: name})
			continue
		}
		name, words, _ := strings.Cut(name, ", ")
		in := &out[len(out)-1]
		in.Emoji = append(in.Emoji, Emoji{text, name, words})
	}
	return out
})

// germanNames maps each emoji to its German name and search words, separated by commas.
var germanNames = sync.OnceValue(func() map[string]string {
	out := map[string]string{}
	for line := range strings.Lines(germanList) {
		text, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		out[text] = name
	}
	return out
})

// In returns the picker's emoji with names in the language l. In every language, people can also search with the
// English words.
func In(l *locale.Language) []Category {
	all := categories()
	if l != locale.German {
		return all
	}
	out := make([]Category, len(all))
	for i, c := range all {
		out[i].Name = c.Name
		for _, e := range c.Emoji {
			name, words, _ := strings.Cut(germanNames()[e.Text], ", ")
			out[i].Emoji = append(out[i].Emoji, Emoji{e.Text, name, strings.Join([]string{words, e.Name, e.Words}, " ")})
		}
	}
	return out
}
