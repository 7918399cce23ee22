package sandbox

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"time"
)

const xKindRefresh = "refresh"

// xREST is what the APIs of X and Pinterest share: answers in JSON, access tokens beside refresh tokens that are good
// once, and posts that one call shows. Every app is known to it, whatever its secret.
type xREST struct {
	*oauth

	codeFor, accessFor, refreshFor time.Duration // how long codes and tokens live
	says                           xRefusals
	write                          func(http.ResponseWriter, *xError) // nil is no refusal: the headers of any answer
}

// xError is what a network says no with.
type xError struct {
	status  int
	code    int    // Pinterest's own
	kind    string // the end of X's problem type, or of a token endpoint's error
	message string
}

func (e *xError) Error() string { return e.message }

// xRefusals are those that each of the networks has in words of its own.
type xRefusals struct{ unread, nowhere, noToken, grantDead, rejected, rate, broken *xError }

// answer is what a call comes to: a file where that is an http.Handler, else JSON with the status.
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

// stream is answer for calls with a body that is too large to be kept in memory.
func (n *xREST) stream(status int, do func(http.ResponseWriter, *http.Request) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := work(r)
		defer cancel()
		r = r.WithContext(ctx)
		answer, err := do(w, r)
		file, isFile := answer.(http.Handler)
		refused, isRefused := errors.AsType[*xError](err)
		switch {
		case errors.Is(err, errCut):
			cut(w)
		case isRefused:
			n.write(w, refused)
		case err != nil:
			slog.Error("sandbox: answering a call", "platform", n.platform, "path", r.URL.Path, "err", err)
			n.write(w, n.says.broken)
		case isFile:
			file.ServeHTTP(w, r)
		case answer == nil:
			w.WriteHeader(status)
		default:
			n.write(w, nil)
			writeJSON(w, status, answer)
		}
	}
}

func (n *xREST) nowhere(*http.Request) (any, error) { return nil, n.says.nowhere }

// caller is the account that the request's token speaks for.
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

// xTokens are what a token endpoint gives out.
type xTokens struct {
	access, refresh string
	scopes          []string
}

// trade gives out tokens for a code or for a refresh token, each of which is good once (RFC 6749, sections 4.1.3 and
// 6).
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

// spent is the code or the refresh token that the request spends. It is false where that is not good.
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

// show does what try comes to, again after the wait that a marker asks for.
func (n *xREST) show(r *http.Request, try func(t tx, waited bool) (launch, error)) (string, error) {
	for waited := false; ; waited = true {
		var out launch
		err := n.store.in(r.Context(), func(t tx) error {
			var err error
			out, err = try(t, waited)
			return err
		})
		if err != nil {
			return "", err
		}
		if out.wait == 0 {
			return out.post, out.refused
		}
		if !n.pause(out.wait) {
			return "", n.says.broken
		}
	}
}

// launch lets the markers of the text act, and keeps the post in their midst.
func (n *xREST) launch(ctx context.Context, t tx, p post, token oauthToken, waited bool) (launch, error) {
	marks := readMarkers(p.text, n.platform)
	key := p.account + " " + contentID([]byte(p.text)) // posts are new each time
	if refused, err := n.refuses(ctx, t, marks, key, token.session); err != nil || refused != nil {
		return launch{refused: refused}, err
	}
	if marks.slow > 0 && !waited {
		return launch{wait: marks.slow}, nil
	}
	if err := t.keepPost(ctx, p); err != nil {
		return launch{}, err
	}
	out := launch{post: p.id}
	lost, err := loses(ctx, t, n.platform, marks, key)
	if lost {
		out.refused = errCut
	}
	return out, err
}

// refuses is the refusal that a marker asks for; nil where none does.
func (n *xREST) refuses(ctx context.Context, t tx, marks markers, key, session string) (*xError, error) {
	if marks.has(markReject) {
		return n.says.rejected, nil
	}
	dead, err := once(ctx, t, n.platform, marks, key, markExpiredToken)
	if err != nil {
		return nil, err
	}
	if dead {
		return n.says.noToken, t.killSession(ctx, n.platform, session)
	}
	if marks.has(markRateLimit) {
		return n.says.rate, nil
	}
	if failing, err := once(ctx, t, n.platform, marks, key, markError); failing || err != nil {
		return n.says.broken, err
	}
	return nil, nil //nolint:nilnil // no marker asks for a refusal
}

// nextPost numbers the posts of all networks, for their ids.
func (t tx) nextPost(ctx context.Context) (int64, error) {
	var next int64
	err := t.QueryRowContext(ctx, `select coalesce(max(seq), 0) + 1 from posts`).Scan(&next)
	return next, err
}

// mediaFile gives out a file that a post shows.
func (n *xREST) mediaFile(r *http.Request) (any, error) {
	var blob blobRef
	err := n.store.in(r.Context(), func(t tx) error {
		var found bool
		var err error
		blob, found, err = t.namedBlob(r.Context(), n.platform, r.PathValue("account"), r.PathValue("cid"))
		if err == nil && !found {
			err = n.says.nowhere
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return n.blobAnswer(blob), nil
}

// toPage leads from the address of a post to the sandbox's page.
func (n *xREST) toPage(w http.ResponseWriter, r *http.Request) {
	http.Redirect(w, r, n.baseURL(r)+"/#"+anchor(n.platform, r.PathValue("id")), http.StatusSeeOther) //nolint:gosec // the base is our own, and what is appended is escaped
}
