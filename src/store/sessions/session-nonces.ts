// Nonces of ownership proofs: each is valid for one session, wallet, chain and portal host, for ten minutes, once. The
// message to sign is stored with it, so that a proof is checked against what was requested and never against what the
// client sends.
import type { WalletAddress } from '../../domain/address.ts'
import { type ByBrowser, type ProofRequest, storedChainId, walletOn } from '../../domain/wallet.ts'
import type { TableScope } from '../copy/table-scope.ts'
import { fieldsOf, insertRow, type RowOf } from '../row-fields.ts'
import { keepNewest, sweepRows } from '../sweep.ts'
import { requireBrowser } from './portal-browsers.ts'

type NonceRow = RowOf<Omit<ProofRequest, 'wallet'>> & { readonly address: WalletAddress; readonly chain_id: number }

const COLUMNS = 'nonce, organization_id, session_id, portal_host, address, chain, chain_id, message, expires_at_seconds'
/** Maximum number of unsigned messages of one session: beyond it the oldest become invalid. */
const NONCES_PER_SESSION_MAX = 50
/** If a nonce is lost, the page requests another one. */
const DURABILITY = { survives: 'process-crash' } as const

export const createSessionNonceTable = (scope: TableScope) => ({
  /** @throws ConstraintViolatedError when the organization has no such session; BrowserUnknownError */
  add: (request: ProofRequest & ByBrowser): Promise<void> =>
    scope.write(async (transaction) => {
      const { wallet, cookieHash: _browser, ...row } = request
      await requireBrowser(transaction, request, scope.nowSeconds())
      const chainId = storedChainId(wallet)
      await insertRow(transaction, 'session_nonces', { ...row, address: wallet.address, chainId })
      await keepNewest(transaction, 'session_nonces', 'nonce', row, NONCES_PER_SESSION_MAX)
    }, DURABILITY),

  /** The stored request; null when the nonce is spent, expired, or another session's. */
  find: async (organizationId: string, sessionId: string, nonce: string): Promise<ProofRequest | null> => {
    const [row] = await scope.statements.query<NonceRow>(
      `SELECT ${COLUMNS} FROM session_nonces
       WHERE nonce = ? AND organization_id = ? AND session_id = ? AND expires_at_seconds > ?`,
      [nonce, organizationId, sessionId, scope.nowSeconds()],
    )
    if (row === undefined) return null
    const { address, chain_id: chainId, ...request } = row
    return { ...fieldsOf(request), wallet: walletOn(address, chainId) }
  },

  /** Deletes a batch of expired nonces. @returns how many: call again until it is 0 */
  sweep: (): Promise<number> =>
    scope.write(
      (transaction) => sweepRows(transaction, 'session_nonces', 'nonce', 'expires_at_seconds <= ?', scope.nowSeconds()),
      DURABILITY,
    ),
})
