// Example calls. They work after `. ./data/quickstart.env`, a file of variables written at first startup.
import { type OpenApiDocument, type PlacedOperation, resolve, type Schema, withoutNull } from './document.ts'

export interface CallStyle {
  /** Shell variable with the base URL of the paths. */
  readonly address: string
  /** Headers by name of the security scheme, for use within double quotes. */
  readonly credentials: Readonly<Record<string, string>>
  /** Header that unauthenticated requests other than GET require. */
  readonly openChanges?: string
}

const POLICY = 'name: Everyone\ndefault: allow\nrules: []\n'

/** Example values by member name, if the schema defines no better value. */
const VALUES: Readonly<Record<string, unknown>> = {
  name: 'Example',
  slug: 'example',
  email: 'ada@example.com',
  url: 'https://example.com/hook',
  source: POLICY,
  chain: 'base',
  from: '0x1111111111111111111111111111111111111111',
  to: '0x2222222222222222222222222222222222222222',
  address: '0x1111111111111111111111111111111111111111',
  data: '0x',
  msg_value: '0',
  code: '123456',
  password: 'a long enough password',
  current_password: 'a long enough password',
  new_password: 'a longer, better password',
  secret: 'the secret that the service displays',
  requests: [
    { from: '0x1111111111111111111111111111111111111111', chain: 'base', verification_hash: '' },
    { from: '0x000000000000000000000000000000000000dEaD', chain: 'base', verification_hash: '' },
  ],
  version: 1,
  sequence: 1,
  limit: 50,
}
/** Shell variables by member, with values from first startup. */
const VARIABLES: Readonly<Record<string, string>> = {
  verification_hash: '$VERIFICATION_HASH',
  policy_id: '$POLICY_ID',
  to: '$DEMO_CONTRACT',
}
const DEPTH_MAX = 6

/** Includes the required members; the first member if none is required. */
export const exampleOf = (document: OpenApiDocument, given: Schema, name = '', depth = 0): unknown => {
  const { schema } = withoutNull(resolve(document, withoutNull(given).schema))
  if (schema.const !== undefined) return schema.const
  if (schema.enum !== undefined) return schema.enum[0]
  if (depth > DEPTH_MAX) return null
  if (schema.allOf !== undefined) {
    return Object.assign({}, ...schema.allOf.map((part) => exampleOf(document, part, name, depth + 1) as object))
  }
  if (schema.anyOf?.[0] !== undefined) return exampleOf(document, schema.anyOf[0], name, depth + 1)
  switch (schema.type) {
    case 'object': {
      const members = Object.entries(schema.properties ?? {})
      const wanted = members.filter(([member]) => schema.required?.includes(member))
      const shown = wanted.length > 0 ? wanted : members.slice(0, 1)
      return Object.fromEntries(shown.map(([member, of]) => [member, exampleOf(document, of, member, depth + 1)]))
    }
    case 'array':
      if (name in VALUES) return VALUES[name]
      return schema.items === undefined ? [] : [exampleOf(document, schema.items, name.replace(/s$/, ''), depth + 1)]
    case 'boolean':
      return true
    case 'integer':
    case 'number':
      return VALUES[name] ?? schema.minimum ?? 1
    default:
      return (
        VALUES[name] ?? (schema.format === 'date-time' ? '2026-01-31T12:00:00Z' : `${name === '' ? 'text' : name}…`)
      )
  }
}

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

/** Variables are outside the single quotes. */
const bodyOf = (value: unknown): string =>
  quoted(JSON.stringify(value)).replace(/"([a-z_]+)":"[^"]*"/g, (member, name: string) =>
    Object.hasOwn(VARIABLES, name) ? `"${name}":"'"${VARIABLES[name]}"'"` : member,
  )

const variableOf = (name: string): string => VARIABLES[`${name}_id`] ?? `$${name.toUpperCase()}`

const pathOf = (path: string): string =>
  path.replaceAll(/\{([^}]+)\}/g, (_, name: string) => (name === 'organization' ? 'demo' : variableOf(name)))

export const curlOf = (document: OpenApiDocument, style: CallStyle, { method, path, operation }: PlacedOperation) => {
  const query = (operation.parameters ?? [])
    .filter(({ in: where, required }) => where === 'query' && required)
    .map(({ name, schema }) => `${name}=${encodeURIComponent(String(exampleOf(document, schema, name)))}`)
  const parts = [`"${style.address}${pathOf(path)}${query.length === 0 ? '' : `?${query.join('&')}`}"`]
  if (method !== 'GET') parts.unshift(`-X ${method}`)
  const schemes = operation.security.flatMap((security) => Object.keys(security))
  const header = schemes.map((name) => style.credentials[name]).findLast((text) => text !== undefined)
  if (header !== undefined) parts.push(header)
  else if (method !== 'GET' && style.openChanges !== undefined) parts.push(style.openChanges)
  const [content] = Object.entries(operation.requestBody?.content ?? {})
  if (content !== undefined) {
    const [type, { schema, examples }] = content
    parts.push(`-H 'content-type: ${type}'`)
    const [example] = Object.values(examples ?? {})
    parts.push(
      type === 'application/json'
        ? `-d ${bodyOf(example === undefined ? exampleOf(document, schema) : example.value)}`
        : '--data-binary @FILE',
    )
  }
  return `curl -s ${parts.join(' \\\n  ')}`
}
