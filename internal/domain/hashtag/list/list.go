// Package list keeps a team's hashtag lists, and shows those that come with the program ready-made. A list holds
// hashtags in the order in which they were added, each once; their figures are those of package stats.
package list

import (
	"context"
	"time"

	"pressroom/internal/core/plan"
	"pressroom/internal/domain/hashtag/stats"
	"pressroom/internal/domain/provider"
	"pressroom/internal/platform/db"
)

// The scopes of a look at the lists.
const (
	scopeOwn    = "own"
	scopeSystem = "system"
	scopeAll    = "all"
)

// platforms are those that a list can be tied to.
var platforms = []string{provider.Instagram, provider.TikTok}

// firstTeamListID is the lowest id of a team's own list. Those below belong to the ready-made ones: each keeps its own on every
// installation, and new ones get the next, so that the highest id is always the newest of its kind.
const firstTeamListID = 1_000_000

// List is a hashtag list without its hashtags.
type List struct { //nolint:recvcheck // append changes it, all else only reads
	ID        int64
	TeamID    int64 // 0 of a ready-made one
	Name      string
	Platform  string // empty where it is tied to none
	Color     string // # and six hexadecimal digits in lower case; empty for none
	Icon      string // ri- and a name of the icon set; empty for none
	Size      int64  // hashtags
	CreatedAt time.Time

	lastPosition int64 // position that was given to a hashtag last
	revision     int64 // counts the changes of what it holds
}

func (l List) isReadyMade() bool { return l.ID < firstTeamListID }

// Item is a hashtag of a list.
type Item struct {
	Hashtag     string // as provider.Hashtag gives it
	Subcategory string
}

// Figures is what is known of hashtags, and who wants to know more. An empty platform stands for any.
type Figures interface {
	Enqueue(ctx context.Context, tx *db.Tx, platform string, tags []string) error
	EnqueueInBatches(ctx context.Context, platform string, tags []string) error
	Get(ctx context.Context, q db.Querier, platform string, tags []string) (map[string]stats.Figures, error)
	Version(ctx context.Context, q db.Querier, platform string) (int64, error)
}

// Options are what the service stands on.
type Options struct {
	DB      *db.DB
	Figures Figures
	Terms   plan.Terms
	// HasSource says that a source of hashtags' figures is joined, so that figures come in the background.
	HasSource bool
}

// Service does what the operations say.
type Service struct {
	Options

	db             *db.DB
	banned         banList
	readyMadeLists []readyMadeList // the highest id first
	cache          *listCache
}

// New makes the service. It is an error where the terms ban what is no hashtag.
func New(o Options) (*Service, error) {
	b, err := newBanned(o.Terms.BannedHashtags)
	if err != nil {
		return nil, err
	}
	made, err := loadReadyMade()
	if err != nil {
		return nil, err
	}
	return &Service{Options: o, db: o.DB, banned: b, readyMadeLists: made, cache: &listCache{lists: map[int64]cacheEntry{}}}, nil
}
