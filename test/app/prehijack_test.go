package app

import (
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/oauth2-proxy/mockoidc"

	"pressroom/internal/core/access"
	"pressroom/internal/domain/team"
	"pressroom/internal/platform/db"
	"pressroom/internal/server"
	"pressroom/internal/testkit"
	"pressroom/internal/testkit/authenticator"
	"pressroom/internal/testkit/must"
	"pressroom/internal/testkit/oidcserver"
)

const (
	victim     = "victim@corp.example"
	planted    = "planted by somebody else"
	inviteLink = `https?://[^"]*(/invitation/[A-Z2-7]+)`
)

// invite creates an invitation on the members page and returns the path of its link.
func (b *browser) invite(email string, role access.Role) string {
	b.t.Helper()
	p := b.open("/settings/members").form("Create invitation").fill("email", email).fill("role", string(role)).press().wants(200)
	found := regexp.MustCompile(inviteLink).FindStringSubmatch(p.source)
	if found == nil {
		b.t.Fatalf("no link is shown: %s", p.text())
	}
	return found[1]
}

// hijacker registers the victim's address with an invitation to her own team and returns her browser, signed in as the
// victim.
func (h *env) hijacker(t *testing.T) *browser {
	t.Helper()
	mallory := h.crew(t).as(t, access.Owner)
	link := mallory.invite(victim, access.Viewer)
	b := h.browser(t)
	b.send(http.MethodPost, link+"/join", url.Values{"name": {"Vic Tim"}, "password": {planted}}).wants(200, "You joined the team.")
	return b
}

// The attacker's account for an address becomes useless once the directory has authenticated the owner of the address
// (finding H-1).
func TestDirectoryEndsPrehijacking(t *testing.T) {
	withProvider(t, false, func(t *testing.T, h *env, provider *oidcserver.Provider) {
		mallory := h.hijacker(t)
		person := h.personOf(t, victim)
		h.assistantOf(t, person)

		corp := h.crew(t)
		link := corp.as(t, access.Owner).invite(victim, access.Admin)
		provider.QueueUser(&mockoidc.MockUser{Subject: "v-1", Email: victim, EmailVerified: true})
		b := h.browser(t)
		b.open(link).follow("Join with your organization’s directory").wants(200, corp.team.Name)
		if n := h.count(t, "memberships WHERE person_id = ?", person); n != 1 {
			t.Errorf("%d memberships, want only that of the link", n)
		}
		b.open("/account").wants(200, "Invitations", "Join only teams that you know.")

		if mallory.signedIn() {
			t.Error("the session that was begun before is signed in")
		}
		if h.enter(t, victim, planted).signedIn() {
			t.Error("the password that somebody else chose signs in")
		}
		if n := h.count(t, "api_keys WHERE person_id = ? AND kind = 'assistant' AND revoked_at = 0", person); n != 0 {
			t.Errorf("%d assistants that somebody else connected work on", n)
		}
		if !b.signedIn() {
			t.Error("the owner of the address is not signed in")
		}
	})
}

// personOf returns the ID of the person of an email address.
func (h *env) personOf(t *testing.T, email string) int64 {
	t.Helper()
	var id int64
	must.NoError(t, h.db.QueryRow(t.Context(), `SELECT id FROM people WHERE email = ?`, email).Scan(&id))
	return id
}

// assistantOf connects an assistant for a person to one of the person's teams.
func (h *env) assistantOf(t *testing.T, person int64) {
	t.Helper()
	h.change(t,
		`INSERT INTO api_keys (team_id, person_id, kind, name, level, capabilities, client_id, client_host, hash, created_at, daily_credits)
		SELECT m.team_id, m.person_id, 'assistant', 'Planted assistant', 'read_only', 'read', 'planted', '', ?, ?, -1
		FROM memberships m WHERE m.person_id = ?`,
		[]byte("32 bytes that are no key's hash."), db.Micros(h.now()), person)
}

// Without a directory, setting a new password with a mailed link removes the attacker's passkey and assistant (findings
// H-1 and M-1).
func TestRecoveryEndsPrehijacking(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, at string) {
		t.Parallel()
		h := open(t, at, func(cfg *server.Config) { cfg.PublicURL = "http://press.example" })
		mallory := h.hijacker(t)
		device := &authenticator.Device{Origin: "http://press.example"}
		made := must.Get(device.Create(mallory.passkeyOptions("/account/passkeys/options")))(t)
		mallory.send(http.MethodPost, "/account/passkeys",
			url.Values{"name": {"Planted passkey"}, "passkey": {string(made)}}).wants(200, "The passkey was added.")
		person := h.personOf(t, victim)
		h.assistantOf(t, person)

		r := must.Get(h.Teams.Recover(t.Context(), victim))(t)
		b := h.browser(t)
		p := b.open(team.RecoveryPath + r.Token)
		p.form("Set password").fill("password", newPassword).press().wants(200, "Your new password is set.")

		if mallory.byPasskey(device).signedIn() {
			t.Error("the passkey that somebody else added signs in")
		}
		if h.enter(t, victim, planted).signedIn() || !h.enter(t, victim, newPassword).signedIn() {
			t.Error("the former password signs in, or the new one does not")
		}
		if n := h.count(t, "api_keys WHERE person_id = ? AND kind = 'assistant' AND revoked_at = 0", person); n != 0 {
			t.Errorf("%d assistants that somebody else connected work on", n)
		}
		p.wants(200, "Planted passkey", "Planted assistant")
	})
}

// passkeyOptions returns the WebAuthn options from a path.
func (b *browser) passkeyOptions(path string) []byte {
	b.t.Helper()
	p := b.send(http.MethodPost, path, url.Values{}).wants(200)
	if !json.Valid([]byte(p.source)) {
		b.t.Fatalf("%s: %s", path, p.text())
	}
	return []byte(p.source)
}

// byPasskey signs in with a device.
func (b *browser) byPasskey(device *authenticator.Device) *browser {
	b.t.Helper()
	answer := must.Get(device.Get(b.passkeyOptions("/sign-in/passkey/options")))(b.t)
	b.send(http.MethodPost, "/sign-in/passkey", url.Values{"passkey": {string(answer)}})
	return b
}

// If the directory reassigns an address, the new person does not get the former person's account (finding L-1). A
// changed address leads to the same account.
func TestDirectoryAddressReassigned(t *testing.T) {
	withProvider(t, false, func(t *testing.T, h *env, provider *oidcserver.Provider) {
		c := h.crew(t)
		email := c.people[access.Editor].Email
		comes := func(subject, email string) *browser {
			t.Helper()
			provider.QueueUser(&mockoidc.MockUser{Subject: subject, Email: email, EmailVerified: true})
			b := h.browser(t)
			b.open("/sign-in").follow(byDirectory)
			return b
		}
		if !comes("ada", email).signedIn() {
			t.Fatal("the person is not signed in")
		}
		if comes("somebody else", email).signedIn() {
			t.Error("somebody else who has the address now is signed in")
		}
		if n := h.count(t, "events WHERE kind = 'person.directory_refused'"); n != 1 {
			t.Errorf("%d events of it, want 1", n)
		}
		renamed := comes("ada", "married@harbour.example")
		if !strings.Contains(renamed.open("/account").text(), email) {
			t.Error("a changed address does not lead to the same account")
		}
	})
}
