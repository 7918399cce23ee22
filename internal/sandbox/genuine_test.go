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

	"pressroom/internal/testkit/pds"
)

// These calls are made to the genuine server and to the sandbox, in this order, and have to be answered alike:
// the status, the error's name and its message. In paths and bodies DID, KEY and CID stand for the account's
// id, a record key and the id of the content that was stored last.
type rawCall struct {
	name, method, token, body string
	loose                     bool // the messages may differ
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

func loosely(c rawCall) rawCall {
	c.loose = true
	return c
}

func facets(facet string) string { return `{` + typical + `,"facets":[` + facet + `]}` }

func feature(f string) string {
	return facets(`{"index":{"byteStart":0,"byteEnd":2},"features":[` + f + `]}`)
}

var rawCalls = []rawCall{
	{name: "new", method: putMethod, token: "access", body: putBody("KEY", `{`+typical+`}`, `,"swapRecord":null`)},
	{name: "same", method: putMethod, token: "access", body: putBody("KEY", `{`+typical+`}`, `,"swapRecord":null`)},
	{name: "same, swap ignored", method: putMethod, token: "access", body: putBody("KEY", `{`+typical+`}`, `,"swapRecord":"bafyreigq3exe2m23sojzoachuyucow4vu7eyatati4uy6scr4ixt6xwlhi"`)},
	{name: "changed, none may stand", method: putMethod, token: "access", loose: true, body: putBody("KEY", `{`+typical+`,"langs":["en"]}`, `,"swapRecord":null`)},
	{name: "changed, another should stand", method: putMethod, token: "access", loose: true, body: putBody("KEY", `{`+typical+`,"langs":["en"]}`, `,"swapRecord":"bafyreigq3exe2m23sojzoachuyucow4vu7eyatati4uy6scr4ixt6xwlha"`)},
	{name: "changed, this one should stand", method: putMethod, token: "access", body: putBody("KEY", `{`+typical+`,"langs":["en"]}`, `,"swapRecord":"CID"`)},
	{name: "new, one should stand", method: putMethod, token: "access", body: putBody("3l2345672abcz", `{`+typical+`}`, `,"swapRecord":"CID"`)},
	{name: "changed", method: putMethod, token: "access", body: putBody("KEY", `{`+typical+`,"langs":["de"]}`, ``)},
	{name: "swap is no CID", method: putMethod, token: "access", body: putBody("KEY", `{`+typical+`}`, `,"swapRecord":"zzz"`)},
	{name: "key is no TID", method: putMethod, token: "access", body: putBody("abc", `{`+typical+`}`, ``)},
	{name: "no key", method: putMethod, token: "access", body: `{"repo":"DID","collection":"app.bsky.feed.post","record":{}}`},
	{name: "no record", method: putMethod, token: "access", body: `{"repo":"DID","collection":"app.bsky.feed.post","rkey":"KEY"}`},
	{name: "no repo", method: putMethod, token: "access", body: `{"collection":"app.bsky.feed.post","rkey":"KEY","record":{}}`},
	{name: "repo of nobody", method: putMethod, token: "access", body: strings.Replace(putBody("KEY", `{`+typical+`}`, ``), "DID", "did:plc:aaaaaaaaaaaaaaaaaaaaaaaa", 1)},
	{name: "no token", method: putMethod, body: putBody("KEY", `{`+typical+`}`, ``)},
	{name: "garbage token", method: putMethod, token: "Bearer garbage", body: putBody("KEY", `{`+typical+`}`, ``)},
	{name: "token of another kind", method: putMethod, token: "refresh", body: putBody("KEY", `{`+typical+`}`, ``)},
	{name: "another way to authorize", method: putMethod, token: "Basic Zm9vOmJhcg==", body: putBody("KEY", `{`+typical+`}`, ``)},
	{name: "too large", method: putMethod, token: "access", body: putBody("KEY", `{`+typical+`,"x":"`+strings.Repeat("x", 200<<10)+`"}`, ``)},
	{name: "no JSON", method: putMethod, token: "access", body: `{x`, loose: true},
	{name: "create", method: "POST com.atproto.repo.createRecord", token: "access", body: putBody("3l2345672abcp", `{`+typical+`}`, ``)},
	{name: "create again", method: "POST com.atproto.repo.createRecord", token: "access", body: putBody("3l2345672abcp", `{`+typical+`}`, ``)},
	{name: "create without a key", method: "POST com.atproto.repo.createRecord", token: "access", body: `{"repo":"DID","collection":"app.bsky.feed.post","record":{` + typical + `}}`},

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
	loosely(put("feature without a type", feature(`{"uri":"https://example.com"}`))),
	put("feature of another type", feature(`{"$type":"x.y.z","a":1}`)),
	put("link", feature(`{"$type":"app.bsky.richtext.facet#link","uri":"https://example.com/ä"}`)),
	put("no link", feature(`{"$type":"app.bsky.richtext.facet#link","uri":"example"}`)),
	put("no mention", feature(`{"$type":"app.bsky.richtext.facet#mention","did":"alice"}`)),
	put("facet with a long tag", feature(`{"$type":"app.bsky.richtext.facet#tag","tag":"`+strings.Repeat("a", 65)+`"}`)),

	{name: "get", method: "GET com.atproto.repo.getRecord?repo=DID&collection=app.bsky.feed.post&rkey=KEY"},
	{name: "get with a dead token", method: "GET com.atproto.repo.getRecord?repo=DID&collection=app.bsky.feed.post&rkey=KEY", token: "Bearer garbage"},
	{name: "get what is not there", method: "GET com.atproto.repo.getRecord?repo=DID&collection=app.bsky.feed.post&rkey=3l2345672abzz"},
	{name: "list", method: "GET com.atproto.repo.listRecords?repo=DID&collection=app.bsky.feed.post&limit=2"},
	{name: "list on", method: "GET com.atproto.repo.listRecords?repo=DID&collection=app.bsky.feed.post&limit=1&cursor=3l2345672abcz&reverse=true"},
	{name: "list another collection", method: "GET com.atproto.repo.listRecords?repo=DID&collection=a.b.c"},
	{name: "list of nobody", method: "GET com.atproto.repo.listRecords?repo=nobody.test&collection=a.b.c"},
	{name: "describe", method: "GET com.atproto.repo.describeRepo?repo=DID"},
	{name: "describe nobody", method: "GET com.atproto.repo.describeRepo?repo=nobody.test"},
	{name: "resolve", method: "GET com.atproto.identity.resolveHandle?handle=HANDLE"},
	{name: "resolve nobody", method: "GET com.atproto.identity.resolveHandle?handle=nobody.test"},
	{name: "session", method: "GET com.atproto.server.getSession", token: "access"},
	{name: "session without a token", method: "GET com.atproto.server.getSession"},
	{name: "delete another", method: "POST com.atproto.repo.deleteRecord", token: "access", loose: true, body: `{"repo":"DID","collection":"app.bsky.feed.post","rkey":"KEY","swapRecord":"bafyreigq3exe2m23sojzoachuyucow4vu7eyatati4uy6scr4ixt6xwlha"}`},
	{name: "delete", method: "POST com.atproto.repo.deleteRecord", token: "access", body: `{"repo":"DID","collection":"app.bsky.feed.post","rkey":"KEY"}`},
	{name: "delete again", method: "POST com.atproto.repo.deleteRecord", token: "access", body: `{"repo":"DID","collection":"app.bsky.feed.post","rkey":"KEY"}`},
	{name: "delete without a key", method: "POST com.atproto.repo.deleteRecord", token: "access", body: `{"repo":"DID","collection":"app.bsky.feed.post"}`},
	{name: "sign in without a name", method: "POST com.atproto.server.createSession", body: `{"password":"x"}`},
	{name: "sign in wrongly", method: "POST com.atproto.server.createSession", body: `{"identifier":"HANDLE","password":"x"}`},
	{name: "refresh with an access token", method: "POST com.atproto.server.refreshSession", token: "access"},
	{name: "sign out", method: "POST com.atproto.server.deleteSession", token: "refresh"},
	{name: "refresh after that", method: "POST com.atproto.server.refreshSession", token: "refresh"},
	{name: "session after that", method: "GET com.atproto.server.getSession", token: "access"},
}

// rawWorld is one server's side of the calls.
type rawWorld struct {
	url                string
	names              map[string]string
	access, refreshJWT string
}

type rawAnswer struct {
	Status         int
	Error, Message string
	Members        string // of a 200, in order
}

func TestAnswersAsTheGenuineServerDoes(t *testing.T) {
	t.Parallel()
	server := pds.Start(t)
	handle, _, password := server.NewAccount(t)
	genuine := signedIn(t, server.URL, handle, password)
	box := start(t, Options{})
	box.account(t, "alice.test")
	ours := signedIn(t, box.url+"/bluesky", "alice.test", "password")
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

func signedIn(t *testing.T, url, handle, password string) *rawWorld {
	t.Helper()
	w := &rawWorld{url: url, names: map[string]string{"HANDLE": handle, "KEY": "3l2345672abcd"}}
	var session struct{ DID, AccessJWT, RefreshJWT string }
	body := `{"identifier":"` + handle + `","password":"` + password + `"}`
	_, answer := w.send(t, rawCall{method: "POST com.atproto.server.createSession", body: body})
	if err := json.Unmarshal(answer, &session); err != nil || session.DID == "" {
		t.Fatalf("signing in: %v: %s", err, answer)
	}
	w.names["DID"], w.access, w.refreshJWT = session.DID, session.AccessJWT, session.RefreshJWT
	return w
}

func (w *rawWorld) do(t *testing.T, c rawCall) rawAnswer {
	t.Helper()
	status, body := w.send(t, c)
	answer := rawAnswer{Status: status}
	var members map[string]json.RawMessage
	if len(bytes.TrimSpace(body)) == 0 {
		return answer
	}
	if err := json.Unmarshal(body, &members); err != nil {
		t.Fatalf("%s: %v: %s", c.name, err, body)
	}
	if status == http.StatusOK {
		delete(members, "didDoc") // where the genuine server has no directory at hand it leaves it out
		delete(members, "email")
		answer.Members = sortedNames(members)
		if cid, ok := members["cid"]; ok {
			w.names["CID"] = strings.Trim(string(cid), `"`)
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

func sortedNames(members map[string]json.RawMessage) string {
	return strings.Join(slices.Sorted(maps.Keys(members)), " ")
}

func (w *rawWorld) send(t *testing.T, c rawCall) (int, []byte) {
	t.Helper()
	verb, path, _ := strings.Cut(c.method, " ")
	body := c.body
	for name, value := range w.names {
		path, body = strings.ReplaceAll(path, name, value), strings.ReplaceAll(body, name, value)
	}
	request, err := http.NewRequestWithContext(t.Context(), verb, w.url+"/xrpc/"+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if body != "" {
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
