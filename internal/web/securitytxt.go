package web

import (
	"fmt"
	"net/http"
	"time"
)

const (
	securityPath     = "/.well-known/security.txt"
	securityLifetime = 180 * 24 * time.Hour // counted from the end of today; RFC 9116 recommends less than a year
)

// securityText serves the contact for vulnerability reports (RFC 9116). It responds with "not found" if no contact is
// configured.
func (a *App) securityText(w http.ResponseWriter, r *http.Request) {
	if a.SecurityContact == "" {
		a.NotFound(w, r)
		return
	}
	today := a.DB.Now().UTC().Truncate(24 * time.Hour)
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	// the client may have disconnected
	_, _ = fmt.Fprintf(w, "Contact: %s\nExpires: %s\nPreferred-Languages: en\nCanonical: %s\n",
		a.SecurityContact, today.Add(24*time.Hour+securityLifetime).Format(time.RFC3339), a.PublicURL+securityPath)
}
