package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"
	"unicode/utf8"
)

const (
	maxBatchFiles   = 50      // maximum number of files in one call to create_uploads
	minExpectSize   = 1 << 20 // minimum size in bytes of files that are sent with Expect: 100-continue
	defaultParallel = 4
)

// UploadInput contains the settings of an upload.
type UploadInput struct {
	FolderID *int64 // folder of the library; nil for none
	Parallel int    // number of files to send concurrently; 0 means 4
}

// Uploaded is the result of uploading one file.
type Uploaded struct {
	File    File
	MediaID int64 // ID of the media item; 0 if the file is not in the library
	Err     error // such as an *Error from the upload link, an *UnansweredError, or an error from reading the file
}

// ErrEmptyFile means that a file is empty. The library does not accept empty files.
var ErrEmptyFile = errors.New("the file is empty")

// errLinkUsed means that a link has already received its file, in a request whose response was lost.
var errLinkUsed = errors.New("the link was already used")

// Upload adds files to the media library. It creates one-time upload links, sends the files, and retries failed
// requests. It does not send files that are already in the library. The results are in the order of the files. The
// error joins the errors of all failed files. A file that is empty ([ErrEmptyFile]) or has an invalid name does not
// affect the other files. To continue after a crash, repeat the call with the same [IdempotencyKey].
func (c *Client) Upload(ctx context.Context, files []File, in UploadInput, options ...CallOption) ([]Uploaded, error) {
	call := preparedCall{key: newKey()}
	for _, option := range options {
		option(&call)
	}
	results, errs := make([]Uploaded, 0, len(files)), []error{}
	for batch := range slices.Chunk(files, maxBatchFiles) {
		key := call.key
		if n := len(results) / maxBatchFiles; n > 0 {
			key = fmt.Sprintf("%s-%d", key, n+1)
		}
		uploaded, err := c.uploadValid(ctx, batch, in, key)
		if err != nil {
			errs = append(errs, rebaseBatchError(err, call.key, len(results)))
		}
		results = append(results, uploaded...)
		if err != nil {
			break
		}
	}
	for _, r := range results {
		if r.Err != nil {
			errs = append(errs, r.Err)
		}
	}
	return results, errors.Join(errs...)
}

// rebaseBatchError changes the error of a batch to an error of the whole upload. It sets IdempotencyKey to the upload's
// key, from which the batch keys are derived, and Context.Item to the file's index among all files.
func rebaseBatchError(err error, key string, offset int) error {
	if e, ok := asType[*Error](err); ok && e.IdempotencyKey != "" {
		e.IdempotencyKey = key
		if e.Context.Item != nil {
			item := *e.Context.Item + int64(offset)
			e.Context.Item = &item
		}
	}
	if e, ok := asType[*UnansweredError](err); ok && e.IdempotencyKey != "" {
		e.IdempotencyKey = key
	}
	return err
}

// uploadValid uploads the valid files of a batch, and sets the errors of the other files.
func (c *Client) uploadValid(ctx context.Context, files []File, in UploadInput, key string) ([]Uploaded, error) {
	results := make([]Uploaded, len(files))
	var valid []File
	var indexes []int
	for i, f := range files {
		results[i] = Uploaded{File: f, Err: checkFile(f)}
		if results[i].Err == nil {
			valid, indexes = append(valid, f), append(indexes, i)
		}
	}
	if len(valid) == 0 { // without files, create_uploads would create a batch for an upload page
		return results, nil
	}
	uploaded, err := c.uploadBatch(ctx, valid, in, key)
	if uploaded == nil {
		return nil, addFileName(err, valid, indexes)
	}
	for n, i := range indexes {
		results[i] = uploaded[n]
	}
	return results, err
}

// addFileName adds the name of the invalid file, and its index among the caller's files, to a batch's error.
func addFileName(err error, valid []File, indexes []int) error {
	e, ok := asType[*Error](err)
	if ok && e.Context.Item != nil && *e.Context.Item >= 0 && *e.Context.Item < int64(len(valid)) {
		i := *e.Context.Item
		e.Detail = valid[i].Name + ": " + e.Detail
		item := int64(indexes[i])
		e.Context.Item = &item
	}
	return err
}

func checkFile(f File) error {
	if f.Size == 0 {
		return fmt.Errorf("%s: %w", f.Name, ErrEmptyFile)
	}
	if !utf8.ValidString(f.Name) {
		return fmt.Errorf("the file's name %q is not UTF-8", f.Name)
	}
	return nil
}

func (c *Client) uploadBatch(ctx context.Context, files []File, in UploadInput, key string) ([]Uploaded, error) {
	descriptions := make([]UploadFile, len(files))
	for i, f := range files {
		descriptions[i] = UploadFile{SHA256: f.SHA256, SizeBytes: f.Size, FileName: f.Name}
	}
	batch, err := c.CreateUploads(ctx, CreateUploadsInput{Files: descriptions, FolderID: in.FolderID}, IdempotencyKey(key))
	if err != nil {
		return nil, err
	}
	links := batch.Data.Upload.Uploads
	if len(links) != len(files) {
		return nil, fmt.Errorf("the service created %d upload links for %d files", len(links), len(files))
	}
	results := make([]Uploaded, len(files))
	parallel := in.Parallel
	if parallel <= 0 {
		parallel = defaultParallel
	}
	slots, wg := make(chan struct{}, parallel), sync.WaitGroup{}
	for i := range files {
		slots <- struct{}{}
		wg.Add(1)
		go func() {
			defer func() { <-slots; wg.Done() }()
			results[i] = Uploaded{File: files[i]}
			results[i].MediaID, results[i].Err = c.uploadOne(ctx, files[i], links[i])
		}()
	}
	wg.Wait()
	return results, c.resolveLostResponses(ctx, batch.Data.JobID, results)
}

// resolveLostResponses reads the results of files whose responses were lost from the job.
func (c *Client) resolveLostResponses(ctx context.Context, jobID string, results []Uploaded) error {
	if !slices.ContainsFunc(results, func(u Uploaded) bool { return errors.Is(u.Err, errLinkUsed) }) {
		return nil
	}
	job, err := c.GetJob(ctx, GetJobInput{JobID: jobID})
	if err != nil {
		return err
	}
	result, err := Result[UploadResult](job.Data)
	if err != nil {
		return err
	}
	for i := range results {
		if !errors.Is(results[i].Err, errLinkUsed) || i >= len(result.Files) {
			continue
		}
		if file := result.Files[i]; file.State == UploadStateStored && file.MediaID != nil {
			results[i].MediaID, results[i].Err = *file.MediaID, nil
		} else {
			results[i].Err = fmt.Errorf("%s is %s: %s", results[i].File.Name, file.State, file.Reason)
		}
	}
	return nil
}

// uploadOne sends a file unless it is already in the library.
func (c *Client) uploadOne(ctx context.Context, f File, link UploadLink) (int64, error) {
	if link.MediaID != nil {
		return *link.MediaID, nil
	}
	if link.URL == "" {
		return 0, fmt.Errorf("%s is %s and has no valid upload link: upload it with another Idempotency-Key", f.Name,
			link.State)
	}
	linkURL, err := url.Parse(link.URL)
	if err != nil {
		return 0, fmt.Errorf("the upload link of %s: %w", f.Name, err)
	}
	if err := c.checkAddress(linkURL); err != nil {
		return 0, fmt.Errorf("the upload link of %s: %w", f.Name, err)
	}
	var id int64
	r := c.retry
	r.attemptTimeout = 0 // a large file takes time; stallTimeout detects a stalled connection instead
	err = r.run(ctx, "upload "+f.Name, "", func(ctx context.Context) error {
		mediaID, err := c.put(ctx, f, link)
		id = mediaID
		return err
	})
	if CodeOf(err) == CodeUploadLinkUsed {
		return 0, errLinkUsed
	}
	return id, err
}

// put sends the file once.
func (c *Client) put(ctx context.Context, f File, link UploadLink) (int64, error) {
	content, err := f.Open()
	if err != nil {
		return 0, &permanentError{fmt.Errorf("opening %s: %w", f.Name, err)}
	}
	uploadCtx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	body := &uploadBody{ReadCloser: content, name: f.Name, remaining: f.Size, timeout: c.retry.stallTimeout,
		timer: time.AfterFunc(c.retry.stallTimeout, func() {
			cancel(fmt.Errorf("no progress for %s", c.retry.stallTimeout))
		})}
	defer body.timer.Stop()
	// The transport closes the body, possibly after Do returns, so it is not closed here.
	req, err := http.NewRequestWithContext(uploadCtx, http.MethodPut, link.URL, body)
	if err != nil {
		return 0, &permanentError{errors.Join(fmt.Errorf("creating the request: %w", err), content.Close())}
	}
	req.ContentLength = f.Size
	req.Header.Set("Content-Type", "application/octet-stream") // the service detects the type
	req.Header.Set("User-Agent", c.agent)
	for name, value := range link.Headers {
		req.Header.Set(name, value)
	}
	if f.Size >= minExpectSize {
		req.Header.Set("Expect", "100-continue")
	}
	resp, err := c.http.Do(req)
	if err := body.sizeError(); err != nil {
		return 0, errors.Join(err, closeBody(resp))
	}
	if err != nil {
		return 0, fmt.Errorf("sending %s: %w", f.Name, causeOf(ctx, uploadCtx, err))
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxResponse))
	if err != nil {
		return 0, fmt.Errorf("reading the response: %w", causeOf(ctx, uploadCtx, err))
	}
	return parseMediaID(resp, raw)
}

func closeBody(resp *http.Response) error {
	if resp == nil {
		return nil
	}
	return resp.Body.Close()
}

func parseMediaID(resp *http.Response, raw []byte) (int64, error) {
	if resp.StatusCode != http.StatusCreated {
		return 0, responseError(resp, raw)
	}
	var body struct {
		Data struct {
			MediaID int64 `json:"media_id"`
		} `json:"data"`
	}
	if err := json.Unmarshal(raw, &body); err != nil || body.Data.MediaID == 0 {
		return 0, errors.Join(errors.New("the response has no media_id"), err)
	}
	return body.Data.MediaID, nil
}

// uploadBody is the body of an upload request. It detects a stalled connection, and a file whose size has changed.
type uploadBody struct {
	io.ReadCloser

	name        string
	mu          sync.Mutex
	remaining   int64
	sizeChanged bool
	timeout     time.Duration
	timer       *time.Timer
}

func (u *uploadBody) Read(b []byte) (int, error) {
	n, err := u.ReadCloser.Read(b)
	u.timer.Reset(u.timeout)
	u.mu.Lock()
	defer u.mu.Unlock()
	u.remaining -= int64(n)
	u.sizeChanged = u.sizeChanged || u.remaining < 0 || errors.Is(err, io.EOF) && u.remaining > 0
	return n, err //nolint:wrapcheck // a reader's error or io.EOF
}

func (u *uploadBody) sizeError() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.sizeChanged {
		return &permanentError{fmt.Errorf("the size of %s has changed", u.name)}
	}
	return nil
}
