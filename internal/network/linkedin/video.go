package linkedin

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"

	"pressroom/internal/network"
)

// videoTicket is where a video goes, part by part.
type videoTicket struct {
	Value struct {
		Video string `json:"video"`
		Token string `json:"uploadToken"`
		Parts []part `json:"uploadInstructions"`
	} `json:"value"`
}

// part is a range of a video, both ends included, with an address of its own.
type part struct {
	URL   string `json:"uploadUrl"`
	First int64  `json:"firstByte"`
	Last  int64  `json:"lastByte"`
}

// covers tells whether the parts are the whole of a file of a size, in its order.
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

// sendVideo uploads a video, each part to its own address, and tells the network that it is whole.
func (n *Network) sendVideo(ctx context.Context, g network.Grant, file network.File) (string, error) {
	var ticket videoTicket
	request := map[string]any{"fileSizeBytes": file.Size, "uploadCaptions": false, "uploadThumbnail": false}
	if err := n.initialize(ctx, g, "videos", request, &ticket); err != nil {
		return "", err
	}
	into := ticket.Value
	if !isURN(into.Video, network.Video) || !covers(into.Parts, file.Size) {
		return "",
			network.Unreadable(errors.New("announcing a video: the answer lacks its URN, or its parts are not the " +
				"whole file"))
	}
	marks := make([]string, 0, len(into.Parts))
	for _, p := range into.Parts {
		size := p.Last - p.First + 1
		answer, err := n.put(ctx, g, p.URL, "",
			network.Body{Reader: io.LimitReader(file, size), Type: "application/octet-stream", Size: size})
		if err != nil {
			return "", err
		}
		mark := answer.Header.Get("ETag")
		if mark == "" {
			return "", network.Unreadable(errors.New("uploading a part of a video: the answer has no ETag"))
		}
		marks = append(marks, mark)
	}
	call := n.rest(g, http.MethodPost, "videos")
	call.Query = url.Values{"action": {"finalizeUpload"}}
	call.JSON = map[string]any{
		"finalizeUploadRequest": map[string]any{
			"video": into.Video, "uploadToken": into.Token, "uploadedPartIds": marks,
		},
	}
	call.Purpose = network.Fetching
	call.Secrets = []string{into.Token}
	_, err := n.ask(ctx, g, call, nil)
	return into.Video, err
}
