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
	later.Class, later.Draft = network.Processing, counted
	later.After = c.App.Now().Add(time.Duration(min(p.NotVisible, maxNotVisible)) * notVisibleWait).UTC()
	return &later
}

// resolveNotVisible decides about a container that no commit found. It is published again, or replaced after
// maxNotVisible commits. It is never replaced if another commit may still take effect.
func (c *Containers) resolveNotVisible(
	ctx context.Context, g network.Grant, p draft, t network.CommitHistory,
) (network.Verdict, network.Receipt, error) {
	receipt, err := c.findPost(ctx, g, p, t)
	switch {
	case err != nil:
		return network.Unknown, network.Receipt{}, err
	case receipt.ID != "":
		receipt.MatchedByContent = true
		return network.Published, receipt, nil
	case p.NotVisible < maxNotVisible || t.Undecided:
		return network.Absent, network.Receipt{}, nil
	}
	return network.Absent, network.Receipt{}, notVisibleError()
}

func notVisibleError() *network.Error {
	return &network.Error{
		Class: network.Transient, Status: http.StatusOK,
		Code: strconv.Itoa(codeNotFound) + "/" + strconv.Itoa(subcodeNotVisible),
		Err:  errors.New("the network does not find the container"),
	}
}
