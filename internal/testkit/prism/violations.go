package prism

import (
	"encoding/json"
	"net/http"
	"strings"
)

// Violations returns the violations of the OpenAPI document by the request and by the response. A header that cannot
// be parsed counts as a violation by the response.
func Violations(h http.Header) ([]string, []string) {
	header := h.Get("sl-violations")
	if header == "" {
		return nil, nil
	}
	var all []violation
	if err := json.Unmarshal([]byte(header), &all); err != nil {
		return nil, []string{header} // Prism truncates long lists.
	}
	var sent, answered []string
	for _, v := range all {
		if len(v.Location) > 0 && v.Location[0] == "request" {
			sent = append(sent, v.String())
		} else {
			answered = append(answered, v.String())
		}
	}
	return sent, answered
}

type violation struct {
	Location []string `json:"location"`
	Message  string   `json:"message"`
}

func (v violation) String() string { return strings.Join(v.Location, ".") + ": " + v.Message }
