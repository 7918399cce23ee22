package facebook

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

	"pressroom.example/pressroom/internal/sandbox/base"
	"pressroom.example/pressroom/internal/sandbox/graph"
	"pressroom.example/pressroom/internal/sandbox/insights"
	"pressroom.example/pressroom/internal/sandbox/marker"
	"pressroom.example/pressroom/internal/sandbox/store"
)

const (
	maxText   = 63_206 // UTF-16 code units
	maxPhotos = 10

	// The media types of containers. A container for a post only reserves an ID.
	mediaTypePhoto = "PHOTO"
	mediaTypePost  = "POST"
)

var photoLimits = graph.ImageLimits{
	Types: []string{"image/jpeg", "image/png", "image/gif"}, MaxSize: 4 << 20, MaxRatio: math.Inf(1),
}

var (
	errDuplicate = &graph.Error{Status: http.StatusBadRequest, Code: 506, Message: "Duplicate status message"}
	errPhotoUsed = &graph.Error{
		Status: http.StatusBadRequest, Code: 100, Subcode: 1366051, Message: "These photos were already posted",
	}
	errPhoto = &graph.Error{
		Status: http.StatusBadRequest, Code: 100, Subcode: 1366046,
		Message: "Photos should be smaller than 4 MB and saved as JPG, PNG or GIF",
	}
	errLink = &graph.Error{
		Status: http.StatusBadRequest, Code: 100, Subcode: 1609005, Message: "The link could not be used",
	}
	errText = &graph.Error{
		Status: http.StatusBadRequest, Code: 100, Subcode: 1346003, Message: "This content cannot be posted",
	}
)

// createPhoto fetches a photo for a later post. Photos that are published immediately are not supported.
func (n *Network) createPhoto(r *http.Request) (any, error) {
	if r.Form.Get("published") != "false" {
		return nil, graph.InvalidParameter("published must be false in this sandbox")
	}
	c := graph.Container{MediaType: mediaTypePhoto}
	err := n.asPage(r, func(_ store.Tx, a store.Account, _ store.Token) error {
		c.Account = a.ID
		return nil
	})
	if err != nil {
		return nil, err
	}
	m, err := n.FetchImage(r.Context(), c.Account, r.Form.Get("url"), photoLimits)
	if errors.Is(err, graph.ErrImageType) || errors.Is(err, graph.ErrImageSize) {
		err = errPhoto
	}
	if err != nil {
		return nil, err
	}
	m.Alt = r.Form.Get("alt_text_custom")
	c.Media = []store.Medium{m}
	err = n.asPage(r, func(t store.Tx, _ store.Account, _ store.Token) error {
		c.CreatedAt = n.Now()
		return graph.InsertContainer(r.Context(), t, Name, &c)
	})
	return map[string]string{"id": c.ID()}, err
}

// publish publishes a post. prepare checks the request, and save stores the post. When publish returns, the post is on
// disk.
func (n *Network) publish(
	r *http.Request, prepare func(t store.Tx, a store.Account) (*store.Post, error),
	save func(t store.Tx, p *store.Post) error,
) (string, error) {
	return n.Publish(graph.ErrInternal, func(waited bool) (marker.Outcome, error) {
		var outcome marker.Outcome
		err := n.asPage(r, func(t store.Tx, a store.Account, token store.Token) error {
			p, err := prepare(t, a)
			if err == nil {
				err = n.RequireScope(r.Context(), t, token, "pages_manage_posts")
			}
			if err != nil {
				return err
			}
			p.Audience = graph.Audience(token.Client)
			attempt := marker.Attempt{
				Platform: Name, Account: a.ID, Text: p.Text, Session: token.Session, Waited: waited,
			}
			outcome, err = attempt.Publish(r.Context(), t, markerErrors, func() (string, error) {
				err := save(t, p)
				return p.ID, err
			})
			return err
		})
		return outcome, err
	})
}

// markerErrors contains the errors that markers can request.
var markerErrors = marker.MarkerErrors{
	RejectErr: errText, ExpiredTokenErr: graph.ErrSessionExpired, RateLimitErr: graph.ErrRateLimited, FailureErr: graph.ErrInternal,
}

// createPost publishes a post with a text, a link or photos.
func (n *Network) createPost(r *http.Request) (any, error) {
	var photos []graph.Container
	id, err := n.publish(r, func(t store.Tx, a store.Account) (*store.Post, error) {
		var err error
		if photos, err = findPhotos(r, t, a); err != nil {
			return nil, err
		}
		p := &store.Post{Platform: Name, Account: a.ID, Text: r.Form.Get("message")}
		return p, checkPost(r.Form, photos)
	}, func(t store.Tx, p *store.Post) error { return n.savePost(r, t, p, photos) })
	return map[string]string{"id": id}, err
}

// findPhotos returns the photos that the parameter attached_media lists.
func findPhotos(r *http.Request, t store.Tx, a store.Account) ([]graph.Container, error) {
	var attachments []struct {
		ID string `json:"media_fbid"`
	}
	if text := r.Form.Get("attached_media"); text != "" && json.Unmarshal([]byte(text), &attachments) != nil ||
		len(attachments) > maxPhotos {
		return nil, graph.InvalidParameter("attached_media must be a list of at most 10 photos")
	}
	photos := make([]graph.Container, len(attachments))
	for i := range attachments {
		c, found, err := graph.FindContainer(r.Context(), t, Name, attachments[i].ID)
		switch {
		case err != nil:
			return nil, err
		case !found || c.Account != a.ID || c.MediaType != mediaTypePhoto:
			return nil, graph.ErrNoObject
		case c.Post != "":
			return nil, errPhotoUsed
		}
		photos[i] = c
	}
	return photos, nil
}

func checkPost(form url.Values, photos []graph.Container) error {
	text, link := form.Get("message"), form.Get("link")
	switch {
	case form.Get("published") == "false":
		return graph.InvalidParameter("published must be true in this sandbox")
	case strings.TrimSpace(text) == "" && link == "" && len(photos) == 0:
		return graph.InvalidParameter("A post requires message, link or attached_media")
	case isTooLong(text):
		return graph.InvalidParameter("The message is too long")
	case link != "" && !base.LinkPattern.MatchString(link):
		return errLink
	}
	return checkOptions(form)
}

func isTooLong(text string) bool { return len(utf16.Encode([]rune(text))) > maxText }

// savePost stores a post and marks its photos as used. It returns an error if the post equals the account's previous
// post.
func (n *Network) savePost(r *http.Request, t store.Tx, p *store.Post, photos []graph.Container) error {
	lastPosts, err := t.Posts(r.Context(), `where p.platform = ? and p.account = ? order by p.seq desc limit 1`,
		Name, p.Account)
	if err != nil {
		return err
	}
	if len(photos) == 0 && len(lastPosts) > 0 && len(lastPosts[0].Media) == 0 && lastPosts[0].Text == p.Text {
		return errDuplicate
	}
	container := graph.Container{Account: p.Account, MediaType: mediaTypePost, Text: p.Text, CreatedAt: n.Now()}
	if err := graph.InsertContainer(r.Context(), t, Name, &container); err != nil {
		return err
	}
	for _, photo := range photos {
		p.Media = append(p.Media, photo.Media...)
	}
	for _, c := range append(slices.Clone(photos), container) {
		if err := graph.MarkContainerPublished(r.Context(), t, c); err != nil {
			return err
		}
	}
	p.ID = p.Account + "_" + container.PostID()
	return n.saveWithBody(r.Context(), t, p, map[string]any{
		"media": p.Media, "link": r.Form.Get("link"), "options": keepOptions(r.Form),
	})
}

// saveWithBody stores the post. body contains the fields of postBody and the media.
func (n *Network) saveWithBody(ctx context.Context, t store.Tx, p *store.Post, body map[string]any) error {
	encoded, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("writing a post: %w", err)
	}
	p.Body, p.At, p.Version = encoded, n.Now(), p.ID
	return t.SavePost(ctx, *p)
}

func (n *Network) listPosts(r *http.Request) (any, error) {
	since, limit, err := graph.ParsePage(r)
	if err != nil {
		return nil, err
	}
	offset, err := graph.ParseOffset(r)
	if err != nil {
		return nil, err
	}
	data := []map[string]any{}
	err = n.asPage(r, func(t store.Tx, a store.Account, _ store.Token) error {
		posts, err := t.Posts(r.Context(),
			`where p.platform = ? and p.account = ? and p.at >= ? and f.format is null order by p.seq desc limit ? offset ?`, Name,
			a.ID, since, limit, offset)
		if err == nil {
			err = errors.Join(marker.WithholdAny(posts, n.Now()), checkAmount(posts, limit))
		}
		for _, p := range posts {
			if marker.Read(p.Text, Name).Has(marker.Draft) {
				continue
			}
			data = append(data, graph.PickFields(r, addCounts(insights.Count(p, n.Now()), n.postView(r, p))))
		}
		return err
	})
	return n.Page(r, data, limit, offset), err
}

const maxLargePage = 10 // maximum number of posts on a page if one of them has the marker TooMuchData

var errTooMuch = &graph.Error{
	Status: http.StatusInternalServerError, Code: 1,
	Message: "Please reduce the amount of data you're asking for, then retry your request",
}

// checkAmount returns an error for a page with a limit above maxLargePage if one of its posts has the marker
// TooMuchData.
func checkAmount(posts []store.Post, limit int) error {
	isLarge := func(p store.Post) bool { return marker.Read(p.Text, Name).Has(marker.TooMuchData) }
	if limit > maxLargePage && slices.ContainsFunc(posts, isLarge) {
		return errTooMuch
	}
	return nil
}

// postView returns a post in the API's format. The post of a video has a different ID from the video.
func (n *Network) postView(r *http.Request, p store.Post) map[string]any {
	id := p.ID
	if !strings.Contains(id, "_") {
		id = p.Account + "_" + id
	}
	path := p.Handle + "/posts/" + p.ID
	if parseBody(p).Reel {
		path = "reel/" + p.ID + "/"
	}
	view := map[string]any{
		"id": id, "created_time": p.At.Format(graph.TimeFormat),
		"permalink_url": n.BaseURL(r) + "/" + Name + "/www/" + path,
	}
	if p.Text != "" {
		view["message"] = p.Text
	}
	if attachment := newAttachment(p); attachment != nil {
		view["attachments"] = map[string]any{"data": []any{attachment}}
	}
	return view
}

// postBody contains the fields of a post that are stored in addition to its text.
type postBody struct {
	Link  string `json:"link"`
	Reel  bool   `json:"reel"`
	Photo string `json:"photo"` // ID of a story's photo
}

func parseBody(p store.Post) postBody {
	var body postBody
	_ = json.Unmarshal(p.Body, &body) // saveWithBody encoded it
	return body
}

// newAttachment returns the attachment of a post, or nil if it has none. The attachment of an album contains all of its
// photos and videos.
func newAttachment(p store.Post) map[string]any {
	parts := make([]map[string]any, len(p.Media))
	for i, m := range p.Media {
		parts[i] = map[string]any{"type": "photo", "description": m.Alt}
		if m.IsVideo() {
			parts[i]["type"] = "video_inline"
		}
	}
	link := parseBody(p).Link
	switch {
	case len(parts) > 1:
		return map[string]any{"type": "album", "subattachments": map[string]any{"data": parts}}
	case len(parts) == 1:
		return parts[0]
	case link != "":
		return map[string]any{"type": "share", "url": link}
	}
	return nil
}
