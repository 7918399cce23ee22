package tiktokresearch

import (
	"context"
	"encoding/json"
	"math"
	"strconv"
	"time"

	"pressroom/internal/domain/provider"
	"pressroom/internal/domain/provider/wire"
)

const (
	ofVideo     = "id,video_description,create_time,share_count,view_count,like_count,comment_count,hashtag_names,video_duration"
	videosEach  = 100            // asked for at once
	windowDays  = 30             // that a query may cover
	mostWindows = 24             // looked through for one profile, of a thousand queries a day
	mostPages   = 50             // of one window
	day         = 24 * time.Hour // TikTok's dates are days in UTC
	dateForm    = "20060102"     // of a query
)

// videos are a profile's since a moment, the newest first, at most so many. TikTok gives those of a month in no order,
// so that a month is read whole; it is gone back month by month until there are enough, or as many as the profile is
// told to have.
func (s *Source) videos(ctx context.Context, q provider.ProfileQuery, told *int64) ([]provider.Post, error) {
	if q.Most <= 0 {
		return nil, nil
	}
	all := wire.Posts{Since: q.Since, Most: math.MaxInt}
	last := s.now().Truncate(day)
	for range mostWindows {
		first := last.Add(-(windowDays - 1) * day)
		if since := q.Since.UTC().Truncate(day); first.Before(since) {
			first = since
		}
		if first.After(last) {
			break
		}
		if err := s.window(ctx, q.Username, first, last, &all); err != nil {
			return nil, err
		}
		if found := len(all.Taken()); found >= q.Most || told != nil && int64(found) >= *told {
			break
		}
		last = first.Add(-day)
	}
	posts := all.Newest()
	return posts[:min(q.Most, len(posts))], nil
}

// window reads all videos of a profile between two days, both of them included.
func (s *Source) window(ctx context.Context, username string, first, last time.Time, into *wire.Posts) error {
	question := map[string]any{
		"query":      map[string]any{"and": []any{map[string]any{"operation": "EQ", "field_name": "username", "field_values": []string{username}}}},
		"start_date": first.Format(dateForm), "end_date": last.Format(dateForm), "max_count": videosEach,
	}
	for range mostPages {
		var said struct {
			Videos []json.RawMessage `json:"videos"`
			Cursor wire.Count        `json:"cursor"`
			Search string            `json:"search_id"`
			More   bool              `json:"has_more"`
		}
		if err := s.post(ctx, "/v2/research/video/query/", ofVideo, question, &said); err != nil {
			return err
		}
		into.Add(s.read(said.Videos, username))
		if !said.More {
			return nil
		}
		cursor := said.Cursor.Told()
		if cursor == nil || said.Search == "" || !wire.Cursor(said.Search) {
			return wire.Unavailable("TikTok says that there are more videos and not how to ask for them")
		}
		question["cursor"], question["search_id"] = *cursor, said.Search
	}
	return wire.Unavailable("TikTok's list of a month's videos does not end")
}

// video is one as TikTok writes it.
type video struct {
	ID       json.RawMessage `json:"id"` // a number of 19 digits
	Caption  string          `json:"video_description"`
	Created  wire.Count      `json:"create_time"` // seconds since 1970
	Likes    wire.Count      `json:"like_count"`
	Comments wire.Count      `json:"comment_count"`
	Shares   wire.Count      `json:"share_count"`
	Views    wire.Count      `json:"view_count"`
	Hashtags []string        `json:"hashtag_names"`
	Seconds  float64         `json:"video_duration"`
}

// read reads the videos that can be used.
func (s *Source) read(raw []json.RawMessage, username string) []provider.Post {
	now := s.now()
	var all []provider.Post
	for _, text := range raw {
		if found, usable := readVideo(text, username, now); usable {
			all = append(all, found)
		}
	}
	return all
}

func readVideo(text json.RawMessage, username string, now time.Time) (provider.Post, bool) {
	var said video
	if !wire.Read(text, &said) {
		return provider.Post{}, false
	}
	id, usable := readID(said.ID)
	if !usable {
		return provider.Post{}, false
	}
	post := provider.Post{
		ID: id, Caption: wire.Text(said.Caption, wire.MaxText), URL: provider.Link(provider.TikTok, username) + "/video/" + id, Hashtags: wire.Hashtags(said.Hashtags),
		Likes: said.Likes.Told(), Comments: said.Comments.Told(), Shares: said.Shares.Told(), Views: said.Views.Told(), Duration: wire.Length(said.Seconds),
	}
	if at := said.Created.Told(); at != nil {
		post.TakenAt = wire.Moment(time.Unix(*at, 0), now)
	}
	if post.Duration > 0 {
		post.Format = provider.FormatVideo // what has no length may be a row of pictures
	}
	return post, true
}

// readID reads an id, which TikTok writes as a number and its clients sometimes as a text.
func readID(text json.RawMessage) (string, bool) {
	var quoted string
	if json.Unmarshal(text, &quoted) != nil {
		quoted = string(text)
	}
	id, err := strconv.ParseInt(quoted, 10, 64)
	return strconv.FormatInt(id, 10), err == nil && id > 0
}
