package linkedin

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"time"

	"pressroom.example/pressroom/internal/network"
)

const (
	commentPageSize = 100
	commentsDenied  = "LinkedIn does not let this app comment with the account. Connect the account again and allow everything."
)

// createdComment is a comment in the API's format.
//
// Source: https://learn.microsoft.com/linkedin/marketing/community-management/shares/comments-api
type createdComment struct {
	ID      string `json:"id"`
	URN     string `json:"commentUrn"`
	Actor   string `json:"actor"`
	Created struct {
		Time int64 `json:"time"` // Unix milliseconds
	} `json:"created"`
	Message struct {
		Text string `json:"text"`
	} `json:"message"`
}

var commentURN = regexp.MustCompile(`^urn:li:comment:\([A-Za-z0-9:]{1,120},[0-9]{1,40}\)$`)

// receipt returns the receipt of the comment on a post, empty if the response has no URN.
func (c createdComment) receipt(n *Network, post string) network.Receipt {
	if !commentURN.MatchString(c.URN) {
		return network.Receipt{}
	}
	return network.Receipt{
		ID: c.URN, Permalink: n.permalink(post) + "?commentUrn=" + url.QueryEscape(c.URN), At: c.at(),
	}
}

func (c createdComment) at() time.Time { return time.UnixMilli(c.Created.Time).UTC() }

// commentCall returns a call that reads or creates comments on a post.
func (n *Network) commentCall(g network.Grant, method, post string) (network.Call, error) {
	if !isPostURN(post) {
		return network.Call{}, network.PermanentError(errors.New("the comment's post is not a LinkedIn post"))
	}
	return n.newCall(g, method, "socialActions/"+url.PathEscape(post)+"/comments"), nil
}

// commitComment publishes a comment.
func (n *Network) commitComment(ctx context.Context, g network.Grant, d network.Draft) (network.Receipt, error) {
	c, err := network.ReadFirstComment(d)
	if err != nil {
		return network.Receipt{}, err
	}
	call, err := n.commentCall(g, http.MethodPost, c.On)
	if err != nil {
		return network.Receipt{}, err
	}
	call.Purpose = network.PurposeCommit
	call.JSON = map[string]any{"actor": g.Account, "object": c.On, "message": map[string]string{"text": c.Text}}
	var created createdComment
	if _, err := n.do(ctx, g, call, &created); err != nil {
		return network.Receipt{}, network.CommentsForbidden(err, commentsDenied)
	}
	receipt := created.receipt(n, c.On)
	if receipt.ID == "" {
		return network.Receipt{}, uncertainError(http.StatusCreated, "commenting: the response has no URN of a comment")
	}
	return receipt, nil
}

// resolveComment searches the comments on the post. The error is of class OutcomeUnknown if the app may not list them.
func (n *Network) resolveComment(
	ctx context.Context, g network.Grant, d network.Draft, history network.CommitHistory,
) (network.Verdict, network.Receipt, error) {
	c, err := network.ReadFirstComment(d)
	if err != nil {
		return network.Unknown, network.Receipt{}, err
	}
	call, err := n.commentCall(g, http.MethodGet, c.On)
	if err != nil {
		return network.Unknown, network.Receipt{}, err
	}
	call.Query = url.Values{"count": {strconv.Itoa(commentPageSize)}}
	var list struct {
		Elements []createdComment `json:"elements"`
	}
	search := network.CommentSearch{StartedAt: n.opts.Now()} // before the search, because a comment may appear during it
	_, err = n.do(ctx, g, call, &list)
	if netErr, ok := errors.AsType[*network.Error](err); ok && netErr.Status == http.StatusForbidden {
		err = uncertainError(netErr.Status, "the comments on the post cannot be listed")
	}
	if err != nil {
		return network.Unknown, network.Receipt{}, err
	}
	search.Truncated = len(list.Elements) >= commentPageSize
	for _, comment := range list.Elements {
		receipt := comment.receipt(n, c.On)
		if comment.Actor == g.Account && receipt.ID != "" && network.SameWords(comment.Message.Text, c.Text) &&
			!comment.at().Before(c.PreparedAt.Add(-clockSkew)) && !history.BelongsToOther(receipt.ID, receipt.Permalink) {
			search.Matches = append(search.Matches, receipt)
		}
	}
	return search.Verdict(history, time.Duration(n.opts.ListingDelay))
}
