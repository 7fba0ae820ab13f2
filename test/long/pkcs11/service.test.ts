// A service with attester keys in a SoftHSM token: it signs with them, starts only if it can use them, and uses its other keys
// while the token is unavailable, hangs or returns invalid signatures.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { zeroAddress } from 'viem'
import { verifyEvmAttestation } from '../../../src/client/evm-attestation.ts'
import { makeSoftHsm, type Shim, type SoftHsm, TOKEN, WITHOUT_SHIM } from '../../hardware-keys/soft-hsm.ts'
import { type CommandResult, runCountersign, runToEnd } from '../../service/run-to-end.ts'
import { freePort, type RunningService, startAlone } from '../../service/start-service.ts'
import { newFolder } from '../../support/folder.ts'
import { until } from '../../support/until.ts'

const EVM_WALLET = '0x1111111111111111111111111111111111111111'
const SOLANA_WALLET = '4zvwRjXUKGfvwnParsHAS3HuSVzV5cA4McphgmoCtajS'
/** A token that hangs is abandoned after half of this time. */
const HANG_MS = 2_000

interface Attestation {
  readonly attestation: { readonly uuid: string; readonly expiration: number; attester: string; signature: string }
}

describe.skipIf(WITHOUT_SHIM !== '')(`a service with attester keys in a token${WITHOUT_SHIM}`, () => {
  let hsm: SoftHsm
  let shim: Shim
  let service: RunningService
  let folder: string
  let environment: Record<string, string>
  /** Address of the key in the token. */
  let address = ''
  let pinFile = ''

  const command = (...words: readonly string[]): Promise<CommandResult> => runCountersign(environment, ...words)
  const succeed = async (...words: readonly string[]): Promise<string> => {
    const { code, stdout, stderr } = await command(...words)
    if (code !== 0) throw new Error(`${words.join(' ')}: ${stdout}${stderr}`)
    return stdout
  }
  const start = (more: Readonly<Record<string, string>> = {}): Promise<RunningService> =>
    startAlone({ dataDirectory: folder, environment: { ...environment, ...more } })
  const hash = (): string => service.quickstart['VERIFICATION_HASH'] ?? ''
  const attest = (family: 'evm' | 'solana' = 'evm'): Promise<Response> =>
    service.attest(
      family === 'evm'
        ? { from: EVM_WALLET, chain: 'base', verification_hash: hash() }
        : { from: SOLANA_WALLET, chain: 'solana', verification_hash: hash() },
      { connection: 'close' },
    )
  const attesterOf = async (response: Response): Promise<string> => {
    expect(response.status).toBe(200)
    return ((await response.json()) as Attestation).attestation.attester
  }
  /** Starts a service that fails, and returns its last line. */
  const refusedStart = async (more: Readonly<Record<string, string>>): Promise<string> => {
    const listen = Object.fromEntries(
      ['API', 'PORTAL', 'DASHBOARD'].map((name) => [`COUNTERSIGN_${name}_LISTEN`, `127.0.0.1:${freePort()}`]),
    )
    const { code, stderr } = await runToEnd(['bun', 'src/main.ts'], { ...environment, ...listen, ...more })
    expect(code).toBe(2)
    return stderr.trim().split('\n').at(-1) ?? ''
  }

  beforeAll(async () => {
    hsm = makeSoftHsm()
    hsm.makeKey('secp256k1', 'evm', '01')
    shim = hsm.shim()
    folder = newFolder()
    const { pin } = hsm.settings()
    pinFile = pin.source === 'file' ? pin.path : ''
    environment = {
      SOFTHSM2_CONF: hsm.configuration,
      COUNTERSIGN_DATA_DIR: folder,
      COUNTERSIGN_PKCS11_MODULE: shim.module,
      COUNTERSIGN_PKCS11_TOKEN: TOKEN,
      COUNTERSIGN_PKCS11_PIN_FILE: pinFile,
      COUNTERSIGN_HANG_MS: String(HANG_MS),
      COUNTERSIGN_WORKERS: '1',
    }
    service = await start()
    const added = await succeed('attester', 'add', '--kind', 'secp256k1', '--pkcs11', 'evm', '--json')
    address = (JSON.parse(added) as { address: string }).address
    await succeed('attester', 'retire', service.quickstart['EVM_ATTESTER'] ?? '')
    await until(async () => (await attesterOf(await attest())) === address)
  })
  afterAll(async () => {
    shim?.trouble('')
    await service?.stop()
    hsm?.remove()
  })

  test('signs EVM attestations with the token, and Solana attestations with a keystore', async () => {
    const answer = (await (await attest()).json()) as Attestation
    const attestation = { ...answer.attestation, signature: answer.attestation.signature as `0x${string}` }
    const call = { chainId: 8453, from: EVM_WALLET, to: zeroAddress, verificationHash: hash() } as const
    expect(attestation.attester).toBe(address)
    expect(await verifyEvmAttestation(call, attestation as never)).toBe(true)
    expect(await attesterOf(await attest('solana'))).toBe(service.quickstart['SOLANA_ATTESTER'] ?? '')
    expect(await succeed('attester', 'list')).toMatch(new RegExp(`${address} +secp256k1 +active .+ +pkcs11:object=evm`))
  })

  test('doctor reports whether a key signs and can be extracted', async () => {
    const findings = async (): Promise<readonly string[]> => {
      const { stdout } = await command('doctor', '--json')
      const { exposure } = JSON.parse(stdout) as { exposure: { check: string; result: string; detail: string }[] }
      return exposure.filter(({ check }) => check === 'token').map(({ result, detail }) => `${result}: ${detail}`)
    }
    expect(await findings()).toEqual(['ok: pkcs11:object=evm signs and can’t be extracted'])
    hsm.makeKey('ed25519', 'loose', '03', '--extractable')
    const added = await succeed('attester', 'add', '--kind', 'ed25519', '--pkcs11', 'pkcs11:id=%03', '--json')
    const { address: loose } = JSON.parse(added) as { address: string }
    expect((await findings())[1]).toContain('note: pkcs11:id=%03 signs but can be extracted')
    await succeed('attester', 'retire', loose, '--final')
    shim.trouble('gone')
    expect((await findings())[0]).toContain('problem: pkcs11:object=evm can’t sign: C_GetSlotList: CKR_DEVICE_REMOVED')
    shim.trouble('')
  })

  test('backups omit the keys with a message, and restores report whether they are available', async () => {
    const backup = join(folder, 'backup')
    const made = await command('backup', '--to', backup, '--with-secrets')
    expect(made.stderr).toContain(`Not included: the keys of ${address}. They are in the hardware token`)
    const restored = join(folder, 'restored')
    const restore = (...words: readonly string[]) =>
      runCountersign({ ...environment, COUNTERSIGN_DATA_DIR: restored }, 'restore', '--from', backup, ...words)
    const tried = await restore('--try')
    expect([tried.code, tried.stdout]).toEqual([0, expect.stringMatching(/token +ok +0x.+ pkcs11:object=evm signs/)])
    expect(tried.stdout).toContain(`signed by ${address}`)
    shim.trouble('gone')
    const done = await restore()
    expect([done.code, done.stderr]).toEqual([0, expect.stringContaining(`attester ${address}: problem`)])
    shim.trouble('')
  })

  test('a passphrase rotation skips the keys in the token with a message', async () => {
    expect(await succeed('attester', 'rotate-passphrase')).toContain('skipped: 1 keys in the hardware token')
    await until(async () => (await attest('solana')).status === 200)
  })

  test('refuses to add a key that the token lacks', async () => {
    const { code, stderr } = await command('attester', 'add', '--kind', 'ed25519', '--pkcs11', 'evm')
    expect(code).toBe(2)
    expect(stderr).toContain('the token has no ed25519 key pkcs11:object=evm')
  })

  test('returns 503 while the token is removed, and signs when the token is back', async () => {
    shim.trouble('gone')
    const refused = await attest()
    expect(refused.status).toBe(503)
    expect(await refused.text()).toContain('hardware token that cannot sign now')
    expect(await attesterOf(await attest('solana'))).toBe(service.quickstart['SOLANA_ATTESTER'] ?? '')
    const line = await service.logLine(({ error_class: name }) => String(name).startsWith('TokenUnavailableError'))
    expect(JSON.stringify(line)).toContain('CKR_DEVICE_REMOVED')
    shim.trouble('')
    await until(async () => (await attest()).status === 200)
    expect(await attesterOf(await attest())).toBe(address)
  })

  test('returns 503 for an invalid signature from the token', async () => {
    shim.trouble('lying')
    expect((await attest()).status).toBe(503)
    shim.trouble('')
    await until(async () => (await attest()).status === 200)
  })

  test('waits for a limited time for a token that hangs, and signs with other keys', async () => {
    const restarts = (): number => service.output().stderr.split('worker lost').length
    const before = restarts()
    shim.trouble('hung')
    const startedMs = performance.now()
    expect((await attest()).status).toBe(503)
    expect(performance.now() - startedMs).toBeGreaterThan(HANG_MS / 4)
    // The thread of the token hangs: later requests do not wait for it, and the worker is not replaced.
    const stuckMs = performance.now()
    const answers = await Promise.all(Array.from({ length: 20 }, () => attest()))
    // Otherwise each request would wait for half of the time limit.
    expect(performance.now() - stuckMs).toBeLessThan(6 * HANG_MS)
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 503))
    expect(await attesterOf(await attest('solana'))).toBe(service.quickstart['SOLANA_ATTESTER'] ?? '')
    expect(restarts()).toBe(before)
    shim.trouble('')
    await until(async () => (await attest()).status === 200)
  })

  test('stops while the token hangs, and starts without a token that it has used before', async () => {
    shim.trouble('hung')
    expect((await attest()).status).toBe(503)
    expect(await service.stop()).toBe(0)
    shim.trouble('gone')
    service = await start()
    expect(service.output().stderr).toContain('the hardware token is unavailable')
    expect((await attest()).status).toBe(503)
    expect(await attesterOf(await attest('solana'))).toBe(service.quickstart['SOLANA_ATTESTER'] ?? '')
    shim.trouble('')
    await until(async () => (await attest()).status === 200)
  })

  test('signs on the main thread and in several processes', async () => {
    await service.stop()
    service = await start({ COUNTERSIGN_WORKERS: '0', COUNTERSIGN_PROCESSES: '2' })
    await service.logLine(({ message }) => message === 'all processes are ready')
    for (let i = 0; i < 8; i++) expect(await attesterOf(await attest())).toBe(address)
    shim.trouble('hung')
    for (let i = 0; i < 4; i++) expect((await attest()).status).toBe(503)
    expect(await attesterOf(await attest('solana'))).toBe(service.quickstart['SOLANA_ATTESTER'] ?? '')
    shim.trouble('')
    for (let i = 0; i < 8; i++) await until(async () => (await attest()).status === 200)
  })

  test('does not start with an invalid token, key or setting, and tries a wrong PIN only once', async () => {
    await service.stop()
    const wrongPin = join(folder, 'wrong-pin')
    writeFileSync(wrongPin, '999999\n', { mode: 0o600 })
    const attempts = (): number => shim.logins().filter((result) => result !== '0').length
    expect(await refusedStart({ COUNTERSIGN_PKCS11_PIN_FILE: wrongPin })).toContain('the token refused the PIN')
    expect(await refusedStart({ COUNTERSIGN_PKCS11_PIN_FILE: wrongPin })).toContain('has refused this PIN before')
    const processes = { COUNTERSIGN_WORKERS: '0', COUNTERSIGN_PROCESSES: '2' }
    const last = await refusedStart({ COUNTERSIGN_PKCS11_PIN_FILE: wrongPin, ...processes })
    expect(last).toContain('process 0 did not start')
    expect(attempts()).toBe(1)
    expect(await refusedStart({ COUNTERSIGN_PKCS11_TOKEN: 'another' })).toContain('has a token labeled another')
    expect(await refusedStart({ COUNTERSIGN_PKCS11_MODULE: '/nowhere.so' })).toContain('/nowhere.so can')
    expect(await refusedStart({ COUNTERSIGN_PKCS11_TOKEN: '' })).toContain('or none of them')
    hsm.tool('--delete-object', '--type', 'privkey', '--id', '01')
    expect(await refusedStart({})).toContain(`could not use the key of attester ${address} in the hardware token`)
    // No output contains the PIN.
    expect(service.output().stderr + service.output().stdout).not.toContain(readFileSync(pinFile, 'utf8').trim())
  })
})
