// `countersign policy` as people and scripts call it: what it prints, what it keeps, and its exit codes.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openSegment } from '../../src/decision-log/segment.ts'
import type { DecisionRecord } from '../../src/decision-log/types.ts'
import { attestation, denial } from '../decision-log/fixtures.ts'
import { openTemporaryStore, START_SECONDS, type TemporaryStore, temporaryFolder } from '../store/temporary-store.ts'
import { allPolicies } from '../support/all-rows.ts'
import { openOver } from './admin-client-over.ts'
import { runWords } from './run-words.ts'

let temporary: TemporaryStore
let folder: ReturnType<typeof temporaryFolder>
let organizationId: string

beforeEach(async () => {
  temporary = await openTemporaryStore()
  folder = temporaryFolder()
  organizationId = (await temporary.store.organizations.create({ slug: 'demo', name: 'Demo' })).id
})
afterEach(async () => {
  await temporary.remove()
  folder.remove()
})

const run = (...words: string[]) =>
  runWords(['policy', ...words], { open: openOver(temporary), clock: temporary.clock, folder: folder.path })
const runJson = async (...commandArguments: string[]) => {
  const { code, stdout } = await run(...commandArguments, '--json')
  return { code, value: JSON.parse(stdout) }
}

const file = (name: string, text: string): string => {
  const path = join(folder.path, name)
  writeFileSync(path, text)
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

describe('documents', () => {
  test('check says what a document needs', async () => {
    const { code, stdout } = await run('check', file('p.yaml', LIMIT(5)))
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: 'Limit 5: valid, 2 rules, 1 test passed; needs msg_value\n',
    })
    const untested = 'name: P\nrules:\n  - { id: a, allow: "true" }\n'
    expect((await run('check', file('u.yaml', untested))).stdout).toBe('P: valid, 1 rule, no tests\n')
    const { value } = await runJson('check', file('p.yaml', LIMIT(5)))
    expect(value).toMatchObject({ valid: true, rules: 2, tests: 1, requires: ['msg_value'], needs: [] })
    const velocity = file('v.yaml', 'name: P\nrules: [{ id: a, allow: velocity.count(hours(1)) < 5 }]\n')
    const needed = await runJson('check', velocity)
    expect(needed.value.example_facts).toEqual({ velocity: { 3600: { count: 0, value: '0' } } })
  })

  test('check --org reports an unknown list, with a command that creates it there', async () => {
    const listed = file('l.yaml', 'name: L\nrules:\n  - id: a\n    deny: in_list(wallet.address, "partners")\n')
    expect((await run('check', listed)).code).toBe(0)
    const remedy = `run countersign list create partners --org ${organizationId}`
    expect(await run('check', listed, '--org', 'demo')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(remedy),
    })
  })

  test('check shows each mistake where it stands', async () => {
    const { code, stdout, stderr } = await run('check', file('p.yaml', BROKEN))
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toBe(
      '3:23 /rules/0/deny tx has no field "valu"; valid fields: value, data_size, selector\n      - { id: a, deny: tx.valu > 1 }\n                          ^\n',
    )
    const json = await runJson('check', file('p.yaml', BROKEN))
    expect(json).toMatchObject({ code: 1, value: { valid: false, issues: [{ line: 3, column: 23 }] } })
    expect((await run('check', file('f.yaml', FAILING))).stderr).toContain(
      'small: expected allow, got deny by rule limit',
    )
  })

  test('check, test and apply say what is likely not meant, and do their work all the same', async () => {
    const text = 'name: W\nrules:\n  - { id: a, allow: chain.name == "bas" }\n'
    const path = file('w.yaml', text)
    const shown =
      '1 warning. The document can be saved:\n' +
      '3:35 /rules/0/allow unknown chain "bas": did you mean "base"?\n' +
      '      - { id: a, allow: chain.name == "bas" }\n                                      ^\n'
    const warnings = [{ line: 3, column: 35, pointer: '/rules/0/allow' }]
    for (const verb of ['check', 'test', 'apply']) {
      const { code, stdout, stderr } = await run(verb, path)
      expect([verb, code, stderr]).toEqual([verb, 0, shown])
      expect(stdout).not.toBe('')
      // An unchanged document is not saved again, so it has no warnings.
      if (verb === 'apply') writeFileSync(path, `${text}description: again\n`)
      const json = await runJson(verb, path)
      expect(json).toMatchObject({ code: 0, value: verb === 'apply' ? { revision: { warnings } } : { warnings } })
      expect((await run(verb, path, '--json')).stderr).toBe('')
    }
    expect((await runJson('check', file('p.yaml', LIMIT(5)))).value).toMatchObject({ warnings: [] })
  })

  test('test runs all tests of a document, also of one that can not be saved', async () => {
    const passing = await run('test', file('p.yaml', LIMIT(5)))
    expect({ code: passing.code, stdout: passing.stdout }).toEqual({
      code: 0,
      stdout: 'pass  small\n1 passed, 0 failed\n',
    })
    const failing = await run('test', file('f.yaml', FAILING))
    expect(failing.code).toBe(1)
    expect(failing.stdout).toBe('FAIL  small: expected allow, got deny by rule limit\n0 passed, 1 failed\n')
    expect(await runJson('test', file('f.yaml', FAILING))).toMatchObject({ code: 1, value: { passed: 0, failed: 1 } })
  })

  test('templates are listed, and printed whole', async () => {
    expect((await run('templates')).stdout).toContain('identity-required')
    const { stdout } = await run('new', '--template', 'identity-required')
    expect((await run('check', file('t.yaml', stdout))).code).toBe(0)
    const schema = /^# yaml-language-server: \$schema=(file:\S+)\n/.exec(stdout)?.[1] ?? ''
    expect(JSON.parse(readFileSync(new URL(schema), 'utf8'))).toHaveProperty('$schema')
    expect(await run('new', '--template', 'none')).toMatchObject({ code: 1, stderr: 'unknown template none\n' })
    expect((await run('new')).code).toBe(2)
    expect(JSON.parse((await run('schema')).stdout)).toHaveProperty('$schema')
  })

  test('diff of two files', async () => {
    const [a, b] = [file('a.yaml', LIMIT(5)), file('b.yaml', LIMIT(7))]
    expect((await run('diff', a, a)).stdout).toBe('no difference\n')
    const { code, stdout } = await run('diff', a, b)
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout:
        '~ name\n  - Limit 5\n  + Limit 7\n~ rules/limit/deny\n  - tx.value > ether(5)\n  + tx.value > ether(7)\n',
    })
    expect((await runJson('diff', a, b)).value).toHaveLength(2)
  })

  test('a wrong call is 2', async () => {
    expect((await run('diff', 'a', 'b', 'c')).code).toBe(2)
    expect(await run('check', join(folder.path, 'gone'))).toMatchObject({ code: 1 })
  })
})

const applied = async (ether: number, ...options: string[]) => {
  const { value } = await runJson('apply', file(`${ether}.yaml`, LIMIT(ether)), ...options)
  const { id, number, active } = value.revision
  return { policy: value.policy as string, revision: id as string, number, active }
}

describe('revisions', () => {
  test('are applied, saved as drafts, activated and shadowed', async () => {
    const { store } = temporary
    const first = await applied(5)
    expect(first).toMatchObject({ number: 1, active: true })
    const draft = await applied(7, '--policy', first.policy, '--draft')
    expect(draft).toMatchObject({ policy: first.policy, number: 2, active: false })
    expect(await store.policies.find(organizationId, first.policy)).toMatchObject({
      name: 'Limit 5',
      activeRevisionId: first.revision,
    })

    expect((await run('shadow', first.policy, '--revision', '2')).code).toBe(0)
    expect(await store.policies.find(organizationId, first.policy)).toMatchObject({ shadowRevisionId: draft.revision })
    expect((await run('list')).stdout).toContain(draft.revision)
    expect((await run('shadow', first.policy, '--revision', '1')).stderr).toBe('the revision is already active\n')
    expect((await run('shadow', first.policy, '--revision', 'none')).code).toBe(0)
    expect(await store.policies.find(organizationId, first.policy)).toMatchObject({ shadowRevisionId: null })

    expect((await run('activate', first.policy, '--revision', draft.revision)).stdout).toContain(draft.revision)
    expect(await store.policies.find(organizationId, first.policy)).toMatchObject({
      name: 'Limit 7',
      activeRevisionId: draft.revision,
    })
    expect((await run('show', first.policy)).stdout).toBe(LIMIT(7))
    expect((await run('show', first.policy, '--revision', '1')).stdout).toBe(LIMIT(5))
    expect((await runJson('list-revisions', first.policy)).value.data).toHaveLength(2)
    expect((await run('show', first.policy, '--revision', '9')).code).toBe(1)
    expect((await run('activate', 'policy_gone', '--revision', '1')).code).toBe(1)
    expect((await run('activate', first.policy)).code).toBe(2)
    expect((await run('list', '--org', 'nobody')).code).toBe(1)
  })

  test('are listed also when none of them is active yet', async () => {
    const draft = await applied(5, '--draft')
    const { code, value } = await runJson('list-revisions', draft.policy)
    expect(code).toBe(0)
    expect(value.data).toMatchObject([{ id: draft.revision, number: 1 }])
    expect((await run('show', draft.policy)).stderr).toBe(
      `${draft.policy} has no active revision: specify one with --revision\n`,
    )
  })

  test('that do not pass are not saved', async () => {
    for (const text of [BROKEN, FAILING]) expect((await run('apply', file('p.yaml', text))).code).toBe(1)
    expect(await allPolicies(temporary.store, organizationId)).toEqual([])
  })

  test.each(['members', 'deny'])('that name the list %s before it exists are not saved', async (name) => {
    const policy = file('l.yaml', `name: P\nrules: [{ id: a, allow: 'in_list(wallet.address, "${name}")' }]\n`)
    const { code, stderr } = await run('apply', policy)
    expect(code).toBe(1)
    const command = `list create ${name}`
    expect(stderr).toContain(`unknown list "${name}"; known lists: none. To create it, run countersign ${command}`)
    const { code: created } = await runWords(command.split(' '), { open: openOver(temporary), clock: temporary.clock })
    expect(created).toBe(0)
    expect((await run('apply', policy)).code).toBe(0)
  })

  test('are compared with the active one, by number and by id', async () => {
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

describe('one folder of documents', () => {
  test('apply finds the policy by name, and saves only a changed document', async () => {
    const first = await applied(5)
    const again = await run('apply', file('5.yaml', LIMIT(5)))
    expect(again).toMatchObject({ code: 0 })
    expect(again.stdout).toContain(`${first.policy}: revision 1 (${first.revision}) is already active\n`)
    const edited = await applied(6, '--policy', first.policy)
    expect(edited).toMatchObject({ policy: first.policy, number: 2 })
    // The earlier document is only activated again.
    const back = await runJson('apply', file('5.yaml', LIMIT(5)), '--policy', first.policy)
    expect(back.value).toMatchObject({ change: 'activated', revision: { id: first.revision, active: true } })
    expect((await runJson('apply', file('5.yaml', LIMIT(5)), '--draft')).value).toMatchObject({ change: 'none' })
    expect(await allPolicies(temporary.store, organizationId)).toMatchObject([{ name: 'Limit 5', revisionCount: 2 }])
  })

  test('apply refuses to choose between policies of the same name', async () => {
    const { policy } = await applied(5)
    await temporary.store.policies.create({ organizationId, name: 'Limit 5' })
    const { code, stderr } = await run('apply', file('5.yaml', LIMIT(5)))
    expect({ code, named: stderr.includes(policy) && stderr.includes('--policy ID') }).toEqual({ code: 2, named: true })
    expect((await run('apply', file('5.yaml', LIMIT(5)), '--policy', policy)).code).toBe(0)
  })

  test('apply names the projects, or the command that sets one', async () => {
    const { policy } = await applied(5)
    expect((await run('apply', file('5.yaml', LIMIT(5)))).stdout).toContain(
      `No project uses it. To use it: bun run countersign project update PROJECT --policy ${policy}\n`,
    )
    const project = await temporary.store.projects.create({ organizationId, name: 'Shop', policyId: policy })
    expect((await run('apply', file('5.yaml', LIMIT(6).replace('Limit 6', 'Limit 5')))).stdout).toContain(
      `Used by project Shop (${project.id})\n`,
    )
  })

  test('sync reports drift without changing anything, then removes it', async () => {
    mkdirSync(join(folder.path, 'policies'))
    const documents = join(folder.path, 'policies')
    const write = (name: string, text: string): void => writeFileSync(join(documents, name), text)
    write('a.yaml', LIMIT(5))
    write('b.yml', LIMIT(7))
    write('notes.txt', 'not a policy')
    const states = async (...options: string[]) => {
      const { code, value } = await runJson('sync', documents, ...options)
      return [code, ...value.changes.map(({ change }: { change: string }) => change)]
    }
    expect(await states('--dry-run')).toEqual([1, 'created', 'created'])
    expect(await allPolicies(temporary.store, organizationId)).toEqual([])
    expect(await states()).toEqual([0, 'created', 'created'])
    expect(await states('--dry-run')).toEqual([0, 'none', 'none'])
    expect(await states()).toEqual([0, 'none', 'none'])

    write('a.yaml', `${LIMIT(5)}description: edited\n`)
    expect(await states('--dry-run')).toEqual([1, 'saved', 'none'])
    expect(await states()).toEqual([0, 'saved', 'none'])
    const a = (await allPolicies(temporary.store, organizationId)).find(({ name }) => name === 'Limit 5')
    expect((await run('activate', a?.id ?? '', '--revision', '1')).code).toBe(0)
    const drifted = await run('sync', documents, '--dry-run')
    expect({ code: drifted.code, row: /a\.yaml +Limit 5 +policy_\w+ +(.*)/.exec(drifted.stdout)?.[1] }).toEqual({
      code: 1,
      row: 'not active',
    })
    expect(await states()).toEqual([0, 'activated', 'none'])
  })

  test('sync names a policy that decides although the folder lacks it', async () => {
    mkdirSync(join(folder.path, 'policies'))
    writeFileSync(join(folder.path, 'policies', 'a.yaml'), LIMIT(5))
    const other = await applied(9)
    const sync = () => run('sync', join(folder.path, 'policies'), '--dry-run')
    await run('sync', join(folder.path, 'policies'))
    expect((await sync()).code).toBe(0)
    await temporary.store.projects.create({ organizationId, name: 'Shop', policyId: other.policy })
    const { code, stdout } = await sync()
    expect(code).toBe(1)
    expect(stdout).toEndWith(
      `Not in the folder: Limit 9 (${other.policy}), used by Shop\nThe deployment differs from the folder.\n`,
    )
  })

  test('sync saves nothing if a document is invalid or two have the same name', async () => {
    const documents = join(folder.path, 'policies')
    mkdirSync(documents)
    expect((await run('sync', documents)).stderr).toContain('has no .yaml, .yml or .json file')
    writeFileSync(join(documents, 'a.yaml'), LIMIT(5))
    writeFileSync(join(documents, 'b.yaml'), BROKEN)
    const { code, stderr } = await run('sync', documents)
    expect(code).toBe(1)
    expect(stderr).toStartWith(`${join(documents, 'b.yaml')}\n3:23 /rules/0/deny`)
    expect(await runJson('sync', documents)).toMatchObject({ code: 1, value: { valid: false, invalid: [{}] } })
    // The lists of the deployment count too, also for a dry run.
    writeFileSync(
      join(documents, 'b.yaml'),
      `name: P\nrules: [{ id: a, allow: 'in_list(wallet.address, "members")' }]\n`,
    )
    for (const options of [[], ['--dry-run']]) {
      const unknown = await run('sync', documents, ...options)
      expect(unknown.code).toBe(1)
      expect(unknown.stderr).toStartWith(`${join(documents, 'b.yaml')}\n2:`)
      expect(unknown.stderr).toContain('unknown list "members"')
    }
    writeFileSync(join(documents, 'b.yaml'), LIMIT(5))
    expect((await run('sync', documents)).code).toBe(2)
    expect(await allPolicies(temporary.store, organizationId)).toEqual([])
  })

  test('test reads a folder, and reports untested documents, coverage and JUnit XML', async () => {
    const documents = join(folder.path, 'policies')
    mkdirSync(documents)
    writeFileSync(join(documents, 'a.yaml'), LIMIT(5))
    writeFileSync(join(documents, 'b.yaml'), 'name: P\nrules:\n  - { id: a, allow: "true" }\n')
    writeFileSync(join(documents, 'c.yaml'), BROKEN)
    writeFileSync(join(documents, 'd.yaml'), FAILING.replace('small', '"<small> & more"'))
    const report = join(folder.path, 'report.xml')
    const { code, stdout, stderr } = await run('test', documents, '--coverage', '--junit', report)
    const at = (name: string): string => join(documents, name)
    expect({ code, stderr: stderr.split('\n')[0] }).toEqual({ code: 1, stderr: at('c.yaml') })
    expect(stdout).toBe(`${at('a.yaml')}
pass  small
coverage: 2 of 2 rules, 2 of 3 branches
  limit: no test in which this is true: tx.value > ether(5)
${at('b.yaml')}
no tests
coverage: 0 of 1 rules, 0 of 1 branches
  a: no test reaches this rule
${at('c.yaml')}
FAIL  the policy has 1 mistake
${at('d.yaml')}
FAIL  <small> & more: expected allow, got deny by rule limit
coverage: 1 of 2 rules, 1 of 3 branches
  fine: no test reaches this rule
  limit: no test in which this is false: tx.value > ether(0)
1 passed, 1 failed
`)
    const xml = readFileSync(report, 'utf8')
    expect(xml).toContain(`<testsuite name="${at('b.yaml')}" tests="1" failures="0" errors="0">
    <testcase classname="${at('b.yaml')}" name="tests"><skipped message="the document has no tests"/></testcase>`)
    expect(xml).toContain('name="&lt;small&gt; &amp; more"><failure message="&lt;small&gt; &amp; more: expected allow')
    expect(xml).toContain('<error>3:23 /rules/0/deny tx has no')
    const { value } = await runJson('test', documents, '--coverage')
    expect(value).toMatchObject({
      passed: 1,
      failed: 1,
      untested: [at('b.yaml')],
      invalid: [{ file: at('c.yaml'), issues: [{ line: 3 }] }],
      coverage: [{ rules: 2, unreached: [], branches: 3 }, { unreached: ['a'] }, {}],
    })
    expect((await run('test', at('a.yaml'), '--junit', join(folder.path, 'none', 'r.xml'))).code).toBe(1)
  })
})

describe('replay', () => {
  const DAY_MS = 86_400_000
  const record = (records: readonly DecisionRecord[]): void => {
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

  test('says by rule what a revision or a file would change', async () => {
    const { policy } = await applied(5)
    record([
      decided(policy, 1, 3),
      decided(policy, 2, 6),
      decided(policy, 3, 8),
      decided(policy, 4, 9, { at: START_SECONDS * 1000 - 9 * DAY_MS }),
      decided('policy_other', 5, 9),
      decided(policy, 6, 9, { organization: 'org_other' }),
    ])
    const path = file('n.yaml', LIMIT(7))
    const { code, stdout } = await run('replay', path, '--policy', policy)
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: `3 decisions: 2 unchanged, 0 with a different rule only, 1 with a different verdict

COUNT  WAS            WOULD BE       EXAMPLES
1      deny by limit  allow by fine  ${decided(policy, 2, 6).uuid}
`,
    })
    const longer = await runJson('replay', path, '--policy', policy, '--since', '10d')
    expect(longer.value).toMatchObject({ decisions: 4, same: 3, byLists: 0, unreadable: 0 })
    const until = await runJson('replay', path, '--policy', policy, '--since', '10d', '--until', '8d')
    expect(until.value).toMatchObject({ decisions: 1 })
    expect((await runJson('replay', '1', '--policy', policy)).value).toMatchObject({
      decisions: 3,
      same: 3,
      changes: [],
    })
  })

  test('says what it can not tell', async () => {
    const { policy } = await applied(5)
    record([decided(policy, 1, 3), decided(policy, 2, 3, { rule: 'list:allow' })])
    const { stdout } = await run(
      'replay',
      file('i.yaml', 'name: P\nrules: [{ id: a, allow: identity.verified }]\n'),
      '--policy',
      policy,
    )
    expect(stdout).toContain('1 could not be replayed: the log does not show identity.verified\n')
    expect(stdout).toContain("1 were decided by the organization's lists\n")
    const failing = file('f.yaml', 'name: P\nrules: [{ id: a, allow: tx.value - ether(9) > 0 }]\n')
    expect((await run('replay', failing, '--policy', policy)).stdout).toContain('1 would fail with 422 in rule a')
  })

  test('looks addresses up in the lists as they are now', async () => {
    const { policy } = await applied(5)
    const wallet = '0x00000000000000000000000000000000000000c3'
    record([decided(policy, 1, 3), decided(policy, 2, 3, { from: wallet })])
    const list = await temporary.store.lists.create({ owner: null, name: 'members' })
    expect(list.name).toBe('members')
    const path = file('l.yaml', `name: P\nrules: [{ id: fine, allow: '!in_list(wallet.address, "members")' }]\n`)
    expect((await runJson('replay', path, '--policy', policy)).value).toMatchObject({ decisions: 2, same: 2 })
  })

  test('needs to know whose decisions, and when', async () => {
    const path = file('n.yaml', LIMIT(7))
    expect((await run('replay', path)).code).toBe(2)
    const { policy } = await applied(5)
    record([])
    expect((await run('replay', path, '--policy', policy, '--since', 'yesterday')).code).toBe(2)
    expect((await run('replay', path, '--policy', 'policy_gone')).code).toBe(1)
    expect((await runJson('replay', path, '--policy', policy)).value).toMatchObject({ decisions: 0 })
  })
})
