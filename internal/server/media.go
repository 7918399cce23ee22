package server

import (
	"fmt"
	"net/url"

	"pressroom/internal/auth/tokencrypt"
	"pressroom/internal/core/plan"
	"pressroom/internal/domain/media"
	"pressroom/internal/domain/post"
	"pressroom/internal/platform/safehttp"
)

// One team may take a fourth of a node's places among uploads, and always as many as one person sends at once.
const teamUploadsPart, teamUploadsLeast = 4, 3

// buildMedia joins the library to where its files lie and come from, and gives the sources that it opened for that.
func (s *Server) buildMedia(sealer *tokencrypt.Sealer, offered plan.Terms) (sources, error) {
	own, err := url.Parse(s.cfg.PublicURL)
	if err != nil {
		return sources{}, fmt.Errorf("reading the public address: %w", err)
	}
	opts := safehttp.Options{Allow: s.cfg.ImportAllow, RootCAs: s.cfg.ImportRoots}
	if own.Hostname() != "" {
		opts.Own = []string{own.Hostname()}
	}
	fetcher, err := safehttp.New(opts)
	if err != nil {
		return sources{}, fmt.Errorf("the hosts and networks of --import-allow: %w", err)
	}
	reserve, err := s.diskReserve()
	if err != nil {
		return sources{}, err
	}
	o := media.Options{Disk: reserve, DB: s.db, Blobs: s.blobs, Jobs: s.jobs, Worker: s.worker, Keys: s.Teams,
		Credits: s.Credits, Terms: offered, Fetch: fetcher, Sealer: sealer,
		PublicURL: s.cfg.PublicURL, Log: s.cfg.Log,
		TeamUploads: max(teamUploadsLeast, s.rooms.Uploads.Size()/teamUploadsPart)}
	from, err := s.openSources(fetcher)
	if err != nil {
		return sources{}, err
	}
	if !from.none() {
		if o.Source, err = from.media(); err != nil {
			return from, fmt.Errorf("joining the sources: %w", err)
		}
	}
	o.Described = post.MediaDescribed
	s.Media = media.New(o)
	return from, nil
}
