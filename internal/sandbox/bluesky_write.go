package sandbox

import (
	"context"
	"encoding/json"
	"net/http"
)

// swap is a precondition on the current record: nothing, no record, or a certain one.
type swap struct {
	given bool
	cid   string // empty: no record
}

// UnmarshalJSON distinguishes null, which is a condition, from a missing member.
func (s *swap) UnmarshalJSON(raw []byte) error {
	s.given = true
	if string(raw) == "null" {
		return nil
	}
	if json.Unmarshal(raw, &s.cid) != nil || !cidForm.MatchString(s.cid) {
		return invalidRequest("Invalid CID string (got %s) at $.swapRecord", raw)
	}
	return nil
}

func (s swap) allows(standing string) bool { return !s.given || s.cid == standing }

// recordInput is the body of calls that write.
type recordInput struct {
	Repo       string          `json:"repo"`
	Collection string          `json:"collection"`
	RKey       string          `json:"rkey"`
	Record     json.RawMessage `json:"record"`
	Swap       swap            `json:"swapRecord"`
}

type commitAnswer struct {
	CID string `json:"cid"`
	Rev string `json:"rev"`
}

type writeAnswer struct {
	URI              string        `json:"uri"`
	CID              string        `json:"cid"`
	Commit           *commitAnswer `json:"commit,omitempty"` // none where nothing changed
	ValidationStatus string        `json:"validationStatus"`
}

func (b *bluesky) createRecord(r *http.Request) (any, error) { return b.writeRecord(r, true) }

func (b *bluesky) putRecord(r *http.Request) (any, error) { return b.writeRecord(r, false) }

func (b *bluesky) writeRecord(r *http.Request, create bool) (any, error) {
	if _, err := b.bearer(r, accessType); err != nil {
		return nil, err
	}
	var in recordInput
	if err := readInput(r, &in); err != nil {
		return nil, err
	}
	given := in.RKey
	if create && given == "" {
		in.RKey = b.nextTID()
	}
	if err := in.check(); err != nil {
		return nil, err
	}
	rec, err := readRecord(in.Record)
	if err != nil {
		return nil, err
	}
	w := write{in: in, record: rec, create: create, markKey: given}
	if given == "" {
		w.markKey = contentID([]byte(rec.text)) // the record's key is new each time
	}
	return b.carryOut(r, w)
}

func (in recordInput) check() error {
	if err := need("repo", in.Repo, "collection", in.Collection, "rkey", in.RKey, "record",
		string(in.Record)); err != nil {
		return err
	}
	if in.Collection != blueskyCollection {
		return invalidRequest("The sandbox keeps records of %s alone", blueskyCollection)
	}
	if !tidForm.MatchString(in.RKey) {
		return invalidRequest("Invalid record key for %s: Invalid TID string (got %q) at $", blueskyCollection, in.RKey)
	}
	return nil
}

// write is a record that is to be stored.
type write struct {
	in      recordInput
	record  blueskyRecord
	create  bool
	markKey string // identifies the post to markers that act once
}

// carryOut stores the record, on disk when it returns.
func (b *bluesky) carryOut(r *http.Request, w write) (any, error) {
	var answer writeAnswer
	_, err := b.publish(errClosing, func(waited bool) (outcome, error) {
		var out outcome
		err := b.store.in(r.Context(), func(t tx) error {
			var err error
			out, err = b.tryWrite(r, t, w, waited, &answer)
			return err
		})
		return out, err
	})
	return answer, err
}

var (
	errClosing      = &xrpcError{http.StatusServiceUnavailable, "NotEnoughResources", "The sandbox is closing"}
	blueskyRefusals = refusals{
		rejected:    invalidRequest("This content cannot be posted (asked for by a sandbox marker)"),
		expired:     errTokenExpired,
		rateLimited: &xrpcError{http.StatusTooManyRequests, "RateLimitExceeded", "Rate Limit Exceeded"},
		failed:      errInternal,
	}
)

// tryWrite is one transaction's part of a write.
func (b *bluesky) tryWrite(r *http.Request, t tx, w write, waited bool, answer *writeAnswer) (outcome, error) {
	ctx := r.Context()
	a, c, err := b.authorize(r, t)
	if err != nil {
		return outcome{}, err
	}
	if err := b.owns(ctx, t, a, w.in.Repo); err != nil {
		return outcome{}, err
	}
	uri := recordURI(a.id, w.in.RKey)
	current, exists, err := t.post(ctx, blueskyName, uri)
	if err != nil {
		return outcome{}, err
	}
	*answer = writeAnswer{URI: uri, CID: w.record.cid, ValidationStatus: "valid"}
	switch {
	case exists && w.create:
		return outcome{refused: errInternal}, nil
	case exists && current.version == w.record.cid:
		return outcome{}, nil
	case !w.in.Swap.allows(current.version):
		return outcome{refused: swapRefused(current.version)}, nil
	}
	publication := attempt{
		platform: blueskyName, text: w.record.text, key: recordURI(a.id, w.markKey), session: c.Session, waited: waited,
	}
	return publication.publish(ctx, t, blueskyRefusals, func() (string, error) {
		rev := b.nextTID()
		answer.Commit = &commitAnswer{CID: contentID([]byte(uri + rev)), Rev: rev}
		return uri, b.keep(ctx, t, w, a, current)
	})
}

// keep stores the record in place of the current one.
func (b *bluesky) keep(ctx context.Context, t tx, w write, a account, current post) error {
	if err := checkBlobs(ctx, t, a.id, w.record.blobs); err != nil {
		return err
	}
	var media []medium
	for _, m := range w.record.media {
		media = append(media, medium{Path: blobPath(a.id, m.cid), Type: m.mime, Alt: m.alt})
	}
	err := t.keepPost(ctx, post{
		platform: blueskyName, account: a.id, id: recordURI(a.id, w.in.RKey), text: w.record.text, media: media,
		at: w.record.at, version: w.record.cid, body: w.record.body,
	})
	if err != nil {
		return err
	}
	return t.dropBlobs(ctx, blueskyName, a.id, current.body)
}

func swapRefused(standing string) error {
	if standing == "" {
		standing = "null"
	}
	return &xrpcError{http.StatusBadRequest, "InvalidSwap", "Record was at " + standing}
}
