package x

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"pressroom.example/pressroom/internal/network"
)

const codeMediaExpired = "media_expired" // not a code of X

// Commit creates the post. If media have expired, the error is of class OutcomeUnknown, because an earlier call may
// have created the post.
func (n *Network) Commit(
	ctx context.Context, g network.Grant, d network.Draft, _ network.Files,
) (network.Receipt, error) {
	prepared, err := drafts.DecodePrepared(d)
	if err != nil {
		return network.Receipt{}, err
	}
	if prepared.hasExpiredMedia(n.opts.Now()) {
		return network.Receipt{}, &network.Error{
			Class: network.OutcomeUnknown, Code: codeMediaExpired, Err: errors.New("posting: the media have expired"),
		}
	}
	var response struct {
		Data struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	c := n.newCall(g, http.MethodPost, "tweets")
	c.Purpose, c.JSON = network.PurposeCommit, prepared.requestBody()
	if err := n.do(ctx, c, &response); err != nil {
		return network.Receipt{}, err
	}
	if !isID(response.Data.ID) {
		return network.Receipt{}, &network.Error{
			Class: network.OutcomeUnknown, Status: http.StatusOK, Err: errors.New("posting: the response has no id"),
		}
	}
	return n.receipt(g, response.Data.ID), nil
}

// requestBody returns the request's body. The network rejects unknown fields.
func (d draft) requestBody() map[string]any {
	body := map[string]any{}
	if d.Text != "" {
		body["text"] = d.Text
	}
	if d.ReplyTo != "" {
		body["reply"] = map[string]string{"in_reply_to_tweet_id": d.ReplyTo}
	}
	if len(d.Uploads) > 0 {
		media := []string{}
		for _, u := range d.Uploads {
			media = append(media, u.ID)
		}
		body["media"] = map[string]any{"media_ids": media}
	}
	d.Options.addTo(body)
	return body
}

func (n *Network) receipt(g network.Grant, id string) network.Receipt {
	return network.Receipt{ID: id, Permalink: n.opts.WebURL + "/" + url.PathEscape(g.Username) + "/status/" + id}
}

// Permalink returns the URL of the post. It makes no request.
func (n *Network) Permalink(_ context.Context, g network.Grant, r network.Receipt) (string, error) {
	if r.Permalink != "" {
		return r.Permalink, nil
	}
	if !isID(r.ID) {
		return "", network.PermanentError(errors.New("the post's ID is not an X ID"))
	}
	return n.receipt(g, r.ID).Permalink, nil
}
