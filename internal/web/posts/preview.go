package posts

import (
	"regexp"
	"strings"

	"pressroom/internal/domain/post"
	"pressroom/internal/network"
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

// seen is what some accounts show of a post.
type seen struct {
	ID                 int64  // of the first account
	Platform, Username string // likewise
	Others             []accountView
	Text               string
	Media              []network.Media
	PictureFirst       bool
	Client             bool
}

// Seen returns what the accounts show, one entry for each content. Accounts with the same content share it.
func (v *view) Seen() []seen {
	var out []seen
	shared := -1
	for i, a := range v.Accounts {
		t := v.Stored.Targets[i]
		if t.Caption == nil && t.Media == nil && shared >= 0 {
			out[shared].Others = append(out[shared].Others, a)
			continue
		}
		if t.Caption == nil && t.Media == nil {
			shared = len(out)
		}
		out = append(out, v.seenBy(a, t))
	}
	if len(out) == 0 {
		return []seen{{Text: v.Caption, Media: v.Stored.Media, Client: v.Client}}
	}
	return out
}

func (v *view) seenBy(a accountView, t post.Target) seen {
	content := v.Stored.Content(t, "")
	return seen{ID: a.ID, Platform: a.Platform, Username: a.Username, Text: content.Text, Media: content.Media, Client: v.Client,
		PictureFirst: a.Platform == "instagram" || a.Platform == "pinterest" || strings.HasPrefix(a.Platform, "tiktok") ||
			a.Platform == "youtube"}
}
