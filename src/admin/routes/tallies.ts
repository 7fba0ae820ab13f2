import { FieldInvalidError } from '../../domain/errors.ts'
import {
  TALLY_STEPS_MS,
  type TallyBy,
  type TallyQuestion,
  type TallyRow,
  tallyStart,
} from '../../store/decision-index/tallies.ts'
import type { Tables } from '../../store/store.ts'
import { DEPLOYMENT, declareRoutes, VIEWER } from '../route.ts'
import { closed, named, nullable, oneOf, Type, time } from '../schema.ts'
import type { Services } from '../services.ts'
import { timeOf } from '../time.ts'

const route = declareRoutes('Decisions')

const SPAN_MAX_DAYS = 31
const DAY_MS = 86_400_000
const GROUPS_SHOWN = 200

const SINCE = {
  since: Type.String({
    maxLength: 40,
    description: 'Start of the counts, ISO 8601; rounded down to the start of its interval',
  }),
}

export const TALLY = named(
  'DecisionTally',
  closed({
    organization_id: nullable(Type.String({ description: 'Present with `source`' })),
    organization_name: nullable(Type.String()),
    key_id: nullable(Type.String({ description: 'Present with `source`' })),
    key_name: nullable(Type.String({ description: 'Current name' })),
    policy_id: nullable(Type.String({ description: 'Present with `rule`' })),
    policy_name: nullable(Type.String({ description: 'Current name' })),
    rule: nullable(
      Type.String({ description: 'Decisive rule. Present only for counts by `rule`; null for the policy’s default' }),
    ),
    compliant: Type.Integer(),
    denied: Type.Integer(),
    later: nullable(closed({ compliant: Type.Integer(), denied: Type.Integer() }, 'Counts since `later_since`')),
  }),
)

const TALLIES = named(
  'DecisionTallies',
  closed({
    since: time('Start of the first counted interval'),
    step_seconds: Type.Integer({
      description: 'Length of an interval: one hour for counts by `rule`, otherwise 15 minutes',
    }),
    up_to_date: Type.Boolean({ description: 'False if the newest decisions may be missing' }),
    data: Type.Array(TALLY, { description: 'Counts, most frequent first, without zeros' }),
  }),
)

const showTally = async (
  { policies, apiKeys, organizations }: Pick<Tables, 'policies' | 'apiKeys' | 'organizations'>,
  row: TallyRow,
  asked: TallyQuestion,
) => {
  const organizationId = row.organizationId ?? asked.organizationId ?? ''
  const { policyId, keyId, rule, compliant, denied, laterCompliant, laterDenied } = row
  return {
    organization_id: row.organizationId,
    organization_name: row.organizationId === null ? null : ((await organizations.find(organizationId))?.name ?? null),
    key_id: keyId,
    key_name: keyId === null ? null : ((await apiKeys.find(organizationId, keyId))?.name ?? null),
    policy_id: policyId,
    policy_name: policyId === null ? null : ((await policies.find(organizationId, policyId))?.name ?? null),
    rule,
    compliant,
    denied,
    later: asked.laterMs === undefined ? null : { compliant: laterCompliant, denied: laterDenied },
  }
}

type Question = TallyQuestion & { readonly by: Exclude<TallyBy, 'time'> }

export const nowMs = ({ clock }: Services): number => (clock.unixSeconds() + 1) * 1000

export const readTallies = async ({ store, decisions }: Services, question: Question, since = 'since') => {
  if (question.untilMs - question.sinceMs > SPAN_MAX_DAYS * DAY_MS) {
    throw new FieldInvalidError(since, `must be at most ${SPAN_MAX_DAYS} days ago`)
  }
  const rows = await decisions.ask({ operation: 'tally', question })
  const data = []
  for (const row of rows.slice(0, GROUPS_SHOWN)) data.push(await showTally(store, row, question))
  return data
}

const read = async (services: Services, question: Question) => {
  const data = await readTallies(services, question)
  const { upToDate } = await services.decisions.ask({ operation: 'status' })
  return {
    since: new Date(tallyStart(question.by, question.sinceMs)).toISOString(),
    step_seconds: TALLY_STEPS_MS[question.by] / 1000,
    up_to_date: upToDate,
    data,
  }
}

export const TALLY_ROUTES = [
  route('tallyDecisions', 'GET', '/organizations/{organization}/decisions/tally', {
    access: VIEWER,
    command: false,
    summary: 'Count decisions by rule or by API key',
    description: 'Counts decisions up to now.',
    query: Type.Object({
      ...SINCE,
      by: oneOf(['rule', 'source']),
      later_since: Type.Optional(
        Type.String({
          maxLength: 40,
          description: 'Start of the `later` counts, ISO 8601; rounded down to the start of its interval',
        }),
      ),
    }),
    answer: TALLIES,
    errors: [503],
    handle: ({ services, organization, query: { since, by, later_since: later } }) =>
      read(services, {
        organizationId: organization.id,
        by,
        sinceMs: timeOf('since', since),
        laterMs: later === undefined ? undefined : timeOf('later_since', later),
        untilMs: nowMs(services),
      }),
  }),
  route('tallyDeploymentDecisions', 'GET', '/decisions/tally', {
    access: DEPLOYMENT,
    command: false,
    summary: 'Count decisions of all organizations by API key',
    query: Type.Object(SINCE),
    answer: TALLIES,
    errors: [503],
    handle: ({ services, query: { since } }) =>
      read(services, {
        organizationId: null,
        by: 'source',
        sinceMs: timeOf('since', since),
        untilMs: nowMs(services),
      }),
  }),
]
