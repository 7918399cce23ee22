package server

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"time"

	"pressroom.example/pressroom/internal/api/rest"
	"pressroom.example/pressroom/internal/auth/oauth"
	"pressroom.example/pressroom/internal/domain/ratelimit"
	"pressroom.example/pressroom/internal/domain/team"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/platform/safehttp"
	"pressroom.example/pressroom/internal/web/shell"
)

const (
	// The limits on OAuth client registrations per IP address. An assistant registers once per person.
	registrationsPerHour, registrationBurst = 60, 20
	clientDocumentTimeout                   = 5 * time.Second
)

// buildAssistants builds the authorization of assistants.
func (s *Server) buildAssistants() error {
	publicURL, err := url.Parse(s.cfg.PublicURL)
	if err != nil {
		return fmt.Errorf("reading the public URL: %w", err)
	}
	// Redirects are not followed, because a client's metadata document must be at its exact URL.
	opts := safehttp.Options{
		Allow: s.cfg.ImportAllow, RootCAs: s.cfg.ImportRoots, Redirects: -1, Timeout: clientDocumentTimeout,
		Idle: clientDocumentTimeout,
	}
	if publicURL.Hostname() != "" {
		opts.OwnHosts = []string{publicURL.Hostname()}
	}
	documents, err := safehttp.New(opts)
	if err != nil {
		return fmt.Errorf("reading --import-allow: %w", err)
	}
	limiter, err := ratelimit.NewLimiter(registrationsPerHour, registrationBurst)
	if err != nil {
		return err
	}
	s.OAuth = oauth.New(oauth.Options{
		DB: s.db, PublicURL: s.cfg.PublicURL, Tools: mcpPath, API: rest.Prefix,
		Connections: connections{s.Teams, s.cfg.SecondFactor == string(shell.Everyone)}, RegistrationDelay: limiter.Take,
		Fetch: func(ctx context.Context, address string, most int64, into io.Writer) error {
			_, err := documents.Get(ctx, address, most, into)
			return err
		},
	})
	// Each pipeline accepts API keys, and tokens that were requested for its own resource.
	s.mcpPipe = s.pipeline(s.Teams.WithTokens(s.OAuth, s.OAuth.ToolsResource()))
	s.restPipe = s.pipeline(s.Teams.WithTokens(s.OAuth, s.OAuth.APIResource()))
	return nil
}

// connections connects assistants to teams.
type connections struct {
	teams         *team.Service
	requireFactor bool // whether the operator requires a second factor from everyone
}

// Connect creates a connection and returns its ID.
func (c connections) Connect(ctx context.Context, tx *db.Tx, n oauth.Connection) (int64, error) {
	return c.teams.Connect(ctx, tx,
		team.NewConnection{
			TeamID: n.Team, PersonID: n.Person, Client: n.ClientName, ClientID: n.ClientID, Host: n.Host,
			Capabilities: n.Capabilities,
		})
}

// Disconnect ends a connection.
func (c connections) Disconnect(ctx context.Context, tx *db.Tx, connection int64, reason string) error {
	return c.teams.Disconnect(ctx, tx, connection, reason)
}

// IsActive reports whether a connection may get new tokens.
func (c connections) IsActive(ctx context.Context, q db.Querier, connection int64) (bool, error) {
	return c.teams.IsConnectionActive(ctx, q, connection)
}

// RequiresFactor reports whether the team's owner or the operator requires a second factor from the team's members.
func (c connections) RequiresFactor(ctx context.Context, q db.Querier, id int64) (bool, error) {
	if c.requireFactor {
		return true, nil
	}
	return c.teams.RequiresFactor(ctx, q, id)
}
