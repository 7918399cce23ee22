package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"pressroom.example/pressroom/internal/api/problem"
	"pressroom.example/pressroom/internal/api/rest"
	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/platform/tlscert"
)

// httpListener is a listener and its server.
type httpListener struct {
	server   *http.Server
	listener net.Listener
	tls      bool
}

func (l httpListener) serve() error {
	serve := l.server.Serve
	if l.tls {
		serve = func(tcp net.Listener) error { return l.server.ServeTLS(tcp, "", "") }
	}
	if err := serve(l.listener); err != nil {
		return fmt.Errorf("serving at %s: %w", l.listener.Addr(), err)
	}
	return nil
}

// openListeners returns the public listener, which is already open, and opens the others.
func (s *Server) openListeners(public net.Listener) ([]httpListener, error) {
	first := httpListener{server: newHTTPServer(s.handler), listener: public}
	if s.certs != nil {
		first.server.TLSConfig, first.tls = s.certs.TLS(), true
	}
	out := []httpListener{first}
	for _, spec := range []struct {
		addr, purpose string
		handler       http.Handler
	}{
		{s.cfg.MetricsAddr, "for /metrics (--metrics-addr)", s.MetricsHandler()},
		{s.cfg.PlainAddr, "for plain HTTP (--plain-addr)", s.plainHandler()},
	} {
		if spec.addr == "" {
			continue
		}
		l, err := net.Listen("tcp", spec.addr)
		if err != nil {
			for _, opened := range out[1:] {
				_ = opened.listener.Close() // the program will not start
			}
			return nil, fmt.Errorf("listening %s: %w", spec.purpose, err)
		}
		out = append(out, httpListener{server: newHTTPServer(spec.handler), listener: l})
	}
	return out, nil
}

// listen serves until the context ends or a listener fails.
func (s *Server) listen(ctx context.Context, public net.Listener) error {
	listeners, err := s.openListeners(public)
	if err != nil {
		return err
	}
	errs := make(chan error, len(listeners))
	problems := &protocolErrors{s.cfg.PublicURL, s.cfg.Log, s.securityHeaders()}
	for _, l := range listeners {
		l.server.ErrorLog = slog.NewLogLogger(s.cfg.Log.Handler(), slog.LevelWarn) // mostly failed connections
		problems.attach(&l)
		go func() { errs <- l.serve() }()
	}
	if s.certs != nil { // not earlier, because a certificate authority connects to validate the domain
		err = s.certs.Manage(ctx)
	}
	if err == nil {
		select {
		case <-ctx.Done():
			err = s.announceShutdown(errs)
		case err = <-errs:
		}
	}
	s.jobs.EndWaits()
	s.feed.Close()
	drainCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTimeout)
	defer cancel()
	for _, l := range listeners {
		err = errors.Join(err, s.ignoreTimeout("requests", l.server.Shutdown(drainCtx)))
	}
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// MaxShutdownDelay is the maximum time for which a stopping node still accepts requests.
const MaxShutdownDelay = 30 * time.Second

// announceShutdown makes /readyz return 503, and continues to serve requests until load balancers have noticed.
func (s *Server) announceShutdown(errs <-chan error) error {
	s.stopping.Store(true)
	if delay := s.cfg.ShutdownDelay; delay > 0 {
		s.cfg.Log.Info("about to stop: /readyz returns 503, but requests are still served", "for", delay.String())
		select {
		case <-time.After(delay):
		case err := <-errs:
			return err
		}
	}
	s.cfg.Log.Info("stopping: rejecting new requests and finishing running ones", "at_most", drainTimeout.String())
	return nil
}

const (
	headerTimeout  = 10 * time.Second
	readTimeout    = time.Minute
	writeTimeout   = 2 * time.Minute
	idleTimeout    = 2 * time.Minute
	maxHeaderBytes = 64 << 10

	// HTTP/2 limits: the number of concurrent requests per connection, and the time after which an unresponsive
	// connection is closed.
	maxStreams       = 128
	pingInterval     = 30 * time.Second
	pingTimeout      = 15 * time.Second
	writeByteTimeout = 30 * time.Second
)

func newHTTPServer(h http.Handler) *http.Server {
	return &http.Server{Handler: closeAfterChunked(h), ReadHeaderTimeout: headerTimeout, ReadTimeout: readTimeout,
		WriteTimeout: writeTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeaderBytes,
		HTTP2: &http.HTTP2Config{
			MaxConcurrentStreams: maxStreams, SendPingTimeout: pingInterval, PingTimeout: pingTimeout,
			WriteByteTimeout: writeByteTimeout,
		},
		DisableGeneralOptionsHandler: true} // no endpoint supports OPTIONS
}

// closeAfterChunked closes the connection after a chunked request. If such a request also has a Content-Length,
// net/http ignores the length, but a proxy may not. They would then disagree about where the next request starts (RFC
// 9112, section 6.1).
func closeAfterChunked(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if len(r.TransferEncoding) > 0 {
			w.Header().Set("Connection", "close")
		}
		next.ServeHTTP(w, r)
	})
}

// openCertificates returns the TLS certificates, or nil if the program does not terminate TLS.
func openCertificates(cfg Config) (*tlscert.Certificates, error) {
	opts := cfg.Certificates
	if !opts.IsConfigured() || cfg.ReadOnlyFiles {
		return nil, nil //nolint:nilnil // nil means that the program does not terminate TLS
	}
	opts.Log = cfg.Log
	return tlscert.Open(opts)
}

// plainHandler returns a handler that responds to ACME challenges and redirects browsers to TLS. It does not redirect
// API clients, because they would then send their key in plain text with every call without noticing.
func (s *Server) plainHandler() http.Handler {
	h := http.Handler(http.HandlerFunc(s.redirectToTLS))
	if s.certs != nil {
		return s.certs.HandleChallenges(h)
	}
	return h
}

// redirectToTLS redirects browsers and returns an error to API clients.
func (s *Server) redirectToTLS(w http.ResponseWriter, r *http.Request) {
	path := r.URL.Path
	program := path == rest.Prefix || strings.HasPrefix(path, rest.Prefix+"/") || path == mcpPath ||
		r.Header.Get("Authorization") != ""
	if program || r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("Connection", "close")
		problem.Write(w,
			apierr.New(apierr.EndpointNotFound,
				"Use https: nothing is served without TLS. If you sent a key, it was transmitted in plain text: revoke "+
					"it."), s.cfg.PublicURL)
		return
	}
	// Use the operator's public URL. The Host header is not trusted, because the client chooses it.
	target := s.cfg.PublicURL + r.URL.EscapedPath()
	if r.URL.RawQuery != "" {
		target += "?" + r.URL.RawQuery
	}
	w.Header().Set("Location", target)
	w.WriteHeader(http.StatusMovedPermanently)
}

// certificateCollector reports when certificates expire.
type certificateCollector struct{ certs *tlscert.Certificates }

var expiryMetric = newDesc("certificate_expiry_timestamp_seconds",
	"Unix time at which a certificate expires, if the program terminates TLS.", "name")

// Describe sends the descriptions of the metrics.
func (*certificateCollector) Describe(out chan<- *prometheus.Desc) { out <- expiryMetric }

// Collect sends the expiry time of each certificate.
func (c *certificateCollector) Collect(out chan<- prometheus.Metric) {
	if c.certs == nil {
		return
	}
	for name, expiry := range c.certs.Expiry() {
		out <- prometheus.MustNewConstMetric(expiryMetric, prometheus.GaugeValue, float64(expiry.Unix()), name)
	}
}
