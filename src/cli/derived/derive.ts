// Makes commands from operations of the admin API: the name from path and method, words and options from path parameters and
// schemas, the output from the answer's schema.
import type { CommandOverride, Lookup } from '../../admin/command-override.ts'
import type { Route } from '../../admin/route.ts'
import type { TSchema } from '../../admin/schema.ts'
import { checkValue } from '../../admin/validate.ts'
import { parseAnyAddress } from '../../domain/address-key.ts'
import { FieldInvalidError, FieldMissingError } from '../../domain/errors.ts'
import { type AdminClient, type OperationKey, readPages } from '../admin-client.ts'
import { type Command, type CommandContext, flag, type Option, ORG, text } from '../command.ts'
import { requireOrganization } from '../in-organization.ts'
import { nameOf, parseLimit } from '../key-options.ts'
import { CommandFailedError, UsageError } from '../output.ts'
import { printAnswer } from './answer.ts'
import { type Field, fieldsOf, optionOf, readFields, setMember, shownName, wordOf } from './fields.ts'

/** `policies` → `policy`. */
const singular = (word: string): string =>
  word.endsWith('ies') ? `${word.slice(0, -3)}y` : word.endsWith('s') ? word.slice(0, -1) : word

const PREFIX = /^\/organizations\/\{organization\}(?=\/)|^\/deployment(?=\/)/
const VERBS = { POST: 'create', PATCH: 'update', PUT: 'update', DELETE: 'delete' } as const

const itemsOf = ({ answers }: Route): TSchema | null => {
  const { data, items } = (answers[0].schema?.['properties'] ?? {}) as Record<string, TSchema>
  const list = data ?? items
  return list?.['type'] === 'array' ? (list['items'] as TSchema) : null
}

/** Noun and verb of an operation. */
const derivedName = (route: Route): readonly [noun: string, verb: string] => {
  const { method, path } = route
  const segments = path.replace(PREFIX, '').split('/').slice(1)
  const endsInParameter = segments.at(-1)?.startsWith('{') ?? false
  const isAction = method === 'POST' && segments.length > 1 && !endsInParameter
  const nouns = (isAction ? segments.slice(0, -1) : segments).filter((segment) => !segment.startsWith('{'))
  const noun = nouns.slice(-2).map(singular).join('-')
  if (isAction) return [noun, segments.at(-1) ?? '']
  if (method !== 'GET') return [noun, VERBS[method]]
  return [noun, endsInParameter || itemsOf(route) === null ? 'show' : 'list']
}

const overrideOf = ({ command }: Route): CommandOverride => (command === false ? {} : command)

const commandName = (route: Route): readonly [noun: string, verb: string] => {
  const [noun, verb] = overrideOf(route).name?.split(' ') ?? []
  return noun === undefined || verb === undefined ? derivedName(route) : [noun, verb]
}

/** Whether a command can run the operation: it answers JSON, and needs no browser. */
const isRunnable = ({ access, command, streams, rawBody, answers }: Route): boolean =>
  command !== false &&
  !streams &&
  rawBody.length === 0 &&
  answers[0].contentType === undefined &&
  access.kind !== 'public' &&
  access.kind !== 'second-factor' &&
  access.kind !== 'person' &&
  !('person' in access && access.person === true)

const isOfOrganization = ({ path }: Route): boolean => path.startsWith('/organizations/{organization}/')

/** The same command's operation of an organization, and of the deployment. */
interface Pair {
  readonly own: Route | undefined
  readonly deployment: Route | undefined
}

export const keyOf = ({ method, path }: Route): OperationKey => `${method} ${path}` as OperationKey

const readList = async (admin: AdminClient, route: Route, params: object) => {
  return readPages((query) => {
    const isPaged = route.query?.properties['cursor'] !== undefined
    return admin.call(keyOf(route), { params, ...(isPaged && { query }) } as never) as Promise<never>
  }) as Promise<readonly Record<string, unknown>[]>
}

/** Addresses are equal if their bytes are. */
const isSame = (member: unknown, given: string): boolean => {
  if (typeof member === 'number') return String(member) === given
  if (typeof member !== 'string') return false
  const address = parseAnyAddress(given)
  return member === given || (address !== null && parseAnyAddress(member) === address)
}

/** @throws CommandFailedError if nothing, or more than one, is found. Does not repeat what was given: it may be a key. */
const look = async (
  routes: readonly Route[],
  admin: AdminClient,
  organization: string | null,
  params: object,
  lookup: Lookup,
  field: Field,
  given: string,
) => {
  const list = routes.find(({ operationId }) => operationId === lookup.in)
  if (list === undefined) throw new Error(`${lookup.in} is not declared`)
  const [id] = lookup.by
  const searched =
    lookup.everywhere && organization === null
      ? (await readPages((query) => admin.call('GET /organizations', { query }))).map((each) => each.id)
      : [organization]
  const found = []
  for (const each of searched) {
    const items = await readList(admin, list, { ...params, organization: each ?? '' })
    found.push(
      ...items
        .filter((item) => lookup.by.some((member) => isSame(item[member], given)))
        .map((item) => ({ id: String(item[id]), organization: each })),
    )
  }
  const [first, second] = found
  const what = field.path.replace(/_id$/, '').replaceAll('_', ' ')
  if (first === undefined) throw new CommandFailedError(`there is no such ${what}`)
  if (second === undefined) return first
  throw new CommandFailedError(`${found.length} match: give the id of one, ${found.map((one) => one.id).join(', ')}`)
}

const LIMIT = (limit: number | undefined): Option =>
  text('limit', 'N', `At most this many. Defaults to ${limit ?? 'all'}`)
const QUIET = flag('quiet', 'Print ids only', 'q')

const isIrreversible = (route: Route): boolean => route.method === 'DELETE' || overrideOf(route).irreversible === true

/** Runs what a list with pages reads, up to the limit. */
const readAll = async (call: (page: object) => Promise<unknown>, limit: number) => {
  let last: { readonly next_cursor: string | null } = { next_cursor: null }
  const data = await readPages(async (page) => {
    const answer = (await call(page)) as { readonly data: readonly unknown[]; readonly next_cursor: string | null }
    last = answer
    return answer
  }, limit)
  return { ...last, data }
}

const derive = (routes: readonly Route[], { own, deployment }: Pair): Command => {
  const main = own ?? (deployment as Route)
  const override = { ...overrideOf(main) }
  const [noun, verb] = commandName(main)
  const ownFields = fieldsOf(main, override.fields ?? {})
  const others = deployment === undefined ? [] : fieldsOf(deployment, override.fields ?? {})
  const fields = [...ownFields, ...others.filter(({ path }) => !ownFields.some((field) => field.path === path))]
  const isPair = own !== undefined && deployment !== undefined
  const deploymentFlag = overrideOf(deployment ?? main).deploymentFlag ?? 'deployment'
  const isPaged = main.query?.properties['cursor'] !== undefined
  const items = itemsOf(main)
  const hasIds = items?.['properties']?.['id'] !== undefined
  const looks = fields.flatMap((field) =>
    field.override.find === undefined ? [] : [{ ...field.override.find, field }],
  )

  /** @throws UsageError */
  const chooseRoute = ({ command }: CommandContext): Route => {
    if (!isPair) return main
    const org = command.text('org')
    if (!command.flag(deploymentFlag)) return override.wholeDeployment && org === undefined ? deployment : own
    if (org !== undefined) throw new UsageError(`--${deploymentFlag} excludes --org`)
    return deployment
  }

  const run = async (context: CommandContext): Promise<number> => {
    const { command, clock, user } = context
    const input = readFields(fields, command, clock.unixSeconds())
    const flags = Object.fromEntries(fields.map((field) => [field.path, shownName(field)]))
    const route = chooseRoute(context)
    try {
      if (route.body !== null) checkValue(route.body, input.body)
    } catch (error) {
      throw asUsage(error, flags)
    }
    const { admin: opened } = await context.open()
    const admin = override.author === undefined ? opened : opened.as(nameOf(command, override.author, user))
    const org = command.text('org')
    const isEverywhere = looks.some(({ everywhere }) => everywhere) && org === undefined
    let organization = isOfOrganization(route) && !isEverywhere ? await requireOrganization({ admin }, org) : null
    for (const { field, ...lookup } of looks) {
      const given = input[field.part][field.path]
      if (typeof given !== 'string') continue
      const found = await look(routes, admin, organization, input.params, lookup, field, given)
      setMember(input[field.part], field.path, found.id)
      organization = found.organization
    }
    const subject = command.words.join(' ')
    if (isIrreversible(main) && !(await context.confirm(`${verb} ${noun} ${subject}: this cannot be undone.`))) return 1
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
    printAnswer(context, answer, {
      schema: main.answers[0].schema,
      items,
      override,
      done: `${verb} ${noun} ${subject}`,
    })
    return override.fails?.(answer as never) ? 1 : 0
  }

  return {
    noun,
    verb,
    ...(override.aliases && { aliases: override.aliases }),
    ...(isIrreversible(main) && { asks: true as const }),
    summary: main.summary,
    description: main.description,
    words: fields.filter(({ isWord }) => isWord).map(wordOf),
    options: [
      ...fields.filter(({ isWord }) => !isWord).map(optionOf),
      ...(isPaged ? [LIMIT(override.limit)] : []),
      ...(hasIds ? [QUIET] : []),
      ...(override.author === undefined
        ? []
        : [text(override.author, 'NAME', 'Author. Defaults to the user that runs the command')]),
      ...(own === undefined || !isOfOrganization(own) ? [] : [ORG]),
      ...(isPair && !override.wholeDeployment
        ? [flag(deploymentFlag, 'Of the deployment instead of an organization')]
        : []),
    ],
    run,
  }
}

const asUsage = (error: unknown, flags: Readonly<Record<string, string>>): unknown => {
  if (error instanceof FieldMissingError) return new UsageError(`${flags[error.field] ?? error.field} is required`)
  if (error instanceof FieldInvalidError) return new UsageError(`${flags[error.field] ?? error.field} ${error.rule}`)
  return error
}

/** The commands of all operations that a command can run, by noun and verb. */
export const deriveCommands = (routes: readonly Route[]): readonly Command[] => {
  const pairs = new Map<string, Pair>()
  for (const route of routes.filter(isRunnable)) {
    const name = commandName(route).join(' ')
    const known = pairs.get(name) ?? { own: undefined, deployment: undefined }
    const part = isOfOrganization(route) ? 'own' : 'deployment'
    if (known[part] !== undefined) throw new Error(`two operations are the command ${name}`)
    pairs.set(name, { ...known, [part]: route })
  }
  return [...pairs.values()].map((pair) => derive(routes, pair))
}
