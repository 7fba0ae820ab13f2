// Structured inputs: a valid request to a random route by a random caller, changed in up to three places. The seed and
// the input's number determine everything except ids, which differ for each start.
import type { Deployment, Tenant } from './deployment.ts'
import { policySource } from './deployment.ts'
import { HEADERS, METHODS, NUMBERS, SEGMENTS, TEXTS, TREES } from './hostile-values.ts'
import { createRandom, type Random } from './random.ts'
import type { AttackedRoute, Schema } from './routes.ts'
import type { WireRequest } from './wire.ts'

export interface Input {
  readonly route: AttackedRoute
  readonly request: WireRequest
  /** Canaries of other tenants, which an answer must not contain. */
  readonly foreign: readonly string[]
}

/** Operations that would end the deployment, a caller or the machine. Only unauthorized callers request them. */
const HELD: ReadonlySet<string> = new Set([
  'addAttester',
  'retireAttester',
  'resizePool',
  'changeDeploymentSettings',
  'changeSettings',
  'signOut',
  'endOwnSession',
  'endOtherSessions',
  'rebuildDecisionIndex',
  'portal POST /api/sessions/{session}/leave',
])

/** Places of a change; more frequent places occur more often. */
const PLACES = [
  'body',
  'body',
  'body',
  'body',
  'text',
  'text',
  'head',
  'head',
  'path',
  'query',
  'query',
  'method',
] as const

const VALUES: Readonly<Record<string, (random: Random, things: Readonly<Record<string, string>>) => unknown>> = {
  chain: (random) => random.pick(['base', 'ethereum', 'solana', 'sepolia']),
  source: (_, things) => policySource(`Fuzzed ${things['organization']}`),
  data: () => '0xa9059cbb',
  msg_value: () => '12',
  chain_id: () => 8453,
  chainId: () => 1,
  user_ip: () => '203.0.113.7',
  email: (random) => `fuzz-${random.below(1e9)}@example.com`,
  slug: (random) => `fuzz-${random.below(1e9)}`,
  name: (random) => `fuzz_${random.below(1e9)}`,
  password: () => 'seven amber lanterns',
  current_password: () => 'seven amber lanterns',
  new_password: () => 'eight amber lanterns',
  code: () => '123456',
  url: () => 'https://hooks.invalid/x',
  originUrl: () => 'https://shop.example/back',
  walletAddress: () => `0x${'3'.repeat(40)}`,
  on_behalf: () => `0x${'4'.repeat(40)}`,
  version: () => '1',
  language: () => 'en',
  signature: () => `0x${'5'.repeat(130)}`,
  nonce: () => 'a'.repeat(22),
  birthDate: () => '1985-12-10',
  country: () => 'GB',
  fullName: () => 'Ada Byron',
  expires_at: () => '2031-01-01T00:00:00Z',
  since: () => '2026-01-01T00:00:00Z',
  color: () => '#123456',
  logo: () => 'iVBORw0KGgo=',
  token: () => 'A'.repeat(24),
}

/** Returns a value that satisfies the schema. */
const sampleOf = (schema: Schema, name: string, random: Random, things: Readonly<Record<string, string>>): unknown => {
  if (schema.const !== undefined) return schema.const
  if (schema.anyOf !== undefined) return sampleOf(random.pick(schema.anyOf), name, random, things)
  if (schema.allOf !== undefined) {
    return Object.assign({}, ...schema.allOf.map((part) => sampleOf(part, name, random, things)))
  }
  if (schema.type === 'object' || schema.properties !== undefined) {
    const { properties = {}, required = [], minProperties = 0 } = schema
    const entries = Object.entries(properties).filter(
      ([key], index) => required.includes(key) || index < minProperties || random.chance(0.4),
    )
    return Object.fromEntries(entries.map(([key, part]) => [key, sampleOf(part, key, random, things)]))
  }
  if (schema.type === 'array') {
    const count = Math.max(schema.minItems ?? 0, random.below(3))
    return Array.from({ length: count }, () => sampleOf(schema.items ?? {}, name, random, things))
  }
  if (schema.type === 'boolean') return random.chance(0.5)
  if (schema.type === 'null') return null
  const known = VALUES[name]?.(random, things)
  if (schema.type === 'integer' || schema.type === 'number') {
    return typeof known === 'number' ? known : (schema.minimum ?? 1) + random.below(5)
  }
  return things[name] ?? (typeof known === 'string' ? known : 'x'.repeat(Math.max(schema.minLength ?? 1, 4)))
}

/** Placeholder for a token that JSON.stringify cannot write. */
const RAW = /"@raw:([^"]*)@"/g
const raw = (text: string): string => `@raw:${Buffer.from(text).toString('base64url')}@`
const writeJson = (value: unknown): string =>
  JSON.stringify(value).replaceAll(RAW, (_, text: string) => Buffer.from(text, 'base64url').toString())

type Container = Record<string, unknown> | unknown[]

const containersIn = (value: unknown): Container[] =>
  typeof value !== 'object' || value === null
    ? []
    : [value as Container, ...Object.values(value).flatMap((part) => containersIn(part))]

const hostileValue = (random: Random): unknown => {
  switch (random.below(4)) {
    case 0:
      return raw(random.pick(NUMBERS))
    case 1:
      return raw(random.pick(TREES))
    default:
      return random.pick(TEXTS)
  }
}

/** Changes one place in a tree. */
const changeTree = (tree: unknown, random: Random): void => {
  const containers = containersIn(tree)
  if (containers.length === 0) return
  const container = random.pick(containers)
  const keys = Object.keys(container)
  const key = keys.length === 0 ? null : random.pick(keys)
  const members = container as Record<string, unknown>
  if (key === null || Array.isArray(container) || random.chance(0.6)) {
    members[key ?? (Array.isArray(container) ? '0' : 'fuzz')] = hostileValue(random)
    return
  }
  switch (random.below(4)) {
    case 0:
      delete members[key]
      return
    case 1: {
      // One edit away from the name of a field.
      members[key.slice(0, -1)] = members[key]
      delete members[key]
      return
    }
    case 2:
      Object.defineProperty(
        members,
        random.pick(['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty']),
        { value: random.chance(0.5) ? { admin: true } : 'x', enumerable: true, configurable: true, writable: true },
      )
      return
    default:
      members[key] = [members[key], members[key]]
  }
}

const changeText = (text: string, random: Random): Uint8Array => {
  const bytes = Buffer.from(text)
  switch (random.below(9)) {
    case 0:
      return bytes.subarray(0, random.below(bytes.length + 1))
    case 1:
      return Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), bytes])
    case 2:
      return Buffer.from(text, 'utf16le')
    case 3:
      return Buffer.concat([bytes, Buffer.from(random.pick([' {}', ',', '\0', 'null', '}']))])
    case 4: {
      // Duplicates a member.
      const at = text.indexOf('{')
      const first = /^\s*("(?:[^"\\]|\\.)*"\s*:\s*(?:"(?:[^"\\]|\\.)*"|[^,{}[\]"]+))/.exec(text.slice(at + 1))?.[1]
      return first === undefined ? bytes : Buffer.from(`{${first},${text.slice(at + 1)}`)
    }
    case 5:
      return Buffer.from(text.replaceAll('"', "'"))
    case 6: {
      const changed = Buffer.from(bytes)
      if (changed.length > 0) changed[random.below(changed.length)] = random.below(256)
      return changed
    }
    case 7:
      return Buffer.from(
        `${text.slice(0, -1)}${' '.repeat(random.pick([1, 1_000, 70_000, 1_100_000]))}${text.slice(-1)}`,
      )
    default:
      return Buffer.from(`${'[{"a":'.repeat(random.pick([5, 17, 5_000]))}${text}`)
  }
}

interface Caller {
  readonly headers: ReadonlyArray<readonly [string, string]>
  readonly tenant: Tenant | null
  /** Whether the caller may see all tenants. */
  readonly deployment: boolean
}

const callerOf = (route: AttackedRoute, deployment: Deployment, own: Tenant, random: Random): Caller => {
  const { access, listener } = route
  const origin = [['origin', deployment.urls[listener]] as const, ['sec-fetch-site', 'same-origin'] as const]
  const key = (text: string): Caller['headers'] => [
    ['authorization', `Bearer ${text}`],
    ['x-api-key', text],
  ]
  const nobody: Caller = { headers: origin, tenant: null, deployment: false }
  const held = HELD.has(route.name)
  if (access === null) return nobody
  const other = random.chance(0.1)
  if (other || held) {
    const wrong = random.pick([own.keys.attestation, own.keys.identity, `csm_live_${'a'.repeat(55)}`])
    return random.chance(0.5) ? nobody : { headers: key(wrong), tenant: own, deployment: false }
  }
  if (access === 'attestation' || access === 'identity') {
    return { headers: key(own.keys[access]), tenant: own, deployment: false }
  }
  if (access === 'visitor') {
    return { headers: [...origin, ['cookie', own.portal.cookie]], tenant: own, deployment: false }
  }
  const person = random.chance(0.2)
  if (access.kind === 'person' || access.kind === 'second-factor' || (person && access.kind !== 'deployment')) {
    const { cookie } = own.people[random.pick(['organization-admin', 'reviewer', 'viewer'] as const)]
    return { headers: [...origin, ['cookie', cookie]], tenant: own, deployment: false }
  }
  if (access.kind === 'deployment') {
    return access.person === true
      ? { headers: [...origin, ['cookie', deployment.root.cookie]], tenant: null, deployment: true }
      : { headers: key(deployment.deploymentKey), tenant: null, deployment: true }
  }
  if (access.kind === 'public') return nobody
  return { headers: key(own.keys.admin), tenant: own, deployment: false }
}

export const createInputs = (deployment: Deployment, routes: readonly AttackedRoute[], seed: number) => {
  const { alpha, beta } = deployment
  return (index: number): Input => {
    const random = createRandom(Math.imul(seed, 0x9e3779b1) ^ Math.imul(index + 1, 0x85ebca6b))
    // Takes turns, so that each route gets its share.
    const route = routes[index % routes.length] as AttackedRoute
    const own = random.chance(0.5) ? alpha : beta
    const caller = callerOf(route, deployment, own, random)
    const changes = random.chance(0.15) ? 0 : 1 + random.below(2)
    const places = Array.from({ length: changes }, () => random.pick(PLACES))
    const foreignIds = random.chance(0.15)
    const things = foreignIds ? (own === alpha ? beta : alpha).things : own.things
    const thing = (name: string): string =>
      name === 'organization' && random.chance(0.7)
        ? own.slug
        : (things[name] ?? String(VALUES[name]?.(random, things) ?? 'unknown'))

    let target = route.path.replaceAll(/\{([^}]+)\}/g, (_, name: string) => encodeURIComponent(thing(name)))
    if (places.includes('path')) {
      const segments = target.split('/')
      const at = 1 + random.below(segments.length)
      if (random.chance(0.5)) segments[Math.min(at, segments.length - 1)] = random.pick(SEGMENTS)
      else segments.splice(at, 0, random.pick(SEGMENTS))
      target = segments.join('/')
    }
    const query = Object.entries(route.query)
      .filter(([name]) => ['from', 'to'].includes(name) || random.chance(0.3))
      .map(([name, schema]) => [name, String(sampleOf(schema, name, random, things))])
    if (places.includes('query')) {
      const name = query.length > 0 && random.chance(0.7) ? (random.pick(query)[0] ?? '') : random.pick(TEXTS)
      query.push([name, random.chance(0.5) ? random.pick(TEXTS) : random.pick(NUMBERS)])
    }
    if (query.length > 0) {
      const written = query.map(([name = '', value = '']) =>
        random.chance(0.9)
          ? `${encodeURIComponent(name.toWellFormed())}=${encodeURIComponent(value.toWellFormed())}`
          : '%zz=%',
      )
      target += `?${written.join('&')}`
    }

    const headers: Array<readonly [string, string]> = [
      ['host', `127.0.0.1:${deployment.ports[route.listener]}`],
      ['x-forwarded-for', `203.0.${(index >> 8) & 255}.${index & 255}`],
      ...caller.headers,
    ]
    let body: Uint8Array = new Uint8Array(0)
    if (route.body !== null) {
      const tree = sampleOf(route.body, '', random, things)
      for (const place of places) if (place === 'body') changeTree(tree, random)
      const text = writeJson(tree)
      body = places.includes('text') ? changeText(text, random) : Buffer.from(text)
      headers.push(['content-type', 'application/json'])
    } else if (route.rawTypes.length > 0) {
      headers.push(['content-type', random.pick(route.rawTypes)])
      const text = random.pick([`0x${'6'.repeat(40)}\n`, 'address,memo\n', '<?xml version="1.0"?><a/>', ...TEXTS])
      body = random.chance(0.5) ? changeText(text, random) : Buffer.from(text)
    }
    let { method } = route
    if (places.includes('method')) method = random.pick(METHODS)
    for (const place of places) {
      if (place !== 'head') continue
      const [name, value] = random.pick(HEADERS)
      const at = headers.findIndex(([known]) => known === name)
      if (at !== -1 && random.chance(0.7)) headers[at] = [name, value]
      else headers.push([name, value])
    }
    const cut = places.includes('text') && body.length > 0 && random.chance(0.1)
    const foreign = caller.deployment ? [] : [alpha, beta].filter((tenant) => tenant !== caller.tenant)
    return {
      route,
      request: { method, target, headers, body, cutAfterBytes: cut ? random.below(body.length) : null },
      foreign: foreign.map(({ canary }) => canary),
    }
  }
}
