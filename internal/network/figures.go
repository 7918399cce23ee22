package network

import (
	"errors"
	"net/http"
	"slices"
	"time"
)

// The formats of a post, in Figures.
const (
	FormatText     = "text"
	FormatImage    = "image"
	FormatVideo    = "video"
	FormatReel     = "reel"
	FormatCarousel = "carousel" // several images or videos
	FormatStory    = "story"
	FormatLink     = "link"
)

// Newest are the figures of the posts since a moment, each once, the newest first and at most so many.
func Newest(posts []Figures, since time.Time, most int) []Figures {
	seen := map[string]bool{}
	posts = slices.DeleteFunc(posts, func(p Figures) bool {
		again := seen[p.ID]
		seen[p.ID] = true
		return again || p.PostedAt.Before(since)
	})
	slices.SortStableFunc(posts, func(a, b Figures) int { return b.PostedAt.Compare(a.PostedAt) })
	return posts[:min(len(posts), max(most, 0))]
}

// Told is a figure as a network gave it; one below 0, which some networks give for what they do not know, is none.
func Told(told *int64) *int64 {
	if told == nil || *told < 0 {
		return nil
	}
	return told
}

// Sum adds the figures that were told; nil where none was.
func Sum(told ...*int64) *int64 {
	var sum *int64
	for _, one := range told {
		if one = Told(one); one == nil {
			continue
		}
		if sum == nil {
			sum = new(int64)
		}
		*sum += *one
	}
	return sum
}

// Withheld tells of the error of a call for figures whether the network refuses these figures, for good: they are no
// more, or neither the app nor the account may have them. Everything else can still be had.
func Withheld(err error) bool {
	said, ok := errors.AsType[*Error](err)
	if !ok || said.Status == 0 {
		return false
	}
	return said.Class == Rejected || said.Class == Unapproved ||
		said.Class == AuthDead && said.Status == http.StatusForbidden
}

// Closed is the error of an account whose posts cannot be listed. Where the network only forbids that, the account can
// still publish, so no person has to connect it again.
func Closed(err error) error {
	said, ok := errors.AsType[*Error](err)
	if !ok || said.Class != AuthDead || said.Status != http.StatusForbidden {
		return err
	}
	closed := *said
	closed.Class = Unapproved
	return &closed
}

// Offered asks for several figures at once and, where the network rejects that, for each alone: it gives back those
// that the network tells. Its error is that of ask, where it is not about a single figure.
func Offered(names []string, ask func(names []string) error) ([]string, error) {
	err := ask(names)
	if said, ok := errors.AsType[*Error](err); !ok || said.Class != Rejected {
		return names, err
	}
	var told []string
	for _, name := range names {
		switch err := ask([]string{name}); {
		case err == nil:
			told = append(told, name)
		case !Withheld(err):
			return nil, err
		}
	}
	return told, nil
}
