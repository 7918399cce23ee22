package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"

	"pressroom/internal/fetch"
	"pressroom/internal/media"
	"pressroom/internal/seal"
	"pressroom/internal/source"
	"pressroom/internal/source/bridge"
	"pressroom/internal/terms"
)

// buildMedia joins the library to where its files lie and come from.
func (s *Server) buildMedia(sealer *seal.Sealer, offered terms.Terms) error {
	own, err := url.Parse(s.cfg.PublicURL)
	if err != nil {
		return fmt.Errorf("reading the public address: %w", err)
	}
	opts := fetch.Options{Allow: s.cfg.ImportAllow, RootCAs: s.cfg.ImportRoots}
	if own.Hostname() != "" {
		opts.Own = []string{own.Hostname()}
	}
	fetcher, err := fetch.New(opts)
	if err != nil {
		return fmt.Errorf("the hosts and networks of --import-allow: %w", err)
	}
	o := media.Options{DB: s.db, Blobs: s.blobs, Jobs: s.jobs, Worker: s.worker, Keys: s.Teams, Credits: s.Credits, Terms: offered, Fetch: fetcher, Sealer: sealer,
		PublicURL: s.cfg.PublicURL, Log: s.cfg.Log}
	if s.cfg.BridgeURL != "" {
		public := func(ctx context.Context, address string, most int64, into io.Writer) error {
			_, err := fetcher.Get(ctx, address, most, into)
			if failed, ok := errors.AsType[*fetch.Error](err); ok && failed.Code == fetch.TooLarge {
				return source.ErrTooLarge
			}
			return err
		}
		if o.Source, err = bridge.New(bridge.Options{URL: s.cfg.BridgeURL, Token: s.cfg.BridgeToken, Public: public, Now: s.cfg.Now}); err != nil {
			return fmt.Errorf("joining the source of --bridge: %w", err)
		}
	}
	s.Media = media.New(o)
	return nil
}
