package sandbox

import (
	"cmp"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// youtubeScopeFigures is the scope of the Analytics API.
const youtubeScopeFigures = "https://www.googleapis.com/auth/yt-analytics.readonly"

// mostReported is the maximum number of videos in a report.
const mostReported = 500

// channelStatistics returns a channel's counts. The network rounds its subscribers down to three digits.
func (n *youtube) channelStatistics(a account, videos []post) map[string]any {
	var views int64
	for _, p := range videos {
		views += count(p, n.now()).views
	}
	return map[string]any{
		"viewCount": strconv.FormatInt(views, 10), "videoCount": strconv.Itoa(len(videos)),
		"hiddenSubscriberCount": false,
		"subscriberCount":       strconv.FormatInt(youtubeRounded(followers(youtubeName, a.id, n.now())), 10),
	}
}

func youtubeRounded(number int64) int64 {
	unit := int64(1)
	for number/unit >= 1000 {
		unit *= 10
	}
	return number / unit * unit
}

// statistics returns a video's counts in the Data API's form.
func (n *youtube) statistics(p post) map[string]string {
	counts := count(p, n.now())
	return map[string]string{
		"viewCount": strconv.FormatInt(counts.views, 10), "likeCount": strconv.FormatInt(counts.likes, 10),
		"commentCount": strconv.FormatInt(counts.comments, 10), "favoriteCount": "0",
	}
}

// report is a report of the Analytics API: how often each of some videos was shared, in descending order.
func (n *youtube) report(r *http.Request) (any, error) {
	ids, err := readYouTubeReport(r.URL.Query())
	if err != nil {
		return nil, err
	}
	shared := map[string]int64{}
	err = n.store.in(r.Context(), func(t tx) error {
		a, _, err := n.bearer(r, t, youtubeScopeFigures)
		if err != nil {
			return err
		}
		for _, id := range ids {
			p, found, err := t.post(r.Context(), youtubeName, id)
			if err != nil {
				return err
			}
			if found && p.account == a.id {
				shared[id] = count(p, n.now()).shares
			}
		}
		return nil
	})
	rows := [][]any{}
	for _, id := range slices.SortedFunc(maps.Keys(shared), func(a, b string) int {
		return cmp.Or(cmp.Compare(shared[b], shared[a]), cmp.Compare(a, b))
	}) {
		rows = append(rows, []any{id, shared[id]})
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

// readYouTubeReport returns the videos of the requested report.
func readYouTubeReport(query url.Values) ([]string, error) {
	_, badStart := time.Parse(time.DateOnly, query.Get("startDate"))
	_, badEnd := time.Parse(time.DateOnly, query.Get("endDate"))
	if badStart != nil || badEnd != nil || query.Get("endDate") < query.Get("startDate") {
		return nil, youtubeInvalid("invalidParameter", "startDate and endDate have to be dates, in this order.")
	}
	list, ofVideos := strings.CutPrefix(query.Get("filters"), "video==")
	ids := strings.Split(list, ",")
	known := query.Get("ids") == "channel==MINE" && query.Get("metrics") == "shares" &&
		query.Get("dimensions") == "video"
	if !known || !ofVideos || len(ids) > mostReported {
		return nil, youtubeInvalid("badRequest", "The query is not supported.")
	}
	return ids, nil
}
