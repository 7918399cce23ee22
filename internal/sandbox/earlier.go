package sandbox

import (
	"bytes"
	"context"
	"fmt"
	"time"
)

// Earlier is a post that an account had before it was connected.
type Earlier struct {
	Text  string
	Image []byte // a JPEG; may be empty
	At    time.Time
}

// KeepEarlier adds earlier posts to an account of Bluesky (only texts), Threads or Instagram, the oldest first.
func (s *Server) KeepEarlier(ctx context.Context, platform, handle string, posts []Earlier) error {
	files := make([]blobRef, len(posts))
	for i, e := range posts {
		if len(e.Image) == 0 {
			continue
		}
		file, err := s.base.store.keepFile(bytes.NewReader(e.Image))
		if err != nil {
			return fmt.Errorf("adding earlier posts to %s: %w", handle, err)
		}
		file.mime = "image/jpeg"
		files[i] = file
	}
	err := s.base.store.in(ctx, func(t tx) error {
		a, found, err := t.account(ctx, platform, handle)
		if err == nil && !found {
			err = fmt.Errorf("%s has no account with this handle", platform)
		}
		for i, e := range posts {
			if err != nil {
				return err
			}
			err = keepEarlier(ctx, t, platform, a, e, files[i])
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("adding earlier posts to %s: %w", handle, err)
	}
	return nil
}

// keepEarlier adds one post in its network's own form.
func keepEarlier(ctx context.Context, t tx, platform string, a account, e Earlier, file blobRef) error {
	p := post{platform: platform, account: a.id, text: e.Text, at: e.At}
	if file.cid != "" {
		if err := t.keepBlob(ctx, platform, a.id, file); err != nil {
			return err
		}
		p.media = []medium{newMedium(platform, a.id, file, "")}
	}
	form := formEarlierMedia
	if platform == blueskyName {
		form = formEarlierRecord
	}
	if err := form(&p); err != nil {
		return err
	}
	return t.keepPost(ctx, p)
}
