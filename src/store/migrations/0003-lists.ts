// A list's content is an immutable base of sorted chunks, and the entries added and removed since.
import type { Migration } from '../migrations.ts'

export const lists: Migration = {
  number: 3,
  name: 'lists',
  statements: ({ integer, bytes, tableEnd }) => [
    // A list without an organization is shared by all organizations.
    `CREATE TABLE lists (
       id TEXT PRIMARY KEY NOT NULL,
       organization_id TEXT REFERENCES organizations (id),
       name TEXT NOT NULL,
       description TEXT NOT NULL,
       base_id TEXT,
       entry_count ${integer} NOT NULL CHECK (entry_count >= 0),
       version ${integer} NOT NULL,
       created_at_seconds ${integer} NOT NULL,
       updated_at_seconds ${integer} NOT NULL
     )${tableEnd}`,
    'CREATE UNIQUE INDEX lists_by_name ON lists (organization_id, name) WHERE organization_id IS NOT NULL',
    'CREATE UNIQUE INDEX lists_by_shared_name ON lists (name) WHERE organization_id IS NULL',

    // Does not reference the list, because a base outlives its list until it is swept.
    `CREATE TABLE list_bases (
       id TEXT PRIMARY KEY NOT NULL,
       list_id TEXT NOT NULL,
       evm_count ${integer} NOT NULL CHECK (evm_count >= 0),
       solana_count ${integer} NOT NULL CHECK (solana_count >= 0),
       created_at_seconds ${integer} NOT NULL,
       retired_at_seconds ${integer}
     )${tableEnd}`,
    'CREATE INDEX list_bases_by_list ON list_bases (list_id)',

    // Keys are 20 bytes (EVM) or 32 bytes (Solana), concatenated in ascending order. Notes are JSON.
    `CREATE TABLE list_chunks (
       base_id TEXT NOT NULL REFERENCES list_bases (id),
       key_width ${integer} NOT NULL CHECK (key_width IN (20, 32)),
       first_key ${bytes} NOT NULL,
       keys ${bytes} NOT NULL,
       notes TEXT NOT NULL,
       PRIMARY KEY (base_id, key_width, first_key)
     )${tableEnd}`,

    `CREATE TABLE list_edits (
       list_id TEXT NOT NULL REFERENCES lists (id),
       key ${bytes} NOT NULL CHECK (length(key) IN (20, 32)),
       present ${integer} NOT NULL CHECK (present IN (0, 1)),
       memo TEXT NOT NULL,
       author TEXT NOT NULL,
       edited_at_seconds ${integer} NOT NULL,
       PRIMARY KEY (list_id, key)
     )${tableEnd}`,

    `CREATE TABLE list_sources (
       list_id TEXT PRIMARY KEY NOT NULL REFERENCES lists (id),
       location TEXT NOT NULL,
       format TEXT NOT NULL CHECK (format IN ('text', 'csv', 'sdn-advanced')),
       reach TEXT NOT NULL CHECK (reach IN ('public', 'private', 'loopback')),
       skips_bad_lines ${integer} NOT NULL CHECK (skips_bad_lines IN (0, 1)),
       interval_seconds ${integer} NOT NULL CHECK (interval_seconds >= 60),
       due_at_seconds ${integer} NOT NULL,
       leased_until_seconds ${integer} NOT NULL,
       attempted_at_seconds ${integer},
       failure TEXT,
       confirmed_at_seconds ${integer},
       file_sha256 TEXT,
       file_bytes ${integer},
       skipped_count ${integer}
     )${tableEnd}`,
    'CREATE INDEX list_sources_by_due ON list_sources (due_at_seconds)',
  ],
}
