// The v1 attestation API of a running service, line by line of the specification, with a scripted JSON-RPC node as the
// source of block numbers.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { encodeAbiParameters, type Hex, keccak256, recoverAddress } from 'viem'
import { succeed, WALLET } from '../service/calls.ts'
import { type RunningService, startService } from '../service/start-service.ts'
import { newFolder } from '../support/folder.ts'
import { until } from '../support/until.ts'

const DENIED = '0x000000000000000000000000000000000000dead'
const UUID_V4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

interface TaskResponse {
  is_compliant: boolean
  signers: Hex[]
  signature: Hex[]
  expiry_block: number
  task_id: string
}

let service: RunningService
let quickstart: Readonly<Record<string, string>>
let height = 21_000_000
let heightReads = 0
let rpcDown = false
const value = (name: string): string => quickstart[name] ?? ''

const rpc = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  async fetch(request) {
    if (rpcDown) return new Response('', { status: 500 })
    const { id, method } = (await request.json()) as { id: number; method: string }
    if (method !== 'eth_blockNumber') return Response.json({ jsonrpc: '2.0', id, error: { code: -32601, message: '' } })
    heightReads += 1
    return Response.json({ jsonrpc: '2.0', id, result: `0x${height.toString(16)}` })
  },
})
const folder = newFolder()
const configPath = join(folder, 'config.yaml')

const post = (body: unknown, key?: string): Promise<Response> =>
  fetch(`${quickstart['ATTESTATION_URL']}/v1/task`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-api-key': value('ATTESTATION_API_KEY'),
      ...(key === undefined ? {} : { 'idempotency-key': key }),
    },
    body: JSON.stringify(body),
  })

const taskBody = (changes: Record<string, unknown> = {}): Record<string, unknown> => ({
  from: WALLET,
  to: value('DEMO_CONTRACT'),
  data: '0x',
  msg_value: '0',
  ...changes,
})

const task = async (body: Record<string, unknown>): Promise<TaskResponse> => {
  const response = await post(taskBody(body))
  expect(response.status).toBe(200)
  const answer = (await response.json()) as TaskResponse
  expect(Object.keys(answer).sort()).toEqual(['expiry_block', 'is_compliant', 'signature', 'signers', 'task_id'])
  expect(answer.task_id).toMatch(UUID_V4)
  return answer
}

const expectSignatures = async (
  answer: TaskResponse,
  { quorum = 1, ...call }: { value?: bigint; data?: Hex; quorum?: number } = {},
): Promise<void> => {
  const [to, policy] = [value('DEMO_CONTRACT'), value('VERIFICATION_HASH')]
  const statement = { value: 0n, data: '0x', ...call }
  const hash = keccak256(
    encodeAbiParameters(
      ['string', 'address', 'address', 'uint256', 'bytes', 'string', 'uint32', 'uint256'].map((type) => ({ type })),
      [answer.task_id, WALLET, to, statement.value, statement.data, policy, quorum, BigInt(answer.expiry_block)],
    ),
  )
  expect(answer.signers).toHaveLength(quorum)
  expect(answer.signature).toHaveLength(quorum)
  for (const [index, signature] of answer.signature.entries()) {
    expect<string | undefined>(await recoverAddress({ hash, signature })).toBe(answer.signers[index])
  }
  const numbers = answer.signers.map((signer) => BigInt(signer))
  expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => (a < b ? -1 : 1)))
}

beforeAll(async () => {
  writeFileSync(
    configPath,
    JSON.stringify({
      chains: {
        ethereum: { rpc: `http://127.0.0.1:${rpc.port}`, 'expiry-blocks': 25, 'block-time-ms': 60_000 },
        base: { rpc: `http://127.0.0.1:${rpc.port}`, expiry: 'seconds' },
        arbitrum: { rpc: `http://127.0.0.1:${rpc.port}` },
        sepolia: { rpc: `http://127.0.0.1:${rpc.port}`, 'expiry-blocks': 25, 'block-time-ms': 50 },
      },
    }),
  )
  service = await startService({ environment: { COUNTERSIGN_CONFIG: configPath, COUNTERSIGN_WORKERS: '2' } })
  quickstart = service.quickstart
})
afterAll(async () => {
  await service.stop()
  await rpc.stop(true)
})

describe('POST /v1/task', () => {
  test('chain_id defaults to 1, and expiry_block is the latest block plus the configured number of blocks', async () => {
    const answer = await task({ data: '0xa9059cbb', msg_value: '5' })
    expect(answer.is_compliant).toBe(true)
    expect(answer.expiry_block).toBe(21_000_025)
    await expectSignatures(answer, { value: 5n, data: '0xa9059cbb' })
  })

  test('the block height is read at most once per block time', async () => {
    const before = heightReads
    height += 1
    await Promise.all([task({}), task({ chain_id: 1 }), task({})])
    expect(heightReads - before).toBe(0)
  })

  test('chains with expiry in seconds, without RPC, or with block numbers of their parent sign Unix seconds', async () => {
    for (const chainId of [8453, 56, 42161]) {
      const before = Math.floor(Date.now() / 1000)
      const answer = await task({ chain_id: chainId })
      expect(answer.expiry_block).toBeGreaterThanOrEqual(before + 300)
      expect(answer.expiry_block).toBeLessThanOrEqual(Math.floor(Date.now() / 1000) + 300)
      await expectSignatures(answer)
    }
  })

  test('accepts `value` for `msg_value`, and chain_id as a decimal string', async () => {
    const answer = await task({ msg_value: undefined, value: '7', chain_id: '56' })
    await expectSignatures(answer, { value: 7n })
  })

  test('a denial has five keys, empty arrays and expiry_block 0', async () => {
    const answer = await task({ from: DENIED, chain_id: 56 })
    expect(answer).toEqual({
      is_compliant: false,
      signers: [],
      signature: [],
      expiry_block: 0,
      task_id: expect.stringMatching(UUID_V4),
    })
  })

  test('a denial does not read the block height, and succeeds while the node is down', async () => {
    const before = heightReads
    rpcDown = true
    try {
      const answer = await task({ from: DENIED, chain_id: 11155111 })
      expect([answer.is_compliant, answer.signers, answer.expiry_block]).toEqual([false, [], 0])
    } finally {
      rpcDown = false
    }
    expect((await task({ from: DENIED, chain_id: 11155111 })).is_compliant).toBe(false)
    expect(heightReads - before).toBe(0)
  })

  test('while the node is down, a request gets 503 with Retry-After and no signature, and its Idempotency-Key can be reused', async () => {
    const body = taskBody({ chain_id: 11155111 })
    rpcDown = true
    const response = await post(body, 'no-block')
    rpcDown = false
    expect(response.status).toBe(503)
    expect(response.headers.get('retry-after')).toMatch(/^[1-9][0-9]*$/)
    expect(await response.text()).not.toMatch(/0x[\da-f]{16}/)
    const signed = (await (await post(body, 'no-block')).json()) as TaskResponse
    expect(signed.expiry_block).toBe(height + 25)
    await expectSignatures(signed)
  })

  const expectRefused = async (changes: Record<string, unknown>, message: string): Promise<void> => {
    const response = await post(taskBody(changes))
    expect([response.status, await response.json()]).toEqual([400, expect.objectContaining({ message })])
  }
  test.each(['from', 'to', 'data', 'msg_value'])('%s is required', async (field) => {
    await expectRefused({ [field]: undefined }, `Missing required field: ${field}`)
  })

  test.each([
    [999999, '999999'],
    ['424242', '424242'],
    [0, '0'],
  ])('chain_id %p is unsupported', async (chainId, text) => {
    await expectRefused({ chain_id: chainId }, `unsupported chain ID ${text}`)
  })

  test('an address without a policy is refused', async () => {
    const to = '0x2222222222222222222222222222222222222222'
    await expectRefused({ to }, `request validation failed: failed to get policy ID for address ${to}`)
  })
})

describe('quorum', () => {
  const apply = async (quorum: number): Promise<void> => {
    const path = join(folder, `quorum-${quorum}.yaml`)
    writeFileSync(path, `name: Quorum ${quorum}\ndefault: allow\nquorum: ${quorum}\nrules: []\n`)
    await succeed(service, 'policy', 'apply', path, '--policy', value('POLICY_ID'))
  }
  /** Returns the first result that is not null. */
  const eventually = async <Value>(attempt: () => Promise<Value | null>): Promise<Value> => {
    let found: Value | null = null
    await until(async () => {
      found = await attempt()
      return found !== null
    })
    return found as Value
  }

  test('a quorum above the number of attesters gets 503; two or three attesters sign in ascending order', async () => {
    await apply(2)
    const refused = await eventually(async () => {
      const response = await post(taskBody({ chain_id: 56 }))
      return response.status === 503 ? response : null
    })
    expect(await refused.text()).toContain('DEPENDENCY_UNAVAILABLE')

    for (const quorum of [2, 3]) {
      await succeed(service, 'attester', 'add', '--kind', 'secp256k1')
      await apply(quorum)
      const answer = await eventually(async () => {
        const response = await post(taskBody({ chain_id: 56 }))
        const body = (await response.json()) as TaskResponse
        return response.status === 200 && body.signers.length === quorum ? body : null
      })
      await expectSignatures(answer, { quorum })
    }
  })
})
