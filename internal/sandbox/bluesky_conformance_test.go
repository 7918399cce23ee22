package sandbox

import (
	"strings"
)

// rawCall is a call for which the real server and the sandbox must return the same status, error and message. Paths and
// bodies can contain placeholders. DID is the account's ID, KEY is a record key, and CID is the ID of the last stored
// content. BLOB is the blob object and FILE is the ID of the last uploaded file.
type rawCall struct {
	name, method, token, body string
	kind                      string // Content-Type; JSON by default
	loose                     bool   // the messages may differ
}

const (
	putRecordMethod = "POST com.atproto.repo.putRecord"
	postMembers     = `"$type":"app.bsky.feed.post","text":"hi","createdAt":"2026-01-01T00:00:00.000Z"`
)

func putBody(rkey, record, rest string) string {
	return `{"repo":"DID","collection":"app.bsky.feed.post","rkey":"` + rkey + `","record":` + record + rest + `}`
}

func put(name, record string) rawCall {
	return rawCall{name: name, method: putRecordMethod, token: "access", body: putBody("3l2345672abce", record, "")}
}

func ignoringMessage(c rawCall) rawCall {
	c.loose = true
	return c
}

func facetBody(facet string) string { return `{` + postMembers + `,"facets":[` + facet + `]}` }

func featureBody(f string) string {
	return facetBody(`{"index":{"byteStart":0,"byteEnd":2},"features":[` + f + `]}`)
}

const (
	uploadMethod = "POST com.atproto.repo.uploadBlob"
	unknownFile  = "bafkreigq3exe2m23sojzoachuyucow4vu7eyatati4uy6scr4ixt6xwlhi"
	imageMember  = `{"image":BLOB,"alt":"a dot"}`

	// picture is a PNG of one pixel.
	picture = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x00\x00\x00\x00:~\x9bU" +
		"\x00\x00\x00\nIDATx\x9cc\xf8\x0f\x00\x01\x01\x01\x00\x1b\xb6\xeeV\x00\x00\x00\x00IEND\xaeB`\x82"
)

func upload(name, kind, body string) rawCall {
	return rawCall{name: name, method: uploadMethod, token: "access", kind: kind, body: body}
}

func getFile(name string) rawCall {
	return rawCall{name: name, method: "GET com.atproto.sync.getBlob?did=DID&cid=FILE"}
}

func embedBody(members string) string { return `{` + postMembers + `,"embed":{` + members + `}}` }

func imageBody(list string) string {
	return embedBody(`"$type":"app.bsky.embed.images","images":[` + list + `]`)
}

func externalBody(members string) string {
	return embedBody(`"$type":"app.bsky.embed.external","external":{` + members + `}`)
}

func labelBody(members string) string {
	return `{` + postMembers + `,"labels":{"$type":"com.atproto.label.defs#selfLabels",` + members + `}}`
}

const refMember = `{"uri":"at://DID/app.bsky.feed.post/3l2345672abzz",` +
	`"cid":"bafyreigq3exe2m23sojzoachuyucow4vu7eyatati4uy6scr4ixt6xwlhi"}`

// gated creates a post together with a thread gate.
func gated(name, rkey, gate string) rawCall {
	const create = `{"$type":"com.atproto.repo.applyWrites#create","collection":"app.bsky.feed.`
	return rawCall{name: name, method: "POST com.atproto.repo.applyWrites", token: "access", loose: true,
		body: `{"repo":"DID","writes":[` + create + `post","rkey":"` + rkey + `","value":{` + postMembers + `}},` +
			create + `threadgate","rkey":"` + rkey + `","value":` + gate + `}]}`}
}

func blobOfSize(kind, size string) string {
	return `{"$type":"blob","ref":{"$link":"FILE"},"mimeType":"` + kind + `","size":` + size + `}`
}

var rawCalls = []rawCall{
	{name: "new", method: putRecordMethod, token: "access", body: putBody("KEY", `{`+postMembers+`}`, `,"swapRecord":null`)},
	{name: "same", method: putRecordMethod, token: "access", body: putBody("KEY", `{`+postMembers+`}`, `,"swapRecord":null`)},
	{name: "same, swap ignored", method: putRecordMethod, token: "access", body: putBody("KEY", `{`+postMembers+`}`,
		`,"swapRecord":"bafyreigq3exe2m23sojzoachuyucow4vu7eyatati4uy6scr4ixt6xwlhi"`)},
	{name: "changed, requires no record", method: putRecordMethod, token: "access", loose: true, body: putBody("KEY",
		`{`+postMembers+`,"langs":["en"]}`, `,"swapRecord":null`)},
	{name: "changed, requires another record", method: putRecordMethod, token: "access", loose: true, body: putBody("KEY",
		`{`+postMembers+`,"langs":["en"]}`, `,"swapRecord":"bafyreigq3exe2m23sojzoachuyucow4vu7eyatati4uy6scr4ixt6xwlha"`)},
	{name: "changed, requires the current record", method: putRecordMethod, token: "access", body: putBody("KEY",
		`{`+postMembers+`,"langs":["en"]}`, `,"swapRecord":"CID"`)},
	{name: "new, requires a record", method: putRecordMethod, token: "access", body: putBody("3l2345672abcz", `{`+postMembers+`}`,
		`,"swapRecord":"CID"`)},
	{name: "changed", method: putRecordMethod, token: "access", body: putBody("KEY", `{`+postMembers+`,"langs":["de"]}`, ``)},
	{name: "swap is not a CID", method: putRecordMethod, token: "access", body: putBody("KEY", `{`+postMembers+`}`, `,"swapRecord":"zzz"`)},
	{name: "key is not a TID", method: putRecordMethod, token: "access", body: putBody("abc", `{`+postMembers+`}`, ``)},
	{name: "no key", method: putRecordMethod, token: "access", body: `{"repo":"DID","collection":"app.bsky.feed.post","record":{}}`},
	{name: "no record", method: putRecordMethod, token: "access", body: `{"repo":"DID","collection":"app.bsky.feed.post","rkey":"KEY"}`},
	{name: "no repo", method: putRecordMethod, token: "access", body: `{"collection":"app.bsky.feed.post","rkey":"KEY","record":{}}`},
	{name: "unknown repo", method: putRecordMethod, token: "access", body: strings.Replace(putBody("KEY", `{`+postMembers+`}`,
		``), "DID", "did:plc:aaaaaaaaaaaaaaaaaaaaaaaa", 1)},
	{name: "no token", method: putRecordMethod, body: putBody("KEY", `{`+postMembers+`}`, ``)},
	{name: "invalid token", method: putRecordMethod, token: "Bearer garbage", body: putBody("KEY", `{`+postMembers+`}`, ``)},
	{name: "token of another kind", method: putRecordMethod, token: "refresh", body: putBody("KEY", `{`+postMembers+`}`, ``)},
	{name: "basic authentication", method: putRecordMethod, token: "Basic Zm9vOmJhcg==", body: putBody("KEY", `{`+postMembers+`}`, ``)},
	{name: "too large", method: putRecordMethod, token: "access", body: putBody("KEY",
		`{`+postMembers+`,"x":"`+strings.Repeat("x", 200<<10)+`"}`, ``)},
	{name: "invalid JSON", method: putRecordMethod, token: "access", body: `{x`, loose: true},
	{name: "create", method: "POST com.atproto.repo.createRecord", token: "access",
		body: putBody("3l2345672abcp", `{`+postMembers+`}`, ``)},
	{name: "create again", method: "POST com.atproto.repo.createRecord", token: "access", body: putBody("3l2345672abcp",
		`{`+postMembers+`}`, ``)},
	{name: "create without a key", method: "POST com.atproto.repo.createRecord", token: "access",
		body: `{"repo":"DID","collection":"app.bsky.feed.post","record":{` + postMembers + `}}`},

	put("no type", `{"text":"hi","createdAt":"2026-01-01T00:00:00.000Z"}`),
	put("wrong type", `{"$type":"a.b.c","text":"hi"}`),
	put("record is a string", `"x"`),
	put("301 graphemes", `{"text":"`+strings.Repeat("é", 301)+`","createdAt":"2026-01-01T00:00:00Z"}`),
	put("300 graphemes", `{"text":"`+strings.Repeat("é", 300)+`","createdAt":"2026-01-01T00:00:00Z"}`),
	put("3001 bytes", `{"text":"`+strings.Repeat("👨‍👩‍👧‍👦", 120)+`e","createdAt":"2026-01-01T00:00:00Z"}`),
	put("no text", `{"createdAt":"2026-01-01T00:00:00Z"}`),
	put("text is a number", `{"text":3,"createdAt":"2026-01-01T00:00:00Z"}`),
	put("empty text", `{"text":"","createdAt":"2026-01-01T00:00:00Z"}`),
	put("no time", `{"text":"hi"}`),
	put("time is a date", `{"text":"hi","createdAt":"2026-01-01"}`),
	put("time without a zone", `{"text":"hi","createdAt":"2026-01-01T00:00:00"}`),
	put("four languages", `{`+postMembers+`,"langs":["en","de","fr","it"]}`),
	put("invalid language", `{`+postMembers+`,"langs":["e"]}`),
	put("nine tags", `{`+postMembers+`,"tags":["a","b","c","d","e","f","g","h","i"]}`),
	put("long tag", `{`+postMembers+`,"tags":["`+strings.Repeat("a", 65)+`"]}`),
	put("unknown member", `{`+postMembers+`,"zzz":{"a":[1,true,null]}}`),
	put("number is a fraction", `{`+postMembers+`,"zzz":1.5}`),

	put("facet out of range", facetBody(`{"index":{"byteStart":0,"byteEnd":99},"features":[]}`)),
	put("facet before the text", facetBody(`{"index":{"byteStart":-1,"byteEnd":2},"features":[]}`)),
	put("facet without an index", facetBody(`{"features":[]}`)),
	put("facet without features", facetBody(`{"index":{"byteStart":0,"byteEnd":2}}`)),
	ignoringMessage(put("feature without a type", featureBody(`{"uri":"https://example.com"}`))),
	put("feature of another type", featureBody(`{"$type":"x.y.z","a":1}`)),
	put("link", featureBody(`{"$type":"app.bsky.richtext.facet#link","uri":"https://example.com/ä"}`)),
	put("invalid link", featureBody(`{"$type":"app.bsky.richtext.facet#link","uri":"example"}`)),
	put("invalid mention", featureBody(`{"$type":"app.bsky.richtext.facet#mention","did":"alice"}`)),
	put("facet with a long tag", featureBody(`{"$type":"app.bsky.richtext.facet#tag","tag":"`+strings.Repeat("a", 65)+`"}`)),

	upload("upload", "image/png", picture),
	getFile("file that no record refers to"),
	put("image", imageBody(imageMember)),
	getFile("file"),
	upload("upload again", "image/png", picture),
	upload("upload as another type", "text/plain; charset=utf-8", picture),
	put("image again", imageBody(imageMember)),
	upload("upload of an undetectable type", "application/x-pressroom", "1"),
	put("image that is not an image", imageBody(imageMember)),
	upload("upload without a type", "none", picture),
	{name: "upload without a token", method: uploadMethod, kind: "image/png", body: picture},
	{name: "upload with a token of another kind", method: uploadMethod, kind: "image/png", body: picture, token: "refresh"},
	upload("upload of JSON", "application/json", "{}"),
	upload("upload of a video", "video/mp4", "\x00\x00\x00\x18ftypmp42\x00\x00\x00\x00mp42isom"),
	put("video", embedBody(`"$type":"app.bsky.embed.video","video":BLOB,"alt":"a film","aspectRatio":{"width":16,"height":9}`)),
	put("video as an image", imageBody(imageMember)),
	put("video with a long alt text", embedBody(`"$type":"app.bsky.embed.video","video":BLOB,"alt":"`+strings.Repeat("a", 1001)+`"`)),
	put("video without a video", embedBody(`"$type":"app.bsky.embed.video"`)),
	upload("upload of a QuickTime video", "video/mp4", "\x00\x00\x00\x14ftypqt  \x00\x00\x00\x00qt  "),
	put("QuickTime video", embedBody(`"$type":"app.bsky.embed.video","video":BLOB`)),
	upload("upload of another image", "image/png", picture+"2"),
	put("four images", imageBody(imageMember+","+imageMember+","+imageMember+","+imageMember)),
	put("five images", imageBody(imageMember+","+imageMember+","+imageMember+","+imageMember+","+imageMember)),
	put("image without an alt text", imageBody(`{"image":BLOB}`)),
	put("alt text is a number", imageBody(`{"image":BLOB,"alt":3}`)),
	put("image without an image", imageBody(`{"alt":""}`)),
	put("no images", embedBody(`"$type":"app.bsky.embed.images"`)),
	put("zero images", imageBody("")),
	put("images are a string", embedBody(`"$type":"app.bsky.embed.images","images":"x"`)),
	put("image is a string", imageBody(`"x"`)),
	put("blob is a string", imageBody(`{"image":"x","alt":""}`)),
	ignoringMessage(put("blob without a type", imageBody(`{"image":{"ref":{"$link":"FILE"},"mimeType":"image/png","size":1},"alt":""}`))),
	put("previous image", imageBody(imageMember)),
	upload("upload of the previous image", "image/png", picture+"2"),
	put("image with an aspect ratio", imageBody(`{"image":BLOB,"alt":"","aspectRatio":{"width":2000,"height":1}}`)),
	put("image without a height", imageBody(`{"image":BLOB,"alt":"","aspectRatio":{"width":1}}`)),
	put("image with height zero", imageBody(`{"image":BLOB,"alt":"","aspectRatio":{"width":1,"height":0}}`)),
	put("height is a string", imageBody(`{"image":BLOB,"alt":"","aspectRatio":{"width":1,"height":"x"}}`)),
	put("aspect ratio is a string", imageBody(`{"image":BLOB,"alt":"","aspectRatio":"x"}`)),
	put("aspect ratio is null", imageBody(`{"image":BLOB,"alt":"","aspectRatio":null}`)),
	put("embed of another type", embedBody(`"$type":"x.y.z","a":1`)),
	put("embed without a type", `{`+postMembers+`,"embed":3}`),
	put("embed is null", `{`+postMembers+`,"embed":null}`),
	upload("upload of a third image", "image/png", picture+"3"),
	put("image of another size", imageBody(strings.Replace(imageMember, "BLOB", blobOfSize("image/png", "1"), 1))),
	put("image of another type", imageBody(strings.Replace(imageMember, "BLOB", blobOfSize("image/jpeg", "71"), 1))),
	put("image too large", imageBody(strings.Replace(imageMember, "BLOB", blobOfSize("image/png", "1000001"), 1))),
	put("image that was not uploaded",
		imageBody(strings.Replace(strings.Replace(imageMember, "BLOB", blobOfSize("image/png", "1"), 1), "FILE", unknownFile, 1))),
	put("file in another member that was not uploaded",
		`{`+postMembers+`,"zzz":[`+strings.Replace(blobOfSize("a/b", "1"), "FILE", unknownFile, 1)+`]}`),
	upload("upload of a fourth image", "image/png", picture+"4"),
	put("fourth image", imageBody(imageMember)),
	{name: "fourth image in another record", method: putRecordMethod, token: "access",
		body: putBody("3l2345672abch", imageBody(imageMember), "")},
	put("fourth image only in the other record", `{`+postMembers+`}`),
	getFile("fourth file"),
	{name: "delete the other record", method: "POST com.atproto.repo.deleteRecord", token: "access",
		body: `{"repo":"DID","collection":"app.bsky.feed.post","rkey":"3l2345672abch"}`},
	getFile("fourth file after deletion"),
	put("fourth image after deletion", imageBody(imageMember)),
	{name: "file that was not uploaded", method: "GET com.atproto.sync.getBlob?did=DID&cid=" + unknownFile},
	{name: "file of an unknown account", method: "GET com.atproto.sync.getBlob?did=did:plc:aaaaaaaaaaaaaaaaaaaaaaaa&cid=" + unknownFile},

	upload("upload of a thumbnail", "image/png", picture+"5"),
	put("link card", externalBody(`"uri":"https://example.com","title":"t","description":"","thumb":BLOB`)),
	put("link card without a thumbnail", externalBody(`"uri":"https://example.com","title":"t","description":""`)),
	put("link card without a description", externalBody(`"uri":"https://example.com","title":"t"`)),
	put("link card without a title", externalBody(`"uri":"https://example.com","description":""`)),
	put("link card whose title is a number", externalBody(`"uri":"https://example.com","title":3,"description":""`)),
	put("link card with an invalid URL", externalBody(`"uri":"example","title":"t","description":""`)),
	put("link card without a card", embedBody(`"$type":"app.bsky.embed.external"`)),
	put("quote", embedBody(`"$type":"app.bsky.embed.record","record":`+refMember)),
	put("quote without a CID", embedBody(`"$type":"app.bsky.embed.record","record":{"uri":"at://DID/app.bsky.feed.post/3l2345672abzz"}`)),
	ignoringMessage(put("quote of a web address", embedBody(`"$type":"app.bsky.embed.record","record":`+
		strings.Replace(refMember, "at://DID", "https://bsky.app", 1)))),
	put("quote with an image", embedBody(`"$type":"app.bsky.embed.recordWithMedia","record":{"record":`+refMember+`},
		"media":{"$type":"app.bsky.embed.images","images":[`+imageMember+`]}`)),
	put("quote with media but without media", embedBody(`"$type":"app.bsky.embed.recordWithMedia","record":{"record":`+refMember+`}`)),
	put("quote with an invalid image", embedBody(`"$type":"app.bsky.embed.recordWithMedia","record":{"record":`+refMember+`},
		"media":{"$type":"app.bsky.embed.images","images":[{"image":BLOB}]}`)),
	put("label", labelBody(`"values":[{"val":"nudity"}]`)),
	put("labels without values", labelBody(`"a":1`)),
	ignoringMessage(put("label without a value", labelBody(`"values":[{}]`))),
	put("eleven labels", labelBody(`"values":[`+strings.Repeat(`{"val":"a"},`, 10)+`{"val":"a"}]`)),
	ignoringMessage(put("labels without a type", `{`+postMembers+`,"labels":{"values":[]}}`)),

	gated("gates", "3l2345672abda", `{"$type":"app.bsky.feed.threadgate","post":"at://DID/app.bsky.feed.post/3l2345672abda",`+
		`"createdAt":"2026-01-01T00:00:00Z","allow":[{"$type":"app.bsky.feed.threadgate#mentionRule"}]}`),
	{name: "get a gate", method: "GET com.atproto.repo.getRecord?repo=DID&collection=app.bsky.feed.threadgate&rkey=3l2345672abda"},
	gated("gates again", "3l2345672abda", `{"$type":"app.bsky.feed.threadgate","post":"at://DID/app.bsky.feed.post/3l2345672abda",`+
		`"createdAt":"2026-01-01T00:00:00Z","allow":[{"$type":"app.bsky.feed.threadgate#mentionRule"}]}`),
	gated("gate without a post", "3l2345672abdb", `{"$type":"app.bsky.feed.threadgate","createdAt":"2026-01-01T00:00:00Z"}`),
	gated("gate without a time", "3l2345672abdb", `{"$type":"app.bsky.feed.threadgate",`+
		`"post":"at://DID/app.bsky.feed.post/3l2345672abdb"}`),
	gated("gate with a rule without a type", "3l2345672abdb", `{"$type":"app.bsky.feed.threadgate",`+
		`"post":"at://DID/app.bsky.feed.post/3l2345672abdb","createdAt":"2026-01-01T00:00:00Z","allow":[{}]}`),
	{name: "get a post without its gate", method: "GET com.atproto.repo.getRecord?repo=DID&collection=app.bsky.feed.post&" +
		"rkey=3l2345672abdb"},

	{name: "service token without a session", method: "GET com.atproto.server.getServiceAuth?aud=did:web:video.test"},
	{
		name: "service token", token: "access",
		method: "GET com.atproto.server.getServiceAuth?aud=did:web:video.test&lxm=app.bsky.video.getUploadLimits",
	},
	{
		name: "expired service token", token: "access", loose: true,
		method: "GET com.atproto.server.getServiceAuth?aud=did:web:video.test&exp=1&lxm=app.bsky.video.getUploadLimits",
	},
	{
		name: "service token for too long", token: "access", loose: true,
		method: "GET com.atproto.server.getServiceAuth?aud=did:web:video.test&exp=9999999999&lxm=app.bsky.video.getUploadLimits",
	},
	{name: "get", method: "GET com.atproto.repo.getRecord?repo=DID&collection=app.bsky.feed.post&rkey=KEY"},
	{name: "get with an invalid token", method: "GET com.atproto.repo.getRecord?repo=DID&collection=app.bsky.feed.post&" +
		"rkey=KEY", token: "Bearer garbage"},
	{name: "get an unknown record", method: "GET com.atproto.repo.getRecord?repo=DID&collection=app.bsky.feed.post&rkey=3l2345672abzz"},
	{name: "list", method: "GET com.atproto.repo.listRecords?repo=DID&collection=app.bsky.feed.post&limit=2"},
	{name: "list the next page", method: "GET com.atproto.repo.listRecords?repo=DID&collection=app.bsky.feed.post&limit=1&" +
		"cursor=3l2345672abcz&reverse=true"},
	{name: "list another collection", method: "GET com.atproto.repo.listRecords?repo=DID&collection=a.b.c"},
	{name: "list of an unknown account", method: "GET com.atproto.repo.listRecords?repo=nobody.test&collection=a.b.c"},
	{name: "describe", method: "GET com.atproto.repo.describeRepo?repo=DID"},
	{name: "describe an unknown account", method: "GET com.atproto.repo.describeRepo?repo=nobody.test"},
	{name: "resolve", method: "GET com.atproto.identity.resolveHandle?handle=HANDLE"},
	{name: "resolve an unknown handle", method: "GET com.atproto.identity.resolveHandle?handle=nobody.test"},
	{name: "session", method: "GET com.atproto.server.getSession", token: "access"},
	{name: "session without a token", method: "GET com.atproto.server.getSession"},
	{name: "delete, requires another record", method: "POST com.atproto.repo.deleteRecord", token: "access", loose: true,
		body: `{"repo":"DID","collection":"app.bsky.feed.post","rkey":"KEY",` +
			`"swapRecord":"bafyreigq3exe2m23sojzoachuyucow4vu7eyatati4uy6scr4ixt6xwlha"}`},
	{name: "delete", method: "POST com.atproto.repo.deleteRecord", token: "access",
		body: `{"repo":"DID","collection":"app.bsky.feed.post","rkey":"KEY"}`},
	{name: "delete again", method: "POST com.atproto.repo.deleteRecord", token: "access",
		body: `{"repo":"DID","collection":"app.bsky.feed.post","rkey":"KEY"}`},
	{name: "delete without a key", method: "POST com.atproto.repo.deleteRecord", token: "access",
		body: `{"repo":"DID","collection":"app.bsky.feed.post"}`},
	{name: "sign in without a name", method: "POST com.atproto.server.createSession", body: `{"password":"x"}`},
	{name: "sign in with a wrong password", method: "POST com.atproto.server.createSession",
		body: `{"identifier":"HANDLE","password":"x"}`},
	{name: "refresh with an access token", method: "POST com.atproto.server.refreshSession", token: "access"},
	{name: "sign out", method: "POST com.atproto.server.deleteSession", token: "refresh"},
	{name: "refresh after signing out", method: "POST com.atproto.server.refreshSession", token: "refresh"},
	{name: "session after signing out", method: "GET com.atproto.server.getSession", token: "access"},
}
