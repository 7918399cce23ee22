package db

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"net"
	"slices"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"pressroom/internal/platform/sqlite"
)

// awayClasses are the kinds of PostgreSQL's errors, by their first two letters, with which the server says that it,
// and not the statement, is in trouble: connections fail, it lacks disk, memory or connections, it begins or ends, its
// disk fails.
var awayClasses = []string{"08", "53", "57", "58"}

const (
	queryCanceled = "57014" // somebody wanted it so
	readOnly      = "25006" // a standby in the place of the server, or one that was made to take no writes
	connectWithin = 10 * time.Second
)

// ErrReplica says that a server is a replica, and so takes no writes. It is told as PostgreSQL itself would.
var ErrReplica error = &pgconn.PgError{
	Severity: "ERROR", Code: readOnly, Message: "this PostgreSQL server is a replica, and takes no writes",
}

// Away tells whether an error says that the database cannot be used at the moment: it is stopped, cannot be reached,
// hangs, has no connection left, or its disk is full. Whatever failed so may be tried again, and what was being
// committed may have been.
func Away(err error) bool {
	if pg, is := errors.AsType[*pgconn.PgError](err); is {
		return pg.Code == readOnly || pg.Code != queryCanceled && len(pg.Code) == 5 && slices.Contains(awayClasses,
			pg.Code[:2])
	}
	_, noConnection := errors.AsType[*pgconn.ConnectError](err)
	return noConnection || pgconn.SafeToRetry(err) || sqlite.IsUnavailable(err) || cutOff(err)
}

// cutOff tells whether a connection broke, or gave no answer in time.
func cutOff(err error) bool {
	// others dial too, and a connection to PostgreSQL is a ConnectError
	if broken, is := errors.AsType[*net.OpError](err); is && broken.Op != "dial" {
		return true
	}
	return slices.ContainsFunc([]error{
		driver.ErrBadConn, sql.ErrConnDone, io.ErrUnexpectedEOF, syscall.ECONNRESET, syscall.EPIPE,
		context.DeadlineExceeded,
	},
		func(sign error) bool { return errors.Is(err, sign) })
}
