// Compiles contracts/src with the solc of package.json: no network, and the same bytes for the same sources on every
// machine. `bun contracts/build.ts` writes contracts/out/; tests and scripts call loadContracts().
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, posix } from 'node:path'
import { Glob } from 'bun'
import type { Abi, Hex } from 'viem'

const FOLDER = import.meta.dir
const OUTPUT_FOLDER = join(FOLDER, 'out')
const require = createRequire(import.meta.url)

/** Proxy for PolicyRegistryUpgradeable, unchanged from OpenZeppelin. */
const PROXY = '@openzeppelin/contracts/proxy/ERC1967/ERC1967Proxy.sol'

/** Cancun: the newest rules that every chain of the chain table supports. */
const SETTINGS = {
  evmVersion: 'cancun',
  optimizer: { enabled: true, runs: 10_000 },
  outputSelection: { '*': { '*': ['abi', 'evm.bytecode.object', 'evm.deployedBytecode.object', 'metadata'] } },
} as const

export interface CompiledContract {
  /** For example `src/PolicyRegistry.sol`. */
  readonly sourceName: string
  readonly abi: Abi
  /** Creation code without constructor arguments; `0x` for interfaces and abstract contracts. */
  readonly bytecode: Hex
  readonly deployedBytecode: Hex
  /** The compiler's metadata, in the format of block explorers. */
  readonly metadata: string
}

/** Compiled contracts by name. */
export type CompiledContracts = Readonly<Record<string, CompiledContract>>

interface StandardInput {
  readonly language: 'Solidity'
  readonly sources: Readonly<Record<string, { readonly content: string }>>
  readonly settings: typeof SETTINGS
}

interface StandardOutput {
  readonly errors?: ReadonlyArray<{ readonly formattedMessage: string }>
  readonly contracts?: Readonly<Record<string, Readonly<Record<string, StandardContract>>>>
}

interface StandardContract {
  readonly abi: Abi
  readonly metadata: string
  readonly evm: {
    readonly bytecode: { readonly object: string }
    readonly deployedBytecode: { readonly object: string }
  }
}

/** A source causes compiler errors or warnings, which are the message. */
export class SourceInvalidError extends Error {
  override readonly name = 'SourceInvalidError'
}

const importsOf = (source: string): string[] =>
  [...source.matchAll(/^import\s+(?:[^"';]*\sfrom\s+)?["']([^"']+)["'];/gm)].map((match) => match[1]!)

/** Returns the compiler's input in one value, as block explorers require it for verification. Keys are sorted. */
export const standardInput = (): StandardInput => {
  const sources = new Map<string, string>()
  const add = (name: string): void => {
    if (sources.has(name)) return
    const content = readFileSync(name.startsWith('@') ? require.resolve(name) : join(FOLDER, name), 'utf8')
    sources.set(name, content)
    for (const path of importsOf(content)) {
      add(path.startsWith('.') ? posix.join(posix.dirname(name), path) : path)
    }
  }
  for (const name of new Glob('src/**/*.sol').scanSync({ cwd: FOLDER })) add(name.replaceAll('\\', '/'))
  add(PROXY)
  const names = [...sources.keys()].sort()
  return {
    language: 'Solidity',
    sources: Object.fromEntries(names.map((name) => [name, { content: sources.get(name)! }])),
    settings: SETTINGS,
  }
}

/** Compiles in memory, which takes a few seconds of CPU time. @throws SourceInvalidError on any error or warning */
export const compileContracts = async (input: StandardInput = standardInput()): Promise<CompiledContracts> => {
  // The compiler is 9 MB of WebAssembly, so it is loaded only if necessary.
  const { default: solc } = await import('solc')
  const output = JSON.parse(solc.compile(JSON.stringify(input))) as StandardOutput
  if (output.errors !== undefined && output.errors.length > 0) {
    throw new SourceInvalidError(output.errors.map((error) => error.formattedMessage).join('\n'))
  }
  const compiled = Object.entries(output.contracts ?? {}).flatMap(([sourceName, contracts]) =>
    Object.entries(contracts).map(([name, contract]): [string, CompiledContract] => [
      name,
      {
        sourceName,
        abi: contract.abi,
        bytecode: `0x${contract.evm.bytecode.object}`,
        deployedBytecode: `0x${contract.evm.deployedBytecode.object}`,
        metadata: contract.metadata,
      },
    ]),
  )
  return Object.fromEntries(compiled.sort(([left], [right]) => (left < right ? -1 : 1)))
}

const writeWhole = (path: string, content: string): void => {
  mkdirSync(dirname(path), { recursive: true })
  const partial = `${path}.${crypto.randomUUID()}`
  writeFileSync(partial, content)
  renameSync(partial, path)
}

const readCache = (path: string): CompiledContracts | null => {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as CompiledContracts
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

/** Returns the compiled contracts, cached in contracts/out by the hash of sources, settings and compiler version. */
export const loadContracts = async (input: StandardInput = standardInput()): Promise<CompiledContracts> => {
  const { version } = require('solc/package.json') as { version: string }
  const hash = createHash('sha256').update(JSON.stringify({ version, input })).digest('hex')
  const path = join(OUTPUT_FOLDER, 'cache', `${hash}.json`)
  const cached = readCache(path)
  if (cached !== null) return cached
  const compiled = await compileContracts(input)
  writeWhole(path, JSON.stringify(compiled))
  return compiled
}

if (import.meta.main) {
  const input = standardInput()
  const compiled = await compileContracts(input)
  for (const [name, contract] of Object.entries(compiled)) {
    writeWhole(join(OUTPUT_FOLDER, `${name}.json`), `${JSON.stringify({ contractName: name, ...contract }, null, 2)}\n`)
    const bytes = (contract.deployedBytecode.length - 2) / 2
    if (bytes > 0) process.stdout.write(`${name}: ${bytes} bytes\n`)
  }
  writeWhole(join(OUTPUT_FOLDER, 'standard-input.json'), `${JSON.stringify(input, null, 2)}\n`)
}
