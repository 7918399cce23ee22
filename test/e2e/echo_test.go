package e2e

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/auth/apikey"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/testkit/must"
)

const canary = "zqcanary7391"

// No error response contains the value of an argument, for any argument of any operation.
func TestValuesNotEchoed(t *testing.T) {
	t.Parallel()
	withEnv(t, options{accounts: 1}, func(t *testing.T, w *env) {
		tried := 0
		for _, op := range w.Registry().All() {
			for name := range op.Input.Properties {
				for _, value := range canaries(op, name) {
					args := w.sample(op)
					args[name] = value
					w.mustNotEcho(op.Tool+" "+name, w.rest(full(w), op.Tool, args, ""))
					w.mustNotEcho(op.Tool+" "+name, w.tool(full(w), op.Tool, args, ""))
					tried++
				}
			}
			args := w.sample(op)
			args["zq_unknown"] = canary
			w.mustNotEcho(op.Tool+", unknown argument", w.rest(full(w), op.Tool, args, ""))
			w.mustNotEcho(op.Tool+", unknown argument", w.tool(full(w), op.Tool, args, ""))
			w.mustNotEcho(op.Tool+", its key", w.rest(full(w), op.Tool, w.sample(op), strings.Repeat(canary, 20)))
			w.mustNotEcho(op.Tool+", its key", w.tool(full(w), op.Tool, w.sample(op), strings.Repeat(canary, 20)))
		}
		if tried < 60 {
			t.Errorf("only %d arguments were tested", tried)
		}
	})
}

// canaries returns invalid values of an argument that contain the canary.
func canaries(op *operation.Operation, name string) []any {
	if strings.Contains(op.Path, "{"+name+"}") {
		return []any{canary + "-" + canary, canary + "_" + canary}
	}
	s := op.Input.Properties[name]
	if name == "query" || name == "name" { // every short text is valid
		return []any{strings.Repeat(canary, 1000)}
	}
	if name == "caption" || name == "cursor" {
		return []any{strings.Repeat(canary, 1000), []any{canary}, map[string]any{canary: canary}}
	}
	if name == "files" {
		return []any{
			canary, []any{map[string]any{"sha256": canary, "size_bytes": 1}},
			[]any{map[string]any{"zq_unknown": canary}}, []any{map[string]any{"size_bytes": canary}},
		}
	}
	if s.Type == "array" {
		return []any{canary, []any{canary}, map[string]any{"a": canary}}
	}
	return []any{canary, []any{canary}}
}

// sample returns well-formed arguments of an operation. Their items do not exist.
func (w *env) sample(op *operation.Operation) map[string]any {
	args := map[string]any{}
	for _, name := range op.Input.Required {
		switch name {
		case "id", "post_id":
			args[name] = noSuchID
			if op.Tool == "get_brand_voice" {
				args[name] = 999999999
			}
		case "job_id":
			args[name] = "social_post:" + noSuchID
		case "account_ids":
			args[name] = []int64{999999999}
		case "scheduled_at":
			args[name] = "2001-01-01T00:00Z"
		case "platform":
			args[name] = "instagram"
		case "type":
			args[name] = "profile"
			if op.Tool == "download_profile_media" {
				args[name] = "playlists" // a type that Instagram lacks
			}
		case "subject":
			args[name] = "two words" // not a valid name
		case "enabled":
			args[name] = true
		case "list_id":
			args[name] = 999999999
		case "hashtags":
			args[name] = []string{"sample"}
		case "name":
			args[name] = "two\nlines" // not a valid name of a list
		case "query":
			args[name] = "?!" // contains no word
		case "account_id":
			args[name] = 999999999
		case "url":
			args[name] = "https://files.harbour.example/a.jpg"
		default:
			args[name] = "sample"
		}
	}
	if op.Tool == "import_media" || op.Tool == "create_uploads" {
		args["folder_id"] = 999999999
	}
	return args
}

func (w *env) mustNotEcho(what string, got answer) {
	w.t.Helper()
	if got.status < 400 || got.status >= 500 {
		w.t.Errorf("%s: not rejected: %d %s", what, got.status, got.raw)
	}
	if bytes.Contains(bytes.ToLower(got.raw), []byte(canary)) || strings.Contains(strings.ToLower(fmt.Sprint(got.header)), canary) {
		w.t.Errorf("%s: the response contains the input: %s\n%v", what, got.raw, got.header)
	}
}

// No response contains the value of a request header.
func TestHeadersNotEchoed(t *testing.T) {
	t.Parallel()
	withEnv(t, options{accounts: 1}, func(t *testing.T, w *env) {
		for name, value := range map[string]string{
			"Authorization": "Bearer " + canary, "Content-Type": canary + "/json", "X-Request-Id": canary,
			"Origin": "https://" + canary, "User-Agent": canary,
			"Accept": canary, "Cookie": canary + "=1", "X-Forwarded-Host": canary, "Idempotency-Key": canary + "\t",
			"If-None-Match": canary,
		} {
			header := bearer(full(w))
			header["Content-Type"] = []string{"application/json"}
			header[name] = []string{value}
			w.mustNotEcho(name, w.raw(http.MethodPost, w.base+"/posts", header, []byte(`{"caption":"x","account_ids":[999999999]}`)))
		}
		w.mustNotEcho("the address", w.raw(http.MethodGet, w.base+"/"+canary, nil, nil))
		w.mustNotEcho("the query", w.raw(http.MethodGet, w.base+"/posts?limit="+canary+"&"+canary+"[]=1", bearer(full(w)), nil))
		w.mustNotEcho("the method", w.raw(strings.ToUpper(canary), w.base+"/posts", bearer(full(w)), nil))
		// Absolute links contain the public URL, regardless of the Host header.
		req := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, w.base+"/me", nil))(t)
		req.Host, req.Header = canary+".example", bearer(full(w))
		got := must.Get(w.send(req))(t)
		if got.mustBe(t, http.StatusOK); bytes.Contains(got.raw, []byte(canary)) {
			t.Errorf("the response contains the Host header: %s", got.raw)
		}
	})
}

// A secret in an argument is rejected. The response does not contain it, and it is not stored.
func TestSecretsNotStored(t *testing.T) {
	t.Parallel()
	withEnv(t, options{accounts: 1}, func(t *testing.T, w *env) {
		id := w.draft("a draft")
		list := w.addHashtagList(nil)
		key := apikey.New(apikey.APIKey)
		for name, args := range map[string]map[string]any{
			"create_post":         {"caption": "my key is " + key, "account_ids": w.accounts},
			"update_post":         {"id": id, "caption": key},
			"schedule_post":       {"post_id": id, "scheduled_at": key},
			"retry_post":          {"post_id": id, "account_ids": []any{key}},
			"cancel_post":         {"post_id": id, "why": []any{map[string]any{"x": key}}},
			"publish_post":        {"post_id": id, key: 1},
			"import_media":        {"url": "https://files.harbour.example/" + key},
			"create_hashtag_list": {"name": key},
			"add_hashtags":        {"list_id": list, "hashtags": []any{"harbour", key}},
			"create_uploads":      {"files": []any{map[string]any{"sha256": strings.Repeat("0", 64), "size_bytes": 1, "file_name": key}}},
		} {
			for _, got := range []answer{w.rest(full(w), name, args, ""), w.tool(full(w), name, args, "")} {
				got.mustReject(t, http.StatusUnprocessableEntity, "validation_failed", "secret_in_argument")
				if bytes.Contains(got.raw, []byte(key)) {
					t.Errorf("%s: the response contains the key: %s", name, got.raw)
				}
			}
		}
		for _, query := range footprintOf {
			for row := range w.texts(query, w.team) {
				if strings.Contains(row, key) {
					t.Errorf("the key is stored: %s", row)
				}
			}
		}
		w.post(id).mustHave(t, map[string]any{"data.status": "draft", "data.caption": "a draft"})
		w.full("list_hashtag_lists", map[string]any{"scope": "own"}).
			mustHave(t, map[string]any{"data.hashtag_lists.0.id": list, "data.hashtag_lists.0.size": 0, "data.hashtag_lists.1": nil})
	})
}
