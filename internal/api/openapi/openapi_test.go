package openapi_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pressroom.example/pressroom/internal/api/openapi"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/core/plan"
	"pressroom.example/pressroom/internal/domain/account"
	"pressroom.example/pressroom/internal/domain/analytics"
	"pressroom.example/pressroom/internal/domain/credit"
	"pressroom.example/pressroom/internal/domain/delivery"
	"pressroom.example/pressroom/internal/domain/hashtag/list"
	"pressroom.example/pressroom/internal/domain/hashtag/search"
	"pressroom.example/pressroom/internal/domain/job"
	"pressroom.example/pressroom/internal/domain/media"
	"pressroom.example/pressroom/internal/domain/post"
	"pressroom.example/pressroom/internal/domain/ratelimit"
	"pressroom.example/pressroom/internal/domain/report"
	"pressroom.example/pressroom/internal/domain/team"
	"pressroom.example/pressroom/internal/domain/voice"
	"pressroom.example/pressroom/internal/testkit/must"
)

var update = flag.Bool("update", false, "rewrite api/openapi.json")

var release = flag.Bool("release", false, "record the released document in api/released.txt")

const (
	goldenFile  = "../../../api/openapi.json"
	releaseFile = "../../../api/released.txt"
	apiPath     = "/api/v1"
)

// registry returns the operations of the program. Declaring them needs no working services.
func registry() *operation.Registry {
	return operation.NewRegistry(
		team.Operations(),
		new(credit.Service).Operations(),
		new(ratelimit.FreeCalls).Operations(plan.Default()),
		job.NewStore(nil, map[job.Type]job.Result{
			job.ProfileReport: report.ResultReader(nil), job.HashtagReport: report.ResultReader(nil),
			job.SocialPost: delivery.Result, job.HashtagSearch: search.ResultReader(nil),
			job.MediaImport: media.ImportsAndBatches, job.ContentFetch: media.Downloads(nil),
		}, 0).Operations(),
		new(account.Service).Operations(),
		new(account.Connector).Operations(),
		new(post.Service).Operations(),
		(&media.Service{Options: media.Options{Catalog: plan.Default()}}).Operations(),
		(&report.Service{Options: report.Options{Catalog: plan.Default()}}).Operations(),
		new(analytics.Service).Operations(),
		new(list.Service).Operations(),
		(&search.Service{Options: search.Options{Catalog: plan.Default()}}).Operations(),
		new(voice.Service).Operations(),
	)
}

func build(t *testing.T, version string) []byte {
	t.Helper()
	doc, err := openapi.Build(registry(), openapi.Info{Version: version, ServerURL: apiPath})
	if err != nil {
		t.Fatalf("Build: %v", err)
	}
	return doc
}

// record returns the content of api/released.txt: the version, and a hash of the document without it.
func record(t *testing.T) string {
	t.Helper()
	sum := sha256.Sum256(build(t, ""))
	return openapi.Version + " " + hex.EncodeToString(sum[:]) + "\n"
}

func TestGolden(t *testing.T) {
	doc := build(t, openapi.Version)
	if *release {
		write(t, releaseFile, []byte(record(t)))
	}
	must.NoError(t, checkVersionRaised(string(read(t, releaseFile)), record(t)))
	if *update {
		write(t, goldenFile, doc)
		return
	}
	const remedy = "run: make generate"
	if diff := cmp.Diff(strings.Split(string(read(t, goldenFile)), "\n"), strings.Split(string(doc), "\n")); diff != "" {
		t.Errorf("api/openapi.json is out of date; %s (-file +registry):\n%s", remedy, diff)
	}
}

// checkVersionRaised returns an error if the document changed since the last release but its version did not.
func checkVersionRaised(recorded, now string) error {
	oldVersion, oldHash, _ := strings.Cut(recorded, " ")
	version, hash, _ := strings.Cut(now, " ")
	if oldHash != hash && oldVersion == version {
		return fmt.Errorf("the document changed since version %s was released: raise Version in "+
			"internal/api/openapi/version.go, then run: make generate", version)
	}
	return nil
}

func TestVersionIncreased(t *testing.T) {
	for _, tt := range []struct {
		name, recorded, now string
		wrong               bool
	}{
		{"nothing released", "", "0.1.0 aa\n", false},
		{"nothing changed", "0.1.0 aa\n", "0.1.0 aa\n", false},
		{"changed with its version", "0.1.0 aa\n", "0.2.0 bb\n", false},
		{"changed without its version", "0.1.0 aa\n", "0.1.0 bb\n", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if err := checkVersionRaised(tt.recorded, tt.now); (err != nil) != tt.wrong {
				t.Errorf("checkVersionRaised = %v, want an error: %v", err, tt.wrong)
			}
		})
	}
}

func TestBuildIsDeterministic(t *testing.T) {
	first := build(t, openapi.Version)
	for range 5 {
		if !bytes.Equal(build(t, openapi.Version), first) {
			t.Fatal("two documents of one registry differ")
		}
	}
}

func TestBuildHasEveryPath(t *testing.T) {
	_, err := openapi.Build(operation.NewRegistry([]operation.Operation{toy("GET", "/elsewhere", operation.KeyRejected)}), openapi.Info{})
	if err == nil || !strings.Contains(err.Error(), "/elsewhere") {
		t.Errorf("Build with a path under no heading = %v, want an error that names it", err)
	}
}

func read(t *testing.T, file string) []byte {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil && (!*update || !os.IsNotExist(err)) {
		t.Fatalf("reading a golden file: %v", err)
	}
	return content
}

func write(t *testing.T, file string, content []byte) {
	t.Helper()
	if err := os.WriteFile(file, content, 0o644); err != nil {
		t.Fatalf("writing a golden file: %v", err)
	}
}
