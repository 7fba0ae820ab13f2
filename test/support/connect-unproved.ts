// Connects an EVM wallet to a session without checking its proof: the nonce is real, the signature is not.
import type { WalletAddress } from '../../src/domain/address.ts'
import { newUuid } from '../../src/domain/identifier.ts'
import { walletOn } from '../../src/domain/wallet.ts'
import { systemClock } from '../../src/lib/time.ts'
import type { Store } from '../../src/store/store.ts'

export const connectUnproved = async (
  { sessionNonces, sessionWallets }: Pick<Store, 'sessionNonces' | 'sessionWallets'>,
  target: { readonly organizationId: string; readonly sessionId: string; readonly address: WalletAddress },
): Promise<void> => {
  const { address } = target
  const connection = { ...target, nonce: newUuid(), chain: 'ethereum' }
  await sessionNonces.add({
    ...connection,
    wallet: walletOn(address, 1),
    portalHost: 'portal.example',
    message: 'message',
    expiresAtSeconds: systemClock.unixSeconds() + 600,
  })
  const proof = { kind: 'eip191', message: 'message', signature: '0x' } as const
  await sessionWallets.connect({ ...connection, actor: 'person', proof })
}
