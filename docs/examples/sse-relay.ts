// A relay between browsers and the session stream, to copy into your own backend. A browser's EventSource can't send an
// Authorization header, and the API key must never reach a browser: so the browser asks your backend, your backend decides
// whether this user may follow that session, adds the key, and hands the stream through unchanged.
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
  /** Your own rule: whether the user behind this request (its cookie, say) may follow that session. */
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
      // When the browser leaves, so does the relay.
      signal: request.signal,
      // A stream has no end: no response time limit may cut it. (Bun's own option; Node's fetch takes a dispatcher with
      // bodyTimeout 0 instead.)
      timeout: false,
    } as RequestInit)

    // The browser learns that it did not work, never why: the problem's text is for your log.
    if (!upstream.ok) {
      await upstream.body?.cancel()
      return new Response(null, { status: upstream.status })
    }
    return new Response(upstream.body, {
      headers: {
        'content-type': 'text/event-stream',
        // Nothing in between may gather, compress or store the events.
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
    // Replace this by a look-up of the signed-in user's own session.
    mayFollow: () => true,
  })
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: Number(process.env['PORT'] ?? 8090),
    fetch: (request, listener) => {
      // No idle timeout either: the server writes something every 15 s, but need not.
      listener.timeout(request, 0)
      return relay(request)
    },
  })
  process.stdout.write(`relaying session streams at ${server.url}events/individual/SESSION_ID\n`)
}
