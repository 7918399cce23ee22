package youtube

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
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

// Plan fixes what is said of the video. What makes two submissions one is the upload session, which Prepare keeps.
func (n *Network) Plan(i network.Intent) (network.Draft, error) {
	text := strings.ToValidUTF8(i.Content.Text, "\uFFFD")
	planned, err := draft{
		Post: true, Title: title(text, i.Content.Media), Description: text, Tags: tags(text), Privacy: n.opts.Privacy, Media: i.Content.Media,
	}.write()
	if err != nil {
		return nil, fmt.Errorf("planning a YouTube video: %w", err)
	}
	return planned, nil
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

func (d draft) write() (network.Draft, error) {
	written, err := json.Marshal(d)
	if err != nil {
		return nil, fmt.Errorf("writing the draft: %w", err)
	}
	return written, nil
}

func readDraft(d network.Draft) (draft, error) {
	var read draft
	if err := json.Unmarshal(d, &read); err != nil {
		return draft{}, network.Unusable(fmt.Errorf("reading the draft: %w", err))
	}
	if !read.Post {
		return draft{}, network.Unusable(errors.New("the draft is not a YouTube video's"))
	}
	return read, nil
}

// readPrepared is readDraft for the calls that come after Prepare.
func readPrepared(d network.Draft) (draft, error) {
	read, err := readDraft(d)
	if err == nil && (read.Session == "" || read.Total <= 0 || len(read.Media) == 0) {
		err = network.Unusable(errors.New("the draft has not been prepared"))
	}
	return read, err
}
