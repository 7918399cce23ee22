package sandbox

import (
	"bytes"
	_ "embed"
	"html/template"
	"log/slog"
	"net/http"

	"pressroom.example/pressroom/internal/sandbox/base"
	"pressroom.example/pressroom/internal/sandbox/store"
)

var (
	//go:embed page.html
	pageSource string
	//go:embed style.css
	styleSource []byte

	pageTemplate = template.Must(template.New("page").Parse(pageSource))
)

const maxPostsShown = 200 // maximum number of posts to show per network

type pageNetwork struct {
	Name, Title string
	Posts       []pagePost
	HasMore     bool
}

type pagePost struct {
	Anchor                string
	Name, Handle, Text    string
	Media                 []store.Medium
	DateTime, DisplayTime string // the time of the post, for the datetime attribute and for people
	Audience              string // who can see the post; empty if it is public
}

// pageHandler returns the handler of the page that lists the newest posts of each network.
func (s *Server) pageHandler(platforms []platform) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var page bytes.Buffer
		networks, err := s.networks(r, platforms)
		if err == nil {
			err = pageTemplate.Execute(&page, networks)
		}
		if err != nil {
			slog.Error("sandbox: rendering the page failed", "err", err)
			http.Error(w, "The sandbox cannot show its posts; see its log for the reason.", http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; img-src 'self'; "+
			"media-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Referrer-Policy", "no-referrer")
		_, _ = w.Write(page.Bytes())
	})
}

func (s *Server) networks(r *http.Request, platforms []platform) ([]pageNetwork, error) {
	ctx, cancel := base.WorkContext(r)
	defer cancel()
	var networks []pageNetwork
	err := s.base.Store.InTx(ctx, func(t store.Tx) error {
		for _, p := range platforms {
			posts, err := t.Posts(ctx, `where p.platform = ? order by p.at desc, p.seq desc limit ?`, p.Name(),
				maxPostsShown+1)
			if err != nil {
				return err
			}
			networks = append(networks, newPageNetwork(p, posts))
		}
		return nil
	})
	return networks, err
}

// audiences describes who can see a post that is not public.
var audiences = map[store.Audience]string{
	store.AudienceRoles: "Visible only to people with a role in the app, which is in development mode.",
	store.AudienceOwner: "Visible only to the account itself.",
}

func newPageNetwork(p platform, posts []store.Post) pageNetwork {
	network := pageNetwork{Name: p.Name(), Title: p.Title(), HasMore: len(posts) > maxPostsShown}
	for _, post := range posts[:min(len(posts), maxPostsShown)] {
		name := post.DisplayName
		if name == "" {
			name = post.Handle
		}
		network.Posts = append(network.Posts, pagePost{
			Anchor: base.Anchor(p.Name(), post.ID), Name: name, Handle: post.Handle, Text: post.Text, Media: post.Media,
			DateTime: post.At.Format("2006-01-02T15:04:05Z07:00"), DisplayTime: post.At.Format("2 January 2006, 15:04:05 UTC"),
			Audience: audiences[post.Audience],
		})
	}
	return network
}

func styleHandler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/css; charset=utf-8")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		_, _ = w.Write(styleSource)
	})
}
