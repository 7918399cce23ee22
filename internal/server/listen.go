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

	"pressroom/internal/api/problem"
	"pressroom/internal/api/rest"
	"pressroom/internal/apierr"
	"pressroom/internal/platform/tlscert"
)

// door is a listener with who answers there.
type door struct {
	server   *http.Server
	listener net.Listener
	tls      bool
}

func (d door) serve() error {
	serve := d.server.Serve
	if d.tls {
		serve = func(l net.Listener) error { return d.server.ServeTLS(l, "", "") }
	}
	if err := serve(d.listener); err != nil {
		return fmt.Errorf("serving at %s: %w", d.listener.Addr(), err)
	}
	return nil
}

// doors opens what this node listens at beside its own address, which is open.
func (s *Server) doors(listener net.Listener) ([]door, error) {
	own := door{server: newHTTPServer(s.handler), listener: listener}
	if s.certs != nil {
		own.server.TLSConfig, own.tls = s.certs.TLS(), true
	}
	out := []door{own}
	for _, more := range []struct {
		addr, what string
		answers    http.Handler
	}{{s.cfg.MetricsAddr, "for /metrics (--metrics-addr)", s.MetricsHandler()}, {
		s.cfg.PlainAddr, "for plain HTTP (--plain-addr)", s.plain(),
	}} {
		if more.addr == "" {
			continue
		}
		l, err := net.Listen("tcp", more.addr)
		if err != nil {
			for _, opened := range out[1:] {
				_ = opened.listener.Close() // the program does not start
			}
			return nil, fmt.Errorf("listening %s: %w", more.what, err)
		}
		out = append(out, door{server: newHTTPServer(more.answers), listener: l})
	}
	return out, nil
}

// listen serves until the context ends or a listener fails.
func (s *Server) listen(ctx context.Context, listener net.Listener) error {
	doors, err := s.doors(listener)
	if err != nil {
		return err
	}
	failed := make(chan error, len(doors))
	refusals := &refusals{s.cfg.PublicURL, s.cfg.Log, s.securityHeaders()}
	for _, d := range doors {
		d.server.ErrorLog = slog.NewLogLogger(s.cfg.Log.Handler(), slog.LevelWarn) // of connections that fail, mostly
		refusals.attach(&d)
		go func() { failed <- d.serve() }()
	}
	if s.certs != nil { // whoever gives certificates comes to look at what is being served
		err = s.certs.Manage(ctx)
	}
	if err == nil {
		select {
		case <-ctx.Done():
			err = s.takeLeave(failed)
		case err = <-failed:
		}
	}
	s.jobs.EndWaits()
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), drain)
	defer cancel()
	for _, d := range doors {
		err = errors.Join(err, s.cutOff("requests", d.server.Shutdown(ending)))
	}
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// MaxShutdownDelay is the longest that a node may serve on once it is told to end.
const MaxShutdownDelay = 30 * time.Second

// takeLeave tells whoever asks that this node is about to go, and serves on for as long as they may take to ask.
func (s *Server) takeLeave(failed <-chan error) error {
	s.ending.Store(true)
	if delay := s.cfg.ShutdownDelay; delay > 0 {
		s.cfg.Log.Info("about to stop: /readyz answers 503, and requests are served on", "for", delay.String())
		select {
		case <-time.After(delay):
		case err := <-failed:
			return err
		}
	}
	s.cfg.Log.Info("stopping: taking no more requests and letting what is under way end", "at_most", drain.String())
	return nil
}

const (
	headersWithin = 10 * time.Second
	readWithin    = time.Minute
	writeWithin   = 2 * time.Minute
	idleFor       = 2 * time.Minute
	maxHeaders    = 64 << 10 // bytes

	// Of HTTP/2: how many requests a connection may have under way, after how long without a word it is asked whether
	// it is still there, how long it has to answer that, and how long it may take nothing that is written to it.
	maxStreams  = 128
	pingAfter   = 30 * time.Second
	pingWithin  = 15 * time.Second
	takesWithin = 30 * time.Second
)

func newHTTPServer(h http.Handler) *http.Server {
	return &http.Server{Handler: alone(h), ReadHeaderTimeout: headersWithin, ReadTimeout: readWithin,
		WriteTimeout: writeWithin, IdleTimeout: idleFor, MaxHeaderBytes: maxHeaders,
		HTTP2: &http.HTTP2Config{
			MaxConcurrentStreams: maxStreams, SendPingTimeout: pingAfter, PingTimeout: pingWithin,
			WriteByteTimeout: takesWithin,
		},
		DisableGeneralOptionsHandler: true} // OPTIONS is no method of any address
}

// alone ends the connection after a request that came in chunks. It may have told a length too, which net/http passes
// over and a proxy before us may not: what follows on the connection would be one request for it and another one for
// us (RFC 9112, section 6.1).
func alone(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if len(r.TransferEncoding) > 0 {
			w.Header().Set("Connection", "close")
		}
		next.ServeHTTP(w, r)
	})
}

// openCertificates is nil where the program does not speak TLS itself.
func openCertificates(cfg Config) (*tlscert.Certificates, error) {
	opts := cfg.Certificates
	if !opts.Enabled() || cfg.LookAtFiles {
		return nil, nil //nolint:nilnil // most programs stand behind a proxy
	}
	opts.Log = cfg.Log
	return tlscert.Open(opts)
}

// plain answers what comes without TLS: challenges of an ACME server, and people, who are led to the same page by TLS.
// A program is not led on: it would send its key in the clear each time, and nobody would see.
func (s *Server) plain() http.Handler {
	h := http.Handler(http.HandlerFunc(s.lead))
	if s.certs != nil {
		return s.certs.Answer(h)
	}
	return h
}

// lead leads a browser to TLS, and tells a program what it has done.
func (s *Server) lead(w http.ResponseWriter, r *http.Request) {
	path := r.URL.Path
	program := path == rest.Prefix || strings.HasPrefix(path, rest.Prefix+"/") || path == mcpPath ||
		r.Header.Get("Authorization") != ""
	if program || r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("Connection", "close")
		problem.Write(w,
			apierr.New(apierr.EndpointNotFound,
				"Nothing is answered here without TLS: use https. A key that was sent here went through the network "+
					"in the clear: revoke it."), s.cfg.PublicURL)
		return
	}
	// The address that the operator named, and not the Host of the request, which is anybody's.
	target := s.cfg.PublicURL + r.URL.EscapedPath()
	if r.URL.RawQuery != "" {
		target += "?" + r.URL.RawQuery
	}
	w.Header().Set("Location", target)
	w.WriteHeader(http.StatusMovedPermanently)
}

// expiryState is what Prometheus reads of certificates as it asks.
type expiryState struct{ certs *tlscert.Certificates }

var expiryMetric = told("certificate_expiry_timestamp_seconds",
	"When the certificate of a name ends, in seconds since 1970, where the program speaks TLS itself.", "name")

// Describe names what Collect tells.
func (*expiryState) Describe(out chan<- *prometheus.Desc) { out <- expiryMetric }

// Collect tells when each certificate ends.
func (e *expiryState) Collect(out chan<- prometheus.Metric) {
	if e.certs == nil {
		return
	}
	for name, ends := range e.certs.Expiry() {
		out <- prometheus.MustNewConstMetric(expiryMetric, prometheus.GaugeValue, float64(ends.Unix()), name)
	}
}
