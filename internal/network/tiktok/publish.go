package tiktok

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/network"
)

const (
	pollInterval = 5 * time.Second // between two checks of a post in progress
	listingDelay = 2 * time.Minute // time within which photos are usually listed
	clockSkew    = time.Minute     // how far the network's clock may be behind
	pageSize     = 20              // posts, the network's limit

	pendingPrefix = "publish:" // prefix of a publish_id, for a post without a public ID
)

// Commit sends the last part of a video, or requests that the network fetch the photos. It returns the receipt if the
// network has already decided, else a Processing error.
func (n *Network) Commit(
	ctx context.Context, g network.Grant, d network.Draft, files network.Files,
) (network.Receipt, error) {
	prepared, err := drafts.DecodePrepared(d)
	if err != nil {
		return network.Receipt{}, err
	}
	if !prepared.isVideo() {
		return n.commitPhotos(ctx, g, prepared, files)
	}
	return n.commitVideo(ctx, g, prepared, files)
}

// commitVideo sends the last part. If TikTok rejects the part, an earlier request may have sent it. The error is then
// OutcomeUnknown, because only the upload's status shows whether the part arrived.
func (n *Network) commitVideo(
	ctx context.Context, g network.Grant, d draft, files network.Files,
) (network.Receipt, error) {
	file, err := n.openVideo(ctx, &d, files)
	if err != nil {
		return network.Receipt{}, err
	}
	defer file.Close()
	last := d.Upload.Parts - 1
	from, _ := d.Upload.partRange(last)
	if err := seekTo(file, from); err != nil {
		return network.Receipt{}, err
	}
	response, err := n.putPart(ctx, network.PurposeCommit, d.Upload, last, file)
	if err != nil {
		return network.Receipt{}, err
	}
	if err := n.partError(response); err != nil {
		if err.Class == network.Rejected {
			err.Class = network.OutcomeUnknown
		}
		return network.Receipt{}, err
	}
	state, err := n.fetchStatus(ctx, g, d.Upload.ID)
	switch {
	case err == nil && state.isDone(d):
		return n.receipt(g, d.Upload.ID, state), nil
	case err == nil && state.Status == statusFailed && n.rejectionError(state.Reason).Class != network.Transient:
		return network.Receipt{}, n.rejectionError(state.Reason)
	}
	return network.Receipt{}, n.processingError(state.Status)
}

// commitPhotos makes the call that publishes photos. Only its response has the post's ID, so the Draft of a Processing
// error stores the ID. Source: https://developers.tiktok.com/doc/content-posting-api-reference-photo-post.
func (n *Network) commitPhotos(
	ctx context.Context, g network.Grant, d draft, files network.Files,
) (network.Receipt, error) {
	links := d.Links
	// photos that are fetched late must not be published after a retry has published them
	if window := n.opts.MediaFetchWindow(); window > 0 {
		if err := n.linkPhotosUntil(ctx, &d, files, n.opts.Now().UTC().Add(window)); err != nil {
			return network.Receipt{}, err
		}
	}
	mode, info := "MEDIA_UPLOAD", map[string]any{"description": d.Text}
	if !d.isForInbox() {
		mode, info = "DIRECT_POST", map[string]any{
			"description": d.Text, "privacy_level": d.Privacy, "disable_comment": !d.Choices.AllowComment,
			"auto_add_music":       false,
			"brand_content_toggle": d.Choices.BrandContent, "brand_organic_toggle": d.Choices.BrandOrganic,
		}
	}
	if d.Title != "" {
		info["title"] = d.Title
	}
	c := newPostCall(network.PurposeCommit, map[string]any{
		"media_type": "PHOTO", "post_mode": mode, "post_info": info,
		"source_info": map[string]any{"source": "PULL_FROM_URL", "photo_cover_index": 0, "photo_images": d.Links},
	})
	c.Secrets = slices.Concat(links, d.Links) // the links work without a token
	var response struct {
		ID string `json:"publish_id"`
	}
	if err := n.callAPI(ctx, g, c, "post/publish/content/init/", &response); err != nil {
		return network.Receipt{}, err
	}
	if response.ID == "" || len(response.ID) > maxID {
		return network.Receipt{}, &network.Error{
			Class: network.OutcomeUnknown, Status: http.StatusOK, Err: errors.New("publishing: the response has no id"),
		}
	}
	state, err := n.fetchStatus(ctx, g, response.ID)
	switch {
	case err == nil && state.isDone(d):
		return n.receipt(g, response.ID, state), nil
	case err == nil && state.Status == statusFailed && n.rejectionError(state.Reason).Class != network.Transient:
		return network.Receipt{}, n.rejectionError(state.Reason)
	}
	d.Upload.ID = response.ID
	processingErr := n.processingError(state.Status)
	if processingErr.Draft, err = drafts.Encode(d); err != nil {
		return network.Receipt{}, &network.Error{Class: network.OutcomeUnknown, Err: err}
	}
	return network.Receipt{}, processingErr
}

// Values of postState.Status.
const (
	statusUploading   = "PROCESSING_UPLOAD"
	statusDownloading = "PROCESSING_DOWNLOAD"
	statusInbox       = "SEND_TO_USER_INBOX"
	statusComplete    = "PUBLISH_COMPLETE"
	statusFailed      = "FAILED"

	codeUploadExpired = "upload_expired" // not a TikTok code: the upload expired
)

// postState is TikTok's status of a post.
type postState struct {
	Status   string        `json:"status"`
	Reason   string        `json:"fail_reason"`
	Posts    []json.Number `json:"publicaly_available_post_id"` //nolint:misspell // the API's spelling
	Uploaded *int64        `json:"uploaded_bytes"`
}

// isDone reports whether the post is published, or is in the inbox in inbox mode.
func (s postState) isDone(d draft) bool {
	return s.Status == statusComplete || s.Status == statusInbox && d.isForInbox()
}

// lacksBytes reports whether parts of the file have not arrived, according to TikTok.
func (s postState) lacksBytes(u upload) bool {
	return s.Status == statusUploading && s.Uploaded != nil && *s.Uploaded >= 0 && *s.Uploaded < u.Size
}

func (n *Network) fetchStatus(ctx context.Context, g network.Grant, id string) (postState, error) {
	var state postState
	c := newPostCall(network.PurposeRead, map[string]string{"publish_id": id})
	err := n.callAPI(ctx, g, c, "post/publish/status/fetch/", &state)
	return state, err
}

// processingError returns the error for a post that TikTok is still processing.
func (n *Network) processingError(status string) *network.Error {
	return &network.Error{
		Class: network.Processing, Status: http.StatusOK, Code: network.Clip(status, maxName),
		RetryAt: n.opts.Now().Add(pollInterval).UTC(),
		Err:     errors.New("TikTok is still processing the post"),
	}
}

var numericID = regexp.MustCompile(`^[0-9]{1,40}$`)

// receipt returns the receipt of a post. A public post gets a public ID after moderation, which may take hours. Other
// posts never get a public ID, so their receipt has the publish_id.
func (n *Network) receipt(g network.Grant, id string, state postState) network.Receipt {
	for _, public := range state.Posts {
		if numericID.MatchString(public.String()) {
			return network.Receipt{ID: public.String(), Permalink: n.postURL(g.Username, postKind(id), public.String())}
		}
	}
	return network.Receipt{ID: pendingPrefix + id}
}

// postKind returns the path segment of a permalink for a publish_id: photo if it starts with p_pub, else video.
func postKind(id string) string {
	if strings.HasPrefix(id, "p_pub") {
		return "photo"
	}
	return "video"
}

// Resolve reads the status of a publication. A video without its last part is Absent, because sending the last part
// creates only one post. If the ID of photos was lost, Resolve searches the account's public posts.
func (n *Network) Resolve(
	ctx context.Context, g network.Grant, d network.Draft, history network.CommitHistory,
) (network.Verdict, network.Receipt, error) {
	prepared, err := drafts.DecodePrepared(d)
	if err != nil {
		return network.Unknown, network.Receipt{}, err
	}
	if prepared.Upload.ID == "" {
		return n.resolvePhotos(ctx, g, prepared, history)
	}
	checkedAt := n.opts.Now()
	state, err := n.fetchStatus(ctx, g, prepared.Upload.ID)
	switch {
	case err != nil:
		return network.Unknown, network.Receipt{}, err
	case state.isDone(prepared):
		return network.Published, n.receipt(g, prepared.Upload.ID, state), nil
	case state.Status == statusFailed:
		return network.Absent, network.Receipt{}, n.rejectionError(state.Reason)
	case state.lacksBytes(prepared.Upload) && checkedAt.Sub(prepared.CreatedAt) > uploadLifetime &&
		checkedAt.Sub(history.Last) < uploadGrace:
		return network.Unknown, network.Receipt{}, n.processingError(state.Status)
	case state.lacksBytes(prepared.Upload) && checkedAt.Sub(prepared.CreatedAt) > uploadLifetime:
		return network.Absent, network.Receipt{}, &network.Error{Class: network.Transient, Code: codeUploadExpired}
	case state.lacksBytes(prepared.Upload):
		return network.Absent, network.Receipt{}, nil
	case state.Status == statusUploading || state.Status == statusDownloading:
		return network.Unknown, network.Receipt{}, n.processingError(state.Status)
	}
	return network.Unknown, network.Receipt{},
		network.InvalidResponse(errors.New("reading a post's status: the response has no known status"))
}

// resolvePhotos searches the account's listed posts. TikTok lists only public posts, and may list no photos at all. A
// missing post therefore counts as absent only after the ListingDelay that the operator has set.
func (n *Network) resolvePhotos(
	ctx context.Context, g network.Grant, d draft, history network.CommitHistory,
) (network.Verdict, network.Receipt, error) {
	unknownErr := &network.Error{
		Class: network.OutcomeUnknown,
		Err:   errors.New("TikTok does not report whether the post was published; look for it on the profile"),
	}
	if !slices.Contains(g.Scopes, scopeVideoList) || d.Privacy != privacyPublic {
		return network.Unknown, network.Receipt{}, unknownErr
	}
	searchStart := n.opts.Now() // before the search, because a post may appear during it
	posts, err := n.findPhotos(ctx, g, d)
	if err != nil {
		return network.Unknown, network.Receipt{}, err
	}
	posts = slices.DeleteFunc(posts, func(l listedPost) bool { return history.BelongsToOther(l.ID, l.receipt(n, g).Permalink) })
	since, absentAfter := searchStart.Sub(history.Last), time.Duration(n.opts.ListingDelay)
	switch {
	case len(posts) == 1:
		receipt := posts[0].receipt(n, g)
		receipt.MatchedByContent = true
		return network.Published, receipt, nil
	case len(posts) > 1:
		return network.Unknown, network.Receipt{}, unknownErr
	case absentAfter > 0 && since >= absentAfter:
		return network.Absent, network.Receipt{}, nil
	case since < listingDelay:
		return network.Unknown, network.Receipt{}, n.processingError("")
	}
	return network.Unknown, network.Receipt{}, unknownErr
}

// listedPost is a post in a list. It is unconfirmed which field has the text of photos, so all text fields are
// compared.
type listedPost struct {
	ID          string  `json:"id"`
	Created     int64   `json:"create_time"` // Unix seconds
	Duration    float64 `json:"duration"`    // seconds; photos have none
	Title       string  `json:"title"`
	Description string  `json:"video_description"`
	Address     string  `json:"share_url"`
}

func (l listedPost) matches(p draft) bool {
	return numericID.MatchString(l.ID) && l.Duration == 0 &&
		slices.ContainsFunc([]string{p.Text, p.Title + " " + p.Text}, func(text string) bool {
			return network.SameWords(l.Description, text) || network.SameWords(l.Title, text)
		})
}

func (l listedPost) receipt(n *Network, g network.Grant) network.Receipt {
	address := network.WebURL(l.Address)
	if address == "" {
		address = n.postURL(g.Username, "photo", l.ID)
	}
	return network.Receipt{ID: l.ID, Permalink: address, At: time.Unix(l.Created, 0).UTC()}
}

// findPhotos returns the newest listed posts that match the draft. If several match, posts older than the draft's
// preparation are dropped.
func (n *Network) findPhotos(ctx context.Context, g network.Grant, d draft) ([]listedPost, error) {
	c := newPostCall(network.PurposeRead, map[string]int{"max_count": pageSize})
	c.Query = url.Values{"fields": {"id,create_time,duration,title,video_description,share_url"}}
	var page struct {
		Videos []listedPost `json:"videos"`
	}
	if err := n.callAPI(ctx, g, c, "video/list/", &page); err != nil {
		return nil, err
	}
	isUnrelated := func(at time.Time) func(listedPost) bool {
		return func(l listedPost) bool { return l.Created < at.Unix() || !l.matches(d) }
	}
	posts := slices.DeleteFunc(page.Videos, isUnrelated(d.CreatedAt.Add(-clockSkew)))
	if len(posts) > 1 {
		posts = slices.DeleteFunc(posts, isUnrelated(d.CreatedAt))
	}
	return posts, nil
}

// Permalink returns the URL of a post. It looks up the public ID if the receipt has none. The URL is empty if TikTok
// has not assigned one yet.
func (n *Network) Permalink(ctx context.Context, g network.Grant, r network.Receipt) (string, error) {
	if r.Permalink != "" {
		return r.Permalink, nil
	}
	id, isPending := strings.CutPrefix(r.ID, pendingPrefix)
	if !isPending {
		if !numericID.MatchString(id) {
			return "", network.PermanentError(errors.New("the post's ID is not a TikTok ID"))
		}
		return n.postURL(g.Username, "video", id), nil
	}
	state, err := n.fetchStatus(ctx, g, id)
	if err != nil {
		return "", err
	}
	if state.Status == statusFailed {
		return "", n.rejectionError(state.Reason)
	}
	return n.receipt(g, id, state).Permalink, nil
}
