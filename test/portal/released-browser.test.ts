// A change with the secret of a browser is checked in its own transaction: the browser must still have access.
import { afterAll, expect, test } from 'bun:test'
import { PNG } from 'pngjs'
import { BrowserUnknownError } from '../../src/domain/session-errors.ts'
import { parseWalletAddress } from '../../src/domain/wallet.ts'
import { words } from '../support/words.ts'
import { startPortalHost } from './support/portal-host.ts'
import { enter } from './support/visitor.ts'
import { evmAccount } from './support/wallets.ts'

const host = await startPortalHost({ level: 2 })
afterAll(() => host.stop())

const { store, identity } = host
const { evidence, changes, providers } = identity
const stream = () => new Blob([PNG.sync.write(new PNG({ width: 40, height: 30 })).buffer as ArrayBuffer]).stream()
const document = (kind: 'portrait' | 'identity-document') =>
  ({ kind, fileName: 'a.png', declaredType: 'image/png', address: '', stream: stream() }) as const

/** Opens a session with a wallet and a document. `cookieHash` is the hash of its browser's secret. */
const opened = async () => {
  const { person, sessionId } = await enter(host)
  await person.agree(sessionId)
  await person.connectEvm(sessionId, 'released')
  const { session, wallets } = await host.find(sessionId)
  const { id: documentId } = await evidence.addDocument(session, document('portrait'))
  const [row] = await store.database.query<{ cookie_hash: Uint8Array }>(
    'SELECT cookie_hash FROM portal_browsers WHERE session_id = ?',
    [sessionId],
  )
  return { person, session, walletId: wallets[0]?.id ?? '', documentId, cookieHash: row?.cookie_hash }
}
type Opened = Awaited<ReturnType<typeof opened>>

const wallet = { family: 'evm', chainId: 1, address: parseWalletAddress(evmAccount('other').address)?.address } as never

const targetOf = ({ session: { organizationId, id: sessionId }, cookieHash }: Opened) => ({
  organizationId,
  sessionId,
  cookieHash,
})
const CHANGES: Readonly<Record<string, (opened: Opened) => Promise<unknown>>> = {
  putFields: ({ session, cookieHash }) => evidence.putFields({ ...session, cookieHash }, { fullName: 'Mallory' }),
  addDocument: ({ session, cookieHash }) =>
    evidence.addDocument({ ...session, cookieHash }, document('identity-document')),
  removeDocument: ({ session, cookieHash, documentId }) =>
    evidence.removeDocument({ ...session, cookieHash }, documentId),
  removeWallet: (opened) => changes.removeWallet({ ...targetOf(opened), walletId: opened.walletId, actor: 'person' }),
  submitted: ({ session, cookieHash }) => providers.of(session).submitted({ ...session, cookieHash }),
  recordAgreement: (opened) =>
    store.portalProgress.recordAgreement({ ...targetOf(opened), version: '2.de', shares: true, usesDetails: true }),
  addHandover: (opened) =>
    store.portalLinks.addHandover(targetOf(opened), crypto.getRandomValues(new Uint8Array(32)), 2e9),
  addNonce: (opened) =>
    store.sessionNonces.add({
      ...targetOf(opened),
      wallet,
      nonce: crypto.randomUUID(),
      message: 'm',
      chain: 'ethereum',
      portalHost: 'h',
      expiresAtSeconds: 2e9,
    }),
}

/** All stored rows of a session, as text. */
const stateOf = async (sessionId: string): Promise<string> => {
  const rows: unknown[] = []
  for (const table of words`
    sessions session_evidence session_wallets portal_agreements portal_handovers session_nonces
  `) {
    const column = table === 'sessions' ? 'id' : 'session_id'
    rows.push(await store.database.query(`SELECT * FROM ${table} WHERE ${column} = ?`, [sessionId]))
  }
  return JSON.stringify(rows)
}

test.each(Object.entries(CHANGES))('%s is refused for a released or unused browser', async (_, change) => {
  const kept = await opened()
  const before = await stateOf(kept.session.id)
  await change(kept)
  expect(await stateOf(kept.session.id)).not.toBe(before)

  const released = await opened()
  await released.person.call('POST', `sessions/${released.session.id}/leave`)
  const left = await stateOf(released.session.id)
  await expect(change(released)).rejects.toThrow(BrowserUnknownError)
  expect(await stateOf(released.session.id)).toBe(left)
  // The browser of another session, and a browser that was unused for 30 days, are also refused.
  await expect(change({ ...released, cookieHash: kept.cookieHash })).rejects.toThrow(BrowserUnknownError)
  const unused = await opened()
  host.passTime(30 * 86_400)
  await expect(change(unused)).rejects.toThrow(BrowserUnknownError)
})
