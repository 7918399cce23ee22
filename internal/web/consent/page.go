package consent

import (
	"context"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/auth/oauth"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/domain/team"
	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/web/shell"
)

// forwardedParams lists the request parameters that the form sends again.
var forwardedParams = []string{
	"response_type", "client_id", "redirect_uri", "scope", "state", "code_challenge", "code_challenge_method",
	"resource", "response_mode",
}

// authorize shows a client's request to a signed-in person. It validates the request before it asks the visitor to sign
// in, so that clients learn of errors immediately. However, if client metadata must be fetched, the visitor has to sign
// in first.
func (h *Handlers) authorize(w http.ResponseWriter, r *http.Request) {
	if len(r.URL.RequestURI()) > shell.MaxNext {
		h.ShowMessage(w, r, http.StatusRequestURITooLong, "Action not completed",
			"The app that sent you here sent a request that is too long. Contact its developer.")
		return
	}
	request, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		h.ShowMessage(w, r, http.StatusBadRequest, "Action not completed",
			"This link is invalid. Start again from the app you came from.")
		return
	}
	signedIn := shell.VisitorOf(r.Context()) != nil
	if !signedIn && h.server.IsMetadataURL(request.Get("client_id")) {
		h.RequireSignIn(h.authorize)(w, r)
		return
	}
	authReq, err := h.server.ParseRequest(r.Context(), h.Client(r), request)
	switch {
	case err != nil:
		h.rejectRequest(w, r, err)
	case !signedIn:
		h.RequireSignIn(h.authorize)(w, r)
	default:
		h.show(w, r, http.StatusOK, authReq, request, restoredSelection(request, h.SavedForm(r)), "")
	}
}

// rejectRequest shows why a request is invalid. It does not redirect to another host, because a redirect URI may have
// been registered for phishing. Instead, it shows a link that returns the error to the client.
func (h *Handlers) rejectRequest(w http.ResponseWriter, r *http.Request, err error) {
	var redirectErr *oauth.RedirectError
	switch {
	case errors.As(err, &redirectErr) && redirectErr.Local():
		http.Redirect(w, r, redirectErr.ResponseURL, http.StatusSeeOther)
		return
	case redirectErr != nil:
		h.Show(w, r, http.StatusBadRequest, pages["turned"], "Action not completed",
			invalidRequestPage{
				redirectErr.Client.Name, redirectErr.RedirectHost(), h.T(r, locale.Key(redirectErr.Err.Text)),
				template.URL(redirectErr.ResponseURL), //nolint:gosec // checkRedirect of package oauth allowed the scheme
			})
		return
	}
	f := apierr.FromError(err)
	if f.IsServerError() {
		h.ServerError(w, r, err)
		return
	}
	if f.Err != nil {
		h.Log.WarnContext(r.Context(), "the metadata of an OAuth client is invalid", "error", f.Err)
	}
	h.ShowText(w, r, shell.StatusOf(err), "Not allowed", h.Detail(r, err))
}

// invalidRequestPage is the page that explains why a client's request is invalid.
type invalidRequestPage struct {
	Name, Place, Why string
	Link             template.URL // redirect that returns the error to the client
}

// selection is what a person selected on the page.
type selection struct {
	teamID int64  // ID
	level  string // value of a levelOption
}

// capabilities returns the selected capabilities, limited to the available ones and to those that the person's role in
// the selected team has. It returns an error text if the selection is invalid.
func (s selection) capabilities(teams []teamOption, available []access.Capability) ([]access.Capability, locale.Key) {
	i := slices.IndexFunc(teams, func(t teamOption) bool { return t.ID == s.teamID })
	switch {
	case i < 0:
		return nil, "Select one of your teams."
	case teams[i].Why != "":
		return nil, teams[i].Why
	}
	granted := selectedCapabilities(available, s.level)
	granted = slices.DeleteFunc(granted, func(c access.Capability) bool { return !slices.Contains(teams[i].capabilities, c) })
	if len(granted) == 0 {
		return nil, "Select what the app may do."
	}
	return granted, ""
}

// consentView is the consent page.
type consentView struct {
	Name   string
	Place  string // host of the redirect URI
	Local  bool   // the client is an app on the person's machine
	Own    bool   // the client is an app with its own URL scheme
	Source string // host of the client's metadata document; empty if it has none
	Teams  []teamOption
	Levels []levelOption
	Ready  bool // the person may consent for at least one team
	Error  string
	Fields []field
}

// field is a parameter of the request.
type field struct{ Name, Value string }

// teamOption is one of the person's teams.
type teamOption struct {
	ID          int64
	Name        string
	Role        locale.Key
	MissingText string     // available capabilities that the role lacks, as text
	Why         locale.Key // why it cannot be selected; empty if it can
	Chosen      bool

	capabilities []access.Capability // requested capabilities that the role allows
}

// levelOption is a level that can be granted.
type levelOption struct {
	Value, Description string
	Name               locale.Key
	Chosen             bool
}

// show shows the consent page with the previous selection, if any.
func (h *Handlers) show(
	w http.ResponseWriter, r *http.Request, status int, authReq oauth.AuthorizationRequest, params url.Values,
	previous selection, formErr locale.Key,
) {
	v := shell.VisitorOf(r.Context())
	if previous.teamID == 0 {
		previous.teamID = v.Team.ID
	}
	out := consentView{Name: authReq.Client.Name, Place: authReq.RedirectHost(), Error: h.T(r, formErr), Fields: forwardedFields(params)}
	redirectURI, err := url.Parse(authReq.Redirect)
	if err != nil { // unreachable: the URI was validated before
		h.ServerError(w, r, fmt.Errorf("parsing the redirect URI: %w", err))
		return
	}
	out.Local, out.Own = redirectURI.Scheme == "http", redirectURI.Scheme != "http" && redirectURI.Scheme != "https"
	if authReq.Client.IsSelfDescribed() {
		if metadataURL, err := url.Parse(authReq.Client.ID); err == nil {
			out.Source = metadataURL.Hostname()
		}
	}
	var available []access.Capability
	if out.Teams, available, err = h.teamOptions(r, v, authReq, previous.teamID); err != nil {
		h.ServerError(w, r, err)
		return
	}
	if out.Ready = len(available) > 0; out.Ready {
		out.Levels = levelOptions(h.Language(r), available, previous.level)
	}
	w.Header().Set("Content-Security-Policy", policy(redirectURI))
	h.Show(w, r, status, pages["consent"], "Authorize an app", out)
}

// policy returns a Content-Security-Policy that allows the browser to be redirected to the client after it submits the
// form. Browsers apply form-action to every redirect that follows a form submission, and clients may redirect between
// several hosts.
func policy(redirectURI *url.URL) string {
	allowed := "form-action 'self' https:"
	switch {
	case redirectURI.Scheme == "https":
	case redirectURI.Scheme == "http" && !strings.Contains(redirectURI.Hostname(), ":"):
		allowed += " http://" + redirectURI.Host
	default: // the policy cannot express IPv6 addresses
		allowed += " " + redirectURI.Scheme + ":"
	}
	return strings.Replace(shell.ContentSecurityPolicy, "form-action 'self'", allowed, 1)
}

func forwardedFields(params url.Values) []field {
	var out []field
	for _, name := range forwardedParams {
		for _, value := range params[name] {
			out = append(out, field{name, value})
		}
	}
	return out
}

// teamOptions returns the person's teams, with the reasons why some cannot be selected. It also returns the requested
// capabilities that the person can grant in at least one of the teams. The team with the ID selectedID is selected.
func (h *Handlers) teamOptions(
	r *http.Request, v *shell.Visitor, authReq oauth.AuthorizationRequest, selectedID int64,
) ([]teamOption, []access.Capability, error) {
	var out []teamOption
	var available []access.Capability
	for _, t := range v.Teams {
		option := teamOption{
			ID: t.ID, Name: t.Name, Role: roleNames[t.Role], Chosen: t.ID == selectedID,
			capabilities: access.WithinRole(authReq.Capabilities, t.Role),
		}
		var err error
		if option.Why, err = h.unavailableReason(r.Context(), t, authReq.Capabilities); err != nil {
			return nil, nil, err
		}
		if option.Why == "" {
			available = append(available, option.capabilities...)
		}
		out = append(out, option)
	}
	available = access.WithinRole(available, access.Owner) // sorts the capabilities and removes duplicates
	for i := range out {
		out[i].MissingText = listMissing(h.Language(r), subtract(available, out[i].capabilities))
	}
	selectTeam(out)
	return out, available, nil
}

// selectTeam selects the first available team unless an available team is already selected.
func selectTeam(teams []teamOption) {
	if slices.ContainsFunc(teams, func(t teamOption) bool { return t.Chosen && t.Why == "" }) {
		return
	}
	first := slices.IndexFunc(teams, func(t teamOption) bool { return t.Why == "" })
	for i := range teams {
		teams[i].Chosen = i == first
	}
}

// unavailableReason returns the reason why a person with the role in t cannot authorize a client for that team, or ""
// if they can.
func (h *Handlers) unavailableReason(ctx context.Context, t team.OwnTeam, requested []access.Capability) (locale.Key, error) {
	if t.Closed {
		return "This team is closed.", nil
	}
	gates, err := h.Teams.KeyGates(ctx, t.ID)
	switch {
	case err != nil:
		return "", fmt.Errorf("reading whether assistants are allowed: %w", err)
	case t.Role == access.Client:
		return "Clients of this team cannot connect apps and assistants.", nil
	case gates.NoKeys:
		return "This team’s plan does not include apps and assistants.", nil
	case gates.Off:
		return "The owner has turned off API and tool access.", nil
	case gates.OwnerSuspended:
		return "The owner’s account is suspended.", nil
	case slices.Contains(gates.Paused, access.PauseEverything) || slices.Contains(gates.Paused, access.PauseAPI):
		return "The operator has paused apps and assistants.", nil
	case len(access.WithinRole(requested, t.Role)) == 0:
		return "Your role in this team has none of the requested permissions.", nil
	}
	return "", nil
}

// decide handles the submitted form: it denies the request, or grants the selected permissions.
func (h *Handlers) decide(w http.ResponseWriter, r *http.Request) {
	if !h.ReadForm(w, r) {
		return
	}
	params := url.Values{}
	for _, name := range forwardedParams {
		if values := r.PostForm[name]; len(values) > 0 {
			params[name] = values
		}
	}
	authReq, err := h.server.ParseRequest(r.Context(), h.Client(r), params)
	if err != nil {
		h.rejectRequest(w, r, err)
		return
	}
	if r.PostForm.Get("answer") != "allow" {
		http.Redirect(w, r, h.server.Deny(authReq), http.StatusSeeOther)
		return
	}
	if !h.RecentlyAuthenticated(r.Context()) {
		h.StepUp(w, r, authorizePath+"?"+params.Encode(), r.PostForm)
		return
	}
	h.allow(w, r, authReq, params)
}

// restoredSelection returns the selection that the person made for this request before signing in again. It ignores a
// form that was submitted for another request.
func restoredSelection(request, form url.Values) selection {
	if !slices.Equal(forwardedFields(request), forwardedFields(form)) {
		return selection{}
	}
	return parseSelection(form)
}

// parseSelection returns the selection in a form.
func parseSelection(form url.Values) selection {
	team, _ := strconv.ParseInt(form.Get("team"), 10, 64) // 0 if invalid; no team has that ID
	return selection{team, form.Get("level")}
}

// allow grants the selected permissions that the person's role has.
func (h *Handlers) allow(w http.ResponseWriter, r *http.Request, authReq oauth.AuthorizationRequest, params url.Values) {
	v := shell.VisitorOf(r.Context())
	selected := parseSelection(r.PostForm)
	teams, available, err := h.teamOptions(r, v, authReq, selected.teamID)
	if err != nil {
		h.ServerError(w, r, err)
		return
	}
	granted, formErr := selected.capabilities(teams, available)
	if formErr != "" {
		h.show(w, r, http.StatusUnprocessableEntity, authReq, params, selected, formErr)
		return
	}
	next, err := h.server.Allow(r.Context(), authReq,
		oauth.Consent{Team: selected.teamID, Person: v.ID, Capabilities: granted, OneFactor: !h.HasTwoFactors(r.Context())})
	if err != nil {
		h.rejectRequest(w, r, err)
		return
	}
	http.Redirect(w, r, next, http.StatusSeeOther)
}
