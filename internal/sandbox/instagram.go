package sandbox

import (
	"context"
	"maps"
	"net/http"
)

const instagramName = "instagram"

// instagram is the Instagram API: both ways to sign in, containers and posts, and the public data of others. Its hosts
// are folders here: www, api and graph for Instagram Login, facebook for both hosts of Facebook Login.
type instagram struct {
	*graphAPI

	walks hashtagWalks
}

func newInstagram(s *shared) *instagram {
	api := newGraphAPI(s, instagramName, "Instagram", "ig", "instagram")
	api.cannotSignIn = isOperator
	return &instagram{graphAPI: api}
}

func (n *instagram) settle(ctx context.Context) error { return n.people(ctx, instagramID) }

// instagramID returns an account's id, which is the same in every sandbox.
func instagramID(handle string) string { return stableID("1", "instagram account "+handle) }

// handler serves the APIs, the consent pages, and redirects from posts to the sandbox's page.
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
		"GET /media/{account}/{cid}":                      n.mediaFile(n.platform, errNoObject),
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
