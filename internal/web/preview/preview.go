// Package preview renders posts approximately as the networks show them. Each network has its own template. The parts
// that the templates share are in _parts.html.
package preview

import (
	"bytes"
	"cmp"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"pressroom.example/pressroom/internal/domain/post"
	"pressroom.example/pressroom/internal/domain/post/thread"
	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/web/shell"
)

//go:embed templates/*.html
var files embed.FS

// templates maps each language to a function that returns its parsed templates.
var templates = func() map[*locale.Language]func() *template.Template {
	out := map[*locale.Language]func() *template.Template{}
	for _, l := range locale.All() {
		out[l] = sync.OnceValue(func() *template.Template { return parse(l) })
	}
	return out
}()

// parse parses the templates, which all show a Post.
func parse(l *locale.Language) *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{
		"icon": shell.Icon, "lines": lines, "second": second, "inc": func(i int) int { return i + 1 },
		"t": l.T, "th": l.H,
	}).ParseFS(files, "templates/*.html"))
}

// Author is the account that publishes a post.
type Author struct {
	ID       int64
	Platform string
	Username string
	Name     string // display name, which is untrusted text; New sets it to the username if it is empty
}

// Post is a preview of a post on one account.
type Post struct {
	Author

	Title string // empty if the network publishes no title
	When  string // formatted date; empty to show the post as if it were published now
	Text  string // the text before "more"
	Rest  string // the text after "more"
	Media []network.Media
	Card  string // host of the link that the network shows as a card
	// texts of the card; empty if the page's own texts are used
	CardTitle, CardText string
	Quote               string           // URL or ID of the quoted post
	IsSensitive         bool             // has a content warning
	IsLimited           bool             // only connections can see it
	Section             string           // section of a Pinterest board
	Question            string           // question of a poll; empty if Text is the question
	Poll                []string         // choices of a poll
	Lang                *locale.Language // nil for English
	Parts               []Post           // replies of the thread, in order
	Comment             string           // the account's first comment; empty if there is none
	Story               bool             // the post is a story, which fills the screen and has no text
	Reel                bool             // the post is a reel, which fills the screen
	Play                bool             // show images in full, and let videos be played
	// Link is the path of the approval link that shows the post. The paths of files and profile pictures begin with
	// it. It is empty in the app.
	Link string

	options network.Options // for the list of settings
}

// PicturePath returns the path of the account's profile picture.
func (p Post) PicturePath() string {
	id := strconv.FormatInt(p.ID, 10)
	if p.Link != "" {
		return p.Link + "/accounts/" + id
	}
	return "/accounts/" + id + "/picture"
}

// New returns the preview of a post on an account.
func New(a Author, c network.Content) Post {
	a.Platform = strings.TrimSuffix(a.Platform, "_business")
	look := looks[a.Platform]
	p := Post{Author: a, Text: c.Text, Media: c.Media}
	p.Name = cmp.Or(p.Name, p.Username)
	if p.Story = c.Options.IsStory(a.Platform); p.Story {
		p.Text = ""
		return p
	}
	p.Reel, p.Title = isReel(a.Platform, c.Options), c.TitleOn(a.Platform)
	if look.title > 0 && p.Title == "" {
		p.Title = titleOf(c.Text, look.title)
	}
	if look.chars > 0 {
		p.Text, p.Rest = splitPreview(c.Text, look.chars, look.lines)
	}
	if links := network.Links(c.Text); len(links) > 0 && (len(c.Media) == 0 || look.card == always) && look.card != never {
		p.Card = hostOf(links[0])
	}
	return p.withOptions(c)
}

// isReel reports whether the options make a post on Facebook or Instagram a reel.
func isReel(platform string, o network.Options) bool {
	switch platform {
	case "facebook":
		return network.ValueOrZero(o.Facebook).Format == network.FormatReel
	case "instagram":
		return network.ValueOrZero(o.Instagram).Format == network.FormatReel
	}
	return false
}

// WithThread returns the preview with the further parts of a thread.
func (p Post) WithThread(parts []thread.Part) Post {
	for _, part := range parts {
		p.Parts = append(p.Parts, New(p.Author, network.Content{Text: part.Caption, Media: part.Media}))
	}
	return p
}

// WithComment returns the preview with the account's first comment, if the network supports first comments.
func (p Post) WithComment(text string) Post {
	if rules, _ := network.DefaultRules(p.Platform); rules.HasFirstComment() && !p.Story {
		p.Comment = text
	}
	return p
}

// Date returns the formatted date of a post, or "" if the post has no time.
func Date(l *locale.Language, p post.Record, zone *time.Location) string {
	at := cmp.Or(p.PublishedAt, p.ScheduledAt)
	if at.IsZero() {
		return ""
	}
	return l.Format(at.In(zone), locale.Day)
}

// HTML returns the post as its network shows it, followed by the parts of its thread, the first comment and the
// settings.
func (p Post) HTML() (template.HTML, error) {
	html, err := p.html(p.Platform + ".html")
	for _, part := range p.Parts {
		part.Lang, part.When, part.Play, part.Link = p.Lang, p.When, p.Play, p.Link
		next, partErr := part.html(p.Platform + ".html")
		html, err = html+next, errors.Join(err, partErr)
	}
	if len(p.Parts) > 0 {
		html = `<div class="pv-thread">` + html + `</div>`
	}
	if p.Comment != "" {
		shown, commentErr := p.html("comment")
		html, err = html+shown, errors.Join(err, commentErr)
	}
	list, listErr := p.settingsHTML()
	return html + list, errors.Join(err, listErr)
}

// html renders a template. Stories and reels have their own templates instead of the network's.
func (p Post) html(name string) (template.HTML, error) {
	switch {
	case name != p.Platform+".html":
	case p.Story:
		name = "story.html"
	case p.Reel:
		name = "reel.html"
	}
	all := templates[cmp.Or(p.Lang, locale.English)]()
	if all.Lookup(name) == nil {
		name = "other.html"
	}
	var out bytes.Buffer
	if err := all.ExecuteTemplate(&out, name, p); err != nil {
		return "", fmt.Errorf("rendering a post for %s: %w", p.Platform, err)
	}
	return template.HTML(out.String()), nil //nolint:gosec // a template has escaped it
}

// IsVerticalVideo reports whether the post is a single video that is taller than wide, which most networks show as a
// reel.
func (p Post) IsVerticalVideo() bool {
	return len(p.Media) == 1 && p.Media[0].Kind == network.Video && p.Media[0].Height > p.Media[0].Width
}

// Shape returns the CSS class for the aspect ratio of the first media item, which also applies to a carousel. It
// returns "" if there are no media.
func (p Post) Shape() string {
	if len(p.Media) == 0 {
		return ""
	}
	switch m := p.Media[0]; {
	case m.Width == 0 || m.Height == 0:
		return "square"
	case m.Height*10 > m.Width*11:
		return "tall"
	case m.Width*10 > m.Height*12:
		return "wide"
	}
	return "square"
}

// Shown is a media item in a preview.
type Shown struct {
	Item network.Media
	Play bool
	link string
}

// Path returns the path of the media item. For an image that is not shown in full, it returns the path of a thumbnail.
func (s Shown) Path() string {
	id := strconv.FormatInt(s.Item.ID, 10)
	switch image := s.Item.Kind == network.Image; {
	case s.link != "" && !image:
		return s.link + "/videos/" + id
	case s.link != "" && s.Play:
		return s.link + "/images/" + id
	case s.link != "":
		return s.link + "/media/" + id
	case image && !s.Play:
		return "/media/" + id + "/thumbnail"
	}
	return "/media/" + id + "/file"
}

// Of returns a media item as the preview shows it.
func (p Post) Of(m network.Media) Shown { return Shown{m, p.Play, p.Link} }

const gridSize = 4 // media items in a grid; the last one shows the number of further items

// Grid returns the media items in the grid.
func (p Post) Grid() []network.Media { return p.Media[:min(len(p.Media), gridSize)] }

// More returns the number of media items that are not in the grid.
func (p Post) More() int { return max(0, len(p.Media)-gridSize) }

// Several reports whether there are several media items.
func (p Post) Several() bool { return len(p.Media) > 1 }

// Board returns the Pinterest board, which is the part of the username after the slash, or "".
func (p Post) Board() string {
	if _, board, ok := strings.Cut(p.Username, "/"); ok {
		return board
	}
	return ""
}

// AccountsHTML lists accounts for use in a sentence. The usernames are in bdi elements, because their writing direction
// may differ from the sentence's.
func AccountsHTML(targets []post.Target) template.HTML {
	out := make([]string, len(targets))
	for i, t := range targets {
		out[i] = template.HTMLEscapeString(shell.NetworkName(t.Platform)) +
			" (<bdi>" + template.HTMLEscapeString(t.Username) + "</bdi>)"
	}
	return template.HTML(strings.Join(out, ", ")) //nolint:gosec // escaped above
}

func hostOf(link string) string {
	u, err := url.Parse(link)
	if err != nil {
		return ""
	}
	return strings.TrimPrefix(strings.ToLower(u.Hostname()), "www.")
}

// second formats a position in a video for a URL fragment (W3C Media Fragments URI 1.0).
func second(d time.Duration) string { return strconv.FormatFloat(max(d.Seconds(), 0.1), 'f', -1, 64) }
