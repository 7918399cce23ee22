package graph

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/network"
)

// Threads may not find a container for some seconds after it has reported the container as finished. Calls that publish
// or read the container then fail with code 24, usually with subcode 4279009. Such an error does not mean that Threads
// rejected the post.
const (
	codeNotFound      = 24
	subcodeNotVisible = 4279009
	notVisibleCode    = "24/4279009"

	maxNotVisible    = 3                // number of such commits after which the container is replaced
	notVisibleWait   = 3 * time.Second  // multiplied by the number of such commits
	newContainerTime = 20 * time.Second // how long a new container may be unreadable
)

// isNotVisible reports whether the network did not find the container, but may find it some seconds later.
func isNotVisible(e *network.Error) bool {
	code, subcode, _ := strings.Cut(e.Code, "/")
	return e.Class == network.Processing &&
		(code == strconv.Itoa(codeNotFound) || subcode == strconv.Itoa(subcodeNotVisible))
}

// countNotVisible returns the error for a commit that failed because the network did not find the container. The error
// contains a draft whose counter of such commits is incremented.
func (c *Containers) countNotVisible(d draft, e *network.Error) error {
	d.NotVisibleCount++
	encoded, err := c.drafts().Encode(d)
	if err != nil {
		return network.PermanentError(err)
	}
	newErr := *e
	newErr.Draft = encoded
	newErr.RetryAt = c.App.Now().Add(time.Duration(min(d.NotVisibleCount, maxNotVisible)) * notVisibleWait).UTC()
	return &newErr
}

// resolveNotVisible returns the verdict for a container that the network did not find. If the post is not listed, the
// container is published again, or replaced after maxNotVisible commits. The container is replaced only if no earlier
// commit can still take effect, and if ListingDelay has passed since the last attempt.
func (c *Containers) resolveNotVisible(
	ctx context.Context, g network.Grant, d draft, history network.CommitHistory,
) (network.Verdict, network.Receipt, error) {
	searchStart := c.App.Now() // Read the time before the search, because a post may appear during the search.
	listedBy := history.Last.Add(time.Duration(c.App.ListingDelay))
	posts, err := c.findPosts(ctx, g, d, history)
	switch {
	case err != nil:
		return network.Unknown, network.Receipt{}, err
	case len(posts) > 1:
		return network.Unknown, network.Receipt{}, &network.Error{
			Class: network.OutcomeUnknown, Status: http.StatusOK, Err: errors.New("several posts match this one"),
		}
	case len(posts) == 1:
		receipt := posts[0].receipt()
		receipt.MatchedByContent = true
		return network.Published, receipt, nil
	case d.NotVisibleCount < maxNotVisible:
		return network.Absent, network.Receipt{}, nil
	case searchStart.Before(listedBy):
		return network.Unknown, network.Receipt{}, &network.Error{
			Class: network.Processing, Status: http.StatusOK, RetryAt: listedBy.UTC(),
			Err: errors.New("the account may not list the post yet"),
		}
	case history.Undecided:
		return network.Absent, network.Receipt{}, nil
	}
	return network.Absent, network.Receipt{}, notVisibleError()
}

func notVisibleError() *network.Error {
	return &network.Error{
		Class: network.Transient, Status: http.StatusOK, Code: notVisibleCode,
		Err: errors.New("the network does not find the container"),
	}
}
