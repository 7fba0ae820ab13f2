// Reads all changes after a position of the change feed.
import { type ChangePosition, readChanges } from '../../src/store/changes.ts'
import type { Statements } from '../../src/store/database.ts'

export const BEFORE_ALL: ChangePosition = { sequence: 0, mark: null }

/** Fails if changes were lost. */
export const changesSince = async (statements: Statements, position: ChangePosition) => {
  const changes = await readChanges(statements, position, 100_000)
  if (changes === null) throw new Error('changes were lost')
  return changes
}
