package settings

import (
	"net/http"
	"net/url"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/web/shell"
)

const tikTokDefaultPath = "/settings/team#tiktok"

// tikTokForm is the form for the team's default TikTok options.
type tikTokForm struct {
	fieldError

	Shown   bool // the team has a TikTok account, or a default
	Options network.TikTokOptions
	Mode    string // empty if the team has no default
}

// Audiences returns the audiences that TikTok offers.
func (tikTokForm) Audiences() []shell.Choice { return shell.TikTokAudiences }

func newTikTokForm(o network.Options, hasTikTok bool) tikTokForm {
	f := tikTokForm{Shown: hasTikTok || o.TikTok != nil}
	if o.TikTok != nil {
		f.Options, f.Mode = *o.TikTok, network.TikTokDirect
		if o.TikTok.Mode == network.TikTokInbox {
			f.Mode = network.TikTokInbox
		}
	}
	return f
}

func parseTikTokForm(form url.Values) tikTokForm {
	isChecked := func(name string) bool { return form.Get(name) == "yes" }
	f := tikTokForm{Shown: true, Mode: form.Get("tiktok-mode"), Options: network.TikTokOptions{
		PrivacyLevel: form.Get("tiktok-privacy"), AllowComment: isChecked("tiktok-comment"), AllowDuet: isChecked("tiktok-duet"),
		AllowStitch: isChecked("tiktok-stitch"), MusicUsageConfirmed: isChecked("tiktok-music"),
	}}
	return f
}

// options returns the options that the form sets. It returns an error if a value is invalid.
func (f tikTokForm) options() (network.Options, error) {
	o := f.Options
	switch f.Mode {
	case "":
		return network.Options{}, nil
	case network.TikTokInbox:
		return network.Options{TikTok: &network.TikTokOptions{Mode: network.TikTokInbox}}, nil
	case network.TikTokDirect:
		if o.PrivacyLevel != "" && !shell.IsOffered(f.Audiences(), o.PrivacyLevel) {
			return network.Options{}, apierr.Invalid(apierr.NotAllowedValue, "tiktok-privacy", "Choose who can see the post on TikTok.")
		}
		return network.Options{TikTok: &o}, nil
	}
	return network.Options{}, apierr.Invalid(apierr.NotAllowedValue, "tiktok-mode", "Choose how posts are sent to TikTok.")
}

// changeTikTok sets the team's default TikTok options.
func (h *Handlers) changeTikTok(w http.ResponseWriter, r *http.Request) {
	if !h.ReadForm(w, r) {
		return
	}
	form := parseTikTokForm(r.PostForm)
	o, err := form.options()
	if err == nil {
		err = h.admin(r).SetPostOptions(r.Context(), o)
	}
	if err == nil {
		h.finish(w, r, "Saved.", tikTokDefaultPath)
		return
	}
	var ok bool
	if form.fieldError, ok = h.formError(w, r, err); !ok {
		return
	}
	profile, profileErr := h.Teams.Profile(r.Context(), teamID(r))
	if profileErr != nil {
		h.ShowError(w, r, profileErr)
		return
	}
	h.showTeam(w, r, shell.StatusOf(err), teamForm{Profile: profile, TikTok: form})
}
