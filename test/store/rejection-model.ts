// Which wallets are verified after random registrations, connections, decisions, agreements and erasures, as simply as possible:
// everything is searched in plain lists, by the rules of docs/identity.md.
import type { WalletAddress } from '../../src/domain/address.ts'
import type { CheckType, SessionStatus } from '../../src/domain/session.ts'

export interface ModelSession {
  readonly organizationId: string
  readonly id: string
  readonly type: CheckType
  readonly locked: WalletAddress | null
  readonly connected: Set<WalletAddress>
  readonly removed: Set<WalletAddress>
  status: SessionStatus
  person: number | null
  isConsented: boolean
  isErased: boolean
  retries: number
  /** Number of the last decision; null if there is none. */
  decided: number | null
  wasCompletedByOperator: boolean
}

interface Rejection {
  readonly organizationId: string
  readonly wallets: ReadonlySet<WalletAddress>
  readonly persons: ReadonlySet<number>
  readonly decided: number
  readonly byOperator: boolean
}

export const isOpen = ({ status }: ModelSession): boolean => status === 'pending' || status === 'retry'
const isShared = ({ status, isConsented }: ModelSession): boolean => status === 'completed' && isConsented

export const createRejectionModel = () => {
  const sessions: ModelSession[] = []
  const rejections: Rejection[] = []
  /** Wallets that an operator has rejected, and completed in no later session, by organization. */
  const blocked = new Map<string, Set<WalletAddress>>()
  let decisions = 0
  let persons = 0

  const own = (organizationId: string): ModelSession[] =>
    sessions.filter((session) => session.organizationId === organizationId)
  const visible = (organizationId: string): ModelSession[] =>
    sessions.filter((session) => session.organizationId === organizationId || isShared(session))
  const personsOf = (among: readonly ModelSession[], wallets: ReadonlySet<WalletAddress>): Set<number> =>
    new Set(
      among.flatMap(({ connected, person }) => (person === null || connected.isDisjointFrom(wallets) ? [] : [person])),
    )

  /** Rejections by an organization that concern the wallet or one of its persons. */
  const concerning = (organizationId: string, wallet: WalletAddress): Rejection[] => {
    const known = personsOf(visible(organizationId), new Set([wallet]))
    return rejections.filter(
      (rejection) =>
        rejection.organizationId === organizationId &&
        (rejection.wallets.has(wallet) || !rejection.persons.isDisjointFrom(known)),
    )
  }
  const last = (found: readonly Rejection[]): number => Math.max(-1, ...found.map(({ decided }) => decided))
  const isAfter = ({ status, decided }: ModelSession, number: number): boolean =>
    status === 'completed' && (decided ?? -1) > number

  const isVerified = (organizationId: string, wallet: WalletAddress, type: CheckType): boolean => {
    const rejected = last(concerning(organizationId, wallet))
    const ofType = sessions.filter((session) => session.type === type && session.connected.has(wallet))
    if (ofType.some((session) => session.organizationId === organizationId && isAfter(session, rejected))) return true
    const isSentBack = own(organizationId).some(
      ({ status, decided, connected, removed, locked }) =>
        decided !== null &&
        status !== 'completed' &&
        status !== 'rejected' &&
        (connected.has(wallet) || removed.has(wallet) || locked === wallet),
    )
    const isUpheld = (session: ModelSession): boolean =>
      isAfter(session, last(concerning(session.organizationId, wallet)))
    return rejected === -1 && !isSentBack && ofType.some((session) => isShared(session) && isUpheld(session))
  }

  /** The session that a registration of the wallet reuses. */
  const findReusable = (organizationId: string, type: CheckType, wallet: WalletAddress): ModelSession | undefined => {
    const rejected = last(concerning(organizationId, wallet))
    const ofType = own(organizationId).filter((session) => session.type === type)
    const completed = ofType
      .filter((session) => session.connected.has(wallet) && isAfter(session, rejected))
      .toSorted((left, right) => (right.decided ?? 0) - (left.decided ?? 0))
    return completed[0] ?? ofType.findLast((session) => session.locked === wallet && isOpen(session))
  }

  /** Whether an operator's rejection prevents the automatic completion of the session. */
  const isHeldBack = ({ organizationId, connected }: ModelSession): boolean =>
    [...connected].some((wallet) => {
      const rejected = last(concerning(organizationId, wallet).filter(({ byOperator }) => byOperator))
      const isLifted = (session: ModelSession): boolean =>
        session.wasCompletedByOperator && session.connected.has(wallet) && isAfter(session, rejected)
      return rejected !== -1 && !own(organizationId).some(isLifted)
    })

  const complete = (session: ModelSession, byOperator: boolean): void => {
    if (session.person === null) {
      const known = visible(session.organizationId).filter(
        (other) =>
          other.type === session.type &&
          other.status === 'completed' &&
          (session.isConsented || other.organizationId === session.organizationId),
      )
      const [only, ...others] = personsOf(known, session.connected)
      persons += 1
      session.person = only !== undefined && others.length === 0 ? only : persons
    }
    Object.assign(session, { status: 'completed', decided: ++decisions })
    if (!byOperator) return
    session.wasCompletedByOperator = true
    for (const wallet of session.connected) blocked.get(session.organizationId)?.delete(wallet)
  }

  const reject = (session: ModelSession, byOperator: boolean): void => {
    const { organizationId, connected, removed, locked, isConsented, person } = session
    const wallets = new Set([...connected, ...removed, ...(locked === null ? [] : [locked])])
    const known = isConsented ? visible(organizationId) : own(organizationId)
    const found = personsOf(known, wallets)
    for (const other of own(organizationId)) {
      if (other.person !== null && !other.removed.isDisjointFrom(wallets)) found.add(other.person)
    }
    if (person !== null) found.add(person)
    const ofType = personsOf(
      known.filter(({ type }) => type === session.type),
      wallets,
    )
    if (person === null && ofType.size === 1) session.person = [...ofType][0] ?? null
    for (const other of visible(organizationId)) {
      if (other.person === null || !found.has(other.person)) continue
      for (const wallet of other.connected) wallets.add(wallet)
      if (other.organizationId === organizationId) for (const wallet of other.removed) wallets.add(wallet)
    }
    Object.assign(session, { status: 'rejected', decided: ++decisions })
    rejections.push({ organizationId, wallets, persons: found, decided: decisions, byOperator })
    if (!byOperator) return
    blocked.set(organizationId, new Set([...(blocked.get(organizationId) ?? []), ...wallets]))
  }

  return {
    sessions,
    isVerified,
    findReusable,
    isHeldBack,
    complete,
    reject,
    isBlocked: (organizationId: string, wallet: WalletAddress) => blocked.get(organizationId)?.has(wallet) === true,
  }
}
