package account

import (
	"encoding/base64"
	"html/template"
	"net/http"
	"slices"
	"strings"
	"time"

	"pressroom/internal/team"
	"pressroom/internal/totp"
	"pressroom/internal/web/frame"
)

// setupKept is where a session keeps the sealed secret of an authenticator app that is not confirmed yet.
const setupKept = "totp setup"

// setupForm is the page on which an authenticator app is set up.
type setupForm struct {
	totp.Setup

	Image template.HTML // the QR code
	Wrong string
}

// Groups returns the secret in groups of four characters, which are easier to type.
func (f setupForm) Groups() []string {
	var out []string
	for group := range slices.Chunk([]byte(f.Secret), 4) {
		out = append(out, string(group))
	}
	return out
}

func (p *Part) newAppPage(w http.ResponseWriter, r *http.Request) {
	app, err := p.totp.App(r.Context(), frame.VisitorOf(r.Context()).ID)
	switch {
	case err != nil:
		p.Refuse(w, r, err)
	case app != nil:
		frame.Redirect(w, r, "/account/authenticator")
	default:
		p.showSetup(w, r, http.StatusOK, "")
	}
}

// setup goes on with the secret that was shown before, so that a page that is loaded again fits the app.
func (p *Part) setup(r *http.Request) (totp.Setup, error) {
	v := frame.VisitorOf(r.Context())
	kept := p.Take(r.Context(), setupKept)
	out, err := p.totp.Resume(v.ID, v.Email, kept)
	if err != nil {
		out, err = p.totp.Begin(v.ID, v.Email)
	}
	if err == nil {
		p.Keep(r.Context(), setupKept, out.Kept)
	}
	return out, err
}

func (p *Part) showSetup(w http.ResponseWriter, r *http.Request, status int, wrong string) {
	out := setupForm{Wrong: wrong}
	var err error
	if out.Setup, err = p.setup(r); err == nil {
		out.Image, err = qrCode(out.URL)
	}
	if err != nil {
		p.Broken(w, r, err)
		return
	}
	p.Show(w, r, status, pages["authenticatornew"], "Add an authenticator app", out)
}

// madeCodes is the one page that shows recovery codes.
type madeCodes struct {
	Codes []string
	Added bool // with a new authenticator app
	Next  string
}

// File is a link to the codes as a text file. The link holds the file itself, so the codes are neither kept nor asked for
// again, and no script is needed.
func (m madeCodes) File() template.URL {
	text := "pressroom recovery codes. Each one signs you in once.\r\n\r\n" + strings.Join(m.Codes, "\r\n") + "\r\n"
	return template.URL("data:text/plain;charset=utf-8;base64," + base64.StdEncoding.EncodeToString([]byte(text))) //nolint:gosec // of our own text
}

func (p *Part) addApp(w http.ResponseWriter, r *http.Request) {
	if !p.ReadForm(w, r) {
		return
	}
	ctx, v := r.Context(), frame.VisitorOf(r.Context())
	kept := p.Take(ctx, setupKept)
	added, err := p.totp.Add(ctx, v.ID, kept, r.PostForm.Get("code"))
	if err != nil {
		p.Keep(ctx, setupKept, kept)
		if wrong, ok := p.wrongOf(w, r, err); ok {
			p.showSetup(w, r, frame.StatusOf(err), wrong)
		}
		return
	}
	next := p.AfterFactor(ctx)
	if err := p.forgetOthers(r, v.ID); err != nil {
		p.Broken(w, r, err)
		return
	}
	if err := p.SignIn(ctx, team.Person{ID: v.ID, Epoch: added.Epoch}, p.Proved(frame.Code)); err != nil {
		p.Refuse(w, r, err)
		return
	}
	p.Show(w, r, http.StatusOK, pages["recoverycodes"], "Your recovery codes", madeCodes{added.Codes, true, next})
}

// appView is the page of a person's authenticator app.
type appView struct {
	totp.App

	Wrong string
}

func (p *Part) appPage(w http.ResponseWriter, r *http.Request) {
	p.showApp(w, r, http.StatusOK, "")
}

func (p *Part) showApp(w http.ResponseWriter, r *http.Request, status int, wrong string) {
	v := frame.VisitorOf(r.Context())
	app, err := p.totp.App(r.Context(), v.ID)
	if err != nil {
		p.Refuse(w, r, err)
		return
	}
	if app == nil {
		frame.Redirect(w, r, "/account/authenticator/new")
		return
	}
	if zone, err := time.LoadLocation(v.Team.Timezone); err == nil {
		app.Since = app.Since.In(zone)
	}
	p.Show(w, r, status, pages["authenticator"], "Authenticator app", appView{*app, wrong})
}

func (p *Part) newCodes(w http.ResponseWriter, r *http.Request) {
	codes, err := p.totp.NewCodes(r.Context(), frame.VisitorOf(r.Context()).ID)
	if err != nil {
		p.Refuse(w, r, err)
		return
	}
	p.Show(w, r, http.StatusOK, pages["recoverycodes"], "Your recovery codes", madeCodes{Codes: codes, Next: "/account"})
}

func (p *Part) removeApp(w http.ResponseWriter, r *http.Request) {
	if err := p.Teams.RemoveApp(r.Context(), frame.VisitorOf(r.Context()).ID, p.keepsFactor(r)); err != nil {
		if wrong, ok := p.wrongOf(w, r, err); ok {
			p.showApp(w, r, frame.StatusOf(err), wrong)
		}
		return
	}
	p.Say(r, "The authenticator app is removed. Delete its entry in the app too.")
	frame.Redirect(w, r, "/account")
}
