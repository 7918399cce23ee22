-- Which key sealed a grant is told by its first bytes: the index finds what a key still holds, and whether one is missing.

-- +goose Up
CREATE INDEX social_accounts_sealed ON social_accounts (substr(sealed_grant, 1, 5));

-- +goose Down
DROP INDEX social_accounts_sealed;
