// `bun test/long/contract-examples.ts [foundry | hardhat]`: the examples of contracts/ with forge and Hardhat, which npm installs
// in a temporary folder with the Node that Hardhat needs (600 MB). The contracts package is packed and installed, and the
// compiler is npm's solc.
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { devDependencies } from '../../package.json'
import { resultOf } from '../service/run-to-end.ts'
import { answerHelp } from '../support/head-help.ts'

answerHelp(import.meta)

const ROOT = join(import.meta.dir, '..', '..')
const CONTRACTS = join(ROOT, 'contracts')
/** All packages of Foundry have the same version. */
const FORGE = `@foundry-rs/forge@${devDependencies['@foundry-rs/anvil']}`
const NODE = 'node@24'

const run = async (cwd: string, environment: Readonly<Record<string, string>>, ...words: string[]): Promise<string> => {
  const child = Bun.spawn(words, {
    cwd,
    env: { ...process.env, ...environment },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const { code, stdout, stderr } = await resultOf(child)
  if (code !== 0) throw new Error(`${words.join(' ')} ended with ${code}\n${stdout}\n${stderr}`)
  return stdout
}

const folder = mkdtempSync(join(tmpdir(), 'countersign-contract-examples-'))
const npm = (cwd: string, environment: Readonly<Record<string, string>>, ...words: string[]): Promise<string> =>
  run(cwd, environment, 'npm', ...words, '--silent', '--no-audit', '--no-fund')

const example = (name: string): string => {
  const into = join(folder, name)
  cpSync(join(CONTRACTS, 'examples', name), into, { recursive: true })
  return into
}

/** Writes a compiler program for forge. */
const writeCompiler = (): string => {
  const path = join(folder, 'solc')
  const program = `#!/usr/bin/env node
const solc = require(${JSON.stringify(join(ROOT, 'node_modules', 'solc'))})
if (process.argv.includes('--version')) console.log('Version: ' + solc.version())
else process.stdout.write(solc.compile(require('node:fs').readFileSync(0, 'utf8')))
`
  writeFileSync(path, program, { mode: 0o755 })
  return path
}

const RUNS: Readonly<Record<string, (tarball: string) => Promise<string>>> = {
  foundry: async (tarball) => {
    const into = example('foundry')
    await npm(into, {}, 'install', tarball, FORGE)
    const forge = join(into, 'node_modules', '.bin', 'forge')
    return run(into, { FOUNDRY_SOLC: writeCompiler() }, forge, 'test', '--offline', '-vv')
  },
  hardhat: async (tarball) => {
    const tools = join(folder, 'tools')
    mkdirSync(tools)
    await npm(tools, {}, 'install', NODE)
    const environment = {
      PATH: [join(tools, 'node_modules', 'node', 'bin'), process.env['PATH'] ?? ''].join(delimiter),
    }
    const into = example('hardhat')
    await npm(into, environment, 'install', tarball)
    return run(into, environment, join(into, 'node_modules', '.bin', 'hardhat'), 'test')
  },
}

try {
  await npm(CONTRACTS, {}, 'pack', '--pack-destination', folder)
  const tarball = join(folder, readdirSync(folder).find((name) => name.endsWith('.tgz')) ?? '')
  const only = process.argv[2]
  for (const [name, runExample] of Object.entries(RUNS)) {
    if (only === undefined || only === name) process.stdout.write(`${name}:\n${await runExample(tarball)}\n`)
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}
