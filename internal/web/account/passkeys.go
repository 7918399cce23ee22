package account

import (
	"net/http"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/auth/passkey"
	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/web/shell"
)

// passkeyForm is the page for adding a passkey.
type passkeyForm struct {
	Possible    bool // passkeys work at the installation's public URL
	Name, Error string
}

func (p *Handlers) newPasskeyPage(w http.ResponseWriter, r *http.Request) {
	p.showNewPasskey(w, r, http.StatusOK, passkeyForm{Name: p.SavedForm(r).Get("name")})
}

func (p *Handlers) showNewPasskey(w http.ResponseWriter, r *http.Request, status int, form passkeyForm) {
	form.Possible = p.passkeys.Possible()
	p.Show(w, r, status, pages["newpasskey"], "Add a passkey", form)
}

func (p *Handlers) beginAddPasskey(w http.ResponseWriter, r *http.Request) {
	v := shell.VisitorOf(r.Context())
	asked, err := p.passkeys.BeginRegistration(r.Context(), passkey.Registrant{Person: v.ID, Name: v.Name, Email: v.Email})
	p.writeChallenge(w, r, asked, err)
}

func (p *Handlers) addPasskey(w http.ResponseWriter, r *http.Request) {
	if !p.ReadForm(w, r) {
		return
	}
	ctx, person, name := r.Context(), shell.VisitorOf(r.Context()).ID, r.PostForm.Get("name")
	made, err := p.passkeys.FinishRegistration(person, p.Pop(ctx, passkeyKey), []byte(r.PostForm.Get("passkey")), name)
	if err == nil {
		err = p.passkeys.Add(ctx, person, made)
	}
	if err != nil {
		if formErr, ok := p.formError(w, r, err); ok {
			p.showNewPasskey(w, r, shell.StatusOf(err), passkeyForm{Name: name, Error: formErr})
		}
		return
	}
	p.MarkTwoFactors(ctx)
	p.Flash(r, "The passkey was added. You can now sign in with it.")
	shell.Redirect(w, r, p.NextAfterFactor(ctx))
}

// passkeyView is the page of one passkey.
type passkeyView struct {
	passkey.Passkey

	Error string
}

// ownPasskey returns the visitor's passkey whose ID is in the path.
func (p *Handlers) ownPasskey(r *http.Request) (passkey.Passkey, error) {
	id, err := shell.PathID(r, "passkey")
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
	return passkey.Passkey{}, apierr.ItemNotFound()
}

func (p *Handlers) passkeyPage(w http.ResponseWriter, r *http.Request) {
	k, err := p.ownPasskey(r)
	if err != nil {
		p.ShowError(w, r, err)
		return
	}
	p.Show(w, r, http.StatusOK, pages["passkey"], "Passkey", passkeyView{Passkey: k})
}

func (p *Handlers) renamePasskey(w http.ResponseWriter, r *http.Request) {
	if !p.ReadForm(w, r) {
		return
	}
	p.changeOne(w, r, "The passkey was renamed.", func(k *passkey.Passkey) error {
		k.Name = r.PostForm.Get("name")
		return p.passkeys.Rename(r.Context(), shell.VisitorOf(r.Context()).ID, k.ID, k.Name)
	})
}

func (p *Handlers) removePasskey(w http.ResponseWriter, r *http.Request) {
	p.changeOne(w, r,
		"The passkey was removed and can no longer be used to sign in. Remove it from your device as "+
			"well.", func(k *passkey.Passkey) error {
			return p.passkeys.Remove(r.Context(), shell.VisitorOf(r.Context()).ID, k.ID, p.keepsFactor(r))
		})
}

// changeOne applies change to the passkey whose ID is in the path. Then it shows message on the account page, or the
// error on the passkey's page.
func (p *Handlers) changeOne(
	w http.ResponseWriter, r *http.Request, message locale.Key, change func(*passkey.Passkey) error,
) {
	k, err := p.ownPasskey(r)
	if err != nil {
		p.ShowError(w, r, err)
		return
	}
	if err := change(&k); err != nil {
		if formErr, ok := p.formError(w, r, err); ok {
			p.Show(w, r, shell.StatusOf(err), pages["passkey"], "Passkey", passkeyView{k, formErr})
		}
		return
	}
	p.Flash(r, message)
	shell.Redirect(w, r, "/account")
}
