// Package notifications serves a person's notifications and the settings of notification emails.
package notifications

import (
	"embed"
	"html/template"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/domain/notification"
	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/web/shell"
)

//go:embed templates/*.html
var files embed.FS

var pages = shell.Parse(files, shell.Data{
	"list": listing{}, "recent": listing{}, "settings": settingsView{},
}, template.FuncMap{"look": appearanceOf, "sentences": sentencesOf},
	func(l *locale.Language) template.FuncMap {
		return template.FuncMap{"clock": func(at time.Time) string { return l.Format(at, locale.Clock) }}
	})

// appearance is the icon of a notification and the CSS class of its color.
type appearance struct{ Icon, Class string }

var appearances = map[notification.Kind]appearance{
	notification.PostFailed:         {"error-warning-line", "bad"},
	notification.PostUnconfirmed:    {"question-line", "warn"},
	notification.CommentFailed:      {"chat-1-line", "bad"},
	notification.AccountLost:        {"plug-line", "bad"},
	notification.ApprovalAsked:      {"hourglass-line", "warn"},
	notification.ApprovalDecided:    {"checkbox-circle-line", "good"},
	notification.ApprovalComment:    {"chat-3-line", ""},
	notification.CreditsLow:         {"bank-card-line", "warn"},
	notification.TrackingStopped:    {"bar-chart-line", "warn"},
	notification.KeyChanged:         {"key-2-line", ""},
	notification.AssistantConnected: {"robot-2-line", ""},
}

// appearanceOf returns the appearance of a notification. All kinds that are not in appearances are about the person's
// account, so they get the appearance of a security event.
func appearanceOf(n notification.Notification) appearance {
	if n.ChangesRequested() {
		return appearance{"pencil-line", "warn"}
	}
	if a, ok := appearances[n.Kind]; ok {
		return a
	}
	return appearance{"shield-user-line", "warn"}
}

// sentencesOf splits a text into its first sentence and the rest.
func sentencesOf(text string) [2]string {
	first, rest, ok := strings.Cut(text, ". ")
	if !ok {
		return [2]string{text, ""}
	}
	return [2]string{first + ".", rest}
}

// Handlers serves the notification pages.
type Handlers struct {
	*shell.Shell

	notices *notification.Service
}

// New returns the handlers.
func New(sh *shell.Shell, notices *notification.Service) *Handlers { return &Handlers{sh, notices} }

// Routes returns the routes of the pages. Notifications belong to a person, across all teams.
func (h *Handlers) Routes() []shell.Route {
	return []shell.Route{
		{Pattern: "GET /notices", Audience: shell.People, Handler: h.list},
		{Pattern: "POST /notices/read", Audience: shell.People, Handler: h.readAll},
		{Pattern: "GET /notices/recent", Audience: shell.People, Handler: h.recent},
		{Pattern: "GET /notices/settings", Audience: shell.People, Handler: h.settingsPage},
		{Pattern: "POST /notices/settings", Audience: shell.People, Handler: h.saveSettings},
		{Pattern: "GET /notices/{id}", Audience: shell.People, Handler: h.follow},
		{Pattern: "POST /notices/{id}/read", Audience: shell.People, Handler: h.read},
	}
}

const (
	notificationsPerPage = 50 // notifications on a page
	maxPanelRows         = 6  // maximum number of rows in the panel below the bell icon
	maxRecentRead        = 30 // notifications read for the panel; more than maxPanelRows, because some share a row
)

// listing is a page or the panel of notifications.
type listing struct {
	Days   []section
	Newest int64 // ID of the newest notification, for marking all as read; 0 except on the first page
	Unread bool
	Filter string // "unread", or "" for all notifications
	Pages  paging
}

// section holds the notifications of today or of earlier days.
type section struct {
	Name locale.Key
	Rows []row
}

// row is a notification, with further notifications about the same post on other accounts.
type row struct {
	notification.Notification

	More []notification.Notification
}

// rowsOf groups notifications, newest first, into rows.
func rowsOf(notifications []notification.Notification) []row {
	var out []row
	for _, n := range notifications {
		if i := slices.IndexFunc(out, func(r row) bool { return r.SameResult(n) }); i >= 0 {
			out[i].More = append(out[i].More, n)
			out[i].Read = out[i].Read && n.Read
			continue
		}
		out = append(out, row{Notification: n})
	}
	return out
}

// sectionsOf groups notifications, newest first, into today's and earlier ones.
func sectionsOf(notifications []notification.Notification, now time.Time) []section {
	var out []section
	for _, n := range rowsOf(notifications) {
		name := locale.Key("Earlier")
		if n.At.Format(time.DateOnly) == now.In(n.At.Location()).Format(time.DateOnly) {
			name = "Today"
		}
		if len(out) == 0 || out[len(out)-1].Name != name {
			out = append(out, section{Name: name})
		}
		out[len(out)-1].Rows = append(out[len(out)-1].Rows, n)
	}
	return out
}

// paging holds the paths of other pages. A path is "" if there is no such page.
type paging struct{ First, Next string }

func (h *Handlers) list(w http.ResponseWriter, r *http.Request) {
	var before int64
	if text := r.URL.Query().Get("before"); text != "" {
		var err error
		if before, err = strconv.ParseInt(text, 10, 64); err != nil || before < 1 {
			h.NotFound(w, r)
			return
		}
	}
	view, list, first := listing{}, h.notices.List, "/notices?"
	if r.URL.Query().Get("show") == "unread" {
		view.Filter, list, first = "unread", h.notices.ListUnread, "/notices?show=unread&"
	}
	notifications, err := list(r.Context(), shell.VisitorOf(r.Context()).ID, before, notificationsPerPage+1)
	if err != nil {
		h.ShowError(w, r, err)
		return
	}
	if len(notifications) > notificationsPerPage {
		notifications = notifications[:notificationsPerPage]
		view.Pages.Next = first + "before=" + strconv.FormatInt(notifications[notificationsPerPage-1].ID, 10)
	}
	for _, n := range notifications {
		view.Unread = view.Unread || !n.Read
	}
	view.Days = sectionsOf(notifications, h.DB.Now())
	if before > 0 {
		view.Pages.First = first[:len(first)-1]
	} else if len(notifications) > 0 {
		view.Newest = notifications[0].ID
	}
	h.Show(w, r, http.StatusOK, pages["list"], "Notifications", view)
}

// recent serves the newest notifications, for the panel below the bell icon of every page.
func (h *Handlers) recent(w http.ResponseWriter, r *http.Request) {
	notifications, err := h.notices.List(r.Context(), shell.VisitorOf(r.Context()).ID, 0, maxRecentRead)
	if err != nil {
		h.ShowError(w, r, err)
		return
	}
	view := listing{Days: []section{{Rows: rowsOf(notifications)}}}
	for _, n := range notifications {
		view.Unread = view.Unread || !n.Read
	}
	if len(notifications) > 0 {
		view.Newest = notifications[0].ID
	}
	if rows := &view.Days[0].Rows; len(*rows) > maxPanelRows {
		*rows = (*rows)[:maxPanelRows]
	}
	h.Show(w, r, http.StatusOK, pages["recent"], "Notifications", view)
}

// follow marks a notification as read and redirects to its subject. If the subject belongs to another team, it switches
// to that team first. In that case, SwitchTeam asks for confirmation if the visitor comes from another site.
func (h *Handlers) follow(w http.ResponseWriter, r *http.Request) {
	v := shell.VisitorOf(r.Context())
	n, err := h.pathNotice(r)
	if err != nil {
		h.ShowError(w, r, err)
		return
	}
	if target := shell.TeamOrFirst(v.Account, n.Team); target.ID == n.Team && n.Team != v.Team.ID {
		h.SwitchTeam(w, r, target, r.URL.Path)
		return
	}
	if err := h.notices.MarkRead(r.Context(), v.ID, n.ID, false); err != nil {
		h.ShowError(w, r, err)
		return
	}
	shell.Redirect(w, r, n.Path())
}

// pathNotice returns the visitor's notification whose ID is in the path.
func (h *Handlers) pathNotice(r *http.Request) (notification.Notification, error) {
	id, err := shell.PathID(r, "id")
	if err != nil {
		return notification.Notification{}, err
	}
	return h.notices.Get(r.Context(), shell.VisitorOf(r.Context()).ID, id)
}

func (h *Handlers) read(w http.ResponseWriter, r *http.Request) {
	n, err := h.pathNotice(r)
	if err == nil {
		err = h.notices.MarkRead(r.Context(), shell.VisitorOf(r.Context()).ID, n.ID, false)
	}
	if err != nil {
		h.ShowError(w, r, err)
		return
	}
	shell.Redirect(w, r, "/notices")
}

// readAll marks the notifications up to the newest one on the page as read. Newer notifications stay unread.
func (h *Handlers) readAll(w http.ResponseWriter, r *http.Request) {
	if !h.ReadForm(w, r) {
		return
	}
	newest, err := strconv.ParseInt(r.PostForm.Get("newest"), 10, 64)
	if err != nil {
		h.ShowMessage(w, r, http.StatusBadRequest, "Action not completed",
			"The form could not be read. Reload the page and try again.")
		return
	}
	if err := h.notices.MarkRead(r.Context(), shell.VisitorOf(r.Context()).ID, newest, true); err != nil {
		h.ShowError(w, r, err)
		return
	}
	h.Flash(r, "All notifications were marked as read.")
	shell.Redirect(w, r, "/notices")
}

// settingsView is the page of the notification settings.
type settingsView struct {
	Mails  bool // the installation sends email
	Groups []group
}

// group holds the kinds of notifications about one subject.
type group struct {
	Name  locale.Key
	Kinds []choice
}

type choice struct {
	notification.KindInfo

	InApp, ByMail bool
}

// Look returns the appearance of the kind.
func (c choice) Look() appearance { return appearances[c.Kind] }

// groupNames maps kinds of notifications to the names of their groups.
var groupNames = map[notification.Kind]locale.Key{
	notification.PostFailed: "Posts", notification.PostUnconfirmed: "Posts", notification.CommentFailed: "Posts",
	notification.AccountLost:   "Accounts",
	notification.ApprovalAsked: "Approvals", notification.ApprovalDecided: "Approvals", notification.ApprovalComment: "Approvals",
	notification.CreditsLow: "Credits and reports", notification.TrackingStopped: "Credits and reports",
	notification.KeyChanged: "API keys and assistants", notification.AssistantConnected: "API keys and assistants",
}

// groupsOf returns all kinds in groups. For each kind, it sets whether the person wants it in the app and by email.
func groupsOf(muted notification.MutedKinds) []group {
	var out []group
	for _, k := range notification.Kinds {
		name := groupNames[k.Kind]
		if len(out) == 0 || out[len(out)-1].Name != name {
			out = append(out, group{Name: name})
		}
		last := &out[len(out)-1]
		last.Kinds = append(last.Kinds, choice{
			k, !slices.Contains(muted.App, k.Kind), !slices.Contains(muted.Mail, k.Kind),
		})
	}
	return out
}

func (h *Handlers) settingsPage(w http.ResponseWriter, r *http.Request) {
	muted, err := h.notices.Muted(r.Context(), shell.VisitorOf(r.Context()).ID)
	if err != nil {
		h.ShowError(w, r, err)
		return
	}
	h.Show(w, r, http.StatusOK, pages["settings"], "Notification settings",
		settingsView{Mails: h.notices.Mails(), Groups: groupsOf(muted)})
}

// saveSettings saves which kinds a person wants in the app and by email. If there is no mail server, the form has no
// choices for email, and the email settings do not change.
func (h *Handlers) saveSettings(w http.ResponseWriter, r *http.Request) {
	if !h.ReadForm(w, r) {
		return
	}
	person := shell.VisitorOf(r.Context()).ID
	muted, err := h.notices.Muted(r.Context(), person)
	if err == nil {
		muted.App = kindsExcept(r.PostForm["app"])
		switch all := r.PostForm.Get("all"); {
		case all == "on":
			muted.Mail = nil
		case all != "":
			muted.Mail = kindsExcept(nil)
		case h.notices.Mails():
			muted.Mail = kindsExcept(r.PostForm["mail"])
		}
		err = h.notices.SetMuted(r.Context(), person, muted)
	}
	if err != nil {
		h.ShowError(w, r, err)
		return
	}
	h.Flash(r, "Your settings were saved.")
	shell.Redirect(w, r, "/notices/settings")
}

// kindsExcept returns all kinds except the wanted ones.
func kindsExcept(wanted []string) []notification.Kind {
	var out []notification.Kind
	for _, k := range notification.Kinds {
		if !slices.Contains(wanted, string(k.Kind)) {
			out = append(out, k.Kind)
		}
	}
	return out
}
