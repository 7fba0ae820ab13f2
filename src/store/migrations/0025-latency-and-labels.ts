// How long each organization waited for its verdicts, by quarters of an hour; and what an organization calls a contract that
// it has bound.
import type { Migration } from '../migrations.ts'

export const latencyAndLabels: Migration = {
  number: 25,
  name: 'latency-and-labels',
  worksWith: 24,
  statements: ({ integer, tableEnd }) => [
    // Counts by bucket of src/lib/fine-histogram.ts, of all processes together.
    `CREATE TABLE answer_latencies (
       organization_id TEXT NOT NULL REFERENCES organizations (id),
       at_seconds ${integer} NOT NULL,
       counts TEXT NOT NULL,
       PRIMARY KEY (organization_id, at_seconds)
     )${tableEnd}`,
    'CREATE INDEX answer_latencies_by_age ON answer_latencies (at_seconds)',
    // Null: the contract has no label.
    'ALTER TABLE bindings ADD COLUMN label TEXT',
  ],
}
