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
	batchFiles   = 50      // as many as one call of create_uploads takes
	worthAsking  = 1 << 20 // bytes from which the service is asked before they are sent
	uploadsAtOne = 4       // files at a time where nothing is said
)

// UploadInput is what Upload takes beside the files.
type UploadInput struct {
	FolderID *int64 // the folder of the library, none where nil
	Parallel int    // files at a time; 4 where it is 0
}

// Uploaded is what became of a file.
type Uploaded struct {
	File    File
	MediaID int64 // 0 where it is not in the library
	Err     error // why: an *Error of the link, an *UnansweredError, or what was wrong with reading it
}

// ErrEmptyFile is a file without bytes, which the library does not take.
var ErrEmptyFile = errors.New("the file is empty")

// errUsed is a link that took its file already, of which the answer was lost.
var errUsed = errors.New("the link was used")

// Upload puts files into the media library: it opens one-time links, sends the bytes, and repeats what was cut off. A
// file that the library has already is not sent. The results stand in the order of the files; the error joins those of
// all that failed. A file that no link can be opened for, as it is empty ([ErrEmptyFile]) or its name is not UTF-8,
// does not keep the others from being sent. With an [IdempotencyKey] of one's own the same call, made again after a
// crash, goes on with the same batch.
func (c *Client) Upload(ctx context.Context, files []File, in UploadInput, options ...CallOption) ([]Uploaded, error) {
	asked := prepared{key: newKey()}
	for _, option := range options {
		option(&asked)
	}
	results, failed := make([]Uploaded, 0, len(files)), []error{}
	for batch := range slices.Chunk(files, batchFiles) {
		key := asked.key
		if n := len(results) / batchFiles; n > 0 {
			key = fmt.Sprintf("%s-%d", key, n+1)
		}
		done, err := c.uploadFit(ctx, batch, in, key)
		if err != nil {
			failed = append(failed, ofUpload(err, asked.key, len(results)))
		}
		results = append(results, done...)
		if err != nil {
			break
		}
	}
	for _, r := range results {
		if r.Err != nil {
			failed = append(failed, r.Err)
		}
	}
	return results, errors.Join(failed...)
}

// ofUpload has the error of a batch's call tell the key of the whole upload, which is what a repeat has to carry: each
// batch makes its own of it. The file that is to blame is counted among all of them.
func ofUpload(err error, key string, before int) error {
	if refused, ok := errors.AsType[*Error](err); ok && refused.IdempotencyKey != "" {
		refused.IdempotencyKey = key
		if refused.Context.Item != nil {
			refused.Context.Item = new(*refused.Context.Item + int64(before))
		}
	}
	if lost, ok := errors.AsType[*UnansweredError](err); ok && lost.IdempotencyKey != "" {
		lost.IdempotencyKey = key
	}
	return err
}

// uploadFit is uploadBatch of the files that can be described at all; the others are told as failed.
func (c *Client) uploadFit(ctx context.Context, files []File, in UploadInput, key string) ([]Uploaded, error) {
	results := make([]Uploaded, len(files))
	var fit []File
	var at []int
	for i, f := range files {
		results[i] = Uploaded{File: f, Err: unfit(f)}
		if results[i].Err == nil {
			fit, at = append(fit, f), append(at, i)
		}
	}
	if len(fit) == 0 { // a batch without files would be one for the page
		return results, nil
	}
	done, err := c.uploadBatch(ctx, fit, in, key)
	if done == nil {
		return nil, blaming(err, fit, at)
	}
	for n, i := range at {
		results[i] = done[n]
	}
	return results, err
}

// blaming has a refusal of a batch name the file that is to blame, and tell where it stands among those that the
// caller gave.
func blaming(err error, fit []File, at []int) error {
	refused, is := errors.AsType[*Error](err)
	if is && refused.Context.Item != nil && *refused.Context.Item >= 0 && *refused.Context.Item < int64(len(fit)) {
		i := *refused.Context.Item
		refused.Detail = fit[i].Name + ": " + refused.Detail
		refused.Context.Item = new(int64(at[i]))
	}
	return err
}

func unfit(f File) error {
	if f.Size == 0 {
		return fmt.Errorf("%s: %w", f.Name, ErrEmptyFile)
	}
	if !utf8.ValidString(f.Name) {
		return fmt.Errorf("the file's name %q is not UTF-8", f.Name)
	}
	return nil
}

func (c *Client) uploadBatch(ctx context.Context, files []File, in UploadInput, key string) ([]Uploaded, error) {
	described := make([]UploadFile, len(files))
	for i, f := range files {
		described[i] = UploadFile{SHA256: f.SHA256, SizeBytes: f.Size, FileName: f.Name}
	}
	batch, err := c.CreateUploads(ctx, CreateUploadsInput{Files: described, FolderID: in.FolderID}, IdempotencyKey(key))
	if err != nil {
		return nil, err
	}
	links := batch.Data.Upload.Uploads
	if len(links) != len(files) {
		return nil, fmt.Errorf("%d links were opened for %d files", len(links), len(files))
	}
	results := make([]Uploaded, len(files))
	parallel := in.Parallel
	if parallel <= 0 {
		parallel = uploadsAtOne
	}
	room, all := make(chan struct{}, parallel), sync.WaitGroup{}
	for i := range files {
		room <- struct{}{}
		all.Go(func() {
			defer func() { <-room }()
			results[i] = Uploaded{File: files[i]}
			results[i].MediaID, results[i].Err = c.uploadOne(ctx, files[i], links[i])
		})
	}
	all.Wait()
	return results, c.settle(ctx, batch.Data.JobID, results)
}

// settle asks the job about files whose link was used by an attempt of which the answer was lost.
func (c *Client) settle(ctx context.Context, jobID string, results []Uploaded) error {
	if !slices.ContainsFunc(results, func(u Uploaded) bool { return errors.Is(u.Err, errUsed) }) {
		return nil
	}
	job, err := c.GetJob(ctx, GetJobInput{JobID: jobID})
	if err != nil {
		return err
	}
	produced, err := Result[UploadResult](job.Data)
	if err != nil {
		return err
	}
	for i := range results {
		if !errors.Is(results[i].Err, errUsed) || i >= len(produced.Files) {
			continue
		}
		if is := produced.Files[i]; is.State == UploadStateStored {
			results[i].MediaID, results[i].Err = is.MediaID, nil
		} else {
			results[i].Err = fmt.Errorf("%s is %s: %s", results[i].File.Name, is.State, is.Reason)
		}
	}
	return nil
}

// uploadOne sends a file by its link, unless the library has it.
func (c *Client) uploadOne(ctx context.Context, f File, link UploadLink) (int64, error) {
	if link.MediaID != nil {
		return *link.MediaID, nil
	}
	if link.URL == "" {
		return 0, fmt.Errorf("%s is %s, and no link is open for it: upload it with another Idempotency-Key", f.Name,
			link.State)
	}
	to, err := url.Parse(link.URL)
	if err != nil {
		return 0, fmt.Errorf("the upload link of %s: %w", f.Name, err)
	}
	if err := c.safe(to); err != nil {
		return 0, fmt.Errorf("the upload link of %s: %w", f.Name, err)
	}
	var id int64
	r := c.retry
	r.attempt = 0 // a large file takes its time; standstill sees to what hangs
	err = r.run(ctx, "upload "+f.Name, "", func(ctx context.Context) error {
		stored, err := c.put(ctx, f, link)
		id = stored
		return err
	})
	if CodeOf(err) == CodeUploadLinkUsed {
		return 0, errUsed
	}
	return id, err
}

// put sends the bytes once.
func (c *Client) put(ctx context.Context, f File, link UploadLink) (int64, error) {
	content, err := f.Open()
	if err != nil {
		return 0, &final{fmt.Errorf("opening %s: %w", f.Name, err)}
	}
	bound, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	body := &watched{ReadCloser: content, name: f.Name, left: f.Size, after: c.retry.still,
		still: time.AfterFunc(c.retry.still, func() {
			cancel(fmt.Errorf("nothing moved for %s", c.retry.still))
		})}
	defer body.still.Stop()
	// who sends it closes it, perhaps later
	req, err := http.NewRequestWithContext(bound, http.MethodPut, link.URL, body)
	if err != nil {
		return 0, &final{errors.Join(fmt.Errorf("making the request: %w", err), content.Close())}
	}
	req.ContentLength = f.Size
	req.Header.Set("Content-Type", "application/octet-stream") // what it is follows from the bytes
	req.Header.Set("User-Agent", c.agent)
	for name, value := range link.Headers {
		req.Header.Set(name, value)
	}
	if f.Size >= worthAsking {
		req.Header.Set("Expect", "100-continue")
	}
	resp, err := c.http.Do(req)
	if changed := body.changed(); changed != nil {
		return 0, errors.Join(changed, discard(resp))
	}
	if err != nil {
		return 0, fmt.Errorf("sending %s: %w", f.Name, ofOurs(ctx, bound, err))
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, longestAnswer))
	if err != nil {
		return 0, fmt.Errorf("reading the answer: %w", ofOurs(ctx, bound, err))
	}
	return stored(resp, raw)
}

func discard(resp *http.Response) error {
	if resp == nil {
		return nil
	}
	return resp.Body.Close()
}

func stored(resp *http.Response, raw []byte) (int64, error) {
	if resp.StatusCode != http.StatusCreated {
		return 0, refusal(resp, raw)
	}
	var answer struct {
		Data struct {
			MediaID int64 `json:"media_id"`
		} `json:"data"`
	}
	if err := json.Unmarshal(raw, &answer); err != nil || answer.Data.MediaID == 0 {
		return 0, errors.Join(errors.New("the answer names no media item"), err)
	}
	return answer.Data.MediaID, nil
}

// watched is a file on its way. It tells a standstill, and a file that is not as long as it was.
type watched struct {
	io.ReadCloser

	name  string
	mu    sync.Mutex
	left  int64
	other bool // whether its length is another
	after time.Duration
	still *time.Timer
}

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.ReadCloser.Read(p)
	w.still.Reset(w.after)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.left -= int64(n)
	w.other = w.other || w.left < 0 || errors.Is(err, io.EOF) && w.left > 0
	return n, err //nolint:wrapcheck // a reader's error, and io.EOF as it is
}

func (w *watched) changed() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.other {
		return &final{fmt.Errorf("%s is not as long as it was when it was described", w.name)}
	}
	return nil
}
