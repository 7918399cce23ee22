package graph

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/sandbox/marker"
	"pressroom.example/pressroom/internal/sandbox/store"
)

// Container is content that a client creates first and then publishes as a post.
type Container struct {
	seq       int64
	Account   string
	MediaType string // media type, as in the API
	IsItem    bool   // whether the container is part of a carousel
	Text      string
	ReplyTo   string // ID of the post that the post replies to
	Media     []store.Medium
	Failure   string // why processing failed
	CreatedAt time.Time
	Post      string            // ID of the published post
	Options   map[string]string // other request parameters of the network
}

// The prefixes of container IDs and post IDs.
const (
	containerPrefix = "18"
	postPrefix      = "17"
)

// ID returns the container's ID.
func (c Container) ID() string { return fmt.Sprintf(containerPrefix+"%015d", c.seq) }

// PostID returns the ID of the container's post.
func (c Container) PostID() string { return fmt.Sprintf(postPrefix+"%015d", c.seq) }

// Status returns the container's status. processing is how long the container is in progress after its creation.
func (c Container) Status(now time.Time, processing time.Duration) string {
	age := now.Sub(c.CreatedAt)
	switch {
	case c.Post != "":
		return "PUBLISHED"
	case age >= containerLifetime:
		return "EXPIRED"
	case age < processing:
		return "IN_PROGRESS"
	case c.Failure != "":
		return "ERROR"
	}
	return "FINISHED"
}

// Withhold returns marker.ErrLost if a marker still hides the container's post.
func (c Container) Withhold(platform string, now time.Time) error {
	if c.Post == "" {
		return nil
	}
	return marker.Withhold(platform, c.Text, c.CreatedAt, now)
}

// notFoundDuration is how long marker.NotFound hides a ready container.
const notFoundDuration = 5 * time.Second

// checkVisible returns an error if a marker hides the container and the container is younger than age.
func (c Container) checkVisible(platform string, now time.Time, age time.Duration) error {
	if c.Post != "" || now.Sub(c.CreatedAt) >= age || !marker.Read(c.Text, platform).Has(marker.NotFound) {
		return nil
	}
	return &Error{
		Status: http.StatusBadRequest, Code: 24, Subcode: 4279009, Message: "The media with this id cannot be found",
	}
}

// CheckVisible returns an error if a marker still hides the container.
func (c Container) CheckVisible(platform string, now time.Time) error {
	return c.checkVisible(platform, now, 2*time.Second)
}

// InsertContainer stores the container and sets its ID.
func InsertContainer(ctx context.Context, t store.Tx, platform string, c *Container) error {
	media, err := json.Marshal(append([]store.Medium{}, c.Media...))
	if err != nil {
		return fmt.Errorf("writing a container's media: %w", err)
	}
	err = t.QueryRowContext(ctx,
		`insert into containers (platform, account, form, item, text, media, failure, made_at)
		values (?, ?, ?, ?, ?, ?, ?, ?) returning seq`,
		platform, c.Account, c.MediaType, c.IsItem, c.Text, string(media), c.Failure,
		c.CreatedAt.UnixMilli()).Scan(&c.seq)
	if err != nil {
		return fmt.Errorf("saving a container: %w", err)
	}
	if len(c.Options) > 0 {
		options, err := json.Marshal(c.Options)
		if err != nil {
			return fmt.Errorf("writing a container's options: %w", err)
		}
		if err := t.Run(ctx, "saving options", `insert into container_options (container, options) values (?, ?)`, c.seq,
			string(options)); err != nil {
			return err
		}
	}
	if c.ReplyTo == "" {
		return nil
	}
	return t.Run(ctx, "saving a reply", `insert into container_replies (container, reply_to) values (?, ?)`, c.seq, c.ReplyTo)
}

// FindContainer returns a container by its ID, and reports whether it exists.
func FindContainer(ctx context.Context, t store.Tx, platform, id string) (Container, bool, error) {
	// An invalid ID differs from the ID of the container with the parsed number, so the comparison below fails.
	seq, _ := strconv.ParseInt(strings.TrimPrefix(id, containerPrefix), 10, 64)
	c := Container{seq: seq}
	if c.ID() != id {
		return Container{}, false, nil
	}
	var media, options string
	var createdAt int64
	err := t.QueryRowContext(ctx,
		`select account, form, item, text, media, failure, made_at, post, coalesce(reply_to, ''), coalesce(options, '{}')
		from containers left join container_replies r on r.container = seq left join container_options o on o.container = seq
		where platform = ? and seq = ?`, platform, seq).
		Scan(&c.Account, &c.MediaType, &c.IsItem, &c.Text, &media, &c.Failure, &createdAt, &c.Post, &c.ReplyTo, &options)
	if errors.Is(err, sql.ErrNoRows) {
		return Container{}, false, nil
	}
	if err == nil {
		err = errors.Join(json.Unmarshal([]byte(media), &c.Media), json.Unmarshal([]byte(options), &c.Options))
	}
	if err != nil {
		return Container{}, false, fmt.Errorf("finding a container: %w", err)
	}
	c.CreatedAt = time.UnixMilli(createdAt)
	return c, true, nil
}

// MarkContainerPublished records that a container was published.
func MarkContainerPublished(ctx context.Context, t store.Tx, c Container) error {
	return t.Run(ctx, "recording a publication", `update containers set post = ? where seq = ?`, c.PostID(), c.seq)
}
