package media

import (
	"context"
	"errors"
	"fmt"

	"pressroom/internal/apierr"
	"pressroom/internal/core/operation"
	"pressroom/internal/core/plan"
	"pressroom/internal/domain/job"
	"pressroom/internal/platform/auditlog"
	"pressroom/internal/platform/db"
	"pressroom/internal/platform/safehttp"
)

// ImportInput names a file of the public web.
type ImportInput struct {
	URL      string `json:"url" minLength:"1" maxLength:"2048" jsonschema:"Public https address of the file."`
	Filename string `json:"filename,omitempty" maxLength:"255" jsonschema:"What the file is to be called; only the part before the extension is used."`
	FolderID *int64 `json:"folder_id,omitempty" jsonschema:"The folder that the file goes to; none where omitted."`
}

// importWork says in a job's record that the job is an import.
const importWork = "import"

// importFile starts an import. What the address alone tells to be forbidden is refused at once.
func (s *Service) importFile(
	ctx context.Context, call operation.Call, in ImportInput,
) (operation.Answer[job.Job], error) {
	var out operation.Answer[job.Job]
	var record job.Record
	err := call.InTx(ctx, s.db, "media.import", func(ctx context.Context, tx *db.Tx) error {
		var err error
		target := int64(0)
		if in.FolderID != nil {
			target = *in.FolderID
		}
		if err = folder(ctx, tx, call.TeamID, target); err != nil {
			return err
		}
		if err := s.Fetch.Check(in.URL); err != nil {
			return refusedAddress(err)
		}
		if err := s.diskTakes(ctx, 0); err != nil {
			return err
		}
		if err := s.anyRoom(ctx, tx, call.TeamID); err != nil {
			return err
		}
		if record, err = s.Jobs.Start(ctx, tx,
			job.New{TeamID: call.TeamID, Type: job.MediaImport, Subject: importWork, Total: 1}); err != nil {
			return err
		}
		_, err = tx.Exec(ctx,
			`INSERT INTO media_imports (job_id, team_id, person_id, key_id, address, file_name, folder_id)
		VALUES (?, ?, ?, ?, ?, ?, ?)`,
			record.ID, call.TeamID, call.PersonID, call.KeyID, in.URL, in.Filename, target)
		if err != nil {
			return fmt.Errorf("writing an import: %w", err)
		}
		if err := auditlog.Record(ctx, tx, call.TeamID, auditlog.By(call), "media.import", record.ID, nil); err != nil {
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

func refusedAddress(err error) error {
	detail := "Files are imported from public https addresses alone."
	if refused, ok := errors.AsType[*safehttp.Error](err); ok {
		detail = refused.Detail
	}
	return apierr.Invalid(apierr.NotAllowedValue, "url", detail).With("error_code", safehttp.Refused).Wrap(err)
}

// anyRoom refuses work that is to bring files when the library is full already.
func (s *Service) anyRoom(ctx context.Context, tx *db.Tx, team int64) error {
	used, err := s.used(ctx, tx, team)
	if err != nil {
		return err
	}
	limit, err := s.allowance(ctx, tx, team, tx.Now())
	if err == nil && limit != plan.Unlimited && used >= limit {
		err = errStorageFull
	}
	return err
}

// maxTries is how often work is begun that never comes to an end of its own.
const maxTries = 5

// doImport does the work behind jobs of the type media_import.
func (s *Service) doImport(ctx context.Context, h job.LeasedJob) error {
	if h.Subject == uploadWork {
		return s.expireBatch(ctx, h)
	}
	if h.Epoch > maxTries {
		return s.failImport(ctx, h, "internal_error")
	}
	var address, name string
	p := placement{by: Owner{TeamID: h.TeamID}}
	err := s.db.QueryRow(ctx,
		`SELECT address, file_name, folder_id, person_id, key_id FROM media_imports WHERE job_id = ?`, h.ID).
		Scan(&address, &name, &p.folder, &p.by.PersonID, &p.by.KeyID)
	if err != nil {
		return fmt.Errorf("reading import %s: %w", h.ID, err)
	}
	code, err := s.bringIn(ctx, h, address, name, p)
	if err != nil || code == "" {
		return err
	}
	return s.failImport(ctx, h, code)
}

// bringIn fetches a file and puts it into the library; a code says why there is none.
func (s *Service) bringIn(ctx context.Context, h job.LeasedJob, address, name string, p placement) (string, error) {
	staged, err := s.beginJob(ctx, h.TeamID)
	if endsJob(err) {
		return reasonOf(err), nil
	}
	if err != nil {
		return "", fmt.Errorf("receiving an import: %w", err)
	}
	defer staged.Discard()
	got, err := s.Fetch.Get(ctx, address, staged.most, staged)
	if endsJob(err) {
		return reasonOf(err), nil
	}
	if failed, ok := errors.AsType[*safehttp.Error](err); ok && ctx.Err() == nil {
		if failed.Code == safehttp.TooLarge {
			failed.Code = reasonOf(staged.over)
		}
		s.Log.InfoContext(ctx, "an import failed", "job", h.ID, "code", failed.Code, "error", failed.Err)
		return failed.Code, nil
	}
	if err != nil {
		return "", fmt.Errorf("fetching an import: %w", err)
	}
	e, err := s.examine(ctx, staged)
	if err == nil {
		p.name, p.settle = importName(name,
			got.Name), func(ctx context.Context, tx *db.Tx, i Item, already bool) error {
			return settleImport(ctx, tx, h, i, already)
		}
		_, _, err = s.keep(ctx, e, p)
	}
	if endsJob(err) {
		return reasonOf(err), nil
	}
	return "", err
}

// beginJob begins a file that background work fetches for a team.
func (s *Service) beginJob(ctx context.Context, team int64) (*arrival, error) {
	most, err := s.bound(ctx, team, -1)
	if err != nil {
		return nil, err
	}
	return s.begin(ctx, team, uploader{}, -1, most)
}

// importName is what an imported file is called: of what was asked for, the part before the extension counts; the
// extension follows from the bytes.
func importName(asked, served string) string {
	if name := stem(asked); name != "" {
		return name
	}
	return stem(served)
}

func settleImport(ctx context.Context, tx *db.Tx, h job.LeasedJob, i Item, already bool) error {
	there := 0
	if already {
		there = 1
	}
	if _, err := tx.Exec(ctx, `UPDATE media_imports SET media_id = ?, already = ?, address = '' WHERE job_id = ?`, i.ID,
		there, h.ID); err != nil {
		return fmt.Errorf("settling an import: %w", err)
	}
	return h.Finish(ctx, tx, job.Succeeded, "")
}

func (s *Service) failImport(ctx context.Context, h job.LeasedJob, code string) error {
	return s.db.InTx(ctx, "media.import_failed", func(ctx context.Context, tx *db.Tx) error {
		// An address may hold somebody's signature: it is kept for as long as it is of use.
		if _, err := tx.Exec(ctx, `UPDATE media_imports SET address = '' WHERE job_id = ?`, h.ID); err != nil {
			return fmt.Errorf("forgetting the address of an import: %w", err)
		}
		return h.Finish(ctx, tx, job.Failed, code)
	})
}
