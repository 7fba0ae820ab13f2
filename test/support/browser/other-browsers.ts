// Drives Firefox with WebDriver BiDi and WebKitGTK with WebDriver (Debian's webkit2gtk-driver): opens a URL, evaluates
// a script, resizes the window. Null if a browser is not installed.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Glob } from 'bun'
import { freePort } from '../../service/start-service.ts'
import { until } from '../until.ts'

export interface OtherBrowser {
  readonly name: string
  go(url: string): Promise<void>
  /** Returns the value of an expression, which must be JSON. */
  evaluate(expression: string): Promise<unknown>
  resize(width: number, height: number): Promise<void>
  close(): Promise<void>
}

/** Returns the first line of an output that matches. */
const lineOf = async (output: ReadableStream<Uint8Array>, pattern: RegExp): Promise<RegExpExecArray> => {
  const decoder = new TextDecoder()
  let text = ''
  for await (const part of output) {
    text += decoder.decode(part, { stream: true })
    const found = pattern.exec(text)
    if (found !== null) return found
  }
  throw new Error(`the browser ended before it was ready:\n${text}`)
}

interface BidiReply {
  readonly id?: number
  readonly result?: Readonly<Record<string, unknown>>
  readonly error?: string
  readonly message?: string
}

const connectBidi = async (url: string) => {
  const socket = new WebSocket(url)
  const waiting = new Map<number, (reply: BidiReply) => void>()
  let last = 0
  await new Promise<void>((resolve, reject) => {
    socket.onopen = () => resolve()
    socket.onerror = () => reject(new Error(`could not reach ${url}`))
  })
  socket.onmessage = ({ data }) => {
    const reply = JSON.parse(String(data)) as BidiReply
    waiting.get(reply.id ?? 0)?.(reply)
  }
  return {
    call: async (method: string, params: object = {}): Promise<Readonly<Record<string, unknown>>> => {
      last += 1
      const id = last
      const reply = await new Promise<BidiReply>((resolve) => {
        waiting.set(id, resolve)
        socket.send(JSON.stringify({ id, method, params }))
      })
      if (reply.result === undefined) throw new Error(`${method}: ${reply.error} ${reply.message}`)
      return reply.result
    },
    close: () => socket.close(),
  }
}

export const openFirefox = async (): Promise<OtherBrowser | null> => {
  const binary = Bun.which('firefox-esr') ?? Bun.which('firefox')
  if (binary === null) return null
  const profile = mkdtempSync(join(tmpdir(), 'countersign-firefox-'))
  const process_ = Bun.spawn(
    [binary, '--headless', '--no-remote', '--profile', profile, `--remote-debugging-port=${freePort()}`],
    { stdout: 'ignore', stderr: 'pipe', env: { ...process.env, HOME: profile } },
  )
  const [, url = ''] = await lineOf(process_.stderr, /WebDriver BiDi listening on (ws:\S+)/)
  const { call, close } = await connectBidi(`${url}/session`)
  const { capabilities } = await call('session.new', { capabilities: {} })
  const { contexts } = await call('browsingContext.getTree')
  const [{ context } = { context: '' }] = contexts as readonly { readonly context: string }[]
  return {
    name: `Firefox ${(capabilities as { browserVersion: string }).browserVersion}`,
    go: async (address) => void (await call('browsingContext.navigate', { context, url: address, wait: 'complete' })),
    evaluate: async (expression) => {
      const answer = await call('script.evaluate', {
        expression: `JSON.stringify(${expression})`,
        target: { context },
        awaitPromise: true,
      })
      const { value } = (answer['result'] ?? {}) as { readonly value?: string }
      if (answer['type'] !== 'success') throw new Error(JSON.stringify(answer))
      return value === undefined ? undefined : JSON.parse(value)
    },
    resize: async (width, height) =>
      void (await call('browsingContext.setViewport', { context, viewport: { width, height } })),
    close: async () => {
      close()
      process_.kill()
      await process_.exited
      rmSync(profile, { recursive: true, force: true })
    },
  }
}

export const openWebKit = async (): Promise<OtherBrowser | null> => {
  const driver = Bun.which('WebKitWebDriver')
  const screen = Bun.which('Xvfb')
  const [browser] = [...new Glob('/usr/lib/*/webkit2gtk-4.*/MiniBrowser').scanSync('/')]
  if (driver === null || screen === null || browser === undefined) return null
  const display = Bun.spawn([screen, '-displayfd', '1', '-screen', '0', '1400x1000x24'], { stderr: 'ignore' })
  const [, number = ''] = await lineOf(display.stdout, /^(\d+)\n/)
  const home = mkdtempSync(join(tmpdir(), 'countersign-webkit-'))
  const port = freePort()
  const running = Bun.spawn([driver, `--port=${port}`], {
    stdout: 'ignore',
    stderr: 'ignore',
    env: {
      ...process.env,
      HOME: home,
      XDG_RUNTIME_DIR: home,
      DISPLAY: `:${number}`,
      WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS: '1',
      LIBGL_ALWAYS_SOFTWARE: '1',
    },
  })
  const call = async (method: string, path: string, body?: object): Promise<unknown> => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const { value } = (await response.json()) as { readonly value: unknown }
    if (!response.ok) throw new Error(`${path}: ${JSON.stringify(value)}`)
    return value
  }
  await until(async () => (await fetch(`http://127.0.0.1:${port}/status`).catch(() => null))?.ok === true)
  const options = { binary: browser, args: ['--automation'] }
  const { sessionId, capabilities } = (await call('POST', '/session', {
    capabilities: { alwaysMatch: { 'webkitgtk:browserOptions': options } },
  })) as { readonly sessionId: string; readonly capabilities: { readonly browserVersion: string } }
  const path = `/session/${sessionId}`
  return {
    name: `WebKitGTK ${capabilities.browserVersion}`,
    go: async (url) => void (await call('POST', `${path}/url`, { url })),
    evaluate: async (expression) => {
      const script = `return JSON.stringify(${expression})`
      const text = await call('POST', `${path}/execute/sync`, { script, args: [] })
      return typeof text === 'string' ? JSON.parse(text) : undefined
    },
    resize: async (width, height) => void (await call('POST', `${path}/window/rect`, { width, height })),
    close: async () => {
      await call('DELETE', path)
      for (const each of [running, display]) {
        each.kill()
        await each.exited
      }
      rmSync(home, { recursive: true, force: true })
    },
  }
}
