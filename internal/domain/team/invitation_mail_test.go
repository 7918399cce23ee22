package team_test

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/domain/team"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/testkit/must"
)

// Names of people and teams do not become links in invitation emails and do not change the surrounding text.
func TestInvitationMailHasOneLink(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w env) {
		var letter team.LinkEmail
		letters := team.NewLinkMailer(w.Service, "https://press.example", func(_ context.Context, l team.LinkEmail) error {
			letter = l
			return nil
		})
		link := regexp.MustCompile(`(?i)[a-z]+://\S+|[a-z0-9-]+\.[a-z]{2,}\b|\S+@[a-z0-9]`)
		for name, quoted := range map[string]string{
			"Prize: evil.example/x www.evil.example": "“Prize:\u200c evil.\u200cexample/\u200cx " +
				"www.\u200cevil.\u200cexample”",
			"pay@evil.example\u202e\u2066": "“pay@\u200cevil.\u200cexample”",
			"Booking.com":                  "“Booking.\u200ccom”",
			strings.Repeat("Long ", 30):    "“" + strings.TrimSpace(strings.Repeat("Long ", 12)) + "…”",
		} {
			w.exec(t, `UPDATE teams SET name = ?`, name)
			w.exec(t, `UPDATE people SET name = ?`, name)
			must.Get(letters.Invite(t.Context(), 1, w.team.ID, fmt.Sprint("new", len(name), "@example.com"),
				access.Editor))(t)
			if letter.Subject != "Invitation to the team "+quoted || !strings.HasPrefix(letter.Text,
				quoted+" invites you to join the team "+quoted+" as editor.") {
				t.Errorf("%q: %q\n%q", name, letter.Subject, letter.Text)
			}
			text := strings.ReplaceAll(letter.Text, letter.To, "")
			if links := link.FindAllString(letter.Subject+"\n"+text, -1); len(links) != 1 || !strings.HasPrefix(links[0],
				"https://press.example/invitation/") {
				t.Errorf("%q: links %q", name, links)
			}
		}
	})
}

// Names with URLs are rejected. A team that already has such a name can still change its other settings.
func TestNamesWithWebAddress(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w env) {
		const address = "Log in at https://evil.example"
		h := w.Admin(1, w.team.ID)
		profile := team.Profile{Name: address, Timezone: "UTC", Language: "en"}
		for what, err := range map[string]error{
			"team name":   h.SetProfile(t.Context(), profile),
			"person name": w.SetProfile(t.Context(), 1, address, "", ""),
		} {
			if apierr.FromError(err).Context["reason"] != apierr.NotAllowedValue || !strings.Contains(apierr.FromError(err).Detail,
				"://") {
				t.Errorf("%s: %v", what, err)
			}
		}
		if _, err := w.AddTeam(t.Context(), team.Team{Name: address, Timezone: "UTC", Language: "en", Plan: "team"},
			1); err == nil {
			t.Error("a team with a URL as name was created")
		}
		profile.Name = "Booking.com"
		must.NoError(t, h.SetProfile(t.Context(), profile))
		w.exec(t, `UPDATE teams SET name = ?`, address)
		profile.Name, profile.Timezone = address, "Asia/Tokyo"
		must.NoError(t, h.SetProfile(t.Context(), profile))
	})
}

// Emailed invitations are limited per new team, per address and per person.
func TestInvitationMailLimits(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w env) {
		letters := team.NewLinkMailer(w.Service, "https://press.example", func(context.Context, team.LinkEmail) error {
			return nil
		})
		w.exec(t, `UPDATE teams SET plan = 'agency'`)
		insertMailed := func(n int, by, to int64) {
			t.Helper()
			w.exec(t, `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < CAST(? AS BIGINT))
				INSERT INTO invitations (team_id, email, role, token_hash, invited_by, created_at, expires_at,
		mailed_at, revoked_at)
				SELECT CAST(? AS BIGINT), 'someone@example.com', 'editor', CAST(CAST(? AS TEXT) || i AS `+
				map[bool]string{
					true: "BYTEA", false: "BLOB",
				}[w.db.Postgres()]+`), CAST(? AS BIGINT), 1, 1, CAST(? AS BIGINT), 1 FROM n`,
				n, to, fmt.Sprint(by, "-", to, "-", n, "-"), by, db.Micros(w.db.Now()))
		}
		expectRejection := func(want string, to string, by int64) {
			t.Helper()
			_, err := letters.Invite(t.Context(), by, w.team.ID, to, access.Editor)
			if got := apierr.FromError(err).Detail; want == "" && err != nil || want != "" && !strings.Contains(got, want) {
				t.Errorf("%v, want %q", err, want)
			}
		}
		other, _ := w.addSecondTeam(t)
		expectRejection("", "first@example.com", 1)
		insertMailed(10, 99, other.ID)
		expectRejection("too many invitations", "someone@example.com", 1)
		insertMailed(19, 98, w.team.ID)
		expectRejection("on its first day", "second@example.com", 1)
		expectRejection("", "third@example.com", 0)
		w.exec(t, `UPDATE teams SET created_at = 1`)
		expectRejection("", "fourth@example.com", 1)
		insertMailed(98, 1, other.ID)
		expectRejection("You have sent 100", "fifth@example.com", 1)
	})
}
