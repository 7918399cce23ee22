package voice

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/platform/auditlog"
	"pressroom.example/pressroom/internal/platform/db"
)

var (
	errNameTaken = apierr.Invalid(apierr.NotAllowedValue, "name",
		"The team already has a brand voice with this name.")
	errTooManyVoices = apierr.Invalidf(apierr.OutOfRange, "",
		"A team can have at most %d brand voices. Delete or change one.", MaxVoices)
)

func formatID(n int64) string { return strconv.FormatInt(n, 10) }

// Create creates a voice. A team's first voice becomes its default. It returns validation_failed if the draft is
// invalid.
func (s *Service) Create(ctx context.Context, call operation.Call, d Draft) (BrandVoice, error) {
	r, err := newRecord(call, d)
	if err != nil {
		return BrandVoice{}, err
	}
	err = s.withLock(ctx, call, "brand_voice.created", func(ctx context.Context, tx *db.Tx) (int64, error) {
		total, sameName, err := countVoices(ctx, tx, call.TeamID, 0, r.name)
		switch {
		case err != nil:
			return 0, err
		case sameName > 0:
			return 0, errNameTaken
		case total >= MaxVoices:
			return 0, errTooManyVoices
		}
		r.isDefault = total == 0
		err = insert(ctx, tx, call.TeamID, &r)
		return r.id, err
	})
	if err != nil {
		return BrandVoice{}, err
	}
	return newBrandVoice(call, r)
}

// Update replaces the content of a voice. If nothing changes, it does not add an entry to the audit log.
func (s *Service) Update(ctx context.Context, call operation.Call, id int64, d Draft) (BrandVoice, error) {
	r, err := newRecord(call, d)
	if err != nil {
		return BrandVoice{}, err
	}
	err = s.withLock(ctx, call, "brand_voice.changed", func(ctx context.Context, tx *db.Tx) (int64, error) {
		old, err := find(ctx, tx, call.TeamID, id)
		if err != nil {
			return 0, err
		}
		if r.id, r.isDefault = old.id, old.isDefault; r == old {
			return 0, nil
		}
		_, sameName, err := countVoices(ctx, tx, call.TeamID, id, r.name)
		if err != nil {
			return 0, err
		}
		if sameName > 0 {
			return 0, errNameTaken
		}
		return id, update(ctx, tx, call.TeamID, r)
	})
	if err != nil {
		return BrandVoice{}, err
	}
	return newBrandVoice(call, r)
}

// newRecord validates and normalizes a draft and returns the record to store.
func newRecord(call operation.Call, d Draft) (record, error) {
	if err := call.Require(access.Write); err != nil {
		return record{}, err
	}
	d, err := normalize(d)
	if err != nil {
		return record{}, err
	}
	guide, err := json.Marshal(d.Guide)
	if err != nil {
		return record{}, fmt.Errorf("encoding a brand voice: %w", err)
	}
	return record{name: d.Name, guide: string(guide)}, nil
}

// MakeDefault makes a voice the team's default.
func (s *Service) MakeDefault(ctx context.Context, call operation.Call, id int64) error {
	if err := call.Require(access.Write); err != nil {
		return err
	}
	return s.withLock(ctx, call, "brand_voice.made_default", func(ctx context.Context, tx *db.Tx) (int64, error) {
		stored, err := find(ctx, tx, call.TeamID, id)
		if err != nil || stored.isDefault {
			return 0, err
		}
		return id, setDefault(ctx, tx, call.TeamID, id)
	})
}

// Delete deletes a voice and its material. If it was the default, the oldest voice becomes the default.
func (s *Service) Delete(ctx context.Context, call operation.Call, id int64) error {
	if err := call.Require(access.Write); err != nil {
		return err
	}
	return s.withLock(ctx, call, "brand_voice.deleted", func(ctx context.Context, tx *db.Tx) (int64, error) {
		old, err := find(ctx, tx, call.TeamID, id)
		if err != nil {
			return 0, err
		}
		if _, err := tx.Exec(ctx, `DELETE FROM brand_voices WHERE id = ? AND team_id = ?`, id,
			call.TeamID); err != nil {
			return 0, fmt.Errorf("deleting a brand voice: %w", err)
		}
		if old.isDefault {
			err = setDefault(ctx, tx, call.TeamID, 0)
		}
		return id, err
	})
}

// withLock calls a function in a transaction that locks the team's voices. It records an audit event for the returned
// voice ID unless the ID is 0.
func (s *Service) withLock(ctx context.Context, call operation.Call, kind string, fn func(context.Context,
	*db.Tx) (int64, error)) error {
	return s.db.InTx(ctx, kind, func(ctx context.Context, tx *db.Tx) error {
		if err := s.lock(ctx, tx, call.TeamID); err != nil {
			return err
		}
		id, err := fn(ctx, tx)
		if err != nil || id == 0 {
			return err
		}
		return auditlog.Record(ctx, tx, call.TeamID, auditlog.NewActor(call), kind, formatID(id), nil)
	})
}
