package accounts

import (
	"net/http"

	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/domain/account"
	"pressroom.example/pressroom/internal/domain/post"
	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/web/shell"
)

// revocationText returns the text about the revocation of pressroom's permission on a network. If it was not revoked,
// the text says where a person can revoke it.
func revocationText(l *locale.Language, platform string, state account.RevocationState) string {
	name := shell.NetworkName(platform)
	switch state {
	case account.RevocationRevoked:
		return l.T("%s was notified that the permission was revoked.", name)
	case account.RevocationWaiting:
		return l.T("%s could not be notified yet that the permission was revoked. We keep trying for a day, and this page shows "+
			"the result.", name)
	case account.RevocationKept:
		return l.T("The permission on %s remains, because other connected accounts use it. It is revoked when the last of them "+
			"is disconnected.", name)
	case account.RevocationFailed:
		return l.T("%s could not be notified that the permission was revoked.", name) + " " + revokeHint(l, platform)
	case account.RevocationUnsupported:
	}
	return l.T("On %s, only you can revoke the permission.", name) + " " + revokeHint(l, platform)
}

// revokePages maps each network to the settings page where people revoke permissions, as of November 2026.
var revokePages = map[string]locale.Key{
	"bluesky":   "Settings, Privacy and security, App passwords",
	"facebook":  "Settings, Business integrations",
	"instagram": "Settings, Website permissions, Apps and websites",
	"linkedin":  "Settings, Data privacy, Other applications, Permitted services",
	"pinterest": "Settings, Security, Connected apps",
	"threads":   "Settings, Account, Website permissions",
	"tiktok":    "Settings and privacy, Security, Apps and services permissions",
	"x":         "Settings, Security and account access, Apps and sessions",
	"youtube":   "your Google account: Security, Your connections to third-party apps and services",
}

// revokeHint says where on the network a person can revoke the permission.
func revokeHint(l *locale.Language, platform string) string {
	if where := revokePages[platform]; where != "" {
		return l.T("Remove this service there: %s.", where)
	}
	return l.T("Remove this service in its settings.")
}

// disconnectView is the page that shows what disconnecting an account affects.
type disconnectView struct {
	account.Account

	Waiting post.Upcoming // scheduled posts and series of the account
}

// upcomingText lists the numbers of scheduled posts and series, such as "2 scheduled posts and 1 series".
func upcomingText(l *locale.Language, a post.Upcoming) string {
	var out []string
	if a.Posts > 0 {
		out = append(out, l.N(a.Posts, "%d scheduled post", "%d scheduled posts"))
	}
	if a.Series > 0 {
		out = append(out, l.N(a.Series, "%d series", "%d series"))
	}
	return l.And(out)
}

// One reports whether exactly one post or series is affected.
func (v disconnectView) One() bool { return v.Waiting.Posts+v.Waiting.Series == 1 }

func (h *Handlers) disconnectPage(w http.ResponseWriter, r *http.Request, a account.Account) {
	waiting, err := h.posts.CountUpcoming(r.Context(), a.TeamID, a.ID)
	if err != nil {
		h.ShowError(w, r, err)
		return
	}
	h.ShowTitled(w, r, http.StatusOK, pages["leave"], h.T(r, "Disconnect %s", a.Username), disconnectView{a, waiting})
}

// disconnect disconnects an account, after removing it from scheduled posts if requested.
func (h *Handlers) disconnect(w http.ResponseWriter, r *http.Request, a account.Account) {
	if !h.ReadForm(w, r) {
		return
	}
	ctx := r.Context()
	l := h.Language(r)
	text := l.T("The %s account %s was disconnected.", shell.NetworkName(a.Platform), a.Username)
	if r.PostForm.Get("posts") == "take_out" {
		actor, err := h.actor(r)
		if err != nil {
			h.ShowError(w, r, err)
			return
		}
		removed, err := h.posts.RemoveAccount(ctx, operation.Call{Actor: actor, Operation: "disconnect", Now: h.DB.Now()},
			a.ID)
		if err != nil {
			h.ShowError(w, r, err)
			return
		}
		if removed.Any() {
			text += " " + l.T("It was removed from %s.", upcomingText(l, removed))
		}
	}
	state, err := h.connector.Accounts.Disconnect(ctx, shell.VisitorOf(ctx).ID, a.TeamID, a.ID)
	if err != nil {
		h.ShowError(w, r, err)
		return
	}
	if state == account.RevocationFailed {
		h.Log.WarnContext(ctx, "revoking the permission on the network failed", "platform", a.Platform)
	}
	h.FlashText(r, text+" "+revocationText(l, a.Platform, state))
	shell.Redirect(w, r, "/accounts")
}
