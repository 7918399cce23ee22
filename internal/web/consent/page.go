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

	"pressroom/internal/apierr"
	"pressroom/internal/auth/oauth"
	"pressroom/internal/core/access"
	"pressroom/internal/domain/team"
	"pressroom/internal/web/shell"
)

// passed are the fields of a request that the form sends again: all that a program may say.
var passed = []string{
	"response_type", "client_id", "redirect_uri", "scope", "state", "code_challenge", "code_challenge_method",
	"resource", "response_mode",
}

// ask shows a program's request to whoever is signed in. It is read before anybody is asked to sign in, so that the
// program hears at once of what is wrong with it; but nobody else makes us fetch what describes a program.
func (p *Part) ask(w http.ResponseWriter, r *http.Request) {
	if len(r.URL.RequestURI()) > shell.MaxNext {
		p.Notice(w, r, http.StatusRequestURITooLong, "Not done",
			"The program that sent you here sent too much along. Its maker has to mend that.")
		return
	}
	request, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		p.Notice(w, r, http.StatusBadRequest, "Not done", "This address cannot be read. Begin in the program again.")
		return
	}
	signedIn := shell.VisitorOf(r.Context()) != nil
	if !signedIn && p.server.Fetches(request.Get("client_id")) {
		p.ForPeople(p.ask)(w, r)
		return
	}
	asked, err := p.server.ParseRequest(r.Context(), p.Client(r), request)
	switch {
	case err != nil:
		p.turn(w, r, err)
	case !signedIn:
		p.ForPeople(p.ask)(w, r)
	default:
		p.show(w, r, http.StatusOK, asked, request, resumed(request, p.Resumed(r)), "")
	}
}

// turn answers a request that is refused: the program hears of it where it is known, and nobody else does. The person
// leads there, as the address may have been registered for nothing but that.
func (p *Part) turn(w http.ResponseWriter, r *http.Request, err error) {
	var turned *oauth.RedirectError
	switch {
	case errors.As(err, &turned) && turned.Local():
		http.Redirect(w, r, turned.Back, http.StatusSeeOther)
		return
	case turned != nil:
		p.Show(w, r, http.StatusBadRequest, pages["turned"], "Not done",
			turnedPage{turned.Client.Name, turned.Place(), turned.Why.Text, template.URL(turned.Back)}) //nolint:gosec // a scheme that checkRedirect of package oauth has let through
		return
	}
	told := apierr.Of(err)
	if told.IsServerError() {
		p.Broken(w, r, err)
		return
	}
	if told.Err != nil {
		p.Log.WarnContext(r.Context(), "a program's description cannot be used", "error", told.Err)
	}
	p.Notice(w, r, shell.StatusOf(err), "Not allowed", told.Detail)
}

// turnedPage is what somebody is shown whose program asked for what there is not.
type turnedPage struct {
	Name, Place, Why string
	Link             template.URL // to where it is told of it
}

// chosen is what a person has chosen.
type chosen struct {
	team  int64
	level string
}

// in is what the program is given leave to by a choice among teams, of all that the person is able to give; or what is
// wrong with the choice.
func (c chosen) in(teams []choice, able []access.Capability) ([]access.Capability, string) {
	at := slices.IndexFunc(teams, func(t choice) bool { return t.ID == c.team })
	switch {
	case at < 0:
		return nil, "Choose one of your teams."
	case teams[at].Why != "":
		return nil, teams[at].Why
	}
	granted := within(able, c.level)
	granted = slices.DeleteFunc(granted, func(g access.Capability) bool { return !slices.Contains(teams[at].has, g) })
	if len(granted) == 0 {
		return nil, "Choose what it may do."
	}
	return granted, ""
}

// request is what the page shows.
type request struct {
	Name   string
	Place  string // where the person comes back to
	Local  bool   // that is a program on the person's own machine
	Own    bool   // or an app, by a scheme of its own
	Source string // the host of the document that describes the program; empty of one without
	Teams  []choice
	Levels []offer
	Ready  bool // there is a team in which the person may say yes
	Wrong  string
	Fields []field
}

// field is a part of the program's request.
type field struct{ Name, Value string }

// choice is a team of the person's.
type choice struct {
	ID       int64
	Name     string
	Role     string
	Narrower string // what the role does not have although it can be chosen below
	Why      string // why it cannot be chosen; empty where it can
	Chosen   bool

	has []access.Capability // of what is asked for
}

// offer is something to give leave to.
type offer struct {
	Value, Name, Says string
	Chosen            bool
}

// show shows the request with what was chosen before, if anything was.
func (p *Part) show(
	w http.ResponseWriter, r *http.Request, status int, asked oauth.AuthorizationRequest, sent url.Values,
	before chosen, wrong string,
) {
	v := shell.VisitorOf(r.Context())
	if before.team == 0 {
		before.team = v.Team.ID
	}
	out := request{Name: asked.Client.Name, Place: asked.Place(), Wrong: wrong, Fields: fields(sent)}
	to, err := url.Parse(asked.Redirect)
	if err != nil { // it was read before
		p.Broken(w, r, fmt.Errorf("reading a redirect address: %w", err))
		return
	}
	out.Local, out.Own = to.Scheme == "http", to.Scheme != "http" && to.Scheme != "https"
	if asked.Client.IsSelfDescribed() {
		if at, err := url.Parse(asked.Client.ID); err == nil {
			out.Source = at.Hostname()
		}
	}
	var able []access.Capability
	if out.Teams, able, err = p.choices(r.Context(), v, asked, before.team); err != nil {
		p.Broken(w, r, err)
		return
	}
	if out.Ready = len(able) > 0; out.Ready {
		out.Levels = offers(able, before.level)
	}
	w.Header().Set("Content-Security-Policy", policy(to))
	p.Show(w, r, status, pages["consent"], "Let an assistant in", out)
}

// policy lets the form's answer lead to the program. Browsers hold every redirect after a form against it, and
// programs lead on between hosts of their own.
func policy(to *url.URL) string {
	allowed := "form-action 'self' https:"
	switch {
	case to.Scheme == "https":
	case to.Scheme == "http" && !strings.Contains(to.Hostname(), ":"):
		allowed += " http://" + to.Host
	default: // there is no way to name an address of IPv6
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

// choices are the person's teams, with why a program cannot be let into some; and what of its request the person's
// roles in the others have.
func (p *Part) choices(
	ctx context.Context, v *shell.Visitor, asked oauth.AuthorizationRequest, now int64,
) ([]choice, []access.Capability, error) {
	var out []choice
	var able []access.Capability
	for _, t := range v.Teams {
		c := choice{
			ID: t.ID, Name: t.Name, Role: roleNames[t.Role], Chosen: t.ID == now,
			has: access.Within(asked.Capabilities, t.Role),
		}
		var err error
		if c.Why, err = p.why(ctx, t, asked.Capabilities); err != nil {
			return nil, nil, err
		}
		if c.Why == "" {
			able = append(able, c.has...)
		}
		out = append(out, c)
	}
	able = access.Within(able, access.Owner) // in their order, once each
	for i := range out {
		out[i].Narrower = kept(without(able, out[i].has))
	}
	chooseTeam(out)
	return out, able, nil
}

// chooseTeam chooses the first team that can be, where the one that is chosen cannot.
func chooseTeam(of []choice) {
	if slices.ContainsFunc(of, func(c choice) bool { return c.Chosen && c.Why == "" }) {
		return
	}
	first := slices.IndexFunc(of, func(c choice) bool { return c.Why == "" })
	for i := range of {
		of[i].Chosen = i == first
	}
}

// why says why nobody, or not this person, can let a program into a team; empty where there is no reason.
func (p *Part) why(ctx context.Context, t team.OwnTeam, asked []access.Capability) (string, error) {
	if t.Closed {
		return "This team is closed.", nil
	}
	b, err := p.Teams.Barriers(ctx, t.ID)
	switch {
	case err != nil:
		return "", fmt.Errorf("looking what stands in a program's way: %w", err)
	case t.Role == access.Client:
		return "Your role there is for looking at posts and approving them. Assistants are for the team’s own people.",
			nil
	case b.NoKeys:
		return "This team’s plan has no access for assistants.", nil
	case b.Off:
		return "The owner has switched access for assistants and keys off.", nil
	case b.OwnerHeld:
		return "The owner’s account is suspended.", nil
	case slices.Contains(b.Paused, team.Everything) || slices.Contains(b.Paused, team.API):
		return "The operator has paused access for assistants.", nil
	case len(access.Within(asked, t.Role)) == 0:
		return "Your role there has nothing of what it asks for.", nil
	}
	return "", nil
}

// decide does what the person says.
func (p *Part) decide(w http.ResponseWriter, r *http.Request) {
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
	if !p.Fresh(r.Context()) {
		p.StepUp(w, r, authorizePath+"?"+sent.Encode(), r.PostForm)
		return
	}
	p.allow(w, r, asked, sent)
}

// resumed is what the person chose for this very request before signing in again. A choice for another program is
// dropped.
func resumed(request, form url.Values) chosen {
	if !slices.Equal(fields(request), fields(form)) {
		return chosen{}
	}
	return chosenIn(form)
}

// chosenIn reads what a person has chosen out of a form.
func chosenIn(form url.Values) chosen {
	team, _ := strconv.ParseInt(form.Get("team"), 10, 64) // 0, which no team is, for what is no number
	return chosen{team, form.Get("level")}
}

// allow gives the program leave to what was chosen, as far as the person's role has it.
func (p *Part) allow(w http.ResponseWriter, r *http.Request, asked oauth.AuthorizationRequest, sent url.Values) {
	v := shell.VisitorOf(r.Context())
	was := chosenIn(r.PostForm)
	teams, able, err := p.choices(r.Context(), v, asked, was.team)
	if err != nil {
		p.Broken(w, r, err)
		return
	}
	granted, wrong := was.in(teams, able)
	if wrong != "" {
		p.show(w, r, http.StatusUnprocessableEntity, asked, sent, was, wrong)
		return
	}
	next, err := p.server.Allow(r.Context(), asked,
		oauth.Consent{Team: was.team, Person: v.ID, Capabilities: granted, OneFactor: !p.Strong(r.Context())})
	if err != nil {
		p.turn(w, r, err)
		return
	}
	http.Redirect(w, r, next, http.StatusSeeOther)
}
