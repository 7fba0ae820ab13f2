import { type Actor, mayIn } from '../../../admin/actor.ts'
import { closed, named, nullable, oneOf, Type } from '../../../admin/schema.ts'
import type { Services } from '../../../admin/services.ts'
import { timeOf } from '../../../admin/time.ts'
import type { DecisionRecord, ShadowVerdict } from '../../../decision-log/types.ts'
import type { ShadowOutcome } from '../../../domain/verdict.ts'
import { createReplayTally, EXAMPLES } from '../../../policy/tools/replay.ts'
import type { DecisionFilter, DecisionPosition } from '../../../store/decision-index/types.ts'
import type { Policy } from '../../../store/organizations/policies.ts'

const VERDICT = oneOf(['compliant', 'denied'])
const SESSION_OUTCOME = oneOf(['completed', 'rejected', 'review'], '`review`: left to a reviewer')

/** Maximum differing decisions covered by the report by rule. */
const REPORTED_DECISIONS = 1_000
const PAGE = 200

const SHADOW_CHANGE = named(
  'ShadowChange',
  closed({
    verdict: VERDICT,
    rule: nullable(Type.String()),
    shadow_verdict: VERDICT,
    shadow_rule: nullable(Type.String()),
    count: Type.Integer(),
    examples: Type.Array(Type.String(), { description: 'UUIDs of the newest decisions in this group' }),
  }),
  ['count', 'verdict', 'rule', 'shadow_verdict', 'shadow_rule', 'examples'],
)

const SHADOW_FAILURE = named(
  'ShadowFailure',
  closed({
    failure: Type.Union([Type.String(), Type.Null()], {
      description:
        'Reason for the missing verdict, with the status of the response; null if the reason was not recorded',
    }),
    rule: Type.Union([Type.String(), Type.Null()], { description: 'Rule that failed' }),
    count: Type.Integer(),
    examples: Type.Array(Type.String(), { description: 'UUIDs of the newest decisions in this group' }),
  }),
  ['count', 'failure', 'rule', 'examples'],
)

const COUNTS = {
  revision_id: nullable(Type.String()),
  same: Type.Integer(),
  different: Type.Integer({ description: 'Decisions with a different verdict or rule' }),
  failed: Type.Integer({ description: 'Decisions without a shadow verdict: the response would have been an error' }),
  exact: Type.Boolean({ description: 'False if the count stopped early, so the numbers are lower bounds' }),
  sessions: Type.Union(
    [
      closed({
        completed: Type.Integer(),
        rejected: Type.Integer(),
        left: Type.Integer(),
        otherwise: Type.Array(
          closed({
            session_id: Type.String(),
            decided: Type.Union([SESSION_OUTCOME, Type.Null()], {
              description: 'Outcome of the active revision; null if no revision was active',
            }),
            shadow: SESSION_OUTCOME,
          }),
          {
            description:
              'Newest sessions with a different outcome, at most 100 of the newest 10,000 results. Empty for viewers',
          },
        ),
      }),
      Type.Null(),
    ],
    { description: 'Results of a session policy' },
  ),
}

export const SHADOW_RESULTS = named('ShadowResults', closed(COUNTS))

export const SHADOW_REPORT = named(
  'ShadowReport',
  closed({
    ...COUNTS,
    other_verdict: Type.Integer({
      description: `Decisions with a different verdict, among the newest ${REPORTED_DECISIONS.toLocaleString('en')} that differ`,
    }),
    changes: Type.Array(SHADOW_CHANGE, {
      description: 'Counts of these decisions by verdict and rule, most frequent first',
    }),
    failures: Type.Array(SHADOW_FAILURE, {
      description: `The newest ${REPORTED_DECISIONS.toLocaleString('en')} decisions without a shadow verdict, by reason`,
    }),
  }),
)

/** Passes at most 1,000 records to `add`, newest first. Returns false if a search stopped at its time limit. */
const readNewest = async (
  { decisions }: Services,
  filter: DecisionFilter,
  add: (record: DecisionRecord, shadow: ShadowVerdict) => void,
): Promise<boolean> => {
  const read = (after: DecisionPosition | null, limit: number) =>
    decisions.ask({ operation: 'search', filter, after, limit })
  let after: DecisionPosition | null = null
  let found = 0
  let exact = true
  do {
    const page = await read(after, Math.min(PAGE, REPORTED_DECISIONS - found))
    exact = page.complete
    for (const { record } of page.decisions) {
      if (record.shadow !== undefined) add(record, record.shadow)
    }
    found += page.decisions.length
    after = page.complete ? page.next : null
  } while (after !== null && found < REPORTED_DECISIONS)
  return exact
}

const reportFailures = async (services: Services, filter: DecisionFilter) => {
  const failures = new Map<string, { failure: string | null; rule: string | null; count: number; examples: string[] }>()
  const exact = await readNewest(services, filter, ({ uuid }, { failure = null, rule }) => {
    const key = JSON.stringify([failure, rule])
    const found = failures.get(key) ?? { failure, rule, count: 0, examples: [] }
    failures.set(key, found)
    found.count += 1
    if (found.examples.length < EXAMPLES) found.examples.push(uuid)
  })
  return { exact, failures: [...failures.values()].sort((left, right) => right.count - left.count) }
}

const reportChanges = async (services: Services, filter: DecisionFilter) => {
  const tally = createReplayTally()
  const exact = await readNewest(services, filter, (record, { compliant, rule }) => {
    if (compliant !== null) tally.add(record, { status: 'changed', verdict: { compliant, ruleId: rule } })
  })
  const { changes } = tally.summary()
  const verdictOf = (compliant: boolean) => (compliant ? ('compliant' as const) : ('denied' as const))
  return {
    exact,
    other_verdict: changes.reduce((sum, { from, to, count }) => sum + (from.compliant === to.compliant ? 0 : count), 0),
    changes: changes.map(({ from, to, count, examples }) => ({
      verdict: verdictOf(from.compliant),
      rule: from.rule,
      shadow_verdict: verdictOf(to.compliant),
      shadow_rule: to.rule,
      count,
      examples: [...examples],
    })),
  }
}

const NOTHING = { same: 0, different: 0, failed: 0, exact: true, sessions: null }

const readOfSessions = async (
  { store }: Services,
  actor: Actor,
  organizationId: string,
  revisionId: string,
  since: string | undefined,
) => {
  const sinceSeconds = since === undefined ? undefined : Math.floor(timeOf('since', since) / 1_000)
  const { byOutcome, ...counts } = await store.sessionPolicies.countShadow(organizationId, revisionId, sinceSeconds)
  const { completed, rejected, review: left } = byOutcome
  const shadowed = mayIn(actor, organizationId, 'reviewer')
    ? await store.sessionPolicies.listShadowed(organizationId, revisionId)
    : []
  const otherwise = shadowed.map(({ sessionId, decided, shadow }) => ({
    session_id: sessionId,
    decided: decided?.outcome ?? null,
    shadow: shadow?.outcome ?? ('review' as const),
  }))
  return { ...NOTHING, revision_id: revisionId, ...counts, sessions: { completed, rejected, left, otherwise } }
}

const filterOf = (
  organizationId: string,
  revisionId: string,
  outcome: ShadowOutcome,
  since: string | undefined,
): DecisionFilter => ({
  organizationId,
  shadow: { revisionId, outcome },
  ...(since === undefined ? {} : { sinceMs: timeOf('since', since) }),
})

export const readShadowResults = async (
  services: Services,
  actor: Actor,
  { organizationId, shadowRevisionId: revisionId, decides }: Policy,
  since: string | undefined,
) => {
  if (revisionId === null) return { ...NOTHING, revision_id: null }
  if (decides === 'sessions') return readOfSessions(services, actor, organizationId, revisionId, since)
  const count = (outcome: ShadowOutcome) =>
    services.decisions.ask({ operation: 'count', filter: filterOf(organizationId, revisionId, outcome, since) })
  const [same, different, failed] = await Promise.all([count('same'), count('different'), count('failed')])
  return {
    revision_id: revisionId,
    same: same.count,
    different: different.count,
    failed: failed.count,
    exact: same.exact && different.exact && failed.exact,
    sessions: null,
  }
}

export const readShadowReport = async (...given: Parameters<typeof readShadowResults>) => {
  const [services, , { organizationId, shadowRevisionId: revisionId, decides }, since] = given
  const results = await readShadowResults(...given)
  if (revisionId === null || decides === 'sessions') {
    return { ...results, other_verdict: 0, changes: [], failures: [] }
  }
  const report = await reportChanges(services, filterOf(organizationId, revisionId, 'different', since))
  const { failures, exact } = await reportFailures(services, filterOf(organizationId, revisionId, 'failed', since))
  return { ...results, ...report, failures, exact: results.exact && report.exact && exact }
}
