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

	"pressroom.example/pressroom/internal/core/plan"
	"pressroom.example/pressroom/internal/domain/provider"
	"pressroom.example/pressroom/internal/domain/provider/bridge"
	"pressroom.example/pressroom/internal/domain/provider/instagramgraph"
	"pressroom.example/pressroom/internal/domain/provider/joined"
	"pressroom.example/pressroom/internal/domain/provider/tiktokresearch"
	"pressroom.example/pressroom/internal/domain/report"
	"pressroom.example/pressroom/internal/platform/safehttp"
)

// SourceSettings are the operator's settings for official providers (docs/sources.md). A provider that is nil is not
// used.
type SourceSettings struct {
	InstagramGraph *instagramgraph.Options `json:"instagram_graph"`
	TikTokResearch *tiktokresearch.Options `json:"tiktok_research"`
}

// ReadSources reads provider settings from a JSON file.
func ReadSources(path string) (SourceSettings, error) {
	var out SourceSettings
	raw, err := os.ReadFile(path)
	if err != nil {
		return out, fmt.Errorf("reading the provider settings: %w", err)
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&out); err != nil {
		return out, fmt.Errorf("reading the provider settings in %s: %w", path, err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return out, fmt.Errorf("reading the provider settings in %s: unexpected text after the object", path)
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

// fetchPublic returns a function that fetches files to which providers link. It fetches only from public addresses.
func fetchPublic(fetcher *safehttp.Client) func(context.Context, string, int64, io.Writer) error {
	return func(ctx context.Context, address string, most int64, into io.Writer) error {
		_, err := fetcher.Get(ctx, address, most, into)
		if failed, ok := errors.AsType[*safehttp.Error](err); ok && failed.Code == safehttp.CodeTooLarge {
			return provider.ErrTooLarge
		}
		return err
	}
}

// sources contains the configured providers: the official providers, and the bridge of a vendor.
type sources struct{ official, bridges []joined.NamedProvider }

// The methods metrics and media return the providers in order of preference. For metrics, official providers come
// first. For media, the bridge comes first.
func (s sources) metrics() (*joined.Source, error) {
	return joined.New(slices.Concat(s.official, s.bridges)...)
}
func (s sources) media() (*joined.Source, error) {
	return joined.New(slices.Concat(s.bridges, s.official)...)
}

// empty reports whether no provider is configured.
func (s sources) empty() bool { return len(s.official)+len(s.bridges) == 0 }

// openSources opens the configured providers.
func (s *Server) openSources(fetcher *safehttp.Client) (sources, error) {
	var out sources
	if o := s.cfg.Sources.InstagramGraph; o != nil {
		opts := *o
		opts.HashtagStore, opts.FetchPublic, opts.Now, opts.Log = instagramgraph.NewDBHashtagStore(s.db),
			fetchPublic(fetcher), s.cfg.Now, s.cfg.Log
		source, err := instagramgraph.New(opts)
		if err != nil {
			return out, fmt.Errorf("opening Instagram's API (--sources): %w", err)
		}
		out.official = append(out.official, joined.NamedProvider{Name: "instagram_graph", Source: source})
	}
	if o := s.cfg.Sources.TikTokResearch; o != nil {
		opts := *o
		opts.Now = s.cfg.Now
		source, err := tiktokresearch.New(opts)
		if err != nil {
			return out, fmt.Errorf("opening TikTok's research API (--sources): %w", err)
		}
		out.official = append(out.official, joined.NamedProvider{Name: "tiktok_research", Source: source})
	}
	if s.cfg.BridgeURL != "" {
		source, err := bridge.New(bridge.Options{
			URL: s.cfg.BridgeURL, Token: s.cfg.BridgeToken, FetchPublic: fetchPublic(fetcher), Now: s.cfg.Now,
		})
		if err != nil {
			return out, fmt.Errorf("opening the provider of --bridge: %w", err)
		}
		out.bridges = append(out.bridges, joined.NamedProvider{Name: "bridge", Source: source})
	}
	return out, nil
}

// buildReports builds reports.
func (s *Server) buildReports(providers sources, catalog plan.Catalog) error {
	o := report.Options{
		DB: s.db, Jobs: s.jobs, Worker: s.worker, Credits: s.Credits, Catalog: catalog,
		Observer: hashtagObserver{s.db, s.hashtagStats}, Limiter: s.limiter, Log: s.cfg.Log,
	}
	if !providers.empty() {
		source, err := providers.metrics()
		if err != nil {
			return fmt.Errorf("joining providers: %w", err)
		}
		o.Source = source
	}
	s.Reports = report.New(o)
	return nil
}
