// Package instagramgraph uses the Instagram API with Facebook Login to read public metrics and media of professional
// accounts (business discovery), and posts with a hashtag. It uses the operator's accounts. Responses are untrusted.
package instagramgraph

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"regexp"
	"strings"
	"sync/atomic"
	"time"

	"pressroom.example/pressroom/internal/domain/provider/wire"
)

const (
	defaultURL       = "https://graph.facebook.com"
	defaultVersion   = "v25.0"
	defaultUsage     = 75 // percent
	defaultTimeout   = 30 * time.Second
	maxResponseBytes = 4 << 20 // bytes
)

// Fetch downloads a file to dst. It writes at most limit bytes.
type Fetch func(ctx context.Context, address string, limit int64, dst io.Writer) error

// Options configures a Source.
type Options struct {
	// Accounts lists the operator's professional Instagram accounts.
	Accounts []Account `json:"accounts"`
	// Hashtags is true if the app has Meta's feature Instagram Public Content Access, which hashtag queries require.
	Hashtags bool `json:"hashtags"`
	// URL is the API's base URL. The default is Meta's URL.
	URL string `json:"url"`
	// Version is the version of the API. The default is v25.0.
	Version string `json:"version"`
	// Usage is the percentage of Meta's limits at which an account pauses. The default is 75.
	Usage int `json:"usage"`

	HashtagStore HashtagStore     `json:"-"` // required if Hashtags is set
	FetchPublic  Fetch            `json:"-"` // downloads media; must be safe for any URL
	HTTP         *http.Client     `json:"-"` // default: a client with limits; its redirect policy and cookie jar are ignored
	Timeout      time.Duration    `json:"-"` // per response; default 30 s
	Now          func() time.Time `json:"-"` // default: time.Now
	Log          *slog.Logger     `json:"-"` // default: discard
}

// Account is one of the operator's professional accounts.
type Account struct {
	// ID is the account's numeric Instagram ID. It is neither the account's name nor the ID of its Page.
	ID string `json:"id"`
	// TokenEnv is the name of the environment variable that contains an access token. The token belongs to a person or
	// system user who may act for the account.
	TokenEnv string `json:"token_env"`

	Token string `json:"-"` // value of the environment variable
}

// Source reads from Instagram. It is safe for concurrent use.
type Source struct {
	opts     Options
	base     string // including the version
	http     *http.Client
	accounts *accountPool
	noViews  atomic.Bool // whether this version of the API has no view counts
}

var (
	accountIDPattern = regexp.MustCompile(`^[0-9]{1,40}$`)
	versionPattern   = regexp.MustCompile(`^v[0-9]{1,3}\.[0-9]{1,2}$`)
)

// New returns a Source. It returns an error if the options are invalid. It does not send a request.
func New(opts Options) (*Source, error) {
	opts = withDefaults(opts)
	switch {
	case !wire.IsBaseURL(opts.URL):
		return nil, errors.New("the URL of Instagram's API must be absolute with scheme http or https")
	case !versionPattern.MatchString(opts.Version):
		return nil, errors.New("the version of Instagram's API must have the form v25.0")
	case opts.Usage < 1 || opts.Usage > 100:
		return nil, errors.New("usage must be from 1 to 100 percent")
	case opts.Hashtags && opts.HashtagStore == nil:
		return nil, errors.New("hashtags need a store")
	case opts.FetchPublic == nil:
		return nil, errors.New("the provider needs a function to fetch files")
	}
	if err := checkAccounts(opts.Accounts); err != nil {
		return nil, err
	}
	return &Source{
		opts: opts, base: strings.TrimRight(opts.URL, "/") + "/" + opts.Version + "/", http: wire.NewClient(opts.HTTP,
			nil),
		accounts: newAccountPool(opts.Accounts),
	}, nil
}

func withDefaults(opts Options) Options {
	if opts.URL == "" {
		opts.URL = defaultURL
	}
	if opts.Version == "" {
		opts.Version = defaultVersion
	}
	if opts.Usage == 0 {
		opts.Usage = defaultUsage
	}
	if opts.Timeout <= 0 {
		opts.Timeout = defaultTimeout
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	return opts
}

func checkAccounts(accounts []Account) error {
	if len(accounts) == 0 {
		return errors.New("no Instagram account is configured")
	}
	seen := map[string]bool{}
	for i, a := range accounts {
		switch {
		case !accountIDPattern.MatchString(a.ID):
			return fmt.Errorf("account %d: the id must be a number", i+1)
		case seen[a.ID]:
			return fmt.Errorf("account %s is configured twice", a.ID)
		case a.Token == "":
			return fmt.Errorf("account %s has no token", a.ID)
		}
		seen[a.ID] = true
	}
	return nil
}

func (s *Source) now() time.Time { return s.opts.Now().UTC() }
