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
  /** False if only the newest sessions were read. */
  readonly exact: boolean
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
/** Maximum decisions read for the results of a shadow. */
const SHADOWS_READ = 10_000

export const createSessionPolicyTable = (scope: TableScope, shadowsRead = SHADOWS_READ) => ({
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
    const { query, queryLong = query } = scope.statements
    const rows = await queryLong<{
      same: number
      failed: number
      outcome: PolicyOutcome
      since: number
      there: number
    }>(
      `SELECT outcome_is_same AS same, has_failed AS failed, shadow_outcome AS outcome, is_since AS since, COUNT(*) AS there
       FROM (SELECT shadow_outcome, CASE WHEN shadow_problem IS NULL THEN 0 ELSE 1 END AS has_failed,
           CASE WHEN revision_id IS NOT NULL AND outcome = shadow_outcome AND COALESCE(rule, '') = COALESCE(shadow_rule, '')
             THEN 1 ELSE 0 END AS outcome_is_same,
           CASE WHEN decided_at_seconds >= ? THEN 1 ELSE 0 END AS is_since
         FROM session_policy_decisions WHERE organization_id = ? AND shadow_revision_id = ?
         ORDER BY session_id DESC LIMIT ?) AS compared
       GROUP BY outcome_is_same, has_failed, shadow_outcome, is_since`,
      [sinceSeconds ?? 0, organizationId, revisionId, shadowsRead],
    )
    const sum = (wanted: (row: (typeof rows)[number]) => boolean): number =>
      rows.filter((row) => row.since === 1 && wanted(row)).reduce((total, { there }) => total + Number(there), 0)
    const of = (outcome: PolicyOutcome): number => sum((row) => row.outcome === outcome)
    const read = rows.reduce((total, { there }) => total + Number(there), 0)
    return {
      exact: read < shadowsRead,
      same: sum(({ same, failed }) => same === 1 && failed === 0),
      different: sum(({ same, failed }) => same === 0 && failed === 0),
      failed: sum(({ failed }) => failed === 1),
      byOutcome: { completed: of('completed'), rejected: of('rejected'), review: of('review') },
    }
  },

  /** Searches the newest sessions only. */
  listShadowed: (organizationId: string, revisionId: string): Promise<readonly SessionPolicyDecision[]> => {
    const { query, queryLong = query } = scope.statements
    return DECISIONS.list(
      { query: queryLong },
      { organizationId, shadowRevisionId: revisionId },
      { by: ['sessionId'], descending: true, limit: SHADOWS_LISTED },
      sql`(revision_id IS NULL OR outcome <> shadow_outcome)`,
      sql`session_id >= (SELECT MIN(session_id) FROM (SELECT session_id FROM session_policy_decisions
        WHERE organization_id = ${organizationId} AND shadow_revision_id = ${revisionId}
        ORDER BY session_id DESC LIMIT ${shadowsRead}) AS newest)`,
    )
  },
})
