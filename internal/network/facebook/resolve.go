package facebook

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/network/graph"
)

const (
	clockSkew   = 5 * time.Minute  // how far the network's clock may be behind ours
	maxSearched = 500              // maximum number of posts that a search reads
	reelCheck   = 15 * time.Minute // how long a reel may remain unpublished after the end of the upload
)

// Resolve reads the video's state, or searches the Page's posts. If the post is not found, the verdict is Absent once
// ListingDelay has passed since the last attempt.
func (n *Network) Resolve(
	ctx context.Context, g network.Grant, d network.Draft, history network.CommitHistory,
) (network.Verdict, network.Receipt, error) {
	if network.IsFirstComment(d) {
		return n.comments.Resolve(ctx, g, d, history)
	}
	prepared, err := drafts.DecodePrepared(d)
	if err != nil {
		return network.Unknown, network.Receipt{}, err
	}
	switch {
	case prepared.isVideo():
		return n.resolveVideo(ctx, g, prepared, history)
	case prepared.isStory():
		return n.resolvePhotoStory(ctx, g, prepared, history)
	}
	searchStart := n.opts.Now() // Read the time before the search, because a post may appear during the search.
	posts, truncated, err := n.findPosts(ctx, g, prepared, prepared.PreparedAt.Add(-clockSkew))
	if err != nil {
		return network.Unknown, network.Receipt{}, err
	}
	posts = slices.DeleteFunc(posts, func(l listedPost) bool { return history.BelongsToOther(l.ID, l.Permalink) })
	if len(posts) > 1 { // Posts that are older than the draft belong to other publications, unless the clocks differ.
		posts = slices.DeleteFunc(posts, func(l listedPost) bool {
			return graph.ParseTime(l.Created).Before(prepared.PreparedAt.Truncate(time.Second))
		})
	}
	switch {
	case len(posts) == 1:
		receipt := posts[0].receipt()
		receipt.MatchedByContent = true
		return network.Published, receipt, nil
	case len(posts) > 1:
		return network.Unknown, network.Receipt{}, uncertainError("several posts match this one")
	case truncated:
		return network.Unknown, network.Receipt{}, uncertainError("the Page has too many posts to search")
	}
	return n.notFound(searchStart, history)
}

func uncertainError(reason string) *network.Error {
	return &network.Error{Class: network.OutcomeUnknown, Status: http.StatusOK, Err: errors.New(reason)}
}

// notFound returns the verdict for a search that began at searchStart and did not find a matching post.
func (n *Network) notFound(searchStart time.Time, history network.CommitHistory) (network.Verdict, network.Receipt, error) {
	return n.absentAfter(time.Duration(n.opts.ListingDelay), searchStart, history)
}

// absentAfter returns Absent if delay has passed between the last attempt and searchStart. Otherwise, it returns a
// Processing error.
func (n *Network) absentAfter(
	delay time.Duration, searchStart time.Time, history network.CommitHistory,
) (network.Verdict, network.Receipt, error) {
	if searchStart.Sub(history.Last) < delay {
		return network.Unknown, network.Receipt{}, n.processingError("")
	}
	return network.Absent, network.Receipt{}, nil
}

// resolveVideo reads the video's state. If an earlier request to finish the upload arrives late, the video is still
// published only once. If the video is not found, the verdict is Unknown, because Facebook reports missing access in
// the same way.
func (n *Network) resolveVideo(
	ctx context.Context, g network.Grant, d draft, history network.CommitHistory,
) (network.Verdict, network.Receipt, error) {
	searchStart := n.opts.Now()
	videoState, err := n.readState(ctx, g, d.Video)
	if err != nil {
		return network.Unknown, network.Receipt{}, err
	}
	if videoState.isRejected() {
		return network.Absent, network.Receipt{}, videoState.failureReason()
	}
	switch videoState.Status.Video {
	case statusUploading, statusUploadComplete:
		return n.notFound(searchStart, history)
	case statusExpired, statusUploadFailed:
		return network.Absent, network.Receipt{}, lostUploadError(videoState.Status.Video)
	case statusProcessing, statusReady:
		if videoState.isPublished() {
			return network.Published, n.videoReceipt(d, videoState), nil
		}
		// Facebook checks a reel after the end of the upload, and may report the previous state until then.
		if undecided := history.Undecided || history.First.IsZero(); d.isUnfinished(videoState) && undecided && !d.Finished {
			return n.absentAfter(max(reelCheck, time.Duration(n.opts.ListingDelay)), searchStart, history)
		}
		return network.Unknown, network.Receipt{}, n.unpublishedError(videoState)
	}
	return network.Unknown, network.Receipt{},
		network.InvalidResponse(errors.New("reading a video: the response has no known status"))
}

// unpublishedError returns the error for a video that is not published yet. If Facebook keeps the video as a draft, the
// message says so.
func (n *Network) unpublishedError(videoState state) *network.Error {
	netErr := n.processingError(statusProcessing)
	if strings.EqualFold(videoState.Status.Publishing.PublishStatus, statusDraft) {
		netErr.Message = "Facebook keeps the video as a draft. Share it on Facebook."
	}
	return netErr
}

// listedPost is a post in the Page's list of posts.
type listedPost struct {
	ID          string `json:"id"`
	Message     string `json:"message"`
	Created     string `json:"created_time"`
	Permalink   string `json:"permalink_url"`
	Attachments struct {
		Data []struct {
			Type  string `json:"type"`
			Parts struct {
				Data []struct{} `json:"data"`
			} `json:"subattachments"`
		} `json:"data"`
	} `json:"attachments"`
}

// findPosts returns the posts since the given time that match the draft. It also reports whether there may be more
// matches.
func (n *Network) findPosts(
	ctx context.Context, g network.Grant, d draft, since time.Time,
) ([]listedPost, bool, error) {
	call := n.newCall(g, http.MethodGet, g.Account+"/published_posts", url.Values{
		"fields": {"id,message,created_time,permalink_url,attachments"},
	}, nil)
	posts, truncated, err := graph.ListSince(ctx, n.graph, call, since, maxSearched, func(l listedPost) time.Time {
		return graph.ParseTime(l.Created)
	})
	return slices.DeleteFunc(posts, func(l listedPost) bool {
		return !graph.IsID(l.ID) || !l.matches(d) || graph.ParseTime(l.Created).Before(since)
	}), truncated, err
}

// matches reports whether a post has the draft's text and number of photos. It ignores white space, because the network
// may change it.
func (l listedPost) matches(d draft) bool {
	return network.SameWords(l.Message, d.Text) && l.countPhotos() == len(d.Photos)
}

// countPhotos returns the number of photos in a post. The image in a link preview does not count.
func (l listedPost) countPhotos() int {
	count := 0
	for _, a := range l.Attachments.Data {
		if parts := len(a.Parts.Data); parts > 0 {
			count += parts
		} else if a.Type == "photo" {
			count++
		}
	}
	return count
}

func (l listedPost) receipt() network.Receipt {
	return network.Receipt{ID: l.ID, Permalink: network.WebURL(l.Permalink), At: graph.ParseTime(l.Created)}
}
