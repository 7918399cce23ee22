package media

import (
	"net/http"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/domain/job"
	"pressroom.example/pressroom/internal/teamtime"
)

// Operations returns the operations on the library.
func (s *Service) Operations() []operation.Operation {
	return append(s.libraryOperations(), s.uploadOperation(), s.downloadOperation())
}

func (s *Service) libraryOperations() []operation.Operation {
	return []operation.Operation{
		operation.Define(operation.Spec{
			Tool: "list_media", Method: http.MethodGet, Path: "/media", Needs: access.Read, Success: http.StatusOK,
			Summary: "List media",
			Description: "Lists images and videos, newest first, with the library's folders and storage usage. Use " +
				"it to find media IDs for create_post.",
			Next: "If the person named a file, search with query. folder_not_found: the folder does not exist; " +
				"call without folder_id to get the folders.",
			Example: operation.Example{Arguments: map[string]any{"kind": "image", "limit": 1}, Data: MediaList{
				Media: []MediaItem{exampleEntry}, Storage: MediaListStorage{48_213_004, 1_073_741_824_000},
				Folders: []MediaFolder{{3, "Spring"}}}},
		}, s.list),
		operation.Define(operation.Spec{
			Tool: "import_media", Method: http.MethodPost, Path: "/media/imports", Needs: access.Write,
			Key: operation.KeyOptional, Success: http.StatusAccepted,
			Summary: "Import a file from a public URL",
			Description: "Fetches an image or a video from a public HTTPS URL into the library. For files that are " +
				"not on the internet, use create_uploads. The type is determined from the bytes. Private, local " +
				"and IP addresses are rejected. Uses storage, no credits. If the library already has the " +
				"file, the result is the existing item.",
			Next: "Poll the job with get_job; its result contains the media ID. type_refused or too_large: the file " +
				"is not accepted. storage_full: no space is left.",
			Example: operation.Example{Arguments: map[string]any{
				"url": "https://www.example.com/roastery.jpg", "filename": "roastery",
			},
				Data: job.Job{
					JobID: exampleJob, Type: job.MediaImport, State: job.Pending, CreatedAt: exampleAt,
					Progress: job.JobProgress{Total: 1},
				}},
		}, s.importFile),
	}
}

func (s *Service) uploadOperation() operation.Operation {
	return operation.Define(operation.Spec{
		Tool: "create_uploads", Method: http.MethodPost, Path: "/uploads", Needs: access.Write,
		Key: operation.KeyOptional, Success: http.StatusCreated,
		OnRepeat: operation.Recreate(s.recreateUploads),
		Summary:  "Create upload links",
		Description: "Creates a one-time link for each described file: send the bytes by PUT to the link's url with " +
			"the link's headers. Or create a batch without files and give upload_page_url to a person, " +
			"who uploads in a browser. Repeating the call with the same Idempotency-Key returns the same batch " +
			"with new secrets and invalidates the old ones. Uses storage, no credits. Files already in the " +
			"library need no upload.",
		Next: "The links are secrets that work once, for an hour: share them only with the uploader. The " +
			"batch's job shows which files have arrived. rate_limited with scope open_upload_batches: finish " +
			"or replace a batch first.",
		Destructive: true,
		Example: operation.Example{
			Arguments: map[string]any{"files": []UploadFile{exampleFile}}, Data: exampleBatch,
		},
	}, s.createUploads)
}

func (s *Service) downloadOperation() operation.Operation {
	return operation.Define(operation.Spec{
		Tool: "download_profile_media", Method: http.MethodPost, Path: "/profile-media-downloads",
		Needs: access.Spend, Key: operation.KeyRequired, Success: http.StatusAccepted, Networks: true,
		ConditionalCapability: operation.NewConditionalCapability(access.Write, "save_to_library is true", requiresWrite),
		Price: operation.PriceRange(s.Catalog.Prices.ProfileMediaDownload, s.Catalog.Prices.ProfileMediaDownload,
			s.price),
		Summary: "Download media of a public profile",
		Description: "Fetches media of a public Instagram or TikTok profile and saves them in the library's " +
			"folder Downloads, or only lists them. Charged per call, even if nothing is found; refunded if the " +
			"profile does not exist, is private or cannot be read. Use it only if the person asked for it, and " +
			"respect the copyright of the media.",
		Next: "Poll the job with get_job. If its result has next_cursor, pass it as cursor in another call to " +
			"get the next page, which is charged again.",
		Example: operation.Example{Arguments: map[string]any{
			"platform": "instagram", "type": "posts", "username": "harbour_cafe",
		},
			Data: job.Job{
				JobID: "content_fetch:019d3889-2b11-7d5a-9e0c-0c8f1d3e0009", Type: job.ContentFetch,
				State: job.Pending, CreatedAt: exampleAt, Progress: job.JobProgress{Total: 12},
			}},
	}, s.downloadProfile)
}

const exampleJob = "media_import:019d3889-2b11-7d5a-9e0c-0c8f1d3e0007"

var (
	exampleAt    = teamtime.Moment{Team: "2026-03-29T10:15:00+02:00", UTC: "2026-03-29T08:15:00Z"}
	exampleUntil = teamtime.Moment{Team: "2026-03-29T11:15:00+02:00", UTC: "2026-03-29T09:15:00Z"}
	exampleEntry = MediaItem{ID: 17, Name: "roastery", FileName: "roastery.jpg", Type: "image/jpeg", Kind: Image,
		SizeBytes: 482_113, Width: 1620, Height: 1080,
		AltText: "A drum roaster with its door open.", Folder: &MediaFolder{3, "Spring"}, CreatedAt: exampleAt}
	exampleFile = UploadFile{
		SHA256: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", SizeBytes: 482_113,
		FileName: "roastery.jpg", MIMEType: "image/jpeg",
	}
	exampleBatch = UploadBatch{
		Job: job.Job{
			JobID: exampleJob, Type: job.MediaImport, State: job.Pending, CreatedAt: exampleAt,
			Progress: job.JobProgress{Total: 1},
		},
		Upload: UploadBatchUpload{[]UploadLink{{File: exampleFile,
			URL:     "https://pressroom.example" + LinkPath + "019d3889-2b12-7b63-8c1d-9a1b2c3d0008",
			Method:  http.MethodPut,
			Headers: map[string]string{"Authorization": "Bearer …"}, ExpiresAt: &exampleUntil, State: Waiting}}},
		PageURL: "https://pressroom.example/upload/019d3889-2b11-7d5a-9e0c-0c8f1d3e0007",
		Limits: UploadBatchLimits{
			Types: Types, MaxImageBytes: 52_428_800, MaxVideoBytes: 4_294_967_296, MaxFiles: MaxFiles,
		},
	}
)
