// Sessions, wallets and documents for tests of the store.
import { parseEvmAddress, type WalletAddress } from '../../src/domain/address.ts'
import { newIdentifier, newSessionId, newUuid } from '../../src/domain/identifier.ts'
import type { Registration } from '../../src/domain/session.ts'
import type { Store } from '../../src/store/store.ts'

export const OPERATOR = 'operator:ada'
export const DECIDER = 'provider:webhook'
/** Documents of an organization with this key are accepted. */
export const ORGANIZATION_KEY = { wrappedKey: new Uint8Array(60), wrappedBy: 'a test key' }

export interface SessionTarget {
  readonly organizationId: string
  readonly sessionId: string
}

export const walletAt = (number: number): WalletAddress =>
  parseEvmAddress(`0x${number.toString(16).padStart(40, '0')}`) as WalletAddress

export const newHash = (): Uint8Array => crypto.getRandomValues(new Uint8Array(32))

/** Registers a live KYC session without a wallet, unless the changes specify otherwise. */
export const register = (
  { sessions }: Pick<Store, 'sessions'>,
  organizationId: string,
  changes: Partial<Registration> = {},
) =>
  sessions.register({
    organizationId,
    environment: 'live',
    checkType: 'kyc',
    sessionId: newSessionId(),
    provider: 'manual',
    tokenHash: newHash(),
    walletAddress: null,
    originUrl: null,
    actor: 'key:test',
    ...changes,
  })

export const createSession = async (
  store: Pick<Store, 'sessions'>,
  organizationId: string,
  changes: Partial<Registration> = {},
): Promise<SessionTarget> => {
  const { session } = await register(store, organizationId, changes)
  return { organizationId, sessionId: session.id }
}

/** Connects a wallet without a signature, which only sessions of the environment `test` allow. */
export const connectWallet = (
  { sessionWallets }: Pick<Store, 'sessionWallets'>,
  target: SessionTarget,
  address: WalletAddress,
  chain = 'ethereum',
) => {
  const proof = { kind: 'sandbox', message: '', signature: '' } as const
  const { organizationId, sessionId } = target
  return sessionWallets.connect({ organizationId, sessionId, address, chain, nonce: null, proof, actor: 'person' })
}

export const documentRecord = (kind = 'portrait') => ({
  id: newIdentifier('evidence'),
  kind,
  mediaType: 'image/png',
  byteLength: 1,
  fieldNames: [],
  createdAtSeconds: 1,
  storageName: newUuid(),
  wrappedKey: new Uint8Array(60).fill(1),
  sealedName: null,
  sealedUnder: ORGANIZATION_KEY.wrappedKey,
})
