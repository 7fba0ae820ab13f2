import { compileAhead } from '../../../admin/policies/compile-ahead.ts'
import { requirePolicy, requirePolicyOf, requireRevision } from '../../../admin/policies/find.ts'
import { seeEffects } from '../../../admin/policies/see-activation.ts'
import { requireTriedDecider } from '../../../admin/policies/tried.ts'
import { declareRoutes, ORGANIZATION_ADMIN, REVIEWER, VIEWER } from '../../../admin/route.ts'
import { closed, named, nullable, oneOf, type Static, Type, time } from '../../../admin/schema.ts'
import { locationText } from '../../../admin/second-person/location-text.ts'
import { BASE, operator, requireSession } from '../../../admin/sessions.ts'
import { isoTime } from '../../../lib/time.ts'
import { describePolicy } from '../../../policy/document/diff.ts'
import { compileRevision } from '../../../policy/revision.ts'
import type { Policy } from '../../../store/organizations/policies.ts'
import type { EvaluatedRevision, SessionPolicyDecision } from '../../../store/sessions/session-policies.ts'
import type { Tables } from '../../../store/store.ts'

const route = declareRoutes('Sessions')
const PATH = '/organizations/{organization}/session-policy'
const DECISIONS = `${BASE}/{session}/policy-decisions` as const

const SESSION_POLICY = named(
  'SessionPolicy',
  closed({
    policy_id: Type.Union([Type.String(), Type.Null()], {
      description: 'ID of the session policy; null if reviewers decide',
    }),
    name: nullable(Type.String()),
    revision: Type.Union([Type.Integer(), Type.Null()], {
      description: 'Number of the active revision; null if no revision is active, in which case reviewers decide',
    }),
  }),
)

const revisionOf = async (tables: Pick<Tables, 'policies'>, organizationId: string, policy: Policy) =>
  policy.activeRevisionId === null ? null : requireRevision(tables, organizationId, policy.id, policy.activeRevisionId)

const readCurrent = async (
  tables: Pick<Tables, 'policies' | 'sessionPolicies'>,
  organizationId: string,
): Promise<Static<typeof SESSION_POLICY>> => {
  const policyId = await tables.sessionPolicies.find(organizationId)
  const policy = policyId === null ? null : await tables.policies.find(organizationId, policyId)
  if (policy === null) return { policy_id: null, name: null, revision: null }
  const revision = await revisionOf(tables, organizationId, policy)
  return { policy_id: policy.id, name: policy.name, revision: revision?.number ?? null }
}

const inWords = ({ policy_id: id, name, revision }: Static<typeof SESSION_POLICY>): string => {
  if (name === null) return 'people'
  return revision === null ? `reviewers (${name} (${id}) is not live)` : `${name} (${id}), revision ${revision}`
}

const OUTCOME = oneOf(['completed', 'rejected', 'review'], '`review`: left to a reviewer')

const EVALUATED = closed({
  revision_id: Type.String(),
  revision: Type.Integer({ description: 'Revision number' }),
  outcome: OUTCOME,
  rule: Type.Union([Type.String(), Type.Null()], {
    description: 'Rule that decided or failed; null if there is none',
  }),
  problem: Type.Union([Type.String(), Type.Null()], {
    description: 'Reason that the session was left to a reviewer, if no rule decided it',
  }),
})

const POLICY_DECISION = named(
  'SessionPolicyDecision',
  closed({
    sequence: Type.Integer({ description: 'The session’s sequence number at the time of the decision' }),
    policy_id: Type.String(),
    policy_name: Type.String(),
    decided: Type.Union([EVALUATED, Type.Null()], {
      description: 'Result of the active revision; null if no revision was active',
    }),
    code: nullable(Type.String()),
    shadow: Type.Union([EVALUATED, Type.Null()], { description: 'Shadow outcome; it has no effect' }),
    at: time(),
  }),
)

const showEvaluated = async (
  tables: Pick<Tables, 'policies'>,
  organizationId: string,
  evaluated: EvaluatedRevision,
) => {
  const { revisionId, outcome, rule, problem } = evaluated
  const revision = await tables.policies.findRevision(organizationId, revisionId)
  return { revision_id: revisionId, revision: revision?.number ?? 0, outcome, rule, problem }
}

const showDecision = async (
  tables: Pick<Tables, 'policies'>,
  { organizationId, sequence, policyId, decided, shadow, decidedAtSeconds }: SessionPolicyDecision,
): Promise<Static<typeof POLICY_DECISION>> => ({
  sequence,
  policy_id: policyId,
  policy_name: (await tables.policies.find(organizationId, policyId))?.name ?? policyId,
  decided: decided === null ? null : await showEvaluated(tables, organizationId, decided),
  code: decided?.code ?? null,
  shadow: shadow === null ? null : await showEvaluated(tables, organizationId, shadow),
  at: isoTime(decidedAtSeconds),
})

export const SESSION_POLICY_ROUTES = [
  route('readSessionPolicy', 'GET', PATH, {
    access: VIEWER,
    summary: 'Show whether reviewers or a policy decide sessions',
    answer: SESSION_POLICY,
    handle: async ({ services, organization }) => readCurrent(services.store, organization.id),
  }),
  route('changeSessionPolicy', 'PUT', PATH, {
    access: ORGANIZATION_ADMIN,
    summary: 'Set whether reviewers or a policy decide sessions',
    description:
      'Applies to sessions submitted after the change. Sessions that the active revision neither allows nor denies wait for a reviewer. ' +
      'If the policy has no active revision, reviewers decide and shadow outcomes are recorded. The active revision must have been ' +
      'replayed on past sessions within the last 30 days; otherwise the response is 409. The same applies when you activate a revision later.',
    body: closed({ policy_id: nullable(Type.String({ maxLength: 100 })) }),
    answer: SESSION_POLICY,
    errors: [409],
    secondPerson: {
      action: 'organization.session-policy',
      ahead: async ({ services, organization, body, deadline }) => {
        if (body.policy_id === null) return
        const policy = await services.store.policies.find(organization.id, body.policy_id)
        await compileAhead(services, organization.id, [policy?.activeRevisionId], deadline)
      },
      // Returning decisions to reviewers is always safe.
      needs: (_tables, { body }) => (body.policy_id === null ? 'nothing' : 'second-person'),
      see: async (tables, { organization, body }) => {
        const { id, name } = organization
        const before = await readCurrent(tables, id)
        const deciders = (await tables.webhookEndpoints.list(id)).filter(({ purpose }) => purpose === 'decisions')
        const policy = body.policy_id === null ? null : await requirePolicyOf('sessions', tables, id, body.policy_id)
        const revision = policy === null ? null : await revisionOf(tables, id, policy)
        const after = { policy_id: policy?.id ?? null, name: policy?.name ?? null, revision: revision?.number ?? null }
        return {
          subject: id,
          name,
          changes: [
            { what: 'sessions are decided by', before: inWords(before), after: inWords(after) },
            // The decider remains until its endpoint is removed, which also requires a second person.
            ...deciders.map(({ url }) => ({
              what: 'external decider remains active',
              before: locationText(url),
              after: locationText(url),
            })),
          ],
          ...(revision === null
            ? {}
            : {
                differences: describePolicy(await compileRevision(revision)).map((difference) => ({ ...difference })),
              }),
          basis: [policy?.id ?? null, revision?.contentHash ?? null],
        }
      },
      effects: async ({ services, organization, body }) => {
        if (body.policy_id === null) return []
        const policy = await requirePolicy(services.store, organization.id, body.policy_id)
        return policy.activeRevisionId === null
          ? []
          : seeEffects(services, organization.id, policy.id, policy.activeRevisionId)
      },
    },
    handle: ({ organization, body, write }) =>
      write(async (tables, note) => {
        const { id } = organization
        const before = await readCurrent(tables, id)
        if (body.policy_id !== null) await requirePolicyOf('sessions', tables, id, body.policy_id)
        await tables.sessionPolicies.set(id, body.policy_id)
        if (body.policy_id !== null) await requireTriedDecider(tables, id, body.policy_id)
        const after = await readCurrent(tables, id)
        note({
          action: 'organization.session-policy',
          subject: id,
          detail: { policy: [before.policy_id, after.policy_id], revision: after.revision },
        })
        return after
      }),
  }),
  route('listPolicyDecisions', 'GET', DECISIONS, {
    access: REVIEWER,
    command: { name: 'session list-policy-decisions' },
    summary: 'List policy decisions about a session, newest first',
    answer: closed({ items: Type.Array(POLICY_DECISION) }),
    handle: async ({ services, organization, params }) => {
      const { session } = await requireSession(services.store, organization.id, params.session)
      const decisions = await services.store.sessionPolicies.list(organization.id, session.id)
      return { items: await Promise.all(decisions.map((decision) => showDecision(services.store, decision))) }
    },
  }),
  route('readPolicyDecisionFacts', 'POST', `${DECISIONS}/facts`, {
    access: REVIEWER,
    command: false,
    alone: 'reads',
    summary: 'Read the facts of policy decisions about a session',
    description: 'Each access is recorded. Empty once the evidence is erased.',
    body: closed({}),
    answer: closed({
      items: Type.Array(
        closed({
          sequence: Type.Integer(),
          facts: Type.Record(Type.String(), Type.Unknown(), {
            description: 'Facts by name, as rules read them; null if unavailable',
          }),
        }),
      ),
    }),
    handle: async ({ services, organization, actor, params, write }) => {
      const { session } = await requireSession(services.store, organization.id, params.session)
      await write(async (_tables, note) =>
        note({ action: 'session.evidence-read', subject: session.id, detail: { part: 'decision' } }),
      )
      const facts = (await services.identity.decisionFacts.read(session, operator(actor))) ?? {}
      return {
        items: Object.entries(facts)
          .map(([sequence, known]) => ({ sequence: Number(sequence), facts: { ...known } }))
          .sort((left, right) => right.sequence - left.sequence),
      }
    },
  }),
]
