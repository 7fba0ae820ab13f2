// The program around its commands: help, version, completion, errors, and another machine's deployment.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { VERBS } from '../../src/cli/verbs.ts'
import { type Harness, startHarness } from '../admin/support/harness.ts'
import { type CommandWorld, openCommandWorld } from './world.ts'

let world: CommandWorld
beforeAll(async () => {
  world = await openCommandWorld()
})
afterAll(() => world.remove())

describe('help', () => {
  test('an unknown command or verb is repeated if it can’t be a key, and its like is named', async () => {
    const lines = async (...words: string[]) => (await world.run(...words)).stderr.split('\n')
    expect(await lines('frob')).toEqual([
      'there is no command frob',
      'To list the commands: bun run countersign help',
      '',
    ])
    expect((await lines('csa_live_SECRET'))[0]).toBe('there is no such command')
    expect((await lines('sessions', 'list'))[0]).toBe('there is no command sessions. Did you mean session?')
    expect(await lines('session', 'frob')).toEqual([
      'session has no verb frob',
      'To list the verbs: bun run countersign session --help',
      '',
    ])
    expect((await lines('session', 'csa_live_SECRET'))[0]).toBe('session has no such verb')
    expect((await lines('decisions', 'list'))[0]).toBe('decisions has no verb list. Did you mean decision list?')
    expect((await lines('decision', 'tail'))[0]).toBe('decision has no verb tail. Did you mean decisions tail?')
  })

  test('an option takes its choices only', async () => {
    const wrong = await world.run('attester', 'import', world.file('some.hex', '11'.repeat(32)), '--kind', 'rsa')
    expect([wrong.code, wrong.stderr.split('\n')[0]]).toEqual([2, '--kind must be one of secp256k1, ed25519'])
    const none = await world.run('policy', 'list', '--help', '--limit', 'x')
    expect(none.code).toBe(0)
  })

  test('has one text, however it is asked for', async () => {
    const { stdout } = await world.run('help', 'key', 'create')
    expect(stdout).toStartWith('Usage: bun run countersign key create --name NAME')
    expect((await world.run('keys', 'issue', '--help')).stdout).toBe(stdout)
    expect((await world.run('help', 'key')).stdout).toContain('  revoke ')
    const all = await world.run('help')
    expect(all.stdout).toMatch(/^ {2}project +.*create/m)
    expect(all.stdout).toMatch(/^ {2}backup /m)
    expect(await world.run()).toEqual({ code: 2, stdout: all.stdout, stderr: '' })
    expect((await world.run('--version')).stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
  })

  test('names what was likely meant', async () => {
    expect((await world.run('projct', 'list')).stderr).toContain('Did you mean project?')
    expect((await world.run('project', 'lst')).stderr).toContain('Did you mean list?')
    expect((await world.run('project', 'list', '--polcy', 'x')).stderr).toContain('Did you mean --policy?')
  })
})

test('an error is one line, or with --json one object', async () => {
  for (const [words, code, name] of [
    [['project', 'show', 'nobody'], 1, 'NOT_FOUND'],
    [['project', 'create'], 2, 'INVALID_REQUEST'],
    [['nothing'], 2, 'INVALID_REQUEST'],
    [['pool', 'show'], 1, 'DEPENDENCY_UNAVAILABLE'],
  ] as const) {
    await world.run('org', 'create', 'demo')
    const result = await world.run(...words, '--json')
    expect([words, result.code, result.stdout]).toEqual([words, code, ''])
    expect([words, JSON.parse(result.stderr).code]).toEqual([words, name === 'NOT_FOUND' ? 'FAILED' : name])
    expect((await world.run(...words)).stderr).toStartWith(JSON.parse(result.stderr).detail)
  }
})

describe('completion', () => {
  const complete = async (...words: readonly string[]): Promise<readonly string[]> => {
    const { stdout } = await world.run('completion', 'bash')
    const script = `${stdout}COMP_WORDS=(countersign "$@"); COMP_CWORD=$#; _countersign; printf '%s\\n' "\${COMPREPLY[@]}"`
    const { exitCode, stdout: printed, stderr } = Bun.spawnSync(['bash', '-c', script, 'bash', ...words])
    expect([exitCode, stderr.toString()]).toEqual([0, ''])
    return printed.toString().trim().split('\n')
  }

  test('of bash knows nouns, verbs, options and choices', async () => {
    expect(await complete('proj')).toContain('project')
    expect(await complete('backu')).toEqual(['backup'])
    expect(await complete('key', 'reg')).toEqual(['regenerate'])
    expect(await complete('key', 'create', '--exp')).toEqual(['--expires'])
    expect(await complete('key', 'create', '--kind', 'id')).toEqual(['identity'])
  })

  test('is there for zsh and fish, and no other shell', async () => {
    expect((await world.run('completion', 'zsh')).stdout).toStartWith('#compdef countersign\n')
    expect((await world.run('completion', 'fish')).stdout).toContain('complete -c countersign')
    expect((await world.run('completion', 'csh')).code).toBe(2)
  })

  const fish = Bun.which('fish')
  test.skipIf(fish === null)('of fish completes words, choices and files', async () => {
    const script = world.file('countersign.fish', (await world.run('completion', 'fish')).stdout)
    const completions = (line: string): string[] => {
      const { stdout } = Bun.spawnSync([fish ?? '', '--no-config', '-c', `source ${script}; complete -C '${line}'`])
      return stdout.toString().trim().split('\n')
    }
    expect(completions('countersign proj')).toContain('project')
    expect(completions('countersign key create --kind id')).toEqual(['identity'])
    expect(completions(`countersign policy apply ${world.root}/countersign.f`)).toEqual([script])
  })
})

describe('with --url', () => {
  let harness: Harness
  let server: Bun.Server<undefined>
  let url: string
  const asked: Request[] = []
  let failing = ''
  beforeAll(async () => {
    harness = await startHarness()
    const api = harness.api
    server = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch: (request) => {
        asked.push(request)
        if (failing !== '' && request.url.endsWith(failing)) return new Response('', { status: 502 })
        return api(request)
      },
    })
    url = server.url.href
    const { id } = await harness.organization('demo')
    world.environment['COUNTERSIGN_ADMIN_KEY'] = await harness.issueKey(id, 'admin')
    await harness.store.organizationSettings.setSecondPerson(id, false)
  })
  afterAll(async () => {
    await server.stop(true)
    await harness.close()
  })

  test('a command runs there, with the key, before the noun or behind the verb', async () => {
    const made = await world.run('list', 'create', 'partners', '--url', url, '--json')
    expect(made).toMatchObject({ code: 0, stderr: '' })
    expect(JSON.parse(made.stdout)).toMatchObject({ name: 'partners', entries: 0 })
    expect((await world.run('--url', url, 'list', 'list')).stdout).toContain('partners')
    for (const options of [
      ['--json', '--url', url],
      ['--url', url, '--json'],
    ]) {
      expect(JSON.parse((await world.run(...options, 'list', 'list')).stdout)).toMatchObject({
        data: expect.anything(),
      })
    }
    // The value of ADMIN_URL in quickstart.env.
    expect((await world.run('--url', `${url}admin/v1`, 'list', 'list')).stdout).toContain('partners')
    const file = world.file('partners.txt', `0x${'1'.repeat(40)}\n`)
    expect((await world.run('list', 'upload', 'partners', file, '--url', url)).stdout).toContain('1 entries')
    expect((await world.run('list', 'show', 'nobody', '--url', url)).code).toBe(1)
    expect(asked.every(({ url }) => !url.includes('cs'))).toBe(true)
  })

  test('a policy is tried on a request, and mistakes name the option or the line', async () => {
    const document = world.file('try.yaml', 'name: P\nrules:\n  - { id: small, allow: tx.value < ether(1) }\n')
    const words = ['policy', 'try', '--file', document, '--from', `0x${'1'.repeat(40)}`, '--url', url]
    const tried = await world.run(...words, '--chain', 'base', '--msg-value', '5')
    expect([tried.code, tried.stdout]).toEqual([0, expect.stringMatching(/^VERDICT +compliant\nRULE +small\n/)])
    expect((await world.run(...words)).stderr).toStartWith('--chain is required\nUsage: ')
    const applied = JSON.parse((await world.run('policy', 'apply', document, '--url', url, '--json')).stdout)
    const compare = ['policy', 'diff', document, '--policy', applied.policy, '--url', url]
    expect(await world.run(...compare)).toEqual({ code: 0, stdout: 'no difference\n', stderr: '' })
    const broken = world.file('broken.yaml', 'name: P\nrules:\n  - { id: small, allow: tx.valu < 1 }\n')
    const refused = await world.run('policy', 'try', '--file', broken, '--url', url, '--chain', 'base')
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('3:28 /rules/0/allow ') })
  })

  test('a revision that was saved but not activated is named, and the same command activates it', async () => {
    const document = world.file('half.yaml', 'name: Half\nrules: []\n')
    const words = ['policy', 'apply', document, '--url', url]
    failing = '/activate'
    expect(await world.run(...words)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /^Half is saved as revision 1 \(\w+\), but its activation failed: the server returned 502\. To activate it, run the command again\n$/,
      ),
    })
    expect(JSON.parse((await world.run(...words, '--json')).stderr)).toMatchObject({
      detail: 'the server returned 502',
    })
    failing = ''
    expect(JSON.parse((await world.run(...words, '--json')).stdout)).toMatchObject({
      change: 'activated',
      revision: { number: 1, active: true },
    })
  })

  test('what needs a second person is refused, because the holder of a key is unknown', async () => {
    const organization = await harness.store.organizations.find('demo')
    await harness.store.organizationSettings.setSecondPerson(organization?.id ?? '', true)
    const refused = await world.run('list', 'create', 'others', '--url', url)
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('not a key') })
    expect((await world.run('approval', 'list', '--url', url, '--json')).stdout).toStartWith('{"data":[]')
  })

  test('the key goes nowhere in the clear, and has to be there', async () => {
    for (const wrong of ['http://countersign.example', 'ftp://127.0.0.1', 'https://a:b@127.0.0.1', 'nonsense']) {
      const { code, stderr } = await world.run('list', 'list', '--url', wrong)
      expect([wrong, code]).toEqual([wrong, 2])
      expect(stderr).toStartWith('--url must be https')
    }
    const key = world.environment['COUNTERSIGN_ADMIN_KEY'] ?? ''
    delete world.environment['COUNTERSIGN_ADMIN_KEY']
    expect((await world.run('list', 'list', '--url', url)).stderr).toStartWith('--url requires COUNTERSIGN_ADMIN_KEY')
    world.environment['COUNTERSIGN_ADMIN_KEY_FILE'] = world.file('admin-key', `${key}\n`)
    expect((await world.run('list', 'list', '--url', url)).code).toBe(0)
  })

  test('a command that works on files of this machine takes none', async () => {
    expect((await world.run('attester', 'import', 'x', '--url', url)).code).toBe(2)
    expect((await world.run('--url', url, 'attester', 'import', 'x')).code).toBe(2)
  })

  test.each(Object.keys(VERBS))('%s runs on no other deployment', async (verb) => {
    const { code, stdout, stderr } = await world.run('--url', url, verb)
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toContain('run the command without --url')
  })
})
