package youtube

import (
	"cmp"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/sandbox/insights"
	"pressroom.example/pressroom/internal/sandbox/store"
)

// scopeAnalytics is the scope for using the Analytics API.
const scopeAnalytics = "https://www.googleapis.com/auth/yt-analytics.readonly"

// maxReportVideos is the maximum number of videos in a report.
const maxReportVideos = 500

// channelStatistics returns a channel's metrics in the format of the Data API.
func (n *Network) channelStatistics(a store.Account, videos []store.Post) map[string]any {
	var views int64
	for _, p := range videos {
		views += insights.Count(p, n.Now()).Views
	}
	return map[string]any{
		"viewCount": strconv.FormatInt(views, 10), "videoCount": strconv.Itoa(len(videos)),
		"hiddenSubscriberCount": false,
		"subscriberCount":       strconv.FormatInt(roundSubscribers(insights.Followers(Name, a.ID, n.Now())), 10),
	}
}

// roundSubscribers rounds a number down to three significant digits, as YouTube does.
func roundSubscribers(number int64) int64 {
	unit := int64(1)
	for number/unit >= 1000 {
		unit *= 10
	}
	return number / unit * unit
}

// statistics returns a video's metrics in the format of the Data API.
func (n *Network) statistics(p store.Post) map[string]string {
	counts := insights.Count(p, n.Now())
	return map[string]string{
		"viewCount": strconv.FormatInt(counts.Views, 10), "likeCount": strconv.FormatInt(counts.Likes, 10),
		"commentCount": strconv.FormatInt(counts.Comments, 10), "favoriteCount": "0",
	}
}

// report responds with a report of the Analytics API. It contains the number of shares of each requested video, in
// descending order.
func (n *Network) report(r *http.Request) (any, error) {
	ids, err := parseReport(r.URL.Query())
	if err != nil {
		return nil, err
	}
	shares := map[string]int64{}
	err = n.Store.InTx(r.Context(), func(t store.Tx) error {
		a, _, err := n.authenticate(r, t, scopeAnalytics)
		if err != nil {
			return err
		}
		for _, id := range ids {
			p, found, err := t.Post(r.Context(), Name, id)
			if err != nil {
				return err
			}
			if found && p.Account == a.ID {
				shares[id] = insights.Count(p, n.Now()).Shares
			}
		}
		return nil
	})
	rows := [][]any{}
	for _, id := range slices.SortedFunc(maps.Keys(shares), func(a, b string) int {
		return cmp.Or(cmp.Compare(shares[b], shares[a]), cmp.Compare(a, b))
	}) {
		rows = append(rows, []any{id, shares[id]})
	}
	return map[string]any{
		"kind": "youtubeAnalytics#resultTable",
		"columnHeaders": []map[string]string{
			{"name": "video", "columnType": "DIMENSION", "dataType": "STRING"},
			{"name": "shares", "columnType": "METRIC", "dataType": "INTEGER"},
		},
		"rows": rows,
	}, err
}

// parseReport returns the IDs of the videos in the requested report.
func parseReport(query url.Values) ([]string, error) {
	_, startErr := time.Parse(time.DateOnly, query.Get("startDate"))
	_, endErr := time.Parse(time.DateOnly, query.Get("endDate"))
	if startErr != nil || endErr != nil || query.Get("endDate") < query.Get("startDate") {
		return nil, invalidRequest("invalidParameter",
			"startDate and endDate must be dates, and startDate must not be after endDate.")
	}
	list, hasVideos := strings.CutPrefix(query.Get("filters"), "video==")
	ids := strings.Split(list, ",")
	supported := query.Get("ids") == "channel==MINE" && query.Get("metrics") == "shares" &&
		query.Get("dimensions") == "video"
	if !supported || !hasVideos || len(ids) > maxReportVideos {
		return nil, invalidRequest("badRequest", "The query is not supported.")
	}
	return ids, nil
}
