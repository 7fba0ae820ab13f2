import { declareRoutes, ORGANIZATION_ADMIN, VIEWER } from '../../../admin/route.ts'
import { closed, named, oneOf, partial, type Static, Type } from '../../../admin/schema.ts'
import { changedFields } from '../../../admin/second-person/declaration.ts'
import { shown } from '../../../admin/shown.ts'
import { FieldInvalidError } from '../../../domain/errors.ts'
import { DUTY_LIST_NAMES } from '../../../domain/list.ts'
import {
  DEFAULT_THRESHOLD,
  HIT_ACTIONS,
  type ScreeningSettings,
  THRESHOLD_MAX,
  THRESHOLD_MIN,
} from '../../../domain/screening-hit.ts'
import type { Tables } from '../../../store/store.ts'

const route = declareRoutes('Screening')

const PATH = '/organizations/{organization}/screening'

const NAMES = Type.Array(Type.String({ maxLength: 64 }), { maxItems: 50 })

const CHANGEABLE = {
  threshold: Type.Integer({
    minimum: THRESHOLD_MIN,
    maximum: THRESHOLD_MAX,
    description: 'Minimum score of a name hit',
  }),
  on_new_hit: oneOf(
    HIT_ACTIONS,
    'Action for a new hit on a completed session. `review`: the session stays completed until a reviewer decides. `retry`: the session is sent back to the person. `revoke`: the session is rejected permanently',
  ),
  address_lists: Type.Union([NAMES, Type.Null()], {
    description: 'Lists used to screen wallets; null for the shared sanctions lists and the organization’s `deny` list',
  }),
  screeners: Type.Union([NAMES, Type.Null()], {
    description: 'Screeners used for wallets; null for all configured screeners',
  }),
  screener_score: Type.Union([Type.Integer(), Type.Null()], {
    description: 'Minimum screener score that makes an unflagged wallet a hit; null if only flagged wallets are hits',
  }),
  screeners_again: Type.Boolean({
    description: 'Whether screeners are also queried for verified wallets when a sanctions list changes',
  }),
}

const SETTINGS = named(
  'ScreeningSettings',
  closed({
    ...CHANGEABLE,
    is_default: Type.Boolean({ description: 'Whether the threshold is the service’s default' }),
  }),
)

const showSettings = (settings: ScreeningSettings) =>
  shown(SETTINGS, settings, {
    threshold: settings.threshold ?? DEFAULT_THRESHOLD,
    is_default: settings.threshold === null,
  })

const requireKnown = (field: string, names: readonly string[] | null | undefined, known: ReadonlySet<string>): void => {
  const unknown = names?.find((name) => !known.has(name))
  if (unknown !== undefined) throw new FieldInvalidError(field, `contains "${unknown}", which does not exist`)
}

type Changed = Partial<Static<ReturnType<typeof closed<typeof CHANGEABLE>>>>

const changedSettings = (before: ScreeningSettings, body: Changed): ScreeningSettings => ({
  threshold: body.threshold ?? before.threshold,
  onNewHit: body.on_new_hit ?? before.onNewHit,
  addressLists: body.address_lists === undefined ? before.addressLists : body.address_lists,
  screeners: body.screeners === undefined ? before.screeners : body.screeners,
  screenerScore: body.screener_score === undefined ? before.screenerScore : body.screener_score,
  screenersAgain: body.screeners_again ?? before.screenersAgain,
})

const hasAll = (names: readonly string[], wanted: readonly string[]): boolean =>
  wanted.every((name) => names.includes(name))

const loosens = (before: ScreeningSettings, after: ScreeningSettings): boolean =>
  (after.threshold ?? DEFAULT_THRESHOLD) > (before.threshold ?? DEFAULT_THRESHOLD) ||
  HIT_ACTIONS.indexOf(after.onNewHit) < HIT_ACTIONS.indexOf(before.onNewHit) ||
  // The default lists vary, so a change from or to them may remove a list.
  (before.addressLists === null
    ? after.addressLists !== null
    : after.addressLists === null || !hasAll(after.addressLists, before.addressLists)) ||
  (after.screeners !== null && (before.screeners === null || !hasAll(after.screeners, before.screeners))) ||
  (after.screenerScore ?? Number.POSITIVE_INFINITY) > (before.screenerScore ?? Number.POSITIVE_INFINITY) ||
  (before.screenersAgain && !after.screenersAgain)

const settingsText = (settings: ScreeningSettings) => {
  const { is_default: _isDefault, address_lists, screeners, ...others } = showSettings(settings)
  return { ...others, address_lists: address_lists ?? 'default', screeners: screeners ?? 'all' }
}

const listNames = async ({ lists }: Pick<Tables, 'lists'>, organizationId: string): Promise<ReadonlySet<string>> => {
  const found = [...(await lists.list(null)), ...(await lists.list(organizationId))]
  return new Set([...DUTY_LIST_NAMES, ...found.map(({ name }) => name)])
}

export const SCREENING_SETTINGS_ROUTES = [
  route('listScreeningChoices', 'GET', `${PATH}/choices`, {
    access: VIEWER,
    command: false,
    summary: 'List the names that the screening settings can contain',
    answer: closed({ address_lists: Type.Array(Type.String()), screeners: Type.Array(Type.String()) }),
    handle: async ({ services, organization }) => ({
      address_lists: [...(await listNames(services.store, organization.id))].sort(),
      screeners: [...services.policyFacts.screeners].sort(),
    }),
  }),
  route('readScreeningSettings', 'GET', PATH, {
    access: VIEWER,
    summary: 'Show the screening settings',
    answer: SETTINGS,
    handle: async ({ services, organization }) =>
      showSettings(await services.store.screeningSettings.read(organization.id)),
  }),
  route('changeScreeningSettings', 'PUT', PATH, {
    access: ORGANIZATION_ADMIN,
    summary: 'Change the screening settings',
    description:
      'Omitted fields do not change. Submitted and verified sessions are compared again. Screeners are ' +
      'queried again only if `screeners_again` is true.',
    body: partial(CHANGEABLE),
    answer: SETTINGS,
    secondPerson: {
      action: 'screening.settings',
      needs: async ({ screeningSettings }, { organization, body }) => {
        const before = await screeningSettings.read(organization.id)
        return loosens(before, changedSettings(before, body)) ? 'second-person' : 'nothing'
      },
      see: async ({ screeningSettings }, { organization: { id, name }, body }) => {
        const before = await screeningSettings.read(id)
        const changes = changedFields(settingsText(before), settingsText(changedSettings(before, body)))
        return { subject: id, name, changes, basis: showSettings(before) }
      },
    },
    handle: ({ services, organization, body, write }) =>
      write(async (tables, note) => {
        requireKnown('address_lists', body.address_lists, await listNames(tables, organization.id))
        requireKnown('screeners', body.screeners, services.policyFacts.screeners)
        const before = await tables.screeningSettings.read(organization.id)
        const after = changedSettings(before, body)
        await tables.screeningSettings.set(organization.id, after)
        const [was, is] = [showSettings(before), showSettings(after)]
        const changed = (Object.keys(body) as (keyof typeof body)[]).map((field) => [field, [was[field], is[field]]])
        note({ action: 'screening.settings', subject: organization.id, detail: Object.fromEntries(changed) })
        return is
      }),
  }),
]
