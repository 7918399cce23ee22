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

	"pressroom.example/pressroom/internal/platform/sqlite"
)

// unavailableClasses lists the classes of PostgreSQL error codes (appendix A of its manual) that concern the server and
// not the statement: connection exception, insufficient resources, operator intervention and system error.
var unavailableClasses = []string{"08", "53", "57", "58"}

// PostgreSQL error codes.
const (
	codeQueryCanceled = "57014"
	codeReadOnly      = "25006" // read_only_sql_transaction, from a standby
)

const connectTimeout = 10 * time.Second

// ErrReplica means that a server is a replica, which does not accept writes. It has the same code as PostgreSQL's error
// for a write on a replica.
var ErrReplica error = &pgconn.PgError{
	Severity: "ERROR", Code: codeReadOnly, Message: "this PostgreSQL server is a replica and does not accept writes",
}

var connectionErrors = []error{
	driver.ErrBadConn, sql.ErrConnDone, io.ErrUnexpectedEOF, syscall.ECONNRESET, syscall.EPIPE,
	context.DeadlineExceeded,
}

// IsUnavailable reports whether an error means that the database is temporarily unavailable: it is stopped, unreachable
// or not responding, it has no free connection, or its disk is full. The caller may try again. A commit that failed
// with such an error may have taken effect.
func IsUnavailable(err error) bool {
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok {
		return pg.Code == codeReadOnly ||
			pg.Code != codeQueryCanceled && len(pg.Code) == 5 && slices.Contains(unavailableClasses, pg.Code[:2])
	}
	_, noConnection := errors.AsType[*pgconn.ConnectError](err)
	return noConnection || pgconn.SafeToRetry(err) || sqlite.IsUnavailable(err) || isConnectionError(err)
}

// isConnectionError reports whether a connection broke or timed out. It returns false for other dial errors:
// PostgreSQL's dial errors are wrapped in a ConnectError, which IsUnavailable checks itself.
func isConnectionError(err error) bool {
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op != "dial" {
		return true
	}
	return slices.ContainsFunc(connectionErrors, func(target error) bool { return errors.Is(err, target) })
}
