package sandbox

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"time"

	"pressroom.example/pressroom/internal/sandbox/base"
	"pressroom.example/pressroom/internal/sandbox/facebook"
	"pressroom.example/pressroom/internal/sandbox/instagram"
	"pressroom.example/pressroom/internal/sandbox/store"
)

// listedPost is a post in the response to GET /posts.
type listedPost struct {
	Platform string   `json:"platform"`
	Account  string   `json:"account"` // handle
	ID       string   `json:"id"`      // ID on the network
	Text     string   `json:"text"`
	Media    []string `json:"media"` // URLs
	At       string   `json:"at"`    // RFC 3339, UTC
	Audience string   `json:"audience,omitempty"`
	ReplyTo  string   `json:"reply_to,omitempty"` // ID on the network
	Format   string   `json:"format,omitempty"`   // story, or empty for a post in the feed

	Options json.RawMessage `json:"options,omitempty"` // API parameters of a post on Instagram or Facebook
}

// optionsOf returns the API parameters with which a post on Instagram or Facebook was published. It returns nil for
// other posts.
func optionsOf(p store.Post) json.RawMessage {
	var body struct {
		Options json.RawMessage `json:"options"`
	}
	hasOptions := p.Platform == instagram.Name || p.Platform == facebook.Name
	if !hasOptions || json.Unmarshal(p.Body, &body) != nil || string(body.Options) == "null" || string(body.Options) == "{}" {
		return nil
	}
	return body.Options
}

// postsHandler returns a handler that lists the posts in the order in which they were stored. The optional parameters
// "platform" and "contains" filter the list by network and by a part of the text.
func (s *Server) postsHandler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := base.WorkContext(r)
		defer cancel()
		query := r.URL.Query()
		matches, err := s.posts(ctx, query.Get("platform"), query.Get("contains"))
		if err != nil {
			slog.Error("sandbox: listing posts failed", "err", err)
			base.WriteJSON(w, http.StatusInternalServerError, base.InternalError)
			return
		}
		posts := []listedPost{}
		for _, p := range matches {
			media := []string{}
			for _, m := range p.Media {
				media = append(media, s.base.BaseURL(r)+"/"+m.Path)
			}
			posts = append(posts, listedPost{
				Platform: p.Platform, Account: p.Handle, ID: p.ID, Text: p.Text, Media: media,
				At: p.At.Format(time.RFC3339Nano), Audience: string(p.Audience), ReplyTo: p.ReplyTo, Format: p.Format,
				Options: optionsOf(p),
			})
		}
		base.WriteJSON(w, http.StatusOK, map[string]any{"posts": posts})
	})
}

func (s *Server) posts(ctx context.Context, platform, contains string) ([]store.Post, error) {
	var posts []store.Post
	err := s.base.Store.InTx(ctx, func(t store.Tx) error {
		var err error
		posts, err = t.Posts(ctx,
			`where (? = '' or p.platform = ?) and (? = '' or instr(p.text, ?) > 0) order by p.seq`,
			platform, platform, contains, contains)
		return err
	})
	return posts, err
}
