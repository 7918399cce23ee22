package media

import (
	"context"
	"database/sql"
	"errors"
	"strings"

	"pressroom/internal/apierr"
	"pressroom/internal/auth/apikey"
	"pressroom/internal/core/access"
	"pressroom/internal/core/operation"
	"pressroom/internal/platform/auditlog"
	"pressroom/internal/platform/db"
)

// Look is an item of the team as its people see it. The library is not shown to clients.
type Look struct {
	MediaItem

	Thumbnail bool
	Clean     bool // the stored bytes have no metadata
	Stripped  bool // because it was removed
}

// Look finds an item of a team.
func (s *Service) Look(ctx context.Context, call operation.Call, id int64) (Look, error) {
	if err := mayLook(call); err != nil {
		return Look{}, err
	}
	i, err := item(ctx, s.db, call.TeamID, id)
	if err != nil {
		return Look{}, err
	}
	return Look{show(call, i), i.Thumbnail != "", i.Clean, i.Original != nil}, nil
}

// mayLook keeps the library from clients: they are shown what they are asked to approve.
func mayLook(call operation.Call) error {
	if call.InApp() && call.Role == access.Client {
		return apierr.Missing()
	}
	return call.Require(access.Read)
}

// Home is the one of some teams whose library has an item; not_found where none has it.
func (s *Service) Home(ctx context.Context, id int64, teams []int64) (int64, error) {
	home, err := db.TeamOf(ctx, s.db, `media WHERE id = ? AND deleted_at = 0`, id, teams)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, apierr.Missing()
	}
	return home, err
}

// Rename gives an item another name. Its file keeps the extension that says its type.
func (s *Service) Rename(ctx context.Context, call operation.Call, id int64, name string) error {
	name, err := givenName(name)
	if err != nil {
		return err
	}
	return s.change(ctx, call, "media.renamed", id, func(ctx context.Context, tx *db.Tx) error {
		i, err := item(ctx, tx, call.TeamID, id)
		if err != nil {
			return err
		}
		_, file := called(name, extension(i.FileName), i.Type)
		_, err = tx.Exec(ctx, `UPDATE media SET name = ?, file_name = ?, search = ? WHERE id = ? AND team_id = ?`, name,
			file, fold(name+"\n"+file), id, call.TeamID)
		return err
	})
}

// givenName reads a name that a person gave to an item or a folder.
func givenName(name string) (string, error) {
	if apikey.In(name) {
		return "", errSecret.With("argument", "name")
	}
	if name = stem(slashes.Replace(name) + ".x"); name == "" { // nothing of it is a path or an extension
		return "", apierr.Invalid(apierr.TooShort, "name",
			"It needs a name: letters or digits that a file's name can hold.")
	}
	return name, nil
}

// slashes part no folders in what a person calls something.
var slashes = strings.NewReplacer("/", "_", `\`, "_")

// Move puts an item into a folder of the team; 0 is none.
func (s *Service) Move(ctx context.Context, call operation.Call, id, into int64) error {
	return s.change(ctx, call, "media.moved", id, func(ctx context.Context, tx *db.Tx) error {
		if err := holdFolder(ctx, tx, s.db, call.TeamID, into); err != nil {
			return err
		}
		moved, err := tx.Exec(ctx, `UPDATE media SET folder_id = ? WHERE id = ? AND team_id = ? AND deleted_at = 0`,
			into, id, call.TeamID)
		if err == nil && moved == 0 {
			err = apierr.Missing()
		}
		return err
	})
}

// holdFolder keeps a folder from being deleted until the transaction ends; 0 is none, which is always there.
func holdFolder(ctx context.Context, tx *db.Tx, d *db.DB, team, id int64) error {
	if id == 0 {
		return nil
	}
	err := tx.QueryRow(ctx, `SELECT id FROM media_folders WHERE id = ? AND team_id = ?`+d.ForUpdate(), id, team).
		Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return folder(ctx, tx, team, id)
	}
	return err
}

// MakeFolder makes a folder; one of this name that is there already is refused.
func (s *Service) MakeFolder(ctx context.Context, call operation.Call, name string) (MediaFolder, error) {
	f := MediaFolder{}
	var err error
	if f.Name, err = givenName(name); err != nil {
		return f, err
	}
	err = s.change(ctx, call, "media.folder_made", 0, func(ctx context.Context, tx *db.Tx) error {
		if err := freeName(ctx, tx, call.TeamID, 0, f.Name); err != nil {
			return err
		}
		f.ID, err = ensureFolder(ctx, tx, call.TeamID, f.Name)
		return err
	})
	return f, err
}

// RenameFolder gives a folder another name.
func (s *Service) RenameFolder(ctx context.Context, call operation.Call, id int64, name string) error {
	name, err := givenName(name)
	if err != nil {
		return err
	}
	return s.change(ctx, call, "media.folder_renamed", id, func(ctx context.Context, tx *db.Tx) error {
		if err := freeName(ctx, tx, call.TeamID, id, name); err != nil {
			return err
		}
		n, err := tx.Exec(ctx, `UPDATE media_folders SET name = ? WHERE id = ? AND team_id = ?`, name, id, call.TeamID)
		if err == nil && n == 0 {
			err = apierr.Missing()
		}
		return err
	})
}

func freeName(ctx context.Context, tx *db.Tx, team, id int64, name string) error {
	var taken int64
	err := tx.QueryRow(ctx, `SELECT COUNT(*) FROM media_folders WHERE team_id = ? AND name = ? AND id <> ?`, team, name,
		id).Scan(&taken)
	if err == nil && taken > 0 {
		err = apierr.Invalid(apierr.NotAllowedValue, "name", "Another folder goes by this name.")
	}
	return err
}

// DeleteFolder takes away a folder that holds nothing.
func (s *Service) DeleteFolder(ctx context.Context, call operation.Call, id int64) error {
	return s.change(ctx, call, "media.folder_deleted", id, func(ctx context.Context, tx *db.Tx) error {
		err := tx.QueryRow(ctx, `SELECT id FROM media_folders WHERE id = ? AND team_id = ?`+s.db.ForUpdate(), id,
			call.TeamID).Scan(&id)
		if errors.Is(err, sql.ErrNoRows) {
			return apierr.Missing()
		}
		var held int64
		if err == nil {
			err = tx.QueryRow(ctx,
				`SELECT COUNT(*) FROM (SELECT 1 FROM media WHERE team_id = ? AND folder_id = ? LIMIT 1) held`,
				call.TeamID, id).Scan(&held)
		}
		switch {
		case err != nil:
			return err
		case held > 0:
			return apierr.BadState("not_empty", "The folder holds files. Move or delete them first.")
		}
		_, err = tx.Exec(ctx, `DELETE FROM media_folders WHERE id = ? AND team_id = ?`, id, call.TeamID)
		return err
	})
}

// change does something to a team's library for somebody who may write, and records it.
func (s *Service) change(
	ctx context.Context, call operation.Call, kind string, id int64, work func(context.Context, *db.Tx) error,
) error {
	if err := call.Require(access.Write); err != nil {
		return err
	}
	return s.db.InTx(ctx, kind, func(ctx context.Context, tx *db.Tx) error {
		if err := work(ctx, tx); err != nil {
			return err
		}
		return auditlog.Record(ctx, tx, call.TeamID, auditlog.By(call), kind, text(id), nil)
	})
}
