// Provider for test keys, whose callers choose the outcome.
import { fixedError } from '../../domain/errors.ts'
import { SESSION_STATUSES, type Session, type SessionStatus } from '../../domain/session.ts'
import { isEvmAddress } from '../../domain/wallet.ts'
import type { SessionChanges } from './changes.ts'
import { createManualProvider, type DecisionProvider, type RegisterContext } from './providers.ts'

/** Header with the requested status; ignored for live keys. */
export const SANDBOX_HEADER = 'countersign-sandbox-outcome'

class SandboxOutcomeInvalidError extends fixedError(
  'INVALID_HEADER',
  `the ${SANDBOX_HEADER} header must be one of ${SESSION_STATUSES.join(', ')}`,
) {}

export const parseSandboxOutcome = (header: string | null): SessionStatus | null => {
  if (header === null) return null
  const outcome = SESSION_STATUSES.find((status) => status === header)
  if (outcome === undefined) throw new SandboxOutcomeInvalidError()
  return outcome
}

const ACTOR = 'provider:sandbox'

export const createSandboxProvider = (ownChanges: Pick<SessionChanges, 'changeStatus'>): DecisionProvider => {
  /** Connects the session's wallet and gives consent, as a person would. */
  const prepare = async (
    { organizationId, id, lockedAddress, consentedAtSeconds }: Session,
    { changes, sessions }: RegisterContext,
  ): Promise<void> => {
    const target = { organizationId, sessionId: id, actor: ACTOR }
    const state =
      consentedAtSeconds === null
        ? await changes.recordConsent({ ...target, version: 'sandbox' })
        : await sessions.find(organizationId, id)
    if (lockedAddress === null || state?.wallets.some(({ address }) => address === lockedAddress) === true) return
    await changes.connectWallet({
      ...target,
      address: lockedAddress,
      chain: isEvmAddress(lockedAddress) ? 'ethereum' : 'solana',
      nonce: null,
      proof: { kind: 'sandbox', message: '', signature: '' },
    })
  }

  return {
    name: 'sandbox',
    registered: async (session, context) => {
      const { forcedOutcome, changes } = context
      if (session.environment !== 'test') throw new Error('the sandbox received a live session')
      if (forcedOutcome === null || forcedOutcome === session.status) return
      if (session.status === 'pending' || session.status === 'retry') await prepare(session, context)
      await changes.changeStatus({
        organizationId: session.organizationId,
        sessionId: session.id,
        to: forcedOutcome,
        actor: ACTOR,
        revoke: true,
        override: 'sandbox',
        publicComment: forcedOutcome === 'retry' ? 'The sandbox requests another attempt.' : null,
      })
    },
    // Without a forced outcome, a test session waits like a live session.
    submitted: createManualProvider(ownChanges).submitted,
  }
}
