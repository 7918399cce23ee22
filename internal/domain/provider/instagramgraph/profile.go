package instagramgraph

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/domain/provider"
	"pressroom.example/pressroom/internal/domain/provider/wire"
)

const (
	pageSize = 50  // posts per request
	maxPages = 100 // per profile or hashtag
)

const (
	profileFields = "id,username,name,biography,website,profile_picture_url,followers_count,follows_count,media_count"
	postFields    = "id,caption,media_type,media_product_type,permalink,timestamp,like_count,comments_count"
	viewsField    = ",view_count"
)

// namePattern matches names that are safe to insert into a query.
var namePattern = regexp.MustCompile(`^[a-z0-9._]{1,30}$`)

// Profile returns the public metrics of a professional account. Its errors are provider.ErrNotFound,
// provider.ErrNotOffered and *provider.UnavailableError. Personal accounts also result in provider.ErrNotFound, because
// Instagram does not distinguish them from missing accounts.
func (s *Source) Profile(ctx context.Context, q provider.ProfileQuery) (provider.ProfileMetrics, error) {
	if q.Platform != provider.Instagram {
		return provider.ProfileMetrics{}, provider.ErrNotOffered
	}
	if !namePattern.MatchString(q.Username) {
		return provider.ProfileMetrics{}, provider.ErrNotFound
	}
	var metrics provider.ProfileMetrics
	err := s.tryAccounts(ctx, func(acct *accountState) error {
		var err error
		metrics, err = s.profile(ctx, acct, q)
		return err
	})
	return metrics, err
}

// profile reads a profile page by page, with the token of acct.
func (s *Source) profile(ctx context.Context, acct *accountState, q provider.ProfileQuery) (provider.ProfileMetrics, error) {
	posts := wire.Posts{Since: q.Since, Limit: q.PostLimit}
	cursor := ""
	var metrics provider.ProfileMetrics
	for page := range maxPages {
		parsed, err := s.discover(ctx, acct, q.Username, func() []string {
			return s.profileQueryFields(page == 0,
				q.PostLimit, cursor)
		})
		if err != nil {
			return provider.ProfileMetrics{}, err
		}
		now := s.now()
		if page == 0 {
			metrics.Account = parsed.account(q.Username, now)
		}
		if cursor, err = parsed.Media.nextCursor(); err != nil {
			return provider.ProfileMetrics{}, err
		}
		if !posts.Add(parsed.Media.posts(now)) || cursor == "" {
			break
		}
	}
	metrics.Posts = posts.NewestFirst()
	return metrics, nil
}

// profileQueryFields returns the fields to request for a page. Only the first page has the profile's fields. Every page
// has the posts after the cursor.
func (s *Source) profileQueryFields(isFirst bool, limit int, cursor string) []string {
	var fields []string
	if isFirst {
		fields = []string{profileFields}
	}
	if limit <= 0 {
		return fields
	}
	requestedFields := postFields
	if !s.noViews.Load() {
		requestedFields += viewsField
	}
	return append(fields, mediaExpression(min(limit, pageSize), cursor, requestedFields))
}

// mediaExpression returns the field expression that requests up to limit posts after a cursor.
func mediaExpression(limit int, cursor, fields string) string {
	after := ""
	if cursor != "" {
		after = ".after(" + cursor + ")"
	}
	return fmt.Sprintf("media.limit(%d)%s{%s}", limit, after, fields)
}

// businessAccount is a professional account, as returned by business discovery.
type businessAccount struct {
	ID        string     `json:"id"`
	Name      string     `json:"name"`
	Biography string     `json:"biography"`
	Website   string     `json:"website"`
	Picture   string     `json:"profile_picture_url"`
	Followers wire.Count `json:"followers_count"`
	Follows   wire.Count `json:"follows_count"`
	Posts     wire.Count `json:"media_count"`
	Media     mediaList  `json:"media"`
}

func (b businessAccount) account(username string, now time.Time) provider.Account {
	return provider.Account{
		Username: username, DisplayName: wire.SingleLine(b.Name), Biography: wire.Text(b.Biography, wire.MaxText),
		Website:   wire.URL(b.Website),
		Followers: b.Followers.Value(), Follows: b.Follows.Value(), Posts: b.Posts.Value(), MeasuredAt: now,
	}
}

// discover requests fields of a profile. If this version of the API has no view counts, it repeats the request without
// them, and later requests omit them.
func (s *Source) discover(ctx context.Context, acct *accountState, username string,
	fields func() []string) (businessAccount, error) {
	request := func() (businessAccount, error) {
		var parsed struct {
			Discovered *businessAccount `json:"business_discovery"`
		}
		params := url.Values{"fields": {"business_discovery.username(" + username + "){" + strings.Join(fields(), ",") +
			"}"}}
		if err := s.get(ctx, acct, acct.id, params, &parsed); err != nil {
			return businessAccount{}, err
		}
		if parsed.Discovered == nil {
			return businessAccount{}, errInvalidResponse
		}
		return *parsed.Discovered, nil
	}
	parsed, err := request()
	if apiErr, ok := errors.AsType[*apiError](err); ok && apiErr.kind == kindNoViews {
		s.noViews.Store(true)
		return request()
	}
	return parsed, err
}
