package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"pressroom/internal/core/plan"
	"pressroom/internal/domain/provider"
	"pressroom/internal/domain/provider/bridge"
	"pressroom/internal/domain/provider/instagramgraph"
	"pressroom/internal/domain/provider/joined"
	"pressroom/internal/domain/provider/tiktokresearch"
	"pressroom/internal/domain/report"
	"pressroom/internal/platform/safehttp"
)

// SourceSettings are what an operator says of the official sources of public figures (docs/sources.md). One that is nil
// is not asked.
type SourceSettings struct {
	InstagramGraph *instagramgraph.Options `json:"instagram_graph"`
	TikTokResearch *tiktokresearch.Options `json:"tiktok_research"`
}

// ReadSources reads the settings of sources from a file of JSON.
func ReadSources(path string) (SourceSettings, error) {
	var out SourceSettings
	raw, err := os.ReadFile(path)
	if err != nil {
		return out, fmt.Errorf("reading the settings of sources: %w", err)
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&out); err != nil {
		return out, fmt.Errorf("reading the settings of sources in %s: %w", path, err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return out, fmt.Errorf("reading the settings of sources in %s: something stands behind the object", path)
	}
	if g := out.InstagramGraph; g != nil {
		for i := range g.Accounts {
			g.Accounts[i].Token = os.Getenv(g.Accounts[i].TokenEnv)
		}
	}
	if r := out.TikTokResearch; r != nil {
		r.ClientSecret = os.Getenv(r.ClientSecretEnv)
	}
	return out, nil
}

// public fetches what sources point at from the web, from public addresses alone.
func public(fetcher *safehttp.Client) func(context.Context, string, int64, io.Writer) error {
	return func(ctx context.Context, address string, most int64, into io.Writer) error {
		_, err := fetcher.Get(ctx, address, most, into)
		if failed, ok := errors.AsType[*safehttp.Error](err); ok && failed.Code == safehttp.TooLarge {
			return provider.ErrTooLarge
		}
		return err
	}
}

// sources are those that the operator has joined: the official ones, and the vendor.
type sources struct{ official, vendor []joined.Named }

// figures asks the official sources first; media are the vendor's first, who has more of them.
func (s sources) figures() (*joined.Source, error) {
	return joined.New(slices.Concat(s.official, s.vendor)...)
}
func (s sources) media() (*joined.Source, error) {
	return joined.New(slices.Concat(s.vendor, s.official)...)
}

// none tells whether the operator has joined no source.
func (s sources) none() bool { return len(s.official)+len(s.vendor) == 0 }

// openSources makes what the operator has joined.
func (s *Server) openSources(fetcher *safehttp.Client) (sources, error) {
	var out sources
	if o := s.cfg.Sources.InstagramGraph; o != nil {
		opts := *o
		opts.HashtagStore, opts.FetchPublic, opts.Now, opts.Log = instagramgraph.NewDBHashtagStore(s.db),
			public(fetcher), s.cfg.Now, s.cfg.Log
		made, err := instagramgraph.New(opts)
		if err != nil {
			return out, fmt.Errorf("joining Instagram's API (--sources): %w", err)
		}
		out.official = append(out.official, joined.Named{Name: "instagram_graph", Source: made})
	}
	if o := s.cfg.Sources.TikTokResearch; o != nil {
		opts := *o
		opts.Now = s.cfg.Now
		made, err := tiktokresearch.New(opts)
		if err != nil {
			return out, fmt.Errorf("joining TikTok's research API (--sources): %w", err)
		}
		out.official = append(out.official, joined.Named{Name: "tiktok_research", Source: made})
	}
	if s.cfg.BridgeURL != "" {
		made, err := bridge.New(bridge.Options{
			URL: s.cfg.BridgeURL, Token: s.cfg.BridgeToken, FetchPublic: public(fetcher), Now: s.cfg.Now,
		})
		if err != nil {
			return out, fmt.Errorf("joining the source of --bridge: %w", err)
		}
		out.vendor = append(out.vendor, joined.Named{Name: "bridge", Source: made})
	}
	return out, nil
}

// buildReports makes what makes reports.
func (s *Server) buildReports(from sources, offered plan.Terms) error {
	o := report.Options{
		DB: s.db, Jobs: s.jobs, Worker: s.worker, Credits: s.Credits, Terms: offered, Observer: hearer{s.db, s.figures},
		Limiter: s.limiter, Log: s.cfg.Log,
	}
	if !from.none() {
		figures, err := from.figures()
		if err != nil {
			return fmt.Errorf("joining the sources: %w", err)
		}
		o.Source = figures
	}
	s.Reports = report.New(o)
	return nil
}
