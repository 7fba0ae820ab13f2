// docs/openapi/postman.json is derived from the API's document, and its requests succeed in order.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { DOCUMENT_PATH, POSTMAN_PATH } from '../../docs/generate-tables.ts'
import { postmanCollection } from '../../docs/postman.ts'
import { until } from '../support/until.ts'
import { type RunningService, startService } from './start-service.ts'

setDefaultTimeout(60_000)

interface Item {
  readonly name: string
  readonly event?: readonly [{ readonly script: { readonly exec: readonly [string] } }]
  readonly request: {
    readonly method: string
    readonly auth: {
      readonly type: string
      readonly bearer?: unknown
      readonly apikey?: readonly { readonly key: string; readonly value: string }[]
    }
    readonly header: readonly { readonly key: string; readonly value: string }[]
    readonly body?: { readonly raw: string }
    readonly url: { readonly raw: string }
  }
}
interface Collection {
  readonly variable: readonly { readonly key: string; readonly value: string }[]
  readonly item: readonly { readonly item: readonly Item[] }[]
}

const text = readFileSync(POSTMAN_PATH, 'utf8')
const collection = JSON.parse(text) as Collection

let service: RunningService
const variables = new Map<string, string>()
const fill = (template: string): string =>
  template.replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) => {
    const value = variables.get(name) ?? ''
    if (value === '') throw new Error(`the variable ${name} is empty`)
    return value
  })

beforeAll(async () => {
  service = await startService()
  for (const { key, value } of collection.variable) variables.set(key, value)
  variables.set('baseUrl', service.url)
  for (const [variable, name] of [
    ['attestationKey', 'ATTESTATION_API_KEY'],
    ['identityKey', 'IDENTITY_API_KEY'],
    ['verificationHash', 'VERIFICATION_HASH'],
    ['contract', 'DEMO_CONTRACT'],
  ] as const) {
    variables.set(variable, service.quickstart[name] ?? '')
  }
})
afterAll(() => service.stop())

const headersOf = ({ auth, header }: Item['request']): Record<string, string> => {
  const headers = Object.fromEntries(header.map(({ key, value }) => [key, value]))
  const of = (name: string): string => auth.apikey?.find(({ key }) => key === name)?.value ?? ''
  if (auth.type === 'apikey') headers[of('key')] = fill(of('value'))
  if (auth.type === 'bearer') headers['authorization'] = `Bearer ${fill('{{identityKey}}')}`
  return headers
}

test('the collection is derived from the document: bun docs/generate-tables.ts --write', () => {
  expect(postmanCollection(readFileSync(DOCUMENT_PATH, 'utf8'))).toBe(text)
})

test('the collection contains every operation of the document once', () => {
  const { paths } = JSON.parse(readFileSync(DOCUMENT_PATH, 'utf8')) as { paths: Record<string, object> }
  const described = Object.values(paths).flatMap((methods) => Object.keys(methods))
  expect(collection.item.flatMap(({ item }) => item)).toHaveLength(described.length)
})

test('every request succeeds with the variables that previous requests set', async () => {
  for (const { name, request, event } of collection.item.flatMap(({ item }) => item)) {
    const send = () =>
      fetch(fill(request.url.raw), {
        method: request.method,
        headers: headersOf(request),
        body: request.body === undefined ? null : fill(request.body.raw),
      })
    // A proof is available a few seconds after the response.
    if (request.url.raw.endsWith('/proof')) await until(async () => (await send()).ok)
    const response = await send()
    expect([name, response.ok]).toEqual([name, true])
    if (response.headers.get('content-type')?.startsWith('text/event-stream')) {
      await response.body?.cancel()
      continue
    }
    const body = await response.text()
    for (const { script } of event ?? []) {
      const [, variable = '', path = ''] =
        /^pm\.collectionVariables\.set\("(\w+)", pm\.response\.json\(\)\.(\S+)\)$/.exec(script.exec[0]) ?? []
      const kept = path
        .split('.')
        .reduce<unknown>((value, member) => (value as Record<string, unknown>)[member], JSON.parse(body))
      expect(typeof kept).toBe('string')
      variables.set(variable, String(kept))
    }
  }
})
