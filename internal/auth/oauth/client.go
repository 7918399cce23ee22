package oauth

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/platform/loadshed"
	"pressroom.example/pressroom/internal/platform/plaintext"
)

const (
	maxRedirects        = 10     // maximum number of a client's redirect URIs
	maxRedirectBytes    = 2000   // maximum total length of a client's redirect URIs in bytes
	maxName             = 80     // maximum number of characters in a client's name
	maxUnused           = 10_000 // maximum number of registrations without a grant in the database
	maxUnusedPerNetwork = 1_000  // maximum number of registrations without a grant from one IP network
	maxEvictions        = 100    // maximum number of unused registrations that one registration deletes
)

// Client is a registered OAuth client. Its self-description is not verified.
type Client struct {
	ID           string
	Name         string
	RedirectURIs []string // redirect URIs
	CreatedAt    time.Time

	network string    // IP network that it registered from
	readAt  time.Time // when its document was last fetched; zero for registered clients
}

// IsSelfDescribed reports whether the client's ID is the URL of its metadata document.
func (c Client) IsSelfDescribed() bool { return isDocumentURL(c.ID) }

// Registration is the supported part of the client metadata in a registration request (RFC 7591, section 2).
type Registration struct {
	Name          string   `json:"client_name"`
	Redirects     []string `json:"redirect_uris"`
	GrantTypes    []string `json:"grant_types"`
	ResponseTypes []string `json:"response_types"`
	AuthMethod    string   `json:"token_endpoint_auth_method"`
}

// newClient returns the client that a registration describes.
func (r Registration) newClient() (Client, error) {
	switch {
	case len(r.Redirects) == 0 || len(r.Redirects) > maxRedirects:
		return Client{}, newError(InvalidRedirect,
			fmt.Sprintf("Register between 1 and %d redirect URIs.", maxRedirects))
	case len(r.GrantTypes) > 0 && !slices.Contains(r.GrantTypes, "authorization_code"):
		return Client{}, newError(InvalidMetadata, "The grant_types must include authorization_code.")
	case len(r.ResponseTypes) > 0 && !slices.Contains(r.ResponseTypes, "code"):
		return Client{}, newError(InvalidMetadata, "The response_type must be code.")
	}
	if len(strings.Join(r.Redirects, "")) > maxRedirectBytes {
		return Client{}, newError(InvalidRedirect,
			fmt.Sprintf("The redirect URIs must not exceed %d bytes in total.", maxRedirectBytes))
	}
	for _, redirectURI := range r.Redirects {
		if err := checkRedirect(redirectURI); err != nil {
			return Client{}, err
		}
	}
	return Client{Name: clientName(r), RedirectURIs: r.Redirects}, nil
}

// clientName returns a short, single-line name of a client for people. If the registration has no name, it returns the
// host of the redirect URI.
func clientName(r Registration) string {
	name := plaintext.Line(r.Name)
	if runes := []rune(name); len(runes) > maxName {
		name = strings.TrimSpace(string(runes[:maxName]))
	}
	if name == "" {
		return displayHost(r.Redirects[0])
	}
	return name
}

// Register registers a client (RFC 7591). caller is the IP address of the request. Clients do not get a secret, because
// installed programs cannot keep secrets. They use PKCE instead.
func (s *Service) Register(ctx context.Context, caller string, r Registration) (Client, error) {
	c, err := r.newClient()
	if err != nil {
		return Client{}, err
	}
	if err := s.checkRegistrationRate(caller); err != nil {
		return Client{}, err
	}
	c.network = loadshed.NetworkPrefix(caller)
	c.ID = "program-" + strings.ToLower(rand.Text())
	err = s.db.InTx(ctx, "oauth.register", func(ctx context.Context, tx *db.Tx) error {
		c.CreatedAt = tx.Now()
		if err := saveClient(ctx, tx, c); err != nil {
			return err
		}
		return evictUnused(ctx, tx, c.network)
	})
	return c, err
}

// evictUnused limits the number of registrations without a grant, because anyone can register. If the given IP network
// has more than maxUnusedPerNetwork, it deletes the network's oldest ones. If the database has more than maxUnused, it
// deletes the oldest ones of the network that has the most.
func evictUnused(ctx context.Context, tx *db.Tx, network string) error {
	if err := evictFrom(ctx, tx, network, maxUnusedPerNetwork); err != nil {
		return err
	}
	var total int64
	if err := tx.QueryRow(ctx, `SELECT COUNT(*) FROM oauth_clients WHERE used_at = 0`).Scan(&total); err != nil {
		return fmt.Errorf("counting unused registrations: %w", err)
	}
	if total <= maxUnused {
		return nil
	}
	var busiestNetwork string
	var clientCount int64
	err := tx.QueryRow(ctx,
		`SELECT network, COUNT(*) FROM oauth_clients WHERE used_at = 0 GROUP BY network
		ORDER BY COUNT(*) DESC, MIN(created_at) LIMIT 1`).Scan(&busiestNetwork, &clientCount)
	if err != nil {
		return fmt.Errorf("finding the IP network with the most registrations: %w", err)
	}
	return evictFrom(ctx, tx, busiestNetwork, max(0, clientCount-(total-maxUnused)))
}

// evictFrom deletes a network's unused registrations, except for the newest ones. It deletes at most maxEvictions
// registrations.
func evictFrom(ctx context.Context, tx *db.Tx, network string, keepNewest int64) error {
	_, err := tx.Exec(ctx, `DELETE FROM oauth_clients WHERE client_id IN
		(SELECT client_id FROM oauth_clients WHERE used_at = 0 AND network = ? ORDER BY created_at DESC, client_id
		LIMIT ? OFFSET ?)`, network, maxEvictions, keepNewest)
	if err != nil {
		return fmt.Errorf("deleting unused registrations: %w", err)
	}
	return nil
}

// checkRegistrationRate returns rate_limited if the caller registers too many clients.
func (s *Service) checkRegistrationRate(caller string) error {
	if s.RegistrationDelay == nil {
		return nil
	}
	if wait := s.RegistrationDelay(caller); wait > 0 {
		return apierr.New(apierr.RateLimited,
			"Too many clients were registered from your network. Try again later.").With("scope",
			"registration").WithRetryAfter(wait)
	}
	return nil
}
