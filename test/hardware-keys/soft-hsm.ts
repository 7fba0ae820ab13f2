// A SoftHSM token with keys, one per process because a PKCS #11 module is initialized once, and a module in front of it
// that fails on demand (shim.c).
import { dlopen } from 'bun:ffi'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { TOKEN_THREAD } from '../../src/modules/hardware-keys/token-settings.ts'
import type { TokenSettings } from '../../src/signing/types.ts'

const MODULES = ['/usr/lib/softhsm/libsofthsm2.so', '/usr/lib64/softhsm/libsofthsm2.so', '/usr/lib64/libsofthsm2.so']

const module = MODULES.find((path) => existsSync(path)) ?? null
const util = Bun.which('softhsm2-util')
const tool = Bun.which('pkcs11-tool')
const compiler = Bun.which('cc')

const hasSoftHsm = module !== null && util !== null && tool !== null && process.platform === 'linux'
/** Suffix of test names; empty if SoftHSM is installed. */
export const WITHOUT_SOFT_HSM = hasSoftHsm ? '' : ' (skipped: softhsm2 or opensc is not installed)'
export const WITHOUT_SHIM = hasSoftHsm && compiler === null ? ' (skipped: no C compiler)' : WITHOUT_SOFT_HSM

export const TOKEN = 'attester keys'
export const PIN = '648219'

export type Trouble = 'late' | 'hung' | 'gone' | 'lying' | 'reset' | ''

export type SoftHsm = ReturnType<typeof makeSoftHsm>
export type Shim = ReturnType<typeof buildShim>

const CURVES = { secp256k1: 'EC:secp256k1', ed25519: 'EC:edwards25519', secp256r1: 'EC:prime256v1' } as const

const run = (command: readonly string[], configuration: string): void => {
  const { exitCode, stderr } = Bun.spawnSync([...command], {
    env: { PATH: process.env['PATH'] ?? '', SOFTHSM2_CONF: configuration },
    stdout: 'ignore',
  })
  if (exitCode !== 0) throw new Error(`${command.join(' ')}: ${stderr}`)
}

const buildShim = (folder: string, softHsm: string) => {
  const place = mkdtempSync(join(folder, 'shim-'))
  const pathOf = (name: string): string => join(place, name)
  const [library, control, logins] = [pathOf('shim.so'), pathOf('control'), pathOf('logins')]
  const definitions = [`-DCONTROL="${control}"`, `-DLOGINS="${logins}"`, `-DMODULE="${softHsm}"`]
  const source = join(import.meta.dir, 'shim.c')
  const command = [compiler ?? 'cc', '-shared', '-fPIC', '-w', ...definitions, '-o', library, source]
  const { exitCode, stderr } = Bun.spawnSync(command)
  if (exitCode !== 0) throw new Error(`the module in front could not be compiled: ${stderr}`)
  return {
    module: library,
    trouble: (word: Trouble): void => writeFileSync(control, word),
    /** Results of C_Login, as hex. */
    logins: (): readonly string[] => (existsSync(logins) ? readFileSync(logins, 'utf8').trim().split('\n') : []),
  }
}

/** Creates a token without keys, for processes that the test starts. */
export const makeSoftHsm = () => {
  if (module === null || util === null || tool === null) throw new Error('softhsm2 or opensc is not installed')
  const folder = mkdtempSync(join(tmpdir(), 'countersign-softhsm-'))
  const tokens = join(folder, 'tokens')
  const configuration = join(folder, 'softhsm2.conf')
  mkdirSync(tokens)
  writeFileSync(configuration, `directories.tokendir = ${tokens}\nobjectstore.backend = file\nlog.level = ERROR\n`)
  const pins = ['--so-pin', '12345678', '--pin', PIN]
  run([util, '--init-token', '--free', '--label', TOKEN, ...pins], configuration)
  const runTool = (...words: readonly string[]): void =>
    run([tool, '--module', module, '--token-label', TOKEN, '--login', '--pin', PIN, ...words], configuration)
  let count = 0
  return {
    /** SOFTHSM2_CONF of processes that use the token. */
    configuration,
    module,
    /** Runs pkcs11-tool with a login to the token. */
    tool: runTool,
    makeKey: (kind: keyof typeof CURVES, label: string, id: string, ...more: readonly string[]): void =>
      runTool('--keypairgen', '--key-type', CURVES[kind], '--label', label, '--id', id, ...more),
    /** Returns new settings, without the refused PINs of other tests. */
    settings: ({ pinText = PIN, ...overrides }: Partial<TokenSettings> & { pinText?: string } = {}): TokenSettings => {
      const path = join(folder, `pin-${count}`)
      writeFileSync(path, `${pinText}\n`, { mode: 0o600 })
      const loginFile = join(folder, `login-${count++}`)
      const pin = { source: 'file', path } as const
      return { thread: TOKEN_THREAD, module, token: TOKEN, pin, loginFile, answerMs: 10_000, ...overrides }
    },
    /** Returns a module in front of SoftHSM, with a new control file. */
    shim: () => buildShim(folder, module),
    remove: (): void => rmSync(folder, { recursive: true, force: true }),
  }
}

let shared: SoftHsm | null = null

/** Returns the token of this process, with the keys `evm` (id 01) and `solana` (id 02). */
export const softHsm = (): SoftHsm => {
  if (shared !== null) return shared
  shared = makeSoftHsm()
  shared.makeKey('secp256k1', 'evm', '01')
  shared.makeKey('ed25519', 'solana', '02')
  // process.env does not change the environment of the C library.
  const libc = dlopen('libc.so.6', { setenv: { args: ['ptr', 'ptr', 'i32'], returns: 'i32' } })
  const text = (value: string): Buffer => Buffer.from(`${value}\0`)
  libc.symbols.setenv(text('SOFTHSM2_CONF'), text(shared.configuration), 1)
  process.on('exit', () => shared?.remove())
  return shared
}
