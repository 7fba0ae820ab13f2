// A relay between browsers and the session stream, to copy into your backend. A browser's EventSource can't send an
// Authorization header, and the API key must not reach a browser. The relay checks whether the user may follow the
// session, adds the key, and forwards the stream unchanged.
//
//   IDENTITY_URL=http://127.0.0.1:8080 IDENTITY_API_KEY=csi_live_… bun docs/examples/sse-relay.ts
//
// In the browser:
//
//   const events = new EventSource(`/events/individual/${sessionId}`)
//   events.onmessage = ({ data }) => {
//     const session = JSON.parse(data)
//     show(session.status)
//     if (session.status === 'completed' || session.status === 'rejected') events.close()
//   }

export interface RelayOptions {
  readonly identityUrl: string
  readonly apiKey: string
  /** Your rule: returns whether the user of this request (for example, of its cookie) may follow the session. */
  readonly mayFollow: (request: Request, sessionId: string) => boolean | Promise<boolean>
}

const PATH = /^\/events\/(individual|business)\/([0-9a-f-]{36})$/

/** Answers `GET /events/{type}/{sessionId}` of a browser with the session's stream. */
export const createRelay =
  ({ identityUrl, apiKey, mayFollow }: RelayOptions) =>
  async (request: Request): Promise<Response> => {
    const [, type, sessionId = ''] = PATH.exec(new URL(request.url).pathname) ?? []
    if (type === undefined || request.method !== 'GET') return new Response(null, { status: 404 })
    if (!(await mayFollow(request, sessionId))) return new Response(null, { status: 403 })

    const lastEventId = request.headers.get('last-event-id')
    const upstream = await fetch(`${identityUrl}/api/v1/status/realtime/${type}/${sessionId}`, {
      headers: {
        authorization: `Bearer ${apiKey}`,
        ...(lastEventId === null ? {} : { 'last-event-id': lastEventId }),
      },
      // If the browser disconnects, the relay ends too.
      signal: request.signal,
      // A stream has no end, so no response timeout may apply. (This is Bun's option; for Node's fetch, use a
      // dispatcher with bodyTimeout 0.)
      timeout: false,
    } as RequestInit)

    // The browser learns that the request failed, but not the reason, which belongs in your log.
    if (!upstream.ok) {
      await upstream.body?.cancel()
      return new Response(null, { status: upstream.status })
    }
    return new Response(upstream.body, {
      headers: {
        'content-type': 'text/event-stream',
        // Proxies must not buffer, compress or store the events.
        'cache-control': 'no-cache, no-transform',
        'x-accel-buffering': 'no',
      },
    })
  }

if (import.meta.main) {
  const { IDENTITY_URL, IDENTITY_API_KEY } = process.env
  if (!IDENTITY_URL || !IDENTITY_API_KEY) throw new Error('set IDENTITY_URL and IDENTITY_API_KEY')
  const relay = createRelay({
    identityUrl: IDENTITY_URL,
    apiKey: IDENTITY_API_KEY,
    // Replace this with a lookup of the signed-in user's session.
    mayFollow: () => true,
  })
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: Number(process.env['PORT'] ?? 8090),
    fetch: (request, listener) => {
      // No idle timeout: the server usually writes every 15 s, but does not have to.
      listener.timeout(request, 0)
      return relay(request)
    },
  })
  process.stdout.write(`relaying session streams at ${server.url}events/individual/SESSION_ID\n`)
}
