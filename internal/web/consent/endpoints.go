package consent

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/auth/oauth"
	"pressroom.example/pressroom/internal/web/shell"
)

const maxBody = 16 << 10 // maximum size of a request body in bytes

// serverMetadata serves the metadata of the authorization server (RFC 8414).
func (h *Handlers) serverMetadata(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, map[string]any{
		"issuer":                                         h.server.Issuer(),
		"authorization_endpoint":                         h.PublicURL + authorizePath,
		"token_endpoint":                                 h.PublicURL + tokenPath,
		"registration_endpoint":                          h.PublicURL + registerPath,
		"revocation_endpoint":                            h.PublicURL + revokePath,
		"scopes_supported":                               oauth.Scopes(),
		"response_types_supported":                       []string{"code"},
		"response_modes_supported":                       []string{"query"},
		"grant_types_supported":                          []string{"authorization_code", "refresh_token"},
		"token_endpoint_auth_methods_supported":          []string{"none"},
		"revocation_endpoint_auth_methods_supported":     []string{"none"},
		"code_challenge_methods_supported":               []string{"S256"},
		"client_id_metadata_document_supported":          h.server.Fetch != nil,
		"authorization_response_iss_parameter_supported": true,
		"protected_resources":                            h.server.Resources(),
		"service_documentation":                          h.PublicURL + documentationPath,
	})
}

const documentationPath = "/docs/assistants"

// resourceMetadata returns a handler that serves the metadata of a protected resource (RFC 9728).
func (h *Handlers) resourceMetadata(resource string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusOK, map[string]any{
			"resource":                 resource,
			"authorization_servers":    []string{h.server.Issuer()},
			"scopes_supported":         oauth.Scopes(),
			"bearer_methods_supported": []string{"header"},
			"resource_name":            "pressroom",
			"resource_documentation":   h.PublicURL + documentationPath,
		})
	}
}

// register registers a client (RFC 7591, section 3).
func (h *Handlers) register(w http.ResponseWriter, r *http.Request) {
	var registration oauth.Registration
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(&registration); err != nil {
		writeJSON(w, http.StatusBadRequest,
			rejection{
				oauth.InvalidMetadata,
				"The body must be a JSON object with client metadata of at most 16 KiB.",
			})
		return
	}
	c, err := h.server.Register(r.Context(), h.Client(r), registration)
	if err != nil {
		h.reject(w, r, err)
		return
	}
	writeJSON(w, http.StatusCreated, map[string]any{
		"client_id": c.ID, "client_id_issued_at": c.CreatedAt.Unix(), "client_name": c.Name, "redirect_uris": c.RedirectURIs,
		"token_endpoint_auth_method": "none", "grant_types": []string{"authorization_code", "refresh_token"},
		"response_types": []string{"code"},
		"scope":          strings.Join(oauth.Scopes(), " "),
	})
}

// token issues tokens (RFC 6749, section 3.2).
func (h *Handlers) token(w http.ResponseWriter, r *http.Request) {
	form, client, ok := readForm(w, r)
	if !ok {
		return
	}
	tokens, err := h.server.Exchange(r.Context(), client, form)
	if err != nil {
		h.reject(w, r, err)
		return
	}
	writeJSON(w, http.StatusOK, map[string]any{
		"access_token": tokens.Access, "token_type": "Bearer", "expires_in": int(tokens.ExpiresIn / time.Second),
		"refresh_token": tokens.Refresh, "scope": tokens.Scope,
	})
}

// revoke revokes a token (RFC 7009). The response is the same for unknown tokens.
func (h *Handlers) revoke(w http.ResponseWriter, r *http.Request) {
	form, client, ok := readForm(w, r)
	if !ok {
		return
	}
	if err := h.server.Revoke(r.Context(), client, form.Get("token")); err != nil {
		h.reject(w, r, err)
		return
	}
	w.WriteHeader(http.StatusOK)
}

// readForm returns the submitted form and the client ID. Some clients send the ID in the Authorization header, with an
// empty password. If the form or the ID is invalid, it writes the error response and returns false.
func readForm(w http.ResponseWriter, r *http.Request) (url.Values, string, bool) {
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	if err := r.ParseForm(); err != nil || len(r.PostForm) == 0 {
		writeJSON(w, http.StatusBadRequest, rejection{oauth.InvalidRequest, "The body must be a form of at most 16 KiB."})
		return nil, "", false
	}
	client := r.PostForm.Get("client_id")
	if name, password, ok := r.BasicAuth(); ok {
		clientID, err := url.QueryUnescape(name)
		if err != nil || password != "" || client != "" && client != clientID {
			w.Header().Set("WWW-Authenticate", `Basic realm="token"`)
			writeJSON(w, http.StatusUnauthorized,
				rejection{oauth.InvalidClient, "Clients have no secret. Send client_id in the form."})
			return nil, "", false
		}
		client = clientID
	}
	return r.PostForm, client, true
}

// rejection is an OAuth error (RFC 6749, section 5.2).
type rejection struct {
	Code string `json:"error"`
	Text string `json:"error_description"`
}

// reject writes err as an OAuth error.
func (h *Handlers) reject(w http.ResponseWriter, r *http.Request, err error) {
	var oauthErr *oauth.Error
	f := apierr.FromError(h.AsUnavailable(r, err))
	switch {
	case errors.As(err, &oauthErr):
		h.Log.InfoContext(r.Context(), "OAuth request rejected", "route", r.Pattern, "error", oauthErr.Code, "why",
			oauthErr.Text)
		writeJSON(w, http.StatusBadRequest, rejection{oauthErr.Code, oauthErr.Text})
	case f.Code == apierr.RateLimited:
		w.Header().Set("Retry-After", strconv.Itoa(int((f.RetryAfter+time.Second-1)/time.Second)))
		writeJSON(w, http.StatusTooManyRequests, rejection{"temporarily_unavailable", f.Detail})
	case f.Code == apierr.Unavailable:
		w.Header().Set("Retry-After", strconv.Itoa(int(f.RetryAfter/time.Second)))
		writeJSON(w, http.StatusServiceUnavailable, rejection{"temporarily_unavailable", f.Detail})
	default:
		if !shell.IsClientGone(r) {
			h.Log.ErrorContext(r.Context(), "OAuth request failed", "route", r.Pattern, "error", err)
		}
		writeJSON(w, http.StatusInternalServerError, rejection{"server_error", "An error occurred on our side."})
	}
}

// writeJSON writes a JSON response that must not be cached.
func writeJSON(w http.ResponseWriter, status int, value any) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	h.Set("Pragma", "no-cache")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(value) //nolint:errchkjson // texts and numbers; the client may have disconnected
}
