// The message about an invalid call: its reason, the usage of the verb, and a command that prints the help.
import { expect, test } from 'bun:test'
import { requireOrganization } from '../../src/command-line/in-organization.ts'
import { parseCommand, print, usageOf } from '../../src/command-line/output.ts'
import { storeOfTest } from '../store/store-of-test.ts'
import { openTemporaryStore } from '../store/temporary-store.ts'
import { openOver } from './admin-client-over.ts'

const HELP = `Usage: countersign thing add NAME --to PLACE
                             [--now]
       countersign thing list

Makes things.
`
const ADD = 'Usage: countersign thing add NAME --to PLACE\n                             [--now]'
const ALL = HELP.split('\n\n')[0]

test.each([
  [['add', 'x'], ADD],
  [['--to', 'here', 'add'], ADD],
  [[], ALL],
  [['toString'], ALL],
  [['countersign'], ALL],
])('the usage of the named verb, or of all verbs, is printed for %j', (words, usage) => {
  expect(usageOf(HELP, words)).toBe(`${usage}\nTo list the options: countersign thing --help\n`)
})

test('the usage of a command without verbs is printed', () => {
  const usage = 'Usage: bun run countersign one --to FOLDER\n'
  const expected = `${usage}To list the options: bun run countersign one --help\n`
  expect(usageOf(`${usage}\nText\n`, ['--to'])).toBe(expected)
})

const VALUE_MISSING = '--to requires a value; if the value starts with a hyphen, use --to=VALUE'
test.each([
  [['--nope'], 'unknown option --nope'],
  [['--nope=secret'], 'unknown option --nope'],
  [['-x'], 'unknown option -x'],
  [['--to'], VALUE_MISSING],
  [['--to', '--now'], VALUE_MISSING],
  [['-t'], VALUE_MISSING],
  [['--now=1'], '--now does not accept a value'],
])('%j is refused: %s', (words, message) => {
  const options = { to: { type: 'string', short: 't' }, now: { type: 'boolean' } } as const
  expect(() => parseCommand(words, options)).toThrow(message)
})

const temporary = storeOfTest(openTemporaryStore)
test('without the demo organization, --org is required', async () => {
  const opened = await openOver(temporary)()
  await expect(requireOrganization(opened, undefined)).rejects.toThrow('specify one with --org')
  await expect(requireOrganization(opened, 'acme')).rejects.toThrow('unknown organization acme')
  const { id } = await temporary.store.organizations.create({ slug: 'acme', name: 'Acme' })
  expect(await requireOrganization(opened, 'acme')).toBe(id)
})

test('printed text keeps its lines, but no control characters from a remote deployment', () => {
  const printed: string[] = []
  const output = { stdout: (text: string) => void printed.push(text), stderr: () => undefined }
  for (const text of [
    'Used by \u001b]0;owned\u0007shop\nand \u202eothers\n',
    [['NAME'], ['\u001b[2J']],
    // A document with tabs and CRLF can be written to a file.
    'name: a\r\n\tb\rc\r\n',
  ]) {
    print({ output, command: { flag: () => false } }, {}, text)
  }
  expect(printed).toEqual(['Used by ?]0;owned?shop\nand ?others\n', 'NAME\n?[2J\n', 'name: a\r\n\tb?c\r\n'])
})
