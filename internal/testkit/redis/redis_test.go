package redis_test

import (
	"net"
	"net/url"
	"testing"

	"pressroom.example/pressroom/internal/testkit/redis"
)

// TestServer checks that a restarted server has the same port, and that it loses its data when stopped but not when
// paused.
func TestServer(t *testing.T) {
	t.Parallel()
	s := redis.Start(t)
	u, err := url.Parse(s.URL())
	if err != nil {
		t.Fatal(err)
	}
	expect(t, s, "SET boat Ada", "+OK")
	s.Pause()
	s.Resume()
	expect(t, s, "STRLEN boat", ":3")
	s.Stop()
	if conn, err := net.Dial("tcp", u.Host); err == nil {
		conn.Close()
		t.Errorf("the stopped server still listens at %s", u.Host)
	}
	s.Restart()
	expect(t, s, "STRLEN boat", ":0")
	s.Restart()
	s.Pause() // A paused server can be stopped too.
	s.Stop()
	s.Stop()
}

func TestServersSeparate(t *testing.T) {
	t.Parallel()
	a, b := redis.Start(t), redis.Start(t)
	if a.URL() == b.URL() {
		t.Fatalf("both servers have the URL %s", a.URL())
	}
	expect(t, a, "SET boat Ada", "+OK")
	expect(t, b, "STRLEN boat", ":0")
}

func expect(t *testing.T, s *redis.Server, command, want string) {
	t.Helper()
	if got := s.Do(command); got != want {
		t.Errorf("%s: %s, want %s", command, got, want)
	}
}
