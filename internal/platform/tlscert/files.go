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

// checkInterval is the minimum time between two checks of the files. The files are checked during TLS handshakes.
const checkInterval = time.Second

// filePair is a certificate and its key, read from two files.
type filePair struct {
	files Files
	now   func() time.Time
	log   *slog.Logger

	mu        sync.Mutex
	current   *tls.Certificate
	infos     [2]os.FileInfo // state of the files when they were loaded
	checkedAt time.Time
}

func openFiles(o Options) (*Certificates, error) {
	if o.Files.Certificate == "" || o.Files.Key == "" {
		return nil, errors.New("--tls-cert and --tls-key must be set together")
	}
	p := &filePair{files: o.Files, now: o.Now, log: o.Log, checkedAt: o.Now()}
	var err error
	if p.infos, err = p.stat(); err != nil {
		return nil, err
	}
	if p.current, err = p.load(); err != nil {
		return nil, err
	}
	config := baseTLS()
	config.GetCertificate = func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return p.certificate(), nil }
	return &Certificates{
		config: config, expiry: p.expiry,
		handleChallenges: func(next http.Handler) http.Handler { return next },
		manage:           func(context.Context) error { return nil }, stop: func() {},
	}, nil
}

func (p *filePair) load() (*tls.Certificate, error) {
	loaded, err := tls.LoadX509KeyPair(p.files.Certificate, p.files.Key)
	if err != nil {
		return nil, fmt.Errorf("reading the certificate and its key: %w", err)
	}
	return &loaded, nil
}

func (p *filePair) stat() ([2]os.FileInfo, error) {
	var out [2]os.FileInfo
	for i, name := range []string{p.files.Certificate, p.files.Key} {
		info, err := os.Stat(name)
		if err != nil {
			return out, fmt.Errorf("checking the certificate and key files: %w", err)
		}
		out[i] = info
	}
	return out, nil
}

// sameFile reports whether a file is unchanged. It also compares the identity of the file, because a new file may have
// the same time and size as the old one.
func sameFile(a, b os.FileInfo) bool {
	return os.SameFile(a, b) && a.ModTime().Equal(b.ModTime()) && a.Size() == b.Size()
}

// certificate returns the certificate from the files. If the certificate and the key do not match, because only one of
// the files has been replaced so far, it returns the previous certificate.
func (p *filePair) certificate() *tls.Certificate {
	p.mu.Lock()
	defer p.mu.Unlock()
	if now := p.now(); now.Sub(p.checkedAt) >= checkInterval {
		p.checkedAt = now
		p.reload()
	}
	return p.current
}

// reload reads the files again if they have changed.
func (p *filePair) reload() {
	infos, err := p.stat()
	if err == nil && sameFile(infos[0], p.infos[0]) && sameFile(infos[1], p.infos[1]) {
		return
	}
	if err == nil {
		p.infos = infos
		var loaded *tls.Certificate
		if loaded, err = p.load(); err == nil {
			p.current = loaded
			p.log.Info("Loaded a new certificate", "expires", loaded.Leaf.NotAfter.Format(time.RFC3339))
			return
		}
	}
	p.log.Error("Loading the new certificate failed; using the previous one",
		"error", err, "expires", p.current.Leaf.NotAfter.Format(time.RFC3339))
}

func (p *filePair) expiry() map[string]time.Time {
	leaf := p.certificate().Leaf
	name := leaf.Subject.CommonName
	if len(leaf.DNSNames) > 0 {
		name = leaf.DNSNames[0]
	}
	return map[string]time.Time{name: leaf.NotAfter}
}
