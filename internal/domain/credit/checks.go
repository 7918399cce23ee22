package credit

// auditCTEs defines the common table expressions that the checks use. moved has each transfer, with its entries as
// columns. ledger has each team's totals. paid has each reservation, with the number of its transfers and the number of
// its correct transfers.
const auditCTEs = `WITH moved AS (
	SELECT t.id, t.team_id, t.kind, t.reservation_id, t.balance, COUNT(e.transfer_id) AS entries,
		CAST(COALESCE(SUM(e.amount), 0) AS BIGINT) AS total,
		CAST(COALESCE(SUM(e.amount) FILTER (WHERE e.account = 'granted'), 0) AS BIGINT) AS granted,
		CAST(COALESCE(SUM(e.amount) FILTER (WHERE e.account = 'available'), 0) AS BIGINT) AS available,
		CAST(COALESCE(SUM(e.amount) FILTER (WHERE e.account = 'reserved'), 0) AS BIGINT) AS reserved,
		CAST(COALESCE(SUM(e.amount) FILTER (WHERE e.account = 'spent'), 0) AS BIGINT) AS spent
	FROM ledger_transfers t LEFT JOIN ledger_entries e ON e.transfer_id = t.id GROUP BY t.id
), ledger AS (
	SELECT team_id, CAST(SUM(granted) AS BIGINT) AS granted, CAST(SUM(available) AS BIGINT) AS available,
		CAST(SUM(reserved) AS BIGINT) AS reserved, CAST(SUM(spent) AS BIGINT) AS spent
	FROM moved GROUP BY team_id
), paid AS (
	SELECT r.id, r.team_id, r.state, r.amount, r.charged,
		COUNT(m.id) FILTER (WHERE m.kind = 'reserve') AS reserves,
		COUNT(m.id) FILTER (WHERE m.kind = 'settle') AS settles,
		COUNT(m.id) FILTER (WHERE m.kind = 'reserve' AND m.granted = 0 AND m.available = -r.amount
			AND m.reserved = r.amount AND m.spent = 0) AS right_reserves,
		COUNT(m.id) FILTER (WHERE m.kind = 'settle' AND m.granted = 0 AND m.available = r.amount - r.charged
			AND m.reserved = -r.amount AND m.spent = r.charged) AS right_settles
	FROM reservations r LEFT JOIN moved m ON m.reservation_id = r.id GROUP BY r.id
)
`

// totalQueries compute the values of Report.Totals.
var totalQueries = []struct{ rule, value string }{
	{"teams", `(SELECT COUNT(*) FROM wallets)`},
	{"transfers", `(SELECT COUNT(*) FROM ledger_transfers)`},
	{"entries", `(SELECT COUNT(*) FROM ledger_entries)`},
	{"reservations", `(SELECT COUNT(*) FROM reservations)`},
	{"granted", `(SELECT CAST(COALESCE(-SUM(granted), 0) AS BIGINT) FROM wallets)`},
	{"available", `(SELECT CAST(COALESCE(SUM(available), 0) AS BIGINT) FROM wallets)`},
	{"reserved", `(SELECT CAST(COALESCE(SUM(reserved), 0) AS BIGINT) FROM wallets)`},
	{"spent", `(SELECT CAST(COALESCE(SUM(spent), 0) AS BIGINT) FROM wallets)`},
}

// check finds violations of one rule. rows is the rest of a SELECT statement whose columns are the team, the ID of the
// wrong record, the actual value, the expected value, and the job. They replace {team}, {id}, {got}, {want} and {job}
// in text.
type check struct{ rule, rows, text string }

var checks = []check{
	{
		"transfer_empty", `team_id, id, 0, 0, '' FROM moved WHERE entries = 0`,
		"transfer {id} has no entries",
	}, {
		"transfer_sum", `team_id, id, total, 0, '' FROM moved WHERE total <> 0`,
		"the entries of transfer {id} add up to {got} instead of {want}",
	}, {
		"transfer_kind",
		`team_id, id, 0, 0, '' FROM moved WHERE kind NOT IN ('grant', 'withdraw', 'reserve', 'settle')`,
		"transfer {id} has an unknown kind",
	}, {
		// Transfers of reservations are checked against their reservation below.
		"transfer_form", `team_id, id, 0, 0, '' FROM moved WHERE kind IN ('reserve', 'settle') AND reservation_id = 0
			OR kind IN ('grant', 'withdraw')
				AND (reservation_id <> 0 OR granted <> -available OR reserved <> 0 OR spent <> 0)
			OR kind = 'grant' AND available <= 0 OR kind = 'withdraw' AND available >= 0`,
		"transfer {id} does not match its kind",
	}, {
		"transfer_reservation",
		`m.team_id, m.id, m.reservation_id, 0, '' FROM moved m LEFT JOIN reservations r ON r.id = m.reservation_id
			WHERE m.reservation_id <> 0 AND r.id IS NULL`,
		"transfer {id} belongs to reservation {got}, which does not exist",
	}, {
		"transfer_team",
		`m.team_id, m.id, m.team_id, r.team_id, '' FROM moved m JOIN reservations r ON r.id = m.reservation_id
			WHERE m.team_id <> r.team_id`,
		"transfer {id} belongs to team {got}, but its reservation belongs to team {want}",
	}, {
		// Each balance is checked against the previous balance, so one wrong balance causes one violation.
		"transfer_balance", `team_id, id, balance, former + available, '' FROM (
			SELECT team_id, id, balance, available,
				LAG(balance, 1, CAST(0 AS BIGINT)) OVER (PARTITION BY team_id ORDER BY id) AS former FROM moved) b
			WHERE balance <> former + available`,
		"transfer {id} has a balance of {got} credits instead of {want}",
	}, {
		"entry_account",
		`t.team_id, t.id, 0, 0, '' FROM ledger_entries e JOIN ledger_transfers t ON t.id = e.transfer_id
			WHERE e.account NOT IN ('granted', 'available', 'reserved', 'spent')`,
		"transfer {id} has an entry for an unknown account",
	}, {
		"entry_transfer",
		`0, e.transfer_id, 0, 0, '' FROM ledger_entries e LEFT JOIN ledger_transfers t ON t.id = e.transfer_id
			WHERE t.id IS NULL`,
		"an entry belongs to transfer {id}, which does not exist",
	}, {
		"wallet_missing",
		`l.team_id, 0, 0, 0, '' FROM ledger l LEFT JOIN wallets w ON w.team_id = l.team_id WHERE w.team_id IS NULL`,
		"team {team} has transfers but no wallet",
	},
	balanceCheck("granted"), balanceCheck("available"), balanceCheck("reserved"), balanceCheck("spent"),
	{
		"wallet_sum",
		`team_id, 0, granted + available + reserved + spent, 0, '' FROM wallets
			WHERE granted + available + reserved + spent <> 0`,
		"the accounts of team {team} add up to {got} instead of {want}",
	}, {
		"wallet_sign",
		`team_id, 0, 0, 0, '' FROM wallets WHERE granted > 0 OR available < 0 OR reserved < 0 OR spent < 0`,
		"the wallet of team {team} has an account with the wrong sign",
	}, {
		"wallet_open", `w.team_id, 0, w.reserved, COALESCE(o.amount, 0), '' FROM wallets w
			LEFT JOIN (SELECT team_id, CAST(SUM(amount) AS BIGINT) AS amount FROM reservations
				WHERE state = 'open' GROUP BY team_id) o ON o.team_id = w.team_id
			WHERE w.reserved <> COALESCE(o.amount, 0)`,
		"the wallet of team {team} has {got} credits reserved, but its open reservations add up to {want}",
	}, {
		"reservation_state",
		`team_id, id, 0, 0, '' FROM reservations WHERE NOT (state = 'open' AND charged = amount AND ended_at = 0
			OR state = 'settled' AND charged BETWEEN 0 AND amount AND ended_at > 0)`,
		"reservation {id} has an inconsistent state",
	}, {
		"reserve_count", `team_id, id, reserves, 1, '' FROM paid WHERE reserves <> 1`,
		"reservation {id} has {got} reserving transfers instead of {want}",
	}, {
		"reserve_amount", `team_id, id, 0, amount, '' FROM paid WHERE right_reserves <> reserves`,
		"the reserving transfer of reservation {id} does not reserve its {want} credits",
	}, {
		"settle_count", `team_id, id, settles, CASE WHEN state = 'settled' THEN 1 ELSE 0 END, '' FROM paid
			WHERE settles <> CASE WHEN state = 'settled' THEN 1 ELSE 0 END`,
		"reservation {id} has {got} settlements instead of {want}",
	}, {
		"settle_parts",
		`team_id, id, charged, amount, '' FROM paid WHERE state = 'settled' AND right_settles <> settles`,
		"the settlement of reservation {id} does not charge {got} of its {want} credits",
	}, {
		"open_after_job", `r.team_id, r.id, 0, 0, j.id FROM reservations r JOIN jobs j ON j.reservation_id = r.id
			WHERE r.state = 'open' AND j.reservation_id > 0 AND j.finished_at > 0`,
		"reservation {id} is open, but its job {job} has ended",
	}, {
		"open_without_job", `r.team_id, r.id, 0, 0, '' FROM reservations r WHERE r.state = 'open' AND r.created_at < ?
			AND NOT EXISTS (SELECT 1 FROM jobs j WHERE j.reservation_id = r.id AND j.reservation_id > 0)`,
		"reservation {id} has been open for more than a day without a job",
	}, {
		"job_reservation",
		`j.team_id, j.reservation_id, 0, 0, j.id FROM jobs j LEFT JOIN reservations r ON r.id = j.reservation_id
			WHERE j.reservation_id > 0 AND r.id IS NULL`,
		"job {job} refers to reservation {id}, which does not exist",
	}, {
		"job_team",
		`j.team_id, r.id, j.team_id, r.team_id, j.id FROM jobs j JOIN reservations r ON r.id = j.reservation_id
			WHERE j.reservation_id > 0 AND j.team_id <> r.team_id`,
		"job {job} belongs to team {got}, but its reservation {id} belongs to team {want}",
	},
}

// balanceCheck returns the check that compares one account of every wallet with the ledger.
func balanceCheck(account string) check {
	return check{
		"wallet_" + account,
		`w.team_id, 0, w.` + account + `, COALESCE(l.` + account +
			`, 0), '' FROM wallets w LEFT JOIN ledger l ON l.team_id = w.team_id
			WHERE w.` + account + ` <> COALESCE(l.` + account + `, 0)`,
		"the wallet of team {team} has {got} credits " + account + ", but its ledger has {want}",
	}
}
