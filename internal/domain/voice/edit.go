package voice

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"pressroom/internal/apierr"
	"pressroom/internal/core/access"
	"pressroom/internal/core/operation"
	"pressroom/internal/platform/auditlog"
	"pressroom/internal/platform/db"
)

var (
	errTaken = apierr.Invalid(apierr.NotAllowedValue, "name", "Another brand voice of the team goes by this name.")
	errFull  = apierr.Invalid(apierr.OutOfRange, "", fmt.Sprintf("A team has at most %d brand voices. Delete one, or change one.", MaxVoices))
)

func number(n int64) string { return strconv.FormatInt(n, 10) }

// Create makes a voice. The first one of a team is its default. It is validation_failed where the draft cannot be kept.
func (s *Service) Create(ctx context.Context, call operation.Call, d Draft) (Full, error) {
	r, err := prepare(call, d)
	if err != nil {
		return Full{}, err
	}
	err = s.change(ctx, call, "brand_voice.created", func(ctx context.Context, tx *db.Tx) (int64, error) {
		has, taken, err := standing(ctx, tx, call.TeamID, 0, r.name)
		switch {
		case err != nil:
			return 0, err
		case taken > 0:
			return 0, errTaken
		case has >= MaxVoices:
			return 0, errFull
		}
		r.isDefault = has == 0
		err = insert(ctx, tx, call.TeamID, &r)
		return r.id, err
	})
	if err != nil {
		return Full{}, err
	}
	return show(call, r)
}

// Change says anew all that a voice says. What is as it was leaves no trace.
func (s *Service) Change(ctx context.Context, call operation.Call, id int64, d Draft) (Full, error) {
	r, err := prepare(call, d)
	if err != nil {
		return Full{}, err
	}
	err = s.change(ctx, call, "brand_voice.changed", func(ctx context.Context, tx *db.Tx) (int64, error) {
		was, err := find(ctx, tx, call.TeamID, id)
		if err != nil {
			return 0, err
		}
		if r.id, r.isDefault = was.id, was.isDefault; r == was {
			return 0, nil
		}
		_, taken, err := standing(ctx, tx, call.TeamID, id, r.name)
		if err != nil {
			return 0, err
		}
		if taken > 0 {
			return 0, errTaken
		}
		return id, update(ctx, tx, call.TeamID, r)
	})
	if err != nil {
		return Full{}, err
	}
	return show(call, r)
}

// prepare is a draft as it will be kept.
func prepare(call operation.Call, d Draft) (record, error) {
	if err := call.Require(access.Write); err != nil {
		return record{}, err
	}
	d, err := tidy(d)
	if err != nil {
		return record{}, err
	}
	guide, err := json.Marshal(d.Guide)
	if err != nil {
		return record{}, fmt.Errorf("writing a brand voice: %w", err)
	}
	return record{name: d.Name, guide: string(guide)}, nil
}

// MakeDefault makes a voice the one to write in where nobody says otherwise.
func (s *Service) MakeDefault(ctx context.Context, call operation.Call, id int64) error {
	if err := call.Require(access.Write); err != nil {
		return err
	}
	return s.change(ctx, call, "brand_voice.made_default", func(ctx context.Context, tx *db.Tx) (int64, error) {
		was, err := find(ctx, tx, call.TeamID, id)
		if err != nil || was.isDefault {
			return 0, err
		}
		return id, settleDefault(ctx, tx, call.TeamID, id)
	})
}

// Delete takes a voice away, and what it was researched from. Where it was the default, the oldest one becomes it.
func (s *Service) Delete(ctx context.Context, call operation.Call, id int64) error {
	if err := call.Require(access.Write); err != nil {
		return err
	}
	return s.change(ctx, call, "brand_voice.deleted", func(ctx context.Context, tx *db.Tx) (int64, error) {
		was, err := find(ctx, tx, call.TeamID, id)
		if err != nil {
			return 0, err
		}
		if _, err := tx.Exec(ctx, `DELETE FROM brand_voices WHERE id = ? AND team_id = ?`, id, call.TeamID); err != nil {
			return 0, fmt.Errorf("deleting a brand voice: %w", err)
		}
		if was.isDefault {
			err = settleDefault(ctx, tx, call.TeamID, 0)
		}
		return id, err
	})
}

// change does something to the voices of a team while nobody else does, and records it of the voice that the work
// names; of 0 there is nothing to record.
func (s *Service) change(ctx context.Context, call operation.Call, kind string, work func(context.Context, *db.Tx) (int64, error)) error {
	return s.db.InTx(ctx, kind, func(ctx context.Context, tx *db.Tx) error {
		if err := s.lock(ctx, tx, call.TeamID); err != nil {
			return err
		}
		id, err := work(ctx, tx)
		if err != nil || id == 0 {
			return err
		}
		return auditlog.Record(ctx, tx, call.TeamID, auditlog.By(call), kind, number(id), nil)
	})
}
