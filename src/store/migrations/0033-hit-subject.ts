// What a person submitted that a hit resembles, apart from the list's entry: an open hit ends only if the list changes. An older
// program would delete the open hit of a name that its person replaced by another one.
import type { Migration } from '../migrations.ts'

export const hitSubject: Migration = {
  number: 33,
  name: 'hit-subject',
  // Empty: the hit was found before this migration, or the evidence was erased.
  statements: () => ["ALTER TABLE screening_hits ADD COLUMN subject_basis TEXT NOT NULL DEFAULT ''"],
}
