// Comparison of responses (status, content type and body) with the OpenAPI document of the admin API.
import Ajv2020 from 'ajv/dist/2020.js'
import { adminDocument } from '../../../src/admin/openapi/admin.ts'
import { ADMIN_ROUTES } from './all-routes.ts'

interface Operation {
  readonly operationId: string
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, unknown>> }>>
}

export const ADMIN_DOCUMENT = JSON.parse(adminDocument(ADMIN_ROUTES, '0.0.0', false)) as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly [key: string]: unknown
}

const ajv = new Ajv2020({ strict: false, validateFormats: false })
ajv.addSchema(ADMIN_DOCUMENT as object, 'document')
/** Sorted so that a literal segment precedes a parameter. */
const routes = [...ADMIN_ROUTES].sort((one, other) => (one.path < other.path ? -1 : 1))
const find = (method: string, path: string) =>
  routes.find(
    (route) => route.method === method && new RegExp(`^${route.path.replaceAll(/\{[^}]+\}/g, '[^/]+')}$`).test(path),
  )
const pointerPart = (text: string): string => encodeURIComponent(text.replaceAll('~', '~0').replaceAll('/', '~1'))

/** Operations with a successful response. */
export const covered = new Set<string>()

/** @throws Error that names the difference from the document */
export const checkConformance = async (method: string, path: string, response: Response): Promise<void> => {
  const route = find(method, path.split('?')[0] ?? '')
  if (route === undefined) return
  const operation = ADMIN_DOCUMENT.paths[route.path]?.[method.toLowerCase()]
  const status = String(response.status)
  const where = `${method} ${route.path} → ${status}`
  const documented = operation?.responses[status]
  if (documented === undefined) throw new Error(`${where} is not documented: ${await response.clone().text()}`)
  if (response.ok) covered.add(route.operationId)
  const type = (response.headers.get('content-type') ?? '').split(';')[0]?.trim() ?? ''
  const { content = {} } = documented
  if (type === '' && Object.keys(content).length === 0) return
  if (!Object.hasOwn(content, type) && !(route.operationId === 'openDocument' && response.ok)) {
    throw new Error(`${where}: ${type} is not documented`)
  }
  if (!type.endsWith('json') || type === 'application/x-ndjson') return
  const pointer = `document#/paths/${pointerPart(route.path)}/${method.toLowerCase()}/responses/${status}/content/${pointerPart(type)}/schema`
  const validate = ajv.getSchema(pointer)
  if (validate === undefined) throw new Error(`${pointer} is not in the document`)
  const body: unknown = await response.clone().json()
  if (!validate(body)) throw new Error(`${where}: ${ajv.errorsText(validate.errors)} in ${JSON.stringify(body)}`)
}
