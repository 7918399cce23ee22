package safehttp

import (
	"io"
	"net/http"
	"slices"
	"testing"
)

// forbidden has addresses of each network that is not public unicast: the first address, the last address, or an
// address in between.
var forbidden = []string{
	"0.0.0.0", "0.1.2.3", "10.0.0.1", "10.255.255.255", "100.64.0.1", "100.127.255.255", "100.100.100.200", "127.0.0.2", "127.255.255.254",
	"168.63.129.16", "169.254.0.1", "169.254.169.254", "172.16.0.1", "172.31.255.255", "192.0.0.1", "192.0.0.192",
	"192.0.2.1", "192.88.99.1",
	"192.168.0.1", "192.168.255.255", "198.18.0.1", "198.19.255.255", "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.255.255.255",
	"240.0.0.1", "255.255.255.254", "255.255.255.255",
	"::", "::1", "::7f00:1", "::ffff:127.0.0.2", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "::ffff:0:127.0.0.1", "64:ff9b::7f00:1",
	"64:ff9b::a9fe:a9fe", "64:ff9b::808:808", "64:ff9b:1::1", "100::1", "100:0:0:1::1", "2001::1", "2001:0:7f00:1::1",
	"2001:2::1", "2001:20::1", "2001:1ff::1",
	"2001:db8::1", "2002:7f00:1::1", "2002:a00:1::1", "2620:4f:8000::1", "3fff::1", "3fff:fff::1", "4000::1", "5f00::1",
	"fc00::1", "fd00:ec2::254",
	"fdff::1", "fe80::1", "febf::1", "fec0::1", "feff::1", "ff02::1", "ff0e::1",
}

func TestForbiddenNetworks(t *testing.T) {
	w := newEnv(t, failOnRequest(t), nil)
	for _, address := range forbidden {
		name := "a.example.org"
		w.zone.set(name, always(address))
		t.Run(address, func(t *testing.T) {
			_, _, err := w.get(t, w.at(name, secretPath))
			wantCode(t, err, CodeRefused, address, name)
		})
	}
}

func TestAllAddressesForbidden(t *testing.T) {
	t.Parallel()
	w := newEnv(t, failOnRequest(t), nil)
	w.zone.set(host, always(forbidden[:20]...))
	_, _, err := w.get(t, w.at(host, secretPath))
	wantCode(t, err, CodeRefused, forbidden[:20]...)
}

func TestAllows(t *testing.T) {
	t.Parallel()
	w := newEnv(t, failOnRequest(t), nil)
	for name, address := range map[string]string{
		"public.example.org": "1.1.1.1", "private.example.org": "10.0.0.1", "mapped.example.org": "::ffff:10.0.0.1",
	} {
		w.zone.set(name, always(address))
	}
	w.zone.set("both.example.org", always("10.0.0.1", "1.1.1.1"))
	for host, want := range map[string]bool{
		"public.example.org": true, "private.example.org": false, "mapped.example.org": false, "both.example.org": true,
		"127.0.0.9": false, "1.1.1.1": true, standsIn: true,
	} {
		if got, err := w.client.Allows(t.Context(), host, w.port); err != nil || got != want {
			t.Errorf("%s: %t, %v", host, got, err)
		}
	}
	if got, err := w.client.Allows(t.Context(), "public.example.org", "80"); err != nil || got {
		t.Errorf("another port: %t, %v", got, err)
	}
	if _, err := w.client.Allows(t.Context(), "nobody.example.org", w.port); err == nil {
		t.Error("a name that does not resolve is allowed")
	}
}

// TestGuard checks that public addresses are allowed, including neighbors of forbidden networks, but only with one
// port.
func TestGuard(t *testing.T) {
	t.Parallel()
	guard := newGuard(hosts{}, httpsPort)
	for _, address := range []string{
		"1.1.1.1", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.0",
		"168.63.129.15", "169.253.255.255",
		"172.15.255.255", "172.32.0.0", "192.0.1.0", "192.167.255.255", "198.17.255.255", "198.20.0.0", "223.255.255.255",
		"[2606:4700:4700::1111]", "[2001:200::1]", "[2003::1]", "[2a00:1450::1]",
	} {
		if err := guard.Safe("tcp4", address+":443", nil); err != nil {
			t.Errorf("%s: %v", address, err)
		}
		for _, port := range []string{":80", ":22", ":8443", ":0"} {
			if guard.Safe("tcp4", address+port, nil) == nil {
				t.Errorf("%s%s is allowed", address, port)
			}
		}
	}
	if guard.Safe("udp4", "1.1.1.1:443", nil) == nil {
		t.Error("UDP is allowed")
	}
}

// TestMixedAddresses checks that only the public addresses of a name are dialed, in any order.
func TestMixedAddresses(t *testing.T) {
	t.Parallel()
	w := newEnv(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "file") }, nil)
	v4, v6 := setTrap(t, "127.0.0.2:"+w.port), setTrap(t, "[::1]:"+w.port)
	values := []string{"127.0.0.2", "::1", standsIn, "0.0.0.0", "::", "10.0.0.1"}
	for turn := range values {
		w.zone.set(host, always(slices.Concat(values[turn:], values[:turn])...))
		if _, body, err := w.get(t, w.at(host, "/")); err != nil || body != "file" {
			t.Errorf("turn %d: got %q, %v", turn, body, err)
		}
	}
	v4.empty(t)
	v6.empty(t)
}

// TestMixedAddressesUnreached checks that the source is unavailable if its public address does not respond.
func TestMixedAddressesUnreached(t *testing.T) {
	t.Parallel()
	closed := setTrap(t, standsIn+":0")
	closed.listener.Close()
	w := envAt(t, closed.listener.Addr(), newRoot(t), nil)
	w.zone.set(host, always("10.0.0.1", standsIn))
	_, _, err := w.get(t, w.at(host, secretPath))
	wantCode(t, err, CodeUnavailable)
}

func TestAliases(t *testing.T) {
	t.Parallel()
	w := newEnv(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "file") }, nil)
	private := setTrap(t, "127.0.0.2:"+w.port)
	w.zone.set("private.example.org", always("127.0.0.2"))
	w.zone.set("public.example.org", always(standsIn))
	w.zone.set("second.example.org", always("private.example.org"))
	w.zone.set("first.example.org", always("second.example.org"))
	w.zone.set("localhost", always("127.0.0.2"))
	w.zone.set("tolocalhost.example.org", always("localhost"))
	w.zone.set("loop.example.org", always("loop.example.org"))
	w.zone.set("nowhere.example.org", always("missing.example.org"))
	w.zone.set(host, always("public.example.org"))
	if _, body, err := w.get(t, w.at(host, "/")); err != nil || body != "file" {
		t.Errorf("got %q, %v", body, err)
	}
	for name, code := range map[string]string{
		"private.example.org": CodeRefused, "second.example.org": CodeRefused, "first.example.org": CodeRefused,
		"tolocalhost.example.org": CodeRefused,
		"loop.example.org":        CodeUnavailable, "nowhere.example.org": CodeUnavailable, "missing.example.org": CodeUnavailable,
	} {
		_, _, err := w.get(t, w.at(name, secretPath))
		wantCode(t, err, code, name)
	}
	private.empty(t)
}

// TestRebinding checks that the checked address is dialed even if the name resolves to another address in the meantime.
// A redirect to the same name is checked again.
func TestRebinding(t *testing.T) {
	t.Parallel()
	w := newEnv(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/again" {
			http.Redirect(w, r, "/file", http.StatusFound)
			return
		}
		io.WriteString(w, "file")
	}, nil)
	private := setTrap(t, "127.0.0.2:"+w.port)
	w.zone.set(host, [][]string{{standsIn}, {"127.0.0.2"}})
	if _, body, err := w.get(t, w.at(host, "/file")); err != nil || body != "file" {
		t.Errorf("got %q, %v", body, err)
	}
	_, _, err := w.get(t, w.at(host, "/file"))
	wantCode(t, err, CodeRefused)

	w.zone.set(host, [][]string{{standsIn}, {"127.0.0.2"}})
	_, _, err = w.get(t, w.at(host, "/again"))
	wantCode(t, err, CodeRefused)
	private.empty(t)
}

// TestNoSearchDomains checks that no search domains are appended.
func TestNoSearchDomains(t *testing.T) {
	t.Parallel()
	w := newEnv(t, failOnRequest(t), nil)
	_, _, err := w.get(t, w.at("missing.example.org", secretPath))
	wantCode(t, err, CodeUnavailable, "missing")
	for _, name := range w.zone.askedFor() {
		if name != "missing.example.org." {
			t.Errorf("queried %s", name)
		}
	}
}

// failOnRequest returns a handler that fails the test if it is called.
func failOnRequest(t *testing.T) http.HandlerFunc {
	return func(http.ResponseWriter, *http.Request) { t.Error("the server received a request") }
}
