import { declareRoutes, ORGANIZATION_ADMIN, VIEWER } from '../../../admin/route.ts'
import { closed, named, nullable, partial, type Static, Type } from '../../../admin/schema.ts'
import { changedFields } from '../../../admin/second-person/declaration.ts'
import { ADULT_YEARS, LEVELS, type LevelName } from '../../../domain/level.ts'
import type { MinimumAges } from '../../../store/sessions/minimum-ages.ts'

const route = declareRoutes('Sessions')

const PATH = '/organizations/{organization}/minimum-age'

const YEARS = nullable(Type.Integer({ minimum: 1, maximum: 99 }))
const OF_LEVELS = { basic: YEARS, standard: YEARS, enhanced: YEARS }

const AGES = named(
  'MinimumAge',
  closed({
    years: Type.Union([Type.Integer(), Type.Null()], {
      description: 'Minimum age for levels that have no minimum age of their own',
    }),
    levels: closed(OF_LEVELS),
  }),
)

const showAges = ({ years, levels }: MinimumAges): Static<typeof AGES> => {
  const of = (name: LevelName): number | null => levels.get(LEVELS[name]) ?? null
  return { years, levels: { basic: of('basic'), standard: of('standard'), enhanced: of('enhanced') } }
}

type Ages = Static<typeof AGES>
type AgesChange = { readonly years?: number | null; readonly levels?: Partial<Ages['levels']> }

const changedAges = (before: Ages, { years = before.years, levels = {} }: AgesChange): Ages => ({
  years,
  levels: { ...before.levels, ...levels },
})

const loosens = (before: Ages, after: Ages): boolean =>
  (Object.keys(LEVELS) as LevelName[]).some((name) => {
    const was = before.levels[name] ?? before.years
    const is = after.levels[name] ?? after.years
    return is === null ? was !== null : is < (was ?? ADULT_YEARS)
  })

const agesText = ({ years, levels }: Ages) => ({ years, ...levels })

export const MINIMUM_AGE_ROUTES = [
  route('readMinimumAge', 'GET', PATH, {
    access: VIEWER,
    summary: 'Show the minimum age',
    answer: AGES,
    handle: async ({ services, organization }) => showAges(await services.store.minimumAges.read(organization.id)),
  }),
  route('changeMinimumAge', 'PUT', PATH, {
    access: ORGANIZATION_ADMIN,
    command: {
      fields: {
        'levels.basic': { option: 'basic' },
        'levels.standard': { option: 'standard' },
        'levels.enhanced': { option: 'enhanced' },
      },
    },
    summary: 'Change the minimum age',
    description:
      'Younger people fail the age check. The minimum age of a level takes precedence over `years`. If neither is set, ' +
      'people under 18 are flagged for review. Omitted fields do not change.',
    body: partial({ years: YEARS, levels: partial(OF_LEVELS) }),
    example: { years: 18, levels: { enhanced: 21 } },
    answer: AGES,
    secondPerson: {
      action: 'organization.minimum-age',
      needs: async ({ minimumAges }, { organization, body }) => {
        const before = showAges(await minimumAges.read(organization.id))
        return loosens(before, changedAges(before, body)) ? 'second-person' : 'nothing'
      },
      see: async ({ minimumAges }, { organization: { id, name }, body }) => {
        const before = showAges(await minimumAges.read(id))
        const changes = changedFields(agesText(before), agesText(changedAges(before, body)))
        return { subject: id, name, changes, basis: before }
      },
    },
    handle: ({ organization, body, write }) =>
      write(async (tables, note) => {
        const before = showAges(await tables.minimumAges.read(organization.id))
        const changed: Record<string, readonly (number | null)[]> = {}
        if (body.years !== undefined) {
          await tables.minimumAges.set(organization.id, null, body.years)
          changed['years'] = [before.years, body.years]
        }
        for (const name of Object.keys(LEVELS) as LevelName[]) {
          const years = body.levels?.[name]
          if (years === undefined) continue
          await tables.minimumAges.set(organization.id, LEVELS[name], years)
          changed[name] = [before.levels[name], years]
        }
        note({ action: 'organization.minimum-age', subject: organization.id, detail: changed })
        return showAges(await tables.minimumAges.read(organization.id))
      }),
  }),
]
