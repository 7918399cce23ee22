package media

import (
	"slices"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/domain/job"
)

type modelBatch struct {
	job, page   string
	expires     time.Time
	closed      bool
	why         string // error code of its job
	touched     bool   // whether a file was uploaded
	files       []modelFile
	links, past []UploadLink // by file; past holds those invalidated by the last repeat
}

type modelFile struct {
	which  int
	state  State
	media  int64
	reason string
	byPage bool
}

func (b *modelBatch) waiting() int {
	n := 0
	for _, f := range b.files {
		if f.state == Waiting {
			n++
		}
	}
	return n
}

// end gives pending files a state and closes the batch.
func (b *modelBatch) end(of State) {
	for n := range b.files {
		if b.files[n].state == Waiting {
			b.files[n].state = of
		}
	}
	b.closed = true
}

// closeIfDone closes a batch opened with files once all have arrived.
func (b *modelBatch) closeIfDone() {
	b.touched = true
	described := slices.ContainsFunc(b.files, func(f modelFile) bool { return !f.byPage })
	b.closed = b.closed || described && b.waiting() == 0
}

// outcome returns the expected end of the job, by the first file that did not arrive.
func (b *modelBatch) outcome() (job.State, string) {
	var lost []string
	for _, f := range b.files {
		switch f.state {
		case Refused:
			lost = append(lost, f.reason)
		case Replaced, Expired:
			lost = append(lost, orElse(b.why, "upload_"+strings.ToLower(string(f.state))))
		case Waiting, Stored:
		}
	}
	switch {
	case len(b.files) == 0:
		return job.Failed, orElse(b.why, "upload_expired")
	case len(lost) == 0:
		return job.Succeeded, ""
	case len(lost) < len(b.files):
		return job.PartiallySucceeded, lost[0]
	}
	return job.Failed, lost[0]
}

func orElse(text, other string) string {
	if text != "" {
		return text
	}
	return other
}

// modelFiles returns the files to send. Each has a different size, and the last is of no accepted type.
func modelFiles() [][]byte {
	return [][]byte{film(1, 0), film(2, 10), film(3, 300), film(4, 600), pngOf(noise(5, 12, 12)), []byte("no picture")}
}

const junk = 5
