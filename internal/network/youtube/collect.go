package youtube

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/network"
)

const (
	defaultAnalytics = "https://youtubeanalytics.googleapis.com"
	reportVersion    = "v2"
	reportScope      = "https://www.googleapis.com/auth/yt-analytics.readonly"
	maxBatch         = 50 // videos per request
)

var (
	_ network.PartialLister = (*Network)(nil)
	_ network.HiddenLister  = (*Network)(nil)
)

// ListsPartially marks the network as a network.PartialLister. The list omits private videos, and the text of a video
// without a description is its title.
func (*Network) ListsPartially() {}

// Collect returns the channel's uploads that others can see, with their public metrics. The number of shares comes from
// the Analytics API, with a delay of two or three days. Without the scope for that API, it is omitted.
func (n *Network) Collect(ctx context.Context, g network.Grant, since time.Time, limit int) (network.Collection, error) {
	channel, err := n.channelInfo(ctx, g, "contentDetails,snippet,statistics")
	if err != nil {
		return network.Collection{}, network.DowngradeForbidden(err)
	}
	posts, err := n.listPosts(ctx, g, channel.uploads, since, limit, countedVideo.isVisible)
	collected := network.Collection{Followers: channel.followers, Picture: channel.picture,
		Posts: network.Newest(posts, since, limit)}
	if err != nil {
		return collected, network.DowngradeForbidden(err)
	}
	if err := n.addShares(ctx, g, collected.Posts); err != nil && !network.IsWithheld(err) {
		return collected, err
	}
	return collected, nil
}

// ListHidden returns the channel's private videos, such as videos that YouTube locks because the app has not passed its
// audit.
func (n *Network) ListHidden(ctx context.Context, g network.Grant, since time.Time, limit int) ([]network.CollectedPost, error) {
	channel, err := n.channelInfo(ctx, g, "contentDetails")
	if err != nil {
		return nil, network.DowngradeForbidden(err)
	}
	isPrivate := func(c countedVideo) bool {
		return c.Status.Privacy == privacyPrivate && c.Status.Upload != statusDeleted
	}
	posts, err := n.listPosts(ctx, g, channel.uploads, since, limit, isPrivate)
	return posts, network.DowngradeForbidden(err)
}

// listPosts returns the channel's videos since a time, filtered by include.
func (n *Network) listPosts(
	ctx context.Context, g network.Grant, list string, since time.Time, limit int, include func(countedVideo) bool,
) ([]network.CollectedPost, error) {
	ids, err := n.listNewestIDs(ctx, g, list, since, limit)
	if err != nil {
		return nil, err
	}
	var posts []network.CollectedPost
	for batch := range slices.Chunk(ids, maxBatch) {
		batchPosts, err := n.collectedPosts(ctx, g, batch, include)
		if err != nil {
			return posts, err
		}
		posts = append(posts, batchPosts...)
	}
	return posts, nil
}

// channel has a channel's follower count, picture and playlist of uploads.
type channel struct {
	followers *int64 // rounded to three digits; nil if the channel hides them
	picture   string // URL
	uploads   string // ID of the playlist of all uploads
}

// channelInfo returns the connected channel. parts lists the parts of the resource to request and must include
// contentDetails. Followers need statistics, and the picture needs snippet.
func (n *Network) channelInfo(ctx context.Context, g network.Grant, parts string) (channel, error) {
	var response struct {
		Items []struct {
			Snippet struct {
				Thumbnails struct {
					Medium struct {
						URL string `json:"url"`
					} `json:"medium"`
				} `json:"thumbnails"`
			} `json:"snippet"`
			Statistics struct {
				Subscribers *int64 `json:"subscriberCount,string"`
				Hidden      bool   `json:"hiddenSubscriberCount"`
			} `json:"statistics"`
			ContentDetails struct {
				Related struct {
					Uploads string `json:"uploads"`
				} `json:"relatedPlaylists"`
			} `json:"contentDetails"`
		} `json:"items"`
	}
	err := n.read(ctx, g, "channels", url.Values{"part": {parts}, "id": {g.Account}}, &response)
	if err != nil {
		return channel{}, err
	}
	if len(response.Items) != 1 || !channelID.MatchString(response.Items[0].ContentDetails.Related.Uploads) {
		return channel{}, network.InvalidResponse(errors.New("reading the channel: the response has no playlist of uploads"))
	}
	item := response.Items[0]
	info := channel{
		followers: network.NonNegative(item.Statistics.Subscribers), uploads: item.ContentDetails.Related.Uploads,
		picture: network.WebURL(item.Snippet.Thumbnails.Medium.URL),
	}
	if item.Statistics.Hidden {
		info.followers = nil
	}
	return info, nil
}

// listNewestIDs returns the IDs of the videos uploaded since a time, at most limit.
func (n *Network) listNewestIDs(
	ctx context.Context, g network.Grant, list string, since time.Time, limit int,
) ([]string, error) {
	var ids []string
	next := ""
	for len(ids) < limit {
		var page struct {
			Items []upload `json:"items"`
			Next  string   `json:"nextPageToken"`
		}
		query := url.Values{"part": {"snippet"}, "playlistId": {list}, "maxResults": {pageSize}}
		if next != "" {
			query.Set("pageToken", next)
		}
		err := n.read(ctx, g, "playlistItems", query, &page)
		if netErr, ok := errors.AsType[*network.Error](err); ok && netErr.Code == codeNoUploads {
			return ids, nil
		}
		if err != nil {
			return nil, err
		}
		isOlder := false
		for _, u := range page.Items {
			at, err := time.Parse(time.RFC3339, u.Snippet.PublishedAt)
			isOlder = err == nil && at.Before(since)
			if id := u.Snippet.Resource.VideoID; !isOlder && videoID.MatchString(id) && len(ids) < limit {
				ids = append(ids, id)
			}
		}
		if isOlder || page.Next == "" || page.Next == next {
			break
		}
		next = page.Next
	}
	return ids, nil
}

// countedVideo is a video with its metrics. A channel may hide some of its metrics.
type countedVideo struct {
	ID      string `json:"id"`
	Snippet struct {
		PublishedAt string `json:"publishedAt"`
		Title       string `json:"title"`
		Description string `json:"description"`
	} `json:"snippet"`
	Status     videoStatus `json:"status"`
	Statistics struct {
		Views    *int64 `json:"viewCount,string"`
		Likes    *int64 `json:"likeCount,string"`
		Comments *int64 `json:"commentCount,string"`
	} `json:"statistics"`
}

// isVisible reports whether people other than the channel's owner can see the video.
func (c countedVideo) isVisible() bool {
	return c.Status.Privacy != privacyPrivate &&
		!slices.Contains([]string{statusDeleted, statusFailed, statusRejected}, c.Status.Upload)
}

// collectedPosts returns the videos with these IDs and their metrics, filtered by include. YouTube does not report
// which videos are Shorts.
func (n *Network) collectedPosts(
	ctx context.Context, g network.Grant, ids []string, include func(countedVideo) bool,
) ([]network.CollectedPost, error) {
	var response struct {
		Items []countedVideo `json:"items"`
	}
	query := url.Values{"part": {"snippet,statistics,status"}, "id": {strings.Join(ids, ",")}}
	if err := n.read(ctx, g, "videos", query, &response); err != nil {
		return nil, err
	}
	var posts []network.CollectedPost
	for _, c := range response.Items {
		at, err := time.Parse(time.RFC3339, c.Snippet.PublishedAt)
		if err != nil || !videoID.MatchString(c.ID) || !include(c) {
			continue
		}
		posts = append(posts, network.CollectedPost{
			ID: c.ID, URL: n.watchURL(c.ID), Text: cmp.Or(strings.TrimSpace(c.Snippet.Description), c.Snippet.Title),
			Format: network.FormatVideo, PostedAt: at.UTC(),
			Views: network.NonNegative(c.Statistics.Views), Likes: network.NonNegative(c.Statistics.Likes),
			Comments: network.NonNegative(c.Statistics.Comments),
		})
	}
	return posts, nil
}

// addShares adds the number of shares of videos. The report starts a day before the first video, because YouTube's days
// are not in UTC. Source: https://developers.google.com/youtube/analytics/reference/reports/query.
func (n *Network) addShares(ctx context.Context, g network.Grant, posts []network.CollectedPost) error {
	if !slices.Contains(g.Scopes, reportScope) {
		return nil
	}
	for batch := range slices.Chunk(posts, maxBatch) {
		if err := n.addShareBatch(ctx, g, batch); err != nil {
			return err
		}
	}
	return nil
}

// reportCall returns a call to the Analytics API. That API has a separate host, except for channels connected through a
// non-default APIHost.
func (n *Network) reportCall(g network.Grant) network.Call {
	if g.Server == defaultAPI {
		g.Server = n.opts.AnalyticsHost
	}
	return g.Call(http.MethodGet, reportVersion, "reports")
}

func (n *Network) addShareBatch(ctx context.Context, g network.Grant, posts []network.CollectedPost) error {
	ids := make([]string, len(posts))
	first := n.opts.Now()
	for i, p := range posts {
		ids[i] = p.ID
		if p.PostedAt.Before(first) {
			first = p.PostedAt
		}
	}
	c := n.reportCall(g)
	c.Query = url.Values{
		"ids": {"channel==MINE"}, "startDate": {first.AddDate(0, 0, -1).UTC().Format(time.DateOnly)},
		"endDate": {n.opts.Now().UTC().Format(time.DateOnly)}, "metrics": {"shares"},
		"dimensions": {"video"}, "filters": {"video==" + strings.Join(ids, ",")}, "sort": {"-shares"},
		"maxResults": {strconv.Itoa(maxBatch)},
	}
	var table struct {
		Rows [][]json.RawMessage `json:"rows"`
	}
	if err := n.client.Read(ctx, c, &table, n.rejection, http.StatusOK); err != nil {
		return err
	}
	for _, row := range table.Rows {
		var id string
		var shares int64
		if len(row) != 2 || json.Unmarshal(row[0], &id) != nil || json.Unmarshal(row[1], &shares) != nil {
			continue
		}
		if i := slices.Index(ids, id); i >= 0 {
			posts[i].Shares = network.NonNegative(&shares)
		}
	}
	return nil
}
