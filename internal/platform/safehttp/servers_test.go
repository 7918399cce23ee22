package safehttp

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"
)

// The tests' servers have public names, and an IP address that counts as public.
const (
	host       = "files.example.com"
	standsIn   = "127.0.0.1"
	otherHost  = "cdn.example.net"
	secretPath = "/secret-7Qx/photo.jpg?signature=9fK2"
)

// testRoot is a root certificate that the tests' clients trust.
type testRoot struct {
	pool *x509.CertPool
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newRoot(t *testing.T) testRoot {
	t.Helper()
	r := testRoot{pool: x509.NewCertPool()}
	form := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "root of a test"}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	r.key = newKey(t)
	r.cert = sign(t, form, form, r.key, r.key)
	r.pool.AddCert(r.cert)
	return r
}

// issue returns a server's certificate for names and addresses.
func (r testRoot) issue(t *testing.T, names ...string) tls.Certificate {
	t.Helper()
	form := &x509.Certificate{
		SerialNumber: big.NewInt(2), ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	for _, name := range names {
		if ip := net.ParseIP(name); ip != nil {
			form.IPAddresses = append(form.IPAddresses, ip)
		} else {
			form.DNSNames = append(form.DNSNames, name)
		}
	}
	key := newKey(t)
	return tls.Certificate{Certificate: [][]byte{sign(t, form, r.cert, key, r.key).Raw}, PrivateKey: key}
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func sign(t *testing.T, form, parent *x509.Certificate, key, by *ecdsa.PrivateKey) *x509.Certificate {
	t.Helper()
	der, err := x509.CreateCertificate(rand.Reader, form, parent, key.Public(), by)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return cert
}

// zone is a DNS server on loopback. For each name, it has the answers to successive queries: addresses, or another name
// as a CNAME. It repeats the last answer.
type zone struct {
	resolver *net.Resolver
	queries  atomic.Int64

	mu    sync.Mutex
	asked map[dnsmessage.Question]int
	names map[string][][]string
}

func newZone(t *testing.T, names map[string][][]string) *zone {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	z := &zone{names: names, asked: map[dnsmessage.Question]int{}}
	var dialer net.Dialer
	z.resolver = &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return dialer.DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
	go z.serve(conn)
	return z
}

func (z *zone) serve(conn net.PacketConn) {
	buf := make([]byte, 1500)
	for {
		n, from, err := conn.ReadFrom(buf)
		if err != nil {
			return
		}
		var query dnsmessage.Message
		if err := query.Unpack(buf[:n]); err != nil {
			continue
		}
		z.queries.Add(1)
		answer := z.answer(query.Questions[0])
		answer.ID = query.ID
		packed, err := answer.Pack()
		if err != nil {
			panic(err)
		}
		conn.WriteTo(packed, from)
	}
}

func (z *zone) answer(q dnsmessage.Question) dnsmessage.Message {
	out := dnsmessage.Message{
		Header:    dnsmessage.Header{Response: true, Authoritative: true, RecursionAvailable: true, RCode: dnsmessage.RCodeNameError},
		Questions: []dnsmessage.Question{q},
	}
	at := q
	for range 10 { // maximum chain of CNAMEs
		values, ok := z.next(at)
		if !ok {
			break
		}
		out.RCode = dnsmessage.RCodeSuccess
		var chain bool
		for _, value := range values {
			addr, err := netip.ParseAddr(value)
			head := dnsmessage.ResourceHeader{Name: at.Name, Class: dnsmessage.ClassINET, TTL: 0}
			switch {
			case err != nil:
				chain = true
				target := dnsmessage.MustNewName(value + ".")
				out.Answers = append(out.Answers, dnsmessage.Resource{Header: head, Body: &dnsmessage.CNAMEResource{CNAME: target}})
				at.Name = target
			case addr.Is4() && q.Type == dnsmessage.TypeA:
				out.Answers = append(out.Answers, dnsmessage.Resource{Header: head, Body: &dnsmessage.AResource{A: addr.As4()}})
			case addr.Is6() && q.Type == dnsmessage.TypeAAAA:
				out.Answers = append(out.Answers, dnsmessage.Resource{Header: head, Body: &dnsmessage.AAAAResource{AAAA: addr.As16()}})
			}
		}
		if !chain {
			break
		}
	}
	return out
}

func (z *zone) next(q dnsmessage.Question) ([]string, bool) {
	z.mu.Lock()
	defer z.mu.Unlock()
	name := strings.ToLower(strings.TrimSuffix(q.Name.String(), "."))
	turn := z.asked[q]
	z.asked[q]++
	turns, ok := z.names[name]
	if !ok {
		turns, ok = z.names["*"]
	}
	if !ok {
		return nil, false
	}
	return turns[min(turn, len(turns)-1)], true
}

// set replaces the answers for a name.
func (z *zone) set(name string, turns [][]string) {
	z.mu.Lock()
	defer z.mu.Unlock()
	z.names[name] = turns
	z.asked = map[dnsmessage.Question]int{}
}

// askedFor returns the names of the queries so far.
func (z *zone) askedFor() []string {
	z.mu.Lock()
	defer z.mu.Unlock()
	var names []string
	for q := range z.asked {
		names = append(names, q.Name.String())
	}
	return names
}

// always returns a name's answer to every query.
func always(values ...string) [][]string { return [][]string{values} }

// trap is a listener that must not be reached.
type trap struct {
	listener net.Listener
	arrived  chan net.Addr
}

// setTrap listens, or returns nil if the machine does not have the address.
func setTrap(t *testing.T, address string) *trap {
	t.Helper()
	listener, err := net.Listen("tcp", address)
	if err != nil {
		t.Logf("no trap on %s: %v", address, err)
		return nil
	}
	t.Cleanup(func() { listener.Close() })
	out := &trap{listener, make(chan net.Addr, 1000)}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			out.arrived <- conn.RemoteAddr()
			conn.Close()
		}
	}()
	return out
}

// empty fails the test if there was a connection. Connections are accepted in order, so the test's own connection must
// be the first.
func (tr *trap) empty(t *testing.T) {
	t.Helper()
	if tr == nil {
		return
	}
	conn, err := net.Dial("tcp", tr.listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if first := <-tr.arrived; first.String() != conn.LocalAddr().String() {
		t.Errorf("something connected to %s", tr.listener.Addr())
	}
}

// env is a source on an IP address that counts as public, a DNS server for it, and a client.
type env struct {
	client *Client
	zone   *zone
	root   testRoot
	port   string
}

// newEnv starts a source with a certificate for the names, by default for host and standsIn.
func newEnv(t *testing.T, handler http.HandlerFunc, set func(*Options), names ...string) env {
	t.Helper()
	if len(names) == 0 {
		names = []string{host, otherHost, standsIn}
	}
	root := newRoot(t)
	server := httptest.NewUnstartedServer(handler)
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	server.TLS = &tls.Config{Certificates: []tls.Certificate{root.issue(t, names...)}}
	server.StartTLS()
	t.Cleanup(server.Close)
	return envAt(t, server.Listener.Addr(), root, set)
}

func envAt(t *testing.T, addr net.Addr, root testRoot, set func(*Options)) env {
	t.Helper()
	port := netip.MustParseAddrPort(addr.String()).Port()
	w := env{root: root, port: strconv.Itoa(int(port))}
	w.zone = newZone(t, map[string][][]string{host: always(standsIn), otherHost: always(standsIn)})
	opts := Options{Allow: []string{standsIn}, RootCAs: root.pool, Resolver: w.zone.resolver}
	if set != nil {
		set(&opts)
	}
	client, err := newClient(opts, port)
	if err != nil {
		t.Fatal(err)
	}
	w.client = client
	return w
}

// at returns an address with the source's port.
func (w env) at(host, path string) string {
	return "https://" + net.JoinHostPort(host, w.port) + path
}
