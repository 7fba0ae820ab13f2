// Which session a reviewer gets after a decision.
import type { Session } from '../api/types.ts'

/**
 * The first one behind the present that is this reviewer's or nobody's; from the front again where there is none behind.
 * Ids rise with time, and so does the queue.
 */
export const nextOf = <Waiting extends Pick<Session, 'id' | 'assigned_to'>>(
  queue: readonly Waiting[],
  presentId: string,
  ownId: string,
): Waiting | null => {
  const waiting = queue.filter(({ id, assigned_to: to }) => id !== presentId && (to === null || to === ownId))
  return waiting.find(({ id }) => id > presentId) ?? waiting[0] ?? null
}
