// Package storm injects faults into servers while people, API clients and assistants use them. It then compares the
// clients' responses with the final state.
package storm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/auth/tokencrypt"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/plan"
	"pressroom.example/pressroom/internal/domain/team"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/sandbox"
	"pressroom.example/pressroom/internal/server"
	"pressroom.example/pressroom/internal/testkit/fixture"
	"pressroom.example/pressroom/internal/testkit/must"
	"pressroom.example/pressroom/internal/testkit/postgres"
	"pressroom.example/pressroom/internal/testkit/program"
	"pressroom.example/pressroom/internal/testkit/redis"
)

// site is a database with its servers, the sandbox networks, and the teams that use them.
type site struct {
	t    *testing.T
	book *book
	dir  string // world-readable folder

	began time.Time

	binary, database, sealing, blobs, catalog, settings string

	redis     *redis.Server
	postgres  *postgres.Server // nil with SQLite
	disk      disk
	box       fixture.Sandbox
	transport *faultyTransport
	front     *httptest.Server
	gate      *gate
	admin     *server.Server // for the operator's actions outside the API
	db        *db.DB
	nodes     []*node
	teams     []*crew

	mu          sync.Mutex
	faultRandom *rand.Rand // random numbers of the faults
}

// crew is a team with its people, keys, accounts and media.
type crew struct {
	team.Team

	owner     team.Person
	keys      []*apiKey
	limit     int64 // daily credits; -1 means unlimited
	granted   int64
	freeCalls int64 // free calls per day
	accounts  map[string]int64
	person    string // person on the networks who owns the accounts
	images    []int64
	video     int64
}

const (
	password   = "correct horse battery"
	timezone   = "Europe/Berlin"
	freePier   = 120     // daily free calls of the team that exceeds them
	manyCalls  = 100_000 // more calls than a storm makes per minute
	networkSet = `"settled": "30s"`
)

// newSite creates a site with one node on SQLite or two nodes on PostgreSQL.
func newSite(t *testing.T, onPostgres bool, seed uint64) *site {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "pressroom-storm-") //nolint:usetesting // readable by PostgreSQL's user
	if err != nil {
		dir, err = os.MkdirTemp("", "pressroom-storm-") //nolint:usetesting // as above
	}
	must.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	must.NoError(t, os.Chmod(dir, 0o755))
	s := &site{
		t: t, began: time.Now(), book: newBook(), dir: dir, faultRandom: rand.New(rand.NewPCG(seed, 1)),
		disk: newDisk(t, dir), redis: redis.Start(t),
	}
	s.binary = program.Build(t, program.Pressroom, program.CrashPoints)
	s.database, s.blobs = "sqlite:"+filepath.Join(dir, "press.db"), "file:"+filepath.Join(dir, "media")
	if onPostgres {
		s.withDisk(func() { s.postgres = postgres.Start(t) })
		s.database = s.postgres.Create("press")
	}
	s.sealing = must.Get(tokencrypt.NewKey())(t)
	s.openNetworks()
	s.gate = must.Get(newGate(s.dice))(t)
	t.Cleanup(func() { _ = s.gate.Close() })
	s.open()
	return s
}

// zone returns the time zone of the teams.
func zone() *time.Location {
	place, err := time.LoadLocation(timezone)
	if err != nil {
		panic(err) // All systems with Go have it.
	}
	return place
}

// days returns the number of days on which the storm ran. Daily limits apply to each day.
func (s *site) days() int {
	last := time.Now().Add(2 * stuckAfter).In(zone()).Format(time.DateOnly) // The programs' clocks may be ahead.
	n := 1
	for at := s.began.In(zone()); at.Format(time.DateOnly) != last; at = at.AddDate(0, 0, 1) {
		n++
	}
	return n
}

// dice returns a random number below n.
func (s *site) dice(n int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.faultRandom.IntN(n)
}

// withDisk runs start with the disk's environment variables, for programs that inherit the environment.
func (s *site) withDisk(start func()) {
	for _, setting := range s.disk.env() {
		name, value, _ := strings.Cut(setting, "=")
		must.NoError(s.t, os.Setenv(name, value))
		defer func() { _ = os.Unsetenv(name) }()
	}
	start()
}

func (s *site) openNetworks() {
	s.t.Helper()
	s.box.Server = must.Get(sandbox.Open(filepath.Join(s.dir, "sandbox"),
		sandbox.Options{ProcessingTime: 100 * time.Millisecond}))(s.t)
	s.transport = newFaultyTransport(s.box.Handler(), s.dice)
	s.front = httptest.NewUnstartedServer(readFirst(s.transport))
	s.front.Config.ReadTimeout = arrivesWithin
	s.front.Start()
	s.box.URL = s.front.URL
	s.t.Cleanup(func() {
		close(s.transport.closing)
		s.front.Close()
		s.transport.lateRequests.Wait()
		must.NoError(s.t, s.box.Close())
	})
	hurried := strings.ReplaceAll(server.SandboxSettings(s.front.URL), networkSet,
		fmt.Sprintf(`"timeout": %q, "settled": %q`, networkTimeout, networkSettled))
	s.settings = filepath.Join(s.dir, "networks.json")
	must.NoError(s.t, os.WriteFile(s.settings, []byte(hurried), 0o600))
}

// generousCatalog returns plans with limits that rarely delay clients.
func generousCatalog() plan.Catalog {
	t := plan.Default().ScaleRates(100_000)
	t.Limits.JobsInFlight, t.Limits.OpenUploadBatches, t.Limits.OpenUploadLinks, t.Limits.RefreshMinutes = 1000, 10_000, 50_000, 1
	for i := range t.Plans {
		p := &t.Plans[i]
		p.FreeCallsPerDay, p.PostsPerMonth = 100*manyCalls, plan.Unlimited
		p.DailyCredits, p.HashtagLists = plan.Unlimited, plan.Unlimited
		if p.ID == "creator" {
			p.FreeCallsPerDay = freePier
		}
	}
	return t
}

// open prepares the database and creates the teams.
func (s *site) open() {
	s.t.Helper()
	ctx := context.Background()
	chosen := generousCatalog()
	raw := must.Get(json.Marshal(chosen))(s.t)
	s.catalog = filepath.Join(s.dir, "plans.json")
	must.NoError(s.t, os.WriteFile(s.catalog, raw, 0o600))
	networks := server.NetworkSettings{Secret: func(string) string { return "sandbox" }}
	settings := must.Get(os.ReadFile(s.settings))(s.t)
	must.NoError(s.t, json.Unmarshal(settings, &networks.ByPlatform))
	s.admin = must.Get(server.Open(ctx, server.Config{
		Version: "test", PublicURL: s.gate.url(), Database: s.database, SealingKey: s.sealing, Blobs: s.blobs,
		Role: server.RoleAPI, Workers: 1, Catalog: &chosen,
		BlueskyServers: []string{s.front.URL + "/bluesky"}, Networks: networks, Log: slog.New(slog.DiscardHandler),
	}))(s.t)
	s.db = must.Get(db.Open(ctx, s.database, db.Options{}))(s.t)
	s.t.Cleanup(func() { _, _ = s.db.Close(), s.admin.Close() })
	s.addTeam("Harbour", "harbour.coffee", "agency", -1, 1_000_000, -1, "full", "full", "drafts", "read_only")
	s.addTeam("Quay", "mira.keller", "team", 150, 1_000_000, 60, "full", "full", "drafts", "read_only")
	s.addTeam("Pier", "", "creator", -1, 40, -1, "full", "read_only")
	s.teams[2].freeCalls = freePier
}

func (s *site) addTeam(name, person, plan string, limit, credits, ofKey int64, levels ...string) {
	s.t.Helper()
	ctx := context.Background()
	owner := must.Get(s.admin.Teams.AddPerson(ctx, name+" owner", strings.ToLower(name)+"@harbour.example", password))(s.t)
	made := must.Get(s.admin.Teams.AddTeam(ctx, team.Team{Name: name, Timezone: timezone, Language: "en", Plan: plan}, owner.ID))(s.t)
	c := &crew{Team: made, owner: owner, limit: limit, granted: credits, person: person, accounts: map[string]int64{}}
	if limit >= 0 {
		must.NoError(s.t, s.admin.Teams.SetDailyCredits(ctx, made.ID, &limit))
	}
	must.Get(s.admin.Credits.Grant(ctx, made.ID, credits, "storm", ""))(s.t)
	for n, level := range levels {
		wanted := team.NewKey{Team: made.ID, Name: fmt.Sprint("client ", n), Level: access.Level(level)}
		if ofKey >= 0 {
			wanted.DailyCredits = &ofKey
		}
		k, value, err := s.admin.Teams.AddKey(ctx, wanted)
		must.NoError(s.t, err)
		c.keys = append(c.keys, &apiKey{k.ID, level, value, ofKey})
	}
	s.teams = append(s.teams, c)
}

// addContent connects the accounts and fills the libraries before faults are injected.
func (s *site) addContent() {
	s.t.Helper()
	clip := must.Get(os.ReadFile("../networks/testdata/clip.mp4"))(s.t)
	for _, c := range s.teams {
		if c.person == "" {
			continue
		}
		for _, platform := range s.admin.Accounts.Platforms() {
			id := must.Get(s.connect(c, platform, 0))(s.t)
			c.accounts[platform] = id
		}
		for n := range 2 {
			c.images = append(c.images, s.add(c, fmt.Sprintf("picture %d.jpg", n), picture(1080, uint64(n))))
		}
		c.video = s.add(c, "clip.mp4", clip)
	}
}

func (s *site) add(c *crew, name string, raw []byte) int64 {
	s.t.Helper()
	return fixture.Upload(s.t, s.admin, c.ID, name, raw)
}

// trailer is appended to pictures. The library removes it.
const trailer = "storm "

// picture returns a JPEG that is unique to its seed.
func picture(size int, seed uint64) []byte {
	dice := rand.New(rand.NewPCG(seed, 7))
	img := image.NewRGBA(image.Rect(0, 0, size, size))
	shade := color.RGBA{uint8(dice.IntN(256)), uint8(dice.IntN(256)), uint8(dice.IntN(256)), 255}
	for x := range size {
		for y := range size {
			img.SetRGBA(x, y, color.RGBA{shade.R, shade.G + uint8(x), shade.B + uint8(y), 255})
		}
	}
	var out bytes.Buffer
	if err := jpeg.Encode(&out, img, nil); err != nil {
		panic(err) // Encoding cannot fail.
	}
	return append(out.Bytes(), fmt.Sprint(trailer, seed)...) // The library removes bytes after the image.
}

// connect connects or reconnects an account as a person does: with the API's connect link and the network's consent
// page.
func (s *site) connect(c *crew, platform string, again int64) (int64, error) {
	ctx, cancel := context.WithTimeout(context.Background(), longestAnswer)
	defer cancel()
	if platform == "bluesky" {
		handle := strings.ReplaceAll(c.person, ".", "-") + ".test"
		return s.box.ConnectBluesky(ctx, s.admin, c.ID, handle)
	}
	asked := url.Values{"platform": {platform}}
	if again != 0 {
		asked = url.Values{"account_id": {fmt.Sprint(again)}}
	}
	link, err := s.client(ctx, c, 0).ask(ctx, call{method: http.MethodGet, path: "/connect-link?" + asked.Encode(), key: c.keys[0]})
	if err != nil || !link.ok() {
		return 0, errors.Join(err, fmt.Errorf("requesting a connect link: %s", link.outcome()))
	}
	var data struct{ URL string }
	link.into(&data)
	return fixture.ConnectByConsent(ctx, s.admin, c.owner.ID, platform, data.URL, c.person)
}

// client returns a client of a team.
func (s *site) client(calls context.Context, c *crew, seed uint64) *client {
	jar, err := cookiejar.New(nil)
	if err != nil {
		panic(err) // It cannot fail.
	}
	return &client{site: s, team: c, dice: rand.New(rand.NewPCG(seed, 2)), calls: calls,
		http: &http.Client{
			Jar: jar, Timeout: longestAnswer,
			Transport: &http.Transport{MaxIdleConnsPerHost: 4, IdleConnTimeout: time.Second, DisableCompression: true},
		}}
}

// networkPosts returns the posts on the networks, by platform.
func (s *site) networkPosts() map[string][]fixture.Post {
	held := map[string][]fixture.Post{}
	for _, p := range fixture.Posts(s.t, s.front.URL, "", "") {
		held[p.Platform] = append(held[p.Platform], p)
	}
	return held
}

// start starts the programs and waits until they are ready.
func (s *site) start() {
	s.t.Helper()
	if s.postgres == nil {
		s.nodes = []*node{s.newNode("node", "all")}
	} else {
		s.nodes = []*node{s.newNode("first node", "all", "api"), s.newNode("second node", "worker")}
	}
	s.t.Cleanup(func() {
		for _, n := range s.nodes {
			n.stop()
		}
	})
	s.wait("the programs to answer", time.Minute, func() bool {
		return !slices.ContainsFunc(s.nodes, func(n *node) bool { return !n.isReady() })
	})
}

// wait waits for a condition, and fails on timeout.
func (s *site) wait(what string, most time.Duration, done func() bool) {
	s.t.Helper()
	over := time.After(most)
	tick := time.NewTicker(answersEvery)
	defer tick.Stop()
	for !done() {
		select {
		case <-over:
			s.logNodes()
			s.t.Fatalf("waited %v for %s", most, what)
		case <-tick.C:
		}
	}
}

// logNodes logs the last output of the programs.
func (s *site) logNodes() {
	for _, n := range s.nodes {
		said := n.log.String()
		s.t.Logf("last output of %s: %s", n.name, said[max(0, len(said)-3000):])
	}
}
