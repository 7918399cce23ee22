package oauth

import (
	"bytes"
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/platform/db"
)

const (
	maxDocumentBytes = 16 << 10  // maximum size of a document; real documents are smaller than 1 KiB
	documentTTL      = time.Hour // time until a document is fetched again
)

// document is an OAuth Client ID Metadata Document.
type document struct {
	Registration

	ID     string `json:"client_id"`
	Secret string `json:"client_secret"`
}

var errInvalidDocument = apierr.New(apierr.ValidationFailed,
	"The metadata document of this application is invalid. Contact its developer.")

// isDocumentURL reports whether a client ID is the URL of a metadata document, that is, an unambiguous https URL with a
// path.
func isDocumentURL(id string) bool {
	u, err := url.Parse(id)
	return err == nil && u.Scheme == "https" && u.Hostname() != "" && u.User == nil && len(u.Path) > 1 &&
		len(id) <= maxURLLength &&
		!strings.Contains(id, "#") && !strings.ContainsFunc(id, isAmbiguous) && !hasDotSegment(u.Path)
}

// hasDotSegment reports whether a path contains the segment "." or "..".
func hasDotSegment(path string) bool {
	return slices.ContainsFunc(strings.Split(path, "/"), func(part string) bool { return part == "." || part == ".." })
}

// clientFromDocument returns the client that a metadata document describes. It fetches the document unless it is
// cached.
func (s *Service) clientFromDocument(ctx context.Context, caller, id string) (Client, error) {
	client, err := s.readClient(ctx, id)
	if err == nil && s.db.Now().Sub(client.readAt) < documentTTL {
		return client, nil
	}
	if err != nil && !apierr.Is(err, apierr.NotFound) {
		return Client{}, err
	}
	if s.Fetch == nil {
		return Client{}, apierr.ItemNotFound()
	}
	if err := s.checkRegistrationRate(caller); err != nil {
		return Client{}, err
	}
	c, err := s.fetchDocument(ctx, id)
	if err != nil {
		return Client{}, err
	}
	err = s.db.InTx(ctx, "oauth.describe", func(ctx context.Context, tx *db.Tx) error {
		c.CreatedAt, c.readAt = tx.Now(), tx.Now()
		return saveClient(ctx, tx, c)
	})
	return c, err
}

func (s *Service) fetchDocument(ctx context.Context, id string) (Client, error) {
	var body bytes.Buffer
	if err := s.Fetch(ctx, id, maxDocumentBytes, &body); err != nil {
		return Client{}, errInvalidDocument.Wrap(err)
	}
	return parseDocument(id, body.Bytes())
}

// parseDocument parses a metadata document that was fetched from the URL id.
func parseDocument(id string, body []byte) (Client, error) {
	var d document
	if err := json.Unmarshal(body, &d); err != nil {
		return Client{}, errInvalidDocument.Wrap(err)
	}
	// A public document must not contain a secret (section 4.1 of the draft).
	if d.ID != id || d.Secret != "" || strings.HasPrefix(d.AuthMethod, "client_secret_") {
		return Client{}, errInvalidDocument
	}
	c, err := d.newClient()
	if err != nil {
		return Client{}, errInvalidDocument.Wrap(err)
	}
	c.ID = id
	return c, nil
}
