// Policies that decide sessions, and their decisions, one per sequence number of the session.
import { integer, nullable, sql, text, typed } from '../columns.ts'
import type { TableScope } from '../copy/table-scope.ts'
import { defineTable } from '../table.ts'

export type PolicyOutcome = 'completed' | 'rejected' | 'review'

export interface EvaluatedRevision {
  readonly revisionId: string
  readonly outcome: PolicyOutcome
  readonly rule: string | null
  /** Reason for a review that no rule requests. */
  readonly problem: string | null
}

export interface SessionPolicyDecision {
  readonly organizationId: string
  readonly sessionId: string
  readonly sequence: number
  readonly policyId: string
  readonly decided: (EvaluatedRevision & { readonly code: string | null }) | null
  readonly shadow: EvaluatedRevision | null
  readonly decidedAtSeconds: number
}

interface SessionShadowCounts {
  readonly same: number
  readonly different: number
  /** Decisions with a missing fact or a failed rule. */
  readonly failed: number
  readonly byOutcome: Readonly<Record<PolicyOutcome, number>>
}

const POLICIES = defineTable('session_policies', { organizationId: text, policyId: text })

const DECISIONS = defineTable(
  'session_policy_decisions',
  {
    organizationId: text,
    sessionId: text,
    sequence: integer,
    policyId: text,
    revisionId: nullable(text),
    outcome: typed<PolicyOutcome>(),
    rule: nullable(text),
    code: nullable(text),
    problem: nullable(text),
    shadowRevisionId: nullable(text),
    shadowOutcome: nullable(typed<PolicyOutcome>()),
    shadowRule: nullable(text),
    shadowProblem: nullable(text),
    decidedAtSeconds: integer,
  },
  ({ revisionId, outcome, rule, code, problem, ...row }): SessionPolicyDecision => {
    const { shadowRevisionId, shadowOutcome, shadowRule, shadowProblem, ...others } = row
    return {
      ...others,
      decided: revisionId === null ? null : { revisionId, outcome, rule, code, problem },
      shadow:
        shadowRevisionId === null || shadowOutcome === null
          ? null
          : { revisionId: shadowRevisionId, outcome: shadowOutcome, rule: shadowRule, problem: shadowProblem },
    }
  },
)

const SHADOWS_LISTED = 100

export const createSessionPolicyTable = (scope: TableScope) => ({
  find: async (organizationId: string): Promise<string | null> =>
    (await POLICIES.find(scope, { organizationId }))?.policyId ?? null,

  /** The organization must be locked. @param policyId null if people decide */
  set: (organizationId: string, policyId: string | null): Promise<void> =>
    scope.write(async (own) => {
      await POLICIES.removeAll(own, { organizationId })
      if (policyId !== null) await POLICIES.insert(own, { organizationId, policyId })
    }),

  /** Returns false if the session was already decided at this sequence number. */
  record: (decision: Omit<SessionPolicyDecision, 'decidedAtSeconds'>): Promise<boolean> => {
    const { organizationId, sessionId, sequence, policyId, decided, shadow } = decision
    return DECISIONS.insertNew(scope, {
      organizationId,
      sessionId,
      sequence,
      policyId,
      outcome: 'review',
      ...decided,
      shadowRevisionId: shadow?.revisionId,
      shadowOutcome: shadow?.outcome,
      shadowRule: shadow?.rule,
      shadowProblem: shadow?.problem,
      decidedAtSeconds: scope.nowSeconds(),
    })
  },

  list: (organizationId: string, sessionId: string): Promise<readonly SessionPolicyDecision[]> =>
    DECISIONS.list(scope, { organizationId, sessionId }, { by: ['sequence'], descending: true }),

  countShadow: async (
    organizationId: string,
    revisionId: string,
    sinceSeconds: number | undefined,
  ): Promise<SessionShadowCounts> => {
    const where = ['organization_id = ?', 'shadow_revision_id = ?']
    const parameters: (string | number)[] = [organizationId, revisionId]
    if (sinceSeconds !== undefined) {
      where.push('decided_at_seconds >= ?')
      parameters.push(sinceSeconds)
    }
    const rows = await scope.statements.query<{ same: number; failed: number; outcome: PolicyOutcome; there: number }>(
      `SELECT outcome_is_same AS same, has_failed AS failed, shadow_outcome AS outcome, COUNT(*) AS there FROM (
         SELECT shadow_outcome, CASE WHEN shadow_problem IS NULL THEN 0 ELSE 1 END AS has_failed,
           CASE WHEN revision_id IS NOT NULL AND outcome = shadow_outcome AND COALESCE(rule, '') = COALESCE(shadow_rule, '')
             THEN 1 ELSE 0 END AS outcome_is_same
         FROM session_policy_decisions WHERE ${where.join(' AND ')}) AS compared
       GROUP BY outcome_is_same, has_failed, shadow_outcome`,
      parameters,
    )
    const sum = (wanted: (row: (typeof rows)[number]) => boolean): number =>
      rows.filter(wanted).reduce((total, { there }) => total + Number(there), 0)
    const of = (outcome: PolicyOutcome): number => sum((row) => row.outcome === outcome)
    return {
      same: sum(({ same, failed }) => same === 1 && failed === 0),
      different: sum(({ same, failed }) => same === 0 && failed === 0),
      failed: sum(({ failed }) => failed === 1),
      byOutcome: { completed: of('completed'), rejected: of('rejected'), review: of('review') },
    }
  },

  listShadowed: (organizationId: string, revisionId: string): Promise<readonly SessionPolicyDecision[]> =>
    DECISIONS.list(
      scope,
      { organizationId, shadowRevisionId: revisionId },
      { by: ['sessionId'], descending: true, limit: SHADOWS_LISTED },
      sql`(revision_id IS NULL OR outcome <> shadow_outcome)`,
    ),
})
