// Reference of one API. It is readable without scripts; the script adds copying and filtering.
import { type OpenApiDocument, operationsOf, type Parameter, type PlacedOperation } from './document.ts'
import { Html, html, inline, paragraphs } from './html.ts'
import { type CallStyle, curlOf } from './sample.ts'
import { namedSchemaHtml, schemaHtml, table } from './schema.ts'

export interface ReferencePage {
  /** Last segment of the page's path. */
  readonly slug: string
  readonly title: string
  readonly source: string
  readonly document: OpenApiDocument
  readonly style: CallStyle
}

interface PageFiles {
  readonly stylesheet: string
  readonly script: string
}

const rowOf = ({ name, required, schema, description }: Parameter) => ({
  name,
  required,
  schema,
  description: description ?? schema.description ?? '',
})

const WHERE = { path: 'Path parameters', query: 'Query parameters', header: 'Headers' } as const

const answersHtml = (document: OpenApiDocument, { responses }: PlacedOperation['operation']): Html => {
  const entries = Object.entries(responses)
  const good = entries.filter(([status]) => status.startsWith('2'))
  const bad = entries.filter(([status]) => !status.startsWith('2'))
  return html`${good.map(
    ([
      status,
      { description, content = {} },
    ]) => html`<h4>Response ${status}</h4><p class="answer">${inline(description)}</p>
      ${Object.entries(content).map(([type, { schema }]) =>
        schemaHtml(document, type === 'application/json' ? 'Body' : `Body, ${type}`, schema),
      )}`,
  )}
  <details><summary>Errors ${bad.map(([status]) => status).join(', ')}</summary><dl class="errors">${bad.map(
    ([status, { description }]) => html`<div><dt>${status}</dt><dd>${inline(description)}</dd></div>`,
  )}</dl></details>`
}

const operationHtml = ({ document, style }: ReferencePage, placed: PlacedOperation): Html => {
  const { method, path, operation } = placed
  const { operationId, parameters = [] } = operation
  return html`<section class="operation" id="${operationId}" aria-labelledby="${operationId}-title">
    <h3 id="${operationId}-title">${operation.summary}</h3>
    <p class="address"><span class="method ${method.toLowerCase()}">${method}</span> <code>${path}</code></p>
    ${operation.description === undefined ? null : paragraphs(operation.description)}
    <div class="sample">
      <pre tabindex="0" role="region" aria-label="Example of ${operationId}"><code>${curlOf(document, style, placed)}</code></pre>
      <button type="button" class="copy" hidden aria-label="Copy example of ${operationId}">Copy</button>
    </div>
    ${(['path', 'query', 'header'] as const).map((where) =>
      table(document, WHERE[where], parameters.filter((parameter) => parameter.in === where).map(rowOf)),
    )}
    ${Object.entries(operation.requestBody?.content ?? {}).map(([type, { schema }]) =>
      schemaHtml(document, type === 'application/json' ? 'Request body' : `Request body, ${type}`, schema),
    )}
    ${answersHtml(document, operation)}
  </section>`
}

const navigation = (page: ReferencePage, tags: OpenApiDocument['tags']): Html => html`<nav aria-label="Operations">
    <label for="narrow">Filter</label>
    <input id="narrow" type="search" autocomplete="off" spellcheck="false">
    ${tags.map(
      ({ name }) =>
        html`<h2>${name}</h2><ul>${operationsOf(page.document, name).map(
          ({ method, path, operation }) =>
            html`<li data-words="${`${operation.summary} ${path} ${method} ${operation.operationId}`.toLowerCase()}"><a href="#${operation.operationId}">${operation.summary}</a></li>`,
        )}</ul>`,
    )}
    <h2>Schemas</h2>
    <ul>${Object.keys(page.document.components.schemas).map(
      (name) => html`<li data-words="${name.toLowerCase()}"><a href="#schema-${name}">${name}</a></li>`,
    )}</ul>
  </nav>`

export const renderPage = (page: ReferencePage, pages: readonly ReferencePage[], files: PageFiles): string => {
  const { document } = page
  const { info, components, servers } = document
  const tags = document.tags.filter(({ name }) => operationsOf(document, name).length > 0)
  const schemes = Object.values(components.securitySchemes).flatMap(({ description }) => description ?? [])
  return html`<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>${page.title} · Countersign</title>
    <link rel="icon" href="data:,">
    <link rel="stylesheet" href="${files.stylesheet}">
    <script src="${files.script}" defer></script>
  </head>
  <body>
    <a class="skip" href="#content">Skip to content</a>
    <header>
      <p class="brand"><a href="/">Countersign</a> <span>API reference</span></p>
      <nav aria-label="APIs"><ul>${pages.map(
        (other) =>
          html`<li><a class="tab" href="/docs/${other.slug}"${other === page ? new Html(' aria-current="page"') : null}>${other.title}</a></li>`,
      )}</ul></nav>
    </header>
    <div class="columns">
      <details class="contents" open><summary>Contents</summary>${navigation(page, tags)}</details>
      <main id="content">
        <h1>${info.title}</h1>
        <p class="version">Version ${info.version} · OpenAPI 3.1: <a href="${page.source}">${page.source}</a></p>
        ${paragraphs(info.description)}
        ${schemes.map((text) => html`<p>${inline(text)}</p>`)}
        <p>Base URL: <code>${servers[0]?.url ?? ''}</code>. To run the examples on this page, first run
          <code>. ./data/quickstart.env</code> and replace the placeholders in capitals.</p>
        ${tags.map(
          ({ name, description }) =>
            html`<h2 class="part">${name}</h2><p>${inline(description)}</p>${operationsOf(document, name).map(
              (placed) => operationHtml(page, placed),
            )}`,
        )}
        <h2 class="part">Schemas</h2>
        ${Object.keys(components.schemas).map((name) => namedSchemaHtml(document, name))}
      </main>
    </div>
    <p id="said" role="status" class="said"></p>
  </body>
</html>
`.text
}
