// Command descriptions extracts the calls that pressroom's adapters use from the API descriptions that the networks
// publish. It keeps paths, parameters, types and enumerations, and omits prose. The tests of the adapters compare
// requests with the result. The command downloads the API descriptions or reads them from a folder.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"time"
)

// source is a published API description.
type source struct {
	file   string // name of the original file in the folder
	url    string
	target string // name of the file to write
	filter func(original any) (any, error)
}

const (
	githubRaw   = "https://raw.githubusercontent.com/"
	googleRaw   = githubRaw + "googleapis/google-api-go-client/main/"
	atprotoRaw  = githubRaw + "bluesky-social/atproto/main/lexicons/"
	metaRaw     = githubRaw + "facebook/facebook-business-sdk-codegen/main/api_specs/specs/"
	threadsRaw  = githubRaw + "fbsamples/threads_api/main/postman/"
	timeout     = 5 * time.Minute
	maxOriginal = 64 << 20
)

var sources = []source{
	{"pinterest-v5-openapi.json", githubRaw + "pinterest/api-description/main/v5/openapi.json", "pinterest.json", keepPinterest},
	{"x-v2-openapi.json", githubRaw + "xdevplatform/docs/main/openapi.json", "x.json", keepX},
	{"youtube-v3-discovery.json", googleRaw + "youtube/v3/youtube-api.json", "youtube.json", keepYouTube},
	{
		"youtube-analytics-v2-discovery.json", googleRaw + "youtubeanalytics/v2/youtubeanalytics-api.json",
		"youtube-analytics.json", keepAnalytics,
	},
	{
		"threads-postman-collection.json", threadsRaw + "threads-api.postman_collection.json", "threads.json", keepThreads,
	},
}

func main() {
	from := flag.String("from", "", "folder with the original descriptions; by default, they are downloaded")
	out := flag.String("out", "internal/network/networktest/descriptions", "folder to write to")
	flag.Parse()
	if err := run(*from, *out); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(from, out string) error {
	fetch := reader{folder: from}
	for _, s := range sources {
		original, err := fetch.json(s.file, s.url)
		if err != nil {
			return err
		}
		kept, err := s.filter(original)
		if err != nil {
			return fmt.Errorf("%s: %w", s.file, err)
		}
		if err := write(out, s.target, kept); err != nil {
			return err
		}
	}
	meta, err := keepMeta(fetch)
	if err != nil {
		return err
	}
	if err := write(out, "meta.json", meta); err != nil {
		return err
	}
	lexicons, err := keepLexicons(fetch)
	if err != nil {
		return err
	}
	if err := write(out, "lexicons.json", lexicons); err != nil {
		return err
	}
	cases, err := fetch.bytes("twitter-text-validate.yml", githubRaw+"twitter/twitter-text/master/conformance/validate.yml")
	if err != nil {
		return err
	}
	return save(filepath.Join(out, "twitter-text-validate.yml"), cases)
}

func write(folder, name string, value any) error {
	encoded, err := json.MarshalIndent(value, "", " ")
	if err != nil {
		return fmt.Errorf("encoding %s: %w", name, err)
	}
	return save(filepath.Join(folder, name), append(encoded, '\n'))
}

func save(path string, content []byte) error {
	if err := os.WriteFile(path, content, 0o644); err != nil { //nolint:gosec // part of the repository
		return fmt.Errorf("saving a description: %w", err)
	}
	return nil
}

// reader reads original descriptions from a folder, or downloads them if folder is empty.
type reader struct{ folder string }

func (r reader) json(file, url string) (any, error) {
	content, err := r.bytes(file, url)
	if err != nil {
		return nil, err
	}
	var original any
	if err := json.Unmarshal(content, &original); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return original, nil
}

func (r reader) bytes(file, url string) ([]byte, error) {
	if r.folder != "" {
		content, err := os.ReadFile(filepath.Join(r.folder, filepath.FromSlash(file)))
		if err != nil {
			return nil, fmt.Errorf("reading an original description: %w", err)
		}
		return content, nil
	}
	client := &http.Client{Timeout: timeout}
	response, err := client.Get(url) //nolint:noctx // the client has a timeout
	if err != nil {
		return nil, fmt.Errorf("downloading: %w", err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("downloading %s: %s", url, response.Status)
	}
	content, err := io.ReadAll(io.LimitReader(response.Body, maxOriginal+1))
	if err == nil && len(content) > maxOriginal {
		err = errors.New("the description is too large")
	}
	if err != nil {
		return nil, fmt.Errorf("downloading %s: %w", url, err)
	}
	return content, nil
}
