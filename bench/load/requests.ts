// The requests of a run, each in one buffer with request line, headers and body, created before the first is sent.
import { createHash, randomUUID } from 'node:crypto'
import bs58 from 'bs58'
import type { BodyPlan } from './plan.ts'

/** The content of a request, against which its answer is checked. */
export interface AttestationBody {
  readonly chain: string
  readonly from: string
  readonly to: string | null
  readonly verificationHash: string | null
  readonly msgValue: string
  readonly data: string
}

export interface PreparedRequests {
  readonly bytes: readonly Uint8Array[]
  /** Returns the request to send: the request itself, or a copy with a unique idempotency key. */
  readonly stamp: (request: Uint8Array) => Uint8Array
  /** For a batch: the bodies from its index times the batch size on. */
  readonly bodies: readonly AttestationBody[]
}

/** Selector of `transfer(address,uint256)`, the call that most policies inspect. */
const TRANSFER_SELECTOR = 'a9059cbb'

const digest = (text: string): string => createHash('sha256').update(text).digest('hex')

/** An on-chain request has 68 bytes of calldata and a value; an interface-only request has neither. */
export const makeBody = (plan: BodyPlan, index: number): AttestationBody => {
  const walletHex = digest(`${plan.seed} wallet ${index}`)
  const wallet = plan.chain === 'solana' ? bs58.encode(Buffer.from(walletHex, 'hex')) : `0x${walletHex.slice(0, 40)}`
  if ('verificationHash' in plan.target) {
    return {
      chain: plan.chain,
      from: wallet,
      to: null,
      verificationHash: plan.target.verificationHash,
      msgValue: '0',
      data: '0x',
    }
  }
  const random = digest(`${plan.seed} call ${index}`)
  const recipient = random.slice(0, 40).padStart(64, '0')
  const amount = random.slice(40, 54).padStart(64, '0')
  return {
    chain: plan.chain,
    from: wallet,
    to: 'to' in plan.target ? plan.target.to : (plan.target.contracts[index % plan.target.contracts.length] ?? ''),
    verificationHash: null,
    msgValue: BigInt(`0x${random.slice(54, 64)}`).toString(),
    data: `0x${TRANSFER_SELECTOR}${recipient}${amount}`,
  }
}

/** Returns the JSON text of a body, as a caller would send it. */
export const bodyText = (body: AttestationBody): string =>
  body.to === null
    ? JSON.stringify({ verification_hash: body.verificationHash, from: body.from, chain: body.chain })
    : JSON.stringify({
        to: body.to,
        from: body.from,
        chain: body.chain,
        data: body.data,
        msg_value: body.msgValue,
      })

/** Fills the template with the values of a body. */
const fillTemplate = (template: string, body: AttestationBody): string => {
  const values: Readonly<Record<string, string>> = {
    from: body.from,
    to: body.to ?? '',
    chain: body.chain,
    msg_value: body.msgValue,
    data: body.data,
    selector: body.data.slice(0, 10),
  }
  return template.replace(/\{([a-z_]+)\}/g, (placeholder, name: string) => values[name] ?? placeholder)
}

/** A request as its client would send it. */
export interface RequestPlan {
  readonly method: 'GET' | 'POST'
  /** Path and query. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** JSON; null for no body. */
  readonly body: string | null
}

/** HTTP/1.1 over a persistent connection, without a Connection header (RFC 9112, section 9.3). */
export const requestBytes = (url: URL, { method, path, headers, body }: RequestPlan): Uint8Array => {
  const lines = [`${method} ${path} HTTP/1.1`, `Host: ${url.host}`]
  for (const [name, value] of Object.entries(headers)) {
    if (/[\r\n]/.test(name + value)) throw new RangeError(`header ${name} has a line break`)
    lines.push(`${name}: ${value}`)
  }
  if (body !== null) lines.push('Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`)
  else if (method === 'POST') lines.push('Content-Length: 0')
  return Buffer.from([...lines, '', body ?? ''].join('\r\n'))
}

/** A new key for each run, so that runs against the same service do not share idempotency keys. */
const keyPlace = (): string => `bench-${randomUUID()}-000000000000`

/** The key's digits are at the same position in all requests: its header follows the Host header. */
const createStamp = (example: Uint8Array, place: string): ((request: Uint8Array) => Uint8Array) => {
  const end = Buffer.from(example).indexOf(place) + place.length
  let sent = 0
  return (request) => {
    const stamped = request.slice()
    sent += 1
    for (let at = end - 1, rest = sent; rest > 0; at--, rest = Math.floor(rest / 10)) stamped[at] = 48 + (rest % 10)
    return stamped
  }
}

/** Returns requests unchanged. */
export const asItIs = (request: Uint8Array): Uint8Array => request

export const prepareRequests = (
  url: URL,
  givenHeaders: Readonly<Record<string, string>>,
  plan: BodyPlan,
): PreparedRequests => {
  const place = plan.idempotencyKeys === true && plan.batch === undefined ? keyPlace() : null
  const headers = place === null ? givenHeaders : { 'idempotency-key': place, ...givenHeaders }
  const stampOf = (bytes: readonly Uint8Array[]) =>
    place === null || bytes[0] === undefined ? asItIs : createStamp(bytes[0], place)
  const bodies = Array.from({ length: plan.wallets }, (_, index) => makeBody(plan, index))
  const headersOf = (index: number): Readonly<Record<string, string>> => {
    const key = plan.keys?.[index % plan.keys.length]
    return key === undefined ? headers : { ...headers, 'x-api-key': key }
  }
  const build = (index: number, body: string): Uint8Array =>
    requestBytes(url, { method: 'POST', path: url.pathname + url.search, headers: headersOf(index), body })
  const { batch } = plan
  if (batch === undefined) {
    const { template } = plan
    const textOf = template === undefined ? bodyText : (body: AttestationBody) => fillTemplate(template, body)
    const bytes = bodies.map((body, index) => build(index, textOf(body)))
    return { bodies, bytes, stamp: stampOf(bytes) }
  }
  if (plan.wallets % batch !== 0) throw new RangeError('the wallets must fill whole batches')
  const texts = Array.from({ length: plan.wallets / batch }, (_, call) => {
    const elements = bodies.slice(call * batch, (call + 1) * batch).map(bodyText)
    return `{"requests":[${elements.join(',')}]}`
  })
  return { bodies, bytes: texts.map((text, index) => build(index, text)), stamp: asItIs }
}
