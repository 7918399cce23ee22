package sandbox

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/testkit/must"
	"pressroom.example/pressroom/internal/testkit/pds"
)

// rawCall is a call for which the genuine server and the sandbox must return the same status, error and message. In
// paths and bodies DID, KEY and CID stand for the account's ID, a record key and the ID of the last stored content;
// BLOB and FILE for the object and the ID of the last uploaded file.
type rawCall struct {
	name, method, token, body string
	kind                      string // Content-Type; by default JSON
	loose                     bool   // the messages may differ
}

const (
	putMethod = "POST com.atproto.repo.putRecord"
	typical   = `"$type":"app.bsky.feed.post","text":"hi","createdAt":"2026-01-01T00:00:00.000Z"`
)

func putBody(rkey, record, rest string) string {
	return `{"repo":"DID","collection":"app.bsky.feed.post","rkey":"` + rkey + `","record":` + record + rest + `}`
}

func put(name, record string) rawCall {
	return rawCall{name: name, method: putMethod, token: "access", body: putBody("3l2345672abce", record, "")}
}

func ignoringMessage(c rawCall) rawCall {
	c.loose = true
	return c
}

func facets(facet string) string { return `{` + typical + `,"facets":[` + facet + `]}` }

func feature(f string) string {
	return facets(`{"index":{"byteStart":0,"byteEnd":2},"features":[` + f + `]}`)
}

const (
	uploadCall  = "POST com.atproto.repo.uploadBlob"
	strangeFile = "bafkreigq3exe2m23sojzoachuyucow4vu7eyatati4uy6scr4ixt6xwlhi"
	dot         = `{"image":BLOB,"alt":"a dot"}`

	// picture is a PNG of one pixel.
	picture = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x00\x00\x00\x00:~\x9bU" +
		"\x00\x00\x00\nIDATx\x9cc\xf8\x0f\x00\x01\x01\x01\x00\x1b\xb6\xeeV\x00\x00\x00\x00IEND\xaeB`\x82"
)

func upload(name, kind, body string) rawCall {
	return rawCall{name: name, method: uploadCall, token: "access", kind: kind, body: body}
}

func getFile(name string) rawCall {
	return rawCall{name: name, method: "GET com.atproto.sync.getBlob?did=DID&cid=FILE"}
}

func embedding(members string) string { return `{` + typical + `,"embed":{` + members + `}}` }

func images(list string) string {
	return embedding(`"$type":"app.bsky.embed.images","images":[` + list + `]`)
}

func blobOfSize(kind, size string) string {
	return `{"$type":"blob","ref":{"$link":"FILE"},"mimeType":"` + kind + `","size":` + size + `}`
}

var rawCalls = []rawCall{
	{name: "new", method: putMethod, token: "access", body: putBody("KEY", `{`+typical+`}`, `,"swapRecord":null`)},
	{name: "same", method: putMethod, token: "access", body: putBody("KEY", `{`+typical+`}`, `,"swapRecord":null`)},
	{name: "same, swap ignored", method: putMethod, token: "access", body: putBody("KEY", `{`+typical+`}`,
		`,"swapRecord":"bafyreigq3exe2m23sojzoachuyucow4vu7eyatati4uy6scr4ixt6xwlhi"`)},
	{name: "changed, none may stand", method: putMethod, token: "access", loose: true, body: putBody("KEY",
		`{`+typical+`,"langs":["en"]}`, `,"swapRecord":null`)},
	{name: "changed, another should stand", method: putMethod, token: "access", loose: true, body: putBody("KEY",
		`{`+typical+`,"langs":["en"]}`, `,"swapRecord":"bafyreigq3exe2m23sojzoachuyucow4vu7eyatati4uy6scr4ixt6xwlha"`)},
	{name: "changed, this one should stand", method: putMethod, token: "access", body: putBody("KEY",
		`{`+typical+`,"langs":["en"]}`, `,"swapRecord":"CID"`)},
	{name: "new, one should stand", method: putMethod, token: "access", body: putBody("3l2345672abcz", `{`+typical+`}`,
		`,"swapRecord":"CID"`)},
	{name: "changed", method: putMethod, token: "access", body: putBody("KEY", `{`+typical+`,"langs":["de"]}`, ``)},
	{name: "swap is no CID", method: putMethod, token: "access", body: putBody("KEY", `{`+typical+`}`, `,"swapRecord":"zzz"`)},
	{name: "key is no TID", method: putMethod, token: "access", body: putBody("abc", `{`+typical+`}`, ``)},
	{name: "no key", method: putMethod, token: "access", body: `{"repo":"DID","collection":"app.bsky.feed.post","record":{}}`},
	{name: "no record", method: putMethod, token: "access", body: `{"repo":"DID","collection":"app.bsky.feed.post","rkey":"KEY"}`},
	{name: "no repo", method: putMethod, token: "access", body: `{"collection":"app.bsky.feed.post","rkey":"KEY","record":{}}`},
	{name: "repo of nobody", method: putMethod, token: "access", body: strings.Replace(putBody("KEY", `{`+typical+`}`,
		``), "DID", "did:plc:aaaaaaaaaaaaaaaaaaaaaaaa", 1)},
	{name: "no token", method: putMethod, body: putBody("KEY", `{`+typical+`}`, ``)},
	{name: "garbage token", method: putMethod, token: "Bearer garbage", body: putBody("KEY", `{`+typical+`}`, ``)},
	{name: "token of another kind", method: putMethod, token: "refresh", body: putBody("KEY", `{`+typical+`}`, ``)},
	{name: "another way to authorize", method: putMethod, token: "Basic Zm9vOmJhcg==", body: putBody("KEY", `{`+typical+`}`, ``)},
	{name: "too large", method: putMethod, token: "access", body: putBody("KEY",
		`{`+typical+`,"x":"`+strings.Repeat("x", 200<<10)+`"}`, ``)},
	{name: "no JSON", method: putMethod, token: "access", body: `{x`, loose: true},
	{name: "create", method: "POST com.atproto.repo.createRecord", token: "access", body: putBody("3l2345672abcp", `{`+typical+`}`, ``)},
	{name: "create again", method: "POST com.atproto.repo.createRecord", token: "access", body: putBody("3l2345672abcp",
		`{`+typical+`}`, ``)},
	{name: "create without a key", method: "POST com.atproto.repo.createRecord", token: "access",
		body: `{"repo":"DID","collection":"app.bsky.feed.post","record":{` + typical + `}}`},

	put("no type", `{"text":"hi","createdAt":"2026-01-01T00:00:00.000Z"}`),
	put("wrong type", `{"$type":"a.b.c","text":"hi"}`),
	put("no object", `"x"`),
	put("301 graphemes", `{"text":"`+strings.Repeat("é", 301)+`","createdAt":"2026-01-01T00:00:00Z"}`),
	put("300 graphemes", `{"text":"`+strings.Repeat("é", 300)+`","createdAt":"2026-01-01T00:00:00Z"}`),
	put("3001 bytes", `{"text":"`+strings.Repeat("👨‍👩‍👧‍👦", 120)+`e","createdAt":"2026-01-01T00:00:00Z"}`),
	put("no text", `{"createdAt":"2026-01-01T00:00:00Z"}`),
	put("text is a number", `{"text":3,"createdAt":"2026-01-01T00:00:00Z"}`),
	put("empty text", `{"text":"","createdAt":"2026-01-01T00:00:00Z"}`),
	put("no time", `{"text":"hi"}`),
	put("a date", `{"text":"hi","createdAt":"2026-01-01"}`),
	put("a time without a zone", `{"text":"hi","createdAt":"2026-01-01T00:00:00"}`),
	put("four languages", `{`+typical+`,"langs":["en","de","fr","it"]}`),
	put("no language", `{`+typical+`,"langs":["e"]}`),
	put("nine tags", `{`+typical+`,"tags":["a","b","c","d","e","f","g","h","i"]}`),
	put("long tag", `{`+typical+`,"tags":["`+strings.Repeat("a", 65)+`"]}`),
	put("unknown member", `{`+typical+`,"zzz":{"a":[1,true,null]}}`),
	put("fraction", `{`+typical+`,"zzz":1.5}`),

	put("facet out of bounds", facets(`{"index":{"byteStart":0,"byteEnd":99},"features":[]}`)),
	put("facet before the text", facets(`{"index":{"byteStart":-1,"byteEnd":2},"features":[]}`)),
	put("facet without an index", facets(`{"features":[]}`)),
	put("facet without features", facets(`{"index":{"byteStart":0,"byteEnd":2}}`)),
	ignoringMessage(put("feature without a type", feature(`{"uri":"https://example.com"}`))),
	put("feature of another type", feature(`{"$type":"x.y.z","a":1}`)),
	put("link", feature(`{"$type":"app.bsky.richtext.facet#link","uri":"https://example.com/ä"}`)),
	put("no link", feature(`{"$type":"app.bsky.richtext.facet#link","uri":"example"}`)),
	put("no mention", feature(`{"$type":"app.bsky.richtext.facet#mention","did":"alice"}`)),
	put("facet with a long tag", feature(`{"$type":"app.bsky.richtext.facet#tag","tag":"`+strings.Repeat("a", 65)+`"}`)),

	upload("upload", "image/png", picture),
	getFile("file that no record names"),
	put("image", images(dot)),
	getFile("file"),
	upload("upload again", "image/png", picture),
	upload("upload as another type", "text/plain; charset=utf-8", picture),
	put("image again", images(dot)),
	upload("upload of no type that bytes tell", "application/x-pressroom", "1"),
	put("no image", images(dot)),
	upload("upload without a type", "none", picture),
	{name: "upload without a token", method: uploadCall, kind: "image/png", body: picture},
	{name: "upload with a token of another kind", method: uploadCall, kind: "image/png", body: picture, token: "refresh"},
	upload("upload of JSON", "application/json", "{}"),
	upload("upload of a film", "video/mp4", "\x00\x00\x00\x18ftypmp42\x00\x00\x00\x00mp42isom"),
	put("film", embedding(`"$type":"app.bsky.embed.video","video":BLOB,"alt":"a film","aspectRatio":{"width":16,"height":9}`)),
	put("film as an image", images(dot)),
	put("film with a long description", embedding(`"$type":"app.bsky.embed.video","video":BLOB,"alt":"`+strings.Repeat("a", 1001)+`"`)),
	put("no film", embedding(`"$type":"app.bsky.embed.video"`)),
	upload("upload of a QuickTime film", "video/mp4", "\x00\x00\x00\x14ftypqt  \x00\x00\x00\x00qt  "),
	put("QuickTime film", embedding(`"$type":"app.bsky.embed.video","video":BLOB`)),
	upload("upload of another image", "image/png", picture+"2"),
	put("four images", images(dot+","+dot+","+dot+","+dot)),
	put("five images", images(dot+","+dot+","+dot+","+dot+","+dot)),
	put("image without a description", images(`{"image":BLOB}`)),
	put("description is a number", images(`{"image":BLOB,"alt":3}`)),
	put("image without an image", images(`{"alt":""}`)),
	put("no images", embedding(`"$type":"app.bsky.embed.images"`)),
	put("none of the images", images("")),
	put("images are a text", embedding(`"$type":"app.bsky.embed.images","images":"x"`)),
	put("image is a text", images(`"x"`)),
	put("blob is a text", images(`{"image":"x","alt":""}`)),
	ignoringMessage(put("blob without a type", images(`{"image":{"ref":{"$link":"FILE"},"mimeType":"image/png","size":1},"alt":""}`))),
	put("image of before", images(dot)),
	upload("upload of it again", "image/png", picture+"2"),
	put("image with a form", images(`{"image":BLOB,"alt":"","aspectRatio":{"width":2000,"height":1}}`)),
	put("image without a height", images(`{"image":BLOB,"alt":"","aspectRatio":{"width":1}}`)),
	put("image of no height", images(`{"image":BLOB,"alt":"","aspectRatio":{"width":1,"height":0}}`)),
	put("height is a text", images(`{"image":BLOB,"alt":"","aspectRatio":{"width":1,"height":"x"}}`)),
	put("form is a text", images(`{"image":BLOB,"alt":"","aspectRatio":"x"}`)),
	put("form is null", images(`{"image":BLOB,"alt":"","aspectRatio":null}`)),
	put("embed of another type", embedding(`"$type":"x.y.z","a":1`)),
	put("embed without a type", `{`+typical+`,"embed":3}`),
	put("embed is null", `{`+typical+`,"embed":null}`),
	upload("upload of a third image", "image/png", picture+"3"),
	put("image of another size", images(strings.Replace(dot, "BLOB", blobOfSize("image/png", "1"), 1))),
	put("image of another type", images(strings.Replace(dot, "BLOB", blobOfSize("image/jpeg", "71"), 1))),
	put("image too large", images(strings.Replace(dot, "BLOB", blobOfSize("image/png", "1000001"), 1))),
	put("image that nobody uploaded",
		images(strings.Replace(strings.Replace(dot, "BLOB", blobOfSize("image/png", "1"), 1), "FILE", strangeFile, 1))),
	put("file elsewhere that nobody uploaded", `{`+typical+`,"zzz":[`+strings.Replace(blobOfSize("a/b", "1"), "FILE", strangeFile, 1)+`]}`),
	upload("upload of a fourth image", "image/png", picture+"4"),
	put("fourth image", images(dot)),
	{name: "fourth image elsewhere", method: putMethod, token: "access", body: putBody("3l2345672abch", images(dot), "")},
	put("fourth image nowhere but there", `{`+typical+`}`),
	getFile("fourth file"),
	{name: "delete the other", method: "POST com.atproto.repo.deleteRecord", token: "access",
		body: `{"repo":"DID","collection":"app.bsky.feed.post","rkey":"3l2345672abch"}`},
	getFile("fourth file gone"),
	put("fourth image gone", images(dot)),
	{name: "file that nobody uploaded", method: "GET com.atproto.sync.getBlob?did=DID&cid=" + strangeFile},
	{name: "file of nobody", method: "GET com.atproto.sync.getBlob?did=did:plc:aaaaaaaaaaaaaaaaaaaaaaaa&cid=" + strangeFile},

	{name: "service token without a session", method: "GET com.atproto.server.getServiceAuth?aud=did:web:video.test"},
	{
		name: "service token", token: "access",
		method: "GET com.atproto.server.getServiceAuth?aud=did:web:video.test&lxm=app.bsky.video.getUploadLimits",
	},
	{
		name: "service token of the past", token: "access", loose: true,
		method: "GET com.atproto.server.getServiceAuth?aud=did:web:video.test&exp=1&lxm=app.bsky.video.getUploadLimits",
	},
	{
		name: "service token for too long", token: "access", loose: true,
		method: "GET com.atproto.server.getServiceAuth?aud=did:web:video.test&exp=9999999999&lxm=app.bsky.video.getUploadLimits",
	},
	{name: "get", method: "GET com.atproto.repo.getRecord?repo=DID&collection=app.bsky.feed.post&rkey=KEY"},
	{name: "get with a dead token", method: "GET com.atproto.repo.getRecord?repo=DID&collection=app.bsky.feed.post&" +
		"rkey=KEY", token: "Bearer garbage"},
	{name: "get what is not there", method: "GET com.atproto.repo.getRecord?repo=DID&collection=app.bsky.feed.post&rkey=3l2345672abzz"},
	{name: "list", method: "GET com.atproto.repo.listRecords?repo=DID&collection=app.bsky.feed.post&limit=2"},
	{name: "list on", method: "GET com.atproto.repo.listRecords?repo=DID&collection=app.bsky.feed.post&limit=1&" +
		"cursor=3l2345672abcz&reverse=true"},
	{name: "list another collection", method: "GET com.atproto.repo.listRecords?repo=DID&collection=a.b.c"},
	{name: "list of nobody", method: "GET com.atproto.repo.listRecords?repo=nobody.test&collection=a.b.c"},
	{name: "describe", method: "GET com.atproto.repo.describeRepo?repo=DID"},
	{name: "describe nobody", method: "GET com.atproto.repo.describeRepo?repo=nobody.test"},
	{name: "resolve", method: "GET com.atproto.identity.resolveHandle?handle=HANDLE"},
	{name: "resolve nobody", method: "GET com.atproto.identity.resolveHandle?handle=nobody.test"},
	{name: "session", method: "GET com.atproto.server.getSession", token: "access"},
	{name: "session without a token", method: "GET com.atproto.server.getSession"},
	{name: "delete another", method: "POST com.atproto.repo.deleteRecord", token: "access", loose: true,
		body: `{"repo":"DID","collection":"app.bsky.feed.post","rkey":"KEY",` +
			`"swapRecord":"bafyreigq3exe2m23sojzoachuyucow4vu7eyatati4uy6scr4ixt6xwlha"}`},
	{name: "delete", method: "POST com.atproto.repo.deleteRecord", token: "access",
		body: `{"repo":"DID","collection":"app.bsky.feed.post","rkey":"KEY"}`},
	{name: "delete again", method: "POST com.atproto.repo.deleteRecord", token: "access",
		body: `{"repo":"DID","collection":"app.bsky.feed.post","rkey":"KEY"}`},
	{name: "delete without a key", method: "POST com.atproto.repo.deleteRecord", token: "access",
		body: `{"repo":"DID","collection":"app.bsky.feed.post"}`},
	{name: "sign in without a name", method: "POST com.atproto.server.createSession", body: `{"password":"x"}`},
	{name: "sign in wrongly", method: "POST com.atproto.server.createSession", body: `{"identifier":"HANDLE","password":"x"}`},
	{name: "refresh with an access token", method: "POST com.atproto.server.refreshSession", token: "access"},
	{name: "sign out", method: "POST com.atproto.server.deleteSession", token: "refresh"},
	{name: "refresh after that", method: "POST com.atproto.server.refreshSession", token: "refresh"},
	{name: "session after that", method: "GET com.atproto.server.getSession", token: "access"},
}

// rawServer is a server with the values of its placeholders.
type rawServer struct {
	url                string
	names              map[string]string
	access, refreshJWT string
}

type rawAnswer struct {
	Status         int
	Error, Message string
	Members        string // of a 200, in order
}

func TestAnswersMatchGenuineServer(t *testing.T) {
	t.Parallel()
	server := pds.Start(t)
	handle, _, password := server.NewAccount(t)
	genuine := signIn(t, server.URL, handle, password)
	box := start(t, Options{})
	box.account(t, "alice.test")
	ours := signIn(t, box.url+"/bluesky", "alice.test", "password")
	for _, c := range rawCalls {
		want, got := genuine.do(t, c), ours.do(t, c)
		if c.loose {
			want.Message, got.Message = "", ""
		}
		if want != got {
			t.Errorf("%s:\ngenuine %+v\nsandbox %+v", c.name, want, got)
		}
	}
}

func signIn(t *testing.T, url, handle, password string) *rawServer {
	t.Helper()
	w := &rawServer{url: url, names: map[string]string{"HANDLE": handle, "KEY": "3l2345672abcd"}}
	var session struct{ DID, AccessJWT, RefreshJWT string }
	body := `{"identifier":"` + handle + `","password":"` + password + `"}`
	_, answer := w.send(t, rawCall{method: "POST com.atproto.server.createSession", body: body})
	if err := json.Unmarshal(answer, &session); err != nil || session.DID == "" {
		t.Fatalf("signing in: %v: %s", err, answer)
	}
	w.names["DID"], w.access, w.refreshJWT = session.DID, session.AccessJWT, session.RefreshJWT
	return w
}

func (w *rawServer) do(t *testing.T, c rawCall) rawAnswer {
	t.Helper()
	status, body := w.send(t, c)
	answer := rawAnswer{Status: status}
	if status == http.StatusOK && strings.Contains(c.method, "getBlob") {
		answer.Members = string(body)
		return answer
	}
	var members map[string]json.RawMessage
	if len(bytes.TrimSpace(body)) == 0 {
		return answer
	}
	if err := json.Unmarshal(body, &members); err != nil {
		t.Fatalf("%s: %v: %s", c.name, err, body)
	}
	if status == http.StatusOK {
		delete(members, "didDoc") // the genuine server leaves it out if it reaches no directory
		delete(members, "email")
		answer.Members = sortedNames(members)
		if cid, ok := members["cid"]; ok {
			w.names["CID"] = strings.Trim(string(cid), `"`)
		}
		if blob, ok := members["blob"]; ok {
			answer.Members += string(blob)
			w.saveBlob(t, blob)
		}
		return answer
	}
	_ = json.Unmarshal(members["error"], &answer.Error)
	_ = json.Unmarshal(members["message"], &answer.Message)
	for name, value := range w.names {
		answer.Message = strings.ReplaceAll(answer.Message, value, name)
	}
	return answer
}

func (w *rawServer) saveBlob(t *testing.T, blob json.RawMessage) {
	t.Helper()
	var result struct {
		Ref map[string]string
	}
	must.NoError(t, json.Unmarshal(blob, &result))
	w.names["BLOB"], w.names["FILE"] = string(blob), result.Ref["$link"]
}

func sortedNames(members map[string]json.RawMessage) string {
	return strings.Join(slices.Sorted(maps.Keys(members)), " ")
}

func (w *rawServer) send(t *testing.T, c rawCall) (int, []byte) {
	t.Helper()
	verb, path, _ := strings.Cut(c.method, " ")
	body := c.body
	for name, value := range w.names {
		path, body = strings.ReplaceAll(path, name, value), strings.ReplaceAll(body, name, value)
	}
	request := must.Get(http.NewRequestWithContext(t.Context(), verb, w.url+"/xrpc/"+path, strings.NewReader(body)))(t)
	switch {
	case c.kind != "":
		request.Header.Set("Content-Type", strings.TrimPrefix(c.kind, "none"))
	case body != "":
		request.Header.Set("Content-Type", "application/json")
	}
	switch c.token {
	case "":
	case "access":
		request.Header.Set("Authorization", "Bearer "+w.access)
	case "refresh":
		request.Header.Set("Authorization", "Bearer "+w.refreshJWT)
	default:
		request.Header.Set("Authorization", c.token)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatalf("%s: %v", c.name, err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatalf("%s: %v", c.name, err)
	}
	return response.StatusCode, answer
}
