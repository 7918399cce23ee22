package prism

import (
	"encoding/json"
	"net/http"
	"strings"
)

// Violations tells what the description does not allow, first in the request that an answer belongs to, then in
// that answer. What cannot be read counts against the answer, so that no test passes over it.
func Violations(h http.Header) ([]string, []string) {
	told := h.Get("sl-violations")
	if told == "" {
		return nil, nil
	}
	var all []violation
	if err := json.Unmarshal([]byte(told), &all); err != nil {
		return nil, []string{told} // too many of them: Prism cuts the list off
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
