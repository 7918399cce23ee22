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

// PriorPost is a post that was published before the account was connected.
type PriorPost struct {
	Text  string
	Image []byte // a JPEG image; may be empty
	At    time.Time
}

// AddPriorPosts adds prior posts to a Bluesky (text only), Threads or Instagram account. The posts must be sorted by
// time, oldest first.
func (s *Server) AddPriorPosts(ctx context.Context, platform, handle string, posts []PriorPost) error {
	files := make([]store.Blob, len(posts))
	for i, p := range posts {
		if len(p.Image) == 0 {
			continue
		}
		file, err := s.base.Store.SaveFile(bytes.NewReader(p.Image))
		if err != nil {
			return fmt.Errorf("adding prior posts to %s: %w", handle, err)
		}
		file.MIME = "image/jpeg"
		files[i] = file
	}
	err := s.base.Store.InTx(ctx, func(t store.Tx) error {
		a, found, err := t.Account(ctx, platform, handle)
		if err == nil && !found {
			err = fmt.Errorf("%s has no account with this handle", platform)
		}
		for i, p := range posts {
			if err != nil {
				return err
			}
			err = savePriorPost(ctx, t, platform, a, p, files[i])
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("adding prior posts to %s: %w", handle, err)
	}
	return nil
}

// savePriorPost saves a prior post in the format of its network.
func savePriorPost(ctx context.Context, t store.Tx, platform string, a store.Account, priorPost PriorPost, file store.Blob) error {
	p := store.Post{Platform: platform, Account: a.ID, Text: priorPost.Text, At: priorPost.At}
	if file.CID != "" {
		if err := t.SaveBlob(ctx, platform, a.ID, file); err != nil {
			return err
		}
		p.Media = []store.Medium{store.NewMedium(platform, a.ID, file, "")}
	}
	format := graph.FormatPriorPost
	if platform == bluesky.Name {
		format = bluesky.FormatPriorPost
	}
	if err := format(&p); err != nil {
		return err
	}
	return t.SavePost(ctx, p)
}
