// Composite foreign keys prevent references to another organization's rows, regardless of the code (invariant 6).
import type { Migration } from '../migrations.ts'

export const foundation: Migration = {
  number: 1,
  name: 'foundation',
  statements: ({ integer, bytes, tableEnd }) => [
    `CREATE TABLE deployment (
       name TEXT PRIMARY KEY NOT NULL,
       value TEXT NOT NULL
     )${tableEnd}`,

    `CREATE TABLE organizations (
       id TEXT PRIMARY KEY NOT NULL,
       slug TEXT NOT NULL UNIQUE,
       name TEXT NOT NULL,
       version ${integer} NOT NULL,
       created_at_seconds ${integer} NOT NULL
     )${tableEnd}`,

    `CREATE TABLE api_keys (
       key_id TEXT PRIMARY KEY NOT NULL,
       organization_id TEXT NOT NULL REFERENCES organizations (id),
       kind TEXT NOT NULL CHECK (kind IN ('attestation', 'identity', 'admin')),
       environment TEXT NOT NULL CHECK (environment IN ('live', 'test')),
       scopes TEXT NOT NULL,
       name TEXT NOT NULL,
       hash ${bytes} NOT NULL CHECK (length(hash) = 32),
       created_at_seconds ${integer} NOT NULL,
       expires_at_seconds ${integer},
       revoked_at_seconds ${integer},
       last_used_at_seconds ${integer},
       replaced_by_key_id TEXT,
       requests_per_second ${integer} CHECK (requests_per_second > 0),
       burst ${integer} CHECK (burst > 0),
       CHECK ((requests_per_second IS NULL) = (burst IS NULL))
     )${tableEnd}`,
    'CREATE INDEX api_keys_by_organization ON api_keys (organization_id, created_at_seconds)',

    `CREATE TABLE policies (
       id TEXT PRIMARY KEY NOT NULL,
       organization_id TEXT NOT NULL REFERENCES organizations (id),
       name TEXT NOT NULL,
       active_revision_id TEXT,
       revision_count ${integer} NOT NULL,
       version ${integer} NOT NULL,
       created_at_seconds ${integer} NOT NULL,
       UNIQUE (organization_id, id)
     )${tableEnd}`,

    `CREATE TABLE policy_revisions (
       id TEXT PRIMARY KEY NOT NULL,
       organization_id TEXT NOT NULL,
       policy_id TEXT NOT NULL,
       number ${integer} NOT NULL,
       source TEXT NOT NULL,
       content_hash TEXT NOT NULL,
       quorum ${integer} NOT NULL CHECK (quorum >= 1),
       created_at_seconds ${integer} NOT NULL,
       UNIQUE (policy_id, number),
       FOREIGN KEY (organization_id, policy_id) REFERENCES policies (organization_id, id)
     )${tableEnd}`,

    // Unique in the deployment: a second owner of a signed hash could sign for the first owner's contracts.
    `CREATE TABLE projects (
       id TEXT PRIMARY KEY NOT NULL,
       organization_id TEXT NOT NULL REFERENCES organizations (id),
       name TEXT NOT NULL,
       verification_hash TEXT NOT NULL UNIQUE CHECK (length(verification_hash) BETWEEN 1 AND 64),
       policy_id TEXT NOT NULL,
       lifetime_seconds ${integer} NOT NULL CHECK (lifetime_seconds BETWEEN 10 AND 3600),
       version ${integer} NOT NULL,
       created_at_seconds ${integer} NOT NULL,
       UNIQUE (organization_id, id),
       FOREIGN KEY (organization_id, policy_id) REFERENCES policies (organization_id, id)
     )${tableEnd}`,
    'CREATE INDEX projects_by_policy ON projects (organization_id, policy_id)',

    // Unique only within an organization: each organization signs its own project's hash, which other organizations'
    // contracts reject.
    `CREATE TABLE bindings (
       id TEXT PRIMARY KEY NOT NULL,
       organization_id TEXT NOT NULL REFERENCES organizations (id),
       project_id TEXT NOT NULL,
       chain_name TEXT NOT NULL,
       address TEXT NOT NULL,
       created_at_seconds ${integer} NOT NULL,
       UNIQUE (organization_id, chain_name, address),
       FOREIGN KEY (organization_id, project_id) REFERENCES projects (organization_id, id)
     )${tableEnd}`,
    'CREATE INDEX bindings_by_project ON bindings (organization_id, project_id)',

    `CREATE TABLE attesters (
       id TEXT PRIMARY KEY NOT NULL,
       kind TEXT NOT NULL CHECK (kind IN ('secp256k1', 'ed25519')),
       address TEXT NOT NULL,
       keystore_file TEXT NOT NULL,
       status TEXT NOT NULL CHECK (status IN ('active', 'retiring', 'retired')),
       created_at_seconds ${integer} NOT NULL,
       UNIQUE (kind, address)
     )${tableEnd}`,

    `CREATE TABLE idempotency (
       organization_id TEXT NOT NULL REFERENCES organizations (id),
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
    'CREATE INDEX idempotency_by_age ON idempotency (keep_until_seconds)',

    // A counter row instead of a database sequence: no gaps, and in commit order, so that readers miss nothing.
    `CREATE TABLE counters (
       name TEXT PRIMARY KEY NOT NULL,
       value ${integer} NOT NULL
     )${tableEnd}`,
    "INSERT INTO counters (name, value) VALUES ('changes', 0)",

    `CREATE TABLE changes (
       sequence ${integer} PRIMARY KEY NOT NULL,
       topic TEXT NOT NULL,
       subject_id TEXT NOT NULL,
       organization_id TEXT,
       created_at_seconds ${integer} NOT NULL
     )${tableEnd}`,
  ],
}
