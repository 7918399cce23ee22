package sandbox

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

const (
	maxYouTubeTitle = 100 // characters
	maxYouTubeText  = 5000
	maxYouTubeTags  = 500
	maxYouTubeVideo = 256_000_000_000 // bytes
	youtubeUnit     = 256 << 10       // bytes; parts except the last are multiples of it
	youtubeSession  = 7 * 24 * time.Hour
)

// youtubeInsert is the metadata of a new video. Scheduling is not supported.
type youtubeInsert struct {
	Snippet struct {
		Title           string   `json:"title"`
		Description     string   `json:"description"`
		Tags            []string `json:"tags,omitempty"`
		CategoryID      string   `json:"categoryId,omitempty"`
		DefaultLanguage string   `json:"defaultLanguage,omitempty"`
	} `json:"snippet"`
	Status struct {
		PrivacyStatus           string `json:"privacyStatus"`
		License                 string `json:"license,omitempty"`
		Embeddable              *bool  `json:"embeddable,omitempty"`
		PublicStatsViewable     *bool  `json:"publicStatsViewable,omitempty"`
		SelfDeclaredMadeForKids *bool  `json:"selfDeclaredMadeForKids,omitempty"`
		ContainsSyntheticMedia  *bool  `json:"containsSyntheticMedia,omitempty"`
	} `json:"status"`
}

// beginUpload begins an upload session and returns its address.
func (n *youtube) beginUpload(r *http.Request) (any, error) {
	u := youtubeUpload{id: newID() + newID()}
	err := n.store.in(r.Context(), func(t tx) error {
		a, _, err := n.bearer(r, t, youtubeScopeUpload)
		u.account = a.id
		return err
	})
	if err == nil {
		err = readYouTubeUpload(r, &u)
	}
	if err != nil {
		return nil, err
	}
	u.begun = n.now()
	err = n.store.in(r.Context(), func(t tx) error { return insertYouTubeUpload(r.Context(), t, u) })
	address := n.baseURL(r) + "/" + youtubeName + "/upload/youtube/v3/videos?" + url.Values{
		"uploadType": {"resumable"}, "upload_id": {u.id},
	}.Encode()
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Location", address) }), err
}

// readYouTubeUpload parses the request that begins a session.
func readYouTubeUpload(r *http.Request, u *youtubeUpload) error {
	if r.URL.Query().Get("uploadType") != "resumable" {
		return youtubeInvalid("mediaBodyRequired", "The request does not include the video content.")
	}
	var err error
	if u.total, err = strconv.ParseInt(r.Header.Get("X-Upload-Content-Length"), 10, 64); err != nil || u.total <= 0 ||
		u.total > maxYouTubeVideo {
		return youtubeInvalid("badRequest", "X-Upload-Content-Length has to be from 1 to 256 GB.")
	}
	u.mime, _, err = mime.ParseMediaType(r.Header.Get("X-Upload-Content-Type"))
	if err != nil || !strings.HasPrefix(u.mime, "video/") && u.mime != "application/octet-stream" {
		return youtubeInvalid("badContent",
			"Media type '"+u.mime+"' is not supported. Valid media types: [video/*, application/octet-stream]")
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return fmt.Errorf("reading the metadata of a video: %w", err)
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.DisallowUnknownFields()
	var insert youtubeInsert
	if err := decoder.Decode(&insert); err != nil {
		return youtubeInvalid("badRequest", "Invalid JSON payload received: "+err.Error())
	}
	if err := insert.check(r.URL.Query()); err != nil {
		return err
	}
	if u.insert, err = json.Marshal(insert); err != nil {
		return fmt.Errorf("writing the metadata of a video: %w", err)
	}
	return nil
}

func (i youtubeInsert) check(query url.Values) error {
	parts := youtubePart(query)
	tags := max(0, len(i.Snippet.Tags)-1)
	for _, tag := range i.Snippet.Tags {
		if tags += utf8.RuneCountInString(tag); strings.Contains(tag, " ") {
			tags += 2
		}
	}
	title, text := i.Snippet.Title, i.Snippet.Description
	switch {
	case !parts["snippet"] || !parts["status"]:
		return youtubeInvalid("unexpectedPart", "The part parameter does not name what the resource has.")
	case strings.TrimSpace(title) == "" || utf8.RuneCountInString(title) > maxYouTubeTitle || strings.ContainsAny(title,
		"<>"):
		return youtubeInvalid("invalidTitle", "The request metadata specifies an invalid or empty video title.")
	case len(text) > maxYouTubeText || strings.ContainsAny(text, "<>"):
		return youtubeInvalid("invalidDescription", "The request metadata specifies an invalid video description.")
	case tags > maxYouTubeTags || slices.ContainsFunc(i.Snippet.Tags, func(tag string) bool {
		return tag == "" || strings.ContainsAny(tag, "<>")
	}):
		return youtubeInvalid("invalidTags", "The request metadata specifies invalid video keywords.")
	case !slices.Contains([]string{"public", "unlisted", "private"}, i.Status.PrivacyStatus):
		return youtubeInvalid("invalidVideoMetadata", "The request metadata is invalid.")
	}
	return nil
}

// youtubeRange is the Content-Range of an upload.
type youtubeRange struct {
	asks       bool  // whether the request asks for the progress
	start, end int64 // end is exclusive
}

var youtubeRangeForm = regexp.MustCompile(`^bytes (?:(\*)|([0-9]{1,15})-([0-9]{1,15}))/([0-9]{1,15})$`)

// readYouTubeRange returns the range of the file that a request contains. Without the header it is the whole file.
func readYouTubeRange(r *http.Request, total int64) (youtubeRange, error) {
	header := r.Header.Get("Content-Range")
	part := youtubeRange{end: total}
	if header != "" {
		match := youtubeRangeForm.FindStringSubmatch(header)
		if match == nil || match[4] != strconv.FormatInt(total, 10) {
			return part, youtubeInvalid("badRequest", "Failed to parse Content-Range header.")
		}
		if match[1] == "*" {
			return youtubeRange{asks: true}, nil
		}
		part.start, _ = strconv.ParseInt(match[2], 10, 64) // at most 15 digits
		last, _ := strconv.ParseInt(match[3], 10, 64)
		part.end = last + 1
	}
	size := part.end - part.start
	if size <= 0 || part.end > total || r.ContentLength != size || part.end < total && size%youtubeUnit != 0 {
		return part, youtubeInvalid("badRequest",
			"Invalid request. There were not as many bytes as told, or no multiple of 262144.")
	}
	return part, nil
}

// upload receives a part of a file, or returns the progress. The last part makes the video.
func (n *youtube) upload(w http.ResponseWriter, r *http.Request) {
	answer, err := n.takePart(w, r)
	writeYouTube(w, r, answer, err)
}

func (n *youtube) takePart(w http.ResponseWriter, r *http.Request) (any, error) {
	u, _, err := n.session(r)
	if err != nil {
		return nil, err
	}
	part, err := readYouTubeRange(r, u.total)
	if err != nil {
		return nil, err
	}
	if u.video != "" || part.asks {
		return n.progress(r, u)
	}
	defer allowUpload(w)()
	file, err := n.store.keepFile(http.MaxBytesReader(w, r.Body, part.end-part.start))
	if refused := uploadError(err); refused != nil {
		return nil, youtubeInvalid("badRequest", refused.Error())
	}
	if err != nil {
		return nil, err
	}
	ctx, cancel := work(r)
	defer cancel()
	r = r.WithContext(ctx)
	if part.end == u.total && part.start == u.have {
		return n.launch(r, file)
	}
	err = n.store.in(ctx, func(t tx) error {
		if u, _, err = n.sessionIn(r, t); err != nil || u.have != part.start || u.video != "" {
			return err // only the next part is stored
		}
		u.have += file.size
		return insertYouTubePart(ctx, t, u.id, part.start, file)
	})
	if err != nil {
		return nil, err
	}
	return n.progress(r, u)
}

// session returns the upload that a request names.
func (n *youtube) session(r *http.Request) (youtubeUpload, oauthToken, error) {
	var u youtubeUpload
	var token oauthToken
	err := n.store.in(r.Context(), func(t tx) error {
		var err error
		u, token, err = n.sessionIn(r, t)
		return err
	})
	return u, token, err
}

func (n *youtube) sessionIn(r *http.Request, t tx) (youtubeUpload, oauthToken, error) {
	a, token, err := n.bearer(r, t, youtubeScopeUpload)
	if err != nil {
		return youtubeUpload{}, token, err
	}
	u, found, err := findYouTubeUpload(r.Context(), t, a.id, r.URL.Query().Get("upload_id"))
	if err == nil && (!found || n.now().Sub(u.begun) >= youtubeSession) {
		err = errYouTubeNoUpload
	}
	return u, token, err
}

// progress returns the finished video, or the received range.
func (n *youtube) progress(r *http.Request, u youtubeUpload) (any, error) {
	if u.video == "" {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if u.have > 0 {
				w.Header().Set("Range", fmt.Sprintf("bytes=0-%d", u.have-1))
			}
			w.WriteHeader(http.StatusPermanentRedirect)
		}), nil
	}
	var p post
	err := n.store.in(r.Context(), func(t tx) error {
		var err error
		p, _, err = t.post(r.Context(), youtubeName, u.video)
		if err == nil {
			err = untold(youtubeName, p.text, p.at, n.now())
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return n.video(p, map[string]bool{"snippet": true, "status": true}), nil
}
