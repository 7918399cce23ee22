package facebook

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/network/graph"
)

// publishPhotoStory publishes the uploaded photo as a story. A photo can be published only once, so a repeated call
// does not create a second story.
//
// Source: https://developers.facebook.com/docs/page-stories-api
func (n *Network) publishPhotoStory(ctx context.Context, g network.Grant, d draft) (network.Receipt, error) {
	var response struct {
		Success bool   `json:"success"`
		Post    string `json:"post_id"`
	}
	c := n.newCall(g, http.MethodPost, g.Account+"/photo_stories", url.Values{"photo_id": {d.Photos[0]}}, &response)
	c.Purpose = network.PurposeCommit
	if err := n.graph.Do(ctx, c); err != nil {
		if netErr, ok := errors.AsType[*network.Error](err); ok && netErr.Class == network.Duplicate {
			return network.Receipt{}, usedPhotoError(d, *netErr)
		}
		return network.Receipt{}, err
	}
	if !response.Success || !graph.IsID(response.Post) {
		return network.Receipt{}, uncertainError("publishing a story: the response does not confirm success")
	}
	return network.Receipt{ID: response.Post}, nil
}

// usedPhotoError returns the error for a photo that was already published as a story. Only this draft uses the photo,
// so an earlier call must have published it.
func usedPhotoError(p draft, rejection network.Error) *network.Error {
	p.PhotoUsed = true
	rejection.Class = network.OutcomeUnknown
	if d, err := drafts.Encode(p); err == nil {
		rejection.Draft = d
	}
	return &rejection
}

// listedStory is a story in the Page's list of stories. The IDs and the time are numbers, encoded as strings.
type listedStory struct {
	Post    string `json:"post_id"`
	Media   string `json:"media_id"`
	Created string `json:"creation_time"`
	URL     string `json:"url"`
}

func (s listedStory) receipt() network.Receipt {
	r := network.Receipt{ID: s.Post, Permalink: network.WebURL(s.URL)}
	if seconds, err := strconv.ParseInt(s.Created, 10, 64); err == nil {
		r.At = time.Unix(seconds, 0).UTC()
	}
	return r
}

// resolvePhotoStory searches the Page's stories for the photo. Facebook lists stories only if the Page archives them.
// If the story is not listed, the verdict is therefore Absent, and the draft is committed again. Facebook publishes the
// photo only once, and rejects later calls. After such a rejection, the verdict is Published. The story's ID remains
// unknown if the story is not listed.
func (n *Network) resolvePhotoStory(
	ctx context.Context, g network.Grant, d draft, history network.CommitHistory,
) (network.Verdict, network.Receipt, error) {
	searchStart := n.opts.Now() // Read the time before the search, because a story may appear during the search.
	var response struct {
		Data []listedStory `json:"data"`
	}
	since := strconv.FormatInt(d.PreparedAt.Add(-clockSkew).Unix(), 10)
	err := n.graph.Do(ctx, n.newCall(g, http.MethodGet, g.Account+"/stories", url.Values{"since": {since}, "limit": {"100"}}, &response))
	if err != nil {
		return network.Unknown, network.Receipt{}, err
	}
	i := slices.IndexFunc(response.Data, func(s listedStory) bool { return graph.IsID(s.Post) && s.Media == d.Photos[0] })
	if i >= 0 {
		return network.Published, response.Data[i].receipt(), nil
	}
	if d.PhotoUsed {
		return network.Published, network.Receipt{}, nil
	}
	return n.notFound(searchStart, history)
}

// fileLimits returns the limits on one of the post's files.
func (n *Network) fileLimits(d draft, kind string) network.FileLimits {
	return n.opts.Rules.ForOptions(platform, d.content().Options).FileLimits(kind)
}
