// Client for both APIs. For backends only, because it holds API keys.
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
  /** Base URL, such as `https://attest.example.com`. Required for attest, attestMany, task and proof. */
  readonly attestationUrl?: string | undefined
  /** Attestation API key; starts with `csa_`. */
  readonly attestationApiKey?: string | undefined
  /** Base URL. Required for register, status, follow and verify. */
  readonly identityUrl?: string | undefined
  /** Identity API key; starts with `csi_`. */
  readonly identityApiKey?: string | undefined
  /** Defaults to the global fetch. */
  readonly fetch?: Fetch | undefined
  /** Milliseconds per attempt. Defaults to 30,000, which exceeds the service's own 25 seconds. */
  readonly timeoutMs?: number | undefined
  readonly retry?: Partial<RetryPolicy> | undefined
}

export interface CallOptions {
  /** Aborts the call with its retries; the call then throws the signal's reason. */
  readonly signal?: AbortSignal | undefined
}

export interface IdempotentCallOptions extends CallOptions {
  /** 1 to 255 visible ASCII characters; random by default. An order id gives a restarted program the same answer. */
  readonly idempotencyKey?: string | undefined
}

export interface FollowOptions extends CallOptions {
  /** Milliseconds without data before the client reconnects. Defaults to 45,000. */
  readonly quietMs?: number | undefined
}

/**
 * Calls reject with RequestRefusedError, ServiceUnreachableError, AnswerInvalidError or ArgumentInvalidError of
 * `@countersign/client/errors`. Retries repeat a call with the same Idempotency-Key.
 */
export interface CountersignClient {
  /** Evaluates a call or a wallet. A denial is an answer, not an error. */
  attest(request: AttestationRequest, options?: IdempotentCallOptions): Promise<AttestationAnswer>
  /**
   * Evaluates up to 1,000 requests. Results are in the order of the requests; temporary failures are retried. The
   * Idempotency-Key has at most 251 characters.
   */
  attestMany(requests: readonly AttestationRequest[], options?: IdempotentCallOptions): Promise<readonly BatchResult[]>
  /** Evaluates a call with the v1 API: EVM chains only, with a quorum of signatures. */
  task(request: TaskRequest, options?: IdempotentCallOptions): Promise<TaskAnswer>
  /**
   * Proves that a decision is in the log, some seconds after the decision. Store the proof with the attestation;
   * `checkDecisionProof` of `@countersign/client/decision-proof` checks it offline.
   */
  proof(uuid: string, options?: CallOptions): Promise<string>
  /** Creates a verification session for a person or a business. */
  register(type: SessionType, request?: RegisterRequest, options?: IdempotentCallOptions): Promise<RegisteredSession>
  status(type: SessionType, sessionId: string, options?: CallOptions): Promise<SessionState>
  /** Yields the status and each change until `completed` or `rejected`. Leaving the loop closes the connection. */
  follow(type: SessionType, sessionId: string, options?: FollowOptions): AsyncGenerator<SessionState, void, void>
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

/** Returns a UUID v7 (RFC 9562). In the service's index, such keys take a third of the time of random keys. */
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
  if (endpoint === null) throw new ArgumentInvalidError(`${name}Url`, 'must be passed to createCountersignClient')
  return endpoint
}

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
