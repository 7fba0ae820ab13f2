// `countersign list` and `list-source`, over a store of the test's own.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
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

/** It must succeed. */
const done = async (verb: string, ...words: string[]): Promise<string> => {
  const { code, stdout, stderr } = await run(verb, ...words)
  expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' })
  return stdout
}

const file = (name: string, text: string): string => {
  const path = join(folder.path, name)
  writeFileSync(path, text)
  return path
}

describe('countersign list', () => {
  test('makes, fills, shows, exports and deletes a list', async () => {
    await done('create', 'partners', '--description', 'known')
    const csv = `address,memo\n${evm(2)},"Smith, Ltd"\n${SOLANA},\n${evm(1)},first\n`
    expect(await done('upload', 'partners', file('partners.csv', csv))).toBe(
      'partners: 3 entries, 3 read from the file\n',
    )
    expect(await done('export', 'partners', '--format', 'csv')).toBe(
      `address,memo\n${evm(1)},first\n${evm(2)},"Smith, Ltd"\n${SOLANA},\n`,
    )
    expect(await done('export', 'partners')).toBe(`${evm(1)}\n${evm(2)}\n${SOLANA}\n`)
    const [entry] = (await done('export', 'partners', '--json')).split('\n')
    expect(JSON.parse(entry ?? '')).toMatchObject({ address: evm(1), memo: 'first', author: 'operator' })
    expect(JSON.parse(await done('show', 'partners', '--json'))).toMatchObject({
      name: 'partners',
      shared: false,
      description: 'known',
      entries: 3,
      kept_by: 'people',
    })
    expect(await done('list')).toContain('partners')
    expect(await done('delete', 'partners')).toBe('delete list partners: done\n')
    expect((await run('show', 'partners')).code).toBe(1)
  })

  test('gives back in export exactly what upload takes', async () => {
    await done('create', 'a')
    await done('create', 'b')
    await done('upload', 'a', file('a.csv', `${evm(1)},"a ""quoted"", memo"\n${evm(2)}\n`))
    const path = join(folder.path, 'exported.csv')
    await run('export', 'a', '--out', path)
    await done('upload', 'b', path)
    expect(await done('export', 'b', '--format', 'csv')).toBe(readFileSync(path, 'utf8'))
    // It overwrites nothing.
    expect(await run('export', 'a', '--out', path)).toMatchObject({ code: 1 })
  })

  test('adds and removes single entries; an organization’s deny and allow lists need not be made', async () => {
    expect(await done('add', 'deny', evm(1), evm(2), evm(1), '--memo', 'chargeback', '--author', 'ann')).toBe(
      'deny: 2 added, 2 entries\n',
    )
    const found = JSON.parse(await done('find', 'deny', evm(1).toUpperCase().replace('0X', '0x'), '--json'))
    expect(found).toMatchObject({ address: evm(1), listed: true, author: 'ann', memo: 'chargeback' })
    expect(await done('remove', 'deny', evm(1), evm(9))).toBe('deny: 1 removed, 1 entries\n')
    expect(await run('find', 'deny', evm(1))).toMatchObject({ code: 1, stdout: expect.stringContaining('no') })
    expect(await run('add', 'partners', evm(1))).toMatchObject({
      code: 1,
      stderr: 'list not found: for a shared list, use --shared\n',
    })
    // Another organization sees none of it.
    expect((await run('find', 'deny', evm(2), '--org', 'other')).code).toBe(1)
    expect((await run('add', 'deny', evm(1), '--shared')).code).toBe(1)
    expect((await run('create', 'deny', '--shared')).code).toBe(2)
  })

  test('goes on adding single entries when the list has more than are kept as such', async () => {
    await done('create', 'many')
    for (let start = 0; start < LIST_EDITS_MAX; start += 512) {
      await done('add', 'many', ...Array.from({ length: 512 }, (_, index) => evm(start + index)))
    }
    expect(await done('add', 'many', evm(1_000_000))).toBe(`many: 1 added, ${LIST_EDITS_MAX + 1} entries\n`)
    const list = await temporary.store.lists.findById(
      JSON.parse(await done('list', '--json')) && (await temporary.store.lists.listAll())[0]!.id,
    )
    expect(list?.baseId).not.toBeNull()
  })

  test('names bad lines and changes nothing, unless told to skip them', async () => {
    await done('create', 'a')
    await done('upload', 'a', file('good.txt', `${evm(7)}\n`))
    const bad = file('bad.txt', `${evm(1)}\nnonsense\n${evm(2)}\n0x12\n`)
    expect(await run('upload', 'a', bad)).toEqual({
      code: 1,
      stdout: '',
      stderr:
        'line 2: not an EVM or Solana address\nline 4: not an EVM or Solana address\n' +
        'nothing was changed; to import the 2 valid lines, use --skip-bad\n',
    })
    expect(await done('export', 'a')).toBe(`${evm(7)}\n`)
    expect(JSON.parse((await run('upload', 'a', bad, '--json')).stdout)).toMatchObject({
      applied: false,
      bad_line_count: 2,
      bad_lines: [2, 4].map((line) => ({ line, problem: 'not an EVM or Solana address' })),
    })
    expect((await run('upload', 'a', bad, '--skip-bad')).code).toBe(0)
    expect(await done('export', 'a')).toBe(`${evm(1)}\n${evm(2)}\n`)
    // A file with bad lines does not even make the list.
    expect((await run('upload', 'deny', bad)).code).toBe(1)
    expect(await done('list')).not.toContain('deny')
  })

  test('merges when it is told to', async () => {
    await done('create', 'a')
    await done('upload', 'a', file('one.csv', `${evm(1)},one\n${evm(2)},two\n`))
    await done('upload', 'a', file('two.csv', `${evm(2)},new\n${evm(3)},\n`), '--merge')
    expect(await done('export', 'a', '--format', 'csv')).toBe(
      `address,memo\n${evm(1)},one\n${evm(2)},new\n${evm(3)},\n`,
    )
  })

  test('asks for confirmation before it replaces the content, not before it merges', async () => {
    await done('create', 'a')
    const path = file('one.csv', `${evm(1)},one\n`)
    const questions: string[] = []
    const ask = async (question: string) => questions.push(question) === 0
    const place = { open: openOver(temporary, 'operator'), clock: temporary.clock, ask }
    expect((await runWords(['list', 'upload', 'a', path], place)).code).toBe(1)
    expect(questions).toEqual([`upload list a ${path}: this cannot be undone.`])
    expect(await done('export', 'a')).toBe('')
    expect((await runWords(['list', 'upload', 'a', path, '--merge'], place)).code).toBe(0)
    expect((await runWords(['list', 'upload', 'a', path, '--yes'], place)).code).toBe(0)
    expect(questions).toHaveLength(1)
  })

  test('takes the Treasury’s file, and says what it left out', async () => {
    await done('create', 'sanctions', '--shared')
    expect(await done('upload', 'sanctions', join(DATA, 'sdn_advanced_sample.xml'), '--shared')).toBe(
      'sanctions: 3 entries, 4 read from the file\nskipped addresses of unsupported chains: 1 XBT\n',
    )
  })

  test('keeps a list by a source: read at once, never changed by hand', async () => {
    await done('create', 'ofac', '--shared')
    const path = join(DATA, 'ofac', 'sanctioned_addresses_ETH.txt')
    expect(await done('update', 'ofac', '--shared', '--from', path, '--every', '12h')).toStartWith(
      'ofac: 152 entries, loaded, SHA-256 ',
    )
    expect(JSON.parse(await done('show-source', 'ofac', '--shared', '--json'))).toMatchObject({
      format: 'text',
      every_seconds: 43_200,
      failure: null,
      skipped: 0,
    })
    expect(await done('refresh', 'ofac', '--shared')).toStartWith('ofac: 152 entries, confirmed')
    expect((await run('add', 'ofac', evm(1), '--shared')).stderr).toContain('is maintained by its source')
    expect(await done('delete-source', 'ofac', '--shared')).toBe('delete list-source ofac: done\n')
    expect(await done('add', 'ofac', evm(1), '--shared')).toBe('ofac: 1 added, 153 entries\n')
  })

  test('says why a source is no good, and keeps what there was', async () => {
    await done('create', 'a')
    const path = file('source.txt', `${evm(1)}\n`)
    await done('update', 'a', '--from', path)
    writeFileSync(path, 'half a file')
    expect(await run('refresh', 'a')).toEqual({
      code: 1,
      stdout: '',
      stderr: 'a: line 1: not an EVM or Solana address; the previous content remains (1 entries)\n',
    })
    expect(await done('show-source', 'a')).toContain('line 1')
    expect(await run('update', 'a', '--from', 'https://127.0.0.1/list.txt')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--from resolves to an address that is not allowed'),
    })
  })

  test('tells a wrong call from what can’t be done', async () => {
    await done('create', 'a')
    const usage: [string, ...string[]][] = [
      ['create', 'Not-a-name'],
      ['upload', 'a', 'x', '--format', 'xls'],
      ['add', 'a', 'nonsense'],
      ['add', 'a', evm(1), '--memo', 'x'.repeat(201)],
      ['add', 'a', evm(1), '--author', ''],
      ['list', '--org', 'demo', '--shared'],
      ['update', 'a', '--from', 'x', '--every', '10s'],
      ['update', 'a', '--from', 'x', '--reach', 'everywhere'],
      ['update', 'a', '--from', 'ftp://lists.example/x'],
    ]
    for (const call of usage) expect([call, (await run(...call)).code]).toEqual([call, 2])
    const failing: [string, ...string[]][] = [
      ['create', 'a'],
      ['show', 'missing'],
      ['list', '--org', 'nobody'],
      ['upload', 'a', join(folder.path, 'missing.txt')],
      ['refresh', 'a'],
    ]
    for (const call of failing) {
      const { code, stderr } = await run(...call)
      expect([call, code, stderr.trim().includes('\n')]).toEqual([call, 1, false])
    }
    expect(existsSync(join(folder.path, 'missing.txt'))).toBe(false)
  })
})
