// Derives commands from operations of the admin API: names from path and method, words and options from path parameters
// and schemas, output from the response schema.
import type { CommandOverride, Lookup } from '../../admin/command-override.ts'
import type { Route } from '../../admin/route.ts'
import type { TSchema } from '../../admin/schema.ts'
import { checkValue } from '../../admin/validate.ts'
import { readPages } from '../../command-line/admin-client.ts'
import {
  authorOption,
  type Command,
  type CommandContext,
  flag,
  type Option,
  ORG,
  text,
} from '../../command-line/command.ts'
import { requireOrganization } from '../../command-line/in-organization.ts'
import { nameOf, parseLimit } from '../../command-line/option-values.ts'
import { UsageError } from '../../command-line/output.ts'
import { FieldInvalidError, FieldMissingError } from '../../domain/errors.ts'
import { printAnswer } from './answer.ts'
import { type Field, fieldsOf, optionOf, readFields, setMember, shownName, wordOf } from './fields.ts'
import { keyOf, look } from './look.ts'
import { commandName, isOfOrganization, isRunnable, itemsOf, overrideOf } from './names.ts'

interface Pair {
  readonly own: Route | undefined
  readonly deployment: Route | undefined
}

interface Shape extends Pair {
  /** The organization's operation; if there is none, the deployment operation. */
  readonly main: Route
  readonly override: CommandOverride
  readonly noun: string
  readonly verb: string
  readonly fields: readonly Field[]
  readonly looks: ReadonlyArray<Lookup & { readonly field: Field }>
  /** Query members of the searched list. */
  readonly filters: readonly Field[]
  /** Flag that selects the deployment's operation; null if there is only one operation. */
  readonly deploymentFlag: string | null
  readonly isPaged: boolean
  readonly items: TSchema | null
}

const looksOf = (fields: readonly Field[]) =>
  fields.flatMap((field) => (field.override.find === undefined ? [] : [{ ...field.override.find, field }]))

const shapeOf = (routes: readonly Route[], { own, deployment }: Pair): Shape => {
  const main = own ?? (deployment as Route)
  const override = overrideOf(main)
  const [noun, verb] = commandName(main, routes)
  const ownFields = fieldsOf(main, override.fields ?? {})
  const others = deployment === undefined ? [] : fieldsOf(deployment, override.fields ?? {})
  const fields = [...ownFields, ...others.filter(({ path }) => !ownFields.some((field) => field.path === path))]
  const looks = looksOf(fields)
  const lists = routes.filter(({ operationId }) => looks.some((each) => each.narrows && each.in === operationId))
  return {
    own,
    deployment,
    main,
    override,
    noun,
    verb,
    fields,
    looks,
    filters: lists.flatMap((list) =>
      fieldsOf(list, overrideOf(list).fields ?? {}).filter(({ part }) => part === 'query'),
    ),
    deploymentFlag:
      own === undefined || deployment === undefined ? null : (overrideOf(deployment).deploymentFlag ?? 'deployment'),
    isPaged: main.query?.properties['cursor'] !== undefined,
    items: itemsOf(main),
  }
}

const isIrreversible = ({ main, override }: Shape): boolean =>
  main.method === 'DELETE' || override.irreversible === true

const orgOption = ({ override, looks }: Shape): Option => {
  const otherwise = override.wholeDeployment
    ? 'Defaults to the whole deployment'
    : looks.some(({ everywhere }) => everywhere)
      ? 'By default, all organizations are searched for the item’s ID'
      : null
  return otherwise === null ? ORG : { ...ORG, help: `Organization slug or ID. ${otherwise}` }
}

const optionsOf = (shape: Shape): readonly Option[] => {
  const { own, override, fields, filters, items, isPaged, deploymentFlag } = shape
  const { author, limit, wholeDeployment } = override
  return [
    ...[...fields, ...filters].filter(({ isWord }) => !isWord).map(optionOf),
    ...(isPaged ? [text('limit', 'N', `Maximum number of items. Defaults to ${limit ?? 'all'}`)] : []),
    ...(items?.['properties']?.['id'] === undefined ? [] : [flag('quiet', 'Print only IDs', 'q')]),
    ...(author === undefined ? [] : [authorOption(author)]),
    ...(own === undefined || !isOfOrganization(own) ? [] : [orgOption(shape)]),
    ...(deploymentFlag === null || wholeDeployment
      ? []
      : [flag(deploymentFlag, 'Use the deployment instead of an organization')]),
  ]
}

const chooseRoute = (shape: Shape, { command }: CommandContext): Route => {
  const { own, deployment, main, override, deploymentFlag } = shape
  if (deploymentFlag === null || own === undefined || deployment === undefined) return main
  const org = command.text('org')
  if (!command.flag(deploymentFlag)) return override.wholeDeployment && org === undefined ? deployment : own
  if (org !== undefined) throw new UsageError(`--${deploymentFlag} excludes --org`)
  return deployment
}

const readAll = async (call: (page: object) => Promise<unknown>, limit: number) => {
  let last: { readonly next_cursor: string | null } = { next_cursor: null }
  const data = await readPages(async (page) => {
    const answer = (await call(page)) as { readonly data: readonly unknown[]; readonly next_cursor: string | null }
    last = answer
    return answer
  }, limit)
  return { ...last, data }
}

const asUsage = (error: unknown, flags: Readonly<Record<string, string>>): unknown => {
  if (error instanceof FieldMissingError) return new UsageError(`${flags[error.field] ?? error.field} is required`)
  if (error instanceof FieldInvalidError) return new UsageError(`${flags[error.field] ?? error.field} ${error.rule}`)
  return error
}

const run = async (routes: readonly Route[], shape: Shape, context: CommandContext): Promise<number> => {
  const { main, override, noun, verb, fields, filters, looks, isPaged, items } = shape
  const { command, clock, user } = context
  const input = readFields(fields, command, clock.unixSeconds())
  const flags = Object.fromEntries(fields.map((field) => [field.path, shownName(field)]))
  const route = chooseRoute(shape, context)
  try {
    if (route.body !== null) checkValue(route.body, input.body)
  } catch (error) {
    throw asUsage(error, flags)
  }
  const { admin: opened } = await context.open()
  const admin = override.author === undefined ? opened : opened.as(nameOf(command, override.author, user))
  const org = command.text('org')
  const isEverywhere = org === undefined && looks.some(({ everywhere }) => everywhere)
  let organization = isOfOrganization(route) && !isEverywhere ? await requireOrganization({ admin }, org) : null
  const { query: filter } = readFields(filters, command, clock.unixSeconds())
  for (const { field, ...lookup } of looksOf(filters)) {
    const given = filter[field.path]
    if (typeof given !== 'string') continue
    filter[field.path] = (await look(routes, admin, organization, input.params, lookup, field, given)).id
  }
  for (const { field, ...lookup } of looks) {
    const given = input[field.part][field.path]
    if (typeof given !== 'string') continue
    const found = await look(routes, admin, organization, input.params, lookup, field, given, lookup.narrows && filter)
    setMember(input[field.part], field.path, found.id)
    organization = found.organization
  }
  if (!(await context.confirm())) return 1
  const done = `${verb} ${noun} ${command.words.join(' ')}`
  const params = { ...(organization !== null && { organization }), ...input.params }
  const call = (query: object) =>
    admin.call(keyOf(route), {
      params,
      query: { ...input.query, ...query },
      ...(route.body !== null && { body: input.body }),
      flags,
    } as never) as Promise<unknown>
  const limit = command.text('limit') ?? override.limit
  const answer = isPaged
    ? await readAll(call, limit === undefined ? Number.POSITIVE_INFINITY : parseLimit(String(limit)))
    : await call({})
  printAnswer(context, answer, { schema: main.answers[0].schema, items, override, done })
  return override.fails?.(answer as never) ? 1 : 0
}

const derive = (routes: readonly Route[], pair: Pair): Command => {
  const shape = shapeOf(routes, pair)
  const { main, noun, verb, fields } = shape
  return {
    noun,
    verb,
    ...(isIrreversible(shape) && { asks: true as const }),
    summary: main.summary,
    description: main.description,
    words: fields.filter(({ isWord }) => isWord).map(wordOf),
    options: optionsOf(shape),
    run: (context) => run(routes, shape, context),
  }
}

/** Returns the commands by noun and verb. @param all operations in which to look up ids and lists */
export const deriveCommands = (routes: readonly Route[], all: readonly Route[]): readonly Command[] => {
  const pairs = new Map<string, Pair>()
  for (const route of routes.filter(isRunnable)) {
    const name = commandName(route, all).join(' ')
    const known = pairs.get(name) ?? { own: undefined, deployment: undefined }
    const part = isOfOrganization(route) ? 'own' : 'deployment'
    if (known[part] !== undefined) throw new Error(`two operations map to the command ${name}`)
    pairs.set(name, { ...known, [part]: route })
  }
  return [...pairs.values()].map((pair) => derive(all, pair))
}
