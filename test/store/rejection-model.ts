// A simple model of the wallets that are verified after random registrations, connections, decisions, hits, agreements
// and erasures. It searches plain lists by the rules of docs/identity.md.
import type { WalletAddress } from '../../src/domain/address.ts'
import type { HitState } from '../../src/domain/screening-hit.ts'
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
  /** State of its only hit. */
  hit: HitState | null
  /** Number of the last decision or revocation; null if there is no decision. */
  decided: number | null
  wasCompletedByOperator: boolean
}

interface Rejection {
  readonly organizationId: string
  readonly wallets: Set<WalletAddress>
  readonly persons: Set<number>
  readonly decided: number
  /** An operator or screening rejected. */
  readonly needsOperator: boolean
}

export const isOpen = ({ status }: ModelSession): boolean => status === 'pending' || status === 'retry'
const hasUnsettledHit = ({ hit }: ModelSession): boolean => hit === 'open' || hit === 'confirmed'
/** Whether other organizations know the person of its wallets. */
const isLinking = ({ status, isConsented }: ModelSession): boolean => status === 'completed' && isConsented
/** Whether other organizations rely on its result. */
const isShared = (session: ModelSession): boolean => isLinking(session) && !hasUnsettledHit(session)
const isRevoked = ({ status, decided }: ModelSession): boolean =>
  decided !== null && status !== 'completed' && status !== 'rejected'
const everConnected = ({ connected, removed, locked }: ModelSession): Set<WalletAddress> =>
  new Set([...connected, ...removed, ...(locked === null ? [] : [locked])])

export const createRejectionModel = () => {
  const sessions: ModelSession[] = []
  const rejections: Rejection[] = []
  /** Wallets that an operator or screening rejected, and no operator completed later, by organization. */
  const blocked = new Map<string, Set<WalletAddress>>()
  let decisions = 0
  let persons = 0

  const own = (organizationId: string): ModelSession[] =>
    sessions.filter((session) => session.organizationId === organizationId)
  const visible = (organizationId: string): ModelSession[] =>
    sessions.filter((session) => session.organizationId === organizationId || isLinking(session))
  /** Sessions whose person a session can get. */
  const withCommonUser = ({ organizationId, isConsented }: ModelSession): ModelSession[] =>
    sessions.filter((session) => session.organizationId === organizationId || (isConsented && isShared(session)))
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

  /** Last revocation of a session that has, or had, the wallet. */
  const revoked = (organizationId: string, wallet: WalletAddress): number =>
    Math.max(
      -1,
      ...own(organizationId).map((session) =>
        isRevoked(session) && everConnected(session).has(wallet) ? (session.decided ?? -1) : -1,
      ),
    )
  /** Last decision against the wallet. */
  const lastAdverse = (organizationId: string, wallet: WalletAddress): number =>
    Math.max(last(concerning(organizationId, wallet)), revoked(organizationId, wallet))

  const isVerified = (organizationId: string, wallet: WalletAddress, type: CheckType): boolean => {
    const rejected = last(concerning(organizationId, wallet))
    const ofType = sessions.filter((session) => session.type === type && session.connected.has(wallet))
    const adverse = lastAdverse(organizationId, wallet)
    if (ofType.some((session) => session.organizationId === organizationId && isAfter(session, adverse))) return true
    const isUnsettled = own(organizationId).some(
      (session) => (isRevoked(session) || hasUnsettledHit(session)) && everConnected(session).has(wallet),
    )
    const isUpheld = (session: ModelSession): boolean => isAfter(session, lastAdverse(session.organizationId, wallet))
    return rejected === -1 && !isUnsettled && ofType.some((session) => isShared(session) && isUpheld(session))
  }

  /** The session that a registration of the wallet reuses. */
  const findReusable = (organizationId: string, type: CheckType, wallet: WalletAddress): ModelSession | undefined => {
    const adverse = lastAdverse(organizationId, wallet)
    const ofType = own(organizationId).filter((session) => session.type === type)
    const completed = ofType
      .filter((session) => session.connected.has(wallet) && isAfter(session, adverse))
      .toSorted((left, right) => (right.decided ?? 0) - (left.decided ?? 0))
    return completed[0] ?? ofType.findLast((session) => session.locked === wallet && isOpen(session))
  }

  /** The other sessions, the wallets and the persons that common wallets and persons link with a session. */
  const findLinked = (session: ModelSession) => {
    const { organizationId, person } = session
    const linked = new Set<ModelSession>()
    const wallets = everConnected(session)
    const known = new Set(person === null ? [] : [person])
    for (let size = -1; size !== linked.size; ) {
      size = linked.size
      for (const other of visible(organizationId)) {
        const theirs = other.organizationId === organizationId ? everConnected(other) : other.connected
        const isSame = other.person !== null && known.has(other.person)
        if (other === session || (theirs.isDisjointFrom(wallets) && !isSame)) continue
        linked.add(other)
        for (const wallet of theirs) wallets.add(wallet)
        if (other.person !== null) known.add(other.person)
      }
    }
    return { wallets, known, others: [...linked].filter((other) => other.organizationId === organizationId) }
  }

  /** Returns the name of the error of a completion; null if the session can be completed. */
  const findRefusal = (session: ModelSession, byOperator: boolean): string | null => {
    if (session.isErased) return 'EvidenceErasedError'
    if (session.hit === 'open') return 'HitOpenError'
    if (byOperator) return null
    if (session.hit === 'confirmed') return 'HitConfirmedError'
    const { organizationId, connected, type } = session
    const { wallets, known, others } = findLinked(session)
    /** Whether an operator completed every connected wallet later for the session's type. */
    const isSettled = (number: number): boolean =>
      connected.size > 0 &&
      [...connected].every((wallet) =>
        own(organizationId).some(
          (other) =>
            other.type === type &&
            other.wasCompletedByOperator &&
            other.connected.has(wallet) &&
            isAfter(other, number),
        ),
      )
    const isRejected = rejections.some(
      (rejection) =>
        rejection.organizationId === organizationId &&
        rejection.needsOperator &&
        !(rejection.wallets.isDisjointFrom(wallets) && rejection.persons.isDisjointFrom(known)) &&
        !isSettled(rejection.decided),
    )
    if (isRejected) return 'RejectedBeforeError'
    const isHeld = [session, ...others].some((other) => {
      const isOld = isSettled(other.decided ?? 0)
      return (hasUnsettledHit(other) && !(other.status === 'rejected' && isOld)) || (isRevoked(other) && !isOld)
    })
    return isHeld ? 'LinkedSessionsError' : null
  }

  /** Adds the person of a linking session, and the person's wallets, to earlier rejections of other organizations. */
  const addToRejections = (session: ModelSession): void => {
    const { organizationId, connected, person } = session
    if (!isLinking(session) || person === null) return
    for (const { organizationId: rejecting, wallets, persons: rejected } of rejections) {
      if (rejecting === organizationId) continue
      if (!wallets.isDisjointFrom(connected)) rejected.add(person)
      if (!rejected.has(person)) continue
      for (const other of sessions) {
        if (other.person === person && isLinking(other)) for (const wallet of other.connected) wallets.add(wallet)
      }
    }
  }

  const complete = (session: ModelSession, byOperator: boolean): void => {
    if (session.person === null) {
      const known = withCommonUser(session).filter(
        (other) => other.type === session.type && other.status === 'completed',
      )
      const [only, ...others] = personsOf(known, session.connected)
      persons += 1
      session.person = only !== undefined && others.length === 0 ? only : persons
    }
    Object.assign(session, { status: 'completed', decided: ++decisions })
    addToRejections(session)
    if (!byOperator) return
    session.wasCompletedByOperator = true
    for (const wallet of session.connected) blocked.get(session.organizationId)?.delete(wallet)
  }

  const reject = (session: ModelSession, needsOperator: boolean): void => {
    const { organizationId, person } = session
    const wallets = everConnected(session)
    const found = personsOf(visible(organizationId), wallets)
    for (const other of own(organizationId)) {
      if (other.person !== null && !other.removed.isDisjointFrom(wallets)) found.add(other.person)
    }
    if (person !== null) found.add(person)
    const ofType = personsOf(
      withCommonUser(session).filter(({ type }) => type === session.type),
      wallets,
    )
    if (person === null && ofType.size === 1) session.person = [...ofType][0] ?? null
    for (const other of visible(organizationId)) {
      if (other.person === null || !found.has(other.person)) continue
      for (const wallet of other.connected) wallets.add(wallet)
      if (other.organizationId === organizationId) for (const wallet of other.removed) wallets.add(wallet)
    }
    Object.assign(session, { status: 'rejected', decided: ++decisions })
    rejections.push({ organizationId, wallets, persons: found, decided: decisions, needsOperator })
    if (!needsOperator) return
    blocked.set(organizationId, new Set([...(blocked.get(organizationId) ?? []), ...wallets]))
  }

  const sendBack = (session: ModelSession): void => {
    if (session.status === 'completed') session.decided = ++decisions
    Object.assign(session, { status: 'retry', retries: session.retries + 1 })
  }

  const share = (session: ModelSession): void => {
    session.isConsented = true
    addToRejections(session)
  }

  return {
    sessions,
    isVerified,
    findReusable,
    findRefusal,
    complete,
    reject,
    sendBack,
    share,
    isBlocked: (organizationId: string, wallet: WalletAddress) => blocked.get(organizationId)?.has(wallet) === true,
  }
}
