package linkedin

import (
	"cmp"
	"context"
	"errors"
	"net/http"

	"pressroom.example/pressroom/internal/network"
)

const maxAlt = 4086 // characters; unconfirmed, from third-party documentation

// Commit creates the post. A Duplicate error does not prove that the post exists, because the original may be a post
// that is not visible.
func (n *Network) Commit(
	ctx context.Context, g network.Grant, d network.Draft, _ network.Files,
) (network.Receipt, error) {
	if network.IsFirstComment(d) {
		return n.commitComment(ctx, g, d)
	}
	prepared, err := drafts.DecodePrepared(d)
	if err != nil {
		return network.Receipt{}, err
	}
	call := n.newCall(g, http.MethodPost, "posts")
	call.Purpose = network.PurposeCommit
	call.JSON = prepared.request(g.Account)
	response, err := n.do(ctx, g, call, nil)
	if err != nil {
		return network.Receipt{}, err
	}
	id := response.Header.Get("X-Restli-Id")
	if response.Status != http.StatusCreated || !isPostURN(id) {
		return network.Receipt{}, &network.Error{
			Class: network.OutcomeUnknown, Status: response.Status,
			Err: errors.New("publishing: the response has no URN of a post"),
		}
	}
	return network.Receipt{ID: id, Permalink: n.permalink(id)}, nil
}

// isPostURN reports whether a URN is a post's.
func isPostURN(urn string) bool { return isURN(urn, "share", "ugcPost") }

// request returns the body of the call that creates the post.
func (d draft) request(author string) map[string]any {
	request := map[string]any{
		"author":     author,
		"commentary": escapeWith(d.Text, d.Mentions),
		"visibility": cmp.Or(d.Visibility, visibilityPublic),
		"distribution": map[string]any{
			"feedDistribution": "MAIN_FEED", "targetEntities": []string{}, "thirdPartyDistributionChannels": []string{},
		},
		"lifecycleState":            "PUBLISHED",
		"isReshareDisabledByAuthor": false,
	}
	var media []map[string]any
	for i, urn := range d.Assets {
		medium := map[string]any{"id": urn}
		if alt := d.Media[i].Alt; alt != "" && d.Media[i].Kind != network.Video {
			medium["altText"] = network.Clip(alt, maxAlt)
		}
		media = append(media, medium)
	}
	switch len(media) {
	case 0:
		if attachment := d.attachment(); attachment != nil {
			request["content"] = attachment
		}
	case 1:
		request["content"] = map[string]any{"media": media[0]}
	default:
		request["content"] = map[string]any{"multiImage": map[string]any{"images": media}}
	}
	return request
}

// Permalink returns the URL of a post, without a request.
func (n *Network) Permalink(_ context.Context, _ network.Grant, r network.Receipt) (string, error) {
	if !isPostURN(r.ID) {
		return "", network.PermanentError(errors.New("the post's ID is not a LinkedIn ID"))
	}
	return n.permalink(r.ID), nil
}

func (n *Network) permalink(id string) string { return n.opts.WebURL + "/feed/update/" + id + "/" }
