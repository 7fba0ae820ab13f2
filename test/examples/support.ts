// Helpers for the tests of docs/examples: an example in a separate process, and a funded account on a local node.
import { join } from 'node:path'
import type { Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { cleanEnvironment, runToEnd } from '../service/run-to-end.ts'
import type { RunningService } from '../service/start-service.ts'
import { testKey } from '../signing/test-keys.ts'

const ROOT = join(import.meta.dir, '..', '..')

type Environment = Readonly<Record<string, string>>

/** Environment of an example: the variables of the quick start, and the data folder for the commands that it runs. */
export const environmentOf = (service: RunningService): Environment => ({
  ...service.quickstart,
  COUNTERSIGN_DATA_DIR: service.dataDirectory,
})

export const spawnExample = (name: string, environment: Environment): Bun.Subprocess<'ignore', 'pipe', 'pipe'> =>
  Bun.spawn(['bun', `docs/examples/${name}`], {
    cwd: ROOT,
    env: { ...cleanEnvironment(), ...environment },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })

/** Runs an example that ends by itself. @returns its output @throws Error if it fails */
export const runExample = async (name: string, environment: Environment, ...words: string[]): Promise<string> => {
  const { code, stdout, stderr } = await runToEnd(['bun', `docs/examples/${name}`, ...words], environment)
  if (code !== 0) throw new Error(`${name} ended with ${code}\n${stdout}\n${stderr}`)
  return stdout
}

export interface FundedAccount {
  readonly address: Hex
  readonly privateKey: Hex
}

/** Returns the account of test key `number`, with one ether on the node. */
export const fundAccount = async (rpcUrl: string, number: number): Promise<FundedAccount> => {
  const privateKey: Hex = `0x${testKey(number).toHex()}`
  const { address } = privateKeyToAccount(privateKey)
  await fetch(rpcUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'anvil_setBalance', params: [address, '0xde0b6b3a7640000'] }),
  })
  return { address, privateKey }
}

/** Returns the first line that a backend prints, its address. @throws Error with its output if it ends before */
export const firstLineOf = async (backend: Bun.Subprocess<'ignore', 'pipe', 'pipe'>): Promise<string> => {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of backend.stdout) {
    text += decoder.decode(chunk, { stream: true })
    if (text.includes('\n')) return text.slice(0, text.indexOf('\n'))
  }
  throw new Error(`the backend ended: ${await new Response(backend.stderr).text()}`)
}
