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
	facebookKindPage = "page"                    // of a token; the person's is kindAccess
	facebookForEver  = 10 * 365 * 24 * time.Hour // what a Page's token lives that was read with a long-lived one
)

// facebook is the part of the Graph API that publishes on Pages: the consent and its tokens, photos, videos, posts.
// Each person has one Page, of their name; it is the Page that the accounts are.
type facebook struct{ *graphAPI }

func newFacebook(s *Server) *facebook {
	return &facebook{newGraphAPI(s, facebookName, "Facebook", "fb", "pages")}
}

func (n *facebook) settle(ctx context.Context) error { return n.people(ctx, facebookPageID) }

func facebookPageID(handle string) string   { return graphID("10", "facebook page "+handle) }
func facebookPersonID(handle string) string { return graphID("11", "facebook person "+handle) }

// handler answers below graph/ and video/ what the network's two API hosts do, and below www/ the consent page and the
// addresses of posts.
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
		"GET /media/{account}/{cid}":                   n.mediaFile,
		"/":                                            n.nowhere,
	} {
		mux.HandleFunc(pattern, n.graph(do))
	}
	mux.HandleFunc("GET /www/{handle}/posts/{id}", n.toPage)
	mux.HandleFunc("GET /www/{handle}/videos/{id}/{$}", n.toPage)
	return mux
}

// dialog is the consent page. A person may take permissions back, which a test names in declined.
func (n *facebook) dialog(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	if r.ParseForm() == nil {
		declined := strings.Split(r.Form.Get("declined"), ",")
		asked := slices.DeleteFunc(strings.Split(r.Form.Get("scope"), ","), func(scope string) bool {
			return slices.Contains(declined, scope)
		})
		r.Form.Set("scope", strings.Join(asked, ","))
	}
	n.authorize(w, r)
}

// giveToken trades a code for a token of an hour, or any token of a person for one of sixty days.
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

// permissions tells what the person allowed.
func (n *facebook) permissions(r *http.Request) (any, error) {
	data := []map[string]string{}
	err := n.caller(r, func(t tx, _ account, token oauthToken) error {
		scopes, err := t.scopes(r.Context(), facebookName, token.session)
		for _, scope := range scopes {
			data = append(data, map[string]string{"permission": scope, "status": "granted"})
		}
		return err
	})
	return map[string]any{"data": data}, err
}

// pages lists the person's Pages, each with a token of its own. It dies with the consent, and no sooner if the person's
// token is a long-lived one.
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

// page does something in a transaction for the Page whose token the request has; a path that names another one is
// refused.
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

// notPage refuses a token that is no Page's.
func (n *facebook) notPage(r *http.Request, t tx) error {
	if _, _, err := n.bearer(r, t); err != nil {
		return err
	}
	return &graphError{status: http.StatusForbidden, code: 200, message: "A page access token is required"}
}

// describe answers for whatever has the id: the person or the Page, and a post or a video of the Page alone.
func (n *facebook) describe(r *http.Request) (any, error) {
	var answer map[string]any
	var err error
	if id := r.PathValue("id"); id == "me" {
		err = n.caller(r, func(_ tx, a account, _ oauthToken) error {
			answer = map[string]any{"id": facebookPersonID(a.handle), "name": a.displayName}
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
		told := facebookPage(a)
		told["followers_count"] = followers(facebookName, a.id, n.now())
		return told, nil
	}
	v, found, err := t.facebookVideo(r.Context(), `id = ? and account = ?`, id, a.id)
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
