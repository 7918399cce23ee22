package tlscert

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"sync"
	"time"
)

// lookEvery is how often, at most, the files are looked at. It is done at handshakes: nobody needs a certificate else.
const lookEvery = time.Second

// pair is a certificate out of two files.
type pair struct {
	files Files
	now   func() time.Time
	log   *slog.Logger

	mu     sync.Mutex
	held   *tls.Certificate
	of     [2]os.FileInfo // of the files that were tried last
	looked time.Time
}

func openFiles(o Options) (*Certificates, error) {
	if o.Files.Certificate == "" || o.Files.Key == "" {
		return nil, errors.New("a certificate needs its key: give both files (--tls-cert, --tls-key)")
	}
	p := &pair{files: o.Files, now: o.Now, log: o.Log, looked: o.Now()}
	var err error
	if p.of, err = p.stat(); err != nil {
		return nil, err
	}
	if p.held, err = p.load(); err != nil {
		return nil, err
	}
	config := baseTLS()
	config.GetCertificate = func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return p.certificate(), nil }
	return &Certificates{
		config: config, expiry: p.expiry,
		answer: func(next http.Handler) http.Handler { return next },
		manage: func(context.Context) error { return nil }, stop: func() {},
	}, nil
}

func (p *pair) load() (*tls.Certificate, error) {
	loaded, err := tls.LoadX509KeyPair(p.files.Certificate, p.files.Key)
	if err != nil {
		return nil, fmt.Errorf("reading the certificate and its key: %w", err)
	}
	return &loaded, nil
}

func (p *pair) stat() ([2]os.FileInfo, error) {
	var out [2]os.FileInfo
	for i, name := range []string{p.files.Certificate, p.files.Key} {
		info, err := os.Stat(name)
		if err != nil {
			return out, fmt.Errorf("looking at the certificate's files: %w", err)
		}
		out[i] = info
	}
	return out, nil
}

// same tells whether a file is what it was. Another one in its place may be as old and as long.
func same(a, b os.FileInfo) bool {
	return os.SameFile(a, b) && a.ModTime().Equal(b.ModTime()) && a.Size() == b.Size()
}

// certificate is what the files hold. While what they hold cannot be used, as one of them is already new and the other
// is not, it is what they held before.
func (p *pair) certificate() *tls.Certificate {
	p.mu.Lock()
	defer p.mu.Unlock()
	if now := p.now(); now.Sub(p.looked) >= lookEvery {
		p.looked = now
		p.look()
	}
	return p.held
}

func (p *pair) look() {
	of, err := p.stat()
	if err == nil && same(of[0], p.of[0]) && same(of[1], p.of[1]) {
		return
	}
	if err == nil {
		p.of = of
		var loaded *tls.Certificate
		if loaded, err = p.load(); err == nil {
			p.held = loaded
			p.log.Info("took a new certificate from its files", "ends", loaded.Leaf.NotAfter.Format(time.RFC3339))
			return
		}
	}
	p.log.Error("the certificate's files cannot be used: going on with what they held before", "error", err, "ends", p.held.Leaf.NotAfter.Format(time.RFC3339))
}

func (p *pair) expiry() map[string]time.Time {
	leaf := p.certificate().Leaf
	name := leaf.Subject.CommonName
	if len(leaf.DNSNames) > 0 {
		name = leaf.DNSNames[0]
	}
	return map[string]time.Time{name: leaf.NotAfter}
}
