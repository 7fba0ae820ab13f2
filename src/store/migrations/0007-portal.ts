import type { Migration } from '../migrations.ts'

export const portal: Migration = {
  number: 7,
  name: 'portal',
  statements: ({ integer, bytes, tableEnd }) => [
    // Hashes of a browser's secret and of its link. One browser per link.
    `CREATE TABLE portal_browsers (
       cookie_hash ${bytes} PRIMARY KEY NOT NULL CHECK (length(cookie_hash) = 32),
       link_hash ${bytes} NOT NULL UNIQUE CHECK (length(link_hash) = 32),
       organization_id TEXT NOT NULL,
       session_id TEXT NOT NULL,
       bound_at_seconds ${integer} NOT NULL,
       FOREIGN KEY (organization_id, session_id) REFERENCES sessions (organization_id, id)
     )${tableEnd}`,
    'CREATE INDEX portal_browsers_by_session ON portal_browsers (organization_id, session_id)',

    // Single-use links for another device of the same person. They expire within minutes.
    `CREATE TABLE portal_handovers (
       hash ${bytes} PRIMARY KEY NOT NULL CHECK (length(hash) = 32),
       organization_id TEXT NOT NULL,
       session_id TEXT NOT NULL,
       expires_at_seconds ${integer} NOT NULL,
       FOREIGN KEY (organization_id, session_id) REFERENCES sessions (organization_id, id)
     )${tableEnd}`,
    'CREATE INDEX portal_handovers_by_session ON portal_handovers (organization_id, session_id, expires_at_seconds)',
    'CREATE INDEX portal_handovers_by_age ON portal_handovers (expires_at_seconds)',

    // Messages to sign for a person whose link is bound to another browser.
    `CREATE TABLE portal_challenges (
       nonce TEXT PRIMARY KEY NOT NULL,
       link_hash ${bytes} NOT NULL CHECK (length(link_hash) = 32),
       organization_id TEXT NOT NULL,
       session_id TEXT NOT NULL,
       address TEXT NOT NULL,
       chain_id ${integer} NOT NULL,
       message TEXT NOT NULL,
       expires_at_seconds ${integer} NOT NULL,
       FOREIGN KEY (organization_id, session_id) REFERENCES sessions (organization_id, id)
     )${tableEnd}`,
    'CREATE INDEX portal_challenges_by_session ON portal_challenges (organization_id, session_id, expires_at_seconds)',
    'CREATE INDEX portal_challenges_by_age ON portal_challenges (expires_at_seconds)',

    `CREATE TABLE portal_agreements (
       organization_id TEXT NOT NULL,
       session_id TEXT NOT NULL,
       version TEXT NOT NULL,
       shares ${integer} NOT NULL CHECK (shares IN (0, 1)),
       agreed_at_seconds ${integer} NOT NULL,
       PRIMARY KEY (organization_id, session_id),
       FOREIGN KEY (organization_id, session_id) REFERENCES sessions (organization_id, id)
     )${tableEnd}`,

    `CREATE TABLE session_corrections (
       organization_id TEXT NOT NULL,
       session_id TEXT NOT NULL,
       parts TEXT NOT NULL,
       done TEXT NOT NULL,
       asked_at_seconds ${integer} NOT NULL,
       PRIMARY KEY (organization_id, session_id),
       FOREIGN KEY (organization_id, session_id) REFERENCES sessions (organization_id, id)
     )${tableEnd}`,

    `CREATE TABLE organization_brands (
       organization_id TEXT PRIMARY KEY NOT NULL REFERENCES organizations (id),
       color TEXT CHECK (length(color) = 7),
       logo ${bytes},
       logo_type TEXT CHECK (logo_type IN ('image/png', 'image/jpeg', 'image/webp')),
       logo_version TEXT,
       CHECK ((logo IS NULL) = (logo_type IS NULL)),
       CHECK ((logo IS NULL) = (logo_version IS NULL))
     )${tableEnd}`,
  ],
}
