package shell

import (
	"cmp"
	"html/template"
	"net/http"
	"slices"
	"strings"
	"unicode"

	"pressroom.example/pressroom/internal/domain/team"
	"pressroom.example/pressroom/internal/locale"
)

// navItem is an entry of the navigation. The entry is shown as current on pages whose first path segment is in
// Sections. It links to Page or, if Page is empty, to the first section.
type navItem struct {
	Name     locale.Key
	Icon     string
	Sections []string
	Page     string
}

// Path returns the path that the entry links to.
func (n navItem) Path() string { return cmp.Or(n.Page, "/"+n.Sections[0]) }

// Has reports whether a section belongs to the entry.
func (n navItem) Has(section string) bool { return slices.Contains(n.Sections, section) }

// mainItems are the entries that are always visible on phones. moreItems are the entries in the More menu.
var (
	mainItems = []navItem{
		{Name: "Home", Icon: "home-5-line", Sections: []string{""}},
		{Name: "Calendar", Icon: "calendar-line", Sections: []string{"calendar"}},
		{Name: "Posts", Icon: "file-list-2-line", Sections: []string{"posts", "jobs"}},
		{Name: "Analytics", Icon: "bar-chart-2-line", Sections: []string{"analytics", "reports"}},
	}
	moreItems = []navItem{
		{Name: "Accounts", Icon: "share-line", Sections: []string{"accounts", "connect", "connected"}},
		{Name: "Media", Icon: "image-line", Sections: []string{"media", "upload"}},
		{Name: "Hashtags", Icon: "hashtag", Sections: []string{"hashtags"}},
		{Name: "Voices", Icon: "quill-pen-line", Sections: []string{"voices"}},
		{Name: "Settings", Icon: "settings-3-line", Sections: []string{"settings"}},
	}
	approvalsItem = navItem{Name: "Approvals", Icon: "checkbox-circle-line", Sections: []string{"approvals"}}
	operatorItem  = navItem{Name: "Operator", Icon: "shield-user-line", Sections: []string{"operator"}}
	helpItem      = navItem{Name: "Help", Icon: "question-line", Sections: []string{"docs"}, Page: "/docs/app"}
)

// moreMenu returns the entries of the More menu that the visitor may open.
func (v *Visitor) moreMenu() []navItem {
	var out []navItem
	if v.Is(Writers) {
		out = append(out, approvalsItem)
	}
	out = append(out, moreItems...)
	if v.Operator {
		out = append(out, operatorItem)
	}
	return append(out, helpItem)
}

// Main returns the navigation entries that are always visible.
func (p page) Main() []navItem { return mainItems }

// helpAnchors maps sections to the anchors on the help page that describe them.
var helpAnchors = map[string]string{
	"": "page-home", "calendar": "move", "posts": "schedule", "analytics": "analytics", "reports": "report", "accounts": "connect",
	"connect": "connect", "approvals": "approve", "media": "page-media", "hashtags": "page-hashtags", "voices": "page-voices",
	"settings": "page-settings", "notices": "page-notices",
}

// More returns the other navigation entries. The last entry is Help. It links to the anchor that describes the current
// section.
func (p page) More() []navItem {
	out := p.Visitor.moreMenu()
	if anchor, ok := helpAnchors[p.Section]; ok {
		out[len(out)-1].Page += "#" + anchor
	}
	return out
}

// NotFoundLinks returns the navigation entries that the "not found" page offers.
func (p page) NotFoundLinks() []navItem {
	if p.Visitor.Team.ID == 0 || p.Visitor.Team.Closed {
		return []navItem{mainItems[0]}
	}
	return slices.Concat(mainItems, moreItems[:2])
}

// CanCreatePosts reports whether the visitor may create posts in the selected team.
func (p page) CanCreatePosts() bool {
	return p.Visitor.Team.ID > 0 && !p.Visitor.Team.Closed && p.Visitor.Is(Writers)
}

// TeamSwitchPath returns the path of the page to open after the visitor has switched to another team: the first page of
// the current section. The current page itself may show an item that belongs to the previous team.
func (p page) TeamSwitchPath() string {
	for _, item := range slices.Concat(mainItems, p.Visitor.moreMenu()) {
		if item.Has(p.Section) {
			return item.Path()
		}
	}
	return "/"
}

// maxMenuTeams is the maximum number of teams in the menu.
const maxMenuTeams = 12

// Teams returns the teams that the visitor can select in the menu, with the selected team first.
func (p page) Teams() []team.OwnTeam {
	out := slices.Clone(p.Visitor.Teams)
	slices.SortStableFunc(out, func(a, b team.OwnTeam) int {
		switch p.Visitor.Team.ID {
		case a.ID:
			return -1
		case b.ID:
			return 1
		}
		return 0
	})
	return out[:min(len(out), maxMenuTeams)]
}

// Initials returns the first letters or digits of the first two words of a name, or "?" if there are none.
func Initials(name string) string {
	var out []rune
	for _, word := range strings.FieldsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if out = append(out, []rune(word)[0]); len(out) == 2 {
			break
		}
	}
	if len(out) == 0 {
		return "?"
	}
	return string(out)
}

// networkIcons maps platform identifiers to the names of logos, without the prefix "net-".
var networkIcons = map[string]string{
	"instagram": "ig", "facebook": "fb", "threads": "th", "tiktok": "tt", "youtube": "yt", "linkedin": "li", "x": "x",
	"pinterest": "pin", "bluesky": "bsky",
}

// NetworkLogo returns a network's logo, which is hidden from assistive technology. It returns "" for an unknown
// network.
func NetworkLogo(platform string) (template.HTML, error) {
	platform = strings.TrimSuffix(platform, "_business")
	name, ok := networkIcons[platform]
	if !ok {
		return "", nil
	}
	icon, err := Icon("net-" + name)
	return `<span class="net ` + template.HTML(platform) + `" aria-hidden="true">` + icon + `</span>`, err //nolint:gosec // a map key
}

// PageLink is a page of the app that visitors can find by searching.
type PageLink struct {
	Name, Icon, Path string
	Group            locale.Key
}

// createLinks lists the pages where people create items.
var createLinks = []struct {
	Name       locale.Key
	Icon, Path string
	For        Audience
}{
	{"New post", "add-line", "/posts/new", Writers},
	{"Add files", "image-add-line", "/media/add", Writers},
	{"New report", "bar-chart-line", "/reports/new", Spenders},
	{"New hashtag list", "hashtag", "/hashtags/new", Writers},
	{"New brand voice", "quill-pen-line", "/voices/new", Writers},
}

// PageLinks returns the pages that the visitor may open: the pages in createLinks, in the navigation and in the
// settings menu.
func (s *Shell) PageLinks(r *http.Request) []PageLink {
	v, l := VisitorOf(r.Context()), s.Language(r)
	var out []PageLink
	for _, link := range createLinks {
		if v.Is(link.For) && v.Team.ID > 0 && !v.Team.Closed {
			out = append(out, PageLink{l.T(link.Name), link.Icon, link.Path, "Create"})
		}
	}
	for _, item := range slices.Concat(mainItems, v.moreMenu()) {
		out = append(out, PageLink{l.T(item.Name), item.Icon, item.Path(), "Go to"})
	}
	for _, group := range s.menuOf(r, v, "Settings", settingsGroups).Groups {
		for _, item := range group.Items {
			out = append(out, PageLink{l.T(item.Name), item.Icon, item.Path, "Settings"})
		}
	}
	return out
}
