// The decision of an outside decider, in the transaction that marks its message as received.
import type { SessionState, StatusChange } from '../../domain/session.ts'
import { TransitionRefusedError } from '../../domain/session-errors.ts'
import type { Store, Tables } from '../store.ts'

type Message = Parameters<Tables['providerResults']['spend']>[0]

/** A repeated message changes nothing. A message about a session that is no longer submitted is refused. */
export const spendAndDecide = (store: Pick<Store, 'transaction'>, message: Message) => {
  let isRepeated = false
  return {
    /** Whether `changeStatus` found that the message was received before. */
    isRepeated: () => isRepeated,
    /** @throws TransitionRefusedError once an operator has decided or sent the session back */
    changeStatus: (change: StatusChange): Promise<SessionState | null> =>
      store.transaction(async (tables) => {
        const before = await tables.sessions.lock(message.organizationId, message.sessionId)
        isRepeated = !(await tables.providerResults.spend(message))
        if (isRepeated || before === null) return before
        const { status } = before.session
        if (status !== 'submitted') throw new TransitionRefusedError(status, change.to)
        return tables.sessions.changeStatus(change)
      }),
  }
}
