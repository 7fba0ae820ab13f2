import { requireRunning } from '../../../admin/command-client.ts'
import { requireFound } from '../../../admin/errors.ts'
import { DEPLOYMENT, declareRoutes, VIEWER } from '../../../admin/route.ts'
import { closed, named, nullable, Type, time } from '../../../admin/schema.ts'
import { PROVE_DECISION } from '../../../attestation/proof-endpoint.ts'
import { DependencyUnavailableError } from '../../../domain/errors.ts'
import type { ModuleOperations } from '../../../module-interface/operations.ts'
import { LOG_HEAD } from '../service/log-head.ts'
import { verifyWithTree } from '../service/tree-task.ts'

const route = declareRoutes('Decisions')

const HEAD = named(
  'LogHead',
  closed({
    size: Type.Integer({ description: 'Number of lines covered by the newest signed head' }),
    log_key: Type.String({ description: 'Verifier key of the log' }),
    published: Type.String({ description: 'Published head (C2SP tlog-checkpoint) with cosignatures' }),
    published_size: Type.Integer({ description: 'Number of lines covered by this head' }),
    cosignatures_required: Type.Integer({
      description: 'Number of cosignatures that a head requires; 0 if there are no witnesses',
    }),
    cosignatures_within_seconds: Type.Integer(),
    cosignatures_late: Type.Boolean(),
    witnesses: Type.Array(closed({ name: Type.String(), cosigned_at: nullable(time()) })),
  }),
)

export const ROUTES = [
  route('readLogHead', 'GET', '/decision-log/head', {
    access: DEPLOYMENT,
    command: { name: 'decision-log show-head' },
    summary: 'Show the newest signed head of the decision log',
    answer: HEAD,
    errors: [503],
    handle: async ({ services }) => {
      const head = await requireRunning(services.findService, LOG_HEAD)()
      if (head === null) throw new DependencyUnavailableError('the log has no signed head yet; retry in a second')
      return {
        size: head.size,
        log_key: head.logKey,
        published: head.published,
        published_size: head.publishedSize,
        cosignatures_required: head.required,
        cosignatures_within_seconds: head.withinSeconds,
        cosignatures_late: head.isLate,
        witnesses: head.witnesses.map(({ name, atSeconds }) => ({
          name,
          cosigned_at: atSeconds === null ? null : new Date(atSeconds * 1_000).toISOString(),
        })),
      }
    },
  }),
  route('proveDecision', 'GET', '/organizations/{organization}/decisions/{uuid}/proof', {
    access: VIEWER,
    command: { name: 'decision prove' },
    summary: 'Get a proof that a decision is in the log',
    description: '`countersign proof check` verifies the proof offline with the log’s key.',
    answer: closed({
      proof: Type.String({ description: 'A C2SP tlog-proof: line, inclusion proof and signed checkpoint' }),
      log_key: Type.String({ description: 'Verifier key of the log' }),
    }),
    errors: [503],
    handle: async ({ services, organization, params }) => {
      const proven = requireFound(
        await requireRunning(services.findService, PROVE_DECISION)(organization.id, params.uuid.toLowerCase()),
        'decision',
      )
      return { proof: proven.proof, log_key: proven.logKey }
    },
  }),
] as const

export const operations: ModuleOperations = { routes: ROUTES, tasks: (core) => [verifyWithTree(core)] }
