package web

import (
	"fmt"
	"net/http"
	"time"
)

const (
	securityPath    = "/.well-known/security.txt"
	securityExpires = 180 * 24 * time.Hour // after the end of today; RFC 9116 wants less than a year
)

// securityText answers with whom to tell of a vulnerability (RFC 9116). It is not there if the operator names no
// contact.
func (a *App) securityText(w http.ResponseWriter, r *http.Request) {
	if a.SecurityContact == "" {
		a.Missing(w, r)
		return
	}
	today := a.DB.Now().UTC().Truncate(24 * time.Hour)
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	// the client may be gone
	_, _ = fmt.Fprintf(w, "Contact: %s\nExpires: %s\nPreferred-Languages: en\nCanonical: %s\n",
		a.SecurityContact, today.Add(24*time.Hour+securityExpires).Format(time.RFC3339), a.PublicURL+securityPath)
}
