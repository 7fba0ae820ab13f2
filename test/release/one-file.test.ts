// The single-file executable: built by the release script, then run in an empty folder with an empty PATH and without the
// environment variables of this machine.
import { beforeAll, describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Glob } from 'bun'
import { makeOneFile, ONE_FILE_TARGETS, type OneFile, type OneFileTarget } from '../../deploy/release/one-file.ts'
import { PROCESSES } from '../../src/one-file.ts'
import { readTemplates } from '../../src/policy/tools/templates.ts'
import { startEditor } from '../cli/language-editor.ts'
import { WALLET } from '../service/calls.ts'
import { resultOf } from '../service/run-to-end.ts'
import { freePort, parseEnvironmentFile } from '../service/start-service.ts'
import { CHROMIUM, startBrowser } from '../support/browser/chromium.ts'
import { newFolder } from '../support/folder.ts'
import { RUN_PROGRAM } from '../support/run-program.ts'
import { until } from '../support/until.ts'
import { startWatchdog } from '../support/watchdog.ts'

const ROOT = join(import.meta.dir, '..', '..')
const HOST = `${process.platform}-${process.arch}` as OneFileTarget
const BUILD_LIMIT_MS = 240_000
const TEST_LIMIT_MS = 120_000

describe('the source', () => {
  const textOf = (path: string): string => readFileSync(join(ROOT, path), 'utf8')
  const sources = [...new Glob('{src,workers}/**/*.ts').scanSync({ cwd: ROOT })].sort()

  test('the executable can start every process of the program', () => {
    const started = sources.filter((path) => path.endsWith('.process.ts'))
    expect(Object.keys(PROCESSES).sort()).toEqual(['src/main.ts', ...started].sort())
  })

  test('only the listed files use paths relative to the source code, which the executable lacks', () => {
    const places = sources
      .filter((path) => !path.startsWith('src/client/'))
      .filter((path) => /import\.meta\.(dir|dirname|url|path|filename|resolve)\b/.test(textOf(path)))
    expect(places).toEqual([
      // The list of packages, which is in the executable.
      'src/cli/locked-packages.ts',
      'src/cli/plan.ts',
      // The schema for editors, which is used if it exists.
      'src/cli/policy/policy-documents.ts',
      // Pages, which are in the executable.
      'src/pages/bundle-page.ts',
      'src/program/entries.ts',
      // The folder of the npm package, which the executable lacks.
      'src/signing/secp256k1-node.ts',
    ])
  })

  test('every template file is in the program', () => {
    const files = readdirSync(join(ROOT, 'docs/policies')).map((name) => name.replace('.yaml', ''))
    expect(readTemplates().map(({ name }) => name)).toEqual(files.sort())
  })
})

describe.skipIf(!ONE_FILE_TARGETS.includes(HOST))('one file', () => {
  const folder = newFolder()
  const temporary = join(folder, 'tmp')
  const home = join(folder, 'empty')
  const picture = new Uint8Array(readFileSync(join(ROOT, 'test/data/zones/passport.jpg')))
  let program: OneFile

  beforeAll(async () => {
    for (const path of [temporary, home]) mkdirSync(path, { mode: 0o700 })
    program = RUN_PROGRAM ?? (await makeOneFile({ target: HOST, out: join(folder, 'out'), tell: () => undefined }))
  }, BUILD_LIMIT_MS)

  const spawn = (words: readonly string[], stdin: Uint8Array | 'ignore' = 'ignore') =>
    Bun.spawn([program.path, ...words], {
      cwd: home,
      env: { PATH: join(folder, 'nothing'), TMPDIR: temporary },
      stdin,
      stdout: 'pipe',
      stderr: 'pipe',
    })

  const run = (words: readonly string[], stdin?: Uint8Array) => resultOf(spawn(words, stdin))

  const start = async (...words: readonly string[]) => {
    const [api, portal, dashboard] = [freePort(), freePort(), freePort()].map((port) => `127.0.0.1:${port}`)
    const listens = [`--api-listen=${api}`, `--portal-listen=${portal}`, `--dashboard-listen=${dashboard}`]
    const child = spawn(['start', ...listens, '--warm-up=false', ...words])
    const watchdog = startWatchdog(child.pid, null)
    let printed = ''
    const read = async (stream: ReadableStream<Uint8Array>): Promise<void> => {
      for await (const chunk of stream) printed += Buffer.from(chunk).toString()
    }
    const reading = Promise.all([read(child.stdout), read(child.stderr)])
    const ready = words.includes('--processes') ? '"all processes are ready"' : '"message":"ready"'
    await until(() => printed.includes(ready) || child.exitCode !== null, { limitMs: TEST_LIMIT_MS })
    if (child.exitCode !== null) throw new Error(`the program ended: ${printed}`)
    return {
      urls: { api: `http://${api}`, portal: `http://${portal}`, dashboard: `http://${dashboard}` },
      printed: () => printed,
      stop: async () => {
        child.kill('SIGTERM')
        const code = await child.exited
        await reading
        await watchdog.dismiss()
        return code
      },
    }
  }

  test('has its digest in a file, and contains the native libraries', () => {
    const sum = createHash('sha256').update(readFileSync(program.path)).digest('hex')
    expect(readFileSync(`${program.path}.sha256`, 'utf8')).toStartWith(`${sum}  countersign-`)
    expect(program.sha256).toBe(sum)
    expect(program.natives.some((name) => name.includes('sharp'))).toBe(true)
  })

  test('describes every command', TEST_LIMIT_MS, async () => {
    const { stdout } = await run(['--help'])
    expect(stdout).toStartWith('Usage: countersign NOUN VERB')
    const verbs = [...stdout.matchAll(/^ {2}([a-z-]+) {2,}/gm)].map(([, verb]) => verb ?? '')
    expect(verbs).toContain('start')
    const answers = await Promise.all(verbs.map((verb) => run([verb, '--help'])))
    expect(answers.map(({ code, stderr }) => ({ code, stderr }))).toEqual(verbs.map(() => ({ code: 0, stderr: '' })))
    expect(readdirSync(home)).toEqual([])
  })

  test('contains its list of packages and its templates', TEST_LIMIT_MS, async () => {
    const { components } = JSON.parse((await run(['sbom'])).stdout) as { components: { name: string }[] }
    expect(components.map(({ name }) => name)).toContain('viem')
    const { stdout } = await run(['policy', 'templates', '--json'])
    const names = (JSON.parse(stdout) as { name: string }[]).map(({ name }) => name)
    expect(names).toEqual(readTemplates().map(({ name }) => name))
  })

  test('serves a policy editor', TEST_LIMIT_MS, async () => {
    const editor = await startEditor([program.path, 'policy', 'language-server'])
    expect(await editor.show('name: A\nrules:\n  - id: a\n    allow: client.locatd\n')).toHaveLength(1)
    expect(await editor.stop()).toBe(0)
  })

  test('reads a document and re-encodes an image', TEST_LIMIT_MS, async () => {
    const read = await run(['--entry', 'src/modules/documents/worker/read-picture.process.ts', 'zone'], picture)
    expect(JSON.parse(read.stdout)).toMatchObject({ reading: { decoded: { zone: { surname: 'ERIKSSON' } } } })
    expect((await run(['--entry', 'src/identity/evidence/reencode.process.ts'], picture)).code).toBe(0)
    expect((await run(['--entry', 'src/identity/evidence/check-pdf.process.ts'], picture)).stdout).toBe(
      'the PDF is damaged',
    )
  })

  test('loads no library from a folder that others can write to', TEST_LIMIT_MS, async () => {
    const [own = ''] = readdirSync(temporary).filter((name) => name.startsWith('countersign-'))
    chmodSync(join(temporary, own), 0o777)
    expect((await run(['--entry', 'src/identity/evidence/reencode.process.ts'], picture)).code).not.toBe(0)
    chmodSync(join(temporary, own), 0o700)
    expect((await run(['--entry', 'src/identity/evidence/reencode.process.ts'], picture)).code).toBe(0)
  })

  test('can sign in JavaScript without a native library', TEST_LIMIT_MS, async () => {
    const service = await start('--signer', 'noble', '--data-dir', join(folder, 'noble'))
    expect(service.printed()).toContain('"signer":"noble"')
    expect(await service.stop()).toBe(0)
  })

  test(
    'signs an attestation, serves its pages, verifies its log, and runs a trial restore of a backup',
    TEST_LIMIT_MS,
    async () => {
      const service = await start('--processes', '2', '--signer', 'secp256k1-node')
      const browser = CHROMIUM === null ? null : await startBrowser()
      try {
        expect(service.printed()).toMatch(/^Not included: the system’s libsecp256k1, /)
        const quickstart = parseEnvironmentFile(readFileSync(join(home, 'data', 'quickstart.env'), 'utf8'))
        const answer = await fetch(`${service.urls.api}/v2/attestation`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'x-api-key': quickstart['ATTESTATION_API_KEY'] ?? '' },
          body: JSON.stringify({ from: WALLET, chain: 'base', verification_hash: quickstart['VERIFICATION_HASH'] }),
        })
        expect(await answer.json()).toMatchObject({
          is_compliant: true,
          attestation: { attester: quickstart['EVM_ATTESTER'], signature: expect.stringMatching(/^0x[0-9a-f]{130}$/) },
        })
        if (browser !== null) {
          const [, welcome = ''] = /(http\S+\/welcome#\S+)/.exec(service.printed()) ?? []
          const dashboard = await browser.open(service.urls.dashboard)
          await dashboard.page.goto(welcome)
          await dashboard.page.getByLabel('Email').waitFor()
          const portal = await browser.open(service.urls.portal)
          await portal.page.goto(service.urls.portal)
          await portal.page.getByRole('heading', { level: 1 }).waitFor()
          const seen = [dashboard, portal].flatMap(({ complaints, foreign }) => [...complaints, ...foreign])
          expect(seen).toEqual([])
        }
      } finally {
        await browser?.stop()
        expect(await service.stop()).toBe(0)
      }
      const { code, stdout } = await run(['decisions', 'verify'])
      expect([code, stdout]).toEqual([0, expect.stringContaining('1 decisions')])
      expect(existsSync(join(home, 'data', 'countersign.db'))).toBe(true)
      const backup = ['backup', '--to', join(folder, 'backup'), '--with-decisions', '--with-secrets']
      expect((await run(backup)).code).toBe(0)
      const { stdout: tried } = await run(['restore', '--from', join(folder, 'backup'), '--try'])
      expect(tried).toMatch(/verdict +ok/)
    },
  )
})
