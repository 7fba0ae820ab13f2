// The lifecycle of the service: first and second start, damaged data folders, settings, commands and deadlines.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { cpSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { loadConfig } from '../../src/config/config.ts'
import { SettingInvalidError } from '../../src/config/settings.ts'
import { systemClock } from '../../src/lib/time.ts'
import { MODULES } from '../../src/modules.ts'
import { dataFolderAt } from '../../src/setup/data-folder.ts'
import { openStore } from '../../src/store/store.ts'
import { newFolder } from '../support/folder.ts'
import { until } from '../support/until.ts'
import { words } from '../support/words.ts'
import { attestOnce, projectRequest, task } from './calls.ts'
import { type CommandResult, runToEnd } from './run-to-end.ts'
import { parseEnvironmentFile, type RunningService, runCommand, startService, withoutUrls } from './start-service.ts'

describe('the first and the second start', () => {
  test('the first start creates a private quickstart.env with every value, and the second start does not change the file', async () => {
    const dataDirectory = newFolder()
    const first = await startService({ dataDirectory })
    const path = join(dataDirectory, 'quickstart.env')
    const text = readFileSync(path, 'utf8')
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(Object.keys(parseEnvironmentFile(text))).toEqual(words`
      ATTESTATION_URL IDENTITY_URL ADMIN_URL PORTAL_URL DASHBOARD_URL ATTESTATION_API_KEY IDENTITY_API_KEY
      IDENTITY_TEST_API_KEY ADMIN_API_KEY VERIFICATION_HASH POLICY_ID DEMO_CONTRACT DEMO_PROGRAM EVM_ATTESTER
      SOLANA_ATTESTER
    `)
    expect(Object.values(parseEnvironmentFile(text)).every((value) => value !== '')).toBe(true)
    expect(first.output().stdout).toContain(first.quickstart['ATTESTATION_API_KEY'] ?? 'missing')
    const { attestation } = await attestOnce(first)
    expect(await first.stop()).toBe(0)

    const second = await startService({ dataDirectory })
    // The URLs follow the ports of the second start.
    expect(withoutUrls(readFileSync(path, 'utf8'))).toBe(withoutUrls(text))
    expect(second.output().stdout).not.toContain(second.quickstart['ATTESTATION_API_KEY'] ?? 'missing')
    const again = await attestOnce(second)
    expect(again.attestation.attester).toBe(attestation.attester)
    expect(again.attestation.uuid).not.toBe(attestation.uuid)
    await second.stop()
    expect((await runCommand(dataDirectory, 'decisions', 'verify')).code).toBe(0)
  })
})

describe('a changed data folder:', () => {
  let left = ''
  beforeAll(async () => {
    left = newFolder()
    await (await startService({ dataDirectory: left })).stop()
  })
  /** Returns a copy for one test. */
  const copyOfStarted = (): string => {
    const dataDirectory = join(newFolder(), 'data')
    cpSync(left, dataDirectory, { recursive: true })
    return dataDirectory
  }
  const expectRefusal = async (dataDirectory: string, names: string): Promise<void> => {
    const { code, stderr } = await runMain(dataDirectory, ANY_PORTS)
    expect(code).toBe(2)
    expect(stderr.trimEnd().split('\n')).toHaveLength(1)
    expect(stderr).toContain(names)
  }

  test('a second service in the folder is refused; the first continues, and SIGHUP stops it', async () => {
    const dataDirectory = newFolder()
    const first = await startService({ dataDirectory })
    await expectRefusal(dataDirectory, dataDirectory)
    await attestOnce(first)
    first.process.kill('SIGHUP')
    expect(await first.process.exited).toBe(0)
    await first.logLine((line) => line['message'] === 'stopped')
    await first.stop()
    expect((await runCommand(dataDirectory, 'decisions', 'verify')).code).toBe(0)
  })

  test('a missing passphrase is an error at startup and in commands, and none is created', async () => {
    const dataDirectory = copyOfStarted()
    const path = join(dataDirectory, 'secrets', 'passphrase')
    rmSync(path)
    await expectRefusal(dataDirectory, path)
    const added = await runCommand(dataDirectory, 'attester', 'add', '--kind', 'secp256k1')
    expect(added.code).not.toBe(0)
    expect(added.stderr).toContain(path)
    expect(existsSync(path)).toBe(false)
  })

  test('a missing keystore is a warning, and its attester signs when the file is restored', async () => {
    const dataDirectory = copyOfStarted()
    expect((await runCommand(dataDirectory, 'attester', 'add', '--kind', 'secp256k1')).code).toBe(0)
    const keystores = join(dataDirectory, 'keystores')
    const present =
      parseEnvironmentFile(readFileSync(join(dataDirectory, 'quickstart.env'), 'utf8'))['EVM_ATTESTER'] ?? ''
    const missing = readdirSync(keystores).find((name) => name.endsWith('.json') && !name.includes(present)) ?? ''
    const kept = join(newFolder(), 'kept.json')
    renameSync(join(keystores, missing), kept)
    const service = await startService({ dataDirectory })
    try {
      const warning = await service.logLine((line) => line['keystore_path'] === join(keystores, missing))
      expect(warning['level']).toBe('warn')
      const ready = async () => (await (await fetch(`${service.url}/readyz`)).json()) as Record<string, unknown>
      await until(async () => (await ready())['attesters'] === 'outdated')
      expect((await attestOnce(service)).attestation.attester).toBe(present)
      renameSync(kept, join(keystores, missing))
      await until(async () => (await ready())['attesters'] === 'current')
    } finally {
      await service.stop()
    }
  })

  test('a missing database prevents the start, so that no new deployment replaces the keys', async () => {
    const dataDirectory = copyOfStarted()
    const before = readFileSync(join(dataDirectory, 'quickstart.env'), 'utf8')
    for (const suffix of ['', '-wal', '-shm']) rmSync(join(dataDirectory, `countersign.db${suffix}`), { force: true })
    await expectRefusal(dataDirectory, dataDirectory)
    expect(readFileSync(join(dataDirectory, 'quickstart.env'), 'utf8')).toBe(before)
  })

  test('after SIGKILL, a retry with the same idempotency key gets the same response, without a second signature', async () => {
    const dataDirectory = newFolder()
    const first = await startService({ dataDirectory })
    const headers = { 'idempotency-key': 'order-4711' }
    const answer = await (await first.attest(projectRequest(first), headers)).text()
    first.process.kill('SIGKILL')
    await first.process.exited
    const second = await startService({ dataDirectory })
    const again = await second.attest(projectRequest(second), headers)
    expect([again.status, again.headers.get('idempotency-replayed'), await again.text()]).toEqual([200, 'true', answer])
    await second.stop()
    const verified = await runCommand(dataDirectory, 'decisions', 'verify', '--json')
    expect(JSON.parse(verified.stdout)).toMatchObject({ ok: true, decisions: 1 })
  })

  test('a port in use prevents startup, and no files are created', async () => {
    const taken = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data: () => undefined } })
    const dataDirectory = newFolder()
    const ports = { ...ANY_PORTS, COUNTERSIGN_API_LISTEN: `127.0.0.1:${taken.port}` }
    const { code, stderr } = await runMain(dataDirectory, ports)
    taken.stop(true)
    expect(code).toBe(2)
    expect(stderr).toContain('--api-listen')
    expect(existsSync(join(dataDirectory, 'countersign.db'))).toBe(false)
  })
})

const ANY_PORTS = {
  COUNTERSIGN_API_LISTEN: '127.0.0.1:0',
  COUNTERSIGN_PORTAL_LISTEN: '127.0.0.1:0',
  COUNTERSIGN_DASHBOARD_LISTEN: '127.0.0.1:0',
}

/** Runs the service until it ends, for starts that fail. */
const runMain = (
  dataDirectory: string,
  environment: Readonly<Record<string, string>>,
  ...flags: string[]
): Promise<CommandResult> =>
  runToEnd(['bun', 'src/main.ts', ...flags], { COUNTERSIGN_DATA_DIR: dataDirectory, ...environment })

describe('settings', () => {
  const configFile = (text: string): string => {
    const path = join(newFolder(), 'countersign.yaml')
    writeFileSync(path, text)
    return path
  }

  test.each<[string, Readonly<Record<string, string>>, string[], string]>([
    ['an unknown variable', { COUNTERSIGN_NOPE: '1' }, [], 'COUNTERSIGN_NOPE'],
    ['an unknown flag', {}, ['--nope', '1'], '--nope'],
    ['a flag without value', {}, ['--workers'], '--workers'],
    ['workers out of range', { COUNTERSIGN_WORKERS: '65' }, [], 'COUNTERSIGN_WORKERS'],
    ['a deadline that is not a number', { COUNTERSIGN_DEADLINE_MS: '25s' }, [], 'COUNTERSIGN_DEADLINE_MS'],
    ['a port out of range', { COUNTERSIGN_API_LISTEN: '127.0.0.1:70000' }, [], 'COUNTERSIGN_API_LISTEN'],
    ['an unknown backend', {}, ['--signer', 'quantum'], '--signer'],
    ['a passphrase as a flag', {}, ['--passphrase', 'x'], '--passphrase'],
    ['two passphrases', { COUNTERSIGN_PASSPHRASE: 'x', COUNTERSIGN_PASSPHRASE_FILE: '/x' }, [], 'not both'],
    ['a missing config file', { COUNTERSIGN_CONFIG: '/nowhere.yaml' }, [], '/nowhere.yaml'],
    ['an unencrypted RPC URL', { COUNTERSIGN_RPC_BASE: 'http://example.com' }, [], 'COUNTERSIGN_RPC_BASE'],
    ['the RPC URL of an unknown chain', { COUNTERSIGN_RPC_NOPE: 'https://example.com' }, [], 'COUNTERSIGN_RPC_NOPE'],
    ['an unknown key in the file', { COUNTERSIGN_CONFIG: configFile('nope: 1') }, [], 'nope'],
    ['a chain without id', { COUNTERSIGN_CONFIG: configFile('chains: { mine: {} }') }, [], 'mine'],
    ['a duplicate chain id', { COUNTERSIGN_CONFIG: configFile('chains: { mine: { id: 8453 } }') }, [], '8453'],
  ])('%s is a one-line error', (_name, environment, flags, names) => {
    let refusal: unknown
    try {
      loadConfig({ arguments: flags, environment })
    } catch (error) {
      refusal = error
    }
    expect(refusal).toBeInstanceOf(SettingInvalidError)
    expect((refusal as Error).message).toContain(names)
    expect((refusal as Error).message).not.toContain('\n')
  })

  test('an invalid setting prevents the start with one line', async () => {
    const { code, stdout, stderr } = await runMain(newFolder(), {}, '--nope', '1')
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr.trimEnd().split('\n')).toHaveLength(1)
    expect(stderr).toContain('--nope')
  })

  test('modules that differ from those of a running process prevent the start', async () => {
    const dataDirectory = newFolder()
    const store = await openStore({ path: dataFolderAt(dataDirectory).database, clock: systemClock })
    let beats = 0
    const beat = () =>
      store.liveProcesses.beat({ id: 'p1', name: 'node-1/0', beat: ++beats, clockMs: 0, modules: ['another'] })
    await beat()
    let refused: CommandResult | null = null
    const without = MODULES.map(({ name }) => name).join()
    void runMain(dataDirectory, { ...ANY_PORTS, ...(without && { COUNTERSIGN_WITHOUT: without }) }).then((result) => {
      refused = result
    })
    await until(async () => {
      await beat()
      return refused !== null
    })
    await store.close()
    const stderr = expect.stringMatching(/node-1\/0 \(.*with the unknown module another\)/)
    expect(refused).toMatchObject({ code: 2, stdout: '', stderr })
    // Commands use the modules of the last successful startup.
    expect(existsSync(dataFolderAt(dataDirectory).leftOutModules)).toBe(false)
  })

  test('flags take precedence over variables, and variables over the file', () => {
    const environment = { COUNTERSIGN_CONFIG: configFile('workers: 3\nlog-level: debug'), COUNTERSIGN_WORKERS: '2' }
    expect(loadConfig({ arguments: [], environment })).toMatchObject({ workers: 2, logLevel: 'debug' })
    expect(loadConfig({ arguments: ['--workers', '1'], environment })).toMatchObject({ workers: 1 })
  })

  test('--help lists every setting with its default', async () => {
    const { code, stdout } = await runMain(newFolder(), {}, '--help')
    expect(code).toBe(0)
    for (const text of ['COUNTERSIGN_DATA_DIR', './data', 'COUNTERSIGN_DEADLINE_MS', '25000', 'COUNTERSIGN_SIGNER']) {
      expect(stdout).toContain(text)
    }
  })
})

describe('a running service', () => {
  let service: RunningService
  beforeAll(async () => {
    service = await startService({ environment: { COUNTERSIGN_WORKERS: '2', COUNTERSIGN_DEADLINE_MS: '10000' } })
  })
  afterAll(async () => {
    await service.stop()
  })
  afterEach(async () => {
    await attestOnce(service)
  })

  test('prints a curl command that works', async () => {
    const start = service.output().stdout.indexOf('curl -s')
    const command = service.output().stdout.slice(start, service.output().stdout.indexOf("}'", start) + 2)
    const pasted = Bun.spawn(['bash', '-c', command], { stdout: 'pipe', stderr: 'pipe' })
    expect(JSON.parse(await new Response(pasted.stdout).text())).toMatchObject({ is_compliant: true })
  })

  test('fails no requests while the attester is rotated under load', async () => {
    const old = service.quickstart['EVM_ATTESTER'] ?? ''
    let rotating = true
    const seen = new Set<string>()
    const load = Array.from({ length: 8 }, async () => {
      while (rotating) seen.add((await attestOnce(service)).attestation.attester)
    })
    const added = await runCommand(service.dataDirectory, 'attester', 'add', '--kind', 'secp256k1', '--json')
    const { address } = JSON.parse(added.stdout) as { address: string }
    expect((await runCommand(service.dataDirectory, 'attester', 'retire', old)).code).toBe(0)
    await until(async () => (await attestOnce(service)).attestation.attester === address)
    rotating = false
    await Promise.all(load)
    expect([...seen].sort()).toEqual([old, address].sort())
    const last = await runCommand(service.dataDirectory, 'attester', 'retire', address)
    expect(last.code).toBe(1)
  })
})

test('a request whose fact source hangs gets 408 at the deadline, and is not recorded', async () => {
  const hanging = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data: () => undefined } })
  const service = await startService({
    environment: { COUNTERSIGN_DEADLINE_MS: '400', COUNTERSIGN_RPC_ETHEREUM: `http://127.0.0.1:${hanging.port}` },
  })
  const startedMs = performance.now()
  const response = await task(service)
  const tookMs = performance.now() - startedMs
  expect(response.status).toBe(408)
  expect(await response.json()).toMatchObject({ code: 'DEADLINE_EXCEEDED', status: 408 })
  expect(tookMs).toBeGreaterThanOrEqual(395)
  // Less than the default deadline of 25 s, even on a slow machine.
  expect(tookMs).toBeLessThan(15_000)
  const tail = await runCommand(service.dataDirectory, 'decisions', 'tail', '--json')
  expect(tail.stdout.trim()).toBe('')
  await service.stop()
  hanging.stop(true)
})
