package linkedin

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"

	"pressroom.example/pressroom/internal/network"
)

// videoTicket has the upload URLs of a video.
type videoTicket struct {
	Value struct {
		Video string `json:"video"`
		Token string `json:"uploadToken"`
		Parts []part `json:"uploadInstructions"`
	} `json:"value"`
}

// part is a range of bytes of a video, both ends included, with its upload URL.
type part struct {
	URL   string `json:"uploadUrl"`
	First int64  `json:"firstByte"`
	Last  int64  `json:"lastByte"`
}

// covers reports whether the parts, in order, cover a file of the given size.
func covers(parts []part, size int64) bool {
	next := int64(0)
	for _, p := range parts {
		if p.First != next || p.Last < p.First || p.Last >= size {
			return false
		}
		next = p.Last + 1
	}
	return next == size
}

// uploadVideo uploads the parts of a video and finishes the upload.
func (n *Network) uploadVideo(ctx context.Context, g network.Grant, file network.File) (string, error) {
	var ticket videoTicket
	request := map[string]any{"fileSizeBytes": file.Size, "uploadCaptions": false, "uploadThumbnail": false}
	if err := n.initializeUpload(ctx, g, "videos", request, &ticket); err != nil {
		return "", err
	}
	target := ticket.Value
	if !isURN(target.Video, network.Video) || !covers(target.Parts, file.Size) {
		return "", network.InvalidResponse(errors.New("initializing a video upload: the response has no URN or invalid parts"))
	}
	etags := make([]string, 0, len(target.Parts))
	for _, p := range target.Parts {
		size := p.Last - p.First + 1
		response, err := n.put(ctx, g, p.URL, "",
			network.Body{Reader: io.LimitReader(file, size), Type: "application/octet-stream", Size: size})
		if err != nil {
			return "", err
		}
		etag := response.Header.Get("ETag")
		if etag == "" {
			return "", network.InvalidResponse(errors.New("uploading a part of a video: the response has no ETag"))
		}
		etags = append(etags, etag)
	}
	call := n.newCall(g, http.MethodPost, "videos")
	call.Query = url.Values{"action": {"finalizeUpload"}}
	call.JSON = map[string]any{
		"finalizeUploadRequest": map[string]any{
			"video": target.Video, "uploadToken": target.Token, "uploadedPartIds": etags,
		},
	}
	call.Purpose = network.PurposeTransfer
	call.Secrets = []string{target.Token}
	_, err := n.do(ctx, g, call, nil)
	return target.Video, err
}
