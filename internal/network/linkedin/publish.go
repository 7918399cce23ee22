package linkedin

import (
	"context"
	"errors"
	"net/http"

	"pressroom/internal/network"
)

const maxAlt = 4086 // characters, as others name the bound; not confirmed

// Commit makes the post. The refusal of a duplicate is no proof that it stands: LinkedIn also names posts that it does
// not show.
func (n *Network) Commit(
	ctx context.Context, g network.Grant, d network.Draft, _ network.Files,
) (network.Receipt, error) {
	p, err := drafts.Read(d)
	if err != nil {
		return network.Receipt{}, err
	}
	call := n.rest(g, http.MethodPost, "posts")
	call.Purpose = network.Committing
	call.JSON = p.request(g.Account)
	answer, err := n.ask(ctx, g, call, nil)
	if err != nil {
		return network.Receipt{}, err
	}
	id := answer.Header.Get("X-Restli-Id")
	if answer.Status != http.StatusCreated || !isPost(id) {
		return network.Receipt{}, &network.Error{
			Class: network.Uncertain, Status: answer.Status,
			Err: errors.New("publishing: the answer has no post's URN"),
		}
	}
	return network.Receipt{ID: id, Permalink: n.permalink(id)}, nil
}

// isPost tells what LinkedIn names a post by.
func isPost(urn string) bool { return isURN(urn, "share", "ugcPost") }

// request is the body of the call that makes the post.
func (d draft) request(author string) map[string]any {
	request := map[string]any{
		"author":     author,
		"commentary": escape(d.Text),
		"visibility": "PUBLIC",
		"distribution": map[string]any{
			"feedDistribution": "MAIN_FEED", "targetEntities": []string{}, "thirdPartyDistributionChannels": []string{},
		},
		"lifecycleState":            "PUBLISHED",
		"isReshareDisabledByAuthor": false,
	}
	var shown []map[string]any
	for i, urn := range d.Assets {
		medium := map[string]any{"id": urn}
		if alt := d.Media[i].Alt; alt != "" && d.Media[i].Kind != network.Video {
			medium["altText"] = network.Clip(alt, maxAlt)
		}
		shown = append(shown, medium)
	}
	switch len(shown) {
	case 0:
	case 1:
		request["content"] = map[string]any{"media": shown[0]}
	default:
		request["content"] = map[string]any{"multiImage": map[string]any{"images": shown}}
	}
	return request
}

// Permalink builds the address of a post; no call is made.
func (n *Network) Permalink(_ context.Context, _ network.Grant, r network.Receipt) (string, error) {
	if !isPost(r.ID) {
		return "", network.Unusable(errors.New("the post's id is not one of LinkedIn"))
	}
	return n.permalink(r.ID), nil
}

func (n *Network) permalink(id string) string { return n.opts.WebURL + "/feed/update/" + id + "/" }
