// Looks up wallets in address lists, by default the shared sanctions lists and the organization's deny list.
import type { WalletAddress } from '../../../domain/address.ts'
import { screeningListName } from '../../../domain/list.ts'
import {
  type FoundHit,
  type ScreeningSettings,
  type ScreeningSettingsOfAll,
  WALLET_CHECKS,
} from '../../../domain/screening-hit.ts'
import type { Session } from '../../../domain/session.ts'
import type { SessionWalletOverTime } from '../../../domain/wallet.ts'
import type { ListMembership } from '../../../facts/lists/serve-lists.ts'
import { comparisonKey, NOTHING, type RepeatedPart } from '../../../identity/checks/checks.ts'
import { NamedError } from '../../../lib/named-error.ts'
import { enabledName } from '../processes/held-name-screener.ts'

export interface WalletScreeningDependencies {
  readonly settings: (organizationId: string | null) => Promise<ScreeningSettingsOfAll>
  readonly walletsOf: (
    organizationId: string,
    sessionIds: readonly string[],
  ) => Promise<ReadonlyMap<string, readonly SessionWalletOverTime[]>>
}

interface WalletCheckDependencies extends WalletScreeningDependencies {
  readonly lists: () => readonly ListMembership[]
  readonly memoOf: (listId: string, address: WalletAddress) => Promise<string | null>
}

/** A change to this value causes all wallets to be looked up again. */
const LOOKUP = 'wallets 3'
export const WALLET_CHECK = `${WALLET_CHECKS}.lists`
const DENY = 'deny'
/** An address matches exactly or not at all. */
const SURE = 100

class ListBehindError extends NamedError {}

/** Returns the wallets, in the order of the sessions. An address on several chains occurs once per chain. */
export const walletsOfEach = async (
  walletsOf: WalletScreeningDependencies['walletsOf'],
  organizationId: string,
  sessions: readonly Session[],
): Promise<readonly (readonly SessionWalletOverTime[])[]> => {
  const wallets = await walletsOf(
    organizationId,
    sessions.map(({ id }) => id),
  )
  return sessions.map(({ id }) => wallets.get(id) ?? [])
}

type ListVersion = Pick<ListMembership, 'id' | 'organizationId' | 'name' | 'isOfSanctioned' | 'version'>
type WalletSettings = Pick<ScreeningSettings, 'addressLists'>

export const reasonsOf = ({ isConnected }: SessionWalletOverTime, where = ' to the session'): FoundHit['why'] =>
  isConnected ? [] : [{ part: 'wallet', points: 0, detail: `the wallet is not connected${where}` }]

/** Returns the lists in which an organization's wallets are looked up. */
export const listsFor = <List extends ListVersion>(lists: readonly List[]) => {
  const byOwner = Map.groupBy(lists, ({ organizationId }) => organizationId)
  return (organizationId: string, { addressLists: named }: WalletSettings): readonly List[] =>
    [...(byOwner.get(null) ?? []), ...(byOwner.get(organizationId) ?? [])]
      .filter(
        ({ name, organizationId: owner, isOfSanctioned }) =>
          // Other shared lists may contain partners, for example.
          named?.includes(name) ?? (owner === null ? isOfSanctioned : name === DENY),
      )
      .sort((left, right) => (left.name < right.name ? -1 : 1))
}

const versionsFor = (used: readonly ListVersion[]) => used.map(({ id, version }) => [id, version])

export const walletVersion = (used: readonly ListVersion[], { addressLists: named }: WalletSettings): string =>
  used.length + (named?.length ?? 0) === 0 ? NOTHING : comparisonKey([LOOKUP, versionsFor(used), named])

export const createWalletChecks = (dependencies: WalletCheckDependencies): RepeatedPart => {
  const { lists: readLists, settings, walletsOf, memoOf } = dependencies

  const hitsOf = (wallet: SessionWalletOverTime, lists: readonly ListMembership[]): Promise<FoundHit[]> => {
    const { address, addressText } = wallet
    return Promise.all(
      lists
        .filter((list) => list.has(address))
        .map(async ({ id, name, version, isOfSanctioned, enablingId }) => {
          const memo = await memoOf(id, address)
          return {
            list: name,
            entry: addressText,
            versionId: String(version),
            listing: enabledName(id, enablingId ?? ''),
            name: addressText,
            subject: 'wallet',
            score: SURE,
            why: [{ part: 'address', points: SURE, detail: 'the address is on the list' }, ...reasonsOf(wallet)],
            // Old memos of sanctioned wallets contain only the list's name.
            compared: isOfSanctioned && memo === screeningListName(name) ? address : JSON.stringify([address, memo]),
            comparedSubject: address,
          }
        }),
    )
  }

  return {
    name: WALLET_CHECK,
    begin: async (organization) => {
      const lists = readLists()
      const listsOf = listsFor(lists)
      const { of, key } = await settings(organization)
      const usedBy = (organizationId: string) => listsOf(organizationId, of(organizationId))
      const keyOf = (organizationId: string): string => walletVersion(usedBy(organizationId), of(organizationId))
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
