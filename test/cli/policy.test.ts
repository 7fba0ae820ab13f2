// `countersign policy`: output, stored revisions and exit codes.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openSegment } from '../../src/decision-log/segment.ts'
import type { DecisionRecord } from '../../src/decision-log/types.ts'
import { attestation, denial } from '../decision-log/fixtures.ts'
import { storeOfTest } from '../store/store-of-test.ts'
import { openTemporaryStore, START_SECONDS, temporaryFolder } from '../store/temporary-store.ts'
import { allPolicies } from '../support/all-rows.ts'
import { openOver } from './admin-client-over.ts'
import { runWords } from './run-words.ts'

const temporary = storeOfTest(openTemporaryStore)
let folder: ReturnType<typeof temporaryFolder>
let organizationId: string

beforeEach(async () => {
  folder = temporaryFolder()
  organizationId = (await temporary.store.organizations.create({ slug: 'demo', name: 'Demo' })).id
})
afterEach(() => folder.remove())

const run = (...words: string[]) =>
  runWords(['policy', ...words], { open: openOver(temporary), clock: temporary.clock, folder: folder.path })
const runJson = async (...words: string[]) => {
  const { code, stdout } = await run(...words, '--json')
  return { code, value: JSON.parse(stdout) }
}
const policies = () => allPolicies(temporary.store, organizationId)

const file = (name: string, text: string): string => {
  const path = join(folder.path, name)
  writeFileSync(path, text)
  return path
}
/** Writes the documents into a folder, which it returns. */
const writePolicies = (documents: Readonly<Record<string, string>>): string => {
  const path = join(folder.path, 'policies')
  mkdirSync(path, { recursive: true })
  for (const [name, text] of Object.entries(documents)) writeFileSync(join(path, name), text)
  return path
}
const LIMIT = (ether: number): string => `name: Limit ${ether}
rules:
  - { id: limit, deny: tx.value > ether(${ether}), code: TOO_MUCH }
  - { id: fine, allow: "true" }
tests:
  - { name: small, request: { from: "0x00000000000000000000000000000000000000b2", msg_value: 1 ether }, verdict: allow }
`
const BROKEN = 'name: P\nrules:\n  - { id: a, deny: tx.valu > 1 }\n'
const FAILING = LIMIT(0)
const UNTESTED = 'name: P\nrules:\n  - { id: a, allow: "true" }\n'
const listing = (list: string): string => `name: P\nrules: [{ id: a, allow: 'in_list(wallet.address, "${list}")' }]\n`

describe('documents', () => {
  test('check prints the facts and lists that a document requires', async () => {
    const path = file('p.yaml', LIMIT(5))
    const stdout = 'Limit 5: valid, 2 rules, 1 test passed; needs msg_value\n'
    expect(await run('check', path)).toMatchObject({ code: 0, stdout })
    expect((await run('check', file('u.yaml', UNTESTED))).stdout).toBe('P: valid, 1 rule, no tests\n')
    const requirements = { valid: true, rules: 2, tests: 1, requires: ['msg_value'], needs: [], warnings: [] }
    expect((await runJson('check', path)).value).toMatchObject(requirements)
    const velocity = file('v.yaml', 'name: P\nrules: [{ id: a, allow: velocity.count(hours(1)) < 5 }]\n')
    const { value } = await runJson('check', velocity)
    expect(value.example_facts).toEqual({ velocity: { 3600: { count: 0, value: '0' } } })
  })

  test('check --org reports an unknown list, with a command that creates it in the organization', async () => {
    const path = file('l.yaml', listing('partners'))
    expect((await run('check', path)).code).toBe(0)
    const stderr = expect.stringContaining(`run countersign list create partners --org ${organizationId}`)
    expect(await run('check', path, '--org', 'demo')).toMatchObject({ code: 1, stderr })
  })

  test('check prints each mistake with its position', async () => {
    const broken = file('p.yaml', BROKEN)
    expect(await run('check', broken)).toEqual({
      code: 1,
      stdout: '',
      stderr:
        '3:23 /rules/0/deny tx has no field "valu"; valid fields: value, data_size, selector\n      - { id: a, deny: tx.valu > 1 }\n                          ^\n',
    })
    const value = { valid: false, issues: [{ line: 3, column: 23 }] }
    expect(await runJson('check', broken)).toMatchObject({ code: 1, value })
    const failing = await run('check', file('f.yaml', FAILING))
    expect(failing.stderr).toContain('small: expected allow, got deny by rule limit')
  })

  test.each(['check', 'test', 'apply'])('%s prints warnings and succeeds', async (verb) => {
    const text = 'name: W\nrules:\n  - { id: a, allow: chain.name == "bas" }\n'
    const path = file('w.yaml', text)
    expect(await run(verb, path)).toEqual({
      code: 0,
      stdout: expect.stringMatching(/./),
      stderr:
        '1 warning:\n' +
        '3:35 /rules/0/allow unknown chain "bas": did you mean "base"?\n' +
        '      - { id: a, allow: chain.name == "bas" }\n                                      ^\n',
    })
    // An unchanged document is not saved again, so it has no warnings.
    if (verb === 'apply') writeFileSync(path, `${text}description: again\n`)
    const warnings = [{ line: 3, column: 35, pointer: '/rules/0/allow' }]
    const value = verb === 'apply' ? { revision: { warnings } } : { warnings }
    expect(await runJson(verb, path)).toMatchObject({ code: 0, value })
    expect((await run(verb, path, '--json')).stderr).toBe('')
  })

  test('test runs all tests of a document, even if the document cannot be saved', async () => {
    const passed = { code: 0, stdout: 'pass  small\n1 passed, 0 failed\n' }
    expect(await run('test', file('p.yaml', LIMIT(5)))).toMatchObject(passed)
    const failed = { code: 1, stdout: 'FAIL  small: expected allow, got deny by rule limit\n0 passed, 1 failed\n' }
    expect(await run('test', file('f.yaml', FAILING))).toMatchObject(failed)
    expect(await runJson('test', file('f.yaml', FAILING))).toMatchObject({ code: 1, value: { passed: 0, failed: 1 } })
  })

  test('templates lists the templates, and new prints one', async () => {
    expect((await run('templates')).stdout).toContain('identity-required')
    const { stdout } = await run('new', '--template', 'identity-required')
    expect((await run('check', file('t.yaml', stdout))).code).toBe(0)
    const schema = /^# yaml-language-server: \$schema=(file:\S+)\n/.exec(stdout)?.[1] ?? ''
    expect(JSON.parse(readFileSync(new URL(schema), 'utf8'))).toHaveProperty('$schema')
    expect(await run('new', '--template', 'none')).toMatchObject({ code: 1, stderr: 'unknown template none\n' })
    expect((await run('new')).code).toBe(2)
    expect(JSON.parse((await run('schema')).stdout)).toHaveProperty('$schema')
  })

  test('diff compares two files', async () => {
    const [a, b] = [file('a.yaml', LIMIT(5)), file('b.yaml', LIMIT(7))]
    expect((await run('diff', a, a)).stdout).toBe('no difference\n')
    expect(await run('diff', a, b)).toMatchObject({
      code: 0,
      stdout:
        '~ name\n  - Limit 5\n  + Limit 7\n~ rules/limit/deny\n  - tx.value > ether(5)\n  + tx.value > ether(7)\n',
    })
    expect((await runJson('diff', a, b)).value).toHaveLength(2)
    expect((await run('diff', 'a', 'b', 'c')).code).toBe(2)
    expect((await run('check', join(folder.path, 'missing'))).code).toBe(1)
  })
})

const applied = async (ether: number, ...options: string[]) => {
  const { value } = await runJson('apply', file(`${ether}.yaml`, LIMIT(ether)), ...options)
  const { id, number, active } = value.revision
  return { policy: value.policy as string, revision: id as string, number, active }
}

describe('revisions', () => {
  test('are applied, saved as drafts, activated and shadowed', async () => {
    const { policy, revision, ...first } = await applied(5)
    expect(first).toEqual({ number: 1, active: true })
    const draft = await applied(7, '--policy', policy, '--draft')
    expect(draft).toMatchObject({ policy, number: 2, active: false })
    const stored = () => temporary.store.policies.find(organizationId, policy)
    expect(await stored()).toMatchObject({ name: 'Limit 5', activeRevisionId: revision })

    const shadow = (number: string) => run('shadow', policy, '--revision', number)
    expect((await shadow('2')).code).toBe(0)
    expect(await stored()).toMatchObject({ shadowRevisionId: draft.revision })
    expect((await run('list')).stdout).toContain(draft.revision)
    expect((await shadow('1')).stderr).toBe('the revision is already active\n')
    expect((await shadow('none')).code).toBe(0)
    expect(await stored()).toMatchObject({ shadowRevisionId: null })

    expect((await run('activate', policy, '--revision', draft.revision)).stdout).toContain(draft.revision)
    expect(await stored()).toMatchObject({ name: 'Limit 7', activeRevisionId: draft.revision })
    expect((await run('show', policy)).stdout).toBe(LIMIT(7))
    expect((await run('show', policy, '--revision', '1')).stdout).toBe(LIMIT(5))
    expect((await runJson('list-revisions', policy)).value.data).toHaveLength(2)
    for (const [code, ...words] of [
      [1, 'show', policy, '--revision', '9'],
      [1, 'activate', 'policy_gone', '--revision', '1'],
      [2, 'activate', policy],
      [1, 'list', '--org', 'nobody'],
    ] as const) {
      expect([words, (await run(...words)).code]).toEqual([words, code])
    }
  })

  test('are listed even if no revision is active', async () => {
    const { policy, revision } = await applied(5, '--draft')
    const value = { data: [{ id: revision, number: 1 }] }
    expect(await runJson('list-revisions', policy)).toMatchObject({ code: 0, value })
    const stderr = `${policy} has no active revision: specify one with --revision\n`
    expect(await run('show', policy)).toMatchObject({ stderr })
  })

  test('with mistakes or failing tests are not saved', async () => {
    for (const text of [BROKEN, FAILING]) expect((await run('apply', file('p.yaml', text))).code).toBe(1)
    expect(await policies()).toEqual([])
  })

  test.each(['members', 'deny'])('that name the missing list %s are not saved', async (name) => {
    const path = file('l.yaml', listing(name))
    const command = `list create ${name}`
    const remedy = `unknown list "${name}"; known lists: none. To create it, run countersign ${command}`
    expect(await run('apply', path)).toMatchObject({ code: 1, stderr: expect.stringContaining(remedy) })
    const created = await runWords(command.split(' '), { open: openOver(temporary), clock: temporary.clock })
    expect([created.code, (await run('apply', path)).code]).toEqual([0, 0])
  })

  test('are compared with the active revision, by number and by id', async () => {
    const first = await applied(5)
    const second = await applied(7, '--policy', first.policy)
    const path = file('n.yaml', LIMIT(9))
    expect((await run('diff', path, '--policy', first.policy)).stdout).toContain('+ tx.value > ether(9)')
    expect((await run('diff', '1', '2', '--policy', first.policy)).stdout).toContain('- tx.value > ether(5)')
    expect((await run('diff', first.revision, second.revision)).stdout).toContain('+ tx.value > ether(7)')
    expect((await run('diff', 'revision_gone', second.revision)).code).toBe(1)
    expect((await run('diff', path)).code).toBe(2)
  })
})

describe('apply', () => {
  test('finds the policy by name, and saves only a changed document', async () => {
    const { policy, revision } = await applied(5)
    const unchanged = `${policy}: revision 1 (${revision}) is already active\n`
    const again = await run('apply', file('5.yaml', LIMIT(5)))
    expect(again).toMatchObject({ code: 0, stdout: expect.stringContaining(unchanged) })
    expect(await applied(6, '--policy', policy)).toMatchObject({ policy, number: 2 })
    // The earlier document is activated without a new revision.
    const back = await runJson('apply', file('5.yaml', LIMIT(5)), '--policy', policy)
    expect(back.value).toMatchObject({ change: 'activated', revision: { id: revision, active: true } })
    expect((await runJson('apply', file('5.yaml', LIMIT(5)), '--draft')).value).toMatchObject({ change: 'none' })
    expect(await policies()).toMatchObject([{ name: 'Limit 5', revisionCount: 2 }])
  })

  test('refuses to choose between policies with the same name', async () => {
    const { policy } = await applied(5)
    await temporary.store.policies.create({ organizationId, name: 'Limit 5' })
    const { code, stderr } = await run('apply', file('5.yaml', LIMIT(5)))
    expect({ code, named: stderr.includes(policy) && stderr.includes('--policy ID') }).toEqual({ code: 2, named: true })
    expect((await run('apply', file('5.yaml', LIMIT(5)), '--policy', policy)).code).toBe(0)
  })

  test('names the projects, or a command that assigns the policy to a project', async () => {
    const { policy } = await applied(5)
    expect((await run('apply', file('5.yaml', LIMIT(5)))).stdout).toContain(
      `No project uses it. To use it: bun run countersign project update PROJECT --policy ${policy}\n`,
    )
    const project = await temporary.store.projects.create({ organizationId, name: 'Shop', policyId: policy })
    const edited = await run('apply', file('5.yaml', LIMIT(6).replace('Limit 6', 'Limit 5')))
    expect(edited.stdout).toContain(`Used by project Shop (${project.id})\n`)
  })
})

describe('sync', () => {
  test('only reports drift in a dry run, then removes it', async () => {
    const path = writePolicies({ 'a.yaml': LIMIT(5), 'b.yml': LIMIT(7), 'notes.txt': 'not a policy' })
    const states = async (...options: string[]) => {
      const { code, value } = await runJson('sync', path, ...options)
      return [code, ...value.changes.map(({ change }: { change: string }) => change)]
    }
    expect(await states('--dry-run')).toEqual([1, 'created', 'created'])
    expect(await policies()).toEqual([])
    expect(await states()).toEqual([0, 'created', 'created'])
    expect(await states('--dry-run')).toEqual([0, 'none', 'none'])
    expect(await states()).toEqual([0, 'none', 'none'])

    writePolicies({ 'a.yaml': `${LIMIT(5)}description: edited\n` })
    expect(await states('--dry-run')).toEqual([1, 'saved', 'none'])
    expect(await states()).toEqual([0, 'saved', 'none'])
    const a = (await policies()).find(({ name }) => name === 'Limit 5')
    expect((await run('activate', a?.id ?? '', '--revision', '1')).code).toBe(0)
    const { code, stdout } = await run('sync', path, '--dry-run')
    expect([code, /a\.yaml +Limit 5 +policy_\w+ +(.*)/.exec(stdout)?.[1]]).toEqual([1, 'not active'])
    expect(await states()).toEqual([0, 'activated', 'none'])
  })

  test('names an active policy in use that is not in the folder', async () => {
    const path = writePolicies({ 'a.yaml': LIMIT(5) })
    const other = await applied(9)
    const sync = () => run('sync', path, '--dry-run')
    await run('sync', path)
    expect((await sync()).code).toBe(0)
    await temporary.store.projects.create({ organizationId, name: 'Shop', policyId: other.policy })
    const { code, stdout } = await sync()
    expect(code).toBe(1)
    expect(stdout).toEndWith(
      `Not in the folder: Limit 9 (${other.policy}), used by Shop\nThe deployment differs from the folder.\n`,
    )
  })

  test('saves nothing if a document is invalid or two documents have the same name', async () => {
    const path = writePolicies({})
    expect((await run('sync', path)).stderr).toContain('has no .yaml, .yml or .json file')
    writePolicies({ 'a.yaml': LIMIT(5), 'b.yaml': BROKEN })
    const { code, stderr } = await run('sync', path)
    expect(code).toBe(1)
    expect(stderr).toStartWith(`${join(path, 'b.yaml')}\n3:23 /rules/0/deny`)
    expect(await runJson('sync', path)).toMatchObject({ code: 1, value: { valid: false, invalid: [{}] } })
    // Documents are checked with the lists of the deployment, even in a dry run.
    writePolicies({ 'b.yaml': listing('members') })
    for (const options of [[], ['--dry-run']]) {
      const unknown = await run('sync', path, ...options)
      expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining('unknown list "members"')])
      expect(unknown.stderr).toStartWith(`${join(path, 'b.yaml')}\n2:`)
    }
    writePolicies({ 'b.yaml': LIMIT(5) })
    expect((await run('sync', path)).code).toBe(2)
    expect(await policies()).toEqual([])
  })
})

test('policy test reads a folder, and reports untested documents, coverage and JUnit XML', async () => {
  const path = writePolicies({
    'a.yaml': LIMIT(5),
    'b.yaml': UNTESTED,
    'c.yaml': BROKEN,
    'd.yaml': FAILING.replace('small', '"<small> & more"'),
  })
  const report = join(folder.path, 'report.xml')
  const { code, stdout, stderr } = await run('test', path, '--coverage', '--junit', report)
  const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((name) => join(path, `${name}.yaml`))
  expect([code, stderr.split('\n')[0]]).toEqual([1, c])
  expect(stdout).toBe(`${a}
pass  small
coverage: 2 of 2 rules, 2 of 3 branches
  limit: no test in which this is true: tx.value > ether(5)
${b}
no tests
coverage: 0 of 1 rules, 0 of 1 branches
  a: no test reaches this rule
${c}
FAIL  the policy has 1 mistake
${d}
FAIL  <small> & more: expected allow, got deny by rule limit
coverage: 1 of 2 rules, 1 of 3 branches
  fine: no test reaches this rule
  limit: no test in which this is false: tx.value > ether(0)
1 passed, 1 failed
`)
  const xml = readFileSync(report, 'utf8')
  expect(xml).toContain(`<testsuite name="${b}" tests="1" failures="0" errors="0">
    <testcase classname="${b}" name="tests"><skipped message="the document has no tests"/></testcase>`)
  expect(xml).toContain('name="&lt;small&gt; &amp; more"><failure message="&lt;small&gt; &amp; more: expected allow')
  expect(xml).toContain('<error>3:23 /rules/0/deny tx has no')
  expect((await runJson('test', path, '--coverage')).value).toMatchObject({
    passed: 1,
    failed: 1,
    untested: [b],
    invalid: [{ file: c, issues: [{ line: 3 }] }],
    coverage: [{ rules: 2, unreached: [], branches: 3 }, { unreached: ['a'] }, {}],
  })
  expect((await run('test', a ?? '', '--junit', join(folder.path, 'none', 'r.xml'))).code).toBe(1)
})

describe('replay', () => {
  const DAY_MS = 86_400_000
  const record = (...records: readonly DecisionRecord[]): void => {
    const directory = join(folder.path, 'decisions')
    mkdirSync(directory, { recursive: true })
    const clock = { unixMs: () => START_SECONDS * 1000 }
    const segment = openSegment({ directory, slot: 'w00', maxBytes: 1e6, sync: false, clock })
    segment.append(records)
    segment.close()
  }
  const decided = (policy: string, number: number, ether: number, changes: Partial<DecisionRecord> = {}) =>
    (ether > 5 ? denial : attestation)(number, {
      organization: organizationId,
      policy,
      at: START_SECONDS * 1000 - DAY_MS,
      value: `${ether}000000000000000000`,
      rule: ether > 5 ? 'limit' : 'fine',
      ...changes,
    })

  test('prints the differences of a revision or a file by rule', async () => {
    const { policy } = await applied(5)
    record(
      decided(policy, 1, 3),
      decided(policy, 2, 6),
      decided(policy, 3, 8),
      decided(policy, 4, 9, { at: START_SECONDS * 1000 - 9 * DAY_MS }),
      decided('policy_other', 5, 9),
      decided(policy, 6, 9, { organization: 'org_other' }),
    )
    const path = file('n.yaml', LIMIT(7))
    expect(await run('replay', path, '--policy', policy)).toMatchObject({
      code: 0,
      stdout: `3 decisions: 2 unchanged, 0 with a different rule only, 1 with a different verdict

COUNT  WAS            WOULD BE       EXAMPLES
1      deny by limit  allow by fine  ${decided(policy, 2, 6).uuid}
`,
    })
    const replay = async (source: string, ...options: string[]) =>
      (await runJson('replay', source, '--policy', policy, ...options)).value
    const longer = { decisions: 4, same: 3, byLists: 0, unreadable: 0 }
    expect(await replay(path, '--since', '10d')).toMatchObject(longer)
    expect(await replay(path, '--since', '10d', '--until', '8d')).toMatchObject({ decisions: 1 })
    expect(await replay('1')).toMatchObject({ decisions: 3, same: 3, changes: [] })
  })

  test('reports decisions that cannot be replayed', async () => {
    const { policy } = await applied(5)
    record(decided(policy, 1, 3), decided(policy, 2, 3, { rule: 'list:allow' }))
    const replay = async (rule: string) =>
      (await run('replay', file('i.yaml', `name: P\nrules: [{ id: a, allow: ${rule} }]\n`), '--policy', policy)).stdout
    const unknown = await replay('identity.verified')
    expect(unknown).toContain('1 could not be replayed: the log does not show identity.verified\n')
    expect(unknown).toContain("1 were decided by the organization's lists\n")
    expect(await replay('tx.value - ether(9) > 0')).toContain('1 would fail with 422 in rule a')
  })

  test('uses the current lists', async () => {
    const { policy } = await applied(5)
    const from = '0x00000000000000000000000000000000000000c3'
    record(decided(policy, 1, 3), decided(policy, 2, 3, { from }))
    await temporary.store.lists.create({ owner: null, name: 'members' })
    const path = file('l.yaml', `name: P\nrules: [{ id: fine, allow: '!in_list(wallet.address, "members")' }]\n`)
    expect((await runJson('replay', path, '--policy', policy)).value).toMatchObject({ decisions: 2, same: 2 })
  })

  test('requires a policy and a valid time', async () => {
    const path = file('n.yaml', LIMIT(7))
    expect((await run('replay', path)).code).toBe(2)
    const { policy } = await applied(5)
    record()
    expect((await run('replay', path, '--policy', policy, '--since', 'yesterday')).code).toBe(2)
    expect((await run('replay', path, '--policy', 'policy_gone')).code).toBe(1)
    expect((await runJson('replay', path, '--policy', policy)).value).toMatchObject({ decisions: 0 })
  })
})
