package shell

import (
	"net/http"
	"strings"

	"pressroom.example/pressroom/internal/locale"
)

// menuGroup is a named group of entries in a side menu.
type menuGroup struct {
	Name  locale.Key
	Items []menuItem
}

// menuItem is an entry of a side menu. Only the audience For sees it.
type menuItem struct {
	Name       locale.Key
	Icon, Path string
	For        Audience
	Also       string // path prefix of further pages that belong to the entry; may be empty
	Current    string // value of aria-current; empty if the entry is not the current one
}

// settingsGroups contains all entries of the settings menu.
var settingsGroups = []menuGroup{
	{"Team", []menuItem{
		{Name: "General", Icon: "building-4-line", Path: "/settings/team", For: Members},
		{Name: "Members", Icon: "team-line", Path: "/settings/members", For: Managers, Also: "/settings/invitations"},
	}},
	{"Developers", []menuItem{
		{Name: "API keys", Icon: "key-2-line", Path: "/settings/keys", For: Managers},
		{Name: "Apps and assistants", Icon: "robot-2-line", Path: "/settings/assistants", For: Members},
	}},
	{"Billing and data", []menuItem{
		{Name: "Plan and limits", Icon: "bar-chart-line", Path: "/settings/plan", For: Members},
		{Name: "Credits", Icon: "bank-card-line", Path: "/settings/credits", For: Members},
		{Name: "Audit log", Icon: "history-line", Path: "/settings/audit", For: Managers},
		{Name: "Export data", Icon: "download-2-line", Path: "/settings/export", For: Managers},
		{Name: "Delete team", Icon: "delete-bin-line", Path: "/settings/delete", For: Owners},
	}},
	{"You", []menuItem{
		{Name: "Your account", Icon: "user-line", Path: "/account", For: People},
		{Name: "Notification settings", Icon: "notification-3-line", Path: noticeSettingsPath, For: People},
	}},
}

// noticeSettingsPath is the path of the page with the notification settings.
const noticeSettingsPath = "/notices/settings"

// operatorGroups contains all entries of the menu on the operator's pages.
var operatorGroups = []menuGroup{
	{"Operator", []menuItem{
		{Name: "Overview", Icon: "bar-chart-2-line", Path: operatorHome, For: Operators},
		{Name: "Teams", Icon: "building-4-line", Path: "/operator/teams", For: Operators},
		{Name: "People", Icon: "team-line", Path: "/operator/people", For: Operators},
	}},
	{"Monitor", []menuItem{
		{Name: "Background jobs", Icon: "time-line", Path: "/operator/queue", For: Operators},
		{Name: "Unconfirmed posts", Icon: "question-line", Path: "/operator/posts", For: Operators},
		{Name: "Networks", Icon: "share-line", Path: "/operator/networks", For: Operators},
		{Name: "Ledger audit", Icon: "bank-card-line", Path: "/operator/ledger", For: Operators},
		{Name: "Audit log", Icon: "history-line", Path: "/operator/events", For: Operators},
	}},
	{"Control", []menuItem{
		{Name: "Switches and pauses", Icon: "plug-line", Path: "/operator/pauses", For: Operators},
		{Name: "Notification channels", Icon: "notification-3-line", Path: "/operator/channels", For: Operators},
	}},
}

// operatorHome is the path of the operator's start page.
const operatorHome = "/operator"

// sideMenu is the menu next to a page, with the entries that the visitor may open.
type sideMenu struct {
	Name   locale.Key // name of the menu
	Here   locale.Key // name of the current entry, or of the menu if there is none
	Groups []menuGroup
}

// sideMenu returns the menu of the settings or of the operator's pages for a request. It returns nil for other pages.
func (s *Shell) sideMenu(r *http.Request, v *Visitor) *sideMenu {
	section, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	switch {
	case v == nil:
		return nil
	case section == "operator" && v.Operator:
		return s.menuOf(r, v, "Operator", operatorGroups)
	case section == "settings", section == "account", r.URL.Path == noticeSettingsPath:
		return s.menuOf(r, v, "Settings", settingsGroups)
	}
	return nil
}

// menuOf returns a menu with the entries that a visitor may open.
func (s *Shell) menuOf(r *http.Request, v *Visitor, name locale.Key, groups []menuGroup) *sideMenu {
	out := &sideMenu{Name: name, Here: name}
	for _, group := range groups {
		visible := menuGroup{Name: group.Name}
		for _, item := range group.Items {
			if !v.Is(item.For) || item.For.needsTeam() && v.Team.ID == 0 || item.Path == noticeSettingsPath && s.Unread == nil {
				continue
			}
			if item.Current = item.currentAt(r.URL.Path); item.Current != "" {
				out.Here = item.Name
			}
			visible.Items = append(visible.Items, item)
		}
		if len(visible.Items) > 0 {
			out.Groups = append(out.Groups, visible)
		}
	}
	return out
}

// currentAt returns the item's aria-current value on the page with the given path, or "" if the page does not belong to
// the item.
func (i menuItem) currentAt(path string) string {
	current := ariaCurrent(i.Path, path)
	switch {
	case i.Path == operatorHome && current == "true":
		return "" // each page below it has its own entry
	case current == "" && i.Also != "" && ariaCurrent(i.Also, path) != "":
		return "true"
	}
	return current
}

// ariaCurrent returns the aria-current value of a link to path: "page" if current, the path of the current page, is the
// same, "true" if current is below path, and "" otherwise.
func ariaCurrent(path, current string) string {
	switch {
	case path == current:
		return "page"
	case strings.HasPrefix(current, path+"/"):
		return "true"
	}
	return ""
}
