// An editor with one document, for the Language Server Protocol.
import { cleanEnvironment } from '../service/run-to-end.ts'
import { until } from '../support/until.ts'

export const LANGUAGE_URI = 'file:///policies/policy.yaml'

interface Diagnostic {
  readonly severity: number
  readonly message: string
}

interface Editor {
  /** Replaces the text of the document; resolves to the diagnostics. */
  show(text: string): Promise<readonly Diagnostic[]>
  /** Resolves to the result, or to the error. */
  // biome-ignore lint/suspicious/noExplicitAny: each result has its own shape, which the test states
  request(method: string, params: unknown): Promise<any>
  /** Resolves to the exit code. */
  stop(): Promise<number>
}

interface Message {
  readonly id?: number
  readonly method?: string
  readonly params?: { readonly diagnostics: readonly Diagnostic[] }
  readonly result?: unknown
  readonly error?: unknown
}

export const startEditor = async (
  words: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<Editor> => {
  const child = Bun.spawn([...words], {
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'inherit',
    env: { ...cleanEnvironment(), ...environment },
  })
  const answers = new Map<number, unknown>()
  const published: (readonly Diagnostic[])[] = []
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
        ) as Message
        pending = pending.subarray(end + 4 + length)
        if (id !== undefined && method === undefined) answers.set(id, error ?? result)
        else if (method === 'textDocument/publishDiagnostics' && params !== undefined)
          published.push(params.diagnostics)
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
  const request = async (method: string, params: unknown): Promise<unknown> => {
    number += 1
    const id = number
    send({ id, method, params })
    await until(() => answers.has(id), { what: `a response to ${method}` })
    return answers.get(id)
  }
  await request('initialize', { processId: null, rootUri: null, capabilities: {} })
  send({ method: 'initialized', params: {} })
  let version = 0
  return {
    request,
    show: async (text) => {
      version += 1
      const textDocument = { uri: LANGUAGE_URI, languageId: 'yaml', version, text }
      if (version === 1) send({ method: 'textDocument/didOpen', params: { textDocument } })
      else send({ method: 'textDocument/didChange', params: { textDocument, contentChanges: [{ text }] } })
      const shown = version
      await until(() => published.length >= shown, { what: 'diagnostics of the document' })
      return published.at(-1) ?? []
    },
    stop: async () => {
      await request('shutdown', null)
      send({ method: 'exit' })
      const code = await child.exited
      await reading
      return code
    },
  }
}
