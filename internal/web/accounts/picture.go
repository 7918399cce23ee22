package accounts

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"net/http"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/domain/analytics"
	"pressroom.example/pressroom/internal/web/shell"
)

// picturePolicy is a Content-Security-Policy that prevents scripts in SVG images.
const picturePolicy = "sandbox; default-src 'none'"

// picture serves the profile picture of one of the team's accounts, or an image of the account's initials if it has no
// picture.
func (h *Handlers) picture(w http.ResponseWriter, r *http.Request) {
	id, err := shell.PathID(r, "id")
	if err != nil {
		h.ShowError(w, r, err)
		return
	}
	picture, err := h.analytics.Picture(r.Context(), shell.VisitorOf(r.Context()).Team.ID, id)
	if err != nil {
		h.ShowError(w, r, err)
		return
	}
	WritePicture(w, r, picture)
}

// WritePicture writes an account's profile picture, or an image of the account's initials if it has no picture.
func WritePicture(w http.ResponseWriter, r *http.Request, picture analytics.Picture) {
	mediaType, image := picture.Type, picture.Image
	if mediaType == "" {
		mediaType, image = "image/svg+xml", initialsImage(picture)
	}
	sum := sha256.Sum256(image)
	h := w.Header()
	h.Set("Content-Type", mediaType)
	h.Set("Content-Security-Policy", picturePolicy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "private, max-age=3600")
	h.Set("ETag", `"`+hex.EncodeToString(sum[:8])+`"`)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(image))
}

// initialsImage returns an image of the initials of an account's name.
func initialsImage(p analytics.Picture) []byte {
	var out bytes.Buffer
	out.WriteString(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64"><style>rect{fill:#d3e9e1}text{fill:#0a5543}` +
		`@media(prefers-color-scheme:dark){rect{fill:#1d4036}text{fill:#7cc9b4}}</style><rect width="64" height="64"/>` +
		`<text x="32" y="33" dy=".35em" text-anchor="middle" font-family="system-ui, sans-serif" font-size="24" font-weight="600">`)
	_ = xml.EscapeText(&out, []byte(strings.ToUpper(shell.Initials(cmp.Or(p.Name, p.Username))))) // a buffer never fails
	out.WriteString(`</text></svg>`)
	return out.Bytes()
}
