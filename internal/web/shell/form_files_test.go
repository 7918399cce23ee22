package shell

import (
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

func TestReadParts(t *testing.T) {
	const head = "--x\r\nContent-Disposition: form-data; "
	for name, c := range map[string]struct {
		parts string
		ok    bool
	}{
		"fields":            {head + "name=\"caption\"\r\n\r\nOpen\r\n", true},
		"100 files":         {strings.Repeat(head+"name=\"file\"; filename=\"quay.png\"\r\n\r\n\r\n", 100), true},
		"many empty fields": {strings.Repeat(head+"name=\"f\"\r\n\r\n\r\n", 10_000), false},
		"a long field name": {head + "name=\"" + strings.Repeat("f", 20_000) + "\"\r\n\r\n\r\n", false},
		"a long file name":  {head + "name=\"file\"; filename=\"" + strings.Repeat("f", 20_000) + "\"\r\n\r\n\r\n", false},
		"a long text":       {head + "name=\"caption\"\r\n\r\n" + strings.Repeat("f", 20_000) + "\r\n", false},
	} {
		r := httptest.NewRequest(http.MethodPost, "/posts/new", strings.NewReader(c.parts+"--x--\r\n"))
		r.Header.Set("Content-Type", "multipart/form-data; boundary=x")
		files := 0
		fields, err := ReadParts(r, MaxForm, func(*multipart.Part, url.Values) error { files++; return nil })
		if (err == nil) != c.ok || len(fields) > MaxForm/partCost || files > MaxForm/partCost {
			t.Errorf("%s: %d fields, %d files, %v", name, len(fields), files, err)
		}
	}
}
