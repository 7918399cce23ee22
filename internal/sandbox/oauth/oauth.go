// Package oauth implements the consent page and the tokens of networks that use OAuth 2.0 (RFC 6749).
package oauth

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	_ "embed"
	"encoding/base64"
	"errors"
	"fmt"
	"html/template"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/sandbox/base"
	"pressroom.example/pressroom/internal/sandbox/store"
)

var (
	//go:embed consent.html
	consentSource   string
	consentTemplate = template.Must(template.New("consent").Parse(consentSource))
)

const (
	kindCode = "code"
	// KindAccess is the kind of access tokens in the store.
	KindAccess = "access"
	// KindRefresh is the kind of refresh tokens in the store.
	KindRefresh = "refresh"

	// CodeLifetime is the lifetime of an authorization code: the maximum that RFC 6749, section 4.1.2, recommends.
	CodeLifetime = 10 * time.Minute
)

// Provider implements the consent page and the tokens of a network that uses OAuth 2.0 (RFC 6749). On the page, a
// person chooses an account. A test can skip the page: it sends the parameters account and decision (allow or deny) in
// the query or the form.
type Provider struct {
	*base.Server

	Platform, DisplayName string
	// CannotSignIn reports whether people cannot sign in as the account, for example because it is an organization. If
	// CannotSignIn is nil, people can sign in as any account.
	CannotSignIn func(store.Account) bool
	// Reject returns an error page if the account may not use the app, and nil otherwise. If Reject is nil, all
	// accounts may use every app.
	Reject func(r *http.Request, client string, a store.Account) http.HandlerFunc
}

// People lists the accounts that every network with OAuth has from the start.
var People = []struct{ Handle, DisplayName string }{
	{"harbour.coffee", "Harbour Coffee"}, {"mira.keller", "Mira Keller"}, {"studio.north", "Studio North"},
}

// consentRequest contains the parameters of the consent page.
type consentRequest struct {
	client, redirect, state, challenge string
	scopes                             []string
}

// parseConsentRequest parses the parameters of the consent page. The error is shown to the person, because the redirect
// URI may be invalid.
func parseConsentRequest(form url.Values) (consentRequest, error) {
	c := consentRequest{
		client: form.Get("client_id"), redirect: form.Get("redirect_uri"), state: form.Get("state"),
		challenge: form.Get("code_challenge"),
		scopes:    strings.FieldsFunc(form.Get("scope"), func(r rune) bool { return r == ',' || r == ' ' }),
	}
	redirect, err := url.Parse(c.redirect)
	switch {
	case c.client == "":
		return c, errors.New("client_id is missing")
	case err != nil || redirect.Scheme != "https" && redirect.Scheme != "http" || redirect.Host == "" || redirect.Fragment != "":
		return c, errors.New("redirect_uri is not an HTTP or HTTPS URL without a fragment")
	case form.Get("response_type") != "code":
		return c, errors.New("response_type is not code")
	case len(c.scopes) == 0:
		return c, errors.New("scope is missing")
	case c.challenge != "" && form.Get("code_challenge_method") != "S256":
		return c, errors.New("code_challenge_method is not S256")
	}
	return c, nil
}

// Authorize shows the consent page, or carries out the person's decision.
func (o *Provider) Authorize(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := base.WorkContext(r)
	defer cancel()
	r.Body = http.MaxBytesReader(w, r.Body, base.MaxBody)
	if err := r.ParseForm(); err != nil {
		http.Error(w, "The form is invalid.", http.StatusBadRequest)
		return
	}
	request, err := parseConsentRequest(r.Form)
	if err != nil {
		http.Error(w, "The app's request is invalid: "+err.Error()+".", http.StatusBadRequest)
		return
	}
	switch r.Form.Get("decision") {
	case "":
		err = o.showConsent(ctx, w, request, r.Form)
	case "allow":
		err = o.allow(ctx, w, r, request)
	default:
		redirectBack(w, r, request,
			url.Values{
				"error": {"access_denied"}, "error_reason": {"user_denied"},
				"error_description": {"The user denied your request"},
			})
	}
	if err != nil {
		slog.Error("sandbox: consent failed", "platform", o.Platform, "err", err)
		http.Error(w, "The sandbox failed; see its log for the reason.", http.StatusInternalServerError)
	}
}

type consentField struct{ Name, Value string }

type consentAccount struct{ Handle, Name string }

func (o *Provider) showConsent(
	ctx context.Context, w http.ResponseWriter, request consentRequest, form url.Values,
) error {
	data := struct {
		Title    string
		Scopes   []string
		Fields   []consentField
		Accounts []consentAccount
	}{Title: o.DisplayName, Scopes: request.scopes}
	for _, name := range []string{
		"client_id", "redirect_uri", "response_type", "scope", "state", "code_challenge", "code_challenge_method",
	} {
		data.Fields = append(data.Fields, consentField{name, form.Get(name)})
	}
	err := o.Store.InTx(ctx, func(t store.Tx) error {
		accounts, err := t.Accounts(ctx, o.Platform)
		for _, a := range accounts {
			if o.canSignIn(a) {
				data.Accounts = append(data.Accounts, consentAccount{a.Handle, a.DisplayName})
			}
		}
		return err
	})
	if err != nil {
		return err
	}
	var page bytes.Buffer
	if err := consentTemplate.Execute(&page, data); err != nil {
		return fmt.Errorf("writing the consent page: %w", err)
	}
	header := w.Header()
	header.Set("Content-Type", "text/html; charset=utf-8")
	// The policy has no form-action, because browsers would also apply it to the redirect to the app.
	header.Set("Content-Security-Policy",
		"default-src 'none'; style-src 'self'; base-uri 'none'; frame-ancestors 'none'")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "no-referrer")
	_, _ = w.Write(page.Bytes())
	return nil
}

// allow starts a session for the account, and redirects to the app with an authorization code.
func (o *Provider) allow(ctx context.Context, w http.ResponseWriter, r *http.Request, request consentRequest) error {
	var code string
	var errorPage http.HandlerFunc
	accountExists := false
	err := o.Store.InTx(ctx, func(t store.Tx) error {
		var a store.Account
		var err error
		a, accountExists, err = t.Account(ctx, o.Platform, strings.ToLower(r.Form.Get("account")))
		if accountExists = accountExists && o.canSignIn(a); err != nil || !accountExists {
			return err
		}
		if o.Reject != nil {
			if errorPage = o.Reject(r, request.client, a); errorPage != nil {
				return nil
			}
		}
		grant := store.Token{
			Kind: kindCode, Session: base.NewID(), Account: a.ID, Client: request.client, Redirect: request.redirect,
			Challenge: request.challenge,
		}
		if err := t.CreateSession(ctx, o.Platform, grant.Session, a.ID); err != nil {
			return err
		}
		if err := t.SaveScopes(ctx, o.Platform, grant.Session, request.scopes); err != nil {
			return err
		}
		code, err = o.Issue(ctx, t, grant, CodeLifetime)
		return err
	})
	switch {
	case err != nil:
		return err
	case !accountExists:
		http.Error(w, "Unknown account.", http.StatusBadRequest)
	case errorPage != nil:
		errorPage(w, r)
	default:
		redirectBack(w, r, request, url.Values{"code": {code}})
	}
	return nil
}

func (o *Provider) canSignIn(a store.Account) bool {
	return o.CannotSignIn == nil || !o.CannotSignIn(a)
}

// redirectBack redirects the browser to the app. It adds params and the state to the redirect URI.
func redirectBack(w http.ResponseWriter, r *http.Request, request consentRequest, params url.Values) {
	target, _ := url.Parse(request.redirect) // parseConsentRequest has parsed it
	if request.state != "" {
		params.Set("state", request.state)
	}
	query := target.Query()
	maps.Copy(query, params)
	target.RawQuery = query.Encode()
	w.Header().Set("Referrer-Policy", "no-referrer")
	http.Redirect(w, r, target.String(), http.StatusSeeOther)
}

// Issue saves a new code or token and returns its text.
func (o *Provider) Issue(ctx context.Context, t store.Tx, token store.Token, lifetime time.Duration) (string, error) {
	text := base.NewID() + base.NewID()
	token.IssuedAt = o.Now()
	token.ExpiresAt = token.IssuedAt.Add(lifetime)
	return text, t.SaveToken(ctx, o.Platform, o.Hash(text), token)
}

// Find returns the token with the given kind and text, and reports whether it is valid. It also returns a token that is
// invalid because it has expired, was used, or belongs to an ended session.
func (o *Provider) Find(ctx context.Context, t store.Tx, kind, text string) (store.Token, bool, error) {
	token, err := t.Token(ctx, o.Platform, o.Hash(text))
	if err != nil || token.Kind != kind {
		return store.Token{}, false, err
	}
	active, err := t.SessionActive(ctx, o.Platform, token.Session)
	return token, active && !token.IsUsed && o.Now().Before(token.ExpiresAt), err
}

// FindAny returns the valid access token or refresh token with the given text, and reports whether there is one.
func (o *Provider) FindAny(ctx context.Context, t store.Tx, text string) (store.Token, bool, error) {
	for _, kind := range []string{KindAccess, KindRefresh} {
		if token, ok, err := o.Find(ctx, t, kind, text); ok || err != nil {
			return token, ok, err
		}
	}
	return store.Token{}, false, nil
}

// Redeem marks an authorization code as used. It reports whether the code was valid and matches the form.
func (o *Provider) Redeem(ctx context.Context, t store.Tx, form url.Values) (store.Token, bool, error) {
	code, ok, err := o.Find(ctx, t, kindCode, form.Get("code"))
	if err != nil || !ok || code.Client != form.Get("client_id") || code.Redirect != form.Get("redirect_uri") ||
		!verifiesChallenge(form.Get("code_verifier"), code.Challenge) {
		return store.Token{}, false, err
	}
	return code, true, t.ConsumeToken(ctx, o.Platform, o.Hash(form.Get("code")))
}

// verifiesChallenge reports whether the verifier matches the PKCE challenge (RFC 7636, section 4.6). An empty challenge
// matches every verifier.
func verifiesChallenge(verifier, challenge string) bool {
	sum := sha256.Sum256([]byte(verifier))
	return challenge == "" || subtle.ConstantTimeCompare([]byte(base64.RawURLEncoding.EncodeToString(sum[:])),
		[]byte(challenge)) == 1
}

// AddPeople creates the accounts of People. id returns the ID of an account on the network.
func (o *Provider) AddPeople(ctx context.Context, id func(handle string) string) error {
	return o.Store.InTx(ctx, func(t store.Tx) error {
		for _, p := range People {
			// The consent page does not ask for a password.
			a := store.Account{ID: id(p.Handle), Handle: p.Handle, DisplayName: p.DisplayName, Password: []byte{}}
			if err := t.SaveAccount(ctx, o.Platform, a); err != nil {
				return err
			}
		}
		return nil
	})
}

// RedirectToPage redirects from the URL of a post to the sandbox's page. The path value "id" is the ID of the post.
func (o *Provider) RedirectToPage(w http.ResponseWriter, r *http.Request) {
	o.RedirectToPost(w, r, o.Platform, r.PathValue("id"))
}

// Name returns the network's name in URLs.
func (o *Provider) Name() string { return o.Platform }

// Title returns the network's display name.
func (o *Provider) Title() string { return o.DisplayName }
