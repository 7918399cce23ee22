package safehttp

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
)

// redirecting serves a file at /file, and redirects /N to /N-1 with cookies.
func redirecting(asked *atomic.Int64) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		if left, err := strconv.Atoi(r.URL.Path[1:]); err == nil && left > 0 {
			http.SetCookie(w, &http.Cookie{Name: "session", Value: "1"})
			http.Redirect(w, r, fmt.Sprintf("/%d", left-1), http.StatusFound)
			return
		}
		for _, field := range []string{"Cookie", "Referer", "Authorization"} {
			if r.Header.Get(field) != "" {
				w.WriteHeader(http.StatusTeapot)
			}
		}
		io.WriteString(w, "file")
	}
}

func TestRedirects(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	w := newEnv(t, redirecting(&asked), nil)
	got, body, err := w.get(t, w.at(host, "/5"))
	if err != nil || body != "file" || got.Name != "0" || asked.Load() != 6 {
		t.Errorf("got %+v, %q, %v after %d requests", got, body, err, asked.Load())
	}
	asked.Store(0)
	_, _, err = w.get(t, w.at(host, "/6"))
	wantCode(t, err, CodeUnavailable)
	if asked.Load() != 6 {
		t.Errorf("%d requests were sent", asked.Load())
	}
}

func TestNoRedirects(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	w := newEnv(t, redirecting(&asked), func(o *Options) { o.Redirects = -1 })
	if _, body, err := w.get(t, w.at(host, "/0")); err != nil || body != "file" {
		t.Errorf("got %q, %v", body, err)
	}
	_, _, err := w.get(t, w.at(host, "/1"))
	wantCode(t, err, CodeUnavailable)
}

func TestRedirectTargets(t *testing.T) {
	var targets []string
	var status int
	w := newEnv(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/file" {
			io.WriteString(w, r.Method+" file")
			return
		}
		w.Header()["Location"] = targets
		w.WriteHeader(status)
	}, func(o *Options) { o.OwnHosts = []string{"app.own.example.org"} })
	w.zone.set("private.example.org", always("127.0.0.2"))
	traps := []*trap{setTrap(t, "127.0.0.2:"+w.port), setTrap(t, "[::1]:"+w.port)}
	to := func(t *testing.T, code string, locations ...string) {
		t.Helper()
		targets = nil
		for _, location := range locations {
			targets = append(targets, strings.ReplaceAll(location, "PORT", w.port))
		}
		_, body, err := w.get(t, w.at(host, "/start"))
		if code != "" {
			wantCode(t, err, code)
		} else if err != nil || body != "GET file" {
			t.Errorf("got %q, %v", body, err)
		}
	}
	for status = range 400 {
		switch status {
		case 301, 302, 303, 307, 308:
			to(t, "", "/file")
		case 300, 304, 305, 306, 309, 399:
			to(t, CodeUnavailable, "/file")
		}
	}
	status = http.StatusFound
	for _, location := range []string{"file", "./a/../file", "//" + otherHost + ":PORT/file", "https://" + otherHost + ".:PORT/file#a"} {
		to(t, "", location)
	}
	to(t, CodeUnavailable)
	to(t, CodeUnavailable, "/file", "/file")
	to(t, CodeUnavailable, "") // redirects to itself
	to(t, CodeUnavailable, "/start")
	for _, location := range byText {
		isAddress := strings.HasPrefix(location, "https://") || strings.Contains(location, ":/") || strings.HasPrefix(location, "//1")
		if isAddress && !strings.HasSuffix(location, "//127.0.0.1:PORT/") && location != "https://127.0.0.1/" { // allowed here
			t.Run(location, func(t *testing.T) { to(t, CodeRefused, location) })
		}
	}
	for _, location := range []string{
		"https://private.example.org:PORT/", "//private.example.org:PORT/", "//127.0.0.2:PORT/", "//[::1]:PORT/",
		"///127.0.0.2:PORT/a b", "/\\127.0.0.2:PORT/", "\\\\127.0.0.2:PORT/",
		"//user@127.0.0.2:PORT/", "//files.example.com:22/", "https:127.0.0.2", "https:/127.0.0.2:PORT/",
		"mailto:a@b.c", "/\xff", "/%zz", "/" + strings.Repeat("a", maxAddress),
	} {
		t.Run(location, func(t *testing.T) { to(t, CodeRefused, location) })
	}
	for _, trap := range traps {
		trap.empty(t)
	}
}

func TestRedirectToForbiddenNetworks(t *testing.T) {
	var w env
	w = newEnv(t, func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Location", w.at("a.example.org", secretPath))
		rw.WriteHeader(http.StatusMovedPermanently)
	}, nil)
	for _, address := range forbidden {
		w.zone.set("a.example.org", always(address))
		t.Run(address, func(t *testing.T) {
			_, _, err := w.get(t, w.at(host, "/"))
			wantCode(t, err, CodeRefused, address, "a.example.org")
		})
	}
}
