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

func (h *Handlers) newPasskeyPage(w http.ResponseWriter, r *http.Request) {
	h.showNewPasskey(w, r, http.StatusOK, passkeyForm{Name: h.SavedForm(r).Get("name")})
}

func (h *Handlers) showNewPasskey(w http.ResponseWriter, r *http.Request, status int, form passkeyForm) {
	form.Possible = h.passkeys.Possible()
	h.Show(w, r, status, pages["newpasskey"], "Add a passkey", form)
}

func (h *Handlers) beginAddPasskey(w http.ResponseWriter, r *http.Request) {
	v := shell.VisitorOf(r.Context())
	challenge, err := h.passkeys.BeginRegistration(r.Context(), passkey.Registrant{Person: v.ID, Name: v.Name, Email: v.Email})
	h.writeChallenge(w, r, challenge, err)
}

func (h *Handlers) addPasskey(w http.ResponseWriter, r *http.Request) {
	if !h.ReadForm(w, r) {
		return
	}
	ctx, person, name := r.Context(), shell.VisitorOf(r.Context()).ID, r.PostForm.Get("name")
	credential, err := h.passkeys.FinishRegistration(person, h.Pop(ctx, passkeyKey), []byte(r.PostForm.Get("passkey")), name)
	if err == nil {
		err = h.passkeys.Add(ctx, person, credential)
	}
	if err != nil {
		if formErr, ok := h.formError(w, r, err); ok {
			h.showNewPasskey(w, r, shell.StatusOf(err), passkeyForm{Name: name, Error: formErr})
		}
		return
	}
	h.MarkTwoFactors(ctx)
	h.Flash(r, "The passkey was added. You can now sign in with it.")
	shell.Redirect(w, r, h.NextAfterFactor(ctx))
}

// passkeyView is the page of one passkey.
type passkeyView struct {
	passkey.Passkey

	Error string
}

// ownPasskey returns the visitor's passkey whose ID is in the path.
func (h *Handlers) ownPasskey(r *http.Request) (passkey.Passkey, error) {
	id, err := shell.PathID(r, "passkey")
	if err != nil {
		return passkey.Passkey{}, err
	}
	all, err := h.passkeys.List(r.Context(), shell.VisitorOf(r.Context()).ID)
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

func (h *Handlers) passkeyPage(w http.ResponseWriter, r *http.Request) {
	k, err := h.ownPasskey(r)
	if err != nil {
		h.ShowError(w, r, err)
		return
	}
	h.Show(w, r, http.StatusOK, pages["passkey"], "Passkey", passkeyView{Passkey: k})
}

func (h *Handlers) renamePasskey(w http.ResponseWriter, r *http.Request) {
	if !h.ReadForm(w, r) {
		return
	}
	h.changePasskey(w, r, "The passkey was renamed.", func(k *passkey.Passkey) error {
		k.Name = r.PostForm.Get("name")
		return h.passkeys.Rename(r.Context(), shell.VisitorOf(r.Context()).ID, k.ID, k.Name)
	})
}

func (h *Handlers) removePasskey(w http.ResponseWriter, r *http.Request) {
	h.changePasskey(w, r,
		"The passkey was removed and can no longer be used to sign in. Remove it from your device as "+
			"well.", func(k *passkey.Passkey) error {
			return h.passkeys.Remove(r.Context(), shell.VisitorOf(r.Context()).ID, k.ID, h.factorCheck(r))
		})
}

// changePasskey applies change to the passkey whose ID is in the path. Then it shows message on the account page, or
// the error on the passkey's page.
func (h *Handlers) changePasskey(
	w http.ResponseWriter, r *http.Request, message locale.Key, change func(*passkey.Passkey) error,
) {
	k, err := h.ownPasskey(r)
	if err != nil {
		h.ShowError(w, r, err)
		return
	}
	if err := change(&k); err != nil {
		if formErr, ok := h.formError(w, r, err); ok {
			h.Show(w, r, shell.StatusOf(err), pages["passkey"], "Passkey", passkeyView{k, formErr})
		}
		return
	}
	h.Flash(r, message)
	shell.Redirect(w, r, "/account")
}
