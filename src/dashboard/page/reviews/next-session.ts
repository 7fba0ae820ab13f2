import type { Session } from '../api/types.ts'

/** Returns the next session that is unassigned or the reviewer's own, wrapping around. Ids are in queue order. */
export const nextOf = <Waiting extends Pick<Session, 'id' | 'assigned_to'>>(
  queue: readonly Waiting[],
  presentId: string,
  ownId: string,
): Waiting | null => {
  const waiting = queue.filter(({ id, assigned_to: to }) => id !== presentId && (to === null || to === ownId))
  return waiting.find(({ id }) => id > presentId) ?? waiting[0] ?? null
}
