package youtube

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"pressroom.example/pressroom/internal/sandbox/base"
	"pressroom.example/pressroom/internal/sandbox/store"
)

const maxThumbnail = 2 << 20 // bytes

// PlaylistID returns the ID of a channel's only playlist, apart from the playlist of its uploads.
func PlaylistID(channel string) string { return "PL" + stableID("playlist "+channel, 32) }

// listPlaylist lists a playlist of the caller's channel: the uploads, or the playlist with the ID PlaylistID.
func (n *Network) listPlaylist(r *http.Request) (any, error) {
	query := r.URL.Query()
	if _, _, err := parsePage(query); err != nil {
		return nil, err
	}
	if strings.HasPrefix(query.Get("playlistId"), "UU") {
		return n.listUploads(r)
	}
	return n.list(r, "playlistItem", []string{"id", "snippet", "contentDetails", "status"},
		func(t store.Tx, a store.Account) ([]map[string]any, error) {
			if query.Get("playlistId") != PlaylistID(a.ID) {
				return nil, errNoPlaylist
			}
			videos, err := t.Strings(r.Context(), "reading a playlist",
				`select video from youtube_playlist_items where playlist = ? and (video = ? or ? = '') order by id`,
				PlaylistID(a.ID), query.Get("videoId"), query.Get("videoId"))
			if err != nil {
				return nil, err
			}
			items := []map[string]any{}
			for i, video := range videos[:min(maxPageSize, len(videos))] {
				p, _, err := t.Post(r.Context(), Name, video)
				if err != nil {
					return nil, err
				}
				items = append(items, playlistEntry(a, p, i, parseParts(query)))
			}
			return items, nil
		})
}

// playlistEntry returns a video as an item of the playlist with the ID PlaylistID.
func playlistEntry(a store.Account, p store.Post, position int, requested map[string]bool) map[string]any {
	entry := playlistItem(a, p, position, requested)
	entry["id"] = stableID("entry "+p.ID+" "+strconv.Itoa(position), 32)
	if snippet, ok := entry["snippet"].(map[string]any); ok {
		snippet["playlistId"] = PlaylistID(a.ID)
	}
	return entry
}

// addToPlaylist adds a video to the caller's playlist. As on YouTube, a playlist can contain the same video twice.
func (n *Network) addToPlaylist(r *http.Request) (any, error) {
	var item struct {
		Snippet struct {
			PlaylistID string `json:"playlistId"`
			Resource   struct {
				Kind    string `json:"kind"`
				VideoID string `json:"videoId"`
			} `json:"resourceId"`
		} `json:"snippet"`
	}
	if err := json.NewDecoder(r.Body).Decode(&item); err != nil || item.Snippet.Resource.Kind != "youtube#video" {
		return nil, invalidRequest("invalidResourceType", "The type specified for the resource ID is not supported.")
	}
	if !parseParts(r.URL.Query())["snippet"] {
		return nil, invalidRequest("missingRequiredParameter", "No value for required parameter part.")
	}
	var response map[string]any
	err := n.Store.InTx(r.Context(), func(t store.Tx) error {
		a, _, err := n.authenticate(r, t, scopeEdit)
		if err != nil {
			return err
		}
		if item.Snippet.PlaylistID != PlaylistID(a.ID) {
			return errNoPlaylist
		}
		p, err := findVideo(r.Context(), t, a, item.Snippet.Resource.VideoID)
		if err != nil {
			return err
		}
		response = playlistEntry(a, p, 0, map[string]bool{"snippet": true})
		return t.Run(r.Context(), "adding to a playlist",
			`insert into youtube_playlist_items (playlist, video, added_at) values (?, ?, ?)`, PlaylistID(a.ID), p.ID,
			n.Now().UnixMilli())
	})
	return response, err
}

// findVideo returns the account's video with the given ID.
func findVideo(ctx context.Context, t store.Tx, a store.Account, id string) (store.Post, error) {
	p, found, err := t.Post(ctx, Name, id)
	if err == nil && (!found || p.Account != a.ID) {
		err = errNoVideo
	}
	return p, err
}

// setThumbnail sets the thumbnail of a video. The caller's channel must be verified.
func (n *Network) setThumbnail(w http.ResponseWriter, r *http.Request) {
	defer base.AllowUpload(w)()
	result, err := n.saveThumbnail(w, r)
	write(w, r, result, err)
}

func (n *Network) saveThumbnail(w http.ResponseWriter, r *http.Request) (any, error) {
	authorize := func(t store.Tx) (store.Post, error) {
		a, _, err := n.authenticate(r, t, scopeUpload)
		if err != nil {
			return store.Post{}, err
		}
		p, err := findVideo(r.Context(), t, a, r.URL.Query().Get("videoId"))
		if err == nil && isUnverified(a) {
			err = errThumbnail
		}
		return p, err
	}
	err := n.Store.InTx(r.Context(), func(t store.Tx) error {
		_, err := authorize(t)
		return err
	})
	if err != nil {
		return nil, err
	}
	file, err := n.Store.SaveMedia(http.MaxBytesReader(w, r.Body, maxThumbnail), "")
	if base.UploadError(err) != nil || err == nil && !slices.Contains([]string{"image/jpeg", "image/png"}, file.MIME) {
		return nil, errImage
	}
	if err != nil {
		return nil, err
	}
	var p store.Post
	err = n.Store.InTx(r.Context(), func(t store.Tx) error {
		if p, err = authorize(t); err != nil {
			return err
		}
		body := parseBody(p)
		body.Thumbnail = store.NewMedium(Name, p.Account, file, "").Path
		encoded, err := json.Marshal(body)
		if err != nil {
			return fmt.Errorf("writing a video: %w", err)
		}
		p.Body = encoded
		if err := t.SaveBlob(r.Context(), Name, p.Account, file); err != nil {
			return err
		}
		return t.SavePost(r.Context(), p)
	})
	return map[string]any{
		"kind": "youtube#thumbnailSetResponse", "etag": base.NewID(), "items": []any{n.thumbnails(r, p)},
	}, err
}

// thumbnails returns the thumbnail of a video, or an empty map if none was set.
func (n *Network) thumbnails(r *http.Request, p store.Post) map[string]any {
	path := parseBody(p).Thumbnail
	if path == "" {
		return map[string]any{}
	}
	return map[string]any{"default": map[string]any{"url": n.BaseURL(r) + "/" + path, "width": 120, "height": 90}}
}
