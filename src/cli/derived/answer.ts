// Prints an operation's response: JSON with --json, otherwise tables or lines of name and value.
import type { CommandOverride } from '../../admin/command-override.ts'
import type { TSchema } from '../../admin/schema.ts'
import type { CommandContext } from '../../command-line/command.ts'
import { formatTable, printable, printableLines, shortTime } from '../../command-line/output.ts'
import { isObject } from '../../lib/is-object.ts'
import { durationText } from '../../lib/time.ts'

type Row = Readonly<Record<string, unknown>>

/** Maximum number of members of a record that is printed inline; larger records get their own block. */
const BLOCK_MIN = 3

const TIME = /^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/

const cellText = (name: string, value: unknown): string => {
  if (value === null || value === undefined || value === '') return '-'
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (typeof value === 'number') return name.endsWith('_seconds') ? durationText(value) : String(value)
  if (typeof value === 'string') return printable(TIME.test(value) ? shortTime(value) : value)
  if (Array.isArray(value)) {
    return value.length === 0 ? 'none' : value.map((each) => cellText('', each)).join(', ')
  }
  const members = Object.entries(value)
  if (members.length === 0) return '-'
  return members.map(([member, each]) => `${heading(member).toLowerCase()} ${cellText(member, each)}`).join(', ')
}

/** Returns the column heading without the unit, which the value contains: `lifetime_seconds` → `LIFETIME`. */
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
  if (columns.length === 0) return 'none\n'
  return formatTable([columns.map(heading), ...rows.map((row) => columns.map((name) => cellText(name, row[name])))])
}

const isRows = (value: unknown): value is readonly Row[] =>
  Array.isArray(value) && value.length > 0 && value.every(isObject)

const isText = (value: unknown): value is string => typeof value === 'string' && value.trimEnd().includes('\n')

const isBlock = (value: unknown): value is Row => isObject(value) && Object.keys(value).length > BLOCK_MIN

/** Returns the lines of name and value, then large records, lists of records, and texts of several lines. */
const record = (value: Row, schema: TSchema | null): string => {
  const members = Object.entries(value)
  const properties = (schema?.['properties'] ?? {}) as Record<string, TSchema>
  const lines = members.filter(([, member]) => !isRows(member) && !isBlock(member) && !isText(member))
  const parts = members.flatMap(([name, member]) => {
    if (isRows(member)) return [`${heading(name)}\n${table((properties[name]?.['items'] as TSchema) ?? null, member)}`]
    if (isText(member)) return [`${heading(name)}\n${printableLines(member.trimEnd())}\n`]
    return isBlock(member) ? [`${heading(name)}\n${record(member, properties[name] ?? null)}`] : []
  })
  const shown = formatTable(lines.map(([name, member]) => [heading(name), cellText(name, member)]))
  return [...(lines.length > 0 ? [shown] : []), ...parts].join('\n')
}

interface AnswerShape {
  readonly schema: TSchema | null
  /** Schema of a list's items; null if the response isn't a list. */
  readonly items: TSchema | null
  readonly override: CommandOverride
  /** Printed for a response without a body. */
  readonly done: string
}

/** Shape for operations that declare no order of members. */
export const UNDECLARED: AnswerShape = { schema: null, items: null, override: {}, done: '' }

const printSecret = ({ output }: CommandContext, answer: Row, secret: string): void => {
  const { [secret]: shown, ...rest } = answer
  output.stdout(`${printable(String(shown ?? ''))}\n`)
  const [only, ...others] = Object.values(rest)
  output.stderr(others.length === 0 && isObject(only) ? record(only, null) : record(rest, null))
  output.stderr(`The ${secret} is shown only once.\n`)
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
        .map(({ id }) => `${printable(String(id))}\n`)
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
