package media

import (
	"context"
	"errors"
	"fmt"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/core/plan"
	"pressroom.example/pressroom/internal/domain/job"
	"pressroom.example/pressroom/internal/domain/media/filename"
	"pressroom.example/pressroom/internal/platform/auditlog"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/platform/safehttp"
)

// ImportInput is the input of import_media.
type ImportInput struct {
	URL      string `json:"url" minLength:"1" maxLength:"2048" jsonschema:"Public HTTPS URL of the file."`
	Filename string `json:"filename,omitempty" maxLength:"255"`
	FolderID *int64 `json:"folder_id,omitempty" jsonschema:"Folder for the file. Omit for none."`
}

// Descriptions returns descriptions of the fields for the JSON schema.
func (ImportInput) Descriptions() map[string]string {
	return map[string]string{"filename": "Name for the file. Its extension is ignored and derived from the content."}
}

// importSubject is the Subject of a job that imports a file. Upload batches have the same job type and another Subject.
const importSubject = "import"

// importFile starts an import. It returns an error for a URL that is not allowed.
func (s *Service) importFile(
	ctx context.Context, call operation.Call, in ImportInput,
) (operation.Response[job.Job], error) {
	var out operation.Response[job.Job]
	var record job.Record
	err := call.InTx(ctx, s.db, "media.import", func(ctx context.Context, tx *db.Tx) error {
		var err error
		folderID := int64(0)
		if in.FolderID != nil {
			folderID = *in.FolderID
		}
		if err = requireFolder(ctx, tx, call.TeamID, folderID); err != nil {
			return err
		}
		if err := s.Fetch.Check(in.URL); err != nil {
			return errRejectedURL(err)
		}
		if err := s.requireDisk(ctx, 0); err != nil {
			return err
		}
		if err := s.requireFreeStorage(ctx, tx, call.TeamID); err != nil {
			return err
		}
		if record, err = s.Jobs.Start(ctx, tx,
			job.Params{TeamID: call.TeamID, Type: job.MediaImport, Subject: importSubject, Total: 1}); err != nil {
			return err
		}
		_, err = tx.Exec(ctx,
			`INSERT INTO media_imports (job_id, team_id, person_id, key_id, address, file_name, folder_id)
		VALUES (?, ?, ?, ?, ?, ?, ?)`,
			record.ID, call.TeamID, call.PersonID, call.KeyID, in.URL, in.Filename, folderID)
		if err != nil {
			return fmt.Errorf("writing an import: %w", err)
		}
		if err := auditlog.Record(ctx, tx, call.TeamID, auditlog.NewActor(call), "media.import", record.ID, nil); err != nil {
			return err
		}
		return s.Worker.Submit(ctx, tx, record.ID)
	})
	if err != nil {
		return out, err
	}
	out.Data, out.Location, out.App = job.Show(call, record), job.Location(record.ID), "/media"
	return out, nil
}

func errRejectedURL(err error) error {
	detail := "Files can be imported only from public HTTPS URLs."
	if rejected, ok := errors.AsType[*safehttp.Error](err); ok {
		detail = rejected.Detail
	}
	return apierr.Invalid(apierr.NotAllowedValue, "url", detail).With("error_code", safehttp.CodeRefused).Wrap(err)
}

// requireFreeStorage returns an error if the team's library is full.
func (s *Service) requireFreeStorage(ctx context.Context, tx *db.Tx, team int64) error {
	used, err := s.lockUsage(ctx, tx, team)
	if err != nil {
		return err
	}
	limit, err := s.storageLimit(ctx, tx, team, tx.Now())
	if err == nil && limit != plan.Unlimited && used >= limit {
		err = errStorageFull
	}
	return err
}

// maxTries is the maximum number of times that an import or download is started. After that, it fails.
const maxTries = 5

// runImport runs jobs of the type media_import: imports, and upload batches, which it closes when they expire.
func (s *Service) runImport(ctx context.Context, j job.LeasedJob) error {
	if j.Subject == uploadSubject {
		return s.expireBatch(ctx, j)
	}
	if j.Epoch > maxTries {
		return s.failImport(ctx, j, "internal_error")
	}
	var address, name string
	p := placement{owner: Owner{TeamID: j.TeamID}}
	err := s.db.QueryRow(ctx,
		`SELECT address, file_name, folder_id, person_id, key_id FROM media_imports WHERE job_id = ?`, j.ID).
		Scan(&address, &name, &p.folder, &p.owner.PersonID, &p.owner.KeyID)
	if err != nil {
		return fmt.Errorf("reading import %s: %w", j.ID, err)
	}
	code, err := s.fetchImport(ctx, j, address, name, p)
	if err != nil || code == "" {
		return err
	}
	return s.failImport(ctx, j, code)
}

// fetchImport downloads a file and adds it to the library. It returns an error code if the import failed permanently.
func (s *Service) fetchImport(ctx context.Context, j job.LeasedJob, address, name string, p placement) (string, error) {
	staged, err := s.beginForJob(ctx, j.TeamID)
	if isPermanent(err) {
		return rejectionReason(err), nil
	}
	if err != nil {
		return "", fmt.Errorf("receiving an import: %w", err)
	}
	defer staged.Discard()
	download, err := s.Fetch.Get(ctx, address, staged.max, staged)
	if isPermanent(err) {
		return rejectionReason(err), nil
	}
	if fetchErr, ok := errors.AsType[*safehttp.Error](err); ok && ctx.Err() == nil {
		if fetchErr.Code == safehttp.CodeTooLarge {
			fetchErr.Code = rejectionReason(staged.tooLarge)
		}
		s.Log.InfoContext(ctx, "import failed", "job", j.ID, "code", fetchErr.Code, "error", fetchErr.Err)
		return fetchErr.Code, nil
	}
	if err != nil {
		return "", fmt.Errorf("fetching an import: %w", err)
	}
	e, err := s.inspect(ctx, staged)
	if err == nil {
		p.name, p.onAdded = importName(name,
			download.Name), func(ctx context.Context, tx *db.Tx, i Item, exists bool) error {
			return finishImport(ctx, tx, j, i, exists)
		}
		_, _, err = s.save(ctx, e, p)
	}
	if isPermanent(err) {
		return rejectionReason(err), nil
	}
	return "", err
}

// beginForJob starts to receive a file of unknown size that a background job downloads for a team.
func (s *Service) beginForJob(ctx context.Context, team int64) (*incomingFile, error) {
	limit, err := s.findSizeLimit(ctx, team, -1)
	if err != nil {
		return nil, err
	}
	return s.begin(ctx, team, uploader{}, -1, limit)
}

// importName returns the name of an imported file without its extension: the requested name or, if that is empty, the
// name that the download returned.
func importName(requestedName, servedName string) string {
	if name := filename.Stem(requestedName); name != "" {
		return name
	}
	return filename.Stem(servedName)
}

func finishImport(ctx context.Context, tx *db.Tx, j job.LeasedJob, i Item, exists bool) error {
	existsFlag := 0
	if exists {
		existsFlag = 1
	}
	if _, err := tx.Exec(ctx, `UPDATE media_imports SET media_id = ?, already = ?, address = '' WHERE job_id = ?`, i.ID,
		existsFlag, j.ID); err != nil {
		return fmt.Errorf("finishing an import: %w", err)
	}
	return j.Finish(ctx, tx, job.Succeeded, "")
}

func (s *Service) failImport(ctx context.Context, j job.LeasedJob, code string) error {
	return s.db.InTx(ctx, "media.import_failed", func(ctx context.Context, tx *db.Tx) error {
		// The URL may be presigned and grant access to the file, so it is deleted as soon as possible.
		if _, err := tx.Exec(ctx, `UPDATE media_imports SET address = '' WHERE job_id = ?`, j.ID); err != nil {
			return fmt.Errorf("deleting the URL of an import: %w", err)
		}
		return j.Finish(ctx, tx, job.Failed, code)
	})
}
