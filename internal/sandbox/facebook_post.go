package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	_ "image/gif" // beside JPEG and PNG, which are registered already
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
	facebookPhoto     = "PHOTO" // the forms of containers here
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

// createPhoto fetches a photo that a post will show. Those that are shown at once, by themselves, are not taken here.
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
	shown, err := n.getImage(r.Context(), c.account, r.Form.Get("url"), facebookPhotos)
	if errors.Is(err, errImageType) || errors.Is(err, errImageSize) {
		err = errFacebookPhoto
	}
	if err != nil {
		return nil, err
	}
	shown.Alt = r.Form.Get("alt_text_custom")
	c.media = []medium{shown}
	err = n.page(r, func(t tx, _ account, _ oauthToken) error {
		c.made = n.now()
		return t.keepContainer(r.Context(), facebookName, &c)
	})
	return map[string]string{"id": c.id()}, err
}

// shown makes something visible by try, on disk when it returns, after the wait that try may ask for.
func (n *facebook) shown(
	r *http.Request, try func(t tx, a account, token oauthToken, waited bool) (launch, error),
) (launch, error) {
	for waited := false; ; waited = true {
		var out launch
		err := n.page(r, func(t tx, a account, token oauthToken) error {
			var err error
			out, err = try(t, a, token, waited)
			return err
		})
		if err != nil || out.wait == 0 {
			return out, err
		}
		if !n.pause(out.wait) {
			return launch{}, errGraphInternal
		}
	}
}

// post shows a text, a link or photos.
func (n *facebook) post(r *http.Request) (any, error) {
	out, err := n.shown(r, func(t tx, a account, token oauthToken, waited bool) (launch, error) {
		photos, err := t.facebookPhotos(r, a)
		if err != nil {
			return launch{}, err
		}
		p := post{platform: facebookName, account: a.id, text: r.Form.Get("message")}
		if err := checkFacebookPost(r.Form, photos); err != nil {
			return launch{}, err
		}
		out, held, err := n.before(r.Context(), t, p, token.session, waited)
		if held || err != nil {
			return out, err
		}
		return n.keepFacebookPost(r, t, p, photos)
	})
	if err != nil {
		return nil, err
	}
	return map[string]string{"id": out.post}, out.refused
}

// facebookPhotos are the photos that a post is to show.
func (t tx) facebookPhotos(r *http.Request, a account) ([]container, error) {
	var named []struct {
		ID string `json:"media_fbid"`
	}
	if text := r.Form.Get("attached_media"); text != "" && json.Unmarshal([]byte(text), &named) != nil ||
		len(named) > maxFacebookPhotos {
		return nil, invalidParameter("attached_media has to be a list of at most 10 photos")
	}
	photos := make([]container, len(named))
	for i := range named {
		c, found, err := t.container(r.Context(), facebookName, named[i].ID)
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
	case link != "" && !linkForm.MatchString(link):
		return errFacebookLink
	}
	return nil
}

func fitsFacebook(text string) bool { return len(utf16.Encode([]rune(text))) <= maxFacebookText }

// before lets the markers act. It is true where the post is not to be shown now.
func (n *facebook) before(ctx context.Context, t tx, p post, session string, waited bool) (launch, bool, error) {
	marks := readMarkers(p.text, facebookName)
	if marks.has(markReject) {
		return launch{refused: errFacebookText}, true, nil
	}
	out, acted, err := n.actBefore(ctx, t, marks, facebookKey(p), session)
	if acted || err != nil {
		return out, acted, err
	}
	return launch{wait: marks.slow}, marks.slow > 0 && !waited, nil
}

// facebookKey names a post for its markers, however often it is sent.
func facebookKey(p post) string { return p.account + " " + contentID([]byte(p.text)) }

// keepFacebookPost keeps a post that is not the same as the one before it, and notes that its photos are used.
func (n *facebook) keepFacebookPost(r *http.Request, t tx, p post, photos []container) (launch, error) {
	last, err := t.posts(r.Context(), `where p.platform = ? and p.account = ? order by p.seq desc limit 1`,
		facebookName, p.account)
	if err != nil {
		return launch{}, err
	}
	if len(photos) == 0 && len(last) > 0 && len(last[0].media) == 0 && last[0].text == p.text {
		return launch{}, errFacebookTwin
	}
	number := container{account: p.account, form: facebookPost, text: p.text, made: n.now()}
	if err := t.keepContainer(r.Context(), facebookName, &number); err != nil {
		return launch{}, err
	}
	for _, photo := range photos {
		p.media = append(p.media, photo.media...)
	}
	for _, used := range append(slices.Clone(photos), number) {
		if err := t.publishContainer(r.Context(), used); err != nil {
			return launch{}, err
		}
	}
	p.id = p.account + "_" + number.postID()
	return n.keepShown(r.Context(), t, p, map[string]any{"media": p.media, "link": r.Form.Get("link")})
}

// keepShown keeps the post with what the network knows of it, and loses the answer where a marker asks for that.
func (n *facebook) keepShown(ctx context.Context, t tx, p post, known map[string]any) (launch, error) {
	body, err := json.Marshal(known)
	if err != nil {
		return launch{}, fmt.Errorf("writing a post: %w", err)
	}
	p.body, p.at, p.version = body, n.now(), p.id
	if err := t.keepPost(ctx, p); err != nil {
		return launch{}, err
	}
	out := launch{post: p.id}
	lost, err := loses(ctx, t, facebookName, readMarkers(p.text, facebookName), facebookKey(p))
	if lost {
		out.refused = errCut
	}
	return out, err
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
		held, err := t.posts(r.Context(),
			`where p.platform = ? and p.account = ? and p.at >= ? order by p.seq desc limit ? offset ?`, facebookName,
			a.id, since, limit, read)
		if err == nil {
			err = untoldAmong(held, n.now())
		}
		for _, p := range held {
			data = append(data, pick(r, count(p, n.now()).counted(n.tellPost(r, p))))
		}
		return err
	})
	return n.leaf(r, data, limit, read), err
}

// tellPost is a post as the API tells it; one of a video has an id beside the video's.
func (n *facebook) tellPost(r *http.Request, p post) map[string]any {
	id := p.id
	if !strings.Contains(id, "_") {
		id = p.account + "_" + id
	}
	told := map[string]any{
		"id": id, "created_time": p.at.Format(graphTime),
		"permalink_url": n.baseURL(r) + "/" + facebookName + "/www/" + p.handle + "/posts/" + p.id,
	}
	if p.text != "" {
		told["message"] = p.text
	}
	if attached := facebookAttachments(p); attached != nil {
		told["attachments"] = map[string]any{"data": []any{attached}}
	}
	return told
}

// facebookAttachments is what a post shows: one thing, which may have parts.
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
	_ = json.Unmarshal(p.body, &known) // it was written by keepShown
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
