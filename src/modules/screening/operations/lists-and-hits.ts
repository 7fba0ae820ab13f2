import { ConflictError, requireFound, SubjectUnknownError } from '../../../admin/errors.ts'
import { DEPLOYMENT, declareRoutes, REVIEWER, SecretReply } from '../../../admin/route.ts'
import { closed, named, nullable, oneOf, type Static, Type, time, timeOrNull } from '../../../admin/schema.ts'
import { changedFields } from '../../../admin/second-person/declaration.ts'
import { locationText } from '../../../admin/second-person/location-text.ts'
import { BASE, operator, requireNotAssignedElsewhere, requireSession } from '../../../admin/sessions.ts'
import { shown } from '../../../admin/shown.ts'
import { FieldInvalidError } from '../../../domain/errors.ts'
import { sharedListName } from '../../../domain/list.ts'
import { HIT_STATES } from '../../../domain/screening-hit.ts'
import { counted } from '../../../lib/counted.ts'
import { isoTime, secondsSince } from '../../../lib/time.ts'
import type { EndedHit, StoredHit } from '../../../store/lists/screening-checks.ts'
import type { ScreeningList } from '../../../store/lists/screening-lists.ts'
import type { Tables } from '../../../store/store.ts'
import { PUBLISHERS, publisherOf, SCREENING_FORMATS } from '../formats/publishers.ts'

const route = declareRoutes('Screening')

const LISTS = '/screening/lists'
const LIST_NAME = /^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/
const INTERVAL_MIN_SECONDS = 600

const SCREENING_LIST = named(
  'ScreeningList',
  closed({
    name: Type.String(),
    title: nullable(Type.String()),
    format: oneOf(SCREENING_FORMATS),
    hosts: Type.Array(Type.String(), { description: 'Hosts from which the list is fetched; empty for imported lists' }),
    every_seconds: Type.Integer(),
    entries: Type.Integer({ description: 'Number of entries; 0 before the first read' }),
    names: Type.Integer(),
    version: nullable(Type.String({ description: 'ID of the version, to which hits refer' })),
    sha256: nullable(Type.String({ description: 'SHA-256 of the version’s entries' })),
    changed_at: nullable(time()),
    confirmed_at: Type.Union([time(), Type.Null()], { description: 'Time of the last successful read' }),
    age_seconds: nullable(Type.Integer({ description: 'Seconds since the last successful read' })),
    attempted_at: nullable(time()),
    failure: Type.Union([Type.String(), Type.Null()], {
      description: 'Reason that the last attempt failed; the list keeps its previous content',
    }),
  }),
  ['name', 'entries', 'names', 'age_seconds', 'failure'],
)

const showList = (list: ScreeningList, nowSeconds: number): Static<typeof SCREENING_LIST> => ({
  name: list.name,
  title: publisherOf(list.name)?.title ?? null,
  format: list.format as (typeof SCREENING_FORMATS)[number],
  // Paths and queries may contain tokens.
  hosts: [...new Set(list.urls.map((url) => URL.parse(url)?.host ?? ''))],
  every_seconds: list.intervalSeconds,
  entries: list.version?.entries ?? 0,
  names: list.version?.names ?? 0,
  version: list.version?.id ?? null,
  sha256: list.version?.sha256 ?? null,
  changed_at: timeOrNull(list.version?.createdAtSeconds ?? null),
  confirmed_at: timeOrNull(list.confirmedAtSeconds),
  age_seconds: secondsSince(list.confirmedAtSeconds, nowSeconds),
  attempted_at: timeOrNull(list.attemptedAtSeconds),
  failure: list.failure,
})

const requireList = async (tables: Pick<Tables, 'screeningLists'>, name: string): Promise<ScreeningList> =>
  requireFound(await tables.screeningLists.find(name), 'list')

const settingsOf = (
  name: string,
  known: ScreeningList | null,
  body: { readonly format?: string; readonly urls?: readonly string[]; readonly every_seconds?: number },
) => {
  if (!LIST_NAME.test(name))
    throw new FieldInvalidError('list', 'must contain only lowercase letters, digits and hyphens')
  const publisher = publisherOf(name)
  const format = body.format ?? publisher?.format ?? known?.format
  if (format === undefined) {
    const published = PUBLISHERS.map(({ list }) => list).join(', ')
    throw new FieldInvalidError('format', `is required for your own lists. Published lists: ${published}`)
  }
  return {
    format,
    urls: body.urls ?? publisher?.urls ?? known?.urls ?? [],
    intervalSeconds: body.every_seconds ?? publisher?.intervalSeconds ?? known?.intervalSeconds ?? 86_400,
  }
}

const isPublished = (name: string, { format, urls }: ReturnType<typeof settingsOf>): boolean => {
  const publisher = publisherOf(name)
  return format === publisher?.format && urls.join() === publisher.urls.join()
}

const NO_SETTINGS = { format: null, fetched_from: null, every_seconds: null }
const settingsText = ({ format, urls, intervalSeconds }: ReturnType<typeof settingsOf>) => ({
  format,
  fetched_from: urls.length === 0 ? 'files' : urls.map(locationText).join(', '),
  every_seconds: intervalSeconds,
})

const HIT_FIELDS = {
  id: Type.String(),
  check: Type.String({
    description: 'Check that found the hit: `lists.names`, `wallets.lists`, or `wallets.screeners.` followed by a name',
  }),
  list: Type.String({ description: 'Name of the list or screener' }),
  entry: Type.String({ description: 'Publisher’s entry number; for a wallet, its address' }),
  version: Type.String({ description: 'Version of the list; empty for screeners' }),
  name: Type.String({ description: 'Similar name on the list' }),
  subject: Type.String({ description: 'Subject of the hit: `person`, `business`, `owner 1` or `wallet`' }),
  score: Type.Integer(),
  why: Type.Array(closed({ part: Type.String(), points: Type.Integer(), detail: Type.String() })),
  state: oneOf(HIT_STATES),
  found_at: time(),
  decided_at: nullable(time()),
  decided_by: nullable(Type.String()),
  reason: nullable(Type.String()),
}
const HIT = closed(HIT_FIELDS)
const ENDED_HIT = closed({ ...HIT_FIELDS, ended_at: time() })

const OUTCOMES = ['off', 'waiting', 'passed', 'look', 'failed', 'not-done'] as const
const PART = 'lists'

const CHECK = named(
  'ListCheck',
  closed({
    outcome: oneOf(
      OUTCOMES,
      'Result of the name comparison. `off`: no list is enabled. `look`: a hit is open. `failed`: a hit is confirmed. `not-done`: the comparison could not run',
    ),
    waiting: Type.Boolean({ description: 'Whether checks of the session are still running' }),
    detail: Type.Union([Type.String(), Type.Null()], { description: 'Reason that the comparison could not run' }),
    threshold: nullable(Type.Integer()),
    checked_at: nullable(time()),
    versions: Type.Array(closed({ list: Type.String(), version: Type.String() })),
    hits: Type.Array(HIT),
    ended_hits: Type.Array(ENDED_HIT, {
      description: 'Decided hits whose entries no longer match, newest first. A new listing creates a new hit',
    }),
  }),
)

const showHit = (hit: StoredHit | EndedHit) =>
  shown(HIT, hit, { version: hit.versionId, why: hit.why.map((part) => ({ ...part })) })

interface NamesDetail {
  readonly threshold?: number
  readonly versions?: Readonly<Record<string, string>>
  readonly problem?: string
}

/** Reads only this session's data, because a review polls it while checks run. */
const checkOf = async (
  tables: Pick<Tables, 'screeningChecks' | 'sessionChecks'>,
  organizationId: string,
  sessionId: string,
): Promise<Static<typeof CHECK>> => {
  // Must precede reading the checks: a session leaves the queue only after its checks are stored.
  const waiting = await tables.sessionChecks.isPending(organizationId, sessionId)
  const checks = await tables.sessionChecks.list(organizationId, sessionId)
  const check = checks.find(({ name }) => name === PART || name.startsWith(`${PART}.`))
  const detail: NamesDetail = check?.detail ?? {}
  return {
    waiting,
    outcome: OUTCOMES.find((known) => known === check?.outcome) ?? (waiting ? 'waiting' : 'off'),
    detail:
      detail.problem ??
      (check?.outcome === 'not-done' ? 'service error; this does not count against the person' : null),
    threshold: detail.threshold ?? null,
    checked_at: timeOrNull(check?.checkedAtSeconds ?? null),
    versions: Object.entries(detail.versions ?? {}).map(([list, version]) => ({ list, version })),
    hits: (await tables.screeningChecks.hits(organizationId, sessionId)).map(showHit),
    ended_hits: (await tables.screeningChecks.endedHits(organizationId, sessionId)).map((hit) => ({
      ...showHit(hit),
      ended_at: isoTime(hit.endedAtSeconds),
    })),
  }
}

export const SCREENING_ROUTES = [
  route('listScreeningLists', 'GET', LISTS, {
    access: DEPLOYMENT,
    summary: 'List the screening lists and their age',
    answer: closed({ items: Type.Array(SCREENING_LIST) }),
    handle: async ({ services }) => {
      const now = services.clock.unixSeconds()
      return { items: (await services.store.screeningLists.list()).map((list) => showList(list, now)) }
    },
  }),
  route('enableScreeningList', 'PUT', `${LISTS}/{list}`, {
    access: DEPLOYMENT,
    command: { name: 'screening-list enable', fields: { urls: { option: 'fetch-url' } } },
    summary: 'Enable a screening list',
    description:
      `Sessions are then compared with the list. A known list (${PUBLISHERS.map(({ list }) => `\`${list}\``).join(', ')}) ` +
      'requires only its name. Other lists require `format`, and `urls` to fetch them; without URLs, import their files.',
    body: closed({
      format: Type.Optional(oneOf(SCREENING_FORMATS)),
      urls: Type.Optional(
        Type.Array(Type.String({ maxLength: 2_048 }), { maxItems: 4, description: 'URLs of the list’s files' }),
      ),
      every_seconds: Type.Optional(
        Type.Integer({ minimum: INTERVAL_MIN_SECONDS, maximum: 2_592_000, description: 'How often to fetch the list' }),
      ),
    }),
    answer: SCREENING_LIST,
    secondPerson: {
      action: 'screening.list',
      // A publisher's list only adds hits. Other content also changes the shared wallet list, which policies may read.
      needs: async ({ screeningLists }, { params: { list }, body }) =>
        (await screeningLists.find(list)) === null &&
        !(await screeningLists.hasRemains(list)) &&
        isPublished(list, settingsOf(list, null, body))
          ? 'nothing'
          : 'second-person',
      see: async (tables, { params, body }) => {
        const known = await tables.screeningLists.find(params.list)
        const before = known === null ? NO_SETTINGS : settingsText(known)
        const shared = known === null ? await tables.lists.find(null, sharedListName(params.list)) : null
        const replaced =
          shared === null
            ? []
            : [
                {
                  what: `shared list ${shared.name}`,
                  before: counted(shared.entryCount, 'address', 'addresses'),
                  after: 'replaced',
                },
              ]
        return {
          subject: params.list,
          name: `screening list ${params.list}`,
          changes: [...changedFields(before, settingsText(settingsOf(params.list, known, body))), ...replaced],
          basis: before,
        }
      },
    },
    handle: ({ services, params, body, write }) =>
      write(async (tables, note) => {
        const name = params.list
        const settings = settingsOf(name, await tables.screeningLists.find(name), body)
        const { format } = settings
        const urls = settings.urls.map((url) => services.reachableUrl(url, 'public', 'urls'))
        await tables.screeningLists.set({ ...settings, name, urls, reach: 'public' })
        const hosts = [...new Set(urls.map((url) => URL.parse(url)?.host ?? ''))]
        note({ action: 'screening.enable', subject: name, organizationId: null, detail: { format, hosts } })
        return showList(await requireList(tables, name), services.clock.unixSeconds())
      }),
  }),
  route('disableScreeningList', 'DELETE', `${LISTS}/{list}`, {
    access: DEPLOYMENT,
    command: { name: 'screening-list disable' },
    summary: 'Disable a screening list',
    description: 'Sessions are no longer compared with the list. Its versions and hits remain.',
    secondPerson: {
      action: 'screening.list-end',
      see: async (tables, { params }) => {
        const { version } = await requireList(tables, params.list)
        const before = counted(version?.entries ?? 0, 'entry', 'entries')
        return {
          subject: params.list,
          name: `screening list ${params.list}`,
          changes: [{ what: 'compared with', before, after: null }],
        }
      },
    },
    handle: async ({ params, write }) => {
      await write(async (tables, note) => {
        if (!(await tables.screeningLists.remove(params.list))) throw new SubjectUnknownError('list')
        note({ action: 'screening.disable', subject: params.list, organizationId: null })
      })
      return undefined
    },
  }),
  route('readListChecks', 'GET', `${BASE}/{session}/checks/lists`, {
    access: REVIEWER,
    command: { name: 'session show-hits' },
    summary: 'Show the hits of a session and the lists it was compared with',
    answer: CHECK,
    handle: async ({ services, organization, params }) => {
      const { session } = await requireSession(services.store, organization.id, params.session)
      return checkOf(services.store, organization.id, session.id)
    },
  }),
  route('decideListHit', 'POST', `${BASE}/{session}/checks/lists/{hit}`, {
    access: REVIEWER,
    command: { name: 'session decide-hit', fields: { state: { word: 'STATE' } } },
    alone: 'one-session',
    summary: 'Clear or confirm a hit',
    description:
      'Clear a hit if it is a different person; confirm it if it is the same person. A session with an open hit can’t be completed. Decisions can be changed. Fails if an undecided session is assigned to another reviewer.',
    body: closed({
      state: oneOf(['cleared', 'confirmed']),
      expected: Type.Optional(
        oneOf(HIT_STATES, 'State of the hit when it was read. The request fails if the state has changed'),
      ),
      reason: Type.String({ minLength: 3, maxLength: 1_000, printable: true }),
    }),
    answer: CHECK,
    errors: [409],
    handle: ({ organization, actor, params, body, write }) =>
      write(async (tables, note) => {
        const { session } = await requireSession(tables, organization.id, params.session)
        await requireNotAssignedElsewhere(tables, session, actor)
        const decided = requireFound(
          await tables.screeningChecks.decideHit(
            { organizationId: organization.id, sessionId: session.id, hitId: params.hit },
            { state: body.state, by: operator(actor), reason: body.reason },
          ),
          'hit',
        )
        const { hit, before } = decided
        if (body.expected !== undefined && body.expected !== before) {
          throw new ConflictError('the decision about the hit has changed: read the checks of the session again')
        }
        note({
          action: 'screening.hit',
          subject: session.id,
          // Omits the listed name, which is erased with the evidence, while the audit log remains.
          detail: { hit: hit.id, list: hit.list, version: hit.versionId, state: [before, hit.state] },
        })
        // Names of similar entries are erased with the evidence.
        return new SecretReply(200, await checkOf(tables, organization.id, session.id), undefined)
      }),
  }),
]
