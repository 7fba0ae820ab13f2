// Table of a schema, one row per member, with nested members below. Named schemas are shown once per page and linked.
import { nameOf, type OpenApiDocument, resolve, type Schema, withoutNull } from './document.ts'
import { Html, html, inline } from './html.ts'

const linkTo = (name: string): Html => html`<a href="#schema-${name}">${name}</a>`

/** Names the type in one or two words: `text`, `whole number`, `list of Key`. */
const kindOf = (document: OpenApiDocument, given: Schema): Html => {
  const { schema, nullable } = withoutNull(given)
  const or = nullable ? ' or null' : ''
  const name = nameOf(schema)
  if (name !== null) return html`${linkTo(name)}${or}`
  if (schema.enum !== undefined) {
    return html`${schema.enum.map((value, index) => html`${index === 0 ? '' : ' | '}<code>${value}</code>`)}${or}`
  }
  if (schema.const !== undefined) return html`<code>${JSON.stringify(schema.const)}</code>${or}`
  if (schema.anyOf !== undefined) {
    return html`${schema.anyOf.map((option, index) => html`${index === 0 ? '' : ' or '}${kindOf(document, option)}`)}${or}`
  }
  if (schema.allOf !== undefined) {
    return html`${schema.allOf.map((part, index) => html`${index === 0 ? '' : ' with '}${kindOf(document, part)}`)}${or}`
  }
  switch (schema.type) {
    case 'array':
      return schema.items === undefined ? html`list${or}` : html`list of ${kindOf(document, schema.items)}${or}`
    case 'object':
      return html`object${or}`
    case 'integer':
      return html`whole number${or}`
    case 'number':
      return html`number${or}`
    case 'boolean':
      return html`true or false${or}`
    case 'string':
      return html`${schema.format === 'date-time' ? 'time' : 'text'}${or}`
    default:
      return html`anything`
  }
}

const limitsOf = ({ minimum, maximum, minLength, maxLength, minItems, maxItems }: Schema): string => {
  const between = (least: number | undefined, most: number | undefined, of: string): string[] =>
    least === undefined && most === undefined
      ? []
      : [`${least === undefined ? 'at most' : most === undefined ? 'at least' : `${least} to`} ${most ?? least}${of}`]
  return [
    ...between(minimum, maximum, ''),
    ...between(undefined, maxLength, ' characters'),
    ...between(minLength !== undefined && minLength > 1 ? minLength : undefined, undefined, ' characters'),
    ...between(minItems, maxItems, ' items'),
  ].join(', ')
}

const innerOf = (given: Schema): Schema | null => {
  const { schema } = withoutNull(given)
  if (nameOf(schema) !== null) return null
  if (schema.type === 'array') return schema.items === undefined ? null : innerOf(schema.items)
  return schema.properties === undefined ? null : schema
}

export interface Row {
  readonly name: string
  readonly required: boolean
  readonly schema: Schema
  readonly description: string
}

const rowsOf = ({ properties = {}, required = [] }: Schema): Row[] =>
  Object.entries(properties).map(([name, schema]) => ({
    name,
    schema,
    required: required.includes(name),
    description: schema.description ?? '',
  }))

const DEPTH_MAX = 4

const rowHtml = (document: OpenApiDocument, row: Row, prefix: string, depth: number): Html => {
  const inner = depth < DEPTH_MAX ? innerOf(row.schema) : null
  const limits = limitsOf(withoutNull(row.schema).schema)
  const name = prefix === '' ? row.name : `${prefix}.${row.name}`
  return html`<tr>
    <th scope="row"><code>${name}</code>${row.required ? html`<span class="must">required</span>` : null}</th>
    <td>${kindOf(document, row.schema)}${limits === '' ? null : html`<span class="limits">${limits}</span>`}</td>
    <td>${inline(row.description)}</td>
  </tr>${inner === null ? null : rowsOf(inner).map((each) => rowHtml(document, each, name, depth + 1))}`
}

export const table = (document: OpenApiDocument, caption: string, rows: readonly Row[]): Html =>
  rows.length === 0
    ? new Html('')
    : html`<div class="wide" tabindex="0" role="region" aria-label="${caption}"><table>
        <caption>${caption}</caption>
        <thead><tr><th scope="col">Name</th><th scope="col">Type</th><th scope="col">Description</th></tr></thead>
        <tbody>${rows.map((row) => rowHtml(document, row, '', 0))}</tbody>
      </table></div>`

export const schemaHtml = (document: OpenApiDocument, caption: string, schema: Schema): Html => {
  const name = nameOf(schema)
  const inner = innerOf(name === null ? schema : resolve(document, schema))
  if (name !== null) return html`<p class="whole">${caption}: ${linkTo(name)}</p>`
  if (inner === null) return html`<p class="whole">${caption}: ${kindOf(document, schema)}</p>`
  return table(document, caption, rowsOf(inner))
}

export const namedSchemaHtml = (document: OpenApiDocument, name: string): Html => {
  const schema = document.components.schemas[name] ?? {}
  const inner = innerOf(schema)
  return html`<section class="schema" id="schema-${name}" aria-labelledby="schema-${name}-title">
    <h3 id="schema-${name}-title">${name}</h3>
    ${schema.description === undefined ? null : html`<p>${inline(schema.description)}</p>`}
    ${inner === null ? html`<p class="whole">${kindOf(document, schema)}</p>` : table(document, `Fields of ${name}`, rowsOf(inner))}
  </section>`
}
