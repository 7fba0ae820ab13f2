// The pages of the API reference: every operation has a valid example, all text is escaped, and no other host is used.
// reference-page.test.ts tests the pages in a browser.
import { describe, expect, test } from 'bun:test'
import Ajv2020 from 'ajv/dist/2020.js'
import { adminDocument } from '../../src/admin/openapi/admin.ts'
import { attestationDocument } from '../../src/admin/openapi/attestation.ts'
import { identityDocument } from '../../src/admin/openapi/identity.ts'
import { type OpenApiDocument, operationsOf } from '../../src/dashboard/reference/document.ts'
import { html, inline } from '../../src/dashboard/reference/html.ts'
import { curlOf, exampleOf } from '../../src/dashboard/reference/sample.ts'
import { createReferencePages } from '../../src/dashboard/reference.ts'
import { ADMIN_ROUTES } from './support/all-routes.ts'

const DOCUMENTS = {
  admin: adminDocument(ADMIN_ROUTES, '1.2.3', false),
  attestation: attestationDocument('1.2.3', 'http://127.0.0.1:8080'),
  identity: identityDocument('1.2.3', 'http://127.0.0.1:8080'),
}
const pages = createReferencePages(DOCUMENTS, [])
const parsed = (name: keyof typeof DOCUMENTS): OpenApiDocument => JSON.parse(DOCUMENTS[name]) as OpenApiDocument
const NAMES = ['admin', 'attestation', 'identity'] as const

const get = (path: string, headers: Record<string, string> = {}): Response => {
  const response = pages.find(path, new Headers(headers))
  if (response === null) throw new Error(`there is no page at ${path}`)
  return response
}

describe('the pages', () => {
  for (const name of NAMES) {
    test(`${name} shows every operation and every schema once`, async () => {
      const text = await get(`/docs/${name}`).text()
      const document = parsed(name)
      const operations = document.tags.flatMap(({ name: tag }) => operationsOf(document, tag))
      const all = Object.values(document.paths).flatMap((item) => Object.values(item))
      expect(operations).toHaveLength(all.length)
      const ids = [...text.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id ?? '')
      expect(new Set(ids).size).toBe(ids.length)
      for (const { operationId } of all) expect(ids).toContain(operationId)
      for (const schema of Object.keys(document.components.schemas)) expect(ids).toContain(`schema-${schema}`)
      for (const [, target] of text.matchAll(/href="#([^"]+)"/g)) expect(ids).toContain(target ?? '')
    })

    test(`${name} loads nothing from other hosts, and has no inline scripts or styles`, async () => {
      const response = get(`/docs/${name}`)
      const text = await response.text()
      for (const [, address] of text.matchAll(/<(?:link|script|img)[^>]*(?:href|src)="([^"]+)"/g)) {
        expect(address).toMatch(/^(\/docs\/|data:,)/)
      }
      expect(text).not.toMatch(/<script(?![^>]*src=)|style="| on[a-z]+="/)
      expect(response.headers.get('content-security-policy')).toContain("script-src 'self'")
    })
  }

  test('start at /docs, are compressed for clients that accept it, and have no other paths', async () => {
    expect(get('/docs').headers.get('location')).toBe('/docs/attestation')
    const compressed = get('/docs/admin', { 'accept-encoding': 'gzip, br' })
    expect(compressed.headers.get('content-encoding')).toBe('gzip')
    const plain = new TextDecoder().decode(Bun.gunzipSync(Buffer.from(await compressed.arrayBuffer())))
    expect(plain).toBe(await get('/docs/admin').text())
    const stylesheet = /href="(\/docs\/[^"]+\.css)"/.exec(plain)?.[1] ?? ''
    expect(get(stylesheet).headers.get('cache-control')).toContain('immutable')
    for (const path of ['/docs/nope', '/docs/../secrets', '/documents', '/docs/admin/']) {
      expect([path, pages.find(path, new Headers())]).toEqual([path, null])
    }
  })
})

describe('the examples', () => {
  test('have bodies that match the schemas of their operations', () => {
    for (const name of NAMES) {
      const ajv = new Ajv2020({ strict: false, validateFormats: false })
      ajv.addSchema(parsed(name) as object, name)
      const wrong: string[] = []
      for (const [path, item] of Object.entries(parsed(name).paths)) {
        for (const [method, operation] of Object.entries(item)) {
          const content = operation.requestBody?.content['application/json']
          if (content === undefined) continue
          const part = encodeURIComponent(path.replaceAll('~', '~0').replaceAll('/', '~1'))
          const validate = ajv.getSchema(
            `${name}#/paths/${part}/${method}/requestBody/content/application~1json/schema`,
          )
          const [example] = Object.values(content.examples ?? {})
          const body = example === undefined ? exampleOf(parsed(name), content.schema) : example.value
          if (validate?.(body) !== true)
            wrong.push(`${operation.operationId}: ${ajv.errorsText(validate?.errors ?? [])}`)
        }
      }
      expect(wrong).toEqual([])
    }
  })

  test('are valid in a shell', async () => {
    const document = parsed('attestation')
    const [operation] = operationsOf(document, 'Attestation')
    if (operation === undefined) throw new Error('there is no operation')
    const style = { address: '$URL', credentials: { attestationKey: '-H "x-api-key: $KEY"' } }
    const call = curlOf(document, style, operation).replace('curl', 'printf "%s\\n"')
    const environment = { URL: 'http://x', KEY: 'k', VERIFICATION_HASH: 'x-1 2', PATH: process.env['PATH'] ?? '' }
    const { stdout } = Bun.spawnSync(['sh', '-c', call], { env: environment })
    const words = stdout.toString().trimEnd().split('\n')
    expect(words).toContain('http://x/v2/attestation')
    expect(words).toContain('x-api-key: k')
    expect(JSON.parse(words.at(-1) ?? '')).toMatchObject({ chain: 'base', verification_hash: 'x-1 2' })
  })
})

test('text is escaped', () => {
  const text = `<img src=x onerror='alert("1")'>&`
  expect(html`<p title="${text}">${[text, html`<b>${text}</b>`]}</p>`.text).not.toMatch(/<img|onerror='|title="<|"1"/)
  expect(inline('`<i>` and **<b>**').text).toBe('<code>&lt;i&gt;</code> and <strong>&lt;b&gt;</strong>')
})
