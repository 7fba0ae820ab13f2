// Composite foreign keys prevent references to another organization's session (invariant 6).
import type { Migration } from '../migrations.ts'

export const identity: Migration = {
  number: 2,
  name: 'identity',
  statements: ({ integer, bytes, tableEnd }) => [
    `ALTER TABLE organizations ADD COLUMN level ${integer} NOT NULL DEFAULT 1 CHECK (level BETWEEN 1 AND 3)`,

    // Visible to no organization: each organization gets its own id (sessions.user_id).
    `CREATE TABLE persons (
       id TEXT PRIMARY KEY NOT NULL,
       organization_id TEXT NOT NULL REFERENCES organizations (id),
       environment TEXT NOT NULL CHECK (environment IN ('live', 'test')),
       check_type TEXT NOT NULL CHECK (check_type IN ('kyc', 'kyb')),
       created_at_seconds ${integer} NOT NULL
     )${tableEnd}`,

    `CREATE TABLE sessions (
       organization_id TEXT NOT NULL REFERENCES organizations (id),
       id TEXT NOT NULL,
       environment TEXT NOT NULL CHECK (environment IN ('live', 'test')),
       check_type TEXT NOT NULL CHECK (check_type IN ('kyc', 'kyb')),
       status TEXT NOT NULL CHECK (status IN ('pending', 'submitted', 'completed', 'rejected', 'retry')),
       level ${integer} NOT NULL CHECK (level BETWEEN 1 AND 3),
       provider TEXT NOT NULL,
       locked_address TEXT,
       origin_url TEXT,
       person_id TEXT REFERENCES persons (id),
       user_id TEXT,
       consent_version TEXT,
       consented_at_seconds ${integer},
       public_comment TEXT,
       retry_count ${integer} NOT NULL,
       sequence ${integer} NOT NULL,
       created_at_seconds ${integer} NOT NULL,
       updated_at_seconds ${integer} NOT NULL,
       completed_at_seconds ${integer},
       PRIMARY KEY (organization_id, id),
       CHECK ((status = 'completed') = (completed_at_seconds IS NOT NULL)),
       CHECK ((person_id IS NULL) = (user_id IS NULL)),
       CHECK (status <> 'completed' OR person_id IS NOT NULL)
     )${tableEnd}`,
    // If a wallet is registered twice concurrently, the second registration finds the first session.
    `CREATE UNIQUE INDEX sessions_pending_by_lock ON sessions (organization_id, environment, check_type, locked_address)
       WHERE status = 'pending' AND locked_address IS NOT NULL`,
    'CREATE INDEX sessions_by_lock ON sessions (locked_address, environment) WHERE locked_address IS NOT NULL',
    'CREATE INDEX sessions_by_person ON sessions (person_id) WHERE person_id IS NOT NULL',
    'CREATE INDEX sessions_by_user ON sessions (organization_id, user_id) WHERE user_id IS NOT NULL',

    // Session links, with 144 random bits each. Only the hash is stored.
    `CREATE TABLE session_tokens (
       hash ${bytes} PRIMARY KEY NOT NULL CHECK (length(hash) = 32),
       organization_id TEXT NOT NULL,
       session_id TEXT NOT NULL,
       ordinal ${integer} NOT NULL,
       created_at_seconds ${integer} NOT NULL,
       UNIQUE (organization_id, session_id, ordinal),
       FOREIGN KEY (organization_id, session_id) REFERENCES sessions (organization_id, id)
     )${tableEnd}`,

    `CREATE TABLE session_wallets (
       id TEXT PRIMARY KEY NOT NULL,
       organization_id TEXT NOT NULL,
       session_id TEXT NOT NULL,
       environment TEXT NOT NULL CHECK (environment IN ('live', 'test')),
       connected_sequence ${integer} NOT NULL,
       chain TEXT NOT NULL,
       address TEXT NOT NULL,
       address_text TEXT NOT NULL,
       connected_at_seconds ${integer} NOT NULL,
       UNIQUE (organization_id, session_id, address, chain),
       FOREIGN KEY (organization_id, session_id) REFERENCES sessions (organization_id, id)
     )${tableEnd}`,
    'CREATE INDEX session_wallets_by_address ON session_wallets (address, environment)',

    `CREATE TABLE wallet_proofs (
       wallet_id TEXT PRIMARY KEY NOT NULL REFERENCES session_wallets (id) ON DELETE CASCADE,
       organization_id TEXT NOT NULL,
       session_id TEXT NOT NULL,
       kind TEXT NOT NULL CHECK (kind IN ('eip191', 'erc1271', 'siws', 'sandbox')),
       message TEXT NOT NULL,
       signature TEXT NOT NULL,
       proved_at_seconds ${integer} NOT NULL,
       FOREIGN KEY (organization_id, session_id) REFERENCES sessions (organization_id, id)
     )${tableEnd}`,

    `CREATE TABLE session_nonces (
       nonce TEXT PRIMARY KEY NOT NULL,
       organization_id TEXT NOT NULL,
       session_id TEXT NOT NULL,
       portal_host TEXT NOT NULL,
       address TEXT NOT NULL,
       chain TEXT NOT NULL,
       chain_id ${integer} NOT NULL,
       message TEXT NOT NULL,
       expires_at_seconds ${integer} NOT NULL,
       FOREIGN KEY (organization_id, session_id) REFERENCES sessions (organization_id, id)
     )${tableEnd}`,
    'CREATE INDEX session_nonces_by_session ON session_nonces (organization_id, session_id, expires_at_seconds)',
    'CREATE INDEX session_nonces_by_age ON session_nonces (expires_at_seconds)',

    `CREATE TABLE session_events (
       organization_id TEXT NOT NULL,
       session_id TEXT NOT NULL,
       sequence ${integer} NOT NULL,
       kind TEXT NOT NULL,
       status TEXT NOT NULL,
       actor TEXT NOT NULL,
       public_comment TEXT,
       private_comment TEXT,
       created_at_seconds ${integer} NOT NULL,
       PRIMARY KEY (organization_id, session_id, sequence),
       FOREIGN KEY (organization_id, session_id) REFERENCES sessions (organization_id, id)
     )${tableEnd}`,

    `CREATE TABLE session_evidence (
       id TEXT PRIMARY KEY NOT NULL,
       organization_id TEXT NOT NULL,
       session_id TEXT NOT NULL,
       kind TEXT NOT NULL,
       media_type TEXT NOT NULL,
       byte_length ${integer} NOT NULL,
       created_at_seconds ${integer} NOT NULL,
       erased_at_seconds ${integer},
       FOREIGN KEY (organization_id, session_id) REFERENCES sessions (organization_id, id)
     )${tableEnd}`,
    'CREATE INDEX session_evidence_by_session ON session_evidence (organization_id, session_id)',
  ],
}
