// Decides a session by policy after its checks, once per submission, in one transaction. Any failure leaves it to a
// person (invariant 12).

import { policyActor, type Session } from '../../domain/session.ts'
import {
  EvidenceErasedError,
  HitConfirmedError,
  HitOpenError,
  LinkedSessionsError,
  PersonSessionsError,
  RejectedBeforeError,
  SessionChangedError,
  SessionIncompleteError,
  TransitionRefusedError,
  UncomparedError,
} from '../../domain/session-errors.ts'
import { WEBHOOK_PROVIDER } from '../../domain/webhook-message.ts'
import type { DecisionFacts } from '../../identity/evidence-types.ts'
import type { SessionChanges, SessionChangesDependencies } from '../../identity/sessions/changes.ts'
import { NamedError } from '../../lib/named-error.ts'
import type { Clock } from '../../lib/time.ts'
import { decideSession, type SessionVerdict } from '../../policy/decide-session.ts'
import { PolicyUnusableError } from '../../policy/evaluation-errors.ts'
import { compileRevision } from '../../policy/revision.ts'
import type { SessionFacts, SessionKnowledge } from '../../policy/types/session-facts.ts'
import type { Policy, StoredRevision } from '../../store/organizations/policies.ts'
import type { PrepareRequireCurrent } from '../../store/sessions/provider-results.ts'
import type { EvaluatedRevision, SessionPolicyDecision } from '../../store/sessions/session-policies.ts'
import type { Store, Tables } from '../../store/store.ts'
import type { DecisionOutcome } from '../../telemetry/identity-metrics.ts'
import type { Logger } from '../../telemetry/log.ts'

interface PolicyDeciderDependencies {
  readonly store: Store
  readonly knowledge: Pick<SessionKnowledge, 'factsOf'>
  readonly decisionFacts: DecisionFacts
  readonly changesOver: (changeStatus: SessionChangesDependencies['sessions']['changeStatus']) => SessionChanges
  /** Called once per stored decision. @param seconds since the submission */
  readonly onDecided: (outcome: DecisionOutcome, seconds: number) => void
  readonly prepareRequireCurrent: PrepareRequireCurrent
  readonly clock: Clock
  readonly log: Pick<Logger, 'info' | 'error'>
}

class PolicyReplacedError extends NamedError {}

class AlreadyDecidedError extends NamedError {}

interface Evaluated {
  readonly revision: StoredRevision
  readonly verdict: SessionVerdict
}

const PROBLEM_UNUSABLE = 'could not use the revision'
const PROBLEM_FAILED = 'the policy failed'

const toStored = ({ revision, verdict }: Evaluated): EvaluatedRevision & { readonly code: string | null } => ({
  revisionId: revision.id,
  outcome: verdict.outcome,
  rule: verdict.ruleId,
  code: verdict.code,
  problem: verdict.problem,
})

const findPolicy = async (
  { sessionPolicies, policies }: Pick<Tables, 'sessionPolicies' | 'policies'>,
  organizationId: string,
): Promise<Policy | null> => {
  const policyId = await sessionPolicies.find(organizationId)
  return policyId === null ? null : policies.find(organizationId, policyId)
}

export const createPolicyDecider = (dependencies: PolicyDeciderDependencies) => {
  const { store, knowledge, decisionFacts, changesOver, onDecided, prepareRequireCurrent, clock, log } = dependencies

  const evaluate = async (
    organizationId: string,
    revisionId: string | null,
    facts: SessionFacts,
  ): Promise<Evaluated | null> => {
    const revision = revisionId === null ? null : await store.policies.findRevision(organizationId, revisionId)
    if (revision === null) return null
    try {
      return { revision, verdict: decideSession(await compileRevision(revision), facts) }
    } catch (error) {
      log.error('a policy could not decide a session; the session waits for a reviewer', {
        revision: revision.id,
        error,
      })
      const problem = error instanceof PolicyUnusableError ? PROBLEM_UNUSABLE : PROBLEM_FAILED
      return { revision, verdict: { outcome: 'review', ruleId: null, code: null, message: null, problem } }
    }
  }

  const record = async (
    tables: Tables,
    session: Session,
    policy: Policy,
    decision: Pick<SessionPolicyDecision, 'decided' | 'shadow'>,
  ): Promise<void> => {
    const { organizationId, id: sessionId, sequence } = session
    // Takes the lock for changes to the organization's policies.
    await tables.organizations.lock(organizationId)
    const now = await findPolicy(tables, organizationId)
    if (now?.id !== policy.id || now.activeRevisionId !== policy.activeRevisionId) throw new PolicyReplacedError()
    const target = { organizationId, sessionId, sequence, policyId: policy.id }
    if (!(await tables.sessionPolicies.record({ ...target, ...decision }))) throw new AlreadyDecidedError()
  }

  const notify = async ({ organizationId, id }: Session, outcome: DecisionOutcome): Promise<void> => {
    const submittedSeconds = (await store.sessions.findSubmittedTimes(organizationId, [id])).get(id)
    if (submittedSeconds !== undefined) onDecided(outcome, clock.unixSeconds() - submittedSeconds)
  }

  const leave = async (
    session: Session,
    policy: Policy,
    decision: Pick<SessionPolicyDecision, 'decided' | 'shadow'>,
  ): Promise<void> => {
    await store.transaction((tables) => record(tables, session, policy, decision))
    await notify(session, decision.decided === null ? 'none' : 'review')
  }

  const carryOut = async (
    session: Session,
    policy: Policy,
    { revision, verdict }: Evaluated,
    shadow: EvaluatedRevision | null,
  ): Promise<void> => {
    const { organizationId, id: sessionId, sequence } = session
    const { outcome, ruleId, code, message } = verdict
    if (outcome === 'review') return leave(session, policy, { decided: toStored({ revision, verdict }), shadow })
    const requireCurrent = outcome === 'completed' ? await prepareRequireCurrent(store, session) : null
    const actor = policyActor(policy.id, revision.number)
    const changes = changesOver((change) =>
      store.transaction(async (tables) => {
        await record(tables, session, policy, { decided: toStored({ revision, verdict }), shadow })
        if (requireCurrent !== null) {
          const locked = await tables.sessions.lock(organizationId, sessionId)
          // Repeats an outdated comparison, even with a hit. `changeStatus` refuses a changed session.
          if (locked?.session.sequence === sequence) await requireCurrent(tables, locked.session)
        }
        const state = await tables.sessions.changeStatus(change)
        await tables.audit.append({
          organizationId,
          actor,
          actorName: `${policy.name}, revision ${revision.number}`,
          action: 'session.decide',
          subject: sessionId,
          detail: { status: [session.status, outcome], policy: policy.id, revision: revision.id, rule: ruleId },
          requestId: '',
        })
        return state
      }),
    )
    await changes.changeStatus({
      organizationId,
      sessionId,
      actor,
      to: outcome,
      publicComment: message,
      privateComment: `rule ${ruleId ?? 'default'}${code === null ? '' : ` (${code})`}`,
      expectedSequence: sequence,
    })
    log.info('a policy decided a session', {
      session: sessionId,
      policy: policy.id,
      revision: revision.number,
      outcome,
    })
    await notify(session, outcome)
  }

  const decide = async (session: Session): Promise<void> => {
    const { organizationId, sequence } = session
    const policy = await findPolicy(store, organizationId)
    if (policy === null || (policy.activeRevisionId === null && policy.shadowRevisionId === null)) return
    const facts = await knowledge.factsOf(session, clock.unixSeconds())
    const active = await evaluate(organizationId, policy.activeRevisionId, facts)
    const beside = await evaluate(organizationId, policy.shadowRevisionId, facts)
    const shadow = beside === null ? null : toStored(beside)
    // Facts are stored first, so that every decision can be explained.
    await decisionFacts.put(session, { ...(await decisionFacts.peek(session)), [sequence]: facts })
    if (active === null) return leave(session, policy, { decided: null, shadow })
    try {
      await carryOut(session, policy, active, shadow)
    } catch (error) {
      const isForPerson =
        error instanceof HitOpenError ||
        error instanceof HitConfirmedError ||
        error instanceof RejectedBeforeError ||
        error instanceof LinkedSessionsError ||
        error instanceof PersonSessionsError ||
        error instanceof EvidenceErasedError ||
        error instanceof SessionIncompleteError ||
        error instanceof UncomparedError
      if (!isForPerson) throw error
      const verdict = { ...active.verdict, outcome: 'review', problem: error.detail } as const
      await leave(session, policy, { decided: toStored({ ...active, verdict }), shadow })
    }
  }

  /** @param checked the session as checked @throws if the session can't be decided now */
  return async (checked: Session): Promise<void> => {
    const state = await store.sessions.find(checked.organizationId, checked.id)
    const session = state?.session
    if (session?.status !== 'submitted' || session.sequence !== checked.sequence) return
    if (session.provider === WEBHOOK_PROVIDER) return
    for (;;) {
      try {
        return await decide(session)
      } catch (error) {
        if (error instanceof PolicyReplacedError) continue
        const isSettled =
          error instanceof AlreadyDecidedError ||
          error instanceof SessionChangedError ||
          error instanceof TransitionRefusedError
        if (isSettled) return
        throw error
      }
    }
  }
}
