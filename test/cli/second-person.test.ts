// The second-person rule at the command line. A change that needs a second person is refused, regardless of argument
// order. An override requires a reason, which the audit log keeps.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { splitOverride } from '../../src/command-line/second-person.ts'
import { type CommandWorld, openCommandWorld } from './world.ts'

const EVM = '0x1111111111111111111111111111111111111111'
const OTHER = '0x2222222222222222222222222222222222222222'
const OVERRIDE = ['--override-second-person', '--reason', 'all are ill']

let world: CommandWorld
let policy = ''
let project = ''

const run = async (...words: string[]): Promise<string> => {
  const { code, stdout, stderr } = await world.run(...words)
  expect({ words, code, stderr }).toMatchObject({ words, code: 0 })
  return stdout
}

beforeEach(async () => {
  world = await openCommandWorld()
  await run('org', 'create', 'demo')
  await run('org', 'create', 'free')
  world.file('p.yaml', 'name: P\nrules:\n  - id: all\n    allow: "true"\n')
  world.file('list.txt', `${EVM}\n`)
  world.file('names.csv', 'id,kind,name\nn1,person,Ivan Primerov\n')
  policy = (await world.json('policy', 'apply', `${world.root}/p.yaml`)).policy
  project = (await world.json('project', 'create', '--name', 'Shop', '--policy', policy)).id
  // A revision is made only if the document has changed.
  world.file('p.yaml', 'name: P\ndescription: edited\nrules:\n  - id: all\n    allow: "true"\n')
  await run('binding', 'create', '--project', project, '--chain', 'base', '--address', OTHER)
  await run('lists', 'create', 'mine')
  await run('lists', 'create', 'shared', '--shared')
  for (const name of ['allow', 'deny']) await run('lists', 'add', name, OTHER)
  await world.withStore(async (store) => {
    const demo = await store.organizations.find('demo')
    await store.organizationSettings.setSecondPerson(demo?.id ?? '', true)
  })
})
afterEach(() => world.remove())

/** Runs a line in which P stands for the policy, S for the project, F for the document, L for a list and N for names. */
const runLine = (line: string) => {
  const [F, L, N] = ['p.yaml', 'list.txt', 'names.csv'].map((name) => `${world.root}/${name}`)
  const values: Readonly<Record<string, string | undefined>> = { P: policy, S: project, F, L, N }
  return world.run(...line.split(' ').map((word) => values[word] ?? word))
}
const audited = (overridden?: true) =>
  world.withStore(
    async (store) => (await store.audit.page(overridden ? { overridden } : {}, { after: null, limit: 10 })).items,
  )

test('changes of an organization with the rule are refused', async () => {
  const before = (await audited())[0]?.sequence
  for (const line of [
    'policy apply F',
    'policy apply F --policy P',
    'policy activate P --revision 1',
    'policy --org demo activate P --revision 1',
    'project create --name x --policy P',
    'project set S --lifetime 60',
    `binding create --project S --chain base --address ${EVM}`,
    `binding delete --org=demo ${OTHER}`,
    'project set S --lifetime 70 --org free --org demo',
    'lists create other',
    'lists upload deny L',
    `lists add allow ${EVM}`,
    `lists remove deny ${OTHER}`,
    'list-source update mine --from https://127.0.0.1:9/a --reach loopback',
    'list-source update mine --from L',
    'lists delete mine',
    'org update demo --level enhanced',
    'org --json update demo --level standard',
    'verification-trust update --trusts listed --organizations free',
    'verification-trust --json update --trusts none',
    'minimum-age update --years 17',
    'evidence-retention update --org demo --completed 1',
    'screening update --org demo --threshold 100',
  ]) {
    const { code, stdout, stderr } = await runLine(line)
    expect([line, code, stdout, (await audited())[0]?.sequence]).toEqual([line, 3, '', before])
    expect(stderr).toContain('a second person must approve this')
  }
}, 60_000)

test('changes that only tighten, and those of other organizations, are made immediately', async () => {
  for (const line of [
    'policy apply F --policy P --draft',
    'policy list',
    'project list',
    `lists add deny ${EVM}`,
    'lists upload deny L --merge',
    `lists remove allow ${OTHER}`,
    'lists show mine',
    'keys issue --org demo --kind attestation --name x',
    'org update free --level basic',
    'verification-trust show',
    'verification-trust update --org free --trusts listed --organizations demo',
    'minimum-age update --years 21',
    'evidence-retention update --completed 3000',
    'screening update --threshold 70',
    // The deployment has its own rule.
    'attester add --kind ed25519',
    `lists add shared ${EVM} --shared`,
  ]) {
    expect([line, (await runLine(line)).code]).toEqual([line, 0])
  }
}, 60_000)

test('changes of a deployment with the rule are refused', async () => {
  await run('attester', 'add', '--kind', 'ed25519')
  expect((await runLine('screening-list import sanctions N --format csv')).code).toBe(0)
  await world.withStore((store) => store.organizationSettings.setDeploymentSecondPerson(true))
  const key = world.file('key.hex', '11'.repeat(32))
  const [attester] = (await world.json('attester', 'list')).data as { address: string }[]
  for (const line of [
    'attester add --kind ed25519',
    `attester import ${key}`,
    `lists add shared ${EVM} --shared`,
    'list-source update shared --from L --shared',
    'screening-list import sanctions N',
    'screening-list enable sanctions --every 48h',
    'screening-list disable sanctions',
  ]) {
    expect([line, (await runLine(line)).code]).toEqual([line, 3])
  }
  // The keystore of a refused import is deleted, so that the import can be repeated.
  await run('attester', 'import', key, ...OVERRIDE)
  expect((await world.run('attester', 'retire', attester?.address ?? '')).code).not.toBe(0)
}, 60_000)

test.each([
  ['an organization', ['--org', 'demo'], ['organization', 'update', 'demo', '--level', 'enhanced']],
  ['the deployment', ['--deployment'], ['attester', 'add', '--kind', 'ed25519']],
])(
  'the rule of %s without an approver is disabled only by an override, which is in the audit log',
  async (_, options, change) => {
    await world.withStore((store) => store.organizationSettings.setDeploymentSecondPerson(true))
    const read = () => world.json('second-person-rule', 'show', ...options)
    const update = ['second-person-rule', 'update', ...options]
    expect(await world.run(...update, '--no-required')).toMatchObject({ code: 3, stdout: '' })
    expect(await read()).toEqual({ second_person: true })

    await run(...update, '--no-required', ...OVERRIDE)
    expect(await read()).toEqual({ second_person: false })
    expect(await audited(true)).toMatchObject([
      {
        action: 'settings.second-person',
        actor: 'command-line',
        actorName: 'anna',
        detail: { second_person: [true, false], override: true, reason: 'all are ill' },
      },
    ])
    await run(...change)
    // Without an approver, the rule can't be enabled again.
    expect((await world.run(...update, '--required')).code).toBe(1)
  },
  60_000,
)

describe('an override', () => {
  test('requires a reason', () => {
    const { others, override } = splitOverride(['add', '--override-second-person', 'deny', '--reason', 'nobody here'])
    expect([others, override]).toEqual([['add', 'deny'], { reason: 'nobody here' }])
    // Without an override, --reason is an option of the verb.
    expect(splitOverride(['decide', '--reason', 'x']).others).toEqual(['decide', '--reason', 'x'])
    for (const words of [[], ['--reason'], ['--reason='], ['--reason', ' '], ['--reason', '--json']]) {
      expect(() => splitOverride(['add', '--override-second-person', ...words])).toThrow('requires --reason')
    }
  })

  test('makes the change, and its reason is in the entry of each operation that needed it', async () => {
    await run('organization', 'update', 'free', '--level', 'enhanced', ...OVERRIDE)
    expect(await audited(true)).toEqual([])
    await run('organization', 'update', 'demo', '--level', 'enhanced', ...OVERRIDE)
    await run('policy', 'apply', `${world.root}/p.yaml`, '--policy', policy, ...OVERRIDE)
    const detail = { override: true, reason: 'all are ill' }
    const entry = { actor: 'command-line', actorName: 'anna', detail }
    expect(await audited(true)).toMatchObject([
      { ...entry, action: 'policy.activate' },
      { ...entry, action: 'organization.change' },
    ])
  })
})
