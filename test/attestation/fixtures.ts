// Fixtures of the attestation API: addresses, refusals of decoders, and endpoints whose handler tests call directly.
import { expect } from 'bun:test'
import type { BatchEndpointDependencies } from '../../src/attestation/batch-endpoint.ts'
import { createChainTable } from '../../src/domain/chain.ts'
import { CountersignError, type ErrorCode } from '../../src/domain/errors.ts'
import type { Principal } from '../../src/server/authenticate.ts'
import type { AdmittedRequest, Gate, GateSettings } from '../../src/server/gate.ts'
import type { JsonObject } from '../../src/server/strict-json.ts'

export const WALLET = '0x8ba1f109551bD432803012645Ac136ddd64DBA72'
export const CONTRACT = '0xdAC17F958D2ee523a2206206994597C13D831ec7'
export const SOLANA_WALLET = 'DeZVDBizsEVYvCDyLDLU8MPgE6ndYE2dDA1MXaL2neJC'

export const without = (body: JsonObject, field: string): JsonObject =>
  Object.fromEntries(Object.entries(body).filter(([name]) => name !== field))

interface Refusal {
  readonly code: ErrorCode
  readonly detail: string
}

/** The refusal of a decoder; null if it accepts. */
export const refusalOf = (decode: () => unknown): Refusal | null => {
  try {
    decode()
    return null
  } catch (error) {
    if (error instanceof CountersignError) return { code: error.code, detail: error.detail }
    throw error
  }
}

export const invalid = (field: string, rule: string): Refusal => {
  return { code: 'INVALID_FIELD', detail: `request validation failed: ${field} ${rule}` }
}
export const missing = (field: string): Refusal => {
  return { code: 'MISSING_REQUIRED_FIELD', detail: `Missing required field: ${field}` }
}

const PRINCIPAL = { keyId: 'key_1', organizationId: 'org_1', kind: 'attestation', environment: 'live' } as const

/** The dependencies of an endpoint that refuses no request and makes no decision, and their gate. */
export const createOpenEndpoint = (
  changes: Partial<BatchEndpointDependencies>,
  rateLimit: Principal['rateLimit'] = null,
) => {
  let settings: GateSettings | undefined
  let handle: Parameters<Gate>[1] = () => expect.unreachable('the endpoint has no gate')
  const principal: Principal = { ...PRINCIPAL, rateLimit }
  const dependencies: BatchEndpointDependencies = {
    gate: (taken, handler) => {
      settings = taken
      handle = handler
      return () => expect.unreachable()
    },
    idempotent: async () => expect.unreachable(),
    metrics: { recordDecision: () => undefined, recordError: () => undefined },
    pool: { withhold: () => undefined, refusal: () => null },
    concurrency: null,
    storeBacklogMs: () => 0,
    chains: createChainTable([]),
    clock: { monotonicMs: () => 0, unixSeconds: () => 0 },
    limiter: {
      ready: () => undefined,
      take: () => null,
      takeSome: (_principal, granted) => ({ granted, state: null, refusal: null }),
    },
    after: () => () => undefined,
    report: () => undefined,
    decode: () => expect.unreachable(),
    attest: async () => expect.unreachable(),
    ...changes,
  }
  const post = (
    body: unknown,
    headers: Readonly<Record<string, string>> = {},
    admitted: Partial<AdmittedRequest> = {},
  ) => {
    const request = new Request('http://127.0.0.1/', {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
    const deadline = { deadlineMs: 10_000, passed: false }
    const given = { request, requestId: 'request_1', principal, rateLimit: null, deadline, ended: request.signal }
    return handle({ ...given, confirmKey: () => undefined, ...admitted })
  }
  const refusal = (headers: Readonly<Record<string, string>> = {}) =>
    settings?.refusal?.(principal, new Headers(headers), 1_500) ?? null
  return { dependencies, post, refusal }
}
