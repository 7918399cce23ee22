package credit

// views are what the checks look at: every transfer with its entries side by side, every team's ledger added up, and
// every reservation with how many transfers it has and how many of them are right.
const views = `WITH moved AS (
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
		COUNT(m.id) FILTER (WHERE m.kind = 'reserve' AND m.granted = 0 AND m.available = -r.amount AND m.reserved =
		r.amount AND m.spent = 0) AS right_reserves,
		COUNT(m.id) FILTER (WHERE m.kind = 'settle' AND m.granted = 0 AND m.available = r.amount - r.charged AND
		m.reserved = -r.amount AND m.spent = r.charged) AS right_settles
	FROM reservations r LEFT JOIN moved m ON m.reservation_id = r.id GROUP BY r.id
)
`

// figures are what the report tells beside its complaints.
var figures = []struct{ rule, value string }{
	{"teams", `(SELECT COUNT(*) FROM wallets)`},
	{"transfers", `(SELECT COUNT(*) FROM ledger_transfers)`},
	{"entries", `(SELECT COUNT(*) FROM ledger_entries)`},
	{"reservations", `(SELECT COUNT(*) FROM reservations)`},
	{"granted", `(SELECT CAST(COALESCE(-SUM(granted), 0) AS BIGINT) FROM wallets)`},
	{"available", `(SELECT CAST(COALESCE(SUM(available), 0) AS BIGINT) FROM wallets)`},
	{"reserved", `(SELECT CAST(COALESCE(SUM(reserved), 0) AS BIGINT) FROM wallets)`},
	{"spent", `(SELECT CAST(COALESCE(SUM(spent), 0) AS BIGINT) FROM wallets)`},
}

// check finds one kind of damage. Its rows tell the team, the id of what is wrong, what is there, what should be
// there, and the job.
type check struct{ rule, rows, text string }

var checks = []check{
	{
		"transfer_empty", `team_id, id, 0, 0, '' FROM moved WHERE entries = 0`,
		"transfer {id} has no entries",
	}, {
		"transfer_sum", `team_id, id, total, 0, '' FROM moved WHERE total <> 0`,
		"the entries of transfer {id} add up to {got} instead of {to}",
	}, {
		"transfer_kind",
		`team_id, id, 0, 0, '' FROM moved WHERE kind NOT IN ('grant', 'withdraw', 'reserve', 'settle')`,
		"transfer {id} is of a kind that there is not",
	}, {
		// What those of reservations move is held against the reservation.
		"transfer_form", `team_id, id, 0, 0, '' FROM moved WHERE kind IN ('reserve', 'settle') AND reservation_id = 0
			OR kind IN ('grant', 'withdraw') AND (reservation_id <> 0 OR granted <> -available OR reserved <> 0 OR spent <> 0)
			OR kind = 'grant' AND available <= 0 OR kind = 'withdraw' AND available >= 0`,
		"transfer {id} is not what one of its kind is",
	}, {
		"transfer_reservation",
		`m.team_id, m.id, m.reservation_id, 0, '' FROM moved m LEFT JOIN reservations r ON r.id = m.reservation_id
			WHERE m.reservation_id <> 0 AND r.id IS NULL`,
		"transfer {id} belongs to reservation {got}, which there is not",
	}, {
		"transfer_team",
		`m.team_id, m.id, m.team_id, r.team_id, '' FROM moved m JOIN reservations r ON r.id = m.reservation_id WHERE m.team_id <> r.team_id`,
		"transfer {id} is of team {got}, its reservation of team {to}",
	}, {
		// One that is wrong complains by itself, not with all that came later.
		"transfer_balance", `team_id, id, balance, former + available, '' FROM (
			SELECT team_id, id, balance, available, LAG(balance, 1, CAST(0 AS BIGINT)) OVER (PARTITION BY team_id ORDER BY id) AS former FROM moved) b
			WHERE balance <> former + available`,
		"transfer {id} says that {got} credits are left after it instead of {to}",
	}, {
		"entry_account",
		`t.team_id, t.id, 0, 0, '' FROM ledger_entries e JOIN ledger_transfers t ON t.id = e.transfer_id
			WHERE e.account NOT IN ('granted', 'available', 'reserved', 'spent')`,
		"transfer {id} has an entry of an account that there is not",
	}, {
		"entry_transfer",
		`0, e.transfer_id, 0, 0, '' FROM ledger_entries e LEFT JOIN ledger_transfers t ON t.id = e.transfer_id WHERE t.id IS NULL`,
		"an entry belongs to transfer {id}, which there is not",
	}, {
		"wallet_missing",
		`l.team_id, 0, 0, 0, '' FROM ledger l LEFT JOIN wallets w ON w.team_id = l.team_id WHERE w.team_id IS NULL`,
		"team {team} has transfers and no wallet",
	},
	balanceOf("granted"), balanceOf("available"), balanceOf("reserved"), balanceOf("spent"),
	{
		"wallet_sum",
		`team_id, 0, granted + available + reserved + spent, 0, '' FROM wallets WHERE granted + available + reserved + spent <> 0`,
		"the accounts of team {team} add up to {got} instead of {to}",
	}, {
		"wallet_sign",
		`team_id, 0, 0, 0, '' FROM wallets WHERE granted > 0 OR available < 0 OR reserved < 0 OR spent < 0`,
		"the wallet of team {team} has an account on the wrong side of 0",
	}, {
		"wallet_open", `w.team_id, 0, w.reserved, COALESCE(o.amount, 0), '' FROM wallets w
			LEFT JOIN (SELECT team_id, CAST(SUM(amount) AS BIGINT) AS amount FROM reservations WHERE state = 'open' GROUP BY team_id) o ON o.team_id = w.team_id
			WHERE w.reserved <> COALESCE(o.amount, 0)`,
		"the wallet of team {team} has {got} credits reserved, its open reservations {to}",
	}, {
		"reservation_state",
		`team_id, id, 0, 0, '' FROM reservations WHERE NOT (state = 'open' AND charged = amount AND ended_at = 0
			OR state = 'settled' AND charged BETWEEN 0 AND amount AND ended_at > 0)`,
		"reservation {id} is neither rightly open nor rightly settled",
	}, {
		"reserve_count", `team_id, id, reserves, 1, '' FROM paid WHERE reserves <> 1`,
		"reservation {id} has {got} transfers that set credits aside instead of {to}",
	}, {
		"reserve_amount", `team_id, id, 0, amount, '' FROM paid WHERE right_reserves <> reserves`,
		"what was set aside for reservation {id} is not its {to} credits",
	}, {
		"settle_count", `team_id, id, settles, CASE WHEN state = 'settled' THEN 1 ELSE 0 END, '' FROM paid
			WHERE settles <> CASE WHEN state = 'settled' THEN 1 ELSE 0 END`,
		"reservation {id} has {got} settlements instead of {to}",
	}, {
		"settle_parts",
		`team_id, id, charged, amount, '' FROM paid WHERE state = 'settled' AND right_settles <> settles`,
		"the settlement of reservation {id} is not {got} credits out of {to}",
	}, {
		"open_after_job", `r.team_id, r.id, 0, 0, j.id FROM reservations r JOIN jobs j ON j.reservation_id = r.id
			WHERE r.state = 'open' AND j.reservation_id > 0 AND j.finished_at > 0`,
		"reservation {id} is open although its job {job} has ended",
	}, {
		"open_without_job", `r.team_id, r.id, 0, 0, '' FROM reservations r WHERE r.state = 'open' AND r.created_at < ?
			AND NOT EXISTS (SELECT 1 FROM jobs j WHERE j.reservation_id = r.id AND j.reservation_id > 0)`,
		"reservation {id} is open for more than a day and has no job",
	}, {
		"job_reservation",
		`j.team_id, j.reservation_id, 0, 0, j.id FROM jobs j LEFT JOIN reservations r ON r.id = j.reservation_id
			WHERE j.reservation_id > 0 AND r.id IS NULL`,
		"job {job} names reservation {id}, which there is not",
	}, {
		"job_team",
		`j.team_id, r.id, j.team_id, r.team_id, j.id FROM jobs j JOIN reservations r ON r.id = j.reservation_id
			WHERE j.reservation_id > 0 AND j.team_id <> r.team_id`,
		"job {job} is of team {got}, its reservation {id} of team {to}",
	},
}

// balanceOf holds one account of every wallet against the ledger.
func balanceOf(account string) check {
	return check{
		"wallet_" + account,
		`w.team_id, 0, w.` + account + `, COALESCE(l.` + account +
			`, 0), '' FROM wallets w LEFT JOIN ledger l ON l.team_id = w.team_id
			WHERE w.` + account + ` <> COALESCE(l.` + account + `, 0)`,
		"the wallet of team {team} has {got} credits " + account + ", its ledger {to}",
	}
}
