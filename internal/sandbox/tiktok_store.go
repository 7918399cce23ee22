package sandbox

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// tiktokPublish is a post from when it was begun.
type tiktokPublish struct {
	seq           int64
	account       string
	photos        bool
	text, privacy string
	token         string // in the address of an upload, as far as it is known; only its hash is kept
	size          int64  // bytes of a video
	chunk, parts  int64
	uploaded      int64
	failure       string
	made, done    time.Time // done: when all had arrived
	posted        bool
}

// The beginnings of a publish_id.
const (
	tiktokVideoFront = "v_pub_file~v2-1."
	tiktokPhotoFront = "p_pub_url~v2."
)

func (p tiktokPublish) id() string {
	if p.photos {
		return fmt.Sprintf("%s7%018d", tiktokPhotoFront, p.seq)
	}
	return fmt.Sprintf("%s7%018d", tiktokVideoFront, p.seq)
}

// postID is what the public knows the post by.
func (p tiktokPublish) postID() int64 { return 7_500_000_000_000_000_000 + p.seq }

const tiktokEveryone = "PUBLIC_TO_EVERYONE"

// public tells whether everybody can see the post: it is looked at first, for as long again as the network worked on
// it.
func (p tiktokPublish) public(now time.Time, work time.Duration) bool {
	return p.posted && p.privacy == tiktokEveryone && now.Sub(p.done) >= 2*work
}

// status is what the network says of the post.
func (p tiktokPublish) status(now time.Time, work time.Duration) map[string]any {
	told := map[string]any{"status": "PUBLISH_COMPLETE", "publicaly_available_post_id": []int64{}} //nolint:misspell // so it is called
	if !p.photos {
		told["uploaded_bytes"] = p.uploaded
	}
	switch {
	case p.failure != "":
		told["status"], told["fail_reason"] = "FAILED", p.failure
	case p.photos && now.Sub(p.done) < work:
		told["status"] = "PROCESSING_DOWNLOAD"
	case p.done.IsZero() || now.Sub(p.done) < work:
		told["status"] = "PROCESSING_UPLOAD"
	case p.public(now, work):
		told["publicaly_available_post_id"] = []int64{p.postID()} //nolint:misspell // so it is called
	}
	return told
}

func (t tx) keepTikTok(ctx context.Context, p *tiktokPublish, hash []byte) error {
	err := t.QueryRowContext(ctx,
		`insert into tiktok_publishes (account, photos, text, privacy, secret, size, chunk, parts, made_at) values (?, ?, ?, ?, ?, ?, ?, ?, ?) returning seq`,
		p.account, p.photos, p.text, p.privacy, hash, p.size, p.chunk, p.parts, p.made.UnixMilli()).Scan(&p.seq)
	if err != nil {
		return fmt.Errorf("keeping a post that was begun: %w", err)
	}
	return nil
}

const tiktokColumns = `select seq, account, photos, text, privacy, size, chunk, parts, uploaded, failure, made_at, done_at, posted from tiktok_publishes `

// tiktokOne is the post that the condition selects. It is false where there is none.
func (t tx) tiktokOne(ctx context.Context, condition string, args ...any) (tiktokPublish, bool, error) {
	all, err := t.tiktokAll(ctx, condition, args...)
	if err != nil || len(all) == 0 {
		return tiktokPublish{}, false, err
	}
	return all[0], true, nil
}

func (t tx) tiktokAll(ctx context.Context, condition string, args ...any) ([]tiktokPublish, error) {
	rows, err := t.QueryContext(ctx, tiktokColumns+condition, args...)
	if err != nil {
		return nil, fmt.Errorf("reading what was begun: %w", err)
	}
	defer rows.Close()
	var found []tiktokPublish
	for rows.Next() {
		var p tiktokPublish
		var made, done int64
		if err := rows.Scan(&p.seq, &p.account, &p.photos, &p.text, &p.privacy, &p.size, &p.chunk, &p.parts,
			&p.uploaded, &p.failure, &made, &done, &p.posted); err != nil {
			return nil, fmt.Errorf("reading what was begun: %w", err)
		}
		p.made = time.UnixMilli(made)
		if done > 0 {
			p.done = time.UnixMilli(done)
		}
		found = append(found, p)
	}
	return found, rows.Err()
}

// tiktokByID finds a post of an account by its publish_id.
func (t tx) tiktokByID(ctx context.Context, account, id string) (tiktokPublish, bool, error) {
	var seq int64
	_, number, _ := strings.Cut(id, ".7")
	_, _ = fmt.Sscanf(number, "%018d", &seq) // anything else is not this post's id
	p, found, err := t.tiktokOne(ctx, `where seq = ? and account = ?`, seq, account)
	return p, found && p.id() == id, err
}

// keepTikTokPart notes a part of an upload that has arrived.
func (t tx) keepTikTokPart(ctx context.Context, p *tiktokPublish, part blobRef) error {
	_, err := t.ExecContext(ctx, `insert into tiktok_parts (publish, first, cid) values (?, ?, ?)`, p.seq, p.uploaded,
		part.cid)
	if err == nil {
		p.uploaded += part.size
		_, err = t.ExecContext(ctx, `update tiktok_publishes set uploaded = ? where seq = ?`, p.uploaded, p.seq)
	}
	if err != nil {
		return fmt.Errorf("keeping a part: %w", err)
	}
	return nil
}

// tiktokParts are the parts of an upload in their order.
func (t tx) tiktokParts(ctx context.Context, seq int64) ([]string, error) {
	var joined sql.NullString
	err := t.QueryRowContext(ctx, `select group_concat(cid, ' ' order by first) from tiktok_parts where publish = ?`,
		seq).Scan(&joined)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return nil, fmt.Errorf("reading the parts: %w", err)
	}
	return strings.Fields(joined.String), nil
}

// finishTikTok shows the post to everybody who may see it, unless it failed.
func (t tx) finishTikTok(ctx context.Context, p *tiktokPublish, files []blobRef) error {
	p.posted = p.failure == ""
	_, err := t.ExecContext(ctx, `update tiktok_publishes set done_at = ?, failure = ?, posted = ? where seq = ?`,
		p.done.UnixMilli(), p.failure, p.posted, p.seq)
	if err != nil {
		return fmt.Errorf("noting a publication: %w", err)
	}
	if !p.posted {
		return nil
	}
	var media []medium
	for _, file := range files {
		if err := t.keepBlob(ctx, tiktokName, p.account, file); err != nil {
			return err
		}
		media = append(media, medium{Path: tiktokName + "/media/" + p.account + "/" + file.cid, Type: file.mime})
	}
	body, err := json.Marshal(map[string]any{"media": media})
	if err != nil {
		return fmt.Errorf("writing a post: %w", err)
	}
	return t.keepPost(ctx, post{
		platform: tiktokName, account: p.account, id: strconv.FormatInt(p.postID(), 10), text: p.text, media: media,
		at: p.done, version: p.id(), body: body,
	})
}
