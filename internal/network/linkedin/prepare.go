package linkedin

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/network"
)

const (
	minPollInterval = 2 * time.Second
	maxPollInterval = time.Minute
	unverifiedWait  = 30 * time.Second // an estimate, used if the app may not read the state of media
	maxMessage      = 200              // characters kept of a failure reason
)

// Prepare uploads the media, completes the article and waits until the network has processed the media. If the Draft is
// lost, the uploaded files remain unused at LinkedIn.
func (n *Network) Prepare(
	ctx context.Context, g network.Grant, d network.Draft, files network.Files,
) (network.Draft, time.Duration, error) {
	if network.IsFirstComment(d) {
		return network.PrepareFirstComment(d, n.opts.Now())
	}
	return drafts.Prepare(d, func(p *draft) (time.Duration, error) { return n.advance(ctx, g, p, files) })
}

// advance performs steps until the network needs time. It returns the time to wait, or 0 if all steps are done.
func (n *Network) advance(ctx context.Context, g network.Grant, d *draft, files network.Files) (time.Duration, error) {
	if d.Ready {
		return 0, nil
	}
	if d.UploadedAt.IsZero() {
		if err := network.BlockingError(n.Check(d.content(g.Account))); err != nil {
			return 0, err
		}
		assets, err := n.upload(ctx, g, d.Media, files)
		if err != nil {
			return 0, err
		}
		if err := n.completeArticle(ctx, g, d, files); err != nil {
			return 0, err
		}
		d.Assets, d.UploadedAt = assets, n.opts.Now().UTC()
	}
	wait, err := n.awaitMedia(ctx, g, d)
	d.Ready = wait == 0 && err == nil
	return wait, err
}

// upload uploads media and returns their URNs.
func (n *Network) upload(
	ctx context.Context, g network.Grant, media []network.Media, files network.Files,
) ([]string, error) {
	var urns []string
	for _, m := range media {
		urn, err := n.uploadOne(ctx, g, m, files)
		if err != nil {
			return nil, err
		}
		urns = append(urns, urn)
	}
	return urns, nil
}

func (n *Network) uploadOne(ctx context.Context, g network.Grant, m network.Media, files network.Files) (string, error) {
	file, err := files.Open(ctx, m.ID, n.opts.Rules.FileLimits(m.Kind))
	if err != nil {
		return "", network.FileError(err)
	}
	defer file.Close()
	if m.Kind == network.Video {
		return n.uploadVideo(ctx, g, file)
	}
	return n.uploadImage(ctx, g, file)
}

// initializeUpload requests an upload URL and decodes the response into ticket.
func (n *Network) initializeUpload(
	ctx context.Context, g network.Grant, path string, request map[string]any, ticket any,
) error {
	request["owner"] = g.Account
	call := n.newCall(g, http.MethodPost, path)
	call.Query = url.Values{"action": {"initializeUpload"}}
	call.JSON = map[string]any{"initializeUploadRequest": request}
	call.Purpose = network.PurposeTransfer
	_, err := n.do(ctx, g, call, ticket)
	return err
}

// put uploads bytes to a URL from LinkedIn's response.
func (n *Network) put(
	ctx context.Context, g network.Grant, address, bearer string, body network.Body,
) (network.Response, error) {
	if !strings.HasPrefix(address, "https://") && strings.HasPrefix(g.Server, "https://") {
		return network.Response{}, network.InvalidResponse(errors.New("uploading: the URL is not https"))
	}
	return n.do(ctx, g, network.Call{
		Purpose: network.PurposeTransfer, Name: "upload", Method: http.MethodPut, URL: address, Bearer: bearer,
		Secrets: []string{address}, Body: &body,
	}, nil)
}

func (n *Network) uploadImage(ctx context.Context, g network.Grant, file network.File) (string, error) {
	var ticket struct {
		Value struct {
			Image string `json:"image"`
			URL   string `json:"uploadUrl"`
		} `json:"value"`
	}
	if err := n.initializeUpload(ctx, g, "images", map[string]any{}, &ticket); err != nil {
		return "", err
	}
	if !isURN(ticket.Value.Image, network.Image) {
		return "", network.InvalidResponse(errors.New("initializing an image upload: the response has no URN"))
	}
	_, err := n.put(ctx, g, ticket.Value.URL, g.AccessToken, network.Body{Reader: file, Type: file.Type, Size: file.Size})
	return ticket.Value.Image, err
}

// awaitMedia returns 0 if all media are ready, else the time until the next check. If the app may not read the state of
// media, awaitMedia returns unverifiedWait once.
func (n *Network) awaitMedia(ctx context.Context, g network.Grant, d *draft) (time.Duration, error) {
	for _, urn := range d.uploadedURNs() {
		if d.Waited {
			return 0, nil
		}
		ready, err := n.isReady(ctx, g, urn)
		if netErr, ok := errors.AsType[*network.Error](err); ok && netErr.Status == http.StatusForbidden {
			d.Waited = true
			return unverifiedWait, nil
		}
		if err != nil {
			return 0, err
		}
		if !ready {
			return max(minPollInterval, min(n.opts.Now().Sub(d.UploadedAt), maxPollInterval)), nil
		}
	}
	return 0, nil
}

// uploadedURNs returns the URNs of everything that was uploaded.
func (d draft) uploadedURNs() []string {
	if d.Thumbnail == "" {
		return d.Assets
	}
	return append(slices.Clone(d.Assets), d.Thumbnail)
}

// isReady reports whether the network has processed one image or video.
func (n *Network) isReady(ctx context.Context, g network.Grant, urn string) (bool, error) {
	kind := network.Image
	if isURN(urn, network.Video) {
		kind = network.Video
	}
	var asset struct {
		Status string `json:"status"`
		Reason string `json:"processingFailureReason"`
	}
	if _, err := n.do(ctx, g, n.newCall(g, http.MethodGet, kind+"s/"+url.QueryEscape(urn)), &asset); err != nil {
		return false, err
	}
	switch asset.Status {
	case "AVAILABLE":
		return true, nil
	case "WAITING_UPLOAD", "PROCESSING":
		return false, nil
	case "PROCESSING_FAILED":
		return false, &network.Error{
			Class: network.RejectedMedia, Status: http.StatusOK, Code: asset.Status,
			Message: network.Clip(asset.Reason, maxMessage),
			Err:     errors.New("the network could not process the " + kind),
		}
	}
	return false, network.InvalidResponse(errors.New("reading media: the response has no known status"))
}
