package bluesky

import (
	"context"
	"encoding/json"
	"net/http"

	"pressroom.example/pressroom/internal/sandbox/marker"
	"pressroom.example/pressroom/internal/sandbox/store"
)

// swap is an optional precondition: the current record must not exist, or it must have a specific CID.
type swap struct {
	isSet bool   // whether there is a precondition
	cid   string // CID of the required record; empty if there must be no record
}

// UnmarshalJSON parses a CID, or null, which means that there must be no record. It is not called if the member is
// missing.
func (s *swap) UnmarshalJSON(raw []byte) error {
	s.isSet = true
	if string(raw) == "null" {
		return nil
	}
	if json.Unmarshal(raw, &s.cid) != nil || !cidPattern.MatchString(s.cid) {
		return invalidRequest("Invalid CID string (got %s) at $.swapRecord", raw)
	}
	return nil
}

func (s swap) allows(currentCID string) bool { return !s.isSet || s.cid == currentCID }

// recordInput is the body of a call that writes a record.
type recordInput struct {
	Repo       string          `json:"repo"`
	Collection string          `json:"collection"`
	RKey       string          `json:"rkey"`
	Record     json.RawMessage `json:"record"`
	Swap       swap            `json:"swapRecord"`
}

type commitResponse struct {
	CID string `json:"cid"`
	Rev string `json:"rev"`
}

type writeResponse struct {
	URI              string          `json:"uri"`
	CID              string          `json:"cid"`
	Commit           *commitResponse `json:"commit,omitempty"` // nil if nothing changed
	ValidationStatus string          `json:"validationStatus"`
}

func (b *Network) createRecord(r *http.Request) (any, error) { return b.writeRecord(r, true) }

func (b *Network) putRecord(r *http.Request) (any, error) { return b.writeRecord(r, false) }

func (b *Network) writeRecord(r *http.Request, create bool) (any, error) {
	if _, err := b.bearer(r, accessType); err != nil {
		return nil, err
	}
	var in recordInput
	if err := readInput(r, &in); err != nil {
		return nil, err
	}
	requestedKey := in.RKey
	if create && requestedKey == "" {
		in.RKey = b.nextTID()
	}
	if err := in.check(); err != nil {
		return nil, err
	}
	rec, err := parseRecord(in.Record)
	if err != nil {
		return nil, err
	}
	w := write{input: in, record: rec, create: create, markerKey: requestedKey}
	if requestedKey == "" {
		w.markerKey = store.ContentID([]byte(rec.text)) // not the record's key, which is different in each attempt
	}
	return b.publish(r, w)
}

func (in recordInput) check() error {
	if err := requireValues("repo", in.Repo, "collection", in.Collection, "rkey", in.RKey, "record",
		string(in.Record)); err != nil {
		return err
	}
	if in.Collection != collection {
		return invalidRequest("The sandbox keeps only records of %s", collection)
	}
	if !tidPattern.MatchString(in.RKey) {
		return invalidRequest("Invalid record key for %s: Invalid TID string (got %q) at $", collection, in.RKey)
	}
	return nil
}

// write is a request to store a record.
type write struct {
	input     recordInput
	record    record
	create    bool
	gates     []gate // created together with the post
	markerKey string // identifies the post for markers that take effect once
}

// publish stores the record. When publish returns, the record is on disk.
func (b *Network) publish(r *http.Request, w write) (any, error) {
	var response writeResponse
	_, err := b.PublishInTx(r.Context(), errClosing, func(t store.Tx, waited bool) (marker.Outcome, error) {
		return b.tryWrite(r, t, w, waited, &response)
	})
	return response, err
}

var (
	errClosing   = &xrpcError{http.StatusServiceUnavailable, "NotEnoughResources", "The sandbox is closing"}
	markerErrors = marker.MarkerErrors{
		RejectErr:       invalidRequest("This content cannot be posted (requested by a sandbox marker)"),
		ExpiredTokenErr: errTokenExpired,
		RateLimitErr:    &xrpcError{http.StatusTooManyRequests, "RateLimitExceeded", "Rate Limit Exceeded"},
		FailureErr:      errInternal,
	}
)

// tryWrite makes one attempt to write the record, in the transaction t.
func (b *Network) tryWrite(
	r *http.Request, t store.Tx, w write, waited bool, response *writeResponse,
) (marker.Outcome, error) {
	ctx := r.Context()
	a, c, err := b.authorize(r, t)
	if err != nil {
		return marker.Outcome{}, err
	}
	if err := b.checkOwner(ctx, t, a, w.input.Repo); err != nil {
		return marker.Outcome{}, err
	}
	uri := recordURI(a.ID, w.input.RKey)
	currentPost, exists, err := t.Post(ctx, Name, uri)
	if err != nil {
		return marker.Outcome{}, err
	}
	*response = writeResponse{URI: uri, CID: w.record.cid, ValidationStatus: "valid"}
	switch {
	case exists && w.create:
		return marker.Outcome{ClientErr: errInternal}, nil
	case exists && currentPost.Version == w.record.cid:
		return marker.Outcome{}, nil
	case !w.input.Swap.allows(currentPost.Version):
		return marker.Outcome{ClientErr: swapError(currentPost.Version)}, nil
	}
	attempt := marker.Attempt{
		Platform: Name, Text: w.record.text, Key: recordURI(a.ID, w.markerKey), Session: c.Session, Waited: waited,
	}
	return attempt.Publish(ctx, t, markerErrors, func() (string, error) {
		rev := b.nextTID()
		response.Commit = &commitResponse{CID: store.ContentID([]byte(uri + rev)), Rev: rev}
		return uri, b.save(ctx, t, w, a, currentPost)
	})
}

// save stores the record. It replaces the current record, if there is one.
func (b *Network) save(ctx context.Context, t store.Tx, w write, a store.Account, currentPost store.Post) error {
	if err := checkBlobs(ctx, t, a.ID, w.record.blobs); err != nil {
		return err
	}
	var media []store.Medium
	for _, m := range w.record.media {
		media = append(media, store.Medium{Path: blobPath(a.ID, m.CID), Type: m.MIME, Alt: m.alt})
	}
	err := t.SavePost(ctx, store.Post{
		Platform: Name, Account: a.ID, ID: recordURI(a.ID, w.input.RKey), Text: w.record.text, Media: media,
		At: w.record.at, Version: w.record.cid, Body: w.record.body, ReplyTo: w.record.reply,
	})
	if err == nil {
		err = saveGates(ctx, t, a.ID, w.gates)
	}
	if err != nil {
		return err
	}
	return t.DeleteUnreferencedBlobs(ctx, Name, a.ID, currentPost.Body)
}

func swapError(currentCID string) error {
	if currentCID == "" {
		currentCID = "null"
	}
	return &xrpcError{http.StatusBadRequest, "InvalidSwap", "Record was at " + currentCID}
}
