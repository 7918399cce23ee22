package main

import (
	"encoding/binary"
	"encoding/hex"
	"strings"
	"time"
)

const (
	seedVersion    = "2" // increase this number with every change to the seed
	postInterval   = time.Minute
	targetsPerPost = 2
)

var (
	firstPost    = time.Date(2023, time.January, 1, 0, 0, 0, 0, time.UTC)
	farFuture    = time.Date(2099, time.January, 1, 0, 0, 0, 0, time.UTC) // scheduled posts are not due before this time
	captionWords = strings.Fields("winter blend chocolate orange peel smoke roast counter morning run Sunday window " +
		"steam quiet harbour tide bread crumb barista notes slow pour crema beans grinder bench rain lamp neighbour corner song")
	postColumns = []string{
		"id", "team_id", "person_id", "key_id", "status", "caption", "excerpt", "scheduled_at", "submitted_at",
		"published_at", "slot_at", "created_at", "updated_at",
	}
	targetColumns = []string{"post_id", "account_id", "position", "state", "published_at", "permalink"}
)

// mix returns a hash of n (splitmix64). The hash is the same in every run and on every machine.
func mix(n uint64) uint64 {
	n += 0x9e3779b97f4a7c15
	n = (n ^ n>>30) * 0xbf58476d1ce4e5b9
	n = (n ^ n>>27) * 0x94d049bb133111eb
	return n ^ n>>31
}

// appendPostID appends the ID of the i-th seeded post, which is a UUIDv7 with the post's time.
func appendPostID(buf []byte, i int) []byte {
	var id [16]byte
	at := firstPost.Add(time.Duration(i) * postInterval).UnixMilli()
	binary.BigEndian.PutUint64(id[:8], uint64(at)<<16|0x7000|mix(uint64(i))&0x0fff)
	binary.BigEndian.PutUint64(id[8:], mix(^uint64(i))&^(3<<62)|2<<62)
	for n, part := range [][]byte{id[0:4], id[4:6], id[6:8], id[8:10], id[10:16]} {
		if n > 0 {
			buf = append(buf, '-')
		}
		buf = hex.AppendEncode(buf, part)
	}
	return buf
}

func postID(i int) string { return string(appendPostID(nil, i)) }

// caption returns the text of the i-th seeded post. It has 20 to 31 words.
func caption(i int) string {
	var out strings.Builder
	for word := range 20 + i%12 {
		if word > 0 {
			out.WriteByte(' ')
		}
		out.WriteString(captionWords[mix(uint64(i*64+word))%uint64(len(captionWords))])
	}
	return out.String()
}

// excerptOf returns the excerpt that pressroom stores for the caption of a seeded post.
func excerptOf(caption string) string {
	if len(caption) <= 140 {
		return caption
	}
	return caption[:139] + "…"
}

// postRow returns the row of the i-th post, and reports whether the post is published. Of ten posts, seven are
// published, two are drafts, and one is scheduled.
func postRow(d dataset, i int) ([]any, bool) {
	created := firstPost.Add(time.Duration(i) * postInterval)
	text := caption(i)
	status, scheduled, published := "published", created.Add(time.Hour), created.Add(time.Hour+2*time.Second)
	switch i % 10 {
	case 3, 8:
		status, scheduled, published = "draft", time.Time{}, time.Time{}
	case 5:
		status, scheduled, published = "scheduled", farFuture.Add(time.Duration(i)*postInterval), time.Time{}
	}
	slot, submitted := published, published
	if published.IsZero() {
		slot = scheduled
	}
	return []any{
		postID(i), d.Team, d.Person, d.KeyID, status, text, excerptOf(text),
		micros(scheduled), micros(submitted), micros(published), micros(slot), micros(created), micros(created),
	}, !published.IsZero()
}

// targetRow returns the row of one account of the i-th post. published is true if the post is published.
func targetRow(d dataset, i, position int, published bool) []any {
	account := d.Accounts[(i+position)%len(d.Accounts)]
	if !published {
		return []any{postID(i), account, int64(position), "pending", int64(0), ""}
	}
	at := firstPost.Add(time.Duration(i)*postInterval + time.Hour + time.Duration(position+1)*time.Second)
	return []any{
		postID(i), account, int64(position), "published", micros(at), "https://bsky.example/profile/harbour/post/" + postID(i)[:13],
	}
}

func micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}
