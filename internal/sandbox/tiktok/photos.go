package tiktok

import (
	"context"
	"errors"
	"net/http"

	"pressroom.example/pressroom/internal/sandbox/marker"
	"pressroom.example/pressroom/internal/sandbox/store"
)

// postPhotos fetches photos and publishes them. If a photo is not suitable, the post fails, and its status says why.
func (n *Network) postPhotos(r *http.Request) (any, error) {
	var in postRequest
	err := readBody(r, &in)
	if err == nil {
		err = in.checkText(maxPhotoTitle, maxDescription)
	}
	scope := scopePublish
	switch {
	case err != nil:
	case in.Mode == "MEDIA_UPLOAD":
		scope, in.Info.Privacy = scopeUpload, audienceInbox
	case in.Info.Privacy == audienceInbox:
		err = errAudience
	}
	if err == nil {
		err = in.checkPhotos()
	}
	if err != nil {
		return nil, err
	}
	p := publication{hasPhotos: true, text: in.Info.Description, privacy: in.Info.Privacy, createdAt: n.Now()}
	err = n.Store.InTx(r.Context(), func(t store.Tx) error {
		a, err := n.authenticate(r, t, scope)
		p.account = a.ID
		if err != nil {
			return err
		}
		if err := errors.Join(a.checkDomain(), a.checkAudience(p.privacy)); err != nil {
			return err
		}
		return n.checkAudit(r.Context(), t, a, p)
	})
	if err != nil {
		return nil, err
	}
	files, err := n.fetchPhotos(r.Context(), &p, in.Source.Photos)
	if err != nil {
		return nil, err
	}
	return n.publishPhotos(r, p, files, scope)
}

func (p postRequest) checkPhotos() error {
	s := p.Source
	switch {
	case p.MediaType != "PHOTO", p.Mode != "DIRECT_POST" && p.Mode != "MEDIA_UPLOAD", s.Source != "PULL_FROM_URL":
		return invalidParams("This sandbox accepts PHOTO only by PULL_FROM_URL")
	case len(s.Photos) < 1, len(s.Photos) > maxPhotos, s.Cover < 0, s.Cover >= len(s.Photos):
		return invalidParams("The number of photo_images or photo_cover_index is out of range")
	}
	return nil
}

func (n *Network) publishPhotos(r *http.Request, p publication, files []store.Blob, scope string) (any, error) {
	id, err := n.PublishInTx(r.Context(), errInternal, func(t store.Tx, waited bool) (marker.Outcome, error) {
		a, err := n.authenticate(r, t, scope)
		if err != nil {
			return marker.Outcome{}, err
		}
		if out, err := n.applyRejections(r.Context(), t, p, a.session); err != nil || out.ClientErr != nil {
			return out, err
		}
		return n.finish(r.Context(), t, &p, files, waited)
	})
	return map[string]any{"publish_id": id}, err
}

// fetchPhotos fetches the photos of a post. If a photo is not suitable, fetchPhotos sets the post's failure.
func (n *Network) fetchPhotos(ctx context.Context, p *publication, addresses []string) ([]store.Blob, error) {
	var files []store.Blob
	for _, address := range addresses {
		file, fetched, err := n.Fetch(ctx, n.client, address, maxPhoto)
		switch {
		case err != nil:
			return nil, err
		case !fetched:
			p.failure = "photo_pull_failed"
			return nil, nil
		case file.Size > maxPhoto:
			p.failure = "picture_size_check_failed"
			return nil, nil
		case file.MIME != "image/jpeg" && file.MIME != "image/webp":
			p.failure = "file_format_check_failed"
			return nil, nil
		}
		files = append(files, file)
	}
	return files, nil
}
