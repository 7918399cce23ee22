package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	_ "image/gif" // the graph package registers JPEG and PNG
	"math"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf16"
)

const (
	maxFacebookText   = 63_206 // UTF-16 code units
	maxFacebookPhotos = 10
	facebookPhoto     = "PHOTO" // forms of containers
	facebookPost      = "POST"
)

var facebookPhotos = graphImages{
	types: []string{"image/jpeg", "image/png", "image/gif"}, most: 4 << 20, widest: math.Inf(1),
}

var (
	errFacebookTwin   = &graphError{status: http.StatusBadRequest, code: 506, message: "Duplicate status message"}
	errFacebookPosted = &graphError{
		status: http.StatusBadRequest, code: 100, subcode: 1366051, message: "These photos were already posted",
	}
	errFacebookPhoto = &graphError{
		status: http.StatusBadRequest, code: 100, subcode: 1366046,
		message: "Photos should be smaller than 4 MB and saved as JPG, PNG or GIF",
	}
	errFacebookLink = &graphError{
		status: http.StatusBadRequest, code: 100, subcode: 1609005, message: "The link could not be used",
	}
	errFacebookText = &graphError{
		status: http.StatusBadRequest, code: 100, subcode: 1346003, message: "This content cannot be posted",
	}
)

// createPhoto fetches a photo for a later post. Photos that are published at once are not supported.
func (n *facebook) createPhoto(r *http.Request) (any, error) {
	if r.Form.Get("published") != "false" {
		return nil, invalidParameter("published has to be false in this sandbox")
	}
	c := container{form: facebookPhoto}
	err := n.page(r, func(_ tx, a account, _ oauthToken) error {
		c.account = a.id
		return nil
	})
	if err != nil {
		return nil, err
	}
	m, err := n.getImage(r.Context(), c.account, r.Form.Get("url"), facebookPhotos)
	if errors.Is(err, errImageType) || errors.Is(err, errImageSize) {
		err = errFacebookPhoto
	}
	if err != nil {
		return nil, err
	}
	m.Alt = r.Form.Get("alt_text_custom")
	c.media = []medium{m}
	err = n.page(r, func(t tx, _ account, _ oauthToken) error {
		c.made = n.now()
		return insertContainer(r.Context(), t, facebookName, &c)
	})
	return map[string]string{"id": c.id()}, err
}

// show publishes a post, on disk when it returns: prepare checks the request, and save stores the post.
func (n *facebook) show(
	r *http.Request, prepare func(t tx, a account) (*post, error), save func(t tx, p *post) error,
) (string, error) {
	return n.shared.publish(errGraphInternal, func(waited bool) (outcome, error) {
		var out outcome
		err := n.page(r, func(t tx, a account, token oauthToken) error {
			p, err := prepare(t, a)
			if err != nil {
				return err
			}
			publication := attempt{
				platform: facebookName, account: a.id, text: p.text, session: token.session, waited: waited,
			}
			out, err = publication.publish(r.Context(), t, facebookRefusals, func() (string, error) {
				err := save(t, p)
				return p.id, err
			})
			return err
		})
		return out, err
	})
}

// facebookRefusals are the refusals that markers ask for.
var facebookRefusals = refusals{
	rejected: errFacebookText, expired: errSessionExpired, rateLimited: errRate, failed: errGraphInternal,
}

// post publishes a text, a link or photos.
func (n *facebook) post(r *http.Request) (any, error) {
	var photos []container
	id, err := n.show(r, func(t tx, a account) (*post, error) {
		var err error
		if photos, err = findFacebookPhotos(r, t, a); err != nil {
			return nil, err
		}
		p := &post{platform: facebookName, account: a.id, text: r.Form.Get("message")}
		return p, checkFacebookPost(r.Form, photos)
	}, func(t tx, p *post) error { return n.keepFacebookPost(r, t, p, photos) })
	return map[string]string{"id": id}, err
}

// findFacebookPhotos returns the photos of a post.
func findFacebookPhotos(r *http.Request, t tx, a account) ([]container, error) {
	var named []struct {
		ID string `json:"media_fbid"`
	}
	if text := r.Form.Get("attached_media"); text != "" && json.Unmarshal([]byte(text), &named) != nil ||
		len(named) > maxFacebookPhotos {
		return nil, invalidParameter("attached_media has to be a list of at most 10 photos")
	}
	photos := make([]container, len(named))
	for i := range named {
		c, found, err := findContainer(r.Context(), t, facebookName, named[i].ID)
		switch {
		case err != nil:
			return nil, err
		case !found || c.account != a.id || c.form != facebookPhoto:
			return nil, errNoObject
		case c.post != "":
			return nil, errFacebookPosted
		}
		photos[i] = c
	}
	return photos, nil
}

func checkFacebookPost(form url.Values, photos []container) error {
	text, link := form.Get("message"), form.Get("link")
	switch {
	case form.Get("published") == "false":
		return invalidParameter("published has to be true in this sandbox")
	case strings.TrimSpace(text) == "" && link == "" && len(photos) == 0:
		return invalidParameter("A post needs message, link or attached_media")
	case !fitsFacebook(text):
		return invalidParameter("The message is too long")
	case link != "" && !linkPattern.MatchString(link):
		return errFacebookLink
	}
	return nil
}

func fitsFacebook(text string) bool { return len(utf16.Encode([]rune(text))) <= maxFacebookText }

// keepFacebookPost stores a post that differs from the last one, and marks its photos as used.
func (n *facebook) keepFacebookPost(r *http.Request, t tx, p *post, photos []container) error {
	last, err := t.posts(r.Context(), `where p.platform = ? and p.account = ? order by p.seq desc limit 1`,
		facebookName, p.account)
	if err != nil {
		return err
	}
	if len(photos) == 0 && len(last) > 0 && len(last[0].media) == 0 && last[0].text == p.text {
		return errFacebookTwin
	}
	number := container{account: p.account, form: facebookPost, text: p.text, made: n.now()}
	if err := insertContainer(r.Context(), t, facebookName, &number); err != nil {
		return err
	}
	for _, photo := range photos {
		p.media = append(p.media, photo.media...)
	}
	for _, used := range append(slices.Clone(photos), number) {
		if err := markContainerPublished(r.Context(), t, used); err != nil {
			return err
		}
	}
	p.id = p.account + "_" + number.postID()
	return n.keepShown(r.Context(), t, p, map[string]any{"media": p.media, "link": r.Form.Get("link")})
}

// keepShown stores the post with a body.
func (n *facebook) keepShown(ctx context.Context, t tx, p *post, known map[string]any) error {
	body, err := json.Marshal(known)
	if err != nil {
		return fmt.Errorf("writing a post: %w", err)
	}
	p.body, p.at, p.version = body, n.now(), p.id
	return t.keepPost(ctx, *p)
}

func (n *facebook) listPosts(r *http.Request) (any, error) {
	since, limit, err := readPage(r)
	if err != nil {
		return nil, err
	}
	read, err := behind(r)
	if err != nil {
		return nil, err
	}
	data := []map[string]any{}
	err = n.page(r, func(t tx, a account, _ oauthToken) error {
		posts, err := t.posts(r.Context(),
			`where p.platform = ? and p.account = ? and p.at >= ? order by p.seq desc limit ? offset ?`, facebookName,
			a.id, since, limit, read)
		if err == nil {
			err = untoldAmong(posts, n.now())
		}
		for _, p := range posts {
			data = append(data, pick(r, facebookCounts(count(p, n.now()), n.tellPost(r, p))))
		}
		return err
	})
	return n.leaf(r, data, limit, read), err
}

// tellPost returns a post in the API's form. The post of a video has an id besides the video's.
func (n *facebook) tellPost(r *http.Request, p post) map[string]any {
	id := p.id
	if !strings.Contains(id, "_") {
		id = p.account + "_" + id
	}
	answer := map[string]any{
		"id": id, "created_time": p.at.Format(graphTime),
		"permalink_url": n.baseURL(r) + "/" + facebookName + "/www/" + p.handle + "/posts/" + p.id,
	}
	if p.text != "" {
		answer["message"] = p.text
	}
	if attached := facebookAttachments(p); attached != nil {
		answer["attachments"] = map[string]any{"data": []any{attached}}
	}
	return answer
}

// facebookAttachments returns the attachment of a post, which can have parts.
func facebookAttachments(p post) map[string]any {
	parts := make([]map[string]any, len(p.media))
	for i, m := range p.media {
		parts[i] = map[string]any{"type": "photo", "description": m.Alt}
		if m.Video() {
			parts[i]["type"] = "video_inline"
		}
	}
	var known struct {
		Link string `json:"link"`
	}
	_ = json.Unmarshal(p.body, &known) // keepShown wrote it
	switch {
	case len(parts) > 1:
		return map[string]any{"type": "album", "subattachments": map[string]any{"data": parts}}
	case len(parts) == 1:
		return parts[0]
	case known.Link != "":
		return map[string]any{"type": "share", "url": known.Link}
	}
	return nil
}
