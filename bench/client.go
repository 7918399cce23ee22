package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"
)

// conn is a keep-alive connection with a minimal HTTP/1.1 client. The client and the server share the machine, so a
// slower client would hide the cost of the server.
type conn struct {
	net     net.Conn
	r       *bufio.Reader
	request []byte
}

const responseTimeout = 30 * time.Second // a server that takes longer counts as failed

func dial(addr string) (*conn, error) {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("connecting: %w", err)
	}
	return &conn{net: c, r: bufio.NewReaderSize(c, 16<<10)}, nil
}

func (c *conn) close() { _ = c.net.Close() } // all responses have been read

// do sends a request and returns the status. If keep is true, it also returns the body.
func (c *conn) do(request []byte, keep bool) (int, []byte, error) {
	if _, err := c.net.Write(request); err != nil {
		return 0, nil, fmt.Errorf("sending: %w", err)
	}
	status, length, err := c.readHead()
	if err != nil {
		return 0, nil, err
	}
	if !keep {
		if _, err := c.r.Discard(length); err != nil {
			return 0, nil, fmt.Errorf("reading a response's body: %w", err)
		}
		return status, nil, nil
	}
	body := make([]byte, length)
	for n := 0; n < length; {
		m, err := c.r.Read(body[n:])
		if err != nil {
			return 0, nil, fmt.Errorf("reading a response's body: %w", err)
		}
		n += m
	}
	return status, body, nil
}

var contentLength = []byte("content-length:")

// readHead reads the header and returns the status and the length of the body.
func (c *conn) readHead() (int, int, error) {
	line, err := c.r.ReadSlice('\n')
	if err != nil {
		return 0, 0, fmt.Errorf("reading a response: %w", err)
	}
	if len(line) < len("HTTP/1.1 200") {
		return 0, 0, errors.New("reading a response: no status line")
	}
	status, err := strconv.Atoi(string(line[9:12]))
	if err != nil {
		return 0, 0, fmt.Errorf("reading a response's status: %w", err)
	}
	length := -1
	for {
		if line, err = c.r.ReadSlice('\n'); err != nil {
			return 0, 0, fmt.Errorf("reading a response's header: %w", err)
		}
		if len(line) <= 2 {
			break
		}
		if len(line) > len(contentLength) && bytes.EqualFold(line[:len(contentLength)], contentLength) {
			if length, err = strconv.Atoi(string(bytes.TrimSpace(line[len(contentLength):]))); err != nil {
				return 0, 0, fmt.Errorf("reading a response's length: %w", err)
			}
		}
	}
	if length < 0 {
		return 0, 0, errors.New("reading a response: no Content-Length")
	}
	return status, length, nil
}
