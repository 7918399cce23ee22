package instagramgraph

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"time"

	"pressroom/internal/domain/provider"
	"pressroom/internal/domain/provider/wire"
)

const (
	postsEach = 50  // asked for at once
	maxPages  = 100 // of one profile or hashtag
)

const (
	ofProfile = "id,username,name,biography,website,profile_picture_url,followers_count,follows_count,media_count"
	ofPost    = "id,caption,media_type,media_product_type,permalink,timestamp,like_count,comments_count"
	ofViews   = ",view_count"
)

// nameForm keeps a name from changing the question that it stands in.
var nameForm = regexp.MustCompile(`^[a-z0-9._]{1,30}$`)

// Profile tells the public figures of a professional account. Errors are provider.ErrNotFound, also where the account is
// a personal one, which Instagram does not tell apart, provider.ErrNotOffered and *provider.Unavailable.
func (s *Source) Profile(ctx context.Context, q provider.ProfileQuery) (provider.ProfileFigures, error) {
	if q.Platform != provider.Instagram {
		return provider.ProfileFigures{}, provider.ErrNotOffered
	}
	if !nameForm.MatchString(q.Username) {
		return provider.ProfileFigures{}, provider.ErrNotFound
	}
	var figures provider.ProfileFigures
	err := s.each(ctx, func(one *account) error {
		var err error
		figures, err = s.profile(ctx, one, q)
		return err
	})
	return figures, err
}

// profile asks by one account for all that is wanted, page by page.
func (s *Source) profile(ctx context.Context, one *account, q provider.ProfileQuery) (provider.ProfileFigures, error) {
	posts := wire.Posts{Since: q.Since, Most: q.Most}
	cursor := ""
	var figures provider.ProfileFigures
	for page := range maxPages {
		said, err := s.discover(ctx, one, q.Username, func() []string { return s.wanted(page == 0, q.Most, cursor) })
		if err != nil {
			return provider.ProfileFigures{}, err
		}
		now := s.now()
		if page == 0 {
			figures.Account = said.account(q.Username, now)
		}
		if cursor, err = said.Media.after(); err != nil {
			return provider.ProfileFigures{}, err
		}
		if !posts.Add(said.Media.posts(now)) || cursor == "" {
			break
		}
	}
	figures.Posts = posts.Newest()
	return figures, nil
}

// wanted are the fields that are asked for: on the first page those of the profile, and the posts after a cursor.
func (s *Source) wanted(first bool, most int, cursor string) []string {
	var fields []string
	if first {
		fields = []string{ofProfile}
	}
	if most <= 0 {
		return fields
	}
	ofPosts := ofPost
	if !s.viewless.Load() {
		ofPosts += ofViews
	}
	return append(fields, expression(min(most, postsEach), cursor, ofPosts))
}

// expression is the field of a profile's posts after a cursor, at most so many.
func expression(limit int, cursor, fields string) string {
	after := ""
	if cursor != "" {
		after = ".after(" + cursor + ")"
	}
	return fmt.Sprintf("media.limit(%d)%s{%s}", limit, after, fields)
}

// discovered is what business discovery tells of an account.
type discovered struct {
	ID        string     `json:"id"`
	Name      string     `json:"name"`
	Biography string     `json:"biography"`
	Website   string     `json:"website"`
	Picture   string     `json:"profile_picture_url"`
	Followers wire.Count `json:"followers_count"`
	Follows   wire.Count `json:"follows_count"`
	Posts     wire.Count `json:"media_count"`
	Media     list       `json:"media"`
}

func (d discovered) account(username string, now time.Time) provider.Account {
	return provider.Account{
		Username: username, DisplayName: wire.Name(d.Name), Biography: wire.Text(d.Biography, wire.MaxText), Website: wire.Address(d.Website),
		Followers: d.Followers.Told(), Follows: d.Follows.Told(), Posts: d.Posts.Told(), MeasuredAt: now,
	}
}

// discover asks for fields of a profile. A version of the API that has no views is asked again
// without them, and from then on.
func (s *Source) discover(ctx context.Context, one *account, username string, fields func() []string) (discovered, error) {
	ask := func() (discovered, error) {
		var said struct {
			Discovered *discovered `json:"business_discovery"`
		}
		params := url.Values{"fields": {"business_discovery.username(" + username + "){" + strings.Join(fields(), ",") + "}"}}
		if err := s.get(ctx, one, one.id, params, &said); err != nil {
			return discovered{}, err
		}
		if said.Discovered == nil {
			return discovered{}, errNoAnswer
		}
		return *said.Discovered, nil
	}
	said, err := ask()
	if f, ok := errors.AsType[*failure](err); ok && f.kind == noViews {
		s.viewless.Store(true)
		return ask()
	}
	return said, err
}
