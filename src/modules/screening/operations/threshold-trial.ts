// Effect of another threshold: hits of the newest sessions by score, with decisions on existing hits.

import { ConflictError } from '../../../admin/errors.ts'
import { declareRoutes, REVIEWER } from '../../../admin/route.ts'
import { closed, named, oneOf, type Static, Type } from '../../../admin/schema.ts'
import { shown } from '../../../admin/shown.ts'
import { DEFAULT_THRESHOLD, HIT_STATES, type NearName, TRIAL_THRESHOLDS } from '../../../domain/screening-hit.ts'
import { requireService } from '../../../lib/service-key.ts'
import { NEAR_NAMES } from '../checks/near-names.ts'

const route = declareRoutes('Screening')

/** Maximum names: as many as a person can review. */
const NAMES_MAX = 500

const NEAR = closed({
  session_id: Type.String(),
  subject: Type.String({ description: 'Subject of the hit: `person`, `business` or `owner 1`' }),
  list: Type.String(),
  entry: Type.String(),
  name: Type.String({ description: 'Similar name on the list' }),
  score: Type.Integer(),
  state: Type.Union([oneOf(HIT_STATES), Type.Null()], {
    description: 'State of the hit; null if the name is not a hit at the current threshold',
  }),
})

const TRIAL = named(
  'ThresholdTrial',
  closed({
    threshold: Type.Integer({ description: 'The organization’s current threshold' }),
    sessions: Type.Integer({
      description: 'Number of compared sessions: the newest submitted, completed or returned sessions',
    }),
    exact: Type.Boolean({ description: 'Whether all sessions were compared' }),
    unread: Type.Integer({ description: 'Number of sessions whose names could not be read' }),
    counts: Type.Array(closed({ threshold: Type.Integer(), hits: Type.Integer(), sessions: Type.Integer() })),
    names: Type.Array(NEAR, { description: `Names with the highest score first, at most ${NAMES_MAX}` }),
  }),
)

const keyOf = ({ sessionId, list, entry, subject }: Omit<NearName, 'name' | 'score' | 'isSame'>): string =>
  JSON.stringify([sessionId, list, entry, subject])

const countFrom = (near: readonly NearName[], threshold: number) => {
  const caught = near.filter(({ score, isSame }) => isSame || score >= threshold)
  return { threshold, hits: caught.length, sessions: new Set(caught.map(({ sessionId }) => sessionId)).size }
}

export const THRESHOLD_TRIAL_ROUTES = [
  route('tryThresholds', 'POST', '/organizations/{organization}/screening/trial', {
    access: REVIEWER,
    alone: 'reads',
    summary: 'Compare the hits of other thresholds',
    description:
      'Compares the newest submitted, completed and returned sessions, 500 of each, with the current lists. Takes a few seconds, changes nothing, and is recorded in the audit log.',
    body: closed({}),
    answer: TRIAL,
    errors: [409],
    handle: async ({ services, organization, write }): Promise<Static<typeof TRIAL>> => {
      const found = await requireService(services.findService, NEAR_NAMES)(organization.id, TRIAL_THRESHOLDS[0])
      if (found === null) throw new ConflictError('no sanctions list has been read yet: enable one first')
      const { near, sessions, exact, unread } = found
      const highest = near.slice(0, NAMES_MAX)
      const hits = await services.store.screeningChecks.statesOf(organization.id, [
        ...new Set(highest.map(({ sessionId }) => sessionId)),
      ])
      const states = new Map(hits.map((hit) => [keyOf(hit), hit.state]))
      const { threshold } = await services.store.screeningSettings.read(organization.id)
      await write(async (_tables, note) =>
        note({ action: 'screening.trial', subject: organization.id, detail: { sessions } }),
      )
      return {
        sessions,
        exact,
        unread,
        threshold: threshold ?? DEFAULT_THRESHOLD,
        counts: TRIAL_THRESHOLDS.map((from) => countFrom(near, from)),
        names: highest.map((one) => shown(NEAR, one, { state: states.get(keyOf(one)) ?? null })),
      }
    },
  }),
]
