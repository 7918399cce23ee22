package account

import (
	"net/http"

	"pressroom/internal/apierr"
	"pressroom/internal/auth/passkey"
	"pressroom/internal/web/shell"
)

// passkeyForm is the page of a new passkey.
type passkeyForm struct {
	Possible    bool
	Name, Wrong string
}

func (p *Part) newPasskeyPage(w http.ResponseWriter, r *http.Request) {
	p.showNewPasskey(w, r, http.StatusOK, passkeyForm{Name: p.Resumed(r).Get("name")})
}

func (p *Part) showNewPasskey(w http.ResponseWriter, r *http.Request, status int, form passkeyForm) {
	form.Possible = p.passkeys.Possible()
	p.Show(w, r, status, pages["newpasskey"], "Add a passkey", form)
}

func (p *Part) askOwnPasskey(w http.ResponseWriter, r *http.Request) {
	v := shell.VisitorOf(r.Context())
	asked, err := p.passkeys.AskNew(r.Context(), passkey.Asker{Person: v.ID, Name: v.Name, Email: v.Email})
	p.ask(w, r, asked, err)
}

func (p *Part) addPasskey(w http.ResponseWriter, r *http.Request) {
	if !p.ReadForm(w, r) {
		return
	}
	ctx, person, name := r.Context(), shell.VisitorOf(r.Context()).ID, r.PostForm.Get("name")
	made, err := p.passkeys.Read(person, p.Take(ctx, passkeyKept), []byte(r.PostForm.Get("passkey")), name)
	if err == nil {
		err = p.passkeys.Add(ctx, person, made)
	}
	if err != nil {
		if wrong, ok := p.wrongOf(w, r, err); ok {
			p.showNewPasskey(w, r, shell.StatusOf(err), passkeyForm{Name: name, Wrong: wrong})
		}
		return
	}
	p.Strengthen(ctx)
	p.Say(r, "The passkey is added. You can sign in with it from now on.")
	shell.Redirect(w, r, p.AfterFactor(ctx))
}

// passkeyView is the page of one passkey.
type passkeyView struct {
	passkey.Passkey

	Wrong string
}

// ownPasskey is the visitor's passkey that the address names.
func (p *Part) ownPasskey(r *http.Request) (passkey.Passkey, error) {
	id, err := numberIn(r, "passkey")
	if err != nil {
		return passkey.Passkey{}, err
	}
	all, err := p.passkeys.List(r.Context(), shell.VisitorOf(r.Context()).ID)
	if err != nil {
		return passkey.Passkey{}, err
	}
	for _, k := range all {
		if k.ID == id {
			return k, nil
		}
	}
	return passkey.Passkey{}, apierr.Missing()
}

func (p *Part) passkeyPage(w http.ResponseWriter, r *http.Request) {
	k, err := p.ownPasskey(r)
	if err != nil {
		p.Refuse(w, r, err)
		return
	}
	p.Show(w, r, http.StatusOK, pages["passkey"], "Passkey", passkeyView{Passkey: k})
}

func (p *Part) renamePasskey(w http.ResponseWriter, r *http.Request) {
	if !p.ReadForm(w, r) {
		return
	}
	p.changeOne(w, r, "The passkey has another name.", func(k *passkey.Passkey) error {
		k.Name = r.PostForm.Get("name")
		return p.passkeys.Rename(r.Context(), shell.VisitorOf(r.Context()).ID, k.ID, k.Name)
	})
}

func (p *Part) removePasskey(w http.ResponseWriter, r *http.Request) {
	p.changeOne(w, r,
		"The passkey is removed. It signs nobody in any more. Remove it from your "+
			"device too.", func(k *passkey.Passkey) error {
			return p.passkeys.Remove(r.Context(), shell.VisitorOf(r.Context()).ID, k.ID, p.keepsFactor(r))
		})
}

// changeOne changes the passkey of the address and tells so, or what is wrong.
func (p *Part) changeOne(w http.ResponseWriter, r *http.Request, said string, change func(*passkey.Passkey) error) {
	k, err := p.ownPasskey(r)
	if err != nil {
		p.Refuse(w, r, err)
		return
	}
	if err := change(&k); err != nil {
		if wrong, ok := p.wrongOf(w, r, err); ok {
			p.Show(w, r, shell.StatusOf(err), pages["passkey"], "Passkey", passkeyView{k, wrong})
		}
		return
	}
	p.Say(r, said)
	shell.Redirect(w, r, "/account")
}
