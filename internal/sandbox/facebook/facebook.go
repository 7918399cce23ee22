// Package facebook simulates Facebook.
package facebook

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/sandbox/base"
	"pressroom.example/pressroom/internal/sandbox/graph"
	"pressroom.example/pressroom/internal/sandbox/insights"
	"pressroom.example/pressroom/internal/sandbox/store"
)

// Name is the network's name in URLs.
const Name = "facebook"

const (
	kindPage          = "page"                    // kind of a Page's token; a person's token has the kind oauth.KindAccess
	pageTokenLifetime = 10 * 365 * 24 * time.Hour // lifetime of a Page's token that a long-lived token requests
	agency            = "studio.north"            // handle of the person whose Page is in a business portfolio
)

// Network is the part of the Graph API for Pages that pressroom uses: OAuth consent and tokens, photos, videos and
// posts. Each person has one Page with the same name. The account in the store is the Page.
type Network struct{ *graph.API }

// New returns the network of the sandbox s.
func New(s *base.Server) *Network {
	api := graph.New(s, Name, "Facebook", "fb", "pages")
	api.RequireRole(api.ServeInactive)
	return &Network{api}
}

// Init creates the initial accounts.
func (n *Network) Init(ctx context.Context) error { return n.AddPeople(ctx, pageID) }

func pageID(handle string) string { return base.StableID("10", "facebook page "+handle) }

// Handler returns the handler of Facebook's three API hosts, below /graph, /video and /upload. Below /www, it serves
// the consent page and redirects from posts to the sandbox's page.
func (n *Network) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /www/{version}/dialog/oauth", n.consent)
	mux.HandleFunc("POST /www/{version}/dialog/oauth", n.consent)
	mux.HandleFunc("POST /video/{version}/{user}/videos", n.uploadVideo)
	mux.HandleFunc("POST /upload/video-upload/{version}/{video}", n.uploadReel)
	for pattern, do := range map[string]func(*http.Request) (any, error){
		"GET /graph/{version}/oauth/access_token": n.grantToken,
		"GET /graph/{version}/me/permissions":     n.Permissions,
		"GET /graph/{version}/{app}/permissions": n.AppPermissions("pages_show_list", "pages_read_engagement",
			"pages_manage_posts", "pages_manage_engagement", "read_insights", "business_management"),
		"GET /graph/{version}/debug_token":             n.DebugToken(kindPage),
		"DELETE /graph/{version}/{person}/permissions": n.RevokePermissions,
		"GET /graph/{version}/me/accounts":             n.listOwnPages,
		"GET /graph/{version}/me/businesses":           n.listBusinesses,
		"GET /graph/{version}/{business}/owned_pages":  n.listOwnedPages,
		"GET /graph/{version}/{business}/client_pages": n.listClientPages,
		"GET /graph/{version}/{user}/published_posts":  n.listPosts,
		"POST /graph/{version}/{user}/photos":          n.createPhoto,
		"POST /graph/{version}/{user}/feed":            n.createPost,
		"POST /graph/{version}/{user}/video_reels":     n.reelPhase,
		"POST /graph/{version}/{user}/video_stories":   n.videoStoryPhase,
		"POST /graph/{version}/{user}/photo_stories":   n.publishPhotoStory,
		"GET /graph/{version}/{user}/stories":          n.listStories,
		"GET /graph/{version}/{id}":                    n.describe,
		"GET /graph/{version}/{id}/insights":           n.postInsights,
		"POST /graph/{version}/{id}/comments":          n.CreateComment(n.comments()),
		"GET /graph/{version}/{id}/comments":           n.ListComments(n.comments()),
		"GET /media/{account}/{cid}":                   n.MediaFile(n.Platform, graph.ErrNoObject),
		"/":                                            n.NotFound,
	} {
		mux.HandleFunc(pattern, n.HandlerFor(do))
	}
	mux.HandleFunc("GET /www/{handle}/posts/{id}", n.RedirectToPage)
	mux.HandleFunc("GET /www/{handle}/videos/{id}/{$}", n.RedirectToPage)
	mux.HandleFunc("GET /www/reel/{id}/{$}", n.RedirectToPage)
	return mux
}

// consent serves the consent page. Tests can decline permissions with the parameter declined.
func (n *Network) consent(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, base.MaxBody)
	if r.ParseForm() == nil {
		declined := strings.Split(r.Form.Get("declined"), ",")
		scopes := slices.DeleteFunc(strings.Split(r.Form.Get("scope"), ","), func(scope string) bool {
			return slices.Contains(declined, scope)
		})
		r.Form.Set("scope", strings.Join(scopes, ","))
	}
	n.Authorize(w, r)
}

// grantToken serves the token endpoint. It exchanges a code for a short-lived token, exchanges a person's token for a
// long-lived token, or returns an app access token.
func (n *Network) grantToken(r *http.Request) (any, error) {
	switch {
	case r.Form.Get("client_id") == "" || r.Form.Get("client_secret") == "":
		return nil, graph.InvalidParameter("client_id and client_secret are required")
	case r.Form.Get("grant_type") == "":
		return n.RedeemCode(r, nil)
	case r.Form.Get("grant_type") == "client_credentials":
		return n.AppToken(r)
	}
	r.Form.Set("access_token", r.Form.Get("fb_exchange_token"))
	return n.ExchangeToken(r)
}

func pageView(a store.Account) map[string]any {
	return map[string]any{"id": a.ID, "name": a.DisplayName, "username": a.Handle}
}

// asPage calls do in a transaction, with the Page of the request's token. It returns an error if the path contains the
// ID of another Page.
func (n *Network) asPage(r *http.Request, do func(store.Tx, store.Account, store.Token) error) error {
	return n.Store.InTx(r.Context(), func(t store.Tx) error {
		token, ok, err := n.Find(r.Context(), t, kindPage, r.Form.Get("access_token"))
		switch {
		case err != nil:
			return err
		case token.Kind == "":
			return n.rejectNonPage(r, t)
		case !ok:
			return graph.ErrSessionExpired
		}
		if err := graph.CheckProof(r, token); err != nil {
			return err
		}
		a, found, err := t.Account(r.Context(), Name, token.Account)
		if err != nil {
			return err
		}
		if user := r.PathValue("user"); !found || user != "" && user != a.ID {
			return graph.ErrNoObject
		}
		return do(t, a, token)
	})
}

// rejectNonPage returns the error for a token that does not belong to a Page.
func (n *Network) rejectNonPage(r *http.Request, t store.Tx) error {
	if _, _, err := n.Authenticate(r, t); err != nil {
		return err
	}
	return &graph.Error{Status: http.StatusForbidden, Code: 200, Message: "A page access token is required"}
}

// describe returns the object whose ID is in the path: the person, the Page, or a post or video of the Page.
func (n *Network) describe(r *http.Request) (any, error) {
	var object map[string]any
	var err error
	if id := r.PathValue("id"); id == "me" {
		err = n.AsCaller(r, func(_ store.Tx, a store.Account, _ store.Token) error {
			object = map[string]any{"id": graph.PersonID(a.Handle), "name": a.DisplayName}
			return nil
		})
	} else if object, err = n.findOwnPage(r, id); object == nil && err == nil {
		err = n.asPage(r, func(t store.Tx, a store.Account, _ store.Token) error {
			object, err = n.findObject(r, t, a, id)
			return err
		})
	}
	if err != nil {
		return nil, err
	}
	return graph.PickFields(r, object), nil
}

func (n *Network) findObject(r *http.Request, t store.Tx, a store.Account, id string) (map[string]any, error) {
	if id == a.ID {
		page := pageView(a)
		page["followers_count"] = insights.Followers(Name, a.ID, n.Now())
		page["picture"] = map[string]any{"data": map[string]any{
			"height": 200, "width": 200, "is_silhouette": false, "url": n.PictureURL(r, a.DisplayName),
		}}
		return page, nil
	}
	v, found, err := findVideo(r.Context(), t, `id = ? and account = ?`, id, a.ID)
	if found && !v.finishedAt.IsZero() {
		v.isDraft, err = n.checkMarkers(r, t, v)
	}
	if found || err != nil {
		return n.videoView(v, a), err
	}
	p, found, err := t.Post(r.Context(), Name, id)
	if err == nil && (!found || p.Account != a.ID) {
		err = graph.ErrNoObject
	}
	return n.postView(r, p), err
}

// comments describes how Facebook handles comments of Pages.
func (n *Network) comments() graph.Comments {
	return graph.Comments{
		AsCaller: n.asPage, MaxLength: 8000, Scopes: []string{"pages_manage_engagement"},
		NewID: func(post store.Post) string {
			return post.ID[strings.LastIndexByte(post.ID, '_')+1:] + "_" + base.StableID("9", base.NewID())
		},
		View: func(r *http.Request, c store.Post) map[string]any {
			return map[string]any{
				"id": c.ID, "message": c.Text, "created_time": c.At.Format(graph.TimeFormat),
				"permalink_url": n.BaseURL(r) + "/" + Name + "/www/" + c.Handle + "/posts/" + c.ReplyTo + "?comment_id=" + c.ID,
				"from":          map[string]string{"id": c.Account, "name": c.DisplayName},
			}
		},
	}
}
