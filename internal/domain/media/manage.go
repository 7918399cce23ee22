package media

import (
	"context"
	"database/sql"
	"errors"
	"strings"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/auth/apikey"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/domain/media/filename"
	"pressroom.example/pressroom/internal/platform/auditlog"
	"pressroom.example/pressroom/internal/platform/db"
)

// ItemView is an item as members of the team see it. Clients cannot see the library.
type ItemView struct {
	MediaItem

	Thumbnail bool
	Clean     bool // the stored bytes have no metadata
	Stripped  bool // metadata was removed
}

// View returns one of a team's items.
func (s *Service) View(ctx context.Context, call operation.Call, id int64) (ItemView, error) {
	if err := requireLibrary(call); err != nil {
		return ItemView{}, err
	}
	i, err := findItem(ctx, s.db, call.TeamID, id)
	if err != nil {
		return ItemView{}, err
	}
	return ItemView{newMediaItem(call, i), i.Thumbnail != "", i.Clean, i.OriginalSHA256 != nil}, nil
}

// requireLibrary returns an error for clients, who see only what they are asked to approve.
func requireLibrary(call operation.Call) error {
	if call.InApp() && call.Role == access.Client {
		return apierr.ItemNotFound()
	}
	return call.Require(access.Read)
}

// FindTeam returns the team that owns a library item. It returns not_found unless the team is one of teams.
func (s *Service) FindTeam(ctx context.Context, id int64, teams []int64) (int64, error) {
	owner, err := db.OwningTeam(ctx, s.db, `media WHERE id = ? AND deleted_at = 0`, id, teams)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, apierr.ItemNotFound()
	}
	return owner, err
}

// Rename changes an item's name. Its file name keeps the extension of its type.
func (s *Service) Rename(ctx context.Context, call operation.Call, id int64, name string) error {
	name, err := cleanName(name)
	if err != nil {
		return err
	}
	return s.runChange(ctx, call, "media.renamed", id, func(ctx context.Context, tx *db.Tx) error {
		i, err := findItem(ctx, tx, call.TeamID, id)
		if err != nil {
			return err
		}
		_, file := filename.ForType(name, filename.Extension(i.FileName), i.Type)
		_, err = tx.Exec(ctx, `UPDATE media SET name = ?, file_name = ?, search = ? WHERE id = ? AND team_id = ?`, name,
			file, filename.Fold(name+"\n"+file), id, call.TeamID)
		return err
	})
}

// cleanName returns a valid name for an item or a folder from a text that a person entered.
func cleanName(name string) (string, error) {
	if apikey.ContainsSecret(name) {
		return "", errSecret.With("argument", "name")
	}
	// The extension .x keeps filename.Stem from removing a part of the name as an extension.
	if name = filename.Stem(slashReplacer.Replace(name) + ".x"); name == "" {
		return "", apierr.Invalid(apierr.TooShort, "name",
			"Enter a name with letters or digits that file names allow.")
	}
	return name, nil
}

// slashReplacer replaces path separators in entered names.
var slashReplacer = strings.NewReplacer("/", "_", `\`, "_")

// Move moves an item to one of the team's folders. A folderID of 0 means no folder.
func (s *Service) Move(ctx context.Context, call operation.Call, id, folderID int64) error {
	return s.runChange(ctx, call, "media.moved", id, func(ctx context.Context, tx *db.Tx) error {
		if err := lockFolder(ctx, tx, s.db, call.TeamID, folderID); err != nil {
			return err
		}
		moved, err := tx.Exec(ctx, `UPDATE media SET folder_id = ? WHERE id = ? AND team_id = ? AND deleted_at = 0`,
			folderID, id, call.TeamID)
		if err == nil && moved == 0 {
			err = apierr.ItemNotFound()
		}
		return err
	})
}

// lockFolder locks a folder, so that it cannot be deleted until the transaction ends. An id of 0 means no folder.
func lockFolder(ctx context.Context, tx *db.Tx, d *db.DB, team, id int64) error {
	if id == 0 {
		return nil
	}
	err := tx.QueryRow(ctx, `SELECT id FROM media_folders WHERE id = ? AND team_id = ?`+d.ForUpdate(), id, team).
		Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return requireFolder(ctx, tx, team, id)
	}
	return err
}

// CreateFolder creates a folder. It returns an error if the name is taken.
func (s *Service) CreateFolder(ctx context.Context, call operation.Call, name string) (MediaFolder, error) {
	f := MediaFolder{}
	var err error
	if f.Name, err = cleanName(name); err != nil {
		return f, err
	}
	err = s.runChange(ctx, call, "media.folder_made", 0, func(ctx context.Context, tx *db.Tx) error {
		if err := requireFreeName(ctx, tx, call.TeamID, 0, f.Name); err != nil {
			return err
		}
		f.ID, err = ensureFolder(ctx, tx, call.TeamID, f.Name)
		return err
	})
	return f, err
}

// RenameFolder changes a folder's name.
func (s *Service) RenameFolder(ctx context.Context, call operation.Call, id int64, name string) error {
	name, err := cleanName(name)
	if err != nil {
		return err
	}
	return s.runChange(ctx, call, "media.folder_renamed", id, func(ctx context.Context, tx *db.Tx) error {
		if err := requireFreeName(ctx, tx, call.TeamID, id, name); err != nil {
			return err
		}
		n, err := tx.Exec(ctx, `UPDATE media_folders SET name = ? WHERE id = ? AND team_id = ?`, name, id, call.TeamID)
		if err == nil && n == 0 {
			err = apierr.ItemNotFound()
		}
		return err
	})
}

func requireFreeName(ctx context.Context, tx *db.Tx, team, id int64, name string) error {
	var sameNameCount int64
	err := tx.QueryRow(ctx, `SELECT COUNT(*) FROM media_folders WHERE team_id = ? AND name = ? AND id <> ?`, team, name,
		id).Scan(&sameNameCount)
	if err == nil && sameNameCount > 0 {
		err = apierr.Invalid(apierr.NotAllowedValue, "name", "Another folder has this name. Choose a different one.")
	}
	return err
}

// DeleteFolder deletes an empty folder.
func (s *Service) DeleteFolder(ctx context.Context, call operation.Call, id int64) error {
	return s.runChange(ctx, call, "media.folder_deleted", id, func(ctx context.Context, tx *db.Tx) error {
		err := tx.QueryRow(ctx, `SELECT id FROM media_folders WHERE id = ? AND team_id = ?`+s.db.ForUpdate(), id,
			call.TeamID).Scan(&id)
		if errors.Is(err, sql.ErrNoRows) {
			return apierr.ItemNotFound()
		}
		var itemCount int64
		if err == nil {
			err = tx.QueryRow(ctx,
				`SELECT COUNT(*) FROM (SELECT 1 FROM media WHERE team_id = ? AND folder_id = ? LIMIT 1) held`,
				call.TeamID, id).Scan(&itemCount)
		}
		switch {
		case err != nil:
			return err
		case itemCount > 0:
			return apierr.BadState("not_empty", "The folder is not empty. Move or delete its files first.")
		}
		_, err = tx.Exec(ctx, `DELETE FROM media_folders WHERE id = ? AND team_id = ?`, id, call.TeamID)
		return err
	})
}

// runChange runs fn in a transaction on behalf of a caller with write access, and records it in the audit log.
func (s *Service) runChange(
	ctx context.Context, call operation.Call, kind string, id int64, fn func(context.Context, *db.Tx) error,
) error {
	if err := call.Require(access.Write); err != nil {
		return err
	}
	return s.db.InTx(ctx, kind, func(ctx context.Context, tx *db.Tx) error {
		if err := fn(ctx, tx); err != nil {
			return err
		}
		return auditlog.Record(ctx, tx, call.TeamID, auditlog.NewActor(call), kind, formatID(id), nil)
	})
}
