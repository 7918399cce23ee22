-- +goose Up
CREATE TABLE idempotency_records (
    key_id       BIGINT NOT NULL,
    key          {{.ID}} NOT NULL,
    operation    TEXT NOT NULL,
    request_hash {{.Bytes}} NOT NULL,
    answer       {{.Bytes}},
    created_at   BIGINT NOT NULL,
    expires_at   BIGINT NOT NULL,
    instant_hash {{.Bytes}},
    PRIMARY KEY (key_id, key)
);
CREATE INDEX idempotency_records_by_end ON idempotency_records (expires_at);

-- Paid calls by their Idempotency-Key: the same key with another request is another call.
CREATE TABLE paid_requests (
    key_id       BIGINT NOT NULL,
    key          {{.ID}} NOT NULL,
    request_hash {{.Bytes}} NOT NULL,
    operation    TEXT NOT NULL,
    answer       {{.Bytes}},
    created_at   BIGINT NOT NULL,
    expires_at   BIGINT NOT NULL,
    PRIMARY KEY (key_id, key, request_hash)
);
CREATE INDEX paid_requests_by_end ON paid_requests (expires_at);

-- +goose Down
DROP TABLE paid_requests;
DROP TABLE idempotency_records;
