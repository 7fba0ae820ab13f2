// Evaluates policies on one session, or on sessions that people decided, without effect.

import { actorId } from '../../../admin/actor.ts'
import { ConflictError } from '../../../admin/errors.ts'
import { compiledOf, SOURCE, SOURCE_BYTES_MAX } from '../../../admin/policies/source.ts'
import { REPLAY_KIND } from '../../../admin/policies/tried.ts'
import { declareRoutes, ORGANIZATION_ADMIN, REVIEWER } from '../../../admin/route.ts'
import { closed, named, nullable, oneOf, Type } from '../../../admin/schema.ts'
import { BASE, requireSession } from '../../../admin/sessions.ts'
import { endOf, timeOf } from '../../../admin/time.ts'
import { compilePolicy } from '../../../policy/cel/compile.ts'
import { contentHashOf } from '../../../policy/revision.ts'
import { replaySessions, type SessionReplay } from '../../../policy/tools/session-replay.ts'
import { RULE_OUTCOME, simulateSession } from '../../policy-lab/operations/simulate.ts'

const route = declareRoutes('Policy trials')

const SIMULATION = named(
  'SessionSimulation',
  closed({
    outcome: oneOf(['completed', 'rejected', 'review'], '`review`: the session would be left to a reviewer'),
    rule: Type.Union([Type.String(), Type.Null()], {
      description: 'Rule that decided or failed; null if there is none',
    }),
    code: nullable(Type.String()),
    message: Type.Union([Type.String(), Type.Null()], { description: 'Message to the person' }),
    problem: Type.Union([Type.String(), Type.Null()], {
      description: 'Reason that the session would be left to a reviewer, if no rule decides it',
    }),
    rules: Type.Array(RULE_OUTCOME),
    facts: Type.Record(Type.String(), Type.Unknown(), {
      description: 'Facts by name, as rules read them; null if unavailable',
    }),
  }),
)

export const SESSION_POLICY_TRIAL_ROUTES = [
  route('simulateSessionPolicy', 'POST', `${BASE}/{session}/simulate`, {
    access: REVIEWER,
    command: false,
    alone: 'reads',
    summary: 'Simulate a session policy on a session',
    description:
      'Has no effect on the session, which may have any status. Facts come from current checks and hits; erased and unchecked facts are unavailable. Each access is recorded.',
    body: closed({
      source: Type.Optional(SOURCE),
      revision_id: Type.Optional(Type.String({ maxLength: 100 })),
    }),
    example: { source: 'name: Adults\ndecides: sessions\nrules:\n  - id: adult\n    allow: person.age >= 18\n' },
    bodyMaxBytes: SOURCE_BYTES_MAX,
    answer: SIMULATION,
    errors: [409],
    handle: async ({ services, organization, params, body, deadline, write }) => {
      const { session } = await requireSession(services.store, organization.id, params.session)
      const { policy } = await compiledOf(services, organization.id, deadline, body)
      if (policy.document.decides !== 'sessions') {
        throw new ConflictError('the policy decides requests: use simulatePolicy instead')
      }
      await write(async (_tables, note) =>
        note({ action: 'session.evidence-read', subject: session.id, detail: { part: 'decision' } }),
      )
      const facts = await services.identity.knowledge.factsOf(session, services.clock.unixSeconds())
      const { verdict, rules } = simulateSession(policy, facts)
      const { outcome, ruleId: rule, code, message, problem } = verdict
      return { outcome, rule, code, message, problem, rules: rules.map((one) => ({ ...one })), facts: { ...facts } }
    },
  }),
]

/** Operations for commands without a running service. The trial is recorded like any replay. */
export const SESSION_POLICY_TRIAL_COMMANDS = [
  route('trySessionPolicyHere', 'POST', '/organizations/{organization}/session-policy/trial-here', {
    access: ORGANIZATION_ADMIN,
    command: false,
    alone: 'reads',
    summary: 'Replay decided sessions with a policy document and record the trial',
    body: closed({
      source: SOURCE,
      since: Type.String({ maxLength: 40 }),
      until: Type.Optional(Type.String({ maxLength: 40 })),
    }),
    bodyMaxBytes: SOURCE_BYTES_MAX,
    answer: Type.Unsafe<SessionReplay & { readonly since: string; readonly until: string }>(
      Type.Record(Type.String(), Type.Unknown()),
    ),
    handle: async ({ services, organization, actor, body, write }) => {
      const { source } = body
      const sinceMs = timeOf('since', body.since)
      const untilMs = endOf(body.until, services.clock)
      const policy = compilePolicy(source)
      const sessions = await services.identity.knowledge.decidedByPeople(organization.id, {
        sinceSeconds: Math.floor(sinceMs / 1_000),
        untilSeconds: Math.ceil(untilMs / 1_000),
      })
      const result = {
        since: new Date(sinceMs).toISOString(),
        until: new Date(untilMs).toISOString(),
        ...replaySessions(policy, sessions),
      }
      await write(async (tables, note) => {
        const input = { contentHash: contentHashOf(source), sinceMs, untilMs }
        const kind = REPLAY_KIND
        const made = await tables.tasks.create(
          { organizationId: organization.id, kind, input, actor: actorId(actor) },
          result,
        )
        note({ action: 'job.create', subject: made.id, detail: { kind, content_hash: input.contentHash } })
      })
      return result
    },
  }),
]
