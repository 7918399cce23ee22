package facebook

import (
	"net/url"

	"pressroom.example/pressroom/internal/network/graph"
)

// scopeComments is the permission to comment. People can decline it.
const scopeComments = "pages_manage_engagement"

// newComments returns the implementation of first comments on a Page's posts.
func newComments(n *Network) graph.Comments {
	return graph.Comments{
		Client: n.graph, App: n.opts.App, NewCall: n.newCall, Fields: []string{"message", "created_time", "permalink_url"},
		List: url.Values{"order": {"reverse_chronological"}, "filter": {"toplevel"}}, Permissions: []string{scopeComments},
	}
}
