// Items of an organization that wait, fail or expire soon. Counts come from an index and stop at a limit.
import { apiKeyStatus } from '../../domain/api-key.ts'
import { isoTime, secondsSince } from '../../lib/time.ts'
import type { ListSource } from '../../store/lists/list-sources.ts'
import type { WebhookMessage } from '../../store/webhooks/webhook-messages.ts'
import { mayDeployment, mayIn } from '../actor.ts'
import { scopeBeyond } from '../rights.ts'
import { declareRoutes, VIEWER } from '../route.ts'
import { closed, named, nullable, oneOf, Type, time, timeOrNull } from '../schema.ts'

const route = declareRoutes('Organizations')

const KEYS_READ = 1_000
const POLICIES_READ = 50
const ENDS_SOON_SECONDS = 30 * 86_400
const MESSAGES_READ = 500
/** Missed intervals after which a list is outdated. */
const INTERVALS_MISSED = 2

const HITS = closed(
  {
    verified: Type.Integer({ description: 'Completed sessions with an open hit' }),
    exact: Type.Boolean({ description: 'False if the number is a lower bound' }),
  },
  'Hits on people and businesses that are verified',
)

const WAITING = closed({
  reviews: closed({
    waiting: Type.Integer(),
    exact: Type.Boolean({ description: 'False if the number is a lower bound' }),
  }),
  hits: HITS,
  approvals: Type.Integer({ description: 'Number of requested changes that can be decided now' }),
  deployment_approvals: nullable(
    Type.Integer({
      description: 'Number of pending changes to the deployment; null unless the caller is a deployment admin',
    }),
  ),
})

const FUNNEL_SECONDS = 30 * 86_400

const VERIFICATION_NUMBERS = closed({
  since: time('Start of the period. Sessions created since then are counted'),
  funnel: closed(
    {
      created: Type.Integer(),
      started: Type.Integer({ description: 'Sessions in which the person agreed to the verification' }),
      submitted: Type.Integer(),
      verified: Type.Integer(),
      exact: Type.Boolean({ description: 'False if only the newest sessions were counted' }),
    },
    'Live sessions by progress. Each count is included in the previous count',
  ),
  reviewers: Type.Array(
    closed({
      reviewer: nullable(Type.String({ description: 'Email address, or `key:…`. Null for unassigned sessions' })),
      waiting: Type.Integer({ description: 'Number of assigned sessions that await a decision' }),
      decided: Type.Integer({ description: 'Number of the counted sessions that the reviewer decided' }),
    }),
  ),
})

const OVERVIEW = named(
  'Overview',
  closed({
    reviews: closed({
      waiting: Type.Integer(),
      exact: Type.Boolean({ description: 'False if the number is a lower bound' }),
      oldest_at: nullable(time('Submission time of the longest-waiting session')),
    }),
    verified: closed(
      {
        people: Type.Integer(),
        businesses: Type.Integer(),
        exact: Type.Boolean({ description: 'False if only the newest sessions were counted' }),
      },
      'Number of completed live sessions',
    ),
    hits: HITS,
    first_steps: closed(
      {
        policy: Type.Boolean({ description: 'Whether a policy is live' }),
        project: nullable(closed({ id: Type.String(), name: Type.String() }, 'Oldest project')),
        key: Type.Boolean({ description: 'Whether a working attestation key exists' }),
      },
      'Prerequisites for the first attestation',
    ),
    approvals: Type.Integer({ description: 'Number of changes awaiting approval' }),
    keys: Type.Array(closed({ id: Type.String(), name: Type.String(), expires_at: time() }), {
      description: 'Active keys that expire within 30 days, earliest first',
    }),
    lists: Type.Array(
      closed({
        name: Type.String(),
        of: oneOf(['addresses', 'people'], '`people`: a sanctions list of the deployment'),
        confirmed_at: nullable(time()),
        failure: nullable(Type.String()),
      }),
      { description: 'Lists whose source missed two reads or whose last read failed' },
    ),
    webhooks: nullable(
      Type.Array(closed({ id: Type.String(), url: Type.String(), failed: Type.Integer(), since: time() }), {
        description:
          'Endpoints that accepted none of the newest messages, with the number of failed messages and the time of the first failure. Null unless the caller is an admin',
      }),
    ),
  }),
)

/**
 * Returns the failing endpoints: number of failed messages since the last delivered message, and time of the oldest.
 * @param messages newest first
 */
export const failingSince = (messages: readonly WebhookMessage[]) => {
  const failing = new Map<string, { failed: number; sinceSeconds: number }>()
  const working = new Set<string>()
  for (const { endpointId, state, attempts, createdAtSeconds } of messages) {
    if (working.has(endpointId)) continue
    if (state === 'delivered') working.add(endpointId)
    else if (state === 'dead' || attempts > 0) {
      const failed = (failing.get(endpointId)?.failed ?? 0) + 1
      failing.set(endpointId, { failed, sinceSeconds: createdAtSeconds })
    }
  }
  return failing
}

export const growsOld = (
  {
    failure,
    confirmedAtSeconds,
    intervalSeconds,
  }: Pick<ListSource, 'failure' | 'confirmedAtSeconds' | 'intervalSeconds'>,
  nowSeconds: number,
): boolean =>
  failure !== null ||
  (confirmedAtSeconds !== null &&
    (secondsSince(confirmedAtSeconds, nowSeconds) ?? Number.POSITIVE_INFINITY) > INTERVALS_MISSED * intervalSeconds)

export const OVERVIEW_ROUTES = [
  route('countWaiting', 'GET', '/organizations/{organization}/waiting', {
    access: VIEWER,
    command: false,
    summary: 'Count sessions, hits and changes that await a decision',
    answer: WAITING,
    handle: async ({ services: { store }, organization: { id }, actor }) => {
      const [{ count, exact }, hits, approvals, deployment] = await Promise.all([
        store.sessionCounts.waiting(id),
        store.sessionCounts.withOpenHits(id),
        store.approvals.countPending(id),
        mayDeployment(actor) ? store.approvals.countPending(null) : null,
      ])
      return {
        reviews: { waiting: count, exact },
        hits: { verified: hits.count, exact: hits.exact },
        approvals,
        deployment_approvals: deployment,
      }
    },
  }),
  route('readVerificationNumbers', 'GET', '/organizations/{organization}/verification-numbers', {
    access: VIEWER,
    command: false,
    summary: 'Count the sessions of the last 30 days by progress and, for reviewers, by reviewer',
    answer: VERIFICATION_NUMBERS,
    handle: async ({ services: { store, clock }, organization: { id }, actor }) => {
      const sinceSeconds = clock.unixSeconds() - FUNNEL_SECONDS
      const [funnel, reviewers] = await Promise.all([
        store.sessionCounts.funnel(id, sinceSeconds),
        // Visible to reviewers only, like decisions of sessions.
        mayIn(actor, id, 'reviewer') ? store.sessionCounts.byReviewer(id, sinceSeconds) : [],
      ])
      return { since: isoTime(sinceSeconds), funnel, reviewers: reviewers.map((each) => ({ ...each })) }
    },
  }),
  route('readOverview', 'GET', '/organizations/{organization}/overview', {
    access: VIEWER,
    command: false,
    summary: 'Show pending work, failures and upcoming expirations',
    answer: OVERVIEW,
    handle: async ({ services: { store, clock }, organization: { id }, actor }) => {
      const nowSeconds = clock.unixSeconds()
      const soon = nowSeconds + ENDS_SOON_SECONDS
      const keys = await store.apiKeys.page(
        { organizationId: id, withoutScope: scopeBeyond(actor, id) },
        { after: null, limit: KEYS_READ },
      )
      const isAdmin = mayIn(actor, id, 'organization-admin')
      const endpoints = isAdmin ? await store.webhookEndpoints.list(id) : []
      const failing = failingSince(
        endpoints.length === 0
          ? []
          : (await store.webhookMessages.page(id, {}, { after: null, limit: MESSAGES_READ })).items,
      )
      const waiting = await store.sessionCounts.waiting(id)
      const hits = await store.sessionCounts.withOpenHits(id)
      const policies = await store.policies.page(id, { after: null, limit: POLICIES_READ })
      const [project] = (await store.projects.page({ organizationId: id }, { after: null, limit: 1 })).items
      return {
        reviews: { waiting: waiting.count, exact: waiting.exact, oldest_at: timeOrNull(waiting.oldestAtSeconds) },
        verified: await store.sessionCounts.verified(id),
        hits: { verified: hits.count, exact: hits.exact },
        first_steps: {
          policy: policies.items.some(({ activeRevisionId: active }) => active !== null),
          project: project === undefined ? null : { id: project.id, name: project.name },
          key: keys.items.some((key) => key.kind === 'attestation' && apiKeyStatus(key, nowSeconds) === 'active'),
        },
        approvals: await store.approvals.countPending(id),
        keys: keys.items
          .flatMap(({ keyId, name, revokedAtSeconds: revoked, expiresAtSeconds: expires }) =>
            revoked === null && expires !== null && expires > nowSeconds && expires <= soon
              ? [{ id: keyId, name, expires_at: isoTime(expires) }]
              : [],
          )
          .sort((left, right) => left.expires_at.localeCompare(right.expires_at)),
        lists: [
          ...(await store.listSources.listOf(id)).map((source) => ({ ...source, of: 'addresses' as const })),
          ...(await store.screeningLists.list()).map((list) => ({ ...list, of: 'people' as const })),
        ]
          .filter((list) => growsOld(list, nowSeconds))
          .map(({ name, of, confirmedAtSeconds, failure }) => ({
            name,
            of,
            confirmed_at: timeOrNull(confirmedAtSeconds),
            failure,
          })),
        webhooks: isAdmin
          ? endpoints.flatMap((endpoint) => {
              const found = failing.get(endpoint.id)
              return found === undefined
                ? []
                : [{ id: endpoint.id, url: endpoint.url, failed: found.failed, since: isoTime(found.sinceSeconds) }]
            })
          : null,
      }
    },
  }),
]
