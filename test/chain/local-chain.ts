// A local EVM chain of tests and the gas report: deployments, calls, transactions, clock and chain id.
import {
  type Abi,
  decodeErrorResult,
  decodeFunctionResult,
  encodeDeployData,
  encodeFunctionData,
  getAddress,
  type Hex,
} from 'viem'
import { type CompiledContract, loadContracts } from '../../contracts/build.ts'
import { startAnvil } from './anvil.ts'

export interface Deployed {
  readonly address: Hex
  readonly abi: Abi
}

export interface Call {
  readonly to: Deployed
  readonly name: string
  readonly arguments?: readonly unknown[]
  /** Defaults to the first funded account. Any address can send, because the node impersonates it. */
  readonly from?: Hex
  readonly value?: bigint
}

/** `reverted` is the name of the contract's error, or the raw data if it has none. */
export type Outcome = { readonly result: unknown } | { readonly reverted: string }

export interface Receipt {
  readonly gasUsed: number
  /** Null if the transaction succeeded. */
  readonly reverted: string | null
  readonly logs: ReadonlyArray<{ readonly address: Hex; readonly topics: [Hex, ...Hex[]]; readonly data: Hex }>
}

interface RpcError {
  readonly code: number
  readonly message: string
  readonly data?: unknown
}

class RpcFailedError extends Error {
  override readonly name = 'RpcFailedError'
  readonly error: RpcError
  constructor(method: string, error: RpcError) {
    super(`${method}: ${error.message}`)
    this.error = error
  }
}

interface NodeReceipt {
  readonly status: Hex
  readonly gasUsed: Hex
  readonly contractAddress: Hex | null
  readonly transactionHash: Hex
  readonly logs: Receipt['logs']
}

const quantity = (value: bigint | number): Hex => `0x${value.toString(16)}`
const GAS = quantity(5_000_000)

/** @param gas as for startAnvil */
export const startLocalChain = async (chainId: number, gas?: 'free' | 'usual') => {
  // Compiled before the node starts, so that a compiler error leaves no process.
  const contracts = await loadContracts()
  const errors = Object.values(contracts).flatMap((contract) => contract.abi.filter((item) => item.type === 'error'))
  const node = await startAnvil(chainId, gas)
  let requests = 0

  const request = async <Result>(method: string, params: readonly unknown[] = []): Promise<Result> => {
    requests += 1
    const response = await fetch(node.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: requests, method, params }),
    })
    const answer = (await response.json()) as { result: Result; error?: RpcError }
    if (answer.error !== undefined) throw new RpcFailedError(method, answer.error)
    return answer.result
  }

  const errorName = (data: unknown): string => {
    if (typeof data !== 'string' || data === '0x') return 'without a reason'
    try {
      const decoded = decodeErrorResult({ abi: errors, data: data as Hex })
      return decoded.errorName === 'Error' ? String(decoded.args?.[0]) : decoded.errorName
    } catch {
      return data
    }
  }

  const transaction = (call: Call) => ({
    from: call.from ?? accounts[0],
    to: call.to.address,
    value: quantity(call.value ?? 0n),
    data: encodeFunctionData({ abi: call.to.abi, functionName: call.name, args: call.arguments ?? [] }),
  })

  /** Calls eth_call on the latest block. */
  const call = async (wanted: Call): Promise<Outcome> => {
    try {
      const data = await request<Hex>('eth_call', [transaction(wanted), 'latest'])
      return { result: decodeFunctionResult({ abi: wanted.to.abi, functionName: wanted.name, data }) }
    } catch (error) {
      if (!(error instanceof RpcFailedError) || !/revert/i.test(error.error.message)) throw error
      return { reverted: errorName(error.error.data) }
    }
  }

  /** Waits until the transaction is in a block. */
  const mined = (fields: Readonly<Record<string, unknown>>): Promise<NodeReceipt> =>
    request('eth_sendTransactionSync', [{ gas: GAS, ...(gas === 'usual' ? {} : { gasPrice: '0x0' }), ...fields }])

  let accounts: readonly Hex[]
  try {
    await request('anvil_autoImpersonateAccount', [true])
    accounts = await request<Hex[]>('eth_accounts')
  } catch (error) {
    await node.stop()
    throw error
  }

  return {
    url: node.url,
    accounts: accounts.map((account) => getAddress(account)),
    contracts,
    request,
    call,

    async deploy(contract: string | CompiledContract, ...parameters: readonly unknown[]): Promise<Deployed> {
      const compiled = typeof contract === 'string' ? contracts[contract] : contract
      if (compiled === undefined) throw new Error(`no contract ${String(contract)}`)
      const data = encodeDeployData({ abi: compiled.abi, bytecode: compiled.bytecode, args: parameters })
      const receipt = await mined({ from: accounts[0], data })
      if (receipt.status !== '0x1' || receipt.contractAddress === null) throw new Error('the deployment reverted')
      return { address: getAddress(receipt.contractAddress), abi: compiled.abi }
    },

    /** Returns the result of a call that must not revert. */
    async read<Result>(to: Deployed, name: string, ...parameters: readonly unknown[]): Promise<Result> {
      const outcome = await call({ to, name, arguments: parameters })
      if ('reverted' in outcome) throw new Error(`${name} reverted: ${outcome.reverted}`)
      return outcome.result as Result
    },

    /** Sends a transaction in a separate block. */
    async send(wanted: Call): Promise<Receipt> {
      const receipt = await mined(transaction(wanted))
      const traced = async (): Promise<string> => {
        const parameters = [receipt.transactionHash, { tracer: 'callTracer' }]
        return errorName((await request<{ output?: Hex }>('debug_traceTransaction', parameters)).output)
      }
      return {
        gasUsed: Number(receipt.gasUsed),
        reverted: receipt.status === '0x1' ? null : await traced(),
        logs: receipt.logs,
      }
    },

    setChainId: (id: number) => request<void>('anvil_setChainId', [id]),
    /** Returns the timestamp of the latest block. */
    async timestampSeconds() {
      const block = await request<{ timestamp: Hex }>('eth_getBlockByNumber', ['latest', false])
      return Number(block.timestamp)
    },
    /** Sets the timestamp of the next block. */
    setNextTimestamp: (seconds: number) => request<void>('evm_setNextBlockTimestamp', [seconds]),
    mine: (blocks = 1) => request<void>('anvil_mine', [quantity(blocks)]),
    stop: () => node.stop(),
  }
}

export type LocalChain = Awaited<ReturnType<typeof startLocalChain>>
