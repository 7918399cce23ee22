package instagram

import (
	"context"
	"time"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/network/graph"
)

// The permission to comment, for each sign-in method. People can decline it.
const (
	scopeInstagramComments = "instagram_business_manage_comments"
	scopeFacebookComments  = "instagram_manage_comments"
)

// newComments returns the implementation of first comments. Instagram lists comments newest first by default.
func newComments(c *graph.Containers) graph.Comments {
	return graph.Comments{
		Client: c.Client, App: c.App, NewCall: c.NewCall, Fields: []string{"text", "timestamp"},
		Permissions: []string{scopeInstagramComments, scopeFacebookComments},
	}
}

// Plan fixes the content of a post, or the text of a first comment.
func (n *Network) Plan(i network.Submission) (network.Draft, error) {
	if i.Reply != nil {
		return network.PlanFirstComment(i)
	}
	return n.Containers.Plan(i)
}

// Prepare prepares the container of a post. For a comment, it records the time before which the comment does not exist.
func (n *Network) Prepare(
	ctx context.Context, g network.Grant, d network.Draft, files network.Files,
) (network.Draft, time.Duration, error) {
	if network.IsFirstComment(d) {
		return network.PrepareFirstComment(d, n.opts.Now())
	}
	return n.Containers.Prepare(ctx, g, d, files)
}

// Commit publishes a container or a comment.
func (n *Network) Commit(
	ctx context.Context, g network.Grant, d network.Draft, files network.Files,
) (network.Receipt, error) {
	if network.IsFirstComment(d) {
		return n.comments.Commit(ctx, g, d)
	}
	return n.Containers.Commit(ctx, g, d, files)
}

// Resolve reports whether an earlier Commit took effect.
func (n *Network) Resolve(
	ctx context.Context, g network.Grant, d network.Draft, history network.CommitHistory,
) (network.Verdict, network.Receipt, error) {
	if network.IsFirstComment(d) {
		return n.comments.Resolve(ctx, g, d, history)
	}
	return n.Containers.Resolve(ctx, g, d, history)
}
