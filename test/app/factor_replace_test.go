package app

import (
	"net/http"
	"net/url"
	"testing"

	"pressroom.example/pressroom/internal/core/access"
)

// A person whose only second factor is the authenticator app moves it to a new phone. The old app works until a code of
// the new app is accepted.
func TestReplaceAuthenticatorApp(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		elsewhere, b := c.as(t, access.Editor), c.as(t, access.Editor)
		former := h.addApp(t, b)
		c.requireFactor(t)
		b.open("/account/authenticator").lacks("with only your password", "Remove the authenticator app")
		p := b.open("/account/authenticator").follow("Replace the app").shows(200, "Scan this QR code")
		next := &app{h: h, secret: p.secret()}
		if next.secret == "" || next.secret == former.secret {
			t.Fatal("no new secret is shown")
		}
		form := p.form("Replace the app")
		form.fill("current", "000000").fill("code", next.code(t)).press().
			shows(401, "not valid", "Replace your authenticator app")
		form.fill("current", "AAAA-AAAA-AAAA-AAAA-AAAA-AAAA").fill("code", next.code(t)).press().shows(401, "not valid")
		form.fill("current", former.code(t)).fill("code", "000000").press().shows(422, "not valid", next.secret[:4])
		if n := h.count(t, "events WHERE kind = 'totp.replaced'"); n != 0 {
			t.Fatalf("%d replacements despite wrong codes", n)
		}
		in, asked := c.enterPassword(t, access.Editor)
		asked.form("Sign in").fill("code", former.code(t)).press().shows(200, c.team.Name)

		// With the old phone lost, a recovery code is used instead.
		done := form.fill("current", former.codes[0]).fill("code", next.code(t)).press().
			shows(200, "Save your recovery codes", "The new authenticator app is set up.")
		if made := codeShown.FindAllString(done.source, -1); len(made) != 10 {
			t.Errorf("%d recovery codes", len(made))
		}
		if !b.signedIn() || in.signedIn() || elsewhere.signedIn() {
			t.Errorf("signed in here: %t, elsewhere: %t, %t", b.signedIn(), in.signedIn(), elsewhere.signedIn())
		}
		b.open("/notices").shows(200, "The authenticator app of your account was replaced")
		_, asked = c.enterPassword(t, access.Editor)
		asked.form("Sign in").fill("code", former.code(t)).press().shows(401, "not valid")
		asked.form("Sign in with a recovery code").fill("recovery", former.codes[1]).press().shows(401, "used before")
		asked.form("Sign in").fill("code", next.code(t)).press().shows(200, c.team.Name)

		h.advance(stale)
		b.open("/account/authenticator/replace").shows(200, "Sign in again")
		b.send(http.MethodPost, "/account/authenticator/replace", url.Values{}).shows(200, "Sign in again")
	})
}

// Code guesses are also throttled on the page that replaces the app.
func TestReplaceAuthenticatorAppThrottled(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.as(t, access.Editor)
		h.addApp(t, b)
		p := b.open("/account/authenticator/replace")
		form := p.form("Replace the app").fill("current", "000000").fill("code", (&app{h: h, secret: p.secret()}).code(t))
		for range 5 {
			form.press().shows(401, "not valid")
		}
		form.press().shows(429, "Too many wrong codes.")
	})
}
