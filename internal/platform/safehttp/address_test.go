package safehttp

import "testing"

// TestAddress checks that Address is canonical and idempotent.
func TestAddress(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		"https://harbour.example.com":                         "https://harbour.example.com/",
		"HTTPS://Harbour.Example.com:443?a=b#top":             "https://harbour.example.com/?a=b",
		"https://harbour.example.com./a%20b/../c":             "https://harbour.example.com/a%20b/../c",
		"https://kaffee-köln.example.com/straße":              "https://xn--kaffee-kln-lcb.example.com/stra%C3%9Fe",
		"https://harbour.example.com/a?q=%2F&next=https://x/": "https://harbour.example.com/a?q=%2F&next=https://x/",
	} {
		got, err := Address(given)
		if err != nil || got != want {
			t.Errorf("%s: got %s, %v, want %s", given, got, err, want)
		}
		if again, err := Address(got); err != nil || again != got {
			t.Errorf("%s: becomes %s when it is read again, %v", got, again, err)
		}
	}
}

func TestAddressRejects(t *testing.T) {
	t.Parallel()
	for _, given := range []string{
		"", "harbour.example.com", "http://harbour.example.com/", "ftp://harbour.example.com/", "https://",
		"https://ada@harbour.example.com/",
		"https://harbour.example.com:8443/", "https://127.0.0.1/", "https://[::1]/", "https://localhost/",
		"https://nas.local/", "https://intranet/",
		"https://harbour.example.com/\x00", "https://harbour.example.com/ a", "javascript:alert(1)",
	} {
		got, err := Address(given)
		if err == nil {
			t.Errorf("%q became %s", given, got)
			continue
		}
		wantCode(t, err, CodeRefused)
	}
}
