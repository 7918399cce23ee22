// Package list manages a team's hashtag lists and the ready-made lists of the service. A list holds distinct hashtags
// in the order they were added. The statistics of the hashtags come from package stats.
package list

import (
	"context"
	"time"

	"pressroom.example/pressroom/internal/core/plan"
	"pressroom.example/pressroom/internal/domain/hashtag/stats"
	"pressroom.example/pressroom/internal/domain/provider"
	"pressroom.example/pressroom/internal/platform/db"
)

// The values of ListInput.Scope.
const (
	scopeOwn    = "own"
	scopeSystem = "system"
	scopeAll    = "all"
)

// platforms lists the platforms that a list can be limited to.
var platforms = []string{provider.Instagram, provider.TikTok}

// firstTeamListID is the lowest ID of a team's list. Lower IDs belong to ready-made lists and are the same on every
// installation. In both ranges, newer lists have higher IDs.
const firstTeamListID = 1_000_000

// List is a hashtag list without its hashtags.
type List struct { //nolint:recvcheck // only append changes the list
	ID        int64
	TeamID    int64 // 0 for a ready-made list
	Name      string
	Platform  string // empty for all platforms
	Color     string // # and six lowercase hex digits, or empty
	Icon      string // name of a Remix Icon with the prefix ri-, or empty
	Size      int64  // number of hashtags
	CreatedAt time.Time

	lastPosition int64 // position of the last hashtag
	revision     int64 // incremented when its hashtags change
}

func (l List) isReadyMade() bool { return l.ID < firstTeamListID }

// Item is a hashtag in a list.
type Item struct {
	Hashtag     string // normalized by provider.ParseHashtag
	Subcategory string // label that groups hashtags within the list, or empty
}

// StatisticsStore reads hashtag statistics and requests their measurement. An empty platform means all platforms.
type StatisticsStore interface {
	Enqueue(ctx context.Context, tx *db.Tx, platform string, tags []string) error
	EnqueueInBatches(ctx context.Context, platform string, tags []string) error
	Get(ctx context.Context, q db.Querier, platform string, tags []string) (map[string]stats.Statistics, error)
	Version(ctx context.Context, q db.Querier, platform string) (int64, error)
}

// Options holds the dependencies of a Service.
type Options struct {
	DB         *db.DB
	Statistics StatisticsStore
	Catalog    plan.Catalog
	// HasProvider reports whether a provider of hashtag metrics is configured.
	HasProvider bool
}

// Service implements the operations on hashtag lists.
type Service struct {
	Options

	db             *db.DB
	banned         banList
	readyMadeLists []readyMadeList // by descending ID
	cache          *listCache
}

// New returns a Service. It returns an error if BannedHashtags in the plans file contains an invalid hashtag or
// platform.
func New(o Options) (*Service, error) {
	b, err := newBanList(o.Catalog.BannedHashtags)
	if err != nil {
		return nil, err
	}
	readyMade, err := loadReadyMade()
	if err != nil {
		return nil, err
	}
	return &Service{Options: o, db: o.DB, banned: b, readyMadeLists: readyMade,
		cache: &listCache{lists: map[int64]cacheEntry{}}}, nil
}
