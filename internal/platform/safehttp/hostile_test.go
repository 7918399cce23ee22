package safehttp

import (
	"fmt"
	"io"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// byText are addresses that are rejected because of their text. PORT is the port of the traps.
var byText = strings.Fields(`
http://files.example.com/ http://127.0.0.1:PORT/ HTTP://files.example.com:PORT/ ftp://files.example.com/ file:///etc/passwd
file://localhost/etc/passwd gopher://127.0.0.1:PORT/_ dict://127.0.0.1:PORT/ ldap://127.0.0.1:PORT/ data:text/plain,a javascript:alert(1)
jar:https://files.example.com/ blob:https://files.example.com/ ws://files.example.com/ wss://files.example.com/ unix:///run/docker.sock
httpss://files.example.com/ xhttps://files.example.com/ httpſ://files.example.com/ https https: https:/ https:// https:/// https:////
https:/files.example.com:PORT/ https:files.example.com:PORT https:///127.0.0.1:PORT/ https:////127.0.0.1:PORT/ //127.0.0.1:PORT/
//files.example.com:PORT/ /etc/passwd files.example.com:PORT 127.0.0.1:PORT ?a #a :https://files.example.com/
url:https://files.example.com:PORT/ https://?a https://#a https://:PORT/ https://:443/ https://./ https://../ https://.:PORT/
https://..:PORT/ https://.files.example.com:PORT/ https://files..example.com:PORT/ https://files.example.com..:PORT/

https://127.0.0.1:PORT/ https://127.0.0.1/ https://127.0.0.1.:PORT/ https://127.1:PORT/ https://127.0.1:PORT/ https://127:PORT/
https://2130706433:PORT/ https://2130706433.:PORT/ https://0x7f000001:PORT/ https://0X7F000001:PORT/ https://0x7f.0.0.1:PORT/
https://0x7f.1:PORT/ https://127.0.0.0x1:PORT/ https://127.0x1:PORT/ https://0x:PORT/ https://a.0x:PORT/ https://0177.0.0.1:PORT/
https://017700000001:PORT/ https://0177.1:PORT/ https://00000177.0.0.1:PORT/ https://127.000.000.001:PORT/ https://0:PORT/
https://0.0.0.0:PORT/ https://00.00.00.00:PORT/ https://256.256.256.256:PORT/ https://127.0.0.1.1:PORT/ https://4294967297:PORT/
https://4294967296.:PORT/ https://files.example.1:PORT/ https://files.example.0x7f:PORT/ https://1.1.1.1:PORT/ https://8.8.8.8/
https://134744072/ https://169.254.169.254/latest/meta-data/ https://169.254.169.254:PORT/ https://2852039166/ https://0xa9fea9fe/
https://0251.0376.0251.0376/ https://10.0.0.1:PORT/ https://192.168.0.1:PORT/ https://172.16.0.1:PORT/ https://100.100.100.200/
https://168.63.129.16/ https://255.255.255.255:PORT/ https://224.0.0.1:PORT/

https://[::1]:PORT/ https://[::1]/ https://[::]:PORT/ https://[0:0:0:0:0:0:0:1]:PORT/
https://[0000:0000:0000:0000:0000:0000:0000:0001]:PORT/ https://[::0001]:PORT/ https://[::ffff:127.0.0.1]:PORT/
https://[::ffff:7f00:1]:PORT/ https://[0:0:0:0:0:ffff:127.0.0.1]:PORT/ https://[::127.0.0.1]:PORT/ https://[64:ff9b::127.0.0.1]:PORT/
https://[64:ff9b::7f00:1]:PORT/ https://[64:ff9b:1::7f00:1]:PORT/ https://[2002:7f00:1::]:PORT/ https://[2001:0:7f00:1::]:PORT/
https://[fe80::1]:PORT/ https://[fe80::1%25lo]:PORT/ https://[::1%25lo]:PORT/ https://[::1%lo]:PORT/ https://[::1%25]:PORT/
https://[fc00::1]:PORT/ https://[fd00:ec2::254]/ https://[fec0::1]/ https://[ff02::1]:PORT/ https://[2606:4700:4700::1111]/
https://[2001:db8::1]:PORT/ https://[127.0.0.1]:PORT/ https://[localhost]:PORT/ https://[files.example.com]:PORT/ https://[v1.a]:PORT/
https://[]:PORT/ https://[::1:PORT/ https://::1]:PORT/ https://::1:PORT/ https://[[::1]]:PORT/ https://[::1]x:PORT/
https://[::1].files.example.com:PORT/ https://[::1]:443:PORT/ https://[::ffff:127.1]:PORT/

https://１２７.０.０.１:PORT/ https://127。0。0。1:PORT/ https://127．0．0．1:PORT/ https://127｡0｡0｡1:PORT/ https://①②⑦.⓪.⓪.①:PORT/
https://𝟙𝟚𝟟.𝟘.𝟘.𝟙:PORT/ https://２１３０７０６４３３:PORT/ https://０ｘ７ｆ０００００１:PORT/ https://0ｘ7f.1:PORT/ https://127.0.0.1。:PORT/
https://ⓛocalhost:PORT/ https://ｌｏｃａｌｈｏｓｔ:PORT/ https://localhost。:PORT/ https://ˡᵒᶜᵃˡʰᵒˢᵗ:PORT/ https://foo。ⓛⓞⓒⓐⓛ:PORT/
https://[：：1]:PORT/ https://files.example.com：PORT/ https://files.example.com／.example.org:PORT/ https://user＠files.example.com:PORT/
https://files.example.com？.example.org:PORT/ https://files.example.com＃.example.org:PORT/ https://files℀.example.org:PORT/
https://files％2eexample.com:PORT/ https://xn--127-.0.0.1:PORT/ https://xn--a.example.com:PORT/ https://xn--.example.com:PORT/
https://xn--localhost-.com:PORT/ https://files_a.example.com:PORT/ https://*.example.com:PORT/ https://-a.example.com:PORT/
https://a-.example.com:PORT/ https://--1.sslip.io:PORT/ https://files!.example.com:PORT/ https://$files.example.com:PORT/
https://files,example.com:PORT/ https://files;.example.com:PORT/ https://"files".example.com:PORT/ https://<files>.example.com:PORT/
https://files|.example.com:PORT/ https://files^.example.com:PORT/ https://files{a}.example.com:PORT/ https://files'.example.com:PORT/
https://127.0.0.1,files.example.com:PORT/ https://${host}.example.com:PORT/

https://%31%32%37.0.0.1:PORT/ https://127%2e0%2e0%2e1:PORT/ https://%6c%6f%63alhost:PORT/ https://files%2eexample.com:PORT/
https://files.example.com%00.example.org:PORT/ https://files.example.com%2f.example.org:PORT/
https://files.example.com%23.example.org:PORT/ https://files.example.com%40127.0.0.1:PORT/ https://%EF%BC%91.example.com:PORT/
https://%E3%80%82:PORT/ https://files.example.com%3aPORT/ https://%5b::1%5d:PORT/ https://files.example.com:%34%34%33/ https://%/
https://%zz.example.com/ https://files.example.com:PORT/%zz

https://user@files.example.com:PORT/ https://user:pass@files.example.com:PORT/ https://@files.example.com:PORT/
https://:@files.example.com:PORT/ https://:pass@files.example.com:PORT/ https://files.example.com@127.0.0.1:PORT/
https://127.0.0.1@files.example.com:PORT/ https://files.example.com:PORT@127.0.0.1:PORT/ https://a@b@files.example.com:PORT/
https://files.example.com:443:@127.0.0.1:PORT/ https://files.example.com:PORT#@127.0.0.1:PORT/
https://files.example.com:PORT?@127.0.0.1:PORT/ https://files.example.com#@127.0.0.1:PORT/ https://files.example.com?a=b@127.0.0.1:PORT
https://127.0.0.1:PORT#@files.example.com/ https://127.0.0.1:PORT?@files.example.com/ https://user%40files.example.com:PORT/
https://files.example.com:PORT\@127.0.0.1:PORT/ https://files.example.com:PORT\\@127.0.0.1:PORT/
https://127.0.0.1:PORT\@files.example.com:PORT/

https:\\127.0.0.1:PORT\ https:\\files.example.com:PORT\ https:/\127.0.0.1:PORT/ https:\/127.0.0.1:PORT/ \\127.0.0.1:PORT\a
https://files.example.com:PORT\.127.0.0.1/ https://files.example.com\127.0.0.1:PORT/ https://files.example.com:PORT/\127.0.0.1
https://files.example.com:PORT/a\..\b https://\127.0.0.1:PORT/

https://files.example.com:0/ https://files.example.com:99999/ https://files.example.com:65536/ https://files.example.com:/
https://files.example.com:80/ https://files.example.com:22/ https://files.example.com:6379/ https://files.example.com:8443/
https://files.example.com:-1/ https://files.example.com:+PORT/ https://files.example.com:0PORT/ https://files.example.com:PORT:PORT/
https://files.example.com:PORT:/ https://files.example.com::PORT/ https://files.example.com:PORTa/ https://files.example.com:0x1bb/
https://files.example.com:４４３/ https://files.example.com:4_43/ https://files.example.com:4.43/
https://files.example.com:18446744073709552059/

https://localhost:PORT/ https://LOCALHOST:PORT/ https://localhost.:PORT/ https://a.localhost:PORT/ https://a.LocalHost.:PORT/
https://localhost.localdomain:PORT/ https://ip6-localhost:PORT/ https://ip6-loopback:PORT/ https://broadcasthost:PORT/
https://metadata.google.internal/ https://metadata.google.internal.:PORT/ https://metadata:PORT/ https://metadata/
https://instance-data.ec2.internal:PORT/ https://host.docker.internal:PORT/ https://kubernetes.default.svc.cluster.local:PORT/
https://printer.local:PORT/ https://db.intranet:PORT/ https://db.private:PORT/ https://db.corp:PORT/ https://router.home:PORT/
https://nas.lan:PORT/ https://router.home.arpa:PORT/ https://1.0.0.127.in-addr.arpa:PORT/ https://ip6.arpa:PORT/ https://a.test:PORT/
https://a.invalid:PORT/ https://a.example:PORT/ https://example:PORT/ https://a.onion:PORT/ https://a.alt:PORT/ https://mail.mail:PORT/
https://redis:PORT/ https://com:PORT/ https://app.own.example.org:PORT/ https://APP.own.example.org.:PORT/
https://ａpp.own.example.org:PORT/
`)

// byTextToo are further such addresses, with spaces or line breaks.
var byTextToo = []string{
	"", " ", "https://files.example.com:PORT/a b", " https://files.example.com:PORT/",
	"https://files.example.com:PORT/ ", "\thttps://files.example.com:PORT/",
	"https://files.example.com:PORT/\n", "https://files.example.com:PORT/\r\nHost: localhost",
	"https://files.example.com:PORT/\r\n\r\nGET / HTTP/1.1", "https://files\t.example.com:PORT/",
	"ht\ntps://files.example.com:PORT/", "https:\n//files.example.com:PORT/", "https://local\thost:PORT/",
	"https://127.0.0.1\n.example.com:PORT/", "https://127.0.0.1 .example.com:PORT/",
	"https://files.example.com:PORT /", "https://files.example.com:\tPORT/", "https://127.0.0.1:PORT\x00.example.com/",
	"https://files.example.com:PORT/\x00", "https://files.example.com:PORT/\x7f",
	"https://files.example.com:PORT/\x1b[0m", "https://files.example.com:PORT/\u0085",
	"https://files.example.com:PORT/\u2028", "https://files.example.com:PORT/\u00a0", "https://files.example.com\u3000:PORT/",
	"https://local\u00adhost:PORT/", "https://127.0\u00ad.0.1:PORT/", "https://lo\u200bcalhost:PORT/",
	"https://lo\u200ccalhost:PORT/", "https://lo\u200dcalhost:PORT/", "https://lo\u2060calhost:PORT/",
	"https://local\u034fhost:PORT/", "https://127\ufe0f.0.0.1:PORT/", "https://\ufefffiles.example.com:PORT/",
	"\ufeffhttps://files.example.com:PORT/", "https://files.example.com:PORT/\u202egpj.exe", "https://files\xff.example.com:PORT/",
	"https://files.example.com:PORT/\xc0\xaf", "https://files.example.com:PORT/\xed\xa0\x80",
	"https://files.example.com:PORT/" + strings.Repeat("a", maxAddress),
	"https://" + strings.Repeat("a", 64) + ".example.com:PORT/",
	"https://" + strings.Repeat("a.", 127) + "example.com:PORT/", "https://" + strings.Repeat("1", 1000) + ":PORT/",
	"https://" + strings.Repeat("[", 1000) + ":PORT/", "https://xn--" + strings.Repeat("9", 1900) + ".com/",
	"https://" + strings.Repeat("ﷺ", 600) + "/",
}

// byConnecting are valid addresses with names that resolve to this machine.
var byConnecting = strings.Fields(`
https://127.0.0.1.nip.io:PORT/ https://7f000001.nip.io:PORT/ https://www.127-0-0-1.sslip.io:PORT/ https://localtest.me:PORT/
https://lvh.me:PORT/ https://spoofed.example.org:PORT/ https://127.0.0.1.example.com:PORT/ https://0x7f000001.example.com:PORT/
https://localhost.example.com:PORT/ https://localhost.com:PORT/ https://a.co:PORT/ https://files.example.com:PORT/
https://FILES.example.com.:PORT/ https://ｆｉｌｅｓ.example。com:PORT/ https://bücher.example.com:PORT/ https://xn--bcher-kva.example.com:PORT/
https://☃.net:PORT/ https://files.example.com:PORT https://files.example.com:PORT?a https://files.example.com:PORT#a
https://files.example.com:PORT/@127.0.0.1/ https://files.example.com:PORT//127.0.0.1:PORT/
https://files.example.com:PORT/https://127.0.0.1:PORT/ https://files.example.com:PORT/%0d%0aHost:%20localhost
https://files.example.com:PORT/?url=https://127.0.0.1:PORT/ https://files.example.com:PORT/..;/ https://files.example.com:PORT/%2e%2e/
https://files.example.com:PORT/a:b@c https://files.example.com/
`)

// hostile returns a client without exceptions, a DNS server that resolves every name to traps on this machine, and the
// traps' port.
func hostile(t *testing.T) (*Client, *zone, string) {
	t.Helper()
	v4 := setTrap(t, "127.0.0.1:0")
	_, port, _ := strings.Cut(v4.listener.Addr().String(), ":")
	v6 := setTrap(t, "[::1]:"+port)
	z := newZone(t, map[string][][]string{"*": always("127.0.0.1", "::1", "::ffff:127.0.0.1", "0.0.0.0", "::")})
	number := netip.MustParseAddrPort(v4.listener.Addr().String()).Port()
	client, err := newClient(Options{Resolver: z.resolver, OwnHosts: []string{"app.own.example.org"}}, number)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		v4.empty(t)
		v6.empty(t)
	})
	return client, z, port
}

func TestHostileTexts(t *testing.T) {
	client, z, port := hostile(t)
	addresses := slices.Concat(byText, byTextToo)
	t.Logf("%d addresses", len(addresses))
	for i, address := range addresses {
		address = strings.ReplaceAll(address, "PORT", port)
		t.Run(fmt.Sprintf("%d %.40q", i, address), func(t *testing.T) {
			wantCode(t, client.Check(address), CodeRefused)
			_, err := client.Get(t.Context(), address, 1000, io.Discard)
			wantCode(t, err, CodeRefused)
			if u, parsed := url.Parse(address); parsed == nil && len(u.Host) > 5 && strings.Contains(err.Error(), u.Host) {
				t.Errorf("the error contains the host: %v", err)
			}
		})
	}
	if n := z.queries.Load(); n != 0 {
		t.Errorf("%d queries were sent for addresses that their text rejects", n)
	}
}

func TestHostileNames(t *testing.T) {
	client, _, port := hostile(t)
	for _, address := range byConnecting {
		address = strings.ReplaceAll(address, "PORT", port)
		t.Run(address, func(t *testing.T) {
			if err := client.Check(address); err != nil {
				t.Fatalf("the text was rejected: %v", err)
			}
			_, err := client.Get(t.Context(), address, 1000, io.Discard)
			wantCode(t, err, CodeRefused)
		})
	}
}

func TestHTTPSPort(t *testing.T) {
	t.Parallel()
	client, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, address := range []string{"https://files.example.com/", "https://files.example.com:443/", "https://files.example.com.:443"} {
		u, err := client.parse(address)
		if err != nil || u.Host != host {
			t.Errorf("%s: got %v, %v", address, u, err)
		}
	}
}

// FuzzCheck compares Check with other parsers.
func FuzzCheck(f *testing.F) {
	for _, address := range slices.Concat(byText, byTextToo, byConnecting) {
		f.Add(strings.ReplaceAll(address, "PORT", "443"))
	}
	client, err := New(Options{OwnHosts: []string{"app.own.example.org"}})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, address string) {
		asked, err := client.parse(address)
		if (err == nil) != (client.Check(address) == nil) {
			t.Fatal("the second check differs")
		}
		if err != nil {
			wantCode(t, err, CodeRefused)
			return
		}
		u, err := url.Parse(address)
		if err != nil || u.Scheme != "https" || u.User != nil || u.Port() != "" && u.Port() != "443" {
			t.Fatalf("%q was allowed: %v", address, err)
		}
		last := topLevel(asked.Host)
		if _, err := netip.ParseAddr(asked.Host); err == nil || last == asked.Host || strings.Trim(last,
			"0123456789") == "" || strings.HasPrefix(last, "0x") {
			t.Fatalf("%q leads to %q", address, asked.Host)
		}
		again, err := client.parse(asked.String())
		if err != nil || again.String() != asked.String() {
			if len(asked.String()) <= maxAddress {
				t.Fatalf("%q reads differently the second time: %v", asked, err)
			}
		}
	})
}
