// Rejections of a wallet or a person by an operator, which no automatic decision overrides.
import type { Session } from '../../domain/session.ts'
import { RejectedBeforeError } from '../../domain/session-errors.ts'
import type { Transaction } from '../database.ts'
import { lockDeployment } from '../row-locks.ts'
import { IS_SAME_WALLET, personsOf } from './persons.ts'

/** For statements over `sessions` as `s`: an operator gave the session its present status, now or earlier. */
const DECIDED_BY_OPERATOR = `EXISTS (SELECT 1 FROM session_events decision
    WHERE decision.organization_id = s.organization_id AND decision.session_id = s.id AND decision.kind = 'status'
      AND decision.status = s.status AND decision.actor LIKE 'operator:%')`

export const REJECTED_BY_OPERATOR = `(s.status = 'rejected' AND ${DECIDED_BY_OPERATOR})`

/**
 * Completed sessions of the organization with one of the session's wallets; and rejected sessions in which such a wallet takes
 * or took part, to which it is locked, or of its persons.
 */
const DECISIONS = `SELECT other.address, s.status FROM (
    SELECT mine.address, theirs.organization_id, theirs.session_id,
      CASE WHEN ${IS_SAME_WALLET} THEN 1 ELSE 0 END AS has_wallet FROM session_wallets mine
    JOIN session_wallets theirs ON theirs.address = mine.address AND theirs.environment = mine.environment
      AND theirs.organization_id = mine.organization_id
    WHERE mine.organization_id = ? AND mine.session_id = ?
    UNION
    SELECT mine.address, removed.organization_id, removed.session_id, 0 AS has_wallet FROM session_wallets mine
    JOIN session_removed_wallets removed ON removed.address = mine.address AND removed.environment = mine.environment
      AND removed.organization_id = mine.organization_id
    WHERE mine.organization_id = ? AND mine.session_id = ?
    UNION
    SELECT mine.address, locked.organization_id, locked.id, 0 AS has_wallet FROM session_wallets mine
    JOIN sessions locked ON locked.locked_address = mine.address AND locked.environment = mine.environment
      AND locked.organization_id = mine.organization_id
    WHERE mine.organization_id = ? AND mine.session_id = ?
    UNION
    SELECT mine.address, rejected.organization_id, rejected.session_id, 0 AS has_wallet FROM session_wallets mine
    JOIN session_rejected_persons rejected ON rejected.organization_id || '' = mine.organization_id
      AND rejected.person_id IN (${personsOf('mine.address', 'mine.environment', 'mine.organization_id')})
    WHERE mine.organization_id = ? AND mine.session_id = ?
  ) AS other JOIN sessions s ON s.organization_id = other.organization_id AND s.id = other.session_id
  WHERE (s.status = 'rejected' OR s.status = 'completed' AND other.has_wallet = 1) AND ${DECIDED_BY_OPERATOR}
  ORDER BY COALESCE(s.decided_sequence, 0) DESC, s.id DESC`

/**
 * Call it in the transaction that completes a session automatically. After an operator rejects a wallet or its person,
 * automatic completion is possible only once an operator has completed a later session of it.
 * @throws RejectedBeforeError
 */
export const requireNoRejection = async (
  transaction: Transaction,
  { organizationId, id }: Pick<Session, 'organizationId' | 'id'>,
): Promise<void> => {
  // A rejection of the same wallet or person takes this lock, too, so it has either committed or waits.
  await lockDeployment(transaction)
  const session = [organizationId, id]
  const decisions = await transaction.query<{ readonly address: string; readonly status: string }>(DECISIONS, [
    ...session,
    ...session,
    ...session,
    ...session,
  ])
  const last = new Map(decisions.toReversed().map(({ address, status }) => [address, status]))
  if ([...last.values()].includes('rejected')) throw new RejectedBeforeError()
}
