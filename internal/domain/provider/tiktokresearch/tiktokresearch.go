// Package tiktokresearch reads public metrics of profiles from TikTok's Research API. TikTok grants access only to
// non-profit academic and independent researchers, so operators must confirm that they are eligible. Responses are
// untrusted.
package tiktokresearch

import (
	"context"
	"errors"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"time"

	"pressroom.example/pressroom/internal/domain/provider"
	"pressroom.example/pressroom/internal/domain/provider/wire"
)

const (
	defaultURL       = "https://open.tiktokapis.com"
	defaultTimeout   = 60 * time.Second // video queries are slow
	maxResponseBytes = 8 << 20          // bytes
)

// Options configures a Source.
type Options struct {
	// Eligible must be true. By setting it, operators confirm that TikTok has approved them for its Research API as
	// researchers, either independent or at a non-profit academic institution. The API is not available to creators,
	// advertisers and businesses.
	Eligible bool `json:"eligible"`
	// ClientKey is the client key of the research project.
	ClientKey string `json:"client_key"`
	// ClientSecretEnv is the name of the environment variable that contains the client secret.
	ClientSecretEnv string `json:"client_secret_env"`
	// URL is the API's base URL. The default is TikTok's URL.
	URL string `json:"url"`

	ClientSecret string           `json:"-"` // value of the environment variable
	HTTP         *http.Client     `json:"-"` // default: a client with limits; its redirect policy and cookie jar are ignored
	Timeout      time.Duration    `json:"-"` // per response; default 60 s
	Now          func() time.Time `json:"-"` // default: time.Now
}

// Source reads from TikTok. It is safe for concurrent use.
type Source struct {
	opts Options
	base string
	http *http.Client

	mu          sync.Mutex
	token       token
	pausedUntil time.Time // no requests until then
}

// New returns a Source. It returns an error if the options are invalid. It does not send a request.
func New(opts Options) (*Source, error) {
	if opts.URL == "" {
		opts.URL = defaultURL
	}
	switch {
	case !opts.Eligible:
		return nil, errors.New("TikTok's Research API is only for approved non-profit researchers; set \"eligible\": " +
			"true to confirm that you are one")
	case !wire.IsBaseURL(opts.URL):
		return nil, errors.New("the URL of TikTok's API must be absolute with scheme http or https")
	case opts.ClientKey == "" || opts.ClientSecret == "":
		return nil, errors.New("TikTok's Research API needs a client key and a client secret")
	}
	if opts.Timeout <= 0 {
		opts.Timeout = defaultTimeout
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	return &Source{opts: opts, base: strings.TrimRight(opts.URL, "/"), http: wire.NewClient(opts.HTTP, nil)}, nil
}

func (s *Source) now() time.Time { return s.opts.Now().UTC() }

var namePattern = regexp.MustCompile(`^[a-z0-9._]{1,30}$`)

const userFields = "display_name,bio_description,bio_url,follower_count,following_count,video_count"

// user is a profile in TikTok's API.
type user struct {
	Name      string     `json:"display_name"`
	Biography string     `json:"bio_description"`
	Website   string     `json:"bio_url"`
	Followers wire.Count `json:"follower_count"`
	Follows   wire.Count `json:"following_count"`
	Videos    wire.Count `json:"video_count"`
}

// Profile returns the public metrics of a profile. Its errors are provider.ErrNotFound, provider.ErrPrivate,
// provider.ErrNotOffered and *provider.UnavailableError.
func (s *Source) Profile(ctx context.Context, q provider.ProfileQuery) (provider.ProfileMetrics, error) {
	if q.Platform != provider.TikTok {
		return provider.ProfileMetrics{}, provider.ErrNotOffered
	}
	if !namePattern.MatchString(q.Username) {
		return provider.ProfileMetrics{}, provider.ErrNotFound
	}
	var parsed user
	if err := s.post(ctx, "/v2/research/user/info/", userFields, map[string]any{"username": q.Username},
		&parsed); err != nil {
		return provider.ProfileMetrics{}, err
	}
	account := provider.Account{
		Username: q.Username, DisplayName: wire.SingleLine(parsed.Name), Biography: wire.Text(parsed.Biography,
			wire.MaxText), Website: wire.URL(parsed.Website),
		Followers: parsed.Followers.Value(), Follows: parsed.Follows.Value(), Posts: parsed.Videos.Value(),
		MeasuredAt: s.now(),
	}
	posts, err := s.fetchVideos(ctx, q, account.Posts)
	if err != nil {
		return provider.ProfileMetrics{}, err
	}
	return provider.ProfileMetrics{Account: account, Posts: posts}, nil
}

// Hashtag returns provider.ErrNotOffered. The API finds videos by hashtag, but provides neither a hashtag's size nor
// its top posts.
func (s *Source) Hashtag(context.Context, provider.HashtagQuery) (provider.HashtagMetrics, error) {
	return provider.HashtagMetrics{}, provider.ErrNotOffered
}
