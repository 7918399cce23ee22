package app

import (
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/oauth2-proxy/mockoidc"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/domain/team"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/server"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/authenticator"
	"pressroom.example/pressroom/internal/testkit/must"
	"pressroom.example/pressroom/internal/testkit/oidcserver"
)

const (
	victim     = "victim@corp.example"
	planted    = "planted by somebody else"
	inviteLink = `https?://[^"]*(/invitation/[A-Z2-7]+)`
)

// invite creates an invitation on the members page and returns the path of its link.
func (b *browser) invite(email string, role access.Role) string {
	b.t.Helper()
	p := b.open("/settings/members").form("Create invitations").fill("email", email).fill("role", string(role)).press().shows(200)
	found := regexp.MustCompile(inviteLink).FindStringSubmatch(p.source)
	if found == nil {
		b.t.Fatalf("no link is shown: %s", p.text())
	}
	return found[1]
}

// attacker returns the browser of an attacker who registered the victim's address through an invitation to her own
// team.
func (h *env) attacker(t *testing.T) *browser {
	t.Helper()
	mallory := h.crew(t).as(t, access.Owner)
	link := mallory.invite(victim, access.Viewer)
	b := h.browser(t)
	b.send(http.MethodPost, link+"/join", url.Values{"name": {"Vic Tim"}, "password": {planted}}).shows(200, "You joined the team.")
	return b
}

// Once the directory has authenticated the owner of an address, an attacker's earlier account for the address loses all
// access (finding H-1).
func TestDirectoryEndsPrehijacking(t *testing.T) {
	withProvider(t, false, func(t *testing.T, h *env, provider *oidcserver.Provider) {
		mallory := h.attacker(t)
		person := h.personID(t, victim)
		h.connectAssistant(t, person)

		corp := h.crew(t)
		link := corp.as(t, access.Owner).invite(victim, access.Admin)
		provider.QueueUser(&mockoidc.MockUser{Subject: "v-1", Email: victim, EmailVerified: true})
		b := h.browser(t)
		b.open(link).follow("Join with your organization’s directory").shows(200, corp.team.Name)
		if n := h.count(t, "memberships WHERE person_id = ?", person); n != 1 {
			t.Errorf("%d memberships, want only the invitation's", n)
		}
		b.open("/account").shows(200, "Invitations", "Join only teams that you know.")

		if mallory.signedIn() {
			t.Error("the attacker's session still works")
		}
		if h.signIn(t, victim, planted).signedIn() {
			t.Error("the attacker's password still works")
		}
		if n := h.count(t, "api_keys WHERE person_id = ? AND kind = 'assistant' AND revoked_at = 0", person); n != 0 {
			t.Errorf("%d of the attacker's assistants still work", n)
		}
		if !b.signedIn() {
			t.Error("the owner of the address is not signed in")
		}
	})
}

// personID returns the ID of the person of an email address.
func (h *env) personID(t *testing.T, email string) int64 {
	t.Helper()
	var id int64
	must.NoError(t, h.db.QueryRow(t.Context(), `SELECT id FROM people WHERE email = ?`, email).Scan(&id))
	return id
}

// connectAssistant connects an assistant of a person to one of the person's teams.
func (h *env) connectAssistant(t *testing.T, person int64) {
	t.Helper()
	h.change(t,
		`INSERT INTO api_keys (team_id, person_id, kind, name, level, capabilities, client_id, client_host, hash, created_at, daily_credits)
		SELECT m.team_id, m.person_id, 'assistant', 'Planted assistant', 'read_only', 'read', 'planted', '', ?, ?, -1
		FROM memberships m WHERE m.person_id = ?`,
		[]byte("32 bytes that are no key's hash."), db.Micros(h.now()), person)
}

// Without a directory, recovery by a mailed link removes the attacker's passkey and assistant (findings H-1 and M-1).
func TestRecoveryEndsPrehijacking(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, at string) {
		t.Parallel()
		h := open(t, at, func(cfg *server.Config) { cfg.PublicURL = "http://press.example" })
		mallory := h.attacker(t)
		device := &authenticator.Device{Origin: "http://press.example"}
		made := must.Get(device.Create(mallory.passkeyOptions("/account/passkeys/options")))(t)
		mallory.send(http.MethodPost, "/account/passkeys",
			url.Values{"name": {"Planted passkey"}, "passkey": {string(made)}}).shows(200, "The passkey was added.")
		person := h.personID(t, victim)
		h.connectAssistant(t, person)

		r := must.Get(h.Teams.Recover(t.Context(), victim))(t)
		b := h.browser(t)
		p := b.open(team.RecoveryPath + r.Token)
		p.form("Set password").fill("password", newPassword).press().shows(200, "Your new password is set.")

		if mallory.signInWithPasskey(device).signedIn() {
			t.Error("the attacker's passkey still works")
		}
		if h.signIn(t, victim, planted).signedIn() || !h.signIn(t, victim, newPassword).signedIn() {
			t.Error("the old password works, or the new password does not")
		}
		if n := h.count(t, "api_keys WHERE person_id = ? AND kind = 'assistant' AND revoked_at = 0", person); n != 0 {
			t.Errorf("%d of the attacker's assistants still work", n)
		}
		p.shows(200, "Planted passkey", "Planted assistant")
	})
}

// passkeyOptions requests WebAuthn options at a path.
func (b *browser) passkeyOptions(path string) []byte {
	b.t.Helper()
	p := b.send(http.MethodPost, path, url.Values{}).shows(200)
	if !json.Valid([]byte(p.source)) {
		b.t.Fatalf("%s: %s", path, p.text())
	}
	return []byte(p.source)
}

// signInWithPasskey signs in with a passkey.
func (b *browser) signInWithPasskey(device *authenticator.Device) *browser {
	b.t.Helper()
	answer := must.Get(device.Get(b.passkeyOptions("/sign-in/passkey/options")))(b.t)
	b.send(http.MethodPost, "/sign-in/passkey", url.Values{"passkey": {string(answer)}})
	return b
}

// If the directory reassigns an address, its new owner does not get the former owner's account (finding L-1). A person
// whose address changes keeps the account.
func TestDirectoryAddressReassigned(t *testing.T) {
	withProvider(t, false, func(t *testing.T, h *env, provider *oidcserver.Provider) {
		c := h.crew(t)
		email := c.people[access.Editor].Email
		comes := func(subject, email string) *browser {
			t.Helper()
			provider.QueueUser(&mockoidc.MockUser{Subject: subject, Email: email, EmailVerified: true})
			b := h.browser(t)
			b.open("/sign-in").follow(directoryButton)
			return b
		}
		if !comes("ada", email).signedIn() {
			t.Fatal("the person is not signed in")
		}
		if comes("somebody else", email).signedIn() {
			t.Error("the new owner of the address got the account")
		}
		if n := h.count(t, "events WHERE kind = 'person.directory_refused'"); n != 1 {
			t.Errorf("%d events of the rejected sign-in, want 1", n)
		}
		renamed := comes("ada", "married@harbour.example")
		if !strings.Contains(renamed.open("/account").text(), email) {
			t.Error("the person lost the account after a change of address")
		}
	})
}
