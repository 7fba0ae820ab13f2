// Nonces of ownership proofs. The message is stored, so that a proof is never verified against the client's input.
import type { WalletAddress } from '../../domain/address.ts'
import { type ByBrowser, type ProofRequest, storedChainId, walletOn } from '../../domain/wallet.ts'
import { columnsOf, integer, sql, typed } from '../columns.ts'
import { survivingCrashes, type TableScope } from '../copy/table-scope.ts'
import { keepNewest } from '../sweep.ts'
import { defineTable } from '../table.ts'
import { requireBrowser } from './portal-browsers.ts'

export const NONCES = defineTable(
  'session_nonces',
  {
    ...columnsOf<Omit<ProofRequest, 'wallet'>>()(
      'nonce organizationId sessionId portalHost chain message expiresAtSeconds',
    ),
    address: typed<WalletAddress>(),
    chainId: integer,
  },
  ({ address, chainId, ...row }): ProofRequest => ({ ...row, wallet: walletOn(address, chainId) }),
)

/** Maximum unsigned messages per session; the oldest are deleted. */
const NONCES_PER_SESSION_MAX = 50

export const createSessionNonceTable = (given: TableScope) => {
  // If a nonce is lost, the page requests another.
  const scope = survivingCrashes(given)
  return {
    add: (request: ProofRequest & ByBrowser): Promise<void> =>
      scope.write(async (own) => {
        const { wallet, cookieHash: _browser, ...row } = request
        await requireBrowser(own, request, scope.nowSeconds())
        await NONCES.insert(own, { ...row, address: wallet.address, chainId: storedChainId(wallet) })
        await keepNewest(own, 'session_nonces', 'nonce', row, NONCES_PER_SESSION_MAX)
      }),

    find: (organizationId: string, sessionId: string, nonce: string): Promise<ProofRequest | null> =>
      NONCES.find(scope, { organizationId, sessionId, nonce, expiresAtSeconds: sql`> ${scope.nowSeconds()}` }),

    sweep: (): Promise<number> => NONCES.sweep(scope, ['nonce'], sql`expires_at_seconds <= ${scope.nowSeconds()}`),
  }
}
