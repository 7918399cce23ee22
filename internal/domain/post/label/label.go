// Package label stores the labels of posts. Labels are for the team and are not published.
package label

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/platform/plaintext"
)

// Normalize returns labels on one line each, without surrounding white space and without duplicates. Labels that differ
// only in case are duplicates. The first of them is kept. It returns an error for an empty label.
func Normalize(labels []string) ([]string, error) {
	out, seen := []string{}, map[string]bool{}
	for i, text := range labels {
		text = norm.NFC.String(plaintext.Line(text))
		if text == "" {
			return nil, apierr.Invalid(apierr.TooShort, "labels", "A label must not be empty.").With("item", i)
		}
		if key := strings.ToLower(text); !seen[key] {
			seen[key] = true
			out = append(out, text)
		}
	}
	return out, nil
}

// Read returns the labels of a post, in order.
func Read(ctx context.Context, q db.Querier, post string) ([]string, error) {
	out, err := db.All(ctx, q, func(rows *sql.Rows, text *string) error { return rows.Scan(text) },
		`SELECT label FROM post_labels WHERE post_id = ? ORDER BY position`, post)
	if err != nil {
		return nil, fmt.Errorf("reading the labels of a post: %w", err)
	}
	return out, nil
}

// Set replaces the labels of a post.
func Set(ctx context.Context, tx *db.Tx, post string, labels []string) error {
	if _, err := tx.Exec(ctx, `DELETE FROM post_labels WHERE post_id = ?`, post); err != nil {
		return fmt.Errorf("removing the labels of a post: %w", err)
	}
	for position, text := range labels {
		_, err := tx.Exec(ctx, `INSERT INTO post_labels (post_id, position, label) VALUES (?, ?, ?)`, post, position, text)
		if err != nil {
			return fmt.Errorf("adding a label to a post: %w", err)
		}
	}
	return nil
}

// Change normalizes the wanted labels, replaces the post's labels with them, and reports whether the labels changed.
func Change(ctx context.Context, tx *db.Tx, post string, labels *[]string, wanted []string) (bool, error) {
	wanted, err := Normalize(wanted)
	if err != nil || slices.Equal(wanted, *labels) {
		return false, err
	}
	*labels = wanted
	return true, Set(ctx, tx, post, wanted)
}
