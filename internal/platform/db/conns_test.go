package db

import (
	"strconv"
	"testing"

	"github.com/jackc/pgx/v5"
)

func TestMaxConns(t *testing.T) {
	for param, want := range map[string]int{"4": 4, "50": 50, "3": 0, "many": 0, "-1": 0} {
		cfg, err := pgx.ParseConfig("postgres://pressroom@127.0.0.1/pressroom?sslmode=disable&pool_max_conns=" + param)
		if err != nil {
			t.Fatal(err)
		}
		got, err := maxConns(cfg)
		if got != want || (err != nil) != (want == 0) {
			t.Errorf("pool_max_conns=%s: %d, %v", strconv.Quote(param), got, err)
		}
		if _, left := cfg.RuntimeParams["pool_max_conns"]; left {
			t.Error("pool_max_conns is sent to the server")
		}
	}
	cfg, err := pgx.ParseConfig("postgres://pressroom@127.0.0.1/pressroom?sslmode=disable")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := maxConns(cfg); err != nil || got < 8 {
		t.Errorf("without pool_max_conns: %d, %v", got, err)
	}
}
