package sandbox

import (
	"context"
	"log/slog"
	"net/http"
	"time"
)

// heldPost is a publication in the answer to GET /held.
type heldPost struct {
	Platform string   `json:"platform"`
	Account  string   `json:"account"` // handle
	ID       string   `json:"id"`      // the network's own
	Text     string   `json:"text"`
	Media    []string `json:"media"` // addresses
	At       string   `json:"at"`    // RFC 3339, UTC
}

// heldHandler lists the posts in the order of their publication. The optional filters are "platform" and "contains", a
// part of the text.
func (s *Server) heldHandler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := work(r)
		defer cancel()
		query := r.URL.Query()
		held, err := s.held(ctx, query.Get("platform"), query.Get("contains"))
		if err != nil {
			slog.Error("sandbox: listing posts", "err", err)
			writeJSON(w, http.StatusInternalServerError, internalError)
			return
		}
		posts := []heldPost{}
		for _, p := range held {
			media := []string{}
			for _, m := range p.media {
				media = append(media, s.base.baseURL(r)+"/"+m.Path)
			}
			posts = append(posts, heldPost{
				Platform: p.platform, Account: p.handle, ID: p.id, Text: p.text, Media: media,
				At: p.at.Format(time.RFC3339Nano),
			})
		}
		writeJSON(w, http.StatusOK, map[string]any{"posts": posts})
	})
}

func (s *Server) held(ctx context.Context, platform, contains string) ([]post, error) {
	var found []post
	err := s.base.store.in(ctx, func(t tx) error {
		var err error
		found, err = t.posts(ctx,
			`where (? = '' or p.platform = ?) and (? = '' or instr(p.text, ?) > 0) order by p.seq`,
			platform, platform, contains, contains)
		return err
	})
	return found, err
}
