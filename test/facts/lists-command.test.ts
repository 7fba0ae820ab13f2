// `countersign list` and `list-source`, with a temporary store.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { LIST_EDITS_MAX } from '../../src/domain/list.ts'
import { openOver } from '../cli/admin-client-over.ts'
import { runWords } from '../cli/run-words.ts'
import { openTemporaryStore, type TemporaryStore, temporaryFolder } from '../store/temporary-store.ts'
import { evm, SOLANA } from './lists/stored-lists.ts'

const DATA = join(import.meta.dir, '..', 'data')

let temporary: TemporaryStore
let folder: ReturnType<typeof temporaryFolder>

beforeAll(() => {
  folder = temporaryFolder()
})
afterAll(() => folder.remove())
beforeEach(async () => {
  temporary = await openTemporaryStore()
  await temporary.store.organizations.create({ slug: 'demo', name: 'Demo' })
  await temporary.store.organizations.create({ slug: 'other', name: 'Other' })
})
afterEach(() => temporary.remove())

const SOURCE_VERBS = new Set(['update', 'refresh', 'delete-source', 'show-source'])
const run = (verb: string, ...words: string[]) => {
  const place = { open: openOver(temporary, 'operator'), clock: temporary.clock, user: 'operator' }
  const noun = SOURCE_VERBS.has(verb) ? 'list-source' : 'list'
  return runWords([noun, verb.replace('-source', ''), ...words], place)
}

/** Runs a command that must succeed, and returns its output. */
const output = async (verb: string, ...words: string[]): Promise<string> => {
  const { code, stdout, stderr } = await run(verb, ...words)
  expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' })
  return stdout
}
const jsonOf = async (...words: [string, ...string[]]): Promise<Record<string, unknown>> =>
  JSON.parse(await output(...words, '--json'))

const file = (name: string, text: string): string => {
  const path = join(folder.path, name)
  writeFileSync(path, text)
  return path
}

const UNCHANGED = 'nothing was changed; to import the 2 valid lines, use --skip-bad\n'
describe('countersign list', () => {
  test('creates, fills, shows, exports and deletes a list', async () => {
    await output('create', 'partners', '--description', 'known')
    const csv = `address,memo\n${evm(2)},"Smith, Ltd"\n${SOLANA},\n${evm(1)},first\n`
    const uploaded = await output('upload', 'partners', file('partners.csv', csv))
    expect(uploaded).toBe('partners: 3 entries, 3 read from the file\n')
    const sorted = `address,memo\n${evm(1)},first\n${evm(2)},"Smith, Ltd"\n${SOLANA},\n`
    expect(await output('export', 'partners', '--format', 'csv')).toBe(sorted)
    expect(await output('export', 'partners')).toBe(`${evm(1)}\n${evm(2)}\n${SOLANA}\n`)
    const [entry = ''] = (await output('export', 'partners', '--json')).split('\n')
    expect(JSON.parse(entry)).toMatchObject({ address: evm(1), memo: 'first', author: 'operator' })
    const shown = { name: 'partners', shared: false, description: 'known', entries: 3, kept_by: 'people' }
    expect(await jsonOf('show', 'partners')).toMatchObject(shown)
    expect(await output('list')).toContain('partners')
    expect(await output('delete', 'partners')).toBe('delete list partners: done\n')
    expect((await run('show', 'partners')).code).toBe(1)
  })

  test('exports a file that it can upload, and overwrites no file', async () => {
    await output('create', 'a')
    await output('create', 'b')
    await output('upload', 'a', file('a.csv', `${evm(1)},"a ""quoted"", memo"\n${evm(2)}\n`))
    const path = join(folder.path, 'exported.csv')
    await run('export', 'a', '--out', path)
    await output('upload', 'b', path)
    expect(await output('export', 'b', '--format', 'csv')).toBe(readFileSync(path, 'utf8'))
    expect(await run('export', 'a', '--out', path)).toMatchObject({ code: 1 })
  })

  test('adds and removes entries, and creates deny and allow lists automatically', async () => {
    const added = await output('add', 'deny', evm(1), evm(2), evm(1), '--memo', 'chargeback', '--author', 'ann')
    expect(added).toBe('deny: 2 added, 2 entries\n')
    const found = await jsonOf('find', 'deny', evm(1).toUpperCase().replace('0X', '0x'))
    expect(found).toMatchObject({ address: evm(1), listed: true, author: 'ann', memo: 'chargeback' })
    expect(await output('remove', 'deny', evm(1), evm(9))).toBe('deny: 1 removed, 1 entries\n')
    expect(await run('find', 'deny', evm(1))).toMatchObject({ code: 1, stdout: expect.stringContaining('no') })
    const missing = 'list not found: for a shared list, use --shared\n'
    expect(await run('add', 'partners', evm(1))).toMatchObject({ code: 1, stderr: missing })
    // The list is not visible to another organization.
    expect((await run('find', 'deny', evm(2), '--org', 'other')).code).toBe(1)
    expect((await run('add', 'deny', evm(1), '--shared')).code).toBe(1)
    expect((await run('create', 'deny', '--shared')).code).toBe(2)
  })

  test('merges edits into the base of the list if there are too many', async () => {
    await output('create', 'many')
    for (let start = 0; start < LIST_EDITS_MAX; start += 512) {
      await output('add', 'many', ...Array.from({ length: 512 }, (_, index) => evm(start + index)))
    }
    expect(await output('add', 'many', evm(1_000_000))).toBe(`many: 1 added, ${LIST_EDITS_MAX + 1} entries\n`)
    expect((await temporary.store.lists.listAll())[0]?.baseId).not.toBeNull()
  })

  test('reports bad lines and makes no changes unless it may skip them', async () => {
    await output('create', 'a')
    await output('upload', 'a', file('good.txt', `${evm(7)}\n`))
    const bad = file('bad.txt', `${evm(1)}\nnonsense\n${evm(2)}\n0x12\n`)
    const stderr = `line 2: not an EVM or Solana address\nline 4: not an EVM or Solana address\n${UNCHANGED}`
    expect(await run('upload', 'a', bad)).toEqual({ code: 1, stdout: '', stderr })
    expect(await output('export', 'a')).toBe(`${evm(7)}\n`)
    expect(JSON.parse((await run('upload', 'a', bad, '--json')).stdout)).toMatchObject({
      applied: false,
      bad_line_count: 2,
      bad_lines: [2, 4].map((line) => ({ line, problem: 'not an EVM or Solana address' })),
    })
    expect((await run('upload', 'a', bad, '--skip-bad')).code).toBe(0)
    expect(await output('export', 'a')).toBe(`${evm(1)}\n${evm(2)}\n`)
    // A file with bad lines does not create the list.
    expect((await run('upload', 'deny', bad)).code).toBe(1)
    expect(await output('list')).not.toContain('deny')
  })

  test('merges a file with --merge', async () => {
    await output('create', 'a')
    await output('upload', 'a', file('one.csv', `${evm(1)},one\n${evm(2)},two\n`))
    await output('upload', 'a', file('two.csv', `${evm(2)},new\n${evm(3)},\n`), '--merge')
    const merged = `address,memo\n${evm(1)},one\n${evm(2)},new\n${evm(3)},\n`
    expect(await output('export', 'a', '--format', 'csv')).toBe(merged)
  })

  test('asks for confirmation before it replaces the content, and not before it merges', async () => {
    await output('create', 'a')
    const path = file('one.csv', `${evm(1)},one\n`)
    const questions: string[] = []
    const ask = async (question: string) => questions.push(question) === 0
    const place = { open: openOver(temporary, 'operator'), clock: temporary.clock, ask }
    const upload = async (...flags: string[]) => (await runWords(['list', 'upload', 'a', path, ...flags], place)).code
    expect(await upload()).toBe(1)
    expect(questions).toEqual([`upload list a ${path}: this cannot be undone.`])
    expect(await output('export', 'a')).toBe('')
    expect([await upload('--merge'), await upload('--yes')]).toEqual([0, 0])
    expect(questions).toHaveLength(1)
  })

  test('uploads the Treasury’s file and reports skipped addresses', async () => {
    await output('create', 'sanctions', '--shared')
    expect(await output('upload', 'sanctions', join(DATA, 'sdn_advanced_sample.xml'), '--shared')).toBe(
      'sanctions: 3 entries, 4 read from the file\nskipped addresses of unsupported chains: 1 XBT\n',
    )
  })

  test('maintains a list from a source, so that people cannot change it', async () => {
    await output('create', 'ofac', '--shared')
    const path = join(DATA, 'ofac', 'sanctioned_addresses_ETH.txt')
    const updated = await output('update', 'ofac', '--shared', '--from', path, '--every', '12h')
    expect(updated).toStartWith('ofac: 152 entries, loaded, SHA-256 ')
    const source = { format: 'text', every_seconds: 43_200, failure: null, skipped: 0 }
    expect(await jsonOf('show-source', 'ofac', '--shared')).toMatchObject(source)
    expect(await output('refresh', 'ofac', '--shared')).toStartWith('ofac: 152 entries, confirmed')
    expect((await run('add', 'ofac', evm(1), '--shared')).stderr).toContain('is maintained by its source')
    expect(await output('delete-source', 'ofac', '--shared')).toBe('delete list-source ofac: done\n')
    expect(await output('add', 'ofac', evm(1), '--shared')).toBe('ofac: 1 added, 153 entries\n')
  })

  test('reports the failure of a source and keeps the content of the list', async () => {
    await output('create', 'a')
    const path = file('source.txt', `${evm(1)}\n`)
    await output('update', 'a', '--from', path)
    writeFileSync(path, 'half a file')
    const stderr = 'a: line 1: not an EVM or Solana address; the previous content remains (1 entries)\n'
    expect(await run('refresh', 'a')).toEqual({ code: 1, stdout: '', stderr })
    expect(await output('show-source', 'a')).toContain('line 1')
    const refused = await run('update', 'a', '--from', 'https://127.0.0.1/list.txt')
    expect(refused.code).toBe(2)
    expect(refused.stderr).toContain('--from resolves to an address that is not allowed')
  })

  test.each<[string, ...string[]]>([
    ['create', 'Not-a-name'],
    ['upload', 'a', 'x', '--format', 'xls'],
    ['add', 'a', 'nonsense'],
    ['add', 'a', evm(1), '--memo', 'x'.repeat(201)],
    ['add', 'a', evm(1), '--author', ''],
    ['list', '--org', 'demo', '--shared'],
    ['update', 'a', '--from', 'x', '--every', '10s'],
    ['update', 'a', '--from', 'x', '--reach', 'everywhere'],
    ['update', 'a', '--from', 'ftp://lists.example/x'],
  ])('exits with 2 for invalid arguments: %s %s %s %s', async (...call) => {
    await output('create', 'a')
    expect((await run(...call)).code).toBe(2)
  })

  test.each<[string, ...string[]]>([
    ['create', 'a'],
    ['show', 'missing'],
    ['list', '--org', 'nobody'],
    ['upload', 'a', 'missing.txt'],
    ['refresh', 'a'],
  ])('exits with 1 and prints one line for a failure: %s %s', async (...call) => {
    await output('create', 'a')
    const { code, stderr } = await run(...call)
    expect([code, stderr.trim().includes('\n')]).toEqual([1, false])
  })
})
