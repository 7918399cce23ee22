package x

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/text/unicode/norm"

	"pressroom.example/pressroom/internal/network"
)

const (
	clockSkew    = time.Minute     // how far the network's clock may be behind
	pollInterval = 5 * time.Second // between two searches
	pageSize     = "100"           // posts, the network's limit
)

// Resolve searches for the post among the account's posts since the Draft was prepared. A missing post counts as absent
// once ListingDelay has passed since the last attempt.
func (n *Network) Resolve(
	ctx context.Context, g network.Grant, d network.Draft, history network.CommitHistory,
) (network.Verdict, network.Receipt, error) {
	prepared, err := drafts.DecodePrepared(d)
	if err != nil {
		return network.Unknown, network.Receipt{}, err
	}
	now := n.opts.Now() // before the search, because a post may appear during it
	posts, complete, err := n.findPosts(ctx, g, prepared)
	if err != nil {
		return network.Unknown, network.Receipt{}, err
	}
	posts = slices.DeleteFunc(posts, func(t tweet) bool { return history.BelongsToOther(t.ID, "") })
	if len(posts) > 1 {
		posts = createdSince(posts, prepared.PreparedAt) // older posts belong to other publications
		complete = complete && len(posts) == 0
	}
	switch {
	case len(posts) == 1:
		receipt := n.receipt(g, posts[0].ID)
		receipt.MatchedByContent = true
		receipt.At = posts[0].Created.UTC()
		return network.Published, receipt, nil
	case !complete:
		return network.Unknown, network.Receipt{}, &network.Error{
			Class: network.OutcomeUnknown, Status: http.StatusOK,
			Err: fmt.Errorf("searching for the post: %d posts match", len(posts)),
		}
	case now.Before(history.Last.Add(time.Duration(n.opts.ListingDelay))):
		return network.Unknown, network.Receipt{}, &network.Error{
			Class: network.Processing, Status: http.StatusOK, RetryAt: now.Add(pollInterval).UTC(),
			Err: errors.New("searching for the post: not listed yet"),
		}
	case prepared.hasExpiredMedia(now):
		return network.Absent, network.Receipt{}, &network.Error{
			Class: network.Transient, Code: codeMediaExpired, Err: errors.New("the media have expired"),
		}
	}
	return network.Absent, network.Receipt{}, nil
}

// tweet is a post in a list.
type tweet struct {
	postText

	ID          string    `json:"id"`
	Created     time.Time `json:"created_at"`
	Note        *postText `json:"note_post"` // the full text if Text is cut
	Attachments struct {
		Media []string `json:"media_keys"`
	} `json:"attachments"`
	Conversation string `json:"conversation_id"` // ID of the first post of the thread
}

// postText is a text in which the network has replaced URLs with short URLs.
type postText struct {
	Text     string `json:"text"`
	Entities struct {
		Links []struct {
			Short string `json:"url"`
			Full  string `json:"expanded_url"`
			Media string `json:"media_key"` // set if the URL belongs to an image or video
		} `json:"urls"`
	} `json:"entities"`
}

// findPosts returns the posts that match the draft. It returns false if it has not read all posts since the Draft was
// prepared.
func (n *Network) findPosts(ctx context.Context, g network.Grant, d draft) ([]tweet, bool, error) {
	var page struct {
		Data []tweet `json:"data"`
		Meta struct {
			Next string `json:"next_token"`
		} `json:"meta"`
		Errors []problem `json:"errors"` // about omitted posts; may be set even with status 200
	}
	since := d.PreparedAt.Add(-clockSkew)
	c := n.newCall(g, http.MethodGet, "users/"+url.PathEscape(g.Account)+"/tweets")
	c.Query = url.Values{
		"start_time": {since.UTC().Format(time.RFC3339)}, "max_results": {pageSize},
		"post.fields": {"attachments,conversation_id,created_at,entities,note_post"},
	}
	if err := n.do(ctx, c, &page); err != nil {
		return nil, false, err
	}
	posts := slices.DeleteFunc(page.Data, func(t tweet) bool {
		return !isID(t.ID) || t.Created.Before(since.Truncate(time.Second)) || !t.matches(d)
	})
	return posts, page.Meta.Next == "" && len(page.Errors) == 0, nil
}

// createdSince returns the posts that are not older than a time, rounded down to seconds as in X's times.
func createdSince(posts []tweet, since time.Time) []tweet {
	return slices.DeleteFunc(posts, func(t tweet) bool { return t.Created.Before(since.Truncate(time.Second)) })
}

func (t tweet) matches(d draft) bool {
	text := t.postText
	if t.Note != nil && t.Note.Text != "" {
		text = *t.Note
	}
	if t.Conversation != "" && t.Conversation != cmp.Or(d.Root, t.ID) {
		return false // another thread
	}
	if len(t.Attachments.Media) != len(d.Media) {
		return false
	}
	listedText, draftText := text.originalText(), normalize(d.Text)
	return normalize(listedText) == draftText || d.Options.Quote != "" && normalize(withoutQuote(listedText,
		d.Options.Quote)) == draftText
}

// withoutQuote returns a text without the link to the quoted post, which X adds at the end.
func withoutQuote(text, quoted string) string {
	text = strings.TrimSpace(text)
	last := text[strings.LastIndexAny(text, " \n\t")+1:]
	if parseQuote(last) != quoted {
		return text
	}
	return strings.TrimSuffix(text, last)
}

// unescape replaces the escape sequences that X uses for three characters.
var unescape = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&")

// originalText returns the text with the original URLs. URLs of media, which X adds, are removed.
func (t postText) originalText() string {
	text := unescape.Replace(t.Text)
	for _, link := range t.Entities.Links {
		replacement := link.Full
		if link.Media != "" {
			replacement = ""
		}
		if link.Short != "" {
			text = strings.Replace(text, link.Short, replacement, 1)
		}
	}
	return text
}

// normalize removes everything from a text that X may change: white space, the Unicode form, and the scheme and
// trailing slash of URLs.
func normalize(text string) string {
	text = norm.NFC.String(text)
	var bare strings.Builder
	at := 0
	for _, link := range findLinks(text) {
		bare.WriteString(text[at:link.start])
		address := text[link.start:link.end]
		if _, rest, found := strings.Cut(address, "://"); found {
			address = rest
		}
		bare.WriteString(strings.TrimSuffix(address, "/"))
		at = link.end
	}
	bare.WriteString(text[at:])
	return strings.Join(strings.Fields(bare.String()), " ")
}
