package sandbox

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	usualYouTube = 5 // per page
	mostYouTube  = 50
)

// youtubePart returns the requested parts of a resource.
func youtubePart(query url.Values) map[string]bool {
	parts := map[string]bool{}
	for _, named := range query["part"] {
		for part := range strings.SplitSeq(named, ",") {
			parts[part] = true
		}
	}
	delete(parts, "")
	return parts
}

// list returns a list of resources of the caller's account.
func (n *youtube) list(
	r *http.Request, kind string, known []string, find func(tx, account) ([]map[string]any, error),
) (map[string]any, error) {
	answer := map[string]any{"kind": "youtube#" + kind + "ListResponse", "etag": newID()}
	err := n.store.in(r.Context(), func(t tx) error {
		a, _, err := n.bearer(r, t, youtubeScopeRead)
		if err != nil {
			return err
		}
		parts := youtubePart(r.URL.Query())
		if len(parts) == 0 {
			return youtubeInvalid("missingRequiredParameter", "No value for required parameter part.")
		}
		for part := range parts {
			if !slices.Contains(known, part) {
				return youtubeInvalid("unknownPart", "The part parameter specifies an unknown value.")
			}
		}
		items, err := find(t, a)
		answer["items"] = items
		answer["pageInfo"] = map[string]int{"totalResults": len(items), "resultsPerPage": len(items)}
		return err
	})
	return answer, err
}

// youtubeResource returns a resource with the requested parts.
func youtubeResource(kind, id string, requested map[string]bool, parts map[string]any) map[string]any {
	resource := map[string]any{"kind": "youtube#" + kind, "etag": youtubeID("etag "+id, 27), "id": id}
	for name, part := range parts {
		if requested[name] {
			resource[name] = part
		}
	}
	return resource
}

// listChannels lists the caller's own channel, selected by mine or by its id.
func (n *youtube) listChannels(r *http.Request) (any, error) {
	query := r.URL.Query()
	return n.list(r, "channel",
		[]string{
			"id", "snippet", "contentDetails", "statistics", "status",
		}, func(t tx, a account) ([]map[string]any, error) {
			ids := strings.Split(query.Get("id"), ",")
			if query.Get("mine") != "true" && query.Get("id") == "" {
				return nil, youtubeInvalid("missingRequiredParameter", "No filter selected. Expected one of: mine, id")
			}
			if query.Get("mine") != "true" && !slices.Contains(ids, a.id) {
				return []map[string]any{}, nil
			}
			posts, err := t.posts(r.Context(), `where p.platform = ? and p.account = ?`, youtubeName, a.id)
			return []map[string]any{youtubeResource("channel", a.id, youtubePart(query), map[string]any{
				"snippet": map[string]any{
					"title": a.displayName, "description": "", "customUrl": "@" + a.handle,
					"publishedAt": "2020-01-01T00:00:00Z", "thumbnails": map[string]any{},
				},
				"contentDetails": map[string]any{
					"relatedPlaylists": map[string]string{"likes": "", "uploads": youtubeUploads(a.id)},
				},
				"statistics": n.channelStatistics(a, posts),
				"status": map[string]any{
					"privacyStatus": "public", "isLinked": true, "longUploadsStatus": "allowed",
				},
			})}, err
		})
}

// listUploads lists the videos of the caller's channel, the newest first.
func (n *youtube) listUploads(r *http.Request) (any, error) {
	query := r.URL.Query()
	limit, skip, err := youtubePage(query)
	if err != nil {
		return nil, err
	}
	more := false
	answer, err := n.list(r, "playlistItem",
		[]string{"id", "snippet", "contentDetails", "status"}, func(t tx, a account) ([]map[string]any, error) {
			if query.Get("playlistId") != youtubeUploads(a.id) {
				return nil, &youtubeError{
					http.StatusNotFound, "youtube.playlistItem", "playlistNotFound", "NOT_FOUND",
					"The playlist identified with the request's playlistId parameter cannot be found.",
				}
			}
			posts, err := t.posts(r.Context(),
				`where p.platform = ? and p.account = ? order by p.seq desc limit ? offset ?`, youtubeName, a.id,
				limit+1, skip)
			if err == nil {
				err = untoldAmong(posts, n.now())
			}
			more = len(posts) > limit
			items := []map[string]any{}
			for i, p := range posts[:min(limit, len(posts))] {
				items = append(items, youtubeItem(a, p, skip+i, youtubePart(query)))
			}
			return items, err
		})
	if more && err == nil {
		answer["nextPageToken"] = strconv.Itoa(skip + limit)
	}
	return answer, err
}

// youtubePage returns the limit and the offset of a page.
func youtubePage(query url.Values) (int, int, error) {
	limit, skip := usualYouTube, 0
	var err error
	if text := query.Get("maxResults"); text != "" {
		limit, err = strconv.Atoi(text)
	}
	if text := query.Get("pageToken"); text != "" && err == nil {
		skip, err = strconv.Atoi(text)
	}
	if err != nil || limit < 1 || limit > mostYouTube || skip < 0 {
		return 0, 0, youtubeInvalid("invalidPageToken",
			"maxResults has to be from 1 to 50, and pageToken one that was given out.")
	}
	return limit, skip, nil
}

// youtubeItem returns a video as an entry of a playlist.
func youtubeItem(a account, p post, position int, requested map[string]bool) map[string]any {
	insert, at := youtubeKept(p).Insert, p.at.Format(time.RFC3339)
	return youtubeResource("playlistItem", youtubeID("item "+p.id, 24), requested, map[string]any{
		"snippet": map[string]any{
			"publishedAt": at, "channelId": a.id, "channelTitle": a.displayName, "title": insert.Snippet.Title,
			"description": insert.Snippet.Description,
			"thumbnails":  map[string]any{}, "playlistId": youtubeUploads(a.id), "position": position,
			"resourceId": map[string]string{"kind": "youtube#video", "videoId": p.id},
		},
		"contentDetails": map[string]string{"videoId": p.id, "videoPublishedAt": at},
		"status":         map[string]string{"privacyStatus": insert.Status.PrivacyStatus},
	})
}

// listVideos lists videos of the caller by their ids.
func (n *youtube) listVideos(r *http.Request) (any, error) {
	query := r.URL.Query()
	return n.list(r, "video",
		[]string{
			"id", "snippet", "status", "processingDetails", "statistics", "contentDetails",
		}, func(t tx, a account) ([]map[string]any, error) {
			ids := strings.Split(query.Get("id"), ",")
			if query.Get("id") == "" || len(ids) > mostYouTube {
				return nil, youtubeInvalid("missingRequiredParameter",
					"No filter selected. Expected one of: id, of at most 50")
			}
			items := []map[string]any{}
			for _, id := range ids {
				p, found, err := t.post(r.Context(), youtubeName, id)
				if err != nil {
					return nil, err
				}
				if found && p.account == a.id {
					items = append(items, n.video(p, youtubePart(query)))
				}
			}
			return items, nil
		})
}

// youtubeKept returns what is stored of a video besides its text.
func youtubeKept(p post) youtubeBody {
	var body youtubeBody
	_ = json.Unmarshal(p.body, &body) // keepVideo wrote it
	return body
}

// video returns a video in the API's form. The network processes it for a while.
func (n *youtube) video(p post, requested map[string]bool) map[string]any {
	body := youtubeKept(p)
	insert := body.Insert
	status := map[string]any{
		"uploadStatus": "processed", "privacyStatus": insert.Status.PrivacyStatus, "license": "youtube",
		"embeddable": true, "publicStatsViewable": true,
	}
	processing := "succeeded"
	switch {
	case n.now().Sub(p.at) < n.ready:
		status["uploadStatus"], processing = "uploaded", "processing"
	case body.Failure != "":
		status["uploadStatus"], status["failureReason"], processing = "failed", body.Failure, "failed"
	}
	return youtubeResource("video", p.id, requested, map[string]any{
		"snippet": map[string]any{
			"publishedAt": p.at.Format(time.RFC3339), "channelId": p.account, "channelTitle": p.displayName,
			"title":       insert.Snippet.Title,
			"description": insert.Snippet.Description, "tags": append([]string{}, insert.Snippet.Tags...),
			"categoryId": "22",
			"thumbnails": map[string]any{}, "liveBroadcastContent": "none",
		},
		"status":     status,
		"statistics": n.statistics(p),
		"contentDetails": map[string]any{
			"duration": "PT15S", "dimension": "2d", "definition": "hd", "caption": "false", "licensedContent": false,
		},
		"processingDetails": map[string]string{"processingStatus": processing},
	})
}
