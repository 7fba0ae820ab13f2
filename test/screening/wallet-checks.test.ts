// Wallets and unreadable lists: no wallet passes against an unreadable list.
import { expect, test } from 'bun:test'
import type { Session } from '../../src/domain/session.ts'
import type { ListMembership } from '../../src/facts/lists/serve-lists.ts'
import { createWalletChecks } from '../../src/modules/screening/checks/wallet-checks.ts'
import { evmWallet } from '../identity/support.ts'

const address = evmWallet(1)
const list = (name: string, organizationId: string | null, current: boolean): ListMembership => {
  const isOfSanctioned = organizationId === null
  return { id: name, name, organizationId, current, isOfSanctioned, enablingId: null, version: 1, has: () => false }
}

const checksWith = async (...lists: readonly ListMembership[]) => {
  const settings = { addressLists: null } as never
  const checks = createWalletChecks({
    lists: () => lists,
    memoOf: async () => null,
    settings: async () => ({ of: () => settings, key: '' }),
    walletsOf: async () => new Map([['s', [{ chain: 'base', address, addressText: address, isConnected: true }]]]),
  })
  const comparison = await checks.begin('ours')
  const compared = await comparison?.compare([{ id: 's', organizationId: 'ours' } as Session])
  return (compared ?? []).flat()
}
const outcomesWith = async (...lists: readonly ListMembership[]): Promise<readonly string[]> =>
  (await checksWith(...lists)).map(({ outcome }) => outcome)

test('wallets pass only if every list in use can be read', async () => {
  const readable = list('ofac_sdn', null, true)
  expect(await outcomesWith(readable, list('deny', 'ours', true))).toEqual(['passed'])
  // No result from the readable lists counts, because the check is repeated.
  await expect(outcomesWith(readable, list('deny', 'ours', false))).rejects.toMatchObject({ name: 'ListBehindError' })
  await expect(outcomesWith(list('un_sc', null, false), readable)).rejects.toMatchObject({ name: 'ListBehindError' })
  // Lists of other organizations are not in use.
  expect(await outcomesWith(readable, list('deny', 'theirs', false))).toEqual(['passed'])
})

test('a hit belongs to one creation and one enabled period of its list', async () => {
  const listed = (name: string, enablingId: string | null) => {
    return { ...list(name, null, true), enablingId, has: () => true }
  }
  const [check] = await checksWith(listed('deny', null), listed('ofac_sdn', '1'))
  expect(check?.hits).toMatchObject([{ listing: 'deny' }, { listing: 'ofac_sdn 1' }])
})
