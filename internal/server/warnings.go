package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/domain/team/directoryroles"
	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/platform/safehttp"
)

// guardedTransport logs requests that the guard blocks. These requests do not count as failures of a network.
type guardedTransport struct {
	next     http.RoundTripper
	log      *slog.Logger
	throttle *throttle // by host
}

// blockedInterval is the minimum time between two log entries about the same blocked host.
const blockedInterval = 10 * time.Minute

// RoundTrip sends a request. It returns network.ErrHostBlocked if the guard blocks it.
func (t *guardedTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := t.next.RoundTrip(r)
	if !errors.Is(err, safehttp.ErrPrivate) {
		return response, err //nolint:wrapcheck // the transport's own error
	}
	if _, ok := t.throttle.allow(r.URL.Host); ok {
		t.log.WarnContext(r.Context(), "a Bluesky server is blocked: "+blockedReason, "server", r.URL.Host)
	}
	return nil, fmt.Errorf("%w: %w", network.ErrHostBlocked, err)
}

// blockedReason says why a server is blocked and how to allow it.
const blockedReason = "it has a private address, or a port other than 443; to allow it, add its URL to " +
	"PRESSROOM_BLUESKY_SERVERS (--bluesky-servers) of serve"

const lookupTimeout = 5 * time.Second // timeout for resolving one server

// warn logs warnings when the program starts: about an insecure public URL, and about settings that silently prevent
// publishing.
func (s *Server) warn(ctx context.Context, report func(error)) {
	s.warnOfPlainHTTP(ctx)
	err := errors.Join(s.announceSetup(ctx), s.warnOfGroupRoles(ctx), s.warnOfUnconfiguredNetworks(ctx),
		s.warnOfBlockedServers(ctx))
	if err != nil && ctx.Err() == nil {
		report(err)
	}
}

// warnOfPlainHTTP logs a warning if the public URL does not use TLS, unless the URL is on this machine.
func (s *Server) warnOfPlainHTTP(ctx context.Context) {
	u, err := url.Parse(s.cfg.PublicURL)
	if err != nil || u.Scheme != "http" || isLoopback(u.Hostname()) {
		return
	}
	s.cfg.Log.WarnContext(ctx,
		"INSECURE: the public URL is http, so passwords, session cookies and API keys are transmitted in plain text. "+
			"Use a TLS proxy, or --tls-cert or --acme-domain, and set PRESSROOM_PUBLIC_URL (--public-url) to the https "+
			"URL", "public_url", s.cfg.PublicURL)
}

// announceSetup logs the setup code if nobody has an account yet.
func (s *Server) announceSetup(ctx context.Context) error {
	pending, err := s.firstRun.Pending(ctx)
	if err == nil && pending && s.cfg.Role != RoleWorker && !s.cfg.Directory.Exclusive {
		s.cfg.Log.WarnContext(ctx, "nobody has an account yet: open the setup page and enter the setup code",
			"url", s.cfg.PublicURL+"/setup", "code", s.firstRun.Code())
	}
	return err
}

// warnOfGroupRoles logs a warning about groups of the directory whose teams do not exist or are closed.
func (s *Server) warnOfGroupRoles(ctx context.Context) error {
	var teams []int64
	for _, g := range s.cfg.Directory.GroupRoles {
		teams = append(teams, g.Team)
	}
	slices.Sort(teams)
	unknown, err := directoryroles.UnknownTeams(ctx, s.db, slices.Compact(teams))
	if len(unknown) > 0 {
		s.cfg.Log.WarnContext(ctx, "some groups of the directory have no effect, because their teams do not exist or are closed; correct "+
			"PRESSROOM_OIDC_GROUP_ROLES (--oidc-group-roles). `pressroom admin teams list` shows the IDs", "teams", unknown)
	}
	return err
}

// isLoopback reports whether a host is this machine.
func isLoopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || err == nil && addr.Unmap().IsLoopback()
}

// warnOfUnconfiguredNetworks logs a warning about networks that have connected accounts but are not configured on this
// node.
func (s *Server) warnOfUnconfiguredNetworks(ctx context.Context) error {
	connected, err := s.Accounts.ConnectedPlatforms(ctx)
	if err != nil {
		return err
	}
	var unconfigured []string
	for _, platform := range connected {
		if !slices.Contains(s.platforms, platform) {
			unconfigured = append(unconfigured, platform)
		}
	}
	if len(unconfigured) > 0 {
		s.cfg.Log.WarnContext(ctx,
			"posts of some connected accounts cannot be published, because their networks have no app; configure the apps with "+
				"PRESSROOM_NETWORKS (--networks) of serve", "networks", unconfigured)
	}
	return nil
}

// warnOfBlockedServers logs a warning about servers of connected accounts that this node blocks.
func (s *Server) warnOfBlockedServers(ctx context.Context) error {
	if s.blueskyClient == nil {
		return nil
	}
	servers, err := s.Accounts.Servers(ctx, "bluesky")
	if err != nil {
		return err
	}
	for _, server := range slices.Sorted(maps.Keys(servers)) {
		if isBlocked(ctx, s.blueskyClient, server) {
			s.cfg.Log.WarnContext(ctx, "posts of some connected accounts cannot be published, because their server is blocked: "+
				blockedReason, "server", server, "accounts", servers[server])
		}
	}
	return nil
}

// isBlocked reports whether a guard blocks a server. It returns false if the server's name cannot be resolved.
func isBlocked(ctx context.Context, guard *safehttp.Client, server string) bool {
	u, err := url.Parse(server)
	if err != nil || u.Hostname() == "" {
		return false
	}
	port := u.Port()
	switch {
	case port == "" && u.Scheme == "http":
		port = "80"
	case port == "":
		port = "443"
	}
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	reached, err := guard.Allows(ctx, u.Hostname(), port)
	return err == nil && !reached
}

// BlockedReason returns why serve blocks a Bluesky server if only the servers in allowed are permitted. It returns
// "" if serve does not block the server, or if the host name cannot be resolved.
func BlockedReason(ctx context.Context, server string, allowed []string) (string, error) {
	guard, err := newBlueskyClient(allowed)
	if err != nil || !isBlocked(ctx, guard, server) {
		return "", err
	}
	return blockedReason, nil
}
