package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

const (
	xMaxText    = 280
	xLinkWeight = 23
	xRepeats    = 24 * time.Hour // for which the same text is refused
	xTime       = "2006-01-02T15:04:05.000Z"
)

// xAsked is a post as a client sends it; a member that is not here is refused.
type xAsked struct {
	Text  string `json:"text"`
	Media struct {
		IDs []string `json:"media_ids"`
	} `json:"media"`
}

// xShown is a post's text as the network shows it: every address is one of its own short ones, and one more stands for
// the media.
type xShown struct {
	Text  string   `json:"text"`
	Links []xLink  `json:"links"`
	Keys  []string `json:"keys"`
	Files []medium `json:"files"` // which the account's files are kept for
}

type xLink struct {
	Start int    `json:"start"` // characters, as is End
	End   int    `json:"end"`
	Short string `json:"url"`
	Full  string `json:"expanded_url"`
	Media string `json:"media_key,omitempty"`
}

// create shows a post to everybody, on disk when it answers.
func (n *xAPI) create(r *http.Request) (any, error) {
	var asked xAsked
	if xStrictly(r.Body, &asked) != nil {
		return nil, n.says.unread
	}
	var shown xShown
	id, err := n.show(r, func(t tx, waited bool) (launch, error) {
		a, token, err := n.caller(r, t)
		if err != nil {
			return launch{}, err
		}
		p := post{platform: xName, account: a.id, text: asked.Text, at: n.now()}
		if shown, err = n.compose(r.Context(), t, a, asked); err != nil {
			return launch{}, err
		}
		p.media = shown.Files
		if err := n.number(r.Context(), t, &p, shown); err != nil {
			return launch{}, err
		}
		return n.launch(r.Context(), t, p, token, waited)
	})
	return xData(map[string]any{"id": id, "text": shown.Text, "edit_history_post_ids": []string{id}}), err
}

// compose checks a post and makes what is shown of it.
func (n *xAPI) compose(ctx context.Context, t tx, a account, asked xAsked) (xShown, error) {
	uploads, err := n.attached(ctx, t, a, asked.Media.IDs)
	switch {
	case err != nil:
		return xShown{}, err
	case strings.TrimSpace(asked.Text) == "" && len(uploads) == 0:
		return xShown{}, xInvalid("A post needs a text or media.")
	case xWeight(asked.Text) > xMaxText:
		return xShown{}, xInvalid("Your Post text is too long.")
	}
	twins, err := t.posts(ctx, `where p.platform = ? and p.account = ? and p.text = ? and p.at > ?`, xName, a.id,
		asked.Text, n.now().Add(-xRepeats).UnixMilli())
	if err == nil && len(twins) > 0 {
		err = &xError{
			status: http.StatusForbidden, message: "You are not allowed to create a Post with duplicate content.",
		}
	}
	return xShow(a, asked.Text, uploads), err
}

// attached are the uploads that a post names: up to four images, or one that moves.
func (n *xAPI) attached(ctx context.Context, t tx, a account, ids []string) ([]xUpload, error) {
	unfit := xInvalid("Your media IDs are invalid.")
	var found []xUpload
	for i, id := range ids {
		u, err := n.ownUpload(ctx, t, a, id)
		if errors.Is(err, n.says.nowhere) {
			return nil, unfit
		}
		if err != nil {
			return nil, err
		}
		alone := u.category != "tweet_image"
		if u.cid == "" || u.failed || alone && n.now().
			Before(u.ended.Add(n.ready)) || alone && len(ids) > 1 || i > 3 || slices.Contains(ids[:i], id) {
			return nil, unfit
		}
		found = append(found, u)
	}
	return found, nil
}

// xWeight counts more leniently than the network: an address by its fixed weight, the rest by character.
func xWeight(text string) int {
	rest := linkForm.ReplaceAllLiteralString(text, "")
	return utf8.RuneCountInString(rest) + xLinkWeight*len(linkForm.FindAllString(text, -1))
}

// xEscapes are the three characters that the network writes otherwise.
var xEscapes = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// xShow writes the text as the network shows it.
func xShow(a account, text string, uploads []xUpload) xShown {
	shown := xShown{Keys: []string{}, Files: []medium{}}
	var out strings.Builder
	link := func(full, media string) {
		short := "https://t.co/" + newID()[:10]
		start := utf8.RuneCountInString(out.String())
		out.WriteString(short)
		shown.Links = append(shown.Links,
			xLink{Start: start, End: start + len(short), Short: short, Full: full, Media: media})
	}
	at := 0
	for _, found := range linkForm.FindAllStringIndex(text, -1) {
		full := strings.TrimRight(text[found[0]:found[1]], ".,;:!?)")
		out.WriteString(xEscapes.Replace(text[at:found[0]]))
		link(full, "")
		at = found[0] + len(full)
	}
	out.WriteString(xEscapes.Replace(text[at:]))
	for i, u := range uploads {
		if i == 0 {
			out.WriteString(" ")
			link("https://x.com/"+a.handle+"/status/1/photo/1", xMediaKey(u))
		}
		shown.Keys = append(shown.Keys, xMediaKey(u))
		shown.Files = append(shown.Files,
			medium{Path: xName + "/media/" + a.id + "/" + u.cid, Type: u.mime, Alt: u.alt})
	}
	shown.Text = strings.TrimSpace(out.String())
	return shown
}

// number gives the post its id, which as all of X's tells its time.
func (n *xAPI) number(ctx context.Context, t tx, p *post, shown xShown) error {
	next, err := t.nextPost(ctx)
	if err != nil {
		return fmt.Errorf("numbering a post: %w", err)
	}
	const epoch, bits = 1288834974657, 22 // of its ids, in milliseconds
	p.id = strconv.FormatInt((p.at.UnixMilli()-epoch)<<bits|next%(1<<bits), 10)
	p.version = p.id
	if p.body, err = json.Marshal(shown); err != nil {
		return fmt.Errorf("writing a post: %w", err)
	}
	return nil
}

// list lists an account's posts, the newest first, from a time on.
func (n *xAPI) list(r *http.Request) (any, error) {
	page, err := n.readPage(r.Form)
	if err != nil {
		return nil, err
	}
	data := []map[string]any{}
	meta := map[string]any{}
	answer := map[string]any{"meta": meta}
	err = n.store.in(r.Context(), func(t tx) error {
		if _, _, err := n.caller(r, t); err != nil {
			return err
		}
		held, err := t.posts(r.Context(),
			`where p.platform = ? and p.account = ? and p.at >= ? order by p.seq desc limit ? offset ?`,
			xName, r.PathValue("id"), page.from.UnixMilli(), page.limit+1, page.skip)
		if len(held) > page.limit {
			held = held[:page.limit]
			meta["next_token"] = strconv.Itoa(page.skip + page.limit)
		}
		if err == nil {
			err = untoldAmong(held, n.now())
		}
		for _, p := range held {
			data = append(data, n.told(p, r.Form.Get("post.fields")))
		}
		if included := xIncluded(r.Form, held); included != nil {
			answer["includes"] = included
		}
		return err
	})
	meta["result_count"] = len(data)
	if len(data) > 0 {
		answer["data"] = data
	}
	return answer, err
}
