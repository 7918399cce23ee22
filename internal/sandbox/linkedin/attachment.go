package linkedin

import (
	"context"
	"net/url"
	"slices"
	"unicode/utf8"

	"pressroom.example/pressroom/internal/sandbox/store"
)

// article is a link card. Like LinkedIn, the sandbox does not load the linked page.
type article struct {
	Source      string `json:"source"`
	Title       string `json:"title"`
	Description string `json:"description,omitempty"`
	Thumbnail   string `json:"thumbnail,omitempty"` // URN of an image
}

func (a article) isValid() bool {
	u, err := url.Parse(a.Source)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != "" && isLength(a.Title, 1, 400) &&
		isLength(a.Description, 0, 4086)
}

// poll is a poll.
type poll struct {
	Question string       `json:"question"`
	Options  []pollOption `json:"options"`
	Settings pollSettings `json:"settings"`
}

type pollOption struct {
	Text string `json:"text"`
}

type pollSettings struct {
	Duration string `json:"duration"`
}

func (p poll) isValid() bool {
	durations := []string{"ONE_DAY", "THREE_DAYS", "SEVEN_DAYS", "FOURTEEN_DAYS"}
	return isLength(p.Question, 1, 140) && len(p.Options) >= 2 && len(p.Options) <= 4 &&
		slices.Contains(durations, p.Settings.Duration) &&
		!slices.ContainsFunc(p.Options, func(o pollOption) bool { return !isLength(o.Text, 1, 30) })
}

func isLength(text string, minLength, maxLength int) bool {
	length := utf8.RuneCountInString(text)
	return length >= minLength && length <= maxLength
}

// checkThumbnail returns an error if the thumbnail of an article does not belong to the author or is not ready.
func (n *Network) checkThumbnail(ctx context.Context, t store.Tx, in post) error {
	if in.Content == nil || in.Content.Article == nil || in.Content.Article.Thumbnail == "" {
		return nil
	}
	a, found, err := findAsset(ctx, t, in.Content.Article.Thumbnail)
	if err == nil && (!found || a.owner != in.Author || a.isVideo || a.status(n.Now(), n.ProcessingTime) != "AVAILABLE") {
		err = invalidRequest("The thumbnail is not an image of the author that is ready")
	}
	return err
}
