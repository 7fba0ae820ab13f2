// Which version of a list of sanctioned people a shared list has the wallets of, and when that version was last confirmed.
import type { Migration } from '../migrations.ts'

export const sharedWallets: Migration = {
  number: 28,
  name: 'shared-wallets',
  // The version before may write while nodes are replaced. It shares wallets without recording the version, so this version
  // shares them again; until then their age only rises.
  worksWith: 27,
  statements: ({ integer }) => [
    // The list of sanctioned people that screening writes the wallets of; null: screening does not write this list.
    'ALTER TABLE lists ADD COLUMN screening_list TEXT',
    `ALTER TABLE lists ADD COLUMN screening_confirmed_at_seconds ${integer}`,
    // Null: the wallets of no version are shared.
    'ALTER TABLE screening_lists ADD COLUMN shared_version_id TEXT',
    // Nobody recorded which version was shared, so all are shared again. What is there is as old as its last change.
    `UPDATE lists SET screening_confirmed_at_seconds = updated_at_seconds,
       screening_list = (SELECT s.name FROM screening_lists s WHERE REPLACE(s.name, '-', '_') = lists.name)
     WHERE organization_id IS NULL
       AND EXISTS (SELECT 1 FROM screening_lists s WHERE REPLACE(s.name, '-', '_') = lists.name)
       AND NOT EXISTS (SELECT 1 FROM list_sources WHERE list_id = lists.id)`,
  ],
}
