package account

import (
	"encoding/base64"
	"html/template"
	"net/http"
	"slices"
	"strings"

	"pressroom.example/pressroom/internal/auth/totp"
	"pressroom.example/pressroom/internal/domain/team"
	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/web/shell"
)

// setupSecretKey is the session key for the encrypted secret of an authenticator app that is not confirmed yet.
const setupSecretKey = "totp setup"

const replacePath = "/account/authenticator/replace"

// setupForm is the page for setting up an authenticator app.
type setupForm struct {
	totp.Setup

	Image     template.HTML // the QR code
	Error     string
	Replacing bool // whether the app replaces the current one
}

// Groups returns the secret in groups of four characters, which are easier to type.
func (f setupForm) Groups() []string {
	var out []string
	for group := range slices.Chunk([]byte(f.Secret), 4) {
		out = append(out, string(group))
	}
	return out
}

func (h *Handlers) newAppPage(w http.ResponseWriter, r *http.Request) {
	app, err := h.totp.App(r.Context(), shell.VisitorOf(r.Context()).ID)
	switch {
	case err != nil:
		h.ShowError(w, r, err)
	case app != nil:
		shell.Redirect(w, r, "/account/authenticator")
	default:
		h.showSetup(w, r, http.StatusOK, setupForm{})
	}
}

// replaceAppPage shows the setup of an app that replaces the current one.
func (h *Handlers) replaceAppPage(w http.ResponseWriter, r *http.Request) {
	app, err := h.totp.App(r.Context(), shell.VisitorOf(r.Context()).ID)
	switch {
	case err != nil:
		h.ShowError(w, r, err)
	case app == nil:
		shell.Redirect(w, r, "/account/authenticator/new")
	default:
		h.showSetup(w, r, http.StatusOK, setupForm{Replacing: true})
	}
}

// resumeSetup returns the setup that the page showed before, so that a reloaded page still matches the app. If there is
// none, it begins a new one.
func (h *Handlers) resumeSetup(r *http.Request) (totp.Setup, error) {
	v := shell.VisitorOf(r.Context())
	sealedSecret := h.Pop(r.Context(), setupSecretKey)
	out, err := h.totp.Resume(v.ID, v.Email, sealedSecret)
	if err != nil {
		out, err = h.totp.Begin(v.ID, v.Email)
	}
	if err == nil {
		h.Put(r.Context(), setupSecretKey, out.SealedSecret)
	}
	return out, err
}

func (h *Handlers) showSetup(w http.ResponseWriter, r *http.Request, status int, out setupForm) {
	title := locale.Key("Add an authenticator app")
	if out.Replacing {
		title = "Replace your authenticator app"
	}
	var err error
	if out.Setup, err = h.resumeSetup(r); err == nil {
		out.Image, err = qrCode(out.URL)
	}
	if err != nil {
		h.ServerError(w, r, err)
		return
	}
	h.Show(w, r, status, pages["authenticatornew"], title, out)
}

// recoveryCodesPage is the only page that shows recovery codes.
type recoveryCodesPage struct {
	Codes    []string
	Added    bool // an authenticator app was added
	Replaced bool // the app replaced another one
	Next     string
	Heading  string // first line of the file
}

// fileHeading is the first line of the file with recovery codes.
const fileHeading locale.Key = "pressroom recovery codes. Each code works once."

// File returns a data: URL of a text file with the codes. The codes therefore don't have to be stored or requested
// again, and the page does not need a script.
func (p recoveryCodesPage) File() template.URL {
	text := p.Heading + "\r\n\r\n" + strings.Join(p.Codes, "\r\n") + "\r\n"
	encoded := base64.StdEncoding.EncodeToString([]byte(text))
	return template.URL("data:text/plain;charset=utf-8;base64," + encoded) //nolint:gosec // our own text
}

func (h *Handlers) addApp(w http.ResponseWriter, r *http.Request) {
	if !h.ReadForm(w, r) {
		return
	}
	ctx, v := r.Context(), shell.VisitorOf(r.Context())
	setup := h.Pop(ctx, setupSecretKey)
	added, err := h.totp.Add(ctx, v.ID, setup, r.PostForm.Get("code"))
	if err != nil {
		h.Put(ctx, setupSecretKey, setup)
		if formErr, ok := h.formError(w, r, err); ok {
			h.showSetup(w, r, shell.StatusOf(err), setupForm{Error: formErr})
		}
		return
	}
	h.showAdded(w, r, added, false)
}

// replaceApp replaces the person's app with the newly set up one.
func (h *Handlers) replaceApp(w http.ResponseWriter, r *http.Request) {
	if !h.ReadForm(w, r) {
		return
	}
	ctx, v := r.Context(), shell.VisitorOf(r.Context())
	setup := h.Pop(ctx, setupSecretKey)
	var added totp.Enrollment
	account, err := h.Teams.Account(ctx, v.ID)
	if err == nil {
		added, err = h.tryReplaceApp(r, totp.Holder{Person: v.ID, Epoch: account.Epoch}, setup)
	}
	if err != nil {
		h.Put(ctx, setupSecretKey, setup)
		h.logRejected(r, err)
		if formErr, ok := h.formError(w, r, err); ok {
			h.showSetup(w, r, shell.StatusOf(err), setupForm{Error: formErr, Replacing: true})
		}
		return
	}
	h.showAdded(w, r, added, true)
}

// tryReplaceApp replaces the app if the submitted codes are correct. Wrong codes from the current app delay further
// attempts with such codes, but not with recovery codes.
func (h *Handlers) tryReplaceApp(r *http.Request, holder totp.Holder, setup []byte) (totp.Enrollment, error) {
	var added totp.Enrollment
	code, current := r.PostForm.Get("code"), r.PostForm.Get("current")
	replace := func() error {
		var err error
		added, err = h.totp.Replace(r.Context(), holder, setup, code, current)
		return err
	}
	var err error
	if totp.IsRecovery(current) {
		err = h.signIns.CheckSecret(h.Client(r), replace)
	} else {
		err = h.signIns.GuessCode(r.Context(), holder.Person, h.KnownBrowser(r), replace)
	}
	return added, err
}

// showAdded starts a new session, ends the person's other sessions, and shows the new recovery codes.
func (h *Handlers) showAdded(w http.ResponseWriter, r *http.Request, added totp.Enrollment, replaced bool) {
	ctx, v := r.Context(), shell.VisitorOf(r.Context())
	next := h.NextAfterFactor(ctx)
	if err := h.forgetOtherBrowsers(r, v.ID); err != nil {
		h.ServerError(w, r, err)
		return
	}
	if err := h.SignIn(ctx, team.Person{ID: v.ID, Epoch: added.Epoch}, h.ProofNow(shell.Code)); err != nil {
		h.ShowError(w, r, err)
		return
	}
	out := recoveryCodesPage{added.Codes, true, replaced, next, h.T(r, fileHeading)}
	h.Show(w, r, http.StatusOK, pages["recoverycodes"], "Your recovery codes", out)
}

// appView is the page of a person's authenticator app.
type appView struct {
	totp.App

	Error string
	Only  bool // the person needs a second factor and has no other, so the app cannot be removed
}

func (h *Handlers) appPage(w http.ResponseWriter, r *http.Request) {
	h.showApp(w, r, http.StatusOK, "")
}

func (h *Handlers) showApp(w http.ResponseWriter, r *http.Request, status int, formErr string) {
	v := shell.VisitorOf(r.Context())
	app, err := h.totp.App(r.Context(), v.ID)
	if err != nil {
		h.ShowError(w, r, err)
		return
	}
	if app == nil {
		shell.Redirect(w, r, "/account/authenticator/new")
		return
	}
	app.Since = app.Since.In(v.Zone)
	factors, err := h.Teams.Factors(r.Context(), v.ID)
	if err != nil {
		h.ShowError(w, r, err)
		return
	}
	out := appView{*app, formErr, h.NeedsFactor(v) && factors.Passkeys == 0}
	h.Show(w, r, status, pages["authenticator"], "Authenticator app", out)
}

func (h *Handlers) newCodes(w http.ResponseWriter, r *http.Request) {
	codes, err := h.totp.NewCodes(r.Context(), shell.VisitorOf(r.Context()).ID)
	if err != nil {
		h.ShowError(w, r, err)
		return
	}
	h.Show(w, r, http.StatusOK, pages["recoverycodes"], "Your recovery codes",
		recoveryCodesPage{Codes: codes, Next: "/account", Heading: h.T(r, fileHeading)})
}

func (h *Handlers) removeApp(w http.ResponseWriter, r *http.Request) {
	if err := h.Teams.RemoveApp(r.Context(), shell.VisitorOf(r.Context()).ID, h.factorCheck(r)); err != nil {
		if formErr, ok := h.formError(w, r, err); ok {
			h.showApp(w, r, shell.StatusOf(err), formErr)
		}
		return
	}
	h.Flash(r, "The authenticator app was removed. Delete its entry in the app as well.")
	shell.Redirect(w, r, "/account")
}
