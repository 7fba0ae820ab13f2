// Like gate.ts, for services that sign messages instead of using a key. Order: request id, deadline, sender, body,
// signature, then the endpoint’s work.
import { assignOwner, runFor } from '../lib/caller.ts'
import { networkOf } from '../lib/ip-address.ts'
import type { Clock } from '../lib/time.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { ClientAddress } from './client-address.ts'
import type { Deadline, Deadlines } from './deadline.ts'
import type { RefusalPacer } from './event-loop-turns.ts'
import { readJsonBody } from './json-body.ts'
import { toProblem } from './problem.ts'
import { type PathParameters, parameterReader } from './public-route.ts'
import type { RequestIdSource } from './request-id.ts'
import { problemResponse } from './response.ts'
import { type JsonObject, parseStrictJsonObject } from './strict-json.ts'
import { verifyWebhook, WebhookSignatureInvalidError } from './webhook-signature.ts'

export interface SignedGateDependencies {
  readonly deadlines: Deadlines
  readonly requestIds: RequestIdSource
  readonly clock: Clock
  readonly metrics: Pick<Metrics, 'route' | 'recordError'>
  /** Called for service errors (500 and 503). Must not throw. */
  readonly report: (error: unknown, requestId: string, traceId?: string) => void
  readonly clientAddress: ClientAddress
  readonly pacer: RefusalPacer
}

export interface SignedGateSettings<Path extends string, Sender> {
  readonly path: Path
  /**
   * Finds the claimed sender by the path alone. If null, the response is the same as for a wrong signature, and the
   * body isn't read.
   */
  readonly findSender: (parameters: PathParameters<Path>) => Promise<{
    readonly sender: Sender
    readonly organizationId: string
    readonly secrets: readonly Uint8Array[]
    /** Verifies the signature. Defaults to Standard Webhooks. */
    readonly verify?: typeof verifyWebhook
  } | null>
  readonly bodyBytesMax?: number
}

/** The endpoint must detect repeated messages. */
export interface SignedCall<Path extends string, Sender> {
  readonly parameters: PathParameters<Path>
  readonly requestId: string
  readonly sender: Sender
  readonly messageId: string
  readonly message: JsonObject
  readonly deadline: Deadline
}

export type SignedEndpoint = (
  request: Request,
  server: Pick<Bun.Server<unknown>, 'requestIP'> | null,
) => Promise<Response>

export type SignedGate = <Path extends string, Sender>(
  settings: SignedGateSettings<Path, Sender>,
  handle: (call: SignedCall<Path, Sender>) => Promise<Response>,
) => SignedEndpoint

const BODY_BYTES_MAX = 65_536
/** Required by RFC 9110 §11.6.1. */
const CHALLENGE = 'StandardWebhooks realm="countersign"'

export const createSignedGate =
  ({ deadlines, requestIds, clock, metrics, report, clientAddress, pacer }: SignedGateDependencies): SignedGate =>
  ({ path, findSender, bodyBytesMax = BODY_BYTES_MAX }, handle) => {
    const record = metrics.route('POST', path)
    const readParameters = parameterReader({ path })
    return async (request, server) => {
      const startedMs = clock.monotonicMs()
      pacer.arrived()
      const requestId = requestIds(request.headers.get('x-request-id'))
      const network = networkOf(clientAddress(server?.requestIP(request)?.address ?? '', request.headers))
      const receive = async (deadline: Deadline): Promise<Response> => {
        const parameters = readParameters(request.url)
        const found = await findSender(parameters)
        if (found === null) throw new WebhookSignatureInvalidError()
        const { sender, organizationId, secrets, verify = verifyWebhook } = found
        const body = await readJsonBody(request, { maxBytes: bodyBytesMax })
        const { id } = verify(secrets, request.headers, body, clock.unixSeconds())
        assignOwner(organizationId)
        return handle({ parameters, requestId, sender, deadline, messageId: id, message: parseStrictJsonObject(body) })
      }
      try {
        const response = await deadlines.watch((deadline, expired) =>
          runFor({ owner: '', network, signal: AbortSignal.any([request.signal, expired]) }, () => receive(deadline)),
        )
        record(response.status, clock.monotonicMs() - startedMs)
        return response
      } catch (error) {
        return pacer.refuse(() => {
          const { status, code } = toProblem(error)
          record(status, clock.monotonicMs() - startedMs)
          metrics.recordError(code)
          return problemResponse(error, requestId, { report, challenge: CHALLENGE, requestHeaders: request.headers })
        })
      }
    }
  }
