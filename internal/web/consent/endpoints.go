package consent

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"pressroom/internal/apierr"
	"pressroom/internal/auth/oauth"
	"pressroom/internal/web/shell"
)

const maxBody = 16 << 10 // bytes of a program's request

// serverMetadata describes the authorisation server (RFC 8414).
func (p *Part) serverMetadata(w http.ResponseWriter, _ *http.Request) {
	tell(w, http.StatusOK, map[string]any{
		"issuer":                                         p.server.Issuer(),
		"authorization_endpoint":                         p.PublicURL + authorizePath,
		"token_endpoint":                                 p.PublicURL + tokenPath,
		"registration_endpoint":                          p.PublicURL + registerPath,
		"revocation_endpoint":                            p.PublicURL + revokePath,
		"scopes_supported":                               oauth.Scopes(),
		"response_types_supported":                       []string{"code"},
		"response_modes_supported":                       []string{"query"},
		"grant_types_supported":                          []string{"authorization_code", "refresh_token"},
		"token_endpoint_auth_methods_supported":          []string{"none"},
		"revocation_endpoint_auth_methods_supported":     []string{"none"},
		"code_challenge_methods_supported":               []string{"S256"},
		"client_id_metadata_document_supported":          p.server.Fetch != nil,
		"authorization_response_iss_parameter_supported": true,
		"protected_resources":                            []string{p.server.Resource()},
		"service_documentation":                          p.PublicURL + documentation,
	})
}

const documentation = "/docs/assistants"

// resourceMetadata describes the tools as what tokens are for (RFC 9728).
func (p *Part) resourceMetadata(w http.ResponseWriter, _ *http.Request) {
	tell(w, http.StatusOK, map[string]any{
		"resource":                 p.server.Resource(),
		"authorization_servers":    []string{p.server.Issuer()},
		"scopes_supported":         oauth.Scopes(),
		"bearer_methods_supported": []string{"header"},
		"resource_name":            "pressroom",
		"resource_documentation":   p.PublicURL + documentation,
	})
}

// register takes a program in (RFC 7591, section 3).
func (p *Part) register(w http.ResponseWriter, r *http.Request) {
	var asked oauth.Registration
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(&asked); err != nil {
		tell(w, http.StatusBadRequest,
			refusal{
				oauth.InvalidMetadata,
				"The body has to be a JSON object that describes the program, of 16 KiB at most.",
			})
		return
	}
	c, err := p.server.Register(r.Context(), p.Client(r), asked)
	if err != nil {
		p.refuse(w, r, err)
		return
	}
	tell(w, http.StatusCreated, map[string]any{
		"client_id": c.ID, "client_id_issued_at": c.Created.Unix(), "client_name": c.Name, "redirect_uris": c.Redirects,
		"token_endpoint_auth_method": "none", "grant_types": []string{"authorization_code", "refresh_token"},
		"response_types": []string{"code"},
		"scope":          strings.Join(oauth.Scopes(), " "),
	})
}

// token gives tokens out (RFC 6749, section 3.2).
func (p *Part) token(w http.ResponseWriter, r *http.Request) {
	form, client, ok := readForm(w, r)
	if !ok {
		return
	}
	got, err := p.server.Exchange(r.Context(), client, form)
	if err != nil {
		p.refuse(w, r, err)
		return
	}
	tell(w, http.StatusOK, map[string]any{
		"access_token": got.Access, "token_type": "Bearer", "expires_in": int(got.Lives / time.Second),
		"refresh_token": got.Refresh, "scope": got.Scope,
	})
}

// revoke takes a token back (RFC 7009). What was no token is answered alike.
func (p *Part) revoke(w http.ResponseWriter, r *http.Request) {
	form, client, ok := readForm(w, r)
	if !ok {
		return
	}
	if err := p.server.Revoke(r.Context(), client, form.Get("token")); err != nil {
		p.refuse(w, r, err)
		return
	}
	w.WriteHeader(http.StatusOK)
}

// readForm reads a program's form and which program it is. Some name it in the header for passwords, with none.
func readForm(w http.ResponseWriter, r *http.Request) (url.Values, string, bool) {
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	if err := r.ParseForm(); err != nil || len(r.PostForm) == 0 {
		tell(w, http.StatusBadRequest, refusal{oauth.InvalidRequest, "The body has to be a form, of 16 KiB at most."})
		return nil, "", false
	}
	client := r.PostForm.Get("client_id")
	if name, password, given := r.BasicAuth(); given {
		named, err := url.QueryUnescape(name)
		if err != nil || password != "" || client != "" && client != named {
			w.Header().Set("WWW-Authenticate", `Basic realm="token"`)
			tell(w, http.StatusUnauthorized,
				refusal{oauth.InvalidClient, "Programs have no password here: send client_id in the form."})
			return nil, "", false
		}
		client = named
	}
	return r.PostForm, client, true
}

// refusal is how programs are told of one (RFC 6749, section 5.2).
type refusal struct {
	Code string `json:"error"`
	Text string `json:"error_description"`
}

func (p *Part) refuse(w http.ResponseWriter, r *http.Request, err error) {
	var known *oauth.Error
	told := apierr.Of(p.Told(r, err))
	switch {
	case errors.As(err, &known):
		p.Log.InfoContext(r.Context(), "a program was refused", "route", r.Pattern, "error", known.Code, "why",
			known.Text)
		tell(w, http.StatusBadRequest, refusal{known.Code, known.Text})
	case told.Code == apierr.RateLimited:
		w.Header().Set("Retry-After", strconv.Itoa(int((told.RetryAfter+time.Second-1)/time.Second)))
		tell(w, http.StatusTooManyRequests, refusal{"temporarily_unavailable", told.Detail})
	case told.Code == apierr.Unavailable:
		w.Header().Set("Retry-After", strconv.Itoa(int(told.RetryAfter/time.Second)))
		tell(w, http.StatusServiceUnavailable, refusal{"temporarily_unavailable", told.Detail})
	default:
		if !shell.Gone(r) {
			p.Log.ErrorContext(r.Context(), "a program's request failed", "route", r.Pattern, "error", err)
		}
		tell(w, http.StatusInternalServerError, refusal{"server_error", "Something failed on our side."})
	}
}

// tell answers with JSON. Nothing of this may be kept by anybody on the way.
func tell(w http.ResponseWriter, status int, value any) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	h.Set("Pragma", "no-cache")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(value) //nolint:errchkjson // texts and numbers; the client may be gone
}
