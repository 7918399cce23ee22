package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"time"

	"pressroom.example/pressroom/internal/core/plan"
	"pressroom.example/pressroom/internal/domain/analytics"
	"pressroom.example/pressroom/internal/domain/voice"
	"pressroom.example/pressroom/internal/network"
)

// buildAnalytics builds the service that collects metrics and profile pictures of accounts.
func (s *Server) buildAnalytics(catalog plan.Catalog) {
	s.Analytics = analytics.New(s.db, s.Accounts, analytics.Options{
		Catalog: catalog, Interval: s.cfg.CollectInterval, OnCall: s.metrics.countNetworkCall,
		Posts: hashtagObserver{s.db, s.hashtagStats}.recordCollected, FetchPicture: s.pictureFetcher(), Log: s.cfg.Log,
	})
}

var errPictureTooLarge = errors.New("the picture is too large")

// fetchPage downloads a web page from a public address or from a host in --import-allow.
func (s *Server) fetchPage(ctx context.Context, address string, maxBytes int64, into io.Writer) error {
	_, err := s.fetcher.Get(ctx, address, maxBytes, into)
	return err
}

const (
	maxLinkedPage     = 2 << 20         // bytes
	linkedPageTimeout = 5 * time.Second // after this time, the post is published without texts from the page
)

// readLinkedPage reads texts from a web page for a link card.
func (s *Server) readLinkedPage(ctx context.Context, address string) (network.Page, error) {
	ctx, cancel := context.WithTimeout(ctx, linkedPageTimeout)
	defer cancel()
	var page bytes.Buffer
	if err := s.fetchPage(ctx, address, maxLinkedPage, &page); err != nil {
		return network.Page{}, fmt.Errorf("reading a linked page: %w", err)
	}
	title, description, err := voice.LinkTexts(page.Bytes())
	return network.Page{Title: title, Description: description}, err
}

// pictureFetcher returns a function that fetches profile pictures from public addresses and from hosts in the
// operator's network settings, such as a sandbox.
func (s *Server) pictureFetcher() func(ctx context.Context, platform, address string, maxBytes int64, into io.Writer) error {
	namedHosts := s.cfg.Networks.namedHosts()
	client := &http.Client{
		Transport:     s.transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return func(ctx context.Context, platform, address string, maxBytes int64, into io.Writer) error {
		if u, err := url.Parse(address); err == nil && slices.Contains(namedHosts[platform], u.Host) {
			return fetchFromHost(ctx, client, address, maxBytes, into)
		}
		_, err := s.fetcher.Get(ctx, address, maxBytes, into)
		return err
	}
}

// fetchFromHost fetches a file from a host in the operator's network settings.
func fetchFromHost(ctx context.Context, client *http.Client, address string, maxBytes int64, into io.Writer) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return fmt.Errorf("fetching a picture: %w", err)
	}
	response, err := client.Do(r)
	if err != nil {
		return fmt.Errorf("fetching a picture: %w", err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("fetching a picture: status %d", response.StatusCode)
	}
	n, err := io.Copy(into, io.LimitReader(response.Body, maxBytes+1))
	if err != nil {
		return fmt.Errorf("fetching a picture: %w", err)
	}
	if n > maxBytes {
		return errPictureTooLarge
	}
	return nil
}
