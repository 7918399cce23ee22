package sandbox

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	_ "image/gif" // beside JPEG and PNG, which are registered already
	"io"
	"net/http"
	"os"
	"slices"
	"time"
)

const (
	maxLinkedinImage  = 20 << 20   // bytes
	maxLinkedinPixels = 36_152_320 // of an image
	maxLinkedinVideo  = 500 << 20  // bytes
	linkedinPartSize  = 4 << 20    // bytes of a part of a video, but the last
	linkedinMark      = "/sandbox-video/signed/"
)

var linkedinImages = []string{"image/jpeg", "image/png", "image/gif"}

// uploadAddress is where a part goes to. Whoever has it may send it.
func (n *linkedin) uploadAddress(r *http.Request, p linkedinPart) string {
	return n.baseURL(r) + "/" + linkedinName + "/dms-uploads/" + p.secret + "?ca=sandbox&v=beta"
}

// announce keeps an asset of the caller, or of the caller's organisation.
func (n *linkedin) announce(r *http.Request, a linkedinAsset, parts []linkedinPart) error {
	return n.caller(r, func(t tx, c linkedinCaller) error {
		if err := c.writesAs(a.owner); err != nil {
			return err
		}
		return t.keepLinkedinAsset(r.Context(), a, parts)
	})
}

func (n *linkedin) announceImage(r *http.Request) (any, error) {
	var in struct {
		Request struct {
			Owner string `json:"owner"`
		} `json:"initializeUploadRequest"`
	}
	if r.URL.Query().Get("action") != "initializeUpload" {
		return nil, linkedinInvalid("action has to be initializeUpload")
	}
	if err := readLinkedin(r, &in); err != nil {
		return nil, err
	}
	a, p := linkedinAsset{id: "urn:li:image:" + newID(), owner: in.Request.Owner}, linkedinPart{secret: newID()}
	err := n.announce(r, a, []linkedinPart{p})
	return map[string]any{"value": map[string]any{
		"image": a.id, "uploadUrl": n.uploadAddress(r, p),
		"uploadUrlExpiresAt": n.now().Add(24 * time.Hour).UnixMilli(),
	}}, err
}

func (n *linkedin) videoAction(r *http.Request) (any, error) {
	switch r.URL.Query().Get("action") {
	case "initializeUpload":
		return n.announceVideo(r)
	case "finalizeUpload":
		return n.finishVideo(r)
	}
	return nil, linkedinInvalid("action has to be initializeUpload or finalizeUpload")
}

func (n *linkedin) announceVideo(r *http.Request) (any, error) {
	var in struct {
		Request struct {
			Owner     string `json:"owner"`
			Size      int64  `json:"fileSizeBytes"`
			Captions  bool   `json:"uploadCaptions"`
			Thumbnail bool   `json:"uploadThumbnail"`
		} `json:"initializeUploadRequest"`
	}
	if err := readLinkedin(r, &in); err != nil {
		return nil, err
	}
	size := in.Request.Size
	if size < 1 || size > maxLinkedinVideo || in.Request.Captions || in.Request.Thumbnail {
		return nil, linkedinInvalid("fileSizeBytes is out of bounds, or captions or a thumbnail are asked for")
	}
	a := linkedinAsset{id: "urn:li:video:" + newID(), owner: in.Request.Owner, video: true}
	var parts []linkedinPart
	told := []any{}
	for first := int64(0); first < size; first += linkedinPartSize {
		p := linkedinPart{secret: newID(), first: first, size: min(linkedinPartSize, size-first)}
		parts = append(parts, p)
		told = append(told,
			map[string]any{"uploadUrl": n.uploadAddress(r, p), "firstByte": first, "lastByte": first + p.size - 1})
	}
	err := n.announce(r, a, parts)
	return map[string]any{"value": map[string]any{
		"video": a.id, "uploadToken": "", "uploadInstructions": told,
		"uploadUrlsExpireAt": n.now().Add(24 * time.Hour).UnixMilli(),
	}}, err
}

// upload takes an image from whoever is signed in, and a part of a video from whoever has its address.
func (n *linkedin) upload(w http.ResponseWriter, r *http.Request) {
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(uploadTimeout)) // not every writer can; the file is bounded all the same
	p, a, err := n.findPart(r)
	if err == nil && !a.video {
		err = n.caller(r, func(_ tx, c linkedinCaller) error { return c.writesAs(a.owner) })
	}
	if err == nil {
		p.cid, err = n.takePart(w, r, p)
	}
	if err == nil {
		err = n.arrived(r, p, a)
	}
	_ = control.SetReadDeadline(time.Time{})
	writeLinkedin(w, r, linkedinUploaded(p, a), err)
}

func (n *linkedin) findPart(r *http.Request) (linkedinPart, linkedinAsset, error) {
	var p linkedinPart
	var a linkedinAsset
	err := n.store.in(r.Context(), func(t tx) error {
		var found bool
		var err error
		if p, found, err = t.linkedinPart(r.Context(), r.PathValue("secret")); err == nil && !found {
			err = errLinkedinMissing
		}
		if err != nil {
			return err
		}
		a, _, err = t.linkedinAsset(r.Context(), p.asset) // a part has one
		return err
	})
	return p, a, err
}

// takePart keeps the bytes.
func (n *linkedin) takePart(w http.ResponseWriter, r *http.Request, p linkedinPart) (string, error) {
	most := p.size
	if most == 0 {
		most = maxLinkedinImage
	}
	blob, err := n.store.keepFile(http.MaxBytesReader(w, r.Body, most))
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok || err == nil && p.size != 0 && blob.size != p.size {
		return "", linkedinInvalid("The bytes are not those that were announced")
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, os.ErrDeadlineExceeded) {
		return "", linkedinInvalid("The body could not be read")
	}
	return blob.cid, err
}

// arrived notes a part; an image is whole with it.
func (n *linkedin) arrived(r *http.Request, p linkedinPart, a linkedinAsset) error {
	ctx, cancel := work(r)
	defer cancel()
	if !a.video {
		blob, err := n.store.readLinkedinImage(p.cid)
		if err != nil {
			return err
		}
		a.blob, a.wholeAt = blob, n.now()
	}
	return n.store.in(ctx, func(t tx) error {
		if err := t.arriveLinkedinPart(ctx, p); err != nil || a.video {
			return err
		}
		return t.wholeLinkedinAsset(ctx, a)
	})
}

// readLinkedinImage looks at an image; one that the network does not take has no type.
func (s *store) readLinkedinImage(cid string) (blobRef, error) {
	file, err := os.Open(s.filePath(cid))
	if err != nil {
		return blobRef{}, fmt.Errorf("opening an image: %w", err)
	}
	defer file.Close()
	about, err := file.Stat()
	if err != nil {
		return blobRef{}, fmt.Errorf("looking at an image: %w", err)
	}
	blob := blobRef{cid: cid, size: about.Size()}
	config, format, err := image.DecodeConfig(file)
	if kind := "image/" + format; err == nil && slices.Contains(linkedinImages,
		kind) && config.Width*config.Height < maxLinkedinPixels {
		blob.mime = kind
	}
	return blob, nil
}

func linkedinUploaded(p linkedinPart, a linkedinAsset) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if a.video {
			w.Header().Set("ETag", linkedinMark+p.cid)
			w.WriteHeader(http.StatusOK)
			return
		}
		w.WriteHeader(http.StatusCreated)
	})
}

// finishVideo makes one file of a video's parts, which have to be named in their order.
func (n *linkedin) finishVideo(r *http.Request) (any, error) {
	var in struct {
		Request struct {
			Video string   `json:"video"`
			Token string   `json:"uploadToken"`
			Marks []string `json:"uploadedPartIds"`
		} `json:"finalizeUploadRequest"`
	}
	if err := readLinkedin(r, &in); err != nil {
		return nil, err
	}
	var a linkedinAsset
	var parts []linkedinPart
	err := n.caller(r, func(t tx, c linkedinCaller) error {
		var err error
		if a, err = c.asset(r.Context(), t, in.Request.Video); err != nil {
			return err
		}
		parts, err = t.linkedinParts(r.Context(), a.id)
		return err
	})
	if err != nil {
		return nil, err
	}
	var marks []string
	for _, p := range parts {
		if p.cid == "" {
			return nil, linkedinInvalid("A part of the video has not arrived")
		}
		marks = append(marks, linkedinMark+p.cid)
	}
	if !slices.Equal(marks, in.Request.Marks) || in.Request.Token != "" || !a.video {
		return nil, linkedinInvalid("uploadedPartIds are not those of the parts in their order")
	}
	if a.blob, err = n.store.joinLinkedinVideo(parts); err != nil {
		return nil, err
	}
	a.wholeAt = n.now()
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) }),
		n.store.in(r.Context(), func(t tx) error { return t.wholeLinkedinAsset(r.Context(), a) })
}

// joinLinkedinVideo makes one file of parts; one that is no MP4 has no type.
func (s *store) joinLinkedinVideo(parts []linkedinPart) (blobRef, error) {
	var head bytes.Buffer
	var files []io.Reader
	for _, p := range parts {
		file, err := os.Open(s.filePath(p.cid))
		if err != nil {
			return blobRef{}, fmt.Errorf("opening a part: %w", err)
		}
		defer file.Close()
		files = append(files, file)
	}
	_, err := io.CopyN(&head, files[0], sniffed)
	if err != nil && !errors.Is(err, io.EOF) {
		return blobRef{}, fmt.Errorf("reading a part: %w", err)
	}
	kind := mediaType(head.Bytes(), "")
	blob, err := s.keepFile(io.MultiReader(append([]io.Reader{&head}, files...)...))
	if kind == "video/mp4" {
		blob.mime = kind
	}
	return blob, err
}
