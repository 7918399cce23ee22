-- The data of years of operation, for both databases. Statements are separated by a line with a single semicolon. The comment
-- before a statement is its name in the log. g.i is the row number, starting at 0. The program itself has created the first two
-- people and teams, with their keys and wallets.

-- people
INSERT INTO people (name, email, created_at)
SELECT 'Person ' || (g.i + 3), 'person' || (g.i + 3) || '@grown.example', {{.First}} FROM {{series .MoreTeams}} ORDER BY g.i
;
-- teams
INSERT INTO teams (name, timezone, content_language, plan, created_at)
SELECT 'Team ' || (g.i + 3), 'Europe/Berlin', 'en', 'agency', {{.First}} FROM {{series .MoreTeams}} ORDER BY g.i
;
-- memberships
INSERT INTO memberships (team_id, person_id, role, created_at)
SELECT g.i + 3, g.i + 3, 'owner', {{.First}} FROM {{series .MoreTeams}}
;
-- api_keys
INSERT INTO api_keys (team_id, person_id, name, level, hash, created_at)
SELECT g.i + 3, g.i + 3, 'grown', 'full', {{bytes "'key' || g.i"}}, {{.First}} FROM {{series .MoreTeams}}
;
-- social_accounts
INSERT INTO social_accounts (team_id, platform, network_id, username, display_name, connection_state, sealed_grant, created_at, updated_at)
SELECT 1 + g.i / 4, CASE g.i % 4 WHEN 0 THEN 'bluesky' WHEN 1 THEN 'instagram' WHEN 2 THEN 'facebook' ELSE 'tiktok' END,
    'network-' || g.i, 'harbour' || g.i || '.example', 'Harbour ' || g.i, 'connected', {{bytes "''"}}, {{.First}}, {{.First}}
FROM {{series .Accounts}} ORDER BY g.i
;
-- account_collections
INSERT INTO account_collections (account_id, due_at, collected_at, known_from)
SELECT g.i + 1, {{.Far}}, {{.Now}}, {{.First}} FROM {{series .Accounts}}
;
-- posts
INSERT INTO posts (id, team_id, person_id, key_id, status, caption, excerpt, scheduled_at, submitted_at, published_at, slot_at, has_media, created_at, updated_at)
SELECT {{postID "r.i"}}, r.team, r.team, CASE WHEN r.team <= 2 THEN r.team ELSE 0 END, r.status, c.caption, c.excerpt,
    CASE r.status WHEN 'draft' THEN 0 WHEN 'scheduled' THEN {{.Far}} + r.i * 1000000 ELSE r.at + 3600000000 END,
    CASE WHEN r.status IN ('draft', 'scheduled') THEN 0 ELSE r.at + 3600000000 END,
    CASE r.status WHEN 'published' THEN r.at + 3602000000 ELSE 0 END,
    CASE r.status WHEN 'draft' THEN 0 WHEN 'scheduled' THEN {{.Far}} + r.i * 1000000 WHEN 'published' THEN r.at + 3602000000 ELSE r.at + 3600000000 END,
    CASE WHEN r.i % 2 = 0 THEN 1 ELSE 0 END, r.at, r.at
FROM (SELECT g.i, {{team "g.i"}} AS team, {{.First}} + g.i * {{.Step}} AS at, {{status "g.i"}} AS status FROM {{series .Posts}}) r
JOIN grown_captions c ON c.n = r.i % 1000 ORDER BY r.i
;
-- post_targets
INSERT INTO post_targets (post_id, account_id, position, state, published_at, permalink, error_code, network_text)
SELECT {{postID "r.i"}}, {{account "r.i" "r.position"}}, r.position,
    CASE r.status WHEN 'published' THEN 'published' WHEN 'failed' THEN 'failed' ELSE 'pending' END,
    CASE r.status WHEN 'published' THEN r.at + 3601000000 + r.position * 1000000 ELSE 0 END,
    CASE r.status WHEN 'published' THEN 'https://network.example/post/' || r.i ELSE '' END,
    CASE r.status WHEN 'failed' THEN 'network_error' ELSE '' END, CASE r.status WHEN 'failed' THEN 'Try again later.' ELSE '' END
FROM (SELECT g.i / 2 AS i, g.i % 2 AS position, {{.First}} + g.i / 2 * {{.Step}} AS at, {{status "g.i / 2"}} AS status FROM {{series .Targets}}) r
;
-- deliveries
INSERT INTO deliveries (id, team_id, post_id, account_id, job_id, phase, first_at, tries, outcome, error_code, network_text, permalink, network_id, created_at, ended_at)
SELECT {{deliveryID "r.i" "r.position"}}, {{team "r.i"}}, {{postID "r.i"}}, {{account "r.i" "r.position"}}, 'social_post:' || {{postID "r.i"}}, 'ended', r.at + 3600000000, 1, r.status,
    CASE r.status WHEN 'failed' THEN 'network_error' ELSE '' END, CASE r.status WHEN 'failed' THEN 'Try again later.' ELSE '' END,
    CASE r.status WHEN 'published' THEN 'https://network.example/post/' || r.i ELSE '' END, CASE r.status WHEN 'published' THEN 'there-' || r.i ELSE '' END,
    r.at + 3600000000, r.at + 3602000000
FROM (SELECT g.i / 2 AS i, g.i % 2 AS position, {{.First}} + g.i / 2 * {{.Step}} AS at, {{status "g.i / 2"}} AS status FROM {{series .Targets}}) r
WHERE r.status IN ('published', 'failed')
;
-- delivery_attempts
INSERT INTO delivery_attempts (delivery_id, epoch, call, started_at, ended_at, result)
SELECT {{deliveryID "r.i" "r.position"}}, 1, 'commit', r.at + 3600500000, r.at + 3601000000, CASE r.status WHEN 'published' THEN 'published' ELSE 'refused' END
FROM (SELECT g.i / 2 AS i, g.i % 2 AS position, {{.First}} + g.i / 2 * {{.Step}} AS at, {{status "g.i / 2"}} AS status FROM {{series .Targets}}) r
WHERE r.status IN ('published', 'failed')
;
-- events
INSERT INTO events (team_id, at, person_id, key_id, request_id, kind, subject, detail)
SELECT {{team "r.i"}}, r.at, {{team "r.i"}}, 0, 'req_grown', CASE r.which WHEN 0 THEN 'post.created' ELSE 'post.published' END, {{postID "r.i"}}, '{}'
FROM (SELECT g.i / 2 AS i, g.i % 2 AS which, {{.First}} + g.i / 2 * {{.Step}} AS at, {{status "g.i / 2"}} AS status FROM {{series .Targets}}) r
WHERE r.which = 0 OR r.status = 'published' ORDER BY r.i, r.which
;
-- notices
INSERT INTO notices (person_id, team_id, kind, event_id, subject, detail, created_at, read_at)
SELECT {{team "r.i"}}, {{team "r.i"}}, 'post_failed', r.i + 1, {{postID "r.i"}}, '{"accounts":["Harbour"]}', r.at, CASE WHEN r.i < {{.Posts}} - 1000 THEN r.at ELSE 0 END
FROM (SELECT g.i * 50 + 9 AS i, {{.First}} + (g.i * 50 + 9) * {{.Step}} AS at FROM {{series .Failures}}) r WHERE r.i < {{.Posts}} ORDER BY r.i
;
-- account_posts
INSERT INTO account_posts (account_id, network_id, posted_at, format, excerpt, url, reach, views, likes, comments, shares, collected_at)
SELECT {{account "r.i" "0"}}, 'there-' || r.i, r.at, CASE r.i % 3 WHEN 0 THEN 'text' WHEN 1 THEN 'image' ELSE 'video' END, c.excerpt, 'https://network.example/post/' || r.i,
    1000 + {{mix "r.i" 90000}}, 2000 + {{mix "r.i + 1" 90000}}, {{mix "r.i + 2" 5000}}, {{mix "r.i + 3" 300}}, {{mix "r.i + 4" 100}}, {{.Now}}
FROM (SELECT g.i, {{.First}} + g.i * {{.Step}} AS at, {{status "g.i"}} AS status FROM {{series .Posts}}) r JOIN grown_captions c ON c.n = r.i % 1000
WHERE r.status = 'published' AND r.at > {{.Now}} - 63072000000000
;
-- media_folders
INSERT INTO media_folders (team_id, name, created_at)
SELECT 1 + g.i / 10, 'Folder ' || (g.i % 10), {{.First}} FROM {{series .Folders}} ORDER BY g.i
;
-- media
INSERT INTO media (team_id, folder_id, sha256, blob, name, file_name, search, type, kind, size_bytes, width, height, created_at)
SELECT r.team, CASE WHEN r.i % 3 = 0 THEN (r.team - 1) * 10 + 1 + r.i % 10 ELSE 0 END, {{bytes "'sha' || r.i"}}, 'grown/' || r.i,
    c.excerpt, 'image' || r.i || '.jpg', {{lower "c.excerpt"}} || {{newline}} || 'image' || r.i || '.jpg', 'image/jpeg', CASE WHEN r.i % 5 = 0 THEN 'video' ELSE 'image' END, 200000, 1080, 1080, {{.First}} + r.i * {{.Step}} * 10
FROM (SELECT g.i, {{team "g.i"}} AS team FROM {{series .Media}}) r JOIN grown_captions c ON c.n = r.i % 1000 ORDER BY r.i
;
-- post_media: a post's file belongs to its team, because both have the same order of teams
INSERT INTO post_media (post_id, position, media_id)
SELECT {{postID "g.i * 2"}}, 0, 1 + {{mediaOf "g.i * 2"}} FROM {{series .HalfPosts}}
;
-- ledger: reservations
INSERT INTO reservations (team_id, person_id, key_id, operation, idempotency_key, request_hash, state, amount, charged, created_at, ended_at)
SELECT {{team "g.i"}}, {{team "g.i"}}, 0, 'create_report', '', {{bytes "''"}}, 'settled', 5, 5, {{.First}} + g.i * {{.PaidStep}}, {{.First}} + g.i * {{.PaidStep}} + 5000000
FROM {{series .PaidCalls}} ORDER BY g.i
;
-- ledger: grants of each team
INSERT INTO ledger_transfers (team_id, kind, reference, created_at, balance)
SELECT g.i + 1, 'grant', 'grown', {{.First}} - 1, 1000000 FROM {{series .Teams}} ORDER BY g.i
;
-- ledger: reservations and settlements
INSERT INTO ledger_transfers (team_id, kind, reservation_id, created_at, balance)
SELECT r.team_id, s.kind, r.id, r.created_at + s.after, 1000000 - 5 * ROW_NUMBER() OVER (PARTITION BY r.team_id, s.kind ORDER BY r.id)
FROM reservations r CROSS JOIN (SELECT 'reserve' AS kind, 0 AS after UNION ALL SELECT 'settle', 5000000) s ORDER BY r.created_at + s.after
;
-- ledger: the two entries of each transfer
INSERT INTO ledger_entries (transfer_id, account, amount)
SELECT t.id, s.account, s.amount FROM ledger_transfers t JOIN (
    SELECT 'grant' AS kind, 'granted' AS account, -1000000 AS amount UNION ALL SELECT 'grant', 'available', 1000000
    UNION ALL SELECT 'reserve', 'available', -5 UNION ALL SELECT 'reserve', 'reserved', 5
    UNION ALL SELECT 'settle', 'reserved', -5 UNION ALL SELECT 'settle', 'spent', 5) s ON s.kind = t.kind
;
-- wallets
INSERT INTO wallets (team_id, granted, available, reserved, spent)
SELECT t.team_id, -1000000, 1000000 - 5 * COUNT(r.id), 0, 5 * COUNT(r.id) FROM (SELECT g.i + 1 AS team_id FROM {{series .Teams}}) t
LEFT JOIN reservations r ON r.team_id = t.team_id GROUP BY t.team_id
;
-- jobs of the last thirty days
INSERT INTO jobs (id, team_id, type, state, subject, done, total, created_at, finished_at)
SELECT 'social_post:' || {{postID "r.i"}}, {{team "r.i"}}, 'social_post', 'succeeded', {{postID "r.i"}}, 2, 2, r.at + 3600000000, r.at + 3602000000
FROM (SELECT g.i, {{.First}} + g.i * {{.Step}} AS at, {{status "g.i"}} AS status FROM {{series .Posts}}) r
WHERE r.status = 'published' AND r.at > {{.Now}} - 2500000000000
;
-- reports
INSERT INTO reports (id, team_id, kind, platform, subject, status, account, analysis, notes, measured_at, refreshed_at, available_until, created_at)
SELECT {{reportID "g.i"}}, {{team "g.i"}}, 'profile', CASE g.i % 2 WHEN 0 THEN 'instagram' ELSE 'tiktok' END, 'profile' || g.i, 'ready',
    (SELECT text FROM grown_texts WHERE name = 'account'), (SELECT text FROM grown_texts WHERE name = 'analysis'), (SELECT text FROM grown_texts WHERE name = 'notes'),
    {{.Now}}, {{.Now}}, {{.Far}}, {{.First}} + g.i * {{.ReportStep}}
FROM {{series .Reports}} ORDER BY g.i
;
-- paid_subjects: with a report of the team, if there is one
INSERT INTO paid_subjects (reservation_id, team_id, kind, report_id, platform, subject)
SELECT r.id, r.team_id, 'profile', COALESCE((SELECT MIN(p.id) FROM reports p WHERE p.team_id = r.team_id), ''), 'instagram', 'profile' || r.id FROM reservations r WHERE r.state = 'settled'
;
-- report_posts
INSERT INTO report_posts (report_id, shown, post, taken_at, format, caption, url, likes, comments, views)
SELECT {{reportID "g.i"}}, p.shown, p.post, p.taken_at, p.format, p.caption, p.url, p.likes, p.comments, p.views FROM {{series .Reports}} CROSS JOIN grown_report_posts p
;
-- report_samples
INSERT INTO report_samples (report_id, measured_at, sample)
SELECT {{reportID "g.i"}}, {{.Now}} - n.i * 259200000000, '{"followers":' || (900000 - n.i * 100) || ',"posts":128}' FROM {{series .Reports}} CROSS JOIN {{seriesAs "n" 24}}
;
-- hashtag_lists
INSERT INTO hashtag_lists (team_id, name, platform, size, last_position, created_at)
SELECT {{team "g.i"}}, 'List ' || g.i, 'instagram', 30, 30, {{.First}} FROM {{series .Lists}} ORDER BY g.i
;
-- hashtag_list_items
INSERT INTO hashtag_list_items (list_id, position, hashtag)
SELECT 1000000 + g.i, n.i + 1, {{hashtag "g.i * 30 + n.i"}} FROM {{series .Lists}} CROSS JOIN {{seriesAs "n" 30}}
;
{{if .Postgres -}}
-- hashtags: disable the trigger, because hashtag_grams is filled afterwards in its own order
ALTER TABLE hashtags DISABLE TRIGGER hashtags_become_found
;
{{end -}}
-- hashtags
INSERT INTO hashtags (platform, hashtag, posts, posts_low, posts_high, basis, posts_at, posts_per_day, score, measured_at, seen)
SELECT CASE g.i % 3 WHEN 0 THEN 'tiktok' ELSE 'instagram' END, {{word "g.i"}} || {{word "g.i / 40"}} || g.i, 100 + {{mix "g.i" 10000000}}, 50, 20000000, 'estimated', {{.Now}}, 12.5, {{mix "g.i" 100}}, {{.Now}}, 5
FROM {{series .Hashtags}} ORDER BY g.i
;
{{if .Postgres -}}
-- hashtag_grams
INSERT INTO hashtag_grams (platform, gram, place, hashtag_id, hashtag)
SELECT DISTINCT h.platform, SUBSTR('^' || h.hashtag, o.at, 3), COALESCE(-h.posts, 1), h.id, h.hashtag FROM hashtags h JOIN hashtag_offsets o ON o.at < LENGTH(h.hashtag) ORDER BY 1, 2, 3, 4
;
-- hashtags: enable the trigger again
ALTER TABLE hashtags ENABLE TRIGGER hashtags_become_found
;
{{end -}}
-- hashtag_posts
INSERT INTO hashtag_posts (platform, post, hashtags, dice, seen_at)
SELECT CASE g.i % 3 WHEN 0 THEN 'tiktok' ELSE 'instagram' END, 'seen-' || g.i, {{word "g.i"}} || ' ' || {{word "g.i / 40"}}, {{mix "g.i" 2000000000}}, {{.Now}} - {{mix "g.i" 80000000}} * 100000
FROM {{series .HashtagPosts}} ORDER BY g.i
;
-- hashtag_links
INSERT INTO hashtag_links (hashtag_id, found, post_id)
SELECT 1 + (g.i * 13 + n.i * 7) % {{.Hashtags}}, 0, g.i + 1 FROM {{series .HashtagPosts}} CROSS JOIN {{seriesAs "n" 5}}
;
-- hashtag_searches
INSERT INTO hashtag_searches (team_id, platform, keyword, paid_until)
SELECT 1 + g.i / 50, 'instagram', 'word' || g.i, 1 FROM {{series .Searches}}
;
-- brand_voices
INSERT INTO brand_voices (team_id, name, folded, is_default, guide, created_at, updated_at)
SELECT 1 + g.i / 5, 'Voice ' || (g.i % 5), 'voice ' || (g.i % 5), CASE g.i % 5 WHEN 0 THEN 1 ELSE 0 END, (SELECT text FROM grown_texts WHERE name = 'guide'), {{.First}}, {{.First}}
FROM {{series .Voices}}
