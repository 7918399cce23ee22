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
	xRepeats    = 24 * time.Hour // for which a repeated text is refused
	xTime       = "2006-01-02T15:04:05.000Z"
)

// xAsked is a post as a client sends it. Other members are refused.
type xAsked struct {
	Text  string `json:"text"`
	Media struct {
		IDs []string `json:"media_ids"`
	} `json:"media"`
}

// xShown is a post's text as the network shows it. Each link is replaced by a short one, and one more stands for the
// media.
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

// create publishes a post, on disk when it answers.
func (n *xAPI) create(r *http.Request) (any, error) {
	var in xAsked
	if xStrictly(r.Body, &in) != nil {
		return nil, n.says.unread
	}
	var body xShown
	id, err := n.show(r, func(t tx) (post, oauthToken, error) {
		a, token, err := n.caller(r, t)
		if err != nil {
			return post{}, token, err
		}
		p := post{platform: xName, account: a.id, text: in.Text, at: n.now()}
		if body, err = n.compose(r.Context(), t, a, in); err != nil {
			return post{}, token, err
		}
		p.media = body.Files
		return p, token, n.number(r.Context(), t, &p, body)
	})
	return xData(map[string]any{"id": id, "text": body.Text, "edit_history_post_ids": []string{id}}), err
}

// compose checks a post and returns its body.
func (n *xAPI) compose(ctx context.Context, t tx, a account, in xAsked) (xShown, error) {
	uploads, err := n.attached(ctx, t, a, in.Media.IDs)
	switch {
	case err != nil:
		return xShown{}, err
	case strings.TrimSpace(in.Text) == "" && len(uploads) == 0:
		return xShown{}, xInvalid("A post needs a text or media.")
	case xWeight(in.Text) > xMaxText:
		return xShown{}, xInvalid("Your Post text is too long.")
	}
	twins, err := t.posts(ctx, `where p.platform = ? and p.account = ? and p.text = ? and p.at > ?`, xName, a.id,
		in.Text, n.now().Add(-xRepeats).UnixMilli())
	if err == nil && len(twins) > 0 {
		err = &xError{
			status: http.StatusForbidden, message: "You are not allowed to create a Post with duplicate content.",
		}
	}
	return xShow(a, in.Text, uploads), err
}

// attached returns a post's uploads: up to four images, or one video or GIF.
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

// xWeight counts more leniently than the network: a link by its fixed weight, the rest by character.
func xWeight(text string) int {
	rest := linkPattern.ReplaceAllLiteralString(text, "")
	return utf8.RuneCountInString(rest) + xLinkWeight*len(linkPattern.FindAllString(text, -1))
}

// xEscapes escapes three characters as the network does.
var xEscapes = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// xShow returns the body of a post.
func xShow(a account, text string, uploads []xUpload) xShown {
	body := xShown{Keys: []string{}, Files: []medium{}}
	var out strings.Builder
	link := func(full, media string) {
		short := "https://t.co/" + newID()[:10]
		start := utf8.RuneCountInString(out.String())
		out.WriteString(short)
		body.Links = append(body.Links,
			xLink{Start: start, End: start + len(short), Short: short, Full: full, Media: media})
	}
	at := 0
	for _, found := range linkPattern.FindAllStringIndex(text, -1) {
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
		body.Keys = append(body.Keys, xMediaKey(u))
		body.Files = append(body.Files, newMedium(xName, a.id, blobRef{cid: u.cid, mime: u.mime}, u.alt))
	}
	body.Text = strings.TrimSpace(out.String())
	return body
}

// number sets the post's id, which like all of X's contains its time.
func (n *xAPI) number(ctx context.Context, t tx, p *post, body xShown) error {
	next, err := t.nextPost(ctx)
	if err != nil {
		return err
	}
	const epoch, bits = 1288834974657, 22 // of X's ids, in milliseconds
	p.id = strconv.FormatInt((p.at.UnixMilli()-epoch)<<bits|next%(1<<bits), 10)
	p.version = p.id
	if p.body, err = json.Marshal(body); err != nil {
		return fmt.Errorf("writing a post: %w", err)
	}
	return nil
}

// list lists an account's posts since a time, the newest first.
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
		posts, err := t.posts(r.Context(),
			`where p.platform = ? and p.account = ? and p.at >= ? order by p.seq desc limit ? offset ?`,
			xName, r.PathValue("id"), page.from.UnixMilli(), page.limit+1, page.skip)
		if len(posts) > page.limit {
			posts = posts[:page.limit]
			meta["next_token"] = strconv.Itoa(page.skip + page.limit)
		}
		if err == nil {
			err = untoldAmong(posts, n.now())
		}
		for _, p := range posts {
			data = append(data, n.told(p, r.Form.Get("post.fields")))
		}
		if included := xIncluded(r.Form, posts); included != nil {
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
