package facebook_test

import (
	"net/http"
	"strings"
	"testing"

	"pressroom/internal/network"
	"pressroom/internal/network/facebook"
	"pressroom/internal/network/networktest"
)

// What is answered to Resolve of a post; the verdict and the class follow from it.
func TestResolvePost(t *testing.T) {
	t.Parallel()
	post := func(id, text, at, attached string) string {
		return `{"id":"` + id + `","message":"` + text + `","created_time":"2026-11-21T` + at + `+0000","permalink_url":"javascript:x","attachments":{"data":[` + attached + `]}}`
	}
	list := func(posts ...string) string { return `{"data":[` + strings.Join(posts, ",") + `]}` }
	const photo, share = `{"type":"photo"}`, `{"type":"share"}`
	for name, c := range map[string]struct {
		posts   string
		verdict network.Verdict
		class   network.Class
		id      string
	}{
		"there":               {list(post("10_1", `x\n`, "09:00:01", "")), network.Stands, "", "10_1"},
		"by a slow clock":     {list(post("10_1", "x", "08:55:00", "")), network.Stands, "", "10_1"},
		"with a preview":      {list(post("10_1", "x", "09:00:01", share)), network.Stands, "", "10_1"},
		"older":               {list(post("10_1", "x", "08:54:59", "")), network.Absent, "", ""},
		"another text":        {list(post("10_1", "y", "09:00:01", "")), network.Absent, "", ""},
		"a photo":             {list(post("10_1", "x", "09:00:01", photo)), network.Absent, "", ""},
		"an album":            {list(post("10_1", "x", "09:00:01", `{"type":"album","subattachments":{"data":[{},{}]}}`)), network.Absent, "", ""},
		"no id":               {list(post("../me", "x", "09:00:01", "")), network.Absent, "", ""},
		"no time":             {list(post("10_1", "x", "noon", "")), network.Absent, "", ""},
		"nothing":             {list(), network.Absent, "", ""},
		"two":                 {list(post("10_1", "x", "09:00:00", ""), post("10_2", "x", "09:00:01", "")), network.Unknown, network.Uncertain, ""},
		"two, one before":     {list(post("10_1", "x", "08:59:59", ""), post("10_2", "x", "09:00:01", "")), network.Stands, "", "10_2"},
		"throttled":           {`{"error":{"code":4}}`, network.Unknown, network.Rate, ""},
		"a dead token":        {`{"error":{"code":190}}`, network.Unknown, network.AuthDead, ""},
		"nothing to be asked": {`[`, network.Unknown, network.Transient, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := answering(t, func(*http.Request) string { return c.posts })
			g := network.Grant{Server: w.url, Account: "10001", Access: "token"}
			verdict, receipt, err := facebook.New(facebook.Options{}).Resolve(t.Context(), g, network.Draft(readyText), network.Tried{})
			if verdict != c.verdict || networktest.Class(err) != c.class || receipt.ID != c.id || receipt.Permalink != "" {
				t.Errorf("verdict %v, receipt %+v, %v", verdict, receipt, err)
			}
		})
	}
}

// What a video says of itself.
func TestResolveVideo(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		video   string
		verdict network.Verdict
		class   network.Class
		message string
	}{
		"published":             {`{"published":true,"permalink_url":"/page/videos/1/","status":{"video_status":"ready"}}`, network.Stands, "", ""},
		"published by phase":    {`{"status":{"video_status":"ready","publishing_phase":{"status":"complete"}}}`, network.Stands, "", ""},
		"ready, not published":  {`{"status":{"video_status":"ready","publishing_phase":{"status":"not_started"}}}`, network.Unknown, network.Processing, ""},
		"processing":            {`{"published":true,"status":{"video_status":"processing"}}`, network.Unknown, network.Processing, ""},
		"not ended":             {`{"status":{"video_status":"upload_complete"}}`, network.Absent, "", ""},
		"not uploaded":          {`{"status":{"video_status":"uploading"}}`, network.Absent, "", ""},
		"failed":                {`{"status":{"video_status":"error","processing_phase":{"error":{"message":"too dark"}}}}`, network.Absent, network.RejectedMedia, "too dark"},
		"failed in several":     {`{"status":{"video_status":"error","processing_phase":{"errors":[{},{"message":"too dark"}]}}}`, network.Absent, network.RejectedMedia, "too dark"},
		"expired":               {`{"status":{"video_status":"expired"}}`, network.Absent, network.Transient, ""},
		"an upload that failed": {`{"status":{"video_status":"upload_failed"}}`, network.Absent, network.Transient, ""},
		"a state that is new":   {`{"status":{"video_status":"resting"}}`, network.Unknown, network.Transient, ""},
		"no state":              {`{}`, network.Unknown, network.Transient, ""},
		"gone":                  {`{"error":{"code":100,"error_subcode":33}}`, network.Unknown, network.Transient, ""},
		"a dead token":          {`{"error":{"code":190}}`, network.Unknown, network.AuthDead, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := answering(t, func(*http.Request) string { return c.video })
			n := facebook.New(facebook.Options{AuthorizeHost: "https://www.facebook.test"})
			verdict, receipt, err := n.Resolve(t.Context(), network.Grant{Server: w.url, Account: "10001"}, network.Draft(readyVideo), network.Tried{})
			if verdict != c.verdict || networktest.Class(err) != c.class || verdict == network.Stands && receipt.ID != "15001" {
				t.Errorf("verdict %v, receipt %+v, %v", verdict, receipt, err)
			}
			if err != nil && networktest.WantClass(t, err, c.class, "").Message != c.message {
				t.Errorf("%v", err)
			}
			if name == "published" && receipt.Permalink != "https://www.facebook.test/page/videos/1/" {
				t.Errorf("permalink %q", receipt.Permalink)
			}
		})
	}
}

// A network that asks for other parts than the next, or for none of the file, is not followed.
func TestUploadOutOfOrder(t *testing.T) {
	t.Parallel()
	const begun = `{"video_id":"15001","upload_session_id":"16001",`
	for name, c := range map[string][2]string{
		"a gap":      {begun + `"start_offset":"5","end_offset":"9"}`, ``},
		"too far":    {begun + `"start_offset":"0","end_offset":"99999999999"}`, ``},
		"nothing":    {begun + `"start_offset":"0","end_offset":"0"}`, ``},
		"below zero": {begun + `"start_offset":"0","end_offset":"-1"}`, ``},
		"once more":  {begun + `"start_offset":"0","end_offset":"9"}`, `{"start_offset":"0","end_offset":"9"}`},
		"no more":    {begun + `"start_offset":"0","end_offset":"9"}`, `{}`},
		"no video":   {`{"upload_session_id":"16001","start_offset":"0","end_offset":"9"}`, ``},
		"no session": {`{"video_id":"15001","start_offset":"0","end_offset":"9"}`, ``},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLibrary(t)
			w := answering(t, func(r *http.Request) string {
				if strings.HasPrefix(r.Header.Get("Content-Type"), "multipart/") {
					_, _, err := r.FormFile("video_file_chunk")
					if err != nil {
						t.Error(err)
					}
					return c[1]
				}
				return c[0]
			})
			n := facebook.New(facebook.Options{VideoHost: w.url})
			d, err := n.Plan(network.Intent{Content: network.Content{Media: film(t, l)}})
			if err != nil {
				t.Fatal(err)
			}
			_, _, err = n.Prepare(t.Context(), network.Grant{Server: w.url, Account: "10001"}, d, l)
			networktest.WantClass(t, err, network.Transient, "")
		})
	}
}

// An upload that the network loses each time is made anew a few times, and then given up for that reason.
func TestPrepareGivesUp(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		video string
		class network.Class
		calls int
	}{
		"expired":      {`{"status":{"video_status":"expired"}}`, network.Transient, 4},
		"gone":         {`{"error":{"code":100,"error_subcode":33}}`, network.Transient, 4},
		"failed":       {`{"status":{"video_status":"error"}}`, network.RejectedMedia, 2},
		"a dead token": {`{"error":{"code":190}}`, network.AuthDead, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLibrary(t)
			w := answering(t, func(r *http.Request) string {
				if r.Method == http.MethodGet {
					return c.video
				}
				return `{"video_id":"15001","upload_session_id":"16001","start_offset":"0","end_offset":"0"}`
			})
			n := facebook.New(facebook.Options{VideoHost: w.url})
			d, err := n.Plan(network.Intent{Content: network.Content{Media: []network.Media{l.add(network.Media{Kind: network.Video, Type: "video/mp4"}, nil)}}})
			calls := 0
			for ; err == nil && calls < 10; calls++ {
				d, _, err = n.Prepare(t.Context(), network.Grant{Server: w.url, Account: "10001"}, d, l)
			}
			if networktest.WantClass(t, err, c.class, ""); calls != c.calls {
				t.Errorf("%d calls", calls)
			}
		})
	}
}

// A look tells what was there when it was asked for, however late its answer is read.
func TestALookIsAsOldAsItsQuestion(t *testing.T) {
	t.Parallel()
	for draft, answer := range map[string]string{readyText: `{"data":[]}`, readyVideo: `{"status":{"video_status":"uploading"}}`} {
		g := network.Grant{Server: answering(t, func(*http.Request) string { return answer }).url, Account: "10001", Access: "token"}
		networktest.StandsStill(t, func(app network.App, tried network.Tried) (network.Verdict, network.Receipt, error) {
			return facebook.New(facebook.Options{App: app}).Resolve(t.Context(), g, network.Draft(draft), tried)
		})
	}
}
