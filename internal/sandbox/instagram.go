package sandbox

import (
	"context"
	"maps"
	"net/http"
)

const instagramName = "instagram"

// instagram is the part of the Instagram API that publishes: the consents and tokens of both ways of signing in,
// containers, posts; and the part that tells of the public world. Its hosts are folders here, so that the calls of one
// are none of another: www, api and graph for Instagram Login, facebook for both hosts of Facebook Login.
type instagram struct {
	*graphAPI

	walks hashtagWalks
}

func newInstagram(s *Server) *instagram {
	api := newGraphAPI(s, instagramName, "Instagram", "ig", "instagram")
	api.cannotSignIn = isOperator
	return &instagram{graphAPI: api}
}

func (n *instagram) settle(ctx context.Context) error { return n.people(ctx, instagramID) }

// instagramID gives a handle the same id in every sandbox.
func instagramID(handle string) string { return graphID("1", "instagram account "+handle) }

// handler answers the APIs, the consent pages, and at the addresses of posts the sandbox's page.
func (n *instagram) handler() http.Handler {
	mux := http.NewServeMux()
	for _, pattern := range []string{"/www/oauth/authorize", "/facebook/{version}/dialog/oauth"} {
		mux.HandleFunc("GET "+pattern, n.authorize)
		mux.HandleFunc("POST "+pattern, n.authorize)
	}
	calls := map[string]func(*http.Request) (any, error){
		"POST /api/oauth/access_token":                    n.exchangeInstagramCode,
		"GET /graph/access_token":                         n.exchangeToken,
		"GET /graph/refresh_access_token":                 n.refreshToken,
		"GET /graph/{version}/me":                         n.instagramMe,
		"GET /facebook/{version}/oauth/access_token":      n.giveToken,
		"GET /facebook/{version}/me/permissions":          n.permissions,
		"DELETE /facebook/{version}/{person}/permissions": n.takeBack,
		"GET /facebook/{version}/me":                      n.facebookMe,
		"GET /facebook/{version}/me/accounts":             n.instagramPages,
		"GET /media/{account}/{cid}":                      n.mediaFile,
		"/":                                               n.nowhere,
	}
	for _, host := range []string{"/graph", "/facebook"} {
		calls["POST "+host+"/{version}/{user}/media"] = n.createContainer
		calls["POST "+host+"/{version}/{user}/media_publish"] = n.publish
		calls["GET "+host+"/{version}/{user}/media"] = n.listPosts
		calls["GET "+host+"/{version}/{id}"] = n.describe
		calls["GET "+host+"/{version}/{id}/insights"] = n.insights(instagramMetrics,
			"instagram_business_manage_insights", "instagram_manage_insights")
	}
	maps.Copy(calls, n.discoveryCalls())
	for pattern, do := range calls {
		mux.HandleFunc(pattern, n.graph(do))
	}
	mux.HandleFunc("GET /web/p/{id}", n.toPage)
	return mux
}
