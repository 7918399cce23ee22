package server

import (
	"fmt"
	"net/url"

	"pressroom.example/pressroom/internal/auth/tokencrypt"
	"pressroom.example/pressroom/internal/core/plan"
	"pressroom.example/pressroom/internal/domain/media"
	"pressroom.example/pressroom/internal/domain/post"
	"pressroom.example/pressroom/internal/platform/safehttp"
)

// A team may use 1/teamUploadsDivisor of a node's upload slots. It may always use minTeamUploads, because a single
// person can use that many at the same time.
const teamUploadsDivisor, minTeamUploads = 4, 3

// buildMedia builds the media library and returns the providers that it opened.
func (s *Server) buildMedia(sealer *tokencrypt.Sealer, catalog plan.Catalog) (sources, error) {
	publicURL, err := url.Parse(s.cfg.PublicURL)
	if err != nil {
		return sources{}, fmt.Errorf("reading the public URL: %w", err)
	}
	opts := safehttp.Options{Allow: s.cfg.ImportAllow, RootCAs: s.cfg.ImportRoots}
	if publicURL.Hostname() != "" {
		opts.OwnHosts = []string{publicURL.Hostname()}
	}
	fetcher, err := safehttp.New(opts)
	if err != nil {
		return sources{}, fmt.Errorf("reading --import-allow: %w", err)
	}
	reserve, err := s.diskReserve()
	if err != nil {
		return sources{}, err
	}
	o := media.Options{Disk: reserve, DB: s.db, Blobs: s.blobs, Jobs: s.jobs, Worker: s.worker, Keys: s.Teams,
		Credits: s.Credits, Catalog: catalog, Fetch: fetcher, Sealer: sealer,
		PublicURL: s.cfg.PublicURL, Log: s.cfg.Log,
		TeamUploads:      max(minTeamUploads, s.limiters.Uploads.Limit()/teamUploadsDivisor),
		OnAltTextChanged: post.RequestReapprovalForMedia}
	providers, err := s.openSources(fetcher)
	if err != nil {
		return sources{}, err
	}
	if !providers.empty() {
		if o.Provider, err = providers.media(); err != nil {
			return providers, fmt.Errorf("joining providers: %w", err)
		}
	}
	s.Media, s.fetcher = media.New(o), fetcher
	return providers, nil
}
