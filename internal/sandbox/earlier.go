package sandbox

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"pressroom.example/pressroom/internal/sandbox/bluesky"
	"pressroom.example/pressroom/internal/sandbox/graph"
	"pressroom.example/pressroom/internal/sandbox/store"
)

// Earlier is a post that was published before the account was connected.
type Earlier struct {
	Text  string
	Image []byte // a JPEG; may be empty
	At    time.Time
}

// AddEarlier adds earlier posts to an account of Bluesky (only texts), Threads or Instagram, the oldest first.
func (s *Server) AddEarlier(ctx context.Context, platform, handle string, posts []Earlier) error {
	files := make([]store.Blob, len(posts))
	for i, e := range posts {
		if len(e.Image) == 0 {
			continue
		}
		file, err := s.base.Store.SaveFile(bytes.NewReader(e.Image))
		if err != nil {
			return fmt.Errorf("adding earlier posts to %s: %w", handle, err)
		}
		file.MIME = "image/jpeg"
		files[i] = file
	}
	err := s.base.Store.InTx(ctx, func(t store.Tx) error {
		a, found, err := t.Account(ctx, platform, handle)
		if err == nil && !found {
			err = fmt.Errorf("%s has no account with this handle", platform)
		}
		for i, e := range posts {
			if err != nil {
				return err
			}
			err = saveEarlier(ctx, t, platform, a, e, files[i])
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("adding earlier posts to %s: %w", handle, err)
	}
	return nil
}

// saveEarlier adds one post in the format of its network.
func saveEarlier(ctx context.Context, t store.Tx, platform string, a store.Account, e Earlier, file store.Blob) error {
	p := store.Post{Platform: platform, Account: a.ID, Text: e.Text, At: e.At}
	if file.CID != "" {
		if err := t.SaveBlob(ctx, platform, a.ID, file); err != nil {
			return err
		}
		p.Media = []store.Medium{store.NewMedium(platform, a.ID, file, "")}
	}
	form := graph.FormEarlier
	if platform == bluesky.Name {
		form = bluesky.FormEarlier
	}
	if err := form(&p); err != nil {
		return err
	}
	return t.SavePost(ctx, p)
}
