// The published client package: packed from a clone, installed in an empty folder, and used by Node, Bun and the TypeScript
// compiler, with and without its optional peers.
import { beforeAll, describe, expect, test } from 'bun:test'
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { version } from '../../../package.json'
import { completed, compliant, pending } from '../../client/support/answers.ts'
import { json, problem, startRecordingServer } from '../../client/support/recording-server.ts'
import { resultOf } from '../../service/run-to-end.ts'
import { newFolder } from '../../support/folder.ts'
import evmVectors from '../../vectors/evm-v2.json'
import solanaVectors from '../../vectors/solana.json'

const ROOT = join(import.meta.dir, '..', '..', '..')
const SUPPORT = join(ROOT, 'test', 'client', 'support')
const REGISTRY_PROGRAM = 'GjXtvmWihnf22Bg48srpzYrs6iGhSUvu1tzsf9L4u9Ck'
const nodeMajor = Number(
  /^v(\d+)/.exec(Bun.which('node') === null ? '' : Bun.spawnSync(['node', '--version']).stdout.toString())?.[1] ?? 0,
)

let folder: string
/** A folder with only the package. */
let bare: string

const run = async (cwd: string, ...command: string[]): Promise<string> => {
  const child = Bun.spawn(command, { cwd, stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' })
  const { code, stdout, stderr } = await resultOf(child)
  if (code !== 0) throw new Error(`${command.join(' ')} ended with ${code}\n${stdout}\n${stderr}`)
  return stdout
}

const link = (into: string, name: string): void => {
  const path = join(into, 'node_modules', name)
  mkdirSync(dirname(path), { recursive: true })
  symlinkSync(join(ROOT, 'node_modules', name), path)
}

/** An unreachable registry. */
const NO_REGISTRY = 'http://127.0.0.1:9'
const INSTALL: Readonly<Record<'npm' | 'bun', readonly string[]>> = {
  npm: ['npm', 'install', '--offline', '--no-audit', '--no-fund', '--registry', NO_REGISTRY],
  bun: ['env', `BUN_CONFIG_REGISTRY=${NO_REGISTRY}`, 'bun', 'add'],
}
const WITHOUT_NODE = nodeMajor < 20 ? ' (no Node 20)' : ''
const hasNpm = nodeMajor >= 20 && Bun.which('npm') !== null

/** Files of the service that the client imports. */
const SERVICE_FILES = ['attestation/paths.ts', 'identity/paths.ts']

/** Copies the sources without build output. */
const cloneSources = async (): Promise<string> => {
  const clone = join(folder, 'clone')
  mkdirSync(clone)
  for (const file of ['package.json', 'tsconfig.json']) copyFileSync(join(ROOT, file), join(clone, file))
  cpSync(join(ROOT, 'src'), join(clone, 'src'), { recursive: true, filter: (path) => basename(path) !== 'dist' })
  symlinkSync(join(ROOT, 'node_modules'), join(clone, 'node_modules'))
  return join(clone, 'src', 'client')
}

/** Installs the package in an empty folder. */
const install = async (name: string, manager: 'npm' | 'bun', tarball: string): Promise<string> => {
  const into = join(folder, name)
  mkdirSync(into)
  writeFileSync(join(into, 'package.json'), '{"type":"module"}')
  await run(into, ...INSTALL[manager], tarball)
  for (const file of ['consumer.mjs', 'peers.mjs', 'consumer.ts']) copyFileSync(join(SUPPORT, file), join(into, file))
  return into
}

let withPeers: string
beforeAll(async () => {
  folder = newFolder()
  const source = await cloneSources()
  const pack = hasNpm ? ['npm', 'pack', '--silent', '--pack-destination'] : ['bun', 'pm', 'pack', '--destination']
  await run(source, ...pack, folder)
  const tarball = join(folder, readdirSync(folder).find((name) => name.endsWith('.tgz')) ?? '')
  bare = await install('bare', hasNpm ? 'npm' : 'bun', tarball)
  withPeers = await install('with-peers', 'bun', tarball)
  for (const name of ['viem', '@solana/web3.js']) link(withPeers, name)
}, 120_000)

const event = (state: unknown): string => `id: 1\ndata: ${JSON.stringify(state)}\n\n`
const stream = (text: string, ends: boolean): Response =>
  new Response(
    new ReadableStream({
      start: (controller) => {
        controller.enqueue(new TextEncoder().encode(text))
        if (ends) controller.close()
      },
    }),
    { headers: { 'content-type': 'text/event-stream' } },
  )

const runConsumer = async (runtime: string): Promise<unknown> => {
  let attempts = 0
  let connections = 0
  await using server = startRecordingServer(({ path }) => {
    if (path === '/v2/attestation') {
      attempts += 1
      return attempts === 1 ? problem(503, 'OVERLOADED', { 'retry-after': '0' }) : json(compliant)
    }
    if (path.includes('/realtime/business/')) return stream(event(pending), false)
    if (path.includes('/realtime/')) {
      connections += 1
      return stream(connections === 1 ? event(pending) : event(completed), true)
    }
    return problem(403, 'FORBIDDEN_SCOPE')
  })
  return JSON.parse(await run(bare, runtime, 'consumer.mjs', server.url))
}

const EXPECTED = {
  attester: compliant.attestation.attester.toLowerCase(),
  chainId: 8453,
  statuses: ['pending', 'completed'],
  reason: 'left',
  refused: 'FORBIDDEN_SCOPE',
  messageBytes: 32,
}

const peersInput = (): string => {
  const evm = evmVectors.vectors[0]!
  const solana = solanaVectors.vectors[0]!
  const callOf = ({ from, to, policy, data }: typeof evm | typeof solana) => {
    return { from, to, verificationHash: policy, data }
  }
  return JSON.stringify({
    registryProgram: REGISTRY_PROGRAM,
    evm: {
      call: { ...callOf(evm), chainId: evm.chain_id, wei: evm.msg_value },
      attestation: { ...evm, attester: evmVectors.attester },
    },
    solana: {
      call: { ...callOf(solana), lamports: solana.msg_value },
      attestation: { ...solana, attester: solanaVectors.attester },
    },
  })
}

describe('the packed client', () => {
  test('has its exports and license, and no other files', () => {
    const root = join(bare, 'node_modules', '@countersign', 'client')
    const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
      exports: Record<string, string | Record<string, string>>
      dependencies?: unknown
      version: string
      license: string
      keywords: readonly string[]
      publishConfig: unknown
    }
    const targets = Object.values(manifest.exports).flatMap((entry) =>
      typeof entry === 'string' ? [entry] : Object.values(entry),
    )
    expect(targets.filter((target) => !existsSync(join(root, target)))).toEqual([])
    expect(manifest.dependencies).toBeUndefined()
    expect(readdirSync(root).sort()).toEqual(['LICENSE', 'README.md', 'dist', 'package.json'])
    expect(readFileSync(join(root, 'LICENSE'), 'utf8')).toBe(readFileSync(join(ROOT, 'LICENSE'), 'utf8'))
    expect(manifest).toMatchObject({ version, license: 'MIT', publishConfig: { access: 'public', provenance: true } })
    expect(manifest.keywords.length).toBeGreaterThan(3)
    const files = [...new Bun.Glob('**/*').scanSync({ cwd: join(root, 'dist') })].sort()
    const isSource = (name: string) => name.endsWith('.ts') && name !== 'build.ts'
    const sources = readdirSync(join(ROOT, 'src', 'client')).filter(isSource)
    const built = [...sources.map((name) => `client/${name}`), ...SERVICE_FILES]
      .map((name) => name.slice(0, -'.ts'.length))
      .flatMap((stem) => [`${stem}.js`, `${stem}.d.ts`])
    expect(files).toEqual(built.sort())
    const imported = files.flatMap((name) =>
      [...readFileSync(join(root, 'dist', name), 'utf8').matchAll(/(?:from|import\()\s*'(\.[^']+)'/g)].map(([, path]) =>
        join(dirname(name), path ?? ''),
      ),
    )
    expect(imported).toContain('attestation/paths.js')
    expect(imported.filter((path) => !files.includes(path))).toEqual([])
  })

  test.skipIf(nodeMajor < 20)(`works in Node 20 or later without its peers${WITHOUT_NODE}`, 30_000, async () => {
    expect(await runConsumer('node')).toEqual(EXPECTED)
  })

  test('works in Bun without its peers', async () => {
    expect(await runConsumer('bun')).toEqual(EXPECTED)
  }, 30_000)

  test.skipIf(nodeMajor < 20)(`works in Node 20 or later with its peers${WITHOUT_NODE}`, 30_000, async () => {
    expect(await run(withPeers, 'node', 'peers.mjs', peersInput())).toBe('true')
  })

  test('works in Bun with its peers', async () => {
    expect(await run(withPeers, 'bun', 'peers.mjs', peersInput())).toBe('true')
  }, 30_000)

  test.each([
    ['the types of Node', ['ES2022'], ['node']],
    ['the types of browsers', ['ES2022', 'DOM', 'DOM.AsyncIterable'], []],
  ])('has complete types with %s', 30_000, async (_, lib, types) => {
    const compilerOptions = {
      target: 'ES2022',
      module: 'NodeNext',
      moduleResolution: 'NodeNext',
      strict: true,
      noEmit: true,
      exactOptionalPropertyTypes: true,
      skipLibCheck: false,
      lib,
      types,
      typeRoots: [join(ROOT, 'node_modules', '@types')],
    }
    writeFileSync(join(bare, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['consumer.ts'] }))
    await run(bare, join(ROOT, 'node_modules', '.bin', 'tsc'), '-p', '.')
  })
})
