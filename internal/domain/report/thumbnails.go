package report

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"pressroom.example/pressroom/internal/platform/db"
)

// thumbnail is a library item that shows a post.
type thumbnail struct {
	postID, url string // ID and URL of the post on the network; either may be empty
	mediaID     int64  // ID of the library item
}

// addThumbnails sets MediaID of the posts whose files are in the team's library, because the team downloaded them from
// the profile or published them. If a post has several files, it uses the newest published file. If none was published,
// it uses the newest downloaded file.
func (s *Service) addThumbnails(ctx context.Context, r record, best []TopPost) error {
	if len(best) == 0 {
		return nil
	}
	var posts, urls []any
	for _, b := range best {
		posts, urls = append(posts, b.ID), append(urls, b.URL)
	}
	placeholders := db.Placeholders(len(best))
	scan := func(rows *sql.Rows, t *thumbnail) error { return rows.Scan(&t.postID, &t.url, &t.mediaID) }
	downloadedThumbnails, err := db.All(ctx, s.db, scan, fmt.Sprintf(downloadedQuery, placeholders),
		append([]any{r.team, r.platform, r.subject}, posts...)...)
	if err != nil {
		return fmt.Errorf("finding downloaded files of report %s: %w", r.id, err)
	}
	publishedThumbnails, err := db.All(ctx, s.db, scan, fmt.Sprintf(publishedQuery, placeholders, placeholders),
		append(append([]any{r.team, r.platform, r.subject}, posts...), urls...)...)
	if err != nil {
		return fmt.Errorf("finding published files of report %s: %w", r.id, err)
	}
	for _, t := range append(downloadedThumbnails, publishedThumbnails...) {
		for i := range best {
			if t.postID == best[i].ID || t.url != "" && t.url == best[i].URL {
				best[i].MediaID = t.mediaID
			}
		}
	}
	return nil
}

// downloadedQuery selects files that were downloaded from a profile, oldest first.
const downloadedQuery = `SELECT i.item, '', m.id FROM media_downloads d
	JOIN media_download_items i ON i.job_id = d.job_id
	JOIN media m ON m.id = i.media_id AND m.team_id = d.team_id
	WHERE d.team_id = ? AND d.platform = ? AND d.username = ? AND i.item IN (%s) AND m.deleted_at = 0
	AND m.thumbnail <> '' ORDER BY m.id`

// publishedQuery selects the first files of posts that the team published to the profile, oldest first.
const publishedQuery = `SELECT t.network_id, t.permalink, m.id FROM social_accounts a
	JOIN post_targets t ON t.account_id = a.id
	JOIN post_media f ON f.post_id = t.post_id AND f.position = 0
	JOIN media m ON m.id = f.media_id AND m.team_id = a.team_id
	WHERE a.team_id = ? AND a.platform = ? AND a.username = ? AND t.has_media = 0
	AND (t.network_id IN (%s) OR t.permalink IN (%s)) AND m.deleted_at = 0 AND m.thumbnail <> '' ORDER BY m.id`

// ShowsMedia reports whether a library item belongs to one of the best posts of a team's profile report.
func (s *Service) ShowsMedia(ctx context.Context, team int64, id string, media int64) (bool, error) {
	r, err := find(ctx, s.db, team, Profile, id, db.Micros(s.db.Now()))
	if err != nil {
		return false, err
	}
	found, _, err := s.readFindings(ctx, r)
	if err != nil {
		return false, err
	}
	history, err := s.History(ctx, team, id, found.Engagement.Counts, time.UTC)
	return slices.ContainsFunc(history.Best, func(b TopPost) bool { return b.MediaID == media && media != 0 }), err
}
