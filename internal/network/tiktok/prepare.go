package tiktok

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	"pressroom/internal/network"
)

const (
	// of photos' links: longer than a delivery waits for its turn and the network for a download
	linkLife    = 4 * time.Hour
	linkSpare   = 2 * time.Hour    // what has to be left of it
	uploadLife  = time.Hour        // of the address for an upload: not confirmed
	uploadQuiet = time.Minute      // after the last call, in which a part that was under way may still come
	uploadLate  = 50 * time.Minute // after which an upload is begun anew
	firstRest   = time.Second
	maxBuilds   = 3
)

// Prepare asks what the network takes of the account. Then it makes links to photos, or uploads a video but for its
// last part. The id that the network gives a video comes back before the parts are sent, so that whoever takes over
// goes on where the upload ended. An upload that failed, or was left too long, is begun anew a few times, which shows
// nothing.
func (n *Network) Prepare(
	ctx context.Context, g network.Grant, d network.Draft, files network.Files,
) (network.Draft, time.Duration, error) {
	return drafts.Prepare(d, func(p *draft) (time.Duration, error) { return n.advance(ctx, g, p, files) })
}

func (n *Network) advance(ctx context.Context, g network.Grant, p *draft, files network.Files) (time.Duration, error) {
	if p.Privacy == "" {
		if err := network.Blocked(n.Check(network.Content{Text: p.Text, Media: p.Media})); err != nil {
			return 0, err
		}
		if err := n.askCreator(ctx, g, p); err != nil {
			return 0, err
		}
	}
	switch {
	case !p.isVideo():
		p.Upload = upload{} // of photos that the network gave up
		return 0, n.link(ctx, p, files)
	case p.Upload.ID == "":
		return n.begin(ctx, g, p, files)
	}
	return n.carryOn(ctx, g, p, files)
}

// audiences are who may see a post, the widest first.
var audiences = []string{everyone, "FOLLOWER_OF_CREATOR", "MUTUAL_FOLLOW_FRIENDS", "SELF_ONLY"}

const everyone = "PUBLIC_TO_EVERYONE"

// askCreator asks what the account's owner has allowed. The network wants that to be asked before each post.
func (n *Network) askCreator(ctx context.Context, g network.Grant, p *draft) error {
	var creator struct {
		Privacy   []string `json:"privacy_level_options"`
		NoComment bool     `json:"comment_disabled"`
		NoDuet    bool     `json:"duet_disabled"`
		NoStitch  bool     `json:"stitch_disabled"`
		Longest   int64    `json:"max_video_post_duration_sec"`
	}
	if err := n.ask(ctx, g, post(network.Reading, struct{}{}), "post/publish/creator_info/query/",
		&creator); err != nil {
		return err
	}
	if p.isVideo() && creator.Longest > 0 && p.Media[0].Duration.Seconds() > float64(creator.Longest) {
		return &network.Error{
			Class: network.RejectedMedia, Code: durationFailed,
			Message: fmt.Sprintf("The account may post videos of at most %d seconds.", creator.Longest),
			Err:     errors.New("the video is longer than the account may post"),
		}
	}
	widest := slices.IndexFunc(audiences, func(a string) bool { return slices.Contains(creator.Privacy, a) })
	if widest < 0 {
		return network.Unreadable(errors.New("asking for the account's settings: the answer names nobody who may " +
			"see a post"))
	}
	p.Privacy, p.NoComment, p.NoDuet, p.NoStitch = audiences[widest], creator.NoComment, creator.NoDuet,
		creator.NoStitch
	return nil
}

// link makes the addresses at which the network finds the photos. They are kept: the call that shows them is repeated
// as it was, but where a post that is not found counts as none after a time, within which alone photos may then be
// fetched.
func (n *Network) link(ctx context.Context, p *draft, files network.Files) error {
	now := n.opts.Now().UTC()
	if len(p.Links) == len(p.Media) && p.Until.Sub(now) > linkSpare {
		return nil
	}
	p.Made = now
	return n.linkUntil(ctx, p, files, now.Add(linkLife))
}

func (n *Network) linkUntil(ctx context.Context, p *draft, files network.Files, until time.Time) error {
	links := make([]string, len(p.Media))
	for i, m := range p.Media {
		var err error
		if links[i], err = files.Link(ctx, m.ID, n.opts.Rules.Fit(m.Kind), until); err != nil {
			return network.FileFailed(err)
		}
	}
	p.Links, p.Until = links, until
	return nil
}

// begin asks for a place to upload the video to.
func (n *Network) begin(ctx context.Context, g network.Grant, p *draft, files network.Files) (time.Duration, error) {
	file, err := n.open(ctx, p, files)
	if err != nil {
		return 0, err
	}
	_ = file.Close() // its measures are all that is needed now
	if file.Size <= 0 {
		return 0, &network.Error{Class: network.RejectedMedia, Err: errors.New("the video is empty")}
	}
	u := newUpload(file, n.opts.ChunkBytes)
	var made struct {
		ID  string `json:"publish_id"`
		URL string `json:"upload_url"`
	}
	err = n.ask(ctx, g, post(network.Reading, map[string]any{"post_info": p.videoInfo(), "source_info": map[string]any{
		"source": "FILE_UPLOAD", "video_size": u.Size, "chunk_size": u.Chunk, "total_chunk_count": u.Parts,
	}}), "post/publish/video/init/", &made)
	if err != nil {
		return 0, err
	}
	if made.ID == "" || len(made.ID) > maxID || network.WebAddress(made.URL) == "" {
		return 0, network.Unreadable(errors.New("beginning an upload: the answer lacks its id or its address"))
	}
	u.ID, u.URL = made.ID, made.URL
	p.Upload, p.Made = u, n.opts.Now().UTC()
	if u.Parts > 1 {
		return firstRest, nil
	}
	return 0, nil
}

func (p draft) videoInfo() map[string]any {
	info := map[string]any{
		"title": p.Text, "privacy_level": p.Privacy,
		"disable_comment": p.NoComment, "disable_duet": p.NoDuet, "disable_stitch": p.NoStitch,
		"brand_content_toggle": false, "brand_organic_toggle": false,
	}
	if cover := p.Media[0].Cover; cover > 0 {
		info["video_cover_timestamp_ms"] = cover.Milliseconds()
	}
	return info
}

// carryOn sends what is missing of a video up to the last part: nothing where the network has more already.
func (n *Network) carryOn(ctx context.Context, g network.Grant, p *draft, files network.Files) (time.Duration, error) {
	now, err := n.status(ctx, g, p.Upload.ID)
	if said, ok := errors.AsType[*network.Error](err); ok && said.Class == network.Rejected {
		return n.rebuild(p, said) // the id is known no more
	}
	switch {
	case err != nil:
		return 0, err
	case now.Status == failed:
		reason := n.reason(now.Reason)
		if reason.Class != network.Transient {
			return 0, reason
		}
		return n.rebuild(p, reason)
	case !now.missing(p.Upload):
		return 0, nil
	case n.opts.Now().Sub(p.Made) > uploadLate:
		return n.rebuild(p, &network.Error{Class: network.Transient, Code: uploadExpired})
	}
	return n.sendParts(ctx, p, files, *now.Uploaded/p.Upload.Chunk)
}

// rebuild lets go of an upload, so that the next call begins another; after some times it gives up for the reason
// given.
func (n *Network) rebuild(p *draft, reason *network.Error) (time.Duration, error) {
	if p.Builds >= maxBuilds {
		return 0, reason
	}
	p.Builds++
	p.Upload, p.Made = upload{}, time.Time{}
	return firstRest << p.Builds, nil
}

// sendParts sends the parts from one on, but not the last.
func (n *Network) sendParts(ctx context.Context, p *draft, files network.Files, first int64) (time.Duration, error) {
	if first >= p.Upload.Parts-1 {
		return 0, nil
	}
	file, err := n.open(ctx, p, files)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	from, _ := p.Upload.part(first)
	if err := skip(file, from); err != nil {
		return 0, err
	}
	for i := first; i < p.Upload.Parts-1; i++ {
		answer, err := n.put(ctx, network.Fetching, p.Upload, i, file)
		if err != nil {
			return 0, err
		}
		if err := n.taken(answer); err != nil {
			if err.Class == network.Rejected {
				return n.rebuild(p, err)
			}
			return 0, err
		}
	}
	return 0, nil
}

func (n *Network) open(ctx context.Context, p *draft, files network.Files) (network.File, error) {
	file, err := files.Open(ctx, p.Media[0].ID, n.opts.Rules.Fit(network.Video))
	if err != nil {
		return network.File{}, network.FileFailed(err)
	}
	return file, nil
}

// skip goes to a place in a file.
func skip(file network.File, bytes int64) error {
	var err error
	if inside, ok := file.ReadCloser.(io.Seeker); ok {
		_, err = inside.Seek(bytes, io.SeekStart)
	} else {
		_, err = io.CopyN(io.Discard, file, bytes)
	}
	if err != nil {
		return network.FileFailed(err)
	}
	return nil
}

// put sends one part, which the file is at. The address lets in whoever knows it, so no token goes with it.
func (n *Network) put(
	ctx context.Context, purpose network.Purpose, u upload, part int64, file io.Reader,
) (network.Answer, error) {
	from, size := u.part(part)
	return n.client.Do(ctx, network.Call{
		Purpose: purpose, Name: "upload", Method: http.MethodPut, URL: u.URL, Secrets: []string{u.URL},
		Header: http.Header{"Content-Range": {fmt.Sprintf("bytes %d-%d/%d", from, from+size-1, u.Size)}},
		Body:   &network.Body{Reader: io.LimitReader(file, size), Type: u.Type, Size: size},
	})
}

// taken is nil where the upload server took a part: its answers are a status alone.
func (n *Network) taken(answer network.Answer) *network.Error {
	switch {
	case answer.Status >= 200 && answer.Status <= 299:
		return nil
	case answer.Status == http.StatusTooManyRequests:
		return n.timed(answer, answer.Refusal(network.Rate, "", ""))
	case answer.Status >= 400 && answer.Status <= 499:
		return answer.Refusal(network.Rejected, "", "")
	}
	return answer.Refusal(network.Transient, "", "")
}
