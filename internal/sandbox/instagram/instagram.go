// Package instagram simulates Instagram.
package instagram

import (
	"context"
	"maps"
	"net/http"
	"strings"

	"pressroom.example/pressroom/internal/sandbox/base"
	"pressroom.example/pressroom/internal/sandbox/graph"
	"pressroom.example/pressroom/internal/sandbox/store"
)

// Name is the network's name in URLs.
const Name = "instagram"

// Network is the part of Instagram's API that pressroom uses: both sign-in methods, containers, posts, and public data
// of other accounts. The first part of a path selects the host. Instagram Login has the hosts www, api and graph. The
// host facebook stands for both hosts of Facebook Login.
type Network struct {
	*graph.API

	cursors hashtagCursors
}

// New returns the network of the sandbox s.
func New(s *base.Server) *Network {
	api := graph.New(s, Name, "Instagram", "ig", "instagram")
	api.CannotSignIn = isOperator
	api.PublishScopes = []string{"instagram_business_content_publish", "instagram_content_publish"}
	noRole := graph.ErrorPage(map[string]any{
		"error_type": "OAuthException", "code": http.StatusBadRequest, "error_message": "Insufficient developer role",
	})
	api.RequireRole(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/facebook/") {
			api.ServeInactive(w, r)
			return
		}
		noRole(w, r)
	})
	return &Network{API: api}
}

// Init creates the initial accounts.
func (n *Network) Init(ctx context.Context) error { return n.AddPeople(ctx, AccountID) }

// AccountID returns the ID of an account. A handle has the same ID in every sandbox.
func AccountID(handle string) string { return base.StableID("1", "instagram account "+handle) }

// Handler returns the handler of the APIs, the consent pages, and the redirects from posts to the sandbox's page.
func (n *Network) Handler() http.Handler {
	mux := http.NewServeMux()
	for _, pattern := range []string{"/www/oauth/authorize", "/facebook/{version}/dialog/oauth"} {
		mux.HandleFunc("GET "+pattern, n.Authorize)
		mux.HandleFunc("POST "+pattern, n.Authorize)
	}
	calls := map[string]func(*http.Request) (any, error){
		"POST /api/oauth/access_token":                    n.exchangeCode,
		"GET /graph/access_token":                         n.ExchangeToken,
		"GET /graph/refresh_access_token":                 n.RefreshToken,
		"GET /graph/{version}/me":                         n.getMe,
		"GET /facebook/{version}/oauth/access_token":      n.GrantToken,
		"GET /facebook/{version}/me/permissions":          n.Permissions,
		"DELETE /facebook/{version}/{person}/permissions": n.RevokePermissions,
		"GET /facebook/{version}/{app}/permissions": n.AppPermissions("instagram_basic", "instagram_content_publish",
			"instagram_manage_insights", "instagram_manage_comments", "pages_show_list", "pages_read_engagement",
			"business_management"),
		"GET /facebook/{version}/debug_token": n.DebugToken(),
		"GET /facebook/{version}/me":          n.getFacebookMe,
		"GET /facebook/{version}/me/accounts": n.listPages,
		"GET /media/{account}/{cid}":          n.MediaFile(n.Platform, graph.ErrNoObject),
		"/":                                   n.NotFound,
	}
	for _, host := range []string{"/graph", "/facebook"} {
		calls["POST "+host+"/{version}/{user}/media"] = n.createContainer
		calls["POST "+host+"/{version}/{user}/media_publish"] = n.PublishContainer
		calls["GET "+host+"/{version}/{user}/media"] = n.listPosts
		calls["GET "+host+"/{version}/{user}/stories"] = n.listStories
		calls["GET "+host+"/{version}/{user}/content_publishing_limit"] = n.PublishingLimit(100)
		calls["GET "+host+"/{version}/{id}"] = n.describe
		calls["GET "+host+"/{version}/{id}/insights"] = n.Insights(postMetrics,
			"instagram_business_manage_insights", "instagram_manage_insights")
		calls["POST "+host+"/{version}/{id}/comments"] = n.CreateComment(n.comments())
		calls["GET "+host+"/{version}/{id}/comments"] = n.ListComments(n.comments())
	}
	maps.Copy(calls, n.discoveryCalls())
	for pattern, do := range calls {
		mux.HandleFunc(pattern, n.HandlerFor(do))
	}
	mux.HandleFunc("GET /web/p/{id}", n.RedirectToPage)
	return mux
}

// comments describes how Instagram handles comments. The API does not return URLs of comments.
func (n *Network) comments() graph.Comments {
	return graph.Comments{
		AsCaller:  n.AsCaller,
		MaxLength: 2200, Scopes: []string{"instagram_business_manage_comments", "instagram_manage_comments"},
		NewID: func(store.Post) string { return base.StableID("18", base.NewID()) },
		View: func(_ *http.Request, c store.Post) map[string]any {
			return map[string]any{
				"id": c.ID, "text": c.Text, "timestamp": c.At.Format(graph.TimeFormat), "username": c.Handle,
				"from": map[string]string{"id": base.StableID("52", "scoped "+c.Handle), "username": c.Handle},
			}
		},
	}
}
