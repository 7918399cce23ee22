// Command standin runs pressroom with the test operations of package standin, so that tests can kill the process.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"pressroom.example/pressroom/internal/server"
	"pressroom.example/pressroom/test/money/standin"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	err := run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	var addr, database, key, dir string
	var freeCalls int64
	flag.StringVar(&addr, "addr", "", "address to listen on")
	flag.StringVar(&database, "database", "", "see pressroom serve")
	flag.StringVar(&key, "sealing-key", "", "see pressroom serve")
	flag.StringVar(&dir, "controls", "", "directory of the control files and of the media")
	flag.Int64Var(&freeCalls, "free-calls", -1, "free calls per team and day")
	flag.Parse()
	controls := standin.Controls{Dir: dir}
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))
	var work *standin.Service
	program, err := server.Open(ctx, standin.Configure(server.Config{
		Version: "test", PublicURL: "http://press.test", Database: database, SealingKey: key, Role: server.RoleAll,
		Workers: 8, Blobs: "file:" + filepath.Join(dir, "media"),
		Catalog: standin.Catalog(freeCalls), Log: log, Now: controls.Now,
	}, controls.Suspended, func(s *standin.Service) { work = s }))
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return errors.Join(err, program.Close())
	}
	go work.Run(ctx, func(err error) { log.Error("resuming unfinished jobs", "error", err) })
	return errors.Join(program.Run(ctx, listener), program.Close())
}
