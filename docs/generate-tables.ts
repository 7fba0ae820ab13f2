// `bun docs/generate-tables.ts [--write]`: prints the documentation tables that are generated from the code. With
// --write, updates them between their markers, the API document and its Postman collection in docs/openapi/, and the
// JSON Schema of policies. Tests compare them with this output.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { apiDocument } from '../src/admin/openapi/api.ts'
import { type Setting, variableOf } from '../src/config/setting.ts'
import { SETTINGS } from '../src/config/settings.ts'
import { VERSION } from '../src/config/version.ts'
import { PROCESS_ROLES } from '../src/domain/process-role.ts'
import { MODULES } from '../src/modules.ts'
import { policyJsonSchemaText } from '../src/policy/document/json-schema.ts'
import { FACTS } from '../src/policy/facts.ts'
import { SESSION_FACTS } from '../src/policy/session-facts.ts'
import { ORGANIZATION_LIMITS } from '../src/store/organizations/organization-limits.ts'
import { postmanCollection } from './postman.ts'

export interface GeneratedTable {
  /** Path relative to docs/. */
  readonly page: string
  /** Name in its markers: `<!-- name: begin -->`. */
  readonly name: string
  readonly make: () => string
}

/** Every setting, in the order of `bun start --help`. */
const ALL_SETTINGS: readonly Setting<unknown>[] = [
  ...Object.values(SETTINGS),
  ...MODULES.flatMap(({ settings = {} }) => Object.values(settings)),
]

const settingsTable = (): string =>
  ALL_SETTINGS.map(({ name, defaultText, description, secret }) => {
    const names = `\`${secret === true ? variableOf(name) : name}\``
    return `- ${names}${defaultText === '' ? '' : ` (\`${defaultText}\`)`}: ${description}`
  }).join('\n')

/** What `--without` can name. */
const modulesTable = (): string =>
  MODULES.map(({ name, summary, needs = [] }) => {
    const needed = needs.map((need) => `\`${need}\``).join(', ')
    return `- \`${name}\`: ${summary.charAt(0).toUpperCase()}${summary.slice(1)}${needed === '' ? '' : `. Needs ${needed}`}`
  }).join('\n')

const factLine = (
  name: string,
  { type, description }: { readonly type: string; readonly description: string },
): string => `- \`${name}\` (${type.replace('google.protobuf.', '').toLowerCase()}): ${description.replace(/\.$/, '')}`

/** The facts in the order of src/policy/facts.ts, then the request fields that they require. */
const factsTable = (): string => {
  const facts = Object.entries(FACTS).flatMap(([group, members]) =>
    Object.entries(members).map(([name, fact]) => ({ ...fact, group, name: `${group}.${name}` })),
  )
  const fields = [...new Set(facts.flatMap(({ requires }) => requires ?? []))].map((field) => {
    const names = facts.flatMap(({ group, name, requires }) => {
      if (facts.every((other) => other.group !== group || other.requires === field)) return `\`${group}\``
      return requires === field ? `\`${name}\`` : []
    })
    return `\`${field}\` for ${[...new Set(names)].join(', ')}`
  })
  const lines = facts.map((fact) => factLine(fact.name, fact))
  return `${lines.join('\n')}\n\nRequired request fields: ${fields.join('; ')}.`
}

const sessionFactsTable = (): string =>
  Object.entries(SESSION_FACTS)
    .flatMap(([group, members]) => Object.entries(members).map(([name, fact]) => factLine(`${group}.${name}`, fact)))
    .join('\n')

/** Limits by kind, in the order of their declaration. */
const limitsTable = (): string => {
  const limits = Object.entries(ORGANIZATION_LIMITS).map(
    ([kind, { maximum }]) => `${maximum.toLocaleString('en-US')} ${kind}`,
  )
  return `An organization has at most ${limits.slice(0, -1).join(', ')} and ${limits.at(-1)}.`
}

export const TABLES: readonly GeneratedTable[] = [
  { page: 'configuration.md', name: 'settings', make: settingsTable },
  { page: 'configuration.md', name: 'modules', make: modulesTable },
  { page: 'policies.md', name: 'facts', make: factsTable },
  { page: 'policies.md', name: 'session facts', make: sessionFactsTable },
  { page: 'sizing.md', name: 'organization limits', make: limitsTable },
]

/** Returns the page with the table between its markers. @throws Error if the page lacks the markers */
export const withTable = (text: string, { page, name, make }: GeneratedTable): string => {
  const begin = `<!-- ${name}: begin -->\n\n`
  const end = `\n\n<!-- ${name}: end -->`
  const from = text.indexOf(begin)
  const to = text.indexOf(end)
  if (from === -1 || to === -1) throw new Error(`docs/${page} has no markers of the table "${name}"`)
  return text.slice(0, from + begin.length) + make() + text.slice(to)
}

/** Placeholder for a deployment's URL (setting api-url). */
export const DOCUMENT_SERVER = 'https://attest.example.com'
export const DOCUMENT_PATH = join(import.meta.dir, 'openapi', 'api.json')

export const POSTMAN_PATH = join(import.meta.dir, 'openapi', 'postman.json')

/** The API's document with a line a member, so that what changes shows. */
export const documentText = (text: string): string => `${JSON.stringify(JSON.parse(text), null, 2)}\n`

if (import.meta.main) {
  if (process.argv.includes('--write')) {
    const document = documentText(apiDocument(VERSION, DOCUMENT_SERVER, new Set(PROCESS_ROLES)))
    writeFileSync(DOCUMENT_PATH, document)
    writeFileSync(POSTMAN_PATH, postmanCollection(document))
    const schemaPath = join(import.meta.dir, 'policy.schema.json')
    writeFileSync(schemaPath, policyJsonSchemaText())
    Bun.spawnSync(['bunx', 'biome', 'format', '--write', schemaPath], { cwd: import.meta.dir, stderr: 'inherit' })
  }
  for (const table of TABLES) {
    const path = join(import.meta.dir, table.page)
    if (!process.argv.includes('--write')) process.stdout.write(`${table.make()}\n`)
    else writeFileSync(path, withTable(readFileSync(path, 'utf8'), table))
  }
}
