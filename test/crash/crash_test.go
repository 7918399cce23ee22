package crash

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/auth/tokencrypt"
	"pressroom.example/pressroom/internal/core/plan"
	"pressroom.example/pressroom/internal/testkit"
	_ "pressroom.example/pressroom/internal/testkit/fixture" // creates the server's tables
	"pressroom.example/pressroom/internal/testkit/must"
	"pressroom.example/pressroom/internal/testkit/pds"
	"pressroom.example/pressroom/internal/testkit/program"
)

// within is the time limit from the kill until the job has ended.
const within = 60 * time.Second

// env has the program and the network account that all runs share.
type env struct {
	binary, sealingKey string
	blobs              string // the blob store
	catalog            string // a file of plans with high rate limits
	server             *pds.Server
	handle, did        string
	password           string
}

// kind is how a post is published.
type kind string

const (
	immediate kind = "immediate"
	scheduled kind = "scheduled"
	thread    kind = "thread" // immediately, with a second part
)

// seeded is a database with a team, its key and the account. Each run uses a copy.
type seeded struct {
	url     string
	key     string
	account int64
}

// The process is killed at every step of publishing a post, and restarted. The post is published once and the job
// reports success. A client that repeats its request with its idempotency key gets the first result.
func TestPostKilledAtEveryStep(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a minute")
	}
	c := newEnv(t)
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		s := c.seed(t, url)
		plans := [][]string{}
		for _, point := range c.points(t, s, immediate) {
			plans = append(plans, []string{point})
		}
		// Kill the process again, during the lookup of the first attempt and during the second attempt.
		for _, second := range []string{
			"before resolve call", "after resolve call", "before delivery.resolve", "after delivery.resolve",
			"before delivery.published", "after delivery.published",
		} {
			plans = append(plans, []string{"after commit call", second})
		}
		for _, second := range []string{"before commit call", "after commit call", "before delivery.later", "after delivery.later"} {
			plans = append(plans, []string{"before commit call", second})
		}
		c.storm(t, s, plans, immediate)
		// A scheduled post is published by the process that is running when it is due.
		plans = nil
		for _, point := range c.points(t, s, scheduled) {
			if strings.Contains(point, " replay.once") || strings.Contains(point, " post.release") ||
				strings.Contains(point, " delivery.claim") || strings.Contains(point, " commit call") {
				plans = append(plans, []string{point})
			}
		}
		c.storm(t, s, plans, scheduled)
		// The second part of a thread has a delivery of its own.
		plans = nil
		for _, point := range c.points(t, s, thread) {
			if strings.HasSuffix(point, "#2") && (strings.Contains(point, " delivery.") || strings.HasSuffix(point, " call#2")) ||
				strings.HasSuffix(point, " delivery.published#1") {
				plans = append(plans, []string{point})
			}
		}
		plans = append(plans, []string{"after commit call#2", "after resolve call"},
			[]string{"after delivery.published", "before commit call"})
		c.storm(t, s, plans, thread)
	})
}

func newEnv(t *testing.T) *env {
	t.Helper()
	server := pds.Start(t)
	key := must.Get(tokencrypt.NewKey())(t)
	c := &env{
		binary: program.Build(t, program.Pressroom, program.CrashPoints), sealingKey: key, blobs: testkit.Blobs(t), server: server,
		catalog: filepath.Join(t.TempDir(), "plans.json"),
	}
	raw := must.Get(json.Marshal(plan.Default().ScaleRates(1000)))(t)
	must.NoError(t, os.WriteFile(c.catalog, raw, 0o600))
	c.handle, c.did, c.password = server.NewAccount(t)
	return c
}

func (c *env) seed(t *testing.T, url string) seeded {
	t.Helper()
	owner := c.admin(t, url, "", "people", "add", "--name", "Ada", "--email", "ada@example.com")
	team := c.admin(t, url, "", "teams", "add", "--name", "Harbour", "--owner", fmt.Sprint(owner["id"]))
	key := c.admin(t, url, "", "keys", "add", "--team", fmt.Sprint(team["id"]), "--level", "full")
	account := c.admin(t, url, c.password+"\n", "accounts", "connect", "--team", fmt.Sprint(team["id"]), "--server",
		c.server.URL, "--identifier", c.handle)
	return seeded{url, key["key"].(string), int64(account["id"].(float64))}
}

// points returns the steps of a publication, as recorded in an uninterrupted run.
func (c *env) points(t *testing.T, s seeded, of kind) []string {
	t.Helper()
	trace := filepath.Join(t.TempDir(), "trace")
	must.NoError(t, c.run(t, s, "trace", nil, trace, of))
	raw := must.Get(os.ReadFile(trace))(t)
	seen, points := map[string]int{}, []string{}
	for name := range strings.Lines(string(raw)) {
		name = strings.TrimSpace(name)
		seen[name]++
		_, what, _ := strings.Cut(name, " ")
		ours := strings.HasPrefix(what, "post.") || strings.HasPrefix(what, "delivery.") || strings.HasPrefix(what,
			"media") || what == "replay.once" || strings.HasSuffix(what, " call")
		idle := what == "delivery.heartbeat" || what == "delivery.renew" || what == "delivery.wake"
		if ours && !idle {
			points = append(points, fmt.Sprintf("%s#%d", name, seen[name]))
		}
	}
	for _, needed := range []string{
		"before replay.once#2", "before media put#1", "after media put#1", "before media.add#1", "after media.add#1",
		"after delivery.claim#1", "before prepare call#1", "after delivery.commit#1", "before commit call#1",
		"after commit call#1", "after delivery.published#1",
	} {
		if !strings.Contains(strings.Join(points, "\n"), needed) {
			t.Fatalf("step %q was not reached, only %v", needed, points)
		}
	}
	return points
}

// storm runs every plan, several concurrently, because a run mostly waits.
func (c *env) storm(t *testing.T, s seeded, plans [][]string, of kind) {
	t.Helper()
	var wg sync.WaitGroup
	slots := make(chan struct{}, 6)
	for i, plan := range plans {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			if err := c.run(t, s, fmt.Sprintf("run %d", i), plan, "", of); err != nil {
				t.Errorf("killed %s: %v", strings.Join(plan, ", then "), err)
			}
		})
	}
	wg.Wait()
	t.Logf("%d runs", len(plans))
}

// run publishes one post while the process is killed at each point of a plan in turn.
func (c *env) run(t *testing.T, s seeded, name string, plan []string, trace string, of kind) error {
	database, err := testkit.Copy(t, s.url)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), within+10*time.Second)
	defer cancel()
	text := fmt.Sprintf("%s of %s on %s (%s)", name, t.Name(), strings.Join(plan, ", "), of)
	story := &client{env: c, seeded: s, text: text, id: fmt.Sprint(time.Now().UnixNano(), name), kind: of}
	for _, at := range append(plan, "") {
		p, err := c.launch(ctx, database, at, trace)
		if err != nil {
			return err
		}
		ended := story.runUntilKilled(ctx, p)
		p.Kill()
		if at == "" && !ended {
			return fmt.Errorf("the job did not end: %s\n%s", story.last, p.Log)
		}
	}
	return story.check(t)
}

// client is a program that publishes a post and repeats each request until it is answered.
type client struct {
	*env
	seeded
	kind      kind
	at        time.Time // the chosen time
	scheduled bool      // the server has accepted the schedule
	text, id  string
	image     int64 // media ID of the post's image, once uploaded
	post, job string
	last      string
}

// runUntilKilled continues until the process dies. It reports whether the job has ended.
func (k *client) runUntilKilled(ctx context.Context, p *process) bool {
	return p.poll(ctx, func() bool {
		switch {
		case k.image == 0:
			k.image = k.upload(ctx, p)
		case k.post == "":
			body := map[string]any{"caption": k.text, "account_ids": []int64{k.account}, "media_ids": []int64{k.image}}
			if k.kind == thread {
				body["thread"] = []map[string]any{{"caption": k.partText()}}
			}
			k.post = k.callAPI(ctx, p, "POST", "/posts", body, "id")
		case k.kind == scheduled && !k.scheduled:
			k.scheduled = k.schedule(ctx, p)
		case k.kind == scheduled && !k.hasEnded(ctx, p):
			return false
		case k.job == "": // for a submitted post, the answer is its job
			k.job = k.callAPI(ctx, p, "POST", "/posts/"+k.post+"/publish", map[string]any{}, "job_id")
		default:
			status, body, err := p.call(ctx, k.key, "GET", "/jobs/"+k.job, nil, "")
			k.last = fmt.Sprint(status, body, err)
			data, _ := body["data"].(map[string]any)
			return data["finished"] == true
		}
		return false
	})
}

// upload adds the post's picture to the library and returns its ID, or 0. It always opens the batch with the same
// idempotency key. A repeat then shows whether the file has arrived and where to send it.
func (k *client) upload(ctx context.Context, p *process) int64 {
	raw := picture(k.text)
	file := map[string]any{"sha256": fmt.Sprintf("%x", sha256.Sum256(raw)), "size_bytes": len(raw), "mime_type": "image/png"}
	_, answer, err := p.call(ctx, k.key, "POST", "/uploads", map[string]any{"files": []any{file}}, k.id+"upload")
	k.last = fmt.Sprint(answer, err)
	link := struct {
		Data struct {
			Upload struct {
				Uploads []struct {
					URL     string            `json:"url"`
					Headers map[string]string `json:"headers"`
					MediaID int64             `json:"media_id"`
				} `json:"uploads"`
			} `json:"upload"`
		} `json:"data"`
	}{}
	if again, err := json.Marshal(answer); err != nil || json.Unmarshal(again, &link) != nil || len(link.Data.Upload.Uploads) != 1 {
		return 0
	}
	if entry := link.Data.Upload.Uploads[0]; entry.MediaID == 0 {
		p.put(ctx, entry.URL, entry.Headers["Authorization"], raw)
		return 0 // the next call finds out
	}
	return link.Data.Upload.Uploads[0].MediaID
}

// picture returns a small unique image.
func picture(text string) []byte {
	sum := sha256.Sum256([]byte(text))
	img := image.NewNRGBA(image.Rect(0, 0, 16, 16))
	for i := range img.Pix {
		img.Pix[i] = sum[i%len(sum)] | 0x80
	}
	var out bytes.Buffer
	_ = png.Encode(&out, img) // into memory
	return out.Bytes()
}

// schedule schedules a post late enough for a kill and restart before its due time. If a request was lost and that
// time has passed, it chooses a later time.
func (k *client) schedule(ctx context.Context, p *process) bool {
	if k.at.IsZero() {
		k.at = time.Now().Add(5 * time.Second)
	}
	when := k.at.Format(time.RFC3339Nano)
	status, answer, err := p.call(ctx, k.key, "POST", "/posts/"+k.post+"/schedule", map[string]any{"scheduled_at": when}, k.id+when)
	k.last = fmt.Sprint(status, answer, err)
	if status == http.StatusBadRequest || status == http.StatusUnprocessableEntity {
		k.at = time.Time{}
	}
	return status == http.StatusOK
}

// hasEnded reports whether publishing a scheduled post has started and ended.
func (k *client) hasEnded(ctx context.Context, p *process) bool {
	_, body, err := p.call(ctx, k.key, "GET", "/posts/"+k.post, nil, "")
	k.last = fmt.Sprint(body, err)
	data, _ := body["data"].(map[string]any)
	return data["status"] != nil && data["status"] != "scheduled" && data["status"] != "processing"
}

func (k *client) callAPI(ctx context.Context, p *process, method, path string, body any, member string) string {
	_, answer, err := p.call(ctx, k.key, method, path, body, k.id+member)
	k.last = fmt.Sprint(answer, err)
	data, _ := answer["data"].(map[string]any)
	text, _ := data[member].(string)
	return text
}

// partText is the text of the second part of a thread.
func (k *client) partText() string { return "Second part. " + k.text }

// record is a post as the network stores it.
type record struct {
	Text  string
	Reply struct {
		Root, Parent struct{ URI, CID string }
	}
}

// check compares the network's posts with the job.
func (k *client) check(t *testing.T) error {
	var roots, parts []pds.Post
	var reply record
	for _, p := range k.server.Posts(t, k.did) {
		var r record
		must.NoError(t, json.Unmarshal(p.Value, &r))
		switch r.Text {
		case k.text:
			roots = append(roots, p)
			if strings.Count(string(p.Value), `"image":{`) != 1 {
				return fmt.Errorf("the record has no image: %s", p.Value)
			}
		case k.partText():
			parts, reply = append(parts, p), r
		}
	}
	if len(roots) != 1 {
		return fmt.Errorf("%d records exist: %s", len(roots), k.last)
	}
	if k.kind == thread {
		root := roots[0]
		if len(parts) != 1 || reply.Reply.Root.URI != root.URI || reply.Reply.Parent.URI != root.URI || reply.Reply.Parent.CID != root.CID {
			return fmt.Errorf("%d second parts exist, reply %+v: %s", len(parts), reply, k.last)
		}
	}
	if !strings.Contains(k.last, "state:succeeded") || !strings.Contains(k.last, "state:published") {
		return fmt.Errorf("one record exists, but the job is: %s", k.last)
	}
	return nil
}
