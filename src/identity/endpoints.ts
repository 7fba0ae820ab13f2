import type { ChainTable } from '../domain/chain.ts'
import { newSessionId } from '../domain/identifier.ts'
import { CHECK_TYPES, parseSessionType, type SessionState, type SessionType } from '../domain/session.ts'
import { SessionUnknownError } from '../domain/session-errors.ts'
import { runFor } from '../lib/caller.ts'
import {
  type Authenticator,
  KeyScopeError,
  KeyUnusableError,
  type LookupOwner,
  type Principal,
} from '../server/authenticate.ts'
import { parseBearer } from '../server/bearer.ts'
import { eventStreamResponse } from '../server/event-stream.ts'
import type { AdmittedRequest, Endpoint, Gate, GateSettings } from '../server/gate.ts'
import type { IdempotencyGuard } from '../server/idempotency.ts'
import { readJsonBody, readOptionalJsonBody } from '../server/json-body.ts'
import { type PublicRoute, parameterReader } from '../server/public-route.ts'
import { requestQuery } from '../server/request-path.ts'
import { BEARER_CHALLENGE, jsonResponse } from '../server/response.ts'
import { parseStrictJsonObject } from '../server/strict-json.ts'
import { IDENTITY_PATHS } from './paths.ts'
import { decodeRegister, decodeSize, decodeVerify, parseSessionId } from './schema.ts'
import type { Register, RegisteredSession } from './sessions/register.ts'
import { parseSandboxOutcome, SANDBOX_HEADER } from './sessions/sandbox.ts'
import { buildStatus } from './sessions/status.ts'
import type { VerifyWallet } from './sessions/verify.ts'
import type { StreamHub } from './streams/stream-hub.ts'
import type { SessionStore } from './types.ts'

export interface IdentityEndpoints {
  readonly registerIndividual: Endpoint
  readonly registerBusiness: Endpoint
  readonly status: Endpoint
  readonly stream: Endpoint
  readonly verify: Endpoint
}

export interface IdentityEndpointDependencies {
  readonly gate: Gate
  readonly idempotent: IdempotencyGuard
  readonly authenticator: Pick<Authenticator, 'authenticate'>
  readonly sessions: Pick<SessionStore, 'find'>
  readonly register: Register
  readonly hub: Pick<StreamHub, 'open'>
  readonly verifyWallet: VerifyWallet
  readonly chains: Pick<ChainTable, 'byName'>
}

/** Time during which a repeated Idempotency-Key returns the same session (decisions §1, "Idempotency"). */
const KEEP_SECONDS = 86_400

const readKey = (headers: Headers): string | null => parseBearer(headers.get('authorization'))

const settingsOf = ({ method, path }: PublicRoute): GateSettings => ({
  method,
  route: path,
  readKey,
  scope: 'identity',
  challenge: BEARER_CHALLENGE,
})

const targetReader = (route: typeof IDENTITY_PATHS.status | typeof IDENTITY_PATHS.stream) => {
  const readParameters = parameterReader(route)
  return ({ url }: Request): { readonly type: SessionType; readonly sessionId: string } => {
    const parameters = readParameters(url)
    const sessionId = parseSessionId(parameters.sessionId)
    const type = parseSessionType(parameters.type)
    if (sessionId === null || type === null) throw new SessionUnknownError()
    return { type, sessionId }
  }
}
const readStatusTarget = targetReader(IDENTITY_PATHS.status)
const readStreamTarget = targetReader(IDENTITY_PATHS.stream)

/** A session of another type or environment counts as unknown, like another organization's session (threats row 1). */
const isOf = ({ session }: SessionState, type: SessionType, { environment }: Principal): boolean =>
  session.checkType === CHECK_TYPES[type] && session.environment === environment

const createRegisterEndpoint = (
  { gate, idempotent, register }: IdentityEndpointDependencies,
  type: SessionType,
): Endpoint => {
  const route = type === 'individual' ? IDENTITY_PATHS.registerIndividual : IDENTITY_PATHS.registerBusiness
  const handle = async ({ request, requestId, principal, rateLimit }: AdmittedRequest): Promise<Response> => {
    const { organizationId, keyId } = principal
    const size = decodeSize(requestQuery(request.url))
    const sandboxHeader = principal.environment === 'test' ? request.headers.get(SANDBOX_HEADER) : null
    const forcedOutcome = parseSandboxOutcome(sandboxHeader)
    const body = await readOptionalJsonBody(request)
    const decoded = decodeRegister(body.object)
    const made: RegisteredSession[] = []
    // Stores only the session's id for repeated requests, because the store must not contain the link.
    const final = await idempotent(
      {
        organizationId,
        keyId,
        body: body.text,
        uuid: newSessionId(),
        header: request.headers.get('idempotency-key'),
        route: `${route.path}?size=${size}&outcome=${forcedOutcome ?? ''}`,
      },
      async (sessionId, onDispatch) => {
        await onDispatch(0)
        const registered = await register.register({
          organizationId,
          sessionId,
          environment: principal.environment,
          keyId,
          actor: `key:${keyId}`,
          forcedOutcome,
          checkType: CHECK_TYPES[type],
          request: decoded,
        })
        made.push(registered)
        return { status: registered.created ? 201 : 200, body: registered.sessionId, keepSeconds: KEEP_SECONDS }
      },
    )
    const sessionId = final.body
    const own = made.find((registered) => registered.sessionId === sessionId)
    const link = own?.link ?? (await register.relink(organizationId, sessionId, decoded.walletAddress !== null, keyId))
    const answer = register.answer(sessionId, link, size)
    return jsonResponse(answer, requestId, { rateLimit, status: final.status, replayed: final.replayed })
  }
  return gate(settingsOf(route), (admitted) =>
    runFor({ owner: admitted.principal.organizationId, signal: admitted.ended }, () => handle(admitted)),
  )
}

const createStatusEndpoint = ({ gate, sessions }: IdentityEndpointDependencies): Endpoint =>
  gate(settingsOf(IDENTITY_PATHS.status), async ({ request, requestId, principal, rateLimit }) => {
    const { type, sessionId } = readStatusTarget(request)
    const state = await sessions.find(principal.organizationId, sessionId)
    if (state === null || !isOf(state, type, principal)) throw new SessionUnknownError()
    return jsonResponse(JSON.stringify(buildStatus(state)), requestId, { rateLimit })
  })

const refusedOrThrow = (error: unknown): false => {
  if (error instanceof KeyUnusableError || error instanceof KeyScopeError) return false
  throw error
}

const createStreamEndpoint = ({ gate, hub, authenticator }: IdentityEndpointDependencies): Endpoint => {
  /** Called every 15 s to end the streams of a revoked or expired key. */
  const stillWorks = (key: string | null, owner: LookupOwner): boolean | Promise<boolean> => {
    try {
      const found = authenticator.authenticate(key, 'identity', owner)
      return found instanceof Promise ? found.then(() => true, refusedOrThrow) : true
    } catch (error) {
      return refusedOrThrow(error)
    }
  }
  return gate(settingsOf(IDENTITY_PATHS.stream), async ({ request, requestId, principal, rateLimit, deadline }) => {
    const { type, sessionId } = readStreamTarget(request)
    const key = readKey(request.headers)
    const stream = await hub.open({
      sessionId,
      organizationId: principal.organizationId,
      keyId: principal.keyId,
      isPage: false,
      accepts: (state) => isOf(state, type, principal),
      allowed: () => stillWorks(key, { lookupOwner: () => principal.organizationId }),
      signal: request.signal,
      isLate: () => deadline.passed,
    })
    return eventStreamResponse(stream, requestId, rateLimit)
  })
}

const createVerifyEndpoint = ({ gate, verifyWallet, chains }: IdentityEndpointDependencies): Endpoint =>
  gate(settingsOf(IDENTITY_PATHS.verify), async (admitted) => {
    const { request, requestId, principal, rateLimit } = admitted
    const body = await readJsonBody(request)
    // The key may have been revoked while the body arrived.
    await admitted.confirmKey()
    const decoded = decodeVerify(parseStrictJsonObject(body), chains)
    const found = verifyWallet(principal, decoded)
    const answer = found instanceof Promise ? await found : found
    return jsonResponse(JSON.stringify(answer), requestId, { rateLimit })
  })

export const createIdentityEndpoints = (dependencies: IdentityEndpointDependencies): IdentityEndpoints => ({
  registerIndividual: createRegisterEndpoint(dependencies, 'individual'),
  registerBusiness: createRegisterEndpoint(dependencies, 'business'),
  status: createStatusEndpoint(dependencies),
  stream: createStreamEndpoint(dependencies),
  verify: createVerifyEndpoint(dependencies),
})
