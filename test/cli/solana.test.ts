// `countersign solana deploy-plan`: what it prints is about the file that is here and the attesters that are active.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { PublicKey } from '@solana/web3.js'
import { programFile } from '../../contracts/solana/build.ts'
import { REGISTRY_FILE } from '../../src/cli/solana.ts'
import { accountOf } from '../../src/client/solana-accounts.ts'
import { type CommandWorld, openCommandWorld } from './world.ts'

const PROGRAM = 'GjXtvmWihnf22Bg48srpzYrs6iGhSUvu1tzsf9L4u9Ck'
let world: CommandWorld
let attesters: string[]

beforeAll(async () => {
  world = await openCommandWorld()
  for (const kind of ['ed25519', 'ed25519', 'secp256k1']) await world.run('attester', 'create', '--kind', kind)
  const { data } = JSON.parse((await world.run('attester', 'list', '--json')).stdout) as {
    data: { kind: string; address: string }[]
  }
  attesters = data.flatMap(({ kind, address }) => (kind === 'ed25519' ? [address] : []))
})
afterAll(() => world.remove())

test('the file is the one that is here', () => {
  const file = readFileSync(programFile('registry'))
  const sha256 = createHash('sha256').update(file).digest('hex')
  expect<{ sha256: string; bytes: number }>(REGISTRY_FILE).toEqual({ sha256, bytes: file.length })
})

test('the plan names the file, the active attesters and, where there is one, the program', async () => {
  const { code, stdout } = await world.run('solana', 'deploy-plan', '--url', 'https://rpc.example/key')
  expect(code).toBe(0)
  for (const text of [...attesters, REGISTRY_FILE.sha256, '--url https://rpc.example/key', 'dump --url', ' ADDRESS ']) {
    expect(stdout).toContain(text)
  }
  const named = await world.run('solana', 'deploy-plan', '--program', PROGRAM)
  expect(named.stdout).toContain(`REGISTRY_PROGRAM=${PROGRAM}`)
  expect(named.stdout).not.toContain('ADDRESS')
})

test('as JSON it has the registry’s account', async () => {
  const { stdout } = await world.run('solana', 'deploy-plan', '--program', PROGRAM, '--json')
  const plan = JSON.parse(stdout) as Record<string, unknown>
  expect(plan['registry']).toBe(accountOf(new PublicKey(PROGRAM), 'predicate_registry').toBase58())
  expect(plan['attesters']).toEqual(attesters)
})

test('an address or URL that is none is refused', async () => {
  expect((await world.run('solana', 'deploy-plan', '--program', '0x12')).code).toBe(2)
  for (const url of ['https://x/$(id)', 'nope', 'devnet', 'file:///etc/passwd', 'wss://x']) {
    expect([url, (await world.run('solana', 'deploy-plan', '--url', url)).code]).toEqual([url, 2])
  }
})
