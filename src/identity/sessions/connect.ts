// Connects a wallet on the verification page. The message is stored with its nonce, so that a proof is checked against
// the requested text and host. Source: decisions §5, "Ownership proof"; threats rows 4 and 5.
import { randomBase62 } from '../../domain/identifier.ts'
import { isSessionOpen, type Session, type SessionState } from '../../domain/session.ts'
import { ProofInvalidError, SessionClosedError, WalletLockedError } from '../../domain/session-errors.ts'
import type { ByBrowser, ProofRequest, WalletOnChain } from '../../domain/wallet.ts'
import type { Clock } from '../../lib/time.ts'
import type { SessionNonceStore } from '../types.ts'
import type { SessionChanges } from './changes.ts'
import type { VerifyProof } from './proof.ts'
import { buildProofMessage } from './proof-message.ts'

export interface ConnectDependencies {
  readonly nonces: SessionNonceStore
  readonly changes: Pick<SessionChanges, 'connectWallet'>
  readonly verifyProof: VerifyProof
  readonly chainName: (chainId: number) => Promise<string>
  readonly clock: Clock
  readonly portalUrl: string
}

/** Length of a nonce: 131 random bits. */
const NONCE_LENGTH = 22
export const NONCE_LIFETIME_SECONDS = 600

export const createConnect = ({ nonces, changes, verifyProof, chainName, clock, portalUrl }: ConnectDependencies) => {
  const portalHost = new URL(portalUrl).host

  return {
    /** Returns the message to sign. @throws SessionClosedError, WalletLockedError */
    requestProof: async (
      session: Session & ByBrowser,
      organizationName: string,
      wallet: WalletOnChain,
    ): Promise<Pick<ProofRequest, 'nonce' | 'message' | 'expiresAtSeconds'>> => {
      if (!isSessionOpen(session.status)) throw new SessionClosedError(session.status)
      if (session.lockedAddress !== null && session.lockedAddress !== wallet.address) throw new WalletLockedError()
      const nonce = randomBase62(NONCE_LENGTH)
      const issuedAtSeconds = clock.unixSeconds()
      const expiresAtSeconds = issuedAtSeconds + NONCE_LIFETIME_SECONDS
      const message = buildProofMessage({
        portalHost,
        portalUrl,
        wallet,
        nonce,
        issuedAtSeconds,
        expiresAtSeconds,
        sessionId: session.id,
        organizationName,
      })
      await nonces.add({
        nonce,
        portalHost,
        wallet,
        message,
        expiresAtSeconds,
        organizationId: session.organizationId,
        sessionId: session.id,
        cookieHash: session.cookieHash,
        chain: wallet.family === 'evm' ? await chainName(wallet.chainId) : 'solana',
      })
      return { nonce, message, expiresAtSeconds }
    },

    /**
     * @throws ProofInvalidError for an invalid signature, or a nonce that is spent, expired, or for another session or
     * host; SessionClosedError, WalletLockedError, WalletLimitError, WalletsOverTimeError
     */
    connect: async (
      session: Pick<Session, 'organizationId' | 'id'> & ByBrowser,
      { nonce, signature }: { readonly nonce: string; readonly signature: string },
    ): Promise<SessionState> => {
      const asked = await nonces.find(session.organizationId, session.id, nonce)
      if (asked === null || asked.portalHost !== portalHost) throw new ProofInvalidError()
      const { wallet, chain, message } = asked
      const kind = await verifyProof({ wallet, message, signature })
      if (kind === null) throw new ProofInvalidError()
      // The same transaction stores the wallet and spends the nonce, so only one of two requests with it succeeds.
      return changes.connectWallet({
        organizationId: session.organizationId,
        sessionId: session.id,
        cookieHash: session.cookieHash,
        chain,
        address: wallet.address,
        nonce,
        proof: { kind, message, signature },
        actor: 'person',
      })
    },
  }
}

export type Connect = ReturnType<typeof createConnect>
