package youtube

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"pressroom.example/pressroom/internal/network"
)

var _ network.Finisher = (*Network)(nil)

const (
	stepPlaylist  = "playlist"
	stepThumbnail = "thumbnail"

	playlistVideo        = "youtube#video"
	maxThumbnailFileSize = 2 << 20 // bytes
)

// thumbnailLimits are the limits of thumbnails.set.
//
// Source: https://developers.google.com/youtube/v3/docs/thumbnails/set
var thumbnailLimits = network.FileLimits{Types: []string{"image/jpeg", "image/png"}, MaxBytes: maxThumbnailFileSize}

// FinishSteps returns the steps for a published video: setting its thumbnail and adding it to its playlist.
func (n *Network) FinishSteps(d network.Draft) []string {
	p, err := drafts.Decode(d)
	if err != nil {
		return nil
	}
	var steps []string
	if p.Choices.ThumbnailMediaID != 0 {
		steps = append(steps, stepThumbnail)
	}
	if p.Choices.PlaylistID != "" && n.opts.Playlists {
		steps = append(steps, stepPlaylist)
	}
	return steps
}

// PostID returns the ID in permalink or, if permalink is empty, the ID that the upload returned.
func (n *Network) PostID(d network.Draft, permalink string) string {
	if id := idInURL(permalink); id != "" || permalink != "" {
		return id
	}
	p, err := drafts.Decode(d)
	if err != nil {
		return ""
	}
	return p.Video
}

// idInURL returns the ID in the URL of a video, such as youtube.com/watch?v=ID, youtube.com/shorts/ID, youtu.be/ID and
// studio.youtube.com/video/ID/edit, or "".
func idInURL(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	parts := strings.Split(strings.Trim(u.Path, "/"), "/")
	id := u.Query().Get("v")
	switch {
	case id != "":
	case len(parts) == 1 && strings.HasSuffix(u.Hostname(), "youtu.be"):
		id = parts[0]
	case len(parts) > 1 && slices.Contains([]string{"shorts", "live", "embed", "video"}, parts[0]):
		id = parts[1]
	}
	if !videoID.MatchString(id) {
		return ""
	}
	return id
}

// Finish performs a step for a video. Setting the same thumbnail again changes nothing. A video is not added to the
// playlist a second time.
func (n *Network) Finish(
	ctx context.Context, g network.Grant, d network.Draft, video, step string, files network.Files,
) error {
	p, err := drafts.Decode(d)
	if err != nil {
		return err
	}
	if !videoID.MatchString(video) {
		return network.PermanentError(errors.New("the post's ID is not an ID of YouTube"))
	}
	switch step {
	case stepThumbnail:
		return n.setThumbnail(ctx, g, p.Choices.ThumbnailMediaID, video, files)
	case stepPlaylist:
		return n.addToPlaylist(ctx, g, p.Choices.PlaylistID, video)
	}
	return network.PermanentError(errors.New("unknown step " + step))
}

// setThumbnail replaces the thumbnail of a video.
func (n *Network) setThumbnail(ctx context.Context, g network.Grant, media int64, video string, files network.Files) error {
	file, err := files.Open(ctx, media, thumbnailLimits)
	if err != nil {
		return network.FileError(err)
	}
	defer file.Close()
	response, err := n.client.Do(ctx, network.Call{
		Purpose: network.PurposeTransfer, Name: "set thumbnails", Method: http.MethodPost,
		URL:    strings.TrimRight(g.Server, "/") + "/upload/youtube/" + n.opts.Version + "/thumbnails/set",
		Query:  url.Values{"videoId": {video}, "uploadType": {"media"}},
		Bearer: g.AccessToken, Body: &network.Body{Reader: file, Type: file.Type, Size: file.Size},
	})
	if err != nil {
		return err
	}
	if response.Status != http.StatusOK {
		return n.rejection(response)
	}
	return nil
}

// addToPlaylist adds a video to a playlist, unless the playlist already has it.
func (n *Network) addToPlaylist(ctx context.Context, g network.Grant, playlist, video string) error {
	var listed struct {
		Items []struct{} `json:"items"`
	}
	query := url.Values{"part": {"id"}, "playlistId": {playlist}, "videoId": {video}}
	if err := n.read(ctx, g, "playlistItems", query, &listed); err != nil || len(listed.Items) > 0 {
		return err
	}
	call := g.Call(http.MethodPost, "youtube/"+n.opts.Version, "playlistItems")
	call.Purpose, call.Query = network.PurposeTransfer, url.Values{"part": {"snippet"}}
	call.JSON = map[string]any{"snippet": map[string]any{
		"playlistId": playlist, "resourceId": map[string]string{"kind": playlistVideo, "videoId": video},
	}}
	response, err := n.client.Do(ctx, call)
	if err != nil {
		return err
	}
	if response.Status != http.StatusOK {
		return n.rejection(response)
	}
	return nil
}
