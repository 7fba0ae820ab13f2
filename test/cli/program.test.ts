// The program around its commands: help, version, completion, errors, and remote deployments.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { VERBS } from '../../src/cli/verbs.ts'
import { type Harness, startHarness } from '../admin/support/harness.ts'
import { openCommandWorld } from './world.ts'

const world = await openCommandWorld()
afterAll(() => world.remove())
const { run, json } = world

describe('help', () => {
  const LIST_COMMANDS = 'To list the commands: bun run countersign help'
  const LIST_VERBS = 'To list the verbs: bun run countersign session --help'

  test.each([
    ['frob', 'there is no command frob', LIST_COMMANDS],
    // An argument that could be a key is not repeated.
    ['csa_live_SECRET', 'there is no such command', LIST_COMMANDS],
    ['sessions list', 'there is no command sessions. Did you mean session?', LIST_COMMANDS],
    ['projct list', 'there is no command projct. Did you mean project?', LIST_COMMANDS],
    ['session frob', 'session has no verb frob', LIST_VERBS],
    ['session csa_live_SECRET', 'session has no such verb', LIST_VERBS],
    ['project lst', 'project has no verb lst. Did you mean list?', null],
    ['decisions list', 'decisions has no verb list. Did you mean decision list?', null],
    ['decision tail', 'decision has no verb tail. Did you mean decisions tail?', null],
    ['project list --polcy x', 'unknown option --polcy. Did you mean --policy?', null],
  ])('%s is refused: %s', async (line, message, remedy) => {
    const { code, stderr } = await run(...line.split(' '))
    const [first, second] = stderr.split('\n')
    expect([code, first, remedy === null ? null : second]).toEqual([2, message, remedy])
  })

  test('an option accepts only its choices, and --help accepts any option', async () => {
    const wrong = await run('attester', 'import', world.file('some.hex', '11'.repeat(32)), '--kind', 'rsa')
    expect([wrong.code, wrong.stderr.split('\n')[0]]).toEqual([2, '--kind must be one of secp256k1, ed25519'])
    expect((await run('policy', 'list', '--help', '--limit', 'x')).code).toBe(0)
  })

  test('prints the same text for each spelling', async () => {
    const { stdout } = await run('help', 'key', 'create')
    expect(stdout).toStartWith('Usage: bun run countersign key create --name NAME')
    expect((await run('keys', 'issue', '--help')).stdout).toBe(stdout)
    expect((await run('help', 'key')).stdout).toContain('  revoke ')
    expect((await run('help', 'attester', 'import')).stdout).toMatch(
      /\nImport a signing key from a file\nReads a hex key/,
    )
    const all = await run('help')
    expect(all.stdout).toMatch(/^ {2}project +.*create/m)
    expect(all.stdout).toMatch(/^ {2}backup /m)
    expect(await run()).toEqual({ code: 2, stdout: all.stdout, stderr: '' })
    expect((await run('--version')).stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
  })
})

test('an error is one line, or one object with --json', async () => {
  await run('org', 'create', 'demo')
  for (const [words, code, name] of [
    [['project', 'show', 'nobody'], 1, 'FAILED'],
    [['project', 'create'], 2, 'INVALID_REQUEST'],
    [['nothing'], 2, 'INVALID_REQUEST'],
    [['pool', 'show'], 1, 'DEPENDENCY_UNAVAILABLE'],
  ] as const) {
    const result = await run(...words, '--json')
    const error = JSON.parse(result.stderr)
    expect([words, result.code, result.stdout, error.code]).toEqual([words, code, '', name])
    expect((await run(...words)).stderr).toStartWith(error.detail)
  }
})

describe('completion', () => {
  test('for bash completes nouns, verbs, options and choices', async () => {
    const { stdout } = await run('completion', 'bash')
    const script = `${stdout}COMP_WORDS=(countersign "$@"); COMP_CWORD=$#; _countersign; printf '%s\\n' "\${COMPREPLY[@]}"`
    const complete = (line: string): readonly string[] => {
      const child = Bun.spawnSync(['bash', '-c', script, 'bash', ...line.split(' ')])
      expect([child.exitCode, child.stderr.toString()]).toEqual([0, ''])
      return child.stdout.toString().trim().split('\n')
    }
    expect(complete('proj')).toContain('project')
    expect(complete('backu')).toEqual(['backup'])
    expect(complete('key reg')).toEqual(['regenerate'])
    expect(complete('key create --exp')).toEqual(['--expires'])
    expect(complete('key create --kind id')).toEqual(['identity'])
  })

  test('exists for zsh and fish, and for no other shell', async () => {
    expect((await run('completion', 'zsh')).stdout).toStartWith('#compdef countersign\n')
    expect((await run('completion', 'fish')).stdout).toContain('complete -c countersign')
    expect((await run('completion', 'csh')).code).toBe(2)
  })

  const fish = Bun.which('fish')
  test.skipIf(fish === null)('for fish completes words, choices and files', async () => {
    const script = world.file('countersign.fish', (await run('completion', 'fish')).stdout)
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
  let organizationId: string
  const requestedUrls: string[] = []
  let failing = ''
  beforeAll(async () => {
    harness = await startHarness()
    server = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch: (request) => {
        requestedUrls.push(request.url)
        if (failing !== '' && request.url.endsWith(failing)) return new Response('', { status: 502 })
        return harness.api(request)
      },
    })
    url = server.url.href
    organizationId = (await harness.organization('demo')).id
    world.environment['COUNTERSIGN_ADMIN_KEY'] = await harness.issueKey(organizationId, 'admin')
  })
  afterAll(async () => {
    await server.stop(true)
    await harness.close()
  })

  test('a command runs on that deployment, with the option in any position and without the key in a URL', async () => {
    expect(await json('list', 'create', 'partners', '--url', url)).toMatchObject({ name: 'partners', entries: 0 })
    expect((await run('--url', url, 'list', 'list')).stdout).toContain('partners')
    for (const options of [
      ['--json', '--url', url],
      ['--url', url, '--json'],
    ]) {
      expect(JSON.parse((await run(...options, 'list', 'list')).stdout)).toMatchObject({ data: expect.anything() })
    }
    // The value of ADMIN_URL in quickstart.env.
    expect((await run('--url', `${url}admin/v1`, 'list', 'list')).stdout).toContain('partners')
    const file = world.file('partners.txt', `0x${'1'.repeat(40)}\n`)
    expect((await run('list', 'upload', 'partners', file, '--url', url)).stdout).toContain('1 entries')
    expect((await run('list', 'show', 'nobody', '--url', url)).code).toBe(1)
    expect(requestedUrls.filter((each) => each.includes('cs'))).toEqual([])
  })

  test('a policy is simulated with a request, and errors name the option or the line', async () => {
    const document = world.file('try.yaml', 'name: P\nrules:\n  - { id: small, allow: tx.value < ether(1) }\n')
    const words = ['policy', 'try', '--file', document, '--from', `0x${'1'.repeat(40)}`, '--url', url]
    const tried = await run(...words, '--chain', 'base', '--msg-value', '5')
    expect([tried.code, tried.stdout]).toEqual([0, expect.stringMatching(/^VERDICT +compliant\nRULE +small\n/)])
    expect((await run(...words)).stderr).toStartWith('--chain is required\nUsage: ')
    const { policy } = await json('policy', 'apply', document, '--url', url)
    const compared = await run('policy', 'diff', document, '--policy', policy, '--url', url)
    expect(compared).toEqual({ code: 0, stdout: 'no difference\n', stderr: '' })
    const broken = world.file('broken.yaml', 'name: P\nrules:\n  - { id: small, allow: tx.valu < 1 }\n')
    const refused = await run('policy', 'try', '--file', broken, '--url', url, '--chain', 'base')
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('3:28 /rules/0/allow ') })
  })

  test('apply names a saved revision whose activation failed, and activates it in the next run', async () => {
    const document = world.file('half.yaml', 'name: Half\nrules: []\n')
    const words = ['policy', 'apply', document, '--url', url]
    failing = '/activate'
    expect(await run(...words)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /^Half is saved as revision 1 \(\w+\), but its activation failed: the server returned 502\. To activate it, run the command again\n$/,
      ),
    })
    const { stderr } = await run(...words, '--json')
    expect(JSON.parse(stderr)).toMatchObject({ detail: 'the server returned 502' })
    failing = ''
    expect(await json(...words)).toMatchObject({ change: 'activated', revision: { number: 1, active: true } })
  })

  test('a change that needs a second person is refused, because the holder of a key is unknown', async () => {
    await harness.store.organizationSettings.setSecondPerson(organizationId, true)
    const refused = await run('list', 'create', 'others', '--url', url)
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('not a key') })
    expect((await run('approval', 'list', '--url', url, '--json')).stdout).toStartWith('{"data":[]')
  })

  test('the key is required, and is never sent unencrypted to another machine', async () => {
    for (const wrong of ['http://countersign.example', 'ftp://127.0.0.1', 'https://a:b@127.0.0.1', 'nonsense']) {
      const { code, stderr } = await run('list', 'list', '--url', wrong)
      expect([wrong, code, stderr]).toEqual([wrong, 2, expect.stringMatching(/^--url must be https/)])
    }
    const key = world.environment['COUNTERSIGN_ADMIN_KEY'] ?? ''
    delete world.environment['COUNTERSIGN_ADMIN_KEY']
    expect((await run('list', 'list', '--url', url)).stderr).toStartWith('--url requires COUNTERSIGN_ADMIN_KEY')
    world.environment['COUNTERSIGN_ADMIN_KEY_FILE'] = world.file('admin-key', `${key}\n`)
    expect((await run('list', 'list', '--url', url)).code).toBe(0)
  })

  test('a command that uses local files is refused', async () => {
    expect((await run('attester', 'import', 'x', '--url', url)).code).toBe(2)
    expect((await run('--url', url, 'attester', 'import', 'x')).code).toBe(2)
  })

  test.each(Object.keys(VERBS))('%s is refused', async (verb) => {
    const stderr = expect.stringContaining('run the command without --url')
    expect(await run('--url', url, verb)).toEqual({ code: 2, stdout: '', stderr })
  })
})
