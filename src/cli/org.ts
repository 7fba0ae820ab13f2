// `countersign org`: lists and creates organizations, and changes their level, rules, trust and brand.
import { readFileSync } from 'node:fs'
import { LEVELS, type LevelName } from '../domain/level.ts'
import { TRUSTED_MAX } from '../store/organizations/verification-trust.ts'
import { type Open, type Opened, readPages } from './admin-client.ts'
import { findOrganization, type Organization, runOpened } from './in-organization.ts'
import { parseWhole } from './key-options.ts'
import { CommandFailedError, type CommandOutput, type ParsedCommand, print, UsageError, type Verbs } from './output.ts'
import { runVerbOf } from './run-verb.ts'

const LEVEL_NAMES = Object.keys(LEVELS).join(', ')

const USAGE = `Usage: countersign org list
       countersign org create SLUG [--name TEXT] [--level LEVEL]
       countersign org level ORG LEVEL
       countersign org trust ORG [all | none | OTHER ...]
       countersign org second-factor [ORG] [on | off]
       countersign org second-person [ORG] [on | off]
       countersign org minimum-age ORG [YEARS | none] [--level LEVEL]
       countersign org brand ORG [--color COLOR] [--logo FILE]

"trust" says whose verifications ORG relies on beside its own: everyone's (the default), nobody's, or those of the
organizations named; without any it shows whose they are.

"minimum-age" says how old people have to be for the check of their age to pass, at every level or with --level at one, whose
own age counts first; without YEARS it shows how old.

"second-factor" says whether people need one-time codes or a passkey: in ORG, or everywhere without one. Who has neither is
let in only to add one. "second-person" says whether changes of who gets signed for wait for a second administrator: in ORG, or
for what is the deployment's own without one. Where too few are left to approve that it ends, turn it off with
--override-second-person --reason TEXT. Without "on" or "off" both show how it is.

SLUG is a new organization's short name: lower-case letters, digits and hyphens. ORG is a short name or an id.
LEVEL is one of ${LEVEL_NAMES}. Raising it ends the verification of wallets below it within a second.

  --name TEXT    The name that people read (default: the short name)
  --level LEVEL  What the organization starts with (default basic), or whose age is meant
  --color COLOR  On the verification page: # and six hex digits, or none
  --logo FILE    The same: PNG, JPEG or WebP of at most 256 KiB, or none
  --json         Print JSON
  --help         Print this

Exit codes: 0 done, 1 it can't be done, 2 the call is wrong.
`

export interface OrgCommandInput {
  readonly output: CommandOutput
  readonly open: Open
}

interface Context extends Opened {
  readonly output: CommandOutput
  readonly command: ParsedCommand
}

const printOrganizations = (context: Context, organizations: readonly Organization[]): void => {
  const rows = organizations.map(({ id, slug, name, level, created_at: createdAt }) => ({
    id,
    slug,
    name,
    level,
    createdAt,
  }))
  print(context, rows, [
    ['ORG', 'ID', 'LEVEL', 'CREATED', 'NAME'],
    ...rows.map(({ slug, id, level, createdAt, name }) => [slug, id, level, createdAt, name]),
  ])
}

const list = async (context: Context): Promise<void> =>
  printOrganizations(context, await readPages((query) => context.admin.call('GET /organizations', { query })))

/** Does not check the text; the operation does. */
const levelOf = (text: string | undefined): LevelName => (text ?? '') as LevelName

const create = async (context: Context): Promise<void> => {
  const { admin, command } = context
  const slug = command.positionals[1]
  if (slug === undefined) throw new UsageError('SLUG is missing')
  const level = command.text('level')
  const name = command.text('name') ?? slug
  const created = await admin.call('POST /organizations', {
    body: level === undefined ? { slug, name } : { slug, name, level: levelOf(level) },
    flags: { slug: 'SLUG', name: '--name', level: 'LEVEL' },
  })
  printOrganizations(context, [created])
}

const requireOrganization = async (context: Context, name = context.command.positionals[1]): Promise<Organization> => {
  if (name === undefined) throw new UsageError('ORG is missing')
  return findOrganization(context, name)
}

const setLevel = async (context: Context): Promise<void> => {
  const { admin, command } = context
  const { id } = await requireOrganization(context)
  const changed = await admin.call('PATCH /organizations/{organization}', {
    params: { organization: id },
    body: { level: levelOf(command.positionals[2]) },
    flags: { level: 'LEVEL' },
  })
  printOrganizations(context, [changed])
}

const trust = async (context: Context): Promise<void> => {
  const { admin, output, command } = context
  const words = command.positionals.slice(2)
  const { id, slug } = await requireOrganization(context)
  const params = { organization: id }
  const [first] = words
  const everyoneOrNobody = words.length === 1 && (first === 'all' || first === 'none') ? first : null
  const { trusts, organizations } =
    words.length === 0
      ? await admin.call('GET /organizations/{organization}/verification-trust', { params })
      : await admin.call('PUT /organizations/{organization}/verification-trust', {
          params,
          body: everyoneOrNobody === null ? { trusts: 'listed', organizations: words } : { trusts: everyoneOrNobody },
          flags: { organizations: 'OTHER' },
        })
  const names = trusts === 'all' ? 'all' : organizations.map((each) => each.slug)
  print({ output, command }, { slug, trusts: names }, [
    ['ORG', 'TRUSTS'],
    [slug, names === 'all' ? 'all' : names.length === 0 ? 'none' : names.join(' ')],
  ])
}

/** Reads "[ORG] [on | off]". `organization` is null for the deployment; `wanted` is undefined where the rule is only shown. */
const readRule = async (context: Context) => {
  const words = context.command.positionals.slice(1)
  const last = words.at(-1)
  const wanted = last === 'on' || last === 'off' ? last === 'on' : undefined
  const [name, surplus] = wanted === undefined ? words : words.slice(0, -1)
  if (surplus !== undefined) throw new UsageError('say on or off')
  return { organization: name === undefined ? null : await requireOrganization(context, name), wanted }
}

const secondPerson = async (context: Context): Promise<void> => {
  const { admin, output, command } = context
  const { organization, wanted } = await readRule(context)
  const body = wanted === undefined ? null : { second_person: wanted }
  const { second_person: required } = await (organization === null
    ? body === null
      ? admin.call('GET /deployment/settings', {})
      : admin.call('PATCH /deployment/settings', { body })
    : body === null
      ? admin.call('GET /organizations/{organization}/settings', { params: { organization: organization.id } })
      : admin.call('PATCH /organizations/{organization}/settings', { params: { organization: organization.id }, body }))
  print({ output, command }, { slug: organization?.slug ?? null, required }, [
    ['ORG', 'SECOND PERSON'],
    [organization?.slug ?? '(deployment)', required ? 'required' : 'not required'],
  ])
}

/** Reads or changes the rule of one organization; without an id, the deployment's rule for everybody. */
const secondFactorRule = async ({ admin }: Context, id: string | undefined, wanted: boolean | undefined) => {
  const body = { required: wanted === true }
  if (id === undefined) {
    const { required } = await (wanted === undefined
      ? admin.call('GET /deployment/second-factor-rule', {})
      : admin.call('PUT /deployment/second-factor-rule', { body }))
    return { required, required_everywhere: required }
  }
  const params = { organization: id }
  return wanted === undefined
    ? admin.call('GET /organizations/{organization}/second-factor-rule', { params })
    : admin.call('PUT /organizations/{organization}/second-factor-rule', { params, body })
}

const secondFactor = async (context: Context): Promise<void> => {
  const { output, command } = context
  const { organization, wanted } = await readRule(context)
  const rule = await secondFactorRule(context, organization?.id, wanted)
  const { required, required_everywhere: everywhere } = rule
  print({ output, command }, { slug: organization?.slug ?? null, required, requiredEverywhere: everywhere }, [
    ['ORG', 'SECOND FACTOR'],
    [organization?.slug ?? '(everywhere)', required ? 'required' : everywhere ? 'required everywhere' : 'not required'],
  ])
}

const minimumAge = async (context: Context): Promise<void> => {
  const { admin, output, command } = context
  const text = command.positionals[2]
  const { id, slug } = await requireOrganization(context)
  const params = { organization: id }
  const level = command.text('level')
  const years = text === undefined || text === 'none' ? null : parseWhole(text, 'YEARS')
  const body = level === undefined ? { years } : { levels: { [levelOf(level)]: years } }
  const ages =
    text === undefined
      ? await admin.call('GET /organizations/{organization}/minimum-age', { params })
      : await admin.call('PUT /organizations/{organization}/minimum-age', {
          params,
          body,
          flags: { years: 'YEARS', levels: '--level' },
        })
  const shown = { slug, years: ages.years, ...ages.levels }
  const ageTexts = [shown.years, shown.basic, shown.standard, shown.enhanced].map((age) => String(age ?? '-'))
  print({ output, command }, shown, [
    ['ORG', 'EVERY LEVEL', 'BASIC', 'STANDARD', 'ENHANCED'],
    [slug, ...ageTexts],
  ])
}

const setBrand = async (context: Context): Promise<void> => {
  const { admin, output, command } = context
  const { id, slug } = await requireOrganization(context)
  const [color, logo] = [command.text('color'), command.text('logo')]
  if (color === undefined && logo === undefined) throw new UsageError('give --color, --logo or both')
  const brand = await admin.call('PATCH /organizations/{organization}/brand', {
    params: { organization: id },
    body: {
      ...(color === undefined ? {} : { color: color === 'none' ? null : color.toLowerCase() }),
      ...(logo === undefined ? {} : { logo: logo === 'none' ? null : readLogo(logo) }),
    },
    flags: { color: '--color', logo: '--logo' },
  })
  const shown = { slug, color: brand.color, logo: brand.logo_version }
  print({ output, command }, shown, [
    ['ORG', 'COLOR', 'LOGO'],
    [slug, shown.color ?? '-', shown.logo ?? '-'],
  ])
}

/** @returns base64. The operation refuses a file that is not a picture or is too large. @throws CommandFailedError */
const readLogo = (path: string): string => {
  try {
    return readFileSync(path).toString('base64')
  } catch {
    throw new CommandFailedError(`the logo can't be read: ${path}`)
  }
}

const VERBS: Verbs<(context: Context) => Promise<void>> = {
  list: { run: list, words: 0 },
  create: { run: create, words: 1 },
  level: { run: setLevel, words: 2 },
  trust: { run: trust, words: TRUSTED_MAX + 1 },
  'second-factor': { run: secondFactor, words: 2 },
  'second-person': { run: secondPerson, words: 2 },
  'minimum-age': { run: minimumAge, words: 2 },
  brand: { run: setBrand, words: 1 },
}

const COMMAND = {
  help: USAGE,
  subject: 'organizations',
  verbs: VERBS,
  texts: ['name', 'level', 'color', 'logo'],
}

export const runOrg = (commandArguments: readonly string[], input: OrgCommandInput): Promise<number> =>
  runVerbOf(COMMAND, commandArguments, input.output, (run, command) =>
    runOpened(input.open, (opened) => run({ ...opened, output: input.output, command })),
  )
