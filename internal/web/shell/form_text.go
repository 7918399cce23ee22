package shell

import (
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"
)

// isText tells what can be text in a database: PostgreSQL keeps neither NUL nor what is no UTF-8.
func isText(s string) bool { return utf8.ValidString(s) && !strings.Contains(s, "\x00") }

// textual has every address that is no text not be there, so that no page looks for such a thing. A file that is sent
// may be called anything.
func (f *Frame) textual(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		query := url.Values{}
		if r.Method == http.MethodGet || r.Method == http.MethodHead {
			query, _ = url.ParseQuery(r.URL.RawQuery) // what cannot be read is read by nobody
		}
		if !isText(r.URL.Path) || !areTexts(query) {
			f.Missing(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func areTexts(values url.Values) bool {
	for name, all := range values {
		if !isText(name) || !isText(strings.Join(all, "")) {
			return false
		}
	}
	return true
}

// mend makes texts of all that a form holds: what is no text is shown as such.
func mend(form url.Values) {
	for _, all := range form {
		for i, value := range all {
			if !isText(value) {
				all[i] = strings.ToValidUTF8(strings.ReplaceAll(value, "\x00", "\uFFFD"), "\uFFFD")
			}
		}
	}
}
