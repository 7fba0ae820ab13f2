// A backend that permits a swap only with an attestation: it identifies the user, requests an attestation for exactly
// this swap, and submits both to the contract that enforces the policy. The example contract GuardedVault represents
// the exchange. Each POST /swap {"wei":"5"} is one swap.
//
//   bun docs/examples/gate-swap.ts        with these environment variables:
//   ATTESTATION_URL ATTESTATION_API_KEY IDENTITY_URL IDENTITY_API_KEY    as in data/quickstart.env
//   CHAIN RPC_URL VAULT                   the chain (`sepolia`), its RPC URL, and the contract
//   PRIVATE_KEY                           key of the swapping account, held by the backend in this example
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createCountersignClient } from '@countersign/client'
import { ClientError } from '@countersign/client/errors'
import { attestationArgument } from '@countersign/client/evm-arguments'
import {
  BaseError,
  ContractFunctionRevertedError,
  createPublicClient,
  createWalletClient,
  encodeFunctionData,
  type Hex,
  http,
  parseAbi,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'

const setting = (name: string): string => {
  const value = process.env[name]
  if (value === undefined || value === '') throw new Error(`${name} is not set`)
  return value
}

const countersign = createCountersignClient({
  attestationUrl: setting('ATTESTATION_URL'),
  attestationApiKey: setting('ATTESTATION_API_KEY'),
  identityUrl: setting('IDENTITY_URL'),
  identityApiKey: setting('IDENTITY_API_KEY'),
  // A user is waiting, so retry only a few times.
  retry: { tries: 3 },
})
const account = privateKeyToAccount(setting('PRIVATE_KEY') as Hex)
const vault = setting('VAULT') as Hex
const transport = http(setting('RPC_URL'))
const chain = createPublicClient({ transport, pollingInterval: 250 })
const wallet = createWalletClient({ account, transport })

const VAULT_ABI = parseAbi([
  'struct Attestation { string uuid; uint256 expiration; address attester; bytes signature; }',
  'function deposit(address beneficiary, Attestation attestation) payable',
  'error AttestationExpired(uint256 expiration, uint256 timestamp)',
  'error AttesterNotRegistered(address attester)',
  'error UuidAlreadyUsed(string uuid)',
  'error SignatureInvalid()',
])
/** The function that the contract encodes and the policy evaluates, without the attestation. */
const INTERNAL_ABI = parseAbi(['function _deposit(address beneficiary)'])

/** Returns the name of the contract's error. @throws any other error */
const revertOf = (error: unknown): string => {
  const revert =
    error instanceof BaseError ? error.walk((cause) => cause instanceof ContractFunctionRevertedError) : null
  if (revert instanceof ContractFunctionRevertedError) return revert.data?.errorName ?? 'without a reason'
  throw error
}

interface Answer {
  readonly status: number
  readonly body: object
}

const swap = async (wei: bigint, idempotencyKey: string): Promise<Answer> => {
  const user = account.address

  // Send users without a verified wallet to the verification page.
  const { verified } = await countersign.verify({ address: user, type: 'individual' })
  if (!verified) {
    const { redirectUrl } = await countersign.register('individual', { walletAddress: user })
    return { status: 403, body: { error: 'verify this wallet first', verifyAt: redirectUrl } }
  }

  // Check that the policy allows exactly this call. A denial is a normal answer.
  const data = encodeFunctionData({ abi: INTERNAL_ABI, functionName: '_deposit', args: [user] })
  const answer = await countersign.attest(
    { chain: setting('CHAIN'), from: user, to: vault, data, msgValue: wei },
    { idempotencyKey },
  )
  if (!answer.isCompliant) {
    return { status: 403, body: { error: answer.reason?.message ?? 'not allowed', code: answer.reason?.code ?? null } }
  }

  // Simulate first, then send. The contract checks again, and accepts each attestation once.
  const call = {
    account,
    address: vault,
    abi: VAULT_ABI,
    functionName: 'deposit',
    value: wei,
    args: [user, attestationArgument(answer.attestation)],
  } as const
  const refusal = await chain.simulateContract(call).then(() => null, revertOf)
  if (refusal !== null) return { status: 409, body: { error: `the contract refuses: ${refusal}` } }
  const transaction = await wallet.writeContract({ ...call, chain: null })
  const { status } = await chain.waitForTransactionReceipt({ hash: transaction })
  return status === 'success'
    ? { status: 200, body: { transaction, uuid: answer.attestation.uuid } }
    : { status: 409, body: { error: 'the contract refuses', transaction } }
}

const readWei = async (request: IncomingMessage): Promise<bigint | null> => {
  let text = ''
  for await (const chunk of request) {
    text += String(chunk)
    if (text.length > 1_000) return null
  }
  const wei = /^\{"wei":"([1-9][0-9]{0,30})"\}$/.exec(text)?.[1]
  return wei === undefined ? null : BigInt(wei)
}

const handle = async (request: IncomingMessage): Promise<Answer> => {
  if (request.method !== 'POST' || request.url !== '/swap') return { status: 404, body: { error: 'POST /swap' } }
  const wei = await readWei(request)
  if (wei === null) return { status: 400, body: { error: 'send {"wei":"5"}' } }
  // The client's key for this swap: a repeated request is attested only once.
  const idempotencyKey = request.headers['idempotency-key']
  try {
    return await swap(wei, typeof idempotencyKey === 'string' ? idempotencyKey : crypto.randomUUID())
  } catch (error) {
    // Without a verdict there is no permission: after any failure, nothing was submitted without an attestation.
    if (!(error instanceof ClientError)) throw error
    console.error(error.code, error.requestId, error.message)
    return { status: 503, body: { error: 'try again later', requestId: error.requestId } }
  }
}

const respond = (response: ServerResponse, { status, body }: Answer): void => {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

const server = createServer((request, response) => {
  handle(request).then(
    (answer) => respond(response, answer),
    (error: unknown) => {
      console.error(error)
      respond(response, { status: 500, body: { error: 'internal error' } })
    },
  )
})
server.listen(Number(process.env['PORT'] ?? 0), '127.0.0.1', () => {
  const address = server.address()
  console.log(`POST http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/swap`)
})
