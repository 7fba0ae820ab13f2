// Looks up a session's wallets in address lists. An organization may name the lists; the default is the shared
// sanctions lists and its own deny list. A listed wallet is a hit, which a person clears or confirms.
import type { WalletAddress } from '../../../domain/address.ts'
import { screeningListName } from '../../../domain/list.ts'
import {
  type FoundHit,
  type ScreeningSettings,
  type ScreeningSettingsOfAll,
  WALLET_CHECKS,
} from '../../../domain/screening-hit.ts'
import type { Session } from '../../../domain/session.ts'
import type { SessionWallet } from '../../../domain/wallet.ts'
import { NOTHING, type RepeatedPart } from '../../../identity/checks/checks.ts'
import { comparisonKey } from '../../../identity/checks/comparison-key.ts'
import { NamedError } from '../../../lib/named-error.ts'
import { enabledName } from '../processes/list-versions.ts'

export interface AddressListInUse {
  readonly id: string
  /** Null: a shared list of the deployment. */
  readonly organizationId: string | null
  readonly name: string
  /** Whether the list contains sanctioned people. */
  readonly isOfSanctioned: boolean
  /** Changes when its sanctions list was disabled and enabled again; null without a sanctions list. */
  readonly enablingId: string | null
  readonly version: number
  /** False while the list has changed and its new content is unreadable. */
  readonly current: boolean
  has(address: WalletAddress): boolean
}

export interface WalletScreeningDependencies {
  readonly settings: (organizationId: string | null) => Promise<ScreeningSettingsOfAll>
  /** The wallets by session id, without sessions that have none. */
  readonly walletsOf: (
    organizationId: string,
    sessionIds: readonly string[],
  ) => Promise<ReadonlyMap<string, readonly SessionWallet[]>>
}

export interface WalletCheckDependencies extends WalletScreeningDependencies {
  readonly lists: () => readonly AddressListInUse[]
  /** The memo of a list's entry; null if there is no such entry. */
  readonly memoOf: (listId: string, address: WalletAddress) => Promise<string | null>
}

/** Version of the wallet lookup. Wallets looked up by another version are looked up again. */
const LOOKUP = 'wallets 2'
/** The name of the part and of its only check. */
export const WALLET_CHECK = `${WALLET_CHECKS}.lists`
/** The organization's deny list, which may not exist before its first entry. */
const DENY = 'deny'
/** An address matches exactly or not at all, so each hit has the highest score. */
const SURE = 100

/** The new content of a changed list is unreadable. */
class ListBehindError extends NamedError {}

/** The wallets of each session, in the sessions' order. An address connected on several chains occurs once for each. */
export const walletsOfEach = async (
  walletsOf: WalletScreeningDependencies['walletsOf'],
  organizationId: string,
  sessions: readonly Session[],
): Promise<readonly (readonly SessionWallet[])[]> => {
  const wallets = await walletsOf(
    organizationId,
    sessions.map(({ id }) => id),
  )
  return sessions.map(({ id }) => wallets.get(id) ?? [])
}

type ListVersion = Pick<AddressListInUse, 'id' | 'organizationId' | 'name' | 'isOfSanctioned' | 'version'>
type WalletSettings = Pick<ScreeningSettings, 'addressLists'>

/** Lists by organization; the deployment's lists have the key null. */
const byOwner = <List extends ListVersion>(lists: readonly List[]): ReadonlyMap<string | null, readonly List[]> =>
  Map.groupBy(lists, ({ organizationId }) => organizationId)

/** The lists for an organization's wallets. */
const listsFor = <List extends ListVersion>(
  lists: ReadonlyMap<string | null, readonly List[]>,
  organizationId: string,
  { addressLists: named }: WalletSettings,
): readonly List[] =>
  [...(lists.get(null) ?? []), ...(lists.get(organizationId) ?? [])]
    .filter(
      ({ name, organizationId: owner, isOfSanctioned }) =>
        // Other shared lists do not count: they may contain partners, for example.
        named?.includes(name) ?? (owner === null ? isOfSanctioned : name === DENY),
    )
    .sort((left, right) => (left.name < right.name ? -1 : 1))

const versionsFor = (used: readonly ListVersion[]) => used.map(({ id, version }) => [id, version])

const versionWith = (used: readonly ListVersion[], { addressLists: named }: WalletSettings): string =>
  used.length + (named?.length ?? 0) === 0 ? NOTHING : comparisonKey([LOOKUP, versionsFor(used), named])

/** Returns the version of an organization's wallet checks with these lists and settings. */
export const walletVersion = (
  lists: readonly ListVersion[],
  organizationId: string,
  settings: WalletSettings,
): string => versionWith(listsFor(byOwner(lists), organizationId, settings), settings)

export const createWalletChecks = (dependencies: WalletCheckDependencies): RepeatedPart => {
  const { lists: readLists, settings, walletsOf, memoOf } = dependencies

  const hitsOf = ({ address, addressText }: SessionWallet, lists: readonly AddressListInUse[]): Promise<FoundHit[]> =>
    Promise.all(
      lists
        .filter((list) => list.has(address))
        .map(async ({ id, name, version }) => {
          const memo = await memoOf(id, address)
          return {
            list: name,
            entry: addressText,
            versionId: String(version),
            name: addressText,
            subject: 'wallet',
            score: SURE,
            why: [{ part: 'address', points: SURE, detail: 'the address is on the list' }],
            // The memo is the list's name if the wallet was shared before memos named the entry.
            compared: memo === screeningListName(name) ? address : JSON.stringify([address, memo]),
            comparedSubject: address,
          }
        }),
    )

  return {
    name: WALLET_CHECK,
    begin: async (organization) => {
      const lists = readLists()
      const owned = byOwner(lists)
      const { of, key } = await settings(organization)
      const usedBy = (organizationId: string) => listsFor(owned, organizationId, of(organizationId))
      const keyOf = (organizationId: string): string => versionWith(usedBy(organizationId), of(organizationId))
      return {
        key: organization === null ? comparisonKey([LOOKUP, versionsFor(lists), key]) : '',
        keyOf,
        compare: async (sessions) => {
          const [first] = sessions
          if (first === undefined) return []
          const { organizationId } = first
          const version = keyOf(organizationId)
          if (version === NOTHING) return sessions.map(() => [])
          const used = usedBy(organizationId)
          if (used.some(({ current }) => !current)) throw new ListBehindError()
          const named = of(organizationId).addressLists ?? []
          const missing = named.filter((name) => name !== DENY && !used.some((list) => list.name === name))
          const check = {
            version,
            name: WALLET_CHECK,
            outcome: missing.length === 0 ? 'passed' : 'not-done',
            settings: comparisonKey([used.map(({ id, enablingId }) => enabledName(id, enablingId ?? '')), named]),
          } as const
          const detail = {
            ...(missing.length === 0 ? {} : { problem: `list not found: ${missing.join(', ')}` }),
            versions: Object.fromEntries(used.map((list) => [list.name, String(list.version)])),
          }
          const walletsOfSessions = await walletsOfEach(walletsOf, organizationId, sessions)
          return Promise.all(
            walletsOfSessions.map(async (wallets) => [
              {
                ...check,
                hits: (await Promise.all(wallets.map((wallet) => hitsOf(wallet, used)))).flat(),
                subjects: wallets.map(({ address }) => address),
                detail: { ...detail, wallets: wallets.length },
              },
            ]),
          )
        },
      }
    },
  }
}
