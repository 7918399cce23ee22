package e2e

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
)

// plantedText is added to every untrusted text. Because it is not a letter, it does not change words or hashtags.
const plantedText = "⁂"

// plantMarkers forwards the provider's responses with plantedText added to every text of the analyzed accounts.
func plantMarkers(next http.Handler) http.Handler {
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

// mark adds plantedText to all texts of a response.
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
				v[name] = plantedText + " " + text
			case name == "website":
				v[name] = text + "?" + plantedText
			}
		}
	}
}

// mustSetPlantedApart checks that plantedText occurs only in untrusted_content.
func (w *env) mustSetPlantedApart(a answer, wrong func(string, any)) {
	if !bytes.Contains(a.raw, []byte(plantedText)) {
		return
	}
	rest := map[string]any{}
	for name, value := range a.body {
		if name != "untrusted_content" {
			rest[name] = value
		}
	}
	raw, err := json.Marshal(rest)
	if err != nil || bytes.Contains(raw, []byte(plantedText)) {
		wrong("a text of the analysed account outside untrusted_content", err)
	}
}
