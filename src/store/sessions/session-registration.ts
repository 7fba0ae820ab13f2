// Creates a session, or reuses the session registered for the same wallet (decisions §5, "Reuse").
import type { Level } from '../../domain/level.ts'
import type { Registered, Registration } from '../../domain/session.ts'
import { isSessionOpen, SESSION_CHANGES_MAX, type Session } from '../../domain/session.ts'
import type { TableScope } from '../copy/table-scope.ts'
import type { Transaction } from '../database.ts'
import { StoreUnavailableError } from '../errors.ts'
import { findLastAdverse } from './rejections.ts'
import { addEvent, announceSession } from './session-changes.ts'
import { lockSessionAsItIs, SESSIONS } from './session-rows.ts'
import { addFirstToken, addToken, type NewToken } from './session-tokens.ts'
import { requireFewSessions } from './session-wallets.ts'

/** The latest sessions may be lost in a power loss. */
const DURABILITY = { survives: 'process-crash' } as const

/** UNION ALL, because for UNION, SQLite would read all sessions of the organization. */
export const REUSABLE = `SELECT * FROM (
    SELECT ${SESSIONS.columns}, COALESCE(decided_sequence, 0) AS decided FROM sessions
    WHERE organization_id = ? AND environment = ? AND check_type = ? AND locked_address = ?
      AND status IN ('pending', 'retry')
    UNION ALL
    SELECT ${SESSIONS.columns}, COALESCE(decided_sequence, 0) AS decided FROM sessions
    WHERE organization_id = ? AND environment = ? AND check_type = ? AND status = 'completed' AND level >= ?
      AND id IN (SELECT session_id FROM session_wallets WHERE address = ? AND environment = ? AND organization_id = ?)
  ) AS candidates
  ORDER BY ("completedAtSeconds" IS NULL), CASE WHEN "completedAtSeconds" IS NOT NULL THEN decided END DESC, id DESC
  LIMIT 1`

interface DecisionRow {
  readonly id: string
  /** Like WalletSession.decidedSequence. 0 if an older version decided the session. */
  readonly decided: number
}

const isDecidedAfter = (row: DecisionRow, other: DecisionRow): boolean =>
  row.decided === other.decided ? row.id > other.id : row.decided > other.decided

/** Level that exceeds every other level, so that no completed session matches. */
const NO_LEVEL = 99

const readLevel = async (transaction: Transaction, organizationId: string): Promise<Level> => {
  const [row] = await transaction.query<{ level: Level }>('SELECT level FROM organizations WHERE id = ?', [
    organizationId,
  ])
  if (row === undefined) throw new Error('the organization was deleted')
  return row.level
}

const findReusable = async (transaction: Transaction, input: Registration, level: Level): Promise<Session | null> => {
  const { organizationId, environment, checkType, walletAddress } = input
  if (walletAddress === null) return null
  const find = async (atLevel: number) => {
    const [row] = await transaction.query<Session & DecisionRow>(REUSABLE, [
      organizationId,
      environment,
      checkType,
      walletAddress,
      organizationId,
      environment,
      checkType,
      atLevel,
      walletAddress,
      environment,
      organizationId,
    ])
    if (row === undefined) return null
    const { decided, ...session } = row
    return { session, decided }
  }
  const found = await find(level)
  if (found === null) return null
  const { session, decided } = found
  if (session.status !== 'completed') return session
  const adverse = await findLastAdverse(transaction, input, walletAddress)
  // After a later rejection or revocation, the completed session verifies nothing, and the person must try again.
  if (adverse === null || isDecidedAfter({ id: session.id, decided }, adverse)) return session
  return (await find(NO_LEVEL))?.session ?? null
}

/** A link for a named wallet requires a proof, because anyone can name a wallet. */
const tokenOf = ({ tokenHash, walletAddress }: Registration): NewToken => ({
  hash: tokenHash,
  requiresProof: walletAddress !== null,
})

const create = async (
  transaction: Transaction,
  input: Registration,
  level: Level,
  nowSeconds: number,
): Promise<Session | null> => {
  const { organizationId, sessionId, environment, checkType, provider, walletAddress, originUrl } = input
  const session: Session = {
    id: sessionId,
    organizationId,
    environment,
    checkType,
    status: 'pending',
    level,
    provider,
    lockedAddress: walletAddress,
    originUrl,
    personId: null,
    userId: null,
    consentedAtSeconds: null,
    publicComment: null,
    retryCount: 0,
    sequence: 1,
    createdAtSeconds: nowSeconds,
    completedAtSeconds: null,
  }
  if (!(await SESSIONS.insertNew(transaction, { ...session, updatedAtSeconds: nowSeconds }))) return null
  if (walletAddress !== null) await requireFewSessions(transaction, session, walletAddress)
  await addFirstToken(transaction, session, tokenOf(input), nowSeconds)
  await addEvent(transaction, session, {
    sequence: 1,
    kind: 'created',
    status: 'pending',
    actor: input.actor,
    publicComment: null,
    privateComment: null,
    createdAtSeconds: nowSeconds,
  })
  // Without a wallet, no cache contains data about the session yet.
  if (walletAddress !== null) await announceSession(transaction, { session, wallets: [] }, nowSeconds)
  return session
}

/** Maximum attempts: after three decisions during one request, an error is better than a wrong answer. */
const REUSE_ATTEMPTS = 3

/** Finds and locks the session to reuse. Repeats the search if the session was decided in between. */
const lockReusable = async (transaction: Transaction, input: Registration, level: Level): Promise<Session | null> => {
  for (let attempt = 0; attempt < REUSE_ATTEMPTS; attempt++) {
    const found = await findReusable(transaction, input, level)
    if (found === null || transaction.alone === true) return found
    const locked = await lockSessionAsItIs(transaction, found.organizationId, found.id)
    if (locked !== null && locked.status === found.status) return locked
  }
  throw new StoreUnavailableError(new Error('the session keeps changing'))
}

/**
 * Updates a locked session: its origin and, if the session is open, the organization's current level. Registrations are
 * unlimited, and each view of a session reads all its events: the origin has no event, and a level only up to the limit.
 */
const renew = async (
  transaction: Transaction,
  locked: Session,
  input: Registration,
  level: Level,
  nowSeconds: number,
): Promise<Session> => {
  const { organizationId, id } = locked
  const isLevelNew = isSessionOpen(locked.status) && locked.level !== level
  const isNoted = isLevelNew && locked.sequence < SESSION_CHANGES_MAX
  const values = {
    originUrl: input.originUrl ?? locked.originUrl,
    ...(isLevelNew ? { level } : {}),
    ...(isNoted ? { sequence: locked.sequence + 1 } : {}),
  }
  const session = { ...locked, ...values }
  if (isLevelNew || values.originUrl !== locked.originUrl) {
    await SESSIONS.updateAll(transaction, { organizationId, id }, values)
  }
  if (isNoted) {
    await addEvent(transaction, session, {
      sequence: session.sequence,
      kind: 'level-changed',
      status: session.status,
      actor: input.actor,
      publicComment: null,
      privateComment: null,
      createdAtSeconds: nowSeconds,
    })
  }
  await addToken(transaction, session, tokenOf(input), nowSeconds)
  return session
}

const lockOwn = async (transaction: Transaction, input: Registration): Promise<Session | null> => {
  const session = await lockSessionAsItIs(transaction, input.organizationId, input.sessionId)
  return session?.environment === input.environment && session.checkType === input.checkType ? session : null
}

export const createRegistration = (scope: TableScope) => ({
  /** On PostgreSQL, a unique index makes concurrent registrations of one wallet return the same session. */
  register: (input: Registration): Promise<Registered> =>
    scope.write(async (transaction) => {
      const nowSeconds = scope.nowSeconds()
      const level = await readLevel(transaction, input.organizationId)
      const reusable = await lockReusable(transaction, input, level)
      if (reusable !== null) {
        // True if an earlier attempt of this request was interrupted before the response.
        const created = reusable.id === input.sessionId
        return { created, session: await renew(transaction, reusable, input, level, nowSeconds) }
      }
      const created = await create(transaction, input, level, nowSeconds)
      if (created !== null) return { created: true, session: created }
      // Another request registered the same wallet between the two statements.
      const own = await lockOwn(transaction, input)
      const other = own ?? (await lockReusable(transaction, input, level))
      if (other === null) throw new StoreUnavailableError(new Error('the session could be neither created nor found'))
      return { created: own !== null, session: await renew(transaction, other, input, level, nowSeconds) }
    }, DURABILITY),

  addLink: (organizationId: string, sessionId: string, token: NewToken): Promise<boolean> =>
    scope.write(async (transaction) => {
      const nowSeconds = scope.nowSeconds()
      const session = await lockSessionAsItIs(transaction, organizationId, sessionId)
      if (session === null) return false
      await addToken(transaction, session, token, nowSeconds)
      return true
    }, DURABILITY),
})
