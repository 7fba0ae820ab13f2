// `countersign screening`, with a temporary store.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openOver } from '../cli/admin-client-over.ts'
import { runWords } from '../cli/run-words.ts'
import { openTemporaryStore, type TemporaryStore, temporaryFolder } from '../store/temporary-store.ts'
import { shareWallets } from '../support/sanctioned-wallets.ts'

const DATA = join(import.meta.dir, '..', 'data', 'screening')
const UN = join(DATA, 'un_consolidated.xml')
const OWN =
  'id,kind,name,aliases,birth_dates,countries\np1,person,Ivan Petrovich Primerov,Ivan Primerov,1966-04-28,RU\n'

let temporary: TemporaryStore
let folder: ReturnType<typeof temporaryFolder>
beforeAll(() => {
  folder = temporaryFolder()
})
afterAll(() => folder.remove())
beforeEach(async () => {
  temporary = await openTemporaryStore()
  await temporary.store.organizations.create({ slug: 'demo', name: 'Demo' })
})
afterEach(() => temporary.remove())

const LIST_VERBS = new Set(['import', 'enable', 'disable', 'list'])
const run = (verb: string, ...words: string[]) =>
  runWords([LIST_VERBS.has(verb) ? 'screening-list' : 'screening', verb, ...words], {
    open: openOver(temporary, 'operator'),
    clock: temporary.clock,
    user: 'operator',
  })

const file = (name: string, text: string): string => {
  const path = join(folder.path, name)
  writeFileSync(path, text)
  return path
}

const linesOf = (text: string): readonly Record<string, unknown>[] =>
  text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)
const importOwn = (name = 'mine', text = OWN) => run('import', name, file('own.csv', text), '--format', 'csv')

describe('countersign screening', () => {
  test('fills a list and compares the people in a file with it, one line per person', async () => {
    expect((await importOwn()).code).toBe(0)
    const names = file(
      'names.csv',
      `id,name,birth_date,country\n1,"Primerov, Ivan",1966-04-28,RU\n2,Anna Schmidt,,\n3,😀,,\n4,${'x'.repeat(10_000)},,\n`,
    )
    const { code, stdout } = await run('check', '--file', names, '--json')
    expect(code).toBe(0)
    const [hit, none, emoji, long] = linesOf(stdout)
    expect(hit).toMatchObject({ id: '1', hits: [{ list: 'mine', entry: 'p1', name: 'Ivan Primerov', score: 100 }] })
    const hits = hit?.['hits'] as { why: { part: string }[] }[] | undefined
    expect(hits?.[0]?.why.map(({ part }) => part)).toEqual(['name', 'birth_date', 'country'])
    expect(none).toEqual({ id: '2', hits: [] })
    expect(emoji).toEqual({ id: '3', hits: [], problem: 'a name has fewer than two letters' })
    expect(long).toEqual({ id: '4', hits: [], problem: 'a name is too long' })
    const unquoted = file('unquoted.csv', 'id,name,birth_date,country\n1,Primerov, Ivan,1966-04-28,RU\n')
    expect(await run('check', '--file', unquoted)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('entry 1 has 5 fields, but the header has 4'),
    })
  })

  test('prints only hits at or above the organization’s threshold', async () => {
    await importOwn()
    const names = file('near.csv', 'id,name\n1,Ivan Promerof\n')
    const hitsOf = async (...more: string[]) =>
      linesOf((await run('check', '--file', names, '--json', ...more)).stdout)[0]?.['hits'] as { score: number }[]
    const [found] = await hitsOf()
    expect(found?.score).toBeLessThan(95)
    const organizationId = (await temporary.store.organizations.find('demo'))?.id ?? ''
    const { screeningSettings } = temporary.store
    await screeningSettings.set(organizationId, { ...(await screeningSettings.read(organizationId)), threshold: 95 })
    expect(await hitsOf()).toEqual([])
    expect(await hitsOf('--threshold', '70')).toHaveLength(1)
  })

  test('a known list has its own format, and an incomplete file is rejected', async () => {
    const { code, stderr } = await run('import', 'un-sc', UN)
    expect([code, stderr]).toEqual([1, 'un-sc: the file has 7 entries, but the complete list has at least 500\n'])
    expect(await temporary.store.screeningLists.list()).toEqual([])
    expect((await run('import', 'cut', UN, '--format', 'un-xml')).code).toBe(0)
    const refused = await run('import', 'cut', join(DATA, 'eu.xml'))
    expect(refused.code).toBe(1)
    expect(refused.stderr).toContain('the previous content remains (7 entries)')
    expect(JSON.parse((await run('list', '--json')).stdout)).toMatchObject({
      items: [{ name: 'cut', entries: 7, hosts: [] }],
    })
  })

  test('an import is recorded in the audit log with its counts, and a rejected file is not', async () => {
    expect((await importOwn()).code).toBe(0)
    expect((await importOwn('mine', 'id,kind,name\n')).code).toBe(1)
    const { items } = await temporary.store.audit.page({ actionPrefix: 'screening.' }, { after: null, limit: 10 })
    const list = await temporary.store.screeningLists.find('mine')
    expect(items).toMatchObject([
      {
        action: 'screening.import',
        actor: 'command-line',
        actorName: 'operator',
        subject: 'mine',
        detail: { sha256: list?.version?.sha256, entries: 1, names: 2 },
      },
      { action: 'screening.enable', subject: 'mine' },
    ])
  })

  test('leaves the sharing of a list’s wallets to the service', async () => {
    const files = ['sdn.csv', 'alt.csv', 'add.csv'].map((name) => join(DATA, name))
    const { code, stdout } = await run('import', 'cut-sdn', ...files, '--format', 'ofac-csv')
    expect(code).toBe(0)
    await shareWallets(temporary.store, temporary.clock)
    const shared = await temporary.store.lists.find(null, 'cut_sdn')
    expect(shared?.entryCount).toBeGreaterThan(0)
    expect(stdout).toContain(` wallet addresses (${shared?.entryCount} on EVM or Solana), SHA-256 `)
  })

  test('rejects the name of a list that people maintain', async () => {
    await temporary.store.lists.create({ owner: null, name: 'blocked_by_us' })
    const refused = await importOwn('blocked-by-us')
    expect(refused.code).not.toBe(0)
    expect(refused.stderr).toContain('would overwrite the shared list blocked_by_us')
    expect(await temporary.store.screeningLists.list()).toEqual([])
  })

  test('enables a list by name, with a publisher’s URL, and disables it', async () => {
    expect((await run('enable', 'eu-fsf')).code).toBe(0)
    const list = await temporary.store.screeningLists.find('eu-fsf')
    expect(list?.urls[0]).toStartWith('https://webgate.ec.europa.eu/')
    expect((await run('list')).stdout).toContain('eu-fsf')
    expect((await run('disable', 'eu-fsf')).code).toBe(0)
    expect(await temporary.store.screeningLists.find('eu-fsf')).toBeNull()
    expect((await run('disable', 'eu-fsf')).code).toBe(1)
  })

  test.each([
    ['enable mine', 2, ''],
    ['enable mine --format xlsx', 2, ''],
    ['enable mine --format csv --fetch-url ftp://example.org/x', 2, ''],
    ['enable mine --format csv --fetch-url http://example.org/x', 2, '--fetch-url must be'],
    ['enable ofac-sd', 2, '--format is required for your own lists. Published lists: ofac-sdn, '],
    ['enable deny --format csv', 2, 'must start with a letter'],
    ['enable 1list --format csv', 2, 'must start with a letter'],
    ['import ofac-sdn /nowhere/x.csv', 1, ''],
    ['check --file /nowhere/x.csv', 1, ''],
    [`check --file ${UN} --threshold 5`, 2, ''],
    ['check --file none.csv --threshold 72.5', 2, ''],
    ['check --file none.csv --threshold 7e1.5', 2, ''],
    ['check --file none.csv --threshold 1000.5', 2, ''],
    ['trial', 1, 'no sanctions list has been read'],
    ['update --screener-score 0x10', 2, ''],
  ])('%s ends with %d: %s', async (words, code, why) => {
    const [verb = '', ...rest] = words.split(' ')
    expect(await run(verb, ...rest)).toMatchObject({ code, stderr: expect.stringContaining(why) })
    expect(await temporary.store.screeningLists.list()).toEqual([])
  })

  test('shows and changes the settings of hits with the operation of the admin API', async () => {
    const settings = async (given = '') => {
      const words = given === '' ? ['show'] : ['update', ...given.split(' ')]
      const { code, stdout, stderr } = await run(words[0] ?? '', ...words.slice(1), '--json')
      return code === 0 ? linesOf(stdout)[0] : stderr
    }
    const defaults = {
      threshold: 75,
      is_default: true,
      on_new_hit: 'review',
      address_lists: null,
      screeners: null,
      screener_score: null,
      screeners_again: false,
    }
    expect(await settings()).toEqual(defaults)
    await temporary.store.lists.create({ owner: null, name: 'mixers' })
    const changed = { on_new_hit: 'revoke', address_lists: ['mixers'], screeners: [], screener_score: 80 }
    expect(await settings('--on-new-hit revoke --address-lists mixers --screeners none --screener-score 80')).toEqual({
      ...defaults,
      ...changed,
    })
    const reset = { address_lists: null, screener_score: null }
    expect(await settings('--address-lists default --screener-score none')).toEqual({
      ...defaults,
      ...changed,
      ...reset,
    })
    expect((await run('show')).stdout).toContain('revoke')
    expect(await settings('--on-new-hit shoot')).toContain('--on-new-hit')
    expect(await settings('--address-lists gone')).toContain('--address-lists')
    expect(await settings('--screeners gone')).toContain('--screeners')
    expect(await settings('--no-screeners-again')).toMatchObject({ screeners_again: false })
  })

  test('warns if the aliases of an OFAC list are missing', async () => {
    const row = (...columns: readonly string[]): string => `${columns.join(',')}\n`
    const people = file('sdn.csv', row('1', '"PRIMEROV, Ivan"', 'individual', ...Array<string>(9).fill('-0-')))
    const aliases = file('alt.csv', row('1', '11', 'aka', '"PRYMEROV, Iwan"', '-0-'))
    const alone = await run('import', 'mine', people, '--format', 'ofac-csv')
    expect([alone.code, alone.stderr]).toEqual([0, expect.stringContaining('alt.csv')])
    const both = await run('import', 'mine', people, aliases, '--format', 'ofac-csv')
    expect([both.code, both.stderr]).toEqual([0, ''])
  })
})
