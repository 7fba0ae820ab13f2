// An editor's side of the Language Server Protocol: starts a server, shows it one document, and asks.

import { cleanEnvironment } from '../service/run-to-end.ts'
import { until } from '../support/until.ts'

export const LANGUAGE_URI = 'file:///policies/policy.yaml'

export interface Diagnostic {
  readonly severity: number
  readonly message: string
}

export interface Editor {
  /** The document has this text now. Resolves to what the server says of it. */
  show(text: string): Promise<readonly Diagnostic[]>
  /** Resolves to the result, or to the error. */
  // biome-ignore lint/suspicious/noExplicitAny: each answer has its own shape, which the test then states
  ask(method: string, params: unknown): Promise<any>
  /** Resolves to the exit code. */
  stop(): Promise<number>
}

interface Answer {
  readonly id?: number
  readonly method?: string
  readonly params?: { readonly diagnostics: readonly Diagnostic[] }
  readonly result?: unknown
  readonly error?: unknown
}

interface EditorOptions {
  /** The document's; servers that look for files start from it. */
  readonly uri?: string
  readonly environment?: Readonly<Record<string, string>>
}

export const startEditor = async (words: readonly string[], options: EditorOptions = {}): Promise<Editor> => {
  const { uri = LANGUAGE_URI, environment = {} } = options
  const child = Bun.spawn([...words], {
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'inherit',
    env: { ...cleanEnvironment(), ...environment },
  })
  const answers = new Map<number, unknown>()
  const said: (readonly Diagnostic[])[] = []
  const read = async (): Promise<void> => {
    let pending = Buffer.alloc(0)
    for await (const chunk of child.stdout) {
      pending = Buffer.concat([pending, chunk])
      for (;;) {
        const end = pending.indexOf('\r\n\r\n')
        const length = Number(/Content-Length: (\d+)/.exec(pending.subarray(0, Math.max(end, 0)).toString())?.[1])
        if (end === -1 || pending.length < end + 4 + length) break
        const { id, method, params, result, error } = JSON.parse(
          pending.subarray(end + 4, end + 4 + length).toString(),
        ) as Answer
        pending = pending.subarray(end + 4 + length)
        if (id !== undefined && method === undefined) answers.set(id, error ?? result)
        else if (method === 'textDocument/publishDiagnostics' && params !== undefined) said.push(params.diagnostics)
      }
    }
  }
  const reading = read()
  let sent = Promise.resolve()
  /** Writes the message in two pieces, because a pipe may cut it anywhere. */
  const send = (message: object): void => {
    const body = JSON.stringify({ jsonrpc: '2.0', ...message })
    const text = `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
    const cut = text.length - Math.ceil(body.length / 2)
    sent = sent.then(async () => {
      for (const piece of [text.slice(0, cut), text.slice(cut)]) {
        child.stdin.write(piece)
        await child.stdin.flush()
        await new Promise((resolve) => setImmediate(resolve))
      }
    })
  }
  let number = 0
  const ask = async (method: string, params: unknown): Promise<unknown> => {
    number += 1
    const id = number
    send({ id, method, params })
    await until(() => answers.has(id), { what: `an answer to ${method}` })
    return answers.get(id)
  }
  await ask('initialize', { processId: null, rootUri: null, capabilities: {} })
  send({ method: 'initialized', params: {} })
  let version = 0
  return {
    ask,
    show: async (text) => {
      version += 1
      const textDocument = { uri, languageId: 'yaml', version, text }
      if (version === 1) send({ method: 'textDocument/didOpen', params: { textDocument } })
      else send({ method: 'textDocument/didChange', params: { textDocument, contentChanges: [{ text }] } })
      const shown = version
      await until(() => said.length >= shown, { what: 'what the server says of the document' })
      return said.at(-1) ?? []
    },
    stop: async () => {
      await ask('shutdown', null)
      send({ method: 'exit' })
      const code = await child.exited
      await reading
      return code
    },
  }
}
