// Documents are encrypted files. Their keys are stored here, so that erasing a key erases the document.
import type { Migration } from '../migrations.ts'

export const evidence: Migration = {
  number: 5,
  name: 'evidence',
  statements: ({ integer, bytes, tableEnd, appendOnly }) => [
    // Wrapped with the deployment's key, which is not stored. Startup compares the key's fingerprint.
    `CREATE TABLE organization_keys (
       organization_id TEXT PRIMARY KEY NOT NULL REFERENCES organizations (id),
       wrapped_key ${bytes} NOT NULL,
       wrapped_by TEXT NOT NULL,
       created_at_seconds ${integer} NOT NULL
     )${tableEnd}`,

    'ALTER TABLE session_evidence ADD COLUMN storage_name TEXT',
    "ALTER TABLE session_evidence ADD COLUMN field_names TEXT NOT NULL DEFAULT ''",
    // Sealed, because the original file name may contain the person's name.
    `ALTER TABLE session_evidence ADD COLUMN sealed_name ${bytes}`,
    `ALTER TABLE session_evidence ADD COLUMN wrapped_key ${bytes}
       CHECK ((wrapped_key IS NULL) = (erased_at_seconds IS NOT NULL))`,
    'CREATE UNIQUE INDEX session_evidence_by_storage ON session_evidence (storage_name)',
    `CREATE UNIQUE INDEX session_evidence_fields ON session_evidence (organization_id, session_id)
       WHERE kind = 'fields' AND erased_at_seconds IS NULL`,

    // Set when evidence needed for a decision was erased. Cleared by a new submission.
    `ALTER TABLE sessions ADD COLUMN evidence_erased_at_seconds ${integer}`,

    `CREATE TABLE evidence_reads (
       id TEXT PRIMARY KEY NOT NULL,
       organization_id TEXT NOT NULL,
       session_id TEXT NOT NULL,
       evidence_id TEXT NOT NULL REFERENCES session_evidence (id),
       actor TEXT NOT NULL,
       read_at_seconds ${integer} NOT NULL,
       FOREIGN KEY (organization_id, session_id) REFERENCES sessions (organization_id, id)
     )${tableEnd}`,
    'CREATE INDEX evidence_reads_by_session ON evidence_reads (organization_id, session_id, read_at_seconds)',
    ...appendOnly('evidence_reads'),

    `CREATE TABLE evidence_retention (
       organization_id TEXT PRIMARY KEY NOT NULL REFERENCES organizations (id),
       completed_days ${integer} NOT NULL CHECK (completed_days BETWEEN 0 AND 36500),
       rejected_days ${integer} NOT NULL CHECK (rejected_days BETWEEN 0 AND 36500),
       abandoned_days ${integer} NOT NULL CHECK (abandoned_days BETWEEN 0 AND 36500)
     )${tableEnd}`,
  ],
}
