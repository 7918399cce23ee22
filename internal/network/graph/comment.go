package graph

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/network"
)

// Comments publishes comments on an account's own posts. The API has no key that identifies a repeated request. If a
// response is lost, Resolve searches for the comment among the comments on the post.
//
// Sources: https://developers.facebook.com/docs/instagram-platform/instagram-graph-api/reference/ig-media/comments and
// https://developers.facebook.com/docs/graph-api/reference/object/comments
type Comments struct {
	Client *Client
	App    network.App
	// NewCall returns a call to the versioned API.
	NewCall func(g network.Grant, method, path string, params url.Values, out any) Call
	// Fields lists the API's names for a comment's text and time, and for its URL if comments have one.
	Fields []string
	// List contains the parameters that sort the list of comments by time, newest first.
	List url.Values
	// Permissions lists the permissions that allow comments. One of them is enough.
	Permissions []string
}

// isPostID reports whether an ID is the ID of a post. On Facebook, a post's ID consists of the IDs of the Page and the
// post.
func isPostID(id string) bool {
	page, post, hasPostPart := strings.Cut(id, "_")
	return IsID(page) && (!hasPostPart || IsID(post))
}

// Commit publishes the comment.
func (c Comments) Commit(ctx context.Context, g network.Grant, d network.Draft) (network.Receipt, error) {
	p, err := network.ReadFirstComment(d)
	if err != nil {
		return network.Receipt{}, err
	}
	if !isPostID(p.On) {
		return network.Receipt{}, errNoPostID
	}
	var response CreatedObject
	call := c.NewCall(g, http.MethodPost, p.On+"/comments", url.Values{"message": {p.Text}}, &response)
	call.Purpose = network.PurposeCommit
	if err := c.Client.Do(ctx, call); err != nil {
		return network.Receipt{}, c.rejectMissingPermission(err)
	}
	if !isPostID(response.ID) {
		return network.Receipt{}, &network.Error{
			Class: network.OutcomeUnknown, Status: http.StatusOK, Err: errors.New("commenting: the response has no id"),
		}
	}
	return network.Receipt{ID: response.ID}, nil
}

// rejectMissingPermission changes the class of an error from ReconnectRequired to Rejected if only a permission is
// missing, because the account can still publish posts.
func (c Comments) rejectMissingPermission(err error) error {
	e, ok := errors.AsType[*network.Error](err)
	if !ok || e.Class != network.ReconnectRequired || !isPermissionCode(e.Code) {
		return err
	}
	newErr := *e
	newErr.Class, newErr.Message = network.Rejected, fmt.Sprintf(
		"pressroom may not comment with this account. Reconnect it and allow comments (%s).", strings.Join(c.Permissions, " or "))
	return &newErr
}

// Resolve searches the comments on the post. If the comment is not listed, the verdict is Absent once ListingDelay has
// passed since the last attempt.
func (c Comments) Resolve(
	ctx context.Context, g network.Grant, d network.Draft, history network.CommitHistory,
) (network.Verdict, network.Receipt, error) {
	p, err := network.ReadFirstComment(d)
	if err != nil {
		return network.Unknown, network.Receipt{}, err
	}
	if !isPostID(p.On) {
		return network.Unknown, network.Receipt{}, errNoPostID
	}
	// Read the time before the search, because a comment may appear during the search.
	search := network.CommentSearch{StartedAt: c.App.Now()}
	search.Matches, search.Truncated, err = c.findComments(ctx, g, p, history)
	if err != nil {
		return network.Unknown, network.Receipt{}, c.rejectMissingPermission(err)
	}
	return search.Verdict(history, time.Duration(c.App.ListingDelay))
}

var errNoPostID = network.PermanentError(errors.New("the comment's post has an invalid ID"))

// listedComment is a comment in the list of a post's comments.
type listedComment struct {
	ID        string `json:"id"`
	Text      string `json:"text"`
	Message   string `json:"message"` // Facebook's name for the text
	Timestamp string `json:"timestamp"`
	Created   string `json:"created_time"` // Facebook's name for the time
	Permalink string `json:"permalink_url"`
	From      struct {
		ID       string `json:"id"`
		Username string `json:"username"`
	} `json:"from"`
}

func (l listedComment) createdAt() time.Time { return ParseTime(l.Timestamp + l.Created) }

// findComments returns the account's comments on the post that have the draft's text. It also reports whether there may
// be more.
func (c Comments) findComments(
	ctx context.Context, g network.Grant, p network.FirstComment, history network.CommitHistory,
) ([]network.Receipt, bool, error) {
	var list listPage[listedComment]
	params := url.Values{"fields": {strings.Join(append([]string{"id", "from"}, c.Fields...), ",")}, "limit": {pageSize}}
	maps.Copy(params, c.List)
	if err := c.Client.Do(ctx, c.NewCall(g, http.MethodGet, p.On+"/comments", params, &list)); err != nil {
		return nil, false, err
	}
	var receipts []network.Receipt
	since, truncated := p.PreparedAt.Add(-clockSkew), list.Paging.Next != ""
	for _, l := range list.Data {
		if l.createdAt().Before(since) {
			truncated = false
			continue
		}
		// From.ID may differ from the account's ID.
		isOwn := l.From.ID == g.Account || strings.EqualFold(l.From.Username, g.Username) && g.Username != ""
		if isOwn && isPostID(l.ID) && network.SameWords(l.Text+l.Message, p.Text) && !history.BelongsToOther(l.ID, l.Permalink) {
			receipts = append(receipts, network.Receipt{
				ID: l.ID, Permalink: network.WebURL(l.Permalink), At: l.createdAt(),
			})
		}
	}
	return receipts, truncated, nil
}

// isPermissionCode reports whether an error code means that a permission is missing. These are the codes 10 and 200 to
// 299.
func isPermissionCode(code string) bool {
	code, _, _ = strings.Cut(code, "/")
	return code == "10" || len(code) == 3 && code[0] == '2'
}
