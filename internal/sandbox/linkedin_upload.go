package sandbox

import (
	"errors"
	"fmt"
	"image"
	_ "image/gif"
	_ "image/jpeg"
	_ "image/png"
	"net/http"
	"os"
	"slices"
	"time"
)

const (
	maxLinkedinImage  = 20 << 20   // bytes
	maxLinkedinPixels = 36_152_320 // per image
	maxLinkedinVideo  = 500 << 20  // bytes
	linkedinPartSize  = 4 << 20    // bytes of each part of a video except the last
	linkedinMark      = "/sandbox-video/signed/"
)

var linkedinImages = []string{"image/jpeg", "image/png", "image/gif"}

// uploadAddress returns the address of a part. It needs no token for a video.
func (n *linkedin) uploadAddress(r *http.Request, p linkedinPart) string {
	return n.baseURL(r) + "/" + linkedinName + "/dms-uploads/" + p.secret + "?ca=sandbox&v=beta"
}

// announce stores an asset of the caller, or of the caller's organization.
func (n *linkedin) announce(r *http.Request, a linkedinAsset, parts []linkedinPart) error {
	return n.caller(r, func(t tx, c linkedinCaller) error {
		if err := c.writesAs(a.owner); err != nil {
			return err
		}
		return insertLinkedinAsset(r.Context(), t, a, parts)
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
	instructions := []any{}
	for first := int64(0); first < size; first += linkedinPartSize {
		p := linkedinPart{secret: newID(), first: first, size: min(linkedinPartSize, size-first)}
		parts = append(parts, p)
		instructions = append(instructions,
			map[string]any{"uploadUrl": n.uploadAddress(r, p), "firstByte": first, "lastByte": first + p.size - 1})
	}
	err := n.announce(r, a, parts)
	return map[string]any{"value": map[string]any{
		"video": a.id, "uploadToken": "", "uploadInstructions": instructions,
		"uploadUrlsExpireAt": n.now().Add(24 * time.Hour).UnixMilli(),
	}}, err
}

// upload takes an image from its owner, and a part of a video from anybody who has its address.
func (n *linkedin) upload(w http.ResponseWriter, r *http.Request) {
	end := allowUpload(w)
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
	end()
	writeLinkedin(w, r, linkedinUploaded(p, a), err)
}

func (n *linkedin) findPart(r *http.Request) (linkedinPart, linkedinAsset, error) {
	var p linkedinPart
	var a linkedinAsset
	err := n.store.in(r.Context(), func(t tx) error {
		var found bool
		var err error
		if p, found, err = findLinkedinPart(r.Context(), t, r.PathValue("secret")); err == nil && !found {
			err = errLinkedinMissing
		}
		if err != nil {
			return err
		}
		a, _, err = findLinkedinAsset(r.Context(), t, p.asset) // every part has an asset
		return err
	})
	return p, a, err
}

// takePart saves the bytes of a part.
func (n *linkedin) takePart(w http.ResponseWriter, r *http.Request, p linkedinPart) (string, error) {
	most := p.size
	if most == 0 {
		most = maxLinkedinImage
	}
	blob, err := n.store.keepFile(http.MaxBytesReader(w, r.Body, most))
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok || err == nil && p.size != 0 && blob.size != p.size {
		return "", linkedinInvalid("The bytes are not those that were announced")
	}
	if uploadError(err) != nil {
		return "", linkedinInvalid("The body could not be read")
	}
	return blob.cid, err
}

// arrived records a part. An image is then complete.
func (n *linkedin) arrived(r *http.Request, p linkedinPart, a linkedinAsset) error {
	ctx, cancel := work(r)
	defer cancel()
	if !a.video {
		blob, err := readLinkedinImage(n.store, p.cid)
		if err != nil {
			return err
		}
		a.blob, a.wholeAt = blob, n.now()
	}
	return n.store.in(ctx, func(t tx) error {
		if err := updateLinkedinPart(ctx, t, p); err != nil || a.video {
			return err
		}
		return completeLinkedinAsset(ctx, t, a)
	})
}

// readLinkedinImage returns the blob of an image. An unsupported one has no type.
func readLinkedinImage(s *store, cid string) (blobRef, error) {
	file, err := os.Open(s.filePath(cid))
	if err != nil {
		return blobRef{}, fmt.Errorf("opening an image: %w", err)
	}
	defer file.Close()
	about, err := file.Stat()
	if err != nil {
		return blobRef{}, fmt.Errorf("inspecting an image: %w", err)
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

// finishVideo joins a video's parts, which must be named in order.
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
		parts, err = listLinkedinParts(r.Context(), t, a.id)
		return err
	})
	if err != nil {
		return nil, err
	}
	var marks, cids []string
	for _, p := range parts {
		if p.cid == "" {
			return nil, linkedinInvalid("A part of the video has not arrived")
		}
		marks, cids = append(marks, linkedinMark+p.cid), append(cids, p.cid)
	}
	if !slices.Equal(marks, in.Request.Marks) || in.Request.Token != "" || !a.video {
		return nil, linkedinInvalid("uploadedPartIds are not those of the parts in their order")
	}
	if a.blob, err = n.store.join(cids); err != nil {
		return nil, err
	}
	if a.blob.mime != "video/mp4" {
		a.blob.mime = ""
	}
	a.wholeAt = n.now()
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) }),
		n.store.in(r.Context(), func(t tx) error { return completeLinkedinAsset(r.Context(), t, a) })
}
