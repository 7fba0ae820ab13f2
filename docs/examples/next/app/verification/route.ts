// POST /verification in a Next.js app (15 or later; a folder of that name under app/): starts a verification for the
// signed-in user and returns the link. IDENTITY_URL, IDENTITY_API_KEY and TICKET_SECRET are server environment
// variables; never use NEXT_PUBLIC_ variables for them.
import { createCountersignClient } from '@countersign/client'
import { setting, ticketFor } from './ticket'

export const runtime = 'nodejs'

export const POST = async (request: Request): Promise<Response> => {
  // Forms of other sites must not start a verification. Also check here that the user is signed in.
  if (request.headers.get('sec-fetch-site') !== 'same-origin') return new Response(null, { status: 403 })
  const client = createCountersignClient({
    identityUrl: setting('IDENTITY_URL'),
    identityApiKey: setting('IDENTITY_API_KEY'),
  })
  const { sessionId, redirectUrl } = await client.register('individual')
  return Response.json({ redirectUrl }, { headers: { 'set-cookie': ticketFor(sessionId) } })
}
