// Migrations from 29 on. Append new migrations here.
import type { Migration } from '../migrations.ts'

/** Links to sessions in use, which require a proof of one of the session’s wallets. */
const linkProof: Migration = {
  number: 29,
  name: 'link-proof',
  statements: ({ integer }) => [
    `ALTER TABLE session_tokens ADD COLUMN requires_proof ${integer} NOT NULL DEFAULT 1 CHECK (requires_proof IN (0, 1))`,
    // These sessions were not registered with a wallet, so there is no wallet to prove.
    `UPDATE session_tokens SET requires_proof = 0 WHERE EXISTS (SELECT 1 FROM sessions
       WHERE sessions.organization_id = session_tokens.organization_id AND sessions.id = session_tokens.session_id
         AND sessions.locked_address IS NULL AND NOT EXISTS (SELECT 1 FROM session_wallets
           WHERE session_wallets.organization_id = sessions.organization_id AND session_wallets.session_id = sessions.id))`,
  ],
}

/** Requirements overridden by a completion. An older program would complete sessions without the requirement. */
const completionOverride: Migration = {
  number: 30,
  name: 'completion-override',
  statements: () => ['ALTER TABLE session_events ADD COLUMN overridden_parts TEXT'],
}

/** Checks queued without a submission. An older program would complete such sessions unchecked. */
const checksWithoutSubmission: Migration = {
  number: 31,
  name: 'checks-without-submission',
  statements: ({ integer }) => [
    `ALTER TABLE sessions ADD COLUMN checks_queued_sequence ${integer}`,
    `ALTER TABLE sessions ADD COLUMN checks_queued_at_seconds ${integer}`,
  ],
}

const AT = 'https://sanctionslistservice.ofac.treas.gov/api/PublicationPreview/exports'

const withComments = (list: string, files: readonly string[], comments: string): string => {
  const urlsOf = (names: readonly string[]): string => JSON.stringify(names.map((name) => `${AT}/${name}`))
  return `UPDATE screening_lists SET urls = '${urlsOf([...files, comments])}', due_at_seconds = 0
    WHERE name = '${list}' AND urls = '${urlsOf(files)}'`
}

/** The US Treasury's lists have a file of long remarks. An older program rejects four files and keeps its content. */
const ofacComments: Migration = {
  number: 32,
  name: 'ofac-comments',
  statements: () => [
    withComments('ofac-sdn', ['SDN.CSV', 'ALT.CSV', 'ADD.CSV'], 'SDN_COMMENTS.CSV'),
    withComments('us-consolidated', ['CONS_PRIM.CSV', 'CONS_ALT.CSV', 'CONS_ADD.CSV'], 'CONS_COMMENTS.CSV'),
  ],
}

/** The data that a hit resembles. An older program would delete an open hit when the person changes the name. */
const hitSubject: Migration = {
  number: 33,
  name: 'hit-subject',
  statements: () => ["ALTER TABLE screening_hits ADD COLUMN subject_basis TEXT NOT NULL DEFAULT ''"],
}

/** Organizations take turns in the queue, so its index starts with the organization. Older programs don't use it. */
const checkTurns: Migration = {
  number: 34,
  name: 'check-turns',
  worksWith: 33,
  statements: () => [
    'DROP INDEX session_check_queue_due',
    'CREATE INDEX session_check_queue_turns ON session_check_queue (organization_id, due_at_seconds)',
  ],
}

/** Disconnected wallets, to which rejections and undecided hits still apply. An older program would ignore them. */
const removedWallets: Migration = {
  number: 35,
  name: 'removed-wallets',
  statements: ({ tableEnd }) => [
    `CREATE TABLE session_removed_wallets (
       organization_id TEXT NOT NULL,
       session_id TEXT NOT NULL,
       environment TEXT NOT NULL CHECK (environment IN ('live', 'test')),
       address TEXT NOT NULL,
       PRIMARY KEY (organization_id, session_id, address),
       FOREIGN KEY (organization_id, session_id) REFERENCES sessions (organization_id, id)
     )${tableEnd}`,
    'CREATE INDEX session_removed_wallets_by_address ON session_removed_wallets (address, environment)',
  ],
}

/** Decided hits whose entry is gone. An older program would apply an old decision to a new listing. */
const endedHits: Migration = {
  number: 36,
  name: 'ended-hits',
  statements: ({ integer, tableEnd }) => [
    `CREATE TABLE screening_ended_hits (
       id TEXT PRIMARY KEY NOT NULL,
       organization_id TEXT NOT NULL,
       session_id TEXT NOT NULL,
       check_name TEXT NOT NULL,
       list_name TEXT NOT NULL,
       entry_id TEXT NOT NULL,
       version_id TEXT NOT NULL,
       entry_name TEXT NOT NULL,
       subject TEXT NOT NULL,
       score ${integer} NOT NULL,
       why TEXT NOT NULL,
       state TEXT NOT NULL CHECK (state IN ('cleared', 'confirmed')),
       found_at_seconds ${integer} NOT NULL,
       decided_at_seconds ${integer} NOT NULL,
       decided_by TEXT NOT NULL,
       reason TEXT NOT NULL,
       ended_at_seconds ${integer} NOT NULL,
       FOREIGN KEY (organization_id, session_id) REFERENCES sessions (organization_id, id)
     )${tableEnd}`,
    'CREATE INDEX screening_ended_hits_by_session ON screening_ended_hits (organization_id, session_id)',
    "ALTER TABLE screening_lists ADD COLUMN enabling_id TEXT NOT NULL DEFAULT ''",
  ],
}

/** Persons rejected by a session, in addition to `sessions.person_id`. An older program would not record them. */
const rejectedPersons: Migration = {
  number: 37,
  name: 'rejected-persons',
  statements: ({ tableEnd }) => [
    `CREATE TABLE session_rejected_persons (
       organization_id TEXT NOT NULL,
       session_id TEXT NOT NULL,
       person_id TEXT NOT NULL REFERENCES persons (id),
       PRIMARY KEY (person_id, organization_id, session_id),
       FOREIGN KEY (organization_id, session_id) REFERENCES sessions (organization_id, id)
     )${tableEnd}`,
    'CREATE INDEX session_rejected_persons_by_session ON session_rejected_persons (organization_id, session_id)',
    `INSERT INTO session_rejected_persons (organization_id, session_id, person_id)
       SELECT organization_id, id, person_id FROM sessions WHERE status = 'rejected' AND person_id IS NOT NULL`,
  ],
}

/** Rejections by address or person. An older program would neither record nor find them. */
const sessionRejections: Migration = {
  number: 38,
  name: 'session-rejections',
  statements: ({ integer, tableEnd }) => [
    `CREATE TABLE session_rejections (
       subject TEXT NOT NULL,
       organization_id TEXT NOT NULL,
       environment TEXT NOT NULL CHECK (environment IN ('live', 'test')),
       session_id TEXT NOT NULL,
       by_operator ${integer} NOT NULL CHECK (by_operator IN (0, 1)),
       decided_sequence ${integer} NOT NULL,
       PRIMARY KEY (subject, organization_id, environment, session_id),
       FOREIGN KEY (organization_id, session_id) REFERENCES sessions (organization_id, id)
     )${tableEnd}`,
    'CREATE INDEX session_rejections_by_session ON session_rejections (organization_id, session_id)',
    `INSERT INTO session_rejections (subject, organization_id, environment, session_id, by_operator, decided_sequence)
       SELECT known.subject, sessions.organization_id, sessions.environment, sessions.id,
         CASE WHEN EXISTS (SELECT 1 FROM session_events WHERE session_events.organization_id = sessions.organization_id
           AND session_events.session_id = sessions.id AND session_events.kind = 'status'
           AND session_events.status = 'rejected' AND session_events.actor LIKE 'operator:%') THEN 1 ELSE 0 END,
         COALESCE(sessions.decided_sequence, 0)
       FROM sessions JOIN (
         SELECT organization_id, session_id, address AS subject FROM session_wallets
         UNION SELECT organization_id, session_id, address FROM session_removed_wallets
         UNION SELECT organization_id, id, locked_address FROM sessions WHERE locked_address IS NOT NULL
         UNION SELECT organization_id, session_id, person_id FROM session_rejected_persons
       ) AS known ON known.organization_id = sessions.organization_id AND known.session_id = sessions.id
       WHERE sessions.status = 'rejected'`,
    'DROP TABLE session_rejected_persons',
  ],
}

/** Treats rejections by screening like operator rejections. An older program would complete their sessions. */
const linkedRejections: Migration = {
  number: 39,
  name: 'linked-rejections',
  statements: () => [
    'ALTER TABLE session_rejections RENAME COLUMN by_operator TO needs_operator',
    `UPDATE session_rejections SET needs_operator = 1 WHERE EXISTS (SELECT 1 FROM session_events
       WHERE session_events.organization_id = session_rejections.organization_id
         AND session_events.session_id = session_rejections.session_id AND session_events.kind = 'status'
         AND session_events.status = 'rejected' AND session_events.actor = 'screening')`,
    `INSERT INTO session_rejections (subject, organization_id, environment, session_id, needs_operator, decided_sequence)
       SELECT DISTINCT sessions.person_id, rejected.organization_id, rejected.environment, rejected.session_id,
         rejected.needs_operator, rejected.decided_sequence
       FROM session_rejections rejected
       JOIN session_wallets held ON held.address = rejected.subject AND held.environment = rejected.environment
         AND held.organization_id <> rejected.organization_id
       JOIN sessions ON sessions.organization_id = held.organization_id AND sessions.id = held.session_id
       WHERE sessions.status = 'completed' AND sessions.consented_at_seconds IS NOT NULL
         AND sessions.person_id IS NOT NULL
       ON CONFLICT (subject, organization_id, environment, session_id) DO NOTHING`,
  ],
}

/** Recipients of links to an account. An older program would let two accounts of one person approve each other. */
const linkHolders: Migration = {
  number: 40,
  name: 'link-holders',
  statements: ({ integer, tableEnd }) => [
    `ALTER TABLE account_makers ADD COLUMN held_at_seconds ${integer}`,
    "UPDATE account_makers SET held_at_seconds = 0 WHERE kind = 'made'",
    `CREATE TABLE rule_administrators (
       organization_id TEXT NOT NULL,
       user_id TEXT NOT NULL REFERENCES users (id),
       since_seconds ${integer} NOT NULL,
       PRIMARY KEY (organization_id, user_id)
     )${tableEnd}`,
    `INSERT INTO rule_administrators (organization_id, user_id, since_seconds)
       SELECT rules.organization_id, users.id, 0
       FROM (
         SELECT organization_id FROM organization_settings WHERE second_person = 1
         UNION ALL SELECT '' FROM deployment WHERE name = 'second_person_attesters' AND value = 'true'
       ) AS rules
       JOIN users ON users.disabled_at_seconds IS NULL AND users.password_hash IS NOT NULL
       WHERE users.deployment_admin = 1 OR EXISTS (
         SELECT 1 FROM memberships WHERE memberships.organization_id = rules.organization_id
           AND memberships.user_id = users.id AND memberships.role = 'organization-admin')`,
    "ALTER TABLE membership_offers ADD COLUMN link_holder TEXT NOT NULL DEFAULT ''",
    'UPDATE membership_offers SET link_holder = asked_by',
  ],
}

/** Counts requests with test keys separately. An older program would add the counts of live and test keys. */
const velocityEnvironments: Migration = {
  number: 41,
  name: 'velocity-environments',
  statements: ({ integer, tableEnd }) => [
    `CREATE TABLE velocity_tallies_by_environment (
       process_id TEXT NOT NULL,
       organization_id TEXT NOT NULL REFERENCES organizations (id),
       project_id TEXT NOT NULL,
       environment TEXT NOT NULL CHECK (environment IN ('live', 'test')),
       wallet TEXT NOT NULL,
       chain_name TEXT NOT NULL,
       window_seconds ${integer} NOT NULL,
       part ${integer} NOT NULL,
       count ${integer} NOT NULL,
       value TEXT NOT NULL,
       sequence ${integer} NOT NULL,
       expires_at_seconds ${integer} NOT NULL,
       PRIMARY KEY (process_id, organization_id, project_id, environment, wallet, chain_name, window_seconds, part)
     )${tableEnd}`,
    `INSERT INTO velocity_tallies_by_environment (process_id, organization_id, project_id, environment, wallet,
         chain_name, window_seconds, part, count, value, sequence, expires_at_seconds)
       SELECT process_id, organization_id, project_id, 'live', wallet, chain_name, window_seconds, part, count, value,
         sequence, expires_at_seconds
       FROM velocity_tallies`,
    'DROP TABLE velocity_tallies',
    'ALTER TABLE velocity_tallies_by_environment RENAME TO velocity_tallies',
    'CREATE INDEX velocity_tallies_by_sequence ON velocity_tallies (process_id, sequence)',
    'CREATE INDEX velocity_tallies_by_expiry ON velocity_tallies (expires_at_seconds)',
  ],
}

/** Paused endpoints. An older program would send to them. */
const pausedWebhooks: Migration = {
  number: 42,
  name: 'paused-webhooks',
  worksWith: 41,
  statements: ({ integer }) => [`ALTER TABLE webhook_endpoints ADD COLUMN paused_at_seconds ${integer}`],
}

/** Chains of disconnected wallets. An older program would query screeners about `ethereum` instead. */
const removedWalletChains: Migration = {
  number: 43,
  name: 'removed-wallet-chains',
  statements: () => ["ALTER TABLE session_removed_wallets ADD COLUMN chains TEXT NOT NULL DEFAULT '[]'"],
}

/** Lists of hits, as created or enabled. An older program would apply a clearance to another list of the same name. */
const hitListing: Migration = {
  number: 44,
  name: 'hit-listing',
  statements: () => ['ALTER TABLE screening_hits ADD COLUMN listing TEXT'],
}

/**
 * Marks of changes. Null for changes by an older program, which a reader can't distinguish from other changes with the
 * same number.
 */
const changeMarks: Migration = {
  number: 45,
  name: 'change-marks',
  worksWith: 44,
  statements: () => ['ALTER TABLE changes ADD COLUMN mark TEXT'],
}

/** Consent that policies may use country and age, and the setting to ask for it. */
const policyDetails: Migration = {
  number: 46,
  name: 'policy-details',
  worksWith: 45,
  statements: ({ integer }) => [
    `ALTER TABLE portal_agreements ADD COLUMN uses_details ${integer} NOT NULL DEFAULT 0`,
    `ALTER TABLE organization_brands ADD COLUMN asks_details ${integer} NOT NULL DEFAULT 0`,
  ],
}

/**
 * Keeps the last rejections per subject, and one row per rejected session. An older program would ignore an unsettled
 * hit of a rejected session with a disconnected wallet.
 */
const lastRejections: Migration = {
  number: 47,
  name: 'last-rejections',
  statements: () => [
    `INSERT INTO session_rejections (subject, organization_id, environment, session_id, needs_operator, decided_sequence)
       SELECT DISTINCT session_id, organization_id, environment, session_id, needs_operator, decided_sequence
       FROM session_rejections`,
    `DELETE FROM session_rejections WHERE (subject, organization_id, environment, session_id) IN (
       SELECT subject, organization_id, environment, session_id FROM (
         SELECT subject, organization_id, environment, session_id, ROW_NUMBER() OVER (
           PARTITION BY subject, organization_id, environment, needs_operator
           ORDER BY decided_sequence DESC, session_id DESC) AS place
         FROM session_rejections
       ) AS numbered WHERE place > 1)`,
    `CREATE INDEX session_events_completed ON session_events (organization_id, session_id)
       WHERE kind = 'status' AND status = 'completed'`,
  ],
}

/**
 * Removes stored responses of the admin API, some of which contain personal data. A repeated request gets 409, as if
 * its response were lost. An older program would store such responses again.
 */
const storedReads: Migration = {
  number: 48,
  name: 'stored-reads',
  statements: () => [
    "UPDATE admin_idempotency SET response_status = 409, response_body = '' WHERE response_body IS NOT NULL",
  ],
}

/**
 * Modules of live processes. An older program would complete sessions without the checks of modules that it lacks. None
 * is running during this migration, so all rows belong to ended processes.
 */
const processModules: Migration = {
  number: 49,
  name: 'process-modules',
  statements: () => [
    'DELETE FROM live_processes',
    "ALTER TABLE live_processes ADD COLUMN modules TEXT NOT NULL DEFAULT ''",
  ],
}

/** Indexes for each filter of webhook messages, and with the whole order, so that no statement reads or sorts others. */
const messageIndexes: Migration = {
  number: 50,
  name: 'message-indexes',
  worksWith: 49,
  statements: () => [
    'DROP INDEX webhook_messages_waiting',
    `CREATE INDEX webhook_messages_waiting ON webhook_messages (endpoint_id, next_attempt_at_seconds, id)
       WHERE state = 'waiting'`,
    'DROP INDEX webhook_messages_by_organization',
    'CREATE INDEX webhook_messages_by_organization ON webhook_messages (organization_id, created_at_seconds, id)',
    'CREATE INDEX webhook_messages_by_state ON webhook_messages (organization_id, state, created_at_seconds, id)',
    `CREATE INDEX webhook_messages_by_endpoint ON webhook_messages (organization_id, endpoint_id, created_at_seconds,
       id)`,
    `CREATE INDEX webhook_messages_by_endpoint_state ON webhook_messages (organization_id, endpoint_id, state,
       created_at_seconds, id)`,
  ],
}

/** Indexes for reads in transactions, during which other writes wait. */
const readsInTransactions: Migration = {
  number: 51,
  name: 'reads-in-transactions',
  worksWith: 50,
  statements: () => [
    `CREATE INDEX audit_log_of_recipients ON audit_log (subject) WHERE action IN ('key.issue', 'key.regenerate')`,
    `CREATE INDEX api_keys_by_successor ON api_keys (replaced_by_key_id) WHERE replaced_by_key_id IS NOT NULL`,
    `CREATE INDEX api_keys_usable ON api_keys (organization_id, COALESCE(expires_at_seconds, 9007199254740991))
       WHERE revoked_at_seconds IS NULL AND replaced_by_key_id IS NULL`,
    `CREATE INDEX users_by_creator ON users (made_by_organization_id) WHERE made_by_organization_id IS NOT NULL`,
    `CREATE INDEX approvals_pending ON approvals (organization_id, expires_at_seconds) WHERE state = 'pending'`,
  ],
}

export const MIGRATIONS_FROM_29: readonly Migration[] = [
  linkProof,
  completionOverride,
  checksWithoutSubmission,
  ofacComments,
  hitSubject,
  checkTurns,
  removedWallets,
  endedHits,
  rejectedPersons,
  sessionRejections,
  linkedRejections,
  linkHolders,
  velocityEnvironments,
  pausedWebhooks,
  removedWalletChains,
  hitListing,
  changeMarks,
  policyDetails,
  lastRejections,
  storedReads,
  processModules,
  messageIndexes,
  readsInTransactions,
]
