// A backend without keys: it returns the transaction that the user's wallet must send, with an attestation for exactly
// this transaction.
//
//   bun docs/examples/permissions.ts      with these environment variables:
//   ATTESTATION_URL ATTESTATION_API_KEY   as in data/quickstart.env
//   CHAIN                                 the contracts' chain, for example `base`
//   SALE                                  a TokenSale; its policy is docs/examples/token-sale.yaml
//   HOOK                                  a GuardedSwapHook of a Uniswap v4 pool; its policy is docs/examples/swap-hook.yaml
//
// POST /sale {"wallet":"0x…","wei":"5"} returns the transaction to send. POST /swap {"wallet":"0x…","currency0":"0x…",
// "currency1":"0x…","zeroForOne":true,"amountSpecified":"-5"} returns the hookData for the router. Both contracts check
// the attestation.
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createCountersignClient } from '@countersign/client'
import { ClientError, RequestRefusedError } from '@countersign/client/errors'
import { attestationArgument } from '@countersign/client/evm-arguments'
import { encodeAbiParameters, encodeFunctionData, type Hex, isAddress, parseAbi, parseAbiParameters } from 'viem'

const setting = (name: string): string => {
  const value = process.env[name]
  if (value === undefined || value === '') throw new Error(`${name} is not set`)
  return value
}

const countersign = createCountersignClient({
  attestationUrl: setting('ATTESTATION_URL'),
  attestationApiKey: setting('ATTESTATION_API_KEY'),
  // A user is waiting, so retry only a few times.
  retry: { tries: 3 },
})
const [chain, sale, hook] = [setting('CHAIN'), setting('SALE') as Hex, setting('HOOK') as Hex]

const ATTESTATION = 'struct Attestation { string uuid; uint256 expiration; address attester; bytes signature; }'
const SALE_ABI = parseAbi([ATTESTATION, 'function buy(Attestation attestation) payable'])
const HOOK_DATA = parseAbiParameters(['Attestation attestation', ATTESTATION])
/** The functions that the contracts encode and the policies evaluate. */
const INTERNAL_ABI = parseAbi([
  'function _buy()',
  'function _swap(address currency0, address currency1, bool zeroForOne, bool isPaidExactly, uint256 amount)',
])

interface Answer {
  readonly status: number
  readonly body: object
}

const BAD_REQUEST: Answer = { status: 400, body: { error: 'a field is missing or malformed' } }
const AMOUNT = /^-?[1-9][0-9]{0,37}$/

/** Requests an attestation for the call, and builds the response from it if the policy allows the call. */
const permit = async (
  request: { readonly from: Hex; readonly to: Hex; readonly data: Hex; readonly msgValue: bigint },
  use: (attestation: ReturnType<typeof attestationArgument>) => object,
): Promise<Answer> => {
  const answer = await countersign.attest({ chain, ...request })
  if (answer.isCompliant) return { status: 200, body: use(attestationArgument(answer.attestation)) }
  const { message = 'not allowed', code = null } = answer.reason ?? {}
  return { status: 403, body: { error: message, code } }
}

const buy = ({ wallet, wei }: Readonly<Record<string, unknown>>): Answer | Promise<Answer> => {
  if (!isAddress(`${wallet}`, { strict: false }) || !AMOUNT.test(`${wei}`) || `${wei}`.startsWith('-'))
    return BAD_REQUEST
  const data = encodeFunctionData({ abi: INTERNAL_ABI, functionName: '_buy' })
  const request = { from: wallet as Hex, to: sale, data, msgValue: BigInt(`${wei}`) }
  return permit(request, (attestation) => ({
    to: sale,
    value: `${wei}`,
    data: encodeFunctionData({ abi: SALE_ABI, args: [attestation] }),
  }))
}

const swap = (fields: Readonly<Record<string, unknown>>): Answer | Promise<Answer> => {
  const { wallet, currency0, currency1, zeroForOne, amountSpecified } = fields
  const areAddresses = [wallet, currency0, currency1].every((text) => isAddress(`${text}`, { strict: false }))
  if (!areAddresses || typeof zeroForOne !== 'boolean' || !AMOUNT.test(`${amountSpecified}`)) return BAD_REQUEST
  const amount = BigInt(`${amountSpecified}`)
  const data = encodeFunctionData({
    abi: INTERNAL_ABI,
    functionName: '_swap',
    args: [currency0 as Hex, currency1 as Hex, zeroForOne, amount < 0n, amount < 0n ? -amount : amount],
  })
  return permit({ from: wallet as Hex, to: hook, data, msgValue: 0n }, (attestation) => ({
    hookData: encodeAbiParameters(HOOK_DATA, [attestation]),
  }))
}

const ROUTES: Readonly<Record<string, typeof buy>> = { 'POST /sale': buy, 'POST /swap': swap }

const readFields = async (request: IncomingMessage): Promise<Readonly<Record<string, unknown>>> => {
  let text = ''
  for await (const chunk of request) {
    text += String(chunk)
    if (text.length > 1_000) return {}
  }
  try {
    const fields: unknown = JSON.parse(text)
    return typeof fields === 'object' && fields !== null ? (fields as Record<string, unknown>) : {}
  } catch {
    // An empty body lacks every field and is refused.
    return {}
  }
}

const handle = async (request: IncomingMessage): Promise<Answer> => {
  const route = ROUTES[`${request.method} ${request.url}`]
  if (route === undefined) return { status: 404, body: { error: Object.keys(ROUTES).join(', ') } }
  try {
    return await route(await readFields(request))
  } catch (error) {
    // Without a verdict there is no permission.
    if (!(error instanceof ClientError)) throw error
    console.error(error.code, error.requestId, error.message)
    const isWrong = error instanceof RequestRefusedError && error.status === 400
    return isWrong ? BAD_REQUEST : { status: 503, body: { error: 'try again later', requestId: error.requestId } }
  }
}

const server = createServer((request, response) => {
  handle(request).then(
    ({ status, body }) => response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body)),
    (error: unknown) => {
      console.error(error)
      response.writeHead(500).end()
    },
  )
})
server.listen(Number(process.env['PORT'] ?? 8092), '127.0.0.1', () => {
  console.log(`POST http://127.0.0.1:${(server.address() as AddressInfo).port}/sale`)
})
