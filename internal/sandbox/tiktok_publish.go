package sandbox

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
)

const (
	maxTikTokTitle       = 2200 // UTF-16 code units, as the next two
	maxTikTokPhotoTitle  = 90
	maxTikTokDescription = 4000
	maxTikTokPhotos      = 35
	maxTikTokPhoto       = 20 << 20 // bytes
	maxTikTokVideo       = 4 << 30
	minTikTokChunk       = 5_000_000
	maxTikTokChunk       = 64 << 20
	maxTikTokParts       = 1000
	tiktokPageSize       = 20
)

// tiktokAudiences are the privacy levels that are supported.
var tiktokAudiences = []string{tiktokEveryone, "MUTUAL_FOLLOW_FRIENDS", "SELF_ONLY"}

// creatorInfo returns what the caller's account may post.
func (n *tiktok) creatorInfo(r *http.Request) (any, error) {
	var a tiktokCaller
	err := n.store.in(r.Context(), func(t tx) error {
		var err error
		a, err = n.caller(r, t, "video.publish")
		return err
	})
	return map[string]any{
		"creator_username": a.handle, "creator_nickname": a.displayName, "privacy_level_options": tiktokAudiences,
		"comment_disabled": false, "duet_disabled": a.handle == "mira.keller",
		"stitch_disabled":             a.handle == "mira.keller",
		"max_video_post_duration_sec": 600,
	}, err
}

// tiktokPost is the request that begins a post.
type tiktokPost struct {
	MediaType string `json:"media_type"` // as is the next, of photos
	Mode      string `json:"post_mode"`
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

func (p tiktokPost) check(title, description int) error {
	switch {
	case tiktokLength(p.Info.Title) > title, tiktokLength(p.Info.Description) > description:
		return tiktokInvalid("The text is too long")
	case !slices.Contains(tiktokAudiences, p.Info.Privacy):
		return tiktokBadRequest("privacy_level_option_mismatch", "privacy_level is none of the creator's options")
	}
	return nil
}

func tiktokLength(text string) int { return len(utf16.Encode([]rune(text))) }

// checkParts refuses an invalid division of the file.
func (p tiktokPost) checkParts() error {
	s := p.Source
	whole := s.Parts == 1 && s.Chunk == s.Size && s.Size <= maxTikTokChunk
	cut := s.Chunk >= minTikTokChunk && s.Chunk <= maxTikTokChunk && s.Parts >= 1 && s.Parts <= maxTikTokParts &&
		s.Parts == s.Size/s.Chunk
	switch {
	case s.Source != "FILE_UPLOAD":
		return tiktokInvalid("This sandbox takes videos by FILE_UPLOAD alone")
	case s.Size < 1 || s.Size > maxTikTokVideo:
		return tiktokInvalid("video_size is out of range")
	case !whole && !cut:
		return tiktokInvalid("The total chunk count is invalid")
	}
	return nil
}

// beginVideo returns the address to upload a video to. Markers that refuse the post act here, the others when the
// upload ends.
func (n *tiktok) beginVideo(r *http.Request) (any, error) {
	var in tiktokPost
	err := readTikTok(r, &in)
	if err == nil {
		err = in.check(maxTikTokTitle, 0)
	}
	if err == nil {
		err = in.checkParts()
	}
	if err != nil {
		return nil, err
	}
	p := tiktokPublish{
		text: in.Info.Title, privacy: in.Info.Privacy, size: in.Source.Size, chunk: in.Source.Chunk,
		parts: in.Source.Parts,
		token: newID() + newID(), made: n.now(),
	}
	var out outcome
	err = n.store.in(r.Context(), func(t tx) error {
		a, err := n.caller(r, t, "video.publish")
		if err != nil {
			return err
		}
		p.account = a.id
		if out, err = n.actBefore(r.Context(), t, p, a.session); err != nil || out.refused != nil {
			return err
		}
		return insertTikTok(r.Context(), t, &p, n.seal(p.token))
	})
	if err == nil {
		err = out.refused
	}
	return map[string]any{
		"publish_id": p.id(),
		"upload_url": n.baseURL(r) + "/" + tiktokName + "/upload/video/?upload_id=" + p.id() + "&upload_token=" +
			p.token,
	}, err
}

func (p tiktokPublish) marks() markers { return readMarkers(p.text, tiktokName) }

// actBefore returns the refusal by a marker, before anything is stored.
func (n *tiktok) actBefore(ctx context.Context, t tx, p tiktokPublish, session string) (outcome, error) {
	dead, err := once(ctx, t, tiktokName, p.marks(), markerKey(p.account, p.text), markExpiredToken)
	switch {
	case err != nil:
		return outcome{}, err
	case dead:
		return outcome{refused: errTikTokToken}, t.killSession(ctx, tiktokName, session)
	case p.marks().has(markRateLimit):
		return outcome{refused: errTikTokRate}, nil
	}
	return outcome{}, nil
}

// conclude stores a complete post and applies its markers.
func (n *tiktok) conclude(ctx context.Context, t tx, p *tiktokPublish, files []blobRef, waited bool) (outcome, error) {
	failing, err := once(ctx, t, tiktokName, p.marks(), markerKey(p.account, p.text), markError)
	if err != nil || failing {
		return outcome{refused: errTikTokInternal}, err
	}
	if wait := p.marks().slow; wait > 0 && !waited {
		return outcome{wait: wait}, nil
	}
	if p.marks().has(markReject) {
		p.failure = "spam_risk_text"
	}
	p.done = n.now()
	if p.seq == 0 {
		if err := insertTikTok(ctx, t, p, nil); err != nil {
			return outcome{}, err
		}
	}
	if err := finishTikTok(ctx, t, p, files); err != nil {
		return outcome{}, err
	}
	out := outcome{post: p.id()}
	lost, err := loses(ctx, t, tiktokName, p.marks(), markerKey(p.account, p.text))
	if lost {
		out.refused = errLost
	}
	return out, err
}

// postPhotos fetches photos and publishes them. The post's status shows what is wrong with them.
func (n *tiktok) postPhotos(r *http.Request) (any, error) {
	var in tiktokPost
	err := readTikTok(r, &in)
	if err == nil {
		err = in.check(maxTikTokPhotoTitle, maxTikTokDescription)
	}
	if err == nil {
		err = in.checkPhotos()
	}
	if err != nil {
		return nil, err
	}
	p := tiktokPublish{photos: true, text: in.Info.Description, privacy: in.Info.Privacy, made: n.now()}
	err = n.store.in(r.Context(), func(t tx) error {
		a, err := n.caller(r, t, "video.publish")
		p.account = a.id
		return err
	})
	if err != nil {
		return nil, err
	}
	files, err := n.fetchPhotos(r.Context(), &p, in.Source.Photos)
	if err != nil {
		return nil, err
	}
	return n.showPhotos(r, p, files)
}

func (p tiktokPost) checkPhotos() error {
	s := p.Source
	switch {
	case p.MediaType != "PHOTO", p.Mode != "DIRECT_POST", s.Source != "PULL_FROM_URL":
		return tiktokInvalid("This sandbox takes PHOTO by DIRECT_POST and PULL_FROM_URL alone")
	case len(s.Photos) < 1, len(s.Photos) > maxTikTokPhotos, s.Cover < 0, s.Cover >= len(s.Photos):
		return tiktokInvalid("The number of photo_images or photo_cover_index is out of range")
	}
	return nil
}

func (n *tiktok) showPhotos(r *http.Request, p tiktokPublish, files []blobRef) (any, error) {
	id, err := n.publish(errTikTokInternal, func(waited bool) (outcome, error) {
		var out outcome
		err := n.store.in(r.Context(), func(t tx) error {
			a, err := n.caller(r, t, "video.publish")
			if err != nil {
				return err
			}
			if out, err = n.actBefore(r.Context(), t, p, a.session); err != nil || out.refused != nil {
				return err
			}
			out, err = n.conclude(r.Context(), t, &p, files, waited)
			return err
		})
		return out, err
	})
	return map[string]any{"publish_id": id}, err
}

// fetchPhotos fetches the photos of a post, which fails with the first unsuitable one.
func (n *tiktok) fetchPhotos(ctx context.Context, p *tiktokPublish, addresses []string) ([]blobRef, error) {
	var files []blobRef
	for _, address := range addresses {
		file, fetched, err := n.fetch(ctx, n.client, address, maxTikTokPhoto)
		switch {
		case err != nil:
			return nil, err
		case !fetched:
			p.failure = "photo_pull_failed"
			return nil, nil
		case file.size > maxTikTokPhoto:
			p.failure = "picture_size_check_failed"
			return nil, nil
		case file.mime != "image/jpeg" && file.mime != "image/webp":
			p.failure = "file_format_check_failed"
			return nil, nil
		}
		files = append(files, file)
	}
	return files, nil
}

// fetchStatus returns the status of a post.
func (n *tiktok) fetchStatus(r *http.Request) (any, error) {
	var in struct {
		ID string `json:"publish_id"`
	}
	if err := readTikTok(r, &in); err != nil {
		return nil, err
	}
	var answer map[string]any
	err := n.store.in(r.Context(), func(t tx) error {
		a, err := n.caller(r, t, "video.publish")
		if err != nil {
			return err
		}
		p, found, err := findTikTokByID(r.Context(), t, a.id, in.ID)
		if err == nil && !found {
			err = tiktokBadRequest("invalid_publish_id", "The publish_id does not exist")
		}
		if err == nil && !p.done.IsZero() {
			err = untold(tiktokName, p.text, p.done, n.now())
		}
		answer = p.status(n.now(), n.ready)
		return err
	})
	return answer, err
}

// listVideos lists the account's public posts before a time in Unix milliseconds, the newest first.
func (n *tiktok) listVideos(r *http.Request) (any, error) {
	in := struct {
		Most   int   `json:"max_count"`
		Cursor int64 `json:"cursor"`
	}{Most: 10}
	fields := strings.Split(r.Form.Get("fields"), ",")
	err := readTikTok(r, &in)
	if err == nil && (in.Most < 1 || in.Most > tiktokPageSize || r.Form.Get("fields") == "") {
		err = tiktokInvalid("max_count has to be from 1 to 20, and fields are required")
	}
	if err == nil {
		err = tiktokUnknown(fields)
	}
	if err != nil {
		return nil, err
	}
	before := n.now().Add(-2 * n.ready).UnixMilli()
	if in.Cursor > 0 {
		before = min(before, in.Cursor-1)
	}
	videos := []map[string]any{}
	cursor, more := in.Cursor, false
	err = n.store.in(r.Context(), func(t tx) error {
		a, err := n.caller(r, t, "video.list")
		if err != nil {
			return err
		}
		found, err := listTikTok(r.Context(), t,
			`where account = ? and posted and privacy = ? and done_at <= ? order by done_at desc, seq desc limit ?`,
			a.id, tiktokEveryone, before, in.Most+1)
		more = len(found) > in.Most
		for _, p := range found[:min(len(found), in.Most)] {
			counts, err := n.figures(r, t, p)
			if err == nil {
				err = untold(tiktokName, p.text, p.done, n.now())
			}
			if err != nil {
				return err
			}
			cursor = p.done.UnixMilli()
			answer := n.listed(r, a, p)
			maps.Copy(answer, counts)
			videos = append(videos, tiktokPick(fields, answer))
		}
		return err
	})
	return map[string]any{"videos": videos, "cursor": cursor, "has_more": more}, err
}

// listed returns a post in the list's form. The form of photos is not confirmed.
func (n *tiktok) listed(r *http.Request, a tiktokCaller, p tiktokPublish) map[string]any {
	form, title, seconds := "video", p.text, 15
	if p.photos {
		form, title, seconds = "photo", "", 0
	}
	return map[string]any{
		"id": strconv.FormatInt(p.postID(), 10), "create_time": p.done.Unix(), "duration": seconds, "title": title,
		"video_description": p.text,
		"share_url": n.baseURL(r) + "/" + tiktokName + "/web/@" + a.handle + "/" + form + "/" +
			strconv.FormatInt(p.postID(), 10),
	}
}
