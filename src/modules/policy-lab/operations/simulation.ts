// Evaluates a policy on a request. Nothing is stored, signed or recorded.

import { mayIn } from '../../../admin/actor.ts'
import { memberOptions } from '../../../admin/command-override.ts'
import { ConflictError, SubjectUnknownError } from '../../../admin/errors.ts'
import { compiledOf, SOURCE, SOURCE_BYTES_MAX } from '../../../admin/policies/source.ts'
import { declareRoutes, VIEWER } from '../../../admin/route.ts'
import { closed, named, nullable, oneOf, type Static, Type } from '../../../admin/schema.ts'
import type { Services } from '../../../admin/services.ts'
import type { RecordedFacts } from '../../../decision-log/types.ts'
import { FieldMissingError } from '../../../domain/errors.ts'
import type { OptionalField } from '../../../domain/target.ts'
import { rememberedSteps } from '../../../policy/revision.ts'
import { FACT_SOURCES, sourceOf } from '../../../policy/sources/all.ts'
import { recordedAnswersOf } from '../../../policy/tools/recorded-facts.ts'
import type { ExternalFacts } from '../../../policy/types/facts.ts'
import { type FactNeed, screenerKey } from '../../../policy/types/needs.ts'
import type { CompiledPolicy } from '../../../policy/types/program.ts'
import type { StoredRevision } from '../../../store/organizations/policies.ts'
import { requiredBy } from '../service/required-fields.ts'
import { refuseUnknownFacts } from './given-facts.ts'
import { withLists } from './lists-on-demand.ts'
import { decodeSimulatedRequest, SIMULATED_REQUEST } from './request-facts.ts'
import { RULE_OUTCOME, simulatePolicy } from './simulate.ts'

const route = declareRoutes('Policy trials')

const SIMULATION = named(
  'Simulation',
  closed({
    verdict: nullable(oneOf(['compliant', 'denied'])),
    rule: Type.Union([Type.String(), Type.Null()], {
      description: 'Rule that decided; null for the default. `list:deny` and `list:allow` are the organization’s lists',
    }),
    code: nullable(Type.String()),
    message: nullable(Type.String()),
    failure: Type.Union([Type.String(), Type.Null()], {
      description: 'Reason for the missing verdict; a real request would fail with 400, 422 or 503',
    }),
    missing: Type.Array(Type.String(), {
      description: 'Missing request fields that a rule reads. A real request would fail with 400',
    }),
    rules: Type.Array(RULE_OUTCOME),
    facts: Type.Record(Type.String(), Type.Unknown(), { description: 'Facts that are not part of the request' }),
    unasked: Type.Array(Type.String(), {
      description:
        'Sources that were not queried, because the role of the caller does not permit it. Provide their data in `facts`',
    }),
  }),
)

const LIST_EXAMPLE = '{"addresses": ["0x1111111111111111111111111111111111111111"], "age_seconds": 0}'

const missingFields = (
  policy: CompiledPolicy,
  request: { data?: string; msg_value?: string; user_ip?: string },
): string[] => policy.requires.filter((field) => request[field] === undefined)

/** The log contains neither call data over 1 KiB nor whether `data` or `msg_value` was sent. */
const refusalOf = (missing: readonly string[], isRecorded: boolean): string | null => {
  // Rules read the recorded geography instead of the client's IP address.
  const fields = isRecorded ? missing.filter((field) => field !== 'user_ip') : missing
  if (fields.length === 0) return null
  const names = fields.join(', ')
  return isRecorded
    ? `the log does not show ${names}: pass it in the request`
    : `missing from the request (400): ${names}`
}

type SimulatedRequest = Static<typeof SIMULATED_REQUEST>

const ALWAYS_IN_TASKS: readonly OptionalField[] = ['data', 'msg_value']

const trialOf = async (
  { decisions, store, policyWork }: Services,
  organizationId: string,
  deadline: Parameters<Services['policyWork']['run']>[2],
  { request, decision }: { request?: SimulatedRequest; decision?: string },
): Promise<{ readonly request: SimulatedRequest; readonly facts: RecordedFacts }> => {
  if (decision === undefined) {
    if (request === undefined) throw new FieldMissingError('request or decision')
    return { request, facts: {} }
  }
  const uuid = decision.toLowerCase()
  const found = await decisions.ask({ operation: 'find', organizationId, uuid })
  if (found === null || found.record.kind === 'withheld') throw new SubjectUnknownError('decision')
  const { kind, chain, from, on_behalf, to, value, at, requested, data, data_size: size, facts = {} } = found.record
  const compile = (revision: StoredRevision) => policyWork.run(organizationId, rememberedSteps(revision), deadline)
  const sent =
    kind === 'task' ? ALWAYS_IN_TASKS : await requiredBy(store, organizationId, found.record.revision, compile)
  const sentData = data ?? (size === 0 && sent.includes('data') ? '0x' : undefined)
  const then = new Date(requested === undefined ? at : requested * 1000).toISOString()
  return {
    request: {
      chain,
      from,
      to,
      ...(value !== '0' || sent.includes('msg_value') ? { msg_value: value } : {}),
      time: then,
      ...(on_behalf === undefined ? {} : { on_behalf }),
      ...(sentData === undefined ? {} : { data: sentData }),
      ...request,
    },
    facts,
  }
}

const isUnknown =
  (facts: ExternalFacts) =>
  (need: FactNeed): boolean => {
    switch (need.kind) {
      case 'list':
      case 'velocity':
        return false
      case 'screener':
        return facts.screeners?.[screenerKey(need)] === undefined
      case 'read':
        return facts.reads?.[need.read] === undefined
      default:
        return facts[sourceOf(need.kind).part] === undefined
    }
  }

const kindsOf = (isOne: (source: (typeof FACT_SOURCES)[number]) => boolean): readonly FactNeed['kind'][] =>
  FACT_SOURCES.filter(isOne).map(({ kind }) => kind)

const METERED: ReadonlySet<FactNeed['kind']> = new Set(['screener', 'read', ...kindsOf(({ metered }) => metered)])
/** Kinds of facts that are recorded only as hashes. */
const PERSONAL = new Set(kindsOf(({ digest }) => digest !== null))
const EVIDENCE = new Set(kindsOf(({ isEvidence }) => isEvidence === true))

const nameOf = (need: FactNeed): string =>
  need.kind === 'screener' ? need.screener : need.kind === 'read' ? need.read : need.kind

export const SIMULATION_ROUTES = [
  route('simulatePolicy', 'POST', '/organizations/{organization}/policies/simulate', {
    access: VIEWER,
    command: {
      name: 'policy try',
      fields: {
        source: { option: 'file', file: 'text' },
        revision_id: { option: 'revision' },
        ...memberOptions('request', SIMULATED_REQUEST),
      },
    },
    alone: 'reads',
    summary: 'Simulate a policy on a request',
    description:
      'Evaluates a document or a revision, without signing or recording anything. Uses current lists, and queries other sources unless `facts` provides their data. Only organization admins can query screeners and chains, because queries may cost money. Viewers cannot query identities, and nobody can query country and age. `unasked` lists the sources that were not queried. With `decision`, the request and facts come from a recorded decision, except the client IP address, the identity, and call data over 1 kB, which the log does not contain. If the request may have omitted `data` or `msg_value`, pass the field.',
    body: closed({
      source: Type.Optional(SOURCE),
      revision_id: Type.Optional(
        Type.String({ maxLength: 100, description: 'ID of a saved revision, not its number' }),
      ),
      request: Type.Optional(SIMULATED_REQUEST),
      decision: Type.Optional(Type.String({ maxLength: 36, description: 'UUID of a recorded decision' })),
      facts: Type.Optional(
        Type.Record(Type.String(), Type.Unknown(), {
          description: `Facts by source (${[...FACT_SOURCES.map(({ part }) => part), 'screeners', 'reads', 'velocity'].join(', ')}), in the format of \`example_facts\` from \`checkPolicy\` or \`policy check --json\``,
        }),
      ),
      lists: Type.Optional(
        Type.Record(
          Type.String(),
          Type.Object(
            { addresses: Type.Array(Type.String()), age_seconds: Type.Integer({ minimum: 0 }) },
            { additionalProperties: false, rule: `must be ${LIST_EXAMPLE}` },
          ),
          { description: `Lists that replace the organization’s lists: {"partners": ${LIST_EXAMPLE}}` },
        ),
      ),
    }),
    example: {
      source: 'name: Small amounts\nrules:\n  - id: small\n    allow: tx.value < ether(1)\n',
      request: { chain: 'base', from: '0x1111111111111111111111111111111111111111', msg_value: '500' },
    },
    bodyMaxBytes: SOURCE_BYTES_MAX,
    answer: SIMULATION,
    errors: [409, 422],
    handle: async ({ services, organization, actor, body, deadline }) => {
      const { policy } = await compiledOf(services, organization.id, deadline, body)
      if (policy.document.decides === 'sessions') {
        throw new ConflictError('the policy decides sessions: use simulateSessionPolicy instead')
      }
      refuseUnknownFacts(body.facts ?? {}, policy.needs)
      const { request, facts: recorded } = await trialOf(services, organization.id, deadline, body)
      const decoded = decodeSimulatedRequest(request, services.chains, services.clock.unixSeconds())
      const known: ExternalFacts = { ...recordedAnswersOf(recorded), ...body.facts }
      const unknown = policy.needs.filter(isUnknown(known))
      const isAdmin = mayIn(actor, organization.id, 'organization-admin')
      const isReviewer = isAdmin || mayIn(actor, organization.id, 'reviewer')
      const unasked = unknown.filter(
        ({ kind }) => (!isAdmin && METERED.has(kind)) || (!isReviewer && PERSONAL.has(kind)) || EVIDENCE.has(kind),
      )
      const asked = unknown.filter((need) => !unasked.includes(need))
      const collected = await services.policyFacts.collect(asked, {
        request: decoded,
        organizationId: organization.id,
        projectId: '',
        environment: 'live',
        deadlineMs: deadline.deadlineMs,
      })
      const external: ExternalFacts = {
        ...collected,
        ...known,
        screeners: { ...collected.screeners, ...known.screeners },
        reads: { ...collected.reads, ...known.reads },
      }
      const missing = missingFields(policy, request)
      const refusal = refusalOf(missing, body.decision !== undefined)
      const { verdict, failure, rules } = await withLists(
        services,
        organization.id,
        { overrides: body.lists ?? {}, recorded: recorded.lists ?? {} },
        (lists) => simulatePolicy(policy, { request: decoded, external, lists }, refusal),
      )
      const words = verdict === null || verdict.compliant ? null : verdict
      return {
        verdict: verdict === null ? null : verdict.compliant ? ('compliant' as const) : ('denied' as const),
        rule: verdict?.ruleId ?? null,
        code: words?.code ?? null,
        message: words?.message ?? null,
        failure,
        missing,
        rules: rules.map((rule) => ({ ...rule })),
        facts: { ...external },
        unasked: unasked.map(nameOf),
      }
    },
  }),
] as const
