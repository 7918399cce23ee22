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

// A team may use a quarter (1/teamUploadsDivisor) of a node's upload slots, but at least minTeamUploads, because one
// person can use that many at once.
const teamUploadsDivisor, minTeamUploads = 4, 3

// buildMedia builds the media library and returns the providers that it opened.
func (s *Server) buildMedia(sealer *tokencrypt.Sealer, catalog plan.Catalog) (sources, error) {
	own, err := url.Parse(s.cfg.PublicURL)
	if err != nil {
		return sources{}, fmt.Errorf("reading the public URL: %w", err)
	}
	opts := safehttp.Options{Allow: s.cfg.ImportAllow, RootCAs: s.cfg.ImportRoots}
	if own.Hostname() != "" {
		opts.OwnHosts = []string{own.Hostname()}
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
	from, err := s.openSources(fetcher)
	if err != nil {
		return sources{}, err
	}
	if !from.empty() {
		if o.Provider, err = from.media(); err != nil {
			return from, fmt.Errorf("joining providers: %w", err)
		}
	}
	s.Media, s.fetcher = media.New(o), fetcher
	return from, nil
}
