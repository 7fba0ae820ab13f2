// `countersign org`: the organizations of a deployment, how closely each has people checked, and how it looks to them.

import { FieldInvalidError } from '../domain/errors.ts'
import { LEVELS, levelName, parseLevel } from '../domain/level.ts'
import { ConstraintViolatedError } from '../store/errors.ts'
import type { Organization } from '../store/organizations.ts'
import type { Store } from '../store/store.ts'
import { parseName } from './key-options.ts'
import { readBrand } from './org-brand.ts'
import {
  CommandFailedError,
  type CommandOutput,
  findVerb,
  formatTable,
  type ParsedCommand,
  parseCommand,
  runToExitCode,
  UsageError,
  type Verbs,
} from './output.ts'

const LEVEL_NAMES = Object.keys(LEVELS).join(', ')

const USAGE = `Usage: countersign org list
       countersign org create SLUG [--name TEXT] [--level LEVEL]
       countersign org level ORG LEVEL
       countersign org brand ORG [--color COLOR] [--logo FILE]

SLUG is a new organization's short name: lower-case letters, digits and hyphens. ORG is a short name or an id.
LEVEL is one of ${LEVEL_NAMES}. Raising it ends the verification of wallets below it within a second.

  --name TEXT    The name that people read (default: the short name)
  --level LEVEL  What the organization starts with (default basic)
  --color COLOR  On the verification page: # and six hex digits, or none
  --logo FILE    The same: PNG, JPEG or WebP of at most 256 KiB, or none
  --json         Print JSON
  --help         Print this

Exit codes: 0 done, 1 it can't be done, 2 the call is wrong.
`

export interface OrgCommandInput {
  readonly output: CommandOutput
  readonly openStore: () => Promise<Store>
}

interface Context {
  readonly store: Store
  readonly output: CommandOutput
  readonly command: ParsedCommand
}

const describe = ({ id, slug, name, level, createdAtSeconds }: Organization) => ({
  ...{ id, slug, name },
  level: levelName(level),
  createdAt: new Date(createdAtSeconds * 1000).toISOString(),
})

const print = ({ output, command }: Context, organizations: readonly Organization[]): void => {
  const rows = organizations.map(describe)
  output.stdout(
    command.flag('json')
      ? `${JSON.stringify(rows)}\n`
      : formatTable([
          ['ORG', 'ID', 'LEVEL', 'CREATED', 'NAME'],
          ...rows.map(({ slug, id, level, createdAt, name }) => [slug, id, level, createdAt, name]),
        ]),
  )
}

const requireLevel = (text: string | undefined) => {
  const level = parseLevel(text ?? '')
  if (level === null) throw new UsageError(`LEVEL must be one of ${LEVEL_NAMES}`)
  return level
}

const list = async (context: Context): Promise<void> => print(context, await context.store.organizations.list())

const create = async (context: Context): Promise<void> => {
  const { store, command } = context
  const slug = command.positionals[1]
  if (slug === undefined) throw new UsageError('SLUG is missing')
  const level = command.text('level')
  const name = parseName(command.text('name') ?? slug)
  print(context, [
    await store.organizations.create({ slug, name, ...(level === undefined ? {} : { level: requireLevel(level) }) }),
  ])
}

const setLevel = async (context: Context): Promise<void> => {
  const { store, command } = context
  const [, wanted, levelText] = command.positionals
  if (wanted === undefined) throw new UsageError('ORG is missing')
  const level = requireLevel(levelText)
  const organization = await store.organizations.find(wanted)
  const changed = organization === null ? null : await store.organizations.setLevel(organization.id, level)
  if (changed === null) throw new CommandFailedError(`there is no organization ${wanted}`)
  print(context, [changed])
}

const setBrand = async ({ store, output, command }: Context): Promise<void> => {
  const [, wanted] = command.positionals
  if (wanted === undefined) throw new UsageError('ORG is missing')
  const change = readBrand({ color: command.text('color'), logo: command.text('logo') })
  const organization = await store.organizations.find(wanted)
  if (organization === null) throw new CommandFailedError(`there is no organization ${wanted}`)
  const { color, logoVersion } = await store.organizationBrands.set(organization.id, change)
  const brand = { slug: organization.slug, color, logo: logoVersion }
  output.stdout(
    command.flag('json')
      ? `${JSON.stringify(brand)}\n`
      : formatTable([
          ['ORG', 'COLOR', 'LOGO'],
          [brand.slug, color ?? '-', logoVersion ?? '-'],
        ]),
  )
}

const VERBS: Verbs<(context: Context) => Promise<void>> = {
  list: { run: list, words: 0 },
  create: { run: create, words: 1 },
  level: { run: setLevel, words: 2 },
  brand: { run: setBrand, words: 1 },
}

export const runOrg = (commandArguments: readonly string[], input: OrgCommandInput): Promise<number> =>
  runToExitCode(input.output, USAGE, async () => {
    const command = parseCommand(
      commandArguments,
      {
        name: { type: 'string' },
        level: { type: 'string' },
        color: { type: 'string' },
        logo: { type: 'string' },
        json: { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
      VERBS,
    )
    if (command.flag('help')) {
      input.output.stdout(USAGE)
      return 0
    }
    const run = findVerb(VERBS, command)
    if (run === undefined) throw new UsageError('say what to do with organizations')
    const store = await input.openStore()
    try {
      await run({ store, output: input.output, command })
      return 0
    } catch (error) {
      if (error instanceof FieldInvalidError)
        throw new UsageError(error.detail.replace('request validation failed: ', ''))
      if (error instanceof ConstraintViolatedError)
        throw new CommandFailedError('there is such an organization already')
      throw error
    } finally {
      await store.close()
    }
  })
