// Package oauth lets people allow programs to act for them without giving a key away: the authorisation server of OAuth 2.1
// as the Model Context Protocol's chapter on authorisation asks for it. A program says who it is, a person says yes in the
// app, a code comes back to the program, and by it the program gets a connection's tokens for the tools.
//
// Tokens are texts without meaning, of which only hashes are kept. What a connection may do, and whether it stands, is
// package team's affair; here is which connection a token is of.
package oauth

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"strings"
	"time"

	"pressroom/internal/core/access"
	"pressroom/internal/platform/db"
)

// How long things are good for.
const (
	codeLives    = time.Minute         // RFC 6749, section 4.1.2, wants 10 minutes at most
	accessLives  = time.Hour           // an access token
	refreshLives = 30 * 24 * time.Hour // a refresh token, from when it was given out: so long may a program be idle
	// graceLives is how long a refresh token that was exchanged may be exchanged again: programs lose answers, and send
	// one request twice at once. After it, or once any of the answers was used to go on, a second use is taken for a theft.
	graceLives = 30 * time.Second
)

// Options say what the server stands on.
type Options struct {
	DB        *db.DB
	PublicURL string // the service's address, without a slash at its end; it is the issuer
	Tools     string // the path of the tools' address, such as /mcp: what tokens are for
	// Connections makes and ends what tokens are of.
	Connections Connections
	// Fetch writes what is at a public address into a writer, following no redirect. Programs that describe themselves by a
	// document are not known where it is nil.
	Fetch func(ctx context.Context, address string, most int64, into io.Writer) error
	// Registering tells how long whoever is at an address has to wait before making us keep or fetch one program more.
	Registering func(from string) time.Duration
}

// Connections are what tokens are of. Package team has them.
type Connections interface {
	Connect(ctx context.Context, tx *db.Tx, c Connection) (int64, error)
	// Disconnect ends a connection. The reason is one of this package's endings.
	Disconnect(ctx context.Context, tx *db.Tx, connection int64, reason string) error
	Stands(ctx context.Context, q db.Querier, connection int64) (bool, error)
	// RequiresFactor reports whether members of a team need a second factor.
	RequiresFactor(ctx context.Context, q db.Querier, team int64) (bool, error)
}

// Connection is one to be made.
type Connection struct {
	Team, Person int64
	Program      string // its name
	ClientID     string
	Host         string // where its people come back to
	Capabilities []access.Capability
}

// Service is the authorisation server.
type Service struct {
	Options

	db *db.DB
}

// New makes it.
func New(o Options) *Service { return &Service{o, o.DB} }

// Issuer is by what programs know this server.
func (s *Service) Issuer() string { return s.PublicURL }

// Resource is the address of the tools, which tokens are for.
func (s *Service) Resource() string { return s.PublicURL + s.Tools }

// isResource tells whether an address is that of the tools, however it is written.
func (s *Service) isResource(address string) bool {
	named, err := canonical(address)
	ours, broken := canonical(s.Resource())
	return err == nil && broken == nil && named == ours
}

// canonical is the one way to write an address of those that programs have: they leave the port out that its scheme has
// anyway, write scheme and host in small letters, and some put a slash at its end.
func canonical(address string) (string, error) {
	u, err := url.Parse(address)
	if err != nil {
		return "", fmt.Errorf("reading an address: %w", err)
	}
	u.Host, u.Path, u.RawPath = strings.ToLower(u.Host), strings.TrimSuffix(u.Path, "/"), "" // the scheme is in small letters already
	if port := map[string]string{"https": "443", "http": "80"}[u.Scheme]; port != "" {
		u.Host = strings.TrimSuffix(u.Host, ":"+port)
	}
	return u.String(), nil
}
