package shell

import (
	"crypto/rand"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"net/http"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/locale"
)

//go:embed templates/*.html assets/* styles/*.css
var files embed.FS

// page holds the data for the layout and for the page inside it (Body).
type page struct {
	Lang             *locale.Language
	Title            string
	Visitor          *Visitor  // nil if not signed in
	Section          string    // first segment of the path
	Flash            string    // confirmation of the last submission; may be empty
	Once             string    // value of the field "once" in the page's forms
	HasNotifications bool      // whether notifications are enabled
	Unread           int       // number of unread notifications
	Waiting          int       // number of posts that wait for the client's approval
	Menu             *sideMenu // nil if the page has none
	Missing          bool      // whether the requested page was not found
	Now              time.Time // current time, for relative times
	Body             any
	Scheme           string // chosen color scheme; "" for the system's
	Stable           bool   // whether the page is the same for all signed-out visitors until the program changes
}

// IsForGuests reports whether a signed-out visitor opens the page through an approval link or a link to a shared
// report.
func (p page) IsForGuests() bool {
	return p.Visitor == nil && (p.Section == "approval" || p.Section == "shared")
}

var (
	switchPage  = shellPage("turn", switchView{})
	messagePage = shellPage("notice", "")
)

// ShowMessage writes a page with a title and a text as the response.
func (s *Shell) ShowMessage(w http.ResponseWriter, r *http.Request, status int, title, text locale.Key, args ...any) {
	s.ShowText(w, r, status, title, s.T(r, text, args...))
}

// ShowText is like ShowMessage for a text that is already in the visitor's language.
func (s *Shell) ShowText(w http.ResponseWriter, r *http.Request, status int, title locale.Key, text string) {
	s.show(w, r, status, messagePage, page{Title: s.T(r, title), Body: text, Missing: status == http.StatusNotFound})
}

// Show writes a page as the response. It renders the page completely before it sends anything, so that it can still
// show an error.
func (s *Shell) Show(w http.ResponseWriter, r *http.Request, status int, p Page, title locale.Key, body any) {
	s.ShowTitled(w, r, status, p, s.T(r, title), body)
}

// ShowTitled is like Show for a title that is already in the visitor's language.
func (s *Shell) ShowTitled(w http.ResponseWriter, r *http.Request, status int, templateFor Page, title string, body any) {
	s.show(w, r, status, templateFor, page{Title: title, Body: body, Menu: s.sideMenu(r, VisitorOf(r.Context()))})
}

// ShowStable is like ShowTitled for a page that is the same for all signed-out visitors until the program changes.
// Their browsers cache and revalidate the page. Pages for signed-in people are not cached.
func (s *Shell) ShowStable(w http.ResponseWriter, r *http.Request, templateFor Page, title string, body any) {
	s.show(w, r, http.StatusOK, templateFor, page{
		Title: title, Body: body, Menu: s.sideMenu(r, VisitorOf(r.Context())), Stable: true,
	})
}

// ShowPart writes a block of a page as the response, without the layout.
func (s *Shell) ShowPart(w http.ResponseWriter, r *http.Request, p Page, block string, body any) {
	out, err := p.RenderBlock(s.Language(r), block, body)
	if err != nil {
		s.ServerError(w, r, err)
		return
	}
	WriteHTML(w, r, http.StatusOK, out)
}

func (s *Shell) show(w http.ResponseWriter, r *http.Request, status int, templateFor Page, p page) {
	p.Section, _, _ = strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	p.Visitor, p.Once, p.Now = VisitorOf(r.Context()), s.Once(), s.DB.Now()
	p.Scheme = appearance(r)
	if p.Visitor != nil {
		if status < http.StatusBadRequest && !isFromScript(r) {
			p.Flash = s.sessions.manager.PopString(r.Context(), flashKey)
		}
		p.HasNotifications, p.Unread = s.Unread != nil, s.unread(r, p.Visitor.ID)
		p.Waiting = s.awaitingApproval(r, p.Visitor)
	}
	p.Lang = s.Language(r)
	out, err := templateFor.render(p)
	if err != nil {
		s.Log.ErrorContext(r.Context(), "rendering a page failed", "page", templateFor.name, "route", r.Pattern, "error", err)
		http.Error(w, "Something went wrong. Try again in a moment.", http.StatusInternalServerError)
		return
	}
	if p.Stable && p.Visitor == nil && respondNotModified(w, r, out) {
		return
	}
	WriteHTML(w, r, status, addTeamField(out, p.Visitor))
}

// respondNotModified sets the entity tag of a page (RFC 9110, section 8.8). If the browser already has the page, it
// responds with 304 and returns true. The tag is weak, because the page may be compressed.
func respondNotModified(w http.ResponseWriter, r *http.Request, data []byte) bool {
	sum := sha256.Sum256(data)
	tag := `W/"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`
	w.Header().Set("Cache-Control", "no-cache")
	w.Header().Set("ETag", tag)
	for known := range strings.SplitSeq(r.Header.Get("If-None-Match"), ",") {
		if strings.TrimSpace(known) == tag {
			w.Header().Add("Vary", "Accept-Language")
			w.WriteHeader(http.StatusNotModified)
			return true
		}
	}
	return false
}

// unread returns the number of the visitor's unread notifications, or 0 if they cannot be counted.
func (s *Shell) unread(r *http.Request, person int64) int {
	if s.Unread == nil {
		return 0
	}
	n, err := s.Unread(r.Context(), person)
	if err != nil {
		s.Log.ErrorContext(r.Context(), "counting unread notifications failed", "error", err)
	}
	return n
}

// awaitingApproval returns the number of the team's posts that wait for the client. It returns 0 if the visitor cannot
// see approvals, or if the posts cannot be counted.
func (s *Shell) awaitingApproval(r *http.Request, v *Visitor) int {
	if s.AwaitingApproval == nil || v.Team.ID == 0 || v.Team.Closed || !v.Is(Writers) {
		return 0
	}
	n, err := s.AwaitingApproval(r.Context(), v.Team.ID)
	if err != nil {
		s.Log.ErrorContext(r.Context(), "counting the posts that await approval failed", "error", err)
	}
	return n
}

// CountOf returns the number to show next to a navigation entry, or 0 to show no number.
func (p page) CountOf(item navItem) int {
	if item.Path() == approvalsItem.Path() {
		return p.Waiting
	}
	return 0
}

// Once returns a new value for the form field "once", which identifies a submission: the time and a random part.
func (s *Shell) Once() string {
	return s.DB.Now().UTC().Format(onceTimeFormat) + "-" + rand.Text()
}

// Flash sets the confirmation that the next page shows. Requests from scripts neither set nor show it, because nobody
// sees their responses. For example, an autosave between a submission and the next page must not consume the
// confirmation.
func (s *Shell) Flash(r *http.Request, text locale.Key, args ...any) {
	s.FlashText(r, s.T(r, text, args...))
}

// FlashText is like Flash for a text that is already in the visitor's language.
func (s *Shell) FlashText(r *http.Request, text string) {
	if isFromScript(r) {
		return
	}
	s.sessions.manager.Put(r.Context(), flashKey, text)
}
