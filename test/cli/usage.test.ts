// A wrong call is told its reason, how it is written and where the help is: not the whole help.
import { expect, test } from 'bun:test'
import { requireOrganization } from '../../src/command-line/in-organization.ts'
import { parseCommand, print, usageOf } from '../../src/command-line/output.ts'
import { openTemporaryStore } from '../store/temporary-store.ts'
import { openOver } from './admin-client-over.ts'

const HELP = `Usage: countersign thing add NAME --to PLACE
                             [--now]
       countersign thing list

Makes things.
`

test('the form of the verb that was named is shown, with its second line', () => {
  const add = `Usage: countersign thing add NAME --to PLACE
                             [--now]
To list the options: countersign thing --help
`
  expect(usageOf(HELP, ['add', 'x'])).toBe(add)
  expect(usageOf(HELP, ['--to', 'here', 'add'])).toBe(add)
})

test('every form is shown where no verb was named', () => {
  for (const words of [[], ['toString'], ['countersign']]) {
    expect(usageOf(HELP, words)).toBe(`${HELP.split('\n\n')[0]}\nTo list the options: countersign thing --help\n`)
  }
  expect(usageOf('Usage: bun run countersign one --to FOLDER\n\nText\n', ['--to'])).toBe(
    'Usage: bun run countersign one --to FOLDER\nTo list the options: bun run countersign one --help\n',
  )
})

test.each([
  [['--nope'], 'unknown option --nope'],
  [['--nope=secret'], 'unknown option --nope'],
  [['-x'], 'unknown option -x'],
  [['--to'], '--to requires a value; if the value starts with a hyphen, use --to=VALUE'],
  [['--to', '--now'], '--to requires a value; if the value starts with a hyphen, use --to=VALUE'],
  [['-t'], '--to requires a value; if the value starts with a hyphen, use --to=VALUE'],
  [['--now=1'], '--now does not accept a value'],
])('%j is refused in a sentence', (words, sentence) => {
  const options = { to: { type: 'string', short: 't' }, now: { type: 'boolean' } } as const
  expect(() => parseCommand(words, options)).toThrow(sentence)
})

test('without the demo organization, the refusal says which option names another', async () => {
  const temporary = await openTemporaryStore()
  const opened = await openOver(temporary)()
  await expect(requireOrganization(opened, undefined)).rejects.toThrow('specify one with --org')
  await expect(requireOrganization(opened, 'acme')).rejects.toThrow('unknown organization acme')
  const { id } = await temporary.store.organizations.create({ slug: 'acme', name: 'Acme' })
  expect(await requireOrganization(opened, 'acme')).toBe(id)
  await temporary.remove()
})

test('printed text keeps its lines and contains no control characters of a remote deployment', () => {
  const printed: string[] = []
  const output = { stdout: (text: string) => void printed.push(text), stderr: () => undefined }
  print({ output, command: { flag: () => false } }, {}, 'Used by \u001b]0;owned\u0007shop\nand \u202eothers\n')
  print({ output, command: { flag: () => false } }, {}, [['NAME'], ['\u001b[2J']])
  // A document with tabs and CRLF can be written to a file.
  print({ output, command: { flag: () => false } }, {}, 'name: a\r\n\tb\rc\r\n')
  expect(printed).toEqual(['Used by ?]0;owned?shop\nand ?others\n', 'NAME\n?[2J\n', 'name: a\r\n\tb?c\r\n'])
})
