package archtest

import "testing"

// layers assigns every package below internal/ to a layer. The test fails for packages that are missing.
var layers = map[string][]string{
	"model": {"internal/core/access", "internal/apierr", "internal/core/operation"},
	"leaves": {
		"internal/locale", "internal/platform/failpoint", "internal/teamtime", "internal/auth/passwordcheck",
		"internal/platform/plaintext", "internal/platform/mediainfo", "internal/auth/apikey",
		"internal/platform/loadshed", "internal/domain/provider", "internal/platform/sqlite", "internal/core/plan",
		"internal/platform/tracing", "internal/domain/media/filename", "internal/platform/retryafter",
		"internal/docsite",
	},
	"pictures": {"internal/platform/thumbnail", "internal/platform/stripmeta"},
	"pipeline": {"internal/core/pipeline"},
	"edges":    {"internal/api/mcp", "internal/api/rest"},
	"shared":   {"internal/api/openapi", "internal/api/problem"}, // shared by the edges
	"ground": {
		"internal/platform/backup", "internal/platform/blob", "internal/platform/tlscert", "internal/platform/db",
		"internal/auth/oidc", "internal/auth/passwords", "internal/auth/throttle",
		"internal/platform/disk", "internal/platform/auditlog", "internal/platform/safehttp",
		"internal/platform/restoreguard", "internal/auth/tokencrypt", "internal/domain/team/directoryroles",
		"internal/domain/team/knownbrowser", "internal/domain/team/linkemail", "internal/domain/team/names",
		"internal/domain/team/lastoperator", "internal/domain/media/storecheck",
	},
	"subjects": {
		"internal/domain/credit", "internal/domain/delivery", "internal/domain/hashtag/stats",
		"internal/domain/hashtag/list", "internal/domain/hashtag/search", "internal/domain/job",
		"internal/domain/analytics", "internal/domain/erasure", "internal/domain/ratelimit", "internal/domain/media",
		"internal/domain/media/gallery", "internal/domain/media/crop",
		"internal/domain/notification", "internal/auth/oauth", "internal/auth/passkey", "internal/domain/post",
		"internal/domain/post/approval", "internal/domain/post/calendar", "internal/domain/post/recurrence",
		"internal/domain/post/postlist", "internal/domain/post/thumbnailcheck", "internal/domain/post/warning",
		"internal/domain/post/attachment", "internal/domain/post/caption", "internal/domain/post/summary",
		"internal/domain/post/thread", "internal/domain/post/comment", "internal/domain/post/due",
		"internal/domain/post/excerpt", "internal/domain/post/listquery", "internal/domain/post/posttime",
		"internal/domain/post/teamoptions", "internal/domain/post/seriesgap", "internal/domain/post/threadsplit",
		"internal/domain/post/override", "internal/domain/post/label",
		"internal/domain/idempotency", "internal/domain/report",
		"internal/domain/report/sharelink", "internal/domain/report/subscription",
		"internal/domain/account", "internal/domain/account/appcheck",
		"internal/platform/clusterstats", "internal/domain/team", "internal/domain/team/authn", "internal/domain/team/teamsearch",
		"internal/domain/team/teammembers",
		"internal/auth/totp", "internal/domain/voice",
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
		"internal/web", "internal/web/approvals", "internal/web/account", "internal/web/accounts", "internal/web/components",
		"internal/web/compose", "internal/web/consent", "internal/web/datepicker", "internal/web/emoji",
		"internal/web/shell", "internal/web/hashtags", "internal/web/erasure", "internal/web/guides", "internal/web/library",
		"internal/web/live",
		"internal/web/notifications", "internal/web/operator", "internal/web/plot", "internal/web/posts",
		"internal/web/preview", "internal/web/reference", "internal/web/reports", "internal/web/search",
		"internal/web/settings", "internal/web/unsaved", "internal/web/voices",
	},
	"apicli": {"internal/apicli", "internal/apicli/profile", "internal/apicli/manpage"},
	"server": {"internal/server"},
	"tests": {
		"internal/tools/archtest", "internal/tools/clientgen", "internal/tools/descriptions", "internal/tools/site",
		"internal/domain/hashtag/syntheticrelated",
		"internal/network/networktest", "internal/domain/report/synthetic", "internal/domain/report/synthetichashtag",
		"internal/domain/post/posttest", "internal/testkit", "internal/testkit/acme",
		"internal/testkit/authenticator", "internal/testkit/collector",
		"internal/testkit/fixture", "internal/testkit/mcpsuite", "internal/testkit/must", "internal/testkit/oidcserver",
		"internal/testkit/pds", "internal/testkit/postgres", "internal/testkit/prism", "internal/testkit/program",
		"internal/testkit/redis", "internal/testkit/require", "internal/testkit/s3",
		"internal/testkit/templatecheck",
	},
}

// forbidden holds the rules. A name is a layer, a package, FOLDER/... for all packages below a folder, "ours" for
// all packages of this module, or another module.
var forbidden = []rule{
	{
		from: names("edges"), to: names("subjects", "ground", "adapters", "network"),
		reason: "edges use operations only through the registry, so that no call bypasses its checks",
	}, {
		from: names("ours"), notFrom: names("internal/server", "cmd/...", "test/...", "bench/..."), to: names("edges"),
		reason: "nothing else depends on the edges, so that REST and MCP cannot differ",
	}, {
		from: names("ours"), notFrom: names("internal/api/mcp", "test/...", "bench/..."),
		to:     names("github.com/modelcontextprotocol/go-sdk"),
		reason: "only the MCP edge depends on the protocol's library",
	}, {
		from: names("subjects"), to: names("net/http"),
		reason: "subjects serve no HTTP; operations.go may use the constants for methods and statuses",
	}, {
		from: names("model"), to: names("ours"), notTo: names("model", "leaves", "internal/platform/db"),
		reason: "the definitions of operations, errors and capabilities depend only on leaves and on transactions",
	}, {
		from: names("internal/core/access", "internal/apierr", "leaves"), to: names("ours"),
		reason: "everything may import these, so they import nothing",
	}, {
		from: names("pipeline"), to: names("ours"), notTo: names("model", "leaves", "internal/platform/db"),
		reason: "the pipeline declares interfaces that subjects implement",
	}, {
		from: names("subjects"), to: names("pipeline"),
		reason: "operations do not depend on the pipeline that runs them",
	}, {
		from: names("shared"), to: names("subjects", "ground", "network", "adapters", "sandbox"),
		reason: "packages shared by the edges depend only on the registry and the errors",
	}, {
		from: names("subjects"), to: names("shared"),
		reason: "subjects do not depend on the representation in HTTP",
	}, {
		from: names("subjects"), to: names("subjects"),
		reason: "subjects use each other through interfaces that the server connects; exceptions need a reason",
	}, {
		from: names("subjects"), to: names("adapters", "sandbox"),
		reason: "subjects use networks only through their interface",
	}, {
		from: names("network", "adapters"), to: names("ours"), notTo: names("network", "internal/platform/retryafter"),
		reason: "a network implements only its protocol, without posts, database, queue and other networks",
	}, {
		from: names("ours"), notFrom: names("internal/server", "app", "test/..."), to: names("app"),
		reason: "nothing else depends on the app's pages",
	}, {
		from: names("ours"), notFrom: names("app"), to: names("github.com/alexedwards/scs/v2"),
		reason: "sessions of browsers are handled in one place",
	}, {
		from: names("ours"), notFrom: names("internal/auth/passkey"), to: names("github.com/go-webauthn/webauthn"),
		reason: "passkeys are checked in one place",
	}, {
		from: names("ours"), notFrom: names("internal/auth/totp", "test/..."), to: names("github.com/pquerna/otp"),
		reason: "one-time codes are checked in one place",
	}, {
		from: names("ours"), notFrom: names("internal/platform/tlscert"), to: names("github.com/caddyserver/certmagic"),
		reason: "certificates are managed in one place",
	}, {
		from: names("ours"), notFrom: names("internal/platform/tracing", "test/..."), to: names("go.opentelemetry.io/otel"),
		reason: "traces are sent in one place, which decides what they contain",
	}, {
		from: names("ours"), notFrom: names("internal/auth/oidc"), to: names("github.com/coreos/go-oidc/v3"),
		reason: "identities of OpenID Connect providers are verified in one place",
	}, {
		from: names("ours"), notFrom: names("internal/domain/notification"), to: names("github.com/wneessen/go-mail"),
		reason: "mail is sent in one place",
	}, {
		from: names("ours"), notFrom: names("internal/platform/safehttp"), to: names("code.dny.dev/ssrf"),
		reason: "addresses from users are requested in one place",
	}, {
		from: names("ours"), notFrom: names("internal/platform/blob", "tests"), to: names("github.com/minio/minio-go/v7"),
		reason: "files are stored in one place, on a disk or in S3",
	}, {
		from: names("pictures"), to: names("ours"), notTo: names("internal/platform/mediainfo", "internal/platform/loadshed"),
		reason: "scaling images and removing metadata depend only on bytes",
	}, {
		from: names("sources"), to: names("ours"),
		notTo:  names("internal/domain/provider", "internal/domain/provider/wire", "internal/platform/retryafter"),
		reason: "a source implements only its protocol, without jobs, credits and other sources",
	}, {
		from: names("analyses"), to: names("ours"), notTo: names("analyses", "internal/domain/provider"),
		reason: "analyses depend only on their input, so that they are reproducible",
	}, {
		from: names("ours"), notFrom: names("internal/server", "sources"), to: names("sources"),
		reason: "subjects use sources only through their interface",
	}, {
		from: names("internal/sandbox/..."), to: names("ours"), notTo: names("internal/sandbox/..."),
		reason: "the sandbox shares no code with the adapters, because both could have the same bug",
	}, {
		from: names("ours"), to: names("sandbox"),
		notFrom: names("cmd/...", "internal/server", "internal/network/networktest", "internal/testkit/fixture"),
		reason:  "adapters call the sandbox over HTTP like a network",
	}, {
		from: names("ours"), notFrom: names("internal/sandbox/..."), to: names("sandbox shared", "sandbox networks"),
		inTests: true,
		reason:  "package sandbox is the interface of the sandbox",
	}, {
		from: names("sandbox shared", "sandbox networks"), to: names("sandbox", "sandbox networks"),
		reason: "the sandbox's networks do not depend on each other; shared code is in the shared packages",
	}, {
		from: names("ground"), to: names("ours"), notTo: names("ground", "model", "leaves"),
		reason: "platform packages do not depend on subjects",
	}, {
		from: names("ours"), notFrom: names("cmd/...", "test/...", "bench/...", "internal/testkit/fixture"),
		to: names("server"), inTests: true,
		reason: "only the command line and tests of the whole program import the composition root",
	}, {
		from: names("ours"), notFrom: names("tests", "test/...", "bench/..."), to: names("tests"),
		reason: "test helpers must not be in the program",
	}, {
		from: names("apicli", "examples/..."), to: names("ours"),
		notTo:  names("client", "internal/apicli/profile", "internal/apicli/manpage"),
		reason: "clients depend only on the client's module, which depends on nothing",
	}, {
		from: names("ours"), notFrom: names("internal/apicli", "examples/..."), to: names("client"),
		reason: "the service does not call itself",
	}, {
		from: names("ours"), notFrom: names("internal/domain/job"), to: names("github.com/riverqueue/river"),
		reason: "only one package uses the queue, so that nothing else depends on its jobs",
	}, {
		from: names("ours"), notFrom: names("internal/domain/ratelimit", "tests"),
		to:     names("github.com/redis/go-redis/v9", "github.com/throttled/throttled/v2"),
		reason: "rates are limited in one place, and nothing else may depend on Redis",
	}, {
		from: names("ours"), notFrom: names("internal/auth/tokencrypt"), to: names("github.com/tink-crypto/tink-go/v2"),
		reason: "tokens are encrypted in one place",
	}, {
		from: names("ours"), notFrom: names("internal/platform/db", "internal/platform/sqlite", "tests", "test/...", "bench/..."),
		to:     names("github.com/mattn/go-sqlite3", "modernc.org/sqlite", "github.com/jackc/pgx/v5", "github.com/pressly/goose/v3"),
		reason: "only package db, which supports both databases, imports their drivers",
	},
}

// allowed holds exceptions to the rules. The test fails for unused exceptions.
var allowed = []exception{
	{"internal/domain/team", "internal/domain/team/authn", "a change of access clears the cache of keys at once"},
	{"internal/domain/post", "internal/domain/job", "publishing a post creates its job in the same transaction"},
	{"internal/domain/post", "internal/domain/account", "a post reads the team's accounts and their states"},
	{"internal/domain/post", "internal/domain/post/recurrence", "a series evaluates its rule"},
	{"internal/domain/post", "internal/domain/post/thumbnailcheck", "the thumbnail of a post must be an image"},
	{"internal/domain/post", "internal/domain/post/warning", "a post shows what its publication lacks"},
	{"internal/domain/post", "internal/domain/post/due", "a due post is published if its team may publish"},
	{"internal/domain/post", "internal/domain/post/excerpt", "a post has an excerpt of its text"},
	{"internal/domain/post", "internal/domain/post/listquery", "posts are listed by a query"},
	{"internal/domain/post", "internal/domain/post/posttime", "a post has a time"},
	{"internal/domain/post/approval", "internal/domain/post/posttime", "an approved post has a time"},
	{"internal/domain/post/listquery", "internal/domain/post/posttime", "a list has bounds"},
	{"internal/domain/delivery", "internal/domain/post/due", "due posts are delivered"},
	{"internal/domain/post", "internal/domain/post/thread", "a post has the parts of its thread"},
	{"internal/domain/post", "internal/domain/post/caption", "a post has texts"},
	{"internal/domain/post", "internal/domain/post/summary", "a post has a summary"},
	{"internal/domain/delivery", "internal/domain/post/thread", "a delivery publishes a part of a thread"},
	{"internal/domain/post/postlist", "internal/domain/post/thread", "a list explains why threads are incomplete"},
	{"internal/domain/post", "internal/domain/post/attachment", "a post has images and videos"},
	{"internal/domain/post/thread", "internal/domain/post/attachment", "a part of a thread has images and videos"},
	{"internal/domain/post", "internal/domain/post/comment", "a post has a first comment"},
	{"internal/domain/post", "internal/domain/post/override", "a post has content for single accounts"},
	{"internal/domain/post", "internal/domain/post/label", "a post has labels"},
	{"internal/domain/delivery", "internal/domain/post/comment", "a delivery publishes the first comment of its post"},
	{"internal/domain/post", "internal/domain/post/teamoptions", "a post shows the team's options that apply to it"},
	{"internal/domain/post", "internal/domain/post/seriesgap", "a series records what it skips"},
	{"internal/domain/team", "internal/domain/post/teamoptions", "only a team's managers set its options"},
	{"internal/domain/delivery", "internal/domain/post/warning", "a delivery stores what a published post lacks"},
	{"internal/domain/post/approval", "internal/domain/post", "a request and a decision update the post in the same transaction"},
	{"internal/domain/post/calendar", "internal/domain/post", "the calendar lists posts with their states and accounts"},
	{"internal/domain/post/postlist", "internal/domain/post", "the lists of the app show posts with their states and accounts"},
	{"internal/domain/post/calendar", "internal/domain/post/recurrence", "the calendar shows what series will create"},
	{"internal/domain/team/teamsearch", "internal/domain/team", "the operator finds teams and people"},
	{"internal/domain/team/teammembers", "internal/domain/team", "invitations are checked by the rules of the team"},
	{"internal/domain/delivery", "internal/domain/post", "the end of a delivery updates its post in the same transaction"},
	{"internal/domain/delivery", "internal/domain/account", "a delivery uses an account's grant and may find it revoked"},
	{"internal/domain/account/appcheck", "internal/domain/account", "the check of the apps uses connected accounts"},
	{"internal/domain/account/appcheck", "internal/domain/delivery",
		"the check of the apps shows the outcome of the last post with each app"},
	{"internal/domain/delivery", "internal/domain/job", "the last delivery ends the job, and the queue starts deliveries"},
	{"internal/domain/analytics", "internal/domain/account", "collection uses an account's grant and may find it revoked"},
	{"internal/domain/report", "internal/domain/job", "a report begins and ends its job in the same transactions"},
	{"internal/domain/hashtag/list", "internal/domain/hashtag/stats", "a list shows statistics of its hashtags, " +
		"and requests them for added ones"},
	{"internal/domain/hashtag/search", "internal/domain/job", "a search begins and ends its job in the same transactions"},
	{"internal/domain/hashtag/search", "internal/domain/hashtag/stats", "searches read and update the statistics of hashtags"},
	{"internal/domain/provider/instagramgraph", "internal/platform/db", "all nodes share which account requested " +
		"which hashtag"},
	{"internal/domain/media", "internal/domain/job", "imports, downloads and upload batches begin and end their job " +
		"in the same transaction"},
	{"internal/domain/media", "internal/core/pipeline", "an upload link fails with the same errors as the key that " +
		"created it"},
	{"internal/domain/media/crop", "internal/domain/media", "a cropped image is added to the library as a new item"},
	{"internal/domain/idempotency", "internal/core/pipeline", "it implements an interface of the pipeline"},
	{"internal/domain/ratelimit", "internal/core/pipeline", "it implements interfaces of the pipeline"},
	{"internal/domain/credit", "internal/core/pipeline", "it implements an interface of the pipeline"},
	{"internal/sandbox/store", "internal/platform/sqlite", "the sandbox has its own file, and opening it is no part of the protocol"},
}

func TestDependencies(t *testing.T) {
	t.Parallel()
	g, err := read("../../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, violation := range check(g, layers, forbidden, allowed) {
		t.Error(violation)
	}
}
