package youtube

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/network"
)

const (
	maxComment      = 10_000 // characters; unconfirmed, from third-party documentation
	commentPageSize = "100"
	commentsDenied  = "YouTube did not allow pressroom to comment with this channel. Connect the channel again and allow everything."
)

// commentThread is a comment on a video, without its replies.
//
// Source: https://developers.google.com/youtube/v3/docs/commentThreads
type commentThread struct {
	ID      string `json:"id"`
	Snippet struct {
		TopLevel struct {
			Snippet struct {
				Author struct {
					Value string `json:"value"`
				} `json:"authorChannelId"`
				Text        string `json:"textOriginal"` // only in the author's own comments
				PublishedAt string `json:"publishedAt"`
			} `json:"snippet"`
		} `json:"topLevelComment"`
	} `json:"snippet"`
}

// receipt returns the receipt of the comment on a video.
func (c commentThread) receipt(n *Network, video string) network.Receipt {
	at, _ := time.Parse(time.RFC3339, c.Snippet.TopLevel.Snippet.PublishedAt) // zero if unknown
	return network.Receipt{ID: c.ID, Permalink: n.watchURL(video) + "&lc=" + url.QueryEscape(c.ID), At: at.UTC()}
}

// readComment returns the comment of a draft.
func readComment(d network.Draft) (network.FirstComment, error) {
	c, err := network.ReadFirstComment(d)
	if err == nil && !videoID.MatchString(c.On) {
		err = network.PermanentError(errors.New("the comment's post is not a YouTube video"))
	}
	return c, err
}

// commitComment publishes a comment.
func (n *Network) commitComment(ctx context.Context, g network.Grant, d network.Draft) (network.Receipt, error) {
	c, err := readComment(d)
	if err != nil {
		return network.Receipt{}, err
	}
	call := g.Call(http.MethodPost, "youtube/"+n.opts.Version, "commentThreads")
	call.Purpose, call.Query = network.PurposeCommit, url.Values{"part": {"snippet"}}
	call.JSON = map[string]any{"snippet": map[string]any{
		"videoId": c.On, "topLevelComment": map[string]any{"snippet": map[string]string{"textOriginal": c.Text}},
	}}
	var created commentThread
	if err := n.client.Read(ctx, call, &created, n.rejection, http.StatusOK); err != nil {
		return network.Receipt{}, network.CommentsForbidden(err, commentsDenied)
	}
	if created.ID == "" {
		return network.Receipt{}, &network.Error{
			Class: network.OutcomeUnknown, Status: http.StatusOK, Err: errors.New("commenting: the response has no id"),
		}
	}
	return created.receipt(n, c.On), nil
}

// resolveComment searches the newest comments on the video.
func (n *Network) resolveComment(
	ctx context.Context, g network.Grant, d network.Draft, history network.CommitHistory,
) (network.Verdict, network.Receipt, error) {
	c, err := readComment(d)
	if err != nil {
		return network.Unknown, network.Receipt{}, err
	}
	search := network.CommentSearch{StartedAt: n.opts.Now()} // before the search, because a comment may appear during it
	var list struct {
		Items []commentThread `json:"items"`
		Next  string          `json:"nextPageToken"`
	}
	query := url.Values{
		"part": {"snippet"}, "videoId": {c.On}, "order": {"time"}, "maxResults": {commentPageSize}, "textFormat": {"plainText"},
	}
	if err := n.read(ctx, g, "commentThreads", query, &list); err != nil {
		return network.Unknown, network.Receipt{}, network.CommentsForbidden(err, commentsDenied)
	}
	search.Truncated = list.Next != ""
	for _, thread := range list.Items {
		receipt, comment := thread.receipt(n, c.On), thread.Snippet.TopLevel.Snippet
		switch {
		case !receipt.At.IsZero() && receipt.At.Before(c.PreparedAt.Add(-clockSkew)):
			search.Truncated = false // all other comments are older
		case comment.Author.Value == g.Account && network.SameWords(comment.Text, strings.TrimSpace(c.Text)) &&
			!history.BelongsToOther(receipt.ID, receipt.Permalink):
			search.Matches = append(search.Matches, receipt)
		}
	}
	return search.Verdict(history, time.Duration(n.opts.ListingDelay))
}
