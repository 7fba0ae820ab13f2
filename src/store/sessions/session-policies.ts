// Which policy decides an organization's sessions, and what policies have decided. A decision is stored in the transaction
// that carries it out, under the session's sequence number that the policy saw: the same session is decided once.
import { integer, nullable, sql, text, typed } from '../columns.ts'
import type { TableScope } from '../copy/table-scope.ts'
import { defineTable } from '../table.ts'

export type PolicyOutcome = 'completed' | 'rejected' | 'review'

export interface EvaluatedRevision {
  readonly revisionId: string
  readonly outcome: PolicyOutcome
  /** Null: no rule decided. */
  readonly rule: string | null
  /** Why a person has to decide, where no rule says so. */
  readonly problem: string | null
}

export interface SessionPolicyDecision {
  readonly organizationId: string
  readonly sessionId: string
  readonly sequence: number
  readonly policyId: string
  /** Null: no revision was active. */
  readonly decided: (EvaluatedRevision & { readonly code: string | null }) | null
  /** Null: none ran in shadow. */
  readonly shadow: EvaluatedRevision | null
  readonly decidedAtSeconds: number
}

/** How often a shadow agreed with what decided, and which outcomes it would have had. */
interface SessionShadowCounts {
  readonly same: number
  readonly different: number
  /** It could not say: a fact was missing, or a rule failed. */
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
  /** Id of the policy that decides the organization's sessions; null: people do. */
  find: async (organizationId: string): Promise<string | null> =>
    (await POLICIES.find(scope, { organizationId }))?.policyId ?? null,

  /**
   * The caller has locked the organization, as the caller of activateRevision has: of the two at once, the later one sees the
   * other.
   * @param policyId null: people decide
   */
  set: (organizationId: string, policyId: string | null): Promise<void> =>
    scope.write(async (own) => {
      await POLICIES.removeAll(own, { organizationId })
      if (policyId !== null) await POLICIES.insert(own, { organizationId, policyId })
    }),

  /** False, and nothing is stored, when the session was decided at this sequence number before. */
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

  /** Newest first. */
  list: (organizationId: string, sessionId: string): Promise<readonly SessionPolicyDecision[]> =>
    DECISIONS.list(scope, { organizationId, sessionId }, { by: ['sequence'], descending: true }),

  /** The outcomes of a revision that ran in shadow. */
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

  /** The newest sessions for which a revision in shadow had another outcome than the one that counted. */
  listShadowed: (organizationId: string, revisionId: string): Promise<readonly SessionPolicyDecision[]> =>
    DECISIONS.list(
      scope,
      { organizationId, shadowRevisionId: revisionId },
      { by: ['sessionId'], descending: true, limit: SHADOWS_LISTED },
      sql`(revision_id IS NULL OR outcome <> shadow_outcome)`,
    ),
})
