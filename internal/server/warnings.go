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

	"pressroom/internal/network"
	"pressroom/internal/platform/safehttp"
)

// barring is a transport that tells the operator what our own guard does not call: no network failed.
type barring struct {
	next http.RoundTripper
	log  *slog.Logger
	told *sparing // of hosts
}

// barredEvery is how often the log is told of the same host.
const barredEvery = 10 * time.Minute

// RoundTrip sends a request, or answers network.ErrBarred where it may not be sent.
func (b *barring) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := b.next.RoundTrip(r)
	if !errors.Is(err, safehttp.ErrPrivate) {
		return response, err //nolint:wrapcheck // a transport's error stays itself
	}
	if _, due := b.told.due(r.URL.Host); due {
		b.log.WarnContext(r.Context(), "a Bluesky server is not called: "+barredServer, "server", r.URL.Host)
	}
	return nil, fmt.Errorf("%w: %w", network.ErrBarred, err)
}

// barredServer tells what keeps a server from being called, and the setting that changes it.
const barredServer = "it has a private address, or a port other than 443; PRESSROOM_BLUESKY_SERVERS " +
	"(--bluesky-servers) of serve allows it by its address"

// lookUpWithin is how long the addresses of one server may take to be found.
const lookUpWithin = 5 * time.Second

// warn tells the log at the start of a node what keeps posts from going out although nothing fails, and of a public
// URL that is not safe.
func (s *Server) warn(ctx context.Context, report func(error)) {
	s.warnOfPlainHTTP(ctx)
	if err := errors.Join(s.warnOfUnserved(ctx), s.warnOfBarred(ctx)); err != nil && ctx.Err() == nil {
		report(err)
	}
}

// warnOfPlainHTTP warns of a public URL that has people and programs send their secrets in the clear. Addresses of this
// machine are for trying things out.
func (s *Server) warnOfPlainHTTP(ctx context.Context) {
	u, err := url.Parse(s.cfg.PublicURL)
	if err != nil || u.Scheme != "http" || isLoopback(u.Hostname()) {
		return
	}
	s.cfg.Log.WarnContext(ctx,
		"INSECURE: the public URL is http, so passwords, session cookies and API keys travel in the clear and anybody "+
			"on the way can "+
			"take them. Put a proxy that speaks TLS in front, or use --tls-cert or --acme-domain, and set "+
			"PRESSROOM_PUBLIC_URL (--public-url) to the https address", "public_url", s.cfg.PublicURL)
}

// isLoopback reports whether a host is this machine.
func isLoopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || err == nil && addr.Unmap().IsLoopback()
}

// warnOfUnserved tells of networks that hold connected accounts and that this node does not speak with.
func (s *Server) warnOfUnserved(ctx context.Context) error {
	connected, err := s.Accounts.ConnectedPlatforms(ctx)
	if err != nil {
		return err
	}
	var unserved []string
	for _, platform := range connected {
		if !slices.Contains(s.platforms, platform) {
			unserved = append(unserved, platform)
		}
	}
	if len(unserved) > 0 {
		s.cfg.Log.WarnContext(ctx,
			"posts of connected accounts will not go out, as this node has no app at their networks: "+
				"PRESSROOM_NETWORKS (--networks) of serve names them", "networks", unserved)
	}
	return nil
}

// warnOfBarred tells of servers of connected accounts that this node will not call.
func (s *Server) warnOfBarred(ctx context.Context) error {
	if s.guard == nil {
		return nil
	}
	servers, err := s.Accounts.Servers(ctx, "bluesky")
	if err != nil {
		return err
	}
	for _, server := range slices.Sorted(maps.Keys(servers)) {
		if barred(ctx, s.guard, server) {
			s.cfg.Log.WarnContext(ctx,
				"posts of connected accounts will not go out, as their server is not called: "+barredServer, "server",
				server, "accounts", servers[server])
		}
	}
	return nil
}

// barred tells whether a guard certainly refuses a server. What cannot be looked up is not known.
func barred(ctx context.Context, guard *safehttp.Client, server string) bool {
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
	ctx, cancel := context.WithTimeout(ctx, lookUpWithin)
	defer cancel()
	reached, err := guard.Reaches(ctx, u.Hostname(), port)
	return err == nil && !reached
}

// BarredServer says why serve will not call a Bluesky server, where only these servers are allowed; empty where it
// will, or where the server's name cannot be looked up.
func BarredServer(ctx context.Context, server string, allowed []string) (string, error) {
	guard, err := guardOf(allowed)
	if err != nil || !barred(ctx, guard, server) {
		return "", err
	}
	return barredServer, nil
}
