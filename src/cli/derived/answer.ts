// Prints the answer of an operation: the API's JSON with --json, and otherwise records as a table or as lines of name and value.
import type { CommandOverride } from '../../admin/command-override.ts'
import type { TSchema } from '../../admin/schema.ts'
import { durationText } from '../../lib/duration-text.ts'
import { isObject } from '../../lib/is-object.ts'
import type { CommandContext } from '../command.ts'
import { printable } from '../key-options.ts'
import { formatTable, shortTime } from '../output.ts'

type Row = Readonly<Record<string, unknown>>

const TIME = /^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/

const cellText = (name: string, value: unknown): string => {
  if (value === null || value === undefined || value === '') return '-'
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (typeof value === 'number') return name.endsWith('_seconds') ? durationText(value) : String(value)
  if (typeof value === 'string') return printable(TIME.test(value) ? shortTime(value) : value)
  if (Array.isArray(value)) {
    return value.length === 0 ? 'none' : value.map((each) => cellText('', each)).join(', ')
  }
  return Object.entries(value)
    .map(([member, each]) => `${heading(member).toLowerCase()} ${cellText(member, each)}`)
    .join(', ')
}

/** `lifetime_seconds` → `LIFETIME`: the value names the unit. */
const heading = (name: string): string =>
  name
    .replace(/_(?:seconds|at)$/, '')
    .replaceAll('_', ' ')
    .toUpperCase()

const isScalar = (schema: TSchema): boolean => {
  const options = (schema['anyOf'] ?? [schema]) as readonly TSchema[]
  return options.every(({ type, const: value }) => value !== undefined || (type !== 'object' && type !== 'array'))
}

const columnsOf = (schema: TSchema | null, rows: readonly Row[]): readonly string[] => {
  if (Array.isArray(schema?.['columns'])) return schema['columns'] as string[]
  const properties = (schema?.['properties'] ?? {}) as Record<string, TSchema>
  const declared = Object.keys(properties).filter((name) => isScalar(properties[name] as TSchema))
  return declared.length > 0 ? declared : Object.keys(rows[0] ?? {})
}

const table = (schema: TSchema | null, rows: readonly Row[]): string => {
  const columns = columnsOf(schema, rows)
  return formatTable([columns.map(heading), ...rows.map((row) => columns.map((name) => cellText(name, row[name])))])
}

const isRows = (value: unknown): value is readonly Row[] =>
  Array.isArray(value) && value.length > 0 && value.every(isObject)

/** Lines of name and value, then a table of each member that is a list of records. */
const record = (value: Row, schema: TSchema | null): string => {
  const members = Object.entries(value)
  const lists = members.filter(([, member]) => isRows(member))
  const lines = members
    .filter(([, member]) => !isRows(member))
    .map(([name, member]) => [heading(name), cellText(name, member)])
  const itemsOf = (name: string): TSchema | null =>
    ((schema?.['properties'] as Record<string, TSchema> | undefined)?.[name]?.['items'] as TSchema | undefined) ?? null
  return [
    ...(lines.length > 0 ? [formatTable(lines)] : []),
    ...lists.map(([name, rows]) => `${heading(name)}\n${table(itemsOf(name), rows as readonly Row[])}`),
  ].join('\n')
}

export interface AnswerShape {
  readonly schema: TSchema | null
  /** The schema of a list's items; null: the answer is no list. */
  readonly items: TSchema | null
  readonly override: CommandOverride
  /** Printed if the answer has no body. */
  readonly done: string
}

const printSecret = ({ output }: CommandContext, answer: Row, secret: string): void => {
  const { [secret]: shown, ...rest } = answer
  output.stdout(`${String(shown ?? '')}\n`)
  const [only, ...others] = Object.values(rest)
  output.stderr(others.length === 0 && isObject(only) ? record(only, null) : record(rest, null))
  output.stderr(`The ${secret} is not stored and not shown again.\n`)
}

const rowsOf = (answer: Row): readonly Row[] => (answer['data'] ?? answer['items']) as readonly Row[]

export const printAnswer = (context: CommandContext, answer: unknown, shape: AnswerShape): void => {
  const { output, command } = context
  const { schema, items, override, done } = shape
  const isEmpty = !isObject(answer)
  if (command.flag('json')) output.stdout(`${JSON.stringify(answer ?? {})}\n`)
  else if (isEmpty) output.stdout(`${done}: done\n`)
  else if (items !== null && command.flag('quiet'))
    output.stdout(
      rowsOf(answer)
        .map(({ id }) => `${String(id)}\n`)
        .join(''),
    )
  else if (override.secret !== undefined) printSecret(context, answer, override.secret)
  else output.stdout(items === null ? record(answer, schema) : table(items, rowsOf(answer)))
  if (isEmpty || command.flag('json') || override.warn === undefined) return
  for (const row of items === null ? [answer] : rowsOf(answer)) {
    const warning = override.warn(row)
    if (warning !== null) output.stderr(`${warning}\n`)
  }
}
