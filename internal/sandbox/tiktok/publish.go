package tiktok

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"

	"pressroom.example/pressroom/internal/sandbox/base"
	"pressroom.example/pressroom/internal/sandbox/marker"
	"pressroom.example/pressroom/internal/sandbox/store"
)

const (
	// Maximum lengths of texts, in UTF-16 code units.
	maxTitle       = 2200
	maxPhotoTitle  = 90
	maxDescription = 4000

	// Maximum sizes in bytes.
	maxPhoto = 20 << 20
	maxVideo = 4 << 30
	minChunk = 5_000_000
	maxChunk = 64 << 20

	maxPhotos   = 35
	maxParts    = 1000
	maxPageSize = 20
)

const (
	scopePublish = "video.publish"
	scopeUpload  = "video.upload"
)

// creatorInfo responds with the settings that the caller's account offers for posts.
func (n *Network) creatorInfo(r *http.Request) (any, error) {
	var a caller
	err := n.Store.InTx(r.Context(), func(t store.Tx) error {
		var err error
		if a, err = n.authenticate(r, t, scopePublish); err != nil {
			return err
		}
		return n.checkCap(r.Context(), t, a)
	})
	return map[string]any{
		"creator_username": a.Handle, "creator_nickname": a.DisplayName, "privacy_level_options": audiences(a.Account),
		"comment_disabled": false, "duet_disabled": a.Handle == "mira.keller",
		"stitch_disabled":             a.Handle == "mira.keller",
		"max_video_post_duration_sec": maxVideoSeconds(a.Handle),
	}, err
}

// maxVideoSeconds returns the maximum duration of an account's videos, in seconds. Some accounts have a lower maximum.
func maxVideoSeconds(handle string) int {
	if handle == "studio.north" {
		return 60
	}
	return 600
}

// postRequest is the request that initializes a post.
type postRequest struct {
	MediaType string `json:"media_type"` // only for photos
	Mode      string `json:"post_mode"`  // only for photos
	Info      struct {
		Title       string `json:"title"`
		Description string `json:"description"`
		Privacy     string `json:"privacy_level"`
	} `json:"post_info"`
	Source struct {
		Source string   `json:"source"`
		Size   int64    `json:"video_size"`
		Chunk  int64    `json:"chunk_size"`
		Parts  int64    `json:"total_chunk_count"`
		Cover  int      `json:"photo_cover_index"`
		Photos []string `json:"photo_images"`
	} `json:"source_info"`
}

func (p postRequest) checkText(title, description int) error {
	if textLength(p.Info.Title) > title || textLength(p.Info.Description) > description {
		return invalidParams("The text is too long")
	}
	return nil
}

// checkAudience returns an error for a privacy level that the account does not offer.
func (c caller) checkAudience(privacy string) error {
	if privacy != audienceInbox && !slices.Contains(audiences(c.Account), privacy) {
		return errAudience
	}
	return nil
}

var errAudience = badRequest("privacy_level_option_mismatch", "privacy_level is not one of the creator's options")

func textLength(text string) int { return len(utf16.Encode([]rune(text))) }

// checkParts returns an error if the division of the file into chunks is invalid.
func (p postRequest) checkParts() error {
	s := p.Source
	isWhole := s.Parts == 1 && s.Chunk == s.Size && s.Size <= maxChunk
	isDivided := s.Chunk >= minChunk && s.Chunk <= maxChunk && s.Parts >= 1 && s.Parts <= maxParts &&
		s.Parts == s.Size/s.Chunk
	switch {
	case s.Source != "FILE_UPLOAD":
		return invalidParams("This sandbox accepts videos only by FILE_UPLOAD")
	case s.Size < 1 || s.Size > maxVideo:
		return invalidParams("video_size is out of range")
	case !isWhole && !isDivided:
		return invalidParams("The total chunk count is invalid")
	}
	return nil
}

// initVideo responds with the URL for uploading a video. It applies the markers that reject the post. The other markers
// are applied when the upload is complete.
func (n *Network) initVideo(r *http.Request) (any, error) {
	var in postRequest
	err := readBody(r, &in)
	if err == nil {
		err = in.checkText(maxTitle, 0)
	}
	if err == nil && in.Info.Privacy == audienceInbox {
		err = errAudience
	}
	if err != nil {
		return nil, err
	}
	return n.initUpload(r, in, scopePublish)
}

// initInboxVideo is like initVideo, but for a video without a text. The person completes the post in the TikTok app.
func (n *Network) initInboxVideo(r *http.Request) (any, error) {
	var in postRequest
	if err := readBody(r, &in); err != nil {
		return nil, err
	}
	in.Info.Privacy = audienceInbox
	return n.initUpload(r, in, scopeUpload)
}

func (n *Network) initUpload(r *http.Request, in postRequest, scope string) (any, error) {
	if err := in.checkParts(); err != nil {
		return nil, err
	}
	p := publication{
		text: in.Info.Title, privacy: in.Info.Privacy, size: in.Source.Size, chunk: in.Source.Chunk,
		parts: in.Source.Parts,
		token: base.NewID() + base.NewID(), createdAt: n.Now(),
	}
	var outcome marker.Outcome
	err := n.Store.InTx(r.Context(), func(t store.Tx) error {
		a, err := n.authenticate(r, t, scope)
		if err != nil {
			return err
		}
		p.account = a.ID
		if err := a.checkAudience(p.privacy); err != nil {
			return err
		}
		if err := n.checkAudit(r.Context(), t, a, p); err != nil {
			return err
		}
		if outcome, err = n.applyRejections(r.Context(), t, p, a.session); err != nil || outcome.ClientErr != nil {
			return err
		}
		return insertPublication(r.Context(), t, &p, n.Hash(p.token))
	})
	if err == nil {
		err = outcome.ClientErr
	}
	return map[string]any{
		"publish_id": p.id(),
		"upload_url": n.BaseURL(r) + "/" + Name + "/upload/video/?upload_id=" + p.id() + "&upload_token=" +
			p.token,
	}, err
}

func (p publication) markers() marker.Set { return marker.Read(p.text, Name) }

// applyRejections applies the markers that reject a post before it is stored.
func (n *Network) applyRejections(ctx context.Context, t store.Tx, p publication, session string) (marker.Outcome, error) {
	expired, err := marker.ConsumeOnce(ctx, t, Name, p.markers(), marker.Key(p.account, p.text), marker.ExpiredToken)
	switch {
	case err != nil:
		return marker.Outcome{}, err
	case expired:
		return marker.Outcome{ClientErr: errToken}, t.EndSession(ctx, Name, session)
	case p.markers().Has(marker.Unapproved) && p.privacy != audienceInbox:
		return marker.Outcome{ClientErr: errUnaudited}, nil
	case p.markers().Has(marker.RateLimit):
		return marker.Outcome{ClientErr: errRateLimited}, nil
	}
	return marker.Outcome{}, nil
}

// finish stores a post whose files are complete, and applies the other markers.
func (n *Network) finish(
	ctx context.Context, t store.Tx, p *publication, files []store.Blob, waited bool,
) (marker.Outcome, error) {
	failed, err := marker.ConsumeOnce(ctx, t, Name, p.markers(), marker.Key(p.account, p.text), marker.Failure)
	if err != nil || failed {
		return marker.Outcome{ClientErr: errInternal}, err
	}
	if wait := p.markers().Slow; wait > 0 && !waited {
		return marker.Outcome{Wait: wait}, nil
	}
	if p.markers().Has(marker.Reject) {
		p.failure = "spam_risk_text"
	}
	p.completedAt = n.Now()
	if p.seq == 0 {
		if err := insertPublication(ctx, t, p, nil); err != nil {
			return marker.Outcome{}, err
		}
	}
	if err := finishPublication(ctx, t, p, files); err != nil {
		return marker.Outcome{}, err
	}
	outcome := marker.Outcome{Post: p.id()}
	lost, err := marker.LosesResponse(ctx, t, Name, p.markers(), marker.Key(p.account, p.text))
	if lost {
		outcome.ClientErr = marker.ErrLost
	}
	return outcome, err
}

// fetchStatus returns the status of a post.
func (n *Network) fetchStatus(r *http.Request) (any, error) {
	var in struct {
		ID string `json:"publish_id"`
	}
	if err := readBody(r, &in); err != nil {
		return nil, err
	}
	var response map[string]any
	err := n.Store.InTx(r.Context(), func(t store.Tx) error {
		a, err := n.authenticate(r, t, scopePublish, scopeUpload)
		if err != nil {
			return err
		}
		p, found, err := findPublicationByID(r.Context(), t, a.ID, in.ID)
		if err == nil && !found {
			err = badRequest("invalid_publish_id", "The publish_id does not exist")
		}
		if err == nil && !p.completedAt.IsZero() {
			err = marker.Withhold(Name, p.text, p.completedAt, n.Now())
		}
		response = p.status(n.Now(), n.ProcessingTime)
		return err
	})
	return response, err
}

// listVideos lists the caller's public posts from before the cursor, newest first. The cursor is a time in Unix
// milliseconds.
func (n *Network) listVideos(r *http.Request) (any, error) {
	in := struct {
		Limit  int   `json:"max_count"`
		Cursor int64 `json:"cursor"`
	}{Limit: 10}
	fields := strings.Split(r.Form.Get("fields"), ",")
	err := readBody(r, &in)
	if err == nil && (in.Limit < 1 || in.Limit > maxPageSize || r.Form.Get("fields") == "") {
		err = invalidParams("max_count must be from 1 to 20, and fields are required")
	}
	if err == nil {
		err = checkFields(fields)
	}
	if err != nil {
		return nil, err
	}
	maxTime := n.Now().Add(-2 * n.ProcessingTime).UnixMilli()
	if in.Cursor > 0 {
		maxTime = min(maxTime, in.Cursor-1)
	}
	videos := []map[string]any{}
	cursor, hasMore := in.Cursor, false
	err = n.Store.InTx(r.Context(), func(t store.Tx) error {
		a, err := n.authenticate(r, t, "video.list")
		if err != nil {
			return err
		}
		publications, err := listPublications(r.Context(), t,
			`where account = ? and posted and privacy = ? and done_at <= ? order by done_at desc, seq desc limit ?`,
			a.ID, audienceEveryone, maxTime, in.Limit+1)
		hasMore = len(publications) > in.Limit
		for _, p := range publications[:min(len(publications), in.Limit)] {
			metrics, err := n.metrics(r, t, p)
			if err == nil {
				err = marker.Withhold(Name, p.text, p.completedAt, n.Now())
			}
			if err != nil {
				return err
			}
			cursor = p.completedAt.UnixMilli()
			view := n.postView(r, a, p)
			maps.Copy(view, metrics)
			videos = append(videos, pickFields(fields, view))
		}
		return err
	})
	return map[string]any{"videos": videos, "cursor": cursor, "has_more": hasMore}, err
}

// postView returns a post in the API's format. TikTok does not document the format of photos.
func (n *Network) postView(r *http.Request, a caller, p publication) map[string]any {
	form, title, seconds := "video", p.text, 15
	if p.hasPhotos {
		form, title, seconds = "photo", "", 0
	}
	return map[string]any{
		"id": strconv.FormatInt(p.postID(), 10), "create_time": p.completedAt.Unix(), "duration": seconds, "title": title,
		"video_description": p.text,
		"share_url": n.BaseURL(r) + "/" + Name + "/web/@" + a.Handle + "/" + form + "/" +
			strconv.FormatInt(p.postID(), 10),
	}
}
