// The second person's rule at the command line: refused while it is on, overridden with a reason that stays, and not got
// around by the order of the words. What needs a second person is what the operations declare.
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
  policy = (JSON.parse(await run('policy', 'apply', `${world.root}/p.yaml`, '--json')) as { policy: string }).policy
  const made = JSON.parse(await run('project', 'create', '--name', 'Shop', '--policy', policy, '--json'))
  project = made.id
  // Only a changed document makes a revision.
  world.file('p.yaml', 'name: P\ndescription: edited\nrules:\n  - id: all\n    allow: "true"\n')
  await run('binding', 'create', '--project', project, '--chain', 'base', '--address', OTHER)
  for (const name of ['mine', 'shared']) {
    await run('lists', 'create', name, ...(name === 'shared' ? ['--shared'] : []))
  }
  for (const name of ['allow', 'deny']) await run('lists', 'add', name, OTHER)
  await world.withStore(async (store) => {
    const demo = await store.organizations.find('demo')
    await store.organizationSettings.setSecondPerson(demo?.id ?? '', true)
  })
})
afterEach(() => world.remove())

/** A command line with the things of this world: P policy, S project, F document, L list file, N names. */
const words = (line: string): string[] =>
  line.split(' ').map(
    (word) =>
      ({
        P: policy,
        S: project,
        F: `${world.root}/p.yaml`,
        L: `${world.root}/list.txt`,
        N: `${world.root}/names.csv`,
      })[word] ?? word,
  )

const rows = () =>
  world.withStore(async (store) => {
    const { items } = await store.audit.page({}, { after: null, limit: 1 })
    return items[0]?.sequence
  })

test('waits where the organization asks for it, and an override is on record with its reason', async () => {
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
    const before = await rows()
    const refused = await world.run(...words(line))
    expect({ line, code: refused.code, stdout: refused.stdout, rows: await rows() }).toEqual({
      line,
      code: 3,
      stdout: '',
      rows: before,
    })
    expect(refused.stderr).toContain('a second person must approve this')
  }
}, 60_000)

test('does not wait for what goes the safe way, or is another’s', async () => {
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
    // The deployment has a rule of its own.
    'attester add --kind ed25519',
    `lists add shared ${EVM} --shared`,
  ]) {
    expect({ line, code: (await world.run(...words(line))).code }).toEqual({ line, code: 0 })
  }
}, 60_000)

test('where the deployment asks for one, its own verbs wait', async () => {
  await run('attester', 'add', '--kind', 'ed25519')
  await run(...words('screening-list import sanctions N --format csv'))
  await world.withStore((store) => store.organizationSettings.setDeploymentSecondPerson(true))
  const key = world.file('key.hex', '11'.repeat(32))
  const [attester] = JSON.parse(await run('attester', 'list', '--json')).data as { address: string }[]
  for (const line of [
    'attester add --kind ed25519',
    `attester import ${key}`,
    `lists add shared ${EVM} --shared`,
    'list-source update shared --from L --shared',
    'screening-list import sanctions N',
    'screening-list enable sanctions --every 48h',
    'screening-list disable sanctions',
  ]) {
    expect({ line, code: (await world.run(...words(line))).code }).toEqual({ line, code: 3 })
  }
  // What was made for a key that was refused is gone, so it can be asked for again.
  await run('attester', 'import', key, ...OVERRIDE)
  expect((await world.run('attester', 'retire', attester?.address ?? '')).code).not.toBe(0)
}, 60_000)

test('an override needs a reason', () => {
  const { others, override } = splitOverride(['add', '--override-second-person', 'deny', '--reason', 'nobody is here'])
  expect([others, override]).toEqual([['add', 'deny'], { reason: 'nobody is here' }])
  // Without an override the word is the verb's own.
  expect(splitOverride(['decide', '--reason', 'x']).others).toEqual(['decide', '--reason', 'x'])
  for (const words of [[], ['--reason'], ['--reason='], ['--reason', ' '], ['--reason', '--json']]) {
    expect(() => splitOverride(['add', '--override-second-person', ...words])).toThrow('requires --reason')
  }
})

describe('a rule that nobody is left to approve the end of', () => {
  for (const [name, organization, words] of [
    ['of an organization', 'demo', ['--org', 'demo']],
    ['of the deployment', null, ['--deployment']],
  ] as const) {
    test(`${name} is turned off by an override alone, which is on record`, async () => {
      await world.withStore((store) => store.organizationSettings.setDeploymentSecondPerson(true))
      const read = async () => JSON.parse(await run('second-person-rule', 'show', ...words, '--json')) as unknown
      expect(await read()).toEqual({ second_person: true })
      expect(await world.run('second-person-rule', 'update', '--no-required', ...words)).toMatchObject({
        code: 3,
        stdout: '',
      })
      expect(await read()).toEqual({ second_person: true })

      await run('second-person-rule', 'update', '--no-required', ...words, ...OVERRIDE)
      expect(await read()).toEqual({ second_person: false })
      const { items } = await world.withStore((store) =>
        store.audit.page({ overridden: true }, { after: null, limit: 10 }),
      )
      expect(items).toHaveLength(1)
      expect(items[0]).toMatchObject({
        action: 'settings.second-person',
        actor: 'command-line',
        actorName: 'anna',
        detail: { second_person: [true, false], override: true, reason: 'all are ill' },
      })
      const after =
        organization === null
          ? ['attester', 'add', '--kind', 'ed25519']
          : ['organization', 'update', 'demo', '--level', 'enhanced']
      await run(...after)
      // On again it would be as stuck as before.
      expect((await world.run('second-person-rule', 'update', '--required', ...words)).code).toBe(1)
    }, 60_000)
  }
})

describe('an override', () => {
  test('does it, and the operation’s own entry says so and why', async () => {
    await run('organization', 'update', 'demo', '--level', 'enhanced', ...OVERRIDE)
    await run('policy', 'apply', `${world.root}/p.yaml`, '--policy', policy, ...OVERRIDE)
    const { items } = await world.withStore((store) =>
      store.audit.page({ overridden: true }, { after: null, limit: 10 }),
    )
    expect(items.map(({ action }) => action)).toEqual(['policy.activate', 'organization.change'])
    for (const entry of items) {
      expect(entry).toMatchObject({
        actor: 'command-line',
        actorName: 'anna',
        detail: { override: true, reason: 'all are ill' },
      })
    }
  })

  test('is said of nothing that needs none', async () => {
    await run('organization', 'update', 'free', '--level', 'enhanced', ...OVERRIDE)
    const { items } = await world.withStore((store) =>
      store.audit.page({ overridden: true }, { after: null, limit: 10 }),
    )
    expect(items).toEqual([])
  })
})
