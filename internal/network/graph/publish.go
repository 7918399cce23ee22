package graph

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/network"
)

const (
	clockSkew            = 5 * time.Minute // how far the network's clock may be behind ours
	pageSize             = "100"
	progressPollInterval = 5 * time.Second // time between checks of a container that is being processed
)

// Commit publishes the container. The network also rejects repeated calls, so a rejection is final only if the
// container is not published.
func (c *Containers) Commit(
	ctx context.Context, g network.Grant, d network.Draft, _ network.Files,
) (network.Receipt, error) {
	prepared, err := c.drafts().DecodePrepared(d)
	if err != nil {
		return network.Receipt{}, err
	}
	var response CreatedObject
	call := c.NewCall(g, http.MethodPost, c.ownerPath(g, c.Names.Publish), url.Values{"creation_id": {prepared.Container}}, &response)
	call.Purpose = network.PurposeCommit
	if err := c.Client.Do(ctx, call); err != nil {
		if netErr, ok := errors.AsType[*network.Error](err); ok && isNotVisible(netErr) {
			return network.Receipt{}, c.countNotVisible(prepared, netErr)
		}
		return network.Receipt{}, c.confirmRejection(ctx, g, prepared, err)
	}
	if !IsID(response.ID) {
		return network.Receipt{}, &network.Error{
			Class: network.OutcomeUnknown, Status: http.StatusOK, Err: errors.New("publishing: the response has no id"),
		}
	}
	return network.Receipt{ID: response.ID}, nil
}

// confirmRejection returns err. If err is a rejection or a missing permission, but the container may be published, it
// changes the class to OutcomeUnknown.
func (c *Containers) confirmRejection(ctx context.Context, g network.Grant, d draft, err error) error {
	responseError, ok := errors.AsType[*network.Error](err)
	if !ok || responseError.Status == 0 || !mayContradictState(responseError) {
		return err
	}
	status, err := c.readState(ctx, g, d.Container)
	if err != nil || status.state == statePublished || status.state == stateExpired {
		newErr := *responseError
		newErr.Class = network.OutcomeUnknown
		return &newErr
	}
	return responseError
}

// mayContradictState reports whether a container may be published despite an error. The network also returns rejections
// and missing permissions (10 and 200 to 299) for published containers.
func mayContradictState(e *network.Error) bool {
	switch e.Class {
	case network.Rejected, network.RejectedMedia:
		return true
	case network.ReconnectRequired:
		return isPermissionCode(e.Code)
	default:
		return false
	}
}

// Resolve reads the container's state. If the container is published, the verdict is Published. The post's ID comes
// from the account's list of posts, and is empty if several posts match. If the container is ready, the verdict is
// Absent, and publishing the container again creates one post. If the container expired or failed, or several commits
// did not find it, the verdict is Absent with the reason, and Prepare creates a new container. If the container no
// longer exists, Resolve searches for the post, and returns Unknown if it does not find the post.
func (c *Containers) Resolve(
	ctx context.Context, g network.Grant, d network.Draft, history network.CommitHistory,
) (network.Verdict, network.Receipt, error) {
	prepared, err := c.drafts().DecodePrepared(d)
	if err != nil {
		return network.Unknown, network.Receipt{}, err
	}
	status, err := c.readState(ctx, g, prepared.Container)
	netErr, ok := errors.AsType[*network.Error](err)
	notVisible := ok && isNotVisible(netErr)
	switch {
	case prepared.NotVisibleCount > 0 && (notVisible || status.state == stateFinished):
		return c.resolveNotVisible(ctx, g, prepared, history)
	case notVisible, ok && (IsMissing(netErr) || lacksStatus(netErr)):
		return c.resolveMissing(ctx, g, prepared, history, err)
	case err != nil:
		return network.Unknown, network.Receipt{}, err
	}
	if status.state == statePublished {
		return c.resolvePublished(ctx, g, prepared, history)
	}
	return c.verdict(status)
}

// verdict returns the verdict for the state of an unpublished container.
func (c *Containers) verdict(status container) (network.Verdict, network.Receipt, error) {
	switch status.state {
	case stateFinished:
		return network.Absent, network.Receipt{}, nil
	case stateInProgress:
		return network.Unknown, network.Receipt{}, &network.Error{
			Class: network.Processing, Status: http.StatusOK, Code: stateInProgress,
			RetryAt: c.App.Now().Add(progressPollInterval).UTC(),
		}
	case stateExpired:
		return network.Absent, network.Receipt{}, &network.Error{
			Class: network.Transient, Status: http.StatusOK, Code: stateExpired,
		}
	case stateError:
		reason, _ := c.FailureReason(status.reason)
		return network.Absent, network.Receipt{}, reason
	}
	return network.Unknown, network.Receipt{}, network.InvalidResponse(errUnknownState)
}

// lacksStatus reports whether the object exists but is not a container. The network may return this error for a
// published container (according to one user report from 2026).
func lacksStatus(e *network.Error) bool {
	return e.Code == "100" && strings.Contains(strings.ToLower(e.Message), "nonexisting field")
}

// resolvePublished finds the ID of a published post. If listing the posts fails temporarily or is rate limited, it
// returns the error. After other errors, the receipt is empty.
func (c *Containers) resolvePublished(
	ctx context.Context, g network.Grant, d draft, history network.CommitHistory,
) (network.Verdict, network.Receipt, error) {
	receipt, err := c.findPost(ctx, g, d, history)
	netErr, ok := errors.AsType[*network.Error](err)
	if ok && (netErr.Class == network.Transient || netErr.Class == network.RateLimited) {
		return network.Unknown, network.Receipt{}, err
	}
	return network.Published, receipt, nil
}

// resolveMissing searches for the post of a container that no longer exists. If it does not find the post, the verdict
// is Unknown.
func (c *Containers) resolveMissing(
	ctx context.Context, g network.Grant, d draft, history network.CommitHistory, cause error,
) (network.Verdict, network.Receipt, error) {
	receipt, err := c.findPost(ctx, g, d, history)
	switch {
	case err != nil:
		return network.Unknown, network.Receipt{}, err
	case receipt.ID == "":
		return network.Unknown, network.Receipt{}, cause
	}
	receipt.MatchedByContent = true
	return network.Published, receipt, nil
}

// listedPost is a post in the account's list of posts.
type listedPost struct {
	ID        string `json:"id"`
	Text      string `json:"text"`
	Caption   string `json:"caption"` // Instagram's name for the text
	Type      string `json:"media_type"`
	Permalink string `json:"permalink"`
	Timestamp string `json:"timestamp"`
	RepliedTo struct {
		ID string `json:"id"`
	} `json:"replied_to"`
}

// findPost searches the posts that were published since the container was created. The receipt is empty unless exactly
// one post matches.
func (c *Containers) findPost(
	ctx context.Context, g network.Grant, d draft, history network.CommitHistory,
) (network.Receipt, error) {
	posts, err := c.findPosts(ctx, g, d, history)
	if err != nil || len(posts) != 1 {
		return network.Receipt{}, err
	}
	return posts[0].receipt(), nil
}

// findPosts returns the posts that were published since the container was created and match the draft.
func (c *Containers) findPosts(
	ctx context.Context, g network.Grant, d draft, history network.CommitHistory,
) ([]listedPost, error) {
	var response struct {
		Data []listedPost `json:"data"`
	}
	since := d.CreatedAt.Add(-clockSkew)
	edge, fields := c.Names.Edge, "id,"+c.Names.Text+",timestamp,permalink,media_type"
	params := url.Values{"since": {strconv.FormatInt(since.Unix(), 10)}, "limit": {pageSize}}
	switch {
	case d.ReplyTo != "":
		edge, fields = c.Names.Replies, fields+",replied_to"
	case c.isStory(d): // The list contains one day's stories and has no time parameter.
		edge = c.Names.Stories
		params.Del("since")
	}
	params.Set("fields", fields)
	err := c.Client.Do(ctx, c.NewCall(g, http.MethodGet, c.ownerPath(g, edge), params, &response))
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(response.Data, func(l listedPost) bool {
		return !IsID(l.ID) || !l.matches(d) || history.BelongsToOther(l.ID, l.Permalink) ||
			ParseTime(l.Timestamp).Before(since)
	}), nil
}

func (l listedPost) receipt() network.Receipt {
	return network.Receipt{ID: l.ID, Permalink: network.WebURL(l.Permalink), At: ParseTime(l.Timestamp)}
}

// matches reports whether the listed post may be the draft's post. It ignores white space, because networks change it.
func (l listedPost) matches(d draft) bool {
	return l.RepliedTo.ID == d.ReplyTo && network.SameWords(cmp.Or(l.Text, l.Caption), d.Text) &&
		(l.Type == "" || l.Type == d.listedType())
}

// listedType returns the media type with which the networks list the post.
func (d draft) listedType() string {
	switch {
	case len(d.Media) > 1:
		return "CAROUSEL_ALBUM"
	case len(d.Media) == 0:
		return "TEXT_POST"
	case d.Media[0].Kind == network.Video:
		return "VIDEO"
	}
	return "IMAGE"
}

// Permalink returns the URL in the receipt. If the receipt has no URL, it requests the URL.
func (c *Containers) Permalink(ctx context.Context, g network.Grant, r network.Receipt) (string, error) {
	if r.Permalink != "" {
		return r.Permalink, nil
	}
	if !IsID(r.ID) {
		return "", network.PermanentError(errors.New("the ID does not belong to a post on " + c.Names.Title))
	}
	var response listedPost
	err := c.Client.Do(ctx, c.NewCall(g, http.MethodGet, r.ID, url.Values{"fields": {"id,permalink"}}, &response))
	if err != nil {
		return "", err
	}
	return network.WebURL(response.Permalink), nil
}
