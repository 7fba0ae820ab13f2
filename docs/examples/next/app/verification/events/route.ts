// GET /verification/events in a Next.js app: streams the session that this browser started. In the page:
//
//   const events = new EventSource('/verification/events')
//   events.onmessage = ({ data }) => {
//     const { status } = JSON.parse(data)
//     setStatus(status)
//     if (status === 'completed' || status === 'rejected') events.close()
//   }
//
// The stream lasts until the session is final. If the host limits the duration of functions (`maxDuration`),
// EventSource reconnects, and the stream continues with the current status.
import { sessionOf, setting } from '../ticket'

export const runtime = 'nodejs'
export const dynamic = 'force-dynamic'
export const maxDuration = 300

export const GET = async (request: Request): Promise<Response> => {
  const sessionId = sessionOf(request)
  if (sessionId === null) return new Response(null, { status: 403 })
  const lastEventId = request.headers.get('last-event-id')
  const upstream = await fetch(`${setting('IDENTITY_URL')}/api/v1/status/realtime/individual/${sessionId}`, {
    headers: {
      authorization: `Bearer ${setting('IDENTITY_API_KEY')}`,
      ...(lastEventId === null ? {} : { 'last-event-id': lastEventId }),
    },
    cache: 'no-store',
    // If the browser disconnects, this request ends too.
    signal: request.signal,
  })
  if (!upstream.ok) {
    // The browser learns that the request failed, but not the reason.
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
