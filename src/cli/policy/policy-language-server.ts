// `countersign policy language-server` on standard input and output. Source:
// https://microsoft.github.io/language-server-protocol/specifications/lsp/3.17/specification/.
import { NamedError } from '../../lib/named-error.ts'
import type { KnownSources } from '../../policy/cel/scope.ts'
import { PolicyInvalidError, type PolicyIssue } from '../../policy/issues.ts'
import { draftRevision } from '../../policy/revision.ts'
import { choicesAt, type EditorChoice, explainAt, type TextPlace } from '../../policy/tools/editor-help.ts'

interface LanguageServerDependencies {
  readonly input: ReadableStream<Uint8Array>
  readonly write: (text: string) => void
  /** Sources of the deployment, read when a document is opened or saved. */
  readonly known: () => Promise<KnownSources>
}

interface Message {
  readonly id?: number | string
  readonly method?: string
  readonly params?: unknown
}

interface PlaceInput {
  readonly textDocument: { readonly uri: string }
  readonly position: { readonly line: number; readonly character: number }
}
interface OpenInput {
  readonly textDocument: { readonly uri: string; readonly text: string }
}
interface ChangeInput {
  readonly textDocument: { readonly uri: string }
  readonly contentChanges: readonly { readonly text: string }[]
}

/** Maximum message size in bytes; several times the longest document. */
const MESSAGE_MAX = 8 * 2 ** 20
const HEADER_END = '\r\n\r\n'
const METHOD_UNKNOWN = -32_601
const REQUEST_FAILED = -32_803
const KINDS = { fact: 5, function: 3, method: 2, name: 12 } as const
const [ERROR, WARNING] = [1, 2]

class ProtocolError extends NamedError {}

async function* messagesIn(input: ReadableStream<Uint8Array>): AsyncGenerator<Message> {
  let pending = Buffer.alloc(0)
  for await (const chunk of input) {
    pending = Buffer.concat([pending, chunk])
    for (;;) {
      const end = pending.indexOf(HEADER_END)
      if (end === -1) break
      const length = Number(/^Content-Length: *(\d+)$/im.exec(pending.subarray(0, end).toString())?.[1])
      if (!(length <= MESSAGE_MAX)) throw new ProtocolError('a message has no Content-Length, or is too long')
      const start = end + HEADER_END.length
      if (pending.length < start + length) break
      const text = pending.subarray(start, start + length).toString()
      pending = pending.subarray(start + length)
      yield JSON.parse(text) as Message
    }
    if (pending.length > MESSAGE_MAX) throw new ProtocolError('a message is too long')
  }
}

/** Other YAML files are ignored. */
const isPolicy = (source: string): boolean => /^(?:rules|decides):/m.test(source) || /^\s*\{[^}]*"rules"/.test(source)

/** An issue has no length, so its diagnostic covers the word at its position, or the rest of the line. */
const diagnosticOf = (source: string, { line, column, message }: PolicyIssue, severity: number) => {
  const text = source.split(/\r?\n/)[line - 1] ?? ''
  const word = /^[\w.]+|^.+/.exec(text.slice(column - 1))?.[0] ?? ''
  const start = { line: line - 1, character: column - 1 }
  return {
    range: { start, end: { ...start, character: start.character + word.length } },
    severity,
    source: 'countersign',
    message,
  }
}

const diagnosticsOf = (source: string, known: KnownSources) => {
  const shown = (issues: readonly PolicyIssue[], warnings: readonly PolicyIssue[]) => [
    ...issues.map((issue) => diagnosticOf(source, issue, ERROR)),
    ...warnings.map((issue) => diagnosticOf(source, issue, WARNING)),
  ]
  if (!isPolicy(source)) return []
  try {
    return shown([], draftRevision(source, known).warnings)
  } catch (error) {
    if (!(error instanceof PolicyInvalidError)) throw error
    return shown(error.issues, error.warnings)
  }
}

const documentation = ({ description, detail }: EditorChoice) => ({
  kind: 'markdown',
  value: [detail === '' ? '' : `\`${detail}\``, description].filter((part) => part !== '').join('  \n'),
})

const placeOf = ({ position }: PlaceInput): TextPlace => ({ line: position.line, column: position.character })

const CAPABILITIES = {
  textDocumentSync: { openClose: true, change: 1, save: true },
  completionProvider: { triggerCharacters: ['.', '"', '('] },
  hoverProvider: true,
}

/** Resolves to the exit code when the editor disconnects. */
export const serveLanguage = async ({ input, write, known }: LanguageServerDependencies): Promise<number> => {
  const documents = new Map<string, string>()
  let sources: KnownSources = {}
  let isShutDown = false
  const send = (message: Readonly<Record<string, unknown>>): void => {
    const body = JSON.stringify({ jsonrpc: '2.0', ...message })
    write(`Content-Length: ${Buffer.byteLength(body)}${HEADER_END}${body}`)
  }
  const diagnose = (uri: string): void => {
    const diagnostics = diagnosticsOf(documents.get(uri) ?? '', sources)
    send({ method: 'textDocument/publishDiagnostics', params: { uri, diagnostics } })
  }
  const complete = (input: PlaceInput) => {
    const { line, column } = placeOf(input)
    const found = choicesAt(documents.get(input.textDocument.uri) ?? '', { line, column }, sources)
    if (found === null) return { isIncomplete: false, items: [] }
    const range = { start: { line, character: found.from }, end: { line, character: column } }
    const items = found.choices.map((choice) => ({
      label: choice.label,
      kind: KINDS[choice.kind],
      detail: choice.detail,
      documentation: documentation(choice),
      textEdit: { range, newText: choice.label },
    }))
    return { isIncomplete: false, items }
  }
  const hover = (input: PlaceInput) => {
    const choice = explainAt(documents.get(input.textDocument.uri) ?? '', placeOf(input))
    return choice === null ? null : { contents: documentation(choice) }
  }

  const REQUESTS: Readonly<Record<string, (params: unknown) => unknown>> = {
    initialize: () => ({ capabilities: CAPABILITIES, serverInfo: { name: 'countersign' } }),
    'textDocument/completion': (params) => complete(params as PlaceInput),
    'textDocument/hover': (params) => hover(params as PlaceInput),
    shutdown: () => {
      isShutDown = true
      return null
    },
  }
  const NOTICES: Readonly<Record<string, (params: unknown) => Promise<void> | void>> = {
    'textDocument/didOpen': async (params) => {
      const { uri, text } = (params as OpenInput).textDocument
      documents.set(uri, text)
      sources = await known()
      diagnose(uri)
    },
    'textDocument/didChange': (params) => {
      const { textDocument, contentChanges } = params as ChangeInput
      documents.set(textDocument.uri, contentChanges.at(-1)?.text ?? '')
      diagnose(textDocument.uri)
    },
    'textDocument/didSave': async (params) => {
      sources = await known()
      diagnose((params as PlaceInput).textDocument.uri)
    },
    'textDocument/didClose': (params) => {
      const { uri } = (params as PlaceInput).textDocument
      documents.delete(uri)
      send({ method: 'textDocument/publishDiagnostics', params: { uri, diagnostics: [] } })
    },
  }

  for await (const { id, method = '', params } of messagesIn(input)) {
    if (method === 'exit') return isShutDown ? 0 : 1
    if (id === undefined) {
      if (Object.hasOwn(NOTICES, method)) await NOTICES[method]?.(params)
    } else if (!Object.hasOwn(REQUESTS, method)) {
      send({ id, error: { code: METHOD_UNKNOWN, message: `${method} is not supported` } })
    } else {
      try {
        send({ id, result: REQUESTS[method]?.(params) ?? null })
      } catch (error) {
        send({
          id,
          error: { code: REQUEST_FAILED, message: error instanceof Error ? error.message : 'the request failed' },
        })
      }
    }
  }
  return isShutDown ? 0 : 1
}
