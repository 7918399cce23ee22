package storm

import (
	"io"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

const (
	reachWithin = 300 * time.Millisecond
	cutWithin   = 2000 // bytes of a response
)

// gate is a load balancer in front of the nodes. It forwards connections to ready nodes and can cut connections during
// a response.
type gate struct {
	net.Listener

	dice  func(int) int
	cuts  atomic.Bool  // whether every third connection is cut
	count atomic.Int64 // number of cut connections

	mu    sync.Mutex
	nodes []string
}

func newGate(dice func(int) int) (*gate, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	g := &gate{Listener: l, dice: dice}
	go g.serve()
	return g, nil
}

func (g *gate) url() string { return "http://" + g.Addr().String() }

// addNode adds a node.
func (g *gate) addNode(addr string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.nodes = append(g.nodes, addr)
}

func (g *gate) serve() {
	for {
		from, err := g.Accept()
		if err != nil {
			return
		}
		go g.pass(from)
	}
}

// pass forwards a connection to a node, or closes it if no node accepts it.
func (g *gate) pass(from net.Conn) {
	defer from.Close()
	g.mu.Lock()
	nodes := slices.Clone(g.nodes)
	g.mu.Unlock()
	first := g.dice(max(1, len(nodes)))
	for n := range nodes {
		node := nodes[(first+n)%len(nodes)]
		to, err := net.DialTimeout("tcp", node, reachWithin)
		if err != nil {
			continue
		}
		g.join(from, to)
		return
	}
}

func (g *gate) join(from, to net.Conn) {
	defer to.Close()
	go func() {
		_, _ = io.Copy(to, from)
		_ = to.(*net.TCPConn).CloseWrite()
	}()
	var back io.Reader = to
	if g.cuts.Load() && g.dice(3) == 0 {
		g.count.Add(1)
		back = io.LimitReader(to, int64(g.dice(cutWithin)))
	}
	_, _ = io.Copy(from, back)
}
