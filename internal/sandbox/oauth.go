package sandbox

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
)

var (
	//go:embed consent.html
	consentSource   string
	consentTemplate = template.Must(template.New("consent").Parse(consentSource))
)

const (
	kindCode   = "code"
	kindAccess = "access"

	codeLife = 10 * time.Minute // the maximum that RFC 6749, section 4.1.2, recommends
)

// oauth is the consent page and the tokens of a network that uses OAuth 2.0 (RFC 6749). A person chooses an account on
// the page. A test adds account and decision (allow or deny) to the address, or posts them.
type oauth struct {
	*shared

	platform, displayName string
	// reports whether people only act for the account, as for an organization's; may be nil
	cannotSignIn func(account) bool
}

// people are the accounts that every network with OAuth has from the start.
var people = []struct{ handle, displayName string }{
	{"harbour.coffee", "Harbour Coffee"}, {"mira.keller", "Mira Keller"}, {"studio.north", "Studio North"},
}

// consent holds the parameters of the consent page.
type consent struct {
	client, redirect, state, challenge string
	scopes                             []string
}

// readConsent parses the parameters of the consent page. Its error is shown to the person, as there is no address to
// redirect to.
func readConsent(form url.Values) (consent, error) {
	c := consent{
		client: form.Get("client_id"), redirect: form.Get("redirect_uri"), state: form.Get("state"),
		challenge: form.Get("code_challenge"),
		scopes:    strings.FieldsFunc(form.Get("scope"), func(r rune) bool { return r == ',' || r == ' ' }),
	}
	back, err := url.Parse(c.redirect)
	switch {
	case c.client == "":
		return c, errors.New("client_id is missing")
	case err != nil || back.Scheme != "https" && back.Scheme != "http" || back.Host == "" || back.Fragment != "":
		return c, errors.New("redirect_uri is not an address of http or https without a fragment")
	case form.Get("response_type") != "code":
		return c, errors.New("response_type is not code")
	case len(c.scopes) == 0:
		return c, errors.New("scope is missing")
	case c.challenge != "" && form.Get("code_challenge_method") != "S256":
		return c, errors.New("code_challenge_method is not S256")
	}
	return c, nil
}

// authorize shows the page, or carries out the decision made on it.
func (o *oauth) authorize(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := work(r)
	defer cancel()
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	if err := r.ParseForm(); err != nil {
		http.Error(w, "The form cannot be read.", http.StatusBadRequest)
		return
	}
	request, err := readConsent(r.Form)
	if err != nil {
		http.Error(w, "The app asks wrongly: "+err.Error()+".", http.StatusBadRequest)
		return
	}
	switch r.Form.Get("decision") {
	case "":
		err = o.ask(ctx, w, request, r.Form)
	case "allow":
		err = o.allow(ctx, w, r, request)
	default:
		back(w, r, request,
			url.Values{
				"error": {"access_denied"}, "error_reason": {"user_denied"},
				"error_description": {"The user denied your request"},
			})
	}
	if err != nil {
		slog.Error("sandbox: consent failed", "platform", o.platform, "err", err)
		http.Error(w, "The sandbox cannot do this; its log says why.", http.StatusInternalServerError)
	}
}

type consentField struct{ Name, Value string }

type consentAccount struct{ Handle, Name string }

// ask shows the page.
func (o *oauth) ask(ctx context.Context, w http.ResponseWriter, request consent, form url.Values) error {
	data := struct {
		Title    string
		Scopes   []string
		Fields   []consentField
		Accounts []consentAccount
	}{Title: o.displayName, Scopes: request.scopes}
	for _, name := range []string{
		"client_id", "redirect_uri", "response_type", "scope", "state", "code_challenge", "code_challenge_method",
	} {
		data.Fields = append(data.Fields, consentField{name, form.Get(name)})
	}
	err := o.store.in(ctx, func(t tx) error {
		accounts, err := t.accounts(ctx, o.platform)
		for _, a := range accounts {
			if o.signsIn(a) {
				data.Accounts = append(data.Accounts, consentAccount{a.handle, a.displayName})
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
	// No form-action: browsers apply it to the redirect to the app too.
	header.Set("Content-Security-Policy",
		"default-src 'none'; style-src 'self'; base-uri 'none'; frame-ancestors 'none'")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "no-referrer")
	_, _ = w.Write(page.Bytes())
	return nil
}

// allow begins a session of the account and redirects with its code.
func (o *oauth) allow(ctx context.Context, w http.ResponseWriter, r *http.Request, request consent) error {
	var code string
	known := false
	err := o.store.in(ctx, func(t tx) error {
		var a account
		var err error
		a, known, err = t.account(ctx, o.platform, strings.ToLower(r.Form.Get("account")))
		if known = known && o.signsIn(a); err != nil || !known {
			return err
		}
		grant := oauthToken{
			kind: kindCode, session: newID(), account: a.id, client: request.client, redirect: request.redirect,
			challenge: request.challenge,
		}
		if err := t.beginSession(ctx, o.platform, grant.session, a.id); err != nil {
			return err
		}
		if err := t.keepScopes(ctx, o.platform, grant.session, request.scopes); err != nil {
			return err
		}
		code, err = o.issue(ctx, t, grant, codeLife)
		return err
	})
	switch {
	case err != nil:
		return err
	case !known:
		http.Error(w, "There is nobody of this name.", http.StatusBadRequest)
	default:
		back(w, r, request, url.Values{"code": {code}})
	}
	return nil
}

func (o *oauth) signsIn(a account) bool { return o.cannotSignIn == nil || !o.cannotSignIn(a) }

// back redirects the browser to the app with an answer.
func back(w http.ResponseWriter, r *http.Request, request consent, answer url.Values) {
	target, _ := url.Parse(request.redirect) // readConsent has parsed it
	if request.state != "" {
		answer.Set("state", request.state)
	}
	query := target.Query()
	maps.Copy(query, answer)
	target.RawQuery = query.Encode()
	w.Header().Set("Referrer-Policy", "no-referrer")
	http.Redirect(w, r, target.String(), http.StatusSeeOther)
}

// issue returns the text of a new code or token.
func (o *oauth) issue(ctx context.Context, t tx, token oauthToken, life time.Duration) (string, error) {
	text := newID() + newID()
	token.issued = o.now()
	token.expires = token.issued.Add(life)
	return text, t.keepOAuthToken(ctx, o.platform, o.seal(text), token)
}

// find returns the token of a kind with this text, and reports whether it is valid. It returns what is known of an
// invalid token.
func (o *oauth) find(ctx context.Context, t tx, kind, text string) (oauthToken, bool, error) {
	token, err := t.oauthToken(ctx, o.platform, o.seal(text))
	if err != nil || token.kind != kind {
		return oauthToken{}, false, err
	}
	alive, err := t.liveSession(ctx, o.platform, token.session)
	return token, alive && !token.spent && o.now().Before(token.expires), err
}

// redeem spends a code, and reports whether it was valid and matches the consent.
func (o *oauth) redeem(ctx context.Context, t tx, form url.Values) (oauthToken, bool, error) {
	code, good, err := o.find(ctx, t, kindCode, form.Get("code"))
	if err != nil || !good || code.client != form.Get("client_id") || code.redirect != form.Get("redirect_uri") ||
		!proves(form.Get("code_verifier"), code.challenge) {
		return oauthToken{}, false, err
	}
	return code, true, t.spendOAuthToken(ctx, o.platform, o.seal(form.Get("code")))
}

// proves reports whether the verifier matches the challenge of PKCE (RFC 7636, section 4.6), if there is one.
func proves(verifier, challenge string) bool {
	sum := sha256.Sum256([]byte(verifier))
	return challenge == "" || subtle.ConstantTimeCompare([]byte(base64.RawURLEncoding.EncodeToString(sum[:])),
		[]byte(challenge)) == 1
}

// people creates the accounts that the page offers.
func (o *oauth) people(ctx context.Context, id func(handle string) string) error {
	return o.store.in(ctx, func(t tx) error {
		for _, p := range people {
			// people sign in without a password here
			a := account{id: id(p.handle), handle: p.handle, displayName: p.displayName, password: []byte{}}
			if err := t.keepAccount(ctx, o.platform, a); err != nil {
				return err
			}
		}
		return nil
	})
}

// toPage redirects from the address of a post to the sandbox's page.
func (o *oauth) toPage(w http.ResponseWriter, r *http.Request) {
	o.redirectToPost(w, r, o.platform, r.PathValue("id"))
}

// name returns the network's name in addresses.
func (o *oauth) name() string { return o.platform }

// title returns the network's name for people.
func (o *oauth) title() string { return o.displayName }
