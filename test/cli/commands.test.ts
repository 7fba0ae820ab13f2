// Every command in the table prints help, rejects invalid arguments before it opens anything, passes its arguments to its
// operation, and prints the response. The tests of the admin API test the operations.
import { describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { declareRoutes, type Route, VIEWER } from '../../src/admin/route.ts'
import { type TSchema, Type } from '../../src/admin/schema.ts'
import { COMMANDS, commandsOf, NOUNS } from '../../src/cli/commands.ts'
import { deriveCommands } from '../../src/cli/derived/derive.ts'
import { choicesOf, type Field, fieldsOf } from '../../src/cli/derived/fields.ts'
import { usageLine } from '../../src/cli/help.ts'
import { runCommand } from '../../src/cli/run-command.ts'
import type { AdminClient, Opened } from '../../src/command-line/admin-client.ts'
import { type Command, optionsOf } from '../../src/command-line/command.ts'
import { CommandFailedError } from '../../src/command-line/output.ts'
import { loadCommands } from '../../src/module-interface/commands.ts'
import { MODULES } from '../../src/modules.ts'
import { COMMAND_ROUTES } from '../admin/support/all-routes.ts'
import { createManualClock } from '../store/temporary-store.ts'
import { newFolder } from '../support/folder.ts'
import { recordOutput } from './recorded-output.ts'
import { deploymentAt } from './run-words.ts'

const never = (): never => {
  throw new Error('not reached')
}

const clock = createManualClock()
const place = (open: () => Promise<Opened> = never) => ({
  open,
  clock,
  deployment: deploymentAt('/nowhere', clock),
  user: 'anna',
  openRemote: never,
  url: null,
  ask: null as ((question: string) => Promise<boolean>) | null,
})

const run = async (
  commands: readonly Command[],
  words: readonly string[],
  { open, ...changes }: Partial<ReturnType<typeof place>> = {},
) => {
  const { output, printed } = recordOutput()
  const code = await runCommand(commands, words, { ...place(open), ...changes, output })
  return { code, ...printed }
}

/** The shortest valid call: a value for each required argument and option. */
const shortest = ({ verb, words = [], options = [] }: Command): string[] => [
  verb,
  ...words.filter(({ optional }) => !optional).map(() => 'x'),
  ...options.filter(({ required }) => required).flatMap(({ name }) => [`--${name}`, 'x']),
]

/** The shortest call that makes a change. */
const changing = (command: Command): string[] => [
  ...shortest(command),
  ...(command.noun === 'evidence-retention' ? ['--completed', '30'] : []),
]

test('the recorded names, options and confirmations of commands, on which scripts depend, are unchanged', () => {
  const names = COMMANDS.map((command) => {
    const options = (command.options ?? []).filter(({ required }) => !required).map(({ name }) => `--${name}`)
    return [usageLine(command), ...options, ...(command.asks ? ['(confirmed)'] : [])].join(' ')
  })
  expect(new Set(COMMANDS.map(({ noun, verb }) => `${noun} ${verb}`)).size).toBe(COMMANDS.length)
  expect(`\n${names.join('\n')}\n`).toMatchSnapshot()
})

test('a POST to the path of a list creates an item, and any other POST below a resource acts on the resource', () => {
  const route = declareRoutes('Projects')
  const note = Type.Object({ id: Type.String() })
  const declaration = { access: VIEWER, summary: 'x', handle: async () => ({ id: 'x', data: [] }) }
  const path = '/organizations/{organization}/projects/{project}/notes'
  const routes = [
    route('listNotes', 'GET', path, { ...declaration, answer: Type.Object({ data: Type.Array(note) }) }),
    route('createNote', 'POST', path, { ...declaration, answer: note }),
    route('try', 'POST', '/organizations/{organization}/projects/{project}/try', { ...declaration, answer: note }),
  ] as readonly Route[]
  const names = deriveCommands(routes, routes).map(({ noun, verb }) => `${noun} ${verb}`)
  expect(names).toEqual(['project-note list', 'project-note create', 'project try'])
})

test('a command that cannot be undone requires a confirmation at a terminal before the change', async () => {
  const asking = COMMANDS.filter(({ asks }) => asks)
  expect(asking.length).toBeGreaterThan(10)
  for (const command of asking) {
    const questions: string[] = []
    const ask = async (question: string) => questions.push(question) === 0
    const found = { id: 'x', name: 'x', label: 'x', slug: 'x', address: 'x' }
    const { sent, open } = recording('', () => ({ data: [found], next_cursor: null }))
    expect(await run([command], changing(command), { open, ask })).toEqual({ code: 1, stdout: '', stderr: '' })
    expect(questions).toEqual([expect.stringMatching(/: this cannot be undone\.$/)])
    expect(sent.filter(({ operation }) => !operation.startsWith('GET '))).toEqual([])
  }
})

test('a confirmation is requested after the organization is found', async () => {
  const ofOrganizations = COMMANDS.filter(
    (command) => command.asks && optionsOf(command).some(({ name }) => name === 'org'),
  )
  expect(ofOrganizations.length).toBeGreaterThan(5)
  for (const command of ofOrganizations) {
    const questions: string[] = []
    const ask = async (question: string) => questions.push(question) > 0
    const unknown = new CommandFailedError('unknown organization nowhere')
    const { sent, open } = recording('GET /organizations/{organization}', () => {
      throw unknown
    })
    const result = await run([command], [...changing(command), '--org', 'nowhere'], { open, ask })
    expect(result).toEqual({ code: 1, stdout: '', stderr: 'unknown organization nowhere\n' })
    expect({ questions, sent: sent.length }).toEqual({ questions: [], sent: 1 })
  }
})

test('a command of a disabled module is refused before it opens anything', async () => {
  const all = MODULES.map(({ name }) => name).join(',')
  const deployment = deploymentAt('/nowhere', clock, { COUNTERSIGN_WITHOUT: all })
  for (const { name, commands: ofModule = {} } of MODULES) {
    for (const noun of Object.keys(ofModule)) {
      const commands = await loadCommands(MODULES, noun)
      for (const command of commands) {
        const stderr = expect.stringMatching(/^the module [a-z-]+ is disabled: to enable it, .*\n$/)
        expect(await run([command], shortest(command), { deployment })).toMatchObject({ code: 1, stderr })
      }
      expect(`${name} ${noun}: ${commands.length > 0}`).toBe(`${name} ${noun}: true`)
    }
  }
})

describe.each(NOUNS)('%s', (noun) => {
  const commands = commandsOf(noun)

  test('prints its verbs as help, even without a verb', async () => {
    const help = await run(commands, ['--help'])
    for (const { verb } of commands) expect(help.stdout).toMatch(new RegExp(`^  ${verb} `, 'm'))
    expect(await run(commands, [])).toEqual({ code: 2, stdout: '', stderr: help.stdout })
    for (const command of commands) {
      const { code, stdout, stderr } = await run(commands, [command.verb, '--help'])
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
      expect(stdout).toStartWith(`Usage: bun run countersign ${noun} ${command.verb}`)
      for (const option of optionsOf(command)) expect(stdout).toContain(option.name)
    }
  })

  test('rejects an unknown verb, option or extra argument before it opens anything, and does not repeat the argument', async () => {
    for (const word of ['toString', '__proto__', 'constructor', '']) expect((await run(commands, [word])).code).toBe(2)
    for (const command of commands) {
      const few = shortest(command)
      const wrong = [
        [...few, '--canary'],
        ...((command.words ?? []).at(-1)?.many ? [] : [[...few, 'canary']]),
        ...(few.length > 1 ? [[command.verb, '--json']] : []),
      ]
      for (const words of wrong) {
        const { code, stdout, stderr } = await run(commands, words)
        expect({ words, code, stdout }).toEqual({ words, code: 2, stdout: '' })
        expect(stderr.replaceAll('--canary', '')).not.toContain('canary')
      }
    }
  })
})

/** A value of a field with its text on the command line. */
const sampleOf = (field: Field, file: string): readonly [text: string, value: unknown] => {
  const { schema, path, override } = field
  const [choice] = choicesOf(schema)
  if (override.file !== undefined) {
    return [file, override.file === 'text' ? 'of a file' : Buffer.from('of a file\n').toString('base64')]
  }
  if (override.find !== undefined) return override.find.by.length === 1 ? ['found', 'found'] : ['shown', 'found']
  if (choice !== undefined) return [choice, choice]
  const minimum = (schema['minimum'] as number | undefined) ?? 1
  if (path.endsWith('_seconds')) return [`${minimum}s`, minimum]
  if (schema['type'] === 'integer') return [String(minimum), minimum]
  if (schema['type'] === 'array') {
    if ((schema['items'] as TSchema)['type'] === 'string') return ['one,two', ['one', 'two']]
    return ['[]', []]
  }
  if (schema['type'] === 'string') {
    const time = '2026-02-01T00:00:00Z'
    if (path.endsWith('_at') || path.endsWith('.time') || /(?:^|_)(?:since|until|before)$/.test(path))
      return [time, time]
    const pattern = schema['pattern'] as string | undefined
    const text = ['#aabbcc', 'ada@example.org', 'text', 'x-0123456789abcdef', '0xabcdef'].find((each) =>
      new RegExp(pattern ?? '', 'u').test(each),
    )
    const value = (text ?? '').padEnd((schema['minLength'] as number | undefined) ?? 0, 'x')
    return [value, value]
  }
  return ['{}', {}]
}

interface Sent {
  readonly operation: string
  readonly input: { readonly params: object; readonly query: object; readonly body?: object }
}

/** A client that records the operations other than the lookup of the organization. @param main is always recorded */
const recording = (main: string, responseOf: (operation: string) => unknown) => {
  const sent: Sent[] = []
  const admin: AdminClient = {
    call: async (operation, input) => {
      if (operation !== main && operation === 'GET /organizations/{organization}') return { id: 'org' } as never
      if (operation !== main && operation === 'GET /organizations') {
        return { data: [{ id: 'org' }], next_cursor: null } as never
      }
      sent.push({ operation, input: input as unknown as Sent['input'] })
      return responseOf(operation) as never
    },
    together: never,
    as: () => admin,
  }
  const open = async (): Promise<Opened> => ({ admin, store: null as never, close: async () => undefined })
  return { sent, open }
}

const nested = (members: ReadonlyArray<readonly [string, unknown]>): Record<string, unknown> => {
  const result: Record<string, Record<string, unknown> | unknown> = {}
  for (const [path, value] of members) {
    const [first = '', second] = path.split('.')
    if (second === undefined) result[first] = value
    else result[first] = { ...(result[first] as object | undefined), [second]: value }
  }
  return result
}

describe('a derived command sends its arguments and prints the response:', () => {
  const file = join(newFolder(), 'file')
  writeFileSync(file, 'of a file\n')
  const routes = COMMAND_ROUTES as readonly Route[]
  for (const route of routes) {
    const [derived] = deriveCommands([route], routes)
    if (derived === undefined) continue
    const listed = COMMANDS.find(({ noun, verb }) => noun === derived.noun && verb === derived.verb)
    if (listed === undefined) continue

    test(`${derived.noun} ${derived.verb}`, async () => {
      const overrides = route.command === false ? {} : (route.command.fields ?? {})
      const fields = fieldsOf(route, overrides).filter(({ schema }) => schema['type'] !== 'null')
      const samples = fields.map((field) => {
        const [text, value] = field.schema['type'] === 'boolean' ? ['', true] : sampleOf(field, file)
        return { field, text, value }
      })
      const words = samples.flatMap(({ field: { isWord, name, schema }, text }) =>
        isWord ? [text] : schema['type'] === 'boolean' ? [`--${name}`] : [`--${name}`, text],
      )
      const partOf = (part: Field['part']) =>
        nested(samples.filter(({ field }) => field.part === part).map(({ field, value }) => [field.path, value]))
      const isOfDeployment = !route.path.startsWith('/organizations/{organization}/')
      const names = optionsOf(listed).map(({ name }) => name)
      const flags = !isOfDeployment
        ? ['--org', 'demo']
        : names.filter((name) => name === 'deployment' || name === 'shared').map((name) => `--${name}`)
      const record = { id: 'found', name: 'found', marked: 'printed' }
      const known = fields.flatMap(
        ({ override: { find } }) => find?.by.map((member) => [member, 'shown'] as const) ?? [],
      )
      const found = { ...record, ...Object.fromEntries(known), id: 'found' }
      const key = `${route.method} ${route.path}`
      const isList = ['data', 'items'].find(
        (name) => route.answers[0].schema?.['properties']?.[name]?.['type'] === 'array',
      )
      const answer = isList === undefined ? { ...found } : { [isList]: [found], next_cursor: null }
      const { sent, open } = recording(key, (operation) =>
        operation === key ? answer : { data: [found], next_cursor: null },
      )

      const json = await run(
        [listed],
        [listed.verb, ...words, ...flags, '--yes', '--json'].filter((word) => word !== '--yes' || listed.asks),
        { open },
      )
      expect({ code: json.code, stderr: json.stderr }).toEqual({ code: json.code === 1 ? 1 : 0, stderr: '' })
      expect(JSON.parse(json.stdout)).toEqual(answer)
      const { operation, input } = sent.at(-1) as Sent
      expect(operation).toBe(key)
      const organization = isOfDeployment ? {} : { organization: 'org' }
      expect(input.params).toEqual({ ...organization, ...partOf('params') })
      expect(input.query).toMatchObject(partOf('query'))
      if (route.body !== null) expect(input.body).toEqual(partOf('body'))

      const text = await run([listed], [listed.verb, ...words, ...flags], { open })
      expect(text.stdout + text.stderr).not.toBe('')
      // A wider table does not fit in a terminal. To select columns, declare them in the schema.
      if (isList !== undefined) expect(text.stdout.split('\n')[0]?.split(/ {2,}/).length).toBeLessThan(10)
    })
  }
})
