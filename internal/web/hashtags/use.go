package hashtags

import (
	"net/http"
	"net/url"
	"strings"

	"pressroom.example/pressroom/internal/domain/hashtag/list"
	"pressroom.example/pressroom/internal/web/shell"
)

// maxUsed is the maximum number of hashtags that are put into a post. It is Instagram's limit.
const maxUsed = 30

// MaxUsed returns the maximum number of hashtags for a post.
func (v *view) MaxUsed() int64 { return maxUsed }

// use opens a new post with the selected hashtags of a list, or with the first hashtags of the list if none is
// selected.
func (p *Handlers) use(w http.ResponseWriter, r *http.Request) {
	id, err := shell.PathID(r, "id")
	if err != nil {
		p.ShowError(w, r, err)
		return
	}
	l, err := p.fullList(r, id)
	if err != nil {
		p.switchTeam(w, r, err, id)
		return
	}
	selected := map[string]bool{}
	for _, hashtag := range r.URL.Query()["hashtag"] {
		selected[hashtag] = true
	}
	var used []list.ListedHashtag
	for _, h := range l.Hashtags {
		if len(used) < maxUsed && (len(selected) == 0 || selected[h.Hashtag]) {
			used = append(used, h)
		}
	}
	shell.Redirect(w, r, "/posts/new?"+url.Values{"caption": {"\n\n" + joinHashtags(used)}}.Encode())
}

// joinHashtags returns hashtags as text for a post, such as "#one #two".
func joinHashtags(tags []list.ListedHashtag) string {
	var out strings.Builder
	for i, h := range tags {
		if i > 0 {
			out.WriteByte(' ')
		}
		out.WriteString("#" + h.Hashtag)
	}
	return out.String()
}

// text serves the hashtags of a list as plain text.
func (p *Handlers) text(w http.ResponseWriter, r *http.Request) {
	id, err := shell.PathID(r, "id")
	if err != nil {
		p.ShowError(w, r, err)
		return
	}
	l, err := p.fullList(r, id)
	if err != nil {
		p.switchTeam(w, r, err, id)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = w.Write([]byte(joinHashtags(l.Hashtags) + "\n")) // the client may have disconnected
}
