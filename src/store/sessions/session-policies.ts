// Which policy decides an organization's sessions, and what policies have decided. A decision is stored in the transaction
// that carries it out, under the session's sequence number that the policy saw: the same session is decided once.
import type { TableScope } from '../copy/table-scope.ts'

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

interface DecisionRow {
  readonly session_id: string
  readonly sequence: number
  readonly policy_id: string
  readonly revision_id: string | null
  readonly outcome: PolicyOutcome
  readonly rule: string | null
  readonly code: string | null
  readonly problem: string | null
  readonly shadow_revision_id: string | null
  readonly shadow_outcome: PolicyOutcome | null
  readonly shadow_rule: string | null
  readonly shadow_problem: string | null
  readonly decided_at_seconds: number
}

const COLUMNS = `session_id, sequence, policy_id, revision_id, outcome, rule, code, problem, shadow_revision_id,
  shadow_outcome, shadow_rule, shadow_problem, decided_at_seconds`

const toDecision = (organizationId: string, row: DecisionRow): SessionPolicyDecision => ({
  organizationId,
  sessionId: row.session_id,
  sequence: row.sequence,
  policyId: row.policy_id,
  decided:
    row.revision_id === null
      ? null
      : {
          revisionId: row.revision_id,
          outcome: row.outcome,
          rule: row.rule,
          code: row.code,
          problem: row.problem,
        },
  shadow:
    row.shadow_revision_id === null || row.shadow_outcome === null
      ? null
      : {
          revisionId: row.shadow_revision_id,
          outcome: row.shadow_outcome,
          rule: row.shadow_rule,
          problem: row.shadow_problem,
        },
  decidedAtSeconds: row.decided_at_seconds,
})

const SHADOWS_LISTED = 100

export const createSessionPolicyTable = (scope: TableScope) => ({
  /** Id of the policy that decides the organization's sessions; null: people do. */
  find: async (organizationId: string): Promise<string | null> => {
    const [row] = await scope.statements.query<{ policy_id: string }>(
      'SELECT policy_id FROM session_policies WHERE organization_id = ?',
      [organizationId],
    )
    return row?.policy_id ?? null
  },

  /**
   * The caller has locked the organization, as the caller of activateRevision has: of the two at once, the later one sees the
   * other.
   * @param policyId null: people decide
   */
  set: (organizationId: string, policyId: string | null): Promise<void> =>
    scope.write(async (transaction) => {
      await transaction.execute('DELETE FROM session_policies WHERE organization_id = ?', [organizationId])
      if (policyId !== null) {
        await transaction.execute('INSERT INTO session_policies (organization_id, policy_id) VALUES (?, ?)', [
          organizationId,
          policyId,
        ])
      }
    }),

  /** False, and nothing is stored, when the session was decided at this sequence number before. */
  record: ({
    organizationId,
    sessionId,
    sequence,
    policyId,
    decided,
    shadow,
  }: Omit<SessionPolicyDecision, 'decidedAtSeconds'>): Promise<boolean> =>
    scope.write(
      async (transaction) =>
        (await transaction.execute(
          `INSERT INTO session_policy_decisions (organization_id, ${COLUMNS})
           VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
          [
            organizationId,
            sessionId,
            sequence,
            policyId,
            decided?.revisionId ?? null,
            decided?.outcome ?? 'review',
            decided?.rule ?? null,
            decided?.code ?? null,
            decided?.problem ?? null,
            shadow?.revisionId ?? null,
            shadow?.outcome ?? null,
            shadow?.rule ?? null,
            shadow?.problem ?? null,
            scope.nowSeconds(),
          ],
        )) > 0,
    ),

  /** Newest first. */
  list: async (organizationId: string, sessionId: string): Promise<readonly SessionPolicyDecision[]> =>
    (
      await scope.statements.query<DecisionRow>(
        `SELECT ${COLUMNS} FROM session_policy_decisions WHERE organization_id = ? AND session_id = ?
         ORDER BY sequence DESC`,
        [organizationId, sessionId],
      )
    ).map((row) => toDecision(organizationId, row)),

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
  listShadowed: async (organizationId: string, revisionId: string): Promise<readonly SessionPolicyDecision[]> =>
    (
      await scope.statements.query<DecisionRow>(
        `SELECT ${COLUMNS} FROM session_policy_decisions WHERE organization_id = ? AND shadow_revision_id = ?
           AND (revision_id IS NULL OR outcome <> shadow_outcome) ORDER BY session_id DESC LIMIT ${SHADOWS_LISTED}`,
        [organizationId, revisionId],
      )
    ).map((row) => toDecision(organizationId, row)),
})
