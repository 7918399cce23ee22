package fuzz

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/must"
)

// The number of requests per database, and the random seed. By default, every run sends the same few thousand
// requests.
const (
	manyVariable = "PRESSROOM_FUZZ"
	seedVariable = "PRESSROOM_FUZZ_SEED"
)

const (
	many     = 4000
	rounds   = 5 // background jobs run between the rounds
	mostSaid = 10
	atMost   = 50 * time.Second // per database by default, because other tests run too
)

// run is one run of requests against one database.
type run struct {
	*env
	*generator

	t      *testing.T
	ops    []*described
	rows   []int64
	met    map[int]int // number of responses by status
	deep   map[string]int
	said   int
	number int
}

// TestRequests sends random requests, some of them invalid. A request must not cause an internal error or hang. An
// error must not echo the input and must have no effect. Every response must match the description. In the end,
// credits must be consistent.
func TestRequests(t *testing.T) {
	t.Parallel()
	seed, requests := settings(t)
	t.Logf("%s=%d %s=%d", seedVariable, seed, manyVariable, requests)
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		t.Parallel()
		h := newEnv(t, url)
		random := rand.New(rand.NewPCG(seed, uint64(requests)))
		r := &run{
			env: h, t: t, ops: h.describe(), met: map[int]int{}, deep: map[string]int{},
			generator: &generator{Rand: random, pool: &pool{random: random, values: map[string][]any{}}},
		}
		r.createItems()
		until := time.Now().Add(atMost)
		for round := range rounds {
			for range requests / rounds {
				if requests <= many && time.Now().After(until) {
					t.Logf("the time limit was reached after %d requests", r.number)
					break
				}
				r.sendRandom()
			}
			h.work()
			r.rows = r.count()
			if t.Failed() {
				t.Fatalf("%s=%d %s=%d, round %d", seedVariable, seed, manyVariable, requests, round+1)
			}
		}
		h.mustBeConsistent()
		r.checkCoverage()
	})
}

func settings(t *testing.T) (uint64, int) {
	t.Helper()
	seed, requests := uint64(1), many
	if testing.Short() {
		requests = many / 8
	}
	if text := os.Getenv(manyVariable); text != "" {
		n := must.Get(strconv.Atoi(text))(t)
		requests, seed = n, uint64(time.Now().UnixNano())
	}
	if text := os.Getenv(seedVariable); text != "" {
		n := must.Get(strconv.ParseUint(text, 10, 64))(t)
		seed = n
	}
	return seed, requests
}

// createItems creates items of every kind in both teams with the examples of the operations.
func (r *run) createItems() {
	r.t.Helper()
	for _, of := range []crew{r.theirs, r.ours} {
		r.pool.values, r.pool.texts = map[string][]any{}, nil
		for _, id := range of.accounts {
			r.pool.add("social_accounts", "id", float64(id))
		}
		for range 6 {
			for _, op := range r.ops {
				k := r.call(op)
				a, broken := r.ask(k.overREST(of.keys[access.Full]))
				if broken != "" {
					r.t.Fatalf("%s: %s", op.tool, broken)
				}
				if a.status < 300 {
					r.learn(op, a)
				}
			}
		}
		if of.team == r.theirs.team {
			for _, key := range []string{"posts.id", "social_accounts.id", "media.id", "hashtag_lists.id", "reports.id"} {
				r.others = append(r.others, r.pool.values[key]...)
			}
		}
	}
	r.work()
	r.rows = r.count()
}

// remember stores the values of an answer, separately for each team.
func (r *run) remember(req *request, a answer) {
	if !req.theirs {
		r.learn(req.op, a)
		return
	}
	theirs := &pool{random: r.Rand, values: map[string][]any{}}
	theirs.addResponse(req.op.subject(), a.members)
	for _, name := range []string{req.op.subject() + ".id", "reports.id", "report.id", "posts.id"} {
		if r.others = append(r.others, theirs.values[name]...); len(r.others) > 4*maxValues {
			r.others = r.others[maxValues:]
		}
	}
}

// findLeak returns a value of the other team in an answer.
func (r *run) findLeak(req *request, a answer) string {
	for _, id := range r.others {
		if text, ok := id.(string); ok && !req.theirs && bytes.Contains(a.body, []byte(text)) {
			return "it reveals another team's data: " + text
		}
	}
	return ""
}

func (r *run) learn(op *described, a answer) {
	of := op.subject()
	r.pool.addResponse(of, a.members)
}

func (r *run) count() []int64 {
	rows := must.Get(r.env.rows())(r.t)
	return rows
}

// sendRandom generates a request, sends it and checks the response.
func (r *run) sendRandom() {
	r.number++
	req := r.request()
	a, broken := r.try(req)
	if broken == "" {
		r.met[a.status]++
		if a.status < 300 && a.status > 0 && !a.plain {
			r.deep[req.op.tool]++
			r.remember(req, a)
		}
		return
	}
	if r.said++; r.said > mostSaid {
		return
	}
	small := r.shrink(req, broken)
	got, _ := r.ask(small)
	r.t.Errorf("request %d, %s: %s\n\n%.6000s\n\nresponse: %d %v\n%.3000s", r.number, req.op.tool, broken,
		printable(small.String()), got.status, got.header, got.body)
}

// printable returns a text in which non-printable bytes are escaped.
func printable(text string) string {
	quoted := strconv.QuoteToASCII(text)
	return strings.ReplaceAll(quoted[1:len(quoted)-1], `\r\n`, "\n")
}

// request generates a request. A third are valid, a third have invalid arguments, and a third have further errors.
func (r *run) request() *request {
	k := r.call(pick(r.generator, r.ops))
	wrong := r.IntN(3)
	for range wrong {
		r.corruptArgument(&k)
	}
	key := r.ours.keys[access.Full]
	theirs := false
	switch r.IntN(20) {
	case 0:
		key = r.ours.keys[access.ReadOnly]
	case 1:
		key = r.ours.keys[access.Drafts]
	case 2:
		key, theirs = r.theirs.keys[access.Full], true
	}
	req := k.overREST(key)
	if r.in(3) {
		req = k.overTools(key)
	}
	req.theirs = theirs
	if wrong == 2 || wrong == 1 && r.in(4) {
		r.corruptRequest(req)
	}
	return req
}

// try sends a request and returns the violated rule, or "".
func (r *run) try(req *request) (answer, string) {
	a, broken := r.ask(req)
	if broken != "" || a.status == 0 {
		return a, broken
	}
	before := r.rows
	r.rows = r.count()
	if changed := r.since(before, r.rows); len(changed) > 0 && (a.status >= 400 || a.plain) {
		return a, fmt.Sprintf("a failed request changes %v", changed)
	}
	if told := r.findLeak(req, a); told != "" {
		return a, told
	}
	return a, a.brokenRule(req)
}

// shrink removes all parts of a request that are not needed for the same violation.
func (r *run) shrink(req *request, broken string) *request {
	kind, _, _ := strings.Cut(broken, ":")
	still := func(smaller *request) bool {
		_, what := r.try(smaller)
		return strings.HasPrefix(what, kind)
	}
	for again, tries := true, 0; again && tries < 200; {
		again = false
		for _, smaller := range req.smaller() {
			tries++
			if still(smaller) {
				req, again = smaller, true
				break
			}
		}
	}
	return req
}

// smaller returns copies of the request, each with one part removed.
func (r *request) smaller() []*request {
	var out []*request
	for i := range r.header {
		less := *r
		less.header = slices.Delete(slices.Clone(r.header), i, i+1)
		out = append(out, &less)
	}
	if path, query, found := strings.Cut(r.target, "?"); found {
		pairs := strings.Split(query, "&")
		for i := range pairs {
			less := *r
			less.target = strings.TrimSuffix(path+"?"+strings.Join(slices.Delete(slices.Clone(pairs), i, i+1), "&"), "?")
			out = append(out, &less)
		}
	}
	var members map[string]json.RawMessage
	if json.Unmarshal([]byte(r.body), &members) == nil && !r.tool {
		for name := range members {
			rest := map[string]any{}
			for other, value := range members {
				if other != name {
					rest[other] = verbatim(value)
				}
			}
			less := *r
			less.body = jsonOf(rest)
			out = append(out, &less)
		}
	}
	if half := strings.Index(r.body, strings.Repeat(marker, 8)); half >= 0 {
		less := *r
		less.body = strings.ReplaceAll(r.body, strings.Repeat(marker, 8), strings.Repeat(marker, 4))
		out = append(out, &less)
	}
	return out
}

// checkCoverage checks that enough requests succeeded, because rejected requests test little.
func (r *run) checkCoverage() {
	r.t.Helper()
	good := 0
	for _, n := range r.deep {
		good += n
	}
	if good < r.number/10 {
		r.t.Errorf("only %d of %d requests succeeded", good, r.number)
	}
	for _, op := range r.ops {
		if r.deep[op.tool] == 0 {
			r.t.Logf("no %s succeeded", op.tool)
		}
	}
	for _, status := range []int{
		http.StatusOK, http.StatusCreated, http.StatusAccepted, http.StatusUnauthorized, http.StatusForbidden,
		http.StatusNotFound, http.StatusUnprocessableEntity,
	} {
		if r.met[status] == 0 {
			r.t.Errorf("no request returned status %d", status)
		}
	}
	r.t.Logf("answers by status: %v; successes by operation: %v", r.met, r.deep)
}
