// What belongs to the deployment itself: its workers, the live figures, its settings.
import { eventStreamResponse } from '../../http/event-stream.ts'
import { AWAITS_APPROVAL, requestApproval, showApproval } from '../approvals.ts'
import { LIVE_POINT } from '../live/point.ts'
import { CALLER, DEPLOYMENT, declareRoutes, Reply } from '../route.ts'
import { closed, named, nullable, oneOf, Type } from '../schema.ts'
import type { Services } from '../services.ts'

const pool = declareRoutes('Workers')
const live = declareRoutes('Live')
const deployment = declareRoutes('Deployment')

const POOL = named(
  'Pool',
  closed({
    workers: closed({
      live: Type.Integer(),
      busy: Type.Integer(),
      wanted: Type.Integer({ description: 'As asked for; `live` follows within seconds' }),
      abandoned: Type.Integer({ description: 'Threads given up that native code keeps alive' }),
    }),
    queue: closed({ waiting: Type.Integer(), limit: Type.Integer(), in_flight: Type.Integer() }),
    mean_service_ms: Type.Number({ description: 'A worker’s own time per job' }),
    predicted_wait_ms: nullable(Type.Number({ description: 'Of a job submitted now; null without a worker' })),
    restarts: closed({ crash: Type.Integer(), hang: Type.Integer(), start: Type.Integer() }),
    signer: Type.String(),
  }),
)

const DEPLOYMENT_SETTINGS = named(
  'DeploymentSettings',
  closed({ second_person: Type.Boolean({ description: 'Attester keys change only when someone else approves' }) }),
)

const showPool = ({ pool: workers, signer }: Services) => {
  const stats = workers.stats()
  const { crash, hang, start } = stats.restarts
  return {
    workers: { live: stats.workers, busy: stats.busy, wanted: stats.wanted, abandoned: stats.abandoned },
    queue: { waiting: stats.queued, limit: stats.queueLimit, in_flight: stats.inFlight },
    mean_service_ms: stats.meanServiceMs,
    predicted_wait_ms: Number.isFinite(stats.predictedWaitMs) ? stats.predictedWaitMs : null,
    restarts: { crash, hang, start },
    signer,
  }
}

export const DEPLOYMENT_ROUTES = [
  deployment('readDeployment', 'GET', '/deployment', {
    access: CALLER,
    summary: 'What runs here',
    answer: closed({
      id: Type.String(),
      version: Type.String(),
      signer: Type.String({ description: 'Signing backend' }),
      api_url: Type.String({ description: 'Where the attestation and identity APIs answer, without a trailing slash' }),
      chains: Type.Array(
        closed({ name: Type.String(), family: oneOf(['evm', 'solana']), chain_id: nullable(Type.Integer()) }),
      ),
    }),
    handle: async ({ services }) => ({
      id: services.store.deploymentId,
      version: services.version,
      signer: services.signer,
      api_url: services.apiUrl,
      chains: services.chains.chains.map((chain) => ({
        name: chain.name,
        family: chain.family,
        chain_id: chain.family === 'evm' ? chain.chainId : null,
      })),
    }),
  }),
  deployment('readDeploymentSettings', 'GET', '/deployment/settings', {
    access: DEPLOYMENT,
    summary: 'What the deployment asks of its own administration',
    answer: DEPLOYMENT_SETTINGS,
    handle: async ({ services }) => ({
      second_person: await services.store.organizationSettings.readDeploymentSecondPerson(),
    }),
  }),
  deployment('changeDeploymentSettings', 'PATCH', '/deployment/settings', {
    access: DEPLOYMENT,
    summary: 'Ask for a second person for attester keys, or no longer',
    description: 'No longer asking for one needs a second person itself.',
    body: closed({ second_person: Type.Boolean() }),
    answer: DEPLOYMENT_SETTINGS,
    others: [AWAITS_APPROVAL],
    handle: ({ actor, body, write }) =>
      write(async (tables, note) => {
        const before = await tables.organizationSettings.readDeploymentSecondPerson()
        if (before && !body.second_person) {
          const approval = await requestApproval(tables, note, actor, {
            organizationId: null,
            action: 'settings.second-person-off',
            subject: 'deployment',
            detail: {},
          })
          return new Reply(202, await showApproval(tables.users, approval))
        }
        if (before !== body.second_person) {
          await tables.organizationSettings.setDeploymentSecondPerson(body.second_person)
          note({
            action: 'settings.second-person',
            subject: 'deployment',
            organizationId: null,
            detail: { second_person: [before, body.second_person] },
          })
        }
        return { second_person: body.second_person }
      }),
  }),

  pool('readPool', 'GET', '/pool', {
    access: DEPLOYMENT,
    summary: 'The signing workers and their queue',
    answer: POOL,
    handle: async ({ services }) => showPool(services),
  }),
  pool('resizePool', 'PATCH', '/pool', {
    access: DEPLOYMENT,
    summary: 'Change the number of signing workers',
    description:
      'More start at once; fewer finish what they hold first. No request fails for it. Until the next start: the setting ' +
      '`workers` says how many there are then.',
    body: closed({ workers: Type.Integer({ minimum: 1, maximum: 64 }) }),
    answer: POOL,
    handle: async ({ services, body, write }) => {
      const before = services.pool.stats().wanted
      await write(async (_tables, note) =>
        note({
          action: 'pool.resize',
          subject: 'pool',
          organizationId: null,
          detail: { workers: [before, body.workers] },
        }),
      )
      services.pool.resize(body.workers)
      return showPool(services)
    },
  }),

  live('readLive', 'GET', '/live', {
    access: DEPLOYMENT,
    summary: 'What the service did lately',
    description: 'The last quarter of an hour by the second, or the last day by the minute, oldest first.',
    query: Type.Object({ window: Type.Optional(oneOf(['15m', '24h'], 'A quarter of an hour unless given')) }),
    answer: closed({ points: Type.Array(named('LivePoint', LIVE_POINT)) }),
    handle: async ({ services, query }) => ({ points: [...services.live.points(query.window ?? '15m')] }),
  }),
  live('followLive', 'GET', '/live/stream', {
    access: DEPLOYMENT,
    summary: 'What the service does, second by second',
    description: 'Server-sent events: each `data` is a LivePoint; the newest comes at once.',
    streams: true,
    answer: Type.String(),
    contentType: 'text/event-stream',
    handle: async ({ services, requestId, stillAllowed }) =>
      eventStreamResponse(services.liveStreams.open(stillAllowed), requestId, null),
  }),
]
