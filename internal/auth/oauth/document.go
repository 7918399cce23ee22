package oauth

import (
	"bytes"
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"time"

	"pressroom/internal/apierr"
	"pressroom/internal/platform/db"
)

const (
	maxDocument  = 16 << 10  // bytes of a document; those that are around have less than one KiB
	documentKept = time.Hour // how long it is relied on before it is fetched again
)

// document is what a program publishes of itself (OAuth Client ID Metadata Document).
type document struct {
	Registration

	ID     string `json:"client_id"`
	Secret string `json:"client_secret"`
}

var errDocument = apierr.New(apierr.ValidationFailed, "What this program says of itself cannot be read, or does not fit the address that it is to be found at. Its maker has to mend that.")

// isDocument tells whether a program's id is the address of its document: https, with a path, and written in one way alone.
func isDocument(id string) bool {
	u, err := url.Parse(id)
	return err == nil && u.Scheme == "https" && u.Hostname() != "" && u.User == nil && len(u.Path) > 1 && len(id) <= maxAddress &&
		!strings.Contains(id, "#") && !strings.ContainsFunc(id, oddInAddress) && !dotted(u.Path)
}

// dotted tells whether a path has segments that lead elsewhere than they are written.
func dotted(path string) bool {
	return slices.ContainsFunc(strings.Split(path, "/"), func(part string) bool { return part == "." || part == ".." })
}

// described reads a program's document, which is fetched unless that was done a short while ago.
func (s *Service) described(ctx context.Context, from, id string) (Client, error) {
	known, err := s.clientOf(ctx, id)
	if err == nil && s.db.Now().Sub(known.read) < documentKept {
		return known, nil
	}
	if err != nil && !apierr.Is(err, apierr.NotFound) {
		return Client{}, err
	}
	if s.Fetch == nil {
		return Client{}, apierr.Missing()
	}
	if err := s.registering(from); err != nil {
		return Client{}, err
	}
	c, err := s.fetchDocument(ctx, id)
	if err != nil {
		return Client{}, err
	}
	err = s.db.InTx(ctx, "oauth.describe", func(ctx context.Context, tx *db.Tx) error {
		c.Created, c.read = tx.Now(), tx.Now()
		return keepClient(ctx, tx, c)
	})
	return c, err
}

func (s *Service) fetchDocument(ctx context.Context, id string) (Client, error) {
	var body bytes.Buffer
	if err := s.Fetch(ctx, id, maxDocument, &body); err != nil {
		return Client{}, errDocument.Wrap(err)
	}
	return readDocument(id, body.Bytes())
}

// readDocument reads a document that was found at an address.
func readDocument(id string, body []byte) (Client, error) {
	var d document
	if err := json.Unmarshal(body, &d); err != nil {
		return Client{}, errDocument.Wrap(err)
	}
	// What everybody can read holds no secret (section 4.1 of the draft).
	if d.ID != id || d.Secret != "" || strings.HasPrefix(d.AuthMethod, "client_secret_") {
		return Client{}, errDocument
	}
	c, err := d.client()
	if err != nil {
		return Client{}, errDocument.Wrap(err)
	}
	c.ID = id
	return c, nil
}
