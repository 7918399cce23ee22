package server

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"time"

	"pressroom/internal/auth/oauth"
	"pressroom/internal/domain/ratelimit"
	"pressroom/internal/domain/team"
	"pressroom/internal/platform/db"
	"pressroom/internal/platform/safehttp"
	"pressroom/internal/web/shell"
)

const (
	// registrations an hour that one address may make in the long run, and at once. Programs register once for each
	// person.
	registrationsAnHour, registrationsAtOnce = 60, 20
	// documentWithin is how long a program's description of itself may take to arrive.
	documentWithin = 5 * time.Second
)

// buildAssistants makes what lets people's programs in.
func (s *Server) buildAssistants() error {
	own, err := url.Parse(s.cfg.PublicURL)
	if err != nil {
		return fmt.Errorf("reading the public address: %w", err)
	}
	// A document is where its address says, or nowhere: redirects are not followed.
	opts := safehttp.Options{
		Allow: s.cfg.ImportAllow, RootCAs: s.cfg.ImportRoots, Redirects: -1, Timeout: documentWithin,
		Idle: documentWithin,
	}
	if own.Hostname() != "" {
		opts.Own = []string{own.Hostname()}
	}
	documents, err := safehttp.New(opts)
	if err != nil {
		return fmt.Errorf("the hosts and networks of --import-allow: %w", err)
	}
	pace, err := ratelimit.NewPace(registrationsAnHour, registrationsAtOnce)
	if err != nil {
		return err
	}
	s.Programs = oauth.New(oauth.Options{
		DB: s.db, PublicURL: s.cfg.PublicURL, Tools: mcpPath,
		Connections: connections{s.Teams, s.cfg.SecondFactor == string(shell.Everyone)}, RegistrationDelay: pace.Step,
		Fetch: func(ctx context.Context, address string, most int64, into io.Writer) error {
			_, err := documents.Get(ctx, address, most, into)
			return err
		},
	})
	// where tools are called, assistants' tokens are good beside keys
	s.toolPipe = s.pipeline(s.Teams.AtTools(s.Programs))
	return nil
}

// connections are a team's assistants as those know them who give out their tokens.
type connections struct {
	teams    *team.Service
	everyone bool // the operator requires a second factor of everybody
}

// Connect makes one.
func (c connections) Connect(ctx context.Context, tx *db.Tx, n oauth.Connection) (int64, error) {
	return c.teams.Connect(ctx, tx,
		team.NewConnection{
			TeamID: n.Team, PersonID: n.Person, Client: n.Program, ClientID: n.ClientID, Host: n.Host,
			Capabilities: n.Capabilities,
		})
}

// Disconnect ends one.
func (c connections) Disconnect(ctx context.Context, tx *db.Tx, connection int64, reason string) error {
	return c.teams.Disconnect(ctx, tx, connection, reason)
}

// IsActive tells whether one may get new tokens.
func (c connections) IsActive(ctx context.Context, q db.Querier, connection int64) (bool, error) {
	return c.teams.IsConnectionActive(ctx, q, connection)
}

// RequiresFactor reports whether members of a team need a second factor, by the owner's rule or the operator's.
func (c connections) RequiresFactor(ctx context.Context, q db.Querier, id int64) (bool, error) {
	if c.everyone {
		return true, nil
	}
	return c.teams.RequiresFactor(ctx, q, id)
}
