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

	codeLife = 10 * time.Minute // the longest that RFC 6749, 4.1.2, recommends
)

// oauth is the consent page and the tokens of one network that is connected by OAuth 2.0 (RFC 6749). A person chooses
// on the page who to be; a test asks for its outcome by adding account and decision (allow or deny) to the address, or
// posts them.
type oauth struct {
	*Server

	platform, title string
	// true of accounts that people act for, such as an organisation's; nobody's where nil
	cannotSignIn func(account) bool
}

// people are on every network that is connected by OAuth, so that there is somebody to be.
var people = []struct{ handle, displayName string }{
	{"harbour.coffee", "Harbour Coffee"}, {"mira.keller", "Mira Keller"}, {"studio.north", "Studio North"},
}

// consent is what the page was asked for.
type consent struct {
	client, redirect, state, challenge string
	scopes                             []string
}

// readConsent reads the parameters of the consent page. Its error is shown to the person: a client whose address for
// the answer is unclear gets none.
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

// authorize shows the page, or does what was decided on it.
func (o *oauth) authorize(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := work(r)
	defer cancel()
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	if err := r.ParseForm(); err != nil {
		http.Error(w, "The form cannot be read.", http.StatusBadRequest)
		return
	}
	asked, err := readConsent(r.Form)
	if err != nil {
		http.Error(w, "The app asks wrongly: "+err.Error()+".", http.StatusBadRequest)
		return
	}
	switch r.Form.Get("decision") {
	case "":
		err = o.ask(ctx, w, asked, r.Form)
	case "allow":
		err = o.allow(ctx, w, r, asked)
	default:
		back(w, r, asked,
			url.Values{
				"error": {"access_denied"}, "error_reason": {"user_denied"},
				"error_description": {"The user denied your request"},
			})
	}
	if err != nil {
		slog.Error("sandbox: answering a consent", "platform", o.platform, "err", err)
		http.Error(w, "The sandbox cannot do this; its log says why.", http.StatusInternalServerError)
	}
}

type consentField struct{ Name, Value string }

type consentAccount struct{ Handle, Name string }

// ask shows the page.
func (o *oauth) ask(ctx context.Context, w http.ResponseWriter, asked consent, form url.Values) error {
	shown := struct {
		Title    string
		Scopes   []string
		Fields   []consentField
		Accounts []consentAccount
	}{Title: o.title, Scopes: asked.scopes}
	for _, name := range []string{
		"client_id", "redirect_uri", "response_type", "scope", "state", "code_challenge", "code_challenge_method",
	} {
		shown.Fields = append(shown.Fields, consentField{name, form.Get(name)})
	}
	err := o.store.in(ctx, func(t tx) error {
		accounts, err := t.accounts(ctx, o.platform)
		for _, a := range accounts {
			if o.signsIn(a) {
				shown.Accounts = append(shown.Accounts, consentAccount{a.handle, a.displayName})
			}
		}
		return err
	})
	if err != nil {
		return err
	}
	var page bytes.Buffer
	if err := consentTemplate.Execute(&page, shown); err != nil {
		return fmt.Errorf("writing the consent page: %w", err)
	}
	header := w.Header()
	header.Set("Content-Type", "text/html; charset=utf-8")
	// No form-action: browsers hold the redirect to the app, which follows the form, to it too.
	header.Set("Content-Security-Policy",
		"default-src 'none'; style-src 'self'; base-uri 'none'; frame-ancestors 'none'")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "no-referrer")
	_, _ = w.Write(page.Bytes())
	return nil
}

// allow begins a session of the account and sends its code back.
func (o *oauth) allow(ctx context.Context, w http.ResponseWriter, r *http.Request, asked consent) error {
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
			kind: kindCode, session: newID(), account: a.id, client: asked.client, redirect: asked.redirect,
			challenge: asked.challenge,
		}
		if err := t.beginSession(ctx, o.platform, grant.session, a.id); err != nil {
			return err
		}
		if err := t.keepScopes(ctx, o.platform, grant.session, asked.scopes); err != nil {
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
		back(w, r, asked, url.Values{"code": {code}})
	}
	return nil
}

func (o *oauth) signsIn(a account) bool { return o.cannotSignIn == nil || !o.cannotSignIn(a) }

// back sends the browser to the app with an answer.
func back(w http.ResponseWriter, r *http.Request, asked consent, answer url.Values) {
	target, _ := url.Parse(asked.redirect) // readConsent has read it
	if asked.state != "" {
		answer.Set("state", asked.state)
	}
	query := target.Query()
	maps.Copy(query, answer)
	target.RawQuery = query.Encode()
	w.Header().Set("Referrer-Policy", "no-referrer")
	http.Redirect(w, r, target.String(), http.StatusSeeOther)
}

// issue makes a code or a token: its text.
func (o *oauth) issue(ctx context.Context, t tx, token oauthToken, life time.Duration) (string, error) {
	text := newID() + newID()
	token.issued = o.now()
	token.expires = token.issued.Add(life)
	return text, t.keepOAuthToken(ctx, o.platform, o.seal(text), token)
}

// find is the token with this text, of one kind, that has neither expired nor been spent. It is false where there is
// none; the token then says as much of it as is known.
func (o *oauth) find(ctx context.Context, t tx, kind, text string) (oauthToken, bool, error) {
	token, err := t.oauthToken(ctx, o.platform, o.seal(text))
	if err != nil || token.kind != kind {
		return oauthToken{}, false, err
	}
	alive, err := t.liveSession(ctx, o.platform, token.session)
	return token, alive && !token.spent && o.now().Before(token.expires), err
}

// redeem spends a code once. It is false where it does not fit what the consent was asked with.
func (o *oauth) redeem(ctx context.Context, t tx, form url.Values) (oauthToken, bool, error) {
	code, good, err := o.find(ctx, t, kindCode, form.Get("code"))
	if err != nil || !good || code.client != form.Get("client_id") || code.redirect != form.Get("redirect_uri") ||
		!proves(form.Get("code_verifier"), code.challenge) {
		return oauthToken{}, false, err
	}
	return code, true, t.spendOAuthToken(ctx, o.platform, o.seal(form.Get("code")))
}

// proves checks PKCE (RFC 7636, 4.6), where a challenge was sent.
func proves(verifier, challenge string) bool {
	sum := sha256.Sum256([]byte(verifier))
	return challenge == "" || subtle.ConstantTimeCompare([]byte(base64.RawURLEncoding.EncodeToString(sum[:])),
		[]byte(challenge)) == 1
}

// people makes those that the network's page offers.
func (o *oauth) people(ctx context.Context, id func(handle string) string) error {
	return o.store.in(ctx, func(t tx) error {
		for _, p := range people {
			// nobody has one here
			a := account{id: id(p.handle), handle: p.handle, displayName: p.displayName, password: []byte{}}
			if err := t.keepAccount(ctx, o.platform, a); err != nil {
				return err
			}
		}
		return nil
	})
}
