package graph

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"pressroom/internal/network"
)

// Threads does not find a container for some seconds after it reported it as finished. It answers code 24, usually with
// the subcode 4279009, to publishing the container and to reading it. That is not a refusal of the post.
const (
	codeNotFound      = 24
	subcodeNotVisible = 4279009
	notVisibleCode    = "24/4279009"

	maxNotVisible  = 3                // commits of a container that is not found, after which it is replaced
	notVisibleWait = 3 * time.Second  // multiplied by the number of such commits
	newContainer   = 20 * time.Second // how long a new container may be unreadable
)

// isNotVisible reports whether the network does not find a container that it may find in some seconds.
func isNotVisible(e *network.Error) bool {
	code, subcode, _ := strings.Cut(e.Code, "/")
	return e.Class == network.Processing &&
		(code == strconv.Itoa(codeNotFound) || subcode == strconv.Itoa(subcodeNotVisible))
}

// countNotVisible returns the error of a commit, which the network did not carry out because it does not find the
// container. The draft counts such commits.
func (c *Containers) countNotVisible(p draft, e *network.Error) error {
	p.NotVisible++
	counted, err := c.drafts().Encode(p)
	if err != nil {
		return network.PermanentError(err)
	}
	later := *e
	later.Draft = counted
	later.After = c.App.Now().Add(time.Duration(min(p.NotVisible, maxNotVisible)) * notVisibleWait).UTC()
	return &later
}

// resolveNotVisible decides about a container that no commit found. It is published again, or replaced after
// maxNotVisible commits. It is replaced only if no other commit may still take effect and the account's list does not
// show the post ListingDelay after the last attempt.
func (c *Containers) resolveNotVisible(
	ctx context.Context, g network.Grant, p draft, t network.CommitHistory,
) (network.Verdict, network.Receipt, error) {
	asked := c.App.Now() // before the lookup, which may miss a post that appears meanwhile
	listed := t.Last.Add(time.Duration(c.App.ListingDelay))
	found, err := c.findPosts(ctx, g, p, t)
	switch {
	case err != nil:
		return network.Unknown, network.Receipt{}, err
	case len(found) > 1:
		return network.Unknown, network.Receipt{}, &network.Error{
			Class: network.Uncertain, Status: http.StatusOK, Err: errors.New("several posts match this one"),
		}
	case len(found) == 1:
		receipt := found[0].receipt()
		receipt.MatchedByContent = true
		return network.Published, receipt, nil
	case p.NotVisible < maxNotVisible:
		return network.Absent, network.Receipt{}, nil
	case asked.Before(listed):
		return network.Unknown, network.Receipt{}, &network.Error{
			Class: network.Processing, Status: http.StatusOK, After: listed.UTC(),
			Err: errors.New("the account may not list the post yet"),
		}
	case t.Undecided:
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
