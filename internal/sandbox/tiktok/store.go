package tiktok

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/sandbox/store"
)

// publication is a post. It exists from the time at which a client initializes it.
type publication struct {
	seq           int64
	account       string
	hasPhotos     bool
	text, privacy string
	token         string // secret part of the upload URL; empty in posts from the store, which contains only a hash
	size          int64  // size of a video in bytes
	chunk, parts  int64  // size and number of chunks
	uploaded      int64  // number of uploaded bytes
	failure       string
	createdAt     time.Time
	completedAt   time.Time // when the upload was completed
	isPosted      bool
}

// Prefixes of publish_id.
const (
	videoPrefix = "v_pub_file~v2-1."
	photoPrefix = "p_pub_url~v2."
)

func (p publication) id() string {
	if p.hasPhotos {
		return fmt.Sprintf("%s7%018d", photoPrefix, p.seq)
	}
	return fmt.Sprintf("%s7%018d", videoPrefix, p.seq)
}

// postID returns the post's public ID.
func (p publication) postID() int64 { return 7_500_000_000_000_000_000 + p.seq }

const (
	audienceEveryone = "PUBLIC_TO_EVERYONE"
	audienceSelf     = "SELF_ONLY"
	audienceInbox    = "INBOX" // for a post in the account's inbox; not a value of the API
)

// isPublic reports whether the post is public. TikTok's review takes as long as the processing.
func (p publication) isPublic(now time.Time, processing time.Duration) bool {
	return p.isPosted && p.privacy == audienceEveryone && now.Sub(p.completedAt) >= 2*processing
}

// status returns the post's status in the API's format.
func (p publication) status(now time.Time, processing time.Duration) map[string]any {
	const publicID = "publicaly_available_post_id" //nolint:misspell // the API's own spelling
	view := map[string]any{"status": "PUBLISH_COMPLETE", publicID: []int64{}}
	if !p.hasPhotos {
		view["uploaded_bytes"] = p.uploaded
	}
	switch {
	case p.failure != "":
		view["status"], view["fail_reason"] = "FAILED", p.failure
	case p.hasPhotos && now.Sub(p.completedAt) < processing:
		view["status"] = "PROCESSING_DOWNLOAD"
	case p.completedAt.IsZero() || now.Sub(p.completedAt) < processing:
		view["status"] = "PROCESSING_UPLOAD"
	case p.privacy == audienceInbox:
		view["status"] = "SEND_TO_USER_INBOX"
	case p.isPublic(now, processing):
		view[publicID] = []int64{p.postID()}
	}
	return view
}

func insertPublication(ctx context.Context, t store.Tx, p *publication, hash []byte) error {
	err := t.QueryRowContext(ctx,
		`insert into tiktok_publishes (account, photos, text, privacy, secret, size, chunk, parts, made_at)
		values (?, ?, ?, ?, ?, ?, ?, ?, ?) returning seq`,
		p.account, p.hasPhotos, p.text, p.privacy, hash, p.size, p.chunk, p.parts, p.createdAt.UnixMilli()).Scan(&p.seq)
	if err != nil {
		return fmt.Errorf("saving a publication: %w", err)
	}
	return nil
}

const publicationColumns = `select seq, account, photos, text, privacy, size, chunk, parts, uploaded, failure, made_at,
	done_at, posted from tiktok_publishes `

// findPublication returns the post that an SQL condition selects, and reports whether it exists.
func findPublication(ctx context.Context, t store.Tx, condition string, args ...any) (publication, bool, error) {
	publications, err := listPublications(ctx, t, condition, args...)
	if err != nil || len(publications) == 0 {
		return publication{}, false, err
	}
	return publications[0], true, nil
}

func listPublications(ctx context.Context, t store.Tx, condition string, args ...any) ([]publication, error) {
	rows, err := t.QueryContext(ctx, publicationColumns+condition, args...)
	if err != nil {
		return nil, fmt.Errorf("reading publications: %w", err)
	}
	defer rows.Close()
	var publications []publication
	for rows.Next() {
		var p publication
		var createdAt, completedAt int64
		if err := rows.Scan(&p.seq, &p.account, &p.hasPhotos, &p.text, &p.privacy, &p.size, &p.chunk, &p.parts,
			&p.uploaded, &p.failure, &createdAt, &completedAt, &p.isPosted); err != nil {
			return nil, fmt.Errorf("reading publications: %w", err)
		}
		p.createdAt = time.UnixMilli(createdAt)
		if completedAt > 0 {
			p.completedAt = time.UnixMilli(completedAt)
		}
		publications = append(publications, p)
	}
	return publications, rows.Err()
}

// findPublicationByID returns the account's post with the given publish_id, and reports whether it exists.
func findPublicationByID(ctx context.Context, t store.Tx, account, id string) (publication, bool, error) {
	var seq int64
	_, number, _ := strings.Cut(id, ".7")
	_, _ = fmt.Sscanf(number, "%018d", &seq) // an invalid ID differs from p.id()
	p, found, err := findPublication(ctx, t, `where seq = ? and account = ?`, seq, account)
	return p, found && p.id() == id, err
}

// insertPart records an uploaded part.
func insertPart(ctx context.Context, t store.Tx, p *publication, part store.Blob) error {
	_, err := t.ExecContext(ctx, `insert into tiktok_parts (publish, first, cid) values (?, ?, ?)`, p.seq, p.uploaded,
		part.CID)
	if err == nil {
		p.uploaded += part.Size
		_, err = t.ExecContext(ctx, `update tiktok_publishes set uploaded = ? where seq = ?`, p.uploaded, p.seq)
	}
	if err != nil {
		return fmt.Errorf("saving a part: %w", err)
	}
	return nil
}

// listParts returns the CIDs of the parts of an upload in order.
func listParts(ctx context.Context, t store.Tx, seq int64) ([]string, error) {
	return t.Strings(ctx, "reading parts", `select cid from tiktok_parts where publish = ? order by first`, seq)
}

// finishPublication records that the post is complete. It publishes the post unless the post has failed or goes to the
// inbox.
func finishPublication(ctx context.Context, t store.Tx, p *publication, files []store.Blob) error {
	p.isPosted = p.failure == "" && p.privacy != audienceInbox
	_, err := t.ExecContext(ctx, `update tiktok_publishes set done_at = ?, failure = ?, posted = ? where seq = ?`,
		p.completedAt.UnixMilli(), p.failure, p.isPosted, p.seq)
	if err != nil {
		return fmt.Errorf("recording a publication: %w", err)
	}
	if !p.isPosted {
		return nil
	}
	var media []store.Medium
	for _, file := range files {
		if err := t.SaveBlob(ctx, Name, p.account, file); err != nil {
			return err
		}
		media = append(media, store.NewMedium(Name, p.account, file, ""))
	}
	body, err := json.Marshal(map[string]any{"media": media})
	if err != nil {
		return fmt.Errorf("writing a post: %w", err)
	}
	audience := store.AudiencePublic
	if p.privacy == audienceSelf {
		audience = store.AudienceOwner
	}
	return t.SavePost(ctx, store.Post{
		Audience: audience, Platform: Name, Account: p.account, ID: strconv.FormatInt(p.postID(), 10), Text: p.text, Media: media,
		At: p.completedAt, Version: p.id(), Body: body,
	})
}
