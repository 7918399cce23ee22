-- By itself: a migration that locks several tables waits on nodes that write to them in another order, and they on it.

-- +goose Up
CREATE INDEX reservations_open ON reservations (created_at) WHERE state = 'open';

-- +goose Down
DROP INDEX reservations_open;
