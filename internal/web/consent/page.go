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

// passed lists the parameters of the request that the form repeats.
var passed = []string{
	"response_type", "client_id", "redirect_uri", "scope", "state", "code_challenge", "code_challenge_method",
	"resource", "response_mode",
}

// ask shows a client's request to a signed-in person. It is validated before sign-in, so that clients learn of errors
// immediately. Client metadata is fetched only for signed-in people.
func (p *Handlers) ask(w http.ResponseWriter, r *http.Request) {
	if len(r.URL.RequestURI()) > shell.MaxNext {
		p.ShowMessage(w, r, http.StatusRequestURITooLong, "Action not completed",
			"The app that sent you here sent a request that is too long. Contact its developer.")
		return
	}
	request, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		p.ShowMessage(w, r, http.StatusBadRequest, "Action not completed",
			"This link is invalid. Start again from the app you came from.")
		return
	}
	signedIn := shell.VisitorOf(r.Context()) != nil
	if !signedIn && p.server.Fetches(request.Get("client_id")) {
		p.RequireSignIn(p.ask)(w, r)
		return
	}
	asked, err := p.server.ParseRequest(r.Context(), p.Client(r), request)
	switch {
	case err != nil:
		p.turn(w, r, err)
	case !signedIn:
		p.RequireSignIn(p.ask)(w, r)
	default:
		p.show(w, r, http.StatusOK, asked, request, restoredChoice(request, p.SavedForm(r)), "")
	}
}

// turn answers an invalid request. It shows a link that returns the error to the client instead of redirecting, because a
// redirect URI may be registered for phishing.
func (p *Handlers) turn(w http.ResponseWriter, r *http.Request, err error) {
	var turned *oauth.RedirectError
	switch {
	case errors.As(err, &turned) && turned.Local():
		http.Redirect(w, r, turned.Back, http.StatusSeeOther)
		return
	case turned != nil:
		p.Show(w, r, http.StatusBadRequest, pages["turned"], "Action not completed",
			invalidRequestPage{
				turned.Client.Name, turned.RedirectHost(), p.T(r, locale.Key(turned.Why.Text)),
				template.URL(turned.Back), //nolint:gosec // checkRedirect of package oauth allowed the scheme
			})
		return
	}
	told := apierr.FromError(err)
	if told.IsServerError() {
		p.ServerError(w, r, err)
		return
	}
	if told.Err != nil {
		p.Log.WarnContext(r.Context(), "the metadata of an OAuth client is invalid", "error", told.Err)
	}
	p.ShowText(w, r, shell.StatusOf(err), "Not allowed", p.Detail(r, err))
}

// invalidRequestPage is the page of a client's invalid request.
type invalidRequestPage struct {
	Name, Place, Why string
	Link             template.URL // redirect with the error
}

// chosen is a person's choice.
type chosen struct {
	team  int64
	level string
}

// in returns the capabilities granted by a choice among teams, limited to what the person may grant, or an error about
// the choice.
func (c chosen) in(teams []choice, able []access.Capability) ([]access.Capability, locale.Key) {
	at := slices.IndexFunc(teams, func(t choice) bool { return t.ID == c.team })
	switch {
	case at < 0:
		return nil, "Select one of your teams."
	case teams[at].Why != "":
		return nil, teams[at].Why
	}
	granted := within(able, c.level)
	granted = slices.DeleteFunc(granted, func(g access.Capability) bool { return !slices.Contains(teams[at].has, g) })
	if len(granted) == 0 {
		return nil, "Select what the app may do."
	}
	return granted, ""
}

// request is the consent page.
type request struct {
	Name   string
	Place  string // host of the redirect URI
	Local  bool   // the client is an app on the person's machine
	Own    bool   // the client is an app with its own URL scheme
	Source string // host of the client's metadata document; empty if it has none
	Teams  []choice
	Levels []offer
	Ready  bool // the person may consent for at least one team
	Error  string
	Fields []field
}

// field is a parameter of the request.
type field struct{ Name, Value string }

// choice is one of the person's teams.
type choice struct {
	ID       int64
	Name     string
	Role     locale.Key
	Narrower string     // offered capabilities that the role lacks
	Why      locale.Key // why it cannot be selected; empty if it can
	Chosen   bool

	has []access.Capability // requested capabilities that the role has
}

// offer is a level that can be granted.
type offer struct {
	Value, Says string
	Name        locale.Key
	Chosen      bool
}

// show shows the request with the previous choice, if any.
func (p *Handlers) show(
	w http.ResponseWriter, r *http.Request, status int, asked oauth.AuthorizationRequest, sent url.Values,
	before chosen, formErr locale.Key,
) {
	v := shell.VisitorOf(r.Context())
	if before.team == 0 {
		before.team = v.Team.ID
	}
	out := request{Name: asked.Client.Name, Place: asked.RedirectHost(), Error: p.T(r, formErr), Fields: fields(sent)}
	to, err := url.Parse(asked.Redirect)
	if err != nil { // unreachable: it was validated before
		p.ServerError(w, r, fmt.Errorf("reading a redirect address: %w", err))
		return
	}
	out.Local, out.Own = to.Scheme == "http", to.Scheme != "http" && to.Scheme != "https"
	if asked.Client.IsSelfDescribed() {
		if at, err := url.Parse(asked.Client.ID); err == nil {
			out.Source = at.Hostname()
		}
	}
	var able []access.Capability
	if out.Teams, able, err = p.choices(r, v, asked, before.team); err != nil {
		p.ServerError(w, r, err)
		return
	}
	if out.Ready = len(able) > 0; out.Ready {
		out.Levels = offers(p.Language(r), able, before.level)
	}
	w.Header().Set("Content-Security-Policy", policy(to))
	p.Show(w, r, status, pages["consent"], "Authorize an app", out)
}

// policy returns a Content-Security-Policy that lets the form's redirect reach the client. Browsers check every
// redirect after a form, and clients redirect between their own hosts.
func policy(to *url.URL) string {
	allowed := "form-action 'self' https:"
	switch {
	case to.Scheme == "https":
	case to.Scheme == "http" && !strings.Contains(to.Hostname(), ":"):
		allowed += " http://" + to.Host
	default: // the policy cannot express IPv6 addresses
		allowed += " " + to.Scheme + ":"
	}
	return strings.Replace(shell.Policy, "form-action 'self'", allowed, 1)
}

func fields(sent url.Values) []field {
	var out []field
	for _, name := range passed {
		for _, value := range sent[name] {
			out = append(out, field{name, value})
		}
	}
	return out
}

// choices returns the person's teams, with why some cannot be selected, and the requested capabilities that the
// person can grant.
func (p *Handlers) choices(
	r *http.Request, v *shell.Visitor, asked oauth.AuthorizationRequest, now int64,
) ([]choice, []access.Capability, error) {
	var out []choice
	var able []access.Capability
	for _, t := range v.Teams {
		c := choice{
			ID: t.ID, Name: t.Name, Role: roleNames[t.Role], Chosen: t.ID == now,
			has: access.Within(asked.Capabilities, t.Role),
		}
		var err error
		if c.Why, err = p.why(r.Context(), t, asked.Capabilities); err != nil {
			return nil, nil, err
		}
		if c.Why == "" {
			able = append(able, c.has...)
		}
		out = append(out, c)
	}
	able = access.Within(able, access.Owner) // in order, without duplicates
	for i := range out {
		out[i].Narrower = listMissing(p.Language(r), without(able, out[i].has))
	}
	chooseTeam(out)
	return out, able, nil
}

// chooseTeam selects the first available team if the selected team is not available.
func chooseTeam(of []choice) {
	if slices.ContainsFunc(of, func(c choice) bool { return c.Chosen && c.Why == "" }) {
		return
	}
	first := slices.IndexFunc(of, func(c choice) bool { return c.Why == "" })
	for i := range of {
		of[i].Chosen = i == first
	}
}

// why returns the reason why nobody, or not this person, can authorize a client for a team, or "".
func (p *Handlers) why(ctx context.Context, t team.OwnTeam, asked []access.Capability) (locale.Key, error) {
	if t.Closed {
		return "This team is closed.", nil
	}
	b, err := p.Teams.KeyGates(ctx, t.ID)
	switch {
	case err != nil:
		return "", fmt.Errorf("reading whether assistants are allowed: %w", err)
	case t.Role == access.Client:
		return "Clients of this team cannot connect apps and assistants.", nil
	case b.NoKeys:
		return "This team’s plan does not include apps and assistants.", nil
	case b.Off:
		return "The owner has turned off API and tool access.", nil
	case b.OwnerSuspended:
		return "The owner’s account is suspended.", nil
	case slices.Contains(b.Paused, access.PauseEverything) || slices.Contains(b.Paused, access.PauseAPI):
		return "The operator has paused apps and assistants.", nil
	case len(access.Within(asked, t.Role)) == 0:
		return "Your role in this team has none of the requested permissions.", nil
	}
	return "", nil
}

// decide handles the person's decision.
func (p *Handlers) decide(w http.ResponseWriter, r *http.Request) {
	if !p.ReadForm(w, r) {
		return
	}
	sent := url.Values{}
	for _, name := range passed {
		if values := r.PostForm[name]; len(values) > 0 {
			sent[name] = values
		}
	}
	asked, err := p.server.ParseRequest(r.Context(), p.Client(r), sent)
	if err != nil {
		p.turn(w, r, err)
		return
	}
	if r.PostForm.Get("answer") != "allow" {
		http.Redirect(w, r, p.server.Deny(asked), http.StatusSeeOther)
		return
	}
	if !p.RecentlyAuthenticated(r.Context()) {
		p.StepUp(w, r, authorizePath+"?"+sent.Encode(), r.PostForm)
		return
	}
	p.allow(w, r, asked, sent)
}

// restoredChoice returns the choice that the person made for this request before signing in again. A choice for another
// client is dropped.
func restoredChoice(request, form url.Values) chosen {
	if !slices.Equal(fields(request), fields(form)) {
		return chosen{}
	}
	return chosenIn(form)
}

// chosenIn returns the choice in a form.
func chosenIn(form url.Values) chosen {
	team, _ := strconv.ParseInt(form.Get("team"), 10, 64) // 0, which is no team, if invalid
	return chosen{team, form.Get("level")}
}

// allow grants the chosen permissions that the person's role has.
func (p *Handlers) allow(w http.ResponseWriter, r *http.Request, asked oauth.AuthorizationRequest, sent url.Values) {
	v := shell.VisitorOf(r.Context())
	was := chosenIn(r.PostForm)
	teams, able, err := p.choices(r, v, asked, was.team)
	if err != nil {
		p.ServerError(w, r, err)
		return
	}
	granted, formErr := was.in(teams, able)
	if formErr != "" {
		p.show(w, r, http.StatusUnprocessableEntity, asked, sent, was, formErr)
		return
	}
	next, err := p.server.Allow(r.Context(), asked,
		oauth.Consent{Team: was.team, Person: v.ID, Capabilities: granted, OneFactor: !p.HasTwoFactors(r.Context())})
	if err != nil {
		p.turn(w, r, err)
		return
	}
	http.Redirect(w, r, next, http.StatusSeeOther)
}
