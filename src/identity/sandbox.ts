// The provider of test keys: the caller says what becomes of a session, for integration tests and benchmarks. It works on
// sessions of test keys only, and those are a world of their own: nothing that a live key asks can see them.
import { CountersignError } from '../domain/errors.ts'
import { SESSION_STATUSES, type Session, type SessionStatus } from '../domain/session.ts'
import { isEvmAddress } from '../domain/wallet.ts'
import type { ChangeTogether, SessionChanges } from './changes.ts'
import type { DecisionProvider } from './providers.ts'
import type { SessionStore } from './types.ts'

/** Names the status that a session is to get. Ignored with a live key. */
export const SANDBOX_HEADER = 'countersign-sandbox-outcome'

/** A test key's header names no status. */
export class SandboxOutcomeInvalidError extends CountersignError {
  override readonly name = 'SandboxOutcomeInvalidError'
  constructor() {
    super('INVALID_HEADER', `the ${SANDBOX_HEADER} header must be one of ${SESSION_STATUSES.join(', ')}`)
  }
}

/** Null without the header. @throws SandboxOutcomeInvalidError */
export const parseSandboxOutcome = (header: string | null): SessionStatus | null => {
  if (header === null) return null
  const outcome = SESSION_STATUSES.find((status) => status === header)
  if (outcome === undefined) throw new SandboxOutcomeInvalidError()
  return outcome
}

const ACTOR = 'provider:sandbox'

/** @param together how the steps to a forced outcome become one; each is by itself unless given. */
export const createSandboxProvider = (
  changes: SessionChanges,
  sessions: SessionStore,
  together: ChangeTogether = (work) => work(changes, sessions),
): DecisionProvider => {
  /** The session's wallet counts as connected and the person as agreed, as a real person would have to first. */
  const prepare = async (
    { organizationId, id, lockedAddress, consentedAtSeconds }: Session,
    steps: SessionChanges,
    stored: SessionStore,
  ): Promise<void> => {
    const target = { organizationId, sessionId: id, actor: ACTOR }
    const state =
      consentedAtSeconds === null
        ? await steps.recordConsent({ ...target, version: 'sandbox' })
        : await stored.find(organizationId, id)
    if (lockedAddress === null || state?.wallets.some(({ address }) => address === lockedAddress) === true) return
    await steps.connectWallet({
      ...target,
      address: lockedAddress,
      chain: isEvmAddress(lockedAddress) ? 'ethereum' : 'solana',
      nonce: null,
      proof: { kind: 'sandbox', message: '', signature: '' },
    })
  }

  return {
    name: 'sandbox',
    registered: async (session, { forcedOutcome }) => {
      if (session.environment !== 'test') throw new Error('the sandbox was asked about a live session')
      if (forcedOutcome === null || forcedOutcome === session.status) return
      await together(async (steps, stored) => {
        if (session.status === 'pending' || session.status === 'retry') await prepare(session, steps, stored)
        await steps.changeStatus({
          organizationId: session.organizationId,
          sessionId: session.id,
          to: forcedOutcome,
          actor: ACTOR,
          revoke: true,
          publicComment: forcedOutcome === 'retry' ? 'The sandbox asks for another try.' : null,
        })
      })
    },
    // Without a forced outcome a test session behaves as a live one whose operator has not looked yet.
    submitted: async ({ organizationId, id }) => {
      await changes.changeStatus({ organizationId, sessionId: id, to: 'submitted', actor: 'person' })
    },
  }
}
