package media

import (
	"pressroom.example/pressroom/internal/domain/job"
	"pressroom.example/pressroom/internal/teamtime"
)

// The input and response of POST /uploads.
type (
	// UploadsInput describes the files to upload.
	UploadsInput struct {
		Files         []UploadFile `json:"files,omitempty" maxItems:"50" default:"[]"`
		FolderID      *int64       `json:"folder_id,omitempty" jsonschema:"Folder for the files. Omit for none."`
		ReplacesBatch string       `json:"replaces_batch,omitempty" pattern:"^media_import:[A-Za-z0-9-]{1,64}$"`
	}
	// UploadFile is one file to upload.
	UploadFile struct {
		SHA256    string `json:"sha256" pattern:"^[0-9a-f]{64}$" jsonschema:"SHA-256 of the bytes in lower-case hexadecimal."`
		SizeBytes int64  `json:"size_bytes" min:"1" jsonschema:"Size in bytes."`
		FileName  string `json:"file_name,omitempty" maxLength:"255" jsonschema:"File name."`
		MIMEType  string `json:"mime_type,omitempty" maxLength:"255" jsonschema:"MIME type. The bytes determine the actual type."`
	}
	// UploadBatch is the response: the job and its links.
	UploadBatch struct {
		job.Job

		Upload  UploadBatchUpload `json:"upload"`
		PageURL string            `json:"upload_page_url" format:"uri" jsonschema:"Page on which a signed-in person can upload files."`
		Limits  UploadBatchLimits `json:"limits"`
	}
	// UploadBatchUpload is the member "upload" of the response, which contains the links.
	UploadBatchUpload struct {
		Uploads []UploadLink `json:"uploads"`
	}
	// UploadLink is one file of a batch. URL is set if the bytes are still to be sent. MediaID is set if the library
	// already has the file.
	UploadLink struct {
		File      UploadFile        `json:"file"`
		URL       string            `json:"url,omitempty" format:"uri" jsonschema:"Where to send the bytes. Omitted if none are expected."`
		Method    string            `json:"method,omitempty" enum:"PUT"`
		Headers   map[string]string `json:"headers,omitempty"`
		ExpiresAt *teamtime.Moment  `json:"expires_at,omitempty" jsonschema:"Deadline for the upload."`
		State     State             `json:"state" enum:"waiting|stored|refused|replaced|expired" title:"UploadState"`
		MediaID   int64             `json:"media_id,omitempty" jsonschema:"Existing item, if the library already has the file."`
	}
	// UploadBatchLimits are the limits of uploads.
	UploadBatchLimits struct {
		Types         []string `json:"types" jsonschema:"Accepted MIME types."`
		MaxImageBytes int64    `json:"max_image_bytes"`
		MaxVideoBytes int64    `json:"max_video_bytes"`
		MaxFiles      int      `json:"max_files" jsonschema:"Maximum number of files per batch."`
	}
)

// Descriptions returns descriptions of the fields for the JSON schema.
func (UploadsInput) Descriptions() map[string]string {
	return map[string]string{
		"files": "The files. Leave empty if a person chooses them on the page.",
		"replaces_batch": "Job of an earlier batch of this connection. Its pending files are closed. Ignored if " +
			"one of its files has arrived.",
	}
}

// Descriptions returns descriptions of the fields for the JSON schema.
func (UploadLink) Descriptions() map[string]string {
	return map[string]string{
		"headers": "Headers to send with the bytes. Authorization holds a one-time secret that is shown only in " +
			"this response.",
	}
}
