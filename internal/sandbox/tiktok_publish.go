package sandbox

import (
	"bufio"
	"context"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
)

const (
	maxTikTokTitle       = 2200 // UTF-16 units, as are the others
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

// tiktokAudiences are who may see a post here.
var tiktokAudiences = []string{tiktokEveryone, "MUTUAL_FOLLOW_FRIENDS", "SELF_ONLY"}

// creatorInfo tells what the caller's account may post.
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

// tiktokPost is what a post is begun with.
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

// checkParts refuses what the upload server would not take.
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

// beginVideo gives out a place to upload a video to. The markers act that keep a post from being taken at all; the
// others act on the upload's last part.
func (n *tiktok) beginVideo(r *http.Request) (any, error) {
	var asked tiktokPost
	err := readTikTok(r, &asked)
	if err == nil {
		err = asked.check(maxTikTokTitle, 0)
	}
	if err == nil {
		err = asked.checkParts()
	}
	if err != nil {
		return nil, err
	}
	p := tiktokPublish{
		text: asked.Info.Title, privacy: asked.Info.Privacy, size: asked.Source.Size, chunk: asked.Source.Chunk,
		parts: asked.Source.Parts,
		token: newID() + newID(), made: n.now(),
	}
	var out launch
	err = n.store.in(r.Context(), func(t tx) error {
		a, err := n.caller(r, t, "video.publish")
		if err != nil {
			return err
		}
		p.account = a.id
		if out, err = n.actBefore(r.Context(), t, p, a.session); err != nil || out.refused != nil {
			return err
		}
		return t.keepTikTok(r.Context(), &p, n.seal(p.token))
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

// markerKey is what markers act once for: ids are new each time.
func (p tiktokPublish) markerKey() string { return p.account + " " + contentID([]byte(p.text)) }

// actBefore lets the markers act that refuse a call before anything is kept.
func (n *tiktok) actBefore(ctx context.Context, t tx, p tiktokPublish, session string) (launch, error) {
	dead, err := once(ctx, t, tiktokName, p.marks(), p.markerKey(), markExpiredToken)
	switch {
	case err != nil:
		return launch{}, err
	case dead:
		return launch{refused: errTikTokToken}, t.killSession(ctx, tiktokName, session)
	case p.marks().has(markRateLimit):
		return launch{refused: errTikTokRate}, nil
	}
	return launch{}, nil
}

// conclude is the moment in which a post has arrived: the markers act that belong there, then it is kept.
func (n *tiktok) conclude(ctx context.Context, t tx, p *tiktokPublish, files []blobRef, waited bool) (launch, error) {
	failing, err := once(ctx, t, tiktokName, p.marks(), p.markerKey(), markError)
	if err != nil || failing {
		return launch{refused: errTikTokInternal}, err
	}
	if wait := p.marks().slow; wait > 0 && !waited {
		return launch{wait: wait}, nil
	}
	if p.marks().has(markReject) {
		p.failure = "spam_risk_text"
	}
	p.done = n.now()
	if p.seq == 0 {
		if err := t.keepTikTok(ctx, p, nil); err != nil {
			return launch{}, err
		}
	}
	if err := t.finishTikTok(ctx, p, files); err != nil {
		return launch{}, err
	}
	out := launch{post: p.id()}
	lost, err := loses(ctx, t, tiktokName, p.marks(), p.markerKey())
	if lost {
		out.refused = errCut
	}
	return out, err
}

// postPhotos fetches photos and shows them. What is wrong with them is told by the post's state, as it is there.
func (n *tiktok) postPhotos(r *http.Request) (any, error) {
	var asked tiktokPost
	err := readTikTok(r, &asked)
	if err == nil {
		err = asked.check(maxTikTokPhotoTitle, maxTikTokDescription)
	}
	if err == nil {
		err = asked.checkPhotos()
	}
	if err != nil {
		return nil, err
	}
	p := tiktokPublish{photos: true, text: asked.Info.Description, privacy: asked.Info.Privacy, made: n.now()}
	err = n.store.in(r.Context(), func(t tx) error {
		a, err := n.caller(r, t, "video.publish")
		p.account = a.id
		return err
	})
	if err != nil {
		return nil, err
	}
	files, err := n.fetchPhotos(r.Context(), &p, asked.Source.Photos)
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
	for waited := false; ; waited = true {
		var out launch
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
		if err != nil {
			return nil, err
		}
		if out.wait == 0 {
			return map[string]any{"publish_id": out.post}, out.refused
		}
		if !n.pause(out.wait) {
			return nil, errTikTokInternal
		}
	}
}

// fetchPhotos gets what a post shows; the first that cannot be had, or shown, fails it.
func (n *tiktok) fetchPhotos(ctx context.Context, p *tiktokPublish, addresses []string) ([]blobRef, error) {
	var files []blobRef
	for _, address := range addresses {
		file, fetched, err := n.get(ctx, address)
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

// get fetches a photo, from anywhere, as this is a sandbox, but follows nothing. It is false where there is none.
func (n *tiktok) get(ctx context.Context, address string) (blobRef, bool, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return blobRef{}, false, nil
	}
	response, err := n.fetch.Do(request)
	if err != nil {
		return blobRef{}, false, nil
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return blobRef{}, false, nil
	}
	body := bufio.NewReader(io.LimitReader(response.Body, maxTikTokPhoto+1))
	head, _ := body.Peek(sniffed) // what keeps it from being read is met again
	kind := mediaType(head, "")
	file, err := n.store.keepFile(body)
	file.mime = kind
	return file, err == nil, err
}

// fetchStatus tells what became of a post.
func (n *tiktok) fetchStatus(r *http.Request) (any, error) {
	var asked struct {
		ID string `json:"publish_id"`
	}
	if err := readTikTok(r, &asked); err != nil {
		return nil, err
	}
	var told map[string]any
	err := n.store.in(r.Context(), func(t tx) error {
		a, err := n.caller(r, t, "video.publish")
		if err != nil {
			return err
		}
		p, found, err := t.tiktokByID(r.Context(), a.id, asked.ID)
		if err == nil && !found {
			err = tiktokBadRequest("invalid_publish_id", "The publish_id does not exist")
		}
		if err == nil && !p.done.IsZero() {
			err = untold(tiktokName, p.text, p.done, n.now())
		}
		told = p.status(n.now(), n.ready)
		return err
	})
	return told, err
}

// listVideos lists the account's public posts, the newest first, from before a time in Unix milliseconds.
func (n *tiktok) listVideos(r *http.Request) (any, error) {
	asked := struct {
		Most   int   `json:"max_count"`
		Cursor int64 `json:"cursor"`
	}{Most: 10}
	fields := strings.Split(r.Form.Get("fields"), ",")
	err := readTikTok(r, &asked)
	if err == nil && (asked.Most < 1 || asked.Most > tiktokPageSize || r.Form.Get("fields") == "") {
		err = tiktokInvalid("max_count has to be from 1 to 20, and fields are required")
	}
	if err == nil {
		err = tiktokUnknown(fields)
	}
	if err != nil {
		return nil, err
	}
	before := n.now().Add(-2 * n.ready).UnixMilli()
	if asked.Cursor > 0 {
		before = min(before, asked.Cursor-1)
	}
	videos := []map[string]any{}
	cursor, more := asked.Cursor, false
	err = n.store.in(r.Context(), func(t tx) error {
		a, err := n.caller(r, t, "video.list")
		if err != nil {
			return err
		}
		found, err := t.tiktokAll(r.Context(),
			`where account = ? and posted and privacy = ? and done_at <= ? order by done_at desc, seq desc limit ?`,
			a.id, tiktokEveryone, before, asked.Most+1)
		more = len(found) > asked.Most
		for _, p := range found[:min(len(found), asked.Most)] {
			counted, err := n.figures(r, t, p)
			if err == nil {
				err = untold(tiktokName, p.text, p.done, n.now())
			}
			if err != nil {
				return err
			}
			cursor = p.done.UnixMilli()
			told := n.listed(r, a, p)
			maps.Copy(told, counted)
			videos = append(videos, tiktokPick(fields, told))
		}
		return err
	})
	return map[string]any{"videos": videos, "cursor": cursor, "has_more": more}, err
}

// listed is a post as the list tells it. What the network says there of photos is not confirmed.
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
