package team_test

import (
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/domain/team"
	"pressroom.example/pressroom/internal/domain/team/lastoperator"
	"pressroom.example/pressroom/internal/testkit/must"
)

func TestPasswordRules(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w env) {
		signIns := team.NewSignIns(w.Service)
		bea := w.addPerson(t, "bea-of-harbour@example.com", "", access.Editor)
		for password, reason := range map[string]string{
			"eleven char": apierr.TooShort, strings.Repeat("ab cde", 34): apierr.TooLong,
			"aaaaaaaaaaaab": apierr.NotAllowedValue, "Bea-of-Harbour@example.com": apierr.NotAllowedValue,
			"Password1234": apierr.NotAllowedValue, "Bea-of-Harbour-2026": apierr.NotAllowedValue,
			"harbour.example": apierr.NotAllowedValue, "pressroompressroom": apierr.NotAllowedValue,
			"": apierr.TooShort, "not \xff readable text": apierr.Malformed,
		} {
			_, err := signIns.ChangePassword(t.Context(), team.PasswordChange{Person: bea.ID, New: password})
			if f := apierr.FromError(err); f.Code != apierr.ValidationFailed || f.Context["reason"] != reason ||
				f.Context["argument"] != "password" {
				t.Errorf("%q: %v %v", password, err, f.Context)
			}
		}
		former := ""
		for _, password := range []string{
			"k7 dozen owls", "пароль из слов", strings.Repeat("nine plain words and a few more, ", 7)[:200],
		} {
			p, err := signIns.ChangePassword(t.Context(), team.PasswordChange{Person: bea.ID, Old: former, New: password})
			if err != nil {
				t.Errorf("%q: %v", password, err)
			}
			if in, err := signIns.SignIn(t.Context(), team.Attempt{Email: bea.Email, Password: password}); err != nil ||
				in.Epoch != p.Epoch {
				t.Errorf("%q: %+v, %+v (%v)", password, p, in, err)
			}
			former = password
		}
	})
}

func TestChangePassword(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w env) {
		signIns := team.NewSignIns(w.Service)
		_, err := signIns.ChangePassword(t.Context(), team.PasswordChange{Person: 1, Old: "wrong", New: goodPassword})
		if f := apierr.FromError(err); f.Context["argument"] != "old" {
			t.Errorf("%v", err)
		}
		p, err := signIns.ChangePassword(t.Context(),
			team.PasswordChange{Person: 1, Old: "correct horse quartz", New: goodPassword})
		if err != nil || p.Epoch != 1 {
			t.Fatalf("%+v (%v)", p, err)
		}
		if _, err := signIns.SignIn(t.Context(),
			team.Attempt{Email: p.Email, Password: "correct horse quartz"}); !apierr.Is(err, apierr.Unauthorized) {
			t.Errorf("old password: %v", err)
		}
		for range 5 {
			_, _ = signIns.ChangePassword(t.Context(), team.PasswordChange{Person: 1, Old: "wrong", New: goodPassword})
		}
		if _, err := signIns.ChangePassword(t.Context(),
			team.PasswordChange{Person: 1, Old: goodPassword, New: goodPassword + "!"}); !apierr.Is(err,
			apierr.RateLimited) {
			t.Errorf("guesses are not limited: %v", err)
		}
	})
}

func TestRecovery(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w env) {
		signIns := team.NewSignIns(w.Service)
		if _, err := w.Recover(t.Context(), "nobody@example.com"); err == nil {
			t.Error("recovered an unknown person")
		}
		first := must.Get(w.Recover(t.Context(), "ADA@example.com"))(t)
		second := must.Get(w.Recover(t.Context(), "ada@example.com"))(t)
		if _, err := w.PersonByRecovery(t.Context(), first.Token); !apierr.Is(err, apierr.NotFound) {
			t.Errorf("earlier link: %v", err)
		}
		if p, err := w.PersonByRecovery(t.Context(), second.Token); err != nil || p.Email != "ada@example.com" {
			t.Errorf("%+v (%v)", p, err)
		}
		if _, err := signIns.Recover(t.Context(), second.Token, "short",
			team.CredentialChoice{}); apierr.FromError(err).Context["reason"] != apierr.TooShort {
			t.Errorf("%v", err)
		}
		p, err := signIns.Recover(t.Context(), second.Token, goodPassword, team.CredentialChoice{})
		if err != nil || p.Epoch != 1 {
			t.Fatalf("%+v (%v)", p, err)
		}
		if _, err := signIns.SignIn(t.Context(), team.Attempt{Email: p.Email, Password: goodPassword}); err != nil {
			t.Error(err)
		}
		if _, err := signIns.Recover(t.Context(), second.Token, goodPassword+"!",
			team.CredentialChoice{}); !strings.Contains(apierr.FromError(err).Detail, "used") {
			t.Errorf("second use: %v", err)
		}
		late := must.Get(w.Recover(t.Context(), "ada@example.com"))(t)
		must.NoError(t, w.SetSuspended(t.Context(), 1, true))
		if _, err := w.PersonByRecovery(t.Context(), late.Token); !apierr.Is(err, apierr.NotFound) {
			t.Errorf("suspended person: %v", err)
		}
		must.NoError(t, w.SetSuspended(t.Context(), 1, false))
		w.clock.Advance(time.Hour)
		if _, err := signIns.Recover(t.Context(), late.Token, goodPassword+"!",
			team.CredentialChoice{}); !strings.Contains(apierr.FromError(err).Detail, "expired") {
			t.Errorf("expired link: %v", err)
		}
	})
}

func TestSetOperator(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w env) {
		for _, on := range []bool{true, false} {
			p, err := w.SetOperator(t.Context(), " Ada@example.com", on)
			if err != nil || p.ID != 1 || p.Operator != on {
				t.Errorf("%+v (%v)", p, err)
			}
			if a, err := w.Account(t.Context(), 1); err != nil || a.Operator != on {
				t.Errorf("%+v (%v)", a, err)
			}
		}
		if _, err := w.SetOperator(t.Context(), "nobody@example.com", true); err == nil {
			t.Error("an unknown person became an operator")
		}
	})
}

// With lastoperator.Required, a change that would leave no operator who can sign in is rolled back.
func TestLastOperatorKept(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w env) {
		ctx, s := t.Context(), w.addStaff(t)
		setOperator := func(person int64, on bool) {
			t.Helper()
			p := must.Get(w.Person(ctx, person))(t)
			must.Get(w.SetOperator(ctx, p.Email, on))(t)
		}
		editor := must.Get(w.Person(ctx, s.editor))(t)
		changes := map[string]func() error{
			"no operator": func() error {
				_, err := w.SetOperator(ctx, editor.Email, false, lastoperator.Required)
				return err
			},
			"suspended":  func() error { return w.SetSuspended(ctx, s.editor, true, lastoperator.Required) },
			"in no team": func() error { return w.RemoveMember(ctx, w.team.ID, s.editor, lastoperator.Required) },
		}
		must.NoError(t, changes["suspended"]()) // allowed, because there was no operator before
		must.NoError(t, w.SetSuspended(ctx, s.editor, false))
		setOperator(s.editor, true)
		for name, change := range changes {
			if err := change(); err == nil || !strings.Contains(err.Error(), "only operator") {
				t.Errorf("%s: %v", name, err)
			}
			if a, err := w.Account(ctx, s.editor); err != nil || !a.Operator {
				t.Errorf("%s: %+v (%v)", name, a, err)
			}
		}
		setOperator(s.admin, true)
		for _, name := range []string{"suspended", "in no team", "no operator"} {
			must.NoError(t, changes[name]())
		}
	})
}

// Wrong links are rate limited. Valid links are always accepted, because they cannot be guessed.
func TestLinkGuessesThrottled(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w env) {
		signIns := team.NewSignIns(w.Service)
		check := func(token string) error {
			return signIns.CheckSecret("here", func() error {
				_, err := w.InvitationByToken(t.Context(), token)
				return err
			})
		}
		_, token := w.invite(t, 1, "new@example.com", access.Viewer)
		for i := range 40 {
			must.NoError(t, check(token))
			if err := check("wrong"); apierr.Is(err, apierr.NotFound) != (i < 30) || apierr.Is(err,
				apierr.RateLimited) != (i >= 30) {
				t.Errorf("wrong link %d: %v", i, err)
			}
		}
		if _, err := signIns.SignIn(t.Context(),
			team.Attempt{Email: "ada@example.com", Password: "correct horse quartz", From: "here"}); err != nil {
			t.Errorf("right password from the same client: %v", err)
		}
	})
}
