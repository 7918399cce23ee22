// Package tiktokresearch asks TikTok's Research API for the public figures of profiles. TikTok gives it to non-profit
// academic and independent researchers alone, so that the operator has to say that they are one. Nothing that comes back
// is trusted.
package tiktokresearch

import (
	"context"
	"errors"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"time"

	"pressroom/internal/domain/provider"
	"pressroom/internal/domain/provider/wire"
)

const (
	defaultURL   = "https://open.tiktokapis.com"
	answerWithin = 60 * time.Second // queries for videos take TikTok long
	maxAnswer    = 8 << 20          // bytes
)

// Options say by which client TikTok is asked, and that it may be.
type Options struct {
	// Eligible has to be true: the operator confirms to be a researcher of a non-profit academic institution, or an
	// independent one, whom TikTok has approved for its Research API. TikTok gives it to no creators, advertisers and
	// businesses.
	Eligible bool `json:"eligible"`
	// ClientKey is the client key of the research project.
	ClientKey string `json:"client_key"`
	// ClientSecretEnv names the variable of the environment in which the client secret is.
	ClientSecretEnv string `json:"client_secret_env"`
	// URL is the API's base address; TikTok's own where empty.
	URL string `json:"url"`

	ClientSecret string           `json:"-"` // what ClientSecretEnv holds
	HTTP         *http.Client     `json:"-"` // one with bounds of its own where nil; its redirects and cookies are not used
	Timeout      time.Duration    `json:"-"` // for a whole answer; 60 s where 0
	Now          func() time.Time `json:"-"` // time.Now where nil
}

// Source asks TikTok. It is safe for use by many goroutines.
type Source struct {
	opts Options
	base string
	http *http.Client

	mu    sync.Mutex
	token token
	rests time.Time // until then TikTok is left alone
}

// New makes a source. TikTok is not asked yet; settings that cannot be used are an error.
func New(opts Options) (*Source, error) {
	if opts.URL == "" {
		opts.URL = defaultURL
	}
	switch {
	case !opts.Eligible:
		return nil, errors.New("TikTok gives its Research API to non-profit researchers alone; it is used where \"eligible\": true confirms that you are one whom TikTok has approved")
	case !wire.Base(opts.URL):
		return nil, errors.New("the address of TikTok's API is not an absolute one of http or https")
	case opts.ClientKey == "" || opts.ClientSecret == "":
		return nil, errors.New("TikTok's Research API needs a client key and its secret")
	}
	if opts.Timeout <= 0 {
		opts.Timeout = answerWithin
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	return &Source{opts: opts, base: strings.TrimRight(opts.URL, "/"), http: wire.Client(opts.HTTP, nil)}, nil
}

func (s *Source) now() time.Time { return s.opts.Now().UTC() }

var nameForm = regexp.MustCompile(`^[a-z0-9._]{1,30}$`)

const ofUser = "display_name,bio_description,bio_url,follower_count,following_count,video_count"

// user is what TikTok tells of a profile.
type user struct {
	Name      string     `json:"display_name"`
	Biography string     `json:"bio_description"`
	Website   string     `json:"bio_url"`
	Followers wire.Count `json:"follower_count"`
	Follows   wire.Count `json:"following_count"`
	Videos    wire.Count `json:"video_count"`
}

// Profile tells the public figures of a profile. Errors are provider.ErrNotFound, provider.ErrPrivate, provider.ErrNotOffered
// and *provider.Unavailable.
func (s *Source) Profile(ctx context.Context, q provider.ProfileQuery) (provider.ProfileFigures, error) {
	if q.Platform != provider.TikTok {
		return provider.ProfileFigures{}, provider.ErrNotOffered
	}
	if !nameForm.MatchString(q.Username) {
		return provider.ProfileFigures{}, provider.ErrNotFound
	}
	var said user
	if err := s.post(ctx, "/v2/research/user/info/", ofUser, map[string]any{"username": q.Username}, &said); err != nil {
		return provider.ProfileFigures{}, err
	}
	account := provider.Account{
		Username: q.Username, DisplayName: wire.Name(said.Name), Biography: wire.Text(said.Biography, wire.MaxText), Website: wire.Address(said.Website),
		Followers: said.Followers.Told(), Follows: said.Follows.Told(), Posts: said.Videos.Told(), MeasuredAt: s.now(),
	}
	posts, err := s.videos(ctx, q, account.Posts)
	if err != nil {
		return provider.ProfileFigures{}, err
	}
	return provider.ProfileFigures{Account: account, Posts: posts}, nil
}

// Hashtag is never told: the API finds videos by a hashtag, but knows neither its size nor what TikTok shows under it.
func (s *Source) Hashtag(context.Context, provider.HashtagQuery) (provider.HashtagFigures, error) {
	return provider.HashtagFigures{}, provider.ErrNotOffered
}
