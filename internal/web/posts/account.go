package posts

import (
	"net/http"
	"strings"

	"pressroom/internal/apierr"
	"pressroom/internal/core/access"
	"pressroom/internal/domain/delivery"
	"pressroom/internal/domain/post"
	"pressroom/internal/network"
	"pressroom/internal/web/shell"
)

// oneView is the page of one account of a post: what it shows, and its whole story.
type oneView struct {
	accountView

	Head     string
	Text     string
	Media    []network.Media
	Wrong    shell.Wrong
	Found    string // what the person chose: yes or no
	Link     string // what the person wrote
	Decision bool   // there is something to decide
	Pause    pause
	Client   bool // whoever looks is a client of the team
}

func (p *Part) account(w http.ResponseWriter, r *http.Request) {
	p.showAccount(w, r, http.StatusOK, oneView{})
}

func (p *Part) showAccount(w http.ResponseWriter, r *http.Request, status int, one oneView) {
	if err := p.readAccount(r, &one); err != nil {
		p.Elsewhere(w, r, err, p.home(r))
		return
	}
	p.Show(w, r, status, pages["account"], shell.NetworkName(one.Platform)+": "+one.Username, one)
}

// readAccount reads the account in the address, with all that was done to bring the post to it.
func (p *Part) readAccount(r *http.Request, one *oneView) error {
	id, err := shell.IDIn(r, "account")
	if err != nil {
		return err
	}
	v, err := p.moving(r)
	if err != nil {
		return err
	}
	for i, a := range v.Accounts {
		if a.ID != id {
			continue
		}
		lines, err := p.delivery.AccountAttempts(r.Context(), v.Stored.TeamID, v.ID, id)
		if err != nil {
			return err
		}
		zone, err := p.zone(r)
		if err != nil {
			return err
		}
		a.Lines, a.Earlier = nil, max(0, len(lines)-maxLines)
		for _, l := range lines[a.Earlier:] {
			a.Lines = append(a.Lines, lineOf(l, zone))
		}
		content := v.Stored.Content(v.Stored.Targets[i], "")
		one.accountView, one.Head, one.Text, one.Media, one.Pause = a, v.Head, content.Text, content.Media, v.Pause
		one.Decision, one.Client = a.State == post.TargetUnconfirmed, v.Client
		return nil
	}
	return apierr.Missing()
}

// maxLines is how many attempts a page shows, the latest.
const maxLines = 100

// decide takes what a person found at the network for an account of which nobody knows.
func (p *Part) decide(w http.ResponseWriter, r *http.Request) {
	if !p.ReadForm(w, r) {
		return
	}
	one := oneView{Found: r.PostForm.Get("found"), Link: strings.TrimSpace(r.PostForm.Get("permalink"))}
	err := p.settle(r, one)
	if err != nil {
		var ok bool
		if one.Wrong, ok = p.WrongAt(w, r, err, nil); !ok {
			return
		}
		p.showAccount(w, r, shell.StatusOf(err), one)
		return
	}
	said := "Noted: it is not there. You can send it again."
	if one.Found == "yes" {
		said = "Noted: it is there. It is not sent again."
	}
	p.Say(r, said)
	shell.Redirect(w, r, "/posts/"+r.PathValue("id"))
}

func (p *Part) settle(r *http.Request, one oneView) error {
	id, err := idIn(r)
	if err != nil {
		return err
	}
	account, err := shell.IDIn(r, "account")
	if err != nil {
		return err
	}
	if one.Found != "yes" && one.Found != "no" {
		return apierr.Invalid(apierr.MissingArgument, "found", "Choose what you found.")
	}
	call, err := p.Acting(r, "decide_post")
	if err != nil {
		return err
	}
	if err := call.Require(access.Publish); err != nil {
		return err
	}
	decision := delivery.Decision{Published: one.Found == "yes", Permalink: one.Link}
	return p.delivery.Decide(r.Context(), call.PersonID, call.TeamID, id, account, decision)
}
