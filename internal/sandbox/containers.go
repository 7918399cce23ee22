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

// container is a post that is made ready before it is published.
type container struct {
	seq     int64
	account string
	form    string // what the network calls the kind of post
	item    bool   // a part of another container
	text    string
	media   []medium
	failure string // what it failed by
	made    time.Time
	post    string // as which it was published
}

// The ids of containers and of the posts that come of them.
const (
	containerFront = "18"
	postFront      = "17"
)

func (c container) id() string     { return fmt.Sprintf(containerFront+"%015d", c.seq) }
func (c container) postID() string { return fmt.Sprintf(postFront+"%015d", c.seq) }

// status is what the network says of the container, on which it works for a while.
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

// untold is errCut where asking for the container would tell of a post that is to stay unconfirmed.
func (c container) untold(platform string, now time.Time) error {
	if c.post == "" {
		return nil
	}
	return untold(platform, c.text, c.made, now)
}

// keepContainer makes the container and gives it its number.
func (t tx) keepContainer(ctx context.Context, platform string, c *container) error {
	media, err := json.Marshal(append([]medium{}, c.media...))
	if err != nil {
		return fmt.Errorf("writing a container's media: %w", err)
	}
	err = t.QueryRowContext(ctx,
		`insert into containers (platform, account, form, item, text, media, failure, made_at) values (?, ?, ?, ?, ?, ?, ?, ?) returning seq`,
		platform, c.account, c.form, c.item, c.text, string(media), c.failure, c.made.UnixMilli()).Scan(&c.seq)
	if err != nil {
		return fmt.Errorf("keeping a container: %w", err)
	}
	return nil
}

// container finds a container by its id. It is false where there is none.
func (t tx) container(ctx context.Context, platform, id string) (container, bool, error) {
	// anything else is not this container's id
	seq, _ := strconv.ParseInt(strings.TrimPrefix(id, containerFront), 10, 64)
	c := container{seq: seq}
	if c.id() != id {
		return container{}, false, nil
	}
	var media string
	var made int64
	err := t.QueryRowContext(ctx,
		`select account, form, item, text, media, failure, made_at, post from containers where platform = ? and seq = ?`, platform, seq).
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

// publishContainer notes as which post a container was published.
func (t tx) publishContainer(ctx context.Context, c container) error {
	if _, err := t.ExecContext(ctx, `update containers set post = ? where seq = ?`, c.postID(), c.seq); err != nil {
		return fmt.Errorf("noting a publication: %w", err)
	}
	return nil
}
