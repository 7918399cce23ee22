package facebook

import (
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"time"

	"pressroom.example/pressroom/internal/sandbox/graph"
	"pressroom.example/pressroom/internal/sandbox/marker"
	"pressroom.example/pressroom/internal/sandbox/store"
)

const storyLifetime = 24 * time.Hour

// publishPhotoStory publishes an uploaded photo as a story. A photo can be published only once.
func (n *Network) publishPhotoStory(r *http.Request) (any, error) {
	var photo graph.Container
	id, err := n.publish(r, func(t store.Tx, a store.Account) (*store.Post, error) {
		c, found, err := graph.FindContainer(r.Context(), t, Name, r.Form.Get("photo_id"))
		switch {
		case err != nil:
			return nil, err
		case !found || c.Account != a.ID || c.MediaType != mediaTypePhoto:
			return nil, graph.ErrNoObject
		case c.Post != "":
			return nil, errPhotoUsed
		}
		photo = c
		return &store.Post{Platform: Name, Account: a.ID, ID: c.PostID(), Media: c.Media, Format: store.FormatStory}, nil
	}, func(t store.Tx, p *store.Post) error {
		if err := graph.MarkContainerPublished(r.Context(), t, photo); err != nil {
			return err
		}
		return n.saveWithBody(r.Context(), t, p, map[string]any{"media": p.Media, "photo": photo.ID()})
	})
	return map[string]any{"success": true, "post_id": id}, err
}

// videoStoryPhase starts the upload of a story's video, or publishes the uploaded video.
func (n *Network) videoStoryPhase(r *http.Request) (any, error) {
	return n.uploadPhase(r, store.FormatStory)
}

// listStories lists the Page's stories of the last day, newest first. The sandbox's Pages archive their stories.
func (n *Network) listStories(r *http.Request) (any, error) {
	since, limit, err := graph.ParsePage(r)
	if err != nil {
		return nil, err
	}
	data := []map[string]any{}
	err = n.asPage(r, func(t store.Tx, a store.Account, _ store.Token) error {
		posts, err := t.Posts(r.Context(),
			`where p.platform = ? and p.account = ? and p.at >= ? and f.format = ? order by p.seq desc limit ?`, Name, a.ID,
			max(since, n.Now().Add(-storyLifetime).UnixMilli()+1), store.FormatStory, limit)
		if err == nil {
			err = marker.WithholdAny(posts, n.Now())
		}
		for _, p := range posts {
			data = append(data, n.storyView(r, p))
		}
		return err
	})
	return map[string]any{"data": data}, err
}

func (n *Network) storyView(r *http.Request, p store.Post) map[string]any {
	kind, media := "photo", parseBody(p).Photo
	if len(p.Media) > 0 && p.Media[0].IsVideo() {
		kind, media = "video", p.ID
	}
	return map[string]any{
		"post_id": p.ID, "media_id": media, "media_type": kind, "status": "PUBLISHED",
		"creation_time": strconv.FormatInt(p.At.Unix(), 10), "url": n.postView(r, p)["permalink_url"],
	}
}

var placeIDPattern = regexp.MustCompile(`^[0-9]{1,40}$`)

const maxTitle = 255 // characters

// checkOptions returns an error if a place or a title is invalid.
func checkOptions(form url.Values) error {
	switch {
	case form.Get("place") != "" && !placeIDPattern.MatchString(form.Get("place")):
		return graph.InvalidParameter("(#100) Param place must be the ID of a Page")
	case len([]rune(form.Get("title"))) > maxTitle:
		return graph.InvalidParameter("(#100) Param title is too long")
	}
	return nil
}

// keepOptions returns the parameters in form that are post options.
func keepOptions(form url.Values) map[string]string {
	options := map[string]string{}
	for _, name := range []string{"link", "place", "title"} {
		if value := form.Get(name); value != "" {
			options[name] = value
		}
	}
	return options
}
