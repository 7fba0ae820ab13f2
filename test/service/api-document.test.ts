// /openapi.json of the API listener. production-start.test.ts disables it.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { DOCUMENT_PATH, DOCUMENT_SERVER, documentText } from '../../docs/generate-tables.ts'
import { ATTESTATION_PATHS } from '../../src/attestation/paths.ts'
import { IDENTITY_PATHS } from '../../src/identity/paths.ts'
import { type RunningService, startService } from './start-service.ts'

setDefaultTimeout(60_000)

interface Document {
  readonly servers: readonly { readonly url: string }[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly operationId: string }>>>>
  readonly components: { readonly schemas: Readonly<Record<string, unknown>> }
}

let service: RunningService
let text: string
beforeAll(async () => {
  service = await startService({ environment: { COUNTERSIGN_WORKERS: '1', COUNTERSIGN_API_URL: DOCUMENT_SERVER } })
  const response = await fetch(`${service.url}/openapi.json`)
  expect(response.headers.get('content-type')).toBe('application/json')
  text = await response.text()
})
afterAll(async () => {
  await service.stop()
})

test('docs/openapi/api.json equals the document of the service: bun docs/generate-tables.ts --write', () => {
  expect(documentText(text)).toBe(readFileSync(DOCUMENT_PATH, 'utf8'))
})

test('the document contains the public URL, every operation of both APIs, and every referenced schema', () => {
  const document = JSON.parse(text) as Document
  expect(document.servers).toEqual([{ url: DOCUMENT_SERVER }])
  const described = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
  )
  for (const { method, path } of [...Object.values(ATTESTATION_PATHS), ...Object.values(IDENTITY_PATHS)]) {
    // Called by external services with the signature of a webhook secret: docs/identity.md.
    if (!path.startsWith('/api/v1/provider/')) expect(described).toContain(`${method} ${path}`)
  }
  const ids = Object.values(document.paths).flatMap((item) => Object.values(item).map(({ operationId }) => operationId))
  expect(new Set(ids).size).toBe(ids.length)
  for (const [, name] of text.matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
    expect(document.components.schemas).toHaveProperty([name ?? ''])
  }
})

test('a schema name has the same meaning in both APIs', async () => {
  const merged = (JSON.parse(text) as Document).components.schemas
  for (const name of ['attestation', 'identity']) {
    const address = `${service.quickstart['ADMIN_URL']}/openapi/${name}.json`
    const own = ((await (await fetch(address)).json()) as Document).components.schemas
    for (const [schema, value] of Object.entries(own)) expect(merged[schema]).toEqual(value)
  }
})

test('the document is public, and other methods are refused', async () => {
  const response = await fetch(`${service.url}/openapi.json`, { method: 'POST', body: '{}' })
  expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET'])
})
