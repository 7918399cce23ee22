package web

import (
	"errors"
	"net/http"
	"strconv"
	"strings"

	"pressroom/internal/fault"
	"pressroom/internal/network"
	"pressroom/internal/social"
)

// networkNames are what people call the networks.
var networkNames = map[string]string{
	"instagram": "Instagram", "facebook": "Facebook", "tiktok": "TikTok", "tiktok_business": "TikTok for Business", "youtube": "YouTube",
	"linkedin": "LinkedIn", "x": "X", "threads": "Threads", "pinterest": "Pinterest", "bluesky": "Bluesky",
}

// networkName is the platform itself where a name is not known.
func networkName(platform string) string {
	if name, ok := networkNames[platform]; ok {
		return name
	}
	return platform
}

// wayNames are what people call a network's ways of signing in, where it has several.
var wayNames = map[string]string{
	"instagram/instagram": "Instagram", "instagram/facebook": "Facebook", "tiktok/": "TikTok", "tiktok/business": "TikTok for Business",
}

// wayName is the network's name where a way has none of its own.
func wayName(platform, kind string) string {
	if name, ok := wayNames[strings.TrimSuffix(platform, "_business")+"/"+kind]; ok {
		return name
	}
	return networkName(platform)
}

// connectView is what the page of a link shows. The password is never shown again.
type connectView struct {
	social.Offer

	Token, Server, Identifier, Wrong string
}

// blueskyServer is where most accounts of Bluesky are.
const blueskyServer = "https://bsky.social"

func (a *App) connectPage(w http.ResponseWriter, r *http.Request) {
	a.showConnect(w, r, http.StatusOK, connectView{Server: blueskyServer})
}

func (a *App) showConnect(w http.ResponseWriter, r *http.Request, status int, view connectView) {
	view.Token = r.PathValue("token")
	var err error
	if view.Offer, err = a.opts.Connector.Offer(r.Context(), visitorOf(r.Context()).ID, view.Token); err != nil {
		a.refuse(w, r, err)
		return
	}
	if len(view.Ways) > 0 {
		// Browsers hold every redirect after a form against this, and networks lead on between hosts of their own.
		allowed := []string{"form-action 'self' https:"}
		for _, way := range view.Ways {
			allowed = append(allowed, way.Origin)
		}
		w.Header().Set("Content-Security-Policy", strings.Replace(pagePolicy, "form-action 'self'", strings.Join(allowed, " "), 1))
	}
	a.show(w, r, status, "connect", "Connect "+networkName(view.Platform), view)
}

// connect sends the person to the network's own page, or signs in with what the form holds.
func (a *App) connect(w http.ResponseWriter, r *http.Request) {
	if !a.readForm(w, r) {
		return
	}
	ctx, person, token := r.Context(), visitorOf(r.Context()).ID, r.PathValue("token")
	offer, err := a.opts.Connector.Offer(ctx, person, token)
	switch {
	case err != nil:
		a.refuse(w, r, err)
	case len(offer.Ways) == 0:
		a.connectHere(w, r, person, token)
	default:
		address, err := a.opts.Connector.Begin(ctx, person, token, r.PostForm.Get("kind"))
		if err != nil {
			a.refuse(w, r, err)
			return
		}
		http.Redirect(w, r, address, http.StatusSeeOther) //nolint:gosec // the network's address is the operator's
	}
}

func (a *App) connectHere(w http.ResponseWriter, r *http.Request, person int64, token string) {
	given := network.Credentials{Server: strings.TrimSpace(r.PostForm.Get("server")), Identifier: strings.TrimSpace(r.PostForm.Get("identifier")), Password: r.PostForm.Get("password")}
	account, err := a.opts.Connector.SignIn(r.Context(), person, token, given)
	a.noteRefusal(r, err)
	switch f := fault.Of(err); {
	case err == nil:
		redirect(w, r, connectedPath(account.ID))
	case f.Code == fault.Internal || f.Code == fault.NotFound:
		a.refuse(w, r, err)
	default:
		a.showConnect(w, r, statusOf(err), connectView{Server: given.Server, Identifier: given.Identifier, Wrong: f.Detail})
	}
}

// noteRefusal tells the operator what a network answered, but for its words and ours to it: these may hold secrets.
func (a *App) noteRefusal(r *http.Request, err error) {
	if failed, ok := errors.AsType[*network.Error](err); ok {
		a.opts.Log.WarnContext(r.Context(), "an account was not connected", "route", r.Pattern, "class", failed.Class, "status", failed.Status, "code", failed.Code)
	}
}

func connectedPath(account int64) string { return "/connected/" + strconv.FormatInt(account, 10) }

// signedOutReturn keeps the code that came back out of the address of the sign-in page.
var signedOutReturn = notice{"You are signed out, so nothing was connected. Sign in, then open the link again."}

// connectReturn is where networks send the browser back to.
func (a *App) connectReturn(w http.ResponseWriter, r *http.Request) {
	v := visitorOf(r.Context())
	if v == nil {
		a.show(w, r, http.StatusUnauthorized, "notice", "Not done", signedOutReturn)
		return
	}
	q := r.URL.Query()
	out, err := a.opts.Connector.Return(r.Context(), v.ID, social.Returned{Platform: r.PathValue("platform"), State: q.Get("state"), Code: q.Get("code"), Error: q.Get("error")})
	a.noteRefusal(r, err)
	switch f := fault.Of(err); {
	case err != nil && (out.Retry == "" || f.Code == fault.Internal || f.Code == fault.NotFound):
		a.refuse(w, r, err)
	case err != nil:
		a.show(w, r, statusOf(err), "connectend", "Not connected", connectEnd{f.Detail, social.ConnectPath + out.Retry})
	case out.Choice != 0:
		redirect(w, r, choicePath(out.Choice))
	default:
		redirect(w, r, connectedPath(out.Account.ID))
	}
}

// connectEnd says why nothing was connected, and from where one can begin again.
type connectEnd struct{ Text, Again string }

func choicePath(id int64) string { return social.ConnectPath + "choose/" + strconv.FormatInt(id, 10) }

// choiceView is what the page shows on which one of several accounts is chosen.
type choiceView struct {
	social.Choice

	Page string
}

func (a *App) choicePage(w http.ResponseWriter, r *http.Request) {
	id, err := numberIn(r, "attempt")
	if err != nil {
		a.refuse(w, r, err)
		return
	}
	choice, err := a.opts.Connector.Choice(r.Context(), visitorOf(r.Context()).ID, id)
	if err != nil {
		a.refuse(w, r, err)
		return
	}
	a.show(w, r, http.StatusOK, "connectchoice", "Choose an account", choiceView{choice, choicePath(id)})
}

func (a *App) choose(w http.ResponseWriter, r *http.Request) {
	if !a.readForm(w, r) {
		return
	}
	id, err := numberIn(r, "attempt")
	if err != nil {
		a.refuse(w, r, err)
		return
	}
	which, err := strconv.Atoi(r.PostForm.Get("account"))
	if err != nil {
		which = -1 // nothing was chosen
	}
	account, err := a.opts.Connector.Choose(r.Context(), visitorOf(r.Context()).ID, id, which)
	if err != nil {
		a.refuse(w, r, err)
		return
	}
	redirect(w, r, connectedPath(account.ID))
}

// numberIn is an id in the address.
func numberIn(r *http.Request, name string) (int64, error) {
	id, err := strconv.ParseInt(r.PathValue(name), 10, 64)
	if err != nil || id < 1 {
		return 0, fault.Missing()
	}
	return id, nil
}

// connectedView is what the page shows of an account that is connected.
type connectedView struct {
	social.Account

	TeamName string
}

func (a *App) connectedPage(w http.ResponseWriter, r *http.Request) {
	id, err := numberIn(r, "account")
	if err != nil {
		a.refuse(w, r, err)
		return
	}
	account, team, err := a.opts.Connector.Connected(r.Context(), visitorOf(r.Context()).ID, id)
	if err != nil {
		a.refuse(w, r, err)
		return
	}
	a.show(w, r, http.StatusOK, "connected", "Account", connectedView{account, team})
}
