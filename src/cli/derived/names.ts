// Selects and names the operations that are commands.
import type { CommandOverride } from '../../admin/command-override.ts'
import type { Route } from '../../admin/route.ts'
import type { TSchema } from '../../admin/schema.ts'

/** `policies` → `policy`. */
const singular = (word: string): string =>
  word.endsWith('ies') ? `${word.slice(0, -3)}y` : word.endsWith('s') ? word.slice(0, -1) : word

const PREFIX = /^\/organizations\/\{organization\}(?=\/)|^\/deployment(?=\/)/
const VERBS = { POST: 'create', PATCH: 'update', PUT: 'update', DELETE: 'delete' } as const

export const itemsOf = ({ answers }: Route): TSchema | null => {
  const { data, items } = (answers[0].schema?.['properties'] ?? {}) as Record<string, TSchema>
  const list = data ?? items
  return list?.['type'] === 'array' ? (list['items'] as TSchema) : null
}

const derivedName = (route: Route, all: readonly Route[]): readonly [noun: string, verb: string] => {
  const { method, path } = route
  const segments = path.replace(PREFIX, '').split('/').slice(1)
  const endsInParameter = segments.at(-1)?.startsWith('{') ?? false
  const isListed = all.some((other) => other.method === 'GET' && other.path === path && itemsOf(other) !== null)
  const isAction = method === 'POST' && segments.length > 1 && !endsInParameter && !isListed
  const nouns = (isAction ? segments.slice(0, -1) : segments).filter((segment) => !segment.startsWith('{'))
  const noun = nouns.slice(-2).map(singular).join('-')
  if (isAction) return [noun, segments.at(-1) ?? '']
  if (method !== 'GET') return [noun, VERBS[method]]
  return [noun, endsInParameter || itemsOf(route) === null ? 'show' : 'list']
}

export const overrideOf = ({ command }: Route): CommandOverride => (command === false ? {} : command)

/** @param all operations; a POST to the path of a list creates an item instead of acting on the parent */
export const commandName = (route: Route, all: readonly Route[]): readonly [noun: string, verb: string] => {
  const [noun, verb] = overrideOf(route).name?.split(' ') ?? []
  return noun === undefined || verb === undefined ? derivedName(route, all) : [noun, verb]
}

/** A command can run operations that return JSON and need no browser. */
export const isRunnable = ({ access, command, streams, rawBody, answers }: Route): boolean =>
  command !== false &&
  !streams &&
  rawBody.length === 0 &&
  answers[0].contentType === undefined &&
  access.kind !== 'public' &&
  access.kind !== 'second-factor' &&
  access.kind !== 'person' &&
  !('person' in access && access.person === true)

export const isOfOrganization = ({ path }: Route): boolean => path.startsWith('/organizations/{organization}/')
