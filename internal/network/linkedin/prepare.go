package linkedin

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"pressroom/internal/network"
)

const (
	firstRest = 2 * time.Second
	lastRest  = time.Minute
	blindRest = 30 * time.Second // what others wait for media that they may not ask about; not confirmed
)

// Prepare uploads the media and waits until the network has made them ready. What was uploaded by a call whose Draft
// was lost is never shown, and uploaded again.
func (n *Network) Prepare(
	ctx context.Context, g network.Grant, d network.Draft, files network.Files,
) (network.Draft, time.Duration, error) {
	return drafts.Prepare(d, func(p *draft) (time.Duration, error) { return n.advance(ctx, g, p, files) })
}

// advance does the next steps up to one for which the network needs time: that time, or 0 when all are done.
func (n *Network) advance(ctx context.Context, g network.Grant, p *draft, files network.Files) (time.Duration, error) {
	if p.Ready {
		return 0, nil
	}
	if len(p.Assets) == 0 {
		if err := network.Blocked(n.Check(network.Content{Text: p.Text, Media: p.Media})); err != nil {
			return 0, err
		}
		assets, err := n.send(ctx, g, p.Media, files)
		if err != nil {
			return 0, err
		}
		p.Assets, p.Arrived = assets, n.opts.Now().UTC()
	}
	wait, err := n.settle(ctx, g, p)
	p.Ready = wait == 0 && err == nil
	return wait, err
}

// send uploads media: their URNs.
func (n *Network) send(
	ctx context.Context, g network.Grant, media []network.Media, files network.Files,
) ([]string, error) {
	var sent []string
	for _, m := range media {
		urn, err := n.sendOne(ctx, g, m, files)
		if err != nil {
			return nil, err
		}
		sent = append(sent, urn)
	}
	return sent, nil
}

func (n *Network) sendOne(ctx context.Context, g network.Grant, m network.Media, files network.Files) (string, error) {
	file, err := files.Open(ctx, m.ID, n.opts.Rules.Fit(m.Kind))
	if err != nil {
		return "", network.FileFailed(err)
	}
	defer file.Close()
	if m.Kind == network.Video {
		return n.sendVideo(ctx, g, file)
	}
	return n.sendImage(ctx, g, file)
}

// initialize asks for a place to upload something to.
func (n *Network) initialize(
	ctx context.Context, g network.Grant, path string, request map[string]any, ticket any,
) error {
	request["owner"] = g.Account
	call := n.rest(g, http.MethodPost, path)
	call.Query = url.Values{"action": {"initializeUpload"}}
	call.JSON = map[string]any{"initializeUploadRequest": request}
	call.Purpose = network.Fetching
	_, err := n.ask(ctx, g, call, ticket)
	return err
}

// put uploads bytes to an address that the network gave.
func (n *Network) put(
	ctx context.Context, g network.Grant, address, bearer string, body network.Body,
) (network.Answer, error) {
	if !strings.HasPrefix(address, "https://") && strings.HasPrefix(g.Server, "https://") {
		return network.Answer{}, network.Unreadable(errors.New("uploading: the address is not one of https"))
	}
	return n.ask(ctx, g, network.Call{
		Purpose: network.Fetching, Name: "upload", Method: http.MethodPut, URL: address, Bearer: bearer,
		Secrets: []string{address}, Body: &body,
	}, nil)
}

func (n *Network) sendImage(ctx context.Context, g network.Grant, file network.File) (string, error) {
	var ticket struct {
		Value struct {
			Image string `json:"image"`
			URL   string `json:"uploadUrl"`
		} `json:"value"`
	}
	if err := n.initialize(ctx, g, "images", map[string]any{}, &ticket); err != nil {
		return "", err
	}
	if !isURN(ticket.Value.Image, network.Image) {
		return "", network.Unreadable(errors.New("announcing an image: the answer lacks its URN"))
	}
	_, err := n.put(ctx, g, ticket.Value.URL, g.Access, network.Body{Reader: file, Type: file.Type, Size: file.Size})
	return ticket.Value.Image, err
}

// settle asks for the media that have arrived: 0 where all are ready, else when to ask again. Whoever may post may not
// always ask; then they are given a time, once.
func (n *Network) settle(ctx context.Context, g network.Grant, p *draft) (time.Duration, error) {
	for _, urn := range p.Assets {
		if p.Rested {
			return 0, nil
		}
		ready, err := n.ready(ctx, g, urn)
		if said, ok := errors.AsType[*network.Error](err); ok && said.Status == http.StatusForbidden {
			p.Rested = true
			return blindRest, nil
		}
		if err != nil {
			return 0, err
		}
		if !ready {
			return max(firstRest, min(n.opts.Now().Sub(p.Arrived), lastRest)), nil
		}
	}
	return 0, nil
}

// ready asks for one image or video.
func (n *Network) ready(ctx context.Context, g network.Grant, urn string) (bool, error) {
	kind := network.Image
	if isURN(urn, network.Video) {
		kind = network.Video
	}
	var asset struct {
		Status string `json:"status"`
		Reason string `json:"processingFailureReason"`
	}
	if _, err := n.ask(ctx, g, n.rest(g, http.MethodGet, kind+"s/"+url.QueryEscape(urn)), &asset); err != nil {
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
			Message: network.Clip(asset.Reason, maxName),
			Err:     errors.New("the network could not make the " + kind + " ready"),
		}
	}
	return false, network.Unreadable(errors.New("asking for media: the answer has no known status"))
}
