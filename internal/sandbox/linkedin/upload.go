package linkedin

import (
	"errors"
	"fmt"
	"image"
	_ "image/gif"  // for DecodeConfig
	_ "image/jpeg" // for DecodeConfig
	_ "image/png"  // for DecodeConfig
	"net/http"
	"os"
	"slices"
	"time"

	"pressroom.example/pressroom/internal/sandbox/base"
	"pressroom.example/pressroom/internal/sandbox/store"
)

const (
	maxImage   = 20 << 20   // bytes
	maxPixels  = 36_152_320 // maximum number of pixels per image
	maxVideo   = 500 << 20  // bytes
	partSize   = 4 << 20    // bytes of each part of a video except the last
	etagPrefix = "/sandbox-video/signed/"
)

var imageTypes = []string{"image/jpeg", "image/png", "image/gif"}

// uploadAddress returns the URL for uploading a part.
func (n *Network) uploadAddress(r *http.Request, p part) string {
	return n.BaseURL(r) + "/" + Name + "/dms-uploads/" + p.secret + "?ca=sandbox&v=beta"
}

// initUpload stores a new asset and its parts. The caller or the caller's organization must own the asset.
func (n *Network) initUpload(r *http.Request, a asset, parts []part) error {
	return n.asCaller(r, func(t store.Tx, c caller) error {
		if err := c.checkAuthor(a.owner); err != nil {
			return err
		}
		return insertAsset(r.Context(), t, a, parts)
	})
}

func (n *Network) initImage(r *http.Request) (any, error) {
	var in struct {
		Request struct {
			Owner string `json:"owner"`
		} `json:"initializeUploadRequest"`
	}
	if r.URL.Query().Get("action") != "initializeUpload" {
		return nil, invalidRequest("action must be initializeUpload")
	}
	if err := readBody(r, &in); err != nil {
		return nil, err
	}
	a, p := asset{id: "urn:li:image:" + base.NewID(), owner: in.Request.Owner}, part{secret: base.NewID()}
	err := n.initUpload(r, a, []part{p})
	return map[string]any{"value": map[string]any{
		"image": a.id, "uploadUrl": n.uploadAddress(r, p),
		"uploadUrlExpiresAt": n.Now().Add(24 * time.Hour).UnixMilli(),
	}}, err
}

func (n *Network) videoAction(r *http.Request) (any, error) {
	switch r.URL.Query().Get("action") {
	case "initializeUpload":
		return n.initVideo(r)
	case "finalizeUpload":
		return n.finalizeVideo(r)
	}
	return nil, invalidRequest("action must be initializeUpload or finalizeUpload")
}

func (n *Network) initVideo(r *http.Request) (any, error) {
	var in struct {
		Request struct {
			Owner     string `json:"owner"`
			Size      int64  `json:"fileSizeBytes"`
			Captions  bool   `json:"uploadCaptions"`
			Thumbnail bool   `json:"uploadThumbnail"`
		} `json:"initializeUploadRequest"`
	}
	if err := readBody(r, &in); err != nil {
		return nil, err
	}
	size := in.Request.Size
	if size < 1 || size > maxVideo || in.Request.Captions || in.Request.Thumbnail {
		return nil, invalidRequest("fileSizeBytes is out of range, or captions or a thumbnail are requested")
	}
	a := asset{id: "urn:li:video:" + base.NewID(), owner: in.Request.Owner, isVideo: true}
	var parts []part
	instructions := []any{}
	for first := int64(0); first < size; first += partSize {
		p := part{secret: base.NewID(), offset: first, size: min(partSize, size-first)}
		parts = append(parts, p)
		instructions = append(instructions,
			map[string]any{"uploadUrl": n.uploadAddress(r, p), "firstByte": first, "lastByte": first + p.size - 1})
	}
	err := n.initUpload(r, a, parts)
	return map[string]any{"value": map[string]any{
		"video": a.id, "uploadToken": "", "uploadInstructions": instructions,
		"uploadUrlsExpireAt": n.Now().Add(24 * time.Hour).UnixMilli(),
	}}, err
}

// upload receives an image from its owner, or a part of a video from any client that has the part's URL.
func (n *Network) upload(w http.ResponseWriter, r *http.Request) {
	endUpload := base.AllowUpload(w)
	p, a, err := n.findPart(r)
	if err == nil && !a.isVideo {
		err = n.asCaller(r, func(_ store.Tx, c caller) error { return c.checkAuthor(a.owner) })
	}
	if err == nil {
		p.cid, err = n.receivePart(w, r, p)
	}
	if err == nil {
		err = n.savePart(r, p, a)
	}
	endUpload()
	write(w, r, uploadResponse(p, a), err)
}

func (n *Network) findPart(r *http.Request) (part, asset, error) {
	var p part
	var a asset
	err := n.Store.InTx(r.Context(), func(t store.Tx) error {
		var found bool
		var err error
		if p, found, err = findPart(r.Context(), t, r.PathValue("secret")); err == nil && !found {
			err = errNotFound
		}
		if err != nil {
			return err
		}
		a, _, err = findAsset(r.Context(), t, p.asset) // every part has an asset
		return err
	})
	return p, a, err
}

// receivePart saves the bytes of a part.
func (n *Network) receivePart(w http.ResponseWriter, r *http.Request, p part) (string, error) {
	maxSize := p.size
	if maxSize == 0 {
		maxSize = maxImage
	}
	blob, err := n.Store.SaveFile(http.MaxBytesReader(w, r.Body, maxSize))
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok || err == nil && p.size != 0 && blob.Size != p.size {
		return "", invalidRequest("The size differs from the declared size")
	}
	if base.UploadError(err) != nil {
		return "", invalidRequest("The body could not be read")
	}
	return blob.CID, err
}

// savePart records an uploaded part. If the part is an image, savePart also completes the asset.
func (n *Network) savePart(r *http.Request, p part, a asset) error {
	ctx, cancel := base.WorkContext(r)
	defer cancel()
	if !a.isVideo {
		blob, err := inspectImage(n.Store, p.cid)
		if err != nil {
			return err
		}
		a.blob, a.completedAt = blob, n.Now()
	}
	return n.Store.InTx(ctx, func(t store.Tx) error {
		if err := updatePart(ctx, t, p); err != nil || a.isVideo {
			return err
		}
		return completeAsset(ctx, t, a)
	})
}

// inspectImage returns the blob of an image. The blob has no MIME type if the image is not supported.
func inspectImage(s *store.Store, cid string) (store.Blob, error) {
	file, err := os.Open(s.FilePath(cid))
	if err != nil {
		return store.Blob{}, fmt.Errorf("opening an image: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return store.Blob{}, fmt.Errorf("inspecting an image: %w", err)
	}
	blob := store.Blob{CID: cid, Size: info.Size()}
	config, format, err := image.DecodeConfig(file)
	mimeType := "image/" + format
	if err == nil && slices.Contains(imageTypes, mimeType) && config.Width*config.Height < maxPixels {
		blob.MIME = mimeType
	}
	return blob, nil
}

func uploadResponse(p part, a asset) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if a.isVideo {
			w.Header().Set("ETag", etagPrefix+p.cid)
			w.WriteHeader(http.StatusOK)
			return
		}
		w.WriteHeader(http.StatusCreated)
	})
}

// finalizeVideo joins a video's parts. The request must list their ETags in order.
func (n *Network) finalizeVideo(r *http.Request) (any, error) {
	var in struct {
		Request struct {
			Video   string   `json:"video"`
			Token   string   `json:"uploadToken"`
			PartIDs []string `json:"uploadedPartIds"`
		} `json:"finalizeUploadRequest"`
	}
	if err := readBody(r, &in); err != nil {
		return nil, err
	}
	var a asset
	var parts []part
	err := n.asCaller(r, func(t store.Tx, c caller) error {
		var err error
		if a, err = c.asset(r.Context(), t, in.Request.Video); err != nil {
			return err
		}
		parts, err = listParts(r.Context(), t, a.id)
		return err
	})
	if err != nil {
		return nil, err
	}
	var etags, cids []string
	for _, p := range parts {
		if p.cid == "" {
			return nil, invalidRequest("A part of the video has not been uploaded")
		}
		etags, cids = append(etags, etagPrefix+p.cid), append(cids, p.cid)
	}
	if !slices.Equal(etags, in.Request.PartIDs) || in.Request.Token != "" || !a.isVideo {
		return nil, invalidRequest("uploadedPartIds must list all parts in order")
	}
	if a.blob, err = n.Store.Join(cids); err != nil {
		return nil, err
	}
	if a.blob.MIME != "video/mp4" {
		a.blob.MIME = ""
	}
	a.completedAt = n.Now()
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) }),
		n.Store.InTx(r.Context(), func(t store.Tx) error { return completeAsset(r.Context(), t, a) })
}
