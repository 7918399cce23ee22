package team

import (
	"context"

	"pressroom.example/pressroom/internal/auth/throttle"
	"pressroom.example/pressroom/internal/domain/team/knownbrowser"
	"pressroom.example/pressroom/internal/platform/auditlog"
	"pressroom.example/pressroom/internal/platform/db"
)

// SignInEvent describes a successful sign-in.
type SignInEvent struct {
	Person      int64
	Method      string // such as passkey
	Browser     string // value of the known-browser cookie
	BrowserName string // name to display, such as Firefox on Linux
}

// RecordSignIn records a sign-in and remembers the browser. It returns the new value of the known-browser cookie.
func (s *Service) RecordSignIn(ctx context.Context, event SignInEvent) (string, error) {
	var tokens string
	err := s.db.InTx(ctx, "team.sign_in", func(ctx context.Context, tx *db.Tx) error {
		var status knownbrowser.Status
		var err error
		tokens, status, err = knownbrowser.Remember(ctx, tx, event.Person, event.Browser, event.BrowserName)
		if err != nil {
			return err
		}
		detail := map[string]any{"method": event.Method}
		if status != knownbrowser.StatusKnown {
			detail["new_browser"] = status == knownbrowser.StatusNew
		}
		return auditlog.Record(ctx, tx, 0, auditlog.Actor{PersonID: event.Person}, "person.signed_in", formatID(event.Person),
			detail)
	})
	return tokens, err
}

// KeepBrowser keeps a person's current browser known after a change that ended all of the person's sessions. browser is
// the value of the known-browser cookie.
func (s *Service) KeepBrowser(ctx context.Context, person int64, browser string) error {
	return s.db.InTx(ctx, "team.keep_browser", func(ctx context.Context, tx *db.Tx) error {
		return knownbrowser.Keep(ctx, tx, person, browser)
	})
}

// SweepSignIns deletes browsers that are no longer known, and failed attempts older than a day, at most 1,000 of each.
// It returns the number of deleted rows.
func (s *Service) SweepSignIns(ctx context.Context) (int64, error) {
	var deletedCount int64
	err := s.db.InTx(ctx, "team.sweep_sign_ins", func(ctx context.Context, tx *db.Tx) error {
		browsers, err := knownbrowser.Sweep(ctx, tx)
		if err != nil {
			return err
		}
		attempts, err := throttle.Sweep(ctx, tx)
		if err != nil {
			return err
		}
		deletedCount = browsers + attempts
		return nil
	})
	return deletedCount, err
}
