// Selects the next session after a decision.
import type { Session } from '../api/types.ts'

/**
 * Returns the first session after the current one that is unassigned or assigned to this reviewer, continuing from the
 * beginning. Ids increase over time, and the queue is in the same order.
 */
export const nextOf = <Waiting extends Pick<Session, 'id' | 'assigned_to'>>(
  queue: readonly Waiting[],
  presentId: string,
  ownId: string,
): Waiting | null => {
  const waiting = queue.filter(({ id, assigned_to: to }) => id !== presentId && (to === null || to === ownId))
  return waiting.find(({ id }) => id > presentId) ?? waiting[0] ?? null
}
