package e2e

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
)

// planted is in every untrusted text. It is no letter, so it is in no word or hashtag.
const planted = "⁂"

// plant forwards the answers of the source, with every text of the analyzed accounts marked.
func plant(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.URL.Path, "/vendor/v1/") {
			next.ServeHTTP(w, r)
			return
		}
		kept := httptest.NewRecorder()
		next.ServeHTTP(kept, r)
		body := kept.Body.Bytes()
		var said any
		if json.Unmarshal(body, &said) == nil {
			mark(said)
			body, _ = json.Marshal(said) // it was JSON
		}
		for name := range kept.Header() {
			if name != "Content-Length" {
				w.Header()[name] = kept.Header()[name]
			}
		}
		w.WriteHeader(kept.Code)
		_, _ = w.Write(body)
	})
}

// mark marks all texts of an answer.
func mark(said any) {
	switch v := said.(type) {
	case []any:
		for _, item := range v {
			mark(item)
		}
	case map[string]any:
		for name, value := range v {
			text, is := value.(string)
			switch {
			case !is:
				mark(value)
			case name == "caption" || name == "biography" || name == "display_name":
				v[name] = planted + " " + text
			case name == "website":
				v[name] = text + "?" + planted
			}
		}
	}
}

// mustSetPlantedApart checks that a planted text is only in untrusted_content.
func (w *env) mustSetPlantedApart(a answer, wrong func(string, any)) {
	if !bytes.Contains(a.raw, []byte(planted)) {
		return
	}
	rest := map[string]any{}
	for name, value := range a.body {
		if name != "untrusted_content" {
			rest[name] = value
		}
	}
	raw, err := json.Marshal(rest)
	if err != nil || bytes.Contains(raw, []byte(planted)) {
		wrong("a text of the analysed account outside untrusted_content", err)
	}
}
