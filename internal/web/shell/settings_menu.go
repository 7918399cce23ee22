package shell

import (
	"net/http"
	"strings"

	"pressroom.example/pressroom/internal/locale"
)

// settingsGroup is a part of the settings menu.
type settingsGroup struct {
	Name  locale.Key
	Items []settingsItem
}

// settingsItem is an entry of the settings menu, for an audience.
type settingsItem struct {
	Name       locale.Key
	Icon, Path string
	For        Audience
	Current    string // value of aria-current; empty if another page is shown
}

// settingsGroups are all entries of the settings menu.
var settingsGroups = []settingsGroup{
	{"Team", []settingsItem{
		{Name: "General", Icon: "building-4-line", Path: "/settings/team", For: Members},
		{Name: "Members", Icon: "team-line", Path: "/settings/members", For: Managers},
	}},
	{"Developers", []settingsItem{
		{Name: "API keys", Icon: "key-2-line", Path: "/settings/keys", For: Managers},
		{Name: "Apps and assistants", Icon: "robot-2-line", Path: "/settings/assistants", For: Members},
		{Name: "API and tool access", Icon: "plug-line", Path: "/settings/access", For: Managers},
	}},
	{"Billing and data", []settingsItem{
		{Name: "Plan and limits", Icon: "bar-chart-line", Path: "/settings/plan", For: Members},
		{Name: "Credits", Icon: "bank-card-line", Path: "/settings/credits", For: Members},
		{Name: "Audit log", Icon: "history-line", Path: "/settings/audit", For: Managers},
		{Name: "Export data", Icon: "download-2-line", Path: "/settings/export", For: Managers},
		{Name: "Delete the team", Icon: "delete-bin-line", Path: "/settings/delete", For: Owners},
	}},
	{"You", []settingsItem{
		{Name: "Your account", Icon: "user-line", Path: "/account", For: People},
		{Name: "Notification settings", Icon: "notification-3-line", Path: noticeSettings, For: People},
	}},
}

// noticeSettings is the path of the notification settings.
const noticeSettings = "/notices/settings"

// settingsMenu is the menu next to a settings page, with the entries that the visitor may open.
type settingsMenu struct {
	Here   locale.Key // name of the current entry
	Groups []settingsGroup
}

// settingsMenu returns the menu of a settings page, or nil for other pages.
func (s *Shell) settingsMenu(r *http.Request, v *Visitor) *settingsMenu {
	section, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if v == nil || section != "settings" && section != "account" && r.URL.Path != noticeSettings {
		return nil
	}
	return s.settingsOf(r, v)
}

// settingsOf returns the settings that a visitor may open.
func (s *Shell) settingsOf(r *http.Request, v *Visitor) *settingsMenu {
	out := &settingsMenu{Here: "Settings"}
	for _, group := range settingsGroups {
		shown := settingsGroup{Name: group.Name}
		for _, item := range group.Items {
			if !v.Is(item.For) || item.For.inTeam() && v.Team.ID == 0 || item.Path == noticeSettings && s.Unread == nil {
				continue
			}
			if item.Current = ariaCurrent(item.Path, r.URL.Path); item.Current != "" {
				out.Here = item.Name
			}
			shown.Items = append(shown.Items, item)
		}
		if len(shown.Items) > 0 {
			out.Groups = append(out.Groups, shown)
		}
	}
	return out
}

// ariaCurrent returns the value of aria-current of a link to path on the page at: "page" for the page itself, "true"
// for a page below it.
func ariaCurrent(path, at string) string {
	switch {
	case path == at:
		return "page"
	case strings.HasPrefix(at, path+"/"):
		return "true"
	}
	return ""
}
