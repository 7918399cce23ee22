package sandbox

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// Earlier is a post that an account had at its network before anybody connected the account.
type Earlier struct {
	Text  string
	Image []byte // a JPEG; none where it is empty
	At    time.Time
}

// KeepEarlier puts posts into the past of an account of Bluesky (of texts alone), Threads or Instagram, the oldest
// first.
func (s *Server) KeepEarlier(ctx context.Context, platform, handle string, posts []Earlier) error {
	files := make([]blobRef, len(posts))
	for i, e := range posts {
		if len(e.Image) == 0 {
			continue
		}
		file, err := s.store.keepFile(bytes.NewReader(e.Image))
		if err != nil {
			return fmt.Errorf("keeping earlier posts of %s: %w", handle, err)
		}
		file.mime = "image/jpeg"
		files[i] = file
	}
	err := s.store.in(ctx, func(t tx) error {
		a, found, err := t.account(ctx, platform, handle)
		if err == nil && !found {
			err = fmt.Errorf("%s has no such account", platform)
		}
		for i, e := range posts {
			if err != nil {
				return err
			}
			err = t.keepEarlier(ctx, platform, a, e, files[i])
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("keeping earlier posts of %s: %w", handle, err)
	}
	return nil
}

// keepEarlier keeps one of them, in its network's own form.
func (t tx) keepEarlier(ctx context.Context, platform string, a account, e Earlier, file blobRef) error {
	p := post{platform: platform, account: a.id, text: e.Text, at: e.At}
	if file.cid != "" {
		if err := t.keepBlob(ctx, platform, a.id, file); err != nil {
			return err
		}
		p.media = []medium{{Path: platform + "/media/" + a.id + "/" + file.cid, Type: file.mime}}
	}
	form := e.graph
	if platform == blueskyName {
		form = e.record
	}
	if err := form(&p); err != nil {
		return err
	}
	return t.keepPost(ctx, p)
}

// record gives the post the form of a Bluesky record.
func (e Earlier) record(p *post) error {
	raw, err := json.Marshal(map[string]any{
		"$type": blueskyCollection, "text": e.Text, "createdAt": e.At.UTC().Format(time.RFC3339Nano),
	})
	if err != nil {
		return fmt.Errorf("writing a record: %w", err)
	}
	rec, err := readRecord(raw)
	p.id, p.version, p.body = recordURI(p.account, tidAt(e.At.UnixMicro())), rec.cid, rec.body
	return err
}

// earlierFront tells the ids of these posts from those of posts that were published here.
const earlierFront = "16"

// graph gives the post the form that Instagram and Threads have.
func (e Earlier) graph(p *post) error {
	form := "TEXT"
	if len(p.media) > 0 {
		form = "IMAGE"
	}
	var err error
	p.id = fmt.Sprintf(earlierFront+"%015d", e.At.UnixMilli())
	p.version = p.id
	if p.body, err = json.Marshal(map[string]any{"media_type": listedForms[form], "media": p.media}); err != nil {
		return fmt.Errorf("writing a post: %w", err)
	}
	return nil
}
