// Package oauth is the OAuth 2.1 authorization server that the Model Context Protocol requires. A client registers, a
// person consents in the app, and the client exchanges the authorization code for tokens of a connection.
//
// Tokens are opaque and stored as hashes. Package team manages connections and their permissions. This package maps
// tokens to connections.
package oauth

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/platform/db"
)

// Lifetimes.
const (
	codeLifetime    = time.Minute         // RFC 6749, section 4.1.2, recommends at most 10 minutes
	accessLifetime  = time.Hour           // lifetime of an access token
	refreshLifetime = 30 * 24 * time.Hour // lifetime of a refresh token: the time that a client may be idle
	// gracePeriod is how long a used refresh token may be used again, because clients may lose a response and repeat
	// the request. Reuse is treated as theft after the grace period, or once the client has used a refresh token from
	// one of the responses.
	gracePeriod = 30 * time.Second
)

// Options configures a Service.
type Options struct {
	DB        *db.DB
	PublicURL string // base URL without a trailing slash; the issuer
	Tools     string // path of the MCP endpoint, such as /mcp
	API       string // path of the REST API, such as /api/v1
	// Connections creates and ends the connections that tokens belong to.
	Connections Connections
	// Fetch writes the content of a public URL to a writer, without following redirects. If it is nil, metadata
	// documents are not supported.
	Fetch func(ctx context.Context, address string, maxBytes int64, into io.Writer) error
	// RegistrationDelay returns how long a caller has to wait before its next registration. The parameter from is the
	// caller's IP address.
	RegistrationDelay func(from string) time.Duration
}

// Connections manages the connections that tokens belong to. Package team implements it.
type Connections interface {
	Connect(ctx context.Context, tx *db.Tx, c Connection) (int64, error)
	// Disconnect ends a connection. The reason is one of the constants in this package that begin with end.
	Disconnect(ctx context.Context, tx *db.Tx, connection int64, reason string) error
	IsActive(ctx context.Context, q db.Querier, connection int64) (bool, error)
	// RequiresFactor reports whether members of a team need a second factor.
	RequiresFactor(ctx context.Context, q db.Querier, team int64) (bool, error)
}

// Connection describes a new connection.
type Connection struct {
	Team, Person int64
	ClientName   string // name of the client
	ClientID     string
	Host         string // host of the redirect URI
	Capabilities []access.Capability
}

// Service is the authorization server.
type Service struct {
	Options

	db *db.DB
}

// New returns a Service.
func New(o Options) *Service { return &Service{o, o.DB} }

// Issuer returns the issuer identifier of the server.
func (s *Service) Issuer() string { return s.PublicURL }

// ToolsResource returns the URL of the MCP endpoint. It is the default resource of tokens.
func (s *Service) ToolsResource() string { return s.PublicURL + s.Tools }

// APIResource returns the URL of the REST API. It is a resource of tokens only if the client requests it.
func (s *Service) APIResource() string { return s.PublicURL + s.API }

// Resources returns the URLs that tokens can be issued for.
func (s *Service) Resources() []string { return []string{s.ToolsResource(), s.APIResource()} }

// resourcesOf returns the URLs in a request's resource parameters (RFC 8707), separated by spaces and in the order of
// Resources. It returns invalid_target if one of the URLs is unknown.
func (s *Service) resourcesOf(request url.Values) (string, *Error) {
	requested := map[string]bool{}
	for _, rawURL := range request["resource"] {
		i := slices.IndexFunc(s.Resources(), func(resource string) bool { return equalURLs(rawURL, resource) })
		if i < 0 {
			return "", errInvalidResource
		}
		requested[s.Resources()[i]] = true
	}
	return strings.Join(slices.DeleteFunc(s.Resources(), func(resource string) bool { return !requested[resource] }), " "), nil
}

// isCurrent reports whether the URLs of a grant belong to this installation. They do not if the public URL has changed.
func (s *Service) isCurrent(granted string) bool {
	_, err := s.resourcesOf(url.Values{"resource": strings.Fields(granted)})
	return err == nil
}

// equalURLs reports whether two URLs are equivalent.
func equalURLs(a, b string) bool {
	first, err := canonicalURL(a)
	second, secondErr := canonicalURL(b)
	return err == nil && secondErr == nil && first == second
}

// canonicalURL normalizes a URL. It removes the default port and a trailing slash, and converts the scheme and the host
// to lower case.
func canonicalURL(rawURL string) (string, error) {
	u, err := url.Parse(rawURL)
	if err != nil {
		return "", fmt.Errorf("parsing a URL: %w", err)
	}
	// url.Parse has already converted the scheme to lower case.
	u.Host, u.Path, u.RawPath = strings.ToLower(u.Host), strings.TrimSuffix(u.Path, "/"), ""
	if port := map[string]string{"https": "443", "http": "80"}[u.Scheme]; port != "" {
		u.Host = strings.TrimSuffix(u.Host, ":"+port)
	}
	return u.String(), nil
}
