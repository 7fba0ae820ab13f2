// Scripted JSON-RPC nodes on free loopback ports.
import { expect } from 'bun:test'
import { createHash } from 'node:crypto'
import { PublicKey } from '@solana/web3.js'
import { MAINNET_GENESIS_HASH } from '../../src/facts/solana-registry.ts'

export interface RpcCall {
  readonly method: string
  readonly params: readonly unknown[]
}

export interface FakeNode {
  readonly url: string
  readonly calls: readonly RpcCall[]
  stop(): Promise<void>
}

/** A complete HTTP response in place of a JSON-RPC result. */
export class RawAnswer {
  readonly response: Response
  constructor(response: Response) {
    this.response = response
  }
}

/** A JSON-RPC error. */
export class Refusal {
  readonly code: number
  constructor(code: number) {
    this.code = code
  }
}

/** @param answer returns the result of a call, a RawAnswer or a Refusal */
export const startFakeNode = (answer: (call: RpcCall) => unknown): FakeNode => {
  const calls: RpcCall[] = []
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 0,
    fetch: async (request) => {
      const { id, method, params } = (await request.json()) as RpcCall & { id: number }
      calls.push({ method, params })
      const result = await answer({ method, params })
      if (result instanceof RawAnswer) return result.response
      if (result instanceof Refusal) {
        return Response.json({ jsonrpc: '2.0', id, error: { code: result.code, message: 'secret text of the node' } })
      }
      return Response.json({ jsonrpc: '2.0', id, result })
    },
  })
  return { url: `http://127.0.0.1:${server.port}`, calls, stop: () => server.stop(true) }
}

/** Responses of an EVM node whose eth_call returns this value. */
export const evmAnswer =
  (data: unknown, chainId = '0x2105') =>
  ({ method }: RpcCall): unknown =>
    method === 'eth_chainId' ? chainId : data

export const REGISTRY = '0x00000000000000000000000000000000000000aa'
export const CONTRACT = '0x00000000000000000000000000000000000000bb'

export const SOLANA_REGISTRY = 'GjXtvmWihnf22Bg48srpzYrs6iGhSUvu1tzsf9L4u9Ck'
export const SOLANA_PROGRAM = 'DeZVDBizsEVYvCDyLDLU8MPgE6ndYE2dDA1MXaL2neJC'

export const keyBytes = (key: string): Uint8Array => new PublicKey(key).toBytes()

export const discriminator = (name: string): Buffer =>
  createHash('sha256').update(`account:${name}`).digest().subarray(0, 8)

/** Returns the address of the registry program's account with this seed and key. */
export const registryAccount = (seed: string, key: string): string =>
  PublicKey.findProgramAddressSync([Buffer.from(seed), keyBytes(key)], new PublicKey(SOLANA_REGISTRY))[0].toBase58()

/** `PolicyAccount`: program, authority, policy id, two timestamps, and padding up to the longest policy id. */
export const policyAccount = (policyId: string, program = SOLANA_PROGRAM): Buffer => {
  const text = Buffer.from(policyId)
  const length = Buffer.alloc(4)
  length.writeUInt32LE(text.length)
  const fields = [keyBytes(program), keyBytes(SOLANA_REGISTRY), length, text, Buffer.alloc(16)]
  return Buffer.concat([discriminator('PolicyAccount'), ...fields, Buffer.alloc(64 - Math.min(64, text.length))])
}

export interface SolanaAccount {
  readonly data: Buffer
  /** Defaults to the registry program. */
  readonly owner?: string
  readonly executable?: boolean
}

/** Starts a node of mainnet-beta with these accounts. */
export const startSolanaNode = (accounts: Readonly<Record<string, SolanaAccount>>): FakeNode =>
  startFakeNode(({ method, params }) => {
    if (method === 'getGenesisHash') return MAINNET_GENESIS_HASH
    if (method === 'getSlot') return 250_000_000
    if (method === 'getBlockTime') return 1_795_169_702
    const account = accounts[String(params[0])]
    if (account === undefined) return { context: { slot: 1 }, value: null }
    const { data, owner = SOLANA_REGISTRY, executable = false } = account
    return {
      context: { slot: 1 },
      value: { owner, executable, lamports: 1, data: [data.toString('base64'), 'base64'] },
    }
  })

/** Returns the error of a promise that must be rejected. */
export const failureOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => expect.unreachable(),
    (error: unknown) => error,
  )
