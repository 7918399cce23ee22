package archtest

import (
	"pressroom/internal/testkit/must"
	"testing"
)

// rooms says where every package below internal/ belongs. A new package is in none until it is written here,
// and the test fails until then.
var rooms = map[string][]string{
	"words": {"internal/core/access", "internal/apierr", "internal/core/operation"},
	"leaves": {
		"internal/platform/failpoint", "internal/teamtime", "internal/auth/passwordcheck",
		"internal/platform/plaintext", "internal/platform/mediainfo", "internal/auth/apikey",
		"internal/platform/loadshed", "internal/domain/provider", "internal/platform/sqlite", "internal/core/plan",
		"internal/platform/tracing",
	},
	"pictures": {"internal/platform/thumbnail", "internal/platform/stripmeta"},
	"pipeline": {"internal/core/pipeline"},
	"edges":    {"internal/api/mcp", "internal/api/rest"},
	"shared":   {"internal/api/openapi", "internal/api/problem"}, // by the edges
	"ground": {
		"internal/platform/backup", "internal/platform/blob", "internal/platform/tlscert", "internal/platform/db",
		"internal/auth/oidc", "internal/platform/disk", "internal/platform/auditlog", "internal/platform/safehttp",
		"internal/platform/restoreguard", "internal/auth/tokencrypt",
	},
	"subjects": {
		"internal/domain/credit", "internal/domain/delivery", "internal/domain/hashtag/stats",
		"internal/domain/hashtag/list", "internal/domain/hashtag/search", "internal/domain/job",
		"internal/domain/analytics", "internal/domain/erasure", "internal/domain/ratelimit", "internal/domain/media",
		"internal/domain/notification", "internal/auth/oauth", "internal/auth/passkey", "internal/domain/post",
		"internal/domain/idempotency", "internal/domain/report", "internal/domain/account",
		"internal/platform/clusterstats", "internal/domain/team", "internal/auth/totp", "internal/domain/voice",
	},
	"network": {"internal/network", "internal/network/graph"},
	"adapters": {
		"internal/network/bluesky", "internal/network/facebook", "internal/network/instagram",
		"internal/network/linkedin", "internal/network/pinterest", "internal/network/threads",
		"internal/network/tiktok", "internal/network/x", "internal/network/youtube",
	},
	"analyses": {
		"internal/domain/report/analysis", "internal/domain/report/result", "internal/domain/report/hashtaganalysis",
		"internal/domain/report/words",
	},
	"sources": {
		"internal/domain/provider/bridge", "internal/domain/provider/instagramgraph", "internal/domain/provider/joined",
		"internal/domain/provider/tiktokresearch", "internal/domain/provider/wire",
	},
	"sandbox": {"internal/sandbox"},
	"sandbox shared": {
		"internal/sandbox/base", "internal/sandbox/graph", "internal/sandbox/insights", "internal/sandbox/marker",
		"internal/sandbox/oauth", "internal/sandbox/rest", "internal/sandbox/store", "internal/sandbox/world",
	},
	"sandbox networks": {
		"internal/sandbox/bluesky", "internal/sandbox/bridge", "internal/sandbox/facebook",
		"internal/sandbox/instagram", "internal/sandbox/linkedin", "internal/sandbox/pinterest",
		"internal/sandbox/threads", "internal/sandbox/tiktok", "internal/sandbox/x", "internal/sandbox/youtube",
	},
	"app": {
		"internal/web", "internal/web/account", "internal/web/accounts", "internal/web/compose", "internal/web/consent",
		"internal/web/shell", "internal/web/hashtags", "internal/web/erasure", "internal/web/library",
		"internal/web/notifications", "internal/web/operator", "internal/web/plot", "internal/web/posts",
		"internal/web/reference", "internal/web/reports", "internal/web/settings", "internal/web/voices",
	},
	"calling": {"internal/apicli"},
	"server":  {"internal/server"},
	"tests": {
		"internal/tools/archtest", "internal/tools/clientgen", "internal/domain/hashtag/syntheticrelated",
		"internal/network/networktest", "internal/domain/report/synthetic", "internal/domain/report/synthetichashtag",
		"internal/testkit", "internal/testkit/acme", "internal/testkit/authenticator", "internal/testkit/collector",
		"internal/testkit/fixture", "internal/testkit/must", "internal/testkit/oidcserver", "internal/testkit/pds",
		"internal/testkit/postgres", "internal/testkit/prism", "internal/testkit/program", "internal/testkit/redis",
		"internal/testkit/s3",
	},
}

// forbidden lists the arrows that must not be. The names are rooms, packages, FOLDER/... with all below it, ours
// for everything of this module, and modules of others.
var forbidden = []rule{
	{
		who: names("edges"), what: names("subjects", "ground", "adapters", "network"),
		why: "an edge knows operations through the registry alone; one that knew a subject could pass the checks by",
	}, {
		who: names("ours"), notWho: names("internal/server", "cmd/...", "test/...", "bench/..."), what: names("edges"),
		why: "nothing behind an edge knows who asks, so that REST and the tools cannot differ",
	}, {
		who: names("ours"), notWho: names("internal/api/mcp", "test/...", "bench/..."),
		what: names("github.com/modelcontextprotocol/go-sdk"),
		why:  "the tools' protocol is the tools' edge's affair",
	}, {
		who: names("subjects"), what: names("net/http"),
		why: "a subject serves no HTTP; its operations.go may name methods and statuses",
	}, {
		who: names("words"), what: names("ours"), notWhat: names("words", "leaves", "internal/platform/db"),
		why: "what an operation, a fault and a capability are depends on nothing that does something with them; a " +
			"call carries its transaction",
	}, {
		who: names("internal/core/access", "internal/apierr", "leaves"), what: names("ours"),
		why: "everything leans on these, so they lean on nothing",
	}, {
		who: names("pipeline"), what: names("ours"), notWhat: names("words", "leaves", "internal/platform/db"),
		why: "the path around every operation knows no subject; what it needs of them it declares as a port",
	}, {
		who: names("subjects"), what: names("pipeline"),
		why: "an operation does not know the path that leads to it",
	}, {
		who: names("shared"), what: names("subjects", "ground", "network", "adapters", "sandbox"),
		why: "what the edges share follows from the registry and the kinds of fault, whatever the subjects are",
	}, {
		who: names("subjects"), what: names("shared"),
		why: "how things are asked and shown over HTTP is not a subject's affair",
	}, {
		who: names("subjects"), what: names("subjects"),
		why: "subjects meet through small interfaces that the server joins, but for those listed with a reason",
	}, {
		who: names("subjects"), what: names("adapters", "sandbox"),
		why: "a subject knows what a network is, not which ones there are",
	}, {
		who: names("network", "adapters"), what: names("ours"), notWhat: names("network"),
		why: "a network speaks its protocol: it knows no posts, no database, no queue and no other network",
	}, {
		who: names("ours"), notWho: names("internal/server", "app", "test/..."), what: names("app"),
		why: "nothing behind the pages knows who asks",
	}, {
		who: names("ours"), notWho: names("app"), what: names("github.com/alexedwards/scs/v2"),
		why: "one place knows whose browser is signed in",
	}, {
		who: names("ours"), notWho: names("internal/auth/passkey"), what: names("github.com/go-webauthn/webauthn"),
		why: "one place checks passkeys, so that one place is to be read when it matters how",
	}, {
		who: names("ours"), notWho: names("internal/auth/totp", "test/..."), what: names("github.com/pquerna/otp"),
		why: "one place checks one-time codes, so that one place is to be read when it matters how",
	}, {
		who: names("ours"), notWho: names("internal/platform/tlscert"), what: names("github.com/caddyserver/certmagic"),
		why: "one place gets certificates, so that one place is to be read when it matters how",
	}, {
		who: names("ours"), notWho: names("internal/platform/tracing", "test/..."), what: names("go.opentelemetry.io/otel"),
		why: "one place tells others how requests go, so that one place is to be read when it matters what is told",
	}, {
		who: names("ours"), notWho: names("internal/auth/oidc"), what: names("github.com/coreos/go-oidc/v3"),
		why: "one place believes what a directory says of people",
	}, {
		who: names("ours"), notWho: names("internal/domain/notification"), what: names("github.com/wneessen/go-mail"),
		why: "one place sends mail, so that one place is to be read when it matters what is in it",
	}, {
		who: names("ours"), notWho: names("internal/platform/safehttp"), what: names("code.dny.dev/ssrf"),
		why: "one place goes where strangers send us, so that one place is to be read when it matters how",
	}, {
		who: names("ours"), notWho: names("internal/domain/post"), what: names("github.com/teambition/rrule-go"),
		why: "one place knows when a series occurs",
	}, {
		who: names("ours"), notWho: names("internal/platform/blob", "tests"), what: names("github.com/minio/minio-go/v7"),
		why: "one place knows whether files lie on a disk or in S3",
	}, {
		who: names("pictures"), what: names("ours"), notWhat: names("internal/platform/mediainfo", "internal/platform/loadshed"),
		why: "making a smaller picture and removing metadata are about bytes alone",
	}, {
		who: names("sources"), what: names("ours"), notWhat: names("internal/domain/provider", "internal/domain/provider/wire"),
		why: "a source of public figures speaks its protocol: it knows no jobs, no credits and no other source",
	}, {
		who: names("analyses"), what: names("ours"), notWhat: names("analyses", "internal/domain/provider"),
		why: "what figures mean follows from the figures alone: the same ones give the same answer, on every machine and at every time",
	}, {
		who: names("ours"), notWho: names("internal/server", "sources"), what: names("sources"),
		why: "a subject knows what a source is, not which one there is",
	}, {
		who: names("internal/sandbox/..."), what: names("ours"), notWhat: names("internal/sandbox/..."),
		why: "the sandbox shares only the protocol with the adapters that talk to it; sharing code would share mistakes",
	}, {
		who: names("ours"), what: names("sandbox"),
		notWho: names("cmd/...", "internal/server", "internal/network/networktest", "internal/testkit/fixture"),
		why:    "real adapters talk to the sandbox over HTTP, as they do to a network; there is no second path for it",
	}, {
		who: names("ours"), notWho: names("internal/sandbox/..."), what: names("sandbox shared", "sandbox networks"),
		inTests: true,
		why:     "package sandbox is the interface of the sandbox; its parts are its own",
	}, {
		who: names("sandbox shared", "sandbox networks"), what: names("sandbox", "sandbox networks"),
		why: "a network of the sandbox stands alone; what several need is in the shared packages",
	}, {
		who: names("ground"), what: names("ours"), notWhat: names("ground", "words", "leaves"),
		why: "what subjects stand on does not know what stands on it",
	}, {
		who: names("ours"), notWho: names("cmd/...", "test/...", "bench/...", "internal/testkit/fixture"),
		what: names("server"), inTests: true,
		why: "the composition root knows everybody, so only the command line and tests of the whole program know it",
	}, {
		who: names("ours"), notWho: names("tests", "test/...", "bench/..."), what: names("tests"),
		why: "what tests stand on must not be in the program",
	}, {
		who: names("client", "internal/apicli", "examples/..."), what: names("ours"), notWhat: names("client"),
		why: "a client knows what the description tells and nothing else, as any other program that calls the API",
	}, {
		who: names("ours"), notWho: names("internal/apicli", "examples/..."), what: names("client"),
		why: "the service does not call itself",
	}, {
		who: names("ours"), notWho: names("internal/domain/job"), what: names("github.com/riverqueue/river"),
		why: "the queue only wakes work up: nobody else sees its jobs or refers to their ids",
	}, {
		who: names("ours"), notWho: names("internal/domain/ratelimit", "tests"),
		what: names("github.com/redis/go-redis/v9", "github.com/throttled/throttled/v2"),
		why:  "one place counts how fast is asked; nothing else may come to need a Redis",
	}, {
		who: names("ours"), notWho: names("internal/auth/tokencrypt"), what: names("github.com/tink-crypto/tink-go/v2"),
		why: "one place seals, so that one place is to be read when it matters how",
	}, {
		who: names("ours"), notWho: names("internal/platform/db", "internal/platform/sqlite", "tests", "test/...", "bench/..."),
		what: names("github.com/mattn/go-sqlite3", "modernc.org/sqlite", "github.com/jackc/pgx/v5", "github.com/pressly/goose/v3"),
		why:  "all SQL of the program goes through package db, which knows the two databases",
	},
}

// allowed lists the arrows that a rule forbids and that are there for a reason. One that nobody uses any more
// fails the test.
var allowed = []exception{
	{"internal/domain/post", "internal/domain/job", "publishing a post makes the job that clients follow, in the same transaction"},
	{"internal/domain/post", "internal/domain/account", "a post goes to accounts: it reads which the team has and how they stand"},
	{"internal/domain/delivery", "internal/domain/post", "a delivery settles its post, in the transaction that ends it"},
	{"internal/domain/delivery", "internal/domain/account", "a delivery acts by an account's grant and may lose it"},
	{"internal/domain/delivery", "internal/domain/job", "the last delivery ends the job; the queue wakes deliveries"},
	{"internal/domain/analytics", "internal/domain/account", "figures are collected by an account's grant, which may be lost by that"},
	{"internal/domain/report", "internal/domain/job", "a report is made by a job that clients follow, begun and ended " +
		"in the same transactions"},
	{"internal/domain/hashtag/list", "internal/domain/hashtag/stats", "an opened list shows what is known of its " +
		"hashtags, and those that are added are to become known"},
	{"internal/domain/hashtag/search", "internal/domain/job", "a search is a job that clients follow, begun and ended " +
		"in the same transactions"},
	{"internal/domain/hashtag/search", "internal/domain/hashtag/stats", "what searches find is what is known of hashtags, and feeds it"},
	{"internal/domain/provider/instagramgraph", "internal/platform/db", "which account asked for which hashtag is " +
		"kept for days, and shared by all nodes"},
	{"internal/domain/media", "internal/domain/job", "an import, a download and an upload batch each have a job that " +
		"clients follow, made and ended in the same transaction"},
	{"internal/domain/media", "internal/core/pipeline", "an upload link is refused by what stands in the way of the " +
		"key that opened it, with the pipeline's own words"},
	{"internal/domain/idempotency", "internal/core/pipeline", "it fills the pipeline's port and takes its claim"},
	{"internal/domain/ratelimit", "internal/core/pipeline", "it fills the pipeline's ports for rates and free calls"},
	{"internal/domain/credit", "internal/core/pipeline", "it fills the pipeline's port and takes its charge"},
	{"internal/sandbox/store", "internal/platform/sqlite", "the sandbox keeps what it holds in a file of its own; how a " +
		"file is opened is no part of the protocol"},
}

func TestArrows(t *testing.T) {
	t.Parallel()
	g := must.Get(read("../../.."))(t)
	for _, complaint := range check(g, rooms, forbidden, allowed) {
		t.Error(complaint)
	}
}
