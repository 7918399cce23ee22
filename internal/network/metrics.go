package network

import (
	"errors"
	"net/http"
	"slices"
	"time"
)

// Values of CollectedPost.Format.
const (
	FormatText     = "text"
	FormatImage    = "image"
	FormatVideo    = "video"
	FormatReel     = "reel"
	FormatCarousel = "carousel" // several images or videos
	FormatStory    = "story"
	FormatLink     = "link"
)

// Newest returns at most limit posts that were published since the given time, newest first and without duplicates.
func Newest(posts []CollectedPost, since time.Time, limit int) []CollectedPost {
	seen := map[string]bool{}
	posts = slices.DeleteFunc(posts, func(p CollectedPost) bool {
		isDuplicate := seen[p.ID]
		seen[p.ID] = true
		return isDuplicate || p.PostedAt.Before(since)
	})
	slices.SortStableFunc(posts, func(a, b CollectedPost) int { return b.PostedAt.Compare(a.PostedAt) })
	return posts[:min(len(posts), max(limit, 0))]
}

// NonNegative returns the metric, or nil if it is below 0. Some networks return -1 for an unknown metric.
func NonNegative(metric *int64) *int64 {
	if metric == nil || *metric < 0 {
		return nil
	}
	return metric
}

// Sum returns the sum of the known metrics, or nil if none is known.
func Sum(metrics ...*int64) *int64 {
	var sum *int64
	for _, metric := range metrics {
		if metric = NonNegative(metric); metric == nil {
			continue
		}
		if sum == nil {
			sum = new(int64)
		}
		*sum += *metric
	}
	return sum
}

// IsWithheld reports whether err means that the network does not provide the requested metrics at all: it removed the
// metrics, or the app or account lacks access. Requests for other metrics can still succeed.
func IsWithheld(err error) bool {
	netErr, ok := errors.AsType[*Error](err)
	if !ok || netErr.Status == 0 {
		return false
	}
	return netErr.Class == Rejected || netErr.Class == AppNotApproved ||
		netErr.Class == ReconnectRequired && netErr.Status == http.StatusForbidden
}

// DowngradeForbidden changes the class of an error from listing an account's posts. If only listing is forbidden, it
// changes ReconnectRequired to AppNotApproved, because the account can still publish and does not have to be
// reconnected.
func DowngradeForbidden(err error) error {
	netErr, ok := errors.AsType[*Error](err)
	if !ok || netErr.Class != ReconnectRequired || netErr.Status != http.StatusForbidden {
		return err
	}
	newErr := *netErr
	newErr.Class = AppNotApproved
	return &newErr
}

// SupportedMetrics requests several metrics at once and returns the names that the network supports. If the network
// rejects the request, SupportedMetrics requests each metric separately. It returns only errors that do not concern a
// single metric.
func SupportedMetrics(names []string, request func(names []string) error) ([]string, error) {
	err := request(names)
	if netErr, ok := errors.AsType[*Error](err); !ok || netErr.Class != Rejected {
		return names, err
	}
	var supported []string
	for _, name := range names {
		switch err := request([]string{name}); {
		case err == nil:
			supported = append(supported, name)
		case !IsWithheld(err):
			return nil, err
		}
	}
	return supported, nil
}
