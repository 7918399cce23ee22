package posts

import (
	"regexp"
	"strings"

	"pressroom/internal/network"
	"pressroom/internal/web/preview"
)

const maxTitle = 44 // characters

// sentence matches a text's first sentence.
var sentence = regexp.MustCompile(`^(.{8,}?[.!?:])\s`)

// titleOf returns the first sentence of a text, or its first words if that is long.
func titleOf(text string) string {
	if found := sentence.FindStringSubmatch(text); found != nil {
		text = strings.TrimRight(found[1], ".:")
	}
	return cut(maxTitle, text)
}

// Looks returns what each account shows. Without accounts, it returns the shared content.
func (v *view) Looks() []preview.Post {
	var out []preview.Post
	for i, a := range v.Accounts {
		author := preview.Author{ID: a.ID, Platform: a.Platform, Username: a.Username, Name: v.Names[a.ID]}
		out = append(out, preview.New(author, v.Stored.Content(v.Stored.Targets[i], "")))
	}
	if len(out) == 0 {
		out = append(out, preview.New(preview.Author{}, network.Content{Text: v.Caption, Media: v.Stored.Media}))
	}
	for i := range out {
		out[i].Play = v.Client // it is all that clients see of the media
	}
	return out
}
