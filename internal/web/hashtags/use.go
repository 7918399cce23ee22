package hashtags

import (
	"net/http"
	"net/url"
	"strings"

	"pressroom.example/pressroom/internal/domain/hashtag/list"
	"pressroom.example/pressroom/internal/web/shell"
)

// maxPerPost is the maximum number of hashtags that are put into a post. It is Instagram's limit.
const maxPerPost = 30

// MaxUsed returns the maximum number of hashtags for a post.
func (v *view) MaxUsed() int64 { return maxPerPost }

// use opens a new post with the selected hashtags of a list, or with the first hashtags of the list if none is
// selected.
func (h *Handlers) use(w http.ResponseWriter, r *http.Request) {
	id, err := shell.PathID(r, "id")
	if err != nil {
		h.ShowError(w, r, err)
		return
	}
	l, err := h.readList(r, id)
	if err != nil {
		h.switchTeam(w, r, err, id)
		return
	}
	selected := map[string]bool{}
	for _, hashtag := range r.URL.Query()["hashtag"] {
		selected[hashtag] = true
	}
	var used []list.ListedHashtag
	for _, tag := range l.Hashtags {
		if len(used) < maxPerPost && (len(selected) == 0 || selected[tag.Hashtag]) {
			used = append(used, tag)
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
func (h *Handlers) text(w http.ResponseWriter, r *http.Request) {
	id, err := shell.PathID(r, "id")
	if err != nil {
		h.ShowError(w, r, err)
		return
	}
	l, err := h.readList(r, id)
	if err != nil {
		h.switchTeam(w, r, err, id)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = w.Write([]byte(joinHashtags(l.Hashtags) + "\n")) // the client may have disconnected
}
