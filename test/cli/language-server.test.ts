// The language server as an editor drives it: over standard input and output, on documents that are being written.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { succeed } from '../service/calls.ts'
import { startAlone } from '../service/start-service.ts'
import { type Editor, LANGUAGE_URI, startEditor } from './language-editor.ts'

const ROOT = join(import.meta.dir, '..', '..')
const TEMPLATE = readFileSync(join(ROOT, 'docs/policies/sanctions-and-geography.yaml'), 'utf8')

let editor: Editor
beforeAll(async () => {
  editor = await startEditor(['bun', join(ROOT, 'src/cli/countersign.ts'), 'policy', 'language-server'])
})
afterAll(async () => {
  expect(await editor.stop()).toBe(0)
})

/** The document with a text in the place of another; the cursor is at the bar. */
const typed = (from: string, to: string): { text: string; position: { line: number; character: number } } => {
  const withCursor = TEMPLATE.replace(from, () => to)
  const before = withCursor.slice(0, withCursor.indexOf('|¶')).split('\n')
  const position = { line: before.length - 1, character: before.at(-1)?.length ?? 0 }
  return { text: withCursor.replace('|¶', ''), position }
}

interface Item {
  readonly label: string
  readonly detail: string
  readonly documentation: { readonly value: string }
  readonly textEdit: { readonly range: { readonly start: { readonly character: number } } }
}
const complete = async (from: string, to: string): Promise<readonly Item[]> => {
  const { text, position } = typed(from, to)
  await editor.show(text)
  const { items } = await editor.ask('textDocument/completion', { textDocument: { uri: LANGUAGE_URI }, position })
  return items as readonly Item[]
}
const labels = (items: readonly Item[]): readonly string[] => items.map(({ label }) => label)

const LOCATED = 'require: client.located'

describe('completion', () => {
  test('offers facts with their types and words in the middle of a condition', async () => {
    const items = await complete(LOCATED, 'require: tx.value > 0 && client.lo|¶')
    const found = items.find(({ label }) => label === 'client.located')
    expect(found).toMatchObject({ detail: 'bool', textEdit: { range: { start: { character: 29 } } } })
    expect(found?.documentation.value).toContain('`bool`')
    expect(labels(items)).not.toContain('person.age')
  })

  test('offers functions, also on the lines of a block', async () => {
    const items = await complete(LOCATED, 'require: >-\n      client.located &&\n      in|¶')
    expect(items.find(({ label }) => label === 'in_list')?.detail).toBe('in_list(wallet.address, "name")')
  })

  test('offers the facts of sessions to a policy that decides them', async () => {
    const items = await complete('default: deny', 'decides: sessions\nrules:\n  - id: a\n    review: person.|¶')
    expect(labels(items)).toContain('person.age')
    expect(labels(items)).not.toContain('client.located')
  })

  test.each([
    ['lists', 'in_list(wallet.address, "san|¶")', ['sanctions']],
    ['constants', 'client.country in constants.|¶', ['not_served', 'regions_not_served', 'list_age']],
    ['what a screener says', 'screener("chain").|¶', ['flagged', 'score', 'categories']],
    ['velocity', 'velocity.|¶', ['count', 'value']],
  ])('offers %s', async (_, condition, expected) => {
    expect(labels(await complete(LOCATED, `require: ${condition}`))).toEqual(expected)
  })

  test('offers methods after a value', async () => {
    expect(labels(await complete(LOCATED, 'require: client.country.|¶'))).toContain('startsWith')
  })

  test('offers methods of times with their meaning, and time zones', async () => {
    const methods = await complete(LOCATED, 'require: request.time.get|¶')
    const hours = methods.find(({ label }) => label === 'getHours')
    expect(hours?.documentation.value).toContain('Hour in an IANA time zone')
    expect(labels(await complete(LOCATED, 'require: request.time.getHours("Europe/Z|¶")'))).toContain('Europe/Zurich')
  })

  test('offers nothing where no condition stands', async () => {
    expect(await complete('code: LOCATION_UNKNOWN', 'code: LO|¶')).toEqual([])
  })
})

test('a word says what it is', async () => {
  const { text, position } = typed(LOCATED, 'require: client.loc|¶ated')
  await editor.show(text)
  const { contents } = await editor.ask('textDocument/hover', { textDocument: { uri: LANGUAGE_URI }, position })
  expect(contents.value).toStartWith('`bool`')
  const part = typed(LOCATED, 'require: request.time.getHo|¶urs("UTC") < 9')
  await editor.show(part.text)
  const time = { textDocument: { uri: LANGUAGE_URI }, position: part.position }
  expect(await editor.ask('textDocument/hover', time)).toMatchObject({
    contents: { value: expect.stringContaining('Hour in an IANA time zone') },
  })
  const elsewhere = { textDocument: { uri: LANGUAGE_URI }, position: { line: 0, character: 3 } }
  expect(await editor.ask('textDocument/hover', elsewhere)).toBeNull()
})

describe('mistakes', () => {
  test('have the place and the words of the compiler', async () => {
    expect(await editor.show(TEMPLATE)).toEqual([])
    const line = TEMPLATE.split('\n').findIndex((text) => text.includes(LOCATED))
    expect(await editor.show(TEMPLATE.replace(LOCATED, 'require: client.locatd'))).toMatchObject([
      {
        range: { start: { line, character: 20 }, end: { line, character: 26 } },
        severity: 1,
        message: expect.stringContaining('client has no field "locatd"'),
      },
    ])
  })

  test('of a test are shown, and what is likely not meant', async () => {
    expect(await editor.show(TEMPLATE.replace('verdict: deny', 'verdict: allow'))).toMatchObject([{ severity: 1 }])
    const warned = await editor.show(
      TEMPLATE.replace(LOCATED, `${LOCATED} && tx.value < 5`).replace(/\ntests:[\s\S]*/, '\n'),
    )
    expect(warned).toMatchObject([{ severity: 2, message: expect.stringContaining('did you mean ether(5)') }])
  })

  test('are not looked for in other YAML', async () => {
    expect(await editor.show('services:\n  - name: web\n')).toEqual([])
  })
})

test('what it does not offer is refused, and it goes on', async () => {
  expect(await editor.ask('textDocument/rename', {})).toMatchObject({ code: -32_601 })
  expect(await editor.show(TEMPLATE)).toEqual([])
})

test('with an organization it knows the lists and screeners that there are', async () => {
  const service = await startAlone({ environment: { COUNTERSIGN_DOCS: 'false' } })
  await succeed(service, 'list', 'create', 'partners', '--org', 'demo')
  const words = ['policy', 'language-server', '--org', 'demo']
  const other = await startEditor(['bun', join(ROOT, 'src/cli/countersign.ts'), ...words], {
    environment: { COUNTERSIGN_DATA_DIR: service.dataDirectory },
  })
  try {
    const text = 'name: A\nrules:\n  - id: a\n    allow: in_list(wallet.address, "none")\n'
    expect(await other.show(text)).toMatchObject([{ severity: 1, message: expect.stringContaining('"none"') }])
    const position = { line: 3, character: 36 }
    const { items } = await other.ask('textDocument/completion', { textDocument: { uri: LANGUAGE_URI }, position })
    expect(labels(items)).toEqual(['partners'])
    expect(await other.show(text.replace('none', 'partners'))).toEqual([])
  } finally {
    expect(await other.stop()).toBe(0)
    expect(await service.stop()).toBe(0)
  }
}, 120_000)
