package approvals

import (
	"encoding/base64"
	"net/http"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/domain/post/approval"
)

const (
	// signerCookie holds the name that a client last entered for a decision in this browser. It grants no access.
	signerCookie    = "pressroom-signer"
	signerMaxAge    = 180 * 24 * time.Hour
	maxSignerLength = 200 // maximum length of a name in characters
)

// signer returns the name that was last entered in this browser, or "". Other people with the same link do not see
// it.
func (h *Handlers) signer(r *http.Request) string {
	c, err := r.Cookie(signerCookie)
	if err != nil {
		return ""
	}
	name, err := base64.RawURLEncoding.DecodeString(c.Value)
	if err != nil || len(name) > 4*maxSignerLength {
		return ""
	}
	return strings.ToValidUTF8(string(name), "")
}

// rememberSigner stores the name in the form for the next decision in the same browser.
func (h *Handlers) rememberSigner(w http.ResponseWriter, r *http.Request) {
	http.SetCookie(w, &http.Cookie{ //nolint:gosec // Secure if the service uses HTTPS
		Name: signerCookie, Value: base64.RawURLEncoding.EncodeToString([]byte(r.PostForm.Get("name"))), Path: approval.Path,
		MaxAge: int(signerMaxAge / time.Second), HttpOnly: true, Secure: strings.HasPrefix(h.PublicURL, "https:"),
		SameSite: http.SameSiteLaxMode,
	})
}
