// A server on a free loopback port that responds according to a script and records its requests.

export interface ReceivedRequest {
  readonly method: string
  /** Path and query. */
  readonly path: string
  readonly headers: Headers
  readonly body: string
}

export interface RecordingServer extends AsyncDisposable {
  readonly url: string
  readonly received: readonly ReceivedRequest[]
}

/** @param answer receives the request and the number of earlier requests. */
export const startRecordingServer = (
  answer: (request: ReceivedRequest, index: number) => Response | Promise<Response>,
): RecordingServer => {
  const received: ReceivedRequest[] = []
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 0,
    fetch: async (request) => {
      const { pathname, search } = new URL(request.url)
      const entry = {
        method: request.method,
        path: pathname + search,
        headers: request.headers,
        body: await request.text(),
      }
      return answer(entry, received.push(entry) - 1)
    },
  })
  return { url: `http://127.0.0.1:${server.port}`, received, [Symbol.asyncDispose]: () => server.stop(true) }
}

export const json = (body: unknown, status = 200, headers: Readonly<Record<string, string>> = {}): Response =>
  new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json', ...headers } })

/** An error response of the service (RFC 9457). */
export const problem = (status: number, code: string, headers: Readonly<Record<string, string>> = {}): Response =>
  json(
    { type: 'about:blank', title: code, status, detail: `detail of ${code}`, code, request_id: 'server-id' },
    status,
    headers,
  )
