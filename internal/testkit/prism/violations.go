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
	var violations []violation
	if err := json.Unmarshal([]byte(header), &violations); err != nil {
		return nil, []string{header} // Prism truncates long lists.
	}
	var inRequest, inResponse []string
	for _, v := range violations {
		if len(v.Location) > 0 && v.Location[0] == "request" {
			inRequest = append(inRequest, v.String())
		} else {
			inResponse = append(inResponse, v.String())
		}
	}
	return inRequest, inResponse
}

type violation struct {
	Location []string `json:"location"`
	Message  string   `json:"message"`
}

func (v violation) String() string { return strings.Join(v.Location, ".") + ": " + v.Message }
