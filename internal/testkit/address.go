package testkit

import (
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
)

// Ports below the ephemeral range, in blocks. A test program listens at the first port of its blocks, so that other
// test programs do not use them.
const (
	firstPort = 14_000
	blocks    = 180
	blockSize = 100
)

var ports struct {
	sync.Mutex
	held []net.Listener // the first ports of this program's blocks
	next int            // next port of the newest block
	left int            // remaining ports of it
}

// FreeAddr returns a loopback address at which nothing listens. No other call in any test program returns it, so a
// server can be killed and restarted at its address.
func FreeAddr() (string, error) {
	ports.Lock()
	defer ports.Unlock()
	for {
		for ports.left == 0 {
			if err := takeBlock(); err != nil {
				return "", err
			}
		}
		addr := loopback(ports.next)
		ports.next, ports.left = ports.next+1, ports.left-1
		if l, err := net.Listen("tcp", addr); err == nil {
			return addr, l.Close()
		}
	}
}

// takeBlock reserves a block of ports for this program.
func takeBlock() error {
	for _, i := range rand.Perm(blocks) {
		first := firstPort + i*blockSize
		if l, err := net.Listen("tcp", loopback(first)); err == nil {
			ports.held, ports.next, ports.left = append(ports.held, l), first+1, blockSize-1
			return nil
		}
	}
	return fmt.Errorf("no block of ports from %d on is free", firstPort)
}

func loopback(port int) string { return fmt.Sprintf("127.0.0.1:%d", port) }
