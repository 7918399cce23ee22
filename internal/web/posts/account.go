package posts

import (
	"net/http"
	"strings"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/domain/delivery"
	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/web/shell"
)

// accountPageView is the page of one account of a post, with its delivery attempts.
type accountPageView struct {
	accountView

	Head     string // beginning of the post's text
	Text     string // text as published on the account
	Media    []network.Media
	Error    shell.FormError
	Found    string // entered answer to whether the post was found on the network: "yes" or "no"
	Link     string // entered permalink
	Decision bool   // whether a person must decide on the outcome
	Pause    pause
	Client   bool // whether the visitor is a client of the team
}

// Every returns the refresh interval of the page in seconds. It returns 0 (never refresh) while a person must decide.
func (v *accountPageView) Every() int {
	if v.Decision {
		return 0
	}
	return v.refreshInterval()
}

func (p *Handlers) account(w http.ResponseWriter, r *http.Request) {
	p.showAccount(w, r, http.StatusOK, accountPageView{})
}

func (p *Handlers) showAccount(w http.ResponseWriter, r *http.Request, status int, page accountPageView) {
	if err := p.readAccount(r, &page); err != nil {
		p.SwitchToTeamOf(w, r, err, p.findTeamOf(r))
		return
	}
	p.ShowTitled(w, r, status, pages["account"], shell.NetworkName(page.Platform)+": "+page.Username, &page)
}

// readAccount reads the account in the path, with its delivery attempts, into page.
func (p *Handlers) readAccount(r *http.Request, page *accountPageView) error {
	id, err := shell.PathID(r, "account")
	if err != nil {
		return err
	}
	v, err := p.liveView(r)
	if err != nil {
		return err
	}
	for i, a := range v.Accounts {
		if a.ID != id {
			continue
		}
		attempts, err := p.delivery.AccountAttempts(r.Context(), v.Stored.TeamID, v.ID, id)
		if err != nil {
			return err
		}
		zone := shell.VisitorOf(r.Context()).Zone
		a.Lines, a.Earlier = nil, max(0, len(attempts)-maxLines)
		for _, l := range attempts[a.Earlier:] {
			a.Lines = append(a.Lines, lineOf(p.Language(r), l, zone))
		}
		content := v.Stored.Content(v.Stored.Targets[i], "")
		page.accountView, page.Head, page.Text, page.Media, page.Pause = a, v.Head, content.Text, content.Media, v.Pause
		page.Decision, page.Client = a.IsUndecided(), v.Client
		return nil
	}
	return apierr.ItemNotFound()
}

// maxLines is the maximum number of attempts that the page shows. The page omits the earliest attempts.
const maxLines = 100

// decide records a person's decision on a delivery with an unknown outcome.
func (p *Handlers) decide(w http.ResponseWriter, r *http.Request) {
	if !p.ReadForm(w, r) {
		return
	}
	page := accountPageView{Found: r.PostForm.Get("found"), Link: strings.TrimSpace(r.PostForm.Get("permalink"))}
	err := p.recordDecision(r, page)
	if err != nil {
		var ok bool
		if page.Error, ok = p.FormErrorOf(w, r, err, nil); !ok {
			return
		}
		p.showAccount(w, r, shell.StatusOf(err), page)
		return
	}
	said := locale.Key("Marked as not published. You can retry it.")
	if page.Found == "yes" {
		said = "Marked as published. It will not be sent again."
	}
	p.Flash(r, said)
	shell.Redirect(w, r, "/posts/"+r.PathValue("id"))
}

func (p *Handlers) recordDecision(r *http.Request, page accountPageView) error {
	id, err := idIn(r)
	if err != nil {
		return err
	}
	account, err := shell.PathID(r, "account")
	if err != nil {
		return err
	}
	if page.Found != "yes" && page.Found != "no" {
		return apierr.Invalid(apierr.MissingArgument, "found", "Choose whether you found the post.")
	}
	call, err := p.NewCall(r, "decide_post")
	if err != nil {
		return err
	}
	if err := call.Require(access.Publish); err != nil {
		return err
	}
	decision := delivery.Decision{Published: page.Found == "yes", Permalink: page.Link}
	return p.delivery.Decide(r.Context(), call.PersonID, call.TeamID, id, account, decision)
}
