// The language server on standard input and output, with documents in an editor.
import { afterAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { succeed } from '../service/calls.ts'
import { startAlone } from '../service/start-service.ts'
import { LANGUAGE_URI, startEditor } from './language-editor.ts'

const ROOT = join(import.meta.dir, '..', '..')
const TEMPLATE = readFileSync(join(ROOT, 'docs/policies/sanctions-and-geography.yaml'), 'utf8')
const SERVER = ['bun', join(ROOT, 'src/cli/countersign.ts'), 'policy', 'language-server']
const textDocument = { uri: LANGUAGE_URI }

const editor = await startEditor(SERVER)
afterAll(async () => expect(await editor.stop()).toBe(0))

/** Sends a request at a cursor, which is the bar in `to`. `to` replaces `from` in the template. */
const requestAt = async (method: string, from: string, to: string) => {
  const text = TEMPLATE.replace(from, () => to)
  const before = text.slice(0, text.indexOf('|¶')).split('\n')
  const position = { line: before.length - 1, character: before.at(-1)?.length ?? 0 }
  await editor.show(text.replace('|¶', ''))
  return editor.request(`textDocument/${method}`, { textDocument, position })
}

interface Item {
  readonly label: string
  readonly detail: string
  readonly documentation: { readonly value: string }
  readonly textEdit: { readonly range: { readonly start: { readonly character: number } } }
}
const complete = async (from: string, to: string): Promise<readonly Item[]> =>
  (await requestAt('completion', from, to)).items
const labels = (items: readonly Item[]): readonly string[] => items.map(({ label }) => label)

const LOCATED = 'require: client.located'

describe('completion', () => {
  test('offers facts with their types and descriptions within a condition', async () => {
    const items = await complete(LOCATED, 'require: tx.value > 0 && client.lo|¶')
    const found = items.find(({ label }) => label === 'client.located')
    expect(found).toMatchObject({ detail: 'bool', textEdit: { range: { start: { character: 29 } } } })
    expect(found?.documentation.value).toContain('`bool`')
    expect(labels(items)).not.toContain('person.age')
  })

  test('offers functions, even in a multiline block', async () => {
    const items = await complete(LOCATED, 'require: >-\n      client.located &&\n      in|¶')
    expect(items.find(({ label }) => label === 'in_list')?.detail).toBe('in_list(wallet.address, "name")')
  })

  test('offers the facts of sessions in a policy that decides sessions', async () => {
    const items = await complete('default: deny', 'decides: sessions\nrules:\n  - id: a\n    review: person.|¶')
    expect(labels(items)).toContain('person.age')
    expect(labels(items)).not.toContain('client.located')
  })

  test.each([
    ['lists', 'in_list(wallet.address, "san|¶")', ['sanctions']],
    ['constants', 'client.country in constants.|¶', ['not_served', 'regions_not_served', 'list_age']],
    ['the members of a screener', 'screener("chain").|¶', ['flagged', 'score', 'categories']],
    ['the members of velocity', 'velocity.|¶', ['count', 'value']],
    ['methods of a value', 'client.country.|¶', expect.arrayContaining(['startsWith'])],
    ['time zones', 'request.time.getHours("Europe/Z|¶")', expect.arrayContaining(['Europe/Zurich'])],
  ])('offers %s', async (_, condition, expected) => {
    expect(labels(await complete(LOCATED, `require: ${condition}`))).toEqual(expected)
  })

  test('offers methods of times with their descriptions', async () => {
    const methods = await complete(LOCATED, 'require: request.time.get|¶')
    const hours = methods.find(({ label }) => label === 'getHours')
    expect(hours?.documentation.value).toContain('Hour in an IANA time zone')
  })

  test('offers nothing outside a condition', async () => {
    expect(await complete('code: LOCATION_UNKNOWN', 'code: LO|¶')).toEqual([])
  })
})

test('hovering over a word shows its description', async () => {
  const hover = (condition: string) => requestAt('hover', LOCATED, `require: ${condition}`)
  expect((await hover('client.loc|¶ated')).contents.value).toStartWith('`bool`')
  expect((await hover('request.time.getHo|¶urs("UTC") < 9')).contents.value).toContain('Hour in an IANA time zone')
  expect(await editor.request('textDocument/hover', { textDocument, position: { line: 0, character: 3 } })).toBeNull()
})

describe('mistakes', () => {
  test('are reported with the position and message of the compiler', async () => {
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

  test('in a test, and warnings, are shown', async () => {
    expect(await editor.show(TEMPLATE.replace('verdict: deny', 'verdict: allow'))).toMatchObject([{ severity: 1 }])
    const suspicious = TEMPLATE.replace(LOCATED, `${LOCATED} && tx.value < 5`).replace(/\ntests:[\s\S]*/, '\n')
    const message = expect.stringContaining('did you mean ether(5)')
    expect(await editor.show(suspicious)).toMatchObject([{ severity: 2, message }])
  })

  test('are not reported in other YAML', async () => {
    expect(await editor.show('services:\n  - name: web\n')).toEqual([])
  })
})

test('an unknown request gets an error, and the server continues', async () => {
  expect(await editor.request('textDocument/rename', {})).toMatchObject({ code: -32_601 })
  expect(await editor.show(TEMPLATE)).toEqual([])
})

test('with an organization, the server reads its lists', async () => {
  const service = await startAlone({ environment: { COUNTERSIGN_DOCS: 'false' } })
  await succeed(service, 'list', 'create', 'partners', '--org', 'demo')
  const other = await startEditor([...SERVER, '--org', 'demo'], { COUNTERSIGN_DATA_DIR: service.dataDirectory })
  try {
    const text = 'name: A\nrules:\n  - id: a\n    allow: in_list(wallet.address, "none")\n'
    expect(await other.show(text)).toMatchObject([{ severity: 1, message: expect.stringContaining('"none"') }])
    const position = { line: 3, character: 36 }
    const { items } = await other.request('textDocument/completion', { textDocument, position })
    expect(labels(items)).toEqual(['partners'])
    expect(await other.show(text.replace('none', 'partners'))).toEqual([])
  } finally {
    expect(await other.stop()).toBe(0)
    expect(await service.stop()).toBe(0)
  }
}, 120_000)
