// Names the reading that a list's source was last taken for, so that a reading that ends late writes nothing.
import type { Migration } from '../migrations.ts'

export const listSourceToken: Migration = {
  number: 10,
  name: 'list-source-token',
  worksWith: 9,
  // A program that knows no tokens makes a changed source with the empty one, which no reading has.
  statements: () => ["ALTER TABLE list_sources ADD COLUMN token TEXT NOT NULL DEFAULT ''"],
}
