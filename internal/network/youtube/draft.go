package youtube

import (
	"cmp"
	"errors"
	"path"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"pressroom/internal/network"
)

const (
	maxTitle = 100 // characters
	maxTags  = 500 // characters of all tags, with a comma between each two
	untitled = "Video"
	angles   = "<>" // what neither a title nor a description may hold
)

// draft is what is kept of a publication.
type draft struct {
	Post        bool            `json:"youtube"` // tells a draft of this network from others
	Title       string          `json:"title"`
	Description string          `json:"description"`
	Tags        []string        `json:"tags,omitempty"`
	Privacy     string          `json:"privacy"`
	Media       []network.Media `json:"media,omitempty"`
	Session     string          `json:"session,omitempty"`  // the address of the upload, which lets anybody upload
	Type        string          `json:"type,omitempty"`     // MIME of the file
	Total       int64           `json:"total,omitempty"`    // bytes of the file
	Began       time.Time       `json:"began,omitzero"`     // when the session was begun
	Sessions    int             `json:"sessions,omitempty"` // how many were begun
}

var drafts = network.Drafts[draft]{Of: "a YouTube video", Foreign: draft.foreign, Prepared: draft.prepared}

// Plan fixes what is said of the video. What makes two submissions one is the upload session, which Prepare keeps.
func (n *Network) Plan(i network.Intent) (network.Draft, error) {
	text := strings.ToValidUTF8(i.Content.Text, "\uFFFD")
	return drafts.Plan(draft{
		Post: true, Title: title(text, i.Content.Media), Description: text, Tags: tags(text), Privacy: n.opts.Privacy,
		Media: i.Content.Media,
	})
}

// title is the text's first line, else the file's name, as a video has to have one.
func title(text string, media []network.Media) string {
	first, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	name := ""
	if len(media) > 0 {
		name = strings.TrimSuffix(media[0].Name, path.Ext(media[0].Name))
	}
	return cmp.Or(titleOf(first), titleOf(name), untitled)
}

// titleOf is a text without what a title may not hold.
func titleOf(text string) string {
	without := strings.Map(func(r rune) rune {
		if strings.ContainsRune(angles, r) {
			return -1
		}
		return r
	}, text)
	return strings.TrimSpace(network.Clip(strings.Join(strings.Fields(without), " "), maxTitle))
}

// tags are the text's hashtags, as many as fit.
func tags(text string) []string {
	var found []string
	left := maxTags
	for _, tag := range network.Hashtags(text) {
		takes := utf8.RuneCountInString(tag)
		if len(found) > 0 {
			takes++
		}
		if takes <= left && !slices.Contains(found, tag) {
			found, left = append(found, tag), left-takes
		}
	}
	return found
}

func (d draft) foreign() error {
	if !d.Post {
		return errors.New("the draft is not a YouTube video's")
	}
	return nil
}

func (d draft) prepared() bool { return d.Session != "" && d.Total > 0 && len(d.Media) > 0 }
