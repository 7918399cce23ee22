package youtube

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/sandbox/base"
	"pressroom.example/pressroom/internal/sandbox/marker"
	"pressroom.example/pressroom/internal/sandbox/store"
)

const (
	defaultPageSize = 5 // items
	maxPageSize     = 50
)

// parseParts returns the names of the requested parts of a resource.
func parseParts(query url.Values) map[string]bool {
	parts := map[string]bool{}
	for _, list := range query["part"] {
		for part := range strings.SplitSeq(list, ",") {
			parts[part] = true
		}
	}
	delete(parts, "")
	return parts
}

// list returns the response with the resources that find returns for the caller's account. It returns an error for
// unsupported parts.
func (n *Network) list(
	r *http.Request, kind string, supported []string, find func(store.Tx, store.Account) ([]map[string]any, error),
) (map[string]any, error) {
	response := map[string]any{"kind": "youtube#" + kind + "ListResponse", "etag": base.NewID()}
	err := n.Store.InTx(r.Context(), func(t store.Tx) error {
		a, _, err := n.authenticate(r, t, scopeRead)
		if err != nil {
			return err
		}
		parts := parseParts(r.URL.Query())
		if len(parts) == 0 {
			return invalidRequest("missingRequiredParameter", "No value for required parameter part.")
		}
		for part := range parts {
			if !slices.Contains(supported, part) {
				return invalidRequest("unknownPart", "The part parameter specifies an unknown value.")
			}
		}
		items, err := find(t, a)
		response["items"] = items
		response["pageInfo"] = map[string]int{"totalResults": len(items), "resultsPerPage": len(items)}
		return err
	})
	return response, err
}

// newResource returns a resource that contains only the requested parts.
func newResource(kind, id string, requested map[string]bool, parts map[string]any) map[string]any {
	resource := map[string]any{"kind": "youtube#" + kind, "etag": stableID("etag "+id, 27), "id": id}
	for name, part := range parts {
		if requested[name] {
			resource[name] = part
		}
	}
	return resource
}

// listChannels lists the caller's channel. The request selects the channel with the parameter mine or with its ID.
func (n *Network) listChannels(r *http.Request) (any, error) {
	query := r.URL.Query()
	return n.list(r, "channel",
		[]string{
			"id", "snippet", "contentDetails", "statistics", "status",
		}, func(t store.Tx, a store.Account) ([]map[string]any, error) {
			ids := strings.Split(query.Get("id"), ",")
			if query.Get("mine") != "true" && query.Get("id") == "" {
				return nil, invalidRequest("missingRequiredParameter", "No filter selected. Expected one of: mine, id")
			}
			if query.Get("mine") != "true" && !slices.Contains(ids, a.ID) {
				return []map[string]any{}, nil
			}
			posts, err := t.Posts(r.Context(), `where p.platform = ? and p.account = ?`, Name, a.ID)
			return []map[string]any{newResource("channel", a.ID, parseParts(query), map[string]any{
				"snippet": map[string]any{
					"title": a.DisplayName, "description": "", "customUrl": "@" + a.Handle,
					"publishedAt": "2020-01-01T00:00:00Z", "thumbnails": map[string]any{
						"medium": map[string]any{"url": n.PictureURL(r, a.DisplayName), "width": 240, "height": 240},
					},
				},
				"contentDetails": map[string]any{
					"relatedPlaylists": map[string]string{"likes": "", "uploads": UploadsID(a.ID)},
				},
				"statistics": n.channelStatistics(a, posts),
				"status": map[string]any{
					"privacyStatus": "public", "isLinked": true, "longUploadsStatus": longUploadsStatus(a),
				},
			})}, err
		})
}

// longUploadsStatus returns the API's value for whether a channel can upload videos of more than 15 minutes.
func longUploadsStatus(a store.Account) string {
	if isUnverified(a) {
		return "eligible"
	}
	return "allowed"
}

// isUnverified reports whether a channel's phone number has not been verified.
func isUnverified(a store.Account) bool { return a.Handle == "studio.north" }

// listUploads lists the videos of the caller's channel, newest first.
func (n *Network) listUploads(r *http.Request) (any, error) {
	query := r.URL.Query()
	limit, offset, err := parsePage(query)
	if err != nil {
		return nil, err
	}
	hasMore := false
	response, err := n.list(r, "playlistItem",
		[]string{"id", "snippet", "contentDetails", "status"},
		func(t store.Tx, a store.Account) ([]map[string]any, error) {
			if query.Get("playlistId") != UploadsID(a.ID) {
				return nil, errNoPlaylist
			}
			posts, err := t.Posts(r.Context(),
				`where p.platform = ? and p.account = ? order by p.seq desc limit ? offset ?`, Name, a.ID,
				limit+1, offset)
			if err == nil {
				err = marker.WithholdAny(posts, n.Now())
			}
			hasMore = len(posts) > limit
			items := []map[string]any{}
			for i, p := range posts[:min(limit, len(posts))] {
				items = append(items, playlistItem(a, p, offset+i, parseParts(query)))
			}
			return items, err
		})
	if hasMore && err == nil {
		response["nextPageToken"] = strconv.Itoa(offset + limit)
	}
	return response, err
}

// parsePage parses the request parameters of a page, and returns its limit and offset.
func parsePage(query url.Values) (int, int, error) {
	limit, offset := defaultPageSize, 0
	var err error
	if text := query.Get("maxResults"); text != "" {
		limit, err = strconv.Atoi(text)
	}
	if text := query.Get("pageToken"); text != "" && err == nil {
		offset, err = strconv.Atoi(text)
	}
	if err != nil || limit < 1 || limit > maxPageSize || offset < 0 {
		return 0, 0, invalidRequest("invalidPageToken",
			"maxResults must be from 1 to 50, and pageToken from a previous response.")
	}
	return limit, offset, nil
}

// playlistItem returns a video as an item of the uploads playlist.
func playlistItem(a store.Account, p store.Post, position int, requested map[string]bool) map[string]any {
	metadata, at := parseBody(p).Metadata, p.At.Format(time.RFC3339)
	return newResource("playlistItem", stableID("item "+p.ID, 24), requested, map[string]any{
		"snippet": map[string]any{
			"publishedAt": at, "channelId": a.ID, "channelTitle": a.DisplayName, "title": metadata.Snippet.Title,
			"description": metadata.Snippet.Description,
			"thumbnails":  map[string]any{}, "playlistId": UploadsID(a.ID), "position": position,
			"resourceId": map[string]string{"kind": "youtube#video", "videoId": p.ID},
		},
		"contentDetails": map[string]string{"videoId": p.ID, "videoPublishedAt": at},
		"status":         map[string]string{"privacyStatus": metadata.Status.PrivacyStatus},
	})
}

// listVideos lists the caller's videos with the requested IDs.
func (n *Network) listVideos(r *http.Request) (any, error) {
	query := r.URL.Query()
	return n.list(r, "video",
		[]string{
			"id", "snippet", "status", "processingDetails", "statistics", "contentDetails",
		}, func(t store.Tx, a store.Account) ([]map[string]any, error) {
			ids := strings.Split(query.Get("id"), ",")
			if query.Get("id") == "" || len(ids) > maxPageSize {
				return nil, invalidRequest("missingRequiredParameter",
					"No filter selected. Expected one of: id, of at most 50")
			}
			items := []map[string]any{}
			for _, id := range ids {
				p, found, err := t.Post(r.Context(), Name, id)
				if err != nil {
					return nil, err
				}
				if found && p.Account == a.ID {
					items = append(items, n.videoView(r, p, parseParts(query)))
				}
			}
			return items, nil
		})
}

// parseBody returns the stored body of a video.
func parseBody(p store.Post) videoBody {
	var body videoBody
	_ = json.Unmarshal(p.Body, &body) // saveVideo encoded it
	return body
}

// videoView returns a video in the API's format.
func (n *Network) videoView(r *http.Request, p store.Post, requested map[string]bool) map[string]any {
	metadata := parseBody(p).Metadata
	status, processing := n.videoStatus(p)
	return newResource("video", p.ID, requested, map[string]any{
		"snippet": map[string]any{
			"publishedAt": p.At.Format(time.RFC3339), "channelId": p.Account, "channelTitle": p.DisplayName,
			"title":       metadata.Snippet.Title,
			"description": metadata.Snippet.Description, "tags": append([]string{}, metadata.Snippet.Tags...),
			"categoryId": "22",
			"thumbnails": n.thumbnails(r, p), "liveBroadcastContent": "none",
		},
		"status":     status,
		"statistics": n.statistics(p),
		"contentDetails": map[string]any{
			"duration": "PT15S", "dimension": "2d", "definition": "hd", "caption": "false", "licensedContent": false,
		},
		"processingDetails": map[string]string{"processingStatus": processing},
	})
}

// videoStatus returns the status of a video and the status of its processing. After processing, the marker Drop rejects
// the video. The marker Unapproved keeps the video private, like a video of an app that has not passed the audit.
func (n *Network) videoStatus(p store.Post) (map[string]any, string) {
	body, markers := parseBody(p), marker.Read(p.Text, Name)
	status := map[string]any{
		"uploadStatus": "processed", "privacyStatus": body.Metadata.Status.PrivacyStatus, "license": "youtube",
		"embeddable": true, "publicStatsViewable": true,
	}
	if markers.Has(marker.Unapproved) || body.Locked {
		status["privacyStatus"] = "private"
	}
	switch {
	case n.Now().Sub(p.At) < n.ProcessingTime:
		status["uploadStatus"] = "uploaded"
		return status, "processing"
	case body.Failure != "":
		status["uploadStatus"], status["failureReason"] = "failed", body.Failure
		return status, "failed"
	case markers.Has(marker.Drop):
		status["uploadStatus"], status["rejectionReason"] = "rejected", "duplicate"
		return status, "terminated"
	}
	return status, "succeeded"
}
