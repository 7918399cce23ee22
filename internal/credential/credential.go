// Package credential reads what a request authenticates with; both edges take the same.
package credential

import (
	"net/http"
	"strings"
)

// Bearer is the token of the Authorization header (RFC 6750, section 2.1); empty where there is none of that
// scheme or more than one header.
func Bearer(r *http.Request) string {
	values := r.Header.Values("Authorization")
	if len(values) != 1 {
		return ""
	}
	scheme, token, _ := strings.Cut(values[0], " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}
