import { actorId } from '../../../admin/actor.ts'
import { ConflictError, SubjectUnknownError } from '../../../admin/errors.ts'
import { compileAhead } from '../../../admin/policies/compile-ahead.ts'
import { requirePolicy, requireRevision, requireSameSubject } from '../../../admin/policies/find.ts'
import { requireVersion } from '../../../admin/policies/live.ts'
import { compiledOf, SOURCE, SOURCE_BYTES_MAX } from '../../../admin/policies/source.ts'
import { REPLAY_KIND } from '../../../admin/policies/tried.ts'
import type { Note } from '../../../admin/route.ts'
import { declareRoutes, ORGANIZATION_ADMIN, VIEWER } from '../../../admin/route.ts'
import { FIND_REVISION, POLICY, showPolicy } from '../../../admin/routes/policies.ts'
import { showTask, TASK } from '../../../admin/routes/tasks.ts'
import { closed, nullable, Type } from '../../../admin/schema.ts'
import { endOf, timeOf } from '../../../admin/time.ts'
import { compileRevision, contentHashOf } from '../../../policy/revision.ts'
import type { Policy } from '../../../store/organizations/policies.ts'
import type { Tables } from '../../../store/store.ts'
import { readShadowReport, readShadowResults, SHADOW_REPORT, SHADOW_RESULTS } from './shadow-results.ts'

const route = declareRoutes('Policy trials')

const OPEN_TASKS_MAX = 3
const SINCE = Type.Object({
  since: Type.Optional(Type.String({ maxLength: 40, description: 'ISO 8601, inclusive' })),
})
const DAY_MS = 86_400_000
const REPLAYED_DAYS = 7
const REPLAYED_DAYS_OF_SESSIONS = 365

const shadow = async (
  tables: Tables,
  note: Note,
  organizationId: string,
  policyId: string,
  revisionId: string | null,
): Promise<Policy> => {
  const before = await requirePolicy(tables, organizationId, policyId)
  if (revisionId !== null) {
    const revision = await requireRevision(tables, organizationId, policyId, revisionId)
    if (revisionId === before.activeRevisionId) throw new ConflictError('the revision is already active')
    // A shadow that doesn't compile would fail on every decision.
    await compileRevision(revision)
  }
  const after =
    revisionId === null
      ? await tables.policies.endShadow(organizationId, policyId)
      : await tables.policies.shadowRevision(organizationId, policyId, revisionId)
  if (after === null) throw new SubjectUnknownError('revision')
  note({
    action: 'policy.shadow',
    subject: policyId,
    organizationId,
    detail: { revision: [before.shadowRevisionId, revisionId] },
  })
  return after
}

export const POLICY_EFFECT_ROUTES = [
  route('replayPolicy', 'POST', '/organizations/{organization}/policies/{policy}/replay', {
    access: ORGANIZATION_ADMIN,
    command: false,
    alone: 'upkeep',
    summary: 'Replay recorded decisions with a document or a revision',
    description:
      'Creates a job. Its `result` counts unchanged decisions, changes by rule, and decisions that are unknown because a rule reads data missing from the log. A session policy is replayed on the newest sessions that reviewers completed or rejected, at most 1,000 of each. Its `result` counts the sessions that it would have `completed`, `rejected` and `left`, and lists `disagreements`; viewers don’t see session IDs. A revision of a session policy must be replayed before it can decide sessions.',
    body: closed({
      source: Type.Optional(SOURCE),
      revision_id: Type.Optional(Type.String({ maxLength: 100 })),
      since: Type.Optional(
        Type.String({ maxLength: 40, description: 'ISO 8601. Defaults to seven days ago, or a year ago for sessions' }),
      ),
      until: Type.Optional(Type.String({ maxLength: 40, description: 'ISO 8601, exclusive. Defaults to now' })),
    }),
    bodyMaxBytes: SOURCE_BYTES_MAX,
    status: 202,
    answer: TASK,
    errors: [409],
    handle: async ({ services, organization, actor, params, body, deadline, write }) => {
      const nowMs = services.clock.unixSeconds() * 1000
      // Look up the policy first, because an unknown policy is 404 regardless of the body.
      const { decides } = await requirePolicy(services.store, organization.id, params.policy)
      const { source, policy } = await compiledOf(services, organization.id, deadline, body)
      requireSameSubject(decides, policy)
      const replayedDays = decides === 'sessions' ? REPLAYED_DAYS_OF_SESSIONS : REPLAYED_DAYS
      const input = {
        source,
        contentHash: contentHashOf(source),
        revisionId: body.revision_id ?? null,
        policyId: params.policy,
        sinceMs: body.since === undefined ? nowMs - replayedDays * DAY_MS : timeOf('since', body.since),
        untilMs: endOf(body.until, services.clock),
      }
      const task = await write(async (tables, note) => {
        await requirePolicy(tables, organization.id, params.policy)
        if ((await tables.tasks.countOpen(organization.id)) >= OPEN_TASKS_MAX) {
          throw new ConflictError('the organization has too many pending jobs: wait for them to finish, or stop them')
        }
        const made = await tables.tasks.create({
          organizationId: organization.id,
          kind: REPLAY_KIND,
          input,
          actor: actorId(actor),
        })
        const detail = { kind: made.kind, policy: params.policy, revision: input.revisionId }
        note({ action: 'job.create', subject: made.id, detail })
        return made
      })
      services.tasks.wake()
      return showTask(task, services, actor)
    },
  }),
  route('readShadowResults', 'GET', '/organizations/{organization}/policies/{policy}/shadow-results', {
    access: VIEWER,
    command: false,
    summary: 'Show how often the shadow revision’s outcome differed',
    description: 'To list these decisions, filter decisions by `shadow_revision_id` and `shadow`.',
    query: SINCE,
    answer: SHADOW_RESULTS,
    errors: [503],
    handle: async ({ services, organization, actor, params, query }) => {
      const policy = await requirePolicy(services.store, organization.id, params.policy)
      return readShadowResults(services, actor, policy, query.since)
    },
  }),
  route('readShadowReport', 'GET', '/organizations/{organization}/policies/{policy}/shadow-report', {
    access: VIEWER,
    command: {
      name: 'policy show-shadow',
      warn: ({ revision_id: revision }) =>
        revision === null ? 'The policy has no shadow revision: set one with policy shadow' : null,
    },
    summary: 'Show how often the shadow revision’s outcome differed, by rule, with examples',
    query: SINCE,
    answer: SHADOW_REPORT,
    errors: [503],
    handle: async ({ services, organization, actor, params, query }) => {
      const policy = await requirePolicy(services.store, organization.id, params.policy)
      return readShadowReport(services, actor, policy, query.since)
    },
  }),
  route('shadowRevision', 'PUT', '/organizations/{organization}/policies/{policy}/shadow', {
    access: ORGANIZATION_ADMIN,
    command: { name: 'policy shadow', fields: { revision_id: FIND_REVISION } },
    alone: 'not-live',
    summary: 'Set or remove the shadow revision',
    description:
      'The shadow revision is evaluated alongside the active one. Its verdicts are recorded but never returned, so no second person is required.',
    body: closed({
      revision_id: nullable(Type.String({ maxLength: 100 })),
      version: Type.Optional(Type.Integer({ minimum: 1 })),
    }),
    answer: POLICY,
    errors: [409],
    handle: async ({ services, organization, params, body, deadline, write }) => {
      await compileAhead(services, organization.id, [body.revision_id], deadline)
      return write(async (tables, note) => {
        const policy = await requirePolicy(tables, organization.id, params.policy)
        requireVersion(policy, body.version)
        return showPolicy(await shadow(tables, note, organization.id, policy.id, body.revision_id))
      })
    },
  }),
]
