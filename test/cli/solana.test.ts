// `countersign solana deploy-plan`, compared with the program file and the active attesters.
import { afterAll, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { PublicKey } from '@solana/web3.js'
import { programFile } from '../../contracts/solana/build.ts'
import { REGISTRY_FILE } from '../../src/cli/solana.ts'
import { accountOf } from '../../src/client/solana-accounts.ts'
import { openCommandWorld } from './world.ts'

const PROGRAM = 'GjXtvmWihnf22Bg48srpzYrs6iGhSUvu1tzsf9L4u9Ck'
const world = await openCommandWorld()
afterAll(() => world.remove())
for (const kind of ['ed25519', 'ed25519', 'secp256k1']) await world.run('attester', 'create', '--kind', kind)
const { data } = (await world.json('attester', 'list')) as { data: { kind: string; address: string }[] }
const attesters = data.flatMap(({ kind, address }) => (kind === 'ed25519' ? [address] : []))

test('the declared hash and size are those of the program file', () => {
  const file = readFileSync(programFile('registry'))
  const sha256 = createHash('sha256').update(file).digest('hex')
  expect<{ sha256: string; bytes: number }>(REGISTRY_FILE).toEqual({ sha256, bytes: file.length })
})

test('the plan names the file, the active attesters and the given program', async () => {
  const { code, stdout } = await world.run('solana', 'deploy-plan', '--url', 'https://rpc.example/key')
  expect(code).toBe(0)
  for (const text of [...attesters, REGISTRY_FILE.sha256, '--url https://rpc.example/key', 'dump --url', ' ADDRESS ']) {
    expect(stdout).toContain(text)
  }
  const named = await world.run('solana', 'deploy-plan', '--program', PROGRAM)
  expect(named.stdout).toContain(`REGISTRY_PROGRAM=${PROGRAM}`)
  expect(named.stdout).not.toContain('ADDRESS')
  const registry = accountOf(new PublicKey(PROGRAM), 'predicate_registry').toBase58()
  expect(await world.json('solana', 'deploy-plan', '--program', PROGRAM)).toMatchObject({ registry, attesters })
})

test('an invalid address or URL is refused', async () => {
  expect((await world.run('solana', 'deploy-plan', '--program', '0x12')).code).toBe(2)
  for (const url of ['https://x/$(id)', 'nope', 'devnet', 'file:///etc/passwd', 'wss://x']) {
    expect([url, (await world.run('solana', 'deploy-plan', '--url', url)).code]).toEqual([url, 2])
  }
})
