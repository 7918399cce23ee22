package youtube

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

	"pressroom.example/pressroom/internal/sandbox/base"
	"pressroom.example/pressroom/internal/sandbox/marker"
	"pressroom.example/pressroom/internal/sandbox/store"
)

const (
	maxTitle       = 100 // characters
	maxText        = 5000
	maxTags        = 500
	maxVideo       = 256_000_000_000 // bytes
	partUnit       = 256 << 10       // bytes; the size of every part except the last must be a multiple of this
	uploadLifetime = 7 * 24 * time.Hour
)

// videoMetadata is the metadata of a new video. Scheduling is not supported.
type videoMetadata struct {
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

// beginUpload starts an upload session and returns its URL.
func (n *Network) beginUpload(r *http.Request) (any, error) {
	u := upload{id: base.NewID() + base.NewID()}
	err := n.Store.InTx(r.Context(), func(t store.Tx) error {
		a, _, err := n.authenticate(r, t, scopeUpload)
		u.account = a.ID
		return err
	})
	if err == nil {
		err = parseUpload(r, &u)
	}
	if err != nil {
		return nil, err
	}
	u.startedAt = n.Now()
	err = n.Store.InTx(r.Context(), func(t store.Tx) error { return insertUpload(r.Context(), t, u) })
	address := n.BaseURL(r) + "/" + Name + "/upload/youtube/v3/videos?" + url.Values{
		"uploadType": {"resumable"}, "upload_id": {u.id},
	}.Encode()
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Location", address) }), err
}

// parseUpload parses the request that starts an upload session.
func parseUpload(r *http.Request, u *upload) error {
	if r.URL.Query().Get("uploadType") != "resumable" {
		return invalidRequest("mediaBodyRequired", "The request does not include the video content.")
	}
	var err error
	if u.total, err = strconv.ParseInt(r.Header.Get("X-Upload-Content-Length"), 10, 64); err != nil || u.total <= 0 ||
		u.total > maxVideo {
		return invalidRequest("badRequest", "X-Upload-Content-Length must be from 1 byte to 256 GB.")
	}
	u.mime, _, err = mime.ParseMediaType(r.Header.Get("X-Upload-Content-Type"))
	if err != nil || !strings.HasPrefix(u.mime, "video/") && u.mime != "application/octet-stream" {
		return invalidRequest("badContent",
			"Media type '"+u.mime+"' is not supported. Valid media types: [video/*, application/octet-stream]")
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return fmt.Errorf("reading the metadata of a video: %w", err)
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.DisallowUnknownFields()
	var metadata videoMetadata
	if err := decoder.Decode(&metadata); err != nil {
		return invalidRequest("badRequest", "Invalid JSON payload received: "+err.Error())
	}
	if err := metadata.check(r.URL.Query()); err != nil {
		return err
	}
	if u.metadata, err = json.Marshal(metadata); err != nil {
		return fmt.Errorf("writing the metadata of a video: %w", err)
	}
	return nil
}

func (m videoMetadata) check(query url.Values) error {
	parts := parseParts(query)
	tagLength := max(0, len(m.Snippet.Tags)-1)
	for _, tag := range m.Snippet.Tags {
		if tagLength += utf8.RuneCountInString(tag); strings.Contains(tag, " ") {
			tagLength += 2
		}
	}
	title, text := m.Snippet.Title, m.Snippet.Description
	switch {
	case !parts["snippet"] || !parts["status"]:
		return invalidRequest("unexpectedPart", "The part parameter must have the values snippet and status.")
	case strings.TrimSpace(title) == "" || utf8.RuneCountInString(title) > maxTitle || strings.ContainsAny(title,
		"<>"):
		return invalidRequest("invalidTitle", "The request metadata specifies an invalid or empty video title.")
	case len(text) > maxText || strings.ContainsAny(text, "<>"):
		return invalidRequest("invalidDescription", "The request metadata specifies an invalid video description.")
	case tagLength > maxTags || slices.ContainsFunc(m.Snippet.Tags, func(tag string) bool {
		return tag == "" || strings.ContainsAny(tag, "<>")
	}):
		return invalidRequest("invalidTags", "The request metadata specifies invalid video keywords.")
	case !slices.Contains([]string{"public", "unlisted", "private"}, m.Status.PrivacyStatus):
		return invalidRequest("invalidVideoMetadata", "The request metadata is invalid.")
	}
	return nil
}

// contentRange is the Content-Range of an upload.
type contentRange struct {
	isQuery    bool  // whether the request only queries the progress
	start, end int64 // end is exclusive
}

var rangePattern = regexp.MustCompile(`^bytes (?:(\*)|([0-9]{1,15})-([0-9]{1,15}))/([0-9]{1,15})$`)

// parseRange returns the range of the file that a request contains. If the request has no Content-Range, the range is
// the whole file.
func parseRange(r *http.Request, total int64) (contentRange, error) {
	header := r.Header.Get("Content-Range")
	part := contentRange{end: total}
	if header != "" {
		match := rangePattern.FindStringSubmatch(header)
		if match == nil || match[4] != strconv.FormatInt(total, 10) {
			return part, invalidRequest("badRequest", "Failed to parse Content-Range header.")
		}
		if match[1] == "*" {
			return contentRange{isQuery: true}, nil
		}
		part.start, _ = strconv.ParseInt(match[2], 10, 64) // at most 15 digits
		last, _ := strconv.ParseInt(match[3], 10, 64)
		part.end = last + 1
	}
	size := part.end - part.start
	if size <= 0 || part.end > total || r.ContentLength != size || part.end < total && size%partUnit != 0 {
		return part, invalidRequest("badRequest",
			"Invalid request. The size differs from Content-Range or is not a multiple of 262144.")
	}
	return part, nil
}

// upload receives a part of a file, or responds with the progress of the upload. The last part publishes the video.
func (n *Network) upload(w http.ResponseWriter, r *http.Request) {
	result, err := n.receivePart(w, r)
	write(w, r, result, err)
}

func (n *Network) receivePart(w http.ResponseWriter, r *http.Request) (any, error) {
	u, _, err := n.findSession(r)
	if err != nil {
		return nil, err
	}
	part, err := parseRange(r, u.total)
	if err != nil {
		return nil, err
	}
	if u.video != "" || part.isQuery {
		return n.progress(r, u)
	}
	defer base.AllowUpload(w)()
	file, err := n.Store.SaveFile(http.MaxBytesReader(w, r.Body, part.end-part.start))
	if uploadErr := base.UploadError(err); uploadErr != nil {
		return nil, invalidRequest("badRequest", uploadErr.Error())
	}
	if err != nil {
		return nil, err
	}
	ctx, cancel := base.WorkContext(r)
	defer cancel()
	r = r.WithContext(ctx)
	if part.end == u.total && part.start == u.received {
		return n.publishVideo(r, file)
	}
	err = n.Store.InTx(ctx, func(t store.Tx) error {
		if u, _, err = n.findSessionIn(r, t); err != nil || u.received != part.start || u.video != "" {
			return err // parts must arrive in order
		}
		u.received += file.Size
		return insertPart(ctx, t, u.id, part.start, file)
	})
	if err != nil {
		return nil, err
	}
	return n.progress(r, u)
}

// findSession returns the upload session of a request.
func (n *Network) findSession(r *http.Request) (upload, store.Token, error) {
	var u upload
	var token store.Token
	err := n.Store.InTx(r.Context(), func(t store.Tx) error {
		var err error
		u, token, err = n.findSessionIn(r, t)
		return err
	})
	return u, token, err
}

// findSessionIn is like findSession, but runs in the transaction t.
func (n *Network) findSessionIn(r *http.Request, t store.Tx) (upload, store.Token, error) {
	a, token, err := n.authenticate(r, t, scopeUpload)
	if err != nil {
		return upload{}, token, err
	}
	u, found, err := findUpload(r.Context(), t, a.ID, r.URL.Query().Get("upload_id"))
	if err == nil && (!found || n.Now().Sub(u.startedAt) >= uploadLifetime) {
		err = errNoUpload
	}
	return u, token, err
}

// progress returns the response with the published video or, if the upload is not complete, with the received range.
func (n *Network) progress(r *http.Request, u upload) (any, error) {
	if u.video == "" {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if u.received > 0 {
				w.Header().Set("Range", fmt.Sprintf("bytes=0-%d", u.received-1))
			}
			w.WriteHeader(http.StatusPermanentRedirect)
		}), nil
	}
	var p store.Post
	err := n.Store.InTx(r.Context(), func(t store.Tx) error {
		var err error
		p, _, err = t.Post(r.Context(), Name, u.video)
		if err == nil {
			err = marker.Withhold(Name, p.Text, p.At, n.Now())
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return n.videoView(r, p, map[string]bool{"snippet": true, "status": true}), nil
}
