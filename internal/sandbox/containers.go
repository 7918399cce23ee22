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

// container is a post that is prepared before it is published.
type container struct {
	seq     int64
	account string
	form    string // the network's name for the kind of post
	item    bool   // part of another container
	text    string
	media   []medium
	failure string // why it failed
	made    time.Time
	post    string // id of its publication
}

// Prefixes of the ids of containers and of their posts.
const (
	containerFront = "18"
	postFront      = "17"
)

func (c container) id() string     { return fmt.Sprintf(containerFront+"%015d", c.seq) }
func (c container) postID() string { return fmt.Sprintf(postFront+"%015d", c.seq) }

// status returns the container's status. The network processes it for a while.
func (c container) status(now time.Time, work time.Duration) string {
	age := now.Sub(c.made)
	switch {
	case c.post != "":
		return "PUBLISHED"
	case age >= containerLife:
		return "EXPIRED"
	case age < work:
		return "IN_PROGRESS"
	case c.failure != "":
		return "ERROR"
	}
	return "FINISHED"
}

// untold returns marker.ErrLost if the container must not be shown, as a marker keeps its post unconfirmed.
func (c container) untold(platform string, now time.Time) error {
	if c.post == "" {
		return nil
	}
	return untold(platform, c.text, c.made, now)
}

// insertContainer stores the container and sets its number.
func insertContainer(ctx context.Context, t tx, platform string, c *container) error {
	media, err := json.Marshal(append([]medium{}, c.media...))
	if err != nil {
		return fmt.Errorf("writing a container's media: %w", err)
	}
	err = t.QueryRowContext(ctx,
		`insert into containers (platform, account, form, item, text, media, failure, made_at)
		values (?, ?, ?, ?, ?, ?, ?, ?) returning seq`,
		platform, c.account, c.form, c.item, c.text, string(media), c.failure, c.made.UnixMilli()).Scan(&c.seq)
	if err != nil {
		return fmt.Errorf("saving a container: %w", err)
	}
	return nil
}

// findContainer returns a container by its id, and reports whether it exists.
func findContainer(ctx context.Context, t tx, platform, id string) (container, bool, error) {
	// any other id differs from the container's
	seq, _ := strconv.ParseInt(strings.TrimPrefix(id, containerFront), 10, 64)
	c := container{seq: seq}
	if c.id() != id {
		return container{}, false, nil
	}
	var media string
	var made int64
	err := t.QueryRowContext(ctx,
		`select account, form, item, text, media, failure, made_at, post from containers
		where platform = ? and seq = ?`, platform, seq).
		Scan(&c.account, &c.form, &c.item, &c.text, &media, &c.failure, &made, &c.post)
	if errors.Is(err, sql.ErrNoRows) {
		return container{}, false, nil
	}
	if err == nil {
		err = json.Unmarshal([]byte(media), &c.media)
	}
	if err != nil {
		return container{}, false, fmt.Errorf("finding a container: %w", err)
	}
	c.made = time.UnixMilli(made)
	return c, true, nil
}

// markContainerPublished records the publication of a container.
func markContainerPublished(ctx context.Context, t tx, c container) error {
	if _, err := t.ExecContext(ctx, `update containers set post = ? where seq = ?`, c.postID(), c.seq); err != nil {
		return fmt.Errorf("recording a publication: %w", err)
	}
	return nil
}
