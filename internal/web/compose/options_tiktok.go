package compose

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/domain/account"
	"pressroom.example/pressroom/internal/domain/account/appcheck"
	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/web/shell"
)

const tikTok = "tiktok"

// readTikTok reads the TikTok options from a form into o. It leaves o.TikTok unset if the form has none.
func readTikTok(form url.Values, o *network.Options) {
	is := func(name string) bool { return form.Get(name) == yes }
	t := network.TikTokOptions{
		PrivacyLevel: form.Get("tiktok-privacy"), AllowComment: is("tiktok-comment"), AllowDuet: is("tiktok-duet"),
		AllowStitch: is("tiktok-stitch"), BrandOrganic: is("tiktok-brand"), BrandContent: is("tiktok-partnership"),
		IsAIGC: is("tiktok-ai"), MusicUsageConfirmed: is("tiktok-music"),
	}
	if is("tiktok-inbox") {
		t.Mode = network.TikTokInbox
	}
	if t != (network.TikTokOptions{}) {
		o.TikTok = &t
	}
}

// tikTokErrors returns the errors of the TikTok options, each with its field.
func tikTokErrors(o network.Options) []error {
	if o.TikTok == nil || o.TikTok.PrivacyLevel == "" || shell.IsOffered(shell.TikTokAudiences, o.TikTok.PrivacyLevel) {
		return nil
	}
	return []error{apierr.Invalid(apierr.NotAllowedValue, "tiktok-privacy", "Choose who can see the post on TikTok.")}
}

// creator is a TikTok account and what its settings allow.
type creator struct {
	appcheck.Creator

	Username string
}

// limits describes the maximum length of a video and the features that the settings turn off. It does not list
// audiences, because the form disables the ones that the account does not allow.
func limits(l *locale.Language, c creator) string {
	var out []string
	switch longest := c.MaxVideoDuration; {
	case longest >= 2*time.Minute && longest%time.Minute == 0:
		out = append(out, l.T("Videos up to %d minutes.", int64(longest/time.Minute)))
	case longest > 0:
		out = append(out, l.T("Videos up to %d seconds.", int64(longest/time.Second)))
	}
	var off []string
	for _, feature := range []struct {
		name locale.Key
		off  bool
	}{{"comments", c.NoComment}, {"duets", c.NoDuet}, {"stitches", c.NoStitch}} {
		if feature.off {
			off = append(off, l.T(feature.name))
		}
	}
	if len(off) > 0 {
		out = append(out, l.T("Turned off: %s.", strings.Join(off, ", ")))
	}
	return strings.Join(out, " ")
}

// restrictableOptions returns the options that an account's settings can forbid: features and audiences.
func restrictableOptions() []string {
	out := []string{"comment", "duet", "stitch"}
	for _, a := range shell.TikTokAudiences {
		out = append(out, a.Value)
	}
	return out
}

// Off returns the names of the options that the account's settings forbid, separated by spaces.
func (c creator) Off() string {
	return strings.Join(slices.DeleteFunc(restrictableOptions(),
		func(option string) bool { return !c.Forbids(option) }), " ")
}

// Forbids reports whether any selected TikTok account has settings that forbid an option.
func (v *view) Forbids(option string) bool {
	return slices.ContainsFunc(v.Creators, func(c creator) bool { return c.Forbids(option) })
}

// creatorsOf reads the settings of the selected TikTok accounts concurrently, so that several accounts take no longer
// than one. It omits accounts that have nothing to show.
func (p *Handlers) creatorsOf(r *http.Request, accounts []account.SocialAccount, selected []int64) []creator {
	var out []creator
	var ids []int64
	for _, a := range accounts {
		if a.Platform == tikTok && a.Active && slices.Contains(selected, a.ID) {
			out, ids = append(out, creator{Username: a.Username}), append(ids, a.ID)
		}
	}
	var group sync.WaitGroup
	for i, id := range ids {
		group.Go(func() { out[i].Creator = p.creators.CreatorInfo(r.Context(), id) })
	}
	group.Wait()
	return slices.DeleteFunc(out, func(c creator) bool { return c.Text == "" && !c.Unread })
}

// TeamAudience returns the name of the audience in the team's default TikTok options, or "" if they have none.
func (v *view) TeamAudience() locale.Key {
	for _, a := range shell.TikTokAudiences {
		if v.TeamTikTok != nil && a.Value == v.TeamTikTok.PrivacyLevel {
			return a.Name
		}
	}
	return ""
}

// TikTokChoices returns the form's choices for TikTok, or the zero value if there are none.
func (v *view) TikTokChoices() network.TikTokOptions { return network.ValueOrZero(v.Choices.TikTok) }

// Audiences returns the possible audiences of a post on TikTok.
func (*view) Audiences() []shell.Choice { return shell.TikTokAudiences }
