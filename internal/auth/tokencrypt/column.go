package tokencrypt

import (
	"context"
	"database/sql"
	"fmt"

	"pressroom.example/pressroom/internal/platform/db"
)

// Column is a database column that contains sealed texts. A text may be empty. The table has an index on the first five
// bytes of the texts; see Sealer.Mark.
type Column struct {
	Table, Name    string
	RowColumn      string // name of the column that identifies a row
	Owner          string // name of the column with the ID that AssociatedData derives a text's associated data from
	AssociatedData func(owner int64) string
}

// resealBatch is the maximum number of texts in a batch.
const resealBatch = 100

// KnowsAll reports whether a sealer has all keys that texts in the column were sealed with. It reads one index entry
// per key.
func (c Column) KnowsAll(ctx context.Context, d *db.DB, s *Sealer) (bool, error) {
	query := fmt.Sprintf(`SELECT COALESCE((SELECT substr(%[1]s, 1, 5) FROM %[2]s WHERE substr(%[1]s, 1, 5) > ?
		ORDER BY substr(%[1]s, 1, 5) LIMIT 1), '')`, c.Name, c.Table)
	for lastMark := []byte{}; ; {
		var nextMark []byte
		if err := d.QueryRow(ctx, query, lastMark).Scan(&nextMark); err != nil {
			return false, fmt.Errorf("reading which keys sealed %s: %w", c.Table, err)
		}
		if len(nextMark) == 0 || !s.Knows(nextMark) {
			return len(nextMark) == 0, nil
		}
		lastMark = nextMark
	}
}

// Reseal finds all texts that were not sealed with the first key and seals them again with the first key. It skips
// texts that change in the meantime, so nodes can continue running. It returns the number of resealed texts, even if it
// also returns an error.
func (c Column) Reseal(ctx context.Context, d *db.DB, s *Sealer) (int, error) {
	count := 0
	for lastRow := int64(0); ; {
		texts, err := c.listOutdated(ctx, d, s, lastRow)
		if err != nil || len(texts) == 0 {
			return count, err
		}
		for _, text := range texts {
			ok, err := c.resealOne(ctx, d, s, text)
			if err != nil {
				return count, fmt.Errorf("resealing %s of %d: %w", c.Table, text.owner, err)
			}
			if ok {
				count++
			}
		}
		lastRow = texts[len(texts)-1].row
	}
}

// CountOutdated returns the number of texts that were not sealed with the first key. It counts at most resealBatch
// texts.
func (c Column) CountOutdated(ctx context.Context, d *db.DB, s *Sealer) (int, error) {
	texts, err := c.listOutdated(ctx, d, s, 0)
	return len(texts), err
}

type sealedText struct {
	row, owner int64
	text       []byte
}

func (c Column) listOutdated(ctx context.Context, d *db.DB, s *Sealer, lastRow int64) ([]sealedText, error) {
	query := fmt.Sprintf(`SELECT %[1]s, %[2]s, %[3]s FROM %[4]s WHERE length(%[3]s) > 0 AND %[1]s > ?
		AND (substr(%[3]s, 1, 5) < ? OR substr(%[3]s, 1, 5) > ?) ORDER BY %[1]s LIMIT ?`, c.RowColumn, c.Owner, c.Name,
		c.Table)
	mark := s.Mark()
	texts, err := db.All(ctx, d, func(r *sql.Rows, t *sealedText) error {
		return r.Scan(&t.row, &t.owner, &t.text)
	},
		query, lastRow, mark, mark, resealBatch)
	if err != nil {
		return nil, fmt.Errorf("reading values of %s sealed with another key: %w", c.Table, err)
	}
	return texts, nil
}

// resealOne reseals one text, unless it has changed since it was read.
func (c Column) resealOne(ctx context.Context, d *db.DB, s *Sealer, text sealedText) (bool, error) {
	plaintext, err := s.Open(text.text, c.AssociatedData(text.owner))
	if err != nil {
		return false, err
	}
	resealed, err := s.Seal(plaintext, c.AssociatedData(text.owner))
	if err != nil {
		return false, err
	}
	var n int64
	err = d.InTx(ctx, c.Table+".reseal", func(ctx context.Context, tx *db.Tx) error {
		n, err = tx.Exec(ctx,
			fmt.Sprintf(`UPDATE %[1]s SET %[2]s = ? WHERE %[3]s = ? AND %[2]s = ?`, c.Table, c.Name, c.RowColumn), resealed,
			text.row, text.text)
		return err
	})
	return n == 1, err
}
