package sandbox

import (
	"net/http"
	"strings"
	"time"
)

const xKindRefresh = "refresh"

// xREST is what the APIs of X and Pinterest share: answers in JSON, access tokens, refresh tokens that can be used
// once, and posts that a single call publishes. It accepts every app and any secret.
type xREST struct {
	*oauth

	codeFor, accessFor, refreshFor time.Duration // lifetimes of codes and tokens
	says                           xRefusals
	write                          func(http.ResponseWriter, *xError) // writes headers, and the refusal unless it is nil
}

// xError is a refusal.
type xError struct {
	status  int
	code    int    // Pinterest's own
	kind    string // the end of X's problem type, or the token endpoint's error
	message string
}

func (e *xError) Error() string { return e.message }

// xRefusals are the refusals that each network words differently.
type xRefusals struct{ unread, nowhere, noToken, grantDead, rejected, rate, broken *xError }

// answer returns the handler of a call that answers with a status.
func (n *xREST) answer(status int, do func(*http.Request) (any, error)) http.HandlerFunc {
	return n.stream(status, func(w http.ResponseWriter, r *http.Request) (any, error) {
		err := bufferBody(w, r)
		if err == nil {
			err = r.ParseForm()
		}
		if err != nil {
			return nil, n.says.unread
		}
		return do(r)
	})
}

// stream is answer for calls whose body is too large for memory.
func (n *xREST) stream(status int, do func(http.ResponseWriter, *http.Request) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := work(r)
		defer cancel()
		r = r.WithContext(ctx)
		answer, err := do(w, r)
		refuse := func(e *xError) { n.write(w, e) }
		switch {
		case respond(w, r, n.platform, answer, err, n.says.broken, refuse):
		case answer == nil:
			w.WriteHeader(status)
		default:
			n.write(w, nil)
			writeJSON(w, status, answer)
		}
	}
}

func (n *xREST) nowhere(*http.Request) (any, error) { return nil, n.says.nowhere }

// caller returns the account of the request's token.
func (n *xREST) caller(r *http.Request, t tx) (account, oauthToken, error) {
	text, bearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !bearer {
		return account{}, oauthToken{}, n.says.noToken
	}
	token, good, err := n.find(r.Context(), t, kindAccess, text)
	if err != nil {
		return account{}, oauthToken{}, err
	}
	a, found, err := t.account(r.Context(), n.platform, token.account)
	if err == nil && (!good || !found) {
		err = n.says.noToken
	}
	return a, token, err
}

// xTokens are new tokens.
type xTokens struct {
	access, refresh string
	scopes          []string
}

// trade issues tokens for a code or a refresh token, each of which can be used once (RFC 6749, sections 4.1.3 and 6).
func (n *xREST) trade(r *http.Request) (xTokens, error) {
	client := r.Form.Get("client_id")
	if id, _, basic := r.BasicAuth(); basic {
		client = id
		r.Form.Set("client_id", id)
	}
	var given xTokens
	err := n.store.in(r.Context(), func(t tx) error {
		old, good, err := n.spent(r, t)
		if err != nil {
			return err
		}
		if !good || old.client != client {
			return n.says.grantDead
		}
		if given.scopes, err = t.scopes(r.Context(), n.platform, old.session); err != nil {
			return err
		}
		old.redirect, old.challenge, old.kind = "", "", kindAccess
		if given.access, err = n.issue(r.Context(), t, old, n.accessFor); err != nil {
			return err
		}
		old.kind = xKindRefresh
		given.refresh, err = n.issue(r.Context(), t, old, n.refreshFor)
		return err
	})
	return given, err
}

// spent spends the code or refresh token of the request, and reports whether it is valid.
func (n *xREST) spent(r *http.Request, t tx) (oauthToken, bool, error) {
	switch r.Form.Get("grant_type") {
	case "authorization_code":
		code, good, err := n.redeem(r.Context(), t, r.Form)
		return code, good && n.now().Sub(code.issued) < n.codeFor, err
	case "refresh_token":
		text := r.Form.Get("refresh_token")
		old, good, err := n.find(r.Context(), t, xKindRefresh, text)
		if err != nil || !good {
			return oauthToken{}, false, err
		}
		return old, true, t.spendOAuthToken(r.Context(), n.platform, n.seal(text))
	}
	return oauthToken{}, false, n.says.unread
}

// show publishes the post that try prepares, on disk when it returns.
func (n *xREST) show(r *http.Request, try func(t tx) (post, oauthToken, error)) (string, error) {
	return n.publish(n.says.broken, func(waited bool) (outcome, error) {
		var out outcome
		err := n.store.in(r.Context(), func(t tx) error {
			p, token, err := try(t)
			if err != nil {
				return err
			}
			publication := attempt{
				platform: n.platform, account: p.account, text: p.text, session: token.session, waited: waited,
			}
			answers := refusals{
				rejected: n.says.rejected, expired: n.says.noToken, rateLimited: n.says.rate, failed: n.says.broken,
			}
			out, err = publication.publish(r.Context(), t, answers, func() (string, error) {
				return p.id, t.keepPost(r.Context(), p)
			})
			return err
		})
		return out, err
	})
}
