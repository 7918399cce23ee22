package sandbox

import (
	"context"
	"encoding/json"
	"net/http"
	"time"
)

// swap is a precondition on the record that stands: nothing, none may stand, or this one.
type swap struct {
	given bool
	cid   string // empty: none may stand
}

// UnmarshalJSON tells a null, which is a condition, from a member that is not there.
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

// recordInput is the body of the three calls that write.
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
	w := write{in: in, record: rec, create: create, markKey: given, marks: readMarkers(rec.text, blueskyName)}
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

// write is one record on its way in.
type write struct {
	in      recordInput
	record  blueskyRecord
	create  bool
	marks   markers
	markKey string // what a marker that acts once knows the post by
	waited  bool
}

// outcome is what a write came to. Also a refusal may have changed something: a marker has acted.
type outcome struct {
	answer  writeAnswer
	refused error
	wait    time.Duration // come back after this
}

// carryOut does the write, on disk when it returns.
func (b *bluesky) carryOut(r *http.Request, w write) (any, error) {
	for {
		var out outcome
		err := b.store.in(r.Context(), func(t tx) error {
			var err error
			out, err = b.tryWrite(r, t, w)
			return err
		})
		if err != nil {
			return nil, err
		}
		if out.wait == 0 {
			return out.answer, out.refused
		}
		if !b.pause(out.wait) {
			return nil, &xrpcError{http.StatusServiceUnavailable, "NotEnoughResources", "The sandbox is closing"}
		}
		w.waited = true
	}
}

// tryWrite is one transaction's part of a write.
func (b *bluesky) tryWrite(r *http.Request, t tx, w write) (outcome, error) {
	ctx := r.Context()
	a, c, err := b.authorize(r, t)
	if err != nil {
		return outcome{}, err
	}
	if err := b.owns(ctx, t, a, w.in.Repo); err != nil {
		return outcome{}, err
	}
	uri := recordURI(a.id, w.in.RKey)
	standing, stands, err := t.post(ctx, blueskyName, uri)
	if err != nil {
		return outcome{}, err
	}
	if stands && w.create {
		return outcome{
			refused: &xrpcError{http.StatusInternalServerError, "InternalServerError", "Internal Server Error"},
		}, nil
	}
	if stands && standing.version == w.record.cid {
		return outcome{answer: written(uri, w.record.cid)}, nil
	}
	if !w.in.Swap.allows(standing.version) {
		return outcome{refused: swapRefused(standing.version)}, nil
	}
	if out, acted, err := b.actBefore(ctx, t, w, recordURI(a.id, w.markKey), c.Session); err != nil || acted {
		return out, err
	}
	return b.keep(ctx, t, w, a, standing)
}

// keep puts the record in the place of the standing one, if there is one.
func (b *bluesky) keep(ctx context.Context, t tx, w write, a account, standing post) (outcome, error) {
	uri := recordURI(a.id, w.in.RKey)
	if err := checkBlobs(ctx, t, a.id, w.record.blobs); err != nil {
		return outcome{}, err
	}
	var media []medium
	for _, m := range w.record.media {
		media = append(media, medium{Path: blobPath(a.id, m.cid), Type: m.mime, Alt: m.alt})
	}
	err := t.keepPost(ctx, post{
		platform: blueskyName, account: a.id, id: uri, text: w.record.text, media: media, at: w.record.at,
		version: w.record.cid, body: w.record.body,
	})
	if err != nil {
		return outcome{}, err
	}
	if err := t.dropBlobs(ctx, blueskyName, a.id, standing.body); err != nil {
		return outcome{}, err
	}
	out := outcome{answer: written(uri, w.record.cid)}
	rev := b.nextTID()
	out.answer.Commit = &commitAnswer{CID: contentID([]byte(uri + rev)), Rev: rev}
	lost, err := loses(ctx, t, blueskyName, w.marks, recordURI(a.id, w.markKey))
	if lost {
		out.refused = errCut
	}
	return out, err
}

func written(uri, cid string) writeAnswer {
	return writeAnswer{URI: uri, CID: cid, ValidationStatus: "valid"}
}

func swapRefused(standing string) error {
	if standing == "" {
		standing = "null"
	}
	return &xrpcError{http.StatusBadRequest, "InvalidSwap", "Record was at " + standing}
}
