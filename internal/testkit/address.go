package testkit

import (
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
)

// Test programs use blocks of ports below the ephemeral range. A test program reserves a block by listening at its
// first port.
const (
	firstPort  = 14_000
	blockCount = 180
	blockSize  = 100
)

var ports struct {
	sync.Mutex
	reserved  []net.Listener // listeners at the first ports of the reserved blocks
	next      int            // next port of the newest block
	remaining int            // number of unused ports of the newest block
}

// FreeAddr returns a loopback address at which nothing listens. It never returns the same address to another caller, so
// a server can be restarted at its address.
func FreeAddr() (string, error) {
	ports.Lock()
	defer ports.Unlock()
	for {
		for ports.remaining == 0 {
			if err := takeBlock(); err != nil {
				return "", err
			}
		}
		addr := loopback(ports.next)
		ports.next, ports.remaining = ports.next+1, ports.remaining-1
		if l, err := net.Listen("tcp", addr); err == nil {
			return addr, l.Close()
		}
	}
}

// takeBlock reserves a block of ports for this program.
func takeBlock() error {
	for _, i := range rand.Perm(blockCount) {
		first := firstPort + i*blockSize
		if l, err := net.Listen("tcp", loopback(first)); err == nil {
			ports.reserved, ports.next, ports.remaining = append(ports.reserved, l), first+1, blockSize-1
			return nil
		}
	}
	return fmt.Errorf("no free block of ports above %d", firstPort)
}

func loopback(port int) string { return fmt.Sprintf("127.0.0.1:%d", port) }
