package apikey

import (
	"net/http"
	"strings"
)

// BearerToken returns the bearer token from the Authorization header (RFC 6750, section 2.1). It returns "" if the
// header is missing, occurs more than once, or uses another scheme.
func BearerToken(r *http.Request) string {
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
