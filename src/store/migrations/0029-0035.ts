// Migrations 29 to 35.
import type { Migration } from '../migrations.ts'

/** Links that open a session in use only with a proof of one of its wallets. */
export const linkProof: Migration = {
  number: 29,
  name: 'link-proof',
  statements: ({ integer }) => [
    `ALTER TABLE session_tokens ADD COLUMN requires_proof ${integer} NOT NULL DEFAULT 1 CHECK (requires_proof IN (0, 1))`,
    // No registration with a wallet has led to these sessions, and there is no wallet to prove.
    `UPDATE session_tokens SET requires_proof = 0 WHERE EXISTS (SELECT 1 FROM sessions
       WHERE sessions.organization_id = session_tokens.organization_id AND sessions.id = session_tokens.session_id
         AND sessions.locked_address IS NULL AND NOT EXISTS (SELECT 1 FROM session_wallets
           WHERE session_wallets.organization_id = sessions.organization_id AND session_wallets.session_id = sessions.id))`,
  ],
}

/** What was missing when an override completed a session. An older program would complete sessions without the requirement. */
export const completionOverride: Migration = {
  number: 30,
  name: 'completion-override',
  statements: () => ['ALTER TABLE session_events ADD COLUMN overridden_parts TEXT'],
}

/**
 * When the checks of a session were last queued without a submission, and at which sequence number. An older program would
 * complete such sessions unchecked.
 */
export const checksWithoutSubmission: Migration = {
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

/**
 * The US Treasury's lists also have a file of comments: the rest of remarks that the primary file cuts at 1,000 characters. The
 * lists are due at once. An earlier program refuses four files and keeps the content that is there.
 */
export const ofacComments: Migration = {
  number: 32,
  name: 'ofac-comments',
  statements: () => [
    withComments('ofac-sdn', ['SDN.CSV', 'ALT.CSV', 'ADD.CSV'], 'SDN_COMMENTS.CSV'),
    withComments('us-consolidated', ['CONS_PRIM.CSV', 'CONS_ALT.CSV', 'CONS_ADD.CSV'], 'CONS_COMMENTS.CSV'),
  ],
}

/**
 * What a person submitted that a hit resembles, apart from the list's entry: an open hit ends only if the list changes. An older
 * program would delete the open hit of a name that its person replaced by another one.
 */
export const hitSubject: Migration = {
  number: 33,
  name: 'hit-subject',
  // Empty: the hit was found before this migration, or the evidence was erased.
  statements: () => ["ALTER TABLE screening_hits ADD COLUMN subject_basis TEXT NOT NULL DEFAULT ''"],
}

/**
 * Organizations take turns in the queue of checks, so its index begins with the organization. An older program reads the queue
 * without the index.
 */
export const checkTurns: Migration = {
  number: 34,
  name: 'check-turns',
  worksWith: 33,
  statements: () => [
    'DROP INDEX session_check_queue_due',
    'CREATE INDEX session_check_queue_turns ON session_check_queue (organization_id, due_at_seconds)',
  ],
}

/**
 * Wallets that were disconnected from a session. A rejection or an unsettled hit of the session still counts for them. An older
 * program would forget them.
 */
export const removedWallets: Migration = {
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
