package accounts

import (
	"fmt"
	"net/http"
	"strings"

	"pressroom/internal/core/operation"
	"pressroom/internal/domain/account"
	"pressroom/internal/domain/post"
	"pressroom/internal/web/shell"
)

// takenBack says what became of the permission by which posts went out, and where a person takes it back.
func takenBack(platform string, state account.Revocation) string {
	name := shell.NetworkName(platform)
	switch state {
	case account.RevocationRevoked:
		return name + " was told that the permission is over."
	case account.RevocationWaiting:
		return name +
			" could not be told yet that the permission is over. It is told again for a day; this page says what " +
			"came of it."
	case account.RevocationKept:
		return "The permission at " + name +
			" goes on, as other connected accounts rest on it. It ends with the last of them."
	case account.RevocationFailed:
		return name + " could not be told that the permission is over. " + whereBack(platform)
	case account.RevocationNoMeans:
	}
	return name + " lets only you take the permission back there. " + whereBack(platform)
}

// backs are where people take back at a network what they allowed, as its settings call it; found in November 2026.
var backs = map[string]string{
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

func whereBack(platform string) string {
	if where := backs[platform]; where != "" {
		return "Remove this service there: " + where + "."
	}
	return "Remove this service in its settings."
}

// leaveView is the page that says what disconnecting an account touches.
type leaveView struct {
	account.Account

	Waiting post.Upcoming
}

// aheadWords are how many posts and series there are, those that there are.
func aheadWords(a post.Upcoming) string {
	var out []string
	if a.Posts > 0 {
		out = append(out, shell.Plural(a.Posts, "scheduled post", "scheduled posts"))
	}
	if a.Series > 0 {
		out = append(out, fmt.Sprint(a.Series)+" series")
	}
	return strings.Join(out, " and ")
}

// Words are what is to go out to the account; empty where nothing is.
func (v leaveView) Words() string { return aheadWords(v.Waiting) }

// One tells whether it is a single thing.
func (v leaveView) One() bool { return v.Waiting.Posts+v.Waiting.Series == 1 }

func (p *Part) leavePage(w http.ResponseWriter, r *http.Request, a account.Account) {
	waiting, err := p.posts.CountUpcoming(r.Context(), a.TeamID, a.ID)
	if err != nil {
		p.Refuse(w, r, err)
		return
	}
	p.Show(w, r, http.StatusOK, pages["leave"], "Disconnect "+a.Username, leaveView{a, waiting})
}

// leave disconnects an account, after taking it out of scheduled posts where that is wanted.
func (p *Part) leave(w http.ResponseWriter, r *http.Request, a account.Account) {
	if !p.ReadForm(w, r) {
		return
	}
	ctx := r.Context()
	text := "The " + shell.NetworkName(a.Platform) + " account " + a.Username + " is disconnected."
	if r.PostForm.Get("posts") == "take_out" {
		actor, err := p.actor(r)
		if err != nil {
			p.Refuse(w, r, err)
			return
		}
		n, err := p.posts.RemoveAccount(ctx, operation.Call{Actor: actor, Operation: "disconnect", Now: p.DB.Now()},
			a.ID)
		if err != nil {
			p.Refuse(w, r, err)
			return
		}
		if n.Any() {
			text += fmt.Sprintf(" It was taken out of %s.", aheadWords(n))
		}
	}
	revoked, err := p.connector.Accounts.Disconnect(ctx, shell.VisitorOf(ctx).ID, a.TeamID, a.ID)
	if err != nil {
		p.Refuse(w, r, err)
		return
	}
	if revoked == account.RevocationFailed {
		p.Log.WarnContext(ctx, "a network could not be told of a disconnection", "platform", a.Platform)
	}
	p.Say(r, text+" "+takenBack(a.Platform, revoked))
	shell.Redirect(w, r, "/accounts")
}
