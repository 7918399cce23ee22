// Package instagramgraph asks Instagram itself, by its API with Facebook Login: the public figures and media of
// professional accounts (business discovery), and what stands under hashtags. It acts by accounts of the operator's own.
// Nothing that comes back is trusted.
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

	"pressroom/internal/domain/provider/wire"
)

const (
	defaultURL     = "https://graph.facebook.com"
	defaultVersion = "v25.0"
	defaultUsage   = 75 // percent
	answerWithin   = 30 * time.Second
	maxAnswer      = 4 << 20 // bytes
)

// Fetch writes the file at an address to into, or fails; more than most bytes are never written.
type Fetch func(ctx context.Context, address string, most int64, into io.Writer) error

// Options say by which accounts Instagram is asked, and how.
type Options struct {
	// Accounts are professional accounts on Instagram of the operator's own.
	Accounts []Account `json:"accounts"`
	// Hashtags tells that the app has Meta's feature Instagram Public Content Access, so that hashtags can be asked for.
	Hashtags bool `json:"hashtags"`
	// URL is the API's base address; Meta's own where empty.
	URL string `json:"url"`
	// Version is the API's, such as v25.0, which it is where empty.
	Version string `json:"version"`
	// Usage is the share of Meta's limits, in percent, from which an account rests; 75 where 0.
	Usage int `json:"usage"`

	Shelf   Shelf            `json:"-"` // what is kept of hashtags; needed where Hashtags is set
	Public  Fetch            `json:"-"` // gets the media's files; has to be safe with any address
	HTTP    *http.Client     `json:"-"` // one with bounds of its own where nil; its redirects and cookies are not used
	Timeout time.Duration    `json:"-"` // for a whole answer; 30 s where 0
	Now     func() time.Time `json:"-"` // time.Now where nil
	Log     *slog.Logger     `json:"-"` // nowhere where nil
}

// Account is a professional account of the operator's own.
type Account struct {
	// ID is the account's id at Instagram, a number: not its name, and not the id of the Page that it belongs to.
	ID string `json:"id"`
	// TokenEnv names the variable of the environment in which the token is, of a person or system user who may act for the
	// account.
	TokenEnv string `json:"token_env"`

	Token string `json:"-"` // what TokenEnv holds
}

// Source asks Instagram. It is safe for use by many goroutines.
type Source struct {
	opts     Options
	base     string // with the version
	http     *http.Client
	accounts *accounts
	viewless atomic.Bool // the API's version does not know views
}

var (
	accountForm = regexp.MustCompile(`^[0-9]{1,40}$`)
	versionForm = regexp.MustCompile(`^v[0-9]{1,3}\.[0-9]{1,2}$`)
)

// New makes a source. Instagram is not asked yet; settings that cannot be used are an error.
func New(opts Options) (*Source, error) {
	opts = complete(opts)
	switch {
	case !wire.Base(opts.URL):
		return nil, errors.New("the address of Instagram's API is not an absolute one of http or https")
	case !versionForm.MatchString(opts.Version):
		return nil, errors.New("the version of Instagram's API is not of the form v25.0")
	case opts.Usage < 1 || opts.Usage > 100:
		return nil, errors.New("the share of Meta's limits is not one from 1 to 100 percent")
	case opts.Hashtags && opts.Shelf == nil:
		return nil, errors.New("hashtags need a shelf")
	case opts.Public == nil:
		return nil, errors.New("the source needs a way to fetch files")
	}
	if err := checkAccounts(opts.Accounts); err != nil {
		return nil, err
	}
	return &Source{
		opts: opts, base: strings.TrimRight(opts.URL, "/") + "/" + opts.Version + "/", http: wire.Client(opts.HTTP, nil),
		accounts: newAccounts(opts.Accounts),
	}, nil
}

func complete(opts Options) Options {
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
		opts.Timeout = answerWithin
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	return opts
}

func checkAccounts(all []Account) error {
	if len(all) == 0 {
		return errors.New("there is no account by which Instagram could be asked")
	}
	seen := map[string]bool{}
	for i, a := range all {
		switch {
		case !accountForm.MatchString(a.ID):
			return fmt.Errorf("account %d: its id is not a number", i+1)
		case seen[a.ID]:
			return fmt.Errorf("account %s is there twice", a.ID)
		case a.Token == "":
			return fmt.Errorf("account %s has no token", a.ID)
		}
		seen[a.ID] = true
	}
	return nil
}

func (s *Source) now() time.Time { return s.opts.Now().UTC() }
