import type { Migration } from '../migrations.ts'

export const administration: Migration = {
  number: 4,
  name: 'administration',
  statements: ({ integer, bytes, tableEnd, appendOnly }) => [
    `CREATE TABLE users (
       id TEXT PRIMARY KEY NOT NULL,
       email TEXT NOT NULL UNIQUE,
       name TEXT NOT NULL,
       deployment_admin ${integer} NOT NULL CHECK (deployment_admin IN (0, 1)),
       password_hash TEXT,
       totp_secret ${bytes},
       totp_confirmed_at_seconds ${integer},
       totp_last_step ${integer} NOT NULL,
       version ${integer} NOT NULL,
       created_at_seconds ${integer} NOT NULL,
       disabled_at_seconds ${integer}
     )${tableEnd}`,

    `CREATE TABLE user_recovery_codes (
       user_id TEXT NOT NULL REFERENCES users (id),
       hash ${bytes} NOT NULL CHECK (length(hash) = 32),
       PRIMARY KEY (user_id, hash)
     )${tableEnd}`,

    `CREATE TABLE memberships (
       organization_id TEXT NOT NULL REFERENCES organizations (id),
       user_id TEXT NOT NULL REFERENCES users (id),
       role TEXT NOT NULL CHECK (role IN ('organization-admin', 'reviewer', 'viewer')),
       created_at_seconds ${integer} NOT NULL,
       PRIMARY KEY (organization_id, user_id)
     )${tableEnd}`,
    'CREATE INDEX memberships_by_user ON memberships (user_id)',

    // Browsers that are signed in or wait for a second factor. Only the hash of the token is stored.
    `CREATE TABLE user_sessions (
       id TEXT PRIMARY KEY NOT NULL,
       token_hash ${bytes} NOT NULL UNIQUE CHECK (length(token_hash) = 32),
       user_id TEXT NOT NULL REFERENCES users (id),
       state TEXT NOT NULL CHECK (state IN ('second-factor', 'active')),
       user_agent TEXT NOT NULL,
       address TEXT NOT NULL,
       created_at_seconds ${integer} NOT NULL,
       last_seen_at_seconds ${integer} NOT NULL,
       expires_at_seconds ${integer} NOT NULL
     )${tableEnd}`,
    'CREATE INDEX user_sessions_by_user ON user_sessions (user_id, created_at_seconds)',
    'CREATE INDEX user_sessions_by_age ON user_sessions (expires_at_seconds)',

    `CREATE TABLE user_links (
       hash ${bytes} PRIMARY KEY NOT NULL CHECK (length(hash) = 32),
       purpose TEXT NOT NULL CHECK (purpose IN ('first-admin', 'invitation', 'recovery')),
       user_id TEXT REFERENCES users (id),
       expires_at_seconds ${integer} NOT NULL,
       CHECK ((purpose = 'first-admin') = (user_id IS NULL))
     )${tableEnd}`,

    `CREATE TABLE passkeys (
       id TEXT PRIMARY KEY NOT NULL,
       user_id TEXT NOT NULL REFERENCES users (id),
       name TEXT NOT NULL,
       public_key ${bytes} NOT NULL,
       signature_count ${integer} NOT NULL,
       transports TEXT NOT NULL,
       created_at_seconds ${integer} NOT NULL,
       last_used_at_seconds ${integer}
     )${tableEnd}`,
    'CREATE INDEX passkeys_by_user ON passkeys (user_id, created_at_seconds)',

    `CREATE TABLE passkey_challenges (
       id TEXT PRIMARY KEY NOT NULL,
       challenge TEXT NOT NULL,
       user_id TEXT REFERENCES users (id),
       expires_at_seconds ${integer} NOT NULL
     )${tableEnd}`,
    'CREATE INDEX passkey_challenges_by_age ON passkey_challenges (expires_at_seconds)',

    // Numbers from a counter row have no gaps, so that a missing entry is detected.
    "INSERT INTO counters (name, value) VALUES ('audit', 0)",
    `CREATE TABLE audit_log (
       sequence ${integer} PRIMARY KEY NOT NULL,
       at_seconds ${integer} NOT NULL,
       organization_id TEXT REFERENCES organizations (id),
       actor TEXT NOT NULL,
       actor_name TEXT NOT NULL,
       action TEXT NOT NULL,
       subject TEXT NOT NULL,
       detail TEXT NOT NULL,
       request_id TEXT NOT NULL,
       previous_hash TEXT NOT NULL,
       hash TEXT NOT NULL
     )${tableEnd}`,
    'CREATE INDEX audit_log_by_organization ON audit_log (organization_id, sequence)',
    ...appendOnly('audit_log'),

    `CREATE TABLE approvals (
       id TEXT PRIMARY KEY NOT NULL,
       organization_id TEXT REFERENCES organizations (id),
       action TEXT NOT NULL,
       subject TEXT NOT NULL,
       detail TEXT NOT NULL,
       state TEXT NOT NULL CHECK (state IN ('pending', 'approved', 'rejected')),
       requested_by TEXT NOT NULL REFERENCES users (id),
       decided_by TEXT REFERENCES users (id),
       created_at_seconds ${integer} NOT NULL,
       expires_at_seconds ${integer} NOT NULL,
       decided_at_seconds ${integer},
       CHECK (decided_by IS NULL OR state = 'rejected' OR decided_by <> requested_by)
     )${tableEnd}`,
    'CREATE INDEX approvals_by_organization ON approvals (organization_id, created_at_seconds)',

    `CREATE TABLE jobs (
       id TEXT PRIMARY KEY NOT NULL,
       organization_id TEXT REFERENCES organizations (id),
       kind TEXT NOT NULL,
       state TEXT NOT NULL CHECK (state IN ('queued', 'running', 'done', 'failed', 'cancelled')),
       input TEXT NOT NULL,
       progress_done ${integer} NOT NULL,
       progress_total ${integer} NOT NULL,
       result TEXT,
       failure TEXT,
       actor TEXT NOT NULL,
       created_at_seconds ${integer} NOT NULL,
       started_at_seconds ${integer},
       finished_at_seconds ${integer}
     )${tableEnd}`,
    'CREATE INDEX jobs_by_organization ON jobs (organization_id, created_at_seconds)',

    // The version prevents two reviewers from overwriting each other.
    `CREATE TABLE session_assignments (
       organization_id TEXT NOT NULL,
       session_id TEXT NOT NULL,
       user_id TEXT REFERENCES users (id),
       version ${integer} NOT NULL,
       assigned_at_seconds ${integer} NOT NULL,
       PRIMARY KEY (organization_id, session_id),
       FOREIGN KEY (organization_id, session_id) REFERENCES sessions (organization_id, id)
     )${tableEnd}`,
    'CREATE INDEX sessions_by_status ON sessions (organization_id, status, id)',

    `CREATE TABLE organization_settings (
       organization_id TEXT PRIMARY KEY NOT NULL REFERENCES organizations (id),
       second_person ${integer} NOT NULL CHECK (second_person IN (0, 1))
     )${tableEnd}`,

    // Like `idempotency`. Callers may act for the whole deployment, so the owner is not a foreign key.
    `CREATE TABLE admin_idempotency (
       organization_id TEXT NOT NULL,
       key_id TEXT NOT NULL,
       idempotency_key TEXT NOT NULL,
       body_hash ${bytes} NOT NULL,
       uuid TEXT NOT NULL,
       claim_expires_at_seconds ${integer} NOT NULL,
       keep_until_seconds ${integer} NOT NULL,
       response_status ${integer},
       response_body TEXT,
       PRIMARY KEY (organization_id, key_id, idempotency_key)
     )${tableEnd}`,
    'CREATE INDEX admin_idempotency_by_age ON admin_idempotency (keep_until_seconds)',
  ],
}
