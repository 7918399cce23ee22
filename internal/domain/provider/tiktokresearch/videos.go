package tiktokresearch

import (
	"context"
	"encoding/json"
	"math"
	"strconv"
	"time"

	"pressroom.example/pressroom/internal/domain/provider"
	"pressroom.example/pressroom/internal/domain/provider/wire"
)

const (
	videoFields = "id,video_description,create_time,share_count,view_count,like_count,comment_count,hashtag_names,video_duration"
	pageSize    = 100            // per request
	windowDays  = 30             // maximum number of days in a query
	maxWindows  = 24             // per profile; the daily quota is a thousand queries
	maxPages    = 50             // per window
	day         = 24 * time.Hour // TikTok's dates are in UTC
	dateFormat  = "20060102"     // date format of queries
)

// fetchVideos returns up to q.PostLimit videos that a profile published since q.Since, newest first. videoCount is the
// profile's number of videos, if known. TikTok returns the videos of a window unordered, so each window is read
// completely. It reads earlier and earlier windows until it has enough videos or the profile has no more.
func (s *Source) fetchVideos(ctx context.Context, q provider.ProfileQuery, videoCount *int64) ([]provider.Post, error) {
	if q.PostLimit <= 0 {
		return nil, nil
	}
	all := wire.Posts{Since: q.Since, Limit: math.MaxInt}
	last := s.now().Truncate(day)
	for range maxWindows {
		first := last.Add(-(windowDays - 1) * day)
		if since := q.Since.UTC().Truncate(day); first.Before(since) {
			first = since
		}
		if first.After(last) {
			break
		}
		if err := s.fetchWindow(ctx, q.Username, first, last, &all); err != nil {
			return nil, err
		}
		if count := len(all.All()); count >= q.PostLimit || videoCount != nil && int64(count) >= *videoCount {
			break
		}
		last = first.Add(-day)
	}
	posts := all.NewestFirst()
	return posts[:min(q.PostLimit, len(posts))], nil
}

// fetchWindow reads all videos of a profile between two days, inclusive.
func (s *Source) fetchWindow(ctx context.Context, username string, first, last time.Time, posts *wire.Posts) error {
	query := map[string]any{
		"query": map[string]any{"and": []any{map[string]any{"operation": "EQ", "field_name": "username",
			"field_values": []string{username}}}},
		"start_date": first.Format(dateFormat), "end_date": last.Format(dateFormat), "max_count": pageSize,
	}
	for range maxPages {
		var parsed struct {
			Videos []json.RawMessage `json:"videos"`
			Cursor wire.Count        `json:"cursor"`
			Search string            `json:"search_id"`
			More   bool              `json:"has_more"`
		}
		if err := s.post(ctx, "/v2/research/video/query/", videoFields, query, &parsed); err != nil {
			return err
		}
		posts.Add(s.readVideos(parsed.Videos, username))
		if !parsed.More {
			return nil
		}
		cursor := parsed.Cursor.Value()
		if cursor == nil || parsed.Search == "" || !wire.IsCursor(parsed.Search) {
			return wire.Unavailable("TikTok returned an invalid cursor")
		}
		query["cursor"], query["search_id"] = *cursor, parsed.Search
	}
	return wire.Unavailable("TikTok returned too many pages of videos")
}

// video is a video in TikTok's API.
type video struct {
	ID       json.RawMessage `json:"id"` // a 19-digit number
	Caption  string          `json:"video_description"`
	Created  wire.Count      `json:"create_time"` // seconds since 1970
	Likes    wire.Count      `json:"like_count"`
	Comments wire.Count      `json:"comment_count"`
	Shares   wire.Count      `json:"share_count"`
	Views    wire.Count      `json:"view_count"`
	Hashtags []string        `json:"hashtag_names"`
	Seconds  float64         `json:"video_duration"`
}

// readVideos decodes videos. It skips invalid videos.
func (s *Source) readVideos(raw []json.RawMessage, username string) []provider.Post {
	now := s.now()
	var posts []provider.Post
	for _, text := range raw {
		if p, ok := readVideo(text, username, now); ok {
			posts = append(posts, p)
		}
	}
	return posts
}

func readVideo(text json.RawMessage, username string, now time.Time) (provider.Post, bool) {
	var parsed video
	if !wire.Decode(text, &parsed) {
		return provider.Post{}, false
	}
	id, ok := readID(parsed.ID)
	if !ok {
		return provider.Post{}, false
	}
	post := provider.Post{
		ID: id, Caption: wire.Text(parsed.Caption, wire.MaxText), URL: provider.ProfileURL(provider.TikTok, username) +
			"/video/" + id, Hashtags: wire.Hashtags(parsed.Hashtags),
		Likes: parsed.Likes.Value(), Comments: parsed.Comments.Value(), Shares: parsed.Shares.Value(),
		Views: parsed.Views.Value(), Duration: wire.VideoDuration(parsed.Seconds),
	}
	if at := parsed.Created.Value(); at != nil {
		post.TakenAt = wire.PlausibleTime(time.Unix(*at, 0), now)
	}
	if post.Duration > 0 {
		post.Format = provider.FormatVideo // A video without a duration may be a photo post.
	}
	return post, true
}

// readID returns an ID from a JSON number or string. It reports false if the value is not a positive integer.
func readID(text json.RawMessage) (string, bool) {
	var idText string
	if json.Unmarshal(text, &idText) != nil {
		idText = string(text)
	}
	id, err := strconv.ParseInt(idText, 10, 64)
	return strconv.FormatInt(id, 10), err == nil && id > 0
}
