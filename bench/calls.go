package main

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync/atomic"
)

// requestFunc appends the next request to a buffer and returns the buffer.
type requestFunc func([]byte) []byte

// call is a measured call.
type call struct {
	name               string
	want               int                // expected HTTP status
	minRatio           float64            // minimum throughput, as a share of the floor's throughput
	minRatioToConstant map[string]float64 // the floor's minimum throughput compared with a constant response, by database
	newRequests        func(*process, int) requestFunc
}

// The minimum throughput of the floor on two cores, by database. It is a share of the throughput of a constant
// response. A slower floor would not be a useful baseline.
var (
	minRatioRow   = map[string]float64{"sqlite": 0.5, "postgres": 0.22}
	minRatioPage  = map[string]float64{"sqlite": 0.14, "postgres": 0.07}
	minRatioWrite = map[string]float64{"sqlite": 0.055, "postgres": 0.055}
)

const (
	readTarget  = 0.6
	writeTarget = 0.5
)

var (
	readCalls = []call{
		{"me", 200, readTarget, minRatioRow, func(p *process, _ int) requestFunc { return repeatRequest(get(p, "/api/v1/me")) }},
		{"get_post", 200, readTarget, nil, randomPost},
		listPosts,
	}
	listPosts = call{"list_posts", 200, readTarget, minRatioPage, func(p *process, _ int) requestFunc {
		return repeatRequest(get(p, "/api/v1/posts?limit=20"))
	}}
	createCall   = call{"create_post", 201, writeTarget, minRatioWrite, newPost}
	constantCall = call{"constant", 200, 0, nil, func(p *process, _ int) requestFunc { return repeatRequest(get(p, "/constant")) }}
)

func repeatRequest(request []byte) requestFunc {
	return func(buf []byte) []byte { return append(buf, request...) }
}

func get(p *process, path string) []byte {
	return []byte("GET " + path + " HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer " + p.data.Key + "\r\n\r\n")
}

// randomPost returns requests for random seeded posts, so that caches contain a smaller share of a larger table.
func randomPost(p *process, worker int) requestFunc {
	random := rand.New(rand.NewPCG(uint64(worker), uint64(p.data.posts)))
	head := []byte("GET /api/v1/posts/")
	tail := []byte(" HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer " + p.data.Key + "\r\n\r\n")
	return func(buf []byte) []byte {
		buf = append(buf, head...)
		buf = appendPostID(buf, random.IntN(p.data.posts))
		return append(buf, tail...)
	}
}

var keys atomic.Int64 // numbers the idempotency keys of this run

// newPost returns requests that create a draft for two accounts, each with a new idempotency key.
func newPost(p *process, _ int) requestFunc {
	body := fmt.Sprintf(`{"caption":%q,"account_ids":[%d,%d]}`, caption(7), p.data.Accounts[0], p.data.Accounts[1])
	head := []byte("POST /api/v1/posts HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer " + p.data.Key +
		"\r\nContent-Type: application/json\r\nContent-Length: " + strconv.Itoa(len(body)) + "\r\nIdempotency-Key: bench-")
	tail := []byte("\r\n\r\n" + body)
	return func(buf []byte) []byte {
		buf = append(buf, head...)
		buf = strconv.AppendInt(buf, keys.Add(1), 10)
		return append(buf, tail...)
	}
}
