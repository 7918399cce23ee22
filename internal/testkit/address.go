package testkit

import (
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
)

// Ports below those that systems hand out by themselves, in blocks. The first port of a block is listened at as long as
// the test program runs, by which other test programs see whose it is.
const (
	firstPort = 14_000
	blocks    = 180
	blockSize = 100
)

var ports struct {
	sync.Mutex
	held []net.Listener // the first ports of this program's blocks
	next int            // the next port of the newest block
	left int            // how many of it are left
}

// FreeAddr gives an address of this machine at which nobody listens. Nobody is given it again, neither in this test
// program nor in one that runs beside it: a server that is killed and started again finds it free, and no client of it
// finds another server.
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

// takeBlock makes a block of ports this program's.
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
