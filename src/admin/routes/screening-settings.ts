// An organization's settings for screening: from which score a name is a hit, which lists and screeners wallets are
// looked up in, and what a new hit does to somebody who is verified.
import { FieldInvalidError } from '../../domain/errors.ts'
import { DUTY_LIST_NAMES } from '../../domain/list.ts'
import { HIT_ACTIONS, type ScreeningSettings } from '../../domain/screening-hit.ts'
import { DEFAULT_THRESHOLD, THRESHOLD_MAX, THRESHOLD_MIN } from '../../screening/thresholds.ts'
import { declareRoutes, ORGANIZATION_ADMIN, VIEWER } from '../route.ts'
import { closed, named, oneOf, partial, type Static, Type } from '../schema.ts'

const route = declareRoutes('Screening')

const PATH = '/organizations/{organization}/screening'

const NAMES = Type.Array(Type.String({ maxLength: 64 }), { maxItems: 50 })

const CHANGEABLE = {
  threshold: Type.Integer({
    minimum: THRESHOLD_MIN,
    maximum: THRESHOLD_MAX,
    description: 'Lowest score of a hit on a name',
  }),
  on_new_hit: oneOf(
    HIT_ACTIONS,
    'What a new hit does to a session that is completed. `review`: it stays so and waits for a look. `retry`: it goes ' +
      'back to its person. `revoke`: it is rejected, for good',
  ),
  address_lists: Type.Union([NAMES, Type.Null()], {
    description:
      'Lists that wallets are looked up in; null: the shared ones of sanctioned people and the organization’s `deny`',
  }),
  screeners: Type.Union([NAMES, Type.Null()], {
    description: 'Screeners that are asked about wallets; null: all that are configured',
  }),
  screener_score: Type.Union([Type.Integer(), Type.Null()], {
    description:
      'From which score of a screener on a wallet is a hit that it does not flag; null: only flagged ones are',
  }),
  screeners_again: Type.Boolean({
    description: 'Screeners are asked about verified wallets, too, when a list of sanctioned people changes',
  }),
}

const SETTINGS = named(
  'ScreeningSettings',
  closed({
    ...CHANGEABLE,
    is_default: Type.Boolean({ description: 'Whether the threshold is the service’s own' }),
  }),
)

const showSettings = (settings: ScreeningSettings): Static<typeof SETTINGS> => ({
  threshold: settings.threshold ?? DEFAULT_THRESHOLD,
  is_default: settings.threshold === null,
  on_new_hit: settings.onNewHit,
  address_lists: settings.addressLists === null ? null : [...settings.addressLists],
  screeners: settings.screeners === null ? null : [...settings.screeners],
  screener_score: settings.screenerScore,
  screeners_again: settings.screenersAgain,
})

const requireKnown = (field: string, names: readonly string[] | null | undefined, known: ReadonlySet<string>): void => {
  const unknown = names?.find((name) => !known.has(name))
  if (unknown !== undefined) throw new FieldInvalidError(field, `has ${unknown}, which there is not`)
}

export const SCREENING_SETTINGS_ROUTES = [
  route('readScreeningSettings', 'GET', PATH, {
    access: VIEWER,
    summary: 'What is a hit, and what a new one does',
    answer: SETTINGS,
    handle: async ({ services, organization }) =>
      showSettings(await services.store.screeningSettings.read(organization.id)),
  }),
  route('changeScreeningSettings', 'PUT', PATH, {
    access: ORGANIZATION_ADMIN,
    summary: 'Say what is a hit, and what a new one does',
    description:
      'What is left out stays. Sessions that wait for a decision and verified ones are compared again with what changed; ' +
      'screeners are asked again where `screeners_again` says so.',
    body: partial(CHANGEABLE),
    answer: SETTINGS,
    handle: ({ services, organization, body, write }) =>
      write(async (tables, note) => {
        const lists = [...(await tables.lists.list(null)), ...(await tables.lists.list(organization.id))]
        requireKnown(
          'address_lists',
          body.address_lists,
          new Set([...DUTY_LIST_NAMES, ...lists.map(({ name }) => name)]),
        )
        requireKnown('screeners', body.screeners, services.policyFacts.screeners)
        const before = await tables.screeningSettings.read(organization.id)
        const {
          threshold = before.threshold,
          on_new_hit: onNewHit = before.onNewHit,
          address_lists: addressLists = before.addressLists,
          screeners = before.screeners,
          screener_score: screenerScore = before.screenerScore,
          screeners_again: screenersAgain = before.screenersAgain,
        } = body
        const after = { threshold, onNewHit, addressLists, screeners, screenerScore, screenersAgain }
        await tables.screeningSettings.set(organization.id, after)
        const [was, is] = [showSettings(before), showSettings(after)]
        const changed = (Object.keys(body) as (keyof typeof body)[]).map((field) => [field, [was[field], is[field]]])
        note({ action: 'screening.settings', subject: organization.id, detail: Object.fromEntries(changed) })
        return is
      }),
  }),
]
