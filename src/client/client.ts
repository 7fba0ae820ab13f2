// Client for both APIs, for backends only, because keys must not leave them. One function per operation. Every call can be
// aborted and is retried if useful, each time with the same Idempotency-Key.
import { ATTESTATION_PATHS } from '../attestation/paths.ts'
import { IDENTITY_PATHS } from '../identity/paths.ts'
import { attestationBody, readAttestationAnswer, readTaskAnswer, taskBody } from './attestation-calls.ts'
import type { AttestationAnswer, AttestationRequest, TaskAnswer, TaskRequest } from './attestation-types.ts'
import { completeRetryPolicy, type RetryPolicy, wait } from './backoff.ts'
import { attestMany, type BatchResult } from './batch-calls.ts'
import { createEndpoint, type Endpoint } from './endpoint.ts'
import { ArgumentInvalidError } from './errors.ts'
import { followSession } from './follow.ts'
import {
  readRegisteredSession,
  readSessionState,
  readWalletVerification,
  registerBody,
  registerHeaders,
  registerPath,
  statusPath,
  verifyBody,
} from './identity-calls.ts'
import type {
  RegisteredSession,
  RegisterRequest,
  SessionState,
  SessionType,
  VerifyRequest,
  WalletVerification,
} from './identity-types.ts'
import { readFields, UUID_FORM } from './json-fields.ts'
import type { Fetch } from './request.ts'
import { type Call, createTransport, type TransportDependencies } from './transport.ts'

export interface CountersignClientOptions {
  /** For attest and task, for example `https://attest.example.com`. */
  readonly attestationUrl?: string | undefined
  /** Begins with `csa_`. */
  readonly attestationApiKey?: string | undefined
  /** For register, status, follow and verify. */
  readonly identityUrl?: string | undefined
  /** Begins with `csi_`. */
  readonly identityApiKey?: string | undefined
  /** The global one unless stated. */
  readonly fetch?: Fetch | undefined
  /** For one try. 30,000 unless stated: above the service's own 25 seconds. */
  readonly timeoutMs?: number | undefined
  readonly retry?: Partial<RetryPolicy> | undefined
}

export interface CallOptions {
  /** Ends the call, tries and waits included; the call then throws the signal's reason. */
  readonly signal?: AbortSignal | undefined
}

export interface IdempotentCallOptions extends CallOptions {
  /**
   * Up to 255 visible ASCII characters. Made for each call unless given; give one (an order's id, say) to get the same
   * answer for the same thing over a restart of your own.
   */
  readonly idempotencyKey?: string | undefined
}

export interface FollowOptions extends CallOptions {
  /** A connection that brings nothing for this long is given up for a new one. 45,000 unless stated. */
  readonly quietMs?: number | undefined
}

/**
 * Every function rejects with RequestRefusedError, ServiceUnreachableError, AnswerInvalidError or ArgumentInvalidError
 * (see `@countersign/client/errors`).
 */
export interface CountersignClient {
  /** Evaluates a call or a wallet; a denial is an answer. */
  attest(request: AttestationRequest, options?: IdempotentCallOptions): Promise<AttestationAnswer>
  /**
   * Up to 1,000 in one call; each has its own result, in the order of the requests. Those that were refused for now are
   * asked again by themselves. The Idempotency-Key, of at most 251 characters here, stands for the whole list.
   */
  attestMany(requests: readonly AttestationRequest[], options?: IdempotentCallOptions): Promise<readonly BatchResult[]>
  /** The same by the older task API: EVM, with a quorum of signatures. */
  task(request: TaskRequest, options?: IdempotentCallOptions): Promise<TaskAnswer>
  /**
   * The proof that a decision is in the service's log, some seconds after its answer. Keep it with the attestation;
   * `checkDecisionProof` of `@countersign/client/decision-proof` checks it offline.
   */
  proof(uuid: string, options?: CallOptions): Promise<string>
  /** A verification session of a person or a business. */
  register(type: SessionType, request?: RegisterRequest, options?: IdempotentCallOptions): Promise<RegisteredSession>
  status(type: SessionType, sessionId: string, options?: CallOptions): Promise<SessionState>
  /**
   * The current status, then each change, up to `completed` or `rejected`. A connection that is lost is taken up again
   * where it ended. Leaving the loop closes it; so does the signal.
   */
  follow(type: SessionType, sessionId: string, options?: FollowOptions): AsyncGenerator<SessionState, void, void>
  /** Whether a wallet belongs to a verified identity. */
  verify(request: VerifyRequest, options?: CallOptions): Promise<WalletVerification>
}

const TIMEOUT_DEFAULT_MS = 30_000
const QUIET_DEFAULT_MS = 45_000

const milliseconds = (argument: string, value: number): number => {
  if (!Number.isSafeInteger(value) || value < 1 || value > 2 ** 31 - 1) {
    throw new ArgumentInvalidError(argument, 'must be a whole number of milliseconds from 1 to 2147483647')
  }
  return value
}

/**
 * A UUID of version 7 (RFC 9562): it begins with the time, so that the service's index of keys grows at its end, which
 * costs a third of what random keys do.
 */
const newKey = (): string => {
  const time = Date.now().toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-7${crypto.randomUUID().slice(15)}`
}

const idempotencyKey = (options: IdempotentCallOptions): string => {
  const key = options.idempotencyKey ?? newKey()
  if (!/^[\x21-\x7e]{1,255}$/.test(key)) {
    throw new ArgumentInvalidError('idempotencyKey', 'must be 1 to 255 visible ASCII characters')
  }
  return key
}

const required = (endpoint: Endpoint | null, name: 'attestation' | 'identity'): Endpoint => {
  if (endpoint === null) throw new ArgumentInvalidError(`${name}Url`, 'was not given to createCountersignClient')
  return endpoint
}

/** @throws ArgumentInvalidError */
export const createCountersignClient = (options: CountersignClientOptions): CountersignClient => {
  if (typeof options !== 'object' || options === null) {
    throw new ArgumentInvalidError('options', 'must be an object with attestationUrl, identityUrl, or both')
  }
  const attestation = createEndpoint('attestation', options.attestationUrl, options.attestationApiKey)
  const identity = createEndpoint('identity', options.identityUrl, options.identityApiKey)
  const dependencies: TransportDependencies = {
    fetch: options.fetch ?? ((url, init) => fetch(url, init)),
    timeoutMs: milliseconds('timeoutMs', options.timeoutMs ?? TIMEOUT_DEFAULT_MS),
    retry: completeRetryPolicy(options.retry),
    random: Math.random,
    wait,
  }
  const transport = createTransport(dependencies)
  const attestationCall = (call: Call) => transport(required(attestation, 'attestation'), call)
  const identityCall = (call: Call) => transport(required(identity, 'identity'), call)
  const post = (path: string, body: unknown, { signal }: CallOptions): Call => ({ method: 'POST', path, body, signal })
  const postOnce = (path: string, body: unknown, once: IdempotentCallOptions): Call => ({
    ...post(path, body, once),
    idempotencyKey: idempotencyKey(once),
  })

  return {
    attest: async (request, once = {}) =>
      readAttestationAnswer(
        await attestationCall(postOnce(ATTESTATION_PATHS.attestation.path, attestationBody(request), once)),
      ),
    attestMany: (requests, once = {}) =>
      attestMany({ ...dependencies, call: attestationCall }, requests, idempotencyKey(once), once.signal),
    task: async (request, once = {}) =>
      readTaskAnswer(await attestationCall(postOnce(ATTESTATION_PATHS.task.path, taskBody(request), once))),
    proof: async (uuid, { signal } = {}) => {
      if (!UUID_FORM.test(uuid)) throw new ArgumentInvalidError('uuid', 'must be a UUID')
      const { body, requestId } = await attestationCall({
        method: 'GET',
        path: ATTESTATION_PATHS.proof.path.replace('{uuid}', uuid),
        signal,
      })
      return readFields(body, requestId).text('proof')
    },
    register: async (type, request = {}, once = {}) =>
      readRegisteredSession(
        await identityCall({
          ...postOnce(registerPath(type, request), registerBody(request), once),
          headers: registerHeaders(request),
        }),
      ),
    status: async (type, sessionId, { signal } = {}) =>
      readSessionState(await identityCall({ method: 'GET', path: statusPath('status', type, sessionId), signal })),
    follow: (type, sessionId, { signal, quietMs } = {}) =>
      followSession({
        ...dependencies,
        endpoint: required(identity, 'identity'),
        path: statusPath('stream', type, sessionId),
        quietMs: milliseconds('quietMs', quietMs ?? QUIET_DEFAULT_MS),
        signal,
      }),
    verify: async (request, call = {}) =>
      readWalletVerification(await identityCall(post(IDENTITY_PATHS.verify.path, verifyBody(request), call))),
  }
}
