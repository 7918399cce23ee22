package settings

import (
	"net/http"
	"net/url"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/domain/post/teamoptions"
	"pressroom.example/pressroom/internal/domain/team"
	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/teamtime"
	"pressroom.example/pressroom/internal/web/shell"
)

// accessPage redirects from the former page of the switch for API and tool access.
func (h *Handlers) accessPage(w http.ResponseWriter, r *http.Request) {
	shell.Redirect(w, r, "/settings/keys")
}

func (h *Handlers) switchAccess(w http.ResponseWriter, r *http.Request) {
	if !h.ReadForm(w, r) {
		return
	}
	on := r.PostForm.Get("access") == "on"
	if on && !h.RecentlyAuthenticated(r.Context()) { // turning access off does not require step-up
		h.StepUp(w, r, "/settings/keys", nil)
		return
	}
	if err := h.admin(r).SetAccess(r.Context(), on); err != nil {
		h.ShowError(w, r, err)
		return
	}
	message := locale.Key("API and tool access is off. Keys and assistants do not work until you turn it on again.")
	if on {
		message = "API and tool access is on."
	}
	h.finish(w, r, message, "/settings/keys")
}

// teamForm is the page with the team's profile. Profile holds the stored or the entered values.
type teamForm struct {
	fieldError
	team.Profile

	Zones          []teamtime.ZoneOption
	Languages      []ContentLanguage
	RequiresFactor bool   // members must use a second factor
	FactorError    string // why RequiresFactor could not be changed
	TikTok         tikTokForm
	Clock          string // current time of day in the team's zone
}

// ContentLanguage is a language with its BCP 47 tag.
type ContentLanguage struct {
	Tag  string
	Name locale.Key
}

// ContentLanguages returns the languages that forms offer.
func ContentLanguages() []ContentLanguage { return languages }

// LanguageName returns the name of the form's language, or "" if the form does not offer it.
func (f teamForm) LanguageName() locale.Key { return LanguageName(f.Language) }

// LanguageName returns the name of the language with a BCP 47 tag, or "" if forms do not offer it.
func LanguageName(tag string) locale.Key {
	for _, l := range languages {
		if l.Tag == tag {
			return l.Name
		}
	}
	return ""
}

// languages lists the languages that forms offer. Other BCP 47 tags are valid as well.
var languages = []ContentLanguage{
	{"ar", "Arabic"}, {"bg", "Bulgarian"}, {"bn", "Bengali"}, {"ca", "Catalan"}, {"cs", "Czech"}, {"da", "Danish"},
	{"de", "German"}, {"de-AT", "German, Austria"},
	{"de-CH", "German, Switzerland"}, {"el", "Greek"}, {"en", "English"}, {"en-GB", "English, United Kingdom"},
	{"en-US", "English, United States"}, {"es", "Spanish"},
	{"es-MX", "Spanish, Mexico"}, {"et", "Estonian"}, {"fa", "Persian"}, {"fi", "Finnish"}, {"fr", "French"},
	{"fr-CA", "French, Canada"}, {"he", "Hebrew"},
	{"hi", "Hindi"}, {"hr", "Croatian"}, {"hu", "Hungarian"}, {"id", "Indonesian"}, {"it", "Italian"},
	{"ja", "Japanese"}, {"ko", "Korean"}, {"lt", "Lithuanian"},
	{"lv", "Latvian"}, {"ms", "Malay"}, {"nb", "Norwegian"}, {"nl", "Dutch"}, {"pl", "Polish"}, {"pt", "Portuguese"},
	{"pt-BR", "Portuguese, Brazil"}, {"ro", "Romanian"},
	{"ru", "Russian"}, {"sk", "Slovak"}, {"sl", "Slovenian"}, {"sr", "Serbian"}, {"sv", "Swedish"}, {"sw", "Swahili"},
	{"th", "Thai"}, {"tr", "Turkish"}, {"uk", "Ukrainian"},
	{"ur", "Urdu"}, {"vi", "Vietnamese"}, {"zh-Hans", "Chinese, simplified"}, {"zh-Hant", "Chinese, traditional"},
}

func (h *Handlers) teamPage(w http.ResponseWriter, r *http.Request) {
	h.showStoredTeam(w, r, http.StatusOK, "")
}

// showStoredTeam shows the stored profile or, after step-up, the form as it was entered before. factorError is the
// error of requireFactor, if any.
func (h *Handlers) showStoredTeam(w http.ResponseWriter, r *http.Request, status int, factorError string) {
	profile, err := h.Teams.Profile(r.Context(), teamID(r))
	if err != nil {
		h.ShowError(w, r, err)
		return
	}
	form := teamForm{FactorError: factorError, Profile: profile}
	if saved := h.SavedForm(r); saved != nil {
		form.Profile = profileFromForm(saved)
	}
	h.showTeam(w, r, status, form)
}

func (h *Handlers) showTeam(w http.ResponseWriter, r *http.Request, status int, f teamForm) {
	if !f.TikTok.Shown {
		o, err := teamoptions.Read(r.Context(), h.DB, teamID(r))
		hasTikTok := false
		if err == nil {
			hasTikTok, err = teamoptions.HasTikTok(r.Context(), h.DB, teamID(r))
		}
		if err != nil {
			h.ShowError(w, r, err)
			return
		}
		f.TikTok = newTikTokForm(o, hasTikTok)
	}
	f.Zones, f.Languages, f.RequiresFactor = teamtime.ZoneOptions(h.DB.Now()), languages,
		shell.VisitorOf(r.Context()).Team.SecondFactor
	f.Clock = h.Language(r).Format(h.DB.Now().In(zone(r)), locale.Clock)
	h.Show(w, r, status, pages["team"], "General", f)
}

var errOwnFactor = apierr.BadState("no_second_factor",
	"Add a passkey or an authenticator app to your own account first, and sign in with it.")

// requireFactor sets whether members must use a second factor. To turn it on, the owner must have signed in with a
// second factor, so that owners do not lock themselves out.
func (h *Handlers) requireFactor(w http.ResponseWriter, r *http.Request) {
	if !h.ReadForm(w, r) {
		return
	}
	required := r.PostForm.Get("required") == "yes"
	err := error(errOwnFactor)
	if !required || h.HasTwoFactors(r.Context()) {
		err = h.admin(r).SetSecondFactor(r.Context(), required)
	}
	if err != nil {
		if formErr, ok := h.formError(w, r, err); ok {
			h.showStoredTeam(w, r, shell.StatusOf(err), formErr.Error)
		}
		return
	}
	message := locale.Key("Members no longer need two-factor authentication.")
	if required {
		message = "Members now need two-factor authentication. Members without it must set it up before they can open " +
			"the team’s pages."
	}
	h.finish(w, r, message, "/settings/team")
}

func profileFromForm(form url.Values) team.Profile {
	return team.Profile{
		Name: form.Get("name"), Timezone: form.Get("timezone"), Language: form.Get("content_language"),
		KeepOriginals: form.Get("keep_originals") == "1",
	}
}

func (h *Handlers) changeTeam(w http.ResponseWriter, r *http.Request) {
	if !h.ReadForm(w, r) {
		return
	}
	oldTimezone := shell.VisitorOf(r.Context()).Team.Timezone
	form := teamForm{Profile: profileFromForm(r.PostForm)}
	if err := h.admin(r).SetProfile(r.Context(), form.Profile); err != nil {
		var ok bool
		if form.fieldError, ok = h.formError(w, r, err); ok {
			h.showTeam(w, r, shell.StatusOf(err), form)
		}
		return
	}
	if form.Timezone == oldTimezone {
		h.finish(w, r, "Saved.", "/settings/team")
		return
	}
	h.Flash(r, "Saved. Times are now shown in %s. Scheduled posts are still published at the same moments.", form.Timezone)
	shell.Redirect(w, r, "/settings/team")
}
