package sandbox

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"
)

const (
	facebookName     = "facebook"
	facebookKindPage = "page"                    // kind of a Page's token; a person's is oauth.KindAccess
	facebookForEver  = 10 * 365 * 24 * time.Hour // of a Page's token that a long-lived one read
)

// facebook is the part of the Graph API for Pages: the consent and its tokens, photos, videos and posts. Each person
// has one Page of the same name, which is the account.
type facebook struct{ *graphAPI }

func newFacebook(s *shared) *facebook {
	return &facebook{newGraphAPI(s, facebookName, "Facebook", "fb", "pages")}
}

func (n *facebook) settle(ctx context.Context) error { return n.people(ctx, facebookPageID) }

func facebookPageID(handle string) string { return stableID("10", "facebook page "+handle) }

// handler serves the network's two API hosts below graph/ and video/, and the consent page and posts below www/.
func (n *facebook) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /www/{version}/dialog/oauth", n.dialog)
	mux.HandleFunc("POST /www/{version}/dialog/oauth", n.dialog)
	mux.HandleFunc("POST /video/{version}/{user}/videos", n.takeVideo)
	for pattern, do := range map[string]func(*http.Request) (any, error){
		"GET /graph/{version}/oauth/access_token":      n.giveToken,
		"GET /graph/{version}/me/permissions":          n.permissions,
		"DELETE /graph/{version}/{person}/permissions": n.takeBack,
		"GET /graph/{version}/me/accounts":             n.pages,
		"GET /graph/{version}/{user}/published_posts":  n.listPosts,
		"POST /graph/{version}/{user}/photos":          n.createPhoto,
		"POST /graph/{version}/{user}/feed":            n.post,
		"GET /graph/{version}/{id}":                    n.describe,
		"GET /graph/{version}/{id}/insights":           n.postInsights,
		"GET /media/{account}/{cid}":                   n.mediaFile(n.platform, errNoObject),
		"/":                                            n.nowhere,
	} {
		mux.HandleFunc(pattern, n.graph(do))
	}
	mux.HandleFunc("GET /www/{handle}/posts/{id}", n.toPage)
	mux.HandleFunc("GET /www/{handle}/videos/{id}/{$}", n.toPage)
	return mux
}

// dialog is the consent page. A test can decline permissions by naming them in declined.
func (n *facebook) dialog(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	if r.ParseForm() == nil {
		declined := strings.Split(r.Form.Get("declined"), ",")
		scopes := slices.DeleteFunc(strings.Split(r.Form.Get("scope"), ","), func(scope string) bool {
			return slices.Contains(declined, scope)
		})
		r.Form.Set("scope", strings.Join(scopes, ","))
	}
	n.authorize(w, r)
}

// giveToken exchanges a code for a token of one hour, or a person's token for one of sixty days.
func (n *facebook) giveToken(r *http.Request) (any, error) {
	switch {
	case r.Form.Get("client_id") == "" || r.Form.Get("client_secret") == "":
		return nil, invalidParameter("client_id and client_secret are required")
	case r.Form.Get("grant_type") == "":
		return n.redeemed(r, nil)
	}
	r.Form.Set("access_token", r.Form.Get("fb_exchange_token"))
	return n.exchangeToken(r)
}

// pages lists the person's Pages, each with its own token. A long-lived token reads tokens that last as long as the
// consent.
func (n *facebook) pages(r *http.Request) (any, error) {
	var data []map[string]any
	err := n.caller(r, func(t tx, a account, token oauthToken) error {
		life := token.expires.Sub(n.now())
		if token.expires.Sub(token.issued) > shortLife {
			life = facebookForEver
		}
		token.kind = facebookKindPage
		text, err := n.issue(r.Context(), t, token, life)
		page := facebookPage(a)
		page["access_token"], page["tasks"] = text, []string{"ANALYZE", "ADVERTISE", "MODERATE", "CREATE_CONTENT"}
		data = append(data, pick(r, page))
		return err
	})
	return map[string]any{
		"data": data, "paging": map[string]any{"cursors": map[string]string{"before": "MA", "after": "MA"}},
	}, err
}

func facebookPage(a account) map[string]any {
	return map[string]any{"id": a.id, "name": a.displayName, "username": a.handle}
}

// page calls do in a transaction with the Page of the request's token. It refuses a path that names another Page.
func (n *facebook) page(r *http.Request, do func(tx, account, oauthToken) error) error {
	return n.store.in(r.Context(), func(t tx) error {
		token, good, err := n.find(r.Context(), t, facebookKindPage, r.Form.Get("access_token"))
		switch {
		case err != nil:
			return err
		case token.kind == "":
			return n.notPage(r, t)
		case !good:
			return errSessionExpired
		}
		a, found, err := t.account(r.Context(), facebookName, token.account)
		if err != nil {
			return err
		}
		if user := r.PathValue("user"); !found || user != "" && user != a.id {
			return errNoObject
		}
		return do(t, a, token)
	})
}

// notPage refuses a token that is not a Page's.
func (n *facebook) notPage(r *http.Request, t tx) error {
	if _, _, err := n.bearer(r, t); err != nil {
		return err
	}
	return &graphError{status: http.StatusForbidden, code: 200, message: "A page access token is required"}
}

// describe returns the object with an id: the person, the Page, or a post or video of the Page.
func (n *facebook) describe(r *http.Request) (any, error) {
	var answer map[string]any
	var err error
	if id := r.PathValue("id"); id == "me" {
		err = n.caller(r, func(_ tx, a account, _ oauthToken) error {
			answer = map[string]any{"id": personID(a.handle), "name": a.displayName}
			return nil
		})
	} else {
		err = n.page(r, func(t tx, a account, _ oauthToken) error {
			answer, err = n.object(r, t, a, id)
			return err
		})
	}
	if err != nil {
		return nil, err
	}
	return pick(r, answer), nil
}

func (n *facebook) object(r *http.Request, t tx, a account, id string) (map[string]any, error) {
	if id == a.id {
		page := facebookPage(a)
		page["followers_count"] = followers(facebookName, a.id, n.now())
		return page, nil
	}
	v, found, err := findFacebookVideo(r.Context(), t, `id = ? and account = ?`, id, a.id)
	if found && !v.finished.IsZero() {
		err = n.untoldVideo(r, t, v)
	}
	if found || err != nil {
		return n.tellVideo(v, a), err
	}
	p, found, err := t.post(r.Context(), facebookName, id)
	if err == nil && (!found || p.account != a.id) {
		err = errNoObject
	}
	return n.tellPost(r, p), err
}
