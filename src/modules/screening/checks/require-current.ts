// Refuses an automatic completion based on earlier lists or settings, or with a listed linked wallet. Looks wallets up
// before the decision's transaction, and in it only those that were linked in the meantime.
import type { WalletAddress } from '../../../domain/address.ts'
import { addressKey, hexOfKey } from '../../../domain/address-key.ts'
import { NAME_CHECK } from '../../../domain/screening-hit.ts'
import type { Session } from '../../../domain/session.ts'
import { ChecksPendingError, LinkedChecksPendingError, LinkedSessionsError } from '../../../domain/session-errors.ts'
import { parseWalletAddress } from '../../../domain/wallet.ts'
import { NOTHING } from '../../../identity/checks/checks.ts'
import type { AddressList } from '../../../store/lists/lists.ts'
import type { LinkedSessions } from '../../../store/sessions/linked-sessions.ts'
import type { Tables } from '../../../store/store.ts'
import { versionsOf } from '../processes/held-name-screener.ts'
import { nameVersion } from './name-checks.ts'
import { listsFor, WALLET_CHECK, walletVersion } from './wallet-checks.ts'

type ComparedTables = Pick<
  Tables,
  'lists' | 'screeningChecks' | 'screeningLists' | 'screeningSettings' | 'sessionChecks' | 'sessions'
>

type PresentVersions = ReadonlyMap<string, string>

type FindsListed = (
  tables: Pick<Tables, 'lists'>,
  list: AddressList,
  addresses: readonly WalletAddress[],
) => Promise<boolean>

/** Looks each address up once per version of a list. */
const createLookup = (): FindsListed => {
  const versions = new Map<string, Map<WalletAddress, boolean>>()
  return async ({ lists }, list, addresses) => {
    const version = `${list.id} ${list.version}`
    const known = versions.get(version) ?? new Map<WalletAddress, boolean>()
    versions.set(version, known)
    const keys = new Map(addresses.filter((address) => !known.has(address)).map((each) => [each, addressKey(each)]))
    const listed = keys.size === 0 ? new Set() : await lists.findListed(list, [...keys.values()])
    for (const [address, key] of keys) known.set(address, listed.has(hexOfKey(key)))
    return addresses.some((address) => known.get(address))
  }
}

/**
 * A person decides the hits of linked names and addresses, which are compared with the sessions. A listed address
 * without such a hit is from another organization's session, or from one that isn't compared when lists change.
 * @throws LinkedSessionsError, LinkedChecksPendingError
 */
const requireLinkedCompared = async (
  tables: ComparedTables,
  { organizationId, id }: Session,
  { addresses, unsubmitted, sessionIds }: LinkedSessions,
  present: PresentVersions,
  lists: readonly AddressList[],
  hasScreeners: boolean,
  isListed: FindsListed,
): Promise<void> => {
  if (hasScreeners && unsubmitted.size > 0) {
    throw new LinkedSessionsError('a linked wallet was not screened, because its session was not submitted')
  }
  const checks = await tables.sessionChecks.versionsOf(organizationId, [id, ...sessionIds])
  if (checks.some(({ name, version }) => present.get(name) !== undefined && present.get(name) !== version)) {
    throw new LinkedChecksPendingError()
  }
  const compared = new Set(checks.flatMap((check) => (check.name === WALLET_CHECK ? [check.session_id] : [])))
  const hits = await tables.screeningChecks.statesOf(organizationId, [...compared])
  const found = new Map(lists.map(({ name }) => [name, new Set<string>()]))
  for (const { list, entry } of hits) {
    const wallet = parseWalletAddress(entry)
    if (wallet !== null) found.get(list)?.add(wallet.address)
  }
  for (const list of lists) {
    const others = [...addresses].filter((address) => found.get(list.name)?.has(address) !== true)
    if (await isListed(tables, list, others)) {
      throw new LinkedSessionsError(`a linked wallet without a hit is on the list ${list.name}`)
    }
  }
}

/**
 * Compares the session's checks with the present lists and settings. A changed list fails here, so no later lookup reads
 * it. @throws ChecksPendingError
 */
const requireOwnCurrent = async (tables: ComparedTables, { organizationId, id }: Session) => {
  const made = await tables.sessionChecks.list(organizationId, id)
  const versions = versionsOf(await tables.screeningLists.list())
  const settings = await tables.screeningSettings.read(organizationId)
  const lists = [...(await tables.lists.list(null)), ...(await tables.lists.list(organizationId))]
  const used = listsFor(lists)(organizationId, settings)
  const present: PresentVersions = new Map([
    [NAME_CHECK, Object.keys(versions).length === 0 ? NOTHING : nameVersion(versions, settings)],
    [WALLET_CHECK, walletVersion(used, settings)],
  ])
  for (const [check, version] of present) {
    const stored = made.find(({ name }) => name === check)?.version ?? NOTHING
    if (stored !== version) throw new ChecksPendingError()
  }
  return { settings, used, present }
}

export const createPrepareRequireCurrent =
  (screeners: readonly string[]) => async (store: ComparedTables, prepared: Session) => {
    const isListed = createLookup()
    const early = await requireOwnCurrent(store, prepared)
    const { addresses } = await store.sessions.readLinked(prepared)
    for (const list of early.used) await isListed(store, list, [...addresses])
    return async (tables: ComparedTables, session: Session): Promise<void> => {
      // Locks before the lists are read again, because a list may change while this transaction waits.
      const linked = await tables.sessions.findLinked(session)
      const { settings, used, present } = await requireOwnCurrent(tables, session)
      const hasScreeners = (settings.screeners ?? screeners).length > 0
      await requireLinkedCompared(tables, session, linked, present, used, hasScreeners, isListed)
    }
  }
