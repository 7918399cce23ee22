package shell

import (
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"
)

// isText reports whether the database can store s. PostgreSQL rejects NUL characters and invalid UTF-8.
func isText(s string) bool { return utf8.ValidString(s) && !strings.Contains(s, "\x00") }

// requireText wraps a handler. It responds with 404 if the path, or the query of a GET or HEAD request, is not valid
// text.
func (s *Shell) requireText(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		query := url.Values{}
		if r.Method == http.MethodGet || r.Method == http.MethodHead {
			query, _ = url.ParseQuery(r.URL.RawQuery) // invalid pairs are never read
		}
		if !isText(r.URL.Path) || !hasOnlyText(query) {
			s.NotFound(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func hasOnlyText(values url.Values) bool {
	for name, all := range values {
		if !isText(name) || !isText(strings.Join(all, "")) {
			return false
		}
	}
	return true
}

// CleanForm replaces NUL characters and invalid UTF-8 in the values of a form with U+FFFD.
func CleanForm(form url.Values) {
	for _, all := range form {
		for i, value := range all {
			if !isText(value) {
				all[i] = strings.ToValidUTF8(strings.ReplaceAll(value, "\x00", "\uFFFD"), "\uFFFD")
			}
		}
	}
}
