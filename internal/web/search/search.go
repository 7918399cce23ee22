// Package search serves the page that searches a team's items and the pages of the app.
package search

import (
	"embed"
	"html/template"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/domain/account"
	"pressroom.example/pressroom/internal/domain/hashtag/list"
	"pressroom.example/pressroom/internal/domain/media"
	"pressroom.example/pressroom/internal/domain/post"
	"pressroom.example/pressroom/internal/domain/post/postlist"
	"pressroom.example/pressroom/internal/domain/report"
	"pressroom.example/pressroom/internal/domain/voice"
	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/web/shell"
)

//go:embed templates
var files embed.FS

var pages = shell.Parse(files, shell.Data{
	"search": view{},
}, template.FuncMap{"marked": highlight})

const (
	maxQuery        = 200 // maximum number of characters in a query
	resultsPerGroup = 3   // maximum number of results of each kind
	maxCounted      = 100 // maximum number of results that are counted
	pageSize        = 50  // number of accounts or hashtag lists that are read at a time
	maxListed       = 500 // maximum number of accounts or hashtag lists that are searched
)

// highlight returns a text as HTML. It marks the first occurrence of the query. If the text does not contain the query,
// it marks the first occurrence of one of the query's words.
func highlight(text, query string) template.HTML {
	var out strings.Builder
	escaped := template.HTMLEscapeString
	for _, part := range append([]string{query}, strings.Fields(query)...) {
		i := indexFold(text, part)
		if i < 0 {
			continue
		}
		end := i + len(part)
		out.WriteString(contextBefore(text[:i],
			part) + "<mark>" + escaped(text[i:end]) + "</mark>" + escaped(text[end:]))
		return template.HTML(out.String()) //nolint:gosec // escaped
	}
	return template.HTML(escaped(text)) //nolint:gosec // escaped
}

// Lengths in characters. If a match ends after more than maxVisible characters, the text before it is cut to its last
// maxLeading characters. On wide screens, the text is cut only if the match ends after more than wideThreshold
// characters.
const maxVisible, maxLeading, wideThreshold = 56, 40, 100

// contextBefore returns the text before a match as HTML. Wide screens show the whole text if there is room.
func contextBefore(text, match string) string {
	cut := cutBefore(text, match)
	if cut == text || utf8.RuneCountInString(text+match) > wideThreshold {
		return template.HTMLEscapeString(cut)
	}
	visible := strings.TrimPrefix(cut, "…")
	return `<span class="far">` + template.HTMLEscapeString(strings.TrimSuffix(text, visible)) + `</span><span class="near">…</span>` +
		template.HTMLEscapeString(visible)
}

// cutBefore returns the text before a match. It removes the beginning of the text if the match would otherwise not be
// visible.
func cutBefore(before, match string) string {
	runes := []rune(before)
	if len(runes)+utf8.RuneCountInString(match) <= maxVisible {
		return before
	}
	visible := string(runes[max(0, len(runes)-maxLeading):])
	if _, words, ok := strings.Cut(visible, " "); ok {
		visible = words
	}
	return "…" + visible
}

// indexFold returns the byte index of the first occurrence of part in text, ignoring case, or -1.
func indexFold(text, part string) int {
	for i := range text {
		if end := i + len(part); part != "" && end <= len(text) && strings.EqualFold(text[i:end], part) {
			return i
		}
	}
	return -1
}

// Handlers serves the search.
type Handlers struct{ *shell.Shell }

// New returns the handlers.
func New(sh *shell.Shell) *Handlers { return &Handlers{sh} }

// Routes returns the route of the page. The search field of every page also uses this route.
func (h *Handlers) Routes() []shell.Route {
	return []shell.Route{{Pattern: "GET /search", Audience: shell.People, Handler: h.page}}
}

// view is the search page. An empty search shows all pages of the app.
type view struct {
	Query  string
	Groups []group
	Count  int // number of results that are shown
	Error  string
}

// group holds the results of one kind.
type group struct {
	Name    locale.Key
	Results []result
	All     string // path of the page with all results; empty if this page shows all
	Total   string // total number of results, such as "12" or "100+"; empty if unknown
}

// result is an item or a page that matches.
type result struct {
	Icon, Name, Detail, Path string
	Platform                 string // network of an account or report
	Picture                  int64  // ID of an image
	Account                  int64  // ID of an account
}

func (h *Handlers) page(w http.ResponseWriter, r *http.Request) {
	out := view{Query: strings.TrimSpace(r.URL.Query().Get("q"))}
	if utf8.RuneCountInString(out.Query) > maxQuery {
		out.Error = h.T(r, "Enter at most %d characters.", maxQuery)
		h.Show(w, r, http.StatusUnprocessableEntity, pages["search"], "Search", out)
		return
	}
	for _, g := range h.matchingPages(r, out.Query) {
		out.add(g)
	}
	if v := shell.VisitorOf(r.Context()); out.Query != "" && v.Is(shell.Members) && v.Team.ID > 0 && !v.Team.Closed {
		if err := h.addItems(r, &out); err != nil {
			h.ShowError(w, r, err)
			return
		}
	}
	h.Show(w, r, http.StatusOK, pages["search"], "Search", out)
}

// add adds a group if it has results.
func (v *view) add(g group) {
	if len(g.Results) > 0 {
		v.Groups, v.Count = append(v.Groups, g), v.Count+len(g.Results)
	}
}

// matchingPages returns, in groups, the pages whose names contain every word of a query.
func (h *Handlers) matchingPages(r *http.Request, query string) []group {
	var out []group
	words := strings.Fields(strings.ToLower(query))
next:
	for _, link := range h.PageLinks(r) {
		for _, word := range words {
			if !strings.Contains(strings.ToLower(link.Name), word) {
				continue next
			}
		}
		if len(out) == 0 || out[len(out)-1].Name != link.Group {
			out = append(out, group{Name: link.Group})
		}
		last := &out[len(out)-1]
		last.Results = append(last.Results, result{Icon: link.Icon, Name: link.Name, Path: link.Path})
	}
	return out
}

// addItems adds the team's matching items. It skips kinds that the visitor may not see.
func (h *Handlers) addItems(r *http.Request, out *view) error {
	for _, find := range []func(*http.Request, string) (group, error){
		h.findPosts, h.findAccounts, h.findMedia, h.findReports, h.findHashtagLists, h.findVoices,
	} {
		g, err := find(r, out.Query)
		if err != nil && shell.StatusOf(err) == http.StatusForbidden {
			continue
		}
		if err != nil {
			return err
		}
		out.add(g)
	}
	return nil
}

// statuses maps the statuses of posts to their labels.
var statuses = map[post.Status]locale.Key{
	post.Draft: "Draft", post.Scheduled: "Scheduled", post.Processing: "Processing", post.Published: "Published",
	post.PartiallyPublished: "Partially published", post.Failed: "Failed",
}

func (h *Handlers) findPosts(r *http.Request, query string) (group, error) {
	v, l, out := shell.VisitorOf(r.Context()), h.Language(r), group{Name: "Posts"}
	entries, next, err := postlist.List(r.Context(), h.DB, v.Team.ID, postlist.Filter{Text: query}, "", resultsPerGroup)
	for _, e := range entries {
		detail := l.T(statuses[e.Status])
		at := e.PublishedAt
		if at.IsZero() {
			at = e.ScheduledAt
		}
		if !at.IsZero() {
			detail += " · " + l.Format(at.In(v.Zone), layoutOf(at.In(v.Zone), h.DB.Now()))
		}
		out.Results = append(out.Results, result{Icon: "file-list-2-line", Name: e.Excerpt, Detail: detail,
			Path: "/posts/" + e.ID, Picture: e.Picture})
	}
	if err == nil && next != "" {
		var ids []string
		ids, err = postlist.ListIDs(r.Context(), h.DB, v.Team.ID, postlist.Filter{Text: query}, maxCounted)
		out.All, out.Total = "/posts?"+url.Values{"q": {query}}.Encode(), formatTotal(len(ids), len(ids) == maxCounted)
	}
	return out, err
}

// formatTotal formats a number of results, with a plus sign if there may be more.
func formatTotal(n int, more bool) string {
	if more {
		return strconv.Itoa(n) + "+"
	}
	return strconv.Itoa(n)
}

// layoutOf returns the layout for a time. It omits the year if it is the current one.
func layoutOf(at, now time.Time) locale.Layout {
	if at.Year() == now.In(at.Location()).Year() {
		return locale.ShortTime
	}
	return locale.DateTime
}

func (h *Handlers) findAccounts(r *http.Request, query string) (group, error) {
	out := group{Name: "Accounts"}
	args := operation.Arguments{"active_only": false}
	err := eachPage(h, r, "list_social_accounts", args, func(page account.SocialAccountList) {
		for _, a := range page.SocialAccounts {
			if contains(a.Username, query) || contains(shell.NetworkName(a.Platform), query) {
				out.Results = append(out.Results, result{Name: a.Username, Detail: shell.NetworkName(a.Platform),
					Path: pathOf("accounts", a.ID), Platform: a.Platform, Account: a.ID})
			}
		}
	})
	return out.limit("/accounts"), err
}

// eachPage calls fn with each page of a list until it has read maxListed items.
func eachPage[T any](p *Handlers, r *http.Request, name string, args operation.Arguments, fn func(T)) error {
	args["limit"] = int64(pageSize)
	for count := 0; count < maxListed; count += pageSize {
		page, outcome, err := shell.Run[T](p.Shell, r, name, args)
		if err != nil {
			return err
		}
		fn(page)
		if outcome.Page == nil || !outcome.Page.HasMore {
			break
		}
		args["cursor"] = outcome.Page.Cursor
	}
	return nil
}

func (h *Handlers) findMedia(r *http.Request, query string) (group, error) {
	out := group{Name: "Media"}
	page, outcome, err := shell.Run[media.MediaList](h.Shell, r, "list_media",
		operation.Arguments{"query": query, "limit": int64(resultsPerGroup)})
	for _, m := range page.Media {
		item := result{Icon: "film-line", Name: m.Name, Detail: m.AltText, Path: pathOf("media", m.ID)}
		if m.Kind == "image" {
			item.Picture = m.ID
		}
		out.Results = append(out.Results, item)
	}
	if outcome.Page != nil && outcome.Page.HasMore {
		out.All = "/media?" + url.Values{"query": {query}}.Encode()
	}
	return out, err
}

func (h *Handlers) findReports(r *http.Request, query string) (group, error) {
	out := group{Name: "Reports"}
	page, outcome, err := shell.Run[report.ReportList](h.Shell, r, "list_reports",
		operation.Arguments{"query": strings.TrimLeft(query, "@#"), "limit": int64(resultsPerGroup)})
	for _, item := range page.Reports {
		prefix := "@"
		if item.Kind == "hashtag" {
			prefix = "#"
		}
		out.Results = append(out.Results, result{Icon: "bar-chart-line", Name: prefix + item.Subject,
			Detail: shell.NetworkName(item.Platform), Path: "/reports/" + item.ID, Platform: item.Platform})
	}
	if outcome.Page != nil && outcome.Page.HasMore {
		out.All = "/reports"
	}
	return out, err
}

func (h *Handlers) findHashtagLists(r *http.Request, query string) (group, error) {
	out := group{Name: "Hashtag lists"}
	err := eachPage(h, r, "list_hashtag_lists", operation.Arguments{}, func(page list.HashtagLists) {
		for _, item := range page.HashtagLists {
			if contains(item.Name, query) {
				out.Results = append(out.Results, result{Icon: "hashtag", Name: item.Name, Path: pathOf("hashtags", item.ID)})
			}
		}
	})
	return out.limit("/hashtags"), err
}

func (h *Handlers) findVoices(r *http.Request, query string) (group, error) {
	out := group{Name: "Brand voices"}
	page, _, err := shell.Run[voice.BrandVoiceList](h.Shell, r, "list_brand_voices", operation.Arguments{})
	for _, item := range page.BrandVoices {
		if contains(item.Name, query) {
			out.Results = append(out.Results, result{Icon: "quill-pen-line", Name: item.Name, Path: pathOf("voices", item.ID)})
		}
	}
	return out.limit("/voices"), err
}

// limit returns the group with at most resultsPerGroup results. If the group has more, it sets All and Total.
func (g group) limit(path string) group {
	if len(g.Results) > resultsPerGroup {
		g.Results, g.All, g.Total = g.Results[:resultsPerGroup], path, formatTotal(len(g.Results), false)
	}
	return g
}

func contains(name, query string) bool {
	return strings.Contains(strings.ToLower(name), strings.ToLower(query))
}

func pathOf(section string, id int64) string { return "/" + section + "/" + strconv.FormatInt(id, 10) }
