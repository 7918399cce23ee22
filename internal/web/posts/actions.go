package posts

import (
	"net/http"
	"strconv"
	"strings"

	"pressroom/internal/apierr"
	"pressroom/internal/core/access"
	"pressroom/internal/core/operation"
	"pressroom/internal/domain/post"
	"pressroom/internal/web/shell"
)

// done tells what was done to a post and shows it, or what kept it from being done.
func (p *Part) done(w http.ResponseWriter, r *http.Request, err error, said string) {
	if err != nil {
		if wrong, ok := p.WrongAt(w, r, err, nil); ok {
			if apierr.Is(err, apierr.PreflightBlocked) {
				wrong.Text = "It cannot go out like this. What keeps it from going out stands below, under “What the " +
					"networks say to it”."
			}
			p.show(w, r, shell.StatusOf(err), wrong.Text)
		}
		return
	}
	p.Say(r, said)
	shell.Redirect(w, r, "/posts/"+r.PathValue("id"))
}

// run does an operation of the post in the address.
func (p *Part) run(w http.ResponseWriter, r *http.Request, tool, said string) {
	if !p.ReadForm(w, r) {
		return
	}
	id, err := idIn(r)
	if err == nil {
		_, err = p.Do(r, tool, operation.Arguments{"post_id": id})
	}
	p.done(w, r, err, said)
}

// publishPage says where a post goes before it does.
func (p *Part) publishPage(w http.ResponseWriter, r *http.Request) {
	v, err := p.whole(r)
	if err != nil {
		p.Elsewhere(w, r, err, p.home(r))
		return
	}
	if !v.MayPublish {
		shell.Redirect(w, r, "/posts/"+v.ID)
		return
	}
	p.Show(w, r, http.StatusOK, pages["publish"], "Publish now", v)
}

func (p *Part) publish(w http.ResponseWriter, r *http.Request) {
	p.run(w, r, "publish_post", "The post is handed over. This page follows how each account takes it.")
}

// schedule has a draft go out at the time that it is wished to.
func (p *Part) schedule(w http.ResponseWriter, r *http.Request) {
	if !p.ReadForm(w, r) {
		return
	}
	id, err := idIn(r)
	if err == nil {
		_, err = p.Do(r, "schedule_post", operation.Arguments{"post_id": id, "scheduled_at": r.PostForm.Get("at")})
	}
	p.done(w, r, err, "Scheduled. It goes out by itself.")
}

// retry sends chosen accounts again that failed.
func (p *Part) retry(w http.ResponseWriter, r *http.Request) {
	if !p.ReadForm(w, r) {
		return
	}
	said, err := p.sendAgain(r)
	p.done(w, r, err, said)
}

func (p *Part) sendAgain(r *http.Request) (string, error) {
	id, err := idIn(r)
	if err != nil {
		return "", err
	}
	chosen := []any{}
	for _, text := range r.PostForm["account"] {
		account, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return "", apierr.Missing()
		}
		chosen = append(chosen, account)
	}
	if len(chosen) == 0 {
		return "", apierr.Invalid(apierr.MissingArgument, "account_ids", "Choose at least one account.")
	}
	told, _, err := shell.Ask[post.PublicationRetry](p.Frame, r, "retry_post",
		operation.Arguments{"post_id": id, "account_ids": chosen})
	if err != nil {
		return "", err
	}
	again := len(chosen) - len(told.Skipped)
	if again == 0 {
		return "Nothing was sent again: the accounts say why.", nil
	}
	return shell.Plural(again, "account is", "accounts are") + " sent again.", nil
}

// duplicate makes a draft that is like the post.
func (p *Part) duplicate(w http.ResponseWriter, r *http.Request) {
	if !p.ReadForm(w, r) {
		return
	}
	made, left, err := p.copyOf(r)
	if err != nil {
		p.done(w, r, err, "")
		return
	}
	said := "This is the duplicate: a draft with the same text, media and accounts."
	if len(left) > 0 {
		said = "This is the duplicate: a draft with the same text and media. It does not go to " + places(left) +
			", as the original does: " +
			shell.Plural(len(left), "account is", "accounts are") + " not connected any more."
	}
	p.Say(r, said)
	shell.Redirect(w, r, made)
}

// places names accounts, as a sentence does.
func places(targets []post.Target) string {
	out := make([]string, len(targets))
	for i, t := range targets {
		out[i] = shell.NetworkName(t.Platform) + " (" + t.Username + ")"
	}
	return strings.Join(out, ", ")
}

var errNoneConnected = apierr.BadState("accounts_missing",
	"It cannot be duplicated: none of its accounts is connected any more. Connect one of them again under Accounts, "+
		"or choose another account for this post first.")

// copyOf gives where the duplicate is, and the accounts that it does not go to, as they were disconnected.
func (p *Part) copyOf(r *http.Request) (string, []post.Target, error) {
	from, err := p.stored(r)
	if err != nil {
		return "", nil, err
	}
	kept, left, err := p.posts.SplitTargets(r.Context(), from)
	if err != nil {
		return "", nil, err
	}
	if len(kept) == 0 {
		return "", nil, errNoneConnected
	}
	accounts, media := []any{}, []any{}
	for _, account := range kept {
		accounts = append(accounts, account)
	}
	for _, m := range from.Media {
		if !m.Gone {
			media = append(media, m.ID)
		}
	}
	made, _, err := shell.Ask[post.Post](p.Frame, r, "create_post",
		operation.Arguments{"caption": from.Caption, "account_ids": accounts, "media_ids": media})
	if err != nil {
		return "", nil, err
	}
	return "/posts/" + made.ID, left, p.posts.CopyFrom(r.Context(), shell.VisitorOf(r.Context()).ID, made.ID, from.ID)
}

// linkKept is where the session keeps a client's link for the next page.
const linkKept = "approval link "

// postHere reads a form about a post of the visitor's team, and returns the post's id.
func (p *Part) postHere(w http.ResponseWriter, r *http.Request) (string, bool) {
	if !p.ReadForm(w, r) {
		return "", false
	}
	id, err := idIn(r)
	if err == nil {
		_, err = p.posts.FindTeam(r.Context(), id, []int64{shell.VisitorOf(r.Context()).Team.ID})
	}
	if err != nil {
		p.Refuse(w, r, err)
	}
	return id, err == nil
}

// askApproval makes a link for the client, which a person of the team sends on.
func (p *Part) askApproval(w http.ResponseWriter, r *http.Request) {
	id, ok := p.postHere(w, r)
	if !ok {
		return
	}
	var link string
	err := p.allowed(r, "ask_approval", access.Write)
	if err == nil {
		link, err = p.approvals.RequestApproval(r.Context(), shell.VisitorOf(r.Context()).ID, id)
	}
	if err == nil {
		p.Keep(r.Context(), linkKept+id, []byte(link))
	}
	p.done(w, r, err, "The post waits for the client. Send the link below to the client.")
}

// revokeLinks ends the client's links to the post.
func (p *Part) revokeLinks(w http.ResponseWriter, r *http.Request) {
	id, ok := p.postHere(w, r)
	if !ok {
		return
	}
	err := p.allowed(r, "revoke_links", access.Write)
	if err == nil {
		err = p.approvals.RevokeLinks(r.Context(), shell.VisitorOf(r.Context()).ID, id)
	}
	p.done(w, r, err, "The links are revoked. They no longer show the post to anyone.")
}

// maxDecision is how many bytes a client's decision may have: the longest comment, each byte written as three.
const maxDecision = 3*4*post.MaxComment + shell.MaxForm

// decideAsClient takes what a client who is signed in says to a post that waits, as the client's link does.
func (p *Part) decideAsClient(w http.ResponseWriter, r *http.Request) {
	if !p.ReadLongForm(w, r, maxDecision) {
		return
	}
	said := post.Decision{Approve: r.PostForm.Get("decision") == "approve", Comment: r.PostForm.Get("comment")}
	said.Round, _ = strconv.ParseInt(r.PostForm.Get("round"), 10, 64) // what is no number is no version
	id, err := idIn(r)
	if err != nil {
		p.Refuse(w, r, err)
		return
	}
	call, err := p.Acting(r, "decide_approval")
	if err == nil {
		err = p.approvals.DecideAs(r.Context(), call, id, said)
	}
	told := "Approved. The team is told."
	if !said.Approve {
		told = "Rejected. The team is told, with what you wrote."
	}
	p.done(w, r, err, told)
}

// allowed refuses what no operation does where the operator has paused it, or the team is closed.
func (p *Part) allowed(r *http.Request, what string, needs access.Capability) error {
	call, err := p.Acting(r, what)
	if err != nil {
		return err
	}
	return call.Require(needs)
}
