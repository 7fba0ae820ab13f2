// The way in for services that sign their messages instead of bringing a key: request id, deadline, body, signature, then
// the endpoint's own work; and the one way out. As gate.ts, for the other kind of caller.
import type { Clock } from '../domain/time.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { Deadline, Deadlines } from './deadline.ts'
import type { Endpoint } from './gate.ts'
import { readJsonBody } from './json-body.ts'
import { toProblem } from './problem.ts'
import type { RequestIdSource } from './request-id.ts'
import { requestPath } from './request-path.ts'
import { problemResponse } from './response.ts'
import { type JsonObject, parseStrictJsonObject } from './strict-json.ts'
import { verifyWebhook } from './webhook-signature.ts'

export interface SignedGateDependencies {
  readonly deadlines: Deadlines
  readonly requestIds: RequestIdSource
  readonly clock: Clock
  readonly metrics: Pick<Metrics, 'route' | 'recordError'>
  /** Told of failures of ours (500 and 503). Must not throw. */
  readonly report: (error: unknown, requestId: string, traceId?: string) => void
}

export interface SignedGateSettings<Sender> {
  /** The path, as metrics name it. */
  readonly route: string
  /** Who says to be the sender, by the path alone; null for nobody, which is answered as a wrong signature is. */
  readonly findSender: (
    path: string,
  ) => Promise<{ readonly sender: Sender; readonly secrets: readonly Uint8Array[] } | null>
}

/** A message that its sender signed. Whether it came before is for the endpoint to know. */
export interface SignedCall<Sender> {
  readonly request: Request
  readonly requestId: string
  readonly sender: Sender
  readonly messageId: string
  readonly message: JsonObject
  readonly deadline: Deadline
}

export type SignedGate = <Sender>(
  settings: SignedGateSettings<Sender>,
  handle: (call: SignedCall<Sender>) => Promise<Response>,
) => Endpoint

/** Results and requests are short. */
const BODY_BYTES_MAX = 65_536
/** RFC 9110 §11.6.1 asks for one. */
const CHALLENGE = 'StandardWebhooks realm="countersign"'

export const createSignedGate =
  ({ deadlines, requestIds, clock, metrics, report }: SignedGateDependencies): SignedGate =>
  ({ route, findSender }, handle) => {
    const record = metrics.route('POST', route)
    return async (request) => {
      const startedMs = clock.monotonicMs()
      const requestId = requestIds(request.headers.get('x-request-id'))
      const enter = async (deadline: Deadline): Promise<Response> => {
        const body = await readJsonBody(request, { maxBytes: BODY_BYTES_MAX })
        const found = await findSender(requestPath(request.url))
        const { id } = verifyWebhook(found?.secrets ?? [], request.headers, body, clock.unixSeconds())
        // Without a sender nothing verifies.
        const { sender } = found!
        return handle({ request, requestId, sender, deadline, messageId: id, message: parseStrictJsonObject(body) })
      }
      try {
        const response = await deadlines.watch(enter)
        record(response.status, clock.monotonicMs() - startedMs)
        return response
      } catch (error) {
        const { status, code } = toProblem(error)
        record(status, clock.monotonicMs() - startedMs)
        metrics.recordError(code)
        return problemResponse(error, requestId, { report, challenge: CHALLENGE, requestHeaders: request.headers })
      }
    }
  }
