// Contract wallets on a real EVM: deployed (EIP-1271), not yet deployed (ERC-6492), and on an unavailable chain.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import solc from 'solc'
import { concatHex, encodeAbiParameters, encodeFunctionData, getContractAddress, numberToHex, parseAbi } from 'viem'
import type { SessionView } from '../../src/portal/contract.ts'
import { type AnvilProcess, describeOnChain, startAnvil } from '../chain/anvil.ts'
import { until } from '../support/until.ts'
import { type PortalHost, startPortalHost } from './support/portal-host.ts'
import { createVisitor, enter, tokenOf } from './support/visitor.ts'
import { evmAccount } from './support/wallets.ts'

const CHAIN_ID = 11_155_111
/** Another chain, on which another person has the same address. */
const OTHER_CHAIN_ID = 8453
const owner = evmAccount('owner of a contract')

const SOURCE = `// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;
contract Wallet {
  address immutable owner;
  constructor(address owner_) { owner = owner_; }
  function isValidSignature(bytes32 hash, bytes calldata signature) external view returns (bytes4) {
    (bytes32 r, bytes32 s) = abi.decode(signature[:64], (bytes32, bytes32));
    return ecrecover(hash, uint8(signature[64]), r, s) == owner ? bytes4(0x1626ba7e) : bytes4(0xffffffff);
  }
}
contract Factory {
  function deploy(bytes32 salt, address owner_) external returns (address) {
    return address(new Wallet{salt: salt}(owner_));
  }
}`

interface Compiled {
  readonly contracts: Readonly<Record<string, Readonly<Record<string, { evm: { bytecode: { object: string } } }>>>>
}

const compile = (): { readonly wallet: `0x${string}`; readonly factory: `0x${string}` } => {
  const output = JSON.parse(
    solc.compile(
      JSON.stringify({
        language: 'Solidity',
        sources: { 'wallet.sol': { content: SOURCE } },
        settings: { evmVersion: 'cancun', outputSelection: { '*': { '*': ['evm.bytecode.object'] } } },
      }),
    ),
  ) as Compiled
  const codeOf = (name: string): `0x${string}` =>
    `0x${output.contracts['wallet.sol']?.[name]?.evm.bytecode.object ?? ''}`
  return { wallet: codeOf('Wallet'), factory: codeOf('Factory') }
}

const rpc = async <Result>(url: string, method: string, params: readonly unknown[] = []): Promise<Result> => {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  const { result, error } = (await response.json()) as { result: Result; error?: { message: string } }
  if (error !== undefined) throw new Error(error.message)
  return result
}

describeOnChain('a contract wallet', () => {
  let anvil: AnvilProcess
  let other: AnvilProcess
  let host: PortalHost
  let wallet: string
  let factory: `0x${string}`
  let walletCode: `0x${string}`

  const deploy = async (data: string, url = anvil.url): Promise<string> => {
    const [from] = await rpc<string[]>(url, 'eth_accounts')
    const hash = await rpc<string>(url, 'eth_sendTransaction', [{ from, data, gas: '0x200000', gasPrice: '0x0' }])
    let receipt: { contractAddress: string } | null = null
    await until(async () => {
      receipt = await rpc<{ contractAddress: string } | null>(url, 'eth_getTransactionReceipt', [hash])
      return receipt !== null
    })
    return (receipt as { contractAddress: string } | null)?.contractAddress ?? ''
  }

  beforeAll(async () => {
    ;[anvil, other] = await Promise.all([startAnvil(CHAIN_ID), startAnvil(OTHER_CHAIN_ID)])
    host = await startPortalHost({ rpc: { sepolia: anvil.url, base: other.url } })
    const code = compile()
    walletCode = concatHex([code.wallet, encodeAbiParameters([{ type: 'address' }], [owner.address])])
    wallet = await deploy(walletCode)
    factory = (await deploy(code.factory)) as `0x${string}`
  })

  afterAll(async () => {
    await host.stop()
    await Promise.all([anvil.stop(), other.stop()])
  })

  const connect = async (address: string, chainId: number, sign: (message: string) => Promise<`0x${string}`>) => {
    const { person, sessionId } = await enter(host)
    await person.agree(sessionId)
    const { status, body } = await person.connect(sessionId, address, sign, chainId)
    return { status, body: body as Partial<SessionView> & { reason?: string } }
  }
  const byOwner = (message: string) => owner.signMessage({ message })
  const byStranger = (message: string) => evmAccount('stranger').signMessage({ message })

  test('connects only with a signature that its contract accepts', async () => {
    const { body } = await connect(wallet, CHAIN_ID, byOwner)
    expect(body.wallets?.map(({ chain }) => chain)).toEqual(['sepolia'])
    for (const sign of [byStranger, async () => '0x' as const, async () => `0x${'ab'.repeat(5_000)}` as const]) {
      expect((await connect(wallet, CHAIN_ID, sign)).body.reason).toBe('proof-invalid')
    }
  })

  test('connects before it is deployed', async () => {
    const salt = numberToHex(7, { size: 32 })
    const address = getContractAddress({ from: factory, salt, bytecode: walletCode, opcode: 'CREATE2' })
    const call = encodeFunctionData({
      abi: parseAbi(['function deploy(bytes32 salt, address owner) returns (address)']),
      args: [salt, owner.address],
    })
    const wrap = (sign: (message: string) => Promise<`0x${string}`>) => async (message: string) =>
      concatHex([
        encodeAbiParameters(
          [{ type: 'address' }, { type: 'bytes' }, { type: 'bytes' }],
          [factory, call, await sign(message)],
        ),
        `0x${'6492'.repeat(16)}`,
      ])
    expect((await connect(address, CHAIN_ID, wrap(byOwner))).status).toBe(200)
    expect((await connect(address, CHAIN_ID, wrap(byStranger))).body.reason).toBe('proof-invalid')
  })

  test('is refused on a chain without an RPC URL, and the page lists the chains with one', async () => {
    expect((await connect(wallet, 1, byOwner)).body.reason).toBe('proof-invalid')
    const { person, sessionId } = await enter(host)
    expect((await person.view(sessionId)).contractChains).toEqual(['Sepolia', 'Base'])
  })

  test('moves the verification to a second browser only from its own chain', async () => {
    // The same address on the other chain belongs to another person.
    const { wallet: code } = compile()
    const strangers = concatHex([code, encodeAbiParameters([{ type: 'address' }], [evmAccount('stranger').address])])
    const theirs = await deploy(strangers, other.url)
    const deployed = await rpc<string>(other.url, 'eth_getCode', [theirs, 'latest'])
    await rpc(other.url, 'anvil_setCode', [wallet, deployed])

    const proceed = async (link: string, chainId: number, sign: (message: string) => Promise<`0x${string}`>) => {
      const second = createVisitor(host.url)
      const token = tokenOf(link)
      const { body } = await second.call('POST', 'continue/challenge', { token, address: wallet, chainId })
      const signature = await sign(String(body['message']))
      return (await second.call('POST', 'continue', { token, nonce: body['nonce'], signature })).body
    }
    const { person, sessionId, link } = await enter(host)
    await person.agree(sessionId)
    await person.connect(sessionId, wallet, byOwner, CHAIN_ID)
    expect((await proceed(link, OTHER_CHAIN_ID, byStranger))['reason']).toBe('wallet-foreign')
    expect(await proceed(link, CHAIN_ID, byOwner)).toEqual({ kind: 'entered', sessionId })

    // Before it is connected, the owner takes over a session that another person opened.
    const locked = await enter(host, { walletAddress: wallet })
    await locked.person.agree(locked.sessionId)
    expect(await proceed(locked.link, CHAIN_ID, byOwner)).toEqual({ kind: 'entered', sessionId: locked.sessionId })
    expect((await locked.person.call('GET', `sessions/${locked.sessionId}`)).status).toBe(404)
  })

  test('is neither accepted nor refused while its chain does not respond', async () => {
    const dead = await startPortalHost({ rpc: { sepolia: 'http://127.0.0.1:9' } })
    try {
      const { person, sessionId } = await enter(dead)
      await person.agree(sessionId)
      const { status, body } = await person.connect(sessionId, wallet, byOwner, CHAIN_ID)
      expect([status, body['reason']]).toEqual([503, 'dependency-unavailable'])
    } finally {
      await dead.stop()
    }
  })
})
